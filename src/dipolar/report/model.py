"""What the page knows beyond the tree's plain form: which subtrees it can show, and how it computes a kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dipolar.tree.export import plain_form
from dipolar.tree.names import Names
from dipolar.tree.pruning import PruningPath
from dipolar.tree.record import Tree

__all__ = ["describe_grown_tree", "describe_path", "kernel_module", "numbers"]

# The level of the limits that the page shows.
LEVEL = 0.95


def numbers(values: Iterable[Any]) -> list[float | None]:
    """Return numbers as JSON has them: None for NaN and infinity."""
    return [float(value) if np.isfinite(value) else None for value in values]


def describe_grown_tree(tree: Any, names: Names, predict_form: bool) -> dict[str, Any]:
    """Return the plain form, as of `to_dict`, of the tree that all members of the pruning path are parts of."""
    return plain_form(tree, tree.grown_, names, LEVEL, rows=predict_form)


def describe_path(path: PruningPath) -> dict[str, Any]:
    """Return the members of the pruning path.

    `removed_at` holds for every node of the grown tree the first member in which it is no split; `honest` is None where
    no rule corrected the statistics.
    """
    return {
        "alphas": numbers(path.alphas),
        "n_leaves": path.n_leaves.tolist(),
        "removed_at": path.removed_at.tolist(),
        "statistics": numbers(path.statistics),
        "honest": None if np.isnan(path.honest_statistics).any() else numbers(path.honest_statistics),
    }


def kernel_module(tree: Tree, predict_form: bool) -> str:
    """Return the module that exports the kernels that the page computes, by name, as their classes write them.

    Only surfaces over rows of the training data need theirs; all others are sums of monomials.
    """
    codes = {}
    for kernel in tree.splits.kernels_over_rows() if predict_form else []:
        if kernel.javascript is None:
            raise ValueError(
                f"The kernel of this tree is {kernel!r}, which a web page cannot compute. Pass predict_form=False to "
                "write the report without its prediction form, or make the kernel a class with `javascript` that tells "
                "the page how; dipolar.kernels has examples."
            )
        codes[type(kernel).__name__] = kernel.javascript
    table = "".join(f"  {name}: {code},\n" for name, code in codes.items())
    return f"export const kernels = {{\n{table}}};\n"
