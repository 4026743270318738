"""The compiled routines of dipoles for rows in any order."""

from typing import NamedTuple

import numpy as np

from dipolar._core.dipoles import has_mixed_dipoles, orient_rows
from dipolar._core.search import fill_levels
from dipolar.node_svm.dipoles import find_cutoffs


class Rule(NamedTuple):
    """How pairs are labelled and weighed."""

    pure_quantile: float = 0.25
    mixed_quantile: float = 0.75
    pure_weight: float = 1.0
    cutoff_rule: str = "text"


TEXT = Rule()


class Dipoles:
    """The dipoles of some rows; the cut-offs of the time gaps are their own if None are given."""

    def __init__(self, survival, weight, rule=TEXT, cutoffs=None):
        self.rule = rule
        late = ~survival.event if rule.cutoff_rule == "text" else survival.event
        self.order = np.lexsort((late, survival.time))
        self.survival, self.weight = survival.take(self.order), weight[self.order]
        quantiles = rule.pure_quantile, rule.mixed_quantile
        self.cutoffs = cutoffs or find_cutoffs(self.survival, self.weight, *quantiles, rule.cutoff_rule)
        self.bounds = self.cutoffs.bounds(rule.cutoff_rule)

    @property
    def has_mixed(self):
        return has_mixed_dipoles(self.survival.time, self.survival.event, self.bounds)

    def orient(self, scores):
        """Return the pulls upward and downward of each row."""
        pulls, n = np.zeros((2, len(scores))), len(scores)
        args = self.survival.time, self.survival.event, self.weight, score_levels(scores)[self.order], self.bounds
        sorted_pulls = np.zeros((2, n))
        orient_rows(*args, self.rule.pure_weight, self.rule.cutoff_rule == "scripts", *sorted_pulls)
        pulls[:, self.order] = sorted_pulls
        return pulls[0], pulls[1]


def score_levels(scores):
    """Return the scores on the grid on which they are compared."""
    level = np.empty(len(scores))
    fill_levels(np.asarray(scores, dtype=float), level)
    return level
