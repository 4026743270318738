"""How deep a tree gets that nobody has limited."""

import numpy as np
import pytest

from dipolar import DipoleSurvivalTree, LogRankSurvivalTree, survival_outcome
from dipolar.tree.limits import EVENTS_OF_DEPTH_3, GrowthLimits


@pytest.mark.parametrize("kind", [DipoleSurvivalTree, LogRankSurvivalTree])
def test_auto_follows_the_events_where_nothing_else_limits(kind):
    assert GrowthLimits.of(kind(), EVENTS_OF_DEPTH_3 - 1).max_depth == 2
    assert GrowthLimits.of(kind(), EVENTS_OF_DEPTH_3).max_depth == 3
    for others in ({"max_leaf_nodes": 9}, {"pruning": "bootstrap"}, {"max_depth": None}):
        assert GrowthLimits.of(kind(**others), 1000).max_depth == np.inf
    assert GrowthLimits.of(kind(max_depth=1, max_leaf_nodes=9), 1000).max_depth == 1
    with pytest.raises(ValueError, match=r'max_depth must be "auto", a number or None, got \'deep\''):
        GrowthLimits.of(kind(max_depth="deep"), 10)


def test_events_count_by_their_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(EVENTS_OF_DEPTH_3 - 1, 3))
    y = survival_outcome(rng.exponential(np.exp(-2 * X[:, 0] - X[:, 1])), np.ones(len(X), bool))
    weight = np.ones(len(X))
    assert LogRankSurvivalTree().fit(X, y, weight).depth_ == 2
    weight[0] = 2
    assert LogRankSurvivalTree().fit(X, y, weight).depth_ == 3
