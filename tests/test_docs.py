"""What the documentation and the docstrings show is what comes out."""

import doctest
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import dipolar

DOCS = Path(__file__).parent.parent / "docs"


def modules_with_examples():
    """Every module of the library that shows examples."""
    for module in walk_packages(dipolar.__path__, "dipolar."):
        source = Path(module.module_finder.path) / f"{module.name.rpartition('.')[2]}.py"
        if source.exists() and ">>> " in source.read_text(encoding="utf-8"):
            yield module.name


@pytest.mark.parametrize("page", ["svm.md", "forests.md"])
def test_pages(page):
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False)
    assert tried > 10
    assert not failed


def test_all_modules_are_found():
    assert len(list(modules_with_examples())) > 12


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_docstrings(name, tmp_path, monkeypatch):
    """Examples that write files write them where the tests may."""
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testmod(import_module(name))
    assert tried > 0
    assert not failed
