/** `boxwright decode`: tensors to detections, as a table or as JSON. */
import { type Detection, toPixels } from "../../decode/detections.ts";
import type { Frame } from "../../decode/frame.ts";
import { type Decoded, decodeFiles } from "./decode-files.ts";
import type { Io } from "./io.ts";
import type { Parsed } from "./parse.ts";
import { table } from "./table.ts";

export async function decode({ positionals, values }: Parsed, io: Io): Promise<void> {
  const decoded = await decodeFiles(positionals, values);
  for (const note of decoded.notes) io.err(`boxwright: ${note}\n`);
  io.out(values["json"] ? jsonText(decoded) : tableText(decoded));
}

/** Returns one object for one image, and a list for a batch. */
function jsonText({ images }: Decoded): string {
  const results = images.map((detections) => ({ output_format: "detection", detections }));
  return `${JSON.stringify(results.length === 1 ? results[0] : results, null, 2)}\n`;
}

function tableText({ images, engine, frame, milliseconds }: Decoded): string {
  const tables = images.map(
    (detections, i) =>
      (images.length > 1 ? `image ${i}\n` : "") +
      (detections.length > 0 ? detectionTable(detections, frame) : ""),
  );
  const count = images.reduce((n, detections) => n + detections.length, 0);
  return `${tables.join("")}${countText(count)}, engine ${engine}, ${milliseconds.toFixed(2)} ms (first call)\n`;
}

/** Returns a number of detections in words. */
export const countText = (count: number): string => `${count} ${count === 1 ? "detection" : "detections"}`;

const HEAD = ["label", "class", "confidence", "x_min", "y_min", "x_max", "y_max"];

function detectionTable(detections: readonly Detection[], frame: Frame | undefined): string {
  const rows = detections.map((d) => [
    d.label,
    String(d.class_id),
    ...[d.confidence, d.x_min, d.y_min, d.x_max, d.y_max].map((v) => v.toFixed(4)),
    ...(frame ? [pixelText(d, frame)] : []),
  ]);
  return table(frame ? [...HEAD, "pixels (x, y, width, height)"] : HEAD, rows);
}

function pixelText(d: Detection, { width, height }: Frame): string {
  const { x_min, y_min, x_max, y_max } = toPixels(d, width, height);
  return [x_min, y_min, x_max - x_min, y_max - y_min].map((v) => String(Math.round(v))).join(", ");
}
