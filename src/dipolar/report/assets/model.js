// The fitted model: its nodes, the members of its pruning path, and the way of a row to its leaf. The counterparts in
// Python are in tree/ and kernels.py. Nodes carry the numbers of the grown tree; `label` has those of a member.
function makeModel(data) {
  const { left, parent, n, events, logrank, removed_at: removedAt, tables: flat } = data.tree;
  const nNodes = left.length;
  const nMembers = data.path.alphas.length;
  const surfaces = data.surfaces;
  const range = (start, end) => Array.from({ length: end - start }, (_, i) => start + i);

  // Children have larger numbers than their parent, so that one loop downwards gathers the leaves of every node.
  const leavesBelow = range(0, nNodes).map(() => []);
  for (let node = nNodes - 1; node >= 0; node--) {
    if (left[node] < 0) leavesBelow[node].push(node);
    if (node > 0) leavesBelow[parent[node]].push(...leavesBelow[node]);
  }

  const leafTables = new Map();
  range(0, nNodes).filter((node) => left[node] < 0).forEach((node, k) => {
    const entries = [flat.offset[k], flat.offset[k + 1]];
    leafTables.set(node, {
      time: flat.time.slice(...entries),
      events: flat.events.slice(...entries),
      censored: flat.censored.slice(...entries),
      atRisk: flat.at_risk.slice(...entries),
    });
  });

  const all = Statistics.pool([...leafTables.values()]);
  const eventTimes = all.time.filter((_, i) => all.events[i] > 0);
  const lastTime = all.time[all.time.length - 1];

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
      const nodes = range(0, nNodes).filter((node) => node === 0 || isSplit(parent[node], k));
      const label = new Map(nodes.map((node, number) => [node, number]));
      const leaves = [];
      const pending = [0];
      while (pending.length) {
        const node = pending.pop();
        if (isSplit(node, k)) pending.push(left[node] + 1, left[node]);
        else leaves.push(node);
      }
      members.set(k, { nodes, label, leaves });
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
      const split = data.splits.nodes[node];
      if (data.splits.kind === "axis") used.add(split.feature);
      else data.names.forEach((_, feature) => used.add(feature));
    }
    return [...used].sort((a, b) => a - b);
  }

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

  // A row is an array of numbers, NaN where missing, in the order of data.names.
  function score(row, node) {
    if (data.splits.kind === "axis") {
      const { feature, threshold } = data.splits.nodes[node];
      return row[feature] - (threshold === null ? Infinity : threshold);
    }
    const { intercept, coefficients, rows } = surfaces.nodes[node];
    const z = row.map((x, i) => (x - surfaces.mean[i]) / surfaces.scale[i]);
    if (rows === null) {
      const { columns, factors } = surfaces.terms;
      return intercept + sum(coefficients, (c, k) => c * factors[k] * columns[k].reduce((p, i) => p * z[i], 1));
    }
    const kernel = kernels[data.splits.kernel], p = data.splits.kernel_parameters;
    return intercept + sum(coefficients, (c, k) => c * kernel(z, surfaces.basis[rows[k]], p));
  }

  function goesLeft(row, node, value) {
    if (data.splits.kind !== "axis") return value < surfaces.nodes[node].boundary;
    const split = data.splits.nodes[node];
    return Number.isNaN(row[split.feature]) ? split.missing_left : value <= 0 || split.threshold === null;
  }

  // Send a row down a member of the pruning path, by default the fitted one.
  function predict(row, k = data.member) {
    const steps = [];
    let node = 0;
    while (isSplit(node, k)) {
      const value = score(row, node);
      const left_ = goesLeft(row, node, value);
      steps.push({ node, score: value, left: left_ });
      node = left[node] + (left_ ? 0 : 1);
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
