"""Collect what the report shows, put it into the page, and write the page in one step."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Mapping
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from dipolar.files import write_whole
from dipolar.parameters import check_choice
from dipolar.report.bundle import bundle
from dipolar.report.columns import describe_columns
from dipolar.report.cross_validation import cross_validate
from dipolar.report.model import describe_grown_tree, describe_path, kernel_module, numbers
from dipolar.report.summary import (
    GivenRows,
    describe_covariates,
    describe_outcome,
    describe_parameters,
    describe_scores,
    training_rows,
)
from dipolar.report.words import describe_words
from dipolar.tree.described import Described, describe, importances_by_column

__all__ = ["render_report", "report_data", "write_report"]

# The module that draws the page, and the one that is written for each tree.
ENTRY, KERNELS = "draw/page.mjs", "kernels.mjs"

SCORES = ("cv", "training")


def write_report(
    tree: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    predict_form: bool = True,
    include_rows: bool = False,
    scores: str = "cv",
    title: str | None = None,
    time_unit: str | None = None,
    units: Mapping[str, str] | None = None,
) -> Path:
    """Write a fitted tree to one HTML file that opens offline in any browser.

    The page shows the tree, the curve of every leaf, two leaves side by side, the members of the pruning path, scores
    with their definitions, a summary of the data, the parameters, and a form that predicts for one person.

    Parameters
    ----------
    tree : LogRankSurvivalTree, DipoleSurvivalTree, or Pipeline
        A fitted tree, or a pipeline of a CovariateEncoder and one: the page then asks for the columns of the original
        table and speaks of them.
    path : str or path-like
        The file to write. It appears complete or not at all.
    X, y : covariates and outcomes, default=None
        Rows to summarise and to score the tree on, both or neither. The page says whether they are the training
        rows. Without them the scores are those of the training outcomes, which the leaves hold, and covariates
        are not summarised.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each of these rows counts.
    predict_form : bool, default=True
        Whether the page can predict. For a surface of a kernel without explicit features the page then holds the
        rows of the training data in which the surface is expressed, and says so; False leaves them out.
    include_rows : bool, default=False
        Whether the page lists the rows of `X` and `y` by leaf. They are persons' data: think before sending it on.
    scores : {"cv", "training"}, default="cv"
        Whether scores of a 5-fold cross-validation, for which the tree is grown five times more, stand beside those
        on the training rows. They need these: `X` and `y`.
    title : str, default=None
        Heading of the page.
    time_unit : str, default=None
        What times are counted in, for example "days".
    units : mapping of str to str, default=None
        Units of columns for the form, for example ``{"age": "years"}``.

    Returns
    -------
    path : Path
        Where the file is.
    """
    text = render_report(
        tree, X=X, y=y, sample_weight=sample_weight, predict_form=predict_form, include_rows=include_rows,
        scores=scores, title=title, time_unit=time_unit, units=units,
    )  # fmt: skip
    with write_whole(path) as stream:
        stream.write(text.encode("utf-8"))
    return Path(path)


def render_report(tree: Any, **options: Any) -> str:
    """Return the page as text; the options are those of :func:`write_report`."""
    data = report_data(tree, **options)
    tree = describe(tree).tree
    style = _asset("report.css")
    kernels = kernel_module(tree.grown_, data["form"])
    script = f"\n{bundle(ENTRY, asset_modules() | {KERNELS: kernels})}"
    return Template(_asset("page.html")).substitute(
        title=html.escape(data["title"]),
        policy=_content_policy(style, script),
        style=style,
        script=script,
        data=_embed(data),
    )


def report_data(
    model: Any,
    *,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    predict_form: bool = True,
    include_rows: bool = False,
    scores: str = "cv",
    title: str | None = None,
    time_unit: str | None = None,
    units: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return everything that the page knows, as JSON types; the parameters are those of :func:`write_report`."""
    described = describe(model)
    tree, names, encoder = described
    check_choice("scores", scores, SCORES)
    _check_options(X, y, sample_weight, include_rows)
    given = None if X is None else GivenRows.check(described, X, y, sample_weight)
    training = training_rows(tree)[:2]
    data = {
        "title": f"{type(tree).__name__}, {tree.n_leaves_} leaves" if title is None else title,
        "version": version("dipolar"),
        "time_unit": time_unit,
        "tree": describe_grown_tree(tree, names, predict_form),
        "event_times": numbers(tree.event_times_),  # a tree of a forest has not seen all of them
        "terms": list(names),  # what sums call the covariates
        **describe_words(tree.grown_, names),
        "columns": describe_columns(described, units or {}),
        "keeps_gaps": encoder is None or encoder.missing == "keep",
        "allow_missing": bool(tree._allow_nan or (encoder is not None and encoder.missing == "fill")),
        "decisions": [] if encoder is None else [decision.to_json() for decision in encoder.decisions_],
        "importances": [[name, float(share)] for name, share in zip(*importances_by_column(model))],
        "form": bool(predict_form),
        "path": describe_path(tree.pruning_path_),
        "member": int(tree.member_),
        "parameters": describe_parameters(tree) + _parameters_of(encoder),
        "scores": describe_scores(tree, given),
        "cross_validated": _cross_validated(described, given, scores),
        "training": describe_outcome(*training, "training data"),
        "given": None if given is None else describe_outcome(given.survival, given.weight, given.label),
        "covariates": None if given is None else describe_covariates(given),
        "rows": _describe_rows(tree, given) if include_rows and given is not None else None,
    }
    return _clean(data)


