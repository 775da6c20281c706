/** What the blocks of the pages leave to the reader: pictures, outputs of networks, runtimes. */
import { readFileSync as readReal } from "node:fs";
import { createDecoderSync, toPacket } from "../../src/entries/index.ts";
import { pngOf } from "../examples/run-example.ts";
import { about, frame as frameOfPacket, smallNetwork } from "../packet/support.ts";
import { readFixture } from "../support/files.ts";
import { onnxFile } from "../support/onnx.ts";

export type Values = Readonly<Record<string, unknown>>;

export const frame = { width: 640, height: 480, resize: "letterbox" } as const;

/** Returns a tensor of zeros, but for one cell. */
export function oneCell(channels: number, cells: number, values: readonly number[], cell = 10) {
  const data = new Float32Array(channels * cells);
  values.forEach((value, channel) => (data[channel * cells + cell] = value));
  return { data, dims: [1, channels, cells] };
}

/** What a YOLOv8 of 80 classes gives for one person. */
export const onePerson = () => ({ output0: oneCell(84, 8400, [320, 320, 64, 128, 0.75]) });

/** A grey picture. */
export const picture = (width = 640, height = 480) => ({
  data: new Uint8Array(width * height * 4).fill(128),
  width,
  height,
});

/** Returns a decoder of a YOLOv8 of 80 classes. */
export const decoderOf80 = (options: object = {}) =>
  createDecoderSync({ family: "yolov8", labels: "coco80", inputSize: [640, 640], ...options });

/** The network of a test, whose picture states what has to be found in it: a dog. */
export const echo = () => readFixture("detect/network.onnx");
export const dogs = () => pngOf([[51, 102, 153, 204, 230, 255]]);

/** Files that blocks read and write. */
export const files: Record<string, Uint8Array> = {};

function readFileSync(name: string): Uint8Array {
  if (!Object.hasOwn(files, name)) throw new Error(`The test has no file ${name}.`);
  return files[name];
}

/** node:fs and node:fs/promises, over `files`. */
export const fileSystem = {
  readFileSync,
  writeFileSync: (name: string, bytes: Uint8Array) => void (files[name] = bytes),
  readFile: async (name: string) => Promise.resolve(readFileSync(name)),
};

/** A file of FastestDet. It has no metadata, as the real one. */
export const fastestDet = () =>
  onnxFile({
    inputs: [{ name: "input.1", type: "float32", dims: [1, 3, 352, 352] }],
    outputs: [{ name: "758", type: "float32", dims: [1, 85, 22, 22] }],
  });

/** Returns a module with the interface of ONNX Runtime, whose networks give these outputs. */
export function runtimeOf(
  outputs: Readonly<Record<string, { data: Float32Array; dims: readonly number[] }>>,
) {
  const Tensor = class {
    type: string;
    data: unknown;
    dims: readonly number[];
    constructor(type: string, data: unknown, dims: readonly number[]) {
      [this.type, this.data, this.dims] = [type, data, dims];
    }
  };
  const run = async () =>
    Promise.resolve(
      Object.fromEntries(
        Object.entries(outputs).map(([name, { data, dims }]) => [name, new Tensor("float32", data, dims)]),
      ),
    );
  const create = async () => Promise.resolve({ inputNames: ["images"], run, release: async () => undefined });
  return { env: { versions: {} }, InferenceSession: { create }, Tensor };
}

/** A small network, one frame of it, and the packet of that frame. */
export function packet() {
  const { config, outputs } = smallNetwork();
  const decoder = createDecoderSync(config);
  return { config, outputs, frame: frameOfPacket, bytes: toPacket(decoder, outputs, frameOfPacket, about) };
}

/** The file of a page. */
export const readPage = (page: string): string => readReal(new URL(`../../${page}`, import.meta.url), "utf8");
