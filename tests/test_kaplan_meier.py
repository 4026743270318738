"""Life tables of many groups, against the definition, lifelines and their own properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipolar.curves import tabulate
from dipolar.survival import Survival
from tests.reference import kaplan_meier as reference

pytestmark = pytest.mark.compiled


@st.composite
def grouped(draw):
    n = draw(st.integers(1, 16))
    column = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    survival = Survival(np.array(draw(column), float), np.array(draw(column)) < 3)
    weight = np.array(draw(st.lists(st.sampled_from([0.25, 1.0, 2.0]), min_size=n, max_size=n)))
    _, group = np.unique(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), return_inverse=True)
    return survival, weight, group


@settings(max_examples=80, deadline=None)
@given(grouped())
def test_every_group_has_its_own_estimates(sample):
    survival, weight, group = sample
    tables = tabulate(survival, weight, group, group.max() + 1)
    s, h = tables.estimates()
    for g in range(len(tables)):
        mine = group == g
        args = survival.time[mine], survival.event[mine], weight[mine]
        entries = slice(tables.offset[g], tables.offset[g + 1])
        np.testing.assert_array_equal(tables.time[entries], np.unique(args[0]))
        expected_s = [reference.survival_at(t, *args) for t in tables.time[entries]]
        expected_h = [reference.hazard_at(t, *args) for t in tables.time[entries]]
        np.testing.assert_allclose(s[entries], expected_s, atol=1e-12)
        np.testing.assert_allclose(h[entries], expected_h, atol=1e-12)
        np.testing.assert_allclose(tables[g].survival, expected_s, atol=1e-12)
        np.testing.assert_allclose(tables[g].cumulative_hazard, expected_h, atol=1e-12)
        events, censored = weight * survival.event, weight * ~survival.event
        for t, *entry in zip(tables[g].time, tables[g].events, tables[g].censored, tables[g].at_risk):
            now, late = mine & (survival.time == t), mine & (survival.time >= t)
            assert entry == pytest.approx([events[now].sum(), censored[now].sum(), weight[late].sum()])
        assert tables.n_samples[g] == pytest.approx(weight[mine].sum())
        assert tables.n_events[g] == pytest.approx((weight * survival.event)[mine].sum())


@settings(max_examples=80, deadline=None)
@given(grouped())
def test_pooled_tables_equal_tables_of_pooled_rows(sample):
    survival, weight, group = sample
    tables = tabulate(survival, weight, group, group.max() + 1)
    pooled = tables.merge(np.zeros(len(tables), dtype=np.int64))
    direct = tabulate(survival, weight)
    np.testing.assert_array_equal(pooled.time, direct.time)
    np.testing.assert_allclose(pooled.at_risk, direct.at_risk)
    np.testing.assert_allclose(pooled.events, direct.events)
    np.testing.assert_allclose(pooled.censored, direct.censored)


@settings(max_examples=50, deadline=None)
@given(grouped(), st.sampled_from([1.0, 1e-12, 1e12]))
def test_tables_hold_the_rows_that_they_are_made_of(sample, scale):
    # A light row beside heavy ones is neither lost nor made up, as it would be in a difference of sums.
    survival, weight, group = sample
    weight = np.where(np.arange(len(weight)) % 2, weight * scale, weight)
    tables = tabulate(survival, weight, group, group.max() + 1)
    outcome, counts, number = tables.rows()
    assert (counts > 0).all()
    given_rows, own_rows = ({}, {})
    for rows, *columns in (
        (given_rows, survival.time, survival.event, group, weight),
        (own_rows, outcome.time, outcome.event, number, counts),
    ):
        for *row, count in zip(*columns):
            rows[tuple(row)] = rows.get(tuple(row), 0.0) + count
    assert own_rows == pytest.approx(given_rows, rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(grouped())
def test_curves_are_curves(sample):
    survival, weight, group = sample
    s, h = tabulate(survival, weight, group, group.max() + 1).estimates()
    assert np.isfinite(s).all() and np.isfinite(h).all()
    assert ((s >= 0) & (s <= 1)).all() and (h >= 0).all()
    table = tabulate(survival, weight)[0]
    assert (np.diff(table.survival) <= 0).all() and (np.diff(table.cumulative_hazard) >= 0).all()


def test_hazard_sums_equal_the_sum_of_the_table():
    rng = np.random.default_rng(0)
    survival = Survival(np.round(rng.exponential(5, 60)), rng.random(60) < 0.6)
    group = rng.integers(0, 3, 60)
    tables = tabulate(survival, np.ones(60), group, 3)
    times = np.unique(survival.time[survival.event])
    table = tables.on_grid(np.arange(3), times, hazard=True)
    np.testing.assert_allclose(tables.hazard_sums(times), table.sum(axis=1))


def test_equal_to_lifelines():
    lifelines = pytest.importorskip("lifelines")
    rng = np.random.default_rng(1)
    time, event = np.round(rng.exponential(8, 80)) + 1, rng.random(80) < 0.6
    weight = rng.integers(1, 4, 80).astype(float)
    table = tabulate(Survival(time, event), weight)[0]
    kmf = lifelines.KaplanMeierFitter().fit(time, event, weights=weight)
    naf = lifelines.NelsonAalenFitter(nelson_aalen_smoothing=False).fit(time, event, weights=weight)
    np.testing.assert_allclose(kmf.predict(table.time).to_numpy(), table.survival, atol=1e-12)
    np.testing.assert_allclose(naf.predict(table.time).to_numpy(), table.cumulative_hazard, atol=1e-12)
