// Axes, outlines, colours, and the places of nodes.
import assert from "node:assert/strict";
import test from "node:test";

import { placeOutline, placeTopDown } from "../../src/dipolar/report/assets/compute/layout.mjs";
import { bandPath, riskColour, stepPath, ticks } from "../../src/dipolar/report/assets/compute/shapes.mjs";

test("ticks are round, start at 0, end within the axis, and are no more than asked for", () => {
  assert.deepEqual(ticks(10, 6), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(0.3, 4), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(ticks(0, 5), [0]);
  for (let last = 0.001; last < 1e6; last *= 1.7) {
    for (const most of [3, 6, 8]) {
      const found = ticks(last, most);
      assert.ok(found[0] === 0 && found.length >= 2 && found.length <= most, `${found} up to ${last}`);
      assert.ok(found[found.length - 1] <= last * (1 + 1e-9));
    }
  }
});

const same = (value) => value;

test("a step function goes across, then down", () => {
  assert.equal(stepPath([1, 2, 3], [0.5, 0.5, 0.25], 1, 4, same, same), "M0.00,1.00H1.00V0.50H3.00V0.25H4.00");
});

test("a band ends where its limits are unknown", () => {
  const curve = { table: { time: [1, 2] }, lower: [0.2, null], upper: [0.8, null] };
  assert.equal(bandPath(curve, same, same), "M0.00,1.00H1.00V0.80H2.00V0.20H1.00V1.00Z");
  assert.ok(!/NaN|null/.test(bandPath({ table: { time: [1] }, lower: [null], upper: [null] }, same, same)));
});

test("colours go from blue over grey to orange", () => {
  assert.equal(riskColour(0), "rgb(27,94,158)");
  assert.equal(riskColour(0.5), "rgb(125,129,133)");
  assert.equal(riskColour(1), "rgb(170,75,10)");
  assert.equal(riskColour(7), riskColour(1));
});

// A tree as an array of left children; -1 in leaves, and the right child follows the left one.
function shown(left) {
  const parent = [-1];
  left.forEach((child, node) => { if (child > 0) parent[child] = parent[child + 1] = node; });
  const order = [];
  const visit = (node) => { order.push(node); if (left[node] > 0) { visit(left[node]); visit(left[node] + 1); } };
  visit(0);
  const depth = (node) => (node ? depth(parent[node]) + 1 : 0);
  return [order, (node) => (left[node] > 0 ? [left[node], left[node] + 1] : []), depth];
}

const TREES = { "one leaf": [-1], balanced: [1, 3, 5, -1, -1, -1, -1], chain: [1, -1, 3, -1, 5, -1, 7, -1, 9, -1, -1] };

for (const [name, left] of Object.entries(TREES)) {
  test(`nodes of a tree never touch and stay inside: ${name}`, () => {
    const [order, children, depth] = shown(left);
    for (const placed of [placeTopDown(order, children, depth), placeOutline(order, children, depth, 300)]) {
      const boxes = order.map((node) => placed.at.get(node));
      boxes.forEach((a, i) => {
        assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= placed.width && a.y + a.height <= placed.height);
        boxes.slice(i + 1).forEach((b) => {
          assert.ok(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y);
        });
      });
    }
  });
}

test("an outline is no wider than its place while that is not too narrow for it", () => {
  const [order, children, depth] = shown(TREES.chain);
  assert.ok(placeOutline(order, children, depth, 300).width <= 300);
});
