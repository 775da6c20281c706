/** The same misspelt name gets the same error in every object that a caller passes. */
import { expect, test } from "vitest";
import * as all from "../../src/entries/index.ts";
import { createPool } from "../../src/entries/pool.ts";
import { loadPlanSync } from "../../src/entries/plan.ts";
import { compilePlan, drawPng, rasterise } from "../../src/entries/node.ts";
import { createDecoderSync as createCoreSync } from "../../src/entries/core.ts";

const V8 = { family: "yolov8", classes: 1, inputSize: [64, 64] } as const;
const outputs = { output0: { data: new Float32Array(5 * 84), dims: [1, 5, 84] } };
const frame = { width: 64, height: 64, resize: "stretch" } as const;
const about = { id: "1", source: "/a" };
/** Returns a decoder that has seen no frame: the names of tensors are checked at the first one. */
const fresh = (): all.Decoder => all.createDecoderSync(V8);
const decoder = all.createDecoderSync(V8);
const image = { data: new Uint8Array(4 * 64 * 64), width: 64, height: 64 };
const cat = { class_id: 0, label: "cat", confidence: 0.5, x_min: 0, y_min: 0, x_max: 1, y_max: 1 };
const anchors = { inputSize: [64, 64], strides: [16], minScale: 0.2, maxScale: 0.9 };
const crop = { cx: 32, cy: 32, width: 20, height: 20 };
const prototypes = { data: new Float32Array(4), dims: [1, 1, 2, 2] };
const masked = { prototypes, coefficients: [1], boxes: [0, 0, 1, 1], inputSize: [8, 8] };
const scores = { data: new Float32Array(8), dims: [1, 2, 2, 2], order: "NCHW" };
const context = { canvas: { width: 8, height: 8 } };
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"></svg>';
const photo = new Uint8Array(0);

// Each call gets the object with one name that is wrong. `as never`: the compiler would refuse all of them.
const CALLS: readonly (readonly [typo: string, meant: string, call: (typo: object) => unknown])[] = [
  ["confidenceTreshold", "confidenceThreshold", (o) => all.createDecoderSync({ ...V8, ...o })],
  ["confidenceTreshold", "confidenceThreshold", (o) => all.createDecoderSync(V8, o)],
  ["confidenceTreshold", "confidenceThreshold", (o) => createCoreSync(V8, o)],
  ["confidenceTreshold", "confidenceThreshold", (o) => compilePlan(V8, { outputs, ...o } as never)],
  ["confidenceTreshold", "confidenceThreshold", (o) => decoder.update(o)],
  ["confidenceTreshold", "confidenceThreshold", (o) => all.createTracker({ method: "ocsort", ...o })],
  ["conf", "confidenceThreshold", (o) => all.createDecoderSync({ ...V8, ...o })],
  ["conf", "confidenceThreshold", (o) => all.createDecoderSync(V8, o)],
  ["conf", "confidenceThreshold", (o) => decoder.update(o)],
  ["conf", "confidenceThreshold", (o) => all.createTracker({ method: "ocsort", ...o })],
  ["conf", "scoreThreshold", (o) => all.nms([], [], o)],
  ["conf", "scoreThreshold", (o) => all.suppress([], [], o)],
  ["confidence", "scoreThreshold", (o) => all.nmsOriented([], [], o)],
  ["iou", "iouThreshold", (o) => all.nms([], [], o)],
  ["iou", "iouThreshold", (o) => all.suppress([], [], o)],
  ["iou", "iouThreshold", (o) => all.fuse([{ boxes: [], scores: [] }], o)],
  ["iou", "iouThreshold", (o) => all.createTracker({ method: "sort", ...o })],
  ["iou", "threshold", (o) => all.createTileMerger([64, 64], o)],
  ["agnostic", "perClass", (o) => all.createTileMerger([64, 64], o)],
  ["agnostic", "rules", (o) => all.createDecoderSync(V8, o)],
  ["topk", "maxDetections", (o) => all.suppressDetections(decoder.decode(outputs), o)],
  ["wieght", "weight", (o) => all.fuse([{ boxes: [], scores: [], ...o }])],
  ["agnle", "angle", (o) => decoder.prepare(image, { crop: { ...crop, ...o } })],
  ["agnle", "angle", (o) => decoder.decode(outputs, { ...frame, crop: { ...crop, ...o } })],
  ["rotaton", "rotation", (o) => decoder.decode(outputs, { ...frame, ...o })],
  ["fromat", "format", (o) => decoder.prepare({ ...image, ...o })],
  ["crpo", "crop", (o) => decoder.prepare(image, o)],
  ["ordr", "order", (o) => all.prepareImage(image, { size: [64, 64], ...o })],
  ["typ", "type", (o) => all.createDecoderSync(V8, { outputs: [{ dims: [1, 5, 84], ...o }] })],
  ["scle", "scale", (o) => all.createDecoderSync(V8, { outputs: { output0: { dims: [1, 5, 84], ...o } } })],
  ["scle", "scale", (o) => fresh().decode({ output0: { ...outputs.output0, ...o } })],
  ["zero_point", "zeroPoint", (o) => fresh().decode({ output0: { ...outputs.output0, ...o } })],
  ["subjet", "subject", (o) => all.toPacket(decoder, outputs, null, { ...about, ...o })],
  ["timestamp", "", (o) => all.toPacket(decoder, outputs, null, { ...about, ...o })],
  ["maxByts", "", (o) => all.fromPacket(new Uint8Array(0), o)],
  ["image_id", "imageId", (o) => all.toCoco([], { width: 8, height: 8, ...o } as never)],
  ["categores", "categories", (o) => all.toCoco([], { width: 8, height: 8, imageId: 1, ...o })],
  ["overlp", "overlap", (o) => all.tiles([64, 64], { tile: 8, ...o })],
  ["slice", "tile", (o) => all.tiles([64, 64], o as never)],
  ["aspectRatos", "aspectRatios", (o) => all.ssdAnchors({ ...anchors, ...o } as never)],
  ["levls", "levels", (o) => all.efficientdetPriors([512, 512], o)],
  ["minSiz", "minSize", (o) => all.caffePriors([64, 64], [{ width: 1, height: 1, ...o } as never])],
  ["unxs", "unxz", (o) => all.readModel(photo, o)],
  ["theshold", "threshold", (o) => all.masksOf(masked as never, o)],
  ["fram", "frame", (o) => all.masksOf({ ...masked, ...o } as never)],
  ["clases", "classes", (o) => all.classMap(scores as never, o)],
  ["fram", "frame", (o) => all.valueMap(prototypes, o)],
  ["edgs", "edges", (o) => all.drawCanvas(context as never, [cat], o)],
  ["titel", "title", (o) => all.drawSvg(photo, [cat], o)],
  ["titel", "title", (o) => drawPng(photo, [cat], o)],
  ["widht", "width", (o) => rasterise(svg, o)],
  ["engin", "engine", (o) => loadPlanSync(photo, o)],
  ["thread", "threads", (o) => createPool({ networks: [{ config: V8 }], ...o })],
  ["runtim", "runtime", (o) => all.createDetector({ model: photo, ...o } as never)],
  [
    "warmup",
    "warmUp",
    (o) => all.createDetector({ model: photo, runtime: { open: () => null } } as never, o),
  ],
  ["keypoint", "keypoints", (o) => all.createDecoderSync(V8, { roles: { boxes: "output0", ...o } })],
  ["multi_label", "multiLabel", (o) => all.createDecoderSync(V8, { rules: o })],
  ["sigm", "sigma", (o) => all.createDecoderSync(V8, { suppression: { method: "soft-gaussian", ...o } })],
];

