"""What the user says about the columns, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dipolar.parameters import check_choice, check_number
from dipolar.preparation.columns import as_levels
from dipolar.words import listed, suggestion

__all__ = ["Choice"]


@dataclass(frozen=True)
class Choice:
    """The parameters of an encoder, each in one form."""

    only: frozenset[str] | None = None
    drop: Mapping[str, str] = field(default_factory=dict)  # names and reasons
    categorical: frozenset[str] = frozenset()
    ordinal: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)  # None: the order of the type
    dates: str = "drop"
    add_indicator: bool | str = "auto"
    reference: str | None = "most_common"
    min_frequency: float | None = None
    max_levels: int = 30
    keeps_gaps: bool = False

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """Check parameters as far as that can be done without a table."""
        for name, values in CHOICES.items():
            check_choice(name, parameters[name], values)
        indicator = parameters["add_indicator"]
        if not isinstance(indicator, bool | np.bool_) and indicator != "auto":
            raise ValueError(f"add_indicator must be 'auto', True or False, got {indicator!r}.")
        if parameters["min_frequency"] is not None:
            check_number("min_frequency", parameters["min_frequency"], above=0, hint="None keeps every level.")
        check_number("max_levels", parameters["max_levels"], low=2, whole=True)
        only = parameters["only"]
        return cls(
            only=None if only is None else frozenset(_names("only", only)),
            drop={name: str(reason) for name, reason in _by_name("drop", parameters["drop"], "as told").items()},
            categorical=frozenset(_names("categorical", parameters["categorical"])),
            ordinal={
                name: None if order is None else _order(name, order)
                for name, order in _by_name("ordinal", parameters["ordinal"], None).items()
            },
            keeps_gaps=parameters["missing"] == "keep",
            **{
                name: parameters[name]
                for name in ("dates", "add_indicator", "reference", "min_frequency", "max_levels")
            },
        )

    def check_names(self, names: list[str]) -> None:
        """Refuse names of columns that are not there."""
        for parameter in ("only", "drop", "categorical", "ordinal"):
            for name in getattr(self, parameter) or ():
                if name not in names:
                    hint = suggestion(str(name), names) or f" It has {listed(names)}."
                    raise ValueError(f"{parameter} names a column that X does not have: {name!r}.{hint}")
        both = sorted(self.categorical & self.ordinal.keys())
        if both:
            raise ValueError(f"categorical and ordinal both name {listed(both)}. Leave them out of one of the two.")


CHOICES: dict[str, tuple[str | None, ...]] = {
    "missing": ("fill", "keep"),
    "handle_unknown": ("warn", "error", "ignore"),
    "dates": ("drop", "days"),
    "reference": ("most_common", "first", None),
}


def _names(parameter: str, names: Any) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str):
        raise ValueError(f"{parameter} must be a list of names of columns, got {names!r}. Give [{names!r}].")
    return list(names)


def _order(name: str, order: Any) -> tuple[str, ...]:
    levels = () if isinstance(order, str) else as_levels(order)
    if len(levels) < 2:
        raise ValueError(
            f"ordinal[{name!r}] must list at least two levels from the lowest to the highest, got {order!r:.100}."
        )
    return levels


def _by_name(parameter: str, values: Any, default: Any) -> dict[str, Any]:
    """Return what is said of each column: a mapping says it, a list of names means the default."""
    return dict(values) if isinstance(values, Mapping) else dict.fromkeys(_names(parameter, values), default)
