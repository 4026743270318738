// The form that predicts for one person, and its answer.
import * as Format from "../compute/numbers.mjs";
import { bandNote, survivalChart, survivalTable } from "./chart.mjs";
import { byId, element, put, responsive } from "./elements.mjs";
import {
  announce, axisEnd, colourOf, data, medianText, model, names, predictFor, rowsAndEvents, state, unit, words,
} from "./state.mjs";

export function drawForm() {
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
    const known = state.typed[feature] !== undefined ? state.typed[feature] : "";
    return element("div", { class: "field" },
      element("label", { for: id }, names[feature]),
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

function readForm() {
  const values = {}, wrong = [];
  state.typed = {};
  for (const input of byId("person-form").querySelectorAll("[data-feature]")) {
    const feature = Number(input.dataset.feature);
    const empty = input.value.trim() === "";
    const value = empty ? NaN : Format.parseNumber(input.value);
    state.typed[feature] = input.value;
    const bad = value === null || (empty && !data.allow_missing);
    input.setAttribute("aria-invalid", String(bad));
    if (bad) wrong.push({ input, name: names[feature], empty });
    else values[feature] = value;
  }
  return { values, wrong };
}

export function onPredict(event) {
  event.preventDefault();
  const { values, wrong } = readForm();
  if (wrong.length) {
    state.person = state.prediction = null;
    wrong[0].input.focus();
  }
  byId("person-error").textContent = wrong.length ? complaint(wrong) : predictFor(values);
  announce("person");
}

function complaint(wrong) {
  const list = wrong.map(({ name, empty }) => `${name} ${empty ? "is empty" : "is not a number"}`).join("; ");
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
    bandNote(),
    survivalTable(curve, axisEnd(found.node), unit),
    found.steps.length ? element("h4", {}, "Way from the root") : null,
    element("ol", { class: "path" }, found.steps.map((step) => element("li", {}, stepText(step)))));
  responsive(chart, (width) => survivalChart([{ curve, name: "This person", colour: colourOf(found.node) }],
    { lastTime: axisEnd(found.node), timeUnit: unit, width, label: `Predicted survival curve, leaf ${found.leaf}` }));
}

function stepText({ node, score, left }) {
  if (!words.axis) return `${words.kernel(node)} score ${Format.number(score)}: ${left ? "left" : "right"} (${words.question(node).name})`;
  const { feature } = data.tree.nodes[node].split;
  const value = state.person[feature];
  return `${words.condition(node, left)} (here ${Number.isNaN(value) ? "missing" : Format.number(value)})`;
}
