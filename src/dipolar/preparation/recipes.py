"""What becomes of one column: a number, a place in an order, days since a date, or indicators of levels.

A recipe is learnt from the cells of the training table and then applied to any other, so that both are treated alike.
A cell without a value, or with none that the recipe knows, gets the values that the recipe fills in, or NaN.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from dipolar.preparation.cells import DATE_FORMATS, as_dates, as_numbers, as_text
from dipolar.preparation.columns import Column
from dipolar.preparation.feature import Feature
from dipolar.preparation.tally import Tally
from dipolar.words import alternatives, counted, listed, quoted, shortened

__all__ = [
    "BooleanColumn",
    "CategoryColumn",
    "DateColumn",
    "Encoded",
    "NumberColumn",
    "OrderedColumn",
    "Recipe",
    "recipe_from_json",
]

ONE_DAY = np.timedelta64(86400, "s")

# The level that stands for all that are too rare to have a feature each.
RARE = "rare"


@dataclass(frozen=True)
class Encoded:
    """The features that a column turned into, and what had to be done to its cells."""

    values: np.ndarray  # (n_rows, n_features) float64
    n_gaps: int  # cells without a value, or with one that was not understood
    odd: str  # cells that were not understood, in words


@dataclass(frozen=True)
class Recipe:
    """How one column turns into features."""

    kind: ClassVar[str]

    name: str
    place: int  # of the column in the table
    marks_gaps: bool  # whether one more feature tells which cells have no value

    @property
    def features(self) -> list[Feature]:
        """The features, in the order of their columns."""
        gap = Feature(f"{self.name}=missing", self.name, "missing", values=(0.0, 1.0))
        return self._features() + ([gap] if self.marks_gaps else [])

    def encode(self, column: Column, *, keep_gaps: bool = False) -> Encoded:
        """Return the features of the cells of a column; gaps are filled unless they are kept as NaN."""
        values = self._read(column)
        unknown = np.isnan(values[:, 0])
        odd = self._not_understood(column, unknown & column.is_known)
        if not keep_gaps:
            values = np.where(unknown[:, None], self._fill_values(), values)
        if self.marks_gaps:
            values = np.column_stack([values, unknown])
        return Encoded(values.astype(np.float64), int(unknown.sum()), odd)

    def renamed(self, name: str) -> Self:
        """Return the recipe of a column of another name."""
        return replace(self, name=name)

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON types."""
        return {"kind": self.kind, **asdict(self)}

    def check(self) -> None:
        """Raise ValueError for values that no training rows lead to."""
        _require(isinstance(self.name, str), "name")
        _require(type(self.place) is int and self.place >= 0, "place")
        _require(type(self.marks_gaps) is bool, "marks_gaps")

    # What a subclass provides.

    @property
    def fill_words(self) -> str:
        """What gaps are set to."""
        raise NotImplementedError

    @property
    def about(self) -> str:
        """What the column becomes."""
        raise NotImplementedError

    def _features(self) -> list[Feature]:
        raise NotImplementedError

    def _read(self, column: Column) -> np.ndarray:
        """Return (n_rows, n_features) float64, NaN in the rows whose cell has no value that the recipe knows."""
        raise NotImplementedError

    def _fill_values(self) -> np.ndarray:
        raise NotImplementedError

    def _wanted(self) -> str:
        """What a cell would have to be to be understood."""
        raise NotImplementedError

    def _not_understood(self, column: Column, odd: np.ndarray) -> str:
        if not odd.any():
            return ""
        examples = listed(map(quoted, sorted(set(as_text(column.cells[odd])))[:3]))
        return f"{counted(int(odd.sum()), 'cell')} read as missing, {self._wanted()}: {examples}"


@dataclass(frozen=True)
class NumberColumn(Recipe):
    """Numbers; a cell without one gets the median."""

    kind: ClassVar[str] = "number"

    fill: float
    pair: tuple[float, float] | None = None  # the values of a column that has two, the smaller first

    @classmethod
    def learn(cls, column: Column, place: int, tally: Tally, marks_gaps: bool) -> NumberColumn:
        numbers = as_numbers(column.cells)
        values = np.unique(numbers[~np.isnan(numbers)])
        pair = (float(values[0]), float(values[1])) if len(values) == 2 else None
        return cls(column.name, place, marks_gaps, tally.median(numbers), pair)

    @property
    def fill_words(self) -> str:
        return f"{self.fill:.6g}, the median"

    @property
    def about(self) -> str:
        return "numbers"

    def check(self) -> None:
        super().check()
        _require(_is_finite(self.fill), "fill")
        _require(self.pair is None or (len(self.pair) == 2 and all(map(_is_finite, self.pair))), "pair")

    def _features(self) -> list[Feature]:
        return [Feature(self.name, self.name, "number", values=self.pair)]

    def _read(self, column: Column) -> np.ndarray:
        return as_numbers(column.cells)[:, None]

    def _fill_values(self) -> np.ndarray:
        return np.array([self.fill])

    def _wanted(self) -> str:
        return "not a number"


