"""The leaves of a tree in words: who is in them, and how they fare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.table import Table as Grid

from dipolar.cli.model import Model
from dipolar.cli.times import time_words
from dipolar.curves import LifeTable
from dipolar.tree.names import Names
from dipolar.tree.splits import AxisCuts
from dipolar.tree.ways import way_to

__all__ = ["MOST_LEAVES_SHOWN", "Leaf", "Split", "describe_leaves", "describe_splits", "leaf_grid", "split_grid"]

# Of more leaves than this, people are shown the first and the last ones only.
MOST_LEAVES_SHOWN = 20


@dataclass(frozen=True)
class Leaf:
    """One leaf; times that are not known are None."""

    node: int
    rule: str
    n: float
    events: float
    median: float | None  # not reached: None
    median_rests_on_one: bool  # the curve falls to 1/2 only where one row is left
    survival: list[float | None]  # at the times of the table; followed up less long: None
    risk: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Split:
    """A split that involves many covariates, under a letter that rules refer to."""

    letter: str
    node: int
    question: str
    n: float
    logrank: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def describe_leaves(model: Model, at: Sequence[float]) -> list[Leaf]:
    """Describe every leaf, from the lowest risk to the highest.

    Parameters
    ----------
    model : Model
    at : sequence of float
        The times whose survival is told.
    """
    record = model.tree.tree_
    leaves = []
    for number, node in enumerate(record.leaves):
        table = record.tables[number]
        median = table.median("inf")
        leaves.append(
            Leaf(
                node=int(node),
                rule=_rule_of(model, int(node)),
                n=float(record.n_samples[node]),
                events=float(record.n_events[node]),
                median=float(median) if np.isfinite(median) else None,
                median_rests_on_one=table.median_rests_on_one,
                survival=[_survival(table, time) for time in at],
                risk=float(model.tree.leaf_risk_[number]),
            )
        )
    return sorted(leaves, key=lambda leaf: (leaf.risk, leaf.node))


def describe_splits(model: Model) -> list[Split]:
    """Describe the splits that rules refer to by letters: all surfaces, and no cut of a single covariate."""
    record = model.tree.tree_
    if isinstance(record.splits, AxisCuts):
        return []
    names = Names(model.features)
    return [
        Split(
            letter,
            node,
            record.splits.rule(node, names, prototypes=False),
            float(record.n_samples[node]),
            float(record.logrank[node]),
        )
        for node, letter in _letters(model).items()
    ]


def leaf_grid(leaves: list[Leaf], at: Sequence[float], time_unit: str | None) -> Grid:
    """Return the table of the leaves for people."""
    unit = f" {time_unit}" if time_unit else ""
    title = "Leaves, from the lowest risk to the highest, and the share without event"
    grid = Grid(title=title, title_justify="left", title_style="bold")
    grid.add_column("leaf", justify="right")
    grid.add_column("who", overflow="fold", ratio=1)
    grid.add_column("n", justify="right")
    grid.add_column("events", justify="right")
    grid.add_column(f"median{unit}", justify="right")
    for time in at:
        grid.add_column(f"at {time_words(time)}", justify="right")
    half = MOST_LEAVES_SHOWN // 2
    left_out = range(half, len(leaves) - half) if len(leaves) > MOST_LEAVES_SHOWN else range(0)
    for place, leaf in enumerate(leaves):
        if left_out and place == left_out.start:
            grid.add_row("...", f"{len(left_out)} more (--json has them)")
        if place in left_out:
            continue
        median = "not reached" if leaf.median is None else f"{leaf.median:g}{'*' if leaf.median_rests_on_one else ''}"
        survival = ["-" if share is None else f"{100 * share:.0f} %" for share in leaf.survival]
        grid.add_row(str(leaf.node), leaf.rule, f"{leaf.n:g}", f"{leaf.events:g}", median, *survival)
    if any(leaf.median_rests_on_one for leaf in leaves):
        grid.caption = "* rests on the one row that is left by then"
        grid.caption_justify = "left"
    return grid


def split_grid(splits: list[Split]) -> Grid:
    """Return the table of the splits for people."""
    grid = Grid(title="Splits", title_justify="left", title_style="bold")
    grid.add_column("")
    grid.add_column("question", overflow="fold", ratio=1)
    grid.add_column("n", justify="right")
    grid.add_column("log-rank", justify="right")
    for split in splits:
        grid.add_row(split.letter, split.question, f"{split.n:g}", f"{split.logrank:.1f}")
    return grid


def _survival(table: LifeTable, time: float) -> float | None:
    """Return the survival of a leaf; None beyond its follow-up, unless nobody is left."""
    return float(table.survival_function()(time)) if time <= table.time[-1] or not table.survival[-1] else None


def _rule_of(model: Model, leaf: int) -> str:
    letters = _letters(model)

    def say(node: int, is_left: bool) -> str:
        return f"{letters[node]}:{'yes' if is_left else 'no'}"

    is_cut = isinstance(model.tree.tree_.splits, AxisCuts)
    return ", ".join(way_to(model.tree.tree_, leaf, Names(model.features), None if is_cut else say)) or "everybody"


def _letters(model: Model) -> dict[int, str]:
    """Name the surfaces that are no cuts of one covariate: A to Z, then S27, S28, ..."""
    record, names = model.tree.tree_, Names(model.features)
    splits = np.flatnonzero(record.is_split).tolist()
    nodes = [node for node in splits if record.splits.cut(node, names, True) is None]
    return {node: chr(ord("A") + i) if i < 26 else f"S{i + 1}" for i, node in enumerate(nodes)}
