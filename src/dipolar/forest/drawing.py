"""The seed of each tree of a forest."""

from __future__ import annotations

import numpy as np

__all__ = ["tree_generator"]


def tree_generator(seed: int, number: int) -> np.random.Generator:
    """Return the generator of one tree: the same whatever is grown before, beside or after it."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
