"""`dipolar evaluate`: models side by side, cross-validated."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from dipolar.cli import options
from dipolar.cli.choices import Asked, Dates, Kernel, ModelKind
from dipolar.cli.messages import counted
from dipolar.cli.terminal import Terminal

__all__ = ["evaluate"]


def evaluate(
    data: options.DataArgument,
    model: options.ModelChoices = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of parts, each tested on once.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often to shuffle the rows into parts anew.")] = 1,
    kernel: options.KernelChoices = None,
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
    """Cross-validate trees and forests beside Cox's model and one curve for all, on the same folds.

    Folds hold equal shares of events. Categories, medians and all else about the columns are learnt from the training
    rows of each fold anew. Options of trees and of forests apply to the models that have them.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    kinds = list(dict.fromkeys(model or ModelKind))
    kernels: list[Kernel | None] = list(dict.fromkeys(kernel or [])) or [None]
    asked = Asked(
        kernels[0], kappa, standardize, max_terms, max_depth, min_split, min_leaf, pruning, alpha, bootstraps, trees,
        tune, seed, jobs,
    )  # fmt: skip
    asked.check(kinds)

    # Loaded here, so that --help and mistakes in options are answered at once.
    from dipolar.cli.contenders import NO_COX, Baseline, Contender, baselines
    from dipolar.cli.data import DataChoice, read_data
    from dipolar.cli.evaluation import cross_validate, require_scored
    from dipolar.cli.preparation import ColumnChoice, describe_encoder
    from dipolar.cli.standing import EXPLAINED
    from dipolar.cli.verdict import best_in_words

    columns = ColumnChoice(only or (), drop or (), category or (), dates.value)
    choice = DataChoice(
        time, event, event_value or (), None, covariates and covariates.value, columns, sheet, encoding, start, stop
    )

    rows = read_data(data, choice)
    encoders = {kind.reference: rows.encoder(kind) for kind in kinds}
    encoder = encoders["most_common"] if "most_common" in encoders else encoders[None]
    notes = [*rows.notes, *describe_encoder(encoder)]
    if len({tuple(describe_encoder(each)) for each in encoders.values()}) > 1:
        notes.append("for univariate models, each of three and more categories has a covariate")
    disguises = rows.disguises(encoder, encoder.transform(rows.covariates))
    ours = [
        Contender(kind, replace(asked, kernel=surface).of(kind))
        for kind in kinds
        for surface in (kernels if kind is ModelKind.tree else [None])
    ]
    beside = baselines()
    contenders: list[Contender | Baseline] = [*ours, *beside]
    n_fits = folds * repeats * len(contenders)
    with terminal.progress(f"fitting {n_fits} models", n_fits) as update:
        result = cross_validate(rows, contenders, folds=folds, repeats=repeats, seed=seed, jobs=jobs, done=update)
    require_scored(result, [each.name for each in ours])

    best = best_in_words(result)
    how = {"folds": folds, "repeats": repeats, "seed": seed, "unscored_fits": result.n_unscored}
    document = {
        "command": "evaluate",
        "data": rows.to_json(),
        "notes": notes,
        "warnings": disguises,
        **how,
        "models": result.to_json(),
        "best": best,
    }
    terminal.answer(document)
    terminal.say(rows.describe())
    terminal.notes("What is done to the data, counted over all rows", notes)
    terminal.show(result.grid(f"Scores over {counted(folds, 'fold')}, {counted(repeats, 'repeat')}, seed {seed}"))
    if best:
        terminal.say(best, "bold")
    terminal.say(EXPLAINED if len(beside) > 1 else f"{EXPLAINED} {NO_COX}")
    for disguise in disguises:
        terminal.warn(disguise)
    for name, reason in result.failures.items():
        terminal.warn(f"{name} could not be fitted on some folds: {reason}")
    if result.n_unscored and not result.failures:
        terminal.warn(f"{counted(result.n_unscored, 'fit')} could not be scored: too few events. Try fewer --folds.")
