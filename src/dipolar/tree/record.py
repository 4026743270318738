"""The frozen tree: named arrays, one entry per node.

Nodes are numbered as they were made: the root is 0, a parent comes before its children, and the right child
is the node after the left one. Whatever is computed from the leaves up is therefore one loop over the numbers
downwards, and no function here recurses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from dipolar.curves import MOST_AT_RISK, ROUNDING_OF_SUMS, LifeTables, tabulate
from dipolar.records import Record, index, part, reals, types_of, wholes
from dipolar.survival import LARGEST_TIME, Survival
from dipolar.tree.splits import SPLIT_KINDS, Splits

__all__ = ["NODE_FIELDS", "SeenTimes", "Tree"]

# Sums of statistics of splits stay finite.
LARGEST_STATISTIC = 1e100

# Sums of weights; one that was found by subtraction may be a little below 0.
WEIGHT = reals("nodes", low=-MOST_AT_RISK, high=MOST_AT_RISK)

LARGEST_DEPTH = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Tree(Record):
    """A grown survival tree."""

    left: Annotated[np.ndarray, index("nodes", into="nodes", may_be_missing=True)]  # left child; -1 in leaves
    parent: Annotated[np.ndarray, index("nodes", into="nodes", may_be_missing=True)]  # -1 at the root
    depth: Annotated[np.ndarray, wholes("nodes", low=0, high=LARGEST_DEPTH, dtype=np.int32)]  # 0 at the root
    n_samples: Annotated[np.ndarray, WEIGHT]  # of the rows
    n_events: Annotated[np.ndarray, WEIGHT]  # of the events
    # Criterion of the split when it was chosen, and its log-rank chi-square; 0 in leaves.
    gain: Annotated[np.ndarray, reals("nodes", low=-LARGEST_STATISTIC, high=LARGEST_STATISTIC)]
    logrank: Annotated[np.ndarray, reals("nodes", low=0, high=LARGEST_STATISTIC)]
    splits: Splits
    tables: LifeTables  # one per leaf, in the order of `leaves`

    @property
    def n_nodes(self) -> int:
        return len(self.left)

    @property
    def is_split(self) -> np.ndarray:
        """True for the nodes that have children."""
        return self.left >= 0

    @property
    def right(self) -> np.ndarray:
        """Right children, -1 in leaves."""
        return np.where(self.is_split, self.left + 1, -1).astype(np.int32)

    @cached_property
    def leaves(self) -> np.ndarray:
        """Node numbers of the leaves, ascending."""
        return np.flatnonzero(self.left < 0)

    @property
    def n_leaves(self) -> int:
        return len(self.leaves)

    @property
    def max_depth(self) -> int:
        return int(self.depth.max())

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Return the node number of the leaf of every row of X."""
        return self.splits.route(X, self.left)

    def leaf_of(self, X: np.ndarray) -> np.ndarray:
        """Return the position among `leaves` of the leaf of every row of X."""
        return np.searchsorted(self.leaves, self.apply(X))

    def leaf_of_prepared(self, prepared: np.ndarray) -> np.ndarray:
        """Return the same of rows that the splits have prepared."""
        return np.searchsorted(self.leaves, self.splits.route_prepared(prepared, self.left))

    def path_to(self, node: int) -> list[int]:
        """Return the nodes from the root to `node`."""
        path = [int(node)]
        while self.parent[path[-1]] >= 0:
            path.append(int(self.parent[path[-1]]))
        return path[::-1]

    def restrict(self, keep_split: np.ndarray) -> Tree:
        """Return the tree in which only the nodes with `keep_split` are still split.

        The kept splits contain the parent of each of their members. Leaves that fall together pool their life
        tables, so that nothing is estimated again from rows.
        """
        if np.array_equal(keep_split, self.is_split):
            return self
        kept = np.concatenate([[True], keep_split[self.parent[1:]]])
        nodes = np.flatnonzero(kept)
        number = np.cumsum(kept) - 1
        is_split = keep_split[nodes]
        old_parent, old_left = self.parent[nodes], self.left[nodes]
        return Tree(
            left=np.where(is_split, number[old_left], -1).astype(np.int32),
            parent=np.where(old_parent >= 0, number[old_parent], -1).astype(np.int32),
            depth=self.depth[nodes],
            n_samples=self.n_samples[nodes],
            n_events=self.n_events[nodes],
            gain=np.where(is_split, self.gain[nodes], 0.0),
            logrank=np.where(is_split, self.logrank[nodes], 0.0),
            splits=self.splits.take(nodes, is_split),
            tables=self.tables.merge(self._leaf_groups(kept, number, ~is_split)),
        )

    def _leaf_groups(self, kept: np.ndarray, number: np.ndarray, is_leaf: np.ndarray) -> np.ndarray:
        """Return, for every leaf of this tree, which leaf of the restricted tree it falls into."""
        home = np.arange(self.n_nodes)
        for node in range(1, self.n_nodes):
            if not kept[node]:
                home[node] = home[self.parent[node]]
        return (np.cumsum(is_leaf) - 1)[number[home[self.leaves]]]

    def refill(self, X: np.ndarray, survival: Survival, weight: np.ndarray) -> Tree:
        """Return the same splits with sizes and life tables of other rows, which reach every leaf."""
        tables = tabulate(survival, weight, self.leaf_of(X), self.n_leaves)
        sizes: dict[str, Any] = {"n_samples": tables.n_samples, "n_events": tables.n_events}
        for name, in_leaves in sizes.items():
            in_nodes = np.zeros(self.n_nodes)
            in_nodes[self.leaves] = in_leaves
            for node in range(self.n_nodes - 1, 0, -1):
                in_nodes[self.parent[node]] += in_nodes[node]
            sizes[name] = in_nodes
        return replace(self, tables=tables, **sizes)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], kind: str, settings: Mapping[str, Any]) -> Self:
        """Undo `to_arrays`; `kind` and `settings` are those of the splits."""
        if kind not in SPLIT_KINDS:
            raise ValueError(f"splits of an unknown kind {kind!r:.60}; known are {sorted(SPLIT_KINDS)}")
        splits = SPLIT_KINDS[kind].from_arrays(part(arrays, "splits"), settings)
        return cls.of_arrays(arrays, splits=splits, tables=LifeTables.of_arrays(part(arrays, "tables")))

    def check(self, n_features: int, known: Collection[str] = ()) -> None:
        """Raise ValueError unless the arrays form a tree: compiled code trusts them, so files are checked.

        The arrays of the splits that are in `known` have been found to be in range before.
        """
        self.check_arrays()
        self._check_links()
        self.tables.check(self.n_leaves)
        self._check_sizes()
        self.splits.check(self.is_split, n_features, known)

    def _check_links(self) -> None:
        """Every node but the root is the child of one node before it: there is no cycle and no loose end."""
        n, parents = self.n_nodes, np.flatnonzero(self.is_split)
        children = self.left[parents].astype(np.int64)
        if n != 2 * len(parents) + 1 or ((children <= parents) | (children + 1 >= n)).any():
            raise ValueError("a node has a child outside the tree")
        expected = np.full(n, -1)
        expected[children] = expected[children + 1] = parents
        if (expected[1:] < 0).any() or not np.array_equal(expected, self.parent):
            raise ValueError("parents and children do not form a tree")
        if self.depth[0] != 0 or (self.depth[1:] != self.depth[self.parent[1:]].astype(np.int64) + 1).any():
            raise ValueError("the depth of a node is not one more than its parent's")
        if self.gain[self.left < 0].any() or self.logrank[self.left < 0].any():
            raise ValueError("a leaf has the statistic of a split")

    def _check_sizes(self) -> None:
        """The sizes of nodes are what their life tables say, but for rounding: some are found by subtraction."""
        slack, left = ROUNDING_OF_SUMS * self.tables.n_samples.sum(), self.left[self.is_split]
        for mine, in_leaves in ((self.n_samples, self.tables.n_samples), (self.n_events, self.tables.n_events)):
            below = np.empty(self.n_nodes)
            below[self.leaves], below[self.is_split] = in_leaves, mine[left] + mine[left + 1]
            if not (np.abs(mine - below) <= slack).all():
                raise ValueError("the sizes of the nodes are not those of their life tables")


@dataclass(frozen=True, eq=False)
class SeenTimes(Record):
    """The distinct times, and the distinct event times, of training rows."""

    unique_times: Annotated[np.ndarray, reals("times", low=0, high=LARGEST_TIME, ascends=True)]
    event_times: Annotated[np.ndarray, reals("event times", low=0, high=LARGEST_TIME, ascends=True)]

    def check(self, tables: Sequence[LifeTables]) -> None:
        """Raise ValueError unless they can be those of the rows in all these life tables (used on files)."""
        if not self.check_arrays()["event times"]:
            raise ValueError("there is no event")
        time = np.concatenate([table.time for table in tables])
        had_event = np.concatenate([table.events for table in tables]) > 0
        if not np.isin(time, self.unique_times).all() or not np.isin(time[had_event], self.event_times).all():
            raise ValueError("a life table has a time that no training row has")


# Name and type of the arrays with one entry per node.
NODE_FIELDS = types_of(Tree)
