/** The option `--masks`: "rle" puts masks into the JSON of results, "png" writes label maps beside drawings. */
import { deflateSync } from "node:zlib";
import { crc32 } from "../../core/crc32.ts";
import { type Detection, type Detections, taskFunctionsOf } from "../../decode/detections.ts";
import type { MaskRle } from "../../decode/mask.ts";
import { labelMap } from "../../tasks/masks/labels.ts";
import { UsageError, type Values } from "./options.ts";
import { textOf } from "./values.ts";

/** A detection with its mask, as runs over the photo or, without one, over the network's input. */
export interface MaskedDetection extends Detection {
  readonly mask?: MaskRle;
}

/** True if the option asks for masks. With JSON it says which anchors a map has. */
export const wantsMasks = (values: Values): boolean => /^(rle|png)$/.test(textOf(values, "masks") ?? "");

/** True if the option asks for label maps as pictures. */
export const wantsLabelMaps = (values: Values): boolean => textOf(values, "masks") === "png";

function checkHasMasks(detections: Detections, values: Values): void {
  if (!taskFunctionsOf(detections)?.mask)
    throw new UsageError(
      `--masks ${textOf(values, "masks")}: this network gives no masks. Name the task: --task segment.`,
    );
}

/** Returns the rows of detections, with their masks if the option asks for them. */
export function withMasks(detections: Detections, values: Values): MaskedDetection[] {
  const rows: MaskedDetection[] = detections.toArray();
  if (wantsMasks(values)) checkHasMasks(detections, values);
  if (!wantsMasks(values) || wantsLabelMaps(values)) return rows;
  return rows.map((row, i) => Object.assign(row, { mask: detections.mask(i).toRle() }));
}

/** Returns the label map of a photo as a grey PNG: 0 for no detection, else its row, counted from 1. */
export function labelPng(detections: Detections): Uint8Array {
  const { width, height, data } = labelMap(detections, { size: "frame" });
  return greyPng(
    width,
    height,
    data.map((row) => row + 1),
  );
}

/** Largest value of a pixel of 8 bits. More need 16. */
const MOST_GREY = 255;

/** Returns a PNG of grey pixels: of 8 bits if all values fit, else of 16. */
export function greyPng(width: number, height: number, values: ArrayLike<number>): Uint8Array {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  const bytes = most > MOST_GREY ? 2 : 1;
  const stride = 1 + width * bytes;
  // Each line begins with its filter: 0, none.
  const lines = Buffer.alloc(stride * height);
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) lines.writeUIntBE(values[i], y * stride + 1 + x * bytes, bytes);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8 * bytes;
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(content.length, 0);
  whole.set(body, 4);
  whole.writeUInt32BE(crc32(body) >>> 0, body.length + 4);
  return whole;
}
