"""`dipolar report`: a model as a page to read."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dipolar.cli import options
from dipolar.cli.terminal import Terminal

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
    """Write an HTML report of a model: one file that opens offline.

    Of a forest it shows the tree that agrees best with it on the rows of --data, and says how well.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    page = output or Path(f"{model.stem}.html")

    # Loaded here, so that --help is answered at once.
    from dipolar.cli.data import DataChoice
    from dipolar.cli.destination import check_destination
    from dipolar.cli.model import load_model
    from dipolar.cli.pictures import save_report
    from dipolar.cli.scored import scored_rows

    check_destination(page, force=force, sources=[model, data])
    loaded = load_model(model)
    choice = DataChoice(time, event, event_value or (), sheet=sheet, encoding=encoding, start=start, stop=stop)
    rows = scored_rows(loaded, data, choice)
    with terminal.progress("writing the report"):
        save_report(loaded, page, rows, title=title or model.stem, predict_form=form, scores=scores.value)
    terminal.answer({"command": "report", "output": str(page)})
    terminal.say_file("Report written to", page)
