"""Processes that run cases at the same time; one that dies or hangs is recorded and replaced."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Generator, Iterable
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.cases import Ending
from fuzz.faults import Fault
from fuzz.worker import CPU_SECONDS, serve

__all__ = ["Task", "run_cases"]

Task = tuple[int, str]  # number and target of a case

# A case that neither ends nor computes, such as one that waits for a lock or reads from a pipe.
WALL_SECONDS = 300

# Lines of a log that tell how a process died.
TAIL = 25


class Worker:
    """One process and the case it is at."""

    def __init__(self, work: Callable[[Connection, int, Path], None], seed: int, log: Path) -> None:
        context = get_context("spawn")
        self.log = log
        log.touch()
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, seed, log), daemon=True)
        self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.since = time.monotonic()

    def start(self, task: Task | None) -> None:
        """Give the process a case; None ends it."""
        self.task, self.since = task, time.monotonic()
        self.pipe.send(task)

    def poll(self) -> tuple[bool, Ending | None]:
        """Tell whether the process wants another case, and how the last one ended."""
        try:
            if self.pipe.poll():
                return True, self.pipe.recv()
        except (EOFError, ConnectionError):
            return True, self._obituary()
        if self.task is not None and time.monotonic() - self.since > WALL_SECONDS:
            os.kill(self.process.pid or 0, signal.SIGPROF)  # it says where it is, and ends
            self.process.join(10)
            self.process.kill()
            return True, self._obituary()
        return False, None

    def _obituary(self) -> Ending:
        """Say how a process died at its case."""
        self.process.join()
        tail = "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL:])
        if self.task is None:
            raise RuntimeError(f"A process died before its first case:\n{tail}")
        seconds = time.monotonic() - self.since
        code = self.process.exitcode or 0
        name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        hangs = code == -signal.SIGPROF or seconds > WALL_SECONDS
        told = f"more than {CPU_SECONDS} s of computing or {WALL_SECONDS} s in all"
        kind, message = ("hang", told) if hangs else ("death", name)
        where = next((line.strip() for line in tail.splitlines() if line.strip().startswith("File ")), "")
        return Ending(*self.task, kind, seconds, Fault(kind, message, where, tail))


def run_cases(
    seed: int, tasks: Iterable[Task], jobs: int, work: Callable[[Connection, int, Path], None] = serve
) -> Generator[Ending]:
    """Run cases in some processes and yield how they ended, in the order in which they did."""
    waiting = iter(tasks)
    with TemporaryDirectory() as folder:
        logs = [Path(folder, f"{number}.log") for number in range(jobs)]
        workers = [Worker(work, seed, log) for log in logs]
        try:
            while workers:
                wait([worker.pipe for worker in workers], timeout=1.0)
                for place, worker in reversed(list(enumerate(workers))):
                    is_free, ending = worker.poll()
                    if ending is not None:
                        yield ending
                    if not is_free:
                        continue
                    if ending is not None and ending.end in ("hang", "death"):
                        workers[place] = Worker(work, seed, worker.log)
                        continue
                    task = next(waiting, None)
                    worker.start(task)
                    if task is None:
                        workers.remove(worker)
        finally:
            for worker in workers:
                worker.process.kill()