const opened = { model: photo, runtime: { open: () => null } } as never;
/** Known options in a wrong place, with words of the error about the right place. */
const MISPLACED: readonly (readonly [name: string, place: string, call: (options: object) => unknown])[] = [
  [
    "labels",
    "second argument of createDetector",
    (o) => all.createDetector({ ...(opened as object), ...o } as never),
  ],
  [
    "options",
    "second argument of createDetector",
    (o) => all.createDetector({ ...(opened as object), ...o } as never),
  ],
  ["runtime", "first argument of createDetector", (o) => all.createDetector(opened, o)],
  ["points", "first argument of createDetector", (o) => all.createDetector(opened, o)],
  ["warmUp", "option of createDetector", (o) => all.createDecoderSync(V8, o)],
  ["reuse", "option of createDetector", (o) => all.createDecoder(V8, o)],
  ["fresh", "second argument of createDecoder", (o) => all.createDecoderSync({ ...(V8 as object), ...o })],
  ["labels", "networks[i].options", (o) => createPool({ networks: [{ config: V8 }], ...o })],
  ["labels", "networks[0].options", (o) => createPool({ networks: [{ config: V8, ...o }] })],
  ["iouThreshold", "part of the plan", (o) => loadPlanSync(photo, o as never)],
];

test.each(MISPLACED)("%s belongs elsewhere: %s", async (name, place, call) => {
  const error = await (async () => call({ [name]: 1 }))().then(
    () => null,
    (e: unknown) => e as Error,
  );
  expect(error?.message).toContain(name);
  expect(error?.message).toContain(place);
});

test.each(CALLS)("%s, for %s: %s", async (typo, meant, call) => {
  const error = await (async () => call({ [typo]: 1 }))().then(
    () => null,
    (e: unknown) => e as Error,
  );
  expect(error?.message).toContain(typo);
  expect(error?.message).toMatch(/got an unknown name, (.*, )?expected (one of |a known one)/);
  if (meant) expect(error?.message).toContain(`did you mean ${meant}`);
});
