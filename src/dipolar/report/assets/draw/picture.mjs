// The picture of the tree: which nodes are shown, their boxes, questions, curves and edges.
import * as Format from "../compute/numbers.mjs";
import { TOP_DOWN, placeOutline, placeTopDown } from "../compute/layout.mjs";
import { miniCurve } from "./chart.mjs";
import { FONT, byId, measure, shape, shorten } from "./elements.mjs";
import { colourOf, current, depthOf, isLeaf, isOpen, model, nodeName, numberOf, rowsAndEvents, shortMedian, state, time, words } from "./state.mjs";

// Nodes on display, a parent before its children and left before right.
export function displayOrder() {
  const order = [];
  const pending = [0];
  while (pending.length) {
    const node = pending.pop();
    order.push(node);
    if (isOpen(node)) pending.push(model.left[node] + 1, model.left[node]);
  }
  return order;
}

const shownChildren = (node) => (isOpen(node) ? model.children(node, state.member) : []);

// A tree that would have to be drawn smaller than this to fit is drawn as an outline.
const SMALLEST_SCALE = 0.72;

export function chooseLayout() {
  if (state.layout) return state.layout;
  const leaves = displayOrder().filter((node) => !isOpen(node)).length;
  const width = byId("canvas").clientWidth;
  return leaves * TOP_DOWN.slot * SMALLEST_SCALE > width ? "outline" : "top-down";
}

export function drawTree() {
  const canvas = byId("canvas");
  const order = displayOrder();
  const layout = chooseLayout();
  const outline = layout === "outline";
  const available = canvas.clientWidth - 2;
  const placed = outline
    ? placeOutline(order, shownChildren, depthOf, available)
    : placeTopDown(order, shownChildren, depthOf);
  const fit = Math.min(outline ? 1 : 1.2, available / placed.width);
  const zoom = state.zoom === null ? fit : state.zoom;
  const svg = shape("svg", {
    viewBox: `0 0 ${placed.width} ${placed.height}`, width: placed.width * zoom, height: placed.height * zoom,
    role: "tree", "aria-label": "Survival tree", class: "tree",
  });
  const onPath = new Set(state.prediction ? model.pathTo(state.prediction.node) : []);
  svg.append(shape("g", { "aria-hidden": "true" }, order.flatMap((node) => shownChildren(node).map((child, side) => (
    drawEdge(placed.at.get(node), placed.at.get(child), side, outline, onPath.has(child)))))));
  svg.append(...order.map((node) => drawNode(node, placed.at.get(node), outline, onPath.has(node))));
  const hadFocus = canvas.contains(document.activeElement);
  canvas.replaceChildren(svg);
  canvas.dataset.zoom = zoom;
  byId("layout").setAttribute("aria-pressed", String(outline));
  if (!order.includes(state.focused)) state.focused = 0;
  markFocusable();
  if (hadFocus) focusNode(state.focused);
}

// One node can be reached by the Tab key; the arrow keys move on from there.
export const nodeElement = (node) => byId("canvas").querySelector(`[data-node="${node}"]`);

function markFocusable() {
  for (const item of byId("canvas").querySelectorAll("[data-node]")) {
    item.setAttribute("tabindex", Number(item.dataset.node) === state.focused ? 0 : -1);
  }
}

export function focusNode(node) {
  state.focused = node;
  markFocusable();
  nodeElement(node).focus({ preventScroll: false });
}

function drawEdge(from, to, side, outline, onPath) {
  const style = { class: onPath ? "edge on-path" : "edge" };
  if (outline) {
    const x = from.x + 8;
    return shape("g", {},
      shape("path", { ...style, d: `M${x},${from.y + from.height}V${to.y + to.height / 2}H${to.x}` }));
  }
  const x1 = from.x + from.width / 2, y1 = from.y + from.height, x2 = to.x + to.width / 2;
  const middle = y1 + 26;
  return shape("g", {},
    shape("path", { ...style, d: `M${x1},${y1}V${middle}H${x2}V${to.y}` }),
    shape("text", { class: "edge-label", x: x2 + (side ? 5 : -5), y: to.y - 8, "text-anchor": side ? "start" : "end" }, side ? "no" : "yes"));
}

function drawNode(node, box, outline, onPath) {
  const leaf = isLeaf(node), open = isOpen(node);
  const classes = ["node", leaf ? "leaf" : "inner", onPath ? "on-path" : "", node === state.selected ? "selected" : "", leaf || open ? "" : "closed"];
  const group = shape("g", {
    class: classes.filter(Boolean).join(" "), "data-node": node, "data-number": numberOf(node),
    role: "treeitem", tabindex: -1, "aria-label": describeNode(node), "aria-level": depthOf(node) + 1,
    "aria-selected": String(node === state.selected), "aria-expanded": leaf ? null : String(open),
    transform: `translate(${box.x},${box.y})`,
  });
  group.append(shape("rect", { class: "box", width: box.width, height: box.height, rx: 7 }));
  if (open) drawQuestion(group, node, box, outline);
  else drawEnd(group, node, box, outline);
  if (!leaf) group.append(drawToggle(node, box, open, outline));
  return group;
}

