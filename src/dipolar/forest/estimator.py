"""What both forests share: fitting, prediction, out-of-bag estimates, importance, saving."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from numbers import Integral
from typing import Any

import numpy as np
from joblib import delayed
from scipy.sparse import csr_matrix
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import Bunch, RegressorTags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from dipolar.curves import StepFunction, tabulate
from dipolar.forest.importance import KINDS, importances
from dipolar.forest.out_of_bag import SCORINGS, OutOfBag
from dipolar.forest.planting import Planting, Recipe, plant
from dipolar.forest.record import Forest
from dipolar.forest.summary import ForestSummary, best_summary, default_trees
from dipolar.parallel import run_tasks
from dipolar.parameters import check_choice, check_flag, check_number, check_share, draw_seed
from dipolar.quantiles import thin_out
from dipolar.rows import TrainingRows, arrange_rows
from dipolar.survival import LARGEST_TIME, Survival, check_outcome, survival_outcome
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.progress import Reporter
from dipolar.tree.pruning import pruning_path
from dipolar.tree.splitter import GrowthLimits
from dipolar.tree.survival_model import SurvivalModel
from dipolar.validation import check_fit_data, check_sample_weight

__all__ = ["BaseSurvivalForest"]

# Cells of a table of curves that are computed at once: 16 MB.
BLOCK_CELLS = 1 << 21

# Share of the rows in a sample that is drawn without replacement: what a bootstrap sample holds of them on average.
SUBSAMPLE = 0.632

# Times at which a summary tree is compared with its forest.
SUMMARY_TIMES = 100

UNREACHED = ("inf", "nan", "largest", "restricted_mean")


class BaseSurvivalForest(SurvivalModel):
    """What all survival forests share.

    A subclass declares its parameters, names those below as well, and says how splits are found (`_recipe`).
    """

    # What subclasses set in their constructors, besides the growth limits.
    n_estimators: Any
    bootstrap: Any
    max_samples: Any
    time_grid: Any
    oob_score: Any
    warm_start: Any
    n_jobs: Any
    random_state: Any
    verbose: Any

    # What belongs to all trees of a forest, also to those that a warm start adds.
    seed_: int
    fingerprint_: str

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaseSurvivalForest:
        """Grow the trees, each on a sample of the rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Covariates.
        y : structured array, DataFrame, (n, 2) array, pair or 1-D array
            Outcomes; a 1-D array holds times that were all observed.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: weight 2 is the row twice, weight 0 leaves it out. Samples are drawn accordingly.

        Returns
        -------
        self
        """
        for flag in ("bootstrap", "oob_score", "warm_start"):
            check_flag(flag, getattr(self, flag))
        X, survival, weight = check_fit_data(self, X, y, sample_weight, allow_nan=self._allow_nan, drop_unseen=False)
        rows = arrange_rows(X, survival, weight)
        kept = self._kept_trees(rows)
        planting = self._planting(rows)
        numbers = range(len(kept), self._n_trees(len(kept)))
        trees, n_unconverged = plant(planting, rows, numbers, self.n_jobs, Reporter(self.verbose).planting)
        self._warn_about(n_unconverged, len(numbers))

        self.event_times_ = np.unique(rows.survival.time[rows.survival.event])
        self.unique_times_ = self._time_grid()
        self.forest_ = Forest([*kept, *trees], self.unique_times_, tabulate(rows.survival, rows.weight))
        if self.oob_score:
            self._predict_out_of_bag(planting, rows, X, survival, weight)
        return self

    def importance(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        kind: str = "permute",
        scoring: str = "concordance",
        n_repeats: int = 5,
        random_state: Any = None,
    ) -> Bunch:
        """Return by how much the forest gets worse on unseen rows when it is told a covariate wrongly.

        Each tree is asked about the training rows that are not in its sample, once as they are and once with the
        values of a covariate disturbed; the loss is that of the averaged answers.

        Parameters
        ----------
        X, y, sample_weight
            What the forest was fitted to: it keeps no rows, but knows which of them each tree has seen.
        kind : {"permute", "negate"}, default="permute"
            Whether the values are shuffled among the unseen rows of a tree (Breiman 2001), or mirrored at their mean.
            In an oblique split the latter negates the covariate's coefficient (Jaeger et al. 2024); it leaves nothing
            to chance and is done once.
        scoring : {"concordance", "brier"}, default="concordance"
            Whether the loss is minus Harrell's concordance index or the integrated Brier score.
        n_repeats : int, default=5
            How often values are shuffled.
        random_state : int, RandomState or None, default=None
            Seed of the shuffles.

        Returns
        -------
        result : Bunch
            `importances` of shape (n_features, n_repeats), their `importances_mean` and `importances_std`, as
            :func:`sklearn.inspection.permutation_importance` returns them.

        References
        ----------
        Breiman, L. (2001). Random forests. Machine Learning 45, 5-32.

        Jaeger, B. C., Welden, S., Lenoir, K. et al. (2024). Accelerated and interpretable oblique random survival
        forests. Journal of Computational and Graphical Statistics 33, 192-207.
        """
        check_is_fitted(self)
        check_choice("kind", kind, KINDS, hint="'negate' is quick and meant for oblique splits.")
        check_choice("scoring", scoring, SCORINGS, hint="'concordance' judges the order, 'brier' the probabilities.")
        n_repeats = int(check_number("n_repeats", n_repeats, low=1, whole=True, hint="5 to 20 are common."))
        seed = draw_seed(random_state)
        unseen = self._out_of_bag(X, y, sample_weight)
        found = importances(self.forest_, unseen, kind, scoring, n_repeats, seed, self.n_jobs)
        return Bunch(importances=found, importances_mean=found.mean(axis=1), importances_std=found.std(axis=1))

    def summary_tree(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        max_leaf_nodes: int = 8,
        trees: Sequence[BaseSurvivalTree] | None = None,
        cv: int = 5,
        random_state: Any = None,
    ) -> ForestSummary:
        """Return the single tree that best agrees with the forest, and how well it does.

        Trees are fitted to the outcomes that the forest expects, and the one whose leaves explain most of the
        forest's survival curves on held-out rows is kept. Its splits tell what the forest has learnt; its leaves show
        the outcomes of the given rows. `dipolar.plotting.plot_tree` draws it.

        Parameters
        ----------
        X, y, sample_weight
            Rows and outcomes, those of the training data or others.
        max_leaf_nodes : int, default=8
            Largest number of leaves.
        trees : sequence of survival trees, default=None
            The unfitted trees to choose from, as they are; `max_leaf_nodes` is not read then. None tries univariate
            trees, :class:`~dipolar.LogRankSurvivalTree`, by several criteria, and linear ones,
            :class:`~dipolar.DipoleSurvivalTree`, of different stiffness.
        cv : int, default=5
            Number of folds that the agreement is estimated by.
        random_state : int, RandomState or None, default=None
            Seed of the folds.

        Returns
        -------
        summary : ForestSummary
            Named tuple of the `tree`, its `agreement` and a table of all `candidates`. The agreement is the share of
            the variation of the forest's survival curves between rows that the leaves of such a tree explain on rows
            it was not fitted to: 1 where it says all that the forest says.
        """
        check_is_fitted(self)
        most = int(check_number("max_leaf_nodes", max_leaf_nodes, low=2, whole=True, hint="A tree needs two leaves."))
        n_folds = int(check_number("cv", cv, low=2, whole=True, hint="It is a number of folds."))
        seed = draw_seed(random_state)
        checked = self._check_covariates(X)
        survival = check_outcome(y)
        check_consistent_length(checked, survival.time)
        weight = check_sample_weight(sample_weight, len(checked))
        curves = self.predict_survival_function(X, return_array=True)
        shown = thin_out(np.arange(len(self.unique_times_)), SUMMARY_TIMES)
        trees = default_trees(len(checked), most, seed) if trees is None else list(trees)
        return best_summary(trees, X, survival, weight, curves[:, shown], self.unique_times_[shown], n_folds, seed)

    def tree(self, number: int) -> BaseSurvivalTree:
        """Return one tree of the forest as a fitted survival tree, to look at it; trees are numbered from 0."""
        check_is_fitted(self)
        hint = f"The forest has {len(self.forest_)} trees."
        number = int(check_number("number", number, low=0, high=len(self.forest_) - 1, whole=True, hint=hint))
        tree = self._single_tree()
        tree.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            tree.feature_names_in_ = self.feature_names_in_
        record = self.forest_.trees[number]
        tree.grown_ = replace(record, splits=record.splits.as_single())
        tree.pruning_path_ = pruning_path(tree.grown_)
        tree.unique_times_, tree.event_times_ = self.forest_.tables.time, self.event_times_
        tree._take_member(0)
        return tree

    def predict(self, X: Any) -> np.ndarray:
        r"""Predict a risk: the higher, the earlier the event is expected.

        The risk is the mean over the trees of the cumulative hazard of the row's leaf, summed over the event times of
        the training data: the number of events expected if everybody had this row's hazard (Ishwaran et al. 2008).

        Returns
        -------
        risk : ndarray of shape (n_samples,)
        """
        X = self._check_covariates(X)
        risk = np.empty(len(X))
        self._by_blocks(lambda block: self.forest_.risk(X[block]), risk, n_cells=1)
        return risk

    def predict_quantile(self, X: Any, q: float = 0.5, unreached: str = "inf") -> np.ndarray:
        """Predict the time of the grid by which a share `q` is expected to have had the event.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        q : float, default=0.5
            The share, strictly between 0 and 1.
        unreached : {"inf", "nan", "largest", "restricted_mean"}, default="inf"
            What to predict where the curve stays above `1 - q`: infinity, NaN, the last time of the grid, or the area
            under the curve up to then.
        """
        q = check_share("q", q, hint="0.5 asks for the median.")
        check_choice("unreached", unreached, UNREACHED, hint="It is for curves that stay above the level asked for.")
        curves = self._curves(X, True, hazard=False)
        times = self.unique_times_
        below = curves <= 1.0 - q
        quantile = times[np.argmax(below, axis=1)]
        instead = {"inf": np.inf, "nan": np.nan, "largest": times[-1]}.get(unreached)
        if instead is None:
            instead = _area(curves, times, times[-1])
        return np.where(below.any(axis=1), quantile, instead)

    def predict_rmst(self, X: Any, horizon: float | None = None) -> np.ndarray:
        """Predict restricted mean survival times, the area under each row's curve from 0 to `horizon`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        horizon : float, default=None
            Up to when; None means the last time of the grid.
        """
        curves = self._curves(X, True, hazard=False)
        if horizon is None:
            horizon = float(self.unique_times_[-1])
        horizon = check_number("horizon", horizon, low=0, hint="It is a time on the scale of y.")
        return _area(curves, self.unique_times_, horizon)

    def apply(self, X: Any) -> np.ndarray:
        """Return the node number of the leaf of every row in every tree, shape (n_samples, n_trees)."""
        X = self._check_covariates(X)
        nodes = np.empty((len(X), len(self.forest_)), np.int64)
        for number, of_tree in enumerate(self.forest_.nodes_of(self.forest_.prepare(X))):
            nodes[:, number] = of_tree
        return nodes

    def proximity(self, X: Any, other: Any = None) -> np.ndarray:
        """Return the share of trees in which two rows fall into the same leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        other : array-like of shape (n_others, n_features), default=None
            The rows to compare with; None takes those of X.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_others)
        """
        first = self._leaf_indicators(X)
        second = first if other is None else self._leaf_indicators(other)
        return (first @ second.T).toarray() / len(self.forest_)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Log-rank gain of each covariate over all splits of all trees, scaled to sum 1.

        A split that uses several covariates shares its statistic among them as its kind documents. It costs nothing,
        and favours covariates with many values; :meth:`importance` is the better judge.
        """
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for tree in self.forest_.trees:
            total += tree.splits.total_shares(tree.logrank, self.n_features_in_)
        return total / total.sum() if total.sum() > 0 else total

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A risk is a number, and scikit-learn's tools for regressors, partial dependence among them, apply to it.
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        return tags

    # What a subclass provides.

    def _recipe(self, n_features: int) -> Recipe:
        """Return how splits are found."""
        raise NotImplementedError

    def _single_tree(self) -> BaseSurvivalTree:
        """Return an unfitted tree of the kind that the forest has."""
        raise NotImplementedError

    def _warn_about(self, n_unconverged: int, n_trees: int) -> None:
        """Turn the number of problems that were not solved into at most one warning."""

    # Fitting.

    def _n_trees(self, n_kept: int) -> int:
        n_trees = int(check_number("n_estimators", self.n_estimators, low=1, whole=True, hint="It counts trees."))
        if n_trees < n_kept:
            raise ValueError(
                f"n_estimators must be at least {n_kept} with warm_start=True, the number of trees that are there, "
                f"got {n_trees}. Set warm_start=False to start again."
            )
        return n_trees

    def _kept_trees(self, rows: TrainingRows) -> tuple:
        """Return the trees to keep; set seed and fingerprint, which belong to all trees of a forest."""
        fingerprint = _fingerprint(rows)
        if self.warm_start and hasattr(self, "forest_"):
            if fingerprint != self.fingerprint_:
                raise ValueError(
                    "warm_start=True adds trees to a forest on the same rows, but X, y or sample_weight differ from "
                    "those of the first fit. Set warm_start=False to start again."
                )
            return self.forest_.trees
        self.fingerprint_ = fingerprint
        self.seed_ = draw_seed(self.random_state)
        return ()

    def _planting(self, rows: TrainingRows) -> Planting:
        recipe = self._recipe(rows.X.shape[1])
        return Planting(recipe, GrowthLimits.of(self), self.seed_, bool(self.bootstrap), self._share(rows.weight.sum()))

    def _share(self, n_samples: float) -> float:
        """Return the size of a sample as a share of the rows."""
        size = self.max_samples
        if size is None:
            return 1.0 if self.bootstrap else SUBSAMPLE
        if isinstance(size, Integral) and not isinstance(size, bool):
            return check_number("max_samples", size, low=1, high=n_samples, whole=True) / n_samples
        hint = "Give a share of the rows, their number as an integer, or None."
        return check_number("max_samples", size, above=0, high=1, hint=hint)

    def _time_grid(self) -> np.ndarray:
        grid, events = self.time_grid, self.event_times_
        if grid is None:
            return events
        hint = "None takes every event time, an integer that many of their quantiles, an array its own times."
        if isinstance(grid, Integral) and not isinstance(grid, bool):
            size = int(check_number("time_grid", grid, low=1, whole=True, hint=hint))
            return thin_out(events, size)
        try:
            times = np.unique(np.asarray(grid, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"time_grid must be None, an integer or an array of times, got {grid!r}. {hint}"
            ) from error
        if not len(times) or np.ndim(grid) != 1 or not ((times >= 0) & (times <= LARGEST_TIME)).all():
            raise ValueError(f"time_grid must hold times from 0 to {LARGEST_TIME:g}, got {grid!r}. {hint}")
        return times

    def _predict_out_of_bag(
        self, planting: Planting, rows: TrainingRows, X: np.ndarray, survival: Survival, weight: np.ndarray
    ) -> None:
        y = survival_outcome(survival.time, survival.event)
        unseen = OutOfBag(self.forest_, planting, rows, X, y, weight)
        self.oob_prediction_, self.oob_survival_ = unseen.risk(unseen.leaves), unseen.survival(unseen.leaves)
        self.oob_times_ = unseen.times
        self.oob_score_ = _or_nan("oob_score_", partial(unseen.concordance, self.oob_prediction_))
        self.oob_brier_ = _or_nan("oob_brier_", partial(unseen.brier, self.oob_survival_))
        n_missing = int(np.isnan(self.oob_prediction_).sum())
        if n_missing:
            warnings.warn(
                f"{n_missing} of {len(X)} rows are in the sample of every tree and have no out-of-bag prediction. Grow "
                "more trees, or lower max_samples.",
                UserWarning,
                stacklevel=3,
            )

    def _out_of_bag(self, X: Any, y: Any, sample_weight: Any) -> OutOfBag:
        """Find out which of the training rows each tree has not seen."""
        X = self._check_covariates(X)
        survival = check_outcome(y)
        check_consistent_length(X, survival.time)
        weight = check_sample_weight(sample_weight, len(X))
        rows = arrange_rows(X, survival, weight)
        if _fingerprint(rows) != self.fingerprint_:
            raise ValueError(
                "X, y and sample_weight must be what the forest was fitted to, and they differ from it. For other rows "
                "use sklearn.inspection.permutation_importance."
            )
        y = survival_outcome(survival.time, survival.event)
        return OutOfBag(self.forest_, self._planting(rows), rows, X, y, weight)

    # Prediction.

    def _by_blocks(self, predict: Any, result: np.ndarray, n_cells: int) -> None:
        """Fill `result` block by block of rows, in threads; each block costs `n_cells` cells per row."""
        step = max(1, BLOCK_CELLS // n_cells)
        blocks = [slice(start, start + step) for start in range(0, len(result), step)]

        def fill(block: slice) -> None:
            result[block] = predict(block)

        for _ in run_tasks([delayed(fill)(block) for block in blocks], self.n_jobs, require="sharedmem"):
            pass

    def _curves(self, X: Any, return_array: bool, *, hazard: bool) -> np.ndarray:
        X = self._check_covariates(X)
        forest, times = self.forest_, self.unique_times_
        _ = forest.steps  # made once, before threads ask for it
        table = np.empty((len(X), len(times)))
        self._by_blocks(lambda block: forest.curves(X[block], hazard=hazard), table, n_cells=len(times) + 1)
        if return_array:
            return table
        functions = np.empty(len(X), dtype=object)
        # A grid that ends before the last event says nothing about later times.
        last = forest.tables.time[-1] if times[-1] >= self.event_times_[-1] else times[-1]
        domain = 0.0, float(last)
        for row, values in enumerate(table):
            functions[row] = StepFunction(times, values, 0.0 if hazard else 1.0, domain)
        return functions

    def _leaf_indicators(self, X: Any) -> csr_matrix:
        """Return a sparse matrix with a column for every leaf of every tree, and a one where a row falls into it."""
        X = self._check_covariates(X)
        sizes = [tree.n_leaves for tree in self.forest_.trees]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        leaves = np.array(list(self.forest_.leaves_of(self.forest_.prepare(X))))
        columns = (leaves + starts[:-1, None]).T.ravel()
        indptr = np.arange(0, columns.size + 1, len(sizes))
        return csr_matrix((np.ones(columns.size), columns, indptr), shape=(len(X), int(starts[-1])))

    # Files.

    def _header(self) -> dict[str, Any]:
        splits = self.forest_.trees[0].splits
        return {
            "seed": self.seed_,
            "fingerprint": self.fingerprint_,
            "splits": splits.kind,
            "settings": splits.settings(),
        }

    def _arrays(self) -> dict[str, np.ndarray]:
        return self.forest_.to_arrays()

    def _restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.seed_, self.fingerprint_ = int(header["seed"]), str(header["fingerprint"])
        self.forest_ = Forest.from_arrays(arrays, header["splits"], header["settings"])
        self.forest_.check(self.n_features_in_)
        self.unique_times_, self.event_times_ = self.forest_.times, self.forest_.event_times


def _or_nan(name: str, score: Callable[[], float]) -> float:
    """Return a score; NaN with a warning where it is not defined on these rows."""
    try:
        return score()
    except ValueError as error:
        warnings.warn(f"{name} is NaN, because it is not defined: {error}", UndefinedMetricWarning, stacklevel=4)
        return np.nan


def _area(curves: np.ndarray, times: np.ndarray, horizon: float) -> np.ndarray:
    """Return the area under step functions of value 1 at first, from 0 to `horizon`."""
    edges = np.minimum(np.concatenate(([0.0], times, [max(horizon, times[-1])])), horizon)
    widths = np.diff(edges)
    return widths[0] + curves @ widths[1:]


def _fingerprint(rows: TrainingRows) -> str:
    digest = blake2b(digest_size=16)
    for array in (rows.X, rows.survival.time, rows.survival.event, rows.weight):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
