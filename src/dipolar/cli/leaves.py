"""The leaves of a tree in words: who is in them, and how they fare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from rich.table import Table as Grid

from dipolar.cli.model import Model
from dipolar.cli.times import time_words
from dipolar.curves import LifeTable
from dipolar.preparation.feature import Condition, say_conditions
from dipolar.tree.splits import AxisCuts

__all__ = ["MOST_LEAVES_SHOWN", "Leaf", "Split", "describe_leaves", "describe_splits", "leaf_grid", "split_grid"]

# Of more leaves than this, people are shown the first and the last ones only.
MOST_LEAVES_SHOWN = 20

# Share of a surface that a covariate has which it depends on alone.
ALL_BUT_ROUNDING = 1 - 1e-6


@dataclass(frozen=True)
class Leaf:
    """One leaf; times that are not known are None."""

    node: int
    rule: str
    n: float
    events: float
    median: float | None  # not reached: None
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
    names = [feature.name for feature in model.features]
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
        median = "not reached" if leaf.median is None else f"{leaf.median:g}"
        survival = ["-" if share is None else f"{100 * share:.0f} %" for share in leaf.survival]
        grid.add_row(str(leaf.node), leaf.rule, f"{leaf.n:g}", f"{leaf.events:g}", median, *survival)
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
    record = model.tree.tree_
    path = record.path_to(leaf)
    steps = [(node, bool(child == record.left[node])) for node, child in pairwise(path)]
    if not steps:
        return "everybody"
    conditions = _axis_conditions if isinstance(record.splits, AxisCuts) else _surface_conditions
    return ", ".join(conditions(model, steps))


def _surface_conditions(model: Model, steps: list[tuple[int, bool]]) -> Iterator[str]:
    """Say the side of each surface: in words where it only parts the two values of a covariate."""
    letters, words = _letters(model), _worded_surfaces(model)
    for node, goes_left in steps:
        if node in words:
            yield words[node][0 if goes_left else 1]
        else:
            yield f"{letters[node]}:{'yes' if goes_left else 'no'}"


def _letters(model: Model) -> dict[int, str]:
    """Name the surfaces that have no words of their own: A to Z, then S27, S28, ..."""
    words = _worded_surfaces(model)
    nodes = [node for node in np.flatnonzero(model.tree.tree_.is_split).tolist() if node not in words]
    return {node: chr(ord("A") + i) if i < 26 else f"S{i + 1}" for i, node in enumerate(nodes)}


def _worded_surfaces(model: Model) -> dict[int, tuple[str, str]]:
    """Return the words for the left and the right side of surfaces that depend on one covariate of two values."""
    record, features = model.tree.tree_, model.features
    words = {}
    for node in np.flatnonzero(record.is_split).tolist():
        shares = record.splits.feature_shares(node, model.tree.n_features_in_)
        number = int(np.argmax(shares))
        values = features[number].values
        if values is None or shares[number] < ALL_BUT_ROUNDING:
            continue
        rows = np.zeros((2, model.tree.n_features_in_))
        rows[:, number] = values
        low_is_left, high_is_left = record.splits.goes_left(rows, node)
        if low_is_left != high_is_left:
            between = sum(values) / 2
            words[node] = (features[number].say(between, not low_is_left), features[number].say(between, low_is_left))
    return words


def _axis_conditions(model: Model, steps: list[tuple[int, bool]]) -> Iterator[str]:
    """Say what a path of cuts asks of each column, once per column."""
    cuts = model.tree.tree_.splits
    assert isinstance(cuts, AxisCuts)
    names = [feature.name for feature in model.features]
    conditions = []
    for node, goes_left in steps:
        feature, threshold = int(cuts.feature[node]), float(cuts.threshold[node])
        if cuts.missing_seen[node] or np.isinf(threshold):
            yield cuts.rule(node, names) if goes_left else f"not ({cuts.rule(node, names)})"
        else:
            conditions.append(Condition(feature, threshold, not goes_left))
    yield from say_conditions(model.features, conditions)
