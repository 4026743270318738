"""Checks of single parameters, with errors that name the argument, the value, the rule and the way out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

__all__ = ["check_choice", "check_number"]


def check_number(
    name: str,
    value: Any,
    *,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    hint: str = "",
) -> None:
    """Refuse anything but a finite number with `low <= value`, `above < value` and `value <= high`."""
    rules = [
        (low, ">=", lambda bound: value >= bound),
        (above, ">", lambda bound: value > bound),
        (high, "<=", lambda bound: value <= bound),
    ]
    is_number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if is_number and all(bound is None or holds(bound) for bound, _, holds in rules):
        return
    wanted = " and ".join(f"{sign} {bound:g}" for bound, sign, _ in rules if bound is not None)
    raise ValueError(f"{name} must be a finite number {wanted}, got {value!r}.{' ' * bool(hint)}{hint}")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Refuse anything but one of the choices."""
    choices = list(choices)
    if value not in choices:
        raise ValueError(f"{name} must be one of {choices}, got {value!r}.")
