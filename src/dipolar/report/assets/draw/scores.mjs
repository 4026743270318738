// Scores and their definitions.
import * as Format from "../compute/numbers.mjs";
import { byId, element, table } from "./elements.mjs";
import { data } from "./state.mjs";

const SCORES = [
  ["harrell", "Harrell’s C", "higher, 0.5 is chance",
    "Among pairs of rows of which the earlier time is an event: the share in which the earlier row has the higher risk; pairs with equal risks count ½."],
  ["paper", "C of the medians", "higher, 0.5 is chance",
    "As used by Maung, Lazar and Zheng: the share of such pairs in which the earlier row has the shorter predicted median. Pairs with equal medians or equal times are left out, which favours small trees. A median that is not reached is replaced by the mean time of the leaf."],
  ["ibs", "Integrated Brier score", "lower",
    "Squared distance between predicted survival probability and what happened, averaged over the event times; rows that are censored are made up for by weights (Graf et al. 1999). Predicting ½ for everybody scores 0.25."],
];

export function drawScores() {
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
