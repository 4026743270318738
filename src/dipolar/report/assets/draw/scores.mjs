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

// What a value says, in a sentence.
const percentOf = (value) => Math.round(100 * value);
const MEANING = {
  harrell: (value) => `The one with the higher risk has the event first in ${percentOf(value)} of 100 pairs.`,
  paper: (value) => `The one with the shorter median has the event first in ${percentOf(value)} of 100 pairs with different medians.`,
  ibs: (value, { ibs_of_one_curve: { value: one } }) => {
    if (!(one > 0)) return null;
    const share = percentOf(Math.abs(1 - value / one));
    return `One curve for everybody scores ${Format.fixed(one, 4)}: the tree’s error is ${share} % ${value <= one ? "smaller" : "larger"}.`;
  },
};

export function drawScores() {
  const columns = data.scores, { cross_validated: validated } = data;
  const judged = validated || columns[columns.length - 1];
  byId("scores-lead").textContent = `Scores of the fitted tree of ${data.path.n_leaves[data.member]} leaves, whichever is on display. ${honesty(columns, validated)}`;
  const rows = SCORES.map(([key, name, better, definition]) => [
    element("div", {}, name), ...(validated ? [validatedCell(validated[key])] : []), ...columns.map((column) => scoreCell(column[key])),
    better, element("span", { class: "definition" }, meaning(key, judged), definition)]);
  const heads = columns.map(({ label, n, events }) => `On the ${label} (${Format.count(n)} rows, ${Format.count(events)} events)`);
  if (validated) heads.unshift(`On held-out rows (${validated.folds} folds)`);
  byId("scores-table").replaceChildren(table(["Score", ...heads, "Better is", "What it means"], rows, { numeric: heads.map((_, i) => i + 1), stacks: true }));
}

function honesty(columns, validated) {
  if (validated) {
    return `On held-out rows, the tree was grown anew ${validated.folds} times, each time without a fifth of the rows, and judged on these: this is what to expect of new rows. `
      + "± is the standard error over the folds. Scores on the rows that grew the tree flatter it.";
  }
  return columns.length > 1 ? "" : "These are the rows that grew the tree, so that the scores flatter it; scores on other rows are what counts.";
}

function meaning(key, scores) {
  const { value } = scores[key];
  const text = value === null ? null : MEANING[key](value, scores);
  return text ? [element("strong", {}, text), " "] : null;
}

function scoreCell({ value, reason }) {
  return value === null ? element("span", { class: "quiet small" }, `none: ${reason}`) : Format.fixed(value, 4);
}

const validatedCell = (score) => (score.value === null ? scoreCell(score) : element("strong", {}, `${Format.fixed(score.value, 4)} ± ${Format.fixed(score.error, 4)}`));
