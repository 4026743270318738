"""Records: what follows from the rules of their fields."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest

from dipolar.records import Record, flags, index, offsets, part, reals, rules_of, types_of, wholes


@dataclass(frozen=True, eq=False)
class Steps(Record):
    offset: Annotated[np.ndarray, offsets("groups", into="steps", may_be_empty=False)]
    time: Annotated[np.ndarray, reals("steps", low=0, ascends=True)]
    before: Annotated[np.ndarray, index("steps", into="groups", may_be_missing=True)]
    height: Annotated[np.ndarray, reals("steps", "columns", may_be_missing=True)]
    count: Annotated[np.ndarray, wholes("steps", low=1, high=9, dtype=np.int8)]
    seen: Annotated[np.ndarray, flags("steps")]
    unit: str


@dataclass(frozen=True, eq=False)
class Pair(Record):
    first: Steps
    size: Annotated[np.ndarray, reals("sizes")]


GOOD = {
    "offset": np.array([0, 1, 3]),
    "time": np.array([0.0, 1.0, 2.5]),
    "before": np.array([-1, 0, 1]),
    "height": np.array([[1.0, np.nan], [2.0, 3.0], [-1.0, 0.0]]),
    "count": np.array([1, 2, 9]),
    "seen": np.array([True, False, True]),
}


def steps(unit="days", **other):
    return Steps.of_arrays(GOOD | {name: np.asarray(values) for name, values in other.items()}, unit=unit)


def test_arrays_have_the_types_of_their_rules_and_come_back():
    record = steps()
    assert list(rules_of(Steps)) == list(GOOD)
    for name, values in record.to_arrays().items():
        assert values.dtype == types_of(Steps)[name]
    assert Steps.of_arrays(record.to_arrays(), unit="days") == record


def test_records_are_compared_by_everything_in_them():
    assert steps() == steps() and steps() != "steps"
    assert steps() != steps(unit="weeks") and steps() != steps(seen=[True, True, True])
    assert Pair(steps(), np.ones(2)) == Pair(steps(), np.ones(2)) != Pair(steps(unit="weeks"), np.ones(2))


def test_inner_records_have_names_of_their_own():
    arrays = Pair(steps(), np.ones(2)).to_arrays()
    assert arrays.keys() == {"size", *(f"first.{name}" for name in GOOD)}
    assert Steps.of_arrays(part(arrays, "first"), unit="days") == steps()


def test_axes_have_one_length_each():
    assert steps().check_arrays() == {"groups": 2, "steps": 3, "columns": 2}
    with pytest.raises(ValueError, match=r"Steps\.offset should be for 5 groups, got 2"):
        steps().check_arrays(groups=5)
    with pytest.raises(ValueError, match=r"Steps\.time should be for 3 steps, got 2"):
        steps(offset=[0, 1, 3], time=[0.0, 1.0], before=[0, 0, 0]).check_arrays(steps=3)


@pytest.mark.parametrize(
    ("name", "values", "rule"),
    [
        ("offset", [0, 0, 3], "offsets that ascend from 0 to 3"),
        ("offset", [1, 2, 3], "offsets that ascend from 0 to 3"),
        ("offset", [0, 1, 2], "offsets that ascend from 0 to 3"),
        ("offset", [0, 2**63 - 1, 3], "offsets that ascend from 0 to 3"),
        ("time", [0.0, 1.0, np.inf], "numbers from 0 to"),
        ("time", [0.0, np.nan, 1.0], "numbers from 0 to"),
        ("time", [-1.0, 0.0, 1.0], "numbers from 0 to"),
        ("time", [0.0, 1.0, 1.0], "ascending values"),
        ("before", [0, 1, 2], "integers from -1 to 1"),
        ("before", [0, 1, -2], "integers from -1 to 1"),
        ("height", [[1.0, np.inf]] * 3, "finite numbers"),
        ("height", [1.0, 2.0, 3.0], r"2 axes \(steps, columns\), got shape \(3,\)"),
        ("count", [0, 1, 2], "integers from 1 to 9"),
    ],
)
def test_values_are_in_range(name, values, rule):
    with pytest.raises(ValueError, match=rf"Steps\.{name} should h(old|ave) {rule}"):
        steps(**{name: values}).check_arrays()


def test_values_of_arrays_that_are_known_are_not_looked_at_again():
    bad = steps(count=[0, 0, 0])
    assert bad.check_arrays(("count",))["steps"] == 3
    with pytest.raises(ValueError, match=r"Steps\.count"):
        bad.check_arrays(("seen",))


@pytest.mark.parametrize(
    ("name", "values", "rule"),
    [
        ("time", [1, 2, 3], "should hold float64, not int64"),
        ("seen", [0, 1, 1], "should hold bool, not int64"),
        ("count", [1, 2, 300], "should hold integers of 8 bits"),
        ("before", [2**32, 0, 0], "should hold integers of 32 bits"),
    ],
)
def test_no_value_changes_on_the_way_to_its_type(name, values, rule):
    with pytest.raises(ValueError, match=rf"Steps\.{name} {rule}"):
        steps(**{name: values})


def test_an_array_that_is_missing_is_named():
    with pytest.raises(ValueError, match=r"Steps\.seen is missing"):
        Steps.of_arrays({name: values for name, values in GOOD.items() if name != "seen"}, unit="days")
