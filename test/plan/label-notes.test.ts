/** Names of another numbering than the class ids: noted, with the list that fits. */
import { describe, expect, test } from "vitest";
import { classMap, createDecoderSync, labelsOf } from "../../src/entries/index.ts";

const f32 = (dims: number[], ...values: number[]) => ({ data: Float32Array.from(values), dims });
const LISTS: Record<string, object> = {
  "tflite-postprocess": {
    boxes: f32([1, 1, 4], 0.1, 0.1, 0.5, 0.5),
    classes: f32([1, 1], 15),
    scores: f32([1, 1], 0.9),
    count: f32([1], 1),
  },
  "ssd-detection-output": { output: f32([1, 1, 1, 7], 0, 15, 0.9, 0.1, 0.1, 0.5, 0.5) },
  efficientdet: { output: f32([1, 7], 0, 30, 30, 150, 150, 0.9, 15) },
  yolov10: { output: f32([1, 1, 6], 30, 30, 150, 150, 0.9, 15) },
};

function notesOf(family: string, labels: unknown): string {
  const notes: string[] = [];
  const options = { family, labels, inputSize: [300, 300] };
  createDecoderSync(options as never, { onNote: (note) => notes.push(note) }).decode(LISTS[family] as never);
  return notes.join("\n");
}

describe("COCO's names", () => {
  test.each(["tflite-postprocess", "ssd-detection-output", "efficientdet"])("without gaps, %s", (family) => {
    expect(notesOf(family, "coco80")).toMatch(/own ids, 1..90: labels: "coco91" names those/);
    expect(notesOf(family, "coco91")).toBe("");
    expect(notesOf(family, ["background", ...Array.from({ length: 80 }, (_, i) => `c${i}`)])).toBe("");
  });
  test("with gaps, of a network without", () => {
    expect(notesOf("yolov10", "coco91")).toMatch(
      /labels begin with "background".*"coco80" are those of COCO/,
    );
    expect(notesOf("yolov10", "coco80")).toBe("");
  });
});

test("VOC's names without the background that the ids count", () => {
  expect(notesOf("ssd-detection-output", "voc20")).toMatch(/count the background as 0.*"aeroplane".*"voc21"/);
  expect(notesOf("ssd-detection-output", "voc21")).toBe("");
});

describe("names of a class map that lack the background", () => {
  const data = new Float32Array(4 * 21);
  for (let i = 0; i < 4; i++) data[i * 21 + 15] = 5;
  const tensor = { data, dims: [1, 2, 2, 21] };
  test("are refused where nothing says which class has none", () => {
    expect(() => classMap(tensor, { labels: labelsOf("voc20"), classes: 21 })).toThrow(
      /20 names for 21 classes, expected 21 names: \["background", \.\.\.labels\]/,
    );
    const ids = { data: new Uint8Array(4).fill(15), dims: [2, 2] };
    expect(() => classMap(ids, { labels: labelsOf("voc20"), classes: 21 })).toThrow(
      /20 names for 21 classes/,
    );
  });
  test("move up by one where the background is stated", () => {
    const map = classMap(tensor, { labels: labelsOf("voc20"), classes: 21, background: true });
    expect(map.labels?.[map.data[0]]).toBe("person");
  });
});
