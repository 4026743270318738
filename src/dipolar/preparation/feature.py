"""Features, and what rules about them say of the columns that they were made from.

stage=II <= 0.5 and stage=IV <= 0.5      stage is I or III
sex=m > 0.5                              sex is m
60 < age <= 75                           60 < age <= 75
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dipolar.words import alternatives, threshold_text

__all__ = ["Condition", "Feature", "Phrase", "phrases_of", "say_conditions"]


class Condition(NamedTuple):
    """A feature is above a threshold, or it is not."""

    feature: int
    threshold: float
    above: bool


class Phrase(NamedTuple):
    """What is said of a column: words after its name, and before it."""

    column: str
    after: str
    before: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.before, self.column, self.after)))


@dataclass(frozen=True)
class Feature:
    """One covariate that a model sees: the column it was made from, and how.

    Attributes
    ----------
    name : str
        What the covariate is called: ``"age"``, ``"sex=m"``, ``"admitted [days]"``, ``"bili=missing"``.
    column : str
        The column it was made from.
    kind : {"number", "boolean", "level", "order", "days", "missing"}
        A number as it is, 0 and 1 for a boolean, the indicator of a level, the place in an order, days since `origin`,
        or the indicator of a gap.
    level : str or None
        The level that an indicator is 1 for.
    levels : tuple of str
        All levels of the column, the reference among them; of an ordered column in their order.
    origin : str or None
        The first date of the training rows.
    values : tuple of float or None
        The two values of a covariate that has two, the smaller first.
    """

    name: str
    column: str
    kind: str
    level: str | None = None
    levels: tuple[str, ...] = ()
    origin: str | None = None
    values: tuple[float, float] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the covariate is a number as the column has it."""
        return self.kind == "number" and self.values is None

    @property
    def term(self) -> str:
        """What a sum calls the covariate: ``"age"``, ``"(sex m)"``, ``"(bili missing)"``."""
        word = {"level": self.level, "missing": "missing"}.get(self.kind)
        return self.name if word is None else f"({self.column} {word})"

    def phrase(self, threshold: float, above: bool) -> Phrase:
        """Return what `above a threshold`, or `not above` it, says of the column."""
        return phrases_of([self], [Condition(0, threshold, above)])[0]

    def say(self, threshold: float, above: bool) -> str:
        """Return the phrase as text."""
        return str(self.phrase(threshold, above))


def say_conditions(features: Sequence[Feature], conditions: Iterable[Condition]) -> list[str]:
    """Return in words what all of some conditions say, once per column or date, in the order in which they come up."""
    return [str(phrase) for phrase in phrases_of(features, conditions)]


def phrases_of(features: Sequence[Feature], conditions: Iterable[Condition]) -> list[Phrase]:
    """Return the phrases of `say_conditions`."""
    groups: dict[tuple[str, str], list[tuple[Feature, float, float]]] = {}
    for number, (low, high) in _bounds(conditions).items():
        feature = features[number]
        groups.setdefault((feature.column, feature.kind), []).append((feature, low, high))
    return [phrase for group in groups.values() for phrase in _phrases(group)]


def _bounds(conditions: Iterable[Condition]) -> dict[int, tuple[float, float]]:
    bounds: dict[int, tuple[float, float]] = {}
    for feature, threshold, above in conditions:
        low, high = bounds.get(feature, (-np.inf, np.inf))
        bounds[feature] = (max(low, threshold), high) if above else (low, min(high, threshold))
    return bounds


def _phrases(group: list[tuple[Feature, float, float]]) -> Iterator[Phrase]:
    feature, low, high = group[0]
    if feature.kind == "level":
        yield _say_levels(group)
    elif feature.kind == "order":
        yield _say_order(feature, low, high)
    elif feature.kind == "days":
        yield _say_dates(feature, low, high)
    elif feature.values is not None and any(low < value <= high for value in feature.values):
        yield _say_value(feature, low, high)
    else:
        yield _interval(feature.name, low, high)


def _say_levels(group: list[tuple[Feature, float, float]]) -> Phrase:
    first = group[0][0]
    left = set(first.levels)
    for feature, low, high in group:
        left &= {level for level in first.levels if low < float(level == feature.level) <= high}
    inside = [level for level in first.levels if level in left]
    outside = [level for level in first.levels if level not in left]
    if not inside:
        return Phrase(first.column, f"is none of {alternatives(first.levels)}")
    if not outside:
        return Phrase(first.column, "is any level")
    if len(first.levels) == 2 or len(inside) <= max(2, len(outside)):
        return Phrase(first.column, f"is {alternatives(inside)}")
    return Phrase(first.column, f"is not {alternatives(outside)}")


def _say_order(feature: Feature, low: float, high: float) -> Phrase:
    inside = [level for code, level in enumerate(feature.levels) if low < code <= high]
    if len(inside) == 1:
        return Phrase(feature.column, f"is {inside[0]}")
    if not inside or len(inside) == len(feature.levels):
        return _interval(feature.name, low, high)
    if inside[0] == feature.levels[0]:
        return Phrase(feature.column, f"is {inside[-1]} or lower")
    if inside[-1] == feature.levels[-1]:
        return Phrase(feature.column, f"is {inside[0]} or higher")
    return Phrase(feature.column, f"is from {inside[0]} to {inside[-1]}")


def _say_dates(feature: Feature, low: float, high: float) -> Phrase:
    words = [f"after {_date(feature, low)}"] if np.isfinite(low) else []
    words += [f"up to {_date(feature, high)}"] if np.isfinite(high) else []
    return Phrase(feature.column, " and ".join(words))


def _date(feature: Feature, days: float) -> str:
    """Return the day that lies so many days after the first; days beyond the calendar are left as numbers."""
    whole = np.floor(days)
    if abs(whole) > 3_000_000:
        return f"day {days:.6g}"
    return str(np.datetime64(str(feature.origin)[:10], "D") + np.timedelta64(int(whole), "D"))


def _say_value(feature: Feature, low: float, high: float) -> Phrase:
    assert feature.values is not None
    inside = [value for value in feature.values if low < value <= high]
    if len(inside) == 2:
        return _interval(feature.name, low, high)
    is_high = inside[0] == feature.values[1]
    if feature.kind == "boolean":
        return Phrase(feature.column, f"is {'true' if is_high else 'false'}")
    if feature.kind == "missing":
        return Phrase(feature.column, f"is {'missing' if is_high else 'known'}")
    return Phrase(feature.column, f"is {inside[0]:g}")


def _interval(name: str, low: float, high: float) -> Phrase:
    if np.isinf(low):
        return Phrase(name, f"<= {threshold_text(high)}")
    if np.isinf(high):
        return Phrase(name, f"> {threshold_text(low)}")
    return Phrase(name, f"<= {threshold_text(high)}", f"{threshold_text(low)} <")
