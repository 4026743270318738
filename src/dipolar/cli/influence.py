"""What matters to a forest: how much worse it orders unseen rows when it is told a covariate wrongly."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table as Grid

from dipolar.cli.model import Model

__all__ = ["Influence", "describe_influence", "influence_grid"]

MOST_SHOWN = 12


@dataclass(frozen=True)
class Influence:
    """The loss of Harrell's C on unseen rows when the values of a covariate are shuffled."""

    covariate: str
    loss: float | None
    spread: float | None  # standard deviation over the shuffles

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def describe_influence(model: Model, X: pd.DataFrame, y: np.ndarray, seed: int) -> list[Influence]:
    """Return all covariates, those that matter most first; none where no two unseen rows can be compared."""
    assert model.is_forest
    try:
        found = model.fitted.importance(X, y, random_state=seed)
    except ValueError:
        return []
    order = np.argsort(-found.importances_mean, kind="stable")
    names = list(X.columns)
    return [Influence(names[i], float(found.importances_mean[i]), float(found.importances_std[i])) for i in order]


def influence_grid(found: list[Influence]) -> Grid:
    """Return the table for people."""
    grid = Grid(title="What matters to it", title_justify="left", title_style="bold")
    grid.add_column("covariate", overflow="fold")
    grid.add_column("loss of Harrell's C when shuffled", justify="right")
    for each in found[:MOST_SHOWN]:
        grid.add_row(each.covariate, f"{each.loss:.3f} ± {each.spread:.3f}")
    if len(found) > MOST_SHOWN:
        grid.add_row(f"{len(found) - MOST_SHOWN} more (--json has them)", "")
    return grid
