// The chosen node: its figures, curve, split, and the way to it.
import * as Format from "../compute/numbers.mjs";
import { bandNote, survivalChart, survivalTable } from "./chart.mjs";
import { bars, byId, element, put, responsive } from "./elements.mjs";
import {
  axisEnd, colourOf, current, data, isLeaf, leavesByRisk, medianText, model, nodeName, rowsAndEvents, state, unit, withUnit, words,
} from "./state.mjs";

export function drawDetails() {
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
    bandNote(),
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
  const equation = words.axis ? null : words.equation(node);
  const split = data.tree.nodes[node].split;
  const parts = [element("h4", {}, "Split"), element("p", {}, `Log-rank χ² ${Format.number(model.logrank[node])}. `
    + `${words.isCut(node) ? "" : "Rows with a score below 0 go left (“yes”)."}`)];
  if (equation && !words.isCut(node)) parts.push(element("p", { class: "equation" }, equation));
  if (words.axis) {
    parts.push(element("p", {}, `${words.condition(node, true)} goes left (“yes”). ${data.keeps_gaps ? missingText(split) : ""}`));
  } else if (words.isCut(node)) {
    parts.push(element("p", {}, `${words.condition(node, true)} goes left (“yes”).`));
  } else {
    parts.push(element("p", { class: "quiet" }, "Share of the columns in this split:"),
      bars(words.mainColumns(node).map(({ name, share }) => [name, share])));
  }
  return element("div", {}, parts);
}

const missingText = ({ missing_left: left, missing_seen: seen }) => `A missing value goes ${left ? "left" : "right"}, `
  + `${seen ? "as learnt from missing values" : "to the larger child: this node saw none"}.`;

function rulePath(node) {
  const way = words.way(node);
  if (!way.length) return null;
  return element("div", {}, element("h4", {}, "Who is here"), element("ul", { class: "path" }, way.map((part) => element("li", {}, part))));
}
