// What the data are like, and the rows where they are included.
import * as Format from "../compute/numbers.mjs";
import { byId, element, table } from "./elements.mjs";
import { columns, data, model, nodeName, state, time, withUnit } from "./state.mjs";

function outcomePairs({ label, n, events, median_follow_up: followUp, total_time: total }) {
  return [element("h3", {}, label[0].toUpperCase() + label.slice(1)), element("dl", { class: "pairs" }, [
    ["Rows", Format.count(n)],
    ["Events", `${Format.count(events)} (${Format.percent(events / n)})`],
    ["Censored", Format.count(n - events)],
    ["Median follow-up", `${time(followUp)}${followUp === null ? "" : " (reverse Kaplan-Meier)"}`],
    ["Time observed", withUnit(Format.count(Math.round(total)))],
  ].map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]))];
}

const written = (value) => (typeof value === "string" ? value : Format.number(value));

// What became of every column on its way into the model.
export function drawPreparation() {
  const { decisions } = data;
  byId("preparation").hidden = !decisions.length;
  if (!decisions.length) return;
  const rows = decisions.map(({ column, kind, done, gaps }) => [column, kind === "left out" ? `left out: ${done}` : done, gaps || (kind === "left out" ? "" : "none")]);
  byId("preparation-table").replaceChildren(table(["Column", "Becomes", "Missing values"], rows, { stacks: true }));
}

export function drawData() {
  const given = data.given;
  const body = [...outcomePairs(data.training)];
  if (given && given.label !== data.training.label) body.push(...outcomePairs(given));
  if (data.covariates) {
    const rows = data.covariates.map((summary, i) => [columns[i].name, ...covariateCells(summary)]);
    body.push(element("h3", {}, `Columns of the ${given.label}`), element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Columns" },
      table(["Column", "Median or share", "Quartiles", "Mean (SD)", "Missing"], rows, { numeric: [1, 2, 3, 4], stacks: true })));
  } else {
    body.push(element("p", { class: "quiet" }, "Covariates are not summarised: the tree does not keep them. Pass X and y to have them summarised."));
  }
  byId("data-body").replaceChildren(...body);
}

function covariateCells(summary) {
  const missing = summary.missing ? `${Format.count(summary.missing)} (${Format.percent(summary.missing / (summary.missing + summary.known))})` : "0";
  if (summary.levels) {
    const text = summary.levels.map((level, i) => `${written(level)}: ${Format.percent(summary.shares[i])}`).join(", ");
    return [text, "", "", missing];
  }
  if (!summary.quartiles) return ["–", "", "", missing];
  const [low, middle, high] = summary.quartiles.map(written);
  return [middle, `${low} to ${high}`, `${written(summary.mean)} (${Format.number(summary.deviation)})`, missing];
}

export function drawRows() {
  if (!data.rows) return;
  byId("rows").hidden = false;
  const inNode = state.selected === null ? null : new Set(model.leavesBelow[state.selected]);
  const chosen = data.rows.node.map((_, i) => i).filter((i) => inNode === null || inNode.has(data.rows.node[i]));
  const shown = chosen.slice(0, state.rowsShown);
  byId("rows-lead").textContent = `Rows of the ${data.given.label}${inNode ? ` in ${nodeName(state.selected).toLowerCase()}` : ""}: ${shown.length} of ${chosen.length}.`;
  byId("rows-more").hidden = shown.length === chosen.length;
  byId("rows-table").replaceChildren(table(["Row", ...columns.map(({ name }) => name), "Time", "Event"], shown.map((i) => [
    String(i + 1), ...data.rows.X[i].map(written), Format.number(data.rows.time[i]), data.rows.event[i] ? "event" : "censored"])));
}
