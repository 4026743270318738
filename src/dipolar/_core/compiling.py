"""How routines are compiled: from plain Python, by numba, with its cache wherever one can be kept.

Numba keeps what it has compiled in the folder that NUMBA_CACHE_DIR names, beside the source, or in the user's cache
folder, whichever can be written first. Where none can (a container, a system-wide installation) it would refuse to work
at all; here what is in such a folder is still read, and the rest is compiled anew by every process, which is said once.
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache

__all__ = ["NoCacheWarning", "cache_folder", "compiled"]


class NoCacheWarning(UserWarning):
    """Compiled routines cannot be kept, so that every process compiles those that it uses."""


_folder: Path | None = None
_said = False


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Have a function compiled when it is first called, without the interpreter's lock; options are `numba.njit`'s."""

    def decorate(function: Callable[..., Any]) -> Any:
        routine = njit(nogil=True, **options)(function)
        if hasattr(routine, "enable_caching"):  # a plain function where compiling is switched off
            _keep(routine)
        return routine

    return decorate


def cache_folder() -> Path | None:
    """Return where compiled routines are kept; None where some are not, or where compiling is switched off."""
    return None if _said else _folder


class _Cache(FunctionCache):
    """Numba's cache of one routine; a disk that is full, or for reading only, is no reason to stop."""

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:
            _say_once()


def _readable(locator: type) -> type:
    """Return a way of finding a cache that asks for a folder, not for one that can be written."""

    def ensure_cache_path(self: Any) -> None:
        os.listdir(self.get_cache_path())

    return type(f"Readable{locator.__name__}", (locator,), {"ensure_cache_path": ensure_cache_path})


_Files: Any = FunctionCache._impl_class


class _ReadableFiles(_Files):
    _locator_classes = tuple(_readable(locator) for locator in _Files._locator_classes)


class _ReadableCache(_Cache):
    """A cache that was filled by somebody who could write there."""

    _impl_class: Any = _ReadableFiles

    def save_overload(self, sig: Any, data: Any) -> None:
        _say_once()


def _keep(routine: Any) -> None:
    """Give a routine a cache, as `enable_caching` does."""
    global _folder
    for cache in (_Cache, _ReadableCache):
        try:
            routine._cache = cache(routine.py_func)
        except RuntimeError:  # "cannot cache function ...: no locator available"
            continue
        _folder = Path(routine.stats.cache_path)
        return
    _say_once()


def _say_once() -> None:
    """Warn in the first process only: its workers find what it has found."""
    global _said
    if not _said and multiprocessing.parent_process() is None:
        warnings.warn(
            "dipolar finds no folder in which compiled routines can be kept, and compiles them anew in every process, "
            "which takes some seconds each time. Set the environment variable NUMBA_CACHE_DIR to a folder that can be "
            "written, and call `dipolar warm-up` once.",
            NoCacheWarning,
            stacklevel=2,
        )
    _said = True
