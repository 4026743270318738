"""Results as JSON lines: what goes out comes back, former versions are read, and damage is told by its line."""

import gzip
import json

import pytest

from dipolar.cli.messages import UserError
from dipolar_reproduction.export import export_bytes, read_export
from dipolar_reproduction.store import Recorded
from dipolar_reproduction.study import Unit

HEADER = {"study": "toy", "seed": 0, "settings": {"folds": 5}}


@pytest.fixture
def recorded():
    units = {
        Unit("plane", 1, "linear"): {"value": 1.5, "name": "Ürümqi", "session": 0},
        Unit("plane", 0, "linear"): {"value": 0.5, "session": 0},
        Unit("plane", 2, "truth"): {"value": None, "session": 2},
    }
    return Recorded(
        HEADER, [{"jobs": 1}, {"jobs": 2}, {"jobs": 3}], units, {Unit("plane", 3, "truth"): "ValueError: x"}
    )


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_what_goes_out_comes_back(recorded, tmp_path, suffix):
    path = tmp_path / f"toy{suffix}"
    content = export_bytes(recorded, packed=suffix.endswith("gz"))
    path.write_bytes(content)
    found = read_export(path)
    assert found == recorded and list(found.units) == list(recorded.units)
    assert export_bytes(found, packed=suffix.endswith("gz")) == content


@pytest.mark.parametrize("version", [1, 2])
def test_files_of_former_versions_are_read(recorded, tmp_path, version):
    first, *lines = [json.loads(line) for line in export_bytes(recorded, packed=False).splitlines()]
    lines = [{**first, "version": version}, *lines]
    if version == 2:
        lines = [{**line, "crc": 7} for line in lines]
    (tmp_path / "toy.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_export(tmp_path / "toy.jsonl") == recorded


@pytest.mark.parametrize(
    "broken",
    [
        b'{"unit": ["plane", 0, "lin',
        b"[1, 2]",
        b"\xff\xfe\x00",
        b"",
        b'{"unit": ["plane", 0.5, "linear"]}',
        b'{"unit": ["plane", 1, "linear"]}',
        b'{"value": 1}',
        b'{"session": 1}',
    ],
)
def test_a_broken_line_is_told_by_its_number(recorded, tmp_path, broken):
    lines = export_bytes(recorded, packed=False).splitlines()
    lines[3] = broken
    (tmp_path / "toy.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(UserError, match=r"toy\.jsonl: line 4 is not one of an export"):
        read_export(tmp_path / "toy.jsonl")


@pytest.mark.parametrize("content", [b"time,event\n", b'{"format": "other"}\n', b'{"format": "dipolar-study"}\n'])
def test_foreign_files_are_refused(tmp_path, content):
    (tmp_path / "toy.jsonl").write_bytes(content)
    with pytest.raises(UserError, match="line 1 is not one of an export"):
        read_export(tmp_path / "toy.jsonl")


def test_files_that_are_cut_off_empty_or_absent_are_refused(recorded, tmp_path):
    path = tmp_path / "toy.jsonl.gz"
    for content, message in (
        (export_bytes(recorded, packed=True)[:-20], "cannot be read"),
        (b"plain", "cannot be read"),
        (gzip.compress(b""), "is empty"),
    ):
        path.write_bytes(content)
        with pytest.raises(UserError, match=message):
            read_export(path)
    with pytest.raises(UserError, match="No such file"):
        read_export(tmp_path / "absent.jsonl")
