"""Running units: in any order, by any number of workers, with failures, and how long the rest will take."""

import time

import pytest
from joblib import delayed

from dipolar.parallel import run_unordered
from dipolar.studies.estimate import TimeToGo
from dipolar.studies.journal import Journal, read_journal
from dipolar.studies.runner import pending_units, run_units
from dipolar.studies.study import Study
from dipolar.studies.unit import StudyError, Unit


class Toy(Study):
    """Squares of numbers; some of them fail."""

    name = "toy"
    title = "Toy"
    default_runs = 4

    def __init__(self, broken=()):
        self.broken = broken

    @property
    def sources(self):
        return "a", "b"

    def models_of(self, source):
        return ("square",) if source == "a" else ("square", "cube")

    def settings(self):
        return {}

    def run(self, unit, seed):
        if unit in self.broken:
            raise ValueError(f"no {unit}")
        power = 2 if unit.model == "square" else 3
        return {"value": (unit.replicate + seed) ** power, "seconds": {"tuning": 0.001}}

    def tables(self, results):
        return []


def run(path, study=None, units=None, **options):
    study = study or Toy()
    header = study.header(0)
    with Journal.resume(path, header) if path.exists() else Journal.create(path, header) as journal:
        return run_units(study, study.units() if units is None else units, journal, **options)


def test_the_plan_goes_replicate_by_replicate():
    units = Toy().units(2)
    assert [str(unit) for unit in units] == [
        "a 0 square", "b 0 square", "b 0 cube", "a 1 square", "b 1 square", "b 1 cube",
    ]  # fmt: skip
    assert Toy().units(2, ["b"], ["cube"]) == [Unit("b", 0, "cube"), Unit("b", 1, "cube")]
    assert len(Toy().units()) == 12
    with pytest.raises(StudyError, match=r"toy has no source 'c'\. It has a, b\."):
        Toy().units(2, ["c"])
    with pytest.raises(StudyError, match=r"toy has no model 'cube'\. It has square\."):
        Toy().units(2, ["a"], ["cube"])


def values(path):
    return {unit: record["value"] for unit, record in read_journal(path).units.items()}


def test_any_number_of_workers_and_any_interruption_give_the_same_results(tmp_path):
    assert run(tmp_path / "one") == 0
    run(tmp_path / "two", n_jobs=2)
    run(tmp_path / "parts", units=Toy().units()[:5])
    before = (tmp_path / "parts").read_bytes()
    run(tmp_path / "parts")
    assert (tmp_path / "parts").read_bytes().startswith(before)
    assert values(tmp_path / "one") == values(tmp_path / "two") == values(tmp_path / "parts")
    assert len(values(tmp_path / "one")) == 12 and values(tmp_path / "one")[Unit("b", 3, "cube")] == 27
    assert (tmp_path / "parts").read_bytes().count(b'"unit"') == 12


def test_a_unit_that_fails_costs_itself_and_is_tried_again(tmp_path):
    broken = [Unit("a", 1, "square"), Unit("b", 2, "cube")]
    told = []
    n_failed = run(tmp_path / "x", Toy(broken), progress=lambda *state: told.append(state))
    assert n_failed == 2
    recorded = read_journal(tmp_path / "x")
    assert len(recorded.units) == 10 and recorded.failures[broken[0]] == "ValueError: no a 1 square"
    assert told[0] == (0, 12, None) and told[-1] == (12, 12, 0.0)
    assert run(tmp_path / "x") == 0
    assert len(values(tmp_path / "x")) == 12 and not read_journal(tmp_path / "x").failures


def test_pending_units_keep_their_order(tmp_path):
    run(tmp_path / "x", units=[Unit("b", 0, "cube")])
    with Journal.resume(tmp_path / "x", Toy().header(0)) as journal:
        assert pending_units(Toy().units(1), journal) == [Unit("a", 0, "square"), Unit("b", 0, "square")]


def wait_for(path, seconds=120):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, "nobody made the file"
        time.sleep(0.01)


def test_a_slow_task_does_not_hold_back_the_others(tmp_path):
    """The first task ends only once the result of another has been handed out."""
    finished = []
    for number, _ in run_unordered([delayed(wait_for)(tmp_path / "go"), delayed(abs)(1), delayed(abs)(2)], n_jobs=2):
        finished.append(number)
        (tmp_path / "go").touch()
    assert sorted(finished) == [0, 1, 2] and finished[0] != 0


class LostOnce:
    """A task whose worker is lost the first time."""

    def __init__(self, value):
        self.value, self.lost = value, False

    def __call__(self):
        if not self.lost:
            self.lost = True
            raise ConnectionError("the worker is gone")
        return self.value


def test_tasks_of_a_lost_worker_are_sent_again_and_the_others_are_not(monkeypatch):
    calls = []
    tasks = [delayed(calls.append)(1), delayed(LostOnce(7))(), delayed(calls.append)(2)]
    with pytest.raises(ConnectionError):
        list(run_unordered(tasks))
    calls.clear()
    monkeypatch.setattr("dipolar.parallel._lost_worker_errors", lambda: (ConnectionError,))
    tasks[1] = delayed(LostOnce(7))()
    assert sorted(run_unordered(tasks), key=lambda pair: pair[0]) == [(0, None), (1, 7), (2, None)]
    assert calls == [1, 2]


def test_time_to_go_counts_each_kind_by_its_own_mean():
    slow, quick = [Unit("a", n, "gaussian") for n in range(4)], [Unit("a", n, "linear") for n in range(4)]
    to_go = TimeToGo([*slow, *quick], {}, n_workers=2)
    assert to_go.seconds(0.0) is None
    to_go.finish(quick[0], 1.0)
    assert to_go.seconds(1.0) is None  # nothing is known about the slow ones
    to_go.finish(slow[0], 10.0)
    # 3 x 10 + 3 x 1 seconds are left, and two workers did 11 seconds of work in 5.5.
    assert to_go.seconds(5.5) == pytest.approx(16.5)
    # The same pace at half the speed.
    assert to_go.seconds(11.0) == pytest.approx(33.0)


def test_time_to_go_knows_results_of_earlier_runs_and_other_designs():
    done = {Unit("a", 0, "linear"): {"seconds": {"tuning": 3.0, "scoring": 1.0}}}
    to_go = TimeToGo([Unit("b", 0, "linear"), Unit("b", 1, "linear")], done, n_workers=1)
    assert to_go.seconds(0.0) == pytest.approx(8.0)
    to_go.skip(Unit("b", 0, "linear"))
    assert to_go.seconds(0.0) == pytest.approx(4.0)
