"""Runs the units of a study that are not finished yet, here or on a cluster, and writes each down as it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any

from joblib import delayed, effective_n_jobs

from dipolar.parallel import run_unordered
from dipolar.studies.estimate import TimeToGo, seconds_of
from dipolar.studies.journal import Journal
from dipolar.studies.unit import Unit

if TYPE_CHECKING:
    from dipolar.studies.study import Study

__all__ = ["pending_units", "run_units"]

# Called after every unit with the numbers of finished and of all units, and the seconds to go if they are known.
Progress = Callable[[int, int, float | None], None]


def pending_units(units: Iterable[Unit], journal: Journal) -> list[Unit]:
    """Return the units that have no result yet, in their order."""
    return [unit for unit in units if unit not in journal.recorded.units]


def run_units(
    study: Study,
    units: Iterable[Unit],
    journal: Journal,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Progress = lambda done, total, to_go: None,
) -> int:
    """Run what is pending, append each result as it ends, and return how many units failed.

    Parameters
    ----------
    study : Study
    units : iterable of Unit
        All units of the plan; finished ones are left alone.
    journal : Journal
        Where results are.
    seed : int, default=0
        Base of all seeds.
    n_jobs : int, default=1
        Number of processes; inside `joblib.parallel_config(backend="dask")`, -1 takes all workers of the cluster.
    progress : callable
    """
    units = list(units)
    pending = pending_units(units, journal)
    to_go = TimeToGo(pending, journal.recorded.units, effective_n_jobs(n_jobs))
    n_done, n_failed, start = len(units) - len(pending), 0, time.perf_counter()
    progress(n_done, len(units), to_go.seconds(0.0))
    tasks = [delayed(_attempt)(study, unit, seed) for unit in pending]
    with closing(run_unordered(tasks, n_jobs)) as results:
        for number, (result, error) in results:
            unit, elapsed = pending[number], time.perf_counter() - start
            if error is None:
                journal.add_unit(unit, {**result, "wall": round(elapsed, 3)})
                to_go.finish(unit, seconds_of(result))
            else:
                journal.add_failure(unit, error)
                to_go.skip(unit)
                n_failed += 1
            n_done += 1
            progress(n_done, len(units), to_go.seconds(elapsed))
    return n_failed


def _attempt(study: Study, unit: Unit, seed: int) -> tuple[dict[str, Any], str | None]:
    """Run a unit; an error in it must not end the others."""
    try:
        return study.run(unit, seed), None
    except Exception as error:
        return {}, f"{type(error).__name__}: {error}"
