"""What both forests share: fitting, prediction, out-of-bag estimates, importance, saving."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from dipolar.curves import StepFunction, tabulate
from dipolar.forest.blocks import Predict, areas_under, by_blocks
from dipolar.forest.grid import grid_of_curves
from dipolar.forest.importance import KINDS, importances
from dipolar.forest.out_of_bag import SCORINGS, OutOfBag
from dipolar.forest.planting import Planting, plant
from dipolar.forest.record import Forest
from dipolar.forest.summary import ForestSummary, best_summary, default_trees
from dipolar.forest.tuning import check_settings, choose_settings, listed_settings, with_settings
from dipolar.model_file import plain_settings, restored_parameters
from dipolar.parameters import check_choice, check_flag, check_number, check_share, draw_seed
from dipolar.progress import Reporter
from dipolar.quantiles import thin_out
from dipolar.rows import TrainingRows, arrange_rows
from dipolar.survival import Survival, survival_outcome
from dipolar.survival_model import SurvivalModel
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.growing import Splitter
from dipolar.tree.limits import GrowthLimits
from dipolar.tree.pruning import pruning_path
from dipolar.validation import check_fit_data, check_weighted_outcome

__all__ = ["BaseSurvivalForest", "shared_parameters"]

# Share of the rows in a sample that is drawn without replacement: what a bootstrap sample holds of them on average.
SUBSAMPLE = 0.632

# Times at which a summary tree is compared with its forest.
SUMMARY_TIMES = 100

UNREACHED = ("inf", "nan", "largest", "restricted_mean")


class BaseSurvivalForest(SurvivalModel):
    """What all survival forests share.

    A subclass declares its parameters, names those below as well, and says how splits are found (`_splitter`).
    """

    # What subclasses set in their constructors, besides the growth limits.
    n_estimators: Any
    bootstrap: Any
    max_samples: Any
    time_grid: Any
    oob_score: Any
    tune: Any
    warm_start: Any
    n_jobs: Any
    random_state: Any
    verbose: Any

    # What belongs to all trees of a forest, also to those that a warm start adds.
    seed_: int
    fingerprint_: str
    best_params_: dict[str, Any]

    # The settings that `tune=True` chooses from.
    _recommended: ClassVar[Sequence[Mapping[str, Any]]] = ()

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
        grows_on = self.warm_start and hasattr(self, "forest_")
        if not grows_on:
            self._start_anew(X, survival, weight)
        settled = self._settled()
        rows = settled._arrange(X, survival, weight)
        kept = self._kept_trees(rows) if grows_on else ()
        planting = settled._planting(rows, self.seed_)
        numbers = range(len(kept), self._n_trees(len(kept)))
        trees, n_unconverged = plant(planting, rows, numbers, self.n_jobs, Reporter(self.verbose).planting)
        self._warn_about(n_unconverged, len(numbers))

        self.fingerprint_ = _fingerprint(rows)
        self.event_times_ = np.unique(rows.survival.time[rows.survival.event])
        times = grid_of_curves(self.time_grid, self.event_times_)
        self.forest_ = Forest([*kept, *trees], times, tabulate(rows.survival, rows.weight))
        self.unique_times_ = self._unique_times()
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
            :func:`sklearn.inspection.permutation_importance` returns them; besides the `feature_names` of the training
            data (None if it had none), `kind` and `scoring`. `dipolar.plotting.plot_importance` draws it.

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
        return Bunch(
            importances=found,
            importances_mean=found.mean(axis=1),
            importances_std=found.std(axis=1),
            feature_names=getattr(self, "feature_names_in_", None),
            kind=kind,
            scoring=scoring,
        )

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
            :class:`~dipolar.DipoleSurvivalTree`, by both cuts of :class:`~dipolar.DipoleSVM`.
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
        survival, weight = check_weighted_outcome(y, sample_weight, checked)
        times = self.forest_.times
        shown = thin_out(np.arange(len(times)), SUMMARY_TIMES)
        curves = self._read_curves(checked, lambda curves: curves[:, shown], shown.shape)
        trees = default_trees(most, seed) if trees is None else list(trees)
        return best_summary(trees, X, survival, weight, curves, times[shown], n_folds, seed)

    def tree(self, number: int) -> BaseSurvivalTree:
        """Return one tree of the forest as a fitted survival tree, to look at it; trees are numbered from 0.

        It predicts as it does in the forest. Its parameters are those of the forest where a tree has the same ones,
        and the defaults of trees elsewhere: they say how it was grown as far as a single tree can be grown so.
        """
        check_is_fitted(self)
        hint = f"The forest has {len(self.forest_)} trees."
        number = int(check_number("number", number, low=0, high=len(self.forest_) - 1, whole=True, hint=hint))
        tree = self._settled()._single_tree()
        tree.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            tree.feature_names_in_ = self.feature_names_in_
        tree.grown_ = self.forest_.trees[number]
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
        return by_blocks(self._check_covariates(X), self.forest_.risk, 1, self.n_jobs)

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
        X = self._check_covariates(X)
        times = self.forest_.times
        instead = {"inf": np.inf, "nan": np.nan, "largest": times[-1]}.get(unreached)

        def quantiles(curves: np.ndarray) -> np.ndarray:
            below = curves <= 1.0 - q
            quantile = times[np.argmax(below, axis=1)]
            unmet = areas_under(curves, times, times[-1]) if instead is None else instead
            return np.where(below.any(axis=1), quantile, unmet)

        return self._read_curves(X, quantiles)

    def predict_rmst(self, X: Any, horizon: float | None = None) -> np.ndarray:
        """Predict restricted mean survival times, the area under each row's curve from 0 to `horizon`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        horizon : float, default=None
            Up to when; None means the last of `unique_times_`. A curve keeps its last value.
        """
        X = self._check_covariates(X)
        times = self.forest_.times
        end = (
            self.unique_times_[-1]
            if horizon is None
            else check_number("horizon", horizon, low=0, hint="It is a time like y's.")
        )
        return self._read_curves(X, lambda curves: areas_under(curves, times, end))

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

    # What a subclass provides.

    def _splitter(self, n_features: int) -> Splitter:
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

    def _start_anew(self, X: np.ndarray, survival: Survival, weight: np.ndarray) -> None:
        """Set what belongs to all trees of a forest, also to those that a warm start adds: seed and settings."""
        n_trees, seed, candidates = self._n_trees(0), draw_seed(self.random_state), self._candidates()
        settings: dict[str, Any] = {}
        results = pd.DataFrame()
        if candidates:
            settings, results = choose_settings(self._template(), candidates, (X, survival, weight), n_trees, seed)
        self.seed_, self.best_params_, self.tuning_results_ = seed, settings, results

    def _candidates(self) -> Sequence[Mapping[str, Any]]:
        """Return the settings to choose from; none where the forest is to be grown as it is."""
        return listed_settings(self._template(), self.tune, self._recommended)

    def _template(self) -> BaseSurvivalForest:
        """Return an unfitted copy, all of whose parameters can be set."""
        return clone(self)

    def _settled(self) -> BaseSurvivalForest:
        """Return a forest that has the chosen settings as its parameters: this one, if it has chosen none."""
        return with_settings(self._template(), self.best_params_) if self.best_params_ else self

    def _kept_trees(self, rows: TrainingRows) -> tuple:
        """Return the trees that a warm start keeps."""
        if _fingerprint(rows) != self.fingerprint_:
            raise ValueError(
                "warm_start=True adds trees to a forest on the same rows, but X, y or sample_weight differ from "
                "those of the first fit. Set warm_start=False to start again."
            )
        return self.forest_.trees

    def _arrange(self, X: np.ndarray, survival: Survival, weight: np.ndarray) -> TrainingRows:
        splitter = self._splitter(X.shape[1])
        splitter.check()
        return arrange_rows(X, survival, weight, events_first=splitter.events_first)

    def _planting(self, rows: TrainingRows, seed: int) -> Planting:
        splitter = self._splitter(rows.X.shape[1])
        return Planting(splitter, GrowthLimits.of(self), seed, bool(self.bootstrap), self._share(rows.weight.sum()))

    def _share(self, n_samples: float) -> float:
        """Return the size of a sample as a share of the rows."""
        size = self.max_samples
        if size is None:
            return 1.0 if self.bootstrap else SUBSAMPLE
        if isinstance(size, Integral) and not isinstance(size, bool):
            return check_number("max_samples", size, low=1, high=n_samples, whole=True) / n_samples
        hint = "Give a share of the rows, their number as an integer, or None."
        return check_number("max_samples", size, above=0, high=1, hint=hint)

    def _unique_times(self) -> np.ndarray:
        """The times that tables of curves are for: as in a tree all distinct times, or the grid that was asked for."""
        return self.forest_.tables.time if self.time_grid is None else self.forest_.times

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
        survival, weight = check_weighted_outcome(y, sample_weight, X)
        settled = self._settled()
        rows = settled._arrange(X, survival, weight)
        if _fingerprint(rows) != self.fingerprint_:
            raise ValueError(
                "X, y and sample_weight must be what the forest was fitted to, and they differ from it. For other rows "
                "use sklearn.inspection.permutation_importance."
            )
        y = survival_outcome(survival.time, survival.event)
        return OutOfBag(self.forest_, settled._planting(rows, self.seed_), rows, X, y, weight)

    # Prediction.

    def _read_curves(
        self, X: np.ndarray, read: Predict = np.asarray, shape: tuple[int, ...] = (), *, hazard: bool = False
    ) -> np.ndarray:
        """Return what is read off the curves of each row, without a table of the curves of all rows."""
        forest = self.forest_
        _ = forest.steps  # made once, before threads ask for it
        return by_blocks(
            X, lambda block: read(forest.curves(block, hazard=hazard)), len(forest.times) + 1, self.n_jobs, shape
        )

    def _curves(self, X: Any, times: np.ndarray | None, *, hazard: bool) -> np.ndarray:
        X = self._check_covariates(X)
        forest, start = self.forest_, 0.0 if hazard else 1.0
        if times is not None and np.array_equal(times, forest.times):
            return self._read_curves(X, shape=times.shape, hazard=hazard)
        if times is not None:
            place = np.searchsorted(forest.times, times, side="right")

            def at_times(curves: np.ndarray) -> np.ndarray:
                return np.column_stack((np.full(len(curves), start), curves))[:, place]

            return self._read_curves(X, at_times, times.shape, hazard=hazard)
        table = self._read_curves(X, shape=forest.times.shape, hazard=hazard)
        functions = np.empty(len(X), dtype=object)
        # A grid that ends before the last event says nothing about later times.
        last = forest.tables.time[-1] if forest.times[-1] >= self.event_times_[-1] else forest.times[-1]
        domain = 0.0, float(last)
        for row, values in enumerate(table):
            functions[row] = StepFunction(forest.times, values, start, domain)
        return functions

    def _times_of_tables(self) -> np.ndarray:
        return self.unique_times_

    def _shown_tree(self) -> Any:
        raise ValueError(
            "A forest has no single tree to report on. Report on forest.summary_tree(X, y).tree, the tree that best "
            "agrees with it, or on one of its own, forest.tree(0)."
        )

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
            "chosen": plain_settings(self.best_params_),
        }

    def _arrays(self) -> dict[str, np.ndarray]:
        return self.forest_.to_arrays()

    def _restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        seed, fingerprint = header.get("seed"), header.get("fingerprint")
        self.seed_ = int(check_number("seed", seed, low=0, high=2**31 - 1, whole=True))
        if not isinstance(fingerprint, str):
            raise ValueError(f"the fingerprint of its rows is {fingerprint!r:.60}")
        self.fingerprint_ = fingerprint
        self._restore_choice(header.get("chosen", {}))
        self.forest_ = Forest.from_arrays(arrays, *self._kind_of_splits(header))
        self.forest_.check(self.n_features_in_)
        self.event_times_, self.unique_times_ = self.forest_.event_times, self._unique_times()

    def _restore_choice(self, chosen: Any) -> None:
        if not isinstance(chosen, dict):
            raise ValueError(f"the settings that it has chosen are {chosen!r:.60}")
        check_settings(self._template(), chosen)
        self.best_params_ = restored_parameters(chosen)
        self._settled()._check_growth(self.n_features_in_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._candidates()
        self._n_trees(0)
        self._check_growth(self.n_features_in_)

    def _check_growth(self, n_features: int) -> None:
        GrowthLimits.of(self)
        self._splitter(n_features).check()


def _or_nan(name: str, score: Callable[[], float]) -> float:
    """Return a score; NaN with a warning where it is not defined on these rows."""
    try:
        return score()
    except ValueError as error:
        warnings.warn(f"{name} is NaN, because it is not defined: {error}", UndefinedMetricWarning, stacklevel=4)
        return np.nan


def _fingerprint(rows: TrainingRows) -> str:
    digest = blake2b(digest_size=16)
    for array in (rows.X, rows.survival.time, rows.survival.event, rows.weight):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def shared_parameters(forest: BaseSurvivalForest, tree: type[BaseSurvivalTree]) -> dict[str, Any]:
    """Return the parameters of a forest that a tree has as well."""
    known = tree().get_params()
    return {name: value for name, value in forest.get_params(deep=False).items() if name in known}
