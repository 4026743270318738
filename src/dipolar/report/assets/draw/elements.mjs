// Elements of the page, tables, bars, and text cut to its room. Text is only ever set as text: names and
// data cannot become markup.
import { percent } from "../compute/numbers.mjs";

const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...content) {
  const node = document.createElement(name);
  return fill(node, attributes, content);
}

export function shape(name, attributes = {}, ...content) {
  return fill(document.createElementNS(SVG, name), attributes, content);
}

function fill(node, attributes, content) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === false || value === undefined) continue;
    if (typeof value === "function") node.addEventListener(key, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...content.flat(Infinity).filter((part) => part !== null && part !== undefined));
  return node;
}

export const measure = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text, font) => {
    context.font = font;
    return context.measureText(text).width;
  };
})();

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

// Cut text so that it fits, between whole characters.
export function shorten(text, width, font) {
  if (measure(text, font) <= width) return text;
  const parts = typeof Intl.Segmenter === "function"
    ? Array.from(new Intl.Segmenter().segment(text), (part) => part.segment)
    : Array.from(text);
  let low = 0, high = parts.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(parts.slice(0, middle).join("") + "…", font) <= width) low = middle;
    else high = middle - 1;
  }
  return parts.slice(0, low).join("").trimEnd() + "…";
}

// A table from texts at its head and rows of cells, texts or elements. One that stacks turns every row into a block
// of labelled lines on a narrow screen.
export function table(head, body, { numeric = [], stacks = false } = {}) {
  const align = (i) => (numeric.includes(i) ? "number" : null);
  const cell = (content, i) => element(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: align(i), "data-label": head[i] },
    stacks ? element("span", {}, content) : content);
  return element("table", { class: stacks ? "stacks" : null },
    element("thead", {}, element("tr", {}, head.map((text, i) => element("th", { scope: "col", class: align(i) }, text)))),
    element("tbody", {}, body.map((row) => element("tr", {}, row.map(cell)))));
}

// Draw now and whenever the width of the place changes.
export function responsive(place, draw) {
  const redraw = () => {
    const width = Math.max(260, Math.floor(place.clientWidth || 600));
    if (place.drawnWidth === width) return;
    place.drawnWidth = width;
    place.replaceChildren(draw(width));
  };
  place.drawnWidth = null;
  if (place.watcher) place.watcher.disconnect();
  place.watcher = new ResizeObserver(redraw);
  place.watcher.observe(place);
  redraw();
  return place;
}

export const byId = (id) => document.getElementById(id);
export const put = (place, ...content) => place.replaceChildren(...content.flat().filter((part) => part !== null));

export function bars(entries) {
  return element("dl", { class: "bars" }, entries.map(([name, share]) => {
    const bar = element("span", { class: "bar" });
    bar.style.width = `${(100 * share).toFixed(1)}%`;
    return [element("dt", {}, name), element("dd", {}, element("span", { class: "track" }, bar), element("span", { class: "value" }, percent(share)))];
  }));
}

export function legend(series) {
  return element("p", { class: "legend" }, series.map(({ name, colour, dashed }) => element("span", {},
    shape("svg", { width: 34, height: 10, "aria-hidden": "true" }, shape("line", { class: "swatch", x1: 1, x2: 33, y1: 5, y2: 5, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dashed ? "7 4" : null })), ` ${name}`)));
}