@dataclass(frozen=True)
class BooleanColumn(Recipe):
    """True and false as 1 and 0; a cell without either gets the more common."""

    kind: ClassVar[str] = "boolean"

    fill: bool

    @classmethod
    def learn(cls, column: Column, place: int, tally: Tally, marks_gaps: bool) -> BooleanColumn:
        return cls(column.name, place, marks_gaps, tally.most_common(as_text(column.cells), ("0", "1")) == "1")

    @property
    def fill_words(self) -> str:
        return f"{str(self.fill).lower()}, the most common"

    @property
    def about(self) -> str:
        return "booleans; 1 for true, 0 for false"

    def check(self) -> None:
        super().check()
        _require(type(self.fill) is bool, "fill")

    def _features(self) -> list[Feature]:
        return [Feature(self.name, self.name, "boolean", values=(0.0, 1.0))]

    def _read(self, column: Column) -> np.ndarray:
        meaning = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0}
        texts = as_text(column.cells)
        return np.array([np.nan if text is None else meaning.get(text.lower(), np.nan) for text in texts])[:, None]

    def _fill_values(self) -> np.ndarray:
        return np.array([float(self.fill)])

    def _wanted(self) -> str:
        return "neither true nor false"


@dataclass(frozen=True)
class DateColumn(Recipe):
    """Days since the first date of the training table; a cell without a date gets the median."""

    kind: ClassVar[str] = "date"

    form: str | None  # of dates in text; None where the table has dates of its own
    origin: str
    fill: float

    @classmethod
    def learn(cls, column: Column, place: int, tally: Tally, marks_gaps: bool, form: str | None) -> DateColumn:
        dates = as_dates(column.cells, form)
        origin = dates[~np.isnat(dates)].min()
        return cls(column.name, place, marks_gaps, form, str(origin), tally.median((dates - origin) / ONE_DAY))

    @property
    def fill_words(self) -> str:
        return f"{self.fill:.6g} days, the median"

    @property
    def about(self) -> str:
        form = "" if self.form is None else f", dates read as {self.form}"
        return f"days since {self.origin[:10]}{form}"

    def check(self) -> None:
        super().check()
        _require(self.form is None or self.form in DATE_FORMATS, "form")
        _require(isinstance(self.origin, str) and not np.isnat(np.datetime64(self.origin, "s")), "origin")
        _require(_is_finite(self.fill), "fill")

    def _features(self) -> list[Feature]:
        return [Feature(f"{self.name} [days]", self.name, "days", origin=self.origin)]

    def _read(self, column: Column) -> np.ndarray:
        return ((as_dates(column.cells, self.form) - np.datetime64(self.origin, "s")) / ONE_DAY)[:, None]

    def _fill_values(self) -> np.ndarray:
        return np.array([self.fill])

    def _wanted(self) -> str:
        return "not a date" if self.form is None else f"not a date like {self.form}"


@dataclass(frozen=True)
class OrderedColumn(Recipe):
    """The place of a category in its order, from 0; a cell without a known one gets the median place."""

    kind: ClassVar[str] = "ordered"

    levels: tuple[str, ...]
    fill: int

    @classmethod
    def learn(
        cls, column: Column, place: int, tally: Tally, marks_gaps: bool, levels: tuple[str, ...]
    ) -> OrderedColumn:
        codes = _codes(as_text(column.cells), levels)
        # A median between two places is none: it is rounded down.
        return cls(column.name, place, marks_gaps, levels, math.floor(tally.median(codes)))

    @property
    def fill_words(self) -> str:
        return f"{quoted(self.levels[self.fill])}, the median"

    @property
    def about(self) -> str:
        order = " < ".join(shortened(level, 30) for level in self.levels)
        return f"ordered categories; 0 to {len(self.levels) - 1} for {shortened(order, 200)}"

    def check(self) -> None:
        super().check()
        _check_levels(self.levels)
        _require(type(self.fill) is int and 0 <= self.fill < len(self.levels), "fill")

    def _features(self) -> list[Feature]:
        return [Feature(self.name, self.name, "order", levels=self.levels)]

    def _read(self, column: Column) -> np.ndarray:
        return _codes(as_text(column.cells), self.levels)[:, None]

    def _fill_values(self) -> np.ndarray:
        return np.array([float(self.fill)])

    def _wanted(self) -> str:
        return "not a category of the model"