def _cross_validated(described: Described, given: GivenRows | None, scores: str) -> dict[str, Any] | None:
    """Return the scores of a cross-validation where the training rows are known, and the scores are wanted."""
    return cross_validate(described, given) if scores == "cv" and given is not None and given.is_training else None


def _parameters_of(encoder: Any) -> list[dict[str, Any]]:
    return [] if encoder is None else describe_parameters(encoder, "encoder__")


def _check_options(X: Any, y: Any, sample_weight: Any, include_rows: bool) -> None:
    if (X is None) != (y is None):
        given, absent = ("X", "y") if y is None else ("y", "X")
        raise ValueError(f"X and y belong together, got {given} without {absent}. Pass both, or neither.")
    if X is None and include_rows:
        raise ValueError("include_rows=True needs the rows: pass X and y. The tree itself does not keep them.")
    if X is None and sample_weight is not None:
        raise ValueError("sample_weight counts the rows of X and y: pass these as well.")


def _describe_rows(tree: Any, given: GivenRows) -> dict[str, Any]:
    return {
        "X": [list(row) for row in zip(*(column.cells() for column in given.columns))],
        "time": numbers(given.survival.time),
        "event": given.survival.event.tolist(),
        "weight": numbers(given.weight),
        "node": np.asarray(tree.grown_.leaves)[given.grown_leaf].tolist(),
    }


def _clean(value: Any) -> Any:
    """Return data whose text can be encoded: half of a surrogate pair becomes a question mark."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {key: _clean(part) for key, part in value.items()}
    return [_clean(part) for part in value] if isinstance(value, list | tuple) else value


def _embed(data: dict[str, Any]) -> str:
    """Return JSON that is safe inside a script element: nothing in it can end the element or a line."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _content_policy(style: str, script: str) -> str:
    """Return the policy by which the browser runs this script, uses this style, and loads nothing."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"


def _asset(name: str) -> str:
    return resources.files("dipolar.report").joinpath("assets", name).read_text(encoding="utf-8")


def asset_modules() -> dict[str, str]:
    """Return the text of the page's modules by their paths; that of the kernels is not among them."""
    assets = resources.files("dipolar.report").joinpath("assets")
    return {
        f"{folder}/{module.name}": module.read_text(encoding="utf-8")
        for folder in ("compute", "draw")
        for module in assets.joinpath(folder).iterdir()
        if module.name.endswith(".mjs")
    }
