"""A target of the command line: whatever a table holds, a command answers, or refuses it in one clear line."""

from __future__ import annotations

import csv
import json
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
from typer.testing import CliRunner

from dipolar.cli.app import app
from dipolar.cli.spreadsheets import begins_like_a_formula
from fuzz.draw import Draw
from fuzz.faults import require
from fuzz.tables import draw_columns, write_file

__all__ = ["TARGETS", "WORDS"]

# Nothing is raised to whoever calls a command: all that comes out of it is a fault.
WORDS: frozenset[str] = frozenset()

DONE, BAD_INPUT = 0, 2

# Longer than that, a line is no help.
LONGEST_LINE = 1500

QUICK = ("--model", "univariate", "--max-depth", "2")

OTHER_VALUES = (
    None,
    True,
    -1,
    10**400,
    1e308,
    float("nan"),
    "",
    "x",
    "\ud800",
    "2020-13-01",
    [],
    [1, "a"],
    {},
    {"a": 1},
)


def check_command(draw: Draw) -> None:
    """Run a command on a table, and see how it ends and what it leaves."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        columns = draw_columns(draw)
        data = write_file(draw, columns, folder)
        command = draw.note("command", draw.one_of(("fit", "fit", "predict", "evaluate", "report")))
        COMMANDS[command](draw, folder, data, list(columns))


def _fit(draw: Draw, folder: Path, data: Path, names: list[str]) -> None:
    model, page = folder / "m.dipolar", folder / "m.html"
    outputs = [model] + ([page] if draw.chance(0.1) else [])
    options = ["-o", model] + (["--report", page] if len(outputs) > 1 else [])
    args = ["fit", data, *_model_options(draw), *options, *_choices(draw, names)]
    ended = run(folder, args, outputs, machine_reads=draw.chance(0.5))
    require(not draw.is_tame or ended == DONE, "an ordinary table is refused")
    if ended == DONE:
        again = run(folder, ["predict", model, data, *_reading_of(args)], [])
        require(again == DONE, "a model refuses the table that it was fitted to")


def _predict(draw: Draw, folder: Path, data: Path, names: list[str]) -> None:
    model = folder / "m.dipolar"
    model.write_bytes(damaged_model(draw) if draw.chance(0.2) else small_model())
    output = folder / f"out.{draw.one_of(('csv', 'xlsx', 'parquet'))}"
    args = ["predict", model, data, "--fill-columns", "-o", output]
    for name in draw.some_of(names, 3):
        args += ["--keep", name]
    if draw.chance(0.3):
        args += ["--at", str(draw.one_of((0, 5, 1e300, -1, "nan", "inf")))]
    if run(folder, args, [output], machine_reads=draw.chance(0.5)) == DONE:
        _require_no_formulas(output)


def _evaluate(draw: Draw, folder: Path, data: Path, names: list[str]) -> None:
    args = ["evaluate", data, *QUICK, "--pruning", "fixed", "--folds", 2, *_choices(draw, names)]
    run(folder, args, [], machine_reads=draw.chance(0.5))


def _report(draw: Draw, folder: Path, data: Path, names: list[str]) -> None:
    (folder / "m.dipolar").write_bytes(small_model())
    args = ["report", folder / "m.dipolar", "--data", data, "--title", draw.one_of(names), "-o", folder / "m.html"]
    run(folder, args, [folder / "m.html"])


COMMANDS: dict[str, Callable[[Draw, Path, Path, list[str]], None]] = {
    "fit": _fit,
    "predict": _predict,
    "evaluate": _evaluate,
    "report": _report,
}


def _model_options(draw: Draw) -> list[str]:
    """Return options about the model: often the quick ones, sometimes any, none that is refused in tame cases."""
    scores = [] if draw.chance(0.1) else ["--no-scores"]
    if draw.chance(0.1):
        forest = draw.one_of(("forest", "univariate-forest"))
        return draw.note("model", ["--model", forest, "--trees", draw.one_of(("1", "5")), *scores])
    kernel = draw.one_of(("linear", "quadratic", "gaussian"))
    options = [*(["--model", "univariate"] if draw.chance(0.8) else ["--kernel", kernel]), *scores]
    if draw.chance(0.5):
        options += ["--pruning", draw.one_of(("fixed", "none", "validation"))]
    if draw.chance(0.05):
        return draw.note("model", [*options, "--tune"])
    values = {"--max-depth": ("1", "2", "0"), "--min-leaf": ("1", "5", "1000"), "--min-split": ("2", "1000")}
    if not draw.is_tame:
        values |= {"--max-depth": ("2", "-1"), "--min-leaf": ("0", "5"), "--kappa": ("0", "1e300", "0.01", "-1", "nan")}
        values |= {"--alpha": ("0", "4", "-1", "inf"), "--bootstraps": ("2", "0")}
    for option, offered in values.items():
        if draw.chance(0.3):
            options += [option, draw.one_of(offered)]
    return draw.note("model", options)


def _choices(draw: Draw, names: list[str]) -> list[str]:
    """Return options about columns; none in tame cases."""
    if draw.is_tame:
        return []
    options: list[str] = []
    shares = {"--drop": 0.1, "--category": 0.1, "--only": 0.05, "--time": 0.1, "--event": 0.1}
    if draw.chance(0.1):
        shares = {"--start": 0.9, "--stop": 0.9, "--event": 0.5}
    for option, share in shares.items():
        if draw.chance(share):
            options += [option, draw.one_of(names)]
    if draw.chance(0.3):
        options += ["--event-value", draw.one_of(("1", "0", "yes", "", "=1"))]
    if draw.chance(0.3):
        options += ["--dates", "days"]
    if draw.chance(0.1):
        options += ["--encoding", draw.one_of(("utf-8", "cp1252", "utf-16", "shift_jis", "utf-7", "idna", "hex", ""))]
    if draw.chance(0.05):
        options += ["--sheet", draw.one_of(("1", "2", "legend", ""))]
    return draw.note("options", options)


def _reading_of(args: list[Any]) -> list[str]:
    """Return the options that say how a file is read."""
    return [word for option in ("--sheet", "--encoding") if option in args for word in args[args.index(option) :][:2]]


def run(folder: Path, args: list[Any], outputs: list[Path], *, machine_reads: bool = False) -> int:
    """Run a command, require that it ends well or in one clear line, and return its status."""
    before = set(folder.iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)  # a command tells them itself, or they end up in its stderr
        words = [*map(str, args), *(["--json"] if machine_reads else [])]
        result = CliRunner().invoke(app, words, env={"COLUMNS": "100", "NO_COLOR": "1", "DIPOLAR_DEBUG": ""})
    require(isinstance(result.exception, SystemExit | None), f"{type(result.exception).__name__} escapes")
    require(result.exit_code in (DONE, BAD_INPUT), f"status {result.exit_code}: {result.stderr[:300]!r}")
    lines = result.stderr.split("\n")
    if result.exit_code == BAD_INPUT:
        require(result.stdout == "", "something is answered and then refused")
        require(len(lines) == 2 and lines[0].startswith("error: "), f"not one line: {result.stderr[:300]!r}")
        require(20 < len(lines[0]) < LONGEST_LINE, f"a line of {len(lines[0])} characters: {lines[0][:300]!r}")
        outputs = []
    else:
        strange = [line for line in lines[:-1] if not line.startswith("warning: ")]
        require(not strange, f"on stderr: {strange[:1]}")
        if machine_reads:
            json.loads(result.stdout, parse_constant=_no_constant)
    left = set(folder.iterdir()) - before
    require(left == set(outputs), f"files are left or missing: {sorted(path.name for path in left)}")
    return int(result.exit_code)


def _no_constant(name: str) -> None:
    require(False, f"{name} is not JSON")


def _require_no_formulas(path: Path) -> None:
    if path.suffix == ".csv":
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        require(len({len(row) for row in rows}) == 1, "rows of several widths")
        require(not any(begins_like_a_formula(cell) for row in rows for cell in row), "a formula in a CSV file")
    elif path.suffix == ".xlsx":
        cells = [cell for row in openpyxl.load_workbook(path).active.iter_rows() for cell in row]
        strange = {cell.data_type for cell in cells} - {"s", "inlineStr", "n"}
        require(not strange, f"not only text and numbers in an Excel file: {strange}")


@cache
def small_model() -> bytes:
    """Return the file of a model that a command has fitted."""
    with tempfile.TemporaryDirectory() as folder:
        draw = Draw(np.random.default_rng(0))
        draw.is_tame = True
        data, model = write_file(draw, draw_columns(draw), Path(folder)), Path(folder, "m.dipolar")
        run(Path(folder), ["fit", data, *QUICK, "--no-scores", "--pruning", "none", "-o", model], [model])
        return model.read_bytes()


def damaged_model(draw: Draw) -> bytes:
    """Return a model whose preparation holds another value somewhere."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m")
        path.write_bytes(small_model())
        with zipfile.ZipFile(path) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        preparation = json.loads(entries["preparation.json"])
        holder: Any = preparation
        while True:
            key = draw.one_of(list(holder) if isinstance(holder, dict) else range(len(holder)))
            if not (isinstance(holder[key], dict | list) and holder[key] and draw.chance(0.8)):
                break
            holder = holder[key]
        draw.note("key", key)
        holder[key] = draw.note("value", draw.one_of(OTHER_VALUES))
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in (entries | {"preparation.json": json.dumps(preparation).encode()}).items():
                archive.writestr(name, content)
        return path.read_bytes()


TARGETS = {"commands": check_command}
