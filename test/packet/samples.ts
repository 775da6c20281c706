/** What other projects' readers were given: see scripts/packet-readers.py. */
import {
  type DetectionFields,
  createDecoderSync,
  packetHeaders,
  toCoco,
  toPacket,
  toRoboflow,
  toSupervision,
} from "../../src/entries/index.ts";
import { about, frame } from "./support.ts";

/** Numbers that binary fractions hold, so that no reader's arithmetic rounds. */
export const detections: readonly DetectionFields[] = [
  { class_id: 1, label: "cat", confidence: 0.75, x_min: 0.25, y_min: 0.5, x_max: 0.75, y_max: 1 },
  { class_id: 0, label: "person", confidence: 0.5, x_min: 0, y_min: 0.125, x_max: 0.5, y_max: 0.375 },
];
export const image = { imageId: 7, width: 640, height: 480, categories: [1, 17] };

export const outputs = {
  small: { data: Int8Array.of(1, -2, 3), dims: [3], scale: 0.5, zeroPoint: 1 },
  boxes: { data: Float32Array.of(0.5, -1, 2, 65504), dims: [1, 2, 2] },
  half: { data: Uint16Array.of(0x3c00, 0xc000), dims: [2], type: "f16" },
} as const;

export const raw = toPacket(createDecoderSync({}), outputs, frame, about);

export const samples = {
  truth: { images: [{ id: 7 }], categories: [{ id: 1 }, { id: 17 }], annotations: [] },
  coco: toCoco(detections, image),
  roboflow: toRoboflow(detections, image, "frame-17"),
  supervision: toSupervision(detections, image),
  headers: packetHeaders(raw),
};
