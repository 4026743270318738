"""Options that several commands share, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dipolar.cli.choices import Covariates, Dates, Kernel, ModelKind, Pruning

__all__ = [
    "Alpha",
    "AsJson",
    "Bootstraps",
    "Category",
    "CovariateSet",
    "DataArgument",
    "DateRule",
    "Drop",
    "Encoding",
    "Event",
    "EventValue",
    "Force",
    "Jobs",
    "Kappa",
    "KernelChoice",
    "KernelChoices",
    "MaxDepth",
    "MaxTerms",
    "MinLeaf",
    "MinSplit",
    "ModelArgument",
    "ModelChoice",
    "ModelChoices",
    "Only",
    "PruningRule",
    "Quiet",
    "Seed",
    "Sheet",
    "Standardize",
    "Start",
    "Stop",
    "Time",
    "TimeUnit",
    "Trees",
    "Tune",
]

DATA = "Data"
MODEL = "Model"
RUN = "Run"

# The library's own values, written here so that --help need not load it; tests hold them against it.
USUAL = {
    "kappa": "30",
    "standardize": "yes",
    "max_depth": "3, or 2 with fewer than 150 events; with --pruning no limit",
    "min_samples_split": "2",
    "min_samples_leaf": "15",
    "pruning": "none",
    "alpha": "4",
    "n_bootstraps": "25",
    "n_estimators": "100",
}

DataArgument = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV, Parquet or Excel file, or the name of a bundled data set.")
]
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `dipolar fit --output` wrote.")]

Sheet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The sheet of an Excel file, by name or number. Default: the first.", rich_help_panel=DATA
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How the text of a CSV file is encoded: cp1252, shift-jis. Default: UTF-8, UTF-16 or Latin-1.",
        rich_help_panel=DATA,
    ),
]
Time = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The time column. Usual names are found.", rich_help_panel=DATA)
]
Start = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="A date from which the time is counted, instead of --time.", rich_help_panel=DATA
    ),
]
Stop = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="The date of the event or of the last visit; see --start.", rich_help_panel=DATA
    ),
]
Event = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The event column. Usual names are found.", rich_help_panel=DATA)
]
EventValue = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODE",
        help="A code that means an event; may be repeated. 0/1, 1/2, yes/no, dead/alive, 1:DECEASED are understood.",
        rich_help_panel=DATA,
    ),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(metavar="UNIT", help="What times are counted in, for headings: days, months.", rich_help_panel=DATA),
]
Only = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Use this covariate and no others; may be repeated.", rich_help_panel=DATA),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Leave this column out; may be repeated.", rich_help_panel=DATA),
]
Category = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Treat the numbers of this column as names of categories; may be repeated.",
        rich_help_panel=DATA,
    ),
]
DateRule = Annotated[
    Dates,
    typer.Option(
        help="Leave date columns out, since they may tell the outcome, or count days since the first date.",
        rich_help_panel=DATA,
    ),
]
CovariateSet = Annotated[
    Covariates | None,
    typer.Option(
        help="Of a bundled set: the covariates of the paper (the default), or all known at entry.",
        rich_help_panel=DATA,
    ),
]

ModelChoice = Annotated[
    ModelKind,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="tree or forest: nodes are split by a surface of all covariates, that of a support vector machine. "
        "univariate or univariate-forest: by a cut of one covariate.",
        rich_help_panel=MODEL,
    ),
]
ModelChoices = Annotated[
    list[ModelKind] | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="tree, univariate, forest or univariate-forest; may be repeated. Default: all four.",
        rich_help_panel=MODEL,
    ),
]
KernelChoice = Annotated[
    Kernel | None,
    typer.Option(
        "--kernel",
        metavar="KERNEL",
        help="The surfaces of --model tree: linear, quadratic or gaussian. Default: linear.",
        rich_help_panel=MODEL,
    ),
]
KernelChoices = Annotated[
    list[Kernel] | None,
    typer.Option(
        "--kernel",
        metavar="KERNEL",
        help="The surfaces of --model tree: linear, quadratic or gaussian; may be repeated. Default: linear.",
        rich_help_panel=MODEL,
    ),
]
MaxTerms = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Most covariates in a split of --model tree, for rules that can be read. Default: all.",
        rich_help_panel=MODEL,
    ),
]
Trees = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help=f"Trees of a forest. Default: {USUAL['n_estimators']}.", rich_help_panel=MODEL
    ),
]
Kappa = Annotated[
    float | None,
    typer.Option(
        help="Weight of the dipole loss against the ridge term: the larger, the more closely a surface follows the "
        f"dipoles. Default: {USUAL['kappa']}.",
        rich_help_panel=MODEL,
    ),
]
Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        help=f"Whether a surface is sought on covariates of mean 0 and variance 1. Default: {USUAL['standardize']}.",
        rich_help_panel=MODEL,
    ),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(help=f"Most splits on the way to a leaf. Default: {USUAL['max_depth']}.", rich_help_panel=MODEL),
]
MinSplit = Annotated[
    int | None,
    typer.Option(
        help=f"Rows that a node needs to be split. Default: {USUAL['min_samples_split']}.", rich_help_panel=MODEL
    ),
]
MinLeaf = Annotated[
    int | None,
    typer.Option(help=f"Rows that a leaf needs. Default: {USUAL['min_samples_leaf']}.", rich_help_panel=MODEL),
]
PruningRule = Annotated[
    Pruning | None,
    typer.Option(
        metavar="RULE",
        help="By what splits are held against their price: bootstrap resamples, held-out rows (validation), the rows "
        f"that grew the tree (fixed), or not at all (none). Default: {USUAL['pruning']}.",
        rich_help_panel=MODEL,
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(
        help=f"Price of a split in pruning, a log-rank chi-square. Default: {USUAL['alpha']}.", rich_help_panel=MODEL
    ),
]
Bootstraps = Annotated[
    int | None,
    typer.Option(
        help=f"Number of resamples of bootstrap pruning. Default: {USUAL['n_bootstraps']}.", rich_help_panel=MODEL
    ),
]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="Choose the settings: of a tree depth, size of leaves and kappa by cross-validation, of a "
        "forest by rows that its trees have not seen. Takes much longer.",
        rich_help_panel=MODEL,
    ),
]

Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of all that is random.", rich_help_panel=RUN)]
Jobs = Annotated[
    int,
    typer.Option(help="Number of workers, -1 for all processors. Results do not depend on it.", rich_help_panel=RUN),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.", rich_help_panel=RUN)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel=RUN)]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.", rich_help_panel=RUN)]
