// Survival curves as charts and in numbers.
import * as Format from "../compute/numbers.mjs";
import { bandPath, stepPath, ticks } from "../compute/shapes.mjs";
import * as Statistics from "../compute/statistics.mjs";
import { element, shape, table } from "./elements.mjs";

// Censorings are marked while there are few of them.
const MOST_MARKS = 150;

// Of more curves than this, the values at the pointer would not fit into a line.
const MOST_READINGS = 3;

// A name of a curve at its end: the height of its line, and how far from the end it may be.
const LABEL_LINE = 13, LONGEST_LEAD = 120;

// Survival curves on one axis with the numbers at risk under it. A series is { curve, name, colour, dashed }.
export function survivalChart(series, { lastTime, timeUnit, width, label, bands = true, atRisk = true, labels = false }) {
  const margin = { top: 12, right: labels ? 66 : 14, left: 46, bottom: 40 };
  const riskLine = 17;
  const plot = { width: width - margin.left - margin.right, height: Math.round(Math.max(Math.min(300, Math.max(170, width * 0.5)), labels ? LABEL_LINE * series.length : 0)) };
  const height = margin.top + plot.height + margin.bottom + (atRisk ? 20 + riskLine * series.length : 0);
  const x = (t) => margin.left + (lastTime > 0 ? t / lastTime : 0) * plot.width;
  const y = (s) => margin.top + (1 - s) * plot.height;
  const times = ticks(lastTime, width < 420 ? 6 : 8);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "chart" });

  for (const s of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(
      shape("line", { class: s === 0.5 ? "grid half" : "grid", x1: margin.left, x2: margin.left + plot.width, y1: y(s), y2: y(s) }),
      shape("text", { class: "axis", x: margin.left - 6, y: y(s) + 4, "text-anchor": "end" }, `${100 * s} %`),
    );
  }
  for (const t of times) {
    svg.append(
      shape("line", { class: "tick", x1: x(t), x2: x(t), y1: y(0), y2: y(0) + 4 }),
      shape("text", { class: "axis", x: x(t), y: y(0) + 16, "text-anchor": "middle" }, Format.number(t)),
    );
  }
  const below = margin.top + plot.height;
  svg.append(
    shape("text", { class: "axis title", x: margin.left + plot.width / 2, y: below + 33, "text-anchor": "middle" },
      timeUnit ? `Time (${timeUnit})` : "Time"),
  );
  if (atRisk) svg.append(shape("text", { class: "axis", x: 0, y: below + 50 }, "At risk"));
  series.forEach((one) => svg.append(drawSeries(one, x, y, bands)));
  if (atRisk) series.forEach((one, i) => svg.append(atRiskLine(one, times, x, below + 50 + riskLine * (i + 1) - 3)));
  if (labels) svg.append(endLabels(series, x, y, margin.left + plot.width));
  if (series.length <= MOST_READINGS) svg.append(crosshair(series, { x, y, margin, plot, lastTime, timeUnit, svg }));
  return svg;
}

// The names of the curves beside their ends, pushed apart where they would meet.
function endLabels(series, x, y, right) {
  const ends = series.map(({ curve: { table: { time }, survival }, name, colour }) => (
    { name, colour, x: x(time[time.length - 1]), y: y(survival[survival.length - 1]) })).sort((a, b) => a.y - b.y || b.x - a.x);
  const bottom = y(0);
  ends.forEach((end, i) => { end.at = Math.max(end.y, i ? ends[i - 1].at + LABEL_LINE : y(1)); });
  for (let i = ends.length - 1; i >= 0; i--) ends[i].at = Math.min(ends[i].at, i === ends.length - 1 ? bottom : ends[i + 1].at - LABEL_LINE);
  return shape("g", {}, ends.map(({ name, colour, x: fromX, y: fromY, at }) => [
    // A line from far away would cross all others.
    right - fromX < LONGEST_LEAD ? shape("path", { class: "lead", d: `M${fromX},${fromY}L${right + 4},${at}`, stroke: colour }) : null,
    shape("line", { class: "swatch", x1: right + 4, x2: right + 10, y1: at, y2: at, stroke: colour, "stroke-width": 2.5 }),
    shape("text", { class: "axis curve-name", x: right + 13, y: at + 4 }, name)]));
}

