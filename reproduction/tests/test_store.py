"""The file of results: whatever ends the writing, what was finished is there, and one process alone has the file."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from dipolar.cli.messages import UserError
from dipolar_reproduction.store import Recorded, Store
from dipolar_reproduction.study import Unit

HEADER = {"study": "toy", "seed": 0, "settings": {"models": {"linear": {"alpha": 2.8}}, "folds": 5}}
UNITS = [Unit("plane", number, model) for number in range(3) for model in ("linear", "truth")]


def result(unit):
    return {"value": unit.replicate + 0.5, "name": "Ürümqi", "seconds": {"tuning": 1.0}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toy.sqlite"


@pytest.fixture
def written(path):
    with Store(path) as store:
        store.begin(HEADER)
        assert store.add_session({"dipolar": "1"}) == 0
        for unit in UNITS:
            store.add_unit(unit, 0, result(unit))
    return path


def read(path):
    with Store(path, must_exist=True) as store:
        return store.read()


def test_what_was_written_is_read(written):
    recorded = read(written)
    assert recorded == Recorded(
        HEADER, [{"dipolar": "1"}], {unit: {**result(unit), "session": 0} for unit in UNITS}, {}
    )
    assert list(recorded.units) == UNITS
    assert [path.name for path in written.parent.iterdir()] == ["toy.sqlite"]


def test_a_file_is_continued_or_emptied_and_otherwise_refused(written):
    with Store(written) as store:
        with pytest.raises(UserError, match=r"there are results already.*--resume.*--force"):
            store.begin(HEADER)
        store.begin(HEADER, resume=True)
        assert store.add_session({"dipolar": "2"}) == 1
        assert len(store.read().units) == len(UNITS)
        store.begin({**HEADER, "seed": 1}, force=True)
        assert store.read() == Recorded({**HEADER, "seed": 1})


def test_a_failure_is_forgotten_once_its_unit_succeeds(path):
    with Store(path) as store:
        store.begin(HEADER)
        session = store.add_session({})
        store.add_unit(UNITS[0], session, None, "ValueError: too small")
        store.add_unit(UNITS[1], session, None, "ValueError: too large")
        store.add_unit(UNITS[0], session, result(UNITS[0]))
        recorded = store.read()
    assert recorded.failures == {UNITS[1]: "ValueError: too large"} and list(recorded.units) == [UNITS[0]]


def test_other_settings_are_refused_by_name(written):
    for other, difference in (
        ({"settings": {"models": {"linear": {"alpha": 4.0}}, "folds": 5}}, "alpha is 2.8 there and 4.0 now"),
        ({"seed": 1}, "seed is 0 there and 1 now"),
        ({"settings": {**HEADER["settings"], "new": 3}}, "settings.new is None there and 3 now"),
    ):
        with Store(written) as store, pytest.raises(UserError) as refusal:
            store.begin({**HEADER, **other}, resume=True)
        assert difference in str(refusal.value) and "--output" in str(refusal.value)
    assert len(read(written).units) == len(UNITS)


def foreign_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE study (header TEXT)")
    connection.close()


@pytest.mark.parametrize("make", [lambda path: path.write_text("time,event\n1,1\n" * 99), foreign_database])
@pytest.mark.parametrize("options", [{}, {"resume": True}, {"force": True}])
def test_a_file_of_something_else_is_left_alone(path, make, options):
    make(path)
    before = path.read_bytes()
    with pytest.raises(UserError, match=r"toy\.sqlite cannot be used: it is no file of results"), Store(path) as store:
        store.begin(HEADER, **options)
    assert path.read_bytes() == before


def test_what_cannot_be_opened_is_refused(path, tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        read(path)
    assert not path.exists()
    with pytest.raises(UserError, match="unable to open database file"):
        Store(tmp_path / "no" / "where.sqlite")
    with Store(path) as store, pytest.raises(UserError, match="holds no results yet"):
        store.read()


def test_a_damaged_file_is_told(written):
    content = written.read_bytes()
    written.write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match=r"toy\.sqlite cannot be used: .*Give|toy\.sqlite cannot be used: .*give"):
        read(written)
    written.write_bytes(content.replace(b'{"value":0.5', b'{"value":x.5'))
    with pytest.raises(UserError, match=r"toy\.sqlite is damaged"):
        read(written)


def test_a_full_disk_takes_no_finished_unit_with_it(written):
    with Store(written) as store:
        store.begin(HEADER, resume=True)
        store._connection.execute("PRAGMA max_page_count = 1")  # SQLite takes the present size instead
        unit = Unit("plane", 7, "linear")
        with pytest.raises(UserError, match=r"no room left.*--resume"):
            store.add_unit(unit, 0, {"long": "x" * 100_000})
        assert list(store.read().units) == UNITS
    assert list(read(written).units) == UNITS


def test_a_result_that_is_not_json_is_an_error(path):
    with Store(path) as store:
        store.begin(HEADER)
        with pytest.raises(ValueError, match="Out of range float"):
            store.add_unit(UNITS[0], 0, {"value": float("nan")})
        assert not store.read().units


def test_an_import_is_whole_or_nothing(written, path, tmp_path):
    recorded = read(written)
    recorded.failures[Unit("plane", 9, "truth")] = "ValueError: no"
    with Store(tmp_path / "copy.sqlite") as store:
        store.fill(recorded)
        assert store.read() == recorded
        broken = Recorded(HEADER, [{}], {UNITS[0]: {"value": float("nan"), "session": 0}})
        with pytest.raises(ValueError, match="Out of range float"):
            store.fill(broken, force=True)
        assert store.read() == recorded
        with pytest.raises(UserError, match="there are results already"):
            store.fill(recorded)


# Two processes.

WRITER = """
import sys, time
from pathlib import Path
from dipolar_reproduction.store import Store
from dipolar_reproduction.study import Unit

with Store(Path(sys.argv[1])) as store:
    store.begin({"study": "toy", "seed": 0, "settings": {}}, resume=True)
    session = store.add_session({})
    for number in range(len(store.read().units), 100_000):
        store.add_unit(Unit("plane", number, "linear"), session, {"value": number})
        print(number, flush=True)
"""


def writer(path):
    command = [sys.executable, "-c", WRITER, str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_second_process_is_refused_while_the_first_lives_and_changes_nothing(path):
    process = writer(path)
    try:
        assert process.stdout.readline() == "0\n"
        for options in ({}, {"resume": True}, {"force": True}):
            with pytest.raises(UserError, match=r"another run is using it.*--output"), Store(path) as store:
                store.begin(HEADER, **options)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        told = [0, *(int(line) for line in process.communicate()[0].split("\n")[:-1])]
    units = read(path).units  # the lock went with its process
    assert [record["value"] for record in units.values()] == list(range(len(units)))
    assert told[-1] + 1 <= len(units) <= told[-1] + 2


def test_killed_at_any_time_a_file_holds_all_that_was_told(path):
    n_told = 0
    for delay in (0.0, 0.003, 0.01, 0.03, 0.1):
        process = writer(path)
        process.stdout.readline()
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        lines = process.communicate()[0].split("\n")[:-1]
        n_told = max([n_told + 1, *(int(line) + 1 for line in lines)])
        values = [record["value"] for record in read(path).units.values()]
        assert values == list(range(len(values))) and n_told <= len(values) <= n_told + 1
        n_told = len(values)
    assert n_told > 5 and json.dumps(read(path).header)
