/** Reads LibreYOLO's metadata: `model_family`, `names` as JSON with keys of text, `imgsz_h`, `imgsz_w`. */
import { LIBREYOLO_FORM } from "../../core/exporters.ts";
import { isObject } from "../fields.ts";
import type { InferenceMetadata } from "./inference.ts";

/** Returns what the metadata says, `null` unless it is of a LibreYOLO network whose exports are known. */
export function readLibreyolo(metadata: { readonly [key: string]: string }): InferenceMetadata | null {
  const { model_family: family, task, names, nb_classes: count, imgsz_h: h, imgsz_w: w } = metadata;
  // Exports for masks and keypoints have tensors of their own.
  if (family !== LIBREYOLO_FORM.modelFamily || (task ?? "detect") !== "detect") return null;
  const classes = Number(count ?? metadata["nc"]);
  const sides = [Number(w ?? metadata["imgsz"]), Number(h ?? metadata["imgsz"])] as const;
  return {
    form: LIBREYOLO_FORM,
    task: "detect",
    taskName: "detect",
    names: namesOf(names, classes),
    keypoints: null,
    inputSize: sides.every((n) => Number.isSafeInteger(n) && n > 0) ? sides : null,
    options: {
      family: LIBREYOLO_FORM.family,
      boxFormat: "xyxy",
      prepare: { resize: "letterbox-topleft" },
      ...(Number.isSafeInteger(classes) && classes > 0 && { classes }),
    },
  };
}

/** Returns the names by class id, `null` unless there is one for each class. */
function namesOf(text: string | undefined, classes: number): readonly string[] | null {
  let json: unknown;
  try {
    json = JSON.parse(text ?? "");
  } catch {
    return null;
  }
  if (!isObject(json) && !Array.isArray(json)) return null;
  const all = Object.values(json as object).map(String);
  return all.length === classes ? all : null;
}
