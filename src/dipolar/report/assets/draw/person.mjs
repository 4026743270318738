// The form that predicts for one person, and its answer.
import { outside } from "../compute/encoding.mjs";
import * as Format from "../compute/numbers.mjs";
import { ticks } from "../compute/shapes.mjs";
import * as Statistics from "../compute/statistics.mjs";
import { bandNote, survivalChart } from "./chart.mjs";
import { byId, element, put, responsive, table } from "./elements.mjs";
import {
  announce, axisEnd, colourOf, columns, data, medianText, model, predictFor, state, unit, words,
} from "./state.mjs";

const UNKNOWN = "unknown";

export function drawForm() {
  const section = byId("person");
  if (!data.form) {
    byId("person-lead").textContent = "This report was written without its prediction form.";
    section.querySelector(".split").hidden = true;
    return;
  }
  const used = model.columnsUsed(state.member);
  byId("person-lead").textContent = used.length
    ? `Fill in what is asked${data.allow_missing ? "; what is left empty is unknown" : ""}. The fitted model runs in this page, and nothing leaves it.`
    : "This tree has one leaf: everybody gets the same prediction.";
  byId("person-form").replaceChildren(
    element("div", { class: "fields" }, used.map(field)),
    element("div", { class: "toolbar" }, element("button", { type: "submit", class: "primary" }, "Predict"),
      element("button", { type: "button", id: "person-clear", click: clearPerson }, "Clear")),
    element("p", { id: "person-error", class: "error", role: "alert" }));
  used.forEach(showHint);
}

// A list for categories and booleans, a calendar for dates, and a field for numbers.
function field(column) {
  const { name, kind, unit: measured } = columns[column];
  const id = `covariate-${column}`;
  const shared = { id, name: id, "data-column": column, "aria-describedby": `${id}-hint`, input: () => showHint(column), change: () => showHint(column) };
  const typed = state.typed[column] === undefined ? "" : state.typed[column];
  const choices = choicesOf(columns[column]);
  const control = choices
    ? element("select", shared, element("option", { value: "" }, data.allow_missing ? UNKNOWN : "choose"), choices.map(([value, text]) => element("option", { value }, text)))
    : element("input", { ...shared, type: kind === "date" ? "date" : "text", inputmode: kind === "date" ? null : "decimal", placeholder: data.allow_missing ? UNKNOWN : null });
  control.value = typed;
  return element("div", { class: "field" }, element("label", { for: id }, measured ? `${name} (${measured})` : name), control,
    element("span", { id: `${id}-hint`, class: "hint" }));
}

// What can be chosen, value and text; null for numbers and dates.
function choicesOf({ kind, levels, rare }) {
  if (kind === "boolean") return [["true", "yes"], ["false", "no"]];
  if (!levels) return null;
  const common = rare && rare.length ? levels.slice(0, -1) : levels;
  const choices = common.map((level) => [level, level]);
  return common === levels ? choices : [...choices, [rare[0], `${levels[levels.length - 1]} (${rare.join(", ")})`]];
}

const isEmpty = (input) => input.value.trim() === "";

// The cell that was typed or chosen: null where it is unknown, undefined where it is none.
function cellOf(input, { kind }) {
  if (isEmpty(input)) return input.validity && input.validity.badInput ? undefined : null;
  if (kind !== "number") return kind === "boolean" ? input.value === "true" : input.value;
  const value = Format.parseNumber(input.value);
  return value === null ? undefined : value;
}

const summaryOf = (column) => (data.covariates ? data.covariates[column] : null) || {};
const written = (value) => (typeof value === "number" ? Format.number(value) : value);

// Below a field: how far its value is out of range, or what is usual, and what becomes of a gap.
function showHint(column) {
  const input = byId(`covariate-${column}`), hint = byId(`covariate-${column}-hint`);
  const cell = cellOf(input, columns[column]);
  const warning = cell === undefined ? null : rangeWarning(column, cell);
  hint.classList.toggle("warning", warning !== null);
  hint.textContent = warning || [usual(column), isEmpty(input) ? fillWords(column) : null].filter(Boolean).join("; ");
}

