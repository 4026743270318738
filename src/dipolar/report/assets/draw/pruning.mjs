// The pruning path as a chart and a table.
import * as Format from "../compute/numbers.mjs";
import { ticks } from "../compute/shapes.mjs";
import { byId, element, legend, responsive, shape, table } from "./elements.mjs";
import { HIGH, LOW, data, model, setMember, state } from "./state.mjs";

export function drawPruning() {
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
