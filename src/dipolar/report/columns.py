"""The columns that the page asks for and sums up: those of the original table, with what the encoder does to them."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dipolar.preparation.encoder import CovariateEncoder
from dipolar.preparation.recipes import CategoryColumn, DateColumn, OrderedColumn, Recipe
from dipolar.quantiles import weighted_quantile
from dipolar.report.model import numbers
from dipolar.tree.described import Described

__all__ = ["ColumnValues", "describe_columns", "describe_values", "known_values", "read_values"]

# The ends of a range are rounded outwards to 1, 2 or 5 times a power of ten, at least this share of the range.
SHARE_OF_RANGE = 1 / 20


@dataclass(frozen=True)
class ColumnValues:
    """What rows have in one column: numbers, NaN where missing; of categories the place among the levels."""

    values: np.ndarray
    levels: tuple[str, ...] | None = None
    origin: str | None = None  # the date that numbers are days since

    def cells(self) -> list[Any]:
        """Return numbers, levels and dates as JSON has them."""
        if self.levels is not None:
            return [None if np.isnan(value) else self.levels[int(value)] for value in self.values]
        return [None if np.isnan(value) else self.written(value) for value in self.values]

    def written(self, value: float) -> float | str:
        """Return a number, or the date that it is."""
        return float(value) if self.origin is None else _date(self.origin, value)


def describe_columns(described: Described, units: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return every column: its name and unit, its covariates (from, to), and the recipe that makes them of a cell."""
    _, names, encoder = described
    if encoder is None:
        columns: list[dict[str, Any]] = [
            {"name": name, "kind": "number", "fill": None, "marks_gaps": False} for name in names.plain
        ]
        sizes = [1] * len(columns)
    else:
        columns = [recipe.to_json() | {"fill_words": recipe.fill_words} for recipe in encoder.recipes_]
        sizes = [len(recipe.features) for recipe in encoder.recipes_]
    known = [column["name"] for column in columns]
    for name in units:
        if name not in known:
            raise ValueError(f"units names a column that the model does not use: {name!r}. It uses {known}.")
    ends = np.cumsum([0, *sizes]).tolist()
    return [
        column | {"unit": units.get(column["name"]), "features": [start, end]}
        for column, start, end in zip(columns, ends, ends[1:])
    ]


def known_values(encoder: CovariateEncoder, X: Any) -> np.ndarray:
    """Return covariates of a table, NaN where a cell was missing or not understood, whatever the encoder fills in."""
    keeper = copy.copy(encoder)
    keeper.missing = "keep"
    return np.asarray(keeper.prepare(X).X, dtype=np.float64)


def read_values(described: Described, known: np.ndarray) -> list[ColumnValues]:
    """Return what rows have in every column, from covariates with gaps."""
    if described.encoder is None:
        return [ColumnValues(column) for column in known.T]
    return list(_read_all(described.encoder.recipes_, known))


def _read_all(recipes: tuple[Recipe, ...], known: np.ndarray) -> Iterator[ColumnValues]:
    start = 0
    for recipe in recipes:
        block = known[:, start : start + len(recipe.features)]
        start += len(recipe.features)
        yield _read_column(recipe, block)


def _read_column(recipe: Recipe, block: np.ndarray) -> ColumnValues:
    first = block[:, 0]
    if isinstance(recipe, CategoryColumn):
        places = np.full(len(block), float(recipe.levels.index(recipe.reference or recipe.fill)))
        for number, level in enumerate(recipe.indicated):
            places[block[:, number] == 1] = recipe.levels.index(level)
        return ColumnValues(np.where(np.isnan(first), np.nan, places), recipe.levels)
    if isinstance(recipe, OrderedColumn):
        return ColumnValues(first, recipe.levels)
    if recipe.kind == "boolean":
        return ColumnValues(first, ("no", "yes"))
    return ColumnValues(first, origin=recipe.origin if isinstance(recipe, DateColumn) else None)


def describe_values(column: ColumnValues, weight: np.ndarray) -> dict[str, Any]:
    """Return a summary. Smallest and largest values belong to single persons: the range is rounded outwards."""
    known = ~np.isnan(column.values)
    summary: dict[str, Any] = {"missing": float(weight[~known].sum()), "known": float(weight[known].sum())}
    if not known.any():
        return summary
    values, weight = column.values[known], weight[known]
    levels = np.unique(values)
    if column.levels is not None or len(levels) <= 2:
        shares = [float(weight[values == level].sum() / weight.sum()) for level in levels]
        told = numbers(levels) if column.levels is None else [column.levels[int(level)] for level in levels]
        return summary | {"levels": told, "shares": shares}
    mean = float(np.average(values, weights=weight))
    variance = float(weight @ (values - mean) ** 2 / max(weight.sum() - 1.0, 1.0))
    quartiles = [column.written(weighted_quantile(values, weight, share)) for share in (0.25, 0.5, 0.75)]
    low, high = rounded_range(float(levels[0]), float(levels[-1]))
    about = {"mean": column.written(mean), "deviation": variance**0.5, "quartiles": quartiles}
    return summary | about | {"range": [column.written(low), column.written(high)]}


def rounded_range(low: float, high: float) -> tuple[float, float]:
    """Return a range around another one whose ends are round."""
    least = SHARE_OF_RANGE * (high - low)
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 0.0
    if not 0 < power < math.inf:
        return low, high
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
    return float(f"{math.floor(low / step) * step:.12g}"), float(f"{math.ceil(high / step) * step:.12g}")


def _date(origin: str, days: float) -> str:
    return str(np.datetime64(origin[:10], "D") + np.timedelta64(math.floor(days), "D"))
