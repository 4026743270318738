"""What a journal says: counts of each kind of end, and the faults by where they happened."""

from __future__ import annotations

import platform
import re
import subprocess
from collections import Counter
from importlib.metadata import version
from typing import Any

from fuzz.cases import ANSWERED, CLEAR_ERROR
from fuzz.journal import Journal

__all__ = ["Tally", "session", "write_summary"]

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "pandas")

# Faults that differ by numbers only are one.
NUMBER = r"[-+]?\d[\d.,e+-]*( [KMGTP]iB)?"

# Cases that are named of each fault.
CASES_SHOWN = 3


class Tally:
    """Counts of ends by target, and the cases of each fault."""

    def __init__(self) -> None:
        self.ends: dict[str, Counter[str]] = {}
        self.seconds: Counter[str] = Counter()
        self.longest = 0.0
        self.faults: dict[tuple[str, str, str], list[str]] = {}

    def add(self, entry: dict[str, Any]) -> None:
        """Count one case."""
        target, end, seconds = entry["target"], entry["end"], entry["seconds"]
        self.ends.setdefault(target, Counter())[end] += 1
        self.seconds[target] += seconds
        self.longest = max(self.longest, seconds)
        if "fault" in entry:
            fault = entry["fault"]
            kind = (end, fault["where"], re.sub(NUMBER, "#", fault["message"])[:100])
            self.faults.setdefault(kind, []).append(f"{target} {entry['case']}")

    @property
    def n_cases(self) -> int:
        return sum(ends.total() for ends in self.ends.values())

    @property
    def n_faults(self) -> int:
        return sum(map(len, self.faults.values()))


def session() -> dict[str, str]:
    """Return what a run was made with."""
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return {
        "commit": done.stdout.strip() or "unknown",
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        **{name: version(name) for name in PACKAGES},
    }


def write_summary(journal: Journal, seed: int) -> str:
    """Return a page about a journal."""
    tally = Tally()
    for entry in journal.entries("case"):
        tally.add(entry)
    kinds = [ANSWERED, CLEAR_ERROR, *sorted({end for ends in tally.ends.values() for end in ends})]
    kinds = list(dict.fromkeys(kinds))
    sessions = [entry["session"] for entry in journal.entries("session")]
    made_with = dict.fromkeys(", ".join(f"{name} {value}" for name, value in made.items()) for made in sessions)
    lines = [
        "# The last run of `make fuzz`",
        "",
        f"{tally.n_cases:,} cases with seed {seed}, {tally.n_faults:,} faults; {tally.seconds.total() / 3600:.2f} "
        f"hours of computing, the longest case {tally.longest:.1f} s.",
        "",
        *(f"Made with {text}." for text in made_with),
        "",
        f"| target | {' | '.join(kinds)} | ms per case |",
        f"| --- |{' ---: |' * (len(kinds) + 1)}",
    ]
    for target, ends in tally.ends.items():
        counts = " | ".join(f"{ends[kind]:,}" for kind in kinds)
        lines.append(f"| {target} | {counts} | {1000 * tally.seconds[target] / ends.total():.0f} |")
    total = " | ".join(f"{sum(ends[kind] for ends in tally.ends.values()):,}" for kind in kinds)
    lines.append(f"| all | {total} | {1000 * tally.seconds.total() / max(tally.n_cases, 1):.0f} |")
    if tally.faults:
        lines += ["", "| fault | where | what | times | for example |", "| --- | --- | --- | ---: | --- |"]
    for (kind, where, message), cases in sorted(tally.faults.items(), key=lambda item: -len(item[1])):
        text = message.replace("|", "/").replace("\n", " ")
        lines.append(f"| {kind} | {where} | {text} | {len(cases)} | {', '.join(cases[:CASES_SHOWN])} |")
    return "\n".join(lines) + "\n"
