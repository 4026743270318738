"""How long the rest of a study will take, from what its finished units took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from dipolar.studies.unit import Unit

__all__ = ["TimeToGo"]


class TimeToGo:
    """Estimates the time to go: units differ a hundredfold between models, so each kind has a mean of its own.

    A kind without a finished unit is estimated by the other units of its model, and a model without any leaves the
    whole unknown. The pace is what this run has achieved: seconds of units per second of the clock, that is the number
    of workers less what is lost between them.
    """

    def __init__(self, pending: Iterable[Unit], finished: Mapping[Unit, Mapping[str, Any]], n_workers: int) -> None:
        self._pending = set(pending)
        self._of_kind: dict[object, list[float]] = defaultdict(list)
        self._n_workers = n_workers
        self._worked = 0.0
        for unit, record in finished.items():
            self._learn(unit, seconds_of(record))

    def finish(self, unit: Unit, seconds: float) -> None:
        """Take note of a unit that was finished in this run."""
        self._pending.discard(unit)
        self._worked += seconds
        self._learn(unit, seconds)

    def skip(self, unit: Unit) -> None:
        """Take note of a unit that failed."""
        self._pending.discard(unit)

    def seconds(self, elapsed: float) -> float | None:
        """Return the expected seconds until the last pending unit is finished; None while a model is unknown."""
        expected = [self._expected(unit) for unit in self._pending]
        known = [seconds for seconds in expected if seconds is not None]
        if len(known) < len(expected):
            return None
        return sum(known) / self._pace(elapsed)

    def _learn(self, unit: Unit, seconds: float) -> None:
        self._of_kind[unit.kind].append(seconds)
        self._of_kind[unit.model].append(seconds)

    def _expected(self, unit: Unit) -> float | None:
        seen = self._of_kind.get(unit.kind) or self._of_kind.get(unit.model)
        return sum(seen) / len(seen) if seen else None

    def _pace(self, elapsed: float) -> float:
        if self._worked <= 0 or elapsed <= 0:
            return float(self._n_workers)
        # At most as many as there are; at first little is finished and the quotient says little.
        return min(max(self._worked / elapsed, 0.2 * self._n_workers), float(self._n_workers))


def seconds_of(record: Mapping[str, Any]) -> float:
    """Return the seconds that a unit took, all stages together."""
    return float(sum(record["seconds"].values()))
