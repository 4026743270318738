"""The trees that the command line offers: the library's own, with what the user has asked for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dipolar import DipoleSurvivalTree, DipoleSVM, LogRankSurvivalTree, SurvivalTreeCV
from dipolar.cli.messages import UserError
from dipolar.cli.model import SurvivalTree

__all__ = ["Covariates", "Dates", "Pruning", "TreeKind", "TreeOptions", "usual"]


class TreeKind(StrEnum):
    """How the nodes are split: by one covariate, or by a surface of some kernel."""

    univariate = "univariate"
    linear = "linear"
    quadratic = "quadratic"
    gaussian = "gaussian"

    @property
    def reference(self) -> str | None:
        """The category without a covariate; cuts tell one category from all others only where each has its own."""
        return None if self is TreeKind.univariate else "most_common"


class Pruning(StrEnum):
    """How the size of the tree is chosen."""

    bootstrap = "bootstrap"
    published = "leblanc-crowley"
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


KERNELS = {TreeKind.linear: "linear", TreeKind.quadratic: "quadratic", TreeKind.gaussian: "gaussian"}

# What `--tune` chooses itself.
TUNED = {"kappa": "--kappa", "max_depth": "--max-depth", "min_leaf": "--min-leaf"}


@dataclass(frozen=True)
class TreeOptions:
    """What the user has asked of a tree; what is None is left to the library."""

    kappa: float | None = None
    standardize: bool | None = None
    max_depth: int | None = None
    min_split: int | None = None
    min_leaf: int | None = None
    pruning: Pruning | None = None
    alpha: float | None = None
    bootstraps: int | None = None
    tune: bool = False
    seed: int = 0
    jobs: int = 1

    def check(self, kinds: list[TreeKind]) -> None:
        """Refuse options that would have no effect."""
        if kinds == [TreeKind.univariate] and (self.kappa is not None or self.standardize is not None):
            option = "--kappa" if self.kappa is not None else "--standardize"
            raise UserError(f"{option} does not apply to the univariate tree. Leave it out, or choose another --tree.")
        rules = {self.grower(kind).pruning for kind in kinds}
        if self.alpha is not None and rules == {None}:
            raise UserError("--alpha is the price of a split in pruning. Leave it out, or choose a --pruning.")
        if self.bootstraps is not None and not {"bootstrap", "leblanc-crowley"} & set(rules):
            raise UserError("--bootstraps applies to bootstrap pruning only. Leave it out, or add --pruning bootstrap.")
        for name, option in TUNED.items():
            if self.tune and getattr(self, name) is not None:
                raise UserError(f"--tune chooses {option} itself. Leave one of the two out.")

    def make(self, kind: TreeKind) -> SurvivalTree | SurvivalTreeCV:
        """Return the unfitted estimator."""
        tree = self.grower(kind)
        return SurvivalTreeCV(tree, random_state=self.seed, n_jobs=self.jobs) if self.tune else tree

    def grower(self, kind: TreeKind) -> SurvivalTree:
        """Return the unfitted tree; candidates of `--tune` are copies of it."""
        shared = _given(
            max_depth=self.max_depth,
            min_samples_split=self.min_split,
            min_samples_leaf=self.min_leaf,
            alpha=self.alpha,
            n_bootstraps=self.bootstraps,
            random_state=self.seed,
            n_jobs=1 if self.tune else self.jobs,
        )
        if self.pruning is not None:
            shared["pruning"] = None if self.pruning is Pruning.none else self.pruning.value
        if kind is TreeKind.univariate:
            return LogRankSurvivalTree(**shared)
        svm = DipoleSVM(KERNELS[kind], **_given(kappa=self.kappa, standardize=self.standardize))
        return DipoleSurvivalTree(svm, **shared)


def usual(name: str, none: str = "none") -> str:
    """Say the library's own value of a parameter of the trees; `none` is the word for None."""

    def worded(value: Any) -> str:
        return none if value is None else f"{value:g}" if isinstance(value, int | float) else str(value)

    dipole, univariate = worded(getattr(DipoleSurvivalTree(), name)), worded(getattr(LogRankSurvivalTree(), name))
    return f"Default: {dipole}." if dipole == univariate else f"Default: {dipole}, univariate {univariate}."


def _given(**values: Any) -> dict[str, Any]:
    """Return the values that somebody has given."""
    return {name: value for name, value in values.items() if value is not None}
