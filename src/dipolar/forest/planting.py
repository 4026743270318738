"""Growing all trees of a forest, in parallel, each from its own seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs

from dipolar.forest.drawing import tree_generator
from dipolar.parallel import run_tasks
from dipolar.resampling import draw_with_replacement, draw_without_replacement
from dipolar.rows import TrainingRows
from dipolar.survival import Survival
from dipolar.threads import one_blas_thread
from dipolar.tree.growing import Splitter, grow_tree
from dipolar.tree.limits import GrowthLimits
from dipolar.tree.record import Tree

__all__ = ["Planting", "plant"]

# Each worker gets its trees in so many parts: few enough to cost little, many enough that none is late.
PARTS_PER_WORKER = 4


@dataclass(frozen=True)
class Planting:
    """All that decides what a forest becomes, besides its rows."""

    splitter: Splitter
    limits: GrowthLimits
    seed: int
    bootstrap: bool
    share: float  # size of a sample, as a share of the rows

    def sample(self, weight: np.ndarray, number: int) -> tuple[np.ndarray, np.random.Generator]:
        """Return how often each row is in the sample of a tree, and the generator of whatever else it draws."""
        rng = tree_generator(self.seed, number)
        draw = draw_with_replacement if self.bootstrap else draw_without_replacement
        return draw(weight, self.share, rng), rng


def plant(
    planting: Planting,
    rows: TrainingRows,
    numbers: Sequence[int],
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Tree], int]:
    """Grow the trees with these numbers; return them in order, and in how many nodes a problem was not solved."""
    prepared = planting.splitter.prepare(rows, np.random.default_rng(planting.seed))
    shared = rows.survival.time, rows.survival.event, rows.weight, *prepared
    # Arrays are arguments of their own, so that joblib's Dask backend sends each of them once.
    tasks = [delayed(_grow_part)(planting, part, *shared) for part in _parts(numbers, n_jobs)]
    trees: list[Tree] = []
    n_unconverged = 0
    # Threads: the work is in compiled code that releases the interpreter.
    with one_blas_thread():
        for part, unconverged in run_tasks(tasks, n_jobs, prefer="threads"):
            trees += part
            n_unconverged += unconverged
            if progress is not None:
                progress(len(trees), len(numbers))
    return trees, n_unconverged


def _parts(numbers: Sequence[int], n_jobs: int | None) -> Iterator[Sequence[int]]:
    n_parts = min(len(numbers), PARTS_PER_WORKER * max(1, effective_n_jobs(n_jobs)))
    edges = [len(numbers) * part // n_parts for part in range(n_parts + 1)] if n_parts else []
    return (numbers[start:stop] for start, stop in pairwise(edges))


def _grow_part(
    planting: Planting,
    numbers: Sequence[int],
    time: np.ndarray,
    event: np.ndarray,
    weight: np.ndarray,
    *prepared: Any,
) -> tuple[list[Tree], int]:
    survival = Survival(time, event)
    trees, n_unconverged = [], 0
    for number in numbers:
        counts, rng = planting.sample(weight, number)
        finder = planting.splitter.finder(survival, counts, planting.limits, rng, *prepared)
        trees.append(grow_tree(finder, survival, counts, planting.limits))
        n_unconverged += finder.n_unconverged
    return trees, n_unconverged
