// Splits in words.
import assert from "node:assert/strict";
import test from "node:test";

import { makeWords } from "../../src/dipolar/report/assets/compute/words.mjs";

const columnsOf = (...names) => names.map((name, i) => ({ name, features: [i, i + 1] }));
const surface = (split, word = "quadratic", said = null) => makeWords({
  tree: { split_kind: "surface", nodes: [{ split: { kernel: { word }, ...split } }, {}] },
  terms: ["age", "sex", "bmi"], columns: columnsOf("age", "sex", "bmi"), said: [said, null], ways: [[], ["sex is f", [0, true]]],
});
const term = (coefficient, ...columns) => ({ coefficient, columns });

test("cuts are said as Python says them, with the signs of print", () => {
  const words = makeWords({
    tree: { split_kind: "axis", nodes: [{ split: { feature: 1 } }, {}] }, terms: ["age", "(sex m)"], columns: columnsOf("age", "sex"),
    said: [{ left: ["a <= b", "<= -62.5 or missing"], right: ["a <= b", "> -62.5"] }, null], ways: [[], ["-3 < age <= 62.5", "x >= -1"]],
  });
  assert.deepEqual(words.question(0), { name: "a <= b", rest: "≤ −62.5 or missing" });
  assert.equal(words.condition(0, true), "a <= b ≤ −62.5 or missing");
  assert.equal(words.condition(0, false), "a <= b > −62.5");
  assert.deepEqual(words.way(1), ["−3 < age ≤ 62.5", "x ≥ −1"]);
  assert.equal(words.cutColumn(0), 1);
});

test("a surface that only parts two values is a cut, and a way says the others by their terms", () => {
  const split = { shares: [0, 1, 0], boundary: 0, terms: [term(-1), term(2, 1)] };
  const words = surface(split, "linear", { left: ["sex", "is f"], right: ["sex", "is m"] });
  assert.ok(words.isCut(0));
  assert.deepEqual([words.condition(0, true), words.condition(0, false), words.cutColumn(0)], ["sex is f", "sex is m", 1]);
  assert.deepEqual(surface(split, "linear").way(1), ["sex is f", "2 sex < 1"]);
});

test("covariates of one column count together", () => {
  const words = makeWords({
    tree: { split_kind: "surface", nodes: [{ split: { kernel: { word: "linear" }, shares: [0.4, 0.3, 0.3], terms: null, boundary: 0 } }] },
    terms: ["age", "(stage I)", "(stage II)"], columns: [{ name: "age", features: [0, 1] }, { name: "stage", features: [1, 3] }], said: [null], ways: [[]],
  });
  assert.equal(words.question(0).name, "stage, age");
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
  const words = makeWords({ tree: { split_kind: "surface", nodes }, terms: [], columns: [], said: [], ways: [] });
  assert.equal(words.kinds(), "Gaussian or cubic or quadratic");
  assert.equal(words.kinds((split) => split.basis_rows.length), "Gaussian");
  assert.deepEqual([0, 1, 3].map(words.kernel), ["Gaussian", "cubic", "quadratic"]);
});
