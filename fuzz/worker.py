"""A process that runs cases one after another, until it is told to stop or something kills it."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
from multiprocessing.connection import Connection
from pathlib import Path

from fuzz.cases import all_targets, run_case

__all__ = ["CPU_SECONDS", "serve"]

# A case that computes for longer hangs. Compiling is done before.
CPU_SECONDS = 20

# What a case may use on top of what the process has when it starts.
MEMORY = 2 << 30

# Cases of every target that are run first, so that nearly everything is compiled when time is taken.
FIRST_CASES = 3


def serve(pipe: Connection, seed: int, log: Path) -> None:
    """Run the cases that come through a pipe and send back how they ended; None ends it.

    The first thing that is sent is None: everything is compiled.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted as well, and says when to stop
    stream = open(log, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the process lives
    for descriptor in (1, 2):
        os.dup2(stream.fileno(), descriptor)
    faulthandler.enable(stream)
    faulthandler.register(signal.SIGPROF, stream, chain=True)  # then does what it does: end the process
    for name in all_targets():
        for case in range(FIRST_CASES):
            run_case(seed, case, name)
    limit_memory()
    pipe.send(None)
    while (task := pipe.recv()) is not None:
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        ending = run_case(seed, *task)
        signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send(ending)


def limit_memory() -> None:
    """Let the process grow by so much and no further."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else None
    if pages is not None:
        limit = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
