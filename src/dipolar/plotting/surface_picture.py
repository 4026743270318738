"""Small pictures of splits on two covariates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from dipolar.plotting.style import GREY, INK
from dipolar.plotting.text_fit import Box, Ruler, place_text
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.rules import flatten, shorten

__all__ = ["SurfacePictures"]

# Left of the split, right of the split.
SIDES = ListedColormap(["#CFE3F1", "#FBE0CC"])
STEPS = 80


class SurfacePictures:
    """Draws the split of any node of a tree on two covariates, over the rows that reach the node."""

    def __init__(self, tree: BaseSurvivalTree, names: Sequence[str], X: Any) -> None:
        if tree.n_features_in_ != 2:
            raise ValueError(
                f"X asks for pictures of the splits, which need a tree on two covariates; this one has "
                f"{tree.n_features_in_}. Leave X out for the rules, or use plot_split_surface."
            )
        self._path = tree.decision_path(X).tocsc()
        X = np.asarray(X, dtype=np.float64)
        if np.isnan(X).all(axis=0).any():
            raise ValueError(
                "X should have values of both covariates, and one is missing in every row. Pass other rows."
            )
        self._tree, self._names, self._X = tree.tree_, names, X
        low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
        pad = 0.05 * np.where(high > low, high - low, 1.0)
        self._low, self._high = low - pad, high + pad

    def draw(self, ax: Axes, ruler: Ruler, node: int, box: Box, font: float) -> None:
        """Draw one split into a box: what goes left in blue, what goes right in orange, the node's rows as dots."""
        strip = min(0.15, 0.25 * box.height)
        beside = 0.24 * box.width
        picture = Box(box.left + beside, box.bottom + strip, box.width - 2 * beside, box.height - strip)
        panel = ax.inset_axes((picture.left, picture.bottom, picture.width, picture.height), transform=ax.transData)
        panel.set_in_layout(False)
        x1, x2 = np.meshgrid(*np.linspace(self._low, self._high, STEPS).T)
        grid = np.column_stack([x1.ravel(), x2.ravel()])
        goes_right = ~self._tree.splits.goes_left(grid, node)
        panel.pcolormesh(x1, x2, goes_right.reshape(x1.shape), cmap=SIDES, vmin=0, vmax=1, shading="nearest",
                         rasterized=True)  # fmt: skip
        rows = self._X[self._path[:, [node]].toarray()[:, 0]]
        panel.plot(*rows.T, ".", color=INK, markersize=1.6, markeredgewidth=0)
        panel.set(xlim=(x1.min(), x1.max()), ylim=(x2.min(), x2.max()), xticks=[], yticks=[])
        panel.spines[:].set(color=GREY, linewidth=0.6)
        first, second = (shorten(flatten(name), 30) for name in self._names)
        below = Box(picture.left, box.bottom, picture.width, strip)
        place_text(ax, ruler, below, [first, shorten(first, 12)], size=0.8 * font, smallest=0.6 * font, color=GREY)
        margin = Box(box.left, picture.bottom, 0.92 * beside, picture.height)
        place_text(ax, ruler, margin, [second, shorten(second, 12)], size=0.8 * font, smallest=0.6 * font, color=GREY,
                   align="right")  # fmt: skip
