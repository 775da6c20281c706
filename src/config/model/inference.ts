/** Reads metadata that describe a network as JSON under one key, such as `rfdetr_inference` of RF-DETR. */
import { parseJson, knownOf } from "../../core/json.ts";
import { type Exporter, METADATA_FORMS } from "../../core/exporters.ts";
import { COUNT, type Rule } from "../../core/options.ts";
import { FieldReader, TEXT, isObject, isText, isWhole } from "../fields.ts";
import type { Roles } from "../types.ts";
import { refuseFile } from "./bytes.ts";
import type { Model } from "./types.ts";

const MAX_CLASSES = 100_000;

/** Facts about a network from metadata of this kind. */
export interface InferenceMetadata extends Pick<Model, "task" | "names" | "inputSize" | "options"> {
  readonly exporter: Exporter;
  readonly taskName: string | null;
  /** Largest keypoint count of a class. The network pads the keypoints of other classes to this count. */
  readonly keypoints: number | null;
}

/** Returns the facts in the metadata, `null` without a known key. Throws a ConfigError for an unreadable value. */
export function readInference(metadata: { readonly [key: string]: string }): InferenceMetadata | null {
  const form = METADATA_FORMS.find(({ key }) => metadata[key] !== undefined);
  if (!form) return null;
  const path = `metadata.${form.key}`;
  const json = parseJson(metadata[form.key]);
  if (!isObject(json)) return refuseFile(path, "a text that is no JSON object", "the object of its exporter");
  const r = new FieldReader(json, path);
  const names = namesOf(r);
  const classes = names ? null : r.take("num_classes", COUNT);
  const taskName = r.take("task", TEXT);
  const select = r.take("num_select", COUNT);
  const roles = rolesOf(r);
  const shape = r.positives("input_shape");
  const keypoints = r.take<readonly number[]>("num_keypoints_per_class", COUNTS);
  const [mean, std] = [bytesOf(r, "means"), bytesOf(r, "stds")];
  r.throwProblems();
  return {
    exporter: form.exporter,
    task: taskName === null ? "detect" : Object.hasOwn(form.tasks, taskName) ? form.tasks[taskName] : null,
    taskName,
    names,
    inputSize: sizeOf(shape),
    keypoints: keypoints && Math.max(...keypoints),
    options: {
      family: form.family,
      ...knownOf({ classes, roles }),
      ...(select !== null && { maxDetections: select, rules: { maxCandidates: select } }),
      ...((mean ?? std) && { prepare: knownOf({ mean, std }) }),
    },
  };
}

const COUNTS: Rule<readonly number[]> = [
  "a list of whole numbers, one for each class",
  (x) => Array.isArray(x) && x.some((n) => n !== 0) && x.every((n) => isWhole(n)),
];

/** Reads means or divisors for channels in 0..1. Returns them for channels in 0..255. */
function bytesOf(r: FieldReader, key: string): readonly number[] | null {
  const values = r.positives(key, 3);
  // Round to six digits, so that 0.485 * 255 becomes 123.675.
  return values && values.map((value) => Number((value * 255).toPrecision(6)));
}

/** Returns [width, height] of a shape: [N, 3, h, w], [3, h, w] or [h, w]. */
function sizeOf(shape: readonly number[] | null): readonly [number, number] | null {
  if (!shape || shape.length < 2 || shape.length > 4) return null;
  const [height, width] = shape.slice(-2);
  return Number.isSafeInteger(width) && Number.isSafeInteger(height) ? [width, height] : null;
}

/** Returns the roles of the outputs. The metadata list them by names inside the network, such as `pred_boxes`. */
function rolesOf(r: FieldReader): Roles | null {
  const outputs = r.object("outputs");
  const [boxes, scores, masks, keypoints] = ["pred_boxes", "pred_logits", "pred_masks", "pred_keypoints"].map(
    (key) => outputs.take(key, TEXT),
  );
  if (boxes === null || scores === null) return null;
  return { boxes, scores, ...knownOf({ masks, keypoints }) };
}

function namesOf(r: FieldReader): readonly string[] | null {
  const byId = r.object("class_id_to_name").json;
  const ids = Object.keys(byId).map(Number);
  if (ids.length === 0) return r.labels("class_names");
  if (
    !ids.every((id) => Number.isSafeInteger(id) && id >= 0 && id < MAX_CLASSES) ||
    !Object.values(byId).every(isText)
  ) {
    r.reportValue("class_id_to_name", "a name for each class id");
    return null;
  }
  return Array.from({ length: Math.max(...ids) + 1 }, (_, id) => (byId[id] as string | undefined) ?? "n/a");
}
