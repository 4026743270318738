"""One BLAS thread while fitting.

Nodes are small and many: a second BLAS thread has nothing to gain there, and on a busy machine threads that wait for
each other cost more than the work. Parallelism comes from `n_jobs`, over trees, folds and resamples.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


@cache
def _controller() -> ThreadpoolController:
    """Finding the loaded libraries takes a millisecond, so it is done once."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager:
    """Return a context in which BLAS and LAPACK use one thread."""
    return _controller().limit(limits=1, user_api="blas")
