// Life tables by hand: small ones whose answers can be seen.
import assert from "node:assert/strict";
import test from "node:test";

import * as Statistics from "../../src/dipolar/report/assets/compute/statistics.mjs";
import { close, load } from "./fixtures.mjs";

// Times 1 to 4: an event, a censoring, an event, a censoring.
const TABLE = { time: [1, 2, 3, 4], events: [1, 0, 1, 0], censored: [0, 1, 0, 1], atRisk: [4, 3, 2, 1] };

test("Kaplan-Meier and Nelson-Aalen", () => {
  const { survival, hazard, lower, upper } = Statistics.estimate(TABLE);
  close(survival, [0.75, 0.75, 0.375, 0.375]);
  close(hazard, [0.25, 0.25, 0.75, 0.75]);
  survival.forEach((s, i) => assert.ok(lower[i] < s && s < upper[i]));
});

test("limits are 1 before the first event and unknown where the curve is 0", () => {
  const { survival, lower, upper } = Statistics.estimate({ time: [1, 2], events: [0, 1], censored: [1, 0], atRisk: [2, 1] });
  assert.deepEqual([survival, lower, upper], [[1, 0], [1, null], [1, null]]);
});

test("values between, before and behind the times", () => {
  const { survival } = Statistics.estimate(TABLE);
  close([0, 0.99, 1, 2.5, 3, 99].map((t) => Statistics.valueAt(TABLE, survival, t, 1)), [1, 1, 0.75, 0.75, 0.375, 0.375]);
  assert.deepEqual([0, 1, 1.5, 4, 4.1].map((t) => Statistics.atRiskAt(TABLE, t)), [4, 4, 3, 1, 0]);
});

test("a median is the first time at one half or below, the middle of a step at one half, or none", () => {
  const median = (table) => Statistics.median(table, Statistics.estimate(table)).value;
  assert.equal(median(TABLE), 3);
  assert.equal(median({ time: [1, 3, 7], events: [0, 1, 1], censored: [1, 0, 0], atRisk: [3, 2, 1] }), 5);
  assert.equal(median({ time: [1, 3], events: [1, 0], censored: [0, 1], atRisk: [2, 1] }), 2);
  assert.equal(median({ time: [1, 2], events: [1, 0], censored: [7, 1], atRisk: [9, 1] }), null);
});

test("pooled tables are the table of all rows", () => {
  const a = { time: [1, 3], events: [1, 0], censored: [0, 1], atRisk: [2, 1] }, b = { time: [1, 2], events: [1, 2], censored: [0, 0], atRisk: [3, 2] };
  assert.deepEqual(Statistics.pool([a, b]), { time: [1, 2, 3], events: [2, 2, 0], censored: [0, 0, 1], atRisk: [5, 3, 1] });
  assert.equal(Statistics.pool([a]), a);
});

test("the restricted mean is the area under the curve", () => {
  const { survival } = Statistics.estimate(TABLE);
  close(Statistics.restrictedMean(TABLE, survival, 4), 1 + 2 * 0.75 + 0.375);
  close(Statistics.restrictedMean(TABLE, survival, 0.5), 0.5);
  close(Statistics.restrictedMean(TABLE, survival, 10), 1 + 2 * 0.75 + 7 * 0.375);
});

test("equal groups do not differ, and groups without events cannot", () => {
  assert.deepEqual(Statistics.logrank(TABLE, TABLE), { statistic: 0, p: 1, observed: 2, expected: 2 });
  const censored = { time: [5], events: [0], censored: [3], atRisk: [3] };
  assert.equal(Statistics.logrank(censored, censored).p, 1);
});

test("erfc, where the series and the continued fraction meet and far out", () => {
  for (const { x, value } of load("erfc_values.json")) {
    assert.ok(Math.abs(Statistics.erfc(x) - value) <= 1e-9 * value, `erfc(${x}) = ${Statistics.erfc(x)} should be ${value}`);
  }
});
