"""Progress of long fits, on request."""

from __future__ import annotations

import time

__all__ = ["Reporter"]

# Seconds between two lines of progress.
REPORT_EVERY = 1.0


class Reporter:
    """Prints a line of progress now and then."""

    def __init__(self, verbose: int) -> None:
        self._silent = not verbose
        self._last = time.monotonic()

    def growing(self, n_nodes: int, n_waiting: int) -> None:
        self._say(f"growing: {n_nodes} nodes, {n_waiting} leaves still to be split", finished=n_waiting == 0)

    def resampling(self, done: int, n_bootstraps: int) -> None:
        self._say(f"pruning: {done} of {n_bootstraps} bootstrap trees", finished=done == n_bootstraps)

    def planting(self, done: int, n_trees: int) -> None:
        self._say(f"growing: {done} of {n_trees} trees", finished=done == n_trees)

    def searching(self, done: int, n_paths: int) -> None:
        self._say(f"tuning: {done} of {n_paths} paths in kappa", finished=done == n_paths)

    def _say(self, line: str, finished: bool) -> None:
        now = time.monotonic()
        if self._silent or not (finished or now - self._last >= REPORT_EVERY):
            return
        self._last = now
        print(line, flush=True)
