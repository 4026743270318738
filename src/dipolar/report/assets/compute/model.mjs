// The fitted model: its nodes, the members of its pruning path, and what is predicted for a row. The tree is the grown
// one, in the plain form that Python's `to_dict` gives; nodes carry its numbers, and `label` has those of a member.
import { makeRouter } from "./routing.mjs";
import * as Statistics from "./statistics.mjs";

export function makeModel(data, kernel) {
  const { nodes, feature_names: names } = data.tree;
  const { removed_at: removedAt } = data.path;
  const nNodes = nodes.length;
  const nMembers = data.path.alphas.length;
  const of = (field, absent) => nodes.map((node) => (node[field] === undefined || node[field] === null ? absent : node[field]));
  const left = of("left", -1), parent = of("parent", -1), n = of("n"), events = of("events"), logrank = of("logrank", null);
  const { score, goesLeft } = makeRouter(data.tree, kernel);
  const range = (start, end) => Array.from({ length: end - start }, (_, i) => start + i);

  // Children have larger numbers than their parent, so that one loop downwards gathers the leaves of every node.
  const leavesBelow = range(0, nNodes).map(() => []);
  for (let node = nNodes - 1; node >= 0; node--) {
    if (left[node] < 0) leavesBelow[node].push(node);
    if (node > 0) leavesBelow[parent[node]].push(...leavesBelow[node]);
  }

  const leafTables = new Map();
  range(0, nNodes).filter((node) => left[node] < 0).forEach((node) => {
    const { time, at_risk: atRisk, events: observed } = nodes[node].curve;
    leafTables.set(node, { time, atRisk, events: observed });
  });

  const all = Statistics.pool([...leafTables.values()]);
  const eventTimes = data.event_times;
  const lastTime = data.last_time;

  // Everything that is estimated in a node, from the rows of the leaves below it; computed when first asked for.
  const known = new Map();
  function curve(node) {
    if (!known.has(node)) {
      const table = Statistics.pool(leavesBelow[node].map((leaf) => leafTables.get(leaf)));
      const estimates = Statistics.estimate(table);
      known.set(node, {
        table,
        ...estimates,
        median: Statistics.median(table, estimates),
        risk: Statistics.risk(table, eventTimes),
        restrictedMean: Statistics.restrictedMean(table, estimates.survival, lastTime),
      });
    }
    return known.get(node);
  }

  const isSplit = (node, member) => removedAt[node] > member;
  const children = (node, member) => (isSplit(node, member) ? [left[node], left[node] + 1] : []);

  // The nodes of a member, their numbers in Python's `prune(alpha)`, and its leaves from left to right.
  const members = new Map();
  function member(k) {
    if (!members.has(k)) {
      const kept = range(0, nNodes).filter((node) => node === 0 || isSplit(parent[node], k));
      const label = new Map(kept.map((node, number) => [node, number]));
      const leaves = [];
      const pending = [0];
      while (pending.length) {
        const node = pending.pop();
        if (isSplit(node, k)) pending.push(left[node] + 1, left[node]);
        else leaves.push(node);
      }
      members.set(k, { nodes: kept, label, leaves });
    }
    return members.get(k);
  }

  function pathTo(node) {
    const path = [node];
    while (parent[path[0]] >= 0) path.unshift(parent[path[0]]);
    return path;
  }

  // Covariates that the splits of a member look at.
  function covariatesUsed(k) {
    const used = new Set();
    for (const node of member(k).nodes) {
      if (!isSplit(node, k)) continue;
      if (data.tree.split_kind === "axis") used.add(nodes[node].split.feature);
      else names.forEach((_, feature) => used.add(feature));
    }
    return [...used].sort((a, b) => a - b);
  }

<<<<<<< HEAD:src/dipolar/report/assets/model.js
  const kernels = {
    linear: (u, v) => dot(u, v),
    quadratic: (u, v, p) => Math.pow(dot(u, v) + p.coef0, p.degree),
    polynomial: (u, v, p) => Math.pow(dot(u, v) + p.coef0, p.degree),
    Gaussian: (u, v, p) => Math.exp(-0.5 / p.sigma2 * sum(u, (x, i) => (x - v[i]) ** 2)),
    Laplacian: (u, v, p) => Math.exp(-p.gamma * sum(u, (x, i) => Math.abs(x - v[i]))),
    sigmoid: (u, v, p) => Math.tanh(p.gamma * dot(u, v) + p.coef0),
  };
  const sum = (values, of) => values.reduce((total, value, i) => total + of(value, i), 0);
  const dot = (u, v) => sum(u, (x, i) => x * v[i]);

  // A row is an array of numbers, NaN where missing, in the order of data.names. It goes left where its score is below 0.
  function score(row, node) {
    return data.splits.kind === "axis" ? axisScore(row, data.splits.nodes[node]) : surfaceScore(row, node);
  }

  function axisScore(row, { feature, threshold, missing_left: missingLeft }) {
    if (Number.isNaN(row[feature])) return missingLeft ? -Infinity : Infinity;
    return threshold === null ? -Infinity : row[feature] - threshold || -(2 ** -1022);
  }

  function surfaceScore(row, node) {
    const { boundary } = surfaces.nodes[node];
    const value = surfaceSum(row, node);
    return Math.abs(value) <= Math.abs(boundary) ? Math.min(0, -boundary) : value;
  }

  function surfaceSum(row, node) {
    const { intercept, coefficients, rows, columns, terms, parameters } = surfaces.nodes[node];
    const z = row.map((x, i) => (x - surfaces.mean[i]) / surfaces.scale[i]);
    if (rows === null) {
      const monomials = terms || surfaces.terms;
      const product = (k) => monomials.columns[k].reduce((p, i) => p * z[i], 1);
      return intercept + sum(coefficients, (c, k) => c * monomials.factors[k] * product(k));
    }
    const kernel = kernels[data.splits.nodes[node].kernel], p = parameters || data.splits.kernel_parameters;
    const u = columns ? columns.map((column) => z[column]) : z;
    return intercept + sum(coefficients, (c, k) => c * kernel(u, surfaces.basis[rows[k]], p));
  }

=======
>>>>>>> page:src/dipolar/report/assets/compute/model.mjs
  // Send a row down a member of the pruning path, by default the fitted one.
  function predict(row, k = data.member) {
    const steps = [];
    let node = 0;
    while (isSplit(node, k)) {
      const value = score(row, node);
<<<<<<< HEAD:src/dipolar/report/assets/model.js
      const left_ = value < 0;
      steps.push({ node, score: value, left: left_ });
      node = left[node] + (left_ ? 0 : 1);
=======
      const isLeft = goesLeft(row, node, value);
      steps.push({ node, score: value, left: isLeft });
      node = left[node] + (isLeft ? 0 : 1);
>>>>>>> page:src/dipolar/report/assets/compute/model.mjs
    }
    const { table, survival, hazard, median, risk, restrictedMean } = curve(node);
    return {
      node,
      leaf: member(k).label.get(node),
      steps,
      risk,
      median: median.value,
      restrictedMean,
      survivalAt: (t) => Statistics.valueAt(table, survival, t, 1),
      hazardAt: (t) => Statistics.valueAt(table, hazard, t, 0),
    };
  }

  return {
    data, left, parent, n, events, logrank, nNodes, nMembers, lastTime, times: all.time,
    curve, isSplit, children, member, pathTo, covariatesUsed, score, predict, leavesBelow,
  };
}
