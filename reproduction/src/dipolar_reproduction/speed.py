"""How fast a study went, where its time went, and how long the paper's number of replicates would take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from dipolar_reproduction.models import TREES, TRUTH
from dipolar_reproduction.study import Results
from dipolar_reproduction.table import Table, number
from dipolar_reproduction.trial import STAGES


def seconds_of(record: Mapping[str, Any]) -> float:
    """Return the seconds that a unit took, all stages together."""
    return float(sum(record["seconds"].values()))


def wall_seconds(results: Results) -> float:
    """Return the time of the clock that the runs took which made these results.

    Each result carries the seconds since its run began, so that the last one of a run tells how long that was.
    """
    ends: dict[int, float] = {}
    for record in results.values():
        session = record.get("session", 0)
        ends[session] = max(ends.get(session, 0.0), record.get("wall", 0.0))
    return sum(ends.values())


def speed_table(studies: Iterable[Results], paper_runs: int | None = None) -> Table:
    """Return seconds per fit by tree and stage, fits per second, and the time that `paper_runs` replicates would take.

    A fit is tuning, growing, pruning and scoring of one tree on one sample. Several studies are added up.
    """
    studies = list(studies)
    frame = pd.DataFrame(
        [
            {"source": unit.source, "model": unit.model, "total": seconds_of(record), **record["seconds"]}
            for results in studies
            for unit, record in results.items()
        ]
    )
    fits = frame[frame["model"] != TRUTH]
    rows = [_cells(model, fits[fits["model"] == model]) for model in TREES if (fits["model"] == model).any()]
    rows.append(_cells("all", fits))
    notes = _pace(frame, len(fits), sum(wall_seconds(results) for results in studies), paper_runs)
    return Table("speed", "Speed", ["tree", "fits", "seconds per fit", *STAGES], rows, notes, left=1)


def _cells(name: str, group: pd.DataFrame) -> list[str]:
    total = group["total"].sum()
    shares = [group[stage].sum() / total if stage in group and total else 0.0 for stage in STAGES]
    return [name, str(len(group)), number(group["total"].mean(), 3), *(f"{100 * share:.0f} %" for share in shares)]


def _pace(frame: pd.DataFrame, n_fits: int, wall: float, paper_runs: int | None) -> list[str]:
    if wall <= 0:
        return []
    pace = frame["total"].sum() / wall
    notes = [
        f"{n_fits} fits in {duration(wall)}: {n_fits / wall:.2f} per second, with {pace:.2f} units at a time on "
        "average. The last columns say where the time of a fit goes.",
    ]
    if paper_runs is not None:
        whole = paper_runs * frame.groupby(["source", "model"])["total"].mean().sum() / pace
        n_designs = frame["source"].nunique()
        notes.append(f"At this speed {paper_runs} replicates of these {n_designs} designs take {duration(whole)}.")
    return notes


def duration(seconds: float) -> str:
    """Return a time in words, to about two digits."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        minutes = round(seconds / 60)
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{seconds / 86400:.1f} days"
