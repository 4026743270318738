"""A fitted tree as text, as a Graphviz file, and as plain data that a program in any language can draw and apply.

The three functions take any fitted tree of the library. They write what the tree holds and nothing else: the
training rows appear only where the model keeps some itself, in the support rows of a kernel split, and `rows=False`
or `prototypes=False` leaves those out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dipolar.curves import LifeTable
from dipolar.parameters import check_number, check_share
from dipolar.tree.confidence import confidence_limits
from dipolar.tree.described import check_tree, covariate_names, describe
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.frame import node_tables
from dipolar.tree.names import Names, check_names
from dipolar.tree.record import Tree
from dipolar.tree.rules import flatten

__all__ = [
    "check_names",
    "covariate_names",
    "depth_limit",
    "export_dot",
    "export_text",
    "fitted_record",
    "leaves_below",
    "plain_form",
    "to_dict",
]

# Raised when a reader of the old form would misread the new one.
FORMAT_VERSION = 1


def fitted_record(tree: BaseSurvivalTree) -> Tree:
    """Return the record of a fitted tree."""
    check_tree(tree)
    return tree.tree_


def depth_limit(max_depth: int | None) -> float:
    """Return how many levels of splits to show; None shows all."""
    if max_depth is None:
        return np.inf
    return check_number("max_depth", max_depth, low=0, whole=True, hint="None shows the whole tree.")


def export_text(
    tree: Any,
    *,
    feature_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    width: int | None = None,
    prototypes: bool = True,
) -> str:
    """Write a tree as indented text.

    Parameters
    ----------
    tree : fitted survival tree, or pipeline of a CovariateEncoder and one
    feature_names : sequence of str, default=None
        Names of the covariates; None takes those of the training data.
    max_depth : int, default=None
        How many levels of splits to write; branches below are summed up.
    width : int, default=None
        The most characters of a rule; None writes whole rules.
    prototypes : bool, default=True
        Whether whole rules of kernel splits describe the support rows, rows of the training data, that lie farthest
        to either side.

    Returns
    -------
    text : str
        One line per node. A split says its rule, size and log-rank chi-square, and is followed by the branch for
        which the rule holds; a leaf says its number, size, events and median.

    Examples
    --------
    >>> from dipolar import LogRankSurvivalTree
    >>> from dipolar.datasets import load_remission
    >>> from dipolar.tree.export import export_text
    >>> tree = LogRankSurvivalTree(max_depth=1, min_samples_leaf=3).fit(*load_remission(return_X_y=True))
    >>> print(export_text(tree))
    logWBC <= 3.785  (n = 42, events = 30, log-rank 34.7)
    |-- yes: leaf 1: n = 34, events = 22, median 15
    `-- no:  leaf 2: n = 8, events = 8, median 3.5
    """
    (fitted, names, _), limit = describe(tree, feature_names), depth_limit(max_depth)
    record = fitted.tree_
    tables = node_tables(record)
    lines = []
    pending = [(0, "", "")]
    while pending:
        node, lead, below = pending.pop()
        if record.left[node] < 0:
            lines.append(f"{lead}leaf {node}: {_size(record, node)}, {_median(tables[node])}")
        elif record.depth[node] >= limit:
            n_leaves = leaves_below(record, node)
            lines.append(f"{lead}{n_leaves} leaves: {_size(record, node)}, {_median(tables[node])}")
        else:
            rule = record.splits.rule(node, names, width, prototypes=prototypes)
            lines.append(f"{lead}{rule}  ({_size(record, node)}, log-rank {record.logrank[node]:.3g})")
            left = int(record.left[node])
            pending.append((left + 1, f"{below}`-- no:  ", f"{below}         "))
            pending.append((left, f"{below}|-- yes: ", f"{below}|        "))
    return "\n".join(lines)


