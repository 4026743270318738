"""Processes that end in every way, for the pool that runs generated cases; a module of their own, quick to import."""

import os
import signal

from fuzz.cases import ANSWERED, Ending


def serve_fragile(pipe, seed, log):
    """What a process does that crashes in case 1, hangs in case 2, and ends in case 3."""
    pipe.send(None)
    while (task := pipe.recv()) is not None:
        case, name = task
        if case == 1:
            os.kill(os.getpid(), signal.SIGSEGV)
        if case == 2:
            signal.setitimer(signal.ITIMER_PROF, 0.1)
            while True:
                pass
        if case == 3:
            os._exit(7)
        pipe.send(Ending(case, name, ANSWERED, 0.0))


def serve_nothing(pipe, seed, log):
    """What a process does that cannot even start."""
    log.write_text("no such module")
    os._exit(1)