function drawSeries({ curve, colour, dashed }, x, y, bands) {
  const { table } = curve;
  const end = table.time[table.time.length - 1];
  const group = shape("g", {},
    bands ? shape("path", { class: "band", d: bandPath(curve, x, y), fill: colour }) : null,
    shape("path", {
      class: "curve", d: stepPath(table.time, curve.survival, 1, end, x, y), stroke: colour,
      "stroke-dasharray": dashed ? "7 4" : null,
    }));
  const censored = table.censored.map((weight) => weight > 0);
  if (censored.filter(Boolean).length <= MOST_MARKS) {
    censored.forEach((marked, i) => {
      if (!marked) return;
      const cx = x(table.time[i]), cy = y(curve.survival[i]);
      group.append(shape("line", { class: "mark", x1: cx, x2: cx, y1: cy - 4, y2: cy + 4, stroke: colour }));
    });
  }
  return group;
}

function atRiskLine({ curve, colour, dashed }, times, x, y) {
  return shape("g", {},
    shape("line", { class: "swatch", x1: 2, x2: 24, y1: y - 4, y2: y - 4, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dashed ? "7 4" : null }),
    times.map((t) => shape("text", { class: "axis", x: x(t), y, "text-anchor": "middle" },
      Format.count(Statistics.atRiskAt(curve.table, t)))));
}

// Read the curves off at the pointer.
function crosshair(series, { x, y, margin, plot, lastTime, svg }) {
  const line = shape("line", { class: "cross", y1: y(1), y2: y(0) });
  const text = shape("text", { class: "axis reading" });
  const group = shape("g", { class: "screen-only", visibility: "hidden", "aria-hidden": "true" }, line, text);
  const sensor = shape("rect", { x: margin.left, y: margin.top, width: plot.width, height: plot.height, fill: "transparent" });
  sensor.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const px = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    const t = Math.min(Math.max((px - margin.left) / plot.width, 0), 1) * lastTime;
    const readings = series.map(({ curve, name }) => {
      const beyond = t > curve.table.time[curve.table.time.length - 1];
      const value = beyond ? "–" : Format.percent(Statistics.valueAt(curve.table, curve.survival, t, 1));
      return series.length > 1 ? `${name} ${value}` : value;
    });
    line.setAttribute("x1", x(t));
    line.setAttribute("x2", x(t));
    text.textContent = `${Format.number(Number(t.toPrecision(3)))}: ${readings.join(", ")}`;
    const onLeft = t < lastTime / 2;
    text.setAttribute("x", x(t) + (onLeft ? 6 : -6));
    text.setAttribute("y", margin.top + 12);
    text.setAttribute("text-anchor", onLeft ? "start" : "end");
    group.setAttribute("visibility", "visible");
  });
  sensor.addEventListener("pointerleave", () => group.setAttribute("visibility", "hidden"));
  group.append(sensor);
  sensor.setAttribute("visibility", "visible");
  return group;
}

// The same curve in numbers, for those who do not see the chart or want to copy it.
export function survivalTable(curve, lastTime, timeUnit) {
  const { table: t, survival, lower, upper } = curve;
  const body = ticks(lastTime, 7).map((time) => {
    const known = time <= t.time[t.time.length - 1];
    const at = (values, start) => (known ? Format.percent(Statistics.valueAt(t, values, time, start)) : "–");
    const limits = known ? `${at(lower, 1)} to ${at(upper, 1)}` : "–";
    return [Format.number(time), Format.count(Statistics.atRiskAt(t, time)), at(survival, 1), limits];
  });
  return element("details", {}, element("summary", {}, "The curve in numbers"),
    table([timeUnit ? `Time (${timeUnit})` : "Time", "At risk", "Event-free", "95 % limits"], body, { numeric: [0, 1, 2, 3] }));
}

// What has to be said next to every band.
export function bandNote() {
  return element("p", { class: "quiet small band-note" }, "The band holds pointwise 95 % limits (Greenwood's variance, log-minus-log scale). Curves in leaves are optimistic: "
    + "the splits were chosen on these same rows, so that leaves look further apart than they would on new rows, and their bands hold the true curve in fewer than 95 % of cases.");
}

// A small one, for the nodes of the tree.
export function miniCurve(curve, box, lastTime, colour) {
  const x = (t) => box.x + (lastTime > 0 ? t / lastTime : 0) * box.width;
  const y = (s) => box.y + (1 - s) * box.height;
  const { table: { time }, survival } = curve;
  return shape("g", { "aria-hidden": "true" },
    shape("path", { class: "mini-axis", d: `M${box.x},${box.y}V${box.y + box.height}H${box.x + box.width}` }),
    shape("path", { class: "mini", d: stepPath(time, survival, 1, time[time.length - 1], x, y), stroke: colour }));
}
