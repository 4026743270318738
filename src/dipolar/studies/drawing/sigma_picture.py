"""The figure of the width of the Gaussian kernel."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from dipolar.plotting import plot_split_surface
from dipolar.studies.sigma import WIDTHS, SigmaFigure, fit_width, mgus_rows, width_of

__all__ = ["draw_widths"]


def draw_widths() -> Figure:
    """Draw the first split of MGUS for three widths, by the formula of the text above and by the scripts below."""
    X, y = mgus_rows()
    rules = SigmaFigure().sources
    figure, axes = plt.subplots(len(rules), len(WIDTHS), figsize=(15.0, 9.6), layout="constrained")
    for row, rule in zip(axes, rules):
        for axis, factor in zip(row, WIDTHS):
            sigma2 = width_of(rule, factor)
            plot_split_surface(fit_width(sigma2), X, y, ax=axis)
            axis.set_title(rf"$\sigma^2$ = {sigma2:.4g} ({rule}{'' if factor == '1' else ' x ' + factor})")
    return figure
