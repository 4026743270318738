// The page: one state, sections that are drawn from it, and the events that change it.
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const model = makeModel(data);
  const words = makeWords(model);
  const byId = (id) => document.getElementById(id);
  const unit = data.time_unit;
  const LOW = riskColour(0), HIGH = riskColour(1);

  const state = {
    member: data.member,
    selected: null, // a node of the grown tree
    focused: 0,
    collapsed: new Set(),
    layout: null, // "top-down" or "outline" once chosen; until then by the width
    zoom: null, // null: fit
    person: null, // values of the form, by covariate
    prediction: null,
    rowsShown: 50,
  };

  const put = (place, ...content) => place.replaceChildren(...content.flat().filter((part) => part !== null));
  const withUnit = (text) => (unit ? `${text} ${unit}` : text);
  const time = (value) => (value === null ? "not reached" : withUnit(Format.number(value)));
  const current = () => model.member(state.member);
  const numberOf = (node) => current().label.get(node);
  const isLeaf = (node) => !model.isSplit(node, state.member);
  const isOpen = (node) => !isLeaf(node) && !state.collapsed.has(node);
  const nodeName = (node) => (isLeaf(node) ? `Leaf ${numberOf(node)}` : `Node ${numberOf(node)}`);
  const rowsAndEvents = (node) => `${Format.plural(model.n[node], "row", "rows")}, ${Format.plural(model.events[node], "event", "events")}`;

  // All leaves share one axis, except for those that it would squeeze into a line.
  function axisEnd(node) {
    const { time: times } = model.curve(node).table;
    const last = times[times.length - 1];
    return last > 0 && last < 0.1 * model.lastTime ? last : model.lastTime;
  }
  const depthOf = (node) => model.pathTo(node).length - 1;

  function medianText(node) {
    const { value, lower, upper } = model.curve(node).median;
    const limits = lower === null && upper === null ? "" : ` (95 % limits ${Format.number(lower)} to ${upper === null ? "∞" : Format.number(upper)})`;
    return `${time(value)}${limits}`;
  }

  // Leaves of the tree on display, the highest risk first, and the colour of any node by where it stands among them.
  function leavesByRisk() {
    return [...current().leaves].sort((a, b) => model.curve(b).risk - model.curve(a).risk || a - b);
  }

  function colourOf(node) {
    const risks = current().leaves.map((leaf) => model.curve(leaf).risk);
    const lower = risks.filter((risk) => risk < model.curve(node).risk).length;
    return riskColour(risks.length > 1 ? lower / (risks.length - 1) : 0.5);
  }

  // ---- The tree

  // Nodes on display, a parent before its children and left before right.
  function displayOrder() {
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

  function chooseLayout() {
    if (state.layout) return state.layout;
    const leaves = displayOrder().filter((node) => !isOpen(node)).length;
    const width = byId("canvas").clientWidth;
    return leaves * TreeView.TOP_DOWN.slot * SMALLEST_SCALE > width ? "outline" : "top-down";
  }

  function drawTree() {
    const canvas = byId("canvas");
    const order = displayOrder();
    const layout = chooseLayout();
    const outline = layout === "outline";
    const available = canvas.clientWidth - 2;
    const placed = outline
      ? TreeView.placeOutline(order, shownChildren, depthOf, available)
      : TreeView.placeTopDown(order, shownChildren, depthOf);
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
      const start = lead ? measure(`${lead} `, TreeView.TITLE_FONT) : 0;
      const inOneLine = words.axis && start + measure(`${both}?`, TreeView.TITLE_FONT) <= room;
      group.append(
        shape("text", { class: "title", ...anchor, y: 17 }, lead ? shape("tspan", { class: "answer" }, `${lead} `) : null,
          inOneLine ? `${both}?` : shorten(name, room - start, TreeView.TITLE_FONT)),
        shape("text", { class: "small", ...anchor, y: 33 }, shorten(inOneLine ? size : `${rest}? · ${size}`, room, SMALL_FONT)));
    } else if (words.axis && measure(both, TreeView.TITLE_FONT) <= room) {
      group.append(shape("text", { class: "title", ...anchor, y: 22 }, both), shape("text", { class: "small", ...anchor, y: 40 }, size));
    } else {
      group.append(shape("text", { class: "title", ...anchor, y: 16 }, shorten(name, room, TreeView.TITLE_FONT)),
        shape("text", { class: words.axis ? "title" : "small", ...anchor, y: 31 }, rest),
        shape("text", { class: "small", ...anchor, y: 45 }, size));
    }
  }

  const answer = (node) => (node === 0 ? "" : node === model.left[model.parent[node]] ? "yes:" : "no:");

  // A leaf, or a closed branch, which is shown as the one leaf that it would be.
  function drawEnd(group, node, box, outline) {
    const colour = colourOf(node);
    const { median } = model.curve(node);
    const closed = !isLeaf(node);
    const title = closed ? `${current().leaves.filter((leaf) => model.pathTo(leaf).includes(node)).length} leaves` : nodeName(node);
    const middle = median.value === null ? "median not reached" : `median ${Format.number(median.value)}`;
    group.append(shape("rect", { class: "stripe", width: 5, height: box.height, rx: 2.5, fill: colour }));
    if (outline) {
      const room = Math.max(34, Math.min(90, box.width - 225)) + (closed ? -22 : 0);
      const plot = { x: box.width - room - (closed ? 30 : 8), y: 7, width: room, height: box.height - 14 };
      const lead = answer(node);
      const size = sizeText(node, plot.x - 20 - measure(` · ${middle}`, SMALL_FONT));
      group.append(
        shape("text", { class: "title", x: 14, y: 20 }, lead ? shape("tspan", { class: "answer" }, `${lead} `) : null, title),
        shape("text", { class: "small", x: 14, y: 38 }, shorten(`${size} · ${middle}`, plot.x - 18, SMALL_FONT)),
        TreeView.miniCurve(model.curve(node), plot, model.lastTime, colour));
      return;
    }
    const plot = { x: 14, y: 24, width: box.width - 26, height: 36 };
    group.append(
      shape("text", { class: "title", x: 14, y: 17 }, title),
      TreeView.miniCurve(model.curve(node), plot, model.lastTime, colour),
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

  // ---- Details of a node

  function select(node) {
    state.selected = node;
    drawTree();
    drawDetails();
    drawRows();
  }

  function drawDetails() {
    const place = byId("details");
    const node = state.selected;
    if (node === null) {
      place.replaceChildren(element("p", { class: "quiet" }, "Choose a leaf to see its survival curve, or a node to see its split."));
      return;
    }
    const chart = element("div", {});
    put(place,
      element("h3", { id: "details-title" }, nodeName(node)),
      figures(node),
      chart,
      survivalTable(model.curve(node), axisEnd(node), unit),
      isLeaf(node) ? null : splitDetails(node),
      rulePath(node),
    );
    responsive(chart, (width) => survivalChart([{ curve: model.curve(node), name: nodeName(node), colour: colourOf(node) }],
      { lastTime: axisEnd(node), timeUnit: unit, width, label: `Kaplan-Meier curve of ${nodeName(node)} with 95 % limits: ${rowsAndEvents(node)}` }));
  }

  function figures(node) {
    const rank = leavesByRisk().indexOf(node) + 1;
    const curve = model.curve(node);
    const pairs = [
      ["Rows", Format.count(model.n[node])],
      ["Events", `${Format.count(model.events[node])} (${Format.percent(model.events[node] / model.n[node])})`],
      ["Median", medianText(node)],
      ["Restricted mean", `${withUnit(Format.number(curve.restrictedMean))} up to ${Format.number(model.lastTime)}`],
      ["Risk", rank ? `${Format.number(curve.risk)} (rank ${rank} of ${current().leaves.length} from the highest)` : Format.number(curve.risk)],
    ];
    return element("dl", { class: "pairs" }, pairs.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
  }

  function splitDetails(node) {
    const equation = words.equation(node);
    const split = data.splits.nodes[node];
    const parts = [element("h4", {}, "Split"), element("p", {}, `Log-rank χ² ${Format.number(model.logrank[node])}. `
      + `${words.axis ? "" : "Rows with a score below 0 go left (“yes”)."}`)];
    if (equation) parts.push(element("p", { class: "equation" }, equation));
    if (words.axis) {
      parts.push(element("p", {}, `${words.condition(node, true)} goes left (“yes”). A missing value goes ${split.missing_left ? "left" : "right"}, `
        + `${split.missing_seen ? "as learnt from missing values" : "to the larger child: this node saw none"}.`));
    } else {
      parts.push(element("p", { class: "quiet" }, "Share of the covariates in this split:"),
        bars(words.mainCovariates(node).map(({ feature, share }) => [data.names[feature], share])));
    }
    return element("div", {}, parts);
  }

  function rulePath(node) {
    const path = model.pathTo(node);
    if (path.length === 1) return null;
    return element("div", {}, element("h4", {}, "Way from the root"),
      element("ol", { class: "path" }, path.slice(1).map((step) => {
        const from = model.parent[step];
        return element("li", {}, words.condition(from, step === model.left[from]));
      })));
  }

  function bars(entries) {
    return element("dl", { class: "bars" }, entries.map(([name, share]) => {
      const bar = element("span", { class: "bar" });
      bar.style.width = `${(100 * share).toFixed(1)}%`;
      return [element("dt", {}, name), element("dd", {}, element("span", { class: "track" }, bar), element("span", { class: "value" }, Format.percent(share)))];
    }));
  }

  // ---- Tree size

  const sliderMember = () => model.nMembers - 1 - Number(byId("size").value);

  function setMember(member) {
    state.member = member;
    state.collapsed.clear();
    if (state.selected !== null && !current().label.has(state.selected)) state.selected = null;
    if (state.selected === null && current().leaves.length) state.selected = leavesByRisk()[0];
    if (state.prediction) state.prediction = model.predict(rowOf(state.person), state.member);
    drawAll();
  }

  function drawSize() {
    const nLeaves = data.path.n_leaves[state.member];
    const fitted = state.member === data.member;
    const text = `${Format.plural(nLeaves, "leaf", "leaves")}${fitted ? ", the fitted tree" : ""}`;
    const slider = byId("size");
    slider.max = model.nMembers - 1;
    slider.value = model.nMembers - 1 - state.member;
    slider.setAttribute("aria-valuetext", text);
    byId("size-text").textContent = text;
    byId("size-reset").disabled = fitted;
    byId("size-control").hidden = model.nMembers < 2;
    byId("tree-lead").textContent = `Follow the answers from the top: “yes” to the left, “no” to the right. `
      + `${words.axis ? "" : `Each node asks on which side of a ${data.splits.kernel} surface a person lies; it names the covariates that count most there. `}`
      + `Leaves are coloured by risk, from blue (low) to orange (high).`;
  }

  // ---- One person

  const rowOf = (values) => data.names.map((_, feature) => (feature in values ? values[feature] : NaN));

  function drawForm() {
    const section = byId("person");
    if (!data.form) {
      byId("person-lead").textContent = "This report was written without its prediction form.";
      section.querySelector(".split").hidden = true;
      return;
    }
    const used = model.covariatesUsed(state.member);
    byId("person-lead").textContent = used.length
      ? `Fill in the covariates${data.allow_missing ? "; leave a field empty if its value is missing" : ""}. The fitted model runs in this page, and nothing leaves it.`
      : "This tree has one leaf: everybody gets the same prediction.";
    const fields = used.map((feature) => {
      const id = `covariate-${feature}`;
      const hint = fieldHint(feature);
      const known = state.typed && state.typed[feature] !== undefined ? state.typed[feature] : "";
      return element("div", { class: "field" },
        element("label", { for: id }, data.names[feature]),
        element("input", { id, name: id, type: "text", inputmode: "decimal", "data-feature": feature, value: known, "aria-describedby": `${id}-hint` }),
        element("span", { id: `${id}-hint`, class: "hint" }, hint));
    });
    byId("person-form").replaceChildren(
      element("div", { class: "fields" }, fields),
      element("div", { class: "toolbar" }, element("button", { type: "submit", class: "primary" }, "Predict"),
        element("button", { type: "button", id: "person-clear", click: clearPerson }, "Clear")),
      element("p", { id: "person-error", class: "error", role: "alert" }));
  }

  function fieldHint(feature) {
    const summary = data.covariates && data.covariates[feature];
    if (!summary) return "";
    if (summary.levels) return `seen: ${summary.levels.map(Format.number).join(" or ")}`;
    return summary.quartiles ? `half of the rows: ${Format.number(summary.quartiles[0])} to ${Format.number(summary.quartiles[2])}` : "";
  }

  // Read a number as people type it; null for what is none. A decimal comma is taken, a thousands separator is not.
  function parseNumber(text) {
    const plain = text.trim().replace("−", "-");
    if (/^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i.test(plain)) {
      const value = Number(plain.replace(",", "."));
      return Number.isFinite(value) ? value : null;
    }
    return null;
  }

  function readForm() {
    const values = {}, wrong = [];
    state.typed = {};
    for (const input of byId("person-form").querySelectorAll("[data-feature]")) {
      const feature = Number(input.dataset.feature);
      const empty = input.value.trim() === "";
      const value = empty ? NaN : parseNumber(input.value);
      state.typed[feature] = input.value;
      const bad = value === null || (empty && !data.allow_missing);
      input.setAttribute("aria-invalid", String(bad));
      if (bad) wrong.push({ input, name: data.names[feature], empty });
      else values[feature] = value;
    }
    return { values, wrong };
  }

  function onPredict(event) {
    event.preventDefault();
    const { values, wrong } = readForm();
    const error = byId("person-error");
    if (wrong.length) {
      const list = wrong.map(({ name, empty }) => `${name} ${empty ? "is empty" : "is not a number"}`).join("; ");
      error.textContent = `${list}. Write numbers such as 12 or 3.5.`;
      wrong[0].input.focus();
      state.person = state.prediction = null;
    } else {
      error.textContent = "";
      state.person = values;
      state.prediction = model.predict(rowOf(values), state.member);
    }
    drawPrediction();
    drawTree();
  }

  function clearPerson() {
    state.person = state.prediction = null;
    state.typed = {};
    drawForm();
    drawPrediction();
    drawTree();
  }

  function drawPrediction() {
    const place = byId("person-result");
    const found = state.prediction;
    byId("person").classList.toggle("empty", !found); // a form without an answer is not printed
    if (!found) {
      place.replaceChildren(element("p", { class: "quiet" }, "The prediction appears here: the leaf, its survival curve, and the way to it."));
      return;
    }
    const curve = model.curve(found.node);
    const chart = element("div", {});
    const fitted = state.member === data.member;
    put(place,
      element("h3", {}, element("span", { id: "person-leaf" }, `Leaf ${found.leaf}`)),
      fitted ? null : element("p", { class: "note" }, `By the tree of ${data.path.n_leaves[state.member]} leaves on display, which is not the fitted one.`),
      element("dl", { class: "pairs" },
        element("dt", {}, "Median"), element("dd", { id: "person-median" }, medianText(found.node)),
        element("dt", {}, "Risk"), element("dd", { id: "person-risk" }, Format.number(found.risk)),
        element("dt", {}, "Leaf"), element("dd", {}, rowsAndEvents(found.node))),
      chart,
      survivalTable(curve, axisEnd(found.node), unit),
      found.steps.length ? element("h4", {}, "Way from the root") : null,
      element("ol", { class: "path" }, found.steps.map((step) => element("li", {}, stepText(step)))));
    responsive(chart, (width) => survivalChart([{ curve, name: "This person", colour: colourOf(found.node) }],
      { lastTime: axisEnd(found.node), timeUnit: unit, width, label: `Predicted survival curve, leaf ${found.leaf}` }));
  }

  function stepText({ node, score, left }) {
    if (!words.axis) return `${data.splits.kernel} score ${Format.number(score)}: ${left ? "left" : "right"} (${words.question(node).name})`;
    const { feature } = data.splits.nodes[node];
    const value = state.person[feature];
    return `${words.condition(node, left)} (here ${Number.isNaN(value) ? "missing" : Format.number(value)})`;
  }

  // ---- Two leaves

  function drawCompare() {
    const order = leavesByRisk();
    byId("compare").hidden = order.length < 2;
    if (order.length < 2) return;
    const selects = [byId("compare-a"), byId("compare-b")];
    const wanted = [order[0], order[order.length - 1]];
    selects.forEach((list, i) => {
      const before = Number(list.value);
      list.replaceChildren(...order.map((leaf) => element("option", { value: leaf },
        `Leaf ${numberOf(leaf)}: ${rowsAndEvents(leaf)}, median ${time(model.curve(leaf).median.value)}`)));
      list.value = list.dataset.chosen && order.includes(before) ? before : wanted[i];
    });
    drawComparison();
  }

  function drawComparison() {
    const [a, b] = ["compare-a", "compare-b"].map((id) => Number(byId(id).value));
    const place = byId("compare-result");
    if (a === b) {
      place.replaceChildren(element("p", { class: "note" }, "These are the same leaf. Choose two different ones."));
      return;
    }
    const test = Statistics.logrank(model.curve(a).table, model.curve(b).table);
    const chart = element("div", {});
    const rows = [a, b].map((node) => [nodeName(node), Format.count(model.n[node]), Format.count(model.events[node]), medianText(node), Format.number(model.curve(node).risk)]);
    put(place,
      element("p", { id: "compare-test" }, `Log-rank χ² = ${Format.number(test.statistic)} on 1 degree of freedom, ${Format.pValue(test.p)}. `),
      element("div", { class: "scroll" }, table(["Leaf", "Rows", "Events", "Median", "Risk"], rows, { numeric: [1, 2, 4], stacks: true })),
      chart,
      element("p", { class: "quiet small" }, "The tree looked for leaves that differ, on these same rows: such a p-value is far smaller than one of groups that were chosen beforehand. "
        + "Bands are pointwise 95 % limits (Greenwood's variance, log-minus-log scale); small strokes mark censored rows."));
    const higher = model.curve(a).risk >= model.curve(b).risk ? a : b;
    const series = [a, b].map((node) => ({ curve: model.curve(node), name: nodeName(node), colour: node === higher ? HIGH : LOW, dashed: node === b }));
    responsive(chart, (width) => element("div", {}, legend(series),
      survivalChart(series, { lastTime: model.lastTime, timeUnit: unit, width: Math.min(width, 860), label: `Kaplan-Meier curves of ${nodeName(a)} and ${nodeName(b)}` })));
  }

  function legend(series) {
    return element("p", { class: "legend" }, series.map(({ name, colour, dashed }) => element("span", {},
      shape("svg", { width: 34, height: 10, "aria-hidden": "true" }, shape("line", { class: "swatch", x1: 1, x2: 33, y1: 5, y2: 5, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dashed ? "7 4" : null })), ` ${name}`)));
  }

  // ---- Tables

  function drawLeaves() {
    const rows = leavesByRisk().map((node) => [
      element("button", { type: "button", class: "link", click: () => { select(node); byId("details").scrollIntoView({ block: "nearest" }); } }, nodeName(node)),
      Format.count(model.n[node]), Format.count(model.events[node]), medianText(node), Format.number(model.curve(node).risk),
      model.pathTo(node).slice(1).map((step) => words.condition(model.parent[step], step === model.left[model.parent[step]])).join(" and ") || "everybody",
    ]);
    byId("leaves-table").replaceChildren(table(["Leaf", "Rows", "Events", "Median", "Risk", "Rule"], rows, { numeric: [1, 2, 4], stacks: true }));
  }

  function drawPruning() {
    byId("pruning").hidden = model.nMembers < 2;
    if (model.nMembers < 2) return;
    const { alphas, n_leaves: sizes, statistics, honest } = data.path;
    byId("pruning-lead").textContent = "As the price α of a split rises, the best subtree shrinks along one nested path. "
      + "G sums the log-rank χ² of the splits; a member is best where G − α · splits is largest. "
      + (honest ? "The second line is G on held-out rows, or corrected by the bootstrap for having been maximised." : "G is that of the rows that grew the tree, and too large for having been maximised.");
    responsive(byId("pruning-chart"), (width) => pruningChart(Math.min(width, 860)));
    const rows = alphas.map((alpha, k) => [
      element("button", { type: "button", class: "link", click: () => setMember(k) }, `${sizes[k]}`),
      `${Format.number(alpha)} to ${k + 1 < alphas.length ? Format.number(alphas[k + 1]) : "∞"}`, Format.number(statistics[k]),
      ...(honest ? [Format.number(honest[k])] : []), k === data.member ? "fitted" : k === state.member ? "on display" : ""]);
    byId("pruning-table").replaceChildren(table(["Leaves", "Best for α", "G", ...(honest ? ["G corrected"] : []), ""], rows, { numeric: [0, 1, 2, ...(honest ? [3] : [])] }));
  }

  function pruningChart(width) {
    const { n_leaves: sizes, statistics, honest } = data.path;
    const height = 210, margin = { left: 48, right: 14, top: 12, bottom: 38 };
    const values = [...statistics, ...(honest || [])];
    const high = Math.max(...values, 1), low = Math.min(0, ...values), most = Math.max(...sizes);
    const x = (size) => margin.left + (most > 1 ? (size - 1) / (most - 1) : 0) * (width - margin.left - margin.right);
    const y = (value) => height - margin.bottom - (value - low) / (high - low) * (height - margin.top - margin.bottom);
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart", role: "img",
      "aria-label": `G over the number of leaves, from 1 to ${most}; ${data.path.n_leaves[data.member]} leaves are fitted` });
    for (const tick of ticks(high, 5)) {
      svg.append(shape("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: y(tick), y2: y(tick) }),
        shape("text", { class: "axis", x: margin.left - 6, y: y(tick) + 4, "text-anchor": "end" }, Format.number(tick)));
    }
    for (const size of ticks(most, 7).filter((size) => size >= 1 && Number.isInteger(size))) {
      svg.append(shape("text", { class: "axis", x: x(size), y: height - margin.bottom + 16, "text-anchor": "middle" }, size));
    }
    svg.append(shape("text", { class: "axis title", x: (margin.left + width - margin.right) / 2, y: height - 5, "text-anchor": "middle" }, "Leaves"));
    const line = (series, colour, dashed) => shape("path", { class: "curve", stroke: colour, "stroke-dasharray": dashed ? "7 4" : null,
      d: series.map((value, k) => `${k ? "L" : "M"}${x(sizes[k]).toFixed(1)},${y(value).toFixed(1)}`).join("") });
    svg.append(line(statistics, LOW, false));
    if (honest) svg.append(line(honest, HIGH, true));
    const chosen = (k, className) => shape("line", { class: className, x1: x(sizes[k]), x2: x(sizes[k]), y1: margin.top, y2: height - margin.bottom });
    svg.append(chosen(data.member, "fitted-size"), chosen(state.member, "shown-size"));
    const names = [{ name: "G", colour: LOW }, ...(honest ? [{ name: "G corrected", colour: HIGH, dashed: true }] : [])];
    return element("div", {}, legend(names), svg, element("p", { class: "quiet small" }, "The solid vertical line is the fitted tree, the dotted one the tree on display."));
  }

  const SCORES = [
    ["harrell", "Harrell’s C", "higher, 0.5 is chance",
      "Among pairs of rows of which the earlier time is an event: the share in which the earlier row has the higher risk; pairs with equal risks count ½."],
    ["paper", "C of the medians", "higher, 0.5 is chance",
      "As used by Maung, Lazar and Zheng: the share of such pairs in which the earlier row has the shorter predicted median. Pairs with equal medians or equal times are left out, which favours small trees. A median that is not reached is replaced by the mean time of the leaf."],
    ["ibs", "Integrated Brier score", "lower",
      "Squared distance between predicted survival probability and what happened, averaged over the event times; rows that are censored are made up for by weights (Graf et al. 1999). Predicting ½ for everybody scores 0.25."],
  ];

  function drawScores() {
    const columns = data.scores;
    byId("scores-lead").textContent = `Scores of the fitted tree of ${data.path.n_leaves[data.member]} leaves, whichever is on display. `
      + (columns.length > 1 ? "" : "These are the rows that grew the tree, so that the scores flatter it; scores on other rows are what counts.");
    const rows = SCORES.map(([key, name, better, definition]) => [
      element("div", {}, name), ...columns.map((column) => scoreCell(column[key])), better, element("span", { class: "definition" }, definition)]);
    const heads = columns.map(({ label, n, events }) => `On the ${label} (${Format.count(n)} rows, ${Format.count(events)} events)`);
    byId("scores-table").replaceChildren(table(["Score", ...heads, "Better is", "Definition"], rows, { numeric: columns.map((_, i) => i + 1), stacks: true }));
  }

  function scoreCell({ value, reason }) {
    return value === null ? element("span", { class: "quiet small" }, `none: ${reason}`) : Format.fixed(value, 4);
  }

  function outcomePairs({ label, n, events, median_follow_up: followUp, total_time: total }) {
    return [element("h3", {}, label[0].toUpperCase() + label.slice(1)), element("dl", { class: "pairs" }, [
      ["Rows", Format.count(n)],
      ["Events", `${Format.count(events)} (${Format.percent(events / n)})`],
      ["Censored", Format.count(n - events)],
      ["Median follow-up", `${time(followUp)}${followUp === null ? "" : " (reverse Kaplan-Meier)"}`],
      ["Time observed", withUnit(Format.count(Math.round(total)))],
    ].map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]))];
  }

  function drawData() {
    const given = data.given;
    const body = [...outcomePairs(data.training)];
    if (given && given.label !== data.training.label) body.push(...outcomePairs(given));
    if (data.covariates) {
      const rows = data.covariates.map((summary, i) => [data.names[i], ...covariateCells(summary)]);
      body.push(element("h3", {}, `Covariates of the ${given.label}`), element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Covariates" },
        table(["Covariate", "Median or share", "Quartiles", "Mean (SD)", "Missing"], rows, { numeric: [1, 2, 3, 4], stacks: true })));
    } else {
      body.push(element("p", { class: "quiet" }, "Covariates are not summarised: the tree does not keep them. Pass X and y to have them summarised."));
    }
    byId("data-body").replaceChildren(...body);
  }

  function covariateCells(summary) {
    const missing = summary.missing ? `${Format.count(summary.missing)} (${Format.percent(summary.missing / (summary.missing + summary.known))})` : "0";
    if (summary.levels) {
      const text = summary.levels.map((level, i) => `${Format.number(level)}: ${Format.percent(summary.shares[i])}`).join(", ");
      return [text, "", "", missing];
    }
    if (!summary.quartiles) return ["–", "", "", missing];
    const [low, middle, high] = summary.quartiles.map(Format.number);
    return [middle, `${low} to ${high}`, `${Format.number(summary.mean)} (${Format.number(summary.deviation)})`, missing];
  }

  function drawRows() {
    if (!data.rows) return;
    byId("rows").hidden = false;
    const inNode = state.selected === null ? null : new Set(model.leavesBelow[state.selected]);
    const chosen = data.rows.node.map((_, i) => i).filter((i) => inNode === null || inNode.has(data.rows.node[i]));
    const shown = chosen.slice(0, state.rowsShown);
    byId("rows-lead").textContent = `Rows of the ${data.given.label}${inNode ? ` in ${nodeName(state.selected).toLowerCase()}` : ""}: ${shown.length} of ${chosen.length}.`;
    byId("rows-more").hidden = shown.length === chosen.length;
    byId("rows-table").replaceChildren(table(["Row", ...data.names, "Time", "Event"], shown.map((i) => [
      String(i + 1), ...data.rows.X[i].map(Format.number), Format.number(data.rows.time[i]), data.rows.event[i] ? "event" : "censored"])));
  }

  function drawModel() {
    const order = data.importances.map((share, i) => [data.names[i], share]).sort((a, b) => b[1] - a[1]);
    byId("importances").replaceChildren(bars(order));
    const fitted = Object.entries(data.splits.kernel_parameters).map(([name, value]) => [`${name} (kernel, as fitted)`, typeof value === "number" ? Format.number(value) : value, ""]);
    const rows = data.parameters.map(({ name, value, is_default: isDefault }) => [
      isDefault ? name : element("strong", {}, name), isDefault ? value : element("strong", {}, value), isDefault ? "default" : "set"]);
    byId("parameters").replaceChildren(element("div", { class: "scroll" }, table(["Parameter", "Value", ""], [...rows, ...fitted])));
  }

  function drawHeader() {
    const { n, events } = data.training;
    byId("subtitle").textContent = `${data.estimator} by dipolar ${data.version}. One file that works offline: it loads nothing and sends nothing.`;
    const figuresShown = [
      [Format.count(n), "rows"], [Format.count(events), "events"],
      [time(data.training.median_follow_up), "median follow-up"],
      [Format.count(data.path.n_leaves[data.member]), data.path.n_leaves[data.member] === 1 ? "leaf" : "leaves"],
      [data.scores[0].harrell.value === null ? "–" : Format.fixed(data.scores[0].harrell.value, 3), "Harrell’s C, training"],
    ];
    byId("key-figures").replaceChildren(...figuresShown.map(([value, name]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
    const sections = [...document.querySelectorAll("main > section")].filter((section) => !section.hidden);
    byId("contents").replaceChildren(...sections.map((section) => element("a", { href: `#${section.id}` }, section.querySelector("h2").textContent)));
  }

  function drawAbout() {
    const basis = data.surfaces ? data.surfaces.basis.length : 0;
    const parts = [
      "The tree, the parameters and the scores above, and for every leaf its life table: the times at which rows of the leaf had the event or were censored, and how many. Times in small leaves can be those of single persons.",
      basis ? `${Format.plural(basis, "row", "rows")} of the training data, covariates only${standardised() ? " and standardised" : ""}: the ${data.splits.kernel} surfaces are expressed in them, and the prediction form needs them. `
        + "Write the report with predict_form=False to leave them out."
        : "No rows of covariates of the training data" + (data.form ? ": the splits are given by cuts or coefficients." : "; the prediction form, which might need some, was left out."),
    ];
    if (data.rows) parts.push(`All ${Format.count(data.rows.time.length)} rows of covariates and outcomes that were given, because include_rows=True asked for them. Treat this file as you treat the data.`);
    byId("about-body").replaceChildren(...parts.map((text, i) => element("p", { class: i === 1 && basis ? "note" : null, id: i === 1 ? "about-rows" : null }, text)));
  }

  const standardised = () => data.surfaces.mean.some((m) => m !== 0) || data.surfaces.scale.some((s) => s !== 1);

  function drawAll() {
    drawSize();
    drawTree();
    drawDetails();
    drawForm();
    drawPrediction();
    drawCompare();
    drawLeaves();
    drawPruning();
    drawRows();
  }

  function listen() {
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
    const tipFor = (event) => {
      const item = event.target.closest && event.target.closest("[data-node]");
      if (item) showTip(Number(item.dataset.node));
    };
    canvas.addEventListener("pointerover", (event) => { if (event.pointerType !== "touch") tipFor(event); });
    canvas.addEventListener("pointerout", hideTip);
    canvas.addEventListener("focusin", (event) => {
      const item = event.target.closest("[data-node]");
      if (item) state.focused = Number(item.dataset.node);
      if (item && item.matches(":focus-visible")) tipFor(event);
    });
    canvas.addEventListener("focusout", hideTip);
    byId("size").addEventListener("input", () => setMember(sliderMember()));
    byId("size-reset").addEventListener("click", () => setMember(data.member));
    byId("zoom-in").addEventListener("click", () => zoomBy(1.25));
    byId("zoom-out").addEventListener("click", () => zoomBy(0.8));
    byId("zoom-fit").addEventListener("click", () => { state.zoom = null; drawTree(); });
    byId("layout").addEventListener("click", () => {
      state.layout = chooseLayout() === "outline" ? "top-down" : "outline";
      state.zoom = null;
      drawTree();
    });
    byId("expand").addEventListener("click", () => { state.collapsed.clear(); drawTree(); });
    byId("person-form").addEventListener("submit", onPredict);
    for (const id of ["compare-a", "compare-b"]) {
      byId(id).addEventListener("change", (event) => {
        event.target.dataset.chosen = "yes";
        drawComparison();
      });
    }
    byId("rows-more").addEventListener("click", () => { state.rowsShown += 200; drawRows(); });
    let width = canvas.clientWidth;
    new ResizeObserver(() => {
      if (canvas.clientWidth !== width) {
        width = canvas.clientWidth;
        drawTree();
      }
    }).observe(canvas);
  }

  state.typed = {};
  state.selected = leavesByRisk()[0];
  drawScores();
  drawData();
  drawModel();
  drawAbout();
  drawAll();
  drawHeader();
  listen();

  // The same functions for the console: dipolarReport.predict([...]) takes a row in the order of `names`.
  window.dipolarReport = Object.freeze({
    names: Object.freeze([...data.names]),
    predict: (row, member = data.member) => {
      if (!data.form) throw new Error("this report was written without its prediction form");
      return model.predict(row.map((value) => (value === null ? NaN : value)), member);
    },
    score: (row, node) => model.score(row.map((value) => (value === null ? NaN : value)), node),
    curve: (node) => model.curve(node),
    logrank: (a, b) => Statistics.logrank(model.curve(a).table, model.curve(b).table),
    times: model.times,
  });
})();
