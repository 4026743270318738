"""What is read off the curves of a forest takes blocks of them, and says the same in blocks of any size."""

import tracemalloc

import numpy as np
import pytest

from dipolar import DipoleSurvivalForest, LogRankSurvivalForest, survival_outcome
from dipolar.forest import blocks

READINGS = {
    "median": lambda forest, X: forest.predict_median(X),
    "quantile": lambda forest, X: forest.predict_quantile(X, 0.9, unreached="restricted_mean"),
    "rmst": lambda forest, X: forest.predict_rmst(X),
    "horizon": lambda forest, X: forest.predict_rmst(X, 0.7),
    "risk": lambda forest, X: forest.predict(X),
}


@pytest.fixture(scope="module", params=[LogRankSurvivalForest, DipoleSurvivalForest])
def forest(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    y = survival_outcome(rng.exponential(np.exp(X[:, 0])), rng.random(1000) < 0.7)
    fitted = request.param(n_estimators=3, random_state=0).fit(X, y)
    assert len(fitted.unique_times_) > 650
    return fitted


@pytest.mark.parametrize("reading", list(READINGS))
def test_many_rows_take_little_memory(forest, reading):
    """A table of all curves would take 560 MB."""
    X = np.random.default_rng(1).normal(size=(100_000, 4))
    read = READINGS[reading]
    read(forest, X[:10])
    tracemalloc.start()
    read(forest, X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


@pytest.mark.parametrize("reading", list(READINGS))
def test_a_row_is_predicted_alone_as_among_others(forest, reading, monkeypatch):
    X = np.random.default_rng(2).normal(size=(101, 4))
    read = READINGS[reading]
    together = read(forest, X)
    np.testing.assert_array_equal(np.concatenate([read(forest, X[k : k + 1]) for k in range(len(X))]), together)
    np.testing.assert_array_equal(np.concatenate([read(forest, X[k : k + 7]) for k in range(0, len(X), 7)]), together)
    for cells in (1, 3000, 10_000):
        monkeypatch.setattr(blocks, "BLOCK_CELLS", cells)
        np.testing.assert_array_equal(read(forest, X), together)


def test_workers_share_the_room(monkeypatch):
    """However many there are, their blocks together are bounded."""
    sizes = []
    monkeypatch.setattr(blocks, "effective_n_jobs", lambda n_jobs: 1000)
    X = np.random.default_rng(3).normal(size=(200, 4))
    blocks.by_blocks(X, lambda block: sizes.append(block.shape[0]) or np.zeros(len(block)), 1000, n_jobs=None)
    assert max(sizes) * 1000 * 1000 <= blocks.MOST_CELLS
    assert sum(sizes) == 200
