/**
 * Measures a live frame in a page: from the `<video>` of Chromium's fake camera to boxes, without the network. Instead
 * of the network, a new array is written for each frame, as in onnxruntime-web. live.ts bundles this page, and replaces
 * WAY. The result is in `boxwrightResult`.
 */
import { createDetector, onnxRuntime } from "../../src/entries/index.ts";
import { optionsOf } from "../typed-options.ts";
import { IOU_THRESHOLD } from "../workloads.ts";
import { frameWorkload } from "./frame.ts";
import { type Pipeline, openPipeline } from "./ultralytics.ts";

/** Method by which a row reads the pixels of the frame. */
export type Way = "copyTo" | "canvas" | "ultralytics";

declare const WAY: Way;
declare const MILLISECONDS: number;

/** Types of the DOM for this file: the project is compiled without them. */
interface Video {
  muted: boolean;
  srcObject: object;
  readonly videoWidth: number;
  readonly videoHeight: number;
  play(): Promise<void>;
  requestVideoFrameCallback(callback: () => void): number;
}
interface Context {
  drawImage(source: Video, x: number, y: number): void;
  getImageData(x: number, y: number, width: number, height: number): { data: Uint8Array };
}
interface Page {
  document: { createElement(name: "video"): Video };
  navigator: { mediaDevices: { getUserMedia(wanted: object): Promise<object> } };
  OffscreenCanvas: new (
    width: number,
    height: number,
  ) => { getContext(kind: "2d", options: object): Context };
  VideoFrame?: unknown;
  boxwrightResult?: object;
  boxwrightError?: string;
}
const page = globalThis as unknown as Page;

const SIZE = { width: 1280, height: 720 };

async function openCamera(): Promise<Video> {
  const video = page.document.createElement("video");
  video.muted = true;
  video.srcObject = await page.navigator.mediaDevices.getUserMedia({ video: SIZE });
  await video.play();
  return video;
}

/** Result of a step, which handles one frame: the count of boxes, and the milliseconds of its parts. */
interface Taken {
  readonly found: number;
  readonly read: number;
  readonly prepare: number;
  readonly decode: number;
}

/** Returns a function that handles one frame with our detector, as an app with ONNX Runtime would. */
async function ours(video: Video): Promise<() => Promise<Taken>> {
  const workload = frameWorkload();
  const { inputSize } = workload;
  const { data, ...about } = workload.tensors.output0;
  const network = {
    inputNames: ["images"],
    inputMetadata: [{ name: "images", isTensor: true, type: "float32", shape: [1, 3, inputSize, inputSize] }],
    outputNames: ["output0"],
    run: () => Promise.resolve({ output0: { ...about, data: data.slice() } }),
  };
  const ort = { env: {}, Tensor: Object, InferenceSession: { create: () => Promise.resolve(network) } };
  const source = { model: network, runtime: onnxRuntime(ort as never), config: optionsOf(workload) };
  const detector = await createDetector(source as never);
  return async () => {
    const start = performance.now();
    const found = (await detector.detect(video)).length;
    const { prepare, run, decode } = detector.timings;
    return { found, read: performance.now() - start - prepare - run - decode, prepare, decode };
  };
}

/** Returns a function that handles one frame with @ultralytics/yolo, which reads pixels through a canvas. */
async function theirs(video: Video): Promise<() => Promise<Taken>> {
  const pipeline: Pipeline = await openPipeline();
  const { tensors, threshold } = frameWorkload();
  const { data, dims } = tensors.output0;
  const shapes = Uint32Array.of(dims.length, ...dims);
  const { width, height } = SIZE;
  const context = new page.OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  return () => {
    const start = performance.now();
    context.drawImage(video, 0, 0);
    const { data: pixels } = context.getImageData(0, 0, width, height);
    const read = performance.now();
    pipeline.preprocess_rgba(new Uint8Array(pixels.buffer), width, height);
    const prepared = performance.now();
    const outputs = [(data as Float32Array).slice()];
    const run = performance.now();
    const { boxes } = pipeline.postprocess(outputs, shapes, 0, threshold, IOU_THRESHOLD, null, "", "");
    return Promise.resolve({
      found: boxes.length,
      read: read - start,
      prepare: prepared - read,
      decode: performance.now() - run,
    });
  };
}

/** Times one step for each new frame of the camera. */
async function measure(): Promise<object> {
  if (WAY === "canvas") delete page.VideoFrame;
  const video = await openCamera();
  if (video.videoWidth !== SIZE.width)
    throw new Error(`The camera gives ${video.videoWidth} pixels in a row.`);
  const step = WAY === "ultralytics" ? await theirs(video) : await ours(video);
  const steps: Taken[] = [];
  const warm = performance.now() + MILLISECONDS / 2;
  const end = warm + MILLISECONDS;
  while (performance.now() < end) {
    await new Promise<void>((resolve) => video.requestVideoFrameCallback(resolve));
    const start = performance.now();
    const taken = await step();
    if (start > warm) steps.push(taken);
  }
  const sorted = (of: (taken: Taken) => number): number[] => steps.map(of).sort((a, b) => a - b);
  const middle = (times: readonly number[]): number => times[times.length >> 1];
  const whole = sorted(({ read, prepare, decode }) => read + prepare + decode);
  return {
    median: middle(whole),
    min: whole[0],
    p90: whole[Math.floor(whole.length * 0.9)],
    read: middle(sorted(({ read }) => read)),
    prepare: middle(sorted(({ prepare }) => prepare)),
    decode: middle(sorted(({ decode }) => decode)),
    frames: steps.length,
    found: steps[0].found,
  };
}

try {
  page.boxwrightResult = await measure();
} catch (error) {
  page.boxwrightError = String(error);
}
