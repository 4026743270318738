// Elements, numbers as text, and charts. Text is only ever set as text: names and data cannot become markup.
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...content) {
  const node = document.createElement(name);
  return fill(node, attributes, content);
}

function shape(name, attributes = {}, ...content) {
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

const Format = (() => {
  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const minus = (text) => text.replace("-", "−");

  // Four significant digits; whole numbers in full.
  function number(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    if (Number.isInteger(value) && Math.abs(value) < 1e7) return minus(String(value));
    const size = Math.abs(value);
    if (size >= 1e7 || size < 1e-4) return minus(value.toExponential(2));
    return minus(String(Number(value.toPrecision(size >= 1e4 ? 6 : 4))));
  }

  // Six digits, as in the rules that Python prints.
  const threshold = (value) => minus(String(Number(value.toPrecision(6))));
  const fixed = (value, digits) => (value === null ? "–" : minus(value.toFixed(digits)));
  const count = (value) => (Number.isInteger(value) ? whole.format(value) : number(value));
  const percent = (value) => (value === null ? "–" : `${(100 * value).toFixed(value > 0 && value < 0.01 ? 1 : 0)} %`);
  const plural = (value, one, many) => `${count(value)} ${value === 1 ? one : many}`;
  function pValue(p) {
    if (p < 1e-300) return "p < 1e-300";
    if (p < 1e-4) return `p = ${p.toExponential(1)}`;
    return `p = ${Number(p.toPrecision(2))}`;
  }
  return { number, threshold, fixed, count, percent, plural, pValue };
})();

const measure = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text, font) => {
    context.font = font;
    return context.measureText(text).width;
  };
})();

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

// Cut text so that it fits, between whole characters.
function shorten(text, width, font) {
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

// From low risk to high: blue over grey to orange, told apart with any colour vision, and dark enough for lines.
const RISK_COLOURS = [[27, 94, 158], [74, 131, 178], [125, 129, 133], [199, 120, 42], [170, 75, 10]];

function riskColour(share) {
  const position = Math.min(Math.max(share, 0), 1) * (RISK_COLOURS.length - 1);
  const first = Math.min(Math.floor(position), RISK_COLOURS.length - 2), rest = position - first;
  const mix = RISK_COLOURS[first].map((c, i) => Math.round(c + rest * (RISK_COLOURS[first + 1][i] - c)));
  return `rgb(${mix.join(",")})`;
}

// Round numbers from 0 to just beyond `last`, at most `most` of them.
function ticks(last, most) {
  if (!(last > 0)) return [0];
  const rough = last / Math.max(1, most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-9));
  return Array.from({ length: Math.floor(last / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

// The outline of a step function as an SVG path.
function stepPath(times, values, start, end, x, y) {
  let path = `M${x(0).toFixed(2)},${y(start).toFixed(2)}`;
  for (let i = 0; i < times.length; i++) {
    if (values[i] === null || values[i] === (i ? values[i - 1] : start)) continue;
    path += `H${x(times[i]).toFixed(2)}V${y(values[i]).toFixed(2)}`;
  }
  return `${path}H${x(end).toFixed(2)}`;
}

function bandPath(curve, x, y) {
  const { table: { time }, lower, upper } = curve;
  const known = lower.findIndex((limit) => limit === null);
  const n = known < 0 ? time.length : known;
  const end = n < time.length ? time[n] : time[time.length - 1];
  let path = `M${x(0).toFixed(2)},${y(1).toFixed(2)}`;
  for (let i = 0; i < n; i++) path += `H${x(time[i]).toFixed(2)}V${y(upper[i]).toFixed(2)}`;
  path += `H${x(end).toFixed(2)}`;
  for (let i = n - 1; i >= 0; i--) path += `V${y(lower[i]).toFixed(2)}H${x(time[i]).toFixed(2)}`;
  return `${path}V${y(1).toFixed(2)}Z`;
}

// Censorings are marked while there are few of them.
const MOST_MARKS = 150;

// Survival curves on one axis with the numbers at risk under it. A series is { curve, name, colour, dashed }.
function survivalChart(series, { lastTime, timeUnit, width, label }) {
  const margin = { top: 12, right: 14, left: 46, bottom: 40 };
  const riskLine = 17;
  const plot = { width: width - margin.left - margin.right, height: Math.round(Math.min(300, Math.max(170, width * 0.5))) };
  const height = margin.top + plot.height + margin.bottom + 20 + riskLine * series.length;
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
    shape("text", { class: "axis", x: 0, y: below + 50 }, "At risk"),
  );
  series.forEach((one, i) => svg.append(drawSeries(one, x, y), atRiskLine(one, times, x, below + 50 + riskLine * (i + 1) - 3)));
  svg.append(crosshair(series, { x, y, margin, plot, lastTime, timeUnit, svg }));
  return svg;
}

function drawSeries({ curve, colour, dashed }, x, y) {
  const { table } = curve;
  const end = table.time[table.time.length - 1];
  const group = shape("g", {},
    shape("path", { class: "band", d: bandPath(curve, x, y), fill: colour }),
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

// A table from texts at its head and rows of cells, texts or elements. One that stacks turns every row into a block
// of labelled lines on a narrow screen.
function table(head, body, { numeric = [], stacks = false } = {}) {
  const align = (i) => (numeric.includes(i) ? "number" : null);
  const cell = (content, i) => element(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: align(i), "data-label": head[i] },
    stacks ? element("span", {}, content) : content);
  return element("table", { class: stacks ? "stacks" : null },
    element("thead", {}, element("tr", {}, head.map((text, i) => element("th", { scope: "col", class: align(i) }, text)))),
    element("tbody", {}, body.map((row) => element("tr", {}, row.map(cell)))));
}

// The same curve in numbers, for those who do not see the chart or want to copy it.
function survivalTable(curve, lastTime, timeUnit) {
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
function bandNote() {
  return element("p", { class: "quiet small band-note" }, "The band holds pointwise 95 % limits (Greenwood's variance, log-minus-log scale). Curves in leaves are optimistic: "
    + "the splits were chosen on these same rows, so that leaves look further apart than they would on new rows, and their bands hold the true curve in fewer than 95 % of cases.");
}

// Draw now and whenever the width of the place changes.
function responsive(place, draw) {
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

function bars(entries) {
  return element("dl", { class: "bars" }, entries.map(([name, share]) => {
    const bar = element("span", { class: "bar" });
    bar.style.width = `${(100 * share).toFixed(1)}%`;
    return [element("dt", {}, name), element("dd", {}, element("span", { class: "track" }, bar), element("span", { class: "value" }, Format.percent(share)))];
  }));
}

function legend(series) {
  return element("p", { class: "legend" }, series.map(({ name, colour, dashed }) => element("span", {},
    shape("svg", { width: 34, height: 10, "aria-hidden": "true" }, shape("line", { class: "swatch", x1: 1, x2: 33, y1: 5, y2: 5, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dashed ? "7 4" : null })), ` ${name}`)));
}
