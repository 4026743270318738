"""Printed numbers against ours, under every reading of how they may have been computed.

Two readings have names. *Text*: what the paper says it did, pruning by the bootstrap and its own formulas on test rows.
*Scripts*: what the authors' public scripts do, pruning at a fixed price and Brier scores of training rows with the censoring
distribution of the evaluated rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from dipolar.metrics.brier import VARIANTS
from dipolar.studies.printed import Printed, reasons
from dipolar.studies.table import Table, mean_and_sd

__all__ = ["MARKS", "READINGS", "Comparison", "Reading", "compare", "comparison_table", "distance", "long_frame", "mark"]

MARKS = ("within 1 SD", "within 2 SD", "outside")
UNKNOWN = "not known"
MEASURE_NAMES = {"ci": "C", "ibs": "IBS", "nodes": "nodes", "pruned_nodes": "nodes, pruned"}


class Reading(NamedTuple):
    """One way to compute a printed measure."""

    name: str
    column: str  # of the frame of trials


def _brier_readings() -> list[Reading]:
    return [
        Reading(f"{variant} IBS of {rows} rows, {rule} pruning", f"{rule}.{prefix}ibs_{variant}")
        for rule in ("bootstrap", "fixed")
        for rows, prefix in (("test", ""), ("training", "train_"))
        for variant in VARIANTS
    ]


def _first(readings: list[Reading], *columns: str) -> tuple[Reading, ...]:
    """Put the text's reading first and the scripts' second."""
    return tuple(sorted(readings, key=lambda r: columns.index(r.column) if r.column in columns else len(columns)))


READINGS: Mapping[str, tuple[Reading, ...]] = {
    "ci": (
        Reading("paper's C, bootstrap pruning", "bootstrap.c_paper"),
        Reading("paper's C, fixed pruning", "fixed.c_paper"),
        Reading("Harrell's C, bootstrap pruning", "bootstrap.c_harrell"),
        Reading("Harrell's C, fixed pruning", "fixed.c_harrell"),
    ),
    "ibs": _first(_brier_readings(), "bootstrap.ibs_paper", "fixed.train_ibs_authors"),
    "nodes": (Reading("unpruned", "grown.nodes"),),
    "pruned_nodes": (Reading("bootstrap pruning", "bootstrap.nodes"), Reading("fixed pruning", "fixed.nodes")),
}


class Ours(NamedTuple):
    """Our value of a printed number under one reading."""

    reading: Reading
    mean: float
    sd: float
    n: int
    mark: str


@dataclass(frozen=True)
class Comparison:
    """A printed number, and ours under every reading; the first is the text's, the second (or only) the scripts'."""

    printed: Printed
    source: str
    ours: tuple[Ours, ...]

    @property
    def text(self) -> Ours:
        return self.ours[0]

    @property
    def scripts(self) -> Ours:
        return self.ours[min(1, len(self.ours) - 1)]

    def fits(self) -> str:
        """Say which reading the printed number fits, to one standard deviation."""
        text, scripts = self.text.mark == MARKS[0], self.scripts.mark == MARKS[0]
        if self.text is self.scripts:
            return "yes" if text else "no"
        if text or scripts:
            return "both" if text and scripts else ("text" if text else "scripts")
        others = [ours for ours in self.ours[2:] if ours.mark == MARKS[0]]
        if others:
            nearest = min(others, key=lambda ours: abs(ours.mean - self.printed.mean))
            return f"neither, but {nearest.reading.name}"
        return "neither"

    def remark(self) -> str:
        """Say what is known about a row that does not come out as the text says it should."""
        missed = self.text.mark != MARKS[0]
        known = [reason.text for reason in reasons() if reason.applies(self.printed) and (missed or reason.always)]
        return " ".join(known)


def distance(ours: float, printed: Printed) -> float:
    """Return how many printed standard deviations our mean is from the printed one, less what rounding explains."""
    gap = max(0.0, abs(ours - printed.mean) - printed.rounding)
    if gap == 0:
        return 0.0
    return gap / printed.sd if printed.sd else float("inf")


def mark(ours: float, printed: Printed) -> str:
    """Say whether our mean is within one printed standard deviation of the printed mean, within two, or outside."""
    if pd.isna(ours) or printed.sd is None:
        return UNKNOWN
    away = distance(ours, printed)
    return MARKS[0] if away <= 1 else MARKS[1] if away <= 2 else MARKS[2]


def compare(summary: pd.DataFrame, printed: Iterable[Printed], sources: Mapping[str, Sequence[str]]) -> list[Comparison]:
    """Compare a summary of trials with printed rows; `sources` names what stands for each printed source."""
    comparisons = []
    by_source = [(source, row) for row in printed for source in sources[row.source]]
    order = list(dict.fromkeys(source for names in sources.values() for source in names))
    for source, row in sorted(by_source, key=lambda pair: order.index(pair[0])):
        if (source, row.model) not in summary.index:
            continue
        values = summary.loc[(source, row.model)]
        ours = tuple(
            Ours(reading, mean := values[reading.column, "mean"], values[reading.column, "std"],
                 int(values[reading.column, "count"]), mark(mean, row))
            for reading in READINGS[row.measure]
        )  # fmt: skip
        comparisons.append(Comparison(row, source, ours))
    return comparisons


def comparison_table(comparisons: Sequence[Comparison], title: str, source_name: str) -> Table:
    """Return the printed numbers next to ours under the two named readings."""
    columns = [source_name, "tree", "measure", "printed", "text", "", "scripts", "", "fits", "remark"]
    rows = [
        [
            comparison.source,
            comparison.printed.model,
            MEASURE_NAMES[comparison.printed.measure],
            comparison.printed.text,
            _cell(comparison, comparison.text),
            comparison.text.mark,
            _cell(comparison, comparison.scripts),
            comparison.scripts.mark,
            comparison.fits(),
            comparison.remark(),
        ]
        for comparison in comparisons
    ]
    notes = [
        f"Mean (SD). {_count('text', [c.text.mark for c in comparisons])} "
        f"{_count('scripts', [c.scripts.mark for c in comparisons])}",
        "*text*: pruned by the bootstrap, the paper's C, the paper's IBS of test rows. *scripts*: pruned at a fixed "
        "price, the paper's C, the scripts' IBS of training rows. Marks are in printed standard deviations; *fits* says "
        "which reading is within one of them.",
    ]
    return Table("comparison", title, columns, rows, notes, left=3, texts=frozenset(["", "fits", "remark"]))


def long_frame(comparisons: Iterable[Comparison]) -> pd.DataFrame:
    """Return one row for each printed number and each reading of it."""
    rows = [
        {
            "table": comparison.printed.table,
            "printed_source": comparison.printed.source,
            "source": comparison.source,
            "model": comparison.printed.model,
            "measure": comparison.printed.measure,
            "printed_mean": comparison.printed.mean,
            "printed_sd": comparison.printed.sd,
            "reading": ours.reading.name,
            "mean": ours.mean,
            "sd": ours.sd,
            "n": ours.n,
            "printed_sds_away": round(distance(ours.mean, comparison.printed), 3),
            "mark": ours.mark,
        }
        for comparison in comparisons
        for ours in comparison.ours
    ]
    return pd.DataFrame(rows)


def _cell(comparison: Comparison, ours: Ours) -> str:
    return mean_and_sd(ours.mean, ours.sd, 3 if comparison.printed.measure in ("ci", "ibs") else 2)


def _count(name: str, marks: Sequence[str]) -> str:
    counts = Counter(marks)
    told = ", ".join(f"{counts[mark]} {mark}" for mark in (*MARKS, UNKNOWN) if counts[mark])
    return f"Of {len(marks)} rows as the {name} says: {told}." if name == "text" else f"As the scripts do: {told}."
