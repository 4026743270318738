"""`dipolar plot`: a model as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dipolar.cli import options
from dipolar.cli.destination import check_destination
from dipolar.cli.messages import UserError
from dipolar.cli.model import load_model
from dipolar.cli.pictures import PICTURE_SUFFIXES, save_plot
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
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Draw the tree of a model, with the survival curve of every leaf."""
    terminal = Terminal(as_json=as_json, quiet=quiet)
    picture = output or Path(f"{model.stem}.svg")
    if picture.suffix.lower() not in PICTURE_SUFFIXES:
        raise UserError(f"{picture} should end with {', '.join(PICTURE_SUFFIXES[:-1])} or {PICTURE_SUFFIXES[-1]}.")
    check_destination(picture, force=force, sources=[model])
    save_plot(load_model(model), picture)
    terminal.answer({"command": "plot", "output": str(picture)})
    terminal.say_file("Picture written to", picture)
