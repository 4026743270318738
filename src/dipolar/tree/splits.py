"""The splits of a finished tree: one record for all nodes, whatever kind of split they use.

Every kind follows one rule: a split has a score, and a row goes left exactly where it is below 0. A record answers for
one node at a time (`score`, `goes_left`) or sends rows down a whole tree (`route`), can be restricted to some nodes
(`take`), describes itself in words (`rule`) and as plain data (`plain`), and turns into named arrays and back without
pickle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from dipolar._core.partition import route_axis_cuts
from dipolar.kernels import Kernel
from dipolar.preparation.feature import Condition as Cut
from dipolar.records import Record, flags, index, reals, types_of
from dipolar.tree.names import column_of, phrase_of
from dipolar.tree.rules import Condition, first_that_fits, flatten, name_rules, phrase_rules, threshold_texts
from dipolar.validation import LARGEST_COVARIATE

__all__ = ["SPLIT_KINDS", "AxisCuts", "Splits", "register_kind", "route_by_nodes"]

# The kinds of splits that a saved file may name. A name from a file only ever selects an entry of this table.
SPLIT_KINDS: dict[str, type[Splits]] = {}

# As close below 0 as all arithmetic can tell from it.
JUST_BELOW = -float(np.finfo(np.float64).tiny)


def register_kind(cls: type[Splits]) -> type[Splits]:
    """Make a kind of splits loadable from saved files."""
    SPLIT_KINDS[cls.kind] = cls
    return cls


class Splits(Record):
    """What the tree needs to know about its splits; node numbers index every kind."""

    kind: ClassVar[str]

    def score(self, X: np.ndarray, node: int) -> np.ndarray:
        """Return the score of every row of X at a node: below 0 exactly where the row goes left."""
        raise NotImplementedError

    def goes_left(self, X: np.ndarray, node: int) -> np.ndarray:
        """Return True for the rows of X that a node sends to its left child."""
        return self.score(X, node) < 0

    def rows_go_left(self, X: np.ndarray, rows: np.ndarray, node: int) -> np.ndarray:
        """Return `goes_left` of some rows of X."""
        return self.goes_left(X[rows], node)

    def feature_shares(self, node: int, n_features: int) -> np.ndarray:
        """Return how a node's gain is shared among the covariates: not negative, sum 1."""
        raise NotImplementedError

    def total_shares(self, gain: np.ndarray, n_features: int) -> np.ndarray:
        """Return the sum over all splits of a tree of the gain that each covariate has a share in."""
        total = np.zeros(n_features)
        for node in np.flatnonzero(gain):
            total += gain[node] * self.feature_shares(int(node), n_features)
        return total

    def used(self, n_features: int) -> np.ndarray:
        """Return True for the covariates that a split of the tree looks at."""
        raise NotImplementedError

    def condition(self, node: int, names: Sequence[str], width: int | None = None) -> Condition:
        """Return the condition for going left in parts; the parameters are those of `rule`, its text."""
        raise NotImplementedError

    def side(self, node: int, names: Sequence[str], is_left: bool) -> Condition:
        """Return the condition for going left, or for going right."""
        left = self.condition(node, names)
        return left if is_left else left.negated()

    def cut(self, node: int, names: Sequence[str], is_left: bool) -> Cut | None:
        """Return what the rows on a side have in common where it is that one covariate is above or below a threshold.

        None where a side asks for anything else.
        """
        return None

    def rule(self, node: int, names: Sequence[str], width: int | None = None, *, prototypes: bool = False) -> str:
        """Return the condition for going left, in words.

        Parameters
        ----------
        node : int
            A node that is split.
        names : sequence of str
            Names of the covariates.
        width : int, default=None
            The most characters; names are cut, and what matters least is left out, until the text fits. None writes
            the whole rule.
        prototypes : bool, default=False
            Whether the whole rule of a split that keeps training rows also describes two of them, the farthest to
            either side.
        """
        text = str(self.condition(node, names, width))
        rows = self.prototypes(node, names) if prototypes and width is None else ""
        return f"{text}; {rows}" if rows else text

    def prototypes(self, node: int, names: Sequence[str]) -> str:
        """Describe the training rows that a split keeps and that are farthest to either side; "" if it keeps none."""
        return ""

    def kernels_over_rows(self) -> list[Kernel]:
        """Return the kernels of those splits that are sums over rows of the training data."""
        return []

    def plain_shared(self, rows: bool) -> dict[str, Any]:
        """Return what the splits share as plain data, which docs/plotting.md describes; `rows` is that of `plain`."""
        return {}

    def plain(self, node: int, rows: bool) -> dict[str, Any]:
        """Return a split as plain data; `rows` says whether rows of the training data that it needs are part of it."""
        raise NotImplementedError

    def take(self, nodes: np.ndarray, is_split: np.ndarray) -> Splits:
        """Return the record of some nodes, renumbered; only those with `is_split` need their split."""
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """Return what is not an array, as JSON types."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], settings: Mapping[str, Any]) -> Self:
        """Undo `to_arrays` and `settings`."""
        return cls.of_arrays(arrays)

    def check(self, is_split: np.ndarray, n_features: int, known: Collection[str] = ()) -> None:
        """Raise ValueError unless the record fits a tree with these splits (used on files)."""
        self.check_arrays(known, nodes=len(is_split), splits=int(is_split.sum()), features=n_features)
        self._check_meaning(is_split)

    def _check_meaning(self, is_split: np.ndarray) -> None:
        """Raise ValueError unless arrays that are in range belong together."""
        raise NotImplementedError

    def prepare(self, X: np.ndarray) -> np.ndarray:
        """Bring X into the form that `route_prepared` wants; the trees of a forest share it."""
        return X

    def route_prepared(self, X: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Send every row of what `prepare` returned down to its leaf."""
        return self.route(X, left)

    def route(self, X: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Send every row of X down to its leaf; `left` is -1 in leaves, and the right child is `left + 1`."""
        return route_by_nodes(len(X), left, lambda rows, node: self.rows_go_left(X, rows, node))


def route_by_nodes(n_rows: int, left: np.ndarray, rows_go_left: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
    """Send rows down to their leaves, node by node."""
    leaf = np.empty(n_rows, dtype=np.int32)
    pending = [(0, np.arange(n_rows))]
    while pending:
        node, rows = pending.pop()
        if left[node] < 0 or not len(rows):
            leaf[rows] = node
            continue
        goes_left = rows_go_left(rows, node)
        pending.append((left[node] + 1, rows[~goes_left]))
        pending.append((left[node], rows[goes_left]))
    return leaf


@register_kind
@dataclass(frozen=True, eq=False)
class AxisCuts(Splits):
    """Cuts of one covariate: left when x <= threshold, as in scikit-learn and scikit-survival.

    The score is x - threshold, and of a value at the threshold it is just below 0. A missing value goes to
    the side that `missing_left` stores and is infinitely far there. A threshold of infinity sends every value left and
    the missing ones right.
    """

    kind: ClassVar[str] = "axis"

    feature: Annotated[np.ndarray, index("nodes", into="features", may_be_missing=True)]  # -1 in leaves
    threshold: Annotated[np.ndarray, reals("nodes", high=np.inf, may_be_missing=True)]  # NaN in leaves
    missing_left: Annotated[np.ndarray, flags("nodes")]  # where a missing value goes
    missing_seen: Annotated[np.ndarray, flags("nodes")]  # whether that was learnt from missing values

    @classmethod
    def collect(cls, cuts: Sequence[tuple[int, float, bool, bool] | None]) -> AxisCuts:
        """Build the record from one tuple of its fields per node, None in leaves."""
        filled = [(-1, np.nan, False, False) if cut is None else cut for cut in cuts]
        return cls(*(np.array(column, dtype) for column, dtype in zip(zip(*filled), AXIS_FIELDS.values())))

    def score(self, X: np.ndarray, node: int) -> np.ndarray:
        return self._score(X[:, self.feature[node]], node)

    def rows_go_left(self, X: np.ndarray, rows: np.ndarray, node: int) -> np.ndarray:
        return self._score(X[rows, self.feature[node]], node) < 0

    def _score(self, x: np.ndarray, node: int) -> np.ndarray:
        score = x - self.threshold[node]
        score[score == 0] = JUST_BELOW
        score[np.isnan(x)] = -np.inf if self.missing_left[node] else np.inf
        return score

    def feature_shares(self, node: int, n_features: int) -> np.ndarray:
        shares = np.zeros(n_features)
        shares[self.feature[node]] = 1.0
        return shares

    def total_shares(self, gain: np.ndarray, n_features: int) -> np.ndarray:
        is_split = self.feature >= 0
        return np.bincount(self.feature[is_split], weights=gain[is_split], minlength=n_features)

    def used(self, n_features: int) -> np.ndarray:
        return np.bincount(self.feature[self.feature >= 0], minlength=n_features) > 0

    def condition(self, node: int, names: Sequence[str], width: int | None = None) -> Condition:
        return self._side(node, names, True, width)

    def side(self, node: int, names: Sequence[str], is_left: bool) -> Condition:
        return self._side(node, names, is_left, None)

    def cut(self, node: int, names: Sequence[str], is_left: bool) -> Cut | None:
        threshold = float(self.threshold[node])
        if np.isinf(threshold) or self._takes_missing(node, is_left):
            return None
        return Cut(int(self.feature[node]), threshold, not is_left)

    def _side(self, node: int, names: Sequence[str], is_left: bool, width: int | None) -> Condition:
        number, threshold = int(self.feature[node]), float(self.threshold[node])
        missing = " or missing" if self._takes_missing(node, is_left) else ""
        if np.isinf(threshold):
            known = name_rules(flatten(column_of(names, number)), "is", ["known" if is_left else "missing"])
            return first_that_fits(known, width)
        phrase = phrase_of(names, number, threshold, not is_left)
        if phrase is not None:
            return first_that_fits(phrase_rules(phrase, missing), width)
        bounds = [f"{text}{missing}" for text in threshold_texts(threshold)]
        return first_that_fits(name_rules(flatten(names[number]), "<=" if is_left else ">", bounds), width)

    def _takes_missing(self, node: int, is_left: bool) -> bool:
        """Tell whether missing values were seen to go to a side."""
        return bool(self.missing_seen[node] and self.missing_left[node] == is_left)

    def plain(self, node: int, rows: bool) -> dict[str, Any]:
        threshold = float(self.threshold[node])
        return {
            "feature": int(self.feature[node]),
            "threshold": threshold if np.isfinite(threshold) else None,
            "missing_left": bool(self.missing_left[node]),
            "missing_seen": bool(self.missing_seen[node]),
        }

    def take(self, nodes: np.ndarray, is_split: np.ndarray) -> AxisCuts:
        return AxisCuts(
            np.where(is_split, self.feature[nodes], np.int32(-1)).astype(np.int32),
            np.where(is_split, self.threshold[nodes], np.nan),
            self.missing_left[nodes] & is_split,
            self.missing_seen[nodes] & is_split,
        )

    def _check_meaning(self, is_split: np.ndarray) -> None:
        if not np.array_equal(self.feature >= 0, is_split) or not np.array_equal(~np.isnan(self.threshold), is_split):
            raise ValueError("a split has no covariate or no threshold, or a leaf has one")
        threshold = self.threshold[is_split]
        if (np.abs(threshold[np.isfinite(threshold)]) > LARGEST_COVARIATE).any():
            raise ValueError(f"a threshold is beyond {LARGEST_COVARIATE:g}, the largest covariate")

    def route(self, X: np.ndarray, left: np.ndarray) -> np.ndarray:
        leaf = np.empty(len(X), dtype=np.int32)
        route_axis_cuts(X, left, self.feature, self.threshold, self.missing_left, leaf)
        return leaf


# Name and type of the arrays of axis cuts.
AXIS_FIELDS = types_of(AxisCuts)
