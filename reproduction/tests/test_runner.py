"""Running units: in any order, by any number of workers, with failures, and how long the rest will take."""

import pytest

from dipolar.cli.messages import UserError
from dipolar_reproduction.runner import TimeToGo, run_units
from dipolar_reproduction.store import Store
from dipolar_reproduction.study import Study, Unit


class Toy(Study):
    """Squares of numbers; some of them fail."""

    name = "toy"
    title = "Toy"
    sources = ("a", "b")
    default_runs = 4

    def __init__(self, broken=()):
        self.broken = broken

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
    with Store(path) as store:
        store.begin(study.header(0), resume=True)
        run_units(study, study.units() if units is None else units, store, {"dipolar": "1"}, **options)
        return store.read()


def test_the_plan_goes_replicate_by_replicate():
    units = Toy().units(2)
    assert [str(unit) for unit in units] == [
        "a 0 square", "b 0 square", "b 0 cube", "a 1 square", "b 1 square", "b 1 cube",
    ]  # fmt: skip
    assert Toy().units(2, ["b"], ["cube"]) == [Unit("b", 0, "cube"), Unit("b", 1, "cube")]
    assert len(Toy().units()) == 12
    with pytest.raises(UserError, match=r"toy has no source 'c'\. It has a, b\."):
        Toy().units(2, ["c"])
    with pytest.raises(UserError, match=r"toy has no model 'cube'\. It has square\."):
        Toy().units(2, ["a"], ["cube"])


def values(recorded):
    return {unit: record["value"] for unit, record in recorded.units.items()}


def test_any_number_of_workers_and_any_interruption_give_the_same_results(tmp_path):
    one = run(tmp_path / "one")
    two = run(tmp_path / "two", n_jobs=2)
    before = run(tmp_path / "parts", units=Toy().units()[:5])
    parts = run(tmp_path / "parts")
    assert list(parts.units.items())[:5] == list(before.units.items())  # none was run again
    assert values(one) == values(two) == values(parts)
    assert len(one.units) == 12 and values(one)[Unit("b", 3, "cube")] == 27
    assert [len(recorded.sessions) for recorded in (one, two, parts)] == [1, 1, 2]
    assert parts.units[Unit("b", 3, "cube")]["session"] == 1 and run(tmp_path / "parts").sessions == parts.sessions


def test_units_run_in_the_order_of_the_plan(tmp_path):
    run(tmp_path / "x", units=[Unit("b", 0, "cube")])
    expected = [Unit("b", 0, "cube"), Unit("a", 0, "square"), Unit("b", 0, "square")]
    assert list(run(tmp_path / "x", units=Toy().units(1)).units) == expected


def test_a_unit_that_fails_costs_itself_and_is_tried_again(tmp_path):
    broken = [Unit("a", 1, "square"), Unit("b", 2, "cube")]
    told = []
    recorded = run(tmp_path / "x", Toy(broken), progress=lambda *state: told.append(state))
    assert len(recorded.units) == 10 and recorded.failures.keys() == set(broken)
    assert recorded.failures[broken[0]] == "ValueError: no a 1 square"
    assert told[0] == (0, 12, None) and told[-1] == (12, 12, 0.0) and [done for done, *_ in told] == list(range(13))
    again = run(tmp_path / "x")
    assert len(again.units) == 12 and not again.failures


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
    to_go.finish(Unit("b", 0, "linear"), None)
    assert to_go.seconds(0.0) == pytest.approx(4.0)
