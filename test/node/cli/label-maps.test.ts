/** `--masks png`: label maps as grey pictures, read back by pngjs. */
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { createDecoderSync, labelMap } from "../../../src/entries/index.ts";
import { labelPng } from "../../../src/node/cli/masks.ts";
import { greyPng } from "../../../src/node/png.ts";
import { boxwright } from "../../support/cli.ts";
import { fixture } from "../../support/files.ts";

const model = fixture("detect/network.onnx");
const photo = fixture("photos/coffee.jpg");

test("the picture holds 0 and the rows from 1 up, at the size of the photo", () => {
  const decoder = createDecoderSync(
    { family: "yolov8", classes: 1, inputSize: [64, 32], task: "segment", coordinates: "pixels" },
    { engine: "ts" },
  );
  // Two boxes, cx cy w h score and one coefficient each, over a prototype that is positive everywhere.
  const rows = [
    [16, 16, 20, 10, 0.9, 1],
    [48, 16, 12, 20, 0.8, 1],
  ];
  const data = Float32Array.from({ length: 12 }, (_, i) => rows[i % 2][Math.floor(i / 2)]);
  const found = decoder.decode(
    { a: { data, dims: [1, 6, 2] }, b: { data: new Float32Array(128).fill(3), dims: [1, 1, 8, 16] } },
    { width: 128, height: 64, resize: "stretch" },
  );
  const png = PNG.sync.read(Buffer.from(labelPng(found)));
  expect([png.width, png.height]).toEqual([128, 64]);
  const grey = Array.from({ length: 128 * 64 }, (_, i) => png.data[4 * i]);
  expect(grey).toEqual(Array.from(labelMap(found, { size: "frame" }).data, (row) => row + 1));
  expect(new Set(grey)).toEqual(new Set([0, 1, 2]));
  // The middle of each box.
  expect([grey[32 * 128 + 32], grey[32 * 128 + 96], grey[0]]).toEqual([1, 2, 0]);
});

test("more than 255 rows take 16 bits", () => {
  const values = [0, 1, 255, 256, 1000, 32767];
  const bytes = Buffer.from(greyPng(3, 2, values));
  expect(bytes[24]).toBe(16);
  const { data } = PNG.sync.read(bytes, { skipRescale: true });
  expect(Array.from({ length: 6 }, (_, i) => (data as unknown as Uint16Array)[4 * i])).toEqual(values);
  expect(Buffer.from(greyPng(3, 1, [0, 1, 255]))[24]).toBe(8);
});

test.each([
  [
    ["run", model, photo, "--masks", "png"],
    "--masks png needs the folder that label maps go to. Add --draw FOLDER.",
  ],
  [
    ["run", model, photo, "--masks", "png", "--draw", "out-of-nothing"],
    "--masks png: this network gives no masks. Name the task: --task segment.",
  ],
])("%j is refused", async (words, message) => {
  const { code, err } = await boxwright(...words);
  expect(code).not.toBe(0);
  expect(err).toContain(message);
});
