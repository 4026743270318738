"""Any fitted model in one file, with the encoder of its covariates beside it."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

from sklearn.pipeline import Pipeline

import dipolar.forest.dipole_forest
import dipolar.forest.logrank_forest
import dipolar.model_selection  # noqa: F401 - with these, all models are registered
from dipolar.files import write_whole
from dipolar.model_file import ESTIMATORS, ModelFileError, add_note, model_file, read_model, read_note
from dipolar.pipeline import SurvivalPipeline
from dipolar.preparation.encoder import CovariateEncoder
from dipolar.survival_model import SurvivalModel

__all__ = ["load", "save"]

# The entries of a file that hold the encoder, and the names of the steps of the pipeline.
PREPARATION = "preparation"
STEPS = "steps"


def save(model: Any, file: str | os.PathLike[str] | BinaryIO) -> None:
    """Save a fitted model, or a pipeline of a :class:`~dipolar.CovariateEncoder` and a model, without pickle.

    Parameters
    ----------
    model : tree, forest, SurvivalTreeCV, or Pipeline of a CovariateEncoder and one of these
    file : str, path-like or binary file
        Appears complete or not at all. The model in it can be loaded by the `load` of its class as well.

    Examples
    --------
    >>> import dipolar
    >>> from dipolar.datasets import load_remission
    >>> X, y = load_remission(return_X_y=True)
    >>> model = dipolar.make_pipeline(dipolar.CovariateEncoder(), dipolar.LogRankSurvivalTree(max_depth=2)).fit(X, y)
    >>> dipolar.save(model, "remission.dipolar")
    >>> dipolar.load("remission.dipolar").score(X, y) == model.score(X, y)
    True
    """
    if isinstance(file, str | os.PathLike):
        with write_whole(file) as stream:
            save(model, stream)
        return
    encoder, names, fitted = _parts(model)
    fitted.save(file)
    if encoder is not None:
        add_note(file, PREPARATION, encoder.to_json() | {STEPS: names})


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model or a pipeline that :func:`save`, or the `save` of a model, wrote. Nothing in a file is executed.

    Raises
    ------
    ModelFileError
        For a truncated, damaged or foreign file, and one of a newer format.
    """
    header, arrays = read_model(path)
    estimator = ESTIMATORS.get(str(header.get("estimator")))
    if estimator is None or not issubclass(estimator, SurvivalModel):
        raise ModelFileError(
            f"{os.fspath(path)!r} holds a {header.get('estimator')!r:.60}, which is no model of this dipolar."
        )
    note = read_note(path, PREPARATION)
    with model_file(path):
        model = estimator._from_file(header, arrays)
        return model if note is None else _pipeline(note, model)


def _parts(model: Any) -> tuple[CovariateEncoder | None, list[str], SurvivalModel]:
    """Return the encoder, the names of the steps and the model of what is to be saved."""
    if isinstance(model, SurvivalModel):
        return None, [], model
    steps = model.steps if isinstance(model, Pipeline) else []
    if len(steps) == 2 and isinstance(steps[0][1], CovariateEncoder) and isinstance(steps[1][1], SurvivalModel):
        return steps[0][1], [name for name, _ in steps], steps[1][1]
    raise ValueError(
        f"{type(model).__name__} cannot be saved without pickle: only models of dipolar, and pipelines of a "
        "CovariateEncoder and such a model, can. Use pickle or joblib for this one."
    )


def _pipeline(note: Any, model: SurvivalModel) -> SurvivalPipeline:
    encoder = CovariateEncoder.from_json(note)
    names = list(getattr(model, "feature_names_in_", encoder.get_feature_names_out()))
    if names != list(encoder.get_feature_names_out()) or len(names) != model.n_features_in_:
        raise ValueError("its preparation belongs to another model")
    steps = note.get(STEPS)
    if not isinstance(steps, list) or len(steps) != 2 or not all(isinstance(name, str) for name in steps):
        raise ValueError("its preparation does not name two steps")
    pipeline = SurvivalPipeline(list(zip(steps, (encoder, model))))
    pipeline._validate_names(steps)
    return pipeline
