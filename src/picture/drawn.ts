/** A detection to draw, with the checks before its numbers are used as coordinates. */
import { type DetectionList, rowsOf } from "../decode/rows.ts";
import { isRecord, showJson } from "../core/json.ts";
import { type OptionRules, checkOptions } from "../core/options.ts";
import { isInPixels } from "../core/unit.ts";

/** A detection to draw. A `Detection` fits. Coordinates are 0..1 of the photo, not yet converted by `toPixels`. */
export interface Drawn {
  readonly class_id: number;
  /** Name of the class. If absent, the tag says "class" and the class id. */
  readonly label?: string | null;
  /** Confidence, 0..1. */
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
  /** Four corners of an oriented box, in order around the box. Drawn in place of the upright box. */
  readonly corners?: readonly { readonly x: number; readonly y: number }[];
  /** Keypoints, in the unit of the box. */
  readonly keypoints?: readonly DrawnPoint[];
}

/** A keypoint to draw. */
export interface DrawnPoint {
  readonly x: number;
  readonly y: number;
  /** Confidence in 0..1. Points below 0.25 are not drawn. Default 1. */
  readonly confidence?: number;
}

/**
 * Thrown if drawing is impossible: the photo, the detections or the font are unusable, or an optional package is
 * missing.
 * @example
 * import { DrawError, drawSvg } from "boxwright";
 *
 * try {
 *   drawSvg(Uint8Array.of(1, 2, 3), []);
 * } catch (error) {
 *   if (error instanceof DrawError) console.log(error.message);
 *   // photo: got a file that begins with 01 02 03, expected a PNG or JPEG
 * }
 */
export class DrawError extends Error {
  static override readonly name = "DrawError";
  override readonly name = "DrawError";
}

/** Returns the detections as a list. Throws a DrawError if one of them cannot be drawn. */
export function checkDetections(given: DetectionList<Drawn>): Drawn[] {
  const detections = rowsOf(given) as Iterable<Drawn>;
  if (typeof (detections as Partial<Iterable<Drawn>> | null)?.[Symbol.iterator] !== "function")
    throw new DrawError(
      `got detections ${showJson(detections)}, expected what decode returned, or a list of detections`,
    );
  const list = [...detections];
  list.forEach(checkDetection);
  return list;
}

function checkDetection(d: Drawn): void {
  const isComplete =
    isRecord(d) &&
    [d.class_id, d.confidence, d.x_min, d.y_min, d.x_max, d.y_max].every((v) => Number.isFinite(v));
  if (!isComplete)
    throw new DrawError(
      `got detection ${showJson(d)}, expected finite class_id, confidence, x_min, y_min, x_max and y_max`,
    );
  const { corners, keypoints } = d;
  const isPoint = (p: unknown): boolean => isRecord(p) && Number.isFinite(p.x) && Number.isFinite(p.y);
  if (corners !== undefined && !(Array.isArray(corners) && corners.length === 4 && corners.every(isPoint)))
    throw new DrawError(`got corners ${showJson(corners)}, expected four {x, y}, in order around the box`);
  if (keypoints !== undefined && !(Array.isArray(keypoints) && keypoints.every(isRecord)))
    throw new DrawError(`got keypoints ${showJson(keypoints)}, expected a list of {x, y, confidence}`);
  if (isInPixels(d.x_min, d.y_min, d.x_max, d.y_max))
    throw new DrawError(
      `got a box from (${d.x_min}, ${d.y_min}) to (${d.x_max}, ${d.y_max}), expected coordinates 0..1. ` +
        "Pass the detections as they were before toPixels.",
    );
}

/** Returns checked options. Throws a DrawError for an unknown or wrong option. */
export const readDrawOptions = <T extends object>(options: T | null | undefined, rules: OptionRules): T =>
  checkOptions(options ?? ({} as T), rules, { Kind: DrawError });
