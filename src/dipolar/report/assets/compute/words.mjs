// What a split asks, in words. Every text is for one side; the short ones leave out what the details tell.
import * as Format from "./numbers.mjs";

const MOST_TERMS_IN_LINE = 7;

// An equation with higher powers is no explanation any more.
const POWERS = ["", "", "²", "³"];

// Python's signs as they are printed.
export const typeset = (text) => text.replace(/(^| )<=(?= )/g, "$1≤").replace(/(^| )>=(?= )/g, "$1≥").replace(/(^| )-(?=[\d.])/g, "$1−");

// Cuts of one covariate are worded by Python, which knows the columns that covariates were made from: `said` has the
// sides of a split, and `ways` what the rows of a node have in common. Surfaces are worded here, by their terms.
export function makeWords({ tree, terms: names, said, ways, columns }) {
  const axis = tree.split_kind === "axis";
  const splitOf = (node) => tree.nodes[node].split;
  const kernel = (node) => splitOf(node).kernel.word;
  const columnOf = columns.flatMap(({ features: [from, to] }, column) => Array(to - from).fill(column));

  // What kinds of surfaces the chosen splits are, "linear or Gaussian".
  function kinds(chosen = () => true) {
    const splits = tree.nodes.map(({ split }) => split).filter((split) => split && chosen(split));
    return [...new Set(splits.map((split) => split.kernel.word))].join(" or ");
  }

  // The columns that make four fifths of a surface.
  function mainColumns(node) {
    const total = columns.map(() => 0);
    splitOf(node).shares.forEach((share, feature) => { total[columnOf[feature]] += share; });
    const order = total.map((share, column) => ({ column, name: columns[column].name, share })).sort((a, b) => b.share - a.share);
    const chosen = [];
    let sum = 0;
    for (const one of order) {
      if (chosen.length && (sum >= 0.8 || one.share <= 0)) break;
      chosen.push(one);
      sum += one.share;
    }
    return chosen;
  }

  // Two parts, of which only the first may be cut short.
  function question(node) {
    if (said[node]) return { name: said[node].left[0], rest: typeset(said[node].left[1]) };
    return { name: mainColumns(node).map(({ name }) => name).join(", "), rest: `${kernel(node)} score < 0` };
  }

  function condition(node, left) {
    if (said[node]) return said[node][left ? "left" : "right"].map((part, i) => (i ? typeset(part) : part)).join(" ");
    return shortEquation(node, left) || `${kernel(node)} score ${left ? "< 0" : "≥ 0"} (${question(node).name})`;
  }

  // The column that a cut looks at.
  const cutColumn = (node) => (axis ? columnOf[splitOf(node).feature] : mainColumns(node)[0].column);

  // What the rows of a node have in common, each column once.
  const way = (node) => ways[node].map((part) => (typeof part === "string" ? typeset(part) : condition(part[0], part[1])));

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

  return { mainColumns, question, condition, way, equation, kernel, kinds, axis, isCut: (node) => said[node] !== null, cutColumn };
}
