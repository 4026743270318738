"""All loops over folds, candidates, resamples and trees: through joblib, in order, and steady when a worker is lost.

Where the tasks run is joblib's business: threads or processes here, or a Dask cluster under
`joblib.parallel_config(backend="dask")`. Arrays that tasks share are sent to a cluster once. If the worker that holds
them dies they are gone with it, and joblib gives up; the tasks that have no result yet are then sent again.
"""

from __future__ import annotations

import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from joblib import Parallel

__all__ = ["run_tasks", "run_unordered"]

# How often tasks are sent again after workers were lost.
MAX_RETRIES = 3


def run_tasks(
    tasks: Sequence[Any], n_jobs: int | None = None, prefer: str | None = None, require: str | None = None
) -> Iterator[Any]:
    """Yield the results of `joblib.delayed` calls in their order, as they come.

    Parameters
    ----------
    tasks : sequence of delayed calls
        Independent of each other, and of no effect but their result.
    n_jobs, prefer, require : int, str, str
        Passed on to joblib.
    """
    waiting = deque(tasks)
    options = {"n_jobs": n_jobs, "prefer": prefer, "require": require, "return_as": "generator"}
    for result in _run_again(lambda: list(waiting), options):
        waiting.popleft()
        yield result


def run_unordered(tasks: Sequence[Any], n_jobs: int | None = None) -> Generator[tuple[int, Any], None, None]:
    """Yield the number and the result of `joblib.delayed` calls, each as soon as it is there.

    For long tasks whose results are to be kept at once: nothing waits for a slower neighbour, and tasks are not sent
    in batches. Parameters are those of :func:`run_tasks`.
    """
    waiting = {number: (_Numbered(number, task[0]), *task[1:]) for number, task in enumerate(tasks)}
    options = {"n_jobs": n_jobs, "return_as": "generator_unordered", "batch_size": 1}
    for number, result in _run_again(lambda: list(waiting.values()), options):
        del waiting[number]
        yield number, result


def _run_again(tasks_left: Callable[[], Sequence[Any]], options: dict[str, Any]) -> Iterator[Any]:
    """Yield the results of the tasks that are left; if workers are lost, of those that are left then."""
    for attempt in range(MAX_RETRIES + 1):
        results = Parallel(**options)(tasks_left())
        try:
            # `yield from` would close the results, with joblib's warning, before `_cancel` can.
            for result in results:  # noqa: UP028
                yield result
            return
        except _lost_worker_errors():
            _cancel(results)
            if attempt == MAX_RETRIES:
                raise
        except BaseException:
            _cancel(results)
            raise


class _Numbered:
    """A function whose results carry the number of their task."""

    def __init__(self, number: int, function: Callable[..., Any]) -> None:
        self.number, self.function = number, function

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[int, Any]:
        return self.number, self.function(*args, **kwargs)


def _lost_worker_errors() -> tuple[type[BaseException], ...]:
    """What Dask raises when results or data went away with a worker; nothing where Dask is not in use."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return ()
    return (
        distributed.client.FutureCancelledError,
        distributed.CancelledError,
        distributed.scheduler.KilledWorker,
        distributed.comm.core.CommClosedError,
    )


def _cancel(results: Any) -> None:
    """Stop the workers at once; joblib would warn about results that nobody waits for any more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results.close()
