"""Checks of constructor parameters: each error names the parameter, its value, the rule and a way out."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["check_choice", "check_number", "check_share", "count_features"]


def check_number(name: str, value: Any, minimum: float, way_out: str, *, whole: bool = False) -> float:
    """Check a number that is at least `minimum`, and whole where that is asked for."""
    if not _is_number(value, whole) or not value >= minimum:
        noun = "an integer" if whole else "a number"
        raise ValueError(f"{name} must be {noun} >= {minimum}, got {value!r}. {way_out}")
    return float(value)


def check_share(name: str, value: Any, way_out: str) -> float:
    """Check a number strictly between 0 and 1."""
    if not _is_number(value) or not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}. {way_out}")
    return float(value)


def check_choice(name: str, value: Any, choices: Sequence[Any], way_out: str) -> Any:
    """Check a value against the list of those that are known."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}. {way_out}")
    return value


def count_features(max_features: Any, n_features: int) -> int | None:
    """Return how many covariates `max_features` stands for; None tries all."""
    if max_features is None:
        return None
    if isinstance(max_features, str) and max_features in ("sqrt", "log2"):
        return max(1, int(np.sqrt(n_features) if max_features == "sqrt" else np.log2(n_features)))
    if _is_number(max_features, whole=True) and 1 <= max_features <= n_features:
        return int(max_features)
    if _is_number(max_features) and not isinstance(max_features, Integral) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    raise ValueError(
        f"max_features must be None, 'sqrt', 'log2', an integer from 1 to {n_features} (the number of "
        f"covariates) or a share in (0, 1], got {max_features!r}. None tries every covariate in every node."
    )


def _is_number(value: Any, whole: bool = False) -> bool:
    return isinstance(value, Integral if whole else Real) and not isinstance(value, bool | np.bool_)
