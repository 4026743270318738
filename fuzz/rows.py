"""Data of every shape and scale that a caller might pass: covariates, times, events, weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dipolar import survival_outcome
from fuzz.draw import Draw

__all__ = ["UNITS", "Rows", "draw_rows", "draw_times", "draw_weight"]

# What whole times are multiplied by when their unit changes.
UNITS = (1 / 12, 1 / 7, 1 / 365.25, 0.1, 30.4375)

# Sizes of covariates: most of them just inside what the library takes, where arithmetic is hardest, some beyond.
LARGE = (1e8, 1e20, 1e37, 1e60, 1e74, 1e74, 1e77, 1e155, 1e300)
SMALL = (1e-8, 1e-20, 1e-37, 1e-60, 1e-74, 1e-74, 1e-77, 1e-155, 1e-300)


@dataclass(frozen=True, eq=False)
class Rows:
    """One data set."""

    X: np.ndarray
    time: np.ndarray
    event: np.ndarray
    weight: np.ndarray | None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def y(self) -> np.ndarray:
        """The outcome in the form that every estimator takes."""
        return survival_outcome(self.time, self.event)

    @property
    def counts(self) -> np.ndarray:
        """The weights; ones where there are none."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def has_whole_weights(self) -> bool:
        """Whether the rows can be written as often as they count."""
        return bool((self.counts == np.rint(self.counts)).all() and self.counts.max() <= 5)

    @property
    def has_whole_times(self) -> bool:
        """Whether the times are small whole numbers, whose gaps are exact."""
        return bool((self.time == np.rint(self.time)).all() and 0 < self.time.max() < 1e6)

    def take(self, rows: np.ndarray) -> Rows:
        """Return some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Rows(self.X[rows], self.time[rows], self.event[rows], weight)

    def repeated(self) -> Rows:
        """Return every row as often as it counts, without weights."""
        return replace(self.take(np.repeat(np.arange(len(self)), self.counts.astype(int))), weight=None)

    def in_unit(self, factor: float, rng: np.random.Generator) -> Rows:
        """Return the rows with times in another unit, each as some other order of operations would round it."""
        rounding = 1.0 + rng.integers(-2, 3, len(self)) * np.finfo(float).eps
        return replace(self, time=self.time * factor * rounding)


def draw_rows(draw: Draw, *, most: int = 200, missing: float = 0.02) -> Rows:
    """Return a data set; `missing` is the share of the cases with missing values."""
    n, p = _draw_shape(draw, most)
    with np.errstate(all="ignore"):
        X = _draw_covariates(draw, n, p)
    if draw.chance(missing):
        draw.note("missing", True)
        X[draw.rng.random(X.shape) < draw.one_of((0.05, 0.05, 0.5, 0.5, 1.0))] = np.nan
    time, event, weight = draw_times(draw, n), _draw_events(draw, n), draw_weight(draw, n)
    rows = Rows(X, time, event, weight)
    if not draw.is_tame and draw.chance(0.1):  # rows that are written twice
        rows = rows.take(draw.rng.integers(n, size=n))
    return rows


def _draw_shape(draw: Draw, most: int) -> tuple[int, int]:
    low, high = (30, 120) if draw.is_tame else draw.one_of(((1, 6), (6, 40), (6, 40), (40, most)))
    n = draw.note("n", int(draw.rng.integers(low, max(low + 1, min(high, most) + 1))))
    p = draw.note("p", 50 if not draw.is_tame and draw.chance(0.03) else int(draw.rng.integers(1, 9)))
    return n, p


def draw_times(draw: Draw, n: int) -> np.ndarray:
    """Return follow-up times of some kind."""
    rng = draw.rng
    kinds = {
        "continuous": lambda: rng.exponential(10.0, n),
        "whole": lambda: rng.integers(1, 60, n).astype(float),
        "tied": lambda: rng.integers(1, 8, n).astype(float),
        "weeks": lambda: rng.integers(1, 100, n) / 7,
        "years": lambda: rng.integers(1, 2000, n) / 365.25,
    }
    wild = {
        "with zeros": lambda: rng.integers(0, 4, n).astype(float),
        "equal": lambda: np.full(n, 5.0),
        "zero": lambda: np.zeros(n),
        "tiny": lambda: rng.exponential(1e-300, n),
        "subnormal": lambda: rng.integers(0, 9, n) * 5e-324,
        "huge": lambda: rng.uniform(0.0, 1e100, n),
        "too large": lambda: rng.uniform(1e307, 1.7e308, n),
        "any scale": lambda: 10.0 ** rng.uniform(-300, 100, n),
        "neighbours": lambda: 1.0 + rng.integers(0, 9, n) * np.finfo(float).eps,
        "far": lambda: 1e15 + rng.integers(0, 9, n),
    }
    kind = draw.note("time", draw.ordinary_or_wild(list(kinds), list(wild), 0.35))
    return (kinds | wild)[kind]()


def _draw_events(draw: Draw, n: int) -> np.ndarray:
    kinds = ("none", *("one", "few") * 3)
    kind = draw.note("event", draw.ordinary_or_wild(("random", "random", "all"), kinds, 0.2))
    if kind == "one":
        return np.arange(n) == draw.rng.integers(n)
    return draw.rng.random(n) < {"random": 0.7, "all": 1.1, "none": 0.0, "few": 0.1}[kind]


def draw_weight(draw: Draw, n: int) -> np.ndarray | None:
    """Return weights of some kind, or None."""
    rng = draw.rng
    ordinary = {
        "none": lambda: None,
        "ones": lambda: np.ones(n),
        "whole": lambda: rng.integers(1, 4, n).astype(float),
        "fractions": lambda: rng.uniform(0.1, 3.0, n),
    }
    wild = {
        "with zeros": lambda: rng.integers(0, 3, n).astype(float),
        "large": lambda: np.full(n, 1e8),
        "scale": lambda: rng.uniform(1.0, 2.0, n) * draw.one_of((1e-12, 1e-6, 1e6, 2.0**52 / n)),
        "any scale": lambda: 10.0 ** rng.uniform(-12, 12, n),
        "one heavy": lambda: np.where(np.arange(n) == rng.integers(n), draw.one_of((1e6, 2.0**52)), 1.0),
        "one light": lambda: np.where(np.arange(n) == rng.integers(n), draw.one_of((1e-6, 1e-12)), 1.0),
    }
    refused = {
        "too large": lambda: np.full(n, 1.7e308),
        "too small": lambda: np.full(n, 1e-300),
        "zero": lambda: np.zeros(n),
    }
    kind = draw.ordinary_or_wild(list(ordinary) + ["none"] * 3, list(wild) * 3 + list(refused), 0.3)
    return (ordinary | wild | refused)[draw.note("weight", kind)]()


def _draw_covariates(draw: Draw, n: int, p: int) -> np.ndarray:
    X = draw.rng.normal(size=(n, p))
    names = [draw.ordinary_or_wild(list(ORDINARY), list(WILD), 0.5) for _ in range(int(draw.rng.integers(0, 3)))]
    for name in draw.note("X", names):
        X = (ORDINARY | WILD)[name](draw, X)
    return X


def _column(change: Any) -> Any:
    """Return a change of one column, or of all of them, as a change of X."""

    def apply(draw: Draw, X: np.ndarray) -> np.ndarray:
        columns = slice(None) if draw.chance(0.3) else int(draw.rng.integers(X.shape[1]))
        X[:, columns] = change(draw, X[:, columns])
        return X

    return apply


def _outlier(draw: Draw, X: np.ndarray) -> np.ndarray:
    X[int(draw.rng.integers(len(X))), int(draw.rng.integers(X.shape[1]))] = draw.one_of((-1e6, *LARGE))
    return X


def _same_columns(draw: Draw, X: np.ndarray) -> np.ndarray:
    return X[:, draw.rng.integers(X.shape[1], size=X.shape[1])]


ORDINARY = {
    "whole": _column(lambda draw, x: np.rint(3 * x)),
    "binary": _column(lambda draw, x: (x > 0).astype(float)),
    "same columns": _same_columns,
}
WILD = {
    "constant": _column(lambda draw, x: np.full_like(x, draw.one_of((0.0, 1.0, -1e74, 1e-300)))),
    "large": _column(lambda draw, x: x * draw.one_of(LARGE)),
    "small": _column(lambda draw, x: x * draw.one_of(SMALL)),
    "any scale": _column(lambda draw, x: x * 10.0 ** draw.rng.uniform(-300, 74, x.shape)),
    "subnormal": _column(lambda draw, x: np.rint(x) * 5e-324),
    "signed zeros": _column(lambda draw, x: np.copysign(0.0, x)),
    "shifted": _column(lambda draw, x: x + draw.one_of((1e8, 1e15, 1e74))),
    "largest": _column(lambda draw, x: np.copysign(1e75, x)),
    "too large": _column(lambda draw, x: np.copysign(1.7e308, x)),
    "outlier": _outlier,
    "infinite": _column(lambda draw, x: np.where(x > 2, np.inf, x)),
}
