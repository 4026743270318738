"""A table or figure of the paper: its plan of units, how a unit is run, and what is made of the results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure

from dipolar.cli.messages import UserError
from dipolar_reproduction.table import Table

if TYPE_CHECKING:
    from dipolar_reproduction.comparison import Comparison

# Seeds of this many bytes survive in every reader of JSON, which may keep 53 bits of a number.
SEED_BYTES = 6


@dataclass(frozen=True, order=True)
class Unit:
    """What is done in one go and kept as one row of results: a model on one sample, independent of all other units."""

    source: str  # a design, a data set, a panel of a figure
    replicate: int  # number of the sample, of the fold or of the shuffle
    model: str  # one of the trees, or the truth

    def __str__(self) -> str:
        return f"{self.source} {self.replicate} {self.model}"


# What units gave, as JSON types, each with its `seconds` by stage.
Results = Mapping[Unit, Mapping[str, Any]]


def seed_of(source: str, replicate: int, base: int = 0) -> int:
    """Return the seed of a sample: one number for all models, so that they see the same rows.

    It depends on names and numbers alone, neither on the order of the work nor on what else is run.
    """
    digest = blake2b(f"{base}/{source}/{replicate}".encode(), digest_size=SEED_BYTES).digest()
    return int.from_bytes(digest, "big")


class Study(ABC):
    """A table or figure of the paper. Instances hold no state: a worker gets one by pickle and runs a unit with it."""

    name: str  # on the command line and in the names of files
    title: str
    sources: tuple[str, ...]  # designs, data sets or panels
    models: tuple[str, ...]  # what is fitted to them
    default_runs: int | None = None  # replicates of a full run; None where the plan is fixed

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return all that the results depend on beside the seed, as JSON types."""

    @abstractmethod
    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        """Return the result of a unit."""

    @abstractmethod
    def tables(self, results: Results) -> list[Table]:
        """Return the tables of some results."""

    def comparisons(self, results: Results) -> list[Comparison]:
        """Return the printed means with ours, where a study has such."""
        return []

    def frame(self, results: Results) -> pd.DataFrame:
        """Return what is written as CSV: by default the first table."""
        return self.tables(results)[0].frame()

    def figures(self, results: Results) -> dict[str, Callable[[], Figure]]:
        """Return functions that draw, by the names of their files."""
        return {}

    def models_of(self, source: str) -> tuple[str, ...]:
        """Return what is fitted to a source."""
        return self.models

    def replicates(self, source: str, runs: int | None) -> int:
        """Return how many replicates of a source there are."""
        return self.default_runs or 1 if runs is None else runs

    def units(
        self, runs: int | None = None, sources: Sequence[str] | None = None, models: Sequence[str] | None = None
    ) -> list[Unit]:
        """Return the plan: all models of the first replicate of every source, then of the second, and so on.

        A study that is stopped early then has all its rows, from fewer replicates.
        """
        if runs is not None and self.default_runs is None:
            raise UserError(f"{self.name} has no replicates to choose the number of. Leave --runs out.")
        sources = self._chosen("source", sources, self.sources)
        known = tuple(dict.fromkeys(model for source in sources for model in self.models_of(source)))
        models = self._chosen("model", models, known)
        counts = {source: self.replicates(source, runs) for source in sources}
        return [
            Unit(source, replicate, model)
            for replicate in range(max(counts.values()))
            for source in sources
            if replicate < counts[source]
            for model in self.models_of(source)
            if model in models
        ]

    def in_order(self, results: dict[Unit, dict[str, Any]]) -> dict[Unit, dict[str, Any]]:
        """Return results in the order of the plan, whatever order they ended in."""
        place = {(source, model): n for source in self.sources for n, model in enumerate(self.models_of(source))}
        ranked = sorted(results, key=lambda u: (u.replicate, self.sources.index(u.source), place[u.source, u.model]))
        return {unit: results[unit] for unit in ranked}

    def header(self, seed: int) -> dict[str, Any]:
        """Return what results must share to be continued."""
        return {"study": self.name, "seed": seed, "settings": self.settings()}

    def _chosen(self, noun: str, wanted: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
        """Return the wanted names in the order of the study."""
        if not wanted:
            return known
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise UserError(f"{self.name} has no {noun} {unknown[0]!r}. It has {', '.join(known)}.")
        return tuple(name for name in known if name in wanted)
