"""`dipolar simulate`: rows from a known hazard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dipolar.cli import options
from dipolar.cli.terminal import Terminal

__all__ = ["simulate"]


def simulate(
    design: Annotated[
        str | None, typer.Argument(metavar="[DESIGN]", help="Name of a design; without one they are listed.")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", "-n", min=1, help="Number of rows.")] = 500,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write here (.csv, .parquet, .xlsx), not to the screen."),
    ] = None,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Draw right-censored rows from a design of the paper, as CSV."""
    terminal = Terminal(as_json=as_json, quiet=quiet)

    # Loaded here, so that --help is answered at once.
    from dipolar.cli.designs import draw_rows, list_all

    if design is None:
        list_all(terminal)
    else:
        draw_rows(terminal, design, rows, output, seed, force=force)
