"""What the user can choose among, and what has been asked of a model. Nothing here loads the library."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from dipolar.cli.messages import UserError, alternatives

__all__ = ["Asked", "Covariates", "Dates", "Kernel", "ModelKind", "Pruning"]


class ModelKind(StrEnum):
    """The models of the library; a node is split by a surface of all covariates, or by a cut of one (univariate)."""

    tree = "tree"
    univariate = "univariate"
    forest = "forest"
    univariate_forest = "univariate-forest"

    @property
    def is_forest(self) -> bool:
        return self in (ModelKind.forest, ModelKind.univariate_forest)

    @property
    def is_univariate(self) -> bool:
        return self in (ModelKind.univariate, ModelKind.univariate_forest)

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return {"univariate": "univariate tree", "univariate-forest": "univariate forest"}.get(self.value, self.value)

    @property
    def reference(self) -> str | None:
        """The category without a covariate; cuts tell one category from all others only where each has its own."""
        return None if self.is_univariate else "most_common"


class Kernel(StrEnum):
    """The surfaces that split the nodes of a tree."""

    linear = "linear"
    quadratic = "quadratic"
    gaussian = "gaussian"


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


SURFACES = (ModelKind.tree,)
TREES = (ModelKind.tree, ModelKind.univariate)
FORESTS = (ModelKind.forest, ModelKind.univariate_forest)

# The models that each option belongs to.
BELONGS = {
    "kernel": SURFACES,
    "kappa": SURFACES,
    "standardize": SURFACES,
    "max_terms": SURFACES,
    "max_depth": TREES,
    "min_split": TREES,
    "min_leaf": TREES,
    "pruning": TREES,
    "alpha": TREES,
    "bootstraps": TREES,
    "trees": FORESTS,
}

# What `--tune` of a tree chooses itself.
TUNED = ("kappa", "max_depth", "min_leaf")

RESAMPLING = (Pruning.bootstrap, Pruning.published)


@dataclass(frozen=True)
class Asked:
    """What the user has asked of a model; what is None is left to the library."""

    kernel: Kernel | None = None
    kappa: float | None = None
    standardize: bool | None = None
    max_terms: int | None = None
    max_depth: int | None = None
    min_split: int | None = None
    min_leaf: int | None = None
    pruning: Pruning | None = None
    alpha: float | None = None
    bootstraps: int | None = None
    trees: int | None = None
    tune: bool = False
    seed: int = 0
    jobs: int = 1

    def check(self, kinds: list[ModelKind]) -> None:
        """Refuse options that would have no effect."""
        for name, owners in BELONGS.items():
            if getattr(self, name) is not None and not set(owners) & set(kinds):
                asked = alternatives([kind.value for kind in kinds])
                owning = alternatives([owner.value for owner in owners])
                raise UserError(
                    f"{_option(name)} does not apply to --model {asked}. Leave it out, or choose --model {owning}."
                )
        if self.alpha is not None and self.pruning in (None, Pruning.none):
            raise UserError("--alpha is the price of a split in pruning. Leave it out, or choose a --pruning.")
        if self.bootstraps is not None and self.pruning not in RESAMPLING:
            raise UserError("--bootstraps applies to bootstrap pruning only. Leave it out, or add --pruning bootstrap.")
        if self.tune and set(kinds) & set(TREES):
            for name in TUNED:
                if getattr(self, name) is not None:
                    raise UserError(f"--tune chooses {_option(name)} itself. Leave one of the two out.")

    def of(self, kind: ModelKind) -> Asked:
        """Return what has been asked of one kind of model, without the options of others."""
        foreign: dict[str, Any] = {name: None for name, owners in BELONGS.items() if kind not in owners}
        return replace(self, **foreign)

    def is_usual(self) -> bool:
        """Tell whether nothing but the seed and the workers was asked for."""
        usual = Asked(seed=self.seed, jobs=self.jobs)
        return all(getattr(self, field.name) == getattr(usual, field.name) for field in fields(self))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
