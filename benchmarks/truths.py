"""How far predicted survival curves are from the true ones, where the truth is known.

Run `python benchmarks/truths.py`. Every finished unit is appended to benchmarks/results/truths.jsonl, and those that
are there are not run again; benchmarks/results/truths.md is made from that file, alone with `--table`.

Five covariates are standard normal and independent, and two or three of them matter. Censoring is exponential,
independent of everything, and takes about 30 % of the rows. The error of a learner is

    sqrt( mean over 1000 new rows of  1/tau * integral from 0 to tau of (estimated S(t|x) - true S(t|x))^2 dt ),

tau the 90 % quantile of all event times, the integral by 200 equally spaced midpoints. The curves of a forest of
scikit-survival take one number per distinct time in every node, about 10 GB for 5000 rows: it is left out there.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

# One thread for each process, set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from accuracy import versions  # noqa: E402
from scipy.optimize import brentq  # noqa: E402

from dipolar import DipoleSurvivalForest, LogRankSurvivalForest, survival_outcome  # noqa: E402
from dipolar.forest.dipole_forest import QUADRATIC  # noqa: E402

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "truths.jsonl"
TABLE = HERE / "results" / "truths.md"

N_FEATURES = 5
CENSORED = 0.3
N_NEW, N_LARGE = 1000, 100_000
SIZES = {300: 3, 1000: 3, 5000: 1}  # rows, and how often they are drawn
MOST_FOR_SKSURV_FORESTS = 1000
SKSURV_FORESTS = ("sksurv RandomSurvivalForest", "sksurv ExtraSurvivalTrees")


# Truths: each is a function of covariates that returns the survival function at times, and one that draws times.


class Hazards:
    """Proportional hazards on a constant baseline: S(t|x) = exp(-t exp(eta(x)))."""

    def __init__(self, eta: Callable[[np.ndarray], np.ndarray]) -> None:
        self._eta = eta

    def survival(self, X: np.ndarray, times: np.ndarray) -> np.ndarray:
        return np.exp(-np.outer(np.exp(self._eta(X)), times))

    def draw(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.exponential(np.exp(-self._eta(X)))


class LogLogistic:
    """Log-logistic times of scale exp(mu(x)) and shape k: S(t|x) = 1 / (1 + (t / exp(mu(x)))^k); hazards cross."""

    def __init__(self, mu: Callable[[np.ndarray], np.ndarray], shape: float) -> None:
        self._mu, self._shape = mu, shape

    def survival(self, X: np.ndarray, times: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + np.outer(np.exp(-self._mu(X)), times) ** self._shape)

    def draw(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        u = rng.random(len(X))
        return np.exp(self._mu(X)) * (u / (1.0 - u)) ** (1.0 / self._shape)


TRUTHS = {
    "linear": Hazards(lambda X: X[:, 0] + 0.5 * X[:, 1] - 0.5 * X[:, 2]),
    "quadratic": Hazards(lambda X: X[:, 0] ** 2 + X[:, 0] * X[:, 1] - 1.0),
    "log-logistic": LogLogistic(lambda X: 0.8 * X[:, 0] + 0.8 * np.sin(2.0 * X[:, 1]), shape=2.0),
    "noise": Hazards(lambda X: np.zeros(len(X))),
}


def draw_sample(name: str, n: int, replicate: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and outcomes of a truth; the same in every process."""
    truth, rate = TRUTHS[name], _censoring_rate(name)
    rng = np.random.default_rng([n, replicate])
    X = rng.normal(size=(n, N_FEATURES))
    event_time, censoring = truth.draw(X, rng), rng.exponential(1.0 / rate, n)
    return X, survival_outcome(np.minimum(event_time, censoring), event_time <= censoring)


