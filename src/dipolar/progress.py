"""Progress of long fits, for whoever wants to know: printed with `verbose`, or told to a function.

>>> from dipolar import LogRankSurvivalTree
>>> from dipolar.datasets import load_remission
>>> from dipolar.progress import telling
>>> steps = []
>>> with telling(steps.append):
...     tree = LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=3).fit(*load_remission(return_X_y=True))
>>> steps[-1]
Step(text='pruning: 3 of 3 bootstrap trees', done=3, total=3)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

__all__ = ["Reporter", "Step", "telling"]

# Seconds between two lines of progress.
REPORT_EVERY = 1.0


class Step(NamedTuple):
    """How far a fit has come."""

    text: str
    done: int
    total: int | None  # None where nobody can know


Listener = Callable[[Step], object]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def telling(listener: Listener | None) -> Iterator[None]:
    """Have fits in this block, and in this thread, call a function with every `Step`; None tells nobody."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class Reporter:
    """Tells every step of a fit to the listener, if there is one, and prints one now and then if `verbose`."""

    def __init__(self, verbose: int) -> None:
        self._silent = not verbose
        self._listener = _listener.get()
        self._last = time.monotonic()

    def growing(self, n_nodes: int, n_waiting: int) -> None:
        self._tell(
            Step(f"growing: {n_nodes} nodes, {n_waiting} leaves still to be split", n_nodes, None), not n_waiting
        )

    def resampling(self, done: int, n_bootstraps: int) -> None:
        self._count("pruning", done, n_bootstraps, "bootstrap trees")

    def planting(self, done: int, n_trees: int) -> None:
        self._count("growing", done, n_trees, "trees")

    def searching(self, done: int, n_paths: int) -> None:
        self._count("tuning", done, n_paths, "fits")

    def _count(self, what: str, done: int, total: int, unit: str) -> None:
        self._tell(Step(f"{what}: {done} of {total} {unit}", done, total), finished=done == total)

    def _tell(self, step: Step, finished: bool) -> None:
        if self._listener is not None:
            self._listener(step)
        now = time.monotonic()
        if self._silent or not (finished or now - self._last >= REPORT_EVERY):
            return
        self._last = now
        print(step.text, flush=True)
