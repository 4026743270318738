"""docs/worked.md: its blocks of Python run as they stand, and print what the page shows."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "worked.md"
SHOWN = re.compile(r"```python\n(?P<code>.*?)```\n+```\n(?P<output>.*?)```", flags=re.DOTALL)
EXAMPLES = list(SHOWN.finditer(PAGE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("example", EXAMPLES, ids=["categories", "gaps"])
def test_the_page_shows_what_is_printed(example, tmp_path, monkeypatch, capsys):
    for package in ("sksurv", "lifelines"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    assert len(example["code"].splitlines()) < 12
    exec(example["code"], {})
    assert capsys.readouterr().out == example["output"]
