import { expect, test } from "vitest";
import { Flatbuffer } from "../../../src/config/model/flatbuffers.ts";
import { flatbuffer } from "../../support/flatbuffer.ts";

const bytes = flatbuffer(
  {
    0: { i32: -5 },
    1: { text: "naïve" },
    2: { table: { 3: { i8: -2 } } },
    3: { tables: [{ 0: { i32: 1 } }, {}, { 0: { i32: 3 } }] },
    4: { i32s: [1, -2, 3] },
    5: { f32s: [0.5, -1] },
    6: { i64s: [-(2 ** 40), 7] },
    8: { bytes: Uint8Array.of(1, 2, 3) },
  },
  "TEST",
);
const root = new Flatbuffer(bytes, "file").root();

test("reads every kind of field", () => {
  expect(root.i32(0)).toBe(-5);
  expect(root.text(1, 6)).toBe("naïve");
  expect(root.table(2)?.i8(3)).toBe(-2);
  expect(root.tables(3, 9).map((table) => table.i32(0))).toEqual([1, 0, 3]);
  expect(root.item(3, 2)?.i32(0)).toBe(3);
  expect(root.i32s(4, 9)).toEqual([1, -2, 3]);
  expect(root.f32s(5, 9)).toEqual([0.5, -1]);
  expect(root.i64s(6, 9)).toEqual([-(2 ** 40), 7]);
  expect([...root.blob(8)]).toEqual([1, 2, 3]);
  expect(root.count(3)).toBe(3);
});

test.each([7, 9, 1000])("field %d, which the file leaves out, has the default of its kind", (field) => {
  expect(root.i32(field)).toBe(0);
  expect(root.i8(field)).toBe(0);
  expect(root.text(field, 9)).toBeNull();
  expect(root.table(field)).toBeNull();
  expect(root.tables(field, 9)).toEqual([]);
  expect(root.item(field, 0)).toBeNull();
  expect(root.i32s(field, 9)).toEqual([]);
  expect(root.blob(field)).toHaveLength(0);
  expect(root.count(field)).toBe(0);
});

test("an item that is not there is null", () => {
  expect(root.item(3, 3)).toBeNull();
  expect(root.item(3, -1)).toBeNull();
});

test("refuses more than the caller wants", () => {
  expect(() => root.text(1, 5)).toThrow("file: got text of 6 bytes at byte");
  expect(() => root.tables(3, 2)).toThrow("file: got 3 items at byte");
  expect(() => root.f32s(5, 1)).toThrow("expected at most 1");
});

test("reads nothing outside, whatever address stands in the file", () => {
  const read = (changed: Uint8Array): void => {
    const table = new Flatbuffer(changed, "file").root();
    table.text(1, 6);
    table.table(2)?.i8(3);
    table.tables(3, 9).forEach((item) => item.i32(0));
    table.item(3, 1);
    [table.i32s(4, 9), table.f32s(5, 9), table.i64s(6, 9), table.blob(8)].forEach((list) =>
      expect(list.length).toBeLessThan(10),
    );
  };
  // A window in a larger buffer: what stands around it must not be read.
  const around = new Uint8Array(bytes.length + 200).fill(0xff);
  let refused = 0;
  for (let at = 0; at < bytes.length; at++)
    for (const value of [0, 0x7f, 0x80, 0xff]) {
      around.set(bytes, 100);
      around[100 + at] = value;
      try {
        read(around.subarray(100, 100 + bytes.length));
      } catch (e) {
        expect((e as Error).name).toBe("ConfigError");
        refused++;
      }
    }
  expect(refused).toBeGreaterThan(50);
});

test.each([0, 3, 4, 7, 11])("refuses %d bytes", (length) => {
  expect(() => new Flatbuffer(bytes.slice(0, length), "file").root()).toThrow(
    `of ${length}, expected one inside the file: cut short or damaged`,
  );
});
