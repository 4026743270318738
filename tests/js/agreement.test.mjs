// The page's model against Python's, for every kind of split: the same leaves, and numbers that agree to 1e-9.
import assert from "node:assert/strict";
import test from "node:test";

import { makeModel } from "../../src/dipolar/report/assets/compute/model.mjs";
import { makeScore } from "../../src/dipolar/report/assets/compute/routing.mjs";
import { logrank } from "../../src/dipolar/report/assets/compute/statistics.mjs";
import { close, kinds, load, loadModule, withMissing } from "./fixtures.mjs";

test("there is a model of every kind of split", () => {
  assert.deepEqual(kinds.map(({ kind }) => kind).sort(), [
    "cubic", "gaussian", "heir-linear", "heir-quadratic", "heir-rbf", "laplacian", "linear", "member-gaussian", "member-linear", "member-mixed", "member-quadratic",
    "quadratic", "quadratic-of-rows", "rational-quadratic", "sigmoid", "univariate",
  ]);
});

test("a tree of a forest of several kernels has several, on columns of its own for each split", () => {
  const { data } = kinds.find(({ kind }) => kind === "member-mixed");
  const splits = data.tree.nodes.map(({ split }) => split).filter(Boolean);
  assert.deepEqual([...new Set(splits.map(({ kernel }) => kernel.word))].sort(), ["Gaussian", "cubic", "linear", "quadratic"]);
  assert.ok(new Set(splits.map(({ columns }) => String(columns))).size > 1);
});

for (const python of kinds) {
  const model = makeModel(python.data, python.kernels);
  const rows = python.rows.map(withMissing);

  test(`${python.kind}: scores and sides of every split`, () => {
    const score = makeScore(python.data.tree, python.kernels);
    assert.ok(python.splits.length > 1);
    for (const split of python.splits) {
      const scores = rows.map((row) => score(row, split.node));
      close(scores.map((value) => (Number.isFinite(value) ? value : null)), split.score, `score of node ${split.node}`);
      assert.deepEqual(scores.map((value) => value < 0), split.left);
    }
  });

  test(`${python.kind}: predictions`, () => {
    const found = rows.map((row) => model.predict(row));
    assert.deepEqual(found.map(({ leaf }) => leaf), python.leaf);
    assert.ok(new Set(python.leaf).size > 2);
    for (const name of ["risk", "median", "restrictedMean"]) close(found.map((one) => one[name]), python[name], name);
    close(found.map(({ survivalAt }) => python.times.map(survivalAt)), python.survival, "survival");
    close(found.map(({ hazardAt }) => python.times.map(hazardAt)), python.hazard, "hazard");
  });

  test(`${python.kind}: every member of the pruning path`, () => {
    python.members.forEach((member, k) => {
      const found = rows.map((row) => model.predict(row, k));
      assert.deepEqual(found.map(({ leaf }) => leaf), member.leaf);
      close(found.map(({ risk }) => risk), member.risk, `risk of member ${k}`);
      assert.equal(model.member(k).leaves.length, python.data.path.n_leaves[k]);
    });
  });

  test(`${python.kind}: curves, limits and medians of the nodes`, () => {
    for (const node of python.data.tree.nodes) {
      const curve = model.curve(node.id);
      close(curve.median.value, node.median, `median of node ${node.id}`);
      close(curve.table.atRisk[0], node.n, `rows of node ${node.id}`);
      close(curve.table.events.reduce((sum, d) => sum + d, 0), node.events, `events of node ${node.id}`);
      if (!node.is_leaf) continue;
      close(curve.risk, node.risk, `risk of node ${node.id}`);
      for (const name of ["survival", "lower", "upper"]) close(curve[name], node.curve[name], `${name} of node ${node.id}`);
    }
  });
}

test("log-rank tests of all pairs of leaves", () => {
  const { data } = kinds.find(({ kind }) => kind === "univariate");
  const model = makeModel(data, {});
  const pairs = load("logrank_tests.json");
  assert.ok(pairs.length > 10);
  for (const { a, b, statistic, p } of pairs) {
    const found = logrank(model.curve(a).table, model.curve(b).table);
    close(found.statistic, statistic, `statistic of ${a} and ${b}`);
    assert.ok(Math.abs(found.p - p) <= 1e-9 * p, `p of ${a} and ${b}: ${found.p} should be ${p}`);
  }
});

test("every kernel is the function that its class in Python says", async () => {
  const { kernels } = await loadModule("examples.mjs");
  for (const { name, parameters, u, v, value } of load("kernel_values.json")) {
    close(u.map((a) => v.map((b) => kernels[name](a, b, parameters))), value, name);
  }
});

test("only sums over rows of the training data are given their kernel", () => {
  const given = Object.fromEntries(kinds.map(({ kind, kernels }) => [kind, Object.keys(kernels)]).filter(([, names]) => names.length));
  assert.deepEqual(given, {
    gaussian: ["GaussianKernel"], "heir-rbf": ["GaussianKernel"], laplacian: ["LaplacianKernel"], "member-gaussian": ["GaussianKernel"],
    "member-mixed": ["GaussianKernel"], "quadratic-of-rows": ["PolynomialKernel"],
    "rational-quadratic": ["RationalQuadraticKernel"], sigmoid: ["SigmoidKernel"],
  });
});

test("a row whose score is no number is refused", () => {
  const { data, kernels } = kinds.find(({ kind }) => kind === "cubic");
  const model = makeModel(data, kernels);
  assert.throws(() => model.predict([1e200, -1e200, 1e200, 0]), { name: "RangeError", message: /too far from the training rows/ });
});
