"""Runs the units of a study that are not finished yet, here or on a cluster, and keeps each result as it comes."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

from joblib import delayed, effective_n_jobs

from dipolar.parallel import run_unordered
from dipolar_reproduction.speed import seconds_of
from dipolar_reproduction.store import Store
from dipolar_reproduction.study import Results, Study, Unit

# Called after every unit with the numbers of finished and of all units, and the seconds to go if they are known.
Progress = Callable[[int, int, float | None], None]


def run_units(
    study: Study,
    units: Iterable[Unit],
    store: Store,
    session: dict[str, Any],
    *,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Progress = lambda done, total, to_go: None,
) -> None:
    """Run the units of a plan that have no result yet.

    Parameters
    ----------
    study : Study
    units : iterable of Unit
        All units of the plan; finished ones are left alone.
    store : Store
        Where results are.
    session : dict
        With what the units are computed.
    seed : int, default=0
        Base of all seeds.
    n_jobs : int, default=1
        Number of processes; inside `joblib.parallel_config(backend="dask")`, -1 takes all workers of the cluster.
    progress : callable
    """
    units, finished = list(units), store.read().units
    pending = [unit for unit in units if unit not in finished]
    if not pending:
        return
    number, to_go = store.add_session(session), TimeToGo(pending, finished, effective_n_jobs(n_jobs))
    n_before, start = len(units) - len(pending), time.perf_counter()
    progress(n_before, len(units), to_go.seconds(0.0))
    tasks = [delayed(_attempt)(study, unit, seed) for unit in pending]
    with closing(run_unordered(tasks, n_jobs)) as results:
        for n_done, (place, (result, error)) in enumerate(results, start=n_before + 1):
            unit, elapsed = pending[place], time.perf_counter() - start
            if result is not None:
                result["wall"] = round(elapsed, 3)
            store.add_unit(unit, number, result, error)
            to_go.finish(unit, None if result is None else seconds_of(result))
            progress(n_done, len(units), to_go.seconds(elapsed))


def _attempt(study: Study, unit: Unit, seed: int) -> tuple[dict[str, Any] | None, str | None]:
    """Run a unit; an error in it must not end the others."""
    try:
        return study.run(unit, seed), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


class TimeToGo:
    """Estimates the time to go: units differ a hundredfold between models, so each kind has a mean of its own.

    A kind, that is a model on a source, without a finished unit is estimated by the other units of its model, and a
    model without any leaves the whole unknown. The pace is what this run has achieved: seconds of units per second of
    the clock, that is the number of workers less what is lost between them.
    """

    def __init__(self, pending: Iterable[Unit], finished: Results, n_workers: int) -> None:
        self._pending = Counter((unit.source, unit.model) for unit in pending)
        self._seen: dict[object, list[float]] = defaultdict(list)
        self._n_workers, self._worked = n_workers, 0.0
        for unit, record in finished.items():
            self._learn(unit, seconds_of(record))

    def finish(self, unit: Unit, seconds: float | None) -> None:
        """Take note of a unit that was finished in this run, or that failed: then nobody knows how long it takes."""
        self._pending[unit.source, unit.model] -= 1
        if seconds is not None:
            self._worked += seconds
            self._learn(unit, seconds)

    def seconds(self, elapsed: float) -> float | None:
        """Return the expected seconds until the last pending unit is finished; None while a model is unknown."""
        expected = 0.0
        for (source, model), count in (+self._pending).items():
            seen = self._seen.get((source, model)) or self._seen.get(model)
            if not seen:
                return None
            expected += count * sum(seen) / len(seen)
        return expected / self._pace(elapsed)

    def _learn(self, unit: Unit, seconds: float) -> None:
        self._seen[unit.source, unit.model].append(seconds)
        self._seen[unit.model].append(seconds)

    def _pace(self, elapsed: float) -> float:
        if self._worked <= 0 or elapsed <= 0:
            return float(self._n_workers)
        # At most as many as there are; at first little is finished and the quotient says little.
        return min(max(self._worked / elapsed, 0.2 * self._n_workers), float(self._n_workers))
