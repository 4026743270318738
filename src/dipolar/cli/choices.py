"""The trees that the command line offers, with settings that suit most data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dipolar import DipoleSurvivalTree, LogRankSurvivalTree
from dipolar.cli.messages import UserError
from dipolar.cli.model import SurvivalTree

__all__ = ["Covariates", "Dates", "Pruning", "TreeKind", "TreeSettings"]


class TreeKind(StrEnum):
    """How the nodes are split: by one covariate, or by a surface of some kernel."""

    univariate = "univariate"
    linear = "linear"
    quadratic = "quadratic"
    gaussian = "gaussian"


class Pruning(StrEnum):
    """How the size of the tree is chosen."""

    bootstrap = "bootstrap"
    validation = "validation"
    fixed = "fixed"
    none = "none"


class Dates(StrEnum):
    """What becomes of dates."""

    drop = "drop"
    days = "days"


class Covariates(StrEnum):
    """Which covariates of a bundled data set are used."""

    paper = "paper"
    all = "all"


KERNELS = {TreeKind.linear: "linear", TreeKind.quadratic: "quadratic", TreeKind.gaussian: "rbf"}

# A Gaussian surface bends, and a small kappa leaves it flat.
USUAL_KAPPA = {TreeKind.linear: 0.01, TreeKind.quadratic: 0.01, TreeKind.gaussian: 0.1}
USUAL_ALPHA = 4.0
USUAL_BOOTSTRAPS = 25


@dataclass(frozen=True)
class TreeSettings:
    """Options of a tree; None leaves the choice to the kind of tree."""

    kappa: float | None = None
    standardize: bool | None = None
    pruning: Pruning = Pruning.bootstrap
    alpha: float | None = None
    bootstraps: int | None = None
    max_depth: int | None = None
    min_leaf: int = 10
    seed: int = 0
    jobs: int = 1

    def check(self, kinds: list[TreeKind]) -> None:
        """Refuse options that would have no effect."""
        if kinds == [TreeKind.univariate] and (self.kappa is not None or self.standardize is not None):
            option = "--kappa" if self.kappa is not None else "--standardize"
            raise UserError(f"{option} does not apply to the univariate tree. Leave it out, or choose another --tree.")
        if self.pruning is Pruning.none and self.alpha is not None:
            raise UserError("--alpha is the price of a split in pruning. Leave it out, or choose a --pruning.")
        if self.pruning is not Pruning.bootstrap and self.bootstraps is not None:
            raise UserError(f"--bootstraps does not apply to --pruning {self.pruning.value}. Leave it out.")

    def make(self, kind: TreeKind) -> SurvivalTree:
        """Return the unfitted tree."""
        shared: dict[str, Any] = {
            "max_depth": self.max_depth,
            "min_samples_split": 2 * self.min_leaf,
            "min_samples_leaf": self.min_leaf,
            "pruning": None if self.pruning is Pruning.none else self.pruning.value,
            "alpha": USUAL_ALPHA if self.alpha is None else self.alpha,
            "n_bootstraps": USUAL_BOOTSTRAPS if self.bootstraps is None else self.bootstraps,
            "n_jobs": self.jobs,
            "random_state": self.seed,
        }
        if kind is TreeKind.univariate:
            return LogRankSurvivalTree(**shared)
        return DipoleSurvivalTree(
            kernel=KERNELS[kind],
            kappa=USUAL_KAPPA[kind] if self.kappa is None else self.kappa,
            standardize=self.standardize is not False,
            init="quartile",
            **shared,
        )