@dataclass(frozen=True)
class CategoryColumn(Recipe):
    """An indicator of every level but the reference; a cell without a known level gets the most common."""

    kind: ClassVar[str] = "category"

    levels: tuple[str, ...]  # at least two, the reference among them, and at the end the one of rare levels if any are
    reference: str | None  # None: every level has an indicator
    fill: str
    rare: tuple[str, ...] = ()  # levels that share the last place

    @classmethod
    def learn(
        cls, column: Column, place: int, tally: Tally, marks_gaps: bool, levels: tuple[str, ...], **rule: Any
    ) -> CategoryColumn:
        """Learn from cells; `rule` says what the reference is, and which levels are rare."""
        common, rare = tally.part_rare(as_text(column.cells), levels, rule["min_frequency"])
        shown = (*common, _rare_name(common)) if rare else common
        texts = np.array([shown[-1] if text in rare else text for text in as_text(column.cells)], dtype=object)
        most_common = tally.most_common(texts, shown)
        reference = {"most_common": most_common, "first": shown[0], None: None}[rule["reference"]]
        if reference is None and len(shown) == 2:  # one indicator says it all
            reference = most_common
        return cls(column.name, place, marks_gaps, shown, reference, most_common, rare)

    @property
    def indicated(self) -> tuple[str, ...]:
        """The levels that have an indicator."""
        return tuple(level for level in self.levels if level != self.reference)

    @property
    def fill_words(self) -> str:
        return f"{quoted(self.fill)}, the most common"

    @property
    def about(self) -> str:
        about = f"categories; {alternatives(self.indicated, 'and')}"
        if self.reference is not None:
            why = ", the most common" if self.reference == self.fill else ""
            about += f" against {shortened(self.reference, 60)}{why}"
        return f"{about}; {self.levels[-1]} are {listed(self.rare)}" if self.rare else about

    def check(self) -> None:
        super().check()
        _check_levels(self.levels)
        _require(len(self.levels) > 1, "levels")
        _require(isinstance(self.rare, tuple) and all(isinstance(level, str) for level in self.rare), "rare")
        _require(self.reference is None or self.reference in self.levels, "reference")
        _require(self.fill in self.levels, "fill")

    def _features(self) -> list[Feature]:
        return [
            Feature(f"{self.name}={level}", self.name, "level", level, self.levels, values=(0.0, 1.0))
            for level in self.indicated
        ]

    def _read(self, column: Column) -> np.ndarray:
        codes = _codes(as_text(column.cells), self.levels[:-1] if self.rare else self.levels, self.rare)
        places = np.array([self.levels.index(level) for level in self.indicated])
        return np.where(np.isnan(codes)[:, None], np.nan, codes[:, None] == places)

    def _fill_values(self) -> np.ndarray:
        return np.array([float(level == self.fill) for level in self.indicated])

    def _wanted(self) -> str:
        return "not a category of the model"


RECIPES: dict[str, type[Recipe]] = {
    cls.kind: cls for cls in (NumberColumn, BooleanColumn, DateColumn, OrderedColumn, CategoryColumn)
}


def recipe_from_json(record: dict[str, Any]) -> Recipe:
    """Undo `to_json`; raises ValueError, TypeError, KeyError or OverflowError for anything else."""
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in record.items()}
    recipe = RECIPES[str(fields.pop("kind"))](**fields)
    recipe.check()
    return recipe


def _codes(texts: np.ndarray, levels: tuple[str, ...], rare: tuple[str, ...] = ()) -> np.ndarray:
    """Return the place of each text among the levels, NaN for one that is none of them."""
    place = {level: float(code) for code, level in enumerate(levels)} | dict.fromkeys(rare, float(len(levels)))
    return np.array([np.nan if text is None else place.get(text, np.nan) for text in texts], dtype=np.float64)


def _rare_name(common: tuple[str, ...]) -> str:
    name = RARE
    while name in common:
        name += "'"
    return name


def _check_levels(levels: Any) -> None:
    is_sound = isinstance(levels, tuple) and levels and all(isinstance(level, str) for level in levels)
    _require(bool(is_sound) and len(set(levels)) == len(levels), "levels")


def _is_finite(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)


def _require(holds: bool, name: str) -> None:
    if not holds:
        raise ValueError(f"a recipe has no sound {name}")
