"""What all studies have in common: a name, a plan of units, how a unit is run, and what is made of the results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from dipolar.studies.comparison import Comparison
from dipolar.studies.summary import Results
from dipolar.studies.table import Table
from dipolar.studies.unit import StudyError, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Study"]


class Study(ABC):
    """A table or figure of the paper, as units of work and as what is made of their results.

    Instances hold no state: a worker gets one by pickle and runs a unit with it.
    """

    name: str  # on the command line and in the names of files
    title: str
    default_runs: int | None = None  # replicates of a full run; None where the plan is fixed
    needs_figures: bool = False  # whether there is nothing to show without matplotlib

    @property
    @abstractmethod
    def sources(self) -> tuple[str, ...]:
        """Designs, data sets or panels."""

    @abstractmethod
    def models_of(self, source: str) -> tuple[str, ...]:
        """Return what is fitted to a source."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return all that the results depend on beside the seed, as JSON types."""

    @abstractmethod
    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        """Return the result of a unit as JSON types, with its `seconds` by stage."""

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
        """Return functions that draw, by name; they need matplotlib."""
        return {}

    def picture_stem(self, figure: str) -> str:
        """Return the name of a figure's file; a study that is a figure has one, which needs no name of its own."""
        return self.name if self.needs_figures else f"{self.name}-{figure}"

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
            raise StudyError(f"{self.name} has no replicates to choose the number of. Leave --runs out.")
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

    def header(self, seed: int) -> dict[str, Any]:
        """Return the first line of the results file."""
        return {"study": self.name, "seed": seed, "settings": self.settings()}

    def _chosen(self, noun: str, wanted: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
        """Return the wanted names in the order of the study."""
        if not wanted:
            return known
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise StudyError(f"{self.name} has no {noun} {unknown[0]!r}. It has {', '.join(known)}.")
        return tuple(name for name in known if name in wanted)
