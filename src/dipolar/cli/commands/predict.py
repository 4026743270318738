"""`dipolar predict`: a model and new rows in, medians and risks out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from rich.table import Table as Grid

from dipolar.cli import options
from dipolar.cli.destination import check_table_destination, write_table
from dipolar.cli.messages import UserError, counted, listed, refusals_as_user_errors, suggestion
from dipolar.cli.model import Model, load_model
from dipolar.cli.table import Table, read_table
from dipolar.cli.terminal import Terminal
from dipolar.preparation.cells import as_text

__all__ = ["predict"]

# Rows that are printed where no file is asked for.
ROWS_SHOWN = 20

OWN_COLUMN = re.compile(r"row|leaf|risk|median|survival_at_.*")


def predict(
    model: options.ModelArgument,
    data: options.DataArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write all rows here: .csv, .parquet or .xlsx."),
    ] = None,
    at: Annotated[
        list[float] | None, typer.Option(metavar="TIME", help="Predict survival at this time too; may be repeated.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Copy this column of DATA to the answer; may be repeated."),
    ] = None,
    fill_columns: Annotated[
        bool, typer.Option("--fill-columns", help="Fill columns that DATA lacks with their usual value.")
    ] = False,
    sheet: options.Sheet = None,
    encoding: options.Encoding = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Predict leaf, risk, median and survival for new rows.

    DATA goes through what the model's training data went through. Columns may come in any order, and others beside them
    are not read. Categories that the model has not seen count as missing; a column that is missing altogether is
    an error, unless --fill-columns is given. A median that is not reached is left empty.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    check_table_destination(output, force=force, sources=[model, data])
    times = _checked_times(at or [])
    loaded = load_model(model)
    table = read_table(data, sheet=sheet, encoding=encoding)
    kept = _kept_columns(table, keep or [])

    prepared = loaded.covariates(table, fill_columns=fill_columns)
    frame = pd.concat([kept, _predictions(loaded, prepared.X, times)], axis=1)
    notes = [*table.notes, *prepared.odd, *prepared.filled, *_unused(loaded, table)]
    if output is not None:
        notes += write_table(frame, output)
    terminal.answer(_document(frame, notes, output))
    terminal.notes(f"What was done to {table.name}", notes)
    if output is None:
        terminal.show(_grid(frame, loaded.time_unit))
        if len(frame) > ROWS_SHOWN:
            terminal.say(f"{len(frame) - ROWS_SHOWN} more rows; --output FILE writes them all.")
    else:
        terminal.say_file(f"{counted(len(frame), 'row')} written to", output)


def _checked_times(times: list[float]) -> list[float]:
    wrong = [time for time in times if not (np.isfinite(time) and time >= 0)]
    if wrong:
        raise UserError(f"--at {wrong[0]:g} is not a time. Give one from 0 on.")
    return list(dict.fromkeys(times))


def _kept_columns(table: Table, names: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame({"row": np.arange(1, len(table) + 1)})
    for name in names:
        if name not in table.columns:
            hint = suggestion(name, table.columns) or f" It has {listed(table.columns)}."
            raise UserError(f"--keep: {table.name} has no column {name!r}.{hint}")
        if OWN_COLUMN.fullmatch(name):
            raise UserError(f"--keep: the answer has a column {name!r} of its own. Rename the one of {table.name}.")
        frame[name] = as_text(table.cells(name))
    return frame


def _predictions(model: Model, X: pd.DataFrame, times: list[float]) -> pd.DataFrame:
    tree = model.tree
    with refusals_as_user_errors():
        frame = pd.DataFrame({"leaf": tree.apply(X), "risk": tree.predict(X)})
        frame["median"] = tree.predict_median(X, unreached="nan")
        curves = tree.predict_survival_function(X)
    for time in times:
        frame[f"survival_at_{time:g}"] = np.array([float(curve(time)) for curve in curves])
    return frame


def _unused(model: Model, table: Table) -> list[str]:
    unused = [] if table.bundled else model.unused(table)
    return [f"not read, because the model does not know them: {listed(unused)}"] if unused else []


def _document(frame: pd.DataFrame, notes: list[str], output: Path | None) -> dict[str, Any]:
    rows = [
        {name: None if pd.isna(value) else value for name, value in row.items()} for row in frame.to_dict("records")
    ]
    return {
        "command": "predict",
        "notes": notes,
        "output": None if output is None else str(output),
        "predictions": rows,
    }


def _grid(frame: pd.DataFrame, time_unit: str | None) -> Grid:
    grid = Grid()
    for name in frame.columns:
        heading = f"median {time_unit}" if name == "median" and time_unit else str(name).replace("_", " ")
        grid.add_column(heading, justify="right")
    for row in frame.head(ROWS_SHOWN).to_dict("records"):
        grid.add_row(*(_cell(str(name), value) for name, value in row.items()))
    return grid


def _cell(name: str, value: Any) -> str:
    if pd.isna(value):
        return "not reached" if name == "median" else "-"
    if name.startswith("survival_at_"):
        return f"{100 * value:.0f} %"
    return f"{value:.5g}" if isinstance(value, float) else str(value)
