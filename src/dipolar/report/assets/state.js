// What the sections of the page share: the report's data, its one state, and words about nodes.
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
  typed: {}, // the same as it was typed
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
