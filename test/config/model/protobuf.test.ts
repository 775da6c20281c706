import { expect, test } from "vitest";
import { Message } from "../../../src/config/model/protobuf.ts";
import { block, int } from "../../support/onnx.ts";

/** Returns the fields of a message: number and value. */
function fieldsOf(bytes: readonly number[]): [number, number | string][] {
  const message = new Message(Uint8Array.from(bytes), "file");
  const found: [number, number | string][] = [];
  while (message.next()) found.push([message.field, message.field % 2 ? message.number() : message.text(99)]);
  return found;
}

test("reads numbers and texts, in any order, and field numbers of several bytes", () => {
  expect(fieldsOf([...int(1, 300), ...block(2, "é"), ...int(1, 0), ...int(2001, 7)])).toEqual([
    [1, 300],
    [2, "é"],
    [1, 0],
    [2001, 7],
  ]);
});

test.each([0, 1, 127, 128, 16383, 16384, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER])(
  "reads %d",
  (value) => {
    expect(fieldsOf(int(1, value))).toEqual([[1, value]]);
  },
);

test("a negative number is ten bytes long, and far above what is exact", () => {
  const [[, value]] = fieldsOf([8, ...Array(9).fill(0xff), 1]);
  expect(value).toBe(2 ** 64);
});

test("skips fields of four and eight bytes", () => {
  const message = new Message(Uint8Array.from([13, 1, 2, 3, 4, 9, 1, 2, 3, 4, 5, 6, 7, 8, ...int(3, 5)]));
  expect([message.next(), message.next(), message.next(), message.number(), message.next()]).toEqual([
    true,
    true,
    true,
    5,
    false,
  ]);
});

test("a message inside ends where it says, not where the file ends", () => {
  const message = new Message(Uint8Array.from([...block(2, [int(1, 5)]), ...int(3, 6)]), "file");
  message.next();
  const inner = message.message("inner");
  expect([inner.next(), inner.number(), inner.next()]).toEqual([true, 5, false]);
  expect([message.next(), message.field]).toEqual([true, 3]);
});

test.each([
  ["a text past the end", [18, 5, 65], "got field 2 of 5 bytes at byte 2, expected at most 1: cut short"],
  [
    "a number without an end",
    [8, 0x80],
    "got the end of the message at byte 2, expected a number: cut short",
  ],
  ["a number of eleven bytes", [8, ...Array(10).fill(0x80), 1], "more than ten bytes of a number at byte 11"],
  ["a group", [11], "got wire type 3 at byte 0, expected 0, 1, 2 or 5. Download or export it again"],
  ["field number 0", [2, 0], "got field number 0 at byte 0"],
  ["eight bytes past the end", [9, 1], "got field 1 of 8 bytes"],
])("refuses %s", (_, bytes, message) => {
  expect(() => fieldsOf(bytes)).toThrow(message);
});

test("refuses a field of another kind, and a text that is too long", () => {
  const number = new Message(Uint8Array.from(int(2, 5)));
  number.next();
  expect(() => number.text(9)).toThrow("got wire type 0 in field 2, expected text");
  expect(() => number.message("x")).toThrow("expected a message");
  const text = new Message(Uint8Array.from(block(2, "abc")));
  text.next();
  expect(text.text(3)).toBe("abc");
  expect(() => text.text(2)).toThrow("got text of 3 bytes in field 2, expected at most 2");
  expect(() => text.number()).toThrow("expected a number");
});
