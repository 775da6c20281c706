/** Measures one row in a page. browser.ts bundles it, and replaces TASK. The result is in `boxwrightResult`. */
import { createDecoder, prepareImage } from "../../src/entries/index.ts";
import { prepare as prepareJs } from "../peers/usual-js.ts";
import { IOU_THRESHOLD } from "../workloads.ts";
import { frameWorkload, pictureBoxes, placeOf } from "./frame.ts";
import { type PictureRun, prepareOurs } from "./ours.ts";
import { type PictureEngine, type PictureSpec, pixelsOf } from "./picture.ts";
import { type Pipeline, openPipeline } from "./ultralytics.ts";

declare const TASK: { spec: PictureSpec; engine: PictureEngine; milliseconds: number };

/** Types of the DOM for this file: the project is compiled without them. */
interface Canvas {
  getContext(kind: "2d", options: { willReadFrequently: boolean }): Context;
}
interface Context {
  fillStyle: string;
  fillRect(x: number, y: number, width: number, height: number): void;
  drawImage(source: Canvas, x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray };
  putImageData(image: object, x: number, y: number): void;
}
interface Page {
  OffscreenCanvas: new (width: number, height: number) => Canvas;
  ImageData: new (data: Uint8ClampedArray, width: number, height: number) => object;
  crypto: { subtle: { digest(name: string, data: Uint8Array): Promise<ArrayBuffer> } };
  boxwrightResult?: object;
  boxwrightError?: string;
}
const page = globalThis as unknown as Page;

/** Returns a canvas with the picture. */
function canvasOf(spec: PictureSpec): { canvas: Canvas; context: Context } {
  const { width, height } = spec;
  const canvas = new page.OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const opaque = new Uint8ClampedArray(pixelsOf(spec)).map((byte, i) => (i % 4 === 3 ? 255 : byte));
  context.putImageData(new page.ImageData(opaque, width, height), 0, 0);
  return { canvas, context };
}

/** Measures the usual JavaScript: a canvas resizes, a loop turns pixels into planes, and plain code decodes. */
function withCanvas(spec: PictureSpec): PictureRun {
  const { width, height, side } = spec;
  const { canvas } = canvasOf(spec);
  const square = new page.OffscreenCanvas(side, side).getContext("2d", { willReadFrequently: true });
  square.fillStyle = "rgb(114, 114, 114)";
  square.fillRect(0, 0, side, side);
  const { scale, left, top } = placeOf(spec);
  const plane = side * side;
  const tensor = new Float32Array(3 * plane);
  const prepare = (): number => {
    square.drawImage(canvas, left, top, Math.round(width * scale), Math.round(height * scale));
    const { data } = square.getImageData(0, 0, side, side);
    for (let i = 0; i < plane; i++) {
      tensor[i] = data[4 * i] / 255;
      tensor[plane + i] = data[4 * i + 1] / 255;
      tensor[2 * plane + i] = data[4 * i + 2] / 255;
    }
    return tensor.length;
  };
  if (spec.expected !== null) return { run: prepare, answer: () => tensor };
  const decoder = prepareJs(frameWorkload());
  return {
    run: () => (prepare(), decoder.run() as number),
    answer: () => pictureBoxes(spec, decoder.answer()),
  };
}

async function withUltralytics(spec: PictureSpec): Promise<PictureRun> {
  const pipeline = await openPipeline();
  const { width, height } = spec;
  const pixels = pixelsOf(spec);
  const workload = frameWorkload();
  const { data, dims } = workload.tensors.output0;
  const shapes = Uint32Array.of(dims.length, ...dims);
  let tensor = new Float32Array(0);
  let boxes: ReturnType<Pipeline["postprocess"]>["boxes"] = [];
  const prepare = (): number =>
    (tensor = pipeline.preprocess_rgba(pixels, width, height) as typeof tensor).length;
  const decode = (): number => {
    const outputs = [data as Float32Array];
    ({ boxes } = pipeline.postprocess(outputs, shapes, 0, workload.threshold, IOU_THRESHOLD, null, "", ""));
    return boxes.length;
  };
  if (spec.expected !== null) return { run: prepare, answer: () => tensor };
  return {
    run: () => (prepare(), decode()),
    answer: () => boxes.map(({ cls, conf, x1, y1, x2, y2 }) => [cls, conf, x1, y1, x2, y2]),
  };
}

function runOf(spec: PictureSpec, engine: PictureEngine): PictureRun | Promise<PictureRun> {
  if (engine === "canvas") return withCanvas(spec);
  if (engine === "ultralytics") return withUltralytics(spec);
  const ours = { createDecoder, prepareImage };
  if (engine === "chromium") {
    const pixels = pixelsOf(spec);
    return prepareOurs(ours, spec, "simd", () => pixels);
  }
  const { context } = canvasOf(spec);
  return prepareOurs(ours, spec, "simd", () => context.getImageData(0, 0, spec.width, spec.height).data);
}

/** Times single calls: the clock of an isolated page has a resolution of five microseconds. */
function timeOf(run: () => number, milliseconds: number): object {
  const warm = performance.now() + milliseconds / 2;
  while (performance.now() < warm) run();
  const times: number[] = [];
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    const start = performance.now();
    if (run() === 0) throw new Error("A call found nothing.");
    times.push((performance.now() - start) * 1000);
  }
  times.sort((a, b) => a - b);
  const at = (part: number): number => times[Math.floor(times.length * part)];
  return { median: at(0.5), min: times[0], p90: at(0.9), runs: times.length };
}

async function measure(): Promise<object> {
  const { spec, engine, milliseconds } = TASK;
  const prepared = await runOf(spec, engine);
  const timing = timeOf(prepared.run as () => number, milliseconds);
  const answer = prepared.answer();
  if (!(answer instanceof Float32Array)) return { status: "ok", timing, boxes: answer };
  const bytes = new Uint8Array(answer.buffer, answer.byteOffset, answer.byteLength);
  const hash = new Uint8Array(await page.crypto.subtle.digest("SHA-256", bytes));
  const digest = Array.from(hash.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { status: "ok", timing, digest };
}

try {
  page.boxwrightResult = await measure();
} catch (error) {
  page.boxwrightError = String(error);
}
