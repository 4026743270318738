"""The figure of the Remission trees."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from dipolar.datasets import load_remission
from dipolar.plotting import plot_split_surface
from dipolar.studies.models import TREES
from dipolar.studies.remission import fit_remission_tree

__all__ = ["draw_regions"]


def draw_regions() -> Figure:
    """Draw the regions of the four trees, pruned at the fixed price that gives the printed medians."""
    X, y = load_remission(return_X_y=True)
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 10.0), layout="constrained")
    for axis, name in zip(axes.flat, TREES):
        plot_split_surface(fit_remission_tree(name), X, y, features=["logWBC", "TR"], ax=axis)
        axis.set_title(f"{name} tree")
    return figure
