"""`dipolar-reproduce`: the paper's tables and figures, run anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from joblib import effective_n_jobs, parallel_config
from rich.table import Table as Grid

from dipolar.cli import options
from dipolar.cli.app import make_app
from dipolar.cli.destination import check_destination
from dipolar.cli.messages import UserError, counted
from dipolar.cli.terminal import Terminal
from dipolar_reproduction.catalogue import STUDIES, find_study
from dipolar_reproduction.export import export_bytes, read_export
from dipolar_reproduction.files import StudyFiles, write_bytes
from dipolar_reproduction.page import write_page
from dipolar_reproduction.runner import run_units
from dipolar_reproduction.session import describe_session, refuse_other_version
from dipolar_reproduction.speed import duration, speed_table
from dipolar_reproduction.store import Recorded, Store
from dipolar_reproduction.study import Study, Unit
from dipolar_reproduction.table import Table

FAILED = 1

# Where stderr is no terminal, as in the log of a long run, progress is a line now and then.
SECONDS_BETWEEN_LINES = 60.0

app = make_app("dipolar-reproduce")


@app.callback()
def describe() -> None:
    """The tables and figures of the paper, run anew and put next to the printed numbers."""


@app.command("list")
def list_studies(as_json: options.AsJson = False) -> None:
    """List the studies."""
    terminal = Terminal(as_json=as_json)
    listing = [
        {"name": study.name, "what": study.title, "runs": study.default_runs, "sources": list(study.sources)}
        for study in STUDIES.values()
    ]
    terminal.answer({"command": "list", "studies": listing})
    grid = Grid(title="Studies", title_justify="left", title_style="bold")
    grid.add_column("name", no_wrap=True)
    grid.add_column("what")
    grid.add_column("runs", justify="right")
    grid.add_column("designs, data, panels")
    for study in STUDIES.values():
        grid.add_row(study.name, study.title, str(study.default_runs or "-"), ", ".join(study.sources))
    terminal.show(grid)


@app.command()
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a study.")],
    runs: Annotated[
        int | None, typer.Option(min=1, help="Number of replicates. Default: the paper's, 1000 for simulations.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this design, data set or panel; may be repeated. Default: all."),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this model; may be repeated. Default: all.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where results, tables and figures go.")
    ] = Path("results"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the results that are there.")] = False,
    jobs: options.Jobs = 1,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster of this scheduler.")
    ] = None,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Whether to draw.")] = True,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Run a table or figure of the paper anew, next to its printed numbers.

    Every finished unit of work is kept at once: a run may be stopped in any way, and --resume goes on from there.
    """
    terminal, study = Terminal(as_json=as_json, quiet=quiet), find_study(name)
    files, units = StudyFiles(output, study, figures), study.units(runs, source, model)
    files.check(resume=resume, force=force)
    with Store(files.results) as store:
        store.begin(study.header(seed), resume=resume, force=force)
        with _workers(jobs, scheduler) as n_jobs:
            session = describe_session(effective_n_jobs(n_jobs), cluster=scheduler is not None)
            _run(terminal, study, units, store, session, seed, n_jobs)
        recorded = store.read()
        _report(terminal, files, units, recorded)


