// Keys, clicks, zooming, dragging and tips: how one moves about in the picture of the tree.
import * as Format from "../compute/numbers.mjs";
import { byId, element } from "./elements.mjs";
import { chooseLayout, displayOrder, focusNode, nodeElement } from "./picture.mjs";
import { announce, isLeaf, isOpen, model, nodeName, rowsAndEvents, select, state, time, toggle, words } from "./state.mjs";

// The keys of a tree as screen readers know them.
function onTreeKey(event) {
  const item = event.target.closest("[data-node]");
  if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
  const node = Number(item.dataset.node);
  const order = displayOrder();
  const place = order.indexOf(node);
  const go = (to) => { if (to !== undefined) focusNode(to); };
  const actions = {
    ArrowDown: () => go(order[place + 1]),
    ArrowUp: () => go(order[place - 1]),
    Home: () => go(0),
    End: () => go(order[order.length - 1]),
    ArrowRight: () => (isLeaf(node) ? null : isOpen(node) ? go(model.left[node]) : toggle(node)),
    ArrowLeft: () => (isOpen(node) ? toggle(node) : node > 0 ? go(model.parent[node]) : null),
    Enter: () => select(node),
    " ": () => select(node),
    Escape: hideTip,
    "+": () => zoomBy(1.25),
    "-": () => zoomBy(0.8),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
}

function onTreeClick(event) {
  if (drag.moved) return;
  const button = event.target.closest("[data-toggle]");
  const item = event.target.closest("[data-node]");
  if (button) toggle(Number(button.dataset.toggle));
  else if (item) {
    state.focused = Number(item.dataset.node);
    select(state.focused);
  }
}

function zoomBy(factor) {
  const canvas = byId("canvas");
  const middle = [(canvas.scrollLeft + canvas.clientWidth / 2), (canvas.scrollTop + canvas.clientHeight / 2)];
  changeView({ zoom: Math.min(3, Math.max(0.15, Number(canvas.dataset.zoom) * factor)) });
  canvas.scrollLeft = middle[0] * factor - canvas.clientWidth / 2;
  canvas.scrollTop = middle[1] * factor - canvas.clientHeight / 2;
}

// Dragging with a mouse moves the picture; fingers scroll it as they scroll everything.
const drag = { from: null, moved: false };

function onDragStart(event) {
  drag.moved = false;
  if (event.pointerType === "touch" || event.button !== 0) return;
  const canvas = byId("canvas");
  drag.from = { x: event.clientX, y: event.clientY, left: canvas.scrollLeft, top: canvas.scrollTop };
}

function onDragMove(event) {
  if (!drag.from) return;
  const dx = event.clientX - drag.from.x, dy = event.clientY - drag.from.y;
  if (Math.hypot(dx, dy) > 4) drag.moved = true;
  if (!drag.moved) return;
  byId("canvas").scrollLeft = drag.from.left - dx;
  byId("canvas").scrollTop = drag.from.top - dy;
}

const nodeOf = (event) => event.target.closest && event.target.closest("[data-node]");

export function listenToTree() {
  const canvas = byId("canvas");
  canvas.addEventListener("keydown", onTreeKey);
  canvas.addEventListener("click", onTreeClick);
  canvas.addEventListener("pointerdown", onDragStart);
  window.addEventListener("pointermove", onDragMove);
  window.addEventListener("pointerup", () => { drag.from = null; });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? 1.1 : 1 / 1.1);
  }, { passive: false });
  canvas.addEventListener("pointerover", (event) => { if (event.pointerType !== "touch") tipFor(nodeOf(event)); });
  canvas.addEventListener("pointerout", hideTip);
  canvas.addEventListener("focusin", onTreeFocus);
  canvas.addEventListener("focusout", hideTip);
  byId("zoom-in").addEventListener("click", () => zoomBy(1.25));
  byId("zoom-out").addEventListener("click", () => zoomBy(0.8));
  byId("zoom-fit").addEventListener("click", () => changeView({ zoom: null }));
  byId("layout").addEventListener("click", () => {
    changeView({ layout: chooseLayout() === "outline" ? "top-down" : "outline", zoom: null });
  });
  byId("expand").addEventListener("click", () => changeView({ collapsed: new Set() }));
  watchWidth(canvas);
}

function changeView(changes) {
  Object.assign(state, changes);
  announce("view");
}

function watchWidth(canvas) {
  let width = canvas.clientWidth;
  new ResizeObserver(() => {
    if (canvas.clientWidth === width) return;
    width = canvas.clientWidth;
    announce("view");
  }).observe(canvas);
}

function onTreeFocus(event) {
  const item = nodeOf(event);
  if (!item) return;
  state.focused = Number(item.dataset.node);
  if (item.matches(":focus-visible")) tipFor(item);
}

const tipFor = (item) => { if (item) showTip(Number(item.dataset.node)); };

function showTip(node) {
  const tip = byId("tip");
  tip.replaceChildren(...tipContent(node));
  tip.hidden = false;
  const box = nodeElement(node).getBoundingClientRect(), frame = byId("tree").getBoundingClientRect();
  const left = Math.min(Math.max(box.left - frame.left, 0), frame.width - tip.offsetWidth);
  const above = box.top - frame.top - tip.offsetHeight - 8;
  const fitsAbove = box.top - tip.offsetHeight - 8 > 0;
  tip.style.left = `${left}px`;
  tip.style.top = `${fitsAbove ? above : box.bottom - frame.top + 10}px`;
}

function hideTip() {
  byId("tip").hidden = true;
}

function tipContent(node) {
  const lines = [element("strong", {}, nodeName(node)), element("div", {}, `${rowsAndEvents(node)}, median ${time(model.curve(node).median.value)}`)];
  if (!isLeaf(node)) {
    const { name, rest } = words.question(node);
    lines.push(element("div", {}, `${name} ${rest}?`), element("div", {}, `log-rank χ² ${Format.number(model.logrank[node])}`));
  }
  return lines;
}