def _large_sample(name: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    return TRUTHS[name].draw(rng.normal(size=(N_LARGE, N_FEATURES)), rng)


def _censoring_rate(name: str) -> float:
    """The rate of exponential censoring that takes the share `CENSORED`: P(C < T) = 1 - E exp(-rate T)."""
    event_time = _large_sample(name)
    return float(brentq(lambda rate: 1.0 - np.exp(-rate * event_time).mean() - CENSORED, 1e-9, 1e3))


def distance(name: str, model) -> float:
    """The error of a fitted model's curves."""
    tau = np.quantile(_large_sample(name), 0.9)
    times = (np.arange(200) + 0.5) / 200 * tau
    X = np.random.default_rng(1).normal(size=(N_NEW, N_FEATURES))
    return float(np.sqrt(np.mean((_curves(model, X, times) - TRUTHS[name].survival(X, times)) ** 2)))


def _curves(model, X: np.ndarray, times: np.ndarray) -> np.ndarray:
    if isinstance(model, DipoleSurvivalForest | LogRankSurvivalForest):
        return model.predict_survival_function(X, times)
    curves = np.empty((len(X), len(times)))
    for row, curve in enumerate(model.predict_survival_function(X)):
        place = np.searchsorted(curve.x, times, side="right")
        curves[row] = np.concatenate(([1.0], curve.y))[place]
    return curves


# Units of work.


def learners() -> dict[str, Callable]:
    """Every learner with a seed, and its defaults but for the choice."""
    from sksurv.ensemble import ExtraSurvivalTrees, RandomSurvivalForest
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    return {
        "DipoleSurvivalForest": lambda: DipoleSurvivalForest(random_state=0),
        "DipoleSurvivalForest, tune": lambda: DipoleSurvivalForest(tune=True, random_state=0),
        "DipoleSurvivalForest, min_logrank=0": lambda: DipoleSurvivalForest(min_logrank=0, random_state=0),
        "DipoleSurvivalForest, quadratic": lambda: DipoleSurvivalForest(QUADRATIC, random_state=0),
        "LogRankSurvivalForest": lambda: LogRankSurvivalForest(random_state=0),
        "LogRankSurvivalForest, min_logrank=0": lambda: LogRankSurvivalForest(min_logrank=0, random_state=0),
        "LogRankSurvivalForest, all covariates": lambda: LogRankSurvivalForest(max_features=None, random_state=0),
        "LogRankSurvivalForest, tune": lambda: LogRankSurvivalForest(tune=True, random_state=0),
        "sksurv RandomSurvivalForest": lambda: RandomSurvivalForest(random_state=0),
        "sksurv ExtraSurvivalTrees": lambda: ExtraSurvivalTrees(random_state=0),
        "sksurv CoxPH": lambda: CoxPHSurvivalAnalysis(),
    }


def run_unit(truth: str, n: int, replicate: int, learner: str) -> dict:
    """Fit one learner to a sample and measure its distance from the truth."""
    X, y = draw_sample(truth, n, replicate)
    start = time.process_time()
    model = learners()[learner]().fit(X, y)
    seconds = round(time.process_time() - start, 3)
    chosen = {name: _word(value) for name, value in getattr(model, "best_params_", {}).items()}
    unit = {"truth": truth, "n": n, "replicate": replicate, "learner": learner}
    return unit | {"error": round(distance(truth, model), 5), "fit": seconds, "chosen": chosen}


def _word(value) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_word, value)) + "]"
    return str(getattr(value, "kernel", value))


def run() -> None:
    """Run what is not there yet and append it, unit by unit."""
    RESULTS.parent.mkdir(exist_ok=True)
    done = {(r["truth"], r["n"], r["replicate"], r["learner"]) for r in read()}
    for n, n_replicates in SIZES.items():
        for unit in product(TRUTHS, [n], range(n_replicates), learners()):
            is_too_large = n > MOST_FOR_SKSURV_FORESTS and unit[-1] in SKSURV_FORESTS
            if unit in done or is_too_large:
                continue
            record = run_unit(*unit)
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            print(record, flush=True)


def read() -> list[dict]:
    """What has been measured."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines() if line.strip()]


def write_table() -> None:
    """Write mean errors by learner, truth and size, and what the tuned forests chose."""
    records = pd.DataFrame(read())
    records = records[records["learner"].isin(learners())]
    n_replicates = ", ".join(f"{n_replicates} of {n} rows" for n, n_replicates in SIZES.items())
    lines = [
        "# Distances from known truths",
        "",
        "`python benchmarks/truths.py`: root mean squared error of survival curves, means over samples:",
        f"{n_replicates}. {versions()}.",
    ]
    for n, of_size in records.groupby("n"):
        errors = of_size.pivot_table(index="learner", columns="truth", values="error")[list(TRUTHS)]
        seconds = of_size.groupby("learner")["fit"].mean()
        lines += ["", f"## n = {n}", "", "| learner | " + " | ".join(TRUTHS) + " | seconds |"]
        lines.append("| --- |" + " ---: |" * (len(TRUTHS) + 1))
        for learner in [learner for learner in learners() if learner in errors.index]:
            cells = " | ".join(f"{value:.4f}" for value in errors.loc[learner])
            lines.append(f"| {learner} | {cells} | {seconds[learner]:.2f} |")
    lines += ["", "## What was chosen", "", "| learner | truth | n | settings, one for each sample |"]
    lines.append("| --- | --- | ---: | --- |")
    tuned = records[records["learner"].str.endswith("tune")]
    for (learner, truth, n), group in tuned.groupby(["learner", "truth", "n"], sort=False):
        words = [", ".join(f"{k}={v}" for k, v in chosen.items()) or "as given" for chosen in group["chosen"]]
        lines.append(f"| {learner} | {truth} | {n} | {'; '.join(words)} |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="only make the table")
    if not parser.parse_args().table:
        run()
    write_table()


if __name__ == "__main__":
    main()
