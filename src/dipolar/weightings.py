"""The statistics of the log-rank family by name: criteria of univariate splits, and weightings of the log-rank test.

A weighting is W_k = Y_k^a S(t_k-)^rho (1 - S(t_k-))^gamma, in the letters of `dipolar._core.logrank`. Another one is a
name and its three exponents, and trees, forests and `dipolar.metrics.logrank_test` then know it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dipolar._core.logrank import FAMILIES, Family
from dipolar.parameters import check_choice, check_exponents, check_number

__all__ = ["make_family", "register_weighting", "weightings"]


def register_weighting(name: str, *, at_risk: float = 0.0, rho: float = 0.0, gamma: float = 0.0) -> None:
    """Give a weighting a name, by which `criterion` of univariate trees and forests and `weighting` of tests know it.

    Parameters
    ----------
    name : str
    at_risk, rho, gamma : float, default=0.0
        Exponents, not negative, of the number at risk, of the survival curve just before each event time, and of one
        minus that.

    Examples
    --------
    >>> from dipolar.weightings import register_weighting
    >>> register_weighting("peto", rho=1.0)  # early differences, and what is censored does not matter to the weights
    """
    exponents = ("at_risk", at_risk), ("rho", rho), ("gamma", gamma)
    hint = "All exponents 0 is the log-rank test."
    at_risk, rho, gamma = (float(check_number(which, value, low=0, hint=hint)) for which, value in exponents)
    family = Family(at_risk, rho, gamma)
    if not isinstance(name, str) or FAMILIES.get(name, family) != family:
        raise ValueError(
            f"name must be a string that no other weighting has, got {name!r}; taken are {list(FAMILIES)}."
        )
    FAMILIES[name] = family


def weightings() -> tuple[str, ...]:
    """Return the names of all weightings of the log-rank test."""
    return tuple(name for name, family in FAMILIES.items() if not family.is_exponential)


def make_family(argument: str, name: Any, exponents: Any, only: Sequence[str] = ()) -> Family:
    """Return the statistic that a user means by a name; `exponents` are those of the Fleming-Harrington family."""
    check_choice(argument, name, tuple(only or FAMILIES), hint="'logrank' is the usual one.")
    rho, gamma = check_exponents(exponents)
    return FAMILIES[name]._replace(rho=rho, gamma=gamma) if name == "fleming-harrington" else FAMILIES[name]
