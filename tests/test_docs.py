"""What the documentation shows is what comes out."""

import doctest
from pathlib import Path

import dipolar.forests
import dipolar.svm
import dipolar.trees
import pytest

import dipolar.model_selection
import dipolar.survival

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("page", ["svm.md", "forests.md"])
def test_pages(page):
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False)
    assert tried > 10
    assert not failed


@pytest.mark.parametrize(
    "module", [dipolar.survival, dipolar.svm, dipolar.trees, dipolar.forests, dipolar.model_selection]
)
def test_docstrings(module):
    failed, tried = doctest.testmod(module)
    assert tried > 1
    assert not failed
