// What the sections of the page share: the report's data, its one state and what changes it, and words about nodes.
import { encodePerson } from "../compute/encoding.mjs";
import { makeModel } from "../compute/model.mjs";
import * as Format from "../compute/numbers.mjs";
import { riskColour } from "../compute/shapes.mjs";
import { makeWords } from "../compute/words.mjs";
import { kernels } from "../kernels.mjs";

export const data = JSON.parse(document.getElementById("report-data").textContent);
export const names = data.tree.feature_names;
export const columns = data.columns;
export const model = makeModel(data, kernels);
export const words = makeWords(data);
export const unit = data.time_unit;
export const LOW = riskColour(0);
export const HIGH = riskColour(1);

export const state = {
  member: data.member,
  selected: null, // a node of the grown tree
  focused: 0,
  collapsed: new Set(),
  layout: null, // "top-down" or "outline" once chosen; until then by the width
  zoom: null, // null: fit
  person: null, // cells by column, as they were read from the form
  typed: {}, // the same as they were typed
  prediction: null,
  times: null, // at which survival is told, once somebody has asked for some
  rowsShown: 50,
};

// A section draws itself anew after the changes that it watches: of the "member" on display, the "selection", the
// "person" predicted for, the "view" of the tree.
const watchers = [];
export const watch = (draw, ...changes) => watchers.push({ draw, changes });
export const announce = (change) => watchers.filter(({ changes }) => changes.includes(change)).forEach(({ draw }) => draw());

export function select(node) {
  state.selected = node;
  announce("selection");
}

export function setMember(member) {
  state.member = member;
  state.collapsed.clear();
  if (state.selected !== null && !current().label.has(state.selected)) state.selected = null;
  if (state.selected === null) state.selected = leavesByRisk()[0];
  if (state.person) predictFor(state.person);
  announce("member");
}

// Predict for a person, and return what is wrong: nothing, or that the row is beyond what the tree can score.
export function predictFor(cells) {
  state.person = state.prediction = null;
  try {
    const encoded = encodePerson(cells, columns, data.keeps_gaps);
    state.prediction = { ...model.predict(encoded.row, state.member), ...encoded };
    state.person = cells;
    return "";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `No prediction: ${error.message}.`;
  }
}

export function toggle(node) {
  if (isLeaf(node)) return;
  if (!state.collapsed.delete(node)) state.collapsed.add(node);
  announce("view");
}

export const withUnit = (text) => (unit ? `${text} ${unit}` : text);
export const time = (value) => (value === null ? "not reached" : withUnit(Format.number(value)));
export const current = () => model.member(state.member);
export const numberOf = (node) => current().label.get(node);
export const isLeaf = (node) => !model.isSplit(node, state.member);
export const isOpen = (node) => !isLeaf(node) && !state.collapsed.has(node);
export const nodeName = (node) => (isLeaf(node) ? `Leaf ${numberOf(node)}` : `Node ${numberOf(node)}`);
export const rowsAndEvents = (node) => `${Format.plural(model.n[node], "row", "rows")}, ${Format.plural(model.events[node], "event", "events")}`;
export const depthOf = (node) => model.pathTo(node).length - 1;

// All leaves share one axis, except for those that it would squeeze into a line.
export function axisEnd(node) {
  const { time: times } = model.curve(node).table;
  const last = times[times.length - 1];
  return last > 0 && last < 0.1 * model.lastTime ? last : model.lastTime;
}

export function medianText(node) {
  const { value, lower, upper, restsOnOne } = model.curve(node).median;
  const limits = lower === null && upper === null ? "" : ` (95 % limits ${Format.number(lower)} to ${upper === null ? "∞" : Format.number(upper)})`;
  return `${time(value)}${limits}${restsOnOne ? ", which rests on the one row left by then" : ""}`;
}

// In a table or a picture there is room for a sign only.
export const shortMedian = (node) => {
  const { value, restsOnOne } = model.curve(node).median;
  return value === null ? "not reached" : `${Format.number(value)}${restsOnOne ? "*" : ""}`;
};
export const restsOnOne = (node) => model.curve(node).median.restsOnOne;

// Leaves of the tree on display, the highest risk first, and the colour of any node by where it stands among them.
export function leavesByRisk() {
  return [...current().leaves].sort((a, b) => model.curve(b).risk - model.curve(a).risk || a - b);
}

export function colourOf(node) {
  const risks = current().leaves.map((leaf) => model.curve(leaf).risk);
  const lower = risks.filter((risk) => risk < model.curve(node).risk).length;
  return riskColour(risks.length > 1 ? lower / (risks.length - 1) : 0.5);
}
