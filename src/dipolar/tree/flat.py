"""Flat arrays of many splits: split s owns the entries offset[s] to offset[s + 1]."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["entries", "numbers", "offsets"]


def numbers(is_split: np.ndarray) -> np.ndarray:
    """Number the nodes that are split from 0; -1 for the others."""
    return np.where(is_split, np.cumsum(is_split) - 1, -1).astype(np.int32)


def offsets(sizes: Any) -> np.ndarray:
    """Return where the entries of each split start, and where those of the last one end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def entries(offset: np.ndarray, splits: np.ndarray) -> np.ndarray:
    """Return the positions that some splits own in a flat array."""
    ranges = [np.arange(offset[split], offset[split + 1]) for split in splits]
    return np.concatenate([np.empty(0, np.int64), *ranges])
