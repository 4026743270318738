"""What the trees of a forest say about the rows that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from dipolar.forest.planting import Planting
from dipolar.forest.record import CurveSums, Forest, LeafSteps
from dipolar.metrics.brier import integrated_brier_score
from dipolar.metrics.concordance import concordance_index
from dipolar.metrics.grids import time_grid
from dipolar.rows import TrainingRows

__all__ = ["SCORINGS", "OutOfBag"]

SCORINGS = ("concordance", "brier")


class OutOfBag:
    """The training rows, each seen by the trees whose sample it is not in.

    Parameters
    ----------
    forest : Forest
    planting : Planting
        Draws the samples again.
    rows : TrainingRows
        The rows that the samples are of.
    X, y, weight : ndarray
        The same rows as they were given.

    Attributes
    ----------
    prepared : ndarray of shape (n_samples, n_features)
        X as the trees take it.
    unseen : list of ndarray
        For each tree the rows of X that it has not seen.
    leaves : list of ndarray
        For each tree the leaves of those rows.
    """

    def __init__(
        self, forest: Forest, planting: Planting, rows: TrainingRows, X: np.ndarray, y: np.ndarray, weight: np.ndarray
    ) -> None:
        self._forest, self._y, self._weight = forest, y, weight
        self.prepared = forest.prepare(X)
        self.unseen = [_unseen(planting, rows, number) for number in range(len(forest))]
        self.leaves = [tree.leaf_of_prepared(self.prepared[out]) for tree, out in zip(forest.trees, self.unseen)]
        self._n_unseen = sum(np.bincount(out, minlength=len(X)) for out in self.unseen)
        self._judged = (self._n_unseen > 0) & (weight > 0)

    @cached_property
    def times(self) -> np.ndarray:
        """The grid of the Brier score: at most 100 event times; empty where there is none that it is defined at."""
        try:
            return time_grid(self._y, self._y, sample_weight=self._weight, train_weight=self._weight)
        except ValueError:
            return np.empty(0)

    @cached_property
    def _steps(self) -> list[LeafSteps]:
        return [LeafSteps.of(tree, self.times) for tree in self._forest.trees]

    def risk(self, leaves: Sequence[np.ndarray]) -> np.ndarray:
        """Return the mean risk of each row over trees in which its leaf is given; NaN where there is none."""
        total = np.zeros(len(self.prepared))
        for leaf_risk, out, leaf in zip(self._forest.leaf_risks, self.unseen, leaves):
            total[out] += leaf_risk[leaf]
        seen_by_all = np.full(len(total), np.nan)
        return np.divide(total, self._n_unseen, out=seen_by_all, where=self._n_unseen > 0)

    def survival(self, leaves: Sequence[np.ndarray]) -> np.ndarray:
        """Return the mean survival curve of each row at `times`."""
        sums = CurveSums(len(self.prepared), len(self.times), hazard=False)
        for steps, out, leaf in zip(self._steps, self.unseen, leaves):
            sums.add(out, leaf, steps)
        return sums.mean()

    def concordance(self, risk: np.ndarray) -> float:
        """Return Harrell's index of risks, over the rows that some tree has not seen."""
        judged = self._judged
        return concordance_index(self._y[judged], risk[judged], sample_weight=self._weight[judged])

    def brier(self, survival: np.ndarray, weight: np.ndarray | None = None) -> float:
        """Return the integrated Brier score of survival curves, over the same rows; `weight` is for a part of them."""
        weight = self._weight if weight is None else weight
        judged = self._judged & (weight > 0)
        return integrated_brier_score(
            self._y, self._y[judged], survival[judged], self.times, outside="truncate",
            sample_weight=weight[judged], train_weight=self._weight,
        )  # fmt: skip

    def loss(self, leaves: Sequence[np.ndarray], scoring: str) -> float:
        """Return what is small for good predictions: minus the concordance index, or the integrated Brier score."""
        try:
            if scoring == "concordance":
                return -self.concordance(self.risk(leaves))
            return self.brier(self.survival(leaves))
        except ValueError as error:
            raise ValueError(
                f"scoring={scoring!r} is not defined on the rows that some tree has not seen: {error}"
            ) from error


def _unseen(planting: Planting, rows: TrainingRows, number: int) -> np.ndarray:
    """Return the given rows that are not in the sample of a tree."""
    counts, _ = planting.sample(rows.weight, number)
    # A row of weight zero has the number -1 and finds the zero that is appended here: no tree has seen it.
    return np.flatnonzero(np.append(counts, 0.0)[rows.number] == 0)
