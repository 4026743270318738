"""`dipolar report`: a model as a page to read."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dipolar.cli import options
from dipolar.cli.data import DataChoice, read_data
from dipolar.cli.destination import check_destination, whole_file
from dipolar.cli.messages import UserError, refusals_as_user_errors
from dipolar.cli.model import Model, load_model
from dipolar.cli.terminal import Terminal
from dipolar.pipeline import make_pipeline

__all__ = ["report"]


class Scores(StrEnum):
    """Which scores a page shows of the training rows."""

    cv = "cv"
    training = "training"


def report(
    model: options.ModelArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The page. Default: the model's name with .html."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Rows with outcomes to summarise and to score the model on."),
    ] = None,
    sheet: options.Sheet = None,
    encoding: options.Encoding = None,
    time: options.Time = None,
    start: options.Start = None,
    stop: options.Stop = None,
    event: options.Event = None,
    event_value: options.EventValue = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the page.")] = None,
    form: Annotated[
        bool,
        typer.Option("--form/--no-form", help="Whether the page can predict; a Gaussian tree then shows support rows."),
    ] = True,
    scores: Annotated[
        Scores,
        typer.Option(help="If DATA are the training rows: a 5-fold cross-validation beside them, or not."),
    ] = Scores.cv,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Write an HTML report of a model: one file that opens offline."""
    terminal = Terminal(as_json=as_json, quiet=quiet)
    page = output or Path(f"{model.stem}.html")
    check_destination(page, force=force, sources=[model, data])
    loaded = load_model(model)
    choice = DataChoice(time, event, event_value or (), sheet=sheet, encoding=encoding, start=start, stop=stop)
    X, y = _scored_rows(loaded, data, choice)
    _write(loaded, page, X, y, title=title or model.stem, predict_form=form, scores=scores.value)
    terminal.answer({"command": "report", "output": str(page)})
    terminal.say_file("Report written to", page)


def _write(model: Model, path: Path, X: Any, y: Any, **options: Any) -> None:
    """Write the page of a model, which speaks of the columns that the encoder knows."""
    from dipolar.report.page import render_report

    whole = model.tree if model.encoder is None else make_pipeline(model.encoder, model.tree)
    with refusals_as_user_errors():
        page = render_report(whole, X=X, y=y, time_unit=model.time_unit, **options)
    with whole_file(path) as stream:
        stream.write(page.encode("utf-8"))


def _scored_rows(model: Model, data: str | None, choice: DataChoice) -> tuple[Any, Any]:
    """Return columns and outcomes of the given rows; the outcome columns are the model's unless named."""
    if data is None:
        if choice != DataChoice():
            raise UserError(
                "--sheet, --encoding, --time, --start, --stop, --event and --event-value are about rows. Give them "
                "with --data DATA."
            )
        return None, None
    if model.outcome is not None:
        choice = replace(choice, event=choice.event or model.outcome.event)
        if choice.time is choice.start is choice.stop is None:
            choice = replace(choice, time=model.outcome.time, start=model.outcome.start, stop=model.outcome.stop)
    rows = read_data(data, choice)
    covariates = model.covariates(rows.table).X
    if model.encoder is None:
        return covariates, rows.y
    return rows.table.frame.reindex(columns=list(model.encoder.feature_names_in_)), rows.y
