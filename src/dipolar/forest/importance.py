"""How much worse a forest predicts unseen rows when it is told a covariate wrongly."""

from __future__ import annotations

import numpy as np
from joblib import delayed

from dipolar.forest.out_of_bag import OutOfBag
from dipolar.forest.record import Forest
from dipolar.parallel import run_tasks

__all__ = ["KINDS", "importances"]

KINDS = ("permute", "negate")


def importances(
    forest: Forest, rows: OutOfBag, kind: str, scoring: str, n_repeats: int, seed: int, n_jobs: int | None = None
) -> np.ndarray:
    """Return by how much the out-of-bag loss grows, shape (n_features, n_repeats).

    Parameters
    ----------
    forest : Forest
    rows : OutOfBag
        Knows which rows each tree has not seen, and judges what is predicted for them.
    kind : {"permute", "negate"}
        Whether the values of a covariate are shuffled among the rows that a tree has not seen (Breiman 2001), or
        mirrored at their mean, which in an oblique split is the same as to negate the covariate's coefficient
        (Jaeger et al. 2024).
    scoring : {"concordance", "brier"}
        Which loss.
    n_repeats : int
        How often values are shuffled; mirroring leaves nothing to chance and is done once.
    seed : int
    n_jobs : int
        Number of threads, over covariates.
    """
    n_features = rows.prepared.shape[1]
    n_repeats = n_repeats if kind == "permute" else 1
    used = np.array([tree.splits.used(n_features) for tree in forest.trees])
    tasks = [
        delayed(_losses)(forest, rows, feature, used[:, feature], kind, scoring, n_repeats, seed)
        for feature in range(n_features)
    ]
    losses = list(run_tasks(tasks, n_jobs, require="sharedmem"))
    return np.array(losses) - rows.loss(rows.leaves, scoring)


def _losses(
    forest: Forest,
    rows: OutOfBag,
    feature: int,
    used: np.ndarray,
    kind: str,
    scoring: str,
    n_repeats: int,
    seed: int,
) -> list[float]:
    """Return the loss under each disturbance of one covariate; trees that do not ask for it keep their leaves."""
    if not used.any():
        return [rows.loss(rows.leaves, scoring)] * n_repeats
    centre = np.nanmean(rows.prepared[:, feature])
    losses = []
    for repeat in range(n_repeats):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(feature, repeat)))
        leaves = list(rows.leaves)
        for number in np.flatnonzero(used):
            told = rows.prepared[rows.unseen[number]]
            values = told[:, feature]
            told[:, feature] = rng.permutation(values) if kind == "permute" else 2.0 * centre - values
            leaves[number] = forest.trees[number].leaf_of_prepared(told)
        losses.append(rows.loss(leaves, scoring))
    return losses
