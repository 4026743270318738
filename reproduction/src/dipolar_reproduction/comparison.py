"""Printed numbers against ours, under every reading of how they may have been computed.

Two readings have names. *Text*: what the paper says it did, pruning by the bootstrap and its own formulas on test rows.
*Scripts*: what the authors' public scripts do, pruning at a fixed price and Brier scores of training rows with the
censoring distribution of the evaluated rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from dipolar.metrics.brier import VARIANTS
from dipolar_reproduction.models import TREES
from dipolar_reproduction.printed import MEASURES, Printed, reasons
from dipolar_reproduction.study import Results
from dipolar_reproduction.summary import summarise, trial_frame
from dipolar_reproduction.table import Table, mean_and_sd, number
from dipolar_reproduction.trial import THRESHOLDS

MARKS = ("within 1 SD", "within 2 SD", "outside")
UNKNOWN = "not known"

# Differences of decimals are off by a little in binary.
SLACK = 1e-9

# For columns of a table.
SHORT_MARKS = dict(zip((*MARKS, UNKNOWN), ("1 SD", "2 SD", "outside", "?")))
MEASURE_NAMES = {"ci": "C", "ibs": "IBS", "nodes": "nodes", "pruned_nodes": "nodes, pruned"}
WHOSE = {"graf": "Graf's", "paper": "paper's", "authors": "scripts'"}


class Reading(NamedTuple):
    """One way to compute a printed measure."""

    name: str
    column: str  # of the frame of trials


_BRIER = {
    f"{rule}.{prefix}ibs_{variant}": f"{WHOSE[variant]} IBS of {rows} rows, {rule} pruning"
    for rule in ("bootstrap", "fixed")
    for rows, prefix in (("test", ""), ("training", "train_"))
    for variant in VARIANTS
}
_NAMED = ("bootstrap.ibs_paper", "fixed.train_ibs_authors")

# The text's reading comes first and the scripts' second; where there is one, it is both.
READINGS: Mapping[str, tuple[Reading, ...]] = {
    "ci": (
        Reading("paper's C, bootstrap pruning", "bootstrap.c_paper"),
        Reading("paper's C, fixed pruning", "fixed.c_paper"),
        Reading("Harrell's C, bootstrap pruning", "bootstrap.c_harrell"),
        Reading("Harrell's C, fixed pruning", "fixed.c_harrell"),
    ),
    "ibs": tuple(Reading(_BRIER[column], column) for column in dict.fromkeys([*_NAMED, *_BRIER])),
    "nodes": (Reading("unpruned", "grown.nodes"),),
    "pruned_nodes": (
        Reading("bootstrap pruning", "bootstrap.nodes"),
        Reading("fixed pruning", "fixed.nodes"),
        *(Reading(f"price {price:g}", f"nodes_at_{price:g}") for price in THRESHOLDS),
    ),
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
    """A printed number, and ours under every reading of its measure."""

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
        return "another" if self._nearest_other() else "none"

    def _nearest_other(self) -> Ours | None:
        """Return, of the readings without a name that fit, the nearest."""
        others = [ours for ours in self.ours[2:] if ours.mark == MARKS[0]]
        return min(others, key=lambda ours: abs(ours.mean - self.printed.mean)) if others else None

    def remark(self) -> str:
        """Say what is known about a row that does not come out as the text says it should."""
        told = reasons(self.printed, missed=self.text.mark != MARKS[0])
        if self.fits() == "another" and (other := self._nearest_other()):
            told.append(f"Fits {other.reading.name}: {number(other.mean, self.digits)}.")
        return " ".join(told)

    @property
    def digits(self) -> int:
        """Digits that our means are shown with."""
        return 3 if self.printed.measure in ("ci", "ibs") else 2

    def cells(self) -> list[str]:
        """Return the row of the table."""
        shown = [
            [mean_and_sd(ours.mean, ours.sd, self.digits), SHORT_MARKS[ours.mark]]
            for ours in (self.text, self.scripts)
        ]  # fmt: skip
        row = [self.source, self.printed.model, MEASURE_NAMES[self.printed.measure], self.printed.text]
        return [*row, *shown[0], *shown[1], self.fits(), self.remark()]


def distance(ours: float, printed: Printed, our_sd: float = float("nan")) -> float:
    """Return how many printed standard deviations our mean is from the printed one, less what rounding explains.

    Where none is printed, ours takes its place. What cannot be told is not a number.
    """
    spread = our_sd if printed.sd is None else printed.sd
    if pd.isna(ours) or pd.isna(spread):
        return float("nan")
    gap = abs(ours - printed.mean) - printed.rounding
    if gap <= SLACK:
        return 0.0
    return gap / spread if spread > 0 else float("inf")


def mark(ours: float, printed: Printed, our_sd: float = float("nan")) -> str:
    """Say whether our mean is within one standard deviation of the printed mean, within two, or outside."""
    away = distance(ours, printed, our_sd)
    if pd.isna(away):
        return UNKNOWN
    return MARKS[0] if away <= 1 + SLACK else MARKS[1] if away <= 2 + SLACK else MARKS[2]


def compare(results: Results, printed: Iterable[Printed], sources: Mapping[str, Sequence[str]]) -> list[Comparison]:
    """Compare trials with printed rows; `sources` names what stands for each printed source."""
    return compare_summary(summarise(trial_frame(results)), printed, sources)


def compare_summary(
    summary: pd.DataFrame, printed: Iterable[Printed], sources: Mapping[str, Sequence[str]]
) -> list[Comparison]:
    """Compare means of trials with printed rows, source by source, tree by tree, measure by measure."""
    order = [source for names in sources.values() for source in names]
    pairs = [(source, row) for row in printed for source in sources[row.source]]
    pairs.sort(key=lambda pair: (order.index(pair[0]), TREES.index(pair[1].model), MEASURES.index(pair[1].measure)))
    comparisons = []
    for source, row in pairs:
        if (source, row.model) in summary.index:
            values = summary.loc[(source, row.model)]
            ours = tuple(_ours(reading, row, *values[reading.column]) for reading in READINGS[row.measure])
            comparisons.append(Comparison(row, source, ours))
    return comparisons


def _ours(reading: Reading, printed: Printed, mean: float, sd: float, n: float) -> Ours:
    return Ours(reading, mean, sd, int(n), mark(mean, printed, sd))


def comparison_table(
    comparisons: Sequence[Comparison],
    title: str,
    source_name: str,
    *,
    spread: str = "printed standard deviations",
    remark: str = "",
) -> Table:
    """Return the printed numbers next to ours under the two named readings; `spread` says what marks are counted in."""
    columns = [source_name, "tree", "measure", "printed", "text", "mark", "scripts", "mark of scripts", "fits"]
    texts, scripts = ([getattr(c, name).mark for c in comparisons] for name in ("text", "scripts"))
    notes = [
        f"Mean (SD). Of {len(comparisons)} rows as the text says: {_count(texts)}. As the scripts do: "
        f"{_count(scripts)}.",
        "*text*: pruned by the bootstrap, the paper's C, the paper's IBS of test rows. *scripts*: pruned at a fixed "
        f"price, the paper's C, the scripts' IBS of training rows. Marks count {spread}; *fits* says which reading is "
        "within one of them, and the remark names another one.",
        *([remark] if remark else []),
    ]
    rows = [comparison.cells() for comparison in comparisons]
    texts_in = ("mark", "mark of scripts", "fits", "remark")
    return Table("comparison", title, [*columns, "remark"], rows, notes, left=3, texts=texts_in, wide=["remark"])


def _count(marks: Sequence[str]) -> str:
    counts = Counter(marks)
    return ", ".join(f"{counts[mark]} {mark}" for mark in (*MARKS, UNKNOWN) if counts[mark])


def reading_table(comparisons: Sequence[Comparison]) -> Table:
    """Return how many printed numbers each reading fits: what the authors did shows in what fits most of them."""
    rows = []
    for measure, readings in READINGS.items():
        of_measure = [comparison for comparison in comparisons if comparison.printed.measure == measure]
        for place, reading in enumerate(readings):
            marks = Counter(comparison.ours[place].mark for comparison in of_measure)
            if marks:
                rows.append([MEASURE_NAMES[measure], reading.name, *(str(marks[mark]) for mark in MARKS)])
    notes = [
        "Every way to compute a measure, the text's first and the scripts' second, and how near the printed ones are."
    ]
    return Table("readings", "What fits", ["measure", "reading", *MARKS], rows, notes)


def comparison_frame(comparisons: Iterable[Comparison]) -> pd.DataFrame:
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
            "sds_away": round(distance(ours.mean, comparison.printed, ours.sd), 3),
            "mark": ours.mark,
        }
        for comparison in comparisons
        for ours in comparison.ours
    ]
    return pd.DataFrame(rows)
