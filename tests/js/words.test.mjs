// Splits in words.
import assert from "node:assert/strict";
import test from "node:test";

import { makeWords } from "../../src/dipolar/report/assets/compute/words.mjs";

const cuts = (split) => makeWords({ tree: { split_kind: "axis", feature_names: ["age", "sex"], nodes: [{ split }] } });
const surface = (split, word = "quadratic") => makeWords({
  tree: { split_kind: "surface", feature_names: ["age", "sex", "bmi"], nodes: [{ split: { kernel: { word }, ...split } }] },
});
const term = (coefficient, ...columns) => ({ coefficient, columns });

test("a cut, and where its missing values go if that was learnt", () => {
  const plain = cuts({ feature: 0, threshold: 62.5, missing_left: true, missing_seen: false });
  assert.deepEqual(plain.question(0), { name: "age", rest: "≤ 62.5" });
  assert.equal(plain.condition(0, true), "age ≤ 62.5");
  assert.equal(plain.condition(0, false), "age > 62.5");
  const learnt = cuts({ feature: 0, threshold: 62.5, missing_left: false, missing_seen: true });
  assert.equal(learnt.condition(0, true), "age ≤ 62.5");
  assert.equal(learnt.condition(0, false), "age > 62.5 or missing");
});

test("known against missing", () => {
  const words = cuts({ feature: 1, threshold: null, missing_left: false, missing_seen: true });
  assert.deepEqual(words.question(0), { name: "sex", rest: "is known" });
  assert.deepEqual([words.condition(0, true), words.condition(0, false)], ["sex is known", "sex is missing"]);
});

test("a surface names the covariates that make four fifths of it", () => {
  const words = surface({ shares: [0.3, 0.1, 0.6], terms: null, boundary: 0 }, "Gaussian");
  assert.deepEqual(words.question(0), { name: "bmi, age", rest: "Gaussian score < 0" });
  assert.equal(words.condition(0, false), "Gaussian score ≥ 0 (bmi, age)");
  assert.equal(words.equation(0), null);
});

test("a short sum is written out, with the boundary on its right side", () => {
  const words = surface({ shares: [0.5, 0.5, 0], boundary: 0.25, terms: [term(-1), term(-2, 0), term(0, 1), term(0.5, 2)] }, "linear");
  assert.equal(words.condition(0, true), "−2 age + 0.5 bmi < 1.25");
  assert.equal(words.condition(0, false), "−2 age + 0.5 bmi ≥ 1.25");
});

test("round numbers are written as they are", () => {
  const words = surface({ shares: [0.5, 0.5, 0], boundary: -1e-9, is_round: true, terms: [term(-16.00025), term(-1, 0), term(0.25, 1)] }, "linear");
  assert.equal(words.condition(0, true), "−age + 0.25 sex < 16.00025");
});

test("powers and products are an equation, but too long for a line; powers above three are none", () => {
  const words = surface({ shares: [1, 0, 0], boundary: 0, terms: [term(1), term(2, 0, 0), term(-3, 0, 1), term(1, 0, 0, 1)] });
  assert.equal(words.equation(0), "2 age² − 3 age · sex + 1 age² · sex < −1");
  assert.equal(words.condition(0, true), "quadratic score < 0 (age)");
  assert.equal(surface({ shares: [1, 0, 0], boundary: 0, terms: [term(1, 0, 0, 0, 0)] }).equation(0), null);
});

test("the kinds of the surfaces, each once, and of some of them", () => {
  const splits = [{ word: "Gaussian", rows: [0] }, { word: "cubic", rows: [] }, { word: "Gaussian", rows: [1] }, { word: "quadratic", rows: [] }];
  const nodes = [...splits.map(({ word, rows }) => ({ split: { kernel: { name: "K", word }, basis_rows: rows } })), {}];
  const words = makeWords({ tree: { split_kind: "surface", feature_names: [], nodes } });
  assert.equal(words.kinds(), "Gaussian or cubic or quadratic");
  assert.equal(words.kinds((split) => split.basis_rows.length), "Gaussian");
  assert.deepEqual([0, 1, 3].map(words.kernel), ["Gaussian", "cubic", "quadratic"]);
});