function usual(column) {
  const { levels, range } = summaryOf(column);
  if (range) return `${written(range[0])} to ${written(range[1])} in the ${data.given.label}`;
  return levels && columns[column].kind === "number" ? `seen: ${levels.map(written).join(" or ")}` : null;
}

function fillWords(column) {
  const { fill_words: words } = columns[column];
  return words && !data.keeps_gaps ? `unknown is taken as ${words}` : null;
}

function rangeWarning(column, cell) {
  const { name, kind, unit: measured } = columns[column];
  const { range, levels } = summaryOf(column);
  const far = outside(cell, columns[column], range);
  const of = (text) => (measured ? `${text} ${measured}` : text);
  if (far) {
    const distance = kind === "date" ? `${Format.number(far.distance)} days` : of(Format.number(far.distance));
    return `${name} ${of(written(cell))} is ${distance} ${far.below ? "below" : "above"} the range of the ${data.given.label}, ${range.map(written).join(" to ")}: the tree has seen nobody like this`;
  }
  const unseen = kind === "number" && levels && cell !== null && !levels.includes(cell);
  return unseen ? `${name} was ${levels.map(written).join(" or ")} in the ${data.given.label}, never ${written(cell)}` : null;
}

function readForm() {
  const cells = columns.map(() => null), wrong = [];
  state.typed = {};
  for (const input of byId("person-form").querySelectorAll("[data-column]")) {
    const column = Number(input.dataset.column);
    const cell = cellOf(input, columns[column]);
    state.typed[column] = input.value;
    const bad = cell === undefined || (cell === null && !data.allow_missing);
    input.setAttribute("aria-invalid", String(bad));
    if (bad) wrong.push({ input, name: columns[column].name, kind: columns[column].kind, empty: cell === null });
    else cells[column] = cell;
  }
  return { cells, wrong };
}

export function onPredict(event) {
  event.preventDefault();
  const { cells, wrong } = readForm();
  if (wrong.length) {
    state.person = state.prediction = null;
    wrong[0].input.focus();
  }
  byId("person-error").textContent = wrong.length ? complaint(wrong) : predictFor(cells);
  announce("person");
}

function complaint(wrong) {
  const list = wrong.map(({ name, kind, empty }) => `${name} ${empty ? "is empty" : kind === "date" ? "is not a date" : "is not a number"}`).join("; ");
  return `${list}. Write numbers such as 12 or 3.5.`;
}

function clearPerson() {
  state.person = state.prediction = null;
  state.typed = {};
  drawForm();
  announce("person");
}

export function drawPrediction() {
  const place = byId("person-result");
  const found = state.prediction;
  byId("person").classList.toggle("empty", !found); // a form without an answer is not printed
  if (!found) {
    place.replaceChildren(element("p", { class: "quiet" }, "The prediction appears here: survival at some times, the median, how many were like this, and the way through the tree."));
    return;
  }
  const { node } = found;
  const chart = element("div", {});
  const fitted = state.member === data.member;
  put(place,
    element("h3", {}, element("span", { id: "person-leaf" }, `Leaf ${found.leaf}`)),
    fitted ? null : element("p", { class: "note" }, `By the tree of ${data.path.n_leaves[state.member]} leaves on display, which is not the fitted one.`),
    notes(found),
    element("dl", { class: "pairs" },
      element("dt", {}, "Median"), element("dd", { id: "person-median" }, medianText(node)),
      element("dt", {}, "Like this"), element("dd", { id: "person-like" }, likeText(node)),
      element("dt", {}, "Risk"), element("dd", { id: "person-risk" }, Format.number(found.risk))),
    timesField(node),
    element("div", { id: "person-survival", class: "scroll" }, survivalAt(node)),
    chart,
    bandNote(),
    element("h4", {}, "The way through the tree"),
    words.axis ? element("p", { id: "person-way" }, words.way(node).join(" and ") || "Everybody is here.") : null,
    found.steps.length ? element("ol", { class: "path" }, found.steps.map((step) => element("li", {}, stepText(step)))) : null);
  responsive(chart, (width) => survivalChart([{ curve: model.curve(node), name: "This person", colour: colourOf(node) }],
    { lastTime: axisEnd(node), timeUnit: unit, width, label: `Predicted survival curve, leaf ${found.leaf}` }));
}

