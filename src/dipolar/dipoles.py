"""Which pairs of rows should part and which should stay together, and which way each row is pulled.

Words and letters
-----------------
===================  ==========  ==================================================================
code                 paper       meaning
===================  ==========  ==================================================================
`pure_quantile`      zeta1       pure pairs are closer in time than this quantile of the gaps
`mixed_quantile`     zeta2       mixed pairs are at least this quantile of the gaps apart
`upward`             beta+       weight with which a row wants a score above the margin
`downward`           beta-       weight with which a row wants a score below minus the margin
===================  ==========  ==================================================================

A pair is *comparable* when its smaller time is an event. It is *pure* when both are events and the gap is
below the pure cut-off, *mixed* when it is comparable and the gap reaches the mixed cut-off. Gaps that are
equal up to rounding are equal, so that the unit of time does not matter. Nothing here
lists pairs: cut-offs take O(n) memory and O(n log n) time, and so does an orientation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dipolar._core.dipoles import SLOTS, gap_after, gap_bounds, n_tree_nodes, orient, weight_of_gaps
from dipolar.parameters import LARGEST_PRICE, check_choice, check_number
from dipolar.survival import Survival

__all__ = ["Cutoffs", "DipoleRule", "Dipoles", "find_cutoffs", "score_levels"]

# Scores are compared on a grid: the largest of them is this many levels high, and two scores on one level are
# tied. The grid is coarser than what a solver leaves uncertain and finer than any difference that matters: rows
# that support the surface from both sides have scores of exactly plus and minus the margin.
SCORE_LEVELS = 2.0**22

# Scores that are all smaller than this are all zero.
TINY = 1e-290

CUTOFF_RULES = ("text", "scripts")


@dataclass(frozen=True)
class DipoleRule:
    """How pairs are labelled and priced.

    Parameters
    ----------
    pure_quantile, mixed_quantile : float
        Quantiles of the time gaps of all comparable pairs, 0 <= pure < mixed <= 1.
    pure_weight, mixed_weight : float
        Price factors of pure and mixed dipoles.
    cutoff_rule : {"text", "scripts"}
        "text": the cut-off is order statistic number floor(quantile * number of pairs), pure is `gap < cut-off`, an
        event is comparable with a censoring at the same time, and ties of scores are read with >=. "scripts": the
        cut-off is the interpolated quantile (R's type 7), pure is `gap <= cut-off`, an event is not comparable with a
        censoring at the same time, and ties of scores are read with >. A gap that meets both conditions makes a
        mixed pair.
    """

    pure_quantile: float = 0.25
    mixed_quantile: float = 0.75
    pure_weight: float = 1.0
    mixed_weight: float = 1.0
    cutoff_rule: str = "text"

    @property
    def has_strict_ties(self) -> bool:
        """Whether a sum or difference of scores that is zero counts as negative."""
        return self.cutoff_rule == "scripts"

    def __post_init__(self) -> None:
        pure, mixed = self.pure_quantile, self.mixed_quantile
        for name in ("pure_quantile", "mixed_quantile"):
            check_number(name, getattr(self, name), low=0, high=1, hint="Quantiles are fractions, not percent.")
        for name in ("pure_weight", "mixed_weight"):
            hint = "1 for both gives them equal priority."
            check_number(name, getattr(self, name), low=0, high=LARGEST_PRICE, hint=hint)
        check_choice("cutoff_rule", self.cutoff_rule, CUTOFF_RULES)
        if mixed <= pure:
            raise ValueError(
                f"mixed_quantile must be larger than pure_quantile, got {mixed} <= {pure}. "
                "They bound the time gaps of mixed and pure dipoles; (0.25, 0.75) is a common choice."
            )


@dataclass(frozen=True)
class Cutoffs:
    """Time gaps that bound pure and mixed dipoles; NaN where no pair is comparable."""

    pure: float
    mixed: float
    largest_time: float = 0.0  # of the rows that they were found on: gaps are known to a fraction of it

    def bounds(self, rule: DipoleRule) -> tuple[float, float]:
        """Return the gap below which two events are a pure pair, and that from which on a pair is mixed."""
        return gap_bounds(self.pure, self.mixed, self.largest_time, rule.cutoff_rule == "scripts")


class Dipoles:
    """The dipoles of one set of rows, ready to be oriented by any scores.

    Parameters
    ----------
    survival : Survival
    weight : ndarray of shape (n_samples,)
        How often each row counts.
    rule : DipoleRule
    cutoffs : Cutoffs, default=None
        Taken from the rows themselves when None. Pass the root's to give all nodes of a tree the same ones.
    """

    def __init__(
        self, survival: Survival, weight: np.ndarray, rule: DipoleRule, cutoffs: Cutoffs | None = None
    ) -> None:
        self.rule = rule
        self.order = _dipole_order(survival, rule)
        self.rows = np.empty_like(self.order)  # the way back: from dipole order to row order
        self.rows[self.order] = np.arange(len(self.order))
        self.time = survival.time[self.order]
        self.event = survival.event[self.order]
        self.weight = weight[self.order]
        self.cutoffs = _find_sorted_cutoffs(self.time, self.event, self.weight, rule) if cutoffs is None else cutoffs
        self._pure_below, self._mixed_from = self.cutoffs.bounds(rule)

    def __len__(self) -> int:
        return len(self.order)

    @property
    def has_mixed(self) -> bool:
        """Whether a single pair of rows ought to part."""
        if self.rule.mixed_weight == 0 or not self.event.any():
            return False
        first_event = int(np.argmax(self.event))
        longest = self.time[-1] - self.time[first_event]
        return first_event < len(self) - 1 and bool(longest >= self._mixed_from)

    def orient(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the `upward` and `downward` weights of each row under these scores.

        A pure pair leans up when the sum of its scores is >= 0, else down, and both members get its weight there. In
        a mixed pair the member with the larger score gets the weight upward and the other one downward; of equal
        scores the earlier time goes up. (By the scripts' rule, which has > for >=, the sum has to be > 0, and of
        equal scores the later time goes up.) Scores are compared as :func:`score_levels`.
        """
        level = score_levels(scores)[self.order]
        n = len(self)
        upward, downward = np.zeros(n), np.zeros(n)
        scratch = np.empty((2, n), np.int32), np.empty((2, n)), np.zeros((2, n_tree_nodes(n), SLOTS))
        orient(
            self.time, self.event, self.weight, level, np.argsort(level), self._pure_below, self._mixed_from,
            1 if self.rule.has_strict_ties else 0, self.rule.pure_weight, self.rule.mixed_weight, *scratch,
            upward, downward,
        )  # fmt: skip
        return upward[self.rows], downward[self.rows]


def find_cutoffs(survival: Survival, weight: np.ndarray, rule: DipoleRule) -> Cutoffs:
    """Exact pure and mixed cut-offs of the time gaps of all comparable pairs."""
    order = _dipole_order(survival, rule)
    return _find_sorted_cutoffs(survival.time[order], survival.event[order], weight[order], rule)


def score_levels(scores: np.ndarray) -> np.ndarray:
    """Scores as whole numbers on a grid of `max |score| / 2**22`, on which ties are exact.

    Rounding makes `s_j + s_k` of two mirrored points a tiny number of either sign. On the grid it is zero,
    for this and every other comparison of scores, whatever computed them.
    """
    largest = max(scores.max(initial=0.0), -scores.min(initial=0.0))
    return np.rint(scores * (SCORE_LEVELS / largest)) if largest > TINY else np.zeros(len(scores))


def _dipole_order(survival: Survival, rule: DipoleRule) -> np.ndarray:
    """Sort by time; the order among equal times says which of them are comparable (see `_core.dipoles`)."""
    tie_key = ~survival.event if rule.cutoff_rule == "text" else survival.event
    return np.lexsort((tie_key, survival.time))


def _find_sorted_cutoffs(time: np.ndarray, event: np.ndarray, weight: np.ndarray, rule: DipoleRule) -> Cutoffs:
    cumulative = np.concatenate(([0.0], np.cumsum(weight)))
    n_pairs, _, _ = weight_of_gaps(time, event, cumulative, np.inf)

    def cutoff(quantile: float) -> float:
        if rule.cutoff_rule == "text":
            # For whole weights: order statistic number floor(quantile * n_pairs), at least the first.
            return gap_after(time, event, cumulative, max(0.0, quantile * n_pairs - 1.0))
        position = max(0.0, quantile * (n_pairs - 1.0))
        lower = gap_after(time, event, cumulative, position)
        upper = gap_after(time, event, cumulative, max(0.0, min(position + 1.0, n_pairs - 0.5)))
        return lower + (position - np.floor(position)) * (upper - lower)

    return Cutoffs(cutoff(rule.pure_quantile), cutoff(rule.mixed_quantile), float(time[-1]))
