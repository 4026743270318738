"""`dipolar reproduce`: the paper's tables and figures, run anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from joblib import effective_n_jobs, parallel_config
from rich.table import Table as Grid

from dipolar.cli import options
from dipolar.cli.messages import UserError, counted, suggestion
from dipolar.cli.reproduction import StudyFiles, grid_of
from dipolar.cli.terminal import Terminal
from dipolar.studies import STUDIES, Journal, Study, StudyError, Unit, run_units
from dipolar.studies.runner import pending_units
from dipolar.studies.session import describe_session, refuse_other_version
from dipolar.studies.speed import duration
from dipolar.studies.summary import Results

__all__ = ["reproduce"]

FAILED = 1

# Where stderr is no terminal, as in the log of a long run, progress is a line now and then.
SECONDS_BETWEEN_LINES = 60.0


def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of a study; without one they are listed.")
    ] = None,
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
    ] = Path("reproduction"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the results that are there.")] = False,
    jobs: options.Jobs = 1,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster of this scheduler.")
    ] = None,
    figures: Annotated[
        bool, typer.Option("--figures/--no-figures", help="Whether to draw, which needs matplotlib.")
    ] = True,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Run a table or figure of the paper anew, next to its printed numbers.

    Every finished unit of work is kept at once: a run may be stopped in any way, and --resume goes on from there.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    if name is None:
        _list(terminal)
        return
    study = _find(name)
    files = StudyFiles(output, study, figures)
    try:
        units = study.units(runs, source, model)
        files.check(resume=resume, force=force)
        with _open_journal(files, study, seed, resume=resume) as journal:
            for note in journal.recorded.notes:
                terminal.warn(f"{files.results}: {note}")
            _run(terminal, study, units, journal, seed, jobs, scheduler)
            recorded = journal.recorded
    except StudyError as error:
        raise UserError(str(error)) from error
    results = {unit: recorded.units[unit] for unit in units if unit in recorded.units}
    failures = {unit: recorded.failures[unit] for unit in units if unit in recorded.failures}
    if results:
        _report(terminal, study, files, results, failures)
    _tell_failures(terminal, failures)


def _report(
    terminal: Terminal, study: Study, files: StudyFiles, results: Results, failures: Mapping[Unit, str]
) -> None:
    """Write tables and figures, and show what fits on a terminal."""
    tables = study.tables(results)
    written = [files.results, *files.write_tables(tables, results), *files.write_figures(results)]
    terminal.answer(
        {
            "command": "reproduce",
            "study": study.name,
            "tables": {table.name: table.frame().to_dict("split", index=False) for table in tables},
            "files": [str(path) for path in written],
            "failed": {str(unit): error for unit, error in failures.items()},
        }
    )
    for table in (*tables, files.speed_table(results)):
        if table.in_terminal:
            terminal.show(grid_of(table))
            for note in table.notes:
                terminal.say(note)
    for path in written:
        terminal.say_file("written:", path)


def _tell_failures(terminal: Terminal, failures: Mapping[Unit, str]) -> None:
    """End with a status of its own where units failed."""
    for unit, error in failures.items():
        terminal.warn(f"the unit {unit} failed: {error}")
    if failures:
        terminal.warn(f"{counted(len(failures), 'unit')} failed; --resume tries them again.")
        raise typer.Exit(FAILED)


def _find(name: str) -> Study:
    if name not in STUDIES:
        hint = suggestion(name, STUDIES) or f" There are {', '.join(STUDIES)}."
        raise UserError(f"there is no study {name!r}.{hint} dipolar reproduce lists them.")
    return STUDIES[name]


def _open_journal(files: StudyFiles, study: Study, seed: int, *, resume: bool) -> Journal:
    if resume and files.results.exists():
        return Journal.resume(files.results, study.header(seed))
    return Journal.create(files.results, study.header(seed))


def _run(
    terminal: Terminal, study: Study, units: list[Unit], journal: Journal, seed: int, jobs: int, scheduler: str | None
) -> None:
    pending = pending_units(units, journal)
    refuse_other_version(journal, pending)
    if not pending:
        return
    with _cluster(scheduler), terminal.progress(study.name, len(units)) as update:
        n_jobs = jobs if scheduler is None else -1
        journal.add_session(describe_session(effective_n_jobs(n_jobs), cluster=scheduler is not None))
        try:
            run_units(study, units, journal, seed=seed, n_jobs=n_jobs, progress=_Progress(terminal, update, study.name))
        except KeyboardInterrupt:
            n_done = len(units) - len(pending_units(units, journal))
            terminal.warn(
                f"stopped: {n_done} of {counted(len(units), 'unit')} are in {journal.path}; go on with --resume."
            )
            raise


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Send the work to a Dask cluster, if an address is given."""
    if address is None:
        yield
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
        yield


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


def _list(terminal: Terminal) -> None:
    listing = [
        {"name": study.name, "what": study.title, "runs": study.default_runs, "sources": list(study.sources)}
        for study in STUDIES.values()
    ]
    terminal.answer({"command": "reproduce", "studies": listing})
    grid = Grid(title="Studies", title_justify="left", title_style="bold")
    grid.add_column("name", no_wrap=True)
    grid.add_column("what")
    grid.add_column("runs", justify="right")
    grid.add_column("designs, data, panels")
    for study in STUDIES.values():
        grid.add_row(study.name, study.title, str(study.default_runs or "-"), ", ".join(study.sources))
    terminal.show(grid)
