"""Scores of predictions: what is called, and what has to hold of the answers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dipolar.curves import kaplan_meier, life_table, nelson_aalen
from dipolar.metrics import (
    brier_score,
    calibration_curve,
    concordance_index,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    d_calibration,
    integrated_brier_score,
    logrank_test,
    time_grid,
)
from fuzz.draw import Draw
from fuzz.faults import require
from fuzz.rows import Rows, draw_times, draw_weight
from fuzz.settings import WRONG

__all__ = ["TARGETS", "WORDS"]

# Arguments that a clear error may name; the outcomes are read as times and events.
WORDS = (
    "y", "y_train", "y_test", "time", "times", "event", "risk", "survival", "groups", "tau", "ties", "tied_times",
    "undefined", "left_limit", "outside", "variant", "n_groups", "n_bins", "rule", "size", "every", "weighting",
    "fleming_harrington", "method", "n_permutations", "random_state", "sample_weight", "train_weight", "index", "seed",
)  # fmt: skip

# Up to so many rows an answer is computed a second time, pair by pair.
FEW = 12

# Weights within this factor leave no doubt about what an exact answer is.
MODERATE = 1e10

CLOSE = 1e-6


# Inputs.


def _rows(draw: Draw, most: int = 60) -> Rows:
    """Draw outcomes with weights; now and then a single row."""
    n = draw.note("n", int(draw.rng.integers(*draw.ordinary_or_wild(((2, FEW), (FEW, most)), ((1, 3),), 0.2))))
    share = draw.note("events", draw.ordinary_or_wild((0.7, 1.0), (0.0, 0.1), 0.2))
    return Rows(np.zeros((n, 1)), draw_times(draw, n), draw.rng.random(n) < share, draw_weight(draw, n))


def _middle(rows: Rows) -> float:
    return float(np.sort(rows.time)[len(rows) // 2])


def _outcome(draw: Draw, rows: Rows) -> Any:
    return draw.one_of((rows.y, (rows.time, rows.event), np.column_stack([rows.time, rows.event])))


def _risk(draw: Draw, n: int) -> np.ndarray:
    rng = draw.rng
    ordinary = {
        "normal": lambda: rng.normal(size=n),
        "few": lambda: rng.integers(0, 4, n).astype(float),
        "constant": lambda: np.full(n, 2.0),
    }
    wild = {
        "infinite": lambda: rng.choice([-np.inf, 0.0, np.inf], n),
        "nan": lambda: np.where(rng.random(n) < 0.2, np.nan, 1.0),
        "any scale": lambda: rng.normal(size=n) * 10.0 ** rng.uniform(-300, 300, n),
        "short": lambda: rng.normal(size=max(n - 1, 0)),
        "text": lambda: np.array(["high"] * n),
        "complex": lambda: np.full(n, 1j),
        "whole": lambda: [10**400] * n,
    }
    return (ordinary | wild)[draw.note("risk", draw.ordinary_or_wild(list(ordinary), list(wild), 0.3))]()


def _times(draw: Draw, *outcomes: Rows) -> Any:
    """Draw times of a score: among those of the data, between them, beyond them, or wrong ones."""
    known = np.unique(np.concatenate([rows.time for rows in outcomes]))
    rng = draw.rng
    ordinary = {
        "none": lambda: None,
        "inner": lambda: np.unique(rng.choice(known, 3)),
        "between": lambda: np.unique(0.5 * known[1:] + 0.5 * known[:-1])[:5],
        "one": lambda: float(known[len(known) // 2]),
    }
    wild = {
        "all": lambda: known,
        "beyond": lambda: np.append(known, np.nextafter(known[-1], np.inf)),
        "zero": lambda: [0.0],
        "descending": lambda: known[::-1],
        "nan": lambda: [np.nan],
        "none at all": list,
        "table": lambda: [[1.0], [2.0]],
        "text": lambda: ["soon"],
    }
    return (ordinary | wild)[draw.note("times", draw.ordinary_or_wild(list(ordinary), list(wild), 0.3))]()


def _survival(draw: Draw, rows: Rows, times: Any) -> Any:
    """Draw predicted curves in one of the accepted forms, or in none of them."""
    n, rng = len(rows), draw.rng
    n_times = len(times) if np.ndim(times) == 1 else 1
    leaf = rng.integers(0, 3, n)
    curves = [kaplan_meier(rng.exponential(_middle(rows) + 1e-300, 5)) for _ in range(3)]
    table = np.sort(rng.random((n, n_times)), axis=1)[:, ::-1]
    ordinary = {
        "functions": lambda: [curves[number] for number in leaf],
        "leaves": lambda: (curves, leaf),
        "table": lambda: table if times is not None else (curves, leaf),
    }
    wild = {
        "certain": lambda: np.round(table),
        "faint": lambda: table * 1e-310,
        "nan": lambda: np.where(rng.random(table.shape) < 0.3, np.nan, table),
        "beyond one": lambda: 2 * table,
        "infinite": lambda: table * np.inf,
        "short": lambda: table[:-1],
        "wrong index": lambda: (curves, leaf + 2),
        "wrong function": lambda: [lambda t: 0.5] * n,
        "broken function": lambda: [lambda t: np.full(np.shape(t), np.nan)] * n,
        "mixed": lambda: [curves[0]] * (n - 1) + [0.5],
        "text": lambda: ["alive"] * n,
        "number": lambda: 0.5,
    }
    return (ordinary | wild)[draw.note("survival", draw.ordinary_or_wild(list(ordinary), list(wild), 0.3))]()


def _options(draw: Draw, **choices: tuple[Any, ...]) -> dict[str, Any]:
    """Draw some options, and now and then a wrong value of one of them."""
    options = {name: draw.one_of(values) for name, values in choices.items() if draw.chance(0.5)}
    if not draw.is_tame and draw.chance(0.04):
        options[draw.note("mistaken", draw.one_of(list(choices)))] = draw.one_of(WRONG)
    return draw.note("options", options)


def _two_sets(draw: Draw) -> tuple[Rows, Rows]:
    """Draw training and evaluated rows: of one data set, of the same rows, or of two that have little in common."""
    test = _rows(draw)
    how = draw.note("sets", draw.ordinary_or_wild(("halves", "same"), ("strangers",), 0.2))
    if how == "strangers":
        return _rows(draw), test
    if how == "same" or len(test) < 2:
        return test, test
    return test.take(np.arange(0, len(test), 2)), test.take(np.arange(1, len(test), 2))


# What has to hold.


def _require_shares(values: Any, what: str) -> None:
    values = np.asarray(values)
    require(np.isfinite(values).all(), f"{what} is not finite: {values}")
    require((values >= -CLOSE).all() and (values <= 1 + CLOSE).all(), f"{what} lies outside [0, 1]: {values}")


def _is_moderate(*samples: Rows) -> bool:
    """Whether weights and times are of a scale at which a second computation is as good as the first."""
    counts = np.concatenate([rows.counts for rows in samples])
    seen = counts[counts > 0]
    is_weighted = len(seen) > 0 and 1 / MODERATE <= seen.min() <= seen.max() <= MODERATE
    return is_weighted and all(rows.has_whole_times for rows in samples)


def _censoring_at(t: float, rows: Rows, left_limit: bool) -> Fraction:
    """Probability of being uncensored, by its definition."""
    value, weight = Fraction(1), [Fraction(w) for w in rows.counts]
    for s in np.unique(rows.time[~rows.event]):
        if s < t or (s == t and not left_limit):
            gone = sum((w for w, u, e in zip(weight, rows.time, rows.event) if u == s and not e), Fraction(0))
            later = sum((w for w, u in zip(weight, rows.time) if u > s), Fraction(0))
            if gone + later > 0:
                value *= later / (gone + later)
    return value


def _pairs(train: Rows | None, test: Rows, risk: np.ndarray, tau: float | None, left_limit: bool) -> tuple[Any, ...]:
    """Sum the weights of concordant, discordant and tied pairs in fractions."""
    sums, weight = [Fraction(0)] * 3, [Fraction(w) for w in test.counts]
    for i in np.flatnonzero(test.event & (test.counts > 0)):
        if tau is not None and test.time[i] >= tau:
            continue
        g = Fraction(1) if train is None else _censoring_at(test.time[i], train, left_limit)
        for j in np.flatnonzero(test.counts > 0):
            if test.time[i] < test.time[j] or (test.time[i] == test.time[j] and not test.event[j]):
                kind = 0 if risk[i] > risk[j] else 1 if risk[i] < risk[j] else 2
                sums[kind] += weight[i] * weight[j] / g**2
    return tuple(sums)


# Targets.


def concordance(draw: Draw) -> None:
    """Call Harrell's index and the one without ties."""
    rows = _rows(draw)
    risk = _risk(draw, len(rows))
    options = _options(
        draw, ties=("half", "exclude"), tied_times=("comparable", "exclude"), undefined=(0.5, 0.0)
    )  # fmt: skip
    value = concordance_index(_outcome(draw, rows), risk, sample_weight=rows.weight, **options)
    _require_shares(value, "concordance")
    if len(rows) <= FEW and _is_moderate(rows) and options.get("tied_times") != "exclude":
        concordant, discordant, tied = _pairs(None, rows, risk, None, False)
        if options.get("ties", "half") == "half":
            concordant, discordant = concordant + tied / 2, discordant + tied / 2
        if concordant + discordant > 0:
            exact = float(concordant / (concordant + discordant))
            require(abs(value - exact) < CLOSE, f"concordance is {value} and should be {exact}")


