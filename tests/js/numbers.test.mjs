// Numbers as text and back.
import assert from "node:assert/strict";
import test from "node:test";

import * as Format from "../../src/dipolar/report/assets/compute/numbers.mjs";
import { load } from "./fixtures.mjs";

const cases = (format, table) => table.forEach(([value, text]) => assert.equal(format(value), text, `of ${value}`));

test("four significant digits, and whole numbers in full", () => {
  cases(Format.number, [
    [0, "0"], [12, "12"], [123456, "123456"], [-3, "−3"], [0.5, "0.5"], [1 / 3, "0.3333"], [-2 / 3, "−0.6667"],
    [1234.567, "1235"], [23456.789, "23456.8"], [1e7, "1.00e+7"], [0.00001234, "1.23e−5"], [-0.00001234, "−1.23e−5"],
    [Infinity, "∞"], [-Infinity, "−∞"], [NaN, "–"], [null, "–"], [undefined, "–"],
  ]);
});

test("thresholds have the digits of Python's rules, halves rounded down", () => {
  for (const { value, text } of load("thresholds.json")) {
    assert.equal(Number(Format.threshold(value).replaceAll("−", "-")), Number(text), `of ${value}`);
  }
  assert.equal(Format.threshold(123456.5), "123456");
  assert.equal(Format.threshold(-123456.5), "−123457");
});

test("counts, shares and p-values", () => {
  cases(Format.count, [[1234567, "1,234,567"], [2.5, "2.5"], [0, "0"]]);
  cases(Format.percent, [[0, "0 %"], [1, "100 %"], [0.004, "0.4 %"], [0.256, "26 %"], [null, "–"]]);
  cases(Format.pValue, [[0, "p < 1e-300"], [1, "p = 1"], [0.0456, "p = 0.046"], [1.26e-9, "p = 1.3e-9"]]);
  assert.equal(Format.fixed(-0.12345, 3), "−0.123");
  assert.equal(Format.fixed(null, 3), "–");
  assert.equal(Format.plural(1, "leaf", "leaves"), "1 leaf");
  assert.equal(Format.plural(1000, "leaf", "leaves"), "1,000 leaves");
});

test("numbers as people type them", () => {
  cases(Format.parseNumber, [
    ["12", 12], [" 3.5 ", 3.5], ["3,5", 3.5], [".5", 0.5], ["5.", 5], ["-3e-1", -0.3], ["−3e−1", -0.3], ["+4E2", 400],
    ["", null], ["two", null], ["1,000.5", null], ["1 000", null], ["1e999", null], ["0x10", null], ["Infinity", null], ["1-2", null],
  ]);
});

test("what is written can be read again", () => {
  for (const value of [0.1234, -5, 0.00001, 123456, -2.5e-7]) {
    assert.ok(Math.abs(Format.parseNumber(Format.number(value)) - value) <= 1e-3 * Math.abs(value));
  }
});
