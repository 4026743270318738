"""What becomes of one column: numbers, indicators of categories, or days since a date.

A recipe is learnt from the cells of the training table and then applied to any other, so that both are treated alike.
What has no value there, or none that the recipe knows, gets the one that the recipe fills in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from dipolar.cli.messages import counted, listed
from dipolar.preparation.cells import as_dates, as_numbers, as_text, is_missing

__all__ = ["RECIPES", "CategoryColumn", "DateColumn", "NumberColumn", "Recipe", "recipe_from_json"]

ONE_DAY = np.timedelta64(86400, "s")


@dataclass(frozen=True)
class Encoded:
    """The features that a column turned into, and what had to be done."""

    values: np.ndarray  # (n_rows, n_features) float64
    notes: list[str]


class Recipe:
    """How one column turns into features."""

    kind: ClassVar[str]
    name: str

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [self.name]

    def encode(self, column: np.ndarray) -> Encoded:
        """Return the features of the cells of a column."""
        raise NotImplementedError

    def encode_absent(self, n_rows: int) -> Encoded:
        """Return the features of a column that a table does not have."""
        return self.encode(np.full(n_rows, None, dtype=object))

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON types."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True)
class NumberColumn(Recipe):
    """Numbers; a cell without one gets the median."""

    kind: ClassVar[str] = "number"

    name: str
    fill: float
    pair: tuple[float, float] | None = None  # the values of a column that has two, the smaller first

    @classmethod
    def learn(cls, name: str, column: np.ndarray) -> NumberColumn:
        numbers = as_numbers(column)
        values = np.unique(numbers[~np.isnan(numbers)])
        pair = (float(values[0]), float(values[1])) if len(values) == 2 else None
        return cls(name, float(np.nanmedian(numbers)), pair)

    def encode(self, column: np.ndarray) -> Encoded:
        numbers = as_numbers(column)
        odd = np.isnan(numbers) & ~is_missing(column)
        notes = _not_understood(self.name, column, odd, "not a number")
        unknown = np.isnan(numbers)
        notes += _filled(self.name, unknown, f"{self.fill:.6g}, the median")
        return Encoded(np.where(unknown, self.fill, numbers)[:, None], notes)


@dataclass(frozen=True)
class DateColumn(Recipe):
    """Days since the first date of the training table; a cell without a date gets the median."""

    kind: ClassVar[str] = "date"

    name: str
    form: str | None  # of dates in text; None where the file has dates of its own
    origin: str
    fill: float

    @property
    def features(self) -> list[str]:
        return [f"{self.name} [days]"]

    @classmethod
    def learn(cls, name: str, column: np.ndarray, form: str | None) -> DateColumn:
        dates = as_dates(column, form)
        known = dates[~np.isnat(dates)]
        days = (known - known.min()) / ONE_DAY
        return cls(name, form, str(known.min()), float(np.median(days)))

    def encode(self, column: np.ndarray) -> Encoded:
        dates = as_dates(column, self.form)
        unknown = np.isnat(dates)
        notes = _not_understood(self.name, column, unknown & ~is_missing(column), f"not a date like {self.form}")
        notes += _filled(self.name, unknown, f"{self.fill:.6g} days, the median")
        days = (dates - np.datetime64(self.origin, "s")) / ONE_DAY
        return Encoded(np.where(unknown, self.fill, days)[:, None], notes)


@dataclass(frozen=True)
class CategoryColumn(Recipe):
    """One indicator per category, one in all for two; a cell without a known category gets the most common."""

    kind: ClassVar[str] = "category"

    name: str
    levels: tuple[str, ...]  # at least two, sorted
    fill: str

    @property
    def indicated(self) -> tuple[str, ...]:
        """The categories that have an indicator."""
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    @property
    def features(self) -> list[str]:
        return [f"{self.name}={level}" for level in self.indicated]

    @classmethod
    def learn(cls, name: str, column: np.ndarray) -> CategoryColumn:
        counts = Counter(cell for cell in as_text(column) if cell is not None)
        levels = tuple(sorted(counts))
        return cls(name, levels, max(levels, key=lambda level: counts[level]))

    def encode(self, column: np.ndarray) -> Encoded:
        texts = as_text(column)
        unseen = np.array([text is not None and text not in self.levels for text in texts], dtype=bool)
        notes = _not_understood(self.name, column, unseen, "not a category of the model")
        unknown = unseen | is_missing(column)
        notes += _filled(self.name, unknown, f"{self.fill!r}, the most common")
        texts = np.where(unknown, self.fill, texts)
        return Encoded(np.column_stack([texts == level for level in self.indicated]).astype(np.float64), notes)


RECIPES: dict[str, type[Recipe]] = {cls.kind: cls for cls in (NumberColumn, DateColumn, CategoryColumn)}


def recipe_from_json(record: dict[str, Any]) -> Recipe:
    """Undo `to_json`; raises ValueError, TypeError or KeyError for anything else."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
    recipe = RECIPES[str(fields.pop("kind"))](**fields)
    recipe.encode_absent(1)
    return recipe


def _filled(name: str, unknown: np.ndarray, value: str) -> list[str]:
    return [f"{name}: {counted(int(unknown.sum()), 'missing value')} set to {value}"] if unknown.any() else []


def _not_understood(name: str, column: np.ndarray, odd: np.ndarray, what: str) -> list[str]:
    if not odd.any():
        return []
    examples = listed(repr(text) for text in sorted(set(as_text(column)[odd]))[:3])
    return [f"{name}: {counted(int(odd.sum()), 'cell')} read as missing, {what}: {examples}"]
