"""What a forest draws: rows for each tree, covariates for each node, a seed for each tree."""

from __future__ import annotations

import numpy as np

__all__ = ["draw_orders", "draw_rows", "tree_generator"]


def tree_generator(seed: int, number: int) -> np.random.Generator:
    """Return the generator of one tree: the same whatever is grown before, beside or after it."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))


def draw_rows(weight: np.ndarray, share: float, replace: bool, rng: np.random.Generator) -> np.ndarray:
    """Draw the sample of a tree; return how often each row is in it.

    A row of weight w stands for w rows. With replacement, `share` times the sum of the weights is the number of draws.
    Without, the rows are taken in random order, each with its whole weight, until that share of the sum is reached.
    """
    total = weight.sum()
    if replace:
        edges = np.cumsum(weight)
        n_draws = max(1, round(share * total))
        drawn = np.searchsorted(edges, rng.random(n_draws) * edges[-1], side="right")
        return np.bincount(np.minimum(drawn, len(weight) - 1), minlength=len(weight)).astype(np.float64)
    order = rng.permutation(len(weight))
    reached = np.cumsum(weight[order]) - weight[order]
    taken = order[reached < share * total * (1.0 - 1e-12)]
    counts = np.zeros(len(weight))
    counts[taken] = weight[taken]
    return counts


def draw_orders(n_nodes: int, n_features: int, max_features: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random order of the covariates for each node; the given order where all of them are tried anyway."""
    orders = np.tile(np.arange(n_features), (n_nodes, 1))
    return rng.permuted(orders, axis=1, out=orders) if max_features < n_features else orders
