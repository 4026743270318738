"""The way to a node of a tree in words, once per column: "age <= 64.4", not "age <= 75.3 and age <= 64.4"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from dipolar.preparation.feature import say_conditions
from dipolar.tree.names import Names
from dipolar.tree.record import Tree

__all__ = ["way_to"]


def way_to(
    record: Tree, node: int, names: Sequence[str], say_side: Callable[[int, bool], Any] | None = None
) -> list[Any]:
    """Return what a row that reaches a node was asked and answered, in words; nothing at the root.

    Parameters
    ----------
    record : Tree
    node : int
    names : sequence of str
        Names of the covariates; :class:`~dipolar.tree.names.Names` also know what they were made from.
    say_side : callable, default=None
        What to say of the left or right side, (node, is_left), of a split that is no cut of one covariate. None says
        its rule, or the opposite of it.
    """
    say = say_side or (lambda split, is_left: str(record.splits.side(split, names, is_left)))
    features = names.features if isinstance(names, Names) else Names.of(names).features
    cuts, others = [], []
    for parent, child in pairwise(record.path_to(node)):
        is_left = bool(child == record.left[parent])
        cut = record.splits.cut(parent, names, is_left)
        if cut is None:
            others.append(say(parent, is_left))
        else:
            cuts.append(cut)
    return [*say_conditions(features, cuts), *others]
