// What a split asks, in words. Every text is for one side; the short ones leave out what the details tell.
import * as Format from "./numbers.mjs";

const MOST_TERMS_IN_LINE = 7;

// An equation with higher powers is no explanation any more.
const POWERS = ["", "", "²", "³"];

export function makeWords({ tree }) {
  const names = tree.feature_names;
  const axis = tree.split_kind === "axis";
  const splitOf = (node) => tree.nodes[node].split;
  const kernel = (node) => splitOf(node).kernel.word;

  // What kinds of surfaces the chosen splits are, "linear or Gaussian".
  function kinds(chosen = () => true) {
    const splits = tree.nodes.map(({ split }) => split).filter((split) => split && chosen(split));
    return [...new Set(splits.map((split) => split.kernel.word))].join(" or ");
  }

  function mainCovariates(node) {
    const order = splitOf(node).shares.map((share, feature) => [share, feature]).sort((a, b) => b[0] - a[0]);
    const chosen = [];
    let total = 0;
    for (const [share, feature] of order) {
      if (chosen.length && (total >= 0.8 || share <= 0)) break;
      chosen.push({ feature, share });
      total += share;
    }
    return chosen;
  }

  // Two parts, of which only the first may be cut short.
  function question(node) {
    const split = splitOf(node);
    if (!axis) {
      const list = mainCovariates(node).map(({ feature }) => names[feature]).join(", ");
      return { name: list, rest: `${kernel(node)} score < 0` };
    }
    if (split.threshold === null) return { name: names[split.feature], rest: "is known" };
    return { name: names[split.feature], rest: `≤ ${Format.threshold(split.threshold)}` };
  }

  function condition(node, left) {
    const split = splitOf(node);
    if (!axis) return shortEquation(node, left) || `${kernel(node)} score ${left ? "< 0" : "≥ 0"} (${question(node).name})`;
    const name = names[split.feature];
    if (split.threshold === null) return `${name} is ${left ? "known" : "missing"}`;
    const missing = split.missing_seen && split.missing_left === left ? " or missing" : "";
    return `${name} ${left ? "≤" : ">"} ${Format.threshold(split.threshold)}${missing}`;
  }

  // A sum of a few covariates says more than its covariates' names.
  function shortEquation(node, left) {
    const { terms } = splitOf(node);
    const isShort = terms && terms.length <= MOST_TERMS_IN_LINE && terms.every(({ columns }) => columns.length <= 1);
    return isShort ? equation(node, left) : null;
  }

  // The score of a linear or polynomial surface in original units.
  function equation(node, left = true) {
    const { terms, boundary, is_round: isRound } = splitOf(node);
    const number = isRound ? Format.exact : Format.number;
    if (!terms || terms.some(({ columns }) => columns.length >= POWERS.length)) return null;
    const text = terms.filter(({ coefficient, columns }) => coefficient !== 0 && columns.length).map(({ coefficient, columns }) => {
      const counts = new Map();
      columns.forEach((column) => counts.set(column, (counts.get(column) || 0) + 1));
      const product = [...counts].map(([column, power]) => names[column] + POWERS[power]).join(" · ");
      return { sign: coefficient < 0 ? "−" : "+", text: isRound && Math.abs(coefficient) === 1 ? product : `${number(Math.abs(coefficient))} ${product}` };
    });
    const constant = terms.filter(({ columns }) => !columns.length).reduce((sum, { coefficient }) => sum + coefficient, 0);
    const body = text.map(({ sign, text: term }, i) => (i ? ` ${sign} ${term}` : (sign === "−" ? `−${term}` : term))).join("");
    return `${body} ${left ? "<" : "≥"} ${number((isRound ? 0 : boundary) - constant)}`;
  }

  return { mainCovariates, question, condition, equation, kernel, kinds, axis };
}
