// Covariates of one person from the cells of the original columns: what the encoder in Python does (recipes.py), step by
// step, so that page and library agree. A column is { name, kind, features: [from, to], fill, marks_gaps, ... }; a cell is
// a number, a text, true or false, a date as "2020-04-03", or null.
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const MISSING = new Set(["", ".", "-", "?", "na", "n/a", "#n/a", "nan", "null", "missing"]);
const BOOLEANS = { 0: 0, 1: 1, false: 0, true: 1 };
const DAY = 86400000;

const isMissing = (cell) => cell === null || cell === undefined || Number.isNaN(cell)
  || (typeof cell === "string" && MISSING.has(cell.trim().toLowerCase()));

// Numbers are written as Python writes them in names of categories: 2.0 and +2 are 2, and 007 is no number.
function asText(cell) {
  const text = String(cell).trim();
  return NUMBER.test(text) && !/^[+-]?0\d/.test(text) && Number.isFinite(Number(text)) ? String(Number(text)) : text;
}

function asNumber(cell) {
  const value = typeof cell === "string" && NUMBER.test(cell.trim()) ? Number(cell) : cell;
  return typeof value === "number" && Number.isFinite(value) ? value : NaN;
}

// Days since the first date of the training rows; dates without an offset are the same everywhere.
function asDays(cell, origin) {
  const text = String(cell).trim();
  return (Date.parse(text.includes("T") ? `${text}Z` : text) - Date.parse(`${origin}Z`)) / DAY;
}

function place(cell, { levels, rare = [] }) {
  const text = levels.includes(cell) || rare.includes(cell) ? cell : asText(cell);
  const common = rare.length ? levels.slice(0, -1) : levels;
  if (rare.includes(text)) return levels.length - 1;
  const found = common.indexOf(text);
  return found < 0 ? NaN : found;
}

const indicated = ({ levels, reference }) => levels.filter((level) => level !== reference);

// The covariates of a cell, NaN where it has no value that the recipe knows.
const READ = {
  number: (cell) => [asNumber(cell)],
  boolean: (cell) => [BOOLEANS[String(cell).trim().toLowerCase()] ?? NaN],
  date: (cell, { origin }) => [asDays(cell, origin)],
  ordered: (cell, column) => [place(cell, column)],
  category: (cell, column) => {
    const k = place(cell, column);
    return indicated(column).map((level) => (Number.isNaN(k) ? NaN : Number(level === column.levels[k])));
  },
};

const FILL = {
  number: ({ fill }) => [fill],
  boolean: ({ fill }) => [Number(fill)],
  date: ({ fill }) => [fill],
  ordered: ({ fill }) => [fill],
  category: (column) => indicated(column).map((level) => Number(level === column.fill)),
};

// Return the covariates of a cell, whether it had no value, and whether it had one that was not understood.
export function encodeCell(cell, column, keepsGaps) {
  const isLevel = Boolean(column.levels && (column.levels.includes(cell) || (column.rare || []).includes(cell)));
  const empty = !isLevel && isMissing(cell);
  let values = empty ? [NaN] : READ[column.kind](cell, column);
  const unknown = Number.isNaN(values[0]);
  if (unknown) values = keepsGaps ? FILL[column.kind](column).map(() => NaN) : FILL[column.kind](column);
  return { values: column.marks_gaps ? [...values, Number(unknown)] : values, unknown, odd: unknown && !empty };
}

// Encode a person, { name of a column: cell }: the row of covariates, and the columns without a value, or with an odd one.
export function encodePerson(cells, columns, keepsGaps) {
  const row = [], unknown = [], odd = [];
  columns.forEach((column, number) => {
    const encoded = encodeCell(cells[number], column, keepsGaps);
    row.push(...encoded.values);
    if (encoded.unknown) unknown.push(number);
    if (encoded.odd) odd.push(number);
  });
  return { row, unknown, odd };
}

// How far a number or a date lies outside a range: { below, distance }, or null.
export function outside(cell, column, range) {
  if (!range || cell === null) return null;
  const [value, low, high] = [cell, ...range].map((one) => READ[column.kind](one, column)[0]);
  if (!(value < low || value > high)) return null;
  return { below: value < low, distance: value < low ? low - value : value - high };
}
