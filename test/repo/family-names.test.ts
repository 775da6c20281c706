/**
 * Facts about a family are fields of its row in core/families/. No other file of src/ compares with a family's name,
 * lists names, keys an object by them or matches them with a regular expression; and none matches the name of a
 * reading.
 */
import { readFileSync, readdirSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { FAMILIES } from "../../src/core/families.ts";
import { READING_NAMES } from "../../src/core/readings.ts";

const root = new URL("../../src/", import.meta.url);
const TABLES = [
  "core/families.ts",
  "core/family.ts",
  "core/family-names.ts",
  "core/archive-parsers.ts",
  "core/parsers.ts",
  "core/pose-families.ts",
  "core/readings.ts",
  "core/exporters.ts",
  "core/other-names.ts",
  "config/model/libreyolo.ts",
];
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((f) => f.replaceAll("\\", "/"))
  .filter((f) => f.endsWith(".ts") && !TABLES.includes(f) && !/^(core\/families|shapes\/forms)\//.test(f));

/** Words of family names in a regular expression. */
const FAMILY_WORD = /yolo|nanodet|picodet|rtm-?det|fastestdet|detr|ssd|tflite|blazeface|ultraface/i;

/** These are roles of tensors too. They count only where they are compared. */
const SHARED = ["boxes", "keypoints"];

/** True if the node stands in an (in)equality, a switch case, or an argument of includes and its like. */
function isCompared(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isCaseClause(parent)) return true;
  if (ts.isBinaryExpression(parent)) return /^[!=]==?$/.test(parent.operatorToken.getText());
  return (
    ts.isCallExpression(parent) &&
    /\.(includes|indexOf|startsWith|endsWith|has)$/.test(parent.expression.getText())
  );
}

/** Returns the places in a source that decide by the name of a family or of a reading. */
function decisions(source: string): string[] {
  const file = ts.createSourceFile("x.ts", source, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const report = (): number =>
      found.push(`line ${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.getText()}`);
    if (ts.isStringLiteralLike(node) && (FAMILIES as readonly string[]).includes(node.text)) {
      if (!SHARED.includes(node.text) || isCompared(node)) report();
    }
    // a type is checked by the compiler, an object's key is not
    const isKey = ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node);
    if (
      isKey &&
      !SHARED.includes(node.name.getText()) &&
      (FAMILIES as readonly string[]).includes(node.name.getText())
    )
      report();
    if (ts.isRegularExpressionLiteral(node)) {
      const { parent } = node.parent;
      const subject = ts.isCallExpression(parent) ? parent.arguments.map((a) => a.getText()).join() : "";
      const namesReading = READING_NAMES.some((name) => node.text.includes(name));
      if (FAMILY_WORD.test(node.text) || namesReading || /famil|subtype|reading/i.test(subject)) report();
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

test.each([
  'if (q.family === "yolov2") act();',
  'const nano = family !== "nanodet";',
  'switch (family) { case "boxes": act(); }',
  'const list = ["yolov8", "yolov5"];',
  'if (["boxes"].includes(family) || family.startsWith("ssd")) act();',
  "if (/10|26/.test(query.family)) act();",
  "const has = /ssd|tflite|detr/.test(name);",
  "const build = { blazeface: one, ultraface: two }[family];",
  "if (/^yolo/.test(name)) act();",
  "if (/-grid$/.test(reading)) act();",
])("the search finds %s", (source) => {
  expect(decisions(source)).not.toEqual([]);
});

test("the search passes roles and ordinary expressions", () => {
  expect(decisions('playersOf(query, specs, "boxes"); /box|reg/.test(output);')).toEqual([]);
});

test("no file but the tables decides by the name of a family or of a reading", () => {
  expect(files.length).toBeGreaterThan(40);
  const found = files.flatMap((file) =>
    decisions(readFileSync(new URL(file, root), "utf8")).map((place) => `${file} ${place}`),
  );
  expect(found).toEqual([]);
});

test("one function settles the family of a config, so that decoder, detector and preparation agree", () => {
  const callers = files.filter((file) => /\bsettleFamily\(/.test(readFileSync(new URL(file, root), "utf8")));
  expect(callers).toEqual(["heads/query.ts"]);
});
