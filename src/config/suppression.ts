import { refuseValue } from "../core/errors.ts";
import { type SuppressOptions, settingsOf } from "../core/suppression.ts";
import { type FieldReader, isText } from "./fields.ts";
import type { Suppression } from "./types.ts";

/** Options of `suppress()` that the option `suppression` refuses, each with the option to state instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  iouGate: "rules: { iouGate }",
  pixelOffset: "rules: { pixelOffset }",
  classIds: 'rules: { suppress: "class" } or "all"',
  maxDetections: "the option maxDetections of the decoder",
  boxFormat: "no boxFormat: the decoder knows its boxes",
};

function checkSuppression(suppression: unknown): void {
  const settings = settingsOf(suppression as SuppressOptions);
  const given = suppression as Readonly<Record<string, unknown>>;
  if (given.method === undefined) refuseValue("method", "none", `a method, such as "${settings.method}"`);
  for (const name of Object.keys(given))
    if (name in ELSEWHERE) refuseValue(name, "it among the settings of a method", ELSEWHERE[name]);
}

/** Reads the option `suppression`: the name of a method, or an object with the method and its settings. */
export function readSuppression(r: FieldReader): Suppression | null {
  const given = r.json.suppression;
  if (!r.has("suppression")) return null;
  const suppression = isText(given) ? { method: given } : given;
  try {
    checkSuppression(suppression);
  } catch (error) {
    r.problems.push({ path: r.pathOf("suppression"), message: (error as Error).message });
  }
  return suppression as Suppression;
}