const TITLE_FONT = `600 12.5px ${FONT}`;
const SMALL_FONT = `11px ${FONT}`;

function sizeText(node, room) {
  const [rows, events] = [Format.count(model.n[node]), Format.count(model.events[node])];
  const full = `${rows} rows · ${events} events`;
  return measure(full, SMALL_FONT) <= room ? full : `${rows} · ${events} ev.`;
}

function drawQuestion(group, node, box, outline) {
  const { name, rest } = words.question(node);
  const room = box.width - (outline ? 34 : 16);
  const size = sizeText(node, room);
  const anchor = outline ? { x: 10, "text-anchor": "start" } : { x: box.width / 2, "text-anchor": "middle" };
  const both = `${name} ${rest}`;
  if (outline) {
    // The answer that leads here stands first, since an outline has no room beside its lines.
    const lead = answer(node);
    const start = lead ? measure(`${lead} `, TITLE_FONT) : 0;
    const inOneLine = words.isCut(node) && start + measure(`${both}?`, TITLE_FONT) <= room;
    group.append(
      shape("text", { class: "title", ...anchor, y: 17 }, lead ? shape("tspan", { class: "answer" }, `${lead} `) : null,
        inOneLine ? `${both}?` : shorten(name, room - start, TITLE_FONT)),
      shape("text", { class: "small", ...anchor, y: 33 }, shorten(inOneLine ? size : `${rest}? · ${size}`, room, SMALL_FONT)));
  } else if (words.isCut(node) && measure(both, TITLE_FONT) <= room) {
    group.append(shape("text", { class: "title", ...anchor, y: 22 }, both), shape("text", { class: "small", ...anchor, y: 40 }, size));
  } else {
    group.append(shape("text", { class: "title", ...anchor, y: 16 }, shorten(name, room, TITLE_FONT)),
      shape("text", { class: words.isCut(node) ? "title" : "small", ...anchor, y: 31 }, rest),
      shape("text", { class: "small", ...anchor, y: 45 }, size));
  }
}

const answer = (node) => (node === 0 ? "" : node === model.left[model.parent[node]] ? "yes:" : "no:");

// A leaf, or a closed branch, which is shown as the one leaf that it would be.
function drawEnd(group, node, box, outline) {
  const colour = colourOf(node);
  const closed = !isLeaf(node);
  const title = closed ? `${current().leaves.filter((leaf) => model.pathTo(leaf).includes(node)).length} leaves` : nodeName(node);
  const middle = `median ${shortMedian(node)}`;
  group.append(shape("rect", { class: "stripe", width: 5, height: box.height, rx: 2.5, fill: colour }));
  if (outline) {
    const room = Math.max(34, Math.min(90, box.width - 225)) + (closed ? -22 : 0);
    const plot = { x: box.width - room - (closed ? 30 : 8), y: 7, width: room, height: box.height - 14 };
    const lead = answer(node);
    const size = sizeText(node, plot.x - 20 - measure(` · ${middle}`, SMALL_FONT));
    group.append(
      shape("text", { class: "title", x: 14, y: 20 }, lead ? shape("tspan", { class: "answer" }, `${lead} `) : null, title),
      shape("text", { class: "small", x: 14, y: 38 }, shorten(`${size} · ${middle}`, plot.x - 18, SMALL_FONT)),
      miniCurve(model.curve(node), plot, model.lastTime, colour));
    return;
  }
  const plot = { x: 14, y: 24, width: box.width - 26, height: 36 };
  group.append(
    shape("text", { class: "title", x: 14, y: 17 }, title),
    miniCurve(model.curve(node), plot, model.lastTime, colour),
    shape("text", { class: "small", x: 14, y: 76 }, sizeText(node, box.width - 20)),
    shape("text", { class: "small", x: 14, y: 90 }, middle));
}

function drawToggle(node, box, open, outline) {
  const x = outline ? box.width - 13 : box.width / 2, y = outline ? box.height / 2 : box.height + 9;
  return shape("g", { class: "toggle", "data-toggle": node, transform: `translate(${x},${y})`, "aria-hidden": "true" },
    shape("circle", { class: "hit", r: 14 }), shape("circle", { r: 8 }),
    shape("path", { d: open ? "M-4,0H4" : "M-4,0H4M0,-4V4" }));
}

function describeNode(node) {
  const place = node === 0 ? "Root. " : `${words.condition(model.parent[node], node === model.left[model.parent[node]])}. `;
  if (isLeaf(node)) return `${place}${nodeName(node)}: ${rowsAndEvents(node)}, median ${time(model.curve(node).median.value)}.`;
  const { name, rest } = words.question(node);
  return `${place}${nodeName(node)}: ${name} ${rest}? ${rowsAndEvents(node)}.`;
}
