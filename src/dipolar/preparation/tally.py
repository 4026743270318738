"""How often cells occur, where a weight says how often a row counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dipolar.quantiles import weighted_quantile

__all__ = ["Tally"]


@dataclass(frozen=True)
class Tally:
    """The weights of the rows of a column, all of them positive."""

    weight: np.ndarray

    @property
    def total(self) -> float:
        """How many rows there are."""
        return self._sum(self.weight)

    def count(self, rows: np.ndarray) -> float:
        """Return how many of the rows hold True."""
        return self._sum(self.weight[rows])

    @cached_property
    def _are_whole(self) -> bool:
        return bool((self.weight == np.round(self.weight)).all())

    def _sum(self, weight: np.ndarray) -> float:
        """Return a sum that does not depend on the order of the rows."""
        return float(weight.sum()) if self._are_whole else math.fsum(weight)

    def median(self, values: np.ndarray) -> float:
        """Return the median of the values that are not NaN."""
        known = ~np.isnan(values)
        return weighted_quantile(values[known], self.weight[known], 0.5)

    def counts(self, texts: np.ndarray) -> dict[str, float]:
        """Return how often each text occurs."""
        known = [text is not None for text in texts]
        levels, codes = np.unique(texts[known], return_inverse=True)
        weight = self.weight[known]
        order = np.lexsort((weight, codes))  # so that sums do not depend on the order of the rows
        return dict(zip(levels.tolist(), np.bincount(codes[order], weights=weight[order]).tolist()))

    def most_common(self, texts: np.ndarray, levels: Sequence[str]) -> str:
        """Return the most common of some levels, the first of several."""
        counts = self.counts(texts)
        return max(levels, key=lambda level: counts.get(level, 0.0))

    def part_rare(
        self, texts: np.ndarray, levels: Sequence[str], least: float | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the levels that occur at least so often, and the others; a number below 1 is a share of the rows."""
        if least is None:
            return tuple(levels), ()
        counts = self.counts(texts)
        needed = least if least >= 1 else least * sum(counts.values())
        rare = tuple(level for level in levels if counts.get(level, 0.0) < needed)
        return tuple(level for level in levels if level not in rare), rare
