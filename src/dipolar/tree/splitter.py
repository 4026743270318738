"""What growing asks of a splitter.

A splitter is told once about the root (`begin`), then asked for the split of one node after the other
(`find`), told which splits were carried out (`descend`), and finally asked for the record of all of them
(`freeze`). It keeps whatever it likes in between: sorted orders, kernel parameters, counts of what did not
converge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dipolar._core.logrank import two_sample_logrank
from dipolar.parameters import check_number
from dipolar.survival import Survival
from dipolar.tree.splits import Splits

__all__ = ["GrowthLimits", "NodeRows", "Split", "Splitter", "split_logrank"]


@dataclass(frozen=True)
class GrowthLimits:
    """When a branch ends. Sizes are sums of weights, so that a row of weight 2 counts as two rows."""

    max_depth: float = np.inf
    max_leaf_nodes: float = np.inf
    min_samples_split: float = 2.0
    min_samples_leaf: float = 1.0
    min_events_leaf: float = 0.0
    min_logrank: float = 0.0

    @classmethod
    def of(cls, estimator: Any) -> GrowthLimits:
        """Read the limits off an estimator that has these parameters."""
        by_weight, unlimited = "It counts rows, by their weights.", "None means no limit."

        def whole_or_inf(name: str, minimum: int) -> float:
            value = getattr(estimator, name)
            return np.inf if value is None else check_number(name, value, low=minimum, hint=unlimited, whole=True)

        def at_least(name: str, minimum: int, hint: str) -> float:
            return check_number(name, getattr(estimator, name), low=minimum, hint=hint)

        return cls(
            max_depth=whole_or_inf("max_depth", 1),
            max_leaf_nodes=whole_or_inf("max_leaf_nodes", 2),
            min_samples_split=at_least("min_samples_split", 2, by_weight),
            min_samples_leaf=at_least("min_samples_leaf", 1, by_weight),
            min_events_leaf=at_least("min_events_leaf", 0, "0 means no limit."),
            min_logrank=at_least("min_logrank", 0, "0 means no limit."),
        )


@dataclass(frozen=True)
class NodeRows:
    """The rows of a node that is being grown: one slice of the order of all rows."""

    start: int
    stop: int
    rows: np.ndarray  # (stop - start,) row numbers
    depth: int


@dataclass(frozen=True)
class Split:
    """One split of one node, as found."""

    cut: Any  # whatever the splitter's `freeze` turns into its record
    goes_left: np.ndarray  # (n_rows,) bool, in the order of the node's rows
    gain: float  # the criterion that chose the split; the largest is split first when leaves are limited
    logrank: float  # log-rank chi-square between the children, used by pruning and importances


class Splitter:
    """Base of all splitters."""

    def begin(
        self,
        X: np.ndarray,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        rng: np.random.Generator,
    ) -> None:
        """Prepare for a tree on these rows: sort, fix cut-offs and kernels. Forget the last tree."""
        raise NotImplementedError

    def find(self, node: NodeRows, rng: np.random.Generator) -> Split | None:
        """Return the best split of a node, or None where there is none; no child may be empty."""
        raise NotImplementedError

    def descend(self, node: NodeRows, split: Split) -> None:
        """Learn that a split was carried out: its left rows come first in the node's slice, in kept order."""

    def freeze(self, cuts: Sequence[Any]) -> Splits:
        """Return the record of the splits, given the `cut` of every node (None in leaves)."""
        raise NotImplementedError


def split_logrank(survival: Survival, weight: np.ndarray, goes_left: np.ndarray) -> float:
    """Return the log-rank chi-square of a split of the given rows, in any order."""
    order = np.argsort(survival.time, kind="stable")
    return float(two_sample_logrank(survival.time[order], survival.event[order], weight[order], goes_left[order]))