def uno(draw: Draw) -> None:
    """Call Uno's index."""
    train, test = _two_sets(draw)
    risk = _risk(draw, len(test))
    middle = _middle(test)
    options = _options(draw, tau=(None, middle, 1e-300, 1e300), left_limit=(False, True), outside=("error", "truncate"))
    value = concordance_index_ipcw(
        _outcome(draw, train), _outcome(draw, test), risk,
        sample_weight=test.weight, train_weight=train.weight, **options,
    )  # fmt: skip
    _require_shares(value, "Uno's concordance")
    if len(test) <= FEW and _is_moderate(train, test) and options.get("outside", "error") == "error":
        left_limit = options.get("left_limit", False)
        concordant, discordant, tied = _pairs(train, test, risk, options.get("tau"), left_limit)
        exact = float((concordant + tied / 2) / (concordant + discordant + tied))
        require(abs(value - exact) < CLOSE, f"Uno's concordance is {value} and should be {exact}")


def auc(draw: Draw) -> None:
    """Call the areas under the ROC curves."""
    train, test = _two_sets(draw)
    times, risk = _times(draw, train, test), _risk(draw, len(test))
    if np.ndim(times) == 1 and draw.chance(0.2):
        risk = draw.rng.normal(size=(len(test), len(times)))
    result = cumulative_dynamic_auc(
        _outcome(draw, train), _outcome(draw, test), risk, times, sample_weight=test.weight, train_weight=train.weight,
        **_options(draw, left_limit=(False, True), outside=("error", "truncate")),
    )  # fmt: skip
    _require_shares(result.auc, "AUC")
    _require_shares(result.mean, "mean AUC")
    require(
        result.auc.min() - CLOSE <= result.mean <= result.auc.max() + CLOSE, f"{result} has a mean outside its parts"
    )


