"""The figure of the Remission trees."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dipolar.datasets import load_remission
from dipolar.plotting import plot_split_surface
from dipolar.studies.models import TREES
from dipolar.studies.remission import fit_remission_tree, way_to
from dipolar.tree.record import Tree

__all__ = ["draw_regions"]


def draw_regions() -> Figure:
    """Draw the regions of the four trees, pruned at the fixed price that gives the printed medians."""
    X, y = load_remission(return_X_y=True)
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 10.0), layout="constrained")
    for axis, name in zip(axes.flat, TREES):
        tree = fit_remission_tree(name)
        plot_split_surface(tree, X, y, features=["logWBC", "TR"], ax=axis)
        _name_leaves(axis, tree.tree_)
        axis.set_title(f"{name} tree: ways to the leaves, and their medians")
    return figure


def _name_leaves(axis: Axes, tree: Tree) -> None:
    """Call the regions as the paper does, by the way from the root, and write their medians below."""
    for number, leaf in enumerate(tree.leaves):
        for text in axis.texts:
            if text.get_text() == f"leaf {leaf}":
                text.set_text(f"{way_to(tree, int(leaf))}\n{tree.tables[number].median('mean'):g}")
