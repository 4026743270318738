"""What trees find where there is nothing to be found: `python benchmarks/noise.py`.

Times and covariates are independent: n = 200, five normal covariates, exponential times, a third of them censored. For
every learner: the share of fits with more than one leaf, the mean number of leaves, and Harrell's C on as many new
rows, which is 0.5 for a tree of one leaf and 0.5 on average for any other. Writes benchmarks/results/noise.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from accuracy import versions  # sets the threads
from joblib import Parallel, delayed

from dipolar import DipoleSurvivalTree, LogRankSurvivalTree, SurvivalTreeCV, survival_outcome

TABLE = Path(__file__).parent / "results" / "noise.md"
N_ROWS, N_COVARIATES = 200, 5

LEARNERS: dict[str, Callable] = {
    "DipoleSurvivalTree()": DipoleSurvivalTree,
    "LogRankSurvivalTree()": LogRankSurvivalTree,
    "SurvivalTreeCV()": SurvivalTreeCV,
    "SurvivalTreeCV(LogRankSurvivalTree())": lambda random_state: SurvivalTreeCV(
        LogRankSurvivalTree(), random_state=random_state
    ),
    **{
        f'{kind.__name__}(pruning="{rule}", alpha={alpha})': lambda random_state, kind=kind, rule=rule, alpha=alpha: (
            kind(pruning=rule, alpha=alpha, random_state=random_state)
        )
        for kind in (DipoleSurvivalTree, LogRankSurvivalTree)
        for rule, alpha in (
            ("bootstrap", 2),
            ("bootstrap", 4),
            ("leblanc-crowley", 2),
            ("leblanc-crowley", 4),
            ("validation", 4),
        )
    },
}


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Covariates, and times that know nothing of them."""
    X = rng.normal(size=(N_ROWS, N_COVARIATES))
    time, censoring = rng.exponential(size=N_ROWS), rng.exponential(2.0, size=N_ROWS)
    return X, survival_outcome(np.minimum(time, censoring), time <= censoring)


def run(repetition: int) -> dict[str, tuple[int, float]]:
    """Leaves, and concordance on new rows, of every learner."""
    rng = np.random.default_rng(repetition)
    (X, y), (X_new, y_new) = draw(rng), draw(rng)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make in LEARNERS.items():
            tree = make(random_state=repetition).fit(X, y)
            found[name] = int(tree.n_leaves_), float(tree.score(X_new, y_new))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    results = Parallel(n_jobs=chosen.jobs)(delayed(run)(number) for number in range(chosen.repetitions))
    lines = [
        "# Trees on noise",
        "",
        f"`python benchmarks/noise.py`: {chosen.repetitions} repetitions, n = {N_ROWS}, p = {N_COVARIATES}.",
        f"{versions()}.",
        "",
        "| tree | more than one leaf | mean leaves | C on new rows |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name in LEARNERS:
        leaves, scores = np.array([result[name] for result in results]).T
        lines.append(f"| `{name}` | {(leaves > 1).mean():.1%} | {leaves.mean():.2f} | {scores.mean():.3f} |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
