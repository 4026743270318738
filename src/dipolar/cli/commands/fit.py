"""`dipolar fit`: a table in, a tree out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dipolar.cli import options
from dipolar.cli.choices import Dates, Pruning, TreeKind, TreeSettings
from dipolar.cli.data import Data, DataChoice, read_data
from dipolar.cli.destination import check_destination
from dipolar.cli.leaves import describe_leaves, describe_splits, leaf_grid, round_time, split_grid
from dipolar.cli.messages import counted, refusals_as_user_errors
from dipolar.cli.model import Model, SurvivalTree, save_model
from dipolar.cli.pictures import save_report
from dipolar.cli.preparation import ColumnChoice, Preparation, Prepared
from dipolar.cli.terminal import Terminal, collected_warnings

__all__ = ["fit"]


def fit(
    data: options.DataArgument,
    tree: Annotated[
        TreeKind,
        typer.Option(
            metavar="KIND",
            help="How nodes are split: univariate, linear, quadratic or gaussian.",
            rich_help_panel="Tree",
        ),
    ] = TreeKind.linear,
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
    pruning: options.PruningRule = Pruning.bootstrap,
    alpha: options.Alpha = None,
    bootstraps: options.Bootstraps = None,
    max_depth: options.MaxDepth = None,
    min_leaf: options.MinLeaf = 10,
    sheet: options.Sheet = None,
    time: options.Time = None,
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
    settings = TreeSettings(kappa, standardize, pruning, alpha, bootstraps, max_depth, min_leaf, seed, jobs)
    settings.check([tree])
    check_destination(output, force=force, sources=[data])
    check_destination(report, force=force, sources=[data, output])
    columns = ColumnChoice(only or (), drop or (), category or (), dates.value)
    choice = DataChoice(time, event, event_value or (), time_unit, covariates and covariates.value, columns, sheet)

    rows = read_data(data, choice)
    preparation = Preparation.learn(rows.table, rows.outcome, columns)
    prepared = preparation.apply(rows.table)
    with collected_warnings() as warnings:
        fitted = fit_tree(settings.make(tree), prepared, rows, terminal)
    model = Model(fitted, preparation)
    if output is not None:
        save_model(model, output)
    if report is not None:
        save_report(model, report, prepared.X, rows.y, title=rows.table.name)
    _tell(terminal, Fitted(model, tree, rows, prepared, warnings, {"output": output, "report": report}))


def fit_tree(tree: SurvivalTree, prepared: Prepared, data: Data, terminal: Terminal) -> SurvivalTree:
    """Fit with a bar that follows what the tree says about itself."""
    with refusals_as_user_errors(), terminal.progress_of_verbose_fit("growing the tree"):
        tree.set_params(verbose=1).fit(prepared.X, data.y)
    return tree.set_params(verbose=0)


@dataclass(frozen=True)
class Fitted:
    """All that there is to tell about a fit."""

    model: Model
    kind: TreeKind
    data: Data
    prepared: Prepared
    warnings: list[str]
    files: dict[str, Path | None]

    @property
    def notes(self) -> list[str]:
        """What was done to the data."""
        assert self.model.preparation is not None
        return [*self.data.notes, *self.model.preparation.describe(), *self.prepared.notes]

    @property
    def concordance(self) -> float | None:
        """Harrell's C on the training rows; None where no two of them can be compared."""
        try:
            return float(self.model.tree.score(self.prepared.X, self.data.y))
        except ValueError:
            return None


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
    for what, path in fitted.files.items():
        if path is not None:
            terminal.say_file(WRITTEN[what], path)
    for warning in fitted.warnings:
        terminal.warn(warning)


WRITTEN = {"output": "Model saved to", "report": "Report written to"}


def _about_tree(fitted: Fitted) -> str:
    tree = fitted.model.tree
    pruned = f" of {tree.grown_.n_leaves} grown, pruned by {PRUNED_BY[tree.pruning]}" if tree.pruning else ""
    return (
        f"{fitted.kind.value.capitalize()} tree, {counted(len(fitted.prepared.X.columns), 'covariate')}: "
        f"{counted(tree.n_leaves_, 'leaf', 'leaves')}{pruned}. {_about_concordance(fitted.concordance)}"
    )


def _about_concordance(concordance: float | None) -> str:
    if concordance is None:
        return "No two of these rows can be compared, and there is no Harrell's C."
    return f"Harrell's C on these rows is {concordance:.3f}, which flatters; dipolar evaluate cross-validates."


PRUNED_BY = {"bootstrap": "the bootstrap", "validation": "held-out rows", "fixed": "a fixed price"}


def _document(fitted: Fitted, at: float) -> dict[str, Any]:
    tree = fitted.model.tree
    return {
        "command": "fit",
        "data": fitted.data.to_json(),
        "covariates": list(fitted.prepared.X.columns),
        "notes": fitted.notes,
        "tree": fitted.kind.value,
        "parameters": {name: tree.get_params()[name] for name in sorted(tree.get_params())},
        "n_leaves": tree.n_leaves_,
        "n_leaves_grown": tree.grown_.n_leaves,
        "harrell_c_on_training_rows": fitted.concordance,
        "survival_at": at,
        "warnings": fitted.warnings,
        **{name: None if path is None else str(path) for name, path in fitted.files.items()},
    }
