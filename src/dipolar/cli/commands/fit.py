"""`dipolar fit`: a table in, a tree out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from dipolar import SurvivalTreeCV
from dipolar.cli import options
from dipolar.cli.choices import Dates, TreeKind, TreeOptions
from dipolar.cli.data import Data, DataChoice, read_data
from dipolar.cli.destination import check_destination
from dipolar.cli.leaves import MOST_LEAVES_SHOWN, describe_leaves, describe_splits, leaf_grid, round_time, split_grid
from dipolar.cli.messages import counted, refusals_as_user_errors
from dipolar.cli.model import Model, save_model
from dipolar.cli.pictures import save_report
from dipolar.cli.preparation import ColumnChoice, describe_encoder
from dipolar.cli.terminal import Terminal, collected_warnings

__all__ = ["fit"]


def fit(
    data: options.DataArgument,
    tree: options.Tree = TreeKind.linear,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the model here.", rich_help_panel="Output"),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an HTML report here.", rich_help_panel="Output"),
    ] = None,
    kappa: options.Kappa = None,
    standardize: options.Standardize = None,
    max_depth: options.MaxDepth = None,
    min_split: options.MinSplit = None,
    min_leaf: options.MinLeaf = None,
    pruning: options.PruningRule = None,
    alpha: options.Alpha = None,
    bootstraps: options.Bootstraps = None,
    tune: options.Tune = False,
    sheet: options.Sheet = None,
    encoding: options.Encoding = None,
    time: options.Time = None,
    start: options.Start = None,
    stop: options.Stop = None,
    event: options.Event = None,
    event_value: options.EventValue = None,
    time_unit: options.TimeUnit = None,
    only: options.Only = None,
    drop: options.Drop = None,
    category: options.Category = None,
    dates: options.DateRule = Dates.drop,
    covariates: options.CovariateSet = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Fit a survival tree and print its leaves.

    Text becomes categories, gaps are filled with the median or the most common category, identifiers and constant
    columns are left out: all of it is said, and stored in the model for `dipolar predict`.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    asked = TreeOptions(
        kappa, standardize, max_depth, min_split, min_leaf, pruning, alpha, bootstraps, tune, seed, jobs
    )
    asked.check([tree])
    check_destination(output, force=force, sources=[data])
    check_destination(report, force=force, sources=[data, output])
    columns = ColumnChoice(only or (), drop or (), category or (), dates.value)
    choice = DataChoice(
        time,
        event,
        event_value or (),
        time_unit,
        covariates and covariates.value,
        columns,
        sheet,
        encoding,
        start,
        stop,
    )

    rows = read_data(data, choice)
    encoder = rows.encoder(tree)
    X = encoder.transform(rows.covariates)
    with collected_warnings() as warnings, refusals_as_user_errors(), terminal.progress_of_fit("growing the tree"):
        fitted = asked.make(tree).fit(X, rows.y)
    warnings += rows.disguises(encoder, X)
    tuned = fitted if isinstance(fitted, SurvivalTreeCV) else None
    chosen = fitted if tuned is None else tuned.best_estimator_
    model = Model(chosen, encoder, rows.outcome.columns, rows.outcome.time_unit)
    if output is not None:
        save_model(model, output)
    if report is not None:
        save_report(model, report, X, rows.y, title=rows.table.name)
    _tell(terminal, Fitted(model, tuned, tree, rows, X, warnings, {"output": output, "report": report}))


@dataclass(frozen=True)
class Fitted:
    """All that there is to tell about a fit."""

    model: Model
    tuned: SurvivalTreeCV | None
    kind: TreeKind
    data: Data
    X: pd.DataFrame
    warnings: list[str]
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
            return float(self.model.tree.score(self.X, self.data.y))
        except ValueError:
            return None

    @property
    def advice(self) -> str | None:
        """What to try where the tree says nothing, too much to read, or what may be chance."""
        tree = self.model.tree
        if tree.n_leaves_ == 1:
            return f"One leaf: this tree tells no two people apart. {self._why_one_leaf()}"
        if tree.n_leaves_ > MOST_LEAVES_SHOWN:
            return "These are more leaves than one can read. Try --max-depth 3, --pruning bootstrap or --tune."
        return self._weak_splits() if tree.pruning is None and self.tuned is None else None

    def _weak_splits(self) -> str | None:
        tree = self.model.tree
        statistics = tree.tree_.logrank[tree.tree_.is_split]
        n_weak = int((statistics < tree.alpha).sum())
        if not n_weak:
            return None
        have = f"{n_weak} of {counted(len(statistics), 'split')} {'has' if n_weak == 1 else 'have'}"
        return (
            f"{have} a log-rank statistic below {tree.alpha:g}, the price of a split in pruning, and may be chance. "
            "Try --pruning bootstrap or --tune."
        )

    def _why_one_leaf(self) -> str:
        tree = self.model.tree
        if tree.max_depth == 0 and self.tuned is None:
            return "That is what --max-depth 0 asks for."
        if self.tuned is not None:
            return (
                "Of no other candidate do held-out rows show that its risks mean anything. To see splits, leave out "
                "--tune."
            )
        if tree.grown_.n_leaves > 1:
            return "No split is worth its price in pruning. Try a lower --alpha; --pruning none shows what was grown."
        needed = max(tree.min_samples_split, 2 * tree.min_samples_leaf)
        if len(self.data.y) < needed:
            return (
                f"A node needs {needed} rows to be split (--min-split, --min-leaf), and there are {len(self.data.y)}."
            )
        return (
            f"No split that leaves {tree.min_samples_leaf} rows on both sides was found. Try a smaller --min-leaf, "
            "another --tree or --kappa, or more columns."
        )


def _tell(terminal: Terminal, fitted: Fitted) -> None:
    """Print the fit for machines or for people."""
    at = round_time(float(fitted.data.y["time"].max()))
    leaves, splits = describe_leaves(fitted.model, at), describe_splits(fitted.model)
    found = {"splits": [split.to_json() for split in splits], "leaves": [leaf.to_json() for leaf in leaves]}
    terminal.answer(_document(fitted, at) | found)
    terminal.say(fitted.data.describe())
    terminal.notes("What was done to the data", fitted.notes)
    terminal.say(_about_tree(fitted))
    if splits:
        terminal.show(split_grid(splits))
    terminal.show(leaf_grid(leaves, at, fitted.model.time_unit))
    if fitted.advice:
        terminal.say(fitted.advice)
    for what, path in fitted.files.items():
        if path is not None:
            terminal.say_file(WRITTEN[what], path)
    for warning in fitted.warnings:
        terminal.warn(warning)


WRITTEN = {"output": "Model saved to", "report": "Report written to"}


def _about_tree(fitted: Fitted) -> str:
    tree, size = fitted.model.tree, counted(fitted.model.tree.n_leaves_, "leaf", "leaves")
    pruned = f" of {tree.grown_.n_leaves} grown, pruned by {PRUNED_BY[tree.pruning]}" if tree.pruning else ""
    about = f"{fitted.kind.value.capitalize()} tree, {counted(len(fitted.X.columns), 'covariate')}: "
    return f"{about}{size}{pruned}. {_about_tuning(fitted.tuned)}{_about_concordance(fitted)}".rstrip()


def _about_tuning(tuned: SurvivalTreeCV | None) -> str:
    if tuned is None:
        return ""
    chosen = " ".join(f"{OPTION_OF[name]} {value:g}" for name, value in tuned.best_params_.items())
    return f"Cross-validation chose {chosen} among {len(tuned.cv_results_)} candidates. "


def _about_concordance(fitted: Fitted) -> str:
    if fitted.model.tree.n_leaves_ == 1 or fitted.concordance is None:
        return ""
    return f"Harrell's C on these rows is {fitted.concordance:.3f}, which flatters; dipolar evaluate cross-validates."


PRUNED_BY = {
    "bootstrap": "the bootstrap",
    "leblanc-crowley": "the bootstrap as published",
    "validation": "held-out rows",
    "fixed": "a fixed price",
}
OPTION_OF = {"svm__kappa": "--kappa", "min_samples_leaf": "--min-leaf", "max_depth": "--max-depth"}


def _document(fitted: Fitted, at: float) -> dict[str, Any]:
    tree = fitted.model.tree
    return {
        "command": "fit",
        "data": fitted.data.to_json(),
        "covariates": list(fitted.X.columns),
        "notes": fitted.notes,
        "tree": fitted.kind.value,
        "parameters": {name: value for name, value in sorted(tree.get_params().items()) if name != "svm"},
        "tuned": None if fitted.tuned is None else fitted.tuned.best_params_,
        "n_leaves": tree.n_leaves_,
        "n_leaves_grown": tree.grown_.n_leaves,
        "harrell_c_on_training_rows": fitted.concordance,
        "survival_at": at,
        "advice": fitted.advice,
        "warnings": fitted.warnings,
        **{name: None if path is None else str(path) for name, path in fitted.files.items()},
    }
