"""What the documentation and the docstrings show is what comes out."""

import doctest
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import dipolar
from dipolar._core.logrank import FAMILIES
from dipolar.kernels import KERNELS

DOCS = Path(__file__).parent.parent / "docs"
README = DOCS.parent / "README.md"


def modules_with_examples():
    """Every module of the library that shows examples."""
    for module in walk_packages(dipolar.__path__, "dipolar."):
        source = Path(module.module_finder.path) / f"{module.name.rpartition('.')[2]}.py"
        if source.exists() and ">>> " in source.read_text(encoding="utf-8"):
            yield module.name


@pytest.fixture(autouse=True)
def forget_what_is_registered(monkeypatch):
    """Kernels and weightings that an example adds are there for that example only."""
    monkeypatch.setattr("dipolar.kernels.KERNELS", dict(KERNELS))
    monkeypatch.setattr("dipolar.weightings.FAMILIES", dict(FAMILIES))


@pytest.mark.parametrize("page", ["svm.md", "trees.md", "tuning.md", "forests.md", "preparation.md"])
def test_pages(page):
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False)
    assert tried > 7
    assert not failed


def test_the_readme_runs(capsys):
    """Its block of Python, as it stands."""
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(block, {})
    assert "log-rank" in capsys.readouterr().out


def test_all_modules_are_found():
    assert len(list(modules_with_examples())) > 12


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_docstrings(name, tmp_path, monkeypatch):
    """Examples that write files write them where the tests may."""
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testmod(import_module(name))
    assert tried > 0
    assert not failed
