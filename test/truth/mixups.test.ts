/**
 * Mistakes in a config, on recorded tensors of real networks: each is told by a note. The networks as they are get no
 * note, at any threshold.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { networks, type Network } from "../support/recorded-networks.ts";
import {
  type Recording,
  describeShared,
  fixtures,
  foldersIn,
  readJson,
  readRecording,
} from "../support/shared-data.ts";

type Tensors = Record<string, { readonly data: Float32Array; readonly dims: readonly number[] }>;

/** Returns every note on a few frames, at several thresholds and under two sets of rules. */
function notesOf(config: object, tensors: Tensors): string[] {
  const notes = new Set<string>();
  for (const rules of ["ultralytics", "depthai"] as const)
    for (const confidenceThreshold of [0.25, 0.05, 0.001]) {
      const options = { confidenceThreshold, rules, onNote: (note: string) => void notes.add(note) };
      const decoder = createDecoderSync(config as never, options);
      decoder.decode(tensors);
      decoder.decode(tensors);
    }
  return [...notes];
}

const tensorsOf = ({ tensors }: Recording, { outputs }: Pick<Network, "outputs">): Tensors =>
  Object.fromEntries(
    (outputs ?? Object.keys(tensors)).map((name) => [
      name,
      { data: tensors[name].data as Float32Array, dims: tensors[name].dims },
    ]),
  );

/** Returns the data channel by channel for each cell, under dims that say the opposite. */
const turned = (tensors: Tensors): Tensors =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, { data, dims }]) => {
      const [, channels, h, w] = dims;
      const cells = h * w;
      const moved = data.map((_, i) => data[(i % channels) * cells + Math.floor(i / channels)]);
      return [name, { data: moved, dims }];
    }),
  );

const swapped = (anchors: readonly number[]): number[] => anchors.map((_, i) => anchors[i ^ 1]);

const coco = { family: "yolov3", classes: 80 };
const ORDER = /^\d+ of the first \d+ candidates overlap no other: are dims and order/;
const SWAPPED = "the anchors are published ones with width and height swapped: is their order w, h?";

/** Tests of the mistakes that raw maps of any network with anchors can have. */
function testMaps(config: { readonly anchors: number[] }, tensors: Tensors): void {
  test("NHWC data under NCHW dims", () => {
    const notes = notesOf(config, turned(tensors));
    expect(notes).toContainEqual(expect.stringMatching(ORDER));
  });
  test("anchors with width and height swapped", () => {
    expect(notesOf({ ...config, anchors: swapped(config.anchors) }, tensors)[0]).toBe(SWAPPED);
  });
}

describe("yolo-fastest-1.1, in the repository", () => {
  const file = readJson(fixtures, "yolo-fastest-1.1", "config.json") as object;
  const [{ config: typed }] = networks;
  describe.each(foldersIn(fixtures, "yolo-fastest-1.1"))("%s", (photo) => {
    const recording = readRecording(fixtures, "yolo-fastest-1.1", photo);
    const tensors = tensorsOf(recording, {});
    const config = { ...(typed(recording) as { anchors: number[] }), scores: "logits" };
    test("gets no note as it is", () => {
      expect(notesOf(config, tensors)).toEqual([]);
      expect(createDecoderSync(file, { scores: "logits" }).decode(tensors).length).toBeGreaterThan(0);
    });
    testMaps(config, tensors);
    test("an input size that is not map size x stride", () => {
      const anchors = [config.anchors.slice(0, 6), config.anchors.slice(6)];
      const other = { ...coco, anchors, inputSize: [640, 640], scores: "logits" };
      const [note] = notesOf(other, tensors);
      expect(note).toMatch(/have the strides 32, 64 in a 640x640 input, .* is the input 320x320\?/);
    });
  });
});

describeShared("recorded networks", (data) => {
  const recorded = join(data, "recorded");
  const read = (folder: string, photo: string): Recording => readRecording(recorded, folder, photo);

  for (const n of networks)
    test.each(foldersIn(recorded, n.folder))(`${n.folder}, ${n.form}: no note on %s`, (photo) => {
      // Finished lists have rules of their own.
      const config = n.config(read(n.folder, photo)) as object;
      const notes = notesOf(config, tensorsOf(read(n.folder, photo), n));
      expect(notes).toEqual([]);
      const labels = { coco80: "coco80", coco90: "coco91", coco91: "coco91" }[n.labels as string];
      if (labels && "family" in config && !("labels" in config))
        expect(notesOf({ ...config, labels }, tensorsOf(read(n.folder, photo), n))).toEqual([]);
    });

  test.each(foldersIn(recorded, "yolox_nano"))("rows of YOLOX decoded as YOLOv5, %s", (photo) => {
    const config = { family: "yolov5", classes: 80, inputSize: [416, 416] };
    for (const note of notesOf(config, tensorsOf(read("yolox_nano", photo), {})))
      expect(note).toMatch(/^all of the first \d+ candidates lie within \d pixels of the left upper corner/);
  });

  describe.each(foldersIn(recorded, "yolov5n_320"))("raw maps of YOLOv5, %s", (photo) => {
    const [n] = networks.filter(({ folder, form }) => folder === "yolov5n_320" && form === "raw maps");
    const recording = read("yolov5n_320", photo);
    const config = n.config(recording) as { anchors: number[] };
    const tensors = tensorsOf(recording, n);
    testMaps(config, tensors);
    test("an input size that is not map size x stride", () => {
      const notes = notesOf({ ...config, inputSize: [640, 640] }, tensors);
      expect(notes[0]).toMatch(/have the strides 16, 32, 64 in a 640x640 input, .* is the input 320x320\?/);
    });
  });
});
