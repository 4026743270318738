"""`SurvivalTreeCV`: a survival tree of either kind that tunes itself by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils.validation import check_is_fitted

from dipolar.candidates import Fold, Places, Scored, make_candidate, score_path, tabulate_paths
from dipolar.metrics.scorers import SCORER_NAMES, SurvivalScorer, get_scorer
from dipolar.node_svm.svm import DipoleSVM
from dipolar.parallel import run_tasks
from dipolar.parameters import check_choice, check_number, check_share, draw_seed
from dipolar.progress import Reporter
from dipolar.resampling import deal_out
from dipolar.rows import TrainingRows, arrange_rows
from dipolar.survival import Survival, survival_outcome
from dipolar.survival_model import SurvivalModel
from dipolar.tree.dipole_tree import DipoleSurvivalTree
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.validation import check_fit_data

__all__ = ["SurvivalTreeCV"]

# What is tuned besides the depth, by the kind of tree.
DIPOLE_GRID: dict[str, Sequence[Any]] = {"svm__kappa": (10.0, 30.0, 100.0), "min_samples_leaf": (10, 15, 30)}
LOGRANK_GRID: dict[str, Sequence[Any]] = {"min_samples_leaf": (10, 15, 30)}

# The larger it is the more flexible is a tree, for choosing between candidates that are as good.
FLEXIBILITY = "svm__kappa"


class SurvivalTreeCV(SurvivalModel):
    """A survival tree whose size and other parameters are chosen by cross-validation.

    Every candidate is grown and pruned on each training fold and scored on the test fold; the chosen one is fitted to
    all rows. A tree of a single leaf is always among the candidates where depths are tuned.

    Parameters
    ----------
    estimator : DipoleSurvivalTree or LogRankSurvivalTree, default=None
        The tree that candidates are copies of; None is a :class:`~dipolar.DipoleSurvivalTree`. To tune with pruning
        inside each fold, pass a tree that prunes.
    param_grid : dict, default=None
        The parameters of the tree to choose, each with the list of its values, such as
        ``{"svm__kappa": [10, 100], "svm__kernel": ["linear", "rbf"]}``. None tunes kappa and the size of leaves of a
        dipole tree, ``{"svm__kappa": [10, 30, 100], "min_samples_leaf": [10, 15, 30]}``, and the size of leaves of a
        log-rank tree, ``{"min_samples_leaf": [10, 15, 30]}``. More candidates are not always better: on a few
        hundred rows the luck of the best of them costs more than another kernel brings.
    max_depth : "auto", sequence of int or None, default="auto"
        The depths to choose from. "auto" is 0, a single leaf, up to half of log2(n) less 1, rounded: about sqrt(n) / 2
        leaves at most; n counts rows by their weights. Trees are grown once to the largest and cut back, so more depths
        cost next to nothing. None leaves the depth to the tree.
    cv : int, splitter or iterable, default=5
        Folds. A number means so many folds, drawn by `random_state` among as many rows as the weights count, with equal
        shares of events; None means 5. Folds of your own are numbers of the rows as they are given.
    scoring : str, callable, sequence of str or dict, default="concordance"
        Names of `dipolar.metrics.SCORER_NAMES`, a function of (estimator, X, y), or a dict of such functions by name;
        greater is better. All are reported; the first one chooses. "concordance" is Harrell's, "concordance_paper" the
        paper's, "neg_ibs" the integrated Brier score with its sign turned.
    tolerance : float, default=0.5
        By how many standard errors of the difference over the folds the mean score of a candidate may be below the
        best one for it to be taken if it is smaller: fewest leaves on average, then the smallest kappa. 0 takes the
        best; 1 is the rule of one standard error.
    level : float or None, default=0.005
        Level of the test that a tree of more than one leaf has to pass: that in the held-out rows of all folds together
        the hazard rises with the risk predicted for them (one-sided score test in Cox's model, stratified by fold, of
        the ranks of the risks). A candidate that does not pass is not taken where a single leaf is among the
        candidates. None asks for no test.
    n_jobs : int, default=None
        Number of workers over folds and candidates. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the trees. All candidates meet the same folds and seeds.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    best_estimator_ : DipoleSurvivalTree or LogRankSurvivalTree
        The chosen tree, fitted to all rows. All predictions are its own.
    best_params_ : dict
        Its tuned parameters.
    best_score_ : float
        Its mean score over the folds.
    best_index_ : int
        Its row in `cv_results_`.
    refit_time_ : float
        Seconds that fitting it to all rows took.
    cv_results_ : DataFrame
        One row per candidate: its parameters, mean, standard deviation (`std_test_...`) and single values of each
        score, the standardised statistic of the test (`trend`), mean number of leaves and mean seconds to fit. A saved
        model does not keep it.
    scorer_names_ : list of str
        The scores, the choosing one first.

    Notes
    -----
    Ties: of candidates with equal mean scores the one with fewer leaves is taken, then the one with the smaller kappa.
    A tree of one leaf orders no pair; concordances give it 0.5 and it takes part like any other. A score that is not
    defined on a fold (no comparable pair in it, say) is NaN there, with a warning, and so is the mean of the
    candidate, which is then not chosen. That no candidate is left is an error.

    Examples
    --------
    >>> from dipolar import SurvivalTreeCV
    >>> from dipolar.datasets import load_remission
    >>> X, y = load_remission(return_X_y=True)
    >>> tuned = SurvivalTreeCV(param_grid={"svm__kappa": [10, 100]}, max_depth=[1, 2], random_state=0).fit(X, y)
    >>> len(tuned.cv_results_)  # 2 values of kappa, 2 depths
    4
    """

    def __init__(
        self,
        estimator=None,
        *,
        param_grid=None,
        max_depth="auto",
        cv=5,
        scoring="concordance",
        tolerance=0.5,
        level=0.005,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.max_depth = max_depth
        self.cv = cv
        self.scoring = scoring
        self.tolerance = tolerance
        self.level = level
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SurvivalTreeCV:
        """Choose a candidate by cross-validation and fit it to all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        y : survival outcome
            In any form that the trees take.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts, when a tree is grown and when it is scored. A scorer of your own is not told: it
            meets every row as often as it is in the data.

        Returns
        -------
        self
        """
        self._check_rule()
        template = self._template()
        checked, survival, weight = check_fit_data(
            self, X, y, sample_weight, allow_nan=template._allow_nan, drop_unseen=False
        )
        rows = arrange_rows(checked, survival, weight)
        seed = draw_seed(self.random_state)
        families, depths = self._families(template), self._depths(float(rows.weight.sum()))
        scorers = self._scorers()
        folds = self._folds(rows, checked, survival, weight, seed)

        template.set_params(random_state=seed)
        paths = self._score_paths(template, families, depths, rows, folds, scorers)
        self.scorer_names_ = list(scorers)
        self.cv_results_ = tabulate_paths(families, depths, paths, self.scorer_names_, len(folds))
        self._choose(families, depths, len(folds))
        chosen = make_candidate(template, self.best_params_)
        outcome = survival_outcome(rows.survival.time, rows.survival.event)
        start = time.perf_counter()
        self.best_estimator_ = chosen.fit(self._with_names(rows.X), outcome, rows.weight)
        self.refit_time_ = time.perf_counter() - start
        return self

    # Prediction is the chosen tree's.

    def predict(self, X: Any) -> np.ndarray:
        """Predict a risk with the chosen tree: the higher, the earlier."""
        return self._tree().predict(X)

    def predict_quantile(self, X: Any, q: float = 0.5, unreached: str = "inf") -> np.ndarray:
        """Predict quantiles with the chosen tree; see :meth:`DipoleSurvivalTree.predict_quantile`."""
        return self._tree().predict_quantile(X, q, unreached)

    def predict_rmst(self, X: Any, horizon: float | None = None) -> np.ndarray:
        """Predict restricted mean survival times with the chosen tree."""
        return self._tree().predict_rmst(X, horizon)

    def apply(self, X: Any) -> np.ndarray:
        """Return the node number of the leaf of every row in the chosen tree."""
        return self._tree().apply(X)

    @property
    def unique_times_(self) -> np.ndarray:
        """The distinct times of the training data."""
        return self._tree().unique_times_

    @property
    def event_times_(self) -> np.ndarray:
        """The distinct event times of the training data."""
        return self._tree().event_times_

    @property
    def n_leaves_(self) -> int:
        """Number of leaves of the chosen tree."""
        return self._tree().n_leaves_

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each covariate in the log-rank statistics of the chosen tree."""
        return self._tree().feature_importances_

    def __str__(self) -> str:
        """Return the chosen tree as text."""
        return str(self.best_estimator_) if hasattr(self, "best_estimator_") else repr(self)

    def _curves(self, X: Any, times: np.ndarray | None, *, hazard: bool) -> np.ndarray:
        return self._tree()._curves(X, times, hazard=hazard)

    def _times_of_tables(self) -> np.ndarray:
        return self.unique_times_

    def _shown_tree(self) -> BaseSurvivalTree:
        return self._tree()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._template()._allow_nan
        return tags

    # What is searched.

    def _template(self) -> BaseSurvivalTree:
        """Return a tree that candidates are copies of, with a machine whose parameters can be set."""
        if self.estimator is not None and not isinstance(self.estimator, BaseSurvivalTree):
            raise ValueError(f"estimator must be a DipoleSurvivalTree or LogRankSurvivalTree, got {self.estimator!r}.")
        template = DipoleSurvivalTree() if self.estimator is None else clone(self.estimator)
        if isinstance(template, DipoleSurvivalTree) and template.svm is None:
            template.set_params(svm=DipoleSVM())
        return template

    def _depths(self, n_samples: float) -> Sequence[int | None]:
        if self.max_depth is None:
            return [None]
        if isinstance(self.max_depth, str):
            if self.max_depth != "auto":
                raise ValueError(f'max_depth must be "auto", a list of depths or None, got {self.max_depth!r}.')
            return list(range(max(1, round(np.log2(n_samples) / 2) - 1) + 1))
        depths = _listed("max_depth", self.max_depth, "None leaves it to the tree.")
        return sorted({int(check_number("max_depth", depth, low=0, whole=True)) for depth in depths})

    def _families(self, template: BaseSurvivalTree) -> list[dict[str, Any]]:
        """All candidates but for their depth."""
        return list(self._grid(template))

    def _grid(self, template: BaseSurvivalTree) -> ParameterGrid:
        """Return what makes the candidates, none of which is made yet."""
        default = DIPOLE_GRID if isinstance(template, DipoleSurvivalTree) else LOGRANK_GRID
        grid = default if self.param_grid is None else self.param_grid
        known = template.get_params(deep=True)
        try:
            members = ParameterGrid(dict(grid))
        except (TypeError, ValueError) as error:
            raise ValueError(f"param_grid must be None or a dict of lists of values, got {grid!r}: {error}") from error
        for name in grid:
            if name not in known:
                raise ValueError(
                    f"param_grid must name parameters of {type(template).__name__}, got {name!r}. Those of its machine "
                    "begin with svm__, such as svm__kappa."
                )
            if name == "max_depth" and self.max_depth is not None:
                raise ValueError("param_grid must not name max_depth: it is tuned by max_depth= of SurvivalTreeCV.")
        return members

    def _folds(
        self, rows: TrainingRows, X: np.ndarray, survival: Survival, weight: np.ndarray, seed: int
    ) -> list[Fold]:
        """Return with which weight each row grows and scores in every fold; X, survival and weight are as given."""
        n_folds = self._n_folds()
        if n_folds is not None:
            held_out = deal_out(rows.weight, rows.survival.event, n_folds, np.random.default_rng(seed))
            if not all(test.any() for test in held_out):
                raise ValueError(
                    f"cv={n_folds} folds are more than there are rows: n_samples={len(X)}, with weights that sum to "
                    f"{rows.weight.sum():g}. Ask for fewer folds."
                )
            return [Fold(rows.weight - test, test) for test in held_out]
        try:
            splits = [(train, test) for train, test in check_cv(self.cv).split(X, survival.event)]
            if not splits:
                raise ValueError("there are no folds in it")
            return [Fold(rows.weigh(weight, train), rows.weigh(weight, test)) for train, test in splits]
        except (IndexError, TypeError, ValueError) as error:
            raise ValueError(
                f"cv must be a number of folds, a splitter of scikit-learn, or pairs of row numbers (train, test), got "
                f"{self.cv!r:.200}: {error}"
            ) from error

    def _n_folds(self) -> int | None:
        """Return the number of folds that are to be drawn; None where `cv` says what they are."""
        if self.cv is not None and not isinstance(self.cv, int | np.integer):
            return None
        hint = "It is a number of folds."
        return int(check_number("cv", 5 if self.cv is None else self.cv, low=2, whole=True, hint=hint))

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

    def _score_paths(self, template, families, depths, rows, folds, scorers) -> list[list[Scored]]:
        """Score every path in depth: one list for each family and fold, in that order."""
        report = Reporter(self.verbose)
        # Arrays are arguments of their own, so that joblib's Dask backend sends each of them once.
        shared = survival_outcome(rows.survival.time, rows.survival.event), rows.n_given / rows.weight
        places = Places(rows, all(isinstance(scorer, SurvivalScorer) for scorer in scorers.values()))
        tasks = [
            delayed(score_path)(*places.of(make_candidate(template, family), fold), depths, *shared, fold, scorers)
            for family in families
            for fold in folds
        ]
        paths = []
        for path in run_tasks(tasks, self.n_jobs):
            paths.append(path)
            report.searching(len(paths), len(tasks))
        return paths

    def _choose(self, families: list[dict[str, Any]], depths: Sequence[int | None], n_folds: int) -> None:
        table, name = self.cv_results_, self.scorer_names_[0]
        mean = table[f"mean_test_{name}"]
        if mean.isna().all():
            raise ValueError(
                f"scoring={name!r} is not defined on every fold of cv={self.cv!r}, for any candidate. Use fewer folds, "
                "or folds with equal shares of events."
            )
        single = table["mean_n_leaves"] == 1
        eligible = mean.notna()
        if self.level is not None and (single & eligible).any():
            eligible &= single | (table["trend"] > norm.isf(self.level))
        found = table.loc[eligible, [f"split{fold}_test_{name}" for fold in range(n_folds)]]
        short = -found.sub(found.loc[mean[eligible].idxmax()], axis="columns")
        error = short.std(axis="columns", ddof=1) / np.sqrt(n_folds) if n_folds > 1 else 0.0
        by = ["mean_n_leaves", *(column for column in table if column == FLEXIBILITY)]
        good = table.loc[found.index[short.mean(axis="columns") <= self.tolerance * error]]
        best = int(good.sort_values(by, kind="stable").index[0])
        family, depth = families[best // len(depths)], depths[best % len(depths)]
        self.best_index_, self.best_score_ = best, float(mean[best])
        self.best_params_ = family | ({} if depth is None else {"max_depth": depth})

    def _check_rule(self) -> None:
        check_number("tolerance", self.tolerance, low=0, hint="It counts standard errors; 0 takes the best candidate.")
        if self.level is not None:
            check_share("level", self.level, hint="None asks for no test.")

    def _with_names(self, X: np.ndarray) -> Any:
        names = getattr(self, "feature_names_in_", None)
        return X if names is None else pd.DataFrame(X, columns=names)

    def _tree(self) -> BaseSurvivalTree:
        check_is_fitted(self)
        return self.best_estimator_

    # Files: that of the chosen tree, and what it was chosen by.

    def _header(self) -> dict[str, Any]:
        return {"tree": self._tree()._file_header()}

    def _arrays(self) -> dict[str, np.ndarray]:
        return self._tree()._arrays()

    def _restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        tree = header.get("tree")
        if not isinstance(tree, dict):
            raise ValueError("its header has no tree")
        cls = type(self._template())
        if tree.get("estimator") != cls.__name__:
            raise ValueError(f"its tree is a {tree.get('estimator')!r:.60}, not a {cls.__name__!r}")
        if any(tree.get(name) != header.get(name) for name in ("n_features", "feature_names")):
            raise ValueError("its tree is one of other covariates")
        self.best_estimator_ = cls._from_file(tree, arrays)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_rule()
        self._grid(self._template())
        self._depths(n_samples=1.0)
        self._scorers()
        self._n_folds()


def _listed(name: str, value: Any, hint: str) -> list[Any]:
    """Return a parameter that is one value, or a sequence of them, as a list that is not empty."""
    is_sequence = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    values = list(value) if is_sequence else [value]
    if not values:
        raise ValueError(f"{name} must list at least one value, got {value!r}. {hint}")
    return values
