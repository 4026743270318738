"""Pictures of trees, splits, curves and paths.

Every function takes a fitted model or a table, draws on `ax` or on a figure of its own, and returns the axes.
matplotlib is imported here and nowhere else: `pip install "dipolar[plot]"`. The exports of :mod:`dipolar.tree.export`
need no matplotlib and are repeated here, beside the pictures that they replace.
"""

from dipolar.plotting.calibration_plot import plot_calibration
from dipolar.plotting.curve_plot import plot_leaf_curves
from dipolar.plotting.importance_plot import plot_importance
from dipolar.plotting.path_plot import plot_kappa_path, plot_pruning_path
from dipolar.plotting.surface_plot import plot_split_surface
from dipolar.plotting.tree_plot import plot_tree
from dipolar.tree.export import export_dot, export_text, to_dict

__all__ = [
    "export_dot",
    "export_text",
    "plot_calibration",
    "plot_importance",
    "plot_kappa_path",
    "plot_leaf_curves",
    "plot_pruning_path",
    "plot_split_surface",
    "plot_tree",
    "to_dict",
]
