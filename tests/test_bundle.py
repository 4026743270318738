"""Modules as one script: what is kept, in which order, and what is refused."""

import posixpath
import re

import pytest

from dipolar.report.bundle import IMPORT, bundle, exported_names
from dipolar.report.page import ENTRY, KERNELS, asset_modules
from tests.node import run_node

MODULES = {
    "draw/page.mjs": (
        'import { twice } from "../compute/numbers.mjs";\n'
        'import * as words from "./words.mjs";\n\n'
        "const secret = 1;\n"
        "globalThis.found = `${words.hello(twice(secret))} ${typeof hidden} ${typeof hello}`;\n"
    ),
    "draw/words.mjs": (
        'import {\n  twice, three,\n} from "../compute/numbers.mjs";\n\n'
        "const secret = 10;\n"
        "export function hello(n) {\n  return `hello ${n} ${twice(secret)} ${three}`;\n}\n"
    ),
    "compute/numbers.mjs": (
        "// import and export in a comment are no imports and exports.\n"
        "const hidden = 2;\n"
        "export const twice = (n) => hidden * n;\n"
        "export const three = 3;\n"
    ),
}


def test_a_bundle_does_what_its_modules_do(tmp_path):
    for path, text in MODULES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "bundle.mjs").write_text(bundle("draw/page.mjs", MODULES))
    for entry in ("draw/page.mjs", "bundle.mjs"):
        code = f'await import("./{entry}"); console.log(globalThis.found);'
        found = run_node("--input-type=module", "--eval", code, cwd=tmp_path)
        assert found == "hello 2 20 3 undefined undefined\n", entry


def test_a_module_stands_once_and_behind_what_it_imports():
    script = bundle("draw/page.mjs", MODULES)
    assert re.findall(r"^const \$(\w+) = \(\(\) => \{$", script, re.M) == [
        "compute_numbers", "draw_words", "draw_page",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"compute/numbers.mjs": 'import { hello } from "../draw/words.mjs";\n'}, r"circle: draw/page.mjs -> compute"),
        ({"draw/words.mjs": "export const bye = 1;\n", "draw/page.mjs": 'import { hello } from "./words.mjs";\n'},
         r"draw/page.mjs imports \['hello'\] from draw/words.mjs, which does not export them"),
        ({"draw/page.mjs": 'import { a } from "./nowhere.mjs";\n'}, "imports 'draw/nowhere.mjs', and there is no such"),
        ({"draw/page.mjs": 'import words from "./words.mjs";\n'}, "'import words from .* is not understood"),
        ({"draw/page.mjs": 'import { hello as hi } from "./words.mjs";\n'}, "is not understood"),
        ({"draw/page.mjs": 'import { hello } from "words";\n'}, "is not understood"),
        ({"draw/page.mjs": "export let changing = 1;\n"}, "'export let changing = 1;' is not understood"),
        ({"draw/page.mjs": "export default 1;\n"}, "is not understood"),
        ({"draw/page.mjs": 'export { hello } from "./words.mjs";\n'}, "is not understood"),
        ({"draw/page.mjs": "const end = '</SCRIPT>';\n"}, "cannot contain '</SCRIPT'"),
        ({"draw/page.mjs": "const begin = '<!--';\n"}, "cannot contain '<!--'"),
    ],
)  # fmt: skip
def test_what_would_not_work_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        bundle("draw/page.mjs", MODULES | changes)


def test_every_module_of_the_page_is_in_its_script_once():
    modules = asset_modules() | {KERNELS: "export const kernels = {};\n"}
    script = bundle(ENTRY, modules)
    for text in modules.values():
        last_lines = text.rstrip().rpartition("\n\n")[2]
        assert script.count(re.sub(r"^export ", "", last_lines, flags=re.M)) == 1


@pytest.mark.parametrize("path", [path for path in asset_modules() if path.startswith("compute/")])
def test_what_computes_knows_nothing_of_what_draws(path):
    """So that Node runs it as it is."""
    text = asset_modules()[path]
    sources = [source for _, source in IMPORT.findall(text)]
    assert all(posixpath.normpath(posixpath.join("compute", source)).startswith("compute/") for source in sources)
    assert not re.findall(r"\b(?:document|window|location|navigator|getComputedStyle)\b", re.sub(r"//.*", "", text))
    assert exported_names(text)


def test_every_name_that_a_module_imports_is_used():
    for path, text in asset_modules().items():
        body = IMPORT.sub("", text)
        for names, _ in IMPORT.findall(text):
            unused = [
                name for name in re.findall(r"\w+", names) if name != "as" and not re.search(rf"\b{name}\b", body)
            ]
            assert not unused, f"{path} imports {unused} in vain"
