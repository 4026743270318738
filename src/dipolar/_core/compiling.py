"""How routines are compiled: from plain Python, by numba, with its cache wherever one can be kept.

Numba keeps what it has compiled beside the source or in the user's cache folder. Where neither can be written (a
container, a system-wide installation) it would refuse to work at all; here the routines are then compiled anew by
every process, and that is said once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["NoCacheWarning", "compiled"]


class NoCacheWarning(UserWarning):
    """Compiled routines cannot be kept, so that every process compiles those that it uses."""


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Have a function compiled when it is first called, without the interpreter's lock; options are `numba.njit`'s."""

    def decorate(function: Callable[..., Any]) -> Any:
        routine = njit(nogil=True, **options)(function)
        if hasattr(routine, "enable_caching"):  # a plain function where compiling is switched off
            try:
                routine.enable_caching()
            except RuntimeError:  # "cannot cache function ...: no locator available"
                _say_once()
        return routine

    return decorate


_said = False


def _say_once() -> None:
    global _said
    if not _said:
        _said = True
        warnings.warn(
            "dipolar finds no folder in which compiled routines can be kept, and compiles them anew in every process, "
            "which takes some seconds each time. Set the environment variable NUMBA_CACHE_DIR to a folder that can be "
            "written, or call `dipolar warm-up` once where the package is installed.",
            NoCacheWarning,
            stacklevel=2,
        )
