import { columnsBy } from "../../decode/columns.ts";
import { refuseValue } from "../../core/errors.ts";
import { show } from "../../core/tensor.ts";
import { frameIfExchanged, Detections, extend, taskFunctionsOf, setLength } from "../../decode/detections.ts";
import { DETECTION_RULES, type SuppressOptions, settingsOf } from "../../core/suppression.ts";
import { suppress } from "./suppress.ts";

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;

/** Options of `suppressDetections`: a method with its settings, and facts about the detections. */
export type SuppressDetectionsOptions = Without<SuppressOptions, "classIds" | "boxFormat"> & {
  /** False: boxes of different classes also suppress each other. Default true. */
  readonly perClass?: boolean;
  /** Width and height of the frame in pixels. Required for "diou" and `pixelOffset`, which measure in pixels. */
  readonly size?: readonly [number, number];
};

/** Methods that average boxes. None is published for oriented boxes. */
const AVERAGES = ["weighted", "merge", "nmw"];

/**
 * Suppresses the detections of a decoder by a named method. Oriented boxes keep their angles and corners, but overlaps
 * are measured on the upright boxes around them. To measure the oriented boxes, use `nmsOriented` or the decoder's
 * option `orientedSuppression`. Each row keeps its mask, which is cropped by the new box if the method moves the box.
 *
 * Decode without suppression, `rules: { suppress: "none" }`, with `maxDetections` as large as the number of candidates.
 * @returns new detections that the next `decode` does not overwrite, with the scores and boxes of the method.
 * "weighted" averages keypoints like boxes; other methods keep the keypoints of the row
 * @throws RangeError as `suppress` does, for "diou" and `pixelOffset` without `size`, and for a method that averages
 * boxes if they are oriented
 * @example
 * import { createDecoderSync } from "boxwright/ts";
 * import { suppressDetections } from "boxwright";
 *
 * const decoder = createDecoderSync({
 *   family: "boxes", classes: 2, coordinates: "normalised", confidenceThreshold: 0.1,
 *   rules: { suppress: "none" }, maxDetections: 1000,
 * });
 * const found = decoder.decode({
 *   boxes: { data: [0, 0, 0.5, 0.5, 0, 0, 0.5, 0.4, 0.6, 0.6, 1, 1], dims: [1, 3, 4] },
 *   scores: { data: [0.75, 0, 0.25, 0, 0, 0.5], dims: [1, 3, 2] },
 * });
 * const merged = suppressDetections(found, { method: "weighted" });
 * console.log(found.length, merged.length, merged.at(0)?.y_max.toFixed(3)); // 3 2 0.475
 */
export function suppressDetections(
  detections: Detections,
  options: SuppressDetectionsOptions = {},
): Detections {
  if (typeof (detections as Partial<Detections> | null)?.copy !== "function")
    refuseValue("detections", show(detections), "what decode() returned: no array, and no clone");
  const { method } = settingsOf(options as SuppressOptions, DETECTION_RULES);
  const { perClass = true, size = [1, 1], ...rest } = options;
  if (!options.size && (method === "diou" || options.pixelOffset))
    refuseValue(
      "size",
      `none beside ${method === "diou" ? 'method "diou"' : "pixelOffset"}`,
      "[width, height] of the frame: boxes in 0..1 say nothing of pixels",
    );
  const frame = options.size && frameIfExchanged(detections, ...options.size);
  if (frame) refuseValue("size", `${show(options.size)} for detections of ${frame}`, "[width, height]");
  const n = detections.length;
  if (detections.angles && AVERAGES.includes(method))
    refuseValue(
      "method",
      `"${method}", which averages boxes, for oriented ones`,
      'a method that leaves boxes as they are, such as "hard"',
    );
  const copy = detections.copy();
  const { boxes, scores, classIds, sources, labels } = copy;

  const scaled = Float64Array.from(boxes, (v, i) => v * size[i & 1]);
  const kept = suppress(scaled, scores, { ...rest, ...(perClass ? { classIds } : {}) } as SuppressOptions);
  const rows = Array.from(kept.indices);
  const result = new Detections(
    kept.boxes.map((v, i) => v / size[i & 1]),
    kept.scores,
    Int32Array.from(rows, (row) => classIds[row]),
    Uint32Array.from(rows, (row) => sources[row]),
    labels,
  );
  setLength(result, Math.min(n, rows.length));
  taskFunctionsOf(copy)?.select?.(rows, result);
  if (copy.angles || copy.keypoints) {
    const groups = method === "weighted" ? kept.members : null;
    const columns = columnsBy(copy, (column, width) =>
      Float32Array.from(rows.flatMap((row, i) => meanOf(column, width, groups?.[i] ?? [row], scores))),
    );
    extend(result, columns, taskFunctionsOf(detections) ?? { copy: () => undefined });
  }
  return result;
}

/** Returns the mean of some rows, weighted by their scores. A row has `width` values. */
function meanOf(
  values: Float32Array,
  width: number,
  rows: readonly number[],
  scores: Float32Array,
): number[] {
  const sum = rows.reduce((total, row) => total + scores[row], 0);
  return Array.from({ length: width }, (_, k) =>
    sum > 0
      ? rows.reduce((total, row) => total + scores[row] * values[row * width + k], 0) / sum
      : values[rows[0] * width + k],
  );
}
