// What Python wrote for these tests (tests/test_report_script.py), and how numbers are compared with it.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.env.REPORT_MODELS;
if (!folder) throw new Error("REPORT_MODELS is not set: run `python -m pytest tests/test_report_script.py`, which writes the models");

export const load = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
export const loadModule = (name) => import(pathToFileURL(join(folder, name)).href);

// Every kind of split: its name, Python's model and predictions, and the kernels that its page would be given.
export const kinds = await Promise.all(readdirSync(folder).filter((name) => name.endsWith(".model.json")).map(async (name) => {
  const kind = name.replace(".model.json", "");
  return { kind, ...load(name), kernels: (await loadModule(`${kind}.kernels.mjs`)).kernels };
}));

export const withMissing = (row) => row.map((value) => (value === null ? NaN : value));

// Numbers, or arrays of them; null is equal to null and NaN only.
export function close(actual, expected, message = "") {
  if (Array.isArray(expected)) {
    assert.equal(actual.length, expected.length, `${message}: length`);
    expected.forEach((value, i) => close(actual[i], value, `${message}[${i}]`));
  } else if (expected === null || Number.isNaN(expected)) {
    assert.ok(actual === null || Number.isNaN(actual), `${message}: ${actual} should be missing`);
  } else {
    assert.ok(Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected)), `${message}: ${actual} should be ${expected}`);
  }
}