@app.command()
def export(
    results: Annotated[Path, typer.Argument(metavar="FILE", help="The .sqlite file of a study.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: the same name with .jsonl.gz.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Write results as JSON lines, packed if the name ends with .gz: what is kept in a repository."""
    output = output or results.with_suffix(".jsonl.gz")
    check_destination(output, force=force, sources=[results])
    with Store(results, must_exist=True) as store:
        write_bytes(output, export_bytes(store.read(), packed=output.suffix == ".gz"))
    Terminal().say_file("written:", output)


@app.command("import")
def import_results(
    exported: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `export` wrote.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: the same name with .sqlite.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Make the .sqlite file of a study from exported results, to go on with `run --resume`."""
    recorded = read_export(exported)
    output = output or exported.with_name(f"{exported.name.partition('.')[0]}.sqlite")
    check_destination(output, force=force, sources=[exported])
    with Store(output) as store:
        store.fill(recorded, force=force)
    Terminal().say_file("written:", output)


@app.command()
def page(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where exported results are.")],
    output: Annotated[Path, typer.Argument(metavar="PAGE", help="The page; figures go to `images` beside it.")],
) -> None:
    """Write the page of the documentation from exported results, and from nothing else."""
    write_page(folder, output)
    Terminal().say_file("written:", output)


def _run(
    terminal: Terminal, study: Study, units: list[Unit], store: Store, session: dict, seed: int, n_jobs: int
) -> None:
    """Run what is missing, with a bar; say at an interrupt what there is."""
    recorded = store.read()
    refuse_other_version(recorded, len(set(units) - set(recorded.units)))
    try:
        with terminal.progress(study.name, len(units)) as update:
            progress = _Progress(terminal, update, study.name)
            run_units(study, units, store, session, seed=seed, n_jobs=n_jobs, progress=progress)
    except KeyboardInterrupt:
        n_done = len(set(units) & set(store.read().units))
        terminal.warn(f"stopped: {n_done} of {counted(len(units), 'unit')} are in {store.path}; go on with --resume.")
        raise


def _report(terminal: Terminal, files: StudyFiles, units: list[Unit], recorded: Recorded) -> None:
    """Write tables and figures, and show what fits on a terminal; end with a status of its own where units failed."""
    results = {unit: recorded.units[unit] for unit in units if unit in recorded.units}
    failures = {unit: recorded.failures[unit] for unit in units if unit in recorded.failures}
    if results:
        tables = files.study.tables(results)
        written = [files.results, *files.write_tables(tables, results), *files.write_figures(results)]
        terminal.answer(
            {
                "command": "run",
                "study": files.study.name,
                "tables": {table.name: table.frame().to_dict("split", index=False) for table in tables},
                "files": [str(path) for path in written],
                "failed": {str(unit): error for unit, error in failures.items()},
            }
        )
        for table in (*tables, speed_table([results], files.study.default_runs)):
            _show(terminal, table)
        for path in written:
            terminal.say_file("written:", path)
    for unit, error in failures.items():
        terminal.warn(f"the unit {unit} failed: {error}")
    if failures:
        terminal.warn(f"{counted(len(failures), 'unit')} failed; --resume tries them again.")
        raise typer.Exit(FAILED)


def _show(terminal: Terminal, table: Table) -> None:
    if not table.in_terminal:
        return
    grid = Grid(title=table.title, title_justify="left", title_style="bold")
    shown = [number for number, heading in enumerate(table.columns) if heading not in table.wide]
    for number in shown:
        grid.add_column(table.columns[number], justify="left" if table.is_text(number) else "right")
    for row in table.rows:
        grid.add_row(*(row[number] for number in shown))
    terminal.show(grid)
    for note in table.notes:
        terminal.say(note)


@contextmanager
def _workers(jobs: int, address: str | None) -> Iterator[int]:
    """Send the work to a Dask cluster, if an address is given; yields the number of jobs for joblib."""
    if address is None:
        yield jobs
        return
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise UserError("--scheduler needs the package distributed: pip install 'dipolar[distributed]'.") from error
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise UserError(f"no Dask scheduler answers at {address}: {error}. Check --scheduler.") from error
    with client, parallel_config(backend="dask"):
        yield -1


class _Progress:
    """Says how much is done and how long the rest will take."""

    def __init__(self, terminal: Terminal, update: Callable[..., None], name: str) -> None:
        self._terminal, self._update, self._name = terminal, update, name
        self._last = time.monotonic()

    def __call__(self, done: int, total: int, to_go: float | None) -> None:
        rest = "" if done == total else ", time to go not known yet" if to_go is None else f", {duration(to_go)} to go"
        text = f"{self._name}: {done} of {counted(total, 'unit')}{rest}"
        self._update(done, total, text)
        now = time.monotonic()
        if not self._terminal.err.is_terminal and now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            self._terminal.err.print(text, soft_wrap=True)
