/** Networks of the conformance cases as packets see them: a decoder, outputs, and names for a frame. */
import {
  type Decoder,
  type DecoderOptions,
  type PacketDecoder,
  type TensorInput,
  createDecoderSync,
} from "../../src/entries/index.ts";
import { loadCases } from "../conformance/load.mjs";

export const cases = loadCases();

const ARRAYS = { f32: Float32Array, f16: Uint16Array, i8: Int8Array, u8: Uint8Array };

type Case = (typeof cases)[number];

/** Returns the outputs of a case. Each stands in memory of its own. */
export const outputsOf = (c: Case): Record<string, TensorInput> =>
  Object.fromEntries(
    c.tensors.map((t) => {
      const bytes = Uint8Array.from(Buffer.from(t.base64, "base64"));
      const { name, dims, type, scale, zeroPoint } = t;
      return [
        name,
        { data: new ARRAYS[type as keyof typeof ARRAYS](bytes.buffer), dims, type, scale, zeroPoint },
      ];
    }),
  );

export const decoderOf = (c: Case): Decoder => createDecoderSync(c.config, c.options as DecoderOptions);

/** Returns the decoder with another `output_format` in its config, as two files that differ in it alone give. */
export const withFormat = (decoder: Decoder, outputFormat: "raw" | "detection"): PacketDecoder => ({
  config: { ...decoder.config, outputFormat },
  configHash: decoder.configHash,
  decode: (outputs, frame) => decoder.decode(outputs, frame),
});

export const about = {
  id: "frame-17",
  source: "/devices/7",
  subject: "front door",
  time: "2026-01-31T12:00:00.123Z",
  sequence: 17,
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
};

export const frame = { width: 1280, height: 720, resize: "letterbox" } as const;

/** Returns a small YOLOv8 of one class and one box, in pixels of its 64 x 64 input. */
export function smallNetwork(): { config: object; outputs: Record<string, TensorInput> } {
  const data = new Float32Array(5 * 84);
  data.set([32, 20, 10, 8, 0.9].flatMap((value) => [value, ...Array<number>(83).fill(0)]));
  return {
    config: { family: "yolov8", classes: 1, inputSize: [64, 64] },
    outputs: { output0: { data, dims: [1, 5, 84] } },
  };
}

/** Puts the rows of a YOLOv8 output, one a cell, into its channels. The other cells are 0. */
function channelsOf(rows: readonly (readonly number[])[], cells: number): Float32Array<ArrayBuffer> {
  const data = new Float32Array(rows[0].length * cells);
  rows.forEach((row, cell) => row.forEach((value, channel) => (data[channel * cells + cell] = value)));
  return data;
}

/** Networks with more than boxes, in pixels of a 64 x 64 input. Import the entries of their tasks beside. */
export const tasks = {
  pose: {
    cells: 84,
    config: {
      family: "yolov8",
      task: "pose",
      classes: 1,
      inputSize: [64, 64],
      keypoints: [2, 3],
      keypointNames: ["nose", "tail"],
      edges: [[0, 1]],
    },
    outputs: {
      output0: {
        data: channelsOf(
          [
            [32, 20, 10, 8, 0.9, 16, 32, 0.75, 48, 16, 0.5],
            [10, 50, 10, 8, 0.8, 8, 48, 1, 12, 52, 0.25],
          ],
          84,
        ),
        dims: [1, 11, 84],
      },
    },
  },
  oriented: {
    config: { family: "yolov8", task: "oriented", classes: 2, inputSize: [64, 64], reading: "class-rows" },
    outputs: {
      output0: {
        data: channelsOf(
          [
            [32, 20, 20, 8, 0, 0.9, 0.5],
            [20, 50, 10, 8, 0.8, 0, 0.25],
          ],
          84,
        ),
        dims: [1, 7, 84],
      },
    },
  },
  segment: {
    // Rows: x1 y1 x2 y2 score class, and one coefficient. The prototype has 4 x 4 pixels.
    config: { family: "yolo26", task: "segment", inputSize: [64, 64], coordinates: "pixels" },
    outputs: {
      output0: { data: Float32Array.of(0, 0, 48, 32, 0.9, 0, 1, 16, 0, 64, 64, 0.8, 0, 1), dims: [1, 2, 7] },
      output1: {
        data: Float32Array.of(1, 1, 1, 1, -1, 1, 1, -1, 1, 1, -1, -1, 1, 1, 1, 1),
        dims: [1, 1, 4, 4],
      },
    },
  },
} as const satisfies Record<string, { config: object; outputs: object; cells?: number }>;
