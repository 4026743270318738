"""The figure of tuning."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from dipolar.plotting import plot_kappa_path
from dipolar.plotting.style import figure_of

__all__ = ["draw_kappa"]


def draw_kappa(table: pd.DataFrame) -> Figure:
    """Draw the two concordances and the integrated Brier score over eta, one line per tree."""
    return figure_of(plot_kappa_path(table, scores=["concordance_paper", "concordance", "neg_ibs"])[0])
