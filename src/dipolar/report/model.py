"""What the page knows beyond the tree's plain form: which subtrees it can show, and how it computes a kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

<<<<<<< HEAD
from dipolar.factors import Surface
from dipolar.kernels import (
    GaussianKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    SigmoidKernel,
)
from dipolar.tree.drawn_surfaces import DrawnSurfaces
from dipolar.tree.pruning import PruningPath
from dipolar.tree.record import Tree
from dipolar.tree.rules import plain_monomials
from dipolar.tree.splits import AxisCuts, Splits
=======
from dipolar.tree.export import plain_form
from dipolar.tree.pruning import PruningPath
from dipolar.tree.splits import Splits
>>>>>>> page
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


<<<<<<< HEAD
def describe_splits(tree: Tree, n_features: int) -> dict[str, Any]:
    """Return the rules of the splits, one entry per node and None in leaves; no row of the training data."""
    splits = tree.splits
    nodes = [_describe_split(splits, node, n_features) if tree.is_split[node] else None for node in range(tree.n_nodes)]
    if isinstance(splits, AxisCuts):
        return {"kind": "axis", "kernel": None, "kernel_parameters": {}, "nodes": nodes}
    if isinstance(splits, Surfaces):
        parameters = {f.name: getattr(splits.kernel, f.name) for f in fields(splits.kernel)}
        label = kernel_label(splits.kernel)
    else:
        parameters = {}
        label = " or ".join(dict.fromkeys(node["kernel"] for node in nodes if node is not None))
    return {"kind": "surface", "kernel": label, "kernel_parameters": _plain(parameters), "nodes": nodes}
=======
def kernel_word(splits: Splits) -> str | None:
    """Return what the page calls the surfaces of a tree; None for axis cuts."""
    return splits.kernel.word if isinstance(splits, Surfaces) else None
>>>>>>> page


def kernel_module(tree: dict[str, Any], splits: Splits, predict_form: bool) -> str:
    """Return the module that exports the kernel of the tree, as its class writes it, or null where none is computed.

<<<<<<< HEAD
    A node's score is its intercept plus coefficients times features: the monomials listed in `terms`, or, where a node
    has `rows`, the kernel of these rows of `basis`. A node with a kernel of its own on some columns has `terms`,
    `columns` and `parameters` itself.
    """
    if isinstance(splits, AxisCuts):
        return None
    if isinstance(splits, DrawnSurfaces):
        return _describe_drawn(splits)
    assert isinstance(splits, Surfaces)
    kernel = splits.kernel
    if type(kernel) not in KERNEL_LABELS:
        raise ValueError(
            f"The kernel of this tree is {kernel!r}, which a web page cannot compute. Pass predict_form=False to write "
            "the report without its prediction form."
        )
    nodes = [_describe_surface(splits, node) if split >= 0 else None for node, split in enumerate(splits.split)]
    used = any(node is not None and node["rows"] is not None for node in nodes)
    return {
        "mean": numbers(splits.mean),
        "scale": numbers(splits.scale),
        "terms": _describe_terms(kernel, len(splits.mean)),
        "basis": [numbers(row) for row in splits.basis] if used else [],
        "nodes": nodes,
    }


def kernel_label(kernel: Kernel) -> str:
    """Return what the page calls a kernel."""
    if isinstance(kernel, PolynomialKernel) and kernel.degree == 2:
        return "quadratic"
    return KERNEL_LABELS.get(type(kernel), "user-defined kernel")


def _describe_split(splits: Splits, node: int, n_features: int) -> dict[str, Any]:
    if isinstance(splits, AxisCuts):
        return {
            "feature": int(splits.feature[node]),
            "threshold": numbers([splits.threshold[node]])[0],  # None: known against missing
            "missing_left": bool(splits.missing_left[node]),
            "missing_seen": bool(splits.missing_seen[node]),
        }
    assert isinstance(splits, Surfaces | DrawnSurfaces)
    return {
        "kernel": kernel_label(splits.surface(node).kernel),
        "shares": numbers(splits.feature_shares(node, n_features)),
        "equation": _equation(splits, node),
    }


def _describe_drawn(splits: DrawnSurfaces) -> dict[str, Any]:
    nodes: list[dict[str, Any] | None] = []
    basis: list[list[float | None]] = []
    for node, split in enumerate(splits.split):
        if split < 0:
            nodes.append(None)
            continue
        surface, columns = splits.surface(node), splits.columns(node)
        place = {
            "intercept": surface.intercept,
            "boundary": surface.boundary,
            "coefficients": numbers(surface.coefficients),
            "columns": columns.tolist(),
            "terms": _columns_and_factors(plain_monomials(surface.kernel, columns)),
            "parameters": surface.kernel.plain()["parameters"],
            "rows": list(range(len(basis), len(basis) + len(surface.rows))) if len(surface.rows) else None,
        }
        basis += [numbers(row) for row in surface.rows]
        nodes.append(place)
    return {"mean": numbers(splits.mean), "scale": numbers(splits.scale), "terms": None, "basis": basis, "nodes": nodes}


def _describe_surface(splits: Surfaces, node: int) -> dict[str, Any]:
    surface, split = splits.surface(node), splits.split[node]
    explicit = _is_explicit(surface)
    rows = splits.basis_row[splits.basis_offset[split] : splits.basis_offset[split + 1]]
    return {
        "intercept": float(surface.intercept),
        "boundary": float(splits.boundary[split]),
        "coefficients": numbers(_explicit_coefficients(surface) if explicit else surface.coefficients),
        "rows": None if explicit else rows.tolist(),
    }


def _is_explicit(surface: Surface) -> bool:
    return not len(surface.rows) or isinstance(surface.kernel, LinearKernel)


def _explicit_coefficients(surface: Surface) -> np.ndarray:
    """Return coefficients of the kernel's features; a linear surface over basis rows has those of a hyperplane."""
    return surface.rows.T @ surface.coefficients if len(surface.rows) else surface.coefficients


def _describe_terms(kernel: Kernel, n_features: int) -> dict[str, Any] | None:
    """Return the monomials that the features of a kernel are, and their factors; None where it has no list of them."""
    if kernel.n_features(n_features) is None:
        return None
    return _columns_and_factors(plain_monomials(kernel, np.arange(n_features)))


def _columns_and_factors(monomials: list[dict[str, Any]]) -> dict[str, Any]:
    return {"columns": [term["columns"] for term in monomials], "factors": [term["factor"] for term in monomials]}


def _equation(splits: Surfaces | DrawnSurfaces, node: int) -> list[list[Any]] | None:
    """Return the score of a surface as terms [coefficient, columns] in original units; None where it is none."""
    terms = splits.terms(node)
    if terms is None or max(map(len, terms)) > MAX_EQUATION_DEGREE:
        return None
    return [[float(value), list(columns)] for columns, value in terms.items()]


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, int | float) else repr(value) for name, value in parameters.items()}
=======
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
>>>>>>> page
