"""A tree as a table for people: one row per node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dipolar.curves import LifeTable
from dipolar.tree.record import Tree

__all__ = ["node_frame", "node_tables"]


def node_tables(tree: Tree) -> list[LifeTable]:
    """Return the life table of every node, inner ones pooled from the leaves below them."""
    tables: list[LifeTable] = [tree.tables[0]] * tree.n_nodes
    for number, leaf in enumerate(tree.leaves):
        tables[leaf] = tree.tables[number]
    # `home` climbs from each leaf to its ancestor at the current depth; all nodes of one depth pool at once.
    home = tree.leaves.copy()
    for depth in range(tree.max_depth - 1, -1, -1):
        deeper = tree.depth[home] > depth
        home[deeper] = tree.parent[home[deeper]]
        nodes, group = np.unique(home, return_inverse=True)
        pooled = tree.tables.merge(group.reshape(-1))
        for number, node in enumerate(nodes):
            if tree.left[node] >= 0:
                tables[node] = pooled[number]
    return tables


def node_frame(tree: Tree, names: Sequence[str], unreached: str) -> pd.DataFrame:
    """Return one row per node: place, size, events, median, statistics and rule."""
    is_split = tree.is_split
    return pd.DataFrame(
        {
            "node": np.arange(tree.n_nodes),
            "parent": tree.parent,
            "left": tree.left,
            "right": tree.right,
            "depth": tree.depth,
            "is_leaf": ~is_split,
            "n": tree.n_samples,
            "events": tree.n_events,
            "median": [table.median(unreached) for table in node_tables(tree)],
            "gain": np.where(is_split, tree.gain, np.nan),
            "logrank": np.where(is_split, tree.logrank, np.nan),
            "rule": [tree.splits.rule(node, names) if is_split[node] else "" for node in range(tree.n_nodes)],
        }
    ).set_index("node")
