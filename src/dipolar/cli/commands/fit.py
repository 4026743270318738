"""`dipolar fit`: a table in, a tree or a forest out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dipolar.cli import options
from dipolar.cli.choices import Asked, Dates, ModelKind
from dipolar.cli.terminal import Terminal, collected_warnings

__all__ = ["fit"]


def fit(
    data: options.DataArgument,
    model: options.ModelChoice = ModelKind.tree,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the model here.", rich_help_panel="Output"),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an HTML report here.", rich_help_panel="Output"),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores/--no-scores",
            help="Whether to cross-validate the model beside one curve for all, Cox's model and a forest.",
            rich_help_panel="Output",
        ),
    ] = True,
    kernel: options.KernelChoice = None,
    max_terms: options.MaxTerms = None,
    kappa: options.Kappa = None,
    standardize: options.Standardize = None,
    max_depth: options.MaxDepth = None,
    min_split: options.MinSplit = None,
    min_leaf: options.MinLeaf = None,
    pruning: options.PruningRule = None,
    alpha: options.Alpha = None,
    bootstraps: options.Bootstraps = None,
    trees: options.Trees = None,
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
    """Fit a survival tree or forest, print what it has found, and how good it is.

    Text becomes categories, gaps are filled with the median or the most common category, identifiers and constant
    columns are left out: all of it is said, and stored in the model for `dipolar predict`.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    asked = Asked(
        kernel, kappa, standardize, max_terms, max_depth, min_split, min_leaf, pruning, alpha, bootstraps, trees,
        tune, seed, jobs,
    )  # fmt: skip
    asked.check([model])

    # Loaded here, so that --help and mistakes in options are answered at once.
    from dipolar.cli.data import DataChoice, read_data
    from dipolar.cli.destination import check_destination
    from dipolar.cli.fitted import Fitted, tell_fit
    from dipolar.cli.fitting import fit_model
    from dipolar.cli.model import save_model
    from dipolar.cli.pictures import save_report
    from dipolar.cli.preparation import ColumnChoice
    from dipolar.cli.scored import ScoredRows
    from dipolar.cli.standing import find_standing

    check_destination(output, force=force, sources=[data])
    check_destination(report, force=force, sources=[data, output])
    columns = ColumnChoice(only or (), drop or (), category or (), dates.value)
    choice = DataChoice(
        time, event, event_value or (), time_unit, covariates and covariates.value, columns, sheet, encoding, start,
        stop,
    )  # fmt: skip

    rows = read_data(data, choice)
    with collected_warnings() as warnings, terminal.progress_of_fit(f"growing the {model.words}"):
        found, tuned, X = fit_model(rows, model, asked)
    warnings += rows.disguises(rows.encoder(model), X)
    if output is not None:
        save_model(found, output)
    if report is not None:
        save_report(found, report, ScoredRows.of(found, rows.table, X, rows.y), title=rows.table.name)
    standing = None
    if scores and not quiet:
        with terminal.progress("scoring") as update:
            standing = find_standing(rows, model, asked, X.shape[1], update)
    files = {"output": output, "report": report}
    tell_fit(terminal, Fitted(found, tuned, model, asked, rows, X, warnings, standing, files))
