"""The models of a comparison: those of the library, and what they are held against."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dipolar.cli.baselines import Cox, KaplanMeier, cox_package
from dipolar.cli.choices import Asked, Kernel, ModelKind
from dipolar.cli.data import Data
from dipolar.cli.estimators import make_model
from dipolar.pipeline import make_pipeline

__all__ = ["NO_COX", "Baseline", "Contender", "baselines"]

NO_COX = "Cox's model is left out: it needs scikit-survival or lifelines (pip install scikit-survival)."


@dataclass(frozen=True)
class Contender:
    """A model of the library, with what the user has asked of it."""

    kind: ModelKind
    asked: Asked

    @property
    def name(self) -> str:
        """What it is called in tables and sentences."""
        kernel = self.asked.kernel
        is_linear = self.kind is not ModelKind.tree or kernel in (None, Kernel.linear)
        return self.kind.words if is_linear else f"{kernel} {self.kind.words}"

    def make(self, data: Data, n_later: int) -> Any:
        """Return the unfitted pipeline; the seed rises by one with each repeat."""
        asked = replace(self.asked, seed=self.asked.seed + n_later, jobs=1)
        return make_pipeline(data.columns.encoder(data.covariates, self.kind.reference), make_model(self.kind, asked))


@dataclass(frozen=True)
class Baseline:
    """What models are held against."""

    name: str
    package: str | None = None  # that has Cox's model

    def make(self, data: Data, n_later: int) -> Any:
        """Return the unfitted model; nothing about it is random."""
        if self.package is None:
            return KaplanMeier()
        return make_pipeline(data.columns.encoder(data.covariates, "most_common"), Cox(self.package))


def baselines() -> list[Baseline]:
    """Return Cox's model, if a package that has it is installed, and one curve for all."""
    package = cox_package()
    return [*([Baseline("Cox", package)] if package else []), Baseline("Kaplan-Meier")]