def brier(draw: Draw) -> None:
    """Call Brier scores at some times, and integrate them."""
    train, test = _two_sets(draw)
    times = _times(draw, train, test)
    survival = _survival(draw, test, times)
    variants = draw.ordinary_or_wild(("graf",), ("paper", "authors"), 0.5)
    options = _options(draw, variant=(variants,), left_limit=(False, False, True), outside=("error", "truncate"))
    call = _outcome(draw, train), _outcome(draw, test), survival, times
    weights = {"sample_weight": test.weight, "train_weight": train.weight}
    scores = brier_score(*call, **weights, **options).scores
    require(np.isfinite(scores).all() and (scores >= 0).all(), f"Brier scores are {scores}")
    integral = integrated_brier_score(*call, **weights, **options)
    require(np.isfinite(integral) and integral >= 0, f"integrated Brier score is {integral}")
    require(integral <= scores.max() * (1 + CLOSE), f"integrated Brier score {integral} exceeds all scores {scores}")


def calibration(draw: Draw) -> None:
    """Call both kinds of calibration."""
    rows = _rows(draw)
    n = len(rows)
    middle = _middle(rows)
    survival = _survival(draw, rows, middle)
    if draw.chance(0.5):
        result = d_calibration(
            _outcome(draw, rows), survival, sample_weight=rows.weight, **_options(draw, n_bins=(2, 10, 1000))
        )
        _require_shares(result.p_value, "p-value of D-calibration")
        total = rows.counts.sum()
        require((result.counts >= 0).all(), f"counts of bins are {result.counts}")
        require(abs(result.counts.sum() - total) <= CLOSE * total, f"bins hold {result.counts.sum()} of {total}")
        return
    groups = ("quantiles", "curves", draw.rng.integers(0, 3, n), np.array(["a", "b"])[draw.rng.integers(0, 2, n)])
    frame = calibration_curve(
        _outcome(draw, rows), survival, draw.ordinary_or_wild((middle,), (float(rows.time.max()), 0.0, 1e300, np.nan)),
        sample_weight=rows.weight, **_options(draw, groups=groups, n_groups=(1, 4, 10**6)),
    )  # fmt: skip
    known = frame.dropna()
    _require_shares(known["observed"], "observed survival")
    _require_shares(frame["predicted"], "predicted survival")
    require(np.isfinite(known["std_error"]).all() and (known["std_error"] >= 0).all(), "standard errors are wrong")
    require((frame["n_at_risk"] <= frame["n_samples"]).all(), "more rows are at risk than there are")


