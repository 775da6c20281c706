/**
 * Loaders of what this project did not make: recorded outputs of networks and answers of other decoders. A part
 * stands in `fixtures/`; the rest is found through the environment variable BOXWRIGHT_SHARED.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe } from "vitest";
import type { TensorInput } from "../../src/core/tensor.ts";

export const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));

/** The folder that BOXWRIGHT_SHARED names, `null` when it is unset. */
export const shared: string | null = process.env["BOXWRIGHT_SHARED"] || null;

/** `describe` for tests that need the folder: skipped with a plain line when there is none. */
export function describeShared(name: string, tests: (data: string) => void): void {
  if (shared === null) {
    console.log(`skipped, as BOXWRIGHT_SHARED is unset: ${name}`);
    // Do not call `tests`: they list files of the folder.
    describe.skip(`${name} (BOXWRIGHT_SHARED is unset)`, () => undefined);
  } else {
    const data = join(shared, "data");
    if (!existsSync(data))
      throw new Error(`BOXWRIGHT_SHARED: got ${shared}, expected a folder with data/ in it`);
    describe(name, () => tests(data));
  }
}

/** Returns a file or its gzipped copy, in memory of its own, so that typed arrays may begin at its first byte. */
export function readBytes(...path: string[]): Uint8Array<ArrayBuffer> {
  const file = join(...path);
  const bytes = existsSync(file) ? readFileSync(file) : gunzipSync(readFileSync(`${file}.gz`));
  return Uint8Array.from(bytes);
}

/** Returns the value of a JSON file or of its gzipped copy. */
export const readJson = (...path: string[]): unknown =>
  JSON.parse(new TextDecoder().decode(readBytes(...path)));

/** An output as the JSON beside its file says it. */
export interface StoredOutput {
  readonly name: string;
  readonly file: string;
  readonly shape: readonly number[];
}

/** Returns the tensors of a folder by name, all of f32. */
export const readTensors = (folder: string, outputs: readonly StoredOutput[]): Recording["tensors"] =>
  Object.fromEntries(
    outputs.map(({ name, file, shape }) => [
      name,
      { data: new Float32Array(readBytes(folder, file).buffer), dims: shape },
    ]),
  );

/** Anything with a class, a score and corners. */
export interface Row {
  readonly class_id: number;
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
}

export interface Recording {
  readonly photo: string;
  readonly tensors: Record<string, TensorInput & { readonly data: Float32Array }>;
  readonly meta: Meta;
  /** `null` where the recording has none. */
  readonly expected: readonly Row[] | null;
}

export interface Meta {
  readonly outputs: readonly StoredOutput[];
  readonly imageWidth?: number;
  readonly imageHeight?: number;
  readonly preprocess: Preprocess;
  readonly detections?: readonly {
    readonly cls: number;
    readonly score: number;
    readonly box: readonly number[];
  }[];
  readonly heads?: readonly { readonly raw: string; readonly region: string }[];
}

export interface Preprocess {
  readonly mode: string;
  readonly imageWidth?: number;
  readonly imageHeight?: number;
  readonly inputWidth: number;
  readonly inputHeight: number;
  readonly resizedWidth: number;
  readonly resizedHeight: number;
  readonly pad: number;
  readonly bgr: boolean;
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

/** One network on one photo, from a folder that holds MODEL/PHOTO/meta.json. */
export function readRecording(root: string, model: string, photo: string): Recording {
  const folder = join(root, model, photo);
  const meta = readJson(folder, "meta.json") as Meta;
  const tensors = readTensors(folder, meta.outputs);
  const answer = existsSync(join(folder, "expected.json"))
    ? (readJson(folder, "expected.json") as { detections: Row[] }).detections
    : null;
  return { photo, tensors, meta, expected: answer };
}

/** Names of the folders in a folder. */
export function foldersIn(...path: string[]): string[] {
  return readdirSync(join(...path), { withFileTypes: true })
    .filter((d) => d.isDirectory())
    .map((d) => d.name)
    .sort();
}
