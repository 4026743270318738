"""What a forest draws besides rows: covariates for each node, a seed for each tree."""

from __future__ import annotations

import numpy as np

__all__ = ["draw_orders", "tree_generator"]


def tree_generator(seed: int, number: int) -> np.random.Generator:
    """Return the generator of one tree: the same whatever is grown before, beside or after it."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))


def draw_orders(n_nodes: int, n_features: int, max_features: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random order of the covariates for each node; the given order where all of them are tried anyway."""
    orders = np.tile(np.arange(n_features), (n_nodes, 1))
    return rng.permuted(orders, axis=1, out=orders) if max_features < n_features else orders
