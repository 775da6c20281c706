/** Results of a detector: the caller's own, or with `reuse` one that the next image overwrites. */
import { expect, test } from "vitest";
import { createDetector } from "../../src/entries/index.ts";
import type { DetectorOptions } from "../../src/detect/source.ts";

const image = { data: new Uint8Array(64 * 64 * 4).fill(90), width: 64, height: 64 };

/** A network that finds person and cat in turn. */
async function make(options: DetectorOptions = {}, overlaps = false) {
  let runs = 0;
  const memory = new Float32Array(3 * 64 * 64);
  const run = async () => {
    const data = new Float32Array(6 * 84);
    const scores = runs++ % 2 ? [0, 0.9] : [0.9, 0];
    [32, 32, 20, 20, ...scores].forEach((v, channel) => (data[channel * 84 + 10] = v));
    return { output0: { data, dims: [1, 6, 84] } };
  };
  const session = {
    inputs: [{ name: "images", dims: [1, 3, 64, 64], type: "float32" }],
    overlaps,
    createLane: () => ({ input: () => memory, run, release: () => undefined, close: () => undefined }),
    close: () => undefined,
  };
  const config = { family: "yolov8", labels: ["person", "cat"], inputSize: [64, 64] };
  return createDetector({ session, config: config as never }, { warmUp: 0, ...options });
}

const labelOf = (found: { at(i: number): { label: string } | undefined }): string | undefined =>
  found.at(0)?.label;

test.each([false, true])("kept results stay as they are, overlapping runs: %s", async (overlaps) => {
  const detector = await make({}, overlaps);
  const kept = [await detector.detect(image), await detector.detect(image)];
  expect(kept.map(labelOf)).toEqual(["person", "cat"]);
  const all = [];
  for await (const found of detector.detectAll([image, image, image])) all.push(found);
  expect(all.map(labelOf)).toEqual(["person", "cat", "person"]);
  await detector.close();
});

test("with reuse the result is one, which the next image overwrites", async () => {
  const detector = await make({ reuse: true });
  const kept = [await detector.detect(image), await detector.detect(image)];
  expect(kept[0]).toBe(kept[1]);
  expect(kept.map(labelOf)).toEqual(["cat", "cat"]);
  await expect(make({ reuse: 1 } as never)).rejects.toThrow(/options\.reuse: got 1, expected true or false/);
  await expect(make({ resue: true } as never)).rejects.toThrow(/did you mean reuse/);
});
