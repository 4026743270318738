"""Concordance counts, against every pair, R and scikit-survival."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipolar._core.concordance import concordance_counts
from tests.reference import concordance as reference
from tests.test_logrank import OVARIAN_AGE, OVARIAN_EVENT, OVARIAN_TIME

pytestmark = pytest.mark.compiled


def harrell(counts):
    concordant, discordant, tied = counts
    return (concordant + tied / 2) / (concordant + discordant + tied)


@st.composite
def predictions(draw):
    n = draw(st.integers(1, 18))
    column = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    weight = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n)))
    return np.array(draw(column), float), np.array(draw(column)) < 3, np.array(draw(column), float), weight


@settings(max_examples=150, deadline=None)
@given(predictions())
def test_counts_equal_every_pair(sample):
    time, event, risk, weight = sample
    assert concordance_counts(time, event, risk, weight) == pytest.approx(
        reference.count_pairs(time, event, risk, weight)
    )


@settings(max_examples=50, deadline=None)
@given(predictions())
def test_the_opposite_risk_swaps_concordant_and_discordant(sample):
    time, event, risk, weight = sample
    concordant, discordant, tied = concordance_counts(time, event, risk, weight)
    assert concordance_counts(time, event, -risk, weight) == pytest.approx((discordant, concordant, tied))


@pytest.mark.parametrize(
    ("risk", "expected"),
    [
        # concordance(Surv(futime, fustat) ~ age, data = ovarian, reverse = TRUE)$concordance
        (np.array(OVARIAN_AGE), 0.784403669724771),
        # concordance(Surv(futime, fustat) ~ I(round(age / 10)), data = ovarian, reverse = TRUE)$concordance
        (np.round(np.array(OVARIAN_AGE) / 10), 0.761467889908257),
    ],
)
def test_equal_to_r(risk, expected):
    time, event = np.array(OVARIAN_TIME, float), np.array(OVARIAN_EVENT, bool)
    assert harrell(concordance_counts(time, event, risk, np.ones(26))) == pytest.approx(expected, rel=1e-12)


def test_equal_to_scikit_survival():
    metrics = pytest.importorskip("sksurv.metrics")
    rng = np.random.default_rng(0)
    time, event, risk = (
        np.round(rng.exponential(9, 120)),
        rng.random(120) < 0.6,
        np.round(rng.normal(size=120), 1),
    )
    theirs = metrics.concordance_index_censored(event, time, risk)
    mine = concordance_counts(time, event, risk, np.ones(120))
    assert harrell(mine) == pytest.approx(theirs[0], rel=1e-12)
    assert mine == tuple(map(float, theirs[1:4]))
