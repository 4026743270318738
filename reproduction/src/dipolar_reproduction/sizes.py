"""Accuracy against size: how good the members of the pruning paths are, at each number of leaves."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from dipolar.plotting.style import GREY, INK, SERIES, SMALL_SIZE, TEXT_SIZE, plain_axes, quiet
from dipolar_reproduction.models import TREES, TRUTH
from dipolar_reproduction.study import Results
from dipolar_reproduction.summary import truth_frame
from dipolar_reproduction.table import Table, number
from dipolar_reproduction.trial import PATH_SIZES

LABELS = {
    "c_paper": "paper's C (higher is better)",
    "c_harrell": "Harrell's C (higher is better)",
    "ibs_graf": "IBS, Graf (lower is better)",
}
PATH_SCORES = tuple(LABELS)
TABLE_SIZES = (2, 3, 4, 8, 16, 32)
TICKS = (1, 2, 4, 8, 16, 32)


def size_frame(results: Results) -> pd.DataFrame:
    """Return means of the scores and of the leaves, by source, model and largest number of leaves allowed.

    A path does not have a member of every size; the largest with at most so many leaves stands in, and the mean of its
    leaves says how large it is. Sizes that no tree of a model reaches are absent.
    """
    rows = [
        [unit.source, unit.model, size, *max((p for p in record["path"] if p[0] <= size), key=lambda p: p[0])]
        for unit, record in results.items()
        if unit.model != TRUTH
        for size in PATH_SIZES
    ]
    frame = pd.DataFrame(rows, columns=["source", "model", "size", "leaves", *PATH_SCORES])
    groups = frame.astype(dict.fromkeys(PATH_SCORES, float)).groupby(["source", "model", "size"], sort=False)
    means = groups.mean().reset_index()
    # Beyond the largest tree of all nothing changes any more.
    before = means.groupby(["source", "model"], sort=False)["leaves"].shift(fill_value=0.0)
    return means[means["leaves"] > before].reset_index(drop=True)


def size_table(results: Results, source_name: str) -> Table:
    """Return C and IBS of the four trees at a few sizes."""
    frame = size_frame(results)
    of_size = frame.set_index(["source", "model", "size"])[list(PATH_SCORES)]
    rows = [
        [source, model, *(_cell(of_size, (source, model, size)) for size in TABLE_SIZES)]
        for source, model in dict.fromkeys(zip(frame["source"], frame["model"]))
    ]
    notes = [
        "The paper's C / Harrell's C / IBS by Graf of the test rows: means over all replicates of the largest subtree "
        "on the pruning path with at most so many leaves. A dash: no tree is larger than in the column before.",
    ]
    columns = [source_name, "tree", *(f"{size} leaves" for size in TABLE_SIZES)]
    return Table("accuracy", "Accuracy against size", columns, rows, notes, in_terminal=False)


def _cell(scores: pd.DataFrame, key: tuple[Any, ...]) -> str:
    return " / ".join(number(score, 3) for score in scores.loc[key]) if key in scores.index else "-"


def draw_sizes(results: Results) -> Figure:
    """Draw mean scores over the mean number of leaves, one row per design, with those of the true hazard."""
    sizes = size_frame(results)
    sources = list(dict.fromkeys(sizes["source"]))
    truth = truth_frame(results).groupby("source")[list(PATH_SCORES)].mean()
    figure = Figure(figsize=(10.5, 2.7 * len(sources) + 0.6), layout="constrained")
    axes = figure.subplots(len(sources), len(PATH_SCORES), squeeze=False)
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
    for tree, look in zip(TREES, SERIES):
        of_tree = sizes[sizes["model"] == tree]
        axis.plot(of_tree["leaves"], of_tree[score], label=tree, markersize=3.5, linewidth=1.3, **look)
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_locator(FixedLocator(TICKS))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xticks(TICKS, labels=[str(tick) for tick in TICKS], fontsize=SMALL_SIZE)
