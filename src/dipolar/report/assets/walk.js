// Keys, clicks, zooming, dragging and tips: how one moves about in the picture of the tree.
const nodeElement = (node) => byId("canvas").querySelector(`[data-node="${node}"]`);

function markFocusable() {
  for (const item of byId("canvas").querySelectorAll("[data-node]")) {
    item.setAttribute("tabindex", Number(item.dataset.node) === state.focused ? 0 : -1);
  }
}

function focusNode(node) {
  state.focused = node;
  markFocusable();
  nodeElement(node).focus({ preventScroll: false });
}

function toggle(node) {
  if (isLeaf(node)) return;
  if (!state.collapsed.delete(node)) state.collapsed.add(node);
  drawTree();
}

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
  state.zoom = Math.min(3, Math.max(0.15, Number(canvas.dataset.zoom) * factor));
  const middle = [(canvas.scrollLeft + canvas.clientWidth / 2), (canvas.scrollTop + canvas.clientHeight / 2)];
  drawTree();
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
