import type { DetectionFields } from "../../decode/detections.ts";
import { toPixels } from "../../decode/pixels.ts";

/** Returns rows as text in aligned columns: numbers are aligned at the right, texts at the left. */
export function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const rows = lines.map((cells) => cells.map(printable));
  const widths = head.map((h, i) => Math.max(...[h, ...rows.map((r) => r[i])].map(widthOf)));
  const isNumeric = head.map((_, i) => rows.length > 0 && rows.every((r) => /^-?[\d.]*$/.test(r[i])));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => {
        const padding = " ".repeat(widths[i] - widthOf(cell));
        return isNumeric[i] ? padding + cell : cell + padding;
      })
      .join("  ")
      .trimEnd();
  return [head, ...rows].map((cells) => `${line(cells)}\n`).join("");
}

/** Replaces control and bidirectional characters: names in files may contain them to rewrite a terminal line. */
export const printable = (text: string): string =>
  text.replace(/\p{Cc}|\p{Bidi_Control}|[\u2028\u2029]/gu, "\ufffd");

/** Matches East Asian wide characters, which take two columns of a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{3fffd}]/u;

/** Returns how many columns of a terminal a text needs. */
const widthOf = (text: string): number => [...text].reduce((n, c) => n + (WIDE.test(c) ? 2 : 1), 0);

const HEAD = ["label", "class", "confidence", "x_min", "y_min", "x_max", "y_max"];

/** Returns detections as a table. Adds columns in pixels if the size of the image is known. */
export function detectionTable(
  detections: readonly DetectionFields[],
  frame: { readonly width: number; readonly height: number } | undefined,
): string {
  const isOriented = detections.some(({ angle }) => angle !== undefined);
  const rows = detections.map((d) => [
    d.label,
    String(d.class_id),
    ...[d.confidence, d.x_min, d.y_min, d.x_max, d.y_max].map((v) => v.toFixed(4)),
    ...(isOriented ? [d.angle?.toFixed(4) ?? ""] : []),
    ...(frame ? [pixelText(d, frame)] : []),
  ]);
  const head = isOriented ? [...HEAD, "angle"] : HEAD;
  const place = isOriented ? "pixels (centre x, y, width, height)" : "pixels (x, y, width, height)";
  return table(frame ? [...head, place] : head, rows);
}

function pixelText(
  d: DetectionFields,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const box = toPixels(d, width, height);
  return [box.cx ?? box.x, box.cy ?? box.y, box.width, box.height]
    .map((v) => String(Math.round(v)))
    .join(", ");
}
