"""Checks of single parameters: what passes, and what the refusals say."""

import numpy as np
import pytest

from dipolar.parameters import check_choice, check_flag, check_number, check_share, count_features, draw_seed


@pytest.mark.parametrize("value", [0, 2, 0.5, np.float32(1.5), np.int64(2), 2.0])
def test_numbers_within_their_bounds_come_back_as_floats(value):
    found = check_number("x", value, low=0, high=2)
    assert type(found) is float
    assert found == value


@pytest.mark.parametrize(
    ("value", "bounds", "message"),
    [
        (-1, {"low": 0}, r"x must be a number >= 0, got -1\."),
        (0, {"above": 0}, r"x must be a number > 0, got 0\."),
        (1.5, {"low": 0, "high": 1}, r"x must be a number >= 0 and <= 1, got 1\.5\."),
        (float("nan"), {"low": 0}, r"got nan\."),
        (float("inf"), {"low": 0}, r"got inf\."),
        ("1", {"low": 0}, r"got '1'\."),
        (None, {"low": 0}, r"got None\."),
        (True, {"low": 0}, r"got True\."),
        (np.True_, {"low": 0}, r"got np\.True_\."),
        (2.5, {"low": 1, "whole": True}, r"x must be an integer >= 1, got 2\.5\."),
        (2.0, {"low": 1, "whole": True}, r"x must be an integer >= 1, got 2\.0\."),
        ([1], {"low": 0}, r"got \[1\]\."),
    ],
)
def test_other_values_are_refused_with_the_rule(value, bounds, message):
    with pytest.raises(ValueError, match=message):
        check_number("x", value, **bounds)


def test_the_hint_ends_the_message():
    with pytest.raises(ValueError, match=r"^kappa must be a number > 0, got -2\. It is exp\(eta\)\.$"):
        check_number("kappa", -2, above=0, hint="It is exp(eta).")


def test_a_bound_belongs_to_low_and_high_but_not_to_above():
    assert check_number("x", 1, low=1, high=1) == 1.0
    with pytest.raises(ValueError, match="> 1"):
        check_number("x", 1, above=1)


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, -0.5, "0.5", True, float("nan")])
def test_a_share_lies_strictly_between_0_and_1(value):
    assert check_share("x", 0.5) == 0.5
    with pytest.raises(ValueError, match="x must lie strictly between 0 and 1, got"):
        check_share("x", value)


@pytest.mark.parametrize("value", [None, "no", 1, 0.5, np.ones(2), []])
def test_a_flag_is_true_or_false(value):
    assert check_flag("x", True) is check_flag("x", np.True_) is True
    assert check_flag("x", False) is False
    with pytest.raises(ValueError, match="x must be True or False, got"):
        check_flag("x", value)


@pytest.mark.parametrize("value", [-1, 2**32, 1.5, "seed", np.ones(2), {}])
def test_seeds_come_from_what_scikit_learn_takes(value):
    assert draw_seed(3) == draw_seed(np.random.RandomState(3)) == np.random.RandomState(3).randint(2**31 - 1)
    assert draw_seed(None) != draw_seed(None)
    with pytest.raises(ValueError, match=r"random_state must be None, an integer from 0 to .*, got"):
        draw_seed(value)


def test_choices():
    assert check_choice("init", "median", ("median", "quartile")) == "median"
    assert check_choice("pruning", None, (None, "fixed")) is None
    with pytest.raises(ValueError, match=r"init must be one of \['median', 'quartile'\], got 'mean'\. Try one\.$"):
        check_choice("init", "mean", ("median", "quartile"), hint="Try one.")


@pytest.mark.parametrize("value", [np.array(["median"]), np.array([1, 2]), 0, False, ["median"]])
def test_a_choice_of_another_type_is_refused_like_any_other(value):
    """An array compares element by element; that must not turn into an error about truth values."""
    with pytest.raises(ValueError, match="init must be one of"):
        check_choice("init", value, ("median", None))


@pytest.mark.parametrize(
    ("max_features", "n_features", "count"),
    [(None, 9, None), ("sqrt", 9, 3), ("log2", 1, 1), (4, 9, 4), (0.5, 9, 4), (0.01, 9, 1), (1.0, 9, 9)],
)
def test_number_of_features(max_features, n_features, count):
    assert count_features(max_features, n_features) == count


@pytest.mark.parametrize("max_features", [0, 10, 1.5, -0.5, 0.0, "all", True, float("nan")])
def test_other_numbers_of_features_are_refused(max_features):
    with pytest.raises(ValueError, match=r"max_features must be None, 'sqrt', 'log2', an integer from 1 to 9"):
        count_features(max_features, 9)
