"""Options that several commands share, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dipolar import DipoleSVM
from dipolar.cli.choices import Covariates, Dates, Pruning, TreeKind, usual

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
    "MaxDepth",
    "MinLeaf",
    "MinSplit",
    "ModelArgument",
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
    "Tree",
    "Trees",
    "Tune",
]

DATA = "Data"
TREE = "Tree"
RUN = "Run"

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

Tree = Annotated[
    TreeKind,
    typer.Option(
        metavar="KIND",
        help="What splits a node: a cut of one covariate (univariate), or the surface of a support vector machine "
        "(linear, quadratic, gaussian).",
        rich_help_panel=TREE,
    ),
]
Trees = Annotated[
    list[TreeKind] | None,
    typer.Option(
        "--tree",
        metavar="KIND",
        help="univariate, linear, quadratic or gaussian; may be repeated. Default: all four.",
        rich_help_panel=TREE,
    ),
]
Kappa = Annotated[
    float | None,
    typer.Option(
        help="Weight of the dipole loss against the ridge term: the larger, the more closely a surface follows the "
        f"dipoles. Default: {DipoleSVM().kappa:g}.",
        rich_help_panel=TREE,
    ),
]
Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        help="Whether a surface is sought on covariates of mean 0 and variance 1. "
        f"Default: {'yes' if DipoleSVM().standardize else 'no'}.",
        rich_help_panel=TREE,
    ),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(help=f"Most splits on the way to a leaf. {usual('max_depth', 'no limit')}", rich_help_panel=TREE),
]
MinSplit = Annotated[
    int | None,
    typer.Option(help=f"Rows that a node needs to be split. {usual('min_samples_split')}", rich_help_panel=TREE),
]
MinLeaf = Annotated[
    int | None,
    typer.Option(help=f"Rows that a leaf needs. {usual('min_samples_leaf')}", rich_help_panel=TREE),
]
PruningRule = Annotated[
    Pruning | None,
    typer.Option(
        metavar="RULE",
        help="By what splits are held against their price: bootstrap resamples, held-out rows (validation), the rows "
        f"that grew the tree (fixed), or not at all (none). {usual('pruning')}",
        rich_help_panel=TREE,
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(help=f"Price of a split in pruning, a log-rank chi-square. {usual('alpha')}", rich_help_panel=TREE),
]
Bootstraps = Annotated[
    int | None,
    typer.Option(help=f"Number of resamples of bootstrap pruning. {usual('n_bootstraps')}", rich_help_panel=TREE),
]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="Choose depth, size of leaves and kappa by cross-validation. Takes 20 to 40 times as long.",
        rich_help_panel=TREE,
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
