"""`DipoleSurvivalTreeCV`: a dipole tree that tunes itself by cross-validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UndefinedMetricWarning
from sklearn.model_selection import ParameterGrid, StratifiedKFold, check_cv
from sklearn.utils.validation import check_is_fitted

from dipolar.metrics.scorers import SCORER_NAMES, SurvivalScorer, get_scorer
from dipolar.parallel import run_tasks
from dipolar.parameters import check_choice, check_flag, check_number, draw_seed
from dipolar.survival import survival_outcome
from dipolar.tree.dipole_splitter import RootMemory
from dipolar.tree.progress import Reporter
from dipolar.trees import DipoleSurvivalTree
from dipolar.validation import check_fit_data

__all__ = ["DipoleSurvivalTreeCV"]

# log(kappa) from a surface that is nearly flat to one that follows every dipole.
DEFAULT_ETA = (-6.0, -4.0, -2.0, 0.0)
LARGEST_ETA = 46.0

# What a tree is grown with unless the user says otherwise: see `estimator`. At full price the pure dipoles can pin a
# surface to a gap in the data that has nothing to do with survival, such as the one between two towns; a tenth of it
# leaves the direction to the mixed dipoles, and still says where along it to cut.
DEFAULT_TREE = {
    "standardize": True,
    "dipole_scope": "node",
    "pure_weight": 0.1,
    "min_samples_split": 6,
    "min_samples_leaf": 3,
    "max_rank": 64,
}

# What is tuned of that tree besides kappa and depth.
DEFAULT_GRID = {"min_samples_leaf": (3, 15)}


@dataclass(frozen=True)
class _Score:
    """One tree, grown on one training fold and scored on its test fold."""

    scores: dict[str, float]
    n_leaves: int
    seconds: float


class DipoleSurvivalTreeCV(BaseEstimator):
    """A dipole survival tree whose kernel and kappa are chosen by cross-validation.

    Every candidate is grown and pruned on each training fold and scored on the test fold; the candidate with the best
    mean score is fitted to all rows.

    Parameters
    ----------
    kernel : str, callable or sequence of them, default="linear"
        The kernels to choose from, such as ``("linear", "quadratic", "rbf")``. More candidates are not always better:
        on a few hundred rows the luck of the best of them costs more than another kernel brings.
    eta : sequence of float, default=None
        The values of log(kappa) to choose from; None is -6, -4, -2, 0. (The paper's grid is -4 to 4 by 0.5. By its
        concordance the best value often lies at the lower end of that, or below.)
    max_depth : "auto", sequence of int or None, default="auto"
        The depths to choose from. "auto" is 1 up to half of log2(n), rounded, so that the largest trees have about
        sqrt(n) leaves; n counts rows by their weights. Trees are grown once to the largest and cut back, so more
        depths cost next to nothing. None leaves the depth to `estimator`.
    param_grid : dict, default=None
        Further parameters of :class:`~dipolar.DipoleSurvivalTree` to choose, each with the list of its values, such as
        ``{"min_samples_leaf": [5, 20], "mixed_quantile": [0.6, 0.75]}``. None, if `estimator` is None as well, is
        ``{"min_samples_leaf": [3, 15]}``; otherwise nothing.
    estimator : DipoleSurvivalTree, default=None
        The tree that candidates are copies of. None is a tree with standardised covariates, dipoles of each node's own
        time gaps, pure dipoles at a tenth of the price of mixed ones, at least 6 rows to split, kernels of rank 64 at
        most, and no pruning: the depth is tuned instead. To tune with pruning inside each fold, pass a tree that
        prunes.
    cv : int, splitter or iterable, default=5
        Folds. A number means so many folds, shuffled by `random_state` and with equal shares of events.
    scoring : str, callable, or sequence of str, default="concordance"
        Names of `dipolar.metrics.SCORER_NAMES`, or a function of (estimator, X, y); greater is better. All are
        reported; the first one chooses. "concordance" is Harrell's, "concordance_paper" the paper's, "neg_ibs" the
        integrated Brier score with its sign turned.
    one_standard_error : bool, default=False
        Whether to take, instead of the best candidate, the smallest whose mean score is within one standard error of
        it: fewest leaves on average, then the smallest kappa.
    n_jobs : int, default=None
        Number of workers over folds and kernels. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the trees. All candidates meet the same folds and seeds.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    best_estimator_ : DipoleSurvivalTree
        The chosen tree, fitted to all rows. Prediction, `score` and `save` are its own.
    best_params_ : dict
        Its tuned parameters.
    best_kappa_, best_score_ : float
        Its kappa, and its mean score over the folds.
    best_index_ : int
        Its row in `cv_results_`.
    refit_time_ : float
        Seconds that fitting it to all rows took.
    cv_results_ : DataFrame
        One row per candidate: its parameters, `eta`, mean, standard deviation (`std_test_...`) and single values of
        each score, mean number of leaves and mean seconds to fit.
    scorer_names_ : list of str
        The scores, the choosing one first.

    Notes
    -----
    Ties: of candidates with equal mean scores the one with fewer leaves is taken, then the one with the smaller kappa.
    A tree of one leaf orders no pair; concordances give it 0.5 and it takes part like any other. A score that is not
    defined on a fold (no comparable pair in it, say) is NaN there, with a warning, and so is the mean of the
    candidate, which is then not chosen. That no candidate is left is an error.

    What depends on a fold alone (the cut-offs of its time gaps, the scale of its covariates, margin, width and factor
    of the kernel at the root) is computed once for all values of kappa. Nothing else is carried from one kappa to the
    next, so that the result is that of a grid search.

    Examples
    --------
    >>> from dipolar import DipoleSurvivalTreeCV
    >>> from dipolar.datasets import load_remission
    >>> X, y = load_remission(return_X_y=True)
    >>> tuned = DipoleSurvivalTreeCV(eta=[-2, 0, 2], max_depth=[1, 2], random_state=0).fit(X, y)
    >>> len(tuned.cv_results_)  # 3 values of eta, 2 depths, 2 leaf sizes
    12
    """

    def __init__(
        self,
        *,
        kernel="linear",
        eta=None,
        max_depth="auto",
        param_grid=None,
        estimator=None,
        cv=5,
        scoring="concordance",
        one_standard_error=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.eta = eta
        self.max_depth = max_depth
        self.param_grid = param_grid
        self.estimator = estimator
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DipoleSurvivalTreeCV:
        """Choose a candidate by cross-validation and fit it to all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates; no missing values.
        y : survival outcome
            In any form that the trees take.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts, when a tree is grown and when it is scored. A scorer of your own is not told.
        """
        check_flag("one_standard_error", self.one_standard_error)
        checked, survival, weight = check_fit_data(self, X, y, sample_weight, drop_unseen=False)
        outcome = survival_outcome(survival.time, survival.event)
        seed = draw_seed(self.random_state)
        families, kappas, depths = self._families(), np.exp(self._eta()), self._depths(float(weight.sum()))
        scorers = self._scorers()
        folds = list(self._splitter(seed).split(checked, survival.event))

        template = self._template().set_params(random_state=seed)
        paths = self._score_paths(template, families, kappas, depths, checked, outcome, weight, folds, scorers)
        self.scorer_names_ = list(scorers)
        self.cv_results_ = _tabulate(families, kappas, depths, paths, self.scorer_names_, len(folds))
        self._choose(families, depths)
        chosen = clone(template).set_params(**self.best_params_)
        start = time.perf_counter()
        self.best_estimator_ = chosen.fit(self._with_names(checked), outcome, weight)
        self.refit_time_ = time.perf_counter() - start
        return self

    # Prediction is the chosen tree's.

    def predict(self, X: Any) -> np.ndarray:
        """Predict a risk with the chosen tree: the higher, the earlier."""
        return self._tree().predict(X)

    def predict_survival_function(self, X: Any, return_array: bool = False) -> np.ndarray:
        """Predict survival functions with the chosen tree."""
        return self._tree().predict_survival_function(X, return_array)

    def predict_cumulative_hazard_function(self, X: Any, return_array: bool = False) -> np.ndarray:
        """Predict cumulative hazard functions with the chosen tree."""
        return self._tree().predict_cumulative_hazard_function(X, return_array)

    def predict_median(self, X: Any, unreached: str = "inf") -> np.ndarray:
        """Predict median survival times with the chosen tree."""
        return self._tree().predict_median(X, unreached)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Harrell's concordance index of the chosen tree."""
        return self._tree().score(X, y, sample_weight)

    @property
    def unique_times_(self) -> np.ndarray:
        """The distinct times of the training data."""
        return self._tree().unique_times_

    @property
    def n_leaves_(self) -> int:
        """Number of leaves of the chosen tree."""
        return self._tree().n_leaves_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    # What is searched.

    def _template(self) -> DipoleSurvivalTree:
        if self.estimator is None:
            return DipoleSurvivalTree(**DEFAULT_TREE)
        if not isinstance(self.estimator, DipoleSurvivalTree):
            raise ValueError(f"estimator must be None or a DipoleSurvivalTree, got {self.estimator!r}.")
        return clone(self.estimator)

    def _eta(self) -> np.ndarray:
        hint = "It is log(kappa); the default is to try -6, -4, -2 and 0."
        eta = _listed("eta", DEFAULT_ETA if self.eta is None else self.eta, hint)
        return np.unique([check_number("eta", value, low=-LARGEST_ETA, high=LARGEST_ETA, hint=hint) for value in eta])

    def _depths(self, n_samples: float) -> Sequence[int | None]:
        if self.max_depth is None:
            return [None]
        if isinstance(self.max_depth, str):
            if self.max_depth != "auto":
                raise ValueError(f'max_depth must be "auto", a list of depths or None, got {self.max_depth!r}.')
            return list(range(1, max(1, round(np.log2(n_samples) / 2)) + 1))
        depths = _listed("max_depth", self.max_depth, "None sets no limit.")
        return sorted({int(check_number("max_depth", depth, low=1, whole=True)) for depth in depths})

    def _families(self) -> list[dict[str, Any]]:
        """All candidates but for their kappa."""
        kernels = _listed("kernel", self.kernel, "'linear' is the default.")
        default = DEFAULT_GRID if self.estimator is None else {}
        grid = default if self.param_grid is None else self.param_grid
        known = self._template().get_params()
        try:
            members = list(ParameterGrid(dict(grid)))
        except (TypeError, ValueError) as error:
            raise ValueError(f"param_grid must be None or a dict of lists of values, got {grid!r}: {error}") from error
        for name in grid:
            if name not in known or name in ("kernel", "kappa", "max_depth"):
                raise ValueError(
                    "param_grid must name parameters of DipoleSurvivalTree other than kernel, kappa and max_depth, got "
                    f"{name!r}. Those three are tuned by kernel=, eta= and max_depth=."
                )
        return [{"kernel": kernel, **others} for kernel in kernels for others in members]

    def _splitter(self, seed: int) -> Any:
        if isinstance(self.cv, int | np.integer):
            return StratifiedKFold(int(self.cv), shuffle=True, random_state=seed)
        return check_cv(self.cv)

    def _scorers(self) -> dict[str, Any]:
        if callable(self.scoring):
            return {getattr(self.scoring, "__name__", "score"): self.scoring}
        if isinstance(self.scoring, Mapping):
            if not self.scoring or not all(map(callable, self.scoring.values())):
                raise ValueError(f"scoring must name functions of (estimator, X, y), got {self.scoring!r}.")
            return dict(self.scoring)
        names = _listed("scoring", self.scoring, "'concordance' is the default.")
        return {check_choice("scoring", name, SCORER_NAMES): get_scorer(name) for name in names}

    # The search.

    def _score_paths(self, template, families, kappas, depths, X, y, weight, folds, scorers) -> list[list[_Score]]:
        """Score every path in kappa: one list for each family and fold, in that order."""
        report = Reporter(self.verbose)
        tasks = [
            delayed(_score_path)(clone(template).set_params(**family), kappas, depths, X, y, weight, fold, scorers)
            for family in families
            for fold in folds
        ]
        paths = []
        for path in run_tasks(tasks, self.n_jobs):
            paths.append(path)
            report.searching(len(paths), len(tasks))
        return paths

    def _choose(self, families: list[dict[str, Any]], depths: Sequence[int | None]) -> None:
        table, name = self.cv_results_, self.scorer_names_[0]
        mean = table[f"mean_test_{name}"]
        if mean.isna().all():
            raise ValueError(
                f"scoring={name!r} is not defined on every fold of cv={self.cv!r}, for any candidate. Use fewer folds, "
                "or folds with equal shares of events."
            )
        bar = mean.max()
        if self.one_standard_error:
            spread = table[f"std_test_{name}"][mean.idxmax()]
            n_folds = sum(column.startswith("split") and column.endswith(f"_{name}") for column in table)
            bar -= spread / np.sqrt(n_folds)
        near = table[mean >= bar]
        self.best_index_ = int(near.sort_values(["mean_n_leaves", "kappa"], kind="stable").index[0])
        chosen = table.loc[self.best_index_]
        self.best_kappa_ = float(chosen["kappa"])
        family = families[self.best_index_ * len(families) // len(table)]
        self.best_params_ = {**family, "kappa": self.best_kappa_}
        if depths != [None]:
            self.best_params_["max_depth"] = int(chosen["max_depth"])
        self.best_score_ = float(mean[self.best_index_])

    def _with_names(self, X: np.ndarray) -> Any:
        """Give the checked covariates their names back, if they had any."""
        names = getattr(self, "feature_names_in_", None)
        return X if names is None else pd.DataFrame(X, columns=names)

    def _tree(self) -> DipoleSurvivalTree:
        check_is_fitted(self)
        return self.best_estimator_


def _score_path(tree, kappas, depths, X, y, weight, fold, scorers) -> list[_Score]:
    """Grow trees for each kappa on one fold and score them at each depth; what is common to them is done once."""
    train, test = fold
    memory = RootMemory()
    path = []
    for kappa in kappas:
        with warnings.catch_warnings():
            # Of single candidates neither says anything to the user: the chosen tree tells the first itself, and the
            # second is what the rule for trees of one leaf is about.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            candidate = clone(tree).set_params(kappa=float(kappa))
            for grown, seconds in _grow_depths(candidate, depths, memory, X[train], y[train], weight[train]):
                scores = {
                    name: _score(name, scorer, grown, X[test], y[test], weight[test])
                    for name, scorer in scorers.items()
                }
                path.append(_Score(scores, grown.n_leaves_, seconds))
    return path


def _grow_depths(tree, depths, memory, X, y, weight) -> Iterator[tuple[DipoleSurvivalTree, float]]:
    """Yield a fitted tree for every depth with the seconds it took; one is enough where it can be cut back."""
    start = time.perf_counter()
    if depths == [None]:
        yield clone(tree).remember(memory).fit(X, y, weight), time.perf_counter() - start
    elif tree.pruning in (None, "fixed"):
        deepest = clone(tree).set_params(max_depth=depths[-1]).remember(memory).fit(X, y, weight)
        seconds = time.perf_counter() - start
        yield from ((deepest.cut_back(depth), seconds / len(depths)) for depth in depths)
    else:
        for depth in depths:
            start = time.perf_counter()
            grown = clone(tree).set_params(max_depth=depth).remember(memory).fit(X, y, weight)
            yield grown, time.perf_counter() - start


def _score(name: str, scorer: Any, tree: DipoleSurvivalTree, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """Score a fold; NaN with a warning where the score is not defined on it."""
    options = {"sample_weight": weight} if isinstance(scorer, SurvivalScorer) else {}
    try:
        return float(scorer(tree, X, y, **options))
    except ValueError as error:
        warnings.warn(
            f"{name!r} is not defined on a test fold of {len(X)} rows: {error}", FitFailedWarning, stacklevel=2
        )
        return np.nan


def _tabulate(
    families: list[dict[str, Any]],
    kappas: np.ndarray,
    depths: Sequence[int | None],
    paths: list[list[_Score]],
    names: list[str],
    n_folds: int,
) -> pd.DataFrame:
    """One row per candidate; `paths` holds the folds of the first family first."""
    records = []
    steps = [(kappa, depth) for kappa in kappas for depth in depths]
    for number, family in enumerate(families):
        of_family = paths[number * n_folds : (number + 1) * n_folds]
        for step, (kappa, depth) in enumerate(steps):
            cells = [path[step] for path in of_family]
            record = {**family, "kappa": kappa, "eta": np.log(kappa)}
            if depth is not None:
                record["max_depth"] = depth
            for name in names:
                values = np.array([cell.scores[name] for cell in cells])
                record[f"mean_test_{name}"] = values.mean()
                record[f"std_test_{name}"] = values.std(ddof=1) if n_folds > 1 else 0.0
                record |= {f"split{fold}_test_{name}": value for fold, value in enumerate(values)}
            record["mean_n_leaves"] = np.mean([cell.n_leaves for cell in cells])
            record["mean_fit_time"] = np.mean([cell.seconds for cell in cells])
            records.append(record)
    return pd.DataFrame.from_records(records)


def _listed(name: str, value: Any, hint: str) -> list[Any]:
    """Return a parameter that is one value, or a sequence of them, as a list that is not empty."""
    is_sequence = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    values = list(value) if is_sequence else [value]
    if not values:
        raise ValueError(f"{name} must list at least one value, got {value!r}. {hint}")
    return values
