// Leaves: the table of all of them, and two side by side.
import * as Format from "../compute/numbers.mjs";
import { logrank } from "../compute/statistics.mjs";
import { bandNote, survivalChart } from "./chart.mjs";
import { byId, element, legend, put, responsive, table } from "./elements.mjs";
import { HIGH, LOW, colourOf, leavesByRisk, medianText, model, nodeName, numberOf, rowsAndEvents, select, time, unit, words } from "./state.mjs";

export function drawLeaves() {
  const rows = leavesByRisk().map((node) => [
    element("button", { type: "button", class: "link", click: () => { select(node); byId("details").scrollIntoView({ block: "nearest" }); } }, nodeName(node)),
    Format.count(model.n[node]), Format.count(model.events[node]), medianText(node), Format.number(model.curve(node).risk),
    words.way(node).join(" and ") || "everybody",
  ]);
  drawAll();
  byId("leaves-table").replaceChildren(table(["Leaf", "Rows", "Events", "Median", "Risk", "Rule"], rows, { numeric: [1, 2, 4], stacks: true }));
}

// Of more leaves than this, nobody could read the numbers at risk.
const MOST_AT_RISK = 8;

function drawAll() {
  const series = leavesByRisk().map((node) => ({ curve: model.curve(node), name: nodeName(node), colour: colourOf(node) }));
  responsive(byId("leaves-chart"), (width) => survivalChart(series, {
    lastTime: model.lastTime, timeUnit: unit, width: Math.min(width, 1000), bands: series.length === 1, atRisk: series.length <= MOST_AT_RISK, labels: true,
    label: `Kaplan-Meier curves of all ${series.length} leaves, coloured by risk`,
  }));
}

export function drawCompare() {
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

export function drawComparison() {
  const [a, b] = ["compare-a", "compare-b"].map((id) => Number(byId(id).value));
  const place = byId("compare-result");
  if (a === b) {
    place.replaceChildren(element("p", { class: "note" }, "These are the same leaf. Choose two different ones."));
    return;
  }
  const test = logrank(model.curve(a).table, model.curve(b).table);
  const chart = element("div", {});
  const rows = [a, b].map((node) => [nodeName(node), Format.count(model.n[node]), Format.count(model.events[node]), medianText(node), Format.number(model.curve(node).risk)]);
  put(place,
    element("p", { id: "compare-test" }, `Log-rank χ² = ${Format.number(test.statistic)} on 1 degree of freedom, ${Format.pValue(test.p)}. `),
    element("div", { class: "scroll" }, table(["Leaf", "Rows", "Events", "Median", "Risk"], rows, { numeric: [1, 2, 4], stacks: true })),
    chart,
    element("p", { class: "quiet small" }, "The tree looked for leaves that differ, on these same rows: such a p-value is far smaller than one of groups that were chosen beforehand. "
      + "Small strokes mark censored rows."),
    bandNote());
  const higher = model.curve(a).risk >= model.curve(b).risk ? a : b;
  const series = [a, b].map((node) => ({ curve: model.curve(node), name: nodeName(node), colour: node === higher ? HIGH : LOW, dashed: node === b }));
  responsive(chart, (width) => element("div", {}, legend(series),
    survivalChart(series, { lastTime: model.lastTime, timeUnit: unit, width: Math.min(width, 860), label: `Kaplan-Meier curves of ${nodeName(a)} and ${nodeName(b)}` })));
}
