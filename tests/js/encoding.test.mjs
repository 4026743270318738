// What the page makes of cells, against the encoder in Python.
import assert from "node:assert/strict";
import test from "node:test";

import { encodePerson, outside } from "../../src/dipolar/report/assets/compute/encoding.mjs";
import { load } from "./fixtures.mjs";

for (const { name, columns, keeps_gaps: keepsGaps, people, rows, odd } of load("encoders.json")) {
  test(`${name}: covariates are those of Python, to the last digit`, () => {
    assert.ok(people.length > 50);
    people.forEach((person, i) => {
      const encoded = encodePerson(person, columns, keepsGaps);
      assert.deepEqual(encoded.row.map((value) => (Number.isNaN(value) ? null : value)), rows[i], JSON.stringify(person));
      assert.deepEqual(encoded.odd, odd[i], JSON.stringify(person));
    });
  });
}

test("how far a value is out of range", () => {
  const number = { kind: "number" }, date = { kind: "date", origin: "2020-01-01T00:00:00" };
  assert.deepEqual(outside(97, number, [20, 80]), { below: false, distance: 17 });
  assert.deepEqual(outside(19.5, number, [20, 80]), { below: true, distance: 0.5 });
  assert.equal(outside(80, number, [20, 80]), null);
  assert.equal(outside(null, number, [20, 80]), null);
  assert.equal(outside(97, number, undefined), null);
  assert.deepEqual(outside("2021-01-03", date, ["2020-01-01", "2021-01-01"]), { below: false, distance: 2 });
});
