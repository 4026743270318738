"""Checks of single parameters, with errors that name the argument, the value, the rule and the way out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

__all__ = [
    "LARGEST_WEIGHT",
    "check_choice",
    "check_exponents",
    "check_flag",
    "check_kappa",
    "check_number",
    "check_share",
    "count_features",
    "draw_seed",
]

# Weights of losses multiply: with each other, with those of rows and with covariates.
LARGEST_WEIGHT = 1e20


def check_number(
    name: str,
    value: Any,
    *,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    whole: bool = False,
    hint: str = "",
) -> float:
    """Return a finite number with `low <= value`, `above < value` and `value <= high`, whole where asked for."""
    rules = [
        (low, ">=", lambda bound: value >= bound),
        (above, ">", lambda bound: value > bound),
        (high, "<=", lambda bound: value <= bound),
    ]
    if _is_number(value, whole) and all(bound is None or holds(bound) for bound, _, holds in rules):
        return float(value)
    noun = "an integer" if whole else "a number"
    bounds = " and".join(f" {sign} {bound:g}" for bound, sign, _ in rules if bound is not None) or ", and finite"
    raise ValueError(_sentence(f"{name} must be {noun}{bounds}, got {value!r}.", hint))


def check_share(name: str, value: Any, *, hint: str = "") -> float:
    """Return a number strictly between 0 and 1."""
    if not _is_number(value) or not 0 < value < 1:
        raise ValueError(_sentence(f"{name} must lie strictly between 0 and 1, got {value!r}.", hint))
    return float(value)


def check_choice(name: str, value: Any, choices: Iterable[Any], *, hint: str = "") -> Any:
    """Return one of the choices: strings and None."""
    choices = list(choices)
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise ValueError(_sentence(f"{name} must be one of {choices}, got {value!r}.", hint))
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return True or False; anything else would be taken for True."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_kappa(value: Any) -> float:
    """Return the weight of a dipole loss."""
    hint = "It is exp(eta) in the paper's letters, and eta from -8 to 8 is common."
    return check_number("kappa", value, low=1 / LARGEST_WEIGHT, high=LARGEST_WEIGHT, hint=hint)


def check_exponents(exponents: Any) -> tuple[float, float]:
    """Return the exponents (rho, gamma) of the Fleming-Harrington family."""
    if not isinstance(exponents, tuple | list) or len(exponents) != 2:
        raise ValueError(
            f"fleming_harrington must be a pair (rho, gamma), got {exponents!r}. "
            "(1.0, 0.0) stresses early, (0.0, 1.0) late differences."
        )
    hint = "Give two exponents (rho, gamma)."
    rho, gamma = (check_number("fleming_harrington", exponent, low=0, hint=hint) for exponent in exponents)
    return rho, gamma


def count_features(max_features: Any, n_features: int, *, round_up: bool = False) -> int | None:
    """Return how many covariates `max_features` stands for; None tries all. Roots are rounded down or up."""
    if max_features is None:
        return None
    if isinstance(max_features, str) and max_features in ("sqrt", "log2"):
        count = np.sqrt(n_features) if max_features == "sqrt" else np.log2(n_features)
        return max(1, math.ceil(count) if round_up else math.floor(count))
    if _is_number(max_features, whole=True) and 1 <= max_features <= n_features:
        return int(max_features)
    if _is_number(max_features) and not isinstance(max_features, Integral) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    raise ValueError(
        f"max_features must be None, 'sqrt', 'log2', an integer from 1 to {n_features} (the number of "
        f"covariates) or a share in (0, 1], got {max_features!r}. None tries every covariate in every node."
    )


def draw_seed(random_state: Any) -> int:
    """Return the one number that all randomness of a model comes from."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ValueError(
            f"random_state must be None, an integer from 0 to 2**32 - 1 or a numpy.random.RandomState, got "
            f"{random_state!r}. An integer gives the same model each time."
        ) from error


def _is_number(value: Any, whole: bool = False) -> bool:
    if not isinstance(value, Integral if whole else Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def _sentence(fault: str, hint: str) -> str:
    return f"{fault} {hint}" if hint else fault
