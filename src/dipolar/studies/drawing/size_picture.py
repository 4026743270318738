"""Accuracy against size of the four trees, design by design."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from dipolar.plotting.style import GREY, INK, SERIES, SMALL_SIZE, TEXT_SIZE, plain_axes, quiet
from dipolar.studies.models import TREES
from dipolar.studies.sizes import PATH_SCORES
from dipolar.studies.summary import Results, truth_frame

__all__ = ["draw_sizes"]

LABELS = {
    "c_paper": "paper's C (higher is better)",
    "c_harrell": "Harrell's C (higher is better)",
    "ibs_graf": "IBS, Graf (lower is better)",
}


def draw_sizes(sizes: pd.DataFrame, results: Results) -> Figure:
    """Draw mean scores over the mean number of leaves, one row per design, with those of the true hazard."""
    sources = list(dict.fromkeys(sizes["source"]))
    truth = truth_frame(results).groupby("source")[list(PATH_SCORES)].mean()
    size = (10.5, 2.7 * len(sources) + 0.6)
    figure, axes = plt.subplots(len(sources), len(PATH_SCORES), figsize=size, layout="constrained", squeeze=False)
    for row, source in zip(axes, sources):
        of_source = sizes[sizes["source"] == source]
        for axis, score in zip(row, PATH_SCORES):
            _draw_score(axis, of_source, score)
            if source in truth.index:
                level = float(truth.loc[source, score])
                axis.axhline(level, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)), zorder=0, label="true hazard")
            quiet(axis, y=LABELS[score])
        row[1].set_title(source, fontsize=TEXT_SIZE + 1, color=INK)
    for axis in axes[-1]:
        quiet(axis, x="mean number of leaves")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def _draw_score(axis: Axes, sizes: pd.DataFrame, score: str) -> None:
    plain_axes(axis)
    for number, tree in enumerate(TREES):
        of_tree = sizes[sizes["model"] == tree]
        axis.plot(of_tree["leaves"], of_tree[score], label=tree, markersize=3.5, linewidth=1.3, **SERIES[number])
    axis.set_xscale("log", base=2)
    ticks = [1, 2, 4, 8, 16, 32]
    axis.xaxis.set_major_locator(FixedLocator(ticks))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xticks(ticks, labels=[str(tick) for tick in ticks], fontsize=SMALL_SIZE)
