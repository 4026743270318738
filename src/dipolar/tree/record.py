"""The frozen tree: named arrays, one entry per node.

Nodes are numbered as they were made: the root is 0, a parent comes before its children, and the right child
is the node after the left one. Whatever is computed from the leaves up is therefore one loop over the numbers
downwards, and no function here recurses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from dipolar.curves import LifeTables, tabulate
from dipolar.survival import Survival
from dipolar.tree.splits import SPLIT_KINDS, Splits

__all__ = ["NODE_FIELDS", "Tree"]

# Name and width of the arrays with one entry per node.
NODE_FIELDS = {
    "left": np.int32,
    "parent": np.int32,
    "depth": np.int32,
    "n_samples": np.float64,
    "n_events": np.float64,
    "gain": np.float64,
    "logrank": np.float64,
}


@dataclass(frozen=True, eq=False)
class Tree:
    """A grown survival tree."""

    left: np.ndarray  # (n_nodes,) int32, left child; the right one is left + 1; -1 in leaves
    parent: np.ndarray  # (n_nodes,) int32, -1 at the root
    depth: np.ndarray  # (n_nodes,) int32, 0 at the root
    n_samples: np.ndarray  # (n_nodes,) weight of the rows
    n_events: np.ndarray  # (n_nodes,) weight of the events
    gain: np.ndarray  # (n_nodes,) criterion of the split when it was chosen, 0 in leaves
    logrank: np.ndarray  # (n_nodes,) log-rank chi-square of the split, 0 in leaves
    splits: Splits
    tables: LifeTables  # one per leaf, in the order of `leaves`

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        mine, theirs = self.to_arrays(), other.to_arrays()
        same_kind = self.splits.kind == other.splits.kind and self.splits.settings() == other.splits.settings()
        return same_kind and all(np.array_equal(mine[n], theirs[n], equal_nan=True) for n in mine)

    __hash__ = None  # type: ignore[assignment]

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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return every array of the record under a flat name."""
        arrays = {f"node.{name}": getattr(self, name) for name in NODE_FIELDS}
        arrays |= {f"splits.{name}": values for name, values in self.splits.to_arrays().items()}
        return arrays | {f"tables.{field.name}": getattr(self.tables, field.name) for field in fields(LifeTables)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], kind: str, settings: Mapping[str, Any]) -> Tree:
        """Undo `to_arrays`; `kind` and `settings` are those of the splits."""
        if kind not in SPLIT_KINDS:
            raise ValueError(f"splits of an unknown kind {kind!r}; known are {sorted(SPLIT_KINDS)}")
        nodes = {name: np.asarray(arrays[f"node.{name}"], dtype) for name, dtype in NODE_FIELDS.items()}
        of_splits = {n.removeprefix("splits."): a for n, a in arrays.items() if n.startswith("splits.")}
        tables = LifeTables(
            np.asarray(arrays["tables.offset"], np.int64),
            *(np.asarray(arrays[f"tables.{name}"], np.float64) for name in ("time", "events", "censored", "at_risk")),
        )
        return cls(**nodes, splits=SPLIT_KINDS[kind].from_arrays(of_splits, settings), tables=tables)

    def check(self, n_features: int) -> None:
        """Raise ValueError unless the arrays form a tree: compiled code trusts them, so files are checked."""
        n = self.n_nodes
        if n == 0 or any(getattr(self, name).shape != (n,) for name in NODE_FIELDS):
            raise ValueError("the arrays of the nodes differ in length")
        number = np.arange(n)
        is_split = self.is_split
        parents = number[is_split]
        children = self.left[is_split].astype(np.int64)
        expected = np.full(n, -1)
        if ((children <= parents) | (children + 1 >= n)).any():
            raise ValueError("a node has a child outside the tree")
        expected[children] = parents
        expected[children + 1] = parents
        if n != 2 * len(parents) + 1 or not np.array_equal(expected, self.parent):
            raise ValueError("parents and children do not form a tree")
        self._check_tables()
        self.splits.check(is_split, n_features)

    def _check_tables(self) -> None:
        tables = self.tables
        n_entries = len(tables.time)
        offsets_fit = (
            tables.offset.shape == (self.n_leaves + 1,)
            and tables.offset[0] == 0
            and tables.offset[-1] == n_entries
            and (np.diff(tables.offset) > 0).all()
        )
        if not offsets_fit or not (
            tables.events.shape == tables.censored.shape == tables.at_risk.shape == (n_entries,)
        ):
            raise ValueError("the leaves have no proper life tables")