def logrank(draw: Draw) -> None:
    """Call the log-rank test."""
    rows = _rows(draw)
    rng, n = draw.rng, len(rows)
    ordinary = {
        "two": lambda: rng.integers(0, 2, n),
        "some": lambda: rng.integers(0, 5, n),
        "text": lambda: np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
    }
    wild = {
        "own": lambda: np.arange(n),
        "one": lambda: np.zeros(n),
        "nan": lambda: np.where(rng.random(n) < 0.3, np.nan, 1.0),
        "kinds": lambda: [1 if share < 0.5 else "a" for share in rng.random(n)],
        "missing": lambda: [1 if share < 0.5 else None for share in rng.random(n)],
        "short": lambda: np.arange(n - 1),
        "ragged": lambda: [[1]] + [[1, 2]] * (n - 1),
    }
    groups = (ordinary | wild)[draw.note("groups", draw.ordinary_or_wild(list(ordinary), list(wild), 0.3))]()
    options = _options(
        draw, method=("chi2", "permutation", "auto"),
        weighting=("logrank", "gehan", "tarone-ware", "fleming-harrington"),
        fleming_harrington=((1.0, 0.0), (0.5, 2.0), (0, 1e300), (1e-300, 1.0)), random_state=(0, None),
    )  # fmt: skip
    options.setdefault("n_permutations", 19)
    test = logrank_test(_outcome(draw, rows), groups, sample_weight=rows.weight, **options)
    require(np.isfinite(test.statistic) and test.statistic >= 0, f"statistic is {test.statistic}")
    _require_shares(test.p_value, "p-value")
    require(0 <= test.degrees_of_freedom < len(test.groups), f"{test.degrees_of_freedom} degrees of freedom")
    difference = abs(test.observed.sum() - test.expected.sum())
    require(difference <= CLOSE * max(test.observed.sum(), 1e-300), "more events are observed than expected")


def curves(draw: Draw) -> None:
    """Estimate curves, and ask them for times of every kind."""
    rows = _rows(draw)
    table = life_table(rows.time, rows.event, rows.weight)
    total = rows.counts.sum()
    require(abs((table.events + table.censored).sum() - total) <= CLOSE * total, "a life table has lost rows")
    survival = kaplan_meier(rows.time, rows.event, rows.weight)
    hazard = nelson_aalen(rows.time, rows.event, rows.weight)
    asked = np.sort(np.concatenate([rows.time, [-1.0, 0.0, 1e308, np.inf]]))
    _require_shares(survival(asked), "survival")
    require((np.diff(survival(asked)) <= 0).all(), "a survival curve rises")
    require(np.isfinite(hazard(asked)).all() and (np.diff(hazard(asked)) >= 0).all(), "a cumulative hazard falls")
    for rule in ("mean", "largest", "restricted_mean"):
        median = table.median(rule)
        require(0 <= median <= table.time[-1] * (1 + CLOSE), f"the median is {median} under {rule}")


def grid(draw: Draw) -> None:
    """Ask for the times of a score."""
    train, test = _two_sets(draw)
    times = time_grid(
        _outcome(draw, test), draw.one_of((None, train.y)), sample_weight=test.weight, train_weight=train.weight,
        **_options(draw, rule=("default", "paper", "authors"), size=(2, 100), every=(1, 5, 10**9)),
    )  # fmt: skip
    require(len(times) > 0 and np.isfinite(times).all(), f"the grid is {times}")
    require((np.diff(times) > 0).all(), f"the grid does not ascend: {times}")
    require(times[0] >= 0 and times[-1] <= test.time.max(), f"the grid {times} leaves the data")


TARGETS: dict[str, Callable[[Draw], None]] = {
    "concordance": concordance,
    "uno": uno,
    "auc": auc,
    "brier": brier,
    "calibration": calibration,
    "logrank": logrank,
    "curves": curves,
    "grid": grid,
}
