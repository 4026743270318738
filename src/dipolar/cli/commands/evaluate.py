"""`dipolar evaluate`: the trees side by side, cross-validated."""

from __future__ import annotations

from typing import Annotated

import typer

from dipolar.cli import options
from dipolar.cli.choices import Dates, TreeKind, TreeOptions
from dipolar.cli.data import DataChoice, read_data
from dipolar.cli.evaluation import evaluate_trees
from dipolar.cli.messages import counted
from dipolar.cli.preparation import ColumnChoice, describe_encoder
from dipolar.cli.terminal import Terminal

__all__ = ["evaluate"]

LEGEND = (
    "C: share of pairs in the right order, 1/2 is chance; Harrell's counts pairs of one leaf 1/2, the paper's leaves "
    "them out. IBS: mean squared error of the survival curves, low is good."
)


def evaluate(
    data: options.DataArgument,
    tree: options.Trees = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of parts, each tested on once.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often to shuffle the rows into parts anew.")] = 1,
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
    only: options.Only = None,
    drop: options.Drop = None,
    category: options.Category = None,
    dates: options.DateRule = Dates.drop,
    covariates: options.CovariateSet = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Cross-validate the univariate, linear, quadratic and Gaussian tree on the same folds.

    Folds hold equal shares of events. Categories, medians and all else about the columns are learnt from the training
    rows of each fold anew.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    kinds = list(dict.fromkeys(tree or TreeKind))
    asked = TreeOptions(
        kappa, standardize, max_depth, min_split, min_leaf, pruning, alpha, bootstraps, tune, seed, jobs
    )
    asked.check(kinds)
    columns = ColumnChoice(only or (), drop or (), category or (), dates.value)
    choice = DataChoice(
        time, event, event_value or (), None, covariates and covariates.value, columns, sheet, encoding, start, stop
    )

    rows = read_data(data, choice)
    encoders = {kind.reference: rows.encoder(kind) for kind in kinds}
    encoder = encoders["most_common"] if "most_common" in encoders else encoders[None]
    notes = [*rows.notes, *describe_encoder(encoder)]
    if len({tuple(describe_encoder(each)) for each in encoders.values()}) > 1:
        notes.append("for the univariate tree, each of three and more categories has a covariate")
    disguises = rows.disguises(encoder, encoder.transform(rows.covariates))
    n_fits = folds * repeats * len(kinds)
    with terminal.progress(f"fitting {n_fits} trees", n_fits) as update:
        result = evaluate_trees(rows, kinds, asked, folds=folds, repeats=repeats, done=update)

    how = {"folds": folds, "repeats": repeats, "seed": seed, "unscored_fits": result.n_unscored}
    document = {
        "command": "evaluate",
        "data": rows.to_json(),
        "notes": notes,
        "warnings": disguises,
        **how,
        "trees": result.to_json(),
    }
    terminal.answer(document)
    terminal.say(rows.describe())
    terminal.notes("What is done to the data, counted over all rows", notes)
    terminal.say(f"{counted(folds, 'fold')}, {counted(repeats, 'repeat')}, seed {seed}")
    terminal.show(result.grid())
    terminal.say(LEGEND)
    for disguise in disguises:
        terminal.warn(disguise)
    if result.n_unscored:
        terminal.warn(f"{counted(result.n_unscored, 'fit')} could not be scored: too few events. Try fewer --folds.")
