"""What there is to tell about a model that has just been fitted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dipolar import SurvivalTreeCV
from dipolar.cli.advice import advice_on_tree
from dipolar.cli.choices import Asked, ModelKind
from dipolar.cli.contenders import Contender
from dipolar.cli.data import Data
from dipolar.cli.influence import describe_influence, influence_grid
from dipolar.cli.leaves import describe_leaves, describe_splits, leaf_grid, split_grid
from dipolar.cli.messages import counted
from dipolar.cli.model import Model
from dipolar.cli.preparation import describe_encoder
from dipolar.cli.standing import Standing
from dipolar.cli.terminal import Terminal

__all__ = ["Fitted", "tell_fit"]

WRITTEN = {"output": "Model saved to", "report": "Report written to"}

PRUNED_BY = {
    "bootstrap": "the bootstrap",
    "leblanc-crowley": "the bootstrap as published",
    "validation": "held-out rows",
    "fixed": "a fixed price",
}
OPTION_OF = {"svm__kappa": "--kappa", "min_samples_leaf": "--min-leaf", "max_depth": "--max-depth"}


@dataclass(frozen=True)
class Fitted:
    """All that there is to tell about a fit."""

    model: Model
    tuned: SurvivalTreeCV | None
    kind: ModelKind
    asked: Asked
    data: Data
    X: pd.DataFrame
    warnings: list[str]
    standing: Standing | None
    files: dict[str, Path | None]

    @property
    def notes(self) -> list[str]:
        """What was done to the data."""
        assert self.model.encoder is not None
        return [*self.data.notes, *describe_encoder(self.model.encoder)]

    @property
    def concordance(self) -> float | None:
        """Harrell's C on the training rows; None where no two of them can be compared."""
        try:
            return float(self.model.fitted.score(self.X, self.data.y))
        except ValueError:
            return None

    @property
    def advice(self) -> str | None:
        """What to try where a tree says nothing, too much to read, or what may be chance."""
        return None if self.model.is_forest else advice_on_tree(self.model.tree, self.tuned, len(self.data.y))


def tell_fit(terminal: Terminal, fitted: Fitted) -> None:
    """Print the fit for machines or for people."""
    tell = _tell_forest if fitted.model.is_forest else _tell_tree
    found, shown = tell(fitted)
    terminal.answer(_document(fitted) | found)
    terminal.say(fitted.data.describe())
    terminal.notes("What was done to the data", fitted.notes)
    terminal.say(_about_model(fitted))
    terminal.show(*shown)
    if fitted.advice:
        terminal.say(fitted.advice)
    if fitted.standing is not None:
        fitted.standing.tell(terminal)
    for what, path in fitted.files.items():
        if path is not None:
            terminal.say_file(WRITTEN[what], path)
    for warning in fitted.warnings:
        terminal.warn(warning)


def _tell_tree(fitted: Fitted) -> tuple[dict[str, Any], list[Any]]:
    """Return the splits and leaves of a tree, for machines and for people."""
    at = fitted.model.times
    leaves, splits = describe_leaves(fitted.model, at), describe_splits(fitted.model)
    found = {
        "n_leaves": fitted.model.tree.n_leaves_,
        "n_leaves_grown": fitted.model.tree.grown_.n_leaves,
        "survival_at": at,
        "splits": [split.to_json() for split in splits],
        "leaves": [leaf.to_json() for leaf in leaves],
    }
    grids = [split_grid(splits)] if splits else []
    return found, [*grids, leaf_grid(leaves, at, fitted.model.time_unit)]


def _tell_forest(fitted: Fitted) -> tuple[dict[str, Any], list[Any]]:
    """Return what matters to a forest, for machines and for people."""
    found = describe_influence(fitted.model, fitted.X, fitted.data.y, fitted.asked.seed)
    return {"importance": [each.to_json() for each in found]}, [influence_grid(found)]


def _about_model(fitted: Fitted) -> str:
    name = Contender(fitted.kind, fitted.asked).name.capitalize()
    about = f"{name}, {counted(len(fitted.X.columns), 'covariate')}: {_size(fitted.model)}. "
    if fitted.model.is_forest:
        chosen = fitted.model.fitted.best_params_
        settings = ", ".join(f"{key}={value!r}" for key, value in chosen.items())
        return about.rstrip() + (f" It has chosen {settings}." if settings else "")
    return f"{about}{_about_tuning(fitted.tuned)}{_about_concordance(fitted)}".rstrip()


def _size(model: Model) -> str:
    if model.is_forest:
        return counted(len(model.fitted.forest_), "tree")
    tree = model.tree
    pruned = f" of {tree.grown_.n_leaves} grown, pruned by {PRUNED_BY[tree.pruning]}" if tree.pruning else ""
    return counted(tree.n_leaves_, "leaf", "leaves") + pruned


def _about_tuning(tuned: SurvivalTreeCV | None) -> str:
    if tuned is None:
        return ""
    chosen = " ".join(f"{OPTION_OF[name]} {value:g}" for name, value in tuned.best_params_.items())
    return f"Cross-validation chose {chosen} among {len(tuned.cv_results_)} candidates. "


def _about_concordance(fitted: Fitted) -> str:
    if fitted.model.tree.n_leaves_ == 1 or fitted.concordance is None:
        return ""
    return f"Harrell's C on these rows is {fitted.concordance:.3f}, which flatters."


def _document(fitted: Fitted) -> dict[str, Any]:
    parameters = fitted.model.fitted.get_params(deep=not fitted.model.is_forest)
    return {
        "command": "fit",
        "data": fitted.data.to_json(),
        "covariates": list(fitted.X.columns),
        "notes": fitted.notes,
        "model": fitted.kind.value,
        "parameters": {name: value for name, value in sorted(parameters.items()) if name != "svm"},
        "tuned": _chosen(fitted),
        "harrell_c_on_training_rows": fitted.concordance,
        "scores": None if fitted.standing is None else fitted.standing.to_json(),
        "advice": fitted.advice,
        "warnings": fitted.warnings,
        **{name: None if path is None else str(path) for name, path in fitted.files.items()},
    }


def _chosen(fitted: Fitted) -> dict[str, Any] | None:
    """Return what `--tune` has chosen; None where it was not asked for."""
    if not fitted.asked.tune:
        return None
    chosen = fitted.model.fitted.best_params_ if fitted.tuned is None else fitted.tuned.best_params_
    return {name: _plain(value) for name, value in chosen.items()}


def _plain(value: Any) -> Any:
    """Return a setting as JSON has it; a machine is told as Python writes it."""
    return value if isinstance(value, bool | int | float | str | None) else repr(value)
