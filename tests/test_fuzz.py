"""A slice of `make fuzz`, and what the rest of it rests on: faults are found, deaths survived, runs continued."""

import warnings

import numpy as np
import pytest

from fuzz import cases, run
from fuzz.cases import ANSWERED, CLEAR_ERROR, Ending, all_targets, run_case
from fuzz.faults import Fault, fault_of, require
from fuzz.journal import Journal
from fuzz.pool import run_cases
from fuzz.settings import KINDS
from fuzz.summary import write_summary
from tests.fragile_processes import serve_fragile, serve_nothing
from tests.models import paper_svm

CASES = 8  # of each target

# What an error may be about, in the tests of what a fault is.
WORDS = {"kappa"}


@pytest.mark.parametrize("name", all_targets())
def test_nothing_is_found(name):
    endings = [run_case(0, case, name) for case in range(CASES)]
    for ending in endings:
        again = f"python -m fuzz.run --target '{name}' --case {ending.case}"
        assert ending.end in (ANSWERED, CLEAR_ERROR), f"{again}\n{ending.drawn}\n{ending.fault}"
    # Cases that are refused at the border show nothing about what is behind it.
    assert name not in KINDS or sum(ending.end == ANSWERED for ending in endings) >= CASES / 3


def test_a_case_is_the_same_each_time():
    def drawn():
        draws = []

        def target(draw):
            draws.append((draw.rng.random(3).tolist(), draw.is_tame, np.random.random()))  # noqa: NPY002

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cases, "all_targets", lambda: {"svm": target})
            run_case(3, 17, "svm")
        return draws

    assert drawn() == drawn()


def fault_kind(act):
    with pytest.raises(BaseException) as caught:
        act()
    fault = fault_of(caught.value, WORDS)
    return None if fault is None else fault.kind


def test_what_is_a_fault():

    X, time_ = np.zeros((4, 1)), np.arange(4.0)
    assert fault_kind(lambda: paper_svm(kappa=-1).fit(X, time_)) is None
    assert fault_kind(lambda: paper_svm(tol=-1).fit(X, time_)) == "unnamed argument"
    assert fault_kind(lambda: require(False, "kappa")) == "wrong answer"
    assert fault_kind(lambda: np.zeros(2) @ np.zeros(3)) == "traceback"  # NumPy's, with no frame of its own
    assert fault_kind(lambda: {}["kappa"]) == "traceback"
    assert fault_kind(lambda: np.empty(1 << 55)) == "memory"

    def warn():
        warnings.warn("kappa", RuntimeWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fault_kind(warn) == "numpy warning"


def test_deaths_and_hangs_are_recorded_and_the_others_go_on():
    endings = {ending.case: ending for ending in run_cases(0, [(case, "svm") for case in range(8)], 2, serve_fragile)}
    assert sorted(endings) == list(range(8))
    assert [endings[case].end for case in range(8)] == [ANSWERED, "death", "hang", "death", *[ANSWERED] * 4]
    assert endings[1].fault.message == "SIGSEGV" and endings[3].fault.message == "exit status 7"


def test_a_process_that_cannot_start_is_an_error():
    with pytest.raises(RuntimeError, match="before its first case:\nno such module"):
        list(run_cases(0, [(0, "svm")], 1, serve_nothing))


def test_a_journal_is_continued_where_it_broke_off(tmp_path):
    path = tmp_path / "runs" / "journal"
    journal = Journal(path, 0, ("svm",))
    journal.append({"session": {"numpy": "2"}})
    journal.append_ending(Ending(0, "svm", ANSWERED, 0.5))
    journal.append_ending(Ending(1, "svm", "death", 0.5, Fault("death", "SIGSEGV", "here", "tail"), {"n": "3"}))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"case": 2, "targ')
    journal = Journal(path, 0, ("svm",))
    assert path.read_bytes() == whole
    assert [entry["case"] for entry in journal.entries("case")] == [0, 1]
    page = write_summary(journal, 0)
    assert "2 cases with seed 0, 1 faults" in page and "| death | here | SIGSEGV | 1 | svm 1 |" in page
    with pytest.raises(ValueError, match="cannot be continued"):
        Journal(path, 1, ("svm",))


def test_the_command_runs_what_is_missing(tmp_path, monkeypatch, capsys):
    asked = []

    def run_them(seed, tasks, jobs):
        for case, name in tasks:
            asked.append(case)
            yield run_case(seed, case, name)

    monkeypatch.setattr(run, "run_cases", run_them)
    path, page = tmp_path / "journal", tmp_path / "results" / "page.md"
    call = ["--journal", str(path), "--target", "logrank tree", "--output", str(page)]
    run.main([*call, "--cases", "2"])
    with pytest.raises(SystemExit, match="Continue it with --resume"):
        run.main([*call, "--cases", "3"])
    run.main([*call, "--cases", "3", "--resume"])
    assert asked == [0, 1, 2]
    assert "3 cases with seed 0" in page.read_text() and page.read_text() in capsys.readouterr().out
    assert run.main(["--target", "mistakes", "--case", "1"]) == 0
    assert "case 1 of mistakes" in capsys.readouterr().out
