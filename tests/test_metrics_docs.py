"""The examples of the guide and of the docstrings give what they print."""

import doctest
import importlib
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[1] / "docs" / "metrics.md"


def test_the_guide():
    result = doctest.testfile(str(GUIDE), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0


@pytest.mark.parametrize("name", ["concordance", "scorers"])
def test_docstrings(name):
    result = doctest.testmod(importlib.import_module(f"dipolar.metrics.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
