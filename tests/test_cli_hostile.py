"""Commands against what they may meet: full disks, pipes, signals, formulas, damaged text. One clear line, status 2."""

import csv
import datetime
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from dipolar.cli import table as table_module
from dipolar.cli.destination import write_table
from dipolar.cli.messages import UserError
from dipolar.cli.spreadsheets import MOST_CHARACTERS, begins_like_a_formula
from dipolar.cli.table import read_table
from dipolar.preparation.cells import as_text
from tests.test_cli import QUICK, QUICK_FIT, dipolar, process, refused

FORMULAS = ["=1+1", "+A1", "-2+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", "＝1", "#N/A", "-3.5e", "=HYPERLINK(1)"]
PLAIN = ["-3.5", "+41", "-1e-5", "a=b", "x", "'=1", "3-2"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "remission.dipolar"
    assert dipolar("fit", "remission", *QUICK_FIT, "--output", path, "--quiet").output == ""
    return path


# Text that spreadsheets would run.


def test_text_that_begins_like_a_formula_is_told_from_numbers():
    assert [text for text in FORMULAS if not begins_like_a_formula(text)] == ["#N/A"]
    assert not any(begins_like_a_formula(cell) for cell in [*PLAIN, -3.5, None, float("nan")])


def test_csv_files_hold_no_formulas(tmp_path):
    frame = pd.DataFrame({"=name": [*FORMULAS, *PLAIN], "n": -1.5})
    notes = write_table(frame, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["'=name", "n"]
    assert [row[0] for row in rows] == [f"'{text}" if text != "#N/A" else text for text in FORMULAS] + PLAIN
    assert {row[1] for row in rows} == {"-1.5"}
    assert notes == ["=name: an apostrophe before 10 texts that spreadsheets would take for a formula"]


def test_excel_files_hold_text_as_text(tmp_path):
    texts = [text for text in FORMULAS + PLAIN if "\r" not in text]
    write_table(pd.DataFrame({"=name": texts, "n": -1.5}), tmp_path / "a.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    cells = [row[0] for row in sheet.iter_rows()]
    assert [cell.value for cell in cells] == ["=name", *texts] and {cell.data_type for cell in cells} == {"s"}
    assert [cell.quotePrefix for cell in cells] == [True, *map(begins_like_a_formula, texts)]
    assert all(row[1].value == -1.5 and row[1].data_type == "n" for row in sheet.iter_rows(min_row=2))
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")


@pytest.mark.parametrize(
    ("cell", "words"), [("x" * (MOST_CHARACTERS + 1), "32768"), ("a\x01b", "character that Excel files cannot hold")]
)
def test_what_excel_cannot_hold_is_refused(tmp_path, cell, words):
    with pytest.raises(UserError, match=words):
        write_table(pd.DataFrame({"note": [cell]}), tmp_path / "a.xlsx")
    assert os.listdir(tmp_path) == []


def test_kept_columns_are_no_formulas(model, tmp_path):
    data, output = tmp_path / "new.csv", tmp_path / "out.csv"
    data.write_text("name,TR,logWBC\n=cmd(),0,3\n-7,1,2\n")
    document = json.loads(dipolar("predict", model, data, "--keep", "name", "-o", output, "--json").stdout)
    assert pd.read_csv(output)["name"].tolist() == ["'=cmd()", "-7"]
    assert any("apostrophe before 1 text" in note for note in document["notes"])
    assert [row["name"] for row in document["predictions"]] == ["=cmd()", "-7"]


@pytest.mark.parametrize("name", ["row", "risk", "survival_at_5"])
def test_kept_columns_are_not_mistaken_for_predictions(model, tmp_path, name):
    data, output = tmp_path / "new.csv", tmp_path / "out.parquet"
    data.write_text(f"{name},TR,logWBC\n1,0,3\n")
    assert f"a column {name!r} of its own" in refused("predict", model, data, "--keep", name, "-o", output)


# Places that are written to.


def test_force_replaces_regular_files_only(model, tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for args in (("predict", model, "remission"), ("fit", "remission", *QUICK_FIT)):
        assert "regular file" in refused(*args, "--force", "-o", pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_force_writes_through_links_and_keeps_permissions(model, tmp_path):
    target, link = tmp_path / "target", tmp_path / "out.csv"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    assert "named twice" in refused("predict", model, target, "--force", "-o", link)
    assert dipolar("predict", model, "remission", "--force", "-o", link).exit_code == 0
    assert link.is_symlink() and stat.S_IMODE(target.stat().st_mode) == 0o600 and len(pd.read_csv(target)) == 42


def test_long_names_are_written_and_longer_ones_refused(model, tmp_path):
    assert dipolar("predict", model, "remission", "-o", tmp_path / f"{'a' * 251}.csv").exit_code == 0
    assert "too long" in refused("predict", model, "remission", "-o", tmp_path / f"{'b' * 252}.csv")
    assert "too long" in refused("fit", f"{'b' * 252}.csv")
    assert "too long" in refused("report", f"{'b' * 252}.csv")


@contextmanager
def full_disk(n_bytes):
    """Let files grow to so many bytes and no further; the system then says EFBIG, as it says ENOSPC of a disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    "args",
    [
        ("fit", "remission", *QUICK_FIT, "-o", "m.dipolar"),
        ("fit", "remission", *QUICK_FIT, "--report", "r.html"),
        *(("predict", "MODEL", "whas500", "--fill-columns", "-o", f"p.{suffix}") for suffix in ("csv", "parquet")),
        ("report", "MODEL", "-o", "r.html"),
        *(("plot", "MODEL", "-o", f"p.{suffix}") for suffix in ("svg", "pdf", "png")),
        ("simulate", "planar-2", "-o", "s.csv"),
    ],
)
def test_a_full_disk_is_one_line_and_leaves_nothing(model, tmp_path, monkeypatch, args):
    monkeypatch.chdir(tmp_path)
    with full_disk(1000):
        assert "could not be written: File too large" in refused(*(model if arg == "MODEL" else arg for arg in args))
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_an_answer_that_cannot_be_printed_is_one_line():
    for args in (("datasets",), ("datasets", "--json"), ("simulate", "planar-2")):
        with open("/dev/full", "w") as full:
            command = [sys.executable, "-m", "dipolar", *args]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 2 and done.stderr == "error: the answer cannot be written: No space left on device.\n"


WRITING_FOR_EVER = """
import os, signal, sys, time
if sys.argv.pop(1) == "hidden":
    del os.O_TMPFILE
from dipolar import LogRankSurvivalTree
def save(tree, stream):
    stream.write(b"half")
    stream.flush()
    print("writing", flush=True)
    time.sleep(60)
LogRankSurvivalTree.save = save
from dipolar.cli import main
main()
"""


@pytest.mark.parametrize("kind", ["nameless", "hidden"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_no_litter(tmp_path, kind, number):
    args = ["fit", "remission", *QUICK_FIT, "-q", "-o", str(tmp_path / "m.dipolar")]
    command = [sys.executable, "-c", WRITING_FOR_EVER, kind, *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        while "writing" not in running.stdout.readline() and running.poll() is None:
            time.sleep(0.01)
        assert len(os.listdir(tmp_path)) == (kind == "hidden")
        running.send_signal(number)
        _, stderr = running.communicate(timeout=60)
    assert (running.returncode, stderr) == (128 + number, "error: interrupted.\n") and os.listdir(tmp_path) == []


# What is read.


def test_a_pipe_that_nobody_writes_to_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(table_module, "PATIENCE", 0.2)
    os.mkfifo(tmp_path / "pipe.csv")
    assert "nobody writes to" in refused("fit", tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.xlsx")
    assert "regular file" in refused("fit", tmp_path / "pipe.xlsx")
    assert "no regular file" in refused("predict", tmp_path / "pipe.csv", "remission")
    assert "regular file" in refused("fit", os.devnull)


@pytest.mark.parametrize("patience", [0.01, 5.0])
def test_a_pipe_is_read_to_its_end(tmp_path, monkeypatch, patience):
    monkeypatch.setattr(table_module, "PATIENCE", patience)
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)

    def write_slowly():
        with open(path, "w") as pipe:
            for part in ("time,x\n", "1,2\n", "3,4\n"):
                time.sleep(0.1)
                pipe.write(part)
                pipe.flush()

    keeper = os.open(path, os.O_RDWR)  # so that the writer is there before the reader
    writer = threading.Thread(target=write_slowly)
    writer.start()
    threading.Timer(0.05, os.close, [keeper]).start()
    assert read_table(str(path)).cells("x").tolist() == ["2", "4"]
    writer.join()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("time,event,x\n1,1," + "a" * 200_000 + "\n2,0,b\n", "line 2: field larger than field limit"),
        ("time,event," + "a" * 200_000 + "\n2,0,b\n", "line 1: field larger than field limit"),
        ("time,event,x\n1,0,a\n".encode("utf-16")[:-1], "UTF-16 text and is damaged at byte 38"),
        (b"\xff\xfet\0\x00\xd8,\0", "UTF-16 text and is damaged at byte 4"),
        ("time,event\n1,0\n".encode("utf-32"), "not a text file"),
        ('{"time": 1, "event": 0}\n' * 9, "holds JSON"),
        ("[" * 100_000 + "\n", "holds JSON"),
        ('{"time": ' + "[" * 100_000 + "\n", "holds JSON"),
    ],
    ids=range(8),
)
def test_damaged_text_is_one_line(tmp_path, content, words):
    path = tmp_path / "data.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    for args in (("fit", path), ("evaluate", path)):
        assert words in refused(*args)


def test_a_column_may_be_called_as_databases_call_it(tmp_path):
    (tmp_path / "a.csv").write_text("[time],{x}\n1,2\n")
    assert list(read_table(str(tmp_path / "a.csv")).columns) == ["[time]", "{x}"]


# A median that is no float.
LONG = (
    b'{"format": "dipolar-preparation", "version": 2, "parameters": {}, "n_columns": 1, "columns": ["x"],'
    b'"decisions": [], "steps": ["a", "b"], "recipes": [{"kind": "number", "name": "x", "place": 0, '
    b'"marks_gaps": false, "fill": 1' + b"0" * 400 + b"}]}"
)


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"format": "dipolar-preparation", "version": 1e999}', LONG])
def test_nested_and_odd_preparations_are_refused(model, tmp_path, content):
    path = tmp_path / "m.dipolar"
    path.write_bytes(model.read_bytes())
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist() if name != "preparation.json"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, entry in (kept | {"preparation.json": content}).items():
            archive.writestr(name, entry)
    assert re.search("is not a complete (saved dipolar )?model", refused("predict", path, "remission"))


def test_names_of_files_that_are_no_text(tmp_path, model):
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/m\xff.csv")
    assert refused("fit", odd).count("\\udcff") == 1
    assert dipolar("predict", model, "remission", "-o", odd).exit_code == 0
    done = process("predict", model, "remission", "-o", odd, "--json", "--force")
    assert done.returncode == 0 and json.loads(done.stdout)["output"] == odd


def test_rows_that_no_memory_holds_are_one_line(monkeypatch):
    def fill(*_):
        raise MemoryError

    monkeypatch.setattr("dipolar.cli.data.read_data", fill)
    assert "not enough memory" in refused("fit", "remission")


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_long_cells_are_shortened_in_messages(tmp_path, place):
    name = "x" * 30_000
    cells = [["1", "0", "1"], ["2", "1", "2"], ["3", "1", "3"]]
    header = ["time", "event", "x"]
    if place == 3:
        header[2] = name
    else:
        cells[0][place] = name
    path = tmp_path / "data.csv"
    path.write_text("\n".join(",".join(row) for row in [header, *cells]))
    result = dipolar("fit", path, *QUICK_FIT, "--category", "x" if place < 3 else name)
    assert result.exit_code == (2 if place < 2 else 0)
    assert len(result.stderr) < 1000 and (place == 3 or len(result.stdout) < 5000)


def test_dates_of_any_year(tmp_path):
    days = [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31), None]
    pd.DataFrame({"time": [1, 2, 3], "seen": pd.Series(days, dtype=object)}).to_parquet(tmp_path / "a.parquet")
    book = openpyxl.Workbook()
    for row in (["time", "seen"], *zip([1, 2, 3], [datetime.date(1900, 3, 1), *days[1:]])):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    for suffix, first in (("parquet", "0001-01-01"), ("xlsx", "1900-03-01")):
        column = read_table(str(tmp_path / f"a.{suffix}")).cells("seen")
        assert column.astype("datetime64[D]").astype(str).tolist() == [first, "9999-12-31", "NaT"]


@pytest.mark.parametrize("others", [(1.5, None), ("a", "b")])
def test_whole_numbers_of_any_length(tmp_path, others):
    plain, path = tmp_path / "plain.xlsx", tmp_path / "data.xlsx"
    pd.DataFrame({"x": [12321, *others]}).to_excel(plain, index=False)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(b"12321", b"9" * 400))
    assert as_text(read_table(str(path)).cells("x"))[0] == "inf"


def test_rows_that_cannot_be_compared_have_no_concordance(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("time,event,x\n5,1,1\n5,1,2\n3,0,1\n")
    document = json.loads(dipolar("fit", path, *QUICK_FIT, "--json").stdout)
    assert document["harrell_c_on_training_rows"] is None
    assert "Harrell's C" not in dipolar("fit", path, *QUICK_FIT).stdout


def test_times_that_the_library_refuses_are_one_line(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("time,event,x\n1e308,1,1\n1e308,1,2\n")
    for command, quick in (("fit", QUICK_FIT), ("evaluate", QUICK)):
        assert "time is above" in refused(command, path, *quick)


def test_what_a_reader_thinks_of_a_file_is_not_told(tmp_path):
    """Excel writes extensions that openpyxl warns about, and they say nothing about the cells."""
    plain, path = tmp_path / "plain.xlsx", tmp_path / "data.xlsx"
    pd.DataFrame({"time": range(1, 41), "event": 1, "x": [1, 2] * 20}).to_excel(plain, index=False)
    extension = b'<extLst><ext uri="{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}"/></extLst></worksheet>'
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(b"</worksheet>", extension))
    with pytest.warns(UserWarning, match="extension"):
        openpyxl.load_workbook(path)
    result = dipolar("fit", path, *QUICK_FIT)
    assert result.exit_code == 0 and result.stderr == ""


def test_predictions_do_not_depend_on_where_they_go(model, tmp_path):
    frames = []
    for suffix, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet), ("xlsx", pd.read_excel)):
        dipolar("predict", model, "remission", "-o", tmp_path / f"p.{suffix}")
        frames.append(read(tmp_path / f"p.{suffix}").to_numpy(float))
    assert all(np.allclose(frame, frames[0], equal_nan=True) for frame in frames)
