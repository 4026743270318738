"""The command: run many cases and tell what happened, or one of them again.

python -m fuzz.run --cases 100000 --jobs 2 --journal fuzz/runs/journal.jsonl
python -m fuzz.run --target svm --case 17
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
import time
from contextlib import closing
from pathlib import Path

# Each process is one thread; set before NumPy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from fuzz.cases import all_targets, run_case, target_of  # noqa: E402
from fuzz.journal import Journal  # noqa: E402
from fuzz.pool import run_cases  # noqa: E402
from fuzz.summary import Tally, session, write_summary  # noqa: E402

# Seconds between two lines about the progress.
REPORT_EVERY = 10.0


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return 1 if there are faults."""
    options = _read(arguments)
    targets = tuple(options.target or all_targets())
    if options.case is not None:
        return run_again(options.seed, options.case, targets)
    if options.journal.exists() and not options.resume:
        sys.exit(f"{options.journal} is there already. Continue it with --resume, or give another --journal.")
    journal = Journal(options.journal, options.seed, targets)
    print(f"seed {options.seed}, {options.cases} cases of {len(targets)} targets: {', '.join(targets)}", flush=True)
    run_missing(journal, options.seed, targets, options.cases, options.jobs)
    page = write_summary(journal, options.seed)
    print(page)
    if options.output is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(page, encoding="utf-8")
    return int(any("fault" in entry for entry in journal.entries("case")))


def run_missing(journal: Journal, seed: int, targets: tuple[str, ...], n_cases: int, jobs: int) -> None:
    """Run the cases that a journal does not have yet; Ctrl-C leaves them for the next time."""
    done = {entry["case"] for entry in journal.entries("case")}
    tasks = ((case, target_of(case, targets)) for case in range(n_cases) if case not in done)
    journal.append({"session": session()})
    tally, start, told = Tally(), time.monotonic(), time.monotonic()
    try:
        with closing(run_cases(seed, tasks, jobs)) as endings:
            for ending in endings:
                journal.append_ending(ending)
                tally.add(ending.plain() | {"case": ending.case, "seconds": ending.seconds})
                if time.monotonic() - told > REPORT_EVERY:
                    told = time.monotonic()
                    rate = tally.n_cases / (told - start)
                    print(
                        f"{len(done) + tally.n_cases} cases, {rate:.1f} a second, {tally.n_faults} faults", flush=True
                    )
    except KeyboardInterrupt:
        print(f"Interrupted after {tally.n_cases} cases; --resume continues.")


def run_again(seed: int, case: int, targets: tuple[str, ...]) -> int:
    """Run one case in this process, and tell all about it."""
    name = target_of(case, targets)
    ending = run_case(seed, case, name)
    print(f"seed {seed}, case {case} of {name}: {ending.end} after {ending.seconds:.2f} s")
    for drawn, value in ending.drawn.items():
        print(f"    {drawn}: {value}")
    if ending.fault is not None:
        print(f"{ending.fault.kind} in {ending.fault.where}\n{ending.fault.tail}")
    return int(ending.fault is not None)


def _read(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz.run", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000, help="how many cases there are in all")
    parser.add_argument("--seed", type=int, default=0, help="what all cases are drawn from")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes run them")
    parser.add_argument("--journal", type=Path, default=Path("fuzz/runs/journal.jsonl"), help="where ends are kept")
    parser.add_argument("--resume", action="store_true", help="continue a journal that is there")
    parser.add_argument("--output", type=Path, help="where the summary is written as well")
    parser.add_argument("--target", action="append", choices=all_targets(), help="run this target only, or these")
    parser.add_argument("--case", type=int, help="run this case again and tell all about it")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