def export_dot(
    tree: Any,
    *,
    feature_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    width: int | None = 60,
) -> str:
    """Write a tree in the DOT language of Graphviz.

    The parameters are those of :func:`export_text`. Labels are plain strings: no name can end one or add markup.

    Returns
    -------
    dot : str
        For `dot -Tsvg`; :func:`dipolar.plotting.plot_tree` draws without Graphviz.
    """
    (fitted, names, _), limit = describe(tree, feature_names), depth_limit(max_depth)
    record = fitted.tree_
    tables = node_tables(record)
    lines = ["digraph tree {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    for node in range(record.n_nodes):
        if record.depth[node] > limit:
            continue
        is_shown_split = record.left[node] >= 0 and record.depth[node] < limit
        about = [_size(record, node), _median(tables[node])]
        if is_shown_split:
            about = [record.splits.rule(node, names, width), _size(record, node)]
        elif record.left[node] >= 0:
            about.insert(0, f"{leaves_below(record, node)} leaves")
        lines.append(f"  {node} [label={_quoted(about)}];")
        if is_shown_split:
            left = record.left[node]
            lines += [f'  {node} -> {left} [label="yes"];', f'  {node} -> {left + 1} [label="no"];']
    return "\n".join([*lines, "}"]) + "\n"


def to_dict(
    tree: Any,
    *,
    feature_names: Sequence[str] | None = None,
    level: float = 0.95,
    rows: bool = True,
) -> dict[str, Any]:
    """Return a tree as plain data, complete enough to draw it and to send new rows down it.

    Everything is a dict, list, str, int, float, bool or None, and no number is infinite or NaN: `json.dumps(...,
    allow_nan=False)` works. docs/plotting.md describes the fields and how to route a row.

    Parameters
    ----------
    tree : fitted survival tree, or pipeline of a CovariateEncoder and one
    feature_names : sequence of str, default=None
        Names of the covariates; None takes those of the training data.
    level : float, default=0.95
        Level of the confidence limits of the curves.
    rows : bool, default=True
        Whether to include the support rows of kernel splits. They are rows of the training data; without them
        the splits of a Gaussian, Laplacian or sigmoid tree cannot be applied, and `basis` is None. Surfaces that can
        be written without rows, those of linear trees and of polynomials of up to 256 terms, never have any.

    Returns
    -------
    data : dict
    """
    fitted, names, _ = describe(tree, feature_names)
    level = check_share("level", level, hint="0.95 is common.")
    return plain_form(fitted, fitted.tree_, names, level, rows)


def plain_form(tree: BaseSurvivalTree, record: Tree, names: Names, level: float, rows: bool) -> dict[str, Any]:
    """Return `to_dict` of the fitted tree, or of the grown tree that it is a part of, by their record."""
    tables, risks = node_tables(record), record.tables.hazard_sums(tree.event_times_)
    return {
        "format_version": FORMAT_VERSION,
        "estimator": type(tree).__name__,
        "feature_names": names.plain,
        "feature_importances": tree.feature_importances_.tolist(),
        "n_leaves": record.n_leaves,
        "last_time": float(tree.unique_times_[-1]),
        "confidence_level": level,
        "split_kind": record.splits.kind,
        **record.splits.plain_shared(rows),
        "nodes": [_node(record, node, tables[node], risks, names, level, rows) for node in range(record.n_nodes)],
    }


def _node(
    record: Tree, node: int, table: LifeTable, risks: np.ndarray, names: Sequence[str], level: float, rows: bool
) -> dict[str, Any]:
    is_leaf = record.left[node] < 0
    entry = {
        "id": node,
        "parent": None if node == 0 else int(record.parent[node]),
        "depth": int(record.depth[node]),
        "n": float(record.n_samples[node]),
        "events": float(record.n_events[node]),
        "median": _finite(table.median()),
        "is_leaf": bool(is_leaf),
    }
    if is_leaf:
        number = int(np.searchsorted(record.leaves, node))
        return entry | {"leaf": number, "risk": float(risks[number]), "curve": _curve(table, level)}
    return entry | {
        "left": int(record.left[node]),
        "right": int(record.left[node]) + 1,
        "gain": float(record.gain[node]),
        "logrank": float(record.logrank[node]),
        "rule": record.splits.rule(node, names, prototypes=rows),
        "short_rule": record.splits.rule(node, names, 40),
        "split": record.splits.plain(node, rows),
    }


def _curve(table: LifeTable, level: float) -> dict[str, list[float | None]]:
    lower, upper = confidence_limits(table, level)
    return {
        "time": table.time.tolist(),
        "survival": table.survival.tolist(),
        "lower": [_finite(value) for value in lower],
        "upper": [_finite(value) for value in upper],
        "at_risk": table.at_risk.tolist(),
        "events": table.events.tolist(),
        "censored": table.censored.tolist(),
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def leaves_below(record: Tree, node: int) -> int:
    """Return the number of leaves of the branch that starts at a node."""
    return sum(node in record.path_to(leaf) for leaf in record.leaves)


def _size(record: Tree, node: int) -> str:
    return f"n = {record.n_samples[node]:g}, events = {record.n_events[node]:g}"


def _median(table: LifeTable) -> str:
    median = table.median()
    if not np.isfinite(median):
        return "median not reached"
    return f"median {median:.4g}{' (rests on one row)' if table.median_rests_on_one else ''}"


def _quoted(lines: Sequence[str]) -> str:
    """A string of DOT with one line per entry, in which only quotes and backslashes mean something."""
    escaped = [flatten(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(escaped) + '"'
