/**
 * A network that finds what its picture says: every six red values in a row are x_min, y_min, x_max, y_max, score and
 * class, 0..255 for 0..1. The file is a fixture of the package, and names itself as an end-to-end export.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import sharp from "sharp";

export const MODEL = fileURLToPath(new URL("../../../../test/fixtures/detect/network.onnx", import.meta.url));
const [WIDTH, HEIGHT] = [32, 24];

/** Config file for the network. Its boxes are in pixels. */
export const CONFIG = {
  nn_config: {
    output_format: "detection",
    NN_family: "YOLO",
    input_size: `${WIDTH}x${HEIGHT}`,
    NN_specific_metadata: { classes: 2, confidence_threshold: 0.5, iou_threshold: 0.5, anchors: [], anchor_masks: {} },
  },
  mappings: { labels: ["cat", "dog"] },
};

/** One thing in a picture. Class 0 is a cat, 255 a dog. */
export type Row = readonly [number, number, number, number, number, number];

/** Returns the pixels of a picture that holds these things. */
export function pictureOf(rows: readonly Row[]): { data: Uint8Array; width: number; height: number; format: "rgb" } {
  const data = new Uint8Array(WIDTH * HEIGHT * 3);
  rows.flat().forEach((value, i) => (data[i * 3] = value));
  return { data, width: WIDTH, height: HEIGHT, format: "rgb" };
}

/** Returns a PNG of a picture. Photo `n` holds one cat, whose left edge is at n / 255. */
export async function photoOf(n: number): Promise<Buffer> {
  const { data } = pictureOf([[n % 200, 10, 250, 250, 230, 0]]);
  return sharp(data, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
    .png()
    .toBuffer();
}

/** Returns the model without its metadata: a network that does not say how to decode. */
export function modelWithoutMetadata(): Uint8Array {
  const bytes = readFileSync(MODEL);
  const kept: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const start = at;
    const tag = bytes[at++]!;
    const read = (): number => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++]!;
        value += (byte & 127) * 2 ** shift;
        if (byte < 128) return value;
      }
    };
    const size = read();
    if (tag % 8 === 2) at += size;
    // Field 14 is metadata_props.
    if (tag >> 3 !== 14) kept.push(bytes.subarray(start, at));
  }
  return Buffer.concat(kept);
}
