// Numbers as text, and text as numbers.
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const minus = (text) => text.replaceAll("-", "−");

// Four significant digits; whole numbers in full.
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return minus(String(value));
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return minus(value.toExponential(2));
  return minus(String(Number(value.toPrecision(size >= 1e4 ? 6 : 4))));
}

// All digits that there are, where these are few.
export const exact = (value) => minus(String(value));

// Six digits, halves rounded down, as in the rules that Python prints: "x ≤ 123457" would send 123457 left, and a
// threshold of 123456.5 does not.
export const threshold = (value) => minus(String(Number((value - 1e-14 * Math.abs(value)).toPrecision(6))));

export const fixed = (value, digits) => (value === null ? "–" : minus(value.toFixed(digits)));
export const count = (value) => (Number.isInteger(value) ? whole.format(value) : number(value));
export const percent = (value) => (value === null ? "–" : `${(100 * value).toFixed(value > 0 && value < 0.01 ? 1 : 0)} %`);
export const plural = (value, one, many) => `${count(value)} ${value === 1 ? one : many}`;

export function pValue(p) {
  if (p < 1e-300) return "p < 1e-300";
  if (p < 1e-4) return `p = ${p.toExponential(1)}`;
  return `p = ${Number(p.toPrecision(2))}`;
}

// Read a number as people type it; null for what is none. A decimal comma is taken, a thousands separator is not.
export function parseNumber(text) {
  const plain = text.trim().replaceAll("−", "-");
  if (/^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i.test(plain)) {
    const value = Number(plain.replace(",", "."));
    return Number.isFinite(value) ? value : null;
  }
  return null;
}
