"""Data flows one way: each layer imports only from the ones before it, and importing the package stays cheap."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import dipolar

ROOT = Path(dipolar.__file__).parent

# From the innermost outwards. Names on one line do not know of each other.
LAYERS = (
    ("_core",),
    (
        "survival",
        "parameters",
        "quantiles",
        "resampling",
        "scaling",
        "threads",
        "parallel",
        "records",
        "files",
        "progress",
        "words",
    ),
    ("validation", "rows", "weightings"),
    ("kernels",),
    ("curves", "node_svm"),
    ("metrics", "model_file"),
    ("survival_model", "preparation"),
    ("pipeline",),
    ("tree",),
    ("forest", "candidates"),
    ("model_selection",),
    ("warming", "saving"),
)

# What surrounds the models. It may import all of them and they import none of it; matplotlib and the packages of the
# terminal live here only.
RIM = ("datasets", "simulation", "plotting", "report", "cli", "__main__")
RIM_PACKAGES = {"matplotlib", "typer", "rich", "click"}

# Nothing inside the library knows the command line.
OUTER = {"cli": {"cli", "__main__"}}

# A distribution of its own, on top of the library.
STUDY = "dipolar_reproduction"

# The one exception: `tree.to_html` opens the report, inside the method, so that importing the tree does not load it.
DOORS = {("survival_model.py", "report")}

# For benchmarks and tests; a solver that is asked for by name may be imported where it is called.
NEVER_AT_IMPORT = {"osqp", "clarabel", "sksurv", "lifelines", "polars", "distributed", "dask"}

# The public names are gathered at the top, outside every layer.
TOP = "__init__"

DEPTH = {name: depth for depth, layer in enumerate(LAYERS) for name in layer} | dict.fromkeys(RIM, len(LAYERS))
MODULES = sorted(ROOT.rglob("*.py"))


def unit_of(path):
    """The package or module directly below `dipolar` that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path, *, inside_functions=True):
    """Full names of everything a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = ast.walk(tree) if inside_functions else _walk_module_level(tree)
    names = []
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write the whole name instead of a relative import"
            # `from dipolar import x` may mean the module x.
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def _walk_module_level(node):
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _walk_module_level(child)


def own_units(path):
    """The units of the package that a file imports."""
    parts = [name.split(".") for name in imports(path)]
    return {part[1] for part in parts if part[0] == "dipolar" and len(part) > 1}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_inwards(path):
    unit = unit_of(path)
    if unit == TOP:
        return
    assert unit in DEPTH, f"give {unit} its place in the layers"
    outward = {
        other
        for other in own_units(path)
        if other != unit and other in DEPTH and DEPTH[other] >= DEPTH[unit] and unit not in RIM
    }
    outward -= {other for door, other in DOORS if path.relative_to(ROOT).as_posix() == door}
    assert not outward, f"{unit} must not import {sorted(outward)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_do_not_import_through_the_top(path):
    """`from dipolar import X` inside the package would import everything, in a circle."""
    if unit_of(path) in (TOP, *RIM):
        return
    public = set(dipolar.__all__)
    assert not own_units(path) & public


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_outside_packages_stay_where_they_belong(path):
    packages = {name.split(".")[0] for name in imports(path)}
    if unit_of(path) not in RIM:
        assert not packages & RIM_PACKAGES
    assert not {name.split(".")[0] for name in imports(path, inside_functions=False)} & NEVER_AT_IMPORT


@pytest.mark.parametrize("path", [path for path in MODULES if unit_of(path) == "_core"], ids=lambda path: path.name)
def test_compiled_code_knows_numpy_and_numba_only(path):
    foreign = {name.split(".")[0] for name in imports(path)} - sys.stdlib_module_names - {"numpy", "numba", "dipolar"}
    assert not foreign
    assert own_units(path) <= {"_core"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_outermost_parts_are_not_imported(path):
    for outer, allowed in OUTER.items():
        assert unit_of(path) in allowed or outer not in own_units(path)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_library_does_not_know_the_study_of_the_paper(path):
    assert STUDY not in {name.split(".")[0] for name in imports(path)}


def test_the_rules_catch_what_they_forbid(tmp_path, monkeypatch):
    """The checks above pass on this package; here is one that they refuse."""
    (tmp_path / "_core").mkdir()
    bad = tmp_path / "_core" / "bad.py"
    bad.write_text("import pandas\nfrom dipolar.metrics import auc\ndef draw():\n    import matplotlib.pyplot\n")
    late = tmp_path / "svm.py"
    late.write_text("import osqp\nfrom dipolar import datasets\nfrom dipolar_reproduction import page\n")
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    for check, path in (
        (test_imports_point_inwards, bad),
        (test_imports_point_inwards, late),
        (test_outside_packages_stay_where_they_belong, bad),
        (test_outside_packages_stay_where_they_belong, late),
        (test_compiled_code_knows_numpy_and_numba_only, bad),
        (test_the_library_does_not_know_the_study_of_the_paper, late),
    ):
        with pytest.raises(AssertionError):
            check(path)


PROBE = """
import json, sys
from dipolar import *
from numba.core.dispatcher import Dispatcher

dispatchers = {
    f"{name}.{attribute}": len(value.signatures)
    for name, module in list(sys.modules.items()) if name.startswith("dipolar")
    for attribute, value in vars(module).items() if isinstance(value, Dispatcher)
}
print(json.dumps({"dispatchers": dispatchers, "modules": sorted({name.split(".")[0] for name in sys.modules})}))
"""


@pytest.fixture(scope="module")
def after_import():
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def test_importing_compiles_nothing(after_import):
    from numba import config

    if config.DISABLE_JIT:
        pytest.skip("nothing is compiled without the compiler")
    assert len(after_import["dispatchers"]) > 10
    assert not {name for name, signatures in after_import["dispatchers"].items() if signatures}


def test_importing_loads_no_optional_package(after_import):
    # What the packages that are always needed load themselves, such as rich by scikit-learn, is theirs.
    code = "import sys, numba, pandas, sklearn.svm; print(sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    ours = set(after_import["modules"]) - set(ast.literal_eval(done.stdout))
    assert not (RIM_PACKAGES | NEVER_AT_IMPORT) & ours


def test_importing_the_package_alone_loads_nothing():
    """So that the command line can answer Ctrl-C from the start."""
    code = "import sys; before = set(sys.modules); import dipolar.cli; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = {name.split(".")[0] for name in ast.literal_eval(done.stdout)}
    assert "dipolar" in loaded and not loaded & {"numpy", "numba", "scipy", "sklearn", "pandas", "joblib"}


def test_public_names_are_there():
    assert set(dipolar.__all__) <= set(dir(dipolar))
    for name in dipolar.__all__:
        assert getattr(dipolar, name).__name__ == name
    with pytest.raises(AttributeError, match="module 'dipolar' has no attribute 'DipoleTree'"):
        dipolar.DipoleTree  # noqa: B018


def test_importing_loads_neither_data_sets_nor_designs():
    code = "import sys\nfrom dipolar import *\nprint([name for name in sys.modules if name.startswith('dipolar.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = {name.split(".")[1] for name in ast.literal_eval(done.stdout)}
    assert not loaded & set(RIM)
