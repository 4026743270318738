"""What the page knows beyond the tree's plain form: which subtrees it can show, and how it computes a kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dipolar.tree.export import plain_form
from dipolar.tree.pruning import PruningPath
from dipolar.tree.splits import Splits
from dipolar.tree.surfaces import Surfaces

__all__ = ["describe_grown_tree", "describe_path", "kernel_module", "kernel_word", "numbers"]

# The level of the limits that the page shows.
LEVEL = 0.95


def numbers(values: Iterable[Any]) -> list[float | None]:
    """Return numbers as JSON has them: None for NaN and infinity."""
    return [float(value) if np.isfinite(value) else None for value in values]


def describe_grown_tree(tree: Any, names: list[str], predict_form: bool) -> dict[str, Any]:
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


def kernel_word(splits: Splits) -> str | None:
    """Return what the page calls the surfaces of a tree; None for axis cuts."""
    return splits.kernel.word if isinstance(splits, Surfaces) else None


def kernel_module(tree: dict[str, Any], splits: Splits, predict_form: bool) -> str:
    """Return the module that exports the kernel of the tree, as its class writes it, or null where none is computed.

    A tree in its plain form needs none where it has no surfaces or these are sums of monomials.
    """
    code = "null"
    if predict_form and isinstance(splits, Surfaces) and not tree["monomials"]:
        kernel = splits.kernel
        if kernel.javascript is None or kernel.n_features(len(splits.mean)) is not None:
            raise ValueError(
                f"The kernel of this tree is {kernel!r}, which a web page cannot compute. Pass predict_form=False to "
                "write the report without its prediction form, or make the kernel a class with `javascript` that tells "
                "the page how; dipolar.kernels has examples."
            )
        code = kernel.javascript
    return f"export const kernel = {code};\n"
