"""Changes of the input that must not change the answer, or change it in a known way."""

from __future__ import annotations

import pickle
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from dipolar.model_file import plain_parameters
from fuzz.answers import answering, answers_of, require_same
from fuzz.draw import Draw
from fuzz.rows import UNITS, Rows

__all__ = ["RELATIONS", "Fitted", "fit"]


@dataclass(frozen=True)
class Fitted:
    """A fitted model, what it was fitted to, the rows it is asked about, and what it says of them."""

    model: Any
    rows: Rows
    asked: np.ndarray
    answers: dict[str, np.ndarray]

    def again(self, rows: Rows) -> dict[str, np.ndarray]:
        """Return what the model says about the same rows when it is fitted to others."""
        with answering("another fit"):
            return answers_of(fit(clone(self.model), rows), self.asked)


def fit(model: Any, rows: Rows) -> Any:
    """Fit a model; weights are passed if there are any."""
    return model.fit(rows.X, rows.y) if rows.weight is None else model.fit(rows.X, rows.y, rows.weight)


def same_seed(draw: Draw, fitted: Fitted) -> None:
    """The same rows and the same seed give the same model."""
    if is_seeded(fitted.model):
        require_same(fitted.answers, fitted.again(fitted.rows), "the same seed")


def permuted(draw: Draw, fitted: Fitted) -> None:
    """The order of the rows does not matter."""
    if is_seeded(fitted.model):
        order = draw.rng.permutation(len(fitted.rows))
        require_same(fitted.answers, fitted.again(fitted.rows.take(order)), "permuted rows")


def repeated(draw: Draw, fitted: Fitted) -> None:
    """A whole weight is the row so many times."""
    if is_seeded(fitted.model) and fitted.rows.has_whole_weights:
        require_same(fitted.answers, fitted.again(fitted.rows.repeated()), "repeated rows instead of weights")


def other_unit(draw: Draw, fitted: Fitted) -> None:
    """The unit of time changes times and nothing else."""
    has_own_grid = isinstance(getattr(fitted.model, "time_grid", None), tuple)
    if is_seeded(fitted.model) and fitted.rows.has_whole_times and not has_own_grid:
        unit = draw.note("unit", draw.one_of(UNITS))
        answers = fitted.again(fitted.rows.in_unit(unit, draw.rng))
        require_same(fitted.answers, answers, "another unit of time", unit=unit)


def saved(draw: Draw, fitted: Fitted) -> None:
    """A model that was saved and loaded, or pickled, says the same."""
    model = fitted.model
    if hasattr(model, "save") and "cannot be saved" not in refusal_of(model):
        with tempfile.TemporaryDirectory() as folder, answering("saving and loading"):
            path = Path(folder, "model")
            model.save(path)
            loaded = type(model).load(path)
    else:
        loaded = pickle.loads(pickle.dumps(model))
    with answering("a loaded model"):
        require_same(answers_of(model, fitted.asked), answers_of(loaded, fitted.asked), "the loaded model")


def in_parts(draw: Draw, fitted: Fitted) -> None:
    """Rows are answered one by one as they are together."""
    few = fitted.asked[:5]
    with answering("single rows"):
        singles = [answers_of(fitted.model, row[None, :]) for row in few]
    single = {name: np.concatenate([answers[name] for answers in singles]) for name in fitted.answers}
    several = {name: values[:5] for name, values in fitted.answers.items()}
    require_same(several, single, "rows one by one", unit=1.0)


def without_weight(draw: Draw, fitted: Fitted) -> None:
    """Rows of weight 0 might as well not be there."""
    if fitted.rows.weight is None or not is_seeded(fitted.model):
        return
    seen = np.flatnonzero(fitted.rows.weight > 0)
    if len(seen) == len(fitted.rows):
        ghost = fitted.rows.take(draw.rng.integers(len(fitted.rows), size=len(fitted.rows)))
        rows = joined(fitted.rows, replace(ghost, weight=np.zeros(len(ghost))))
    else:
        rows = fitted.rows.take(seen)
    require_same(fitted.answers, fitted.again(rows), "rows of weight 0")


def is_seeded(model: Any) -> bool:
    """Whether a model comes out the same each time."""
    return getattr(model, "random_state", 0) is not None


def refusal_of(model: Any) -> str:
    """Return why the parameters of a model cannot be saved; nothing where they can."""
    try:
        plain_parameters(model)
    except ValueError as error:
        return str(error)
    return ""


def joined(one: Rows, other: Rows) -> Rows:
    """Put one set of rows below another."""
    return Rows(
        np.concatenate([one.X, other.X]),
        np.concatenate([one.time, other.time]),
        np.concatenate([one.event, other.event]),
        np.concatenate([one.counts, other.counts]),
    )


RELATIONS = (same_seed, permuted, permuted, repeated, repeated, other_unit, other_unit, saved, in_parts, without_weight)
