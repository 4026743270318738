"""Rows of a design, drawn and written, and the list of designs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from rich.table import Table as Grid

from dipolar.cli.destination import check_table_destination, write_table
from dipolar.cli.messages import UserError, counted, listed, suggestion
from dipolar.cli.terminal import Terminal
from dipolar.simulation import Simulation, list_designs
from dipolar.simulation import simulate as draw

__all__ = ["draw_rows", "list_all"]


def draw_rows(terminal: Terminal, design: str, rows: int, output: Path | None, seed: int, *, force: bool) -> None:
    """Draw rows and write them to a file or to the screen."""
    names = list(list_designs()["name"])
    if design not in names:
        hint = suggestion(design, names) or f" There are {listed(names)}."
        raise UserError(f"there is no design {design!r}.{hint} dipolar simulate lists them.")
    check_table_destination(output, force=force)
    frame = _frame(draw(design, rows, random_state=seed))
    told = {"command": "simulate", "design": design, "seed": seed, "output": None if output is None else str(output)}
    if output is not None:
        write_table(frame, output)
        terminal.answer(told)
        terminal.say_file(f"{counted(rows, 'row')} of {design} written to", output)
    elif terminal.as_json:
        terminal.answer(told | {"rows": frame.to_dict("records")})
    elif not terminal.quiet:
        print(frame.to_csv(index=False), end="")


def _frame(sample: Simulation) -> pd.DataFrame:
    frame = pd.DataFrame({"time": sample.y["time"], "event": sample.y["event"].astype(int)})
    for column in range(sample.X.shape[1]):
        frame[f"x{column + 1}"] = sample.X[:, column]
    return frame


def list_all(terminal: Terminal) -> None:
    """Print the designs."""
    frame = list_designs()
    terminal.answer({"command": "simulate", "designs": frame.to_dict("records")})
    grid = Grid(title="Designs", title_justify="left", title_style="bold")
    for name in frame.columns:
        is_text = name in ("name", "description")
        grid.add_column(name.replace("_", " "), justify="left" if is_text else "right", no_wrap=name == "name")
    for row in frame.itertuples(index=False):
        grid.add_row(*(f"{value:g}" if isinstance(value, float) else str(value) for value in row))
    terminal.show(grid)
