"""Compiling with the garbage collector at rest.

Numba makes millions of small objects while it compiles, and keeps most of them. Python's collector would look through
all of them again and again and find nothing, for a seventh of the time.
"""

from __future__ import annotations

import gc

from numba.core import event


class CollectorPause(event.Listener):
    """Switches the garbage collector off while a routine of this package is compiled, if it was on.

    No lock is needed: behind one of its own, numba compiles one routine at a time, and on its way those that it calls.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.is_paused = False

    def on_start(self, event: event.Event) -> None:
        self.depth += 1
        if self.depth == 1 and gc.isenabled() and _is_ours(event.data.get("dispatcher")):
            gc.disable()
            self.is_paused = True

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0 and self.is_paused:
            gc.enable()
            self.is_paused = False


def _is_ours(dispatcher: object) -> bool:
    module = getattr(getattr(dispatcher, "py_func", None), "__module__", None)
    return isinstance(module, str) and module.startswith("dipolar.")


def pause_collector() -> None:
    """Have the collector rest from now on while routines are compiled."""
    event.register("numba:compile", CollectorPause())
