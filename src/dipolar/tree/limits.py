"""When the branches of a tree end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dipolar.parameters import check_number

__all__ = ["GrowthLimits"]

# A tree that nothing else limits gets three levels from so many events on, and two where there are fewer.
EVENTS_OF_DEPTH_3 = 150


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
    def of(cls, estimator: Any, n_events: float = 0.0) -> GrowthLimits:
        """Read the limits off an estimator that has these parameters, for so many events."""
        by_weight, unlimited = "It counts rows, by their weights.", "None means no limit."

        def whole_or_inf(name: str, minimum: int) -> float:
            value = getattr(estimator, name)
            return np.inf if value is None else check_number(name, value, low=minimum, hint=unlimited, whole=True)

        def at_least(name: str, minimum: int, hint: str) -> float:
            return check_number(name, getattr(estimator, name), low=minimum, hint=hint)

        depth = estimator.max_depth
        if isinstance(depth, str):
            if depth != "auto":
                raise ValueError(f'max_depth must be "auto", a number or None, got {depth!r}. None means no limit.')
            is_limited = estimator.max_leaf_nodes is not None or getattr(estimator, "pruning", None) is not None
            depth = np.inf if is_limited else (3.0 if n_events >= EVENTS_OF_DEPTH_3 else 2.0)
        else:
            depth = whole_or_inf("max_depth", 0)
        return cls(
            max_depth=depth,
            max_leaf_nodes=whole_or_inf("max_leaf_nodes", 2),
            min_samples_split=at_least("min_samples_split", 2, by_weight),
            min_samples_leaf=at_least("min_samples_leaf", 1, by_weight),
            min_events_leaf=at_least("min_events_leaf", 0, "0 means no limit."),
            min_logrank=at_least("min_logrank", 0, "0 means no limit."),
        )
