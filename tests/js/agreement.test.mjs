// The page's model against Python's, for every kind of split: the same leaves, and numbers that agree to 1e-9.
import assert from "node:assert/strict";
import test from "node:test";

import { makeModel } from "../../src/dipolar/report/assets/compute/model.mjs";
import { makeRouter } from "../../src/dipolar/report/assets/compute/routing.mjs";
import { logrank } from "../../src/dipolar/report/assets/compute/statistics.mjs";
import { close, kinds, load, loadModule, withMissing } from "./fixtures.mjs";

test("there is a model of every kind of split", () => {
  assert.deepEqual(kinds.map(({ kind }) => kind).sort(), [
    "cubic", "gaussian", "laplacian", "linear", "quadratic", "quadratic-of-rows", "rational-quadratic", "sigmoid", "univariate",
  ]);
});

for (const python of kinds) {
  const model = makeModel(python.data, python.kernel);
  const rows = python.rows.map(withMissing);

  test(`${python.kind}: scores and sides of every split`, () => {
    const { score, goesLeft } = makeRouter(python.data.tree, python.kernel);
    assert.ok(python.splits.length > 1);
    for (const split of python.splits) {
      const scores = rows.map((row) => score(row, split.node));
      close(scores, split.score, `score of node ${split.node}`);
      assert.deepEqual(rows.map((row, i) => goesLeft(row, split.node, scores[i])), split.left);
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
  const model = makeModel(data, null);
  const pairs = load("logrank_tests.json");
  assert.ok(pairs.length > 10);
  for (const { a, b, statistic, p } of pairs) {
    const found = logrank(model.curve(a).table, model.curve(b).table);
    close(found.statistic, statistic, `statistic of ${a} and ${b}`);
    assert.ok(Math.abs(found.p - p) <= 1e-9 * p, `p of ${a} and ${b}: ${found.p} should be ${p}`);
  }
});

test("every kernel is the function that its class in Python says", async () => {
  const { kernels } = await loadModule("kernels.mjs");
  for (const { name, parameters, u, v, value } of load("kernel_values.json")) {
    close(u.map((a) => v.map((b) => kernels[name](a, b, parameters))), value, name);
  }
});

test("only what is a sum over rows of the training data is given a kernel", () => {
  const given = kinds.filter(({ kernel }) => kernel !== null).map(({ kind }) => kind).sort();
  assert.deepEqual(given, ["gaussian", "laplacian", "quadratic-of-rows", "rational-quadratic", "sigmoid"]);
  for (const { kernel, data } of kinds) assert.equal(kernel !== null, Boolean(data.tree.basis && data.tree.basis.length));
});

test("a row whose score is no number is refused", () => {
  const { data, kernel } = kinds.find(({ kind }) => kind === "cubic");
  const model = makeModel(data, kernel);
  assert.throws(() => model.predict([1e200, -1e200, 1e200, 0]), { name: "RangeError", message: /too far from the training rows/ });
});
