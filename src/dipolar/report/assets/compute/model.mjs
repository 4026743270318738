// The fitted model: its nodes, the members of its pruning path, and what is predicted for a row. The tree is the grown
// one, in the plain form that Python's `to_dict` gives; nodes carry its numbers, and `label` has those of a member.
import { makeScore } from "./routing.mjs";
import * as Statistics from "./statistics.mjs";

export function makeModel(data, kernels) {
  const { nodes } = data.tree;
  const { removed_at: removedAt } = data.path;
  const nNodes = nodes.length;
  const nMembers = data.path.alphas.length;
  const of = (field, absent) => nodes.map((node) => (node[field] === undefined || node[field] === null ? absent : node[field]));
  const left = of("left", -1), parent = of("parent", -1), n = of("n"), events = of("events"), logrank = of("logrank", null);
  const score = makeScore(data.tree, kernels);
  const range = (start, end) => Array.from({ length: end - start }, (_, i) => start + i);

  // Children have larger numbers than their parent, so that one loop downwards gathers the leaves of every node.
  const leavesBelow = range(0, nNodes).map(() => []);
  for (let node = nNodes - 1; node >= 0; node--) {
    if (left[node] < 0) leavesBelow[node].push(node);
    if (node > 0) leavesBelow[parent[node]].push(...leavesBelow[node]);
  }

  const leafTables = new Map();
  range(0, nNodes).filter((node) => left[node] < 0).forEach((node) => {
    const { time, events: observed, censored, at_risk: atRisk } = nodes[node].curve;
    leafTables.set(node, { time, events: observed, censored, atRisk });
  });

  const all = Statistics.pool([...leafTables.values()]);
  const eventTimes = data.event_times;
  const lastTime = data.tree.last_time;

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

  // Columns that the splits of a member look at.
  function columnsUsed(k) {
    const used = new Set();
    for (const node of member(k).nodes) {
      if (!isSplit(node, k)) continue;
      const { feature, columns } = nodes[node].split;
      for (const column of columns || [feature]) used.add(column);
    }
    const isUsed = ({ features: [from, to] }) => [...used].some((feature) => from <= feature && feature < to);
    return data.columns.map((_, column) => column).filter((column) => isUsed(data.columns[column]));
  }

  // Send a row down a member of the pruning path, by default the fitted one.
  function predict(row, k = data.member) {
    const steps = [];
    let node = 0;
    while (isSplit(node, k)) {
      const value = score(row, node);
      const isLeft = value < 0;
      steps.push({ node, score: value, left: isLeft });
      node = left[node] + (isLeft ? 0 : 1);
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
    curve, isSplit, children, member, pathTo, columnsUsed, score, predict, leavesBelow,
  };
}