// Who is unlike all that the tree has seen, and what was taken for what is not known.
function notes({ unknown, odd }) {
  const used = model.columnsUsed(state.member);
  const told = used.map((column) => rangeWarning(column, state.person[column])).filter(Boolean).map((text) => `${text}.`);
  odd.filter((column) => used.includes(column)).forEach((column) => told.push(`${columns[column].name}: ${state.person[column]} is none of the values that the model knows, and counts as unknown.`));
  const gaps = unknown.filter((column) => used.includes(column));
  const taken = gaps.map((column) => (fillWords(column) ? `${columns[column].name} (taken as ${columns[column].fill_words})` : columns[column].name));
  if (gaps.length) told.push(`Unknown: ${taken.join("; ")}.`);
  return told.length ? element("ul", { id: "person-notes", class: "note" }, told.map((text) => element("li", {}, text))) : null;
}

function likeText(node) {
  const n = model.n[node], all = model.n[0];
  return `${Format.count(n)} of ${Format.count(all)} rows (${Format.percent(n / all)}), ${Format.plural(model.events[node], "event", "events")}`;
}

// Survival is told at round times, or at those that somebody asks for.
const timesOf = (node) => state.times || ticks(axisEnd(node), 7).filter((t) => t > 0);

function timesField(node) {
  const ask = (event) => {
    const asked = event.target.value.split(/[\s;]+|,\s+/).filter(Boolean).map(Format.parseNumber);
    const good = asked.length > 0 && asked.every((t) => t !== null && t >= 0);
    event.target.setAttribute("aria-invalid", String(!good && asked.length > 0));
    state.times = good ? asked.slice(0, 20).sort((a, b) => a - b) : null;
    byId("person-survival").replaceChildren(survivalAt(state.prediction.node));
  };
  return element("div", { class: "field screen-only" }, element("label", { for: "person-times" }, withUnitInBrackets("Survival at these times")),
    element("input", { id: "person-times", type: "text", inputmode: "decimal", value: timesOf(node).join(" "), change: ask, input: ask }));
}

const withUnitInBrackets = (text) => (unit ? `${text} (${unit})` : text);

function survivalAt(node) {
  const { table: t, survival, lower, upper } = model.curve(node);
  const last = t.time[t.time.length - 1];
  const body = timesOf(node).map((time) => {
    const at = (values) => Statistics.valueAt(t, values, time, 1);
    const known = time <= last;
    const limits = known && at(lower) !== null ? `${Format.percent(at(lower))} to ${Format.percent(at(upper))}` : "–";
    return [Format.number(time), known ? Format.percent(at(survival)) : "–", limits, Format.count(Statistics.atRiskAt(t, time))];
  });
  return table([withUnitInBrackets("After"), "Event-free", "95 % limits", "At risk"], body, { numeric: [0, 1, 2, 3] });
}

function stepText({ node, score, left }) {
  if (!words.isCut(node)) return `${words.condition(node, left)} (here the score is ${Format.number(score)})`;
  return `${words.condition(node, left)} (here ${cellText(words.cutColumn(node))})`;
}

function cellText(column) {
  const cell = state.person[column];
  if (cell === null || cell === undefined) return columns[column].fill_words ? "unknown" : "missing";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return written(cell);
}
