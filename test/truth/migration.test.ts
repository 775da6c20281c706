/** The blocks of docs/migration.md give what the calls that they replace give, with the real TensorFlow.js. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { beforeAll, expect, test } from "vitest";
import { mulberry32 } from "../../bench/random.ts";
import { type NmsOptions, type TypedOptions, createDecoder, nms } from "../../src/entries/index.ts";

const page = readFileSync(new URL("../../docs/migration.md", import.meta.url), "utf8");

/** Returns the options that the code block of a section writes down. */
function optionsIn(heading: string): unknown {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const block = /```js\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
  const written = /\(.*?(\{[\s\S]*\})\);/.exec(block)?.[1] ?? "null";
  return new Function(`return ${written}`)() as unknown;
}

/** Returns corners of boxes, y first, 0..1, that overlap often. */
function yxyxBoxes(count: number, random: () => number): Float32Array {
  const boxes = new Float32Array(count * 4);
  for (let i = 0; i < boxes.length; i += 4) {
    const [y, x] = [random() * 0.5, random() * 0.5];
    boxes.set([y, x, y + 0.1 + random() * 0.3, x + 0.1 + random() * 0.3], i);
  }
  return boxes;
}

beforeAll(async () => {
  setWasmPaths(`${dirname(createRequire(import.meta.url).resolve("@tensorflow/tfjs-backend-wasm"))}/`);
  await tf.setBackend("wasm");
});

test("nonMaxSuppressionAsync", async () => {
  const options = optionsIn("TensorFlow.js: nonMaxSuppressionAsync") as Required<NmsOptions>;
  const { maxDetections, iouThreshold, scoreThreshold } = options;
  for (let seed = 0; seed < 50; seed++) {
    const random = mulberry32(seed);
    const boxes = yxyxBoxes(60, random);
    // Whole hundredths: some scores are equal, and some are at the threshold.
    const scores = Float32Array.from({ length: 60 }, () => Math.round(random() * 100) / 100);
    const tensor = tf.tensor2d(boxes, [60, 4]);
    const kept = await tf.image.nonMaxSuppressionAsync(
      tensor,
      tf.tensor1d(scores),
      maxDetections,
      iouThreshold,
      scoreThreshold,
    );
    expect([...nms(boxes, scores, options)], `seed ${seed}`).toEqual([...(await kept.data())]);
  }
  // At the threshold itself: IoU is 1/2.
  const half = [0, 0, 1, 1, 0, 0, 1, 0.5];
  expect([...nms(half, [0.9, 0.8], options)]).toEqual([0]);
  const kept = await tf.image.nonMaxSuppressionAsync(
    tf.tensor2d(half, [2, 4]),
    tf.tensor1d([0.9, 0.8]),
    2,
    0.5,
  );
  expect([...(await kept.data())]).toEqual([0]);
});

test("coco-ssd: suppression over all classes, by the best class of each box", async () => {
  const [cells, classes] = [1917, 90];
  const options = optionsIn("TensorFlow.js: coco-ssd") as TypedOptions & { confidenceThreshold: number };
  const decoder = await createDecoder(options);
  for (let seed = 0; seed < 5; seed++) {
    const random = mulberry32(seed);
    const boxes = yxyxBoxes(cells, random);
    const scores = Float32Array.from({ length: cells * classes }, () => random() ** 40);
    const rows = Array.from({ length: cells }, (_, i) => scores.subarray(i * classes, (i + 1) * classes));
    const best = Float32Array.from(rows, (row) => Math.max(...row));
    // coco-ssd takes its score threshold for the IoU threshold too.
    const threshold = options.confidenceThreshold;
    const kept = await tf.image.nonMaxSuppressionAsync(
      tf.tensor2d(boxes, [cells, 4]),
      best,
      20,
      threshold,
      threshold,
    );
    const expected = [...(await kept.data())].map((i) => {
      const [y_min, x_min, y_max, x_max] = boxes.subarray(i * 4, i * 4 + 4);
      return [rows[i].indexOf(best[i]), best[i], x_min, y_min, x_max, y_max];
    });
    const outputs = {
      scores: { data: scores, dims: [1, cells, classes] },
      boxes: { data: boxes, dims: [1, cells, 1, 4] },
    };
    const found = Array.from(decoder.decode(outputs), (d) => [
      d.class_id,
      d.confidence,
      d.x_min,
      d.y_min,
      d.x_max,
      d.y_max,
    ]);
    expect(expected.length).toBeGreaterThan(3);
    expect(found, `seed ${seed}`).toEqual(expected);
  }
});

test("NMSBoxes: a box at the threshold is kept, a score at the threshold is not", () => {
  const options = optionsIn("OpenCV: NMSBoxes") as NmsOptions;
  // x, y, width, height: the second box is inside the first, IoU 0.45 in f32. Both are kept at the threshold.
  const boxes = [10, 10, 100, 100, 10, 10, 100, 45, 200, 200, 10, 10];
  expect([...nms(boxes, [0.9, 0.8, 0.25], options)]).toEqual([0, 1]);
  expect([...nms(boxes, [0.9, 0.8, 0.26], { ...options, iouThreshold: 0.44 })]).toEqual([0, 2]);
});
