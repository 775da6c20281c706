import { expect, test } from "vitest";
import { pageWords } from "../../site/src/page-words.ts";
import { readModel } from "../../src/entries/index.ts";
import { adviceOnCocoLabels } from "../../src/core/labels.ts";
import { input, output } from "../support/model-files.ts";
import { onnxFile } from "../support/onnx.ts";

test("messages name what the page has, not commands and options", async () => {
  const file = onnxFile({ inputs: [input(1, 3, 64, 64)], outputs: [output("x", 1, 252, 85)] });
  const [{ message }] = (await readModel(file)).missing;
  expect(message).toContain("boxwright inspect");
  expect(pageWords(message)).toMatch(/the readings below say what the shapes can be$/);
  for (const classes of [80, 91])
    expect(pageWords(adviceOnCocoLabels(null, classes) as string)).toBe(
      'the button "COCO names" names them if they are COCO\'s',
    );
});
