"""What all tree estimators share: fitting, pruning, prediction, saving."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from dipolar.curves import check_unreached
from dipolar.parameters import check_choice, check_number, check_share, draw_seed
from dipolar.progress import Reporter
from dipolar.records import part
from dipolar.rows import arrange_rows
from dipolar.survival import Survival
from dipolar.survival_model import SurvivalModel
from dipolar.threads import one_blas_thread
from dipolar.tree.frame import node_frame
from dipolar.tree.growing import Finder, Splitter, grow_on
from dipolar.tree.limits import GrowthLimits
from dipolar.tree.names import Names
from dipolar.tree.pruning import PRUNING_RULES, PruningPath, PruningRule, pruning_path
from dipolar.tree.record import SeenTimes, Tree
from dipolar.validation import check_fit_data

__all__ = ["BaseSurvivalTree"]


class BaseSurvivalTree(SurvivalModel):
    """What all survival trees share: growth limits, pruning, prediction, saving.

    A subclass declares its parameters, names those below as well, and says how nodes are split (`_splitter`).
    """

    # What subclasses set in their constructors.
    max_depth: Any
    max_leaf_nodes: Any
    min_samples_split: Any
    min_samples_leaf: Any
    min_events_leaf: Any
    min_logrank: Any
    pruning: Any
    alpha: Any
    n_bootstraps: Any
    validation_fraction: Any
    n_jobs: Any
    random_state: Any
    verbose: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaseSurvivalTree:
        """Grow the tree, prune it, and estimate a curve in each leaf.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Covariates.
        y : structured array, DataFrame, (n, 2) array, pair or 1-D array
            Outcomes; a 1-D array holds times that were all observed.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: weight 2 is the row twice, weight 0 leaves it out.

        Returns
        -------
        self
        """
        X, survival, weight = check_fit_data(self, X, y, sample_weight, allow_nan=self._allow_nan, drop_unseen=False)
        splitter, rule = self._splitter(X.shape[1]), self._pruning_rule()
        splitter.check()
        rows = arrange_rows(X, survival, weight, events_first=splitter.events_first)
        limits = GrowthLimits.of(self, float(rows.weight @ rows.survival.event))
        rng = np.random.default_rng(draw_seed(self.random_state))
        report = Reporter(self.verbose)

        growing, held_out = rule.hold_out(rows.weight, rng)
        # Nothing is copied when all rows grow the tree.
        seen = rows.take(np.flatnonzero(growing), growing) if held_out.any() else rows
        with one_blas_thread():
            grown, finder = grow_on(seen, splitter, limits, rng, report.growing)
            self.pruning_path_ = rule.assess(grown, splitter, limits, rows, held_out, rng, report.resampling)
        self._warn_about(finder)
        self._keep(grown.refill(rows.X, rows.survival, rows.weight) if held_out.any() else grown, rows.survival)
        self._take_member(rule.choose(self.pruning_path_))
        return self

    def prune(self, alpha: float) -> BaseSurvivalTree:
        """Return a copy of the fitted tree pruned at another price; nothing is grown or estimated again.

        Parameters
        ----------
        alpha : float
            Price of a split, not negative. The copy is the smallest subtree of the grown tree that maximises
            `G - alpha |S|` on the rows that grew it.
        """
        check_is_fitted(self)
        alpha = check_number("alpha", alpha, low=0, hint="It is the log-rank chi-square that a split must be worth.")
        pruned = copy.copy(self)
        pruned._take_member(self.pruning_path_.member_at(alpha))
        return pruned

    def cut_back(self, max_depth: int) -> BaseSurvivalTree:
        """Return a copy of the fitted tree as it would be with a smaller `max_depth`; nothing is grown again.

        Splits do not depend on what lies below them, so a shallower tree is the top of a deeper one. Its pruning is
        chosen anew, which is possible for `pruning=None` and `pruning="fixed"`.

        Parameters
        ----------
        max_depth : int
            Largest number of splits on the way to a leaf; 0 leaves a single leaf.
        """
        check_is_fitted(self)
        check_number("max_depth", max_depth, low=0, whole=True)
        if self.pruning not in (None, "fixed"):
            raise ValueError(
                f"cut_back needs pruning=None or 'fixed', got {self.pruning!r}. The other rules judge trees by rows "
                "that are not kept; fit again with max_depth instead."
            )
        shallow = copy.copy(self)
        shallow.max_depth = max_depth
        shallow.grown_ = self.grown_.restrict(self.grown_.is_split & (self.grown_.depth < max_depth))
        shallow.pruning_path_ = pruning_path(shallow.grown_)
        shallow._take_member(self._pruning_rule().choose(shallow.pruning_path_))
        return shallow

    def predict(self, X: Any) -> np.ndarray:
        r"""Predict a risk: the higher, the earlier the event is expected.

        The risk is the cumulative hazard of the row's leaf summed over the event times of the training data,

        .. math:: \sum_j \hat{H}_{leaf}(t_j),

        the number of events expected if everybody had this leaf's hazard (Ishwaran et al. 2008), which is
        also what scikit-survival predicts. It depends on the whole curve, so that leaves whose medians are
        not reached are still ordered.

        Returns
        -------
        risk : ndarray of shape (n_samples,)
        """
        leaf = self._leaf_of(X)
        return self.leaf_risk_[leaf]

    def predict_quantile(self, X: Any, q: float = 0.5, unreached: str = "inf") -> np.ndarray:
        """Predict the time by which a share `q` of a row's leaf has had the event.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        q : float, default=0.5
            The share, strictly between 0 and 1.
        unreached : {"inf", "nan", "mean", "largest", "restricted_mean"}, default="inf"
            What to predict where the leaf's curve stays above `1 - q`: infinity, NaN, the mean of the leaf's
            observed times (the rule of Maung, Lazar and Zheng), its last follow-up time, or the area under
            its curve up to then.
        """
        q = check_share("q", q, hint="0.5 asks for the median.")
        rule = check_unreached(unreached)
        leaf = self._leaf_of(X)
        return np.array([table.quantile(q, rule) for table in self.tree_.tables])[leaf]

    def predict_rmst(self, X: Any, horizon: float | None = None) -> np.ndarray:
        """Predict restricted mean survival times, the area under each row's curve from 0 to `horizon`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        horizon : float, default=None
            Up to when; None means the last follow-up time of the training data. A curve that ends before the
            horizon keeps its last value.
        """
        if horizon is None:
            check_is_fitted(self)
            horizon = float(self.unique_times_[-1])
        horizon = check_number("horizon", horizon, low=0, hint="It is a time on the scale of y.")
        leaf = self._leaf_of(X)
        return np.array([table.rmst(horizon) for table in self.tree_.tables])[leaf]

    def apply(self, X: Any) -> np.ndarray:
        """Return the node number of the leaf of every row."""
        X = self._check_covariates(X)
        return self.tree_.apply(X).astype(np.int64)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return a sparse matrix of shape (n_samples, n_nodes) that marks the nodes each row passes."""
        leaf = self._leaf_of(X)
        paths = [self.tree_.path_to(node) for node in self.tree_.leaves]
        lengths = np.array([len(path) for path in paths])[leaf]
        columns = np.concatenate([paths[number] for number in leaf])
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        return csr_matrix(
            (np.ones(len(columns), dtype=bool), columns, indptr), shape=(len(leaf), self.tree_.n_nodes)
        )  # fmt: skip

    def split_scores(self, X: Any, node: int | None = None) -> np.ndarray:
        """Return the score of every row at a node, or at all nodes that are split.

        The sign of a score tells the side: left below zero. Rows are scored whether or not they reach the
        node.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        node : int, default=None
            A node that is split; None scores at all of them.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_splits)
            With None, one column for each node of `tree_` that is split, in the order of node numbers.
        """
        X = self._check_covariates(X)
        split_nodes = np.flatnonzero(self.tree_.is_split)
        if node is None:
            scores = np.empty((len(X), len(split_nodes)))
            for column, number in enumerate(split_nodes):
                scores[:, column] = self.tree_.splits.score(X, int(number))
            return scores
        if node not in split_nodes:
            raise ValueError(
                f"node must be a node that is split, got {node!r}; the tree has "
                f"{self.tree_.n_nodes} nodes, and {len(split_nodes)} of them are split. "
                "node_frame() lists them."
            )
        return self.tree_.splits.score(X, node)

    def __str__(self) -> str:
        """Return a fitted tree as text, as :func:`~dipolar.tree.export.export_text` writes it."""
        from dipolar.tree.export import export_text  # which takes fitted trees

        return export_text(self) if hasattr(self, "tree_") else repr(self)

    @property
    def n_leaves_(self) -> int:
        """Number of leaves."""
        return self._fitted_tree().n_leaves

    @property
    def depth_(self) -> int:
        """Number of splits on the longest way from the root to a leaf."""
        return self._fitted_tree().max_depth

    @property
    def feature_importances_(self) -> np.ndarray:
        """Log-rank gain of each covariate, scaled to sum 1.

        The statistic of a split counts for the covariate that it cuts; a split that uses several covariates
        shares it among them as its kind documents. All zero for a tree without splits.
        """
        tree = self._fitted_tree()
        total = tree.splits.total_shares(tree.logrank, self.n_features_in_)
        return total / total.sum() if total.sum() > 0 else total

    def node_frame(self, unreached: str = "inf", feature_names: Any = None) -> pd.DataFrame:
        """Return one row per node: place in the tree, size, events, median, statistics and rule.

        Parameters
        ----------
        unreached : str, default="inf"
            That of :meth:`predict_quantile`.
        feature_names : sequence of str or Feature, default=None
            Names of the covariates, or the `features_` of the encoder that made them; None takes those of the training
            data. The rule is the condition for going left in their words.
        """
        tree = self._fitted_tree()
        known = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        default = [f"x{feature}" for feature in range(self.n_features_in_)]
        return node_frame(tree, Names.of(default if known is None else known), check_unreached(unreached))

    # What a subclass provides.

    def _splitter(self, n_features: int) -> Splitter:
        """Return how nodes are split, by this estimator's parameters."""
        raise NotImplementedError

    def _warn_about(self, finder: Finder) -> None:
        """Turn what the finder counted while growing into at most one warning."""

    # Fitting.

    def _pruning_rule(self) -> PruningRule:
        check_choice("pruning", self.pruning, PRUNING_RULES, hint="None keeps the whole tree.")
        check_number("n_bootstraps", self.n_bootstraps, low=1, hint="About 25 are enough.", whole=True)
        return PruningRule(
            self.pruning,
            check_number("alpha", self.alpha, low=0, hint="It is the price of a split; values from 2 to 4 are common."),
            int(self.n_bootstraps),
            check_share("validation_fraction", self.validation_fraction, hint="It is the share of rows held out."),
            self.n_jobs,
        )

    def _keep(self, grown: Tree, survival: Survival) -> None:
        """Assign the whole tree and the times of its rows."""
        self.grown_ = grown
        self.unique_times_ = np.unique(survival.time)
        self.event_times_ = np.unique(survival.time[survival.event])

    def _take_member(self, member: int) -> None:
        """Make a member of the pruning path the tree that predicts."""
        self.member_ = member
        self.tree_ = self.grown_.restrict(self.pruning_path_.splits_of(member))
        self.leaf_risk_ = self.tree_.tables.hazard_sums(self.event_times_)

    # Prediction.

    def _fitted_tree(self) -> Tree:
        check_is_fitted(self)
        return self.tree_

    def _leaf_of(self, X: Any) -> np.ndarray:
        X = self._check_covariates(X)
        return self.tree_.leaf_of(X)

    def _curves(self, X: Any, times: np.ndarray | None, *, hazard: bool) -> np.ndarray:
        leaves, row_leaf = np.unique(self._leaf_of(X), return_inverse=True)
        tables = self.tree_.tables
        if times is not None:
            return tables.on_grid(leaves, times, hazard=hazard)[row_leaf]
        functions = np.empty(len(leaves), dtype=object)
        for i, leaf in enumerate(leaves):
            table = tables[leaf]
            functions[i] = table.cumulative_hazard_function() if hazard else table.survival_function()
        return functions[row_leaf]

    def _times_of_tables(self) -> np.ndarray:
        return self.unique_times_

    def _shown_tree(self) -> BaseSurvivalTree:
        return self

    # Files.

    def _header(self) -> dict[str, Any]:
        splits = self.tree_.splits
        return {"member": self.member_, "splits": splits.kind, "settings": splits.settings()}

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {f"tree.{name}": values for name, values in self.grown_.to_arrays().items()}
        arrays |= {f"path.{name}": values for name, values in self.pruning_path_.to_arrays().items()}
        return arrays | SeenTimes(self.unique_times_, self.event_times_).to_arrays()

    def _restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.grown_ = Tree.from_arrays(part(arrays, "tree"), *self._kind_of_splits(header))
        self.grown_.check(self.n_features_in_)
        self.pruning_path_ = PruningPath.of_arrays(part(arrays, "path"))
        self.pruning_path_.check(self.grown_)
        seen = SeenTimes.of_arrays(arrays)
        seen.check([self.grown_.tables])
        self.unique_times_, self.event_times_ = seen.unique_times, seen.event_times
        last = len(self.pruning_path_) - 1
        self._take_member(int(check_number("member", header.get("member"), low=0, high=last, whole=True)))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        GrowthLimits.of(self)
        self._pruning_rule()
        self._splitter(self.n_features_in_).check()
