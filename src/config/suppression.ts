/** Reads the option `suppression`. `boxwright/suppress` knows the methods and their settings. */
import { providedSuppressor } from "../core/tasks.ts";
import { type FieldReader, isText } from "./fields.ts";
import type { Suppression } from "./types.ts";

/** The part of a suppressor that the reader of configs needs: the check of a method's settings. */
export interface SuppressionCheck {
  /** Throws a RangeError that says what is wrong with the settings of a method. */
  check(suppression: unknown): void;
}

/** Reads a method by its name, or with its settings. */
export function readSuppression(r: FieldReader): Suppression | null {
  const stated = r.json.suppression;
  if (!r.has("suppression")) return null;
  const suppressor = providedSuppressor() as SuppressionCheck | undefined;
  if (!suppressor) {
    r.reportValue("suppression", 'import "boxwright/suppress" beside it');
    return null;
  }
  const suppression = isText(stated) ? { method: stated } : stated;
  try {
    suppressor.check(suppression);
  } catch (error) {
    r.problems.push({ path: "suppression", message: (error as Error).message });
  }
  return suppression as Suppression;
}
