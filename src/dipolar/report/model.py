"""The fitted model as JSON types: what the page draws, and what its prediction form computes with.

Two parts, because they differ in what they give away. The rules (cuts, equations, shares of the covariates) hold
no row of the training data. The surfaces of kernels without explicit features are sums over rows of the training
data, and only the form needs them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from dipolar.factors import Surface
from dipolar.kernels import (
    GaussianKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    SigmoidKernel,
)
from dipolar.tree.pruning import PruningPath
from dipolar.tree.record import Tree
from dipolar.tree.rules import explicit_monomials
from dipolar.tree.splits import AxisCuts, Splits
from dipolar.tree.surfaces import Surfaces

__all__ = ["describe_path", "describe_splits", "describe_surfaces", "describe_tree", "numbers"]

# What the page calls a kernel, and the kernels that it can compute.
KERNEL_LABELS: dict[type[Kernel], str] = {
    LinearKernel: "linear",
    PolynomialKernel: "polynomial",
    GaussianKernel: "Gaussian",
    LaplacianKernel: "Laplacian",
    SigmoidKernel: "sigmoid",
}

# An equation with powers beyond this is no explanation any more, and is left out.
MAX_EQUATION_DEGREE = 3


def numbers(values: Iterable[Any]) -> list[float | None]:
    """Return numbers as JSON has them: None for NaN and infinity."""
    return [float(value) if np.isfinite(value) else None for value in values]


def describe_tree(tree: Tree, path: PruningPath) -> dict[str, Any]:
    """Return the nodes of the grown tree, and the life tables of its leaves."""
    tables = tree.tables
    return {
        "left": tree.left.tolist(),
        "parent": tree.parent.tolist(),
        "n": numbers(tree.n_samples),
        "events": numbers(tree.n_events),
        "logrank": numbers(tree.logrank),
        "removed_at": path.removed_at.tolist(),
        "tables": {
            "offset": tables.offset.tolist(),
            "time": numbers(tables.time),
            "events": numbers(tables.events),
            "censored": numbers(tables.censored),
            "at_risk": numbers(tables.at_risk),
        },
    }


def describe_path(path: PruningPath) -> dict[str, Any]:
    """Return the members of the pruning path; `honest` is None where no rule corrected the statistics."""
    return {
        "alphas": numbers(path.alphas),
        "n_leaves": path.n_leaves.tolist(),
        "statistics": numbers(path.statistics),
        "honest": None if np.isnan(path.honest_statistics).any() else numbers(path.honest_statistics),
    }


def describe_splits(tree: Tree, n_features: int) -> dict[str, Any]:
    """Return the rules of the splits, one entry per node and None in leaves; no row of the training data."""
    splits = tree.splits
    nodes = [_describe_split(splits, node, n_features) if tree.is_split[node] else None for node in range(tree.n_nodes)]
    if isinstance(splits, Surfaces):
        parameters = {f.name: getattr(splits.kernel, f.name) for f in fields(splits.kernel)}
        label = kernel_label(splits.kernel)
        return {"kind": "surface", "kernel": label, "kernel_parameters": _plain(parameters), "nodes": nodes}
    return {"kind": "axis", "kernel": None, "kernel_parameters": {}, "nodes": nodes}


def describe_surfaces(splits: Splits) -> dict[str, Any] | None:
    """Return what the page needs to score a row, rows of the training data included; None for axis cuts.

    A node's score is its intercept plus coefficients times features: the monomials listed in `terms`, or, where a node
    has `rows`, the kernel of these rows of `basis`.
    """
    if not isinstance(splits, Surfaces):
        return None
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
    described: dict[str, Any] = {"shares": numbers(splits.feature_shares(node, n_features)), "equation": None}
    if isinstance(splits, Surfaces):
        described["equation"] = _equation(splits, node)
    return described


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
    columns, factors = zip(*explicit_monomials(kernel, n_features))
    return {"columns": [list(term) for term in columns], "factors": list(factors)}


def _equation(splits: Surfaces, node: int) -> list[list[Any]] | None:
    """Return the score of a surface as terms [coefficient, columns] in original units; None where it is none."""
    terms = splits.terms(node)
    if terms is None or max(map(len, terms)) > MAX_EQUATION_DEGREE:
        return None
    return [[float(value), list(columns)] for columns, value in terms.items()]


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, int | float) else repr(value) for name, value in parameters.items()}
