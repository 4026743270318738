"""`dipolar plot`: a model as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dipolar.cli import options
from dipolar.cli.terminal import Terminal

__all__ = ["plot"]


def plot(
    model: options.ModelArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .svg, .pdf or .png file. Default: the model's name with .svg."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Of a forest: draw the tree that agrees best with it on these rows."),
    ] = None,
    sheet: options.Sheet = None,
    encoding: options.Encoding = None,
    time: options.Time = None,
    start: options.Start = None,
    stop: options.Stop = None,
    event: options.Event = None,
    event_value: options.EventValue = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Draw a tree, with the survival curve of every leaf, or what matters to a forest."""
    terminal = Terminal(as_json=as_json, quiet=quiet)
    picture = output or Path(f"{model.stem}.svg")

    # Loaded here, so that --help is answered at once.
    from dipolar.cli.data import DataChoice
    from dipolar.cli.destination import check_destination
    from dipolar.cli.model import load_model
    from dipolar.cli.pictures import check_picture, save_plot
    from dipolar.cli.scored import scored_rows

    check_picture(picture)
    check_destination(picture, force=force, sources=[model, data])
    loaded = load_model(model)
    choice = DataChoice(time, event, event_value or (), sheet=sheet, encoding=encoding, start=start, stop=stop)
    rows = scored_rows(loaded, data, choice)
    with terminal.progress("drawing"):
        save_plot(loaded, picture, rows)
    terminal.answer({"command": "plot", "output": str(picture)})
    terminal.say_file("Picture written to", picture)
