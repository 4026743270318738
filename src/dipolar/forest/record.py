"""The frozen forest: its trees, and their average on a time grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dipolar._core.ensemble import add_steps, sum_up
from dipolar.curves import LifeTables
from dipolar.records import part, reals
from dipolar.survival import LARGEST_TIME
from dipolar.tree.record import SeenTimes, Tree

__all__ = ["CurveSums", "Forest", "LeafSteps"]

# Arrays of the splits that all trees of a forest share; a file holds them once.
SHARED_BY_SPLITS = ("mean", "scale")
SHARED = tuple(f"splits.{name}" for name in SHARED_BY_SPLITS)

# A user's own grid may have other times than the rows.
GRID = reals("times", low=0, high=LARGEST_TIME, ascends=True)


@dataclass(frozen=True)
class LeafSteps:
    """The steps of the curves of all leaves of a tree on a time grid; leaf l owns offset[l] to offset[l + 1]."""

    offset: np.ndarray  # (n_leaves + 1,) int64
    place: np.ndarray  # (n_steps,) int32, the first time of the grid that is not earlier; the last place is beyond it
    drop: np.ndarray  # (n_steps,) <= 0, by which the Kaplan-Meier estimate changes
    jump: np.ndarray  # (n_steps,) > 0, by which the Nelson-Aalen estimate changes

    @classmethod
    def of(cls, tree: Tree, times: np.ndarray) -> LeafSteps:
        """Read the steps off the life tables of a tree."""
        tables = tree.tables
        survival, _ = tables.estimates()
        before = np.concatenate(([1.0], survival[:-1]))
        before[tables.offset[:-1]] = 1.0
        seen = tables.events > 0
        return cls(
            offset=np.concatenate(([0], np.cumsum(seen)))[tables.offset],
            place=np.searchsorted(times, tables.time[seen], side="left").astype(np.int32),
            drop=(survival - before)[seen],
            jump=(tables.events / tables.at_risk)[seen],
        )


class CurveSums:
    """Sums of curves in the making: one line of steps per row, with a last place for what lies beyond the grid."""

    def __init__(self, n_rows: int, n_times: int, *, hazard: bool) -> None:
        self._table = np.zeros((n_rows, n_times + 1))
        self._n_added = np.zeros(n_rows)
        self._hazard = hazard

    def add(self, rows: np.ndarray, leaf: np.ndarray, steps: LeafSteps) -> None:
        """Add the curve of its leaf in one tree to each of the rows."""
        add_steps(rows, leaf, steps.offset, steps.place, steps.jump if self._hazard else steps.drop, self._table)
        self._n_added[rows] += 1

    def mean(self) -> np.ndarray:
        """Return the mean curve of each row; NaN where no tree was added. The sums are used up."""
        added = self._n_added > 0
        factor = np.divide(1.0, self._n_added, out=np.full(len(added), np.nan), where=added)
        table = self._table[:, :-1]
        sum_up(table, factor, 0.0 if self._hazard else 1.0)
        # What rounding has carried below zero or above one.
        return np.clip(table, 0.0, None if self._hazard else 1.0, out=table)


class Forest:
    """Survival trees on the same covariates, and the time grid of their averages.

    Parameters
    ----------
    trees : sequence of Tree
        All with the same kind of splits.
    times : ndarray
        The time grid, ascending.
    tables : LifeTables
        One life table, of all training rows.
    """

    def __init__(self, trees: Sequence[Tree], times: np.ndarray, tables: LifeTables) -> None:
        self.trees, self.times, self.tables = tuple(trees), times, tables

    def __len__(self) -> int:
        return len(self.trees)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Forest):
            return NotImplemented
        same_rows = self.tables == other.tables and np.array_equal(self.times, other.times)
        return same_rows and self.trees == other.trees

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {"trees": self.trees, "times": self.times, "tables": self.tables}

    @property
    def event_times(self) -> np.ndarray:
        """The distinct event times of the training rows, over which a risk sums the cumulative hazard."""
        return self.tables.time[self.tables.events > 0]

    @cached_property
    def leaf_risks(self) -> list[np.ndarray]:
        """The cumulative hazard of every leaf, summed over the event times; one array per tree."""
        return [tree.tables.hazard_sums(self.event_times) for tree in self.trees]

    @cached_property
    def steps(self) -> list[LeafSteps]:
        """The steps of all leaves on the time grid, tree by tree."""
        return [LeafSteps.of(tree, self.times) for tree in self.trees]

    def prepare(self, X: np.ndarray) -> np.ndarray:
        """Bring covariates into the form in which all trees take them."""
        return self.trees[0].splits.prepare(X)

    def nodes_of(self, prepared: np.ndarray) -> Iterator[np.ndarray]:
        """Yield, tree by tree, the node number of the leaf of every prepared row."""
        for tree in self.trees:
            yield tree.splits.route_prepared(prepared, tree.left)

    def leaves_of(self, prepared: np.ndarray) -> Iterator[np.ndarray]:
        """Yield, tree by tree, the position among its leaves of the leaf of every prepared row."""
        for tree in self.trees:
            yield tree.leaf_of_prepared(prepared)

    def risk(self, X: np.ndarray) -> np.ndarray:
        """Return the mean over the trees of the risk of each row's leaf."""
        total = np.zeros(len(X))
        for risk, leaf in zip(self.leaf_risks, self.leaves_of(self.prepare(X))):
            total += risk[leaf]
        return total / len(self)

    def curves(self, X: np.ndarray, *, hazard: bool) -> np.ndarray:
        """Return the mean over the trees of the curve of each row's leaf, at every time of the grid."""
        sums = CurveSums(len(X), len(self.times), hazard=hazard)
        rows = np.arange(len(X))
        for steps, leaf in zip(self.steps, self.leaves_of(self.prepare(X))):
            sums.add(rows, leaf, steps)
        return sums.mean()

    # Files.

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return every array under a flat name: those of the trees one after the other, with their lengths."""
        by_tree = [tree.to_arrays() for tree in self.trees]
        arrays = {"times": self.times} | {f"all.{name}": values for name, values in self.tables.to_arrays().items()}
        for name, first in by_tree[0].items():
            if name in SHARED:
                arrays[name] = first
            else:
                arrays[name] = np.concatenate([of_tree[name] for of_tree in by_tree])
                arrays[f"length.{name}"] = np.array([len(of_tree[name]) for of_tree in by_tree], np.int64)
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], kind: str, settings: Mapping[str, Any]) -> Forest:
        """Undo `to_arrays`; `kind` and `settings` are those of the splits."""
        lengths = part(arrays, "length")
        parts = {name: _cut(name, arrays, lengths[name]) for name in lengths}
        n_trees = len(next(iter(parts.values()), ()))
        if n_trees == 0 or any(len(pieces) != n_trees for pieces in parts.values()):
            raise ValueError("the arrays of the trees are not of the same number of trees")
        shared = {name: arrays[name] for name in SHARED if name in arrays}
        trees = [
            Tree.from_arrays(shared | {name: pieces[number] for name, pieces in parts.items()}, kind, settings)
            for number in range(n_trees)
        ]
        if "times" not in arrays:
            raise ValueError("the time grid is missing")
        return cls(trees, GRID.read(arrays["times"]), LifeTables.of_arrays(part(arrays, "all")))

    def check(self, n_features: int) -> None:
        """Raise ValueError unless the trees are trees of the same rows and the times ascend (used on files)."""
        try:
            sizes: dict[str, int] = {}
            GRID.fit(self.times, sizes)
            GRID.check(self.times, sizes)
        except ValueError as error:
            raise ValueError(f"the time grid {error}") from error
        if not len(self.times):
            raise ValueError("the time grid is empty")
        self.tables.check(1)
        for number, tree in enumerate(self.trees):
            tree.check(n_features, known=SHARED_BY_SPLITS if number else ())
        seen = SeenTimes(self.tables.time, self.event_times)
        seen.check([self.tables, *(tree.tables for tree in self.trees)])


def _cut(name: str, arrays: Mapping[str, np.ndarray], lengths: np.ndarray) -> list[np.ndarray]:
    """Cut an array, or a table of rows, into pieces of the given lengths."""
    values = arrays.get(name)
    if values is None or values.ndim == 0 or lengths.ndim != 1 or lengths.dtype.kind != "i":
        raise ValueError(f"{name} of the trees, or its lengths, is missing or has another shape")
    # Each of them is compared before they are summed: sums of hostile integers wrap around.
    if ((lengths < 0) | (lengths > len(values))).any() or lengths.sum(dtype=np.int64) != len(values):
        raise ValueError(f"{name} of the trees does not have the length that it should")
    return np.split(values, np.cumsum(lengths)[:-1])
