// Where the boxes of the tree's nodes are.

// From the top down, one slot per leaf; a parent is in the middle of its children, so that nodes never touch.
export const TOP_DOWN = { width: 148, slot: 160, inner: 52, leaf: 98, level: 136 };

// As an outline: one line per node, each level indented.
const OUTLINE = { narrowest: 200, widest: 420, indent: 18, inner: 42, leaf: 50, gap: 8 };

export function placeTopDown(order, childrenOf, depthOf) {
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

export function placeOutline(order, childrenOf, depthOf, available) {
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
