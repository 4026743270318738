"""Options that several commands share, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dipolar.cli.choices import Covariates, Dates, Pruning

__all__ = [
    "Alpha",
    "AsJson",
    "Bootstraps",
    "Category",
    "CovariateSet",
    "DataArgument",
    "DateRule",
    "Drop",
    "Event",
    "EventValue",
    "Force",
    "Jobs",
    "Kappa",
    "MaxDepth",
    "MinLeaf",
    "ModelArgument",
    "Only",
    "PruningRule",
    "Quiet",
    "Seed",
    "Sheet",
    "Standardize",
    "Time",
    "TimeUnit",
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
Time = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The time column. Usual names are found.", rich_help_panel=DATA)
]
Event = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The event column. Usual names are found.", rich_help_panel=DATA)
]
EventValue = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODE",
        help="A code that means an event; may be repeated. 0/1, 1/2, yes/no, dead/alive and the like are understood.",
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

Kappa = Annotated[
    float | None,
    typer.Option(
        help="Weight of the dipoles against a smooth surface. Default: 0.01, Gaussian 0.1.", rich_help_panel=TREE
    ),
]
PruningRule = Annotated[
    Pruning,
    typer.Option(
        metavar="RULE",
        help="How the size of the tree is chosen: bootstrap, validation, fixed or none.",
        rich_help_panel=TREE,
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(help="Price of a split in pruning, a log-rank chi-square. Default: 4.", rich_help_panel=TREE),
]
Bootstraps = Annotated[
    int | None, typer.Option(help="Number of resamples of bootstrap pruning. Default: 25.", rich_help_panel=TREE)
]
MaxDepth = Annotated[
    int | None, typer.Option(help="Most splits on the way to a leaf. Default: no limit.", rich_help_panel=TREE)
]
MinLeaf = Annotated[int, typer.Option(help="Fewest rows of a leaf.", rich_help_panel=TREE)]
Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        help="Whether surfaces are sought on covariates of equal spread. Default: yes.",
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
