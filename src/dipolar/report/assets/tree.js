// The tree as a picture: where its nodes are, what is written in them, and how keys and pointers walk it.
const TreeView = (() => {
  // From the top down, one slot per leaf; a parent is in the middle of its children, so that nodes never touch.
  const TOP_DOWN = { width: 148, slot: 160, inner: 52, leaf: 98, level: 136 };
  // As an outline: one line per node, each level indented.
  const OUTLINE = { narrowest: 200, widest: 420, indent: 18, inner: 42, leaf: 50, gap: 8 };
  const TITLE_FONT = `600 12.5px ${FONT}`;

  function placeTopDown(order, childrenOf, depthOf) {
    const centre = new Map();
    let slot = 0;
    const at = new Map();
    for (const node of order) {
      if (!childrenOf(node).length) centre.set(node, (slot++ + 0.5) * TOP_DOWN.slot);
    }
    for (const node of [...order].reverse()) {
      const below = childrenOf(node);
      if (below.length) centre.set(node, (centre.get(below[0]) + centre.get(below[1])) / 2);
      const height = below.length ? TOP_DOWN.inner : TOP_DOWN.leaf;
      at.set(node, { x: centre.get(node) - TOP_DOWN.width / 2, y: 4 + depthOf(node) * TOP_DOWN.level, width: TOP_DOWN.width, height });
    }
    const bottom = Math.max(...order.map((node) => at.get(node).y + at.get(node).height));
    return { at, width: slot * TOP_DOWN.slot, height: bottom + 6 };
  }

  function placeOutline(order, childrenOf, depthOf, available) {
    const at = new Map();
    const deepest = Math.max(...order.map(depthOf));
    const indent = Math.min(OUTLINE.indent, Math.max(0, available - OUTLINE.narrowest - 6) / Math.max(1, deepest));
    let y = 4;
    for (const node of order) {
      const height = childrenOf(node).length ? OUTLINE.inner : OUTLINE.leaf;
      const x = 2 + depthOf(node) * indent;
      at.set(node, { x, y, width: Math.max(OUTLINE.narrowest, Math.min(OUTLINE.widest, available - 4 - x)), height });
      y += height + OUTLINE.gap;
    }
    const right = Math.max(...order.map((node) => at.get(node).x + at.get(node).width));
    return { at, width: right + 2, height: y };
  }

  function miniCurve(curve, box, lastTime, colour) {
    const x = (t) => box.x + (lastTime > 0 ? t / lastTime : 0) * box.width;
    const y = (s) => box.y + (1 - s) * box.height;
    const { table: { time }, survival } = curve;
    return shape("g", { "aria-hidden": "true" },
      shape("path", { class: "mini-axis", d: `M${box.x},${box.y}V${box.y + box.height}H${box.x + box.width}` }),
      shape("path", { class: "mini", d: stepPath(time, survival, 1, time[time.length - 1], x, y), stroke: colour }));
  }

  return { TOP_DOWN, OUTLINE, TITLE_FONT, placeTopDown, placeOutline, miniCurve };
})();

// What a split asks, in words. Every text is for one side; the short ones leave out what the details tell.
function makeWords(model) {
  const { names, splits } = model.data;
  const axis = splits.kind === "axis";
  const MOST_TERMS_IN_LINE = 7;

  function mainCovariates(node) {
    const order = splits.nodes[node].shares.map((share, feature) => [share, feature]).sort((a, b) => b[0] - a[0]);
    const chosen = [];
    let total = 0;
    for (const [share, feature] of order) {
      if (chosen.length && (total >= 0.8 || share <= 0)) break;
      chosen.push({ feature, share });
      total += share;
    }
    return chosen;
  }

  // Two parts, of which only the first may be cut short.
  function question(node) {
    const split = splits.nodes[node];
    if (!axis) {
      const list = mainCovariates(node).map(({ feature }) => names[feature]).join(", ");
      return { name: list, rest: `${split.kernel} score < 0` };
    }
    if (split.threshold === null) return { name: names[split.feature], rest: "is known" };
    return { name: names[split.feature], rest: `≤ ${Format.threshold(split.threshold)}` };
  }

  function condition(node, left) {
    const split = splits.nodes[node];
    if (!axis) return shortEquation(node, left) || `${split.kernel} score ${left ? "< 0" : "≥ 0"} (${question(node).name})`;
    const name = names[split.feature];
    if (split.threshold === null) return `${name} is ${left ? "known" : "missing"}`;
    const missing = split.missing_seen && split.missing_left === left ? " or missing" : "";
    return `${name} ${left ? "≤" : ">"} ${Format.threshold(split.threshold)}${missing}`;
  }

  // A sum of a few covariates says more than its covariates' names.
  function shortEquation(node, left) {
    const terms = splits.nodes[node].equation;
    const isShort = terms && terms.length <= MOST_TERMS_IN_LINE && terms.every(([, columns]) => columns.length <= 1);
    return isShort ? equation(node, left) : null;
  }

  // The score of a linear or polynomial surface in original units.
  function equation(node, left = true) {
    const terms = axis ? null : splits.nodes[node].equation;
    if (!terms) return null;
    const powers = ["", "", "²", "³"];
    const text = terms.filter(([value, columns]) => value !== 0 && columns.length).map(([value, columns]) => {
      const counts = new Map();
      columns.forEach((column) => counts.set(column, (counts.get(column) || 0) + 1));
      const product = [...counts].map(([column, power]) => names[column] + powers[power]).join(" · ");
      return { sign: value < 0 ? "−" : "+", text: `${Format.number(Math.abs(value))} ${product}` };
    });
    const constant = terms.filter(([, columns]) => !columns.length).reduce((sum, [value]) => sum + value, 0);
    const body = text.map(({ sign, text: term }, i) => (i ? ` ${sign} ${term}` : (sign === "−" ? `−${term}` : term))).join("");
    return `${body} ${left ? "<" : "≥"} ${Format.number(-constant)}`;
  }

  return { mainCovariates, question, condition, equation, axis };
}
