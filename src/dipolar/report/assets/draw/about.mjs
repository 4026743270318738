// Parameters and importances, the head of the page, and what the file holds.
import * as Format from "../compute/numbers.mjs";
import { bars, byId, element, table } from "./elements.mjs";
import { data, time, words } from "./state.mjs";

export function drawModel() {
  const order = [...data.importances].sort((a, b) => b[1] - a[1]);
  byId("importances").replaceChildren(bars(order));
  const rows = data.parameters.map(({ name, value, is_default: isDefault }) => [
    isDefault ? name : element("strong", {}, name), isDefault ? value : element("strong", {}, value), isDefault ? "default" : "set"]);
  byId("parameters").replaceChildren(element("div", { class: "scroll" }, table(["Parameter", "Value", ""], [...rows, ...fittedKernels()])));
}

// The parameters of every kernel; in a forest they depend on how many covariates a node has.
function fittedKernels() {
  if (words.axis) return [];
  const found = new Map();
  for (const { split } of data.tree.nodes) {
    for (const [name, value] of Object.entries(split ? split.kernel.parameters : {})) {
      const title = `${name} (${split.kernel.word} score, as fitted)`;
      found.set(title, [...(found.get(title) || []), value]);
    }
  }
  return [...found].map(([title, values]) => {
    const [least, most] = [Math.min(...values), Math.max(...values)].map(Format.number);
    return [title, least === most ? least : `${least} to ${most}`, ""];
  });
}

export function drawHeader() {
  const { n, events } = data.training;
  byId("subtitle").textContent = `${data.tree.estimator} by dipolar ${data.version}. One file that works offline: it loads nothing and sends nothing.`;
  const figuresShown = [
    [Format.count(n), "rows"], [Format.count(events), "events"],
    [time(data.training.median_follow_up), "median follow-up"],
    [Format.count(data.path.n_leaves[data.member]), data.path.n_leaves[data.member] === 1 ? "leaf" : "leaves"],
    [Format.fixed(data.scores[0].harrell.value, 3), "Harrell’s C, training"],
    ...(data.cross_validated ? [[Format.fixed(data.cross_validated.harrell.value, 3), "Harrell’s C, cross-validated"]] : []),
  ];
  byId("key-figures").replaceChildren(...figuresShown.map(([value, name]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  const sections = [...document.querySelectorAll("main > section")].filter((section) => !section.hidden);
  byId("contents").replaceChildren(...sections.map((section) => element("a", { href: `#${section.id}` }, section.querySelector("h2").textContent)));
}

export function drawAbout() {
  const basis = data.tree.basis ? data.tree.basis.length : 0;
  const parts = [
    "The tree, the parameters and the scores above, and for every leaf its life table: the times at which rows of the leaf had the event or were censored, and how many. Times in small leaves can be those of single persons.",
    basis ? `${Format.plural(basis, "row", "rows")} of the training data, covariates only${standardised() ? " and standardised" : ""}: the ${words.kinds((split) => split.basis_rows.length)} surfaces are expressed in them, and the prediction form needs them. `
      + "Write the report with predict_form=False to leave them out."
      : "No rows of covariates of the training data" + (data.form ? ": the splits are given by cuts or coefficients." : "; the prediction form, which might need some, was left out."),
  ];
  if (data.covariates) parts.push("Summaries of the columns: medians, quartiles, shares, and ranges whose ends are rounded outwards.");
  if (data.rows) parts.push(`All ${Format.count(data.rows.time.length)} rows of covariates and outcomes that were given, because include_rows=True asked for them. Treat this file as you treat the data.`);
  byId("about-body").replaceChildren(...parts.map((text, i) => element("p", { class: i === 1 && basis ? "note" : null, id: i === 1 ? "about-rows" : null }, text)));
}

const standardised = () => data.tree.mean.some((m) => m !== 0) || data.tree.scale.some((s) => s !== 1);
