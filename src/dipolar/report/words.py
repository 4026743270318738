"""Splits and ways of a tree in words of the original columns, for the page to show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dipolar.tree.record import Tree
from dipolar.tree.rules import Condition
from dipolar.tree.ways import way_to

__all__ = ["describe_words"]


def describe_words(record: Tree, names: Sequence[str]) -> dict[str, Any]:
    """Return what the page says of splits and nodes.

    `said` has for every split along one covariate what is true on its left and on its right side: the name of the
    column, and the rest. `ways` has for every node what its rows have in common, once per column; a surface
    is told by its node and side, [node, is_left], for the page to write.
    """
    return {
        "said": [_said(record, node, names) if record.left[node] >= 0 else None for node in range(record.n_nodes)],
        "ways": [way_to(record, node, names, _side_of(record, names)) for node in range(record.n_nodes)],
    }


def _side_of(record: Tree, names: Sequence[str]) -> Any:
    if record.splits.kind == "axis":
        return None
    return lambda node, is_left: [int(node), is_left]


def _said(record: Tree, node: int, names: Sequence[str]) -> dict[str, list[str]] | None:
    if record.splits.kind != "axis" and record.splits.cut(node, names, True) is None:
        return None
    left, right = (record.splits.side(node, names, is_left) for is_left in (True, False))
    return {"left": _in_two(left), "right": _in_two(right)}


def _in_two(condition: Condition) -> list[str]:
    return [" ".join(condition.parts), f"{condition.sign} {condition.bound}".strip()]
