import fc from "fast-check";
import { expect, test } from "vitest";
import { readLiteral } from "../../../src/config/model/literal.ts";

test.each([
  ["{0: 'person', 1: \"driver's hat\"}", { 0: "person", 1: "driver's hat" }],
  ["[640, 640]", [640, 640]],
  ["(17, 3)", [17, 3]],
  ["(17,)", [17]],
  [
    "{'half': False, 'opset': None, 'nms': True, 'iou': 7e-1}",
    { half: false, opset: null, nms: true, iou: 0.7 },
  ],
  ["'a\\'b\\\\c\\n\\xe9\\u00e9\\U0001F600'", "a'b\\c\néé\u{1f600}"],
  [" { } ", {}],
  ["[]", []],
  ["-1.5", -1.5],
])("reads %s as Python does", (text, value) => {
  expect(readLiteral(text)).toEqual(value);
});

test.each([
  "",
  "[1",
  "{1: 2",
  "'a",
  "{[1]: 2}",
  "{1 2}",
  "[1 2]",
  "1 2",
  "__import__('os')",
  "1..2",
  "[".repeat(100) + "]".repeat(100),
  `[${"0,".repeat(200_001)}]`,
])("no literal: case %#", (text) => {
  expect(readLiteral(text)).toBeUndefined();
});

test("reads whatever JSON writes", () => {
  const json = fc
    .jsonValue({ maxDepth: 5, noUnicodeString: false })
    .filter((v) => !JSON.stringify(v).includes("__proto__"));
  fc.assert(
    fc.property(json, (value) => {
      const text = JSON.stringify(value);
      expect(readLiteral(text)).toEqual(JSON.parse(text));
    }),
  );
});
