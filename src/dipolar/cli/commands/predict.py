"""`dipolar predict`: a model and new rows in, medians and risks out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dipolar.cli import options
from dipolar.cli.messages import counted
from dipolar.cli.terminal import Terminal

__all__ = ["predict"]


def predict(
    model: options.ModelArgument,
    data: options.DataArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write all rows here: .csv, .parquet or .xlsx."),
    ] = None,
    at: Annotated[
        list[float] | None,
        typer.Option(
            metavar="TIME",
            help="Predict survival at this time; may be repeated. Default: near the quartiles of the event times.",
        ),
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
    """Predict risk, median, survival and the leaf of a tree for new rows.

    DATA goes through what the model's training data went through. Columns may come in any order, and others beside them
    are not read. Categories that the model has not seen count as missing; a column that is missing altogether is
    an error, unless --fill-columns is given. A median that is not reached is left empty.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)

    # Loaded here, so that --help is answered at once.
    import pandas as pd

    from dipolar.cli import predictions as made
    from dipolar.cli.destination import check_table_destination, write_table
    from dipolar.cli.model import load_model
    from dipolar.cli.table import read_table

    check_table_destination(output, force=force, sources=[model, data])
    times = made.checked_times(at or [])
    loaded = load_model(model)
    table = read_table(data, sheet=sheet, encoding=encoding)
    kept = made.kept_columns(table, keep or [])

    prepared = loaded.covariates(table, fill_columns=fill_columns)
    frame = pd.concat([kept, made.predictions(loaded, prepared.X, times or loaded.times)], axis=1)
    notes = [*table.notes, *prepared.odd, *prepared.filled, *made.unused(loaded, table)]
    if output is not None:
        notes += write_table(frame, output)
    terminal.answer(made.document(frame, notes, output))
    terminal.notes(f"What was done to {table.name}", notes)
    if output is None:
        terminal.show(made.grid(frame, loaded.time_unit))
        if len(frame) > made.ROWS_SHOWN:
            terminal.say(f"{len(frame) - made.ROWS_SHOWN} more rows; --output FILE writes them all.")
    else:
        terminal.say_file(f"{counted(len(frame), 'row')} written to", output)
