/** Reads LibreYOLO's metadata: `model_family`, `names` as JSON by class id, `imgsz_h`, `imgsz_w`. */
import { parseJson } from "../../core/json.ts";
import { IMAGENET_BGR, IMAGENET_RGB } from "../../core/families/shared.ts";
import type { PartialRule } from "../../core/prepare-rule.ts";
import { isObject } from "../fields.ts";
import type { TypedOptions } from "../types.ts";
import type { InferenceMetadata } from "./inference.ts";

/** Preparation of most LibreYOLO networks, which resize by Pillow. */
const PILLOW: PartialRule = { resample: "pillow" };

/** Options for LibreYOLO's detection networks, by `model_family`. Absent options have the defaults of `family`. */
const FORMS: { readonly [modelFamily: string]: Partial<TypedOptions> } = {
  // Output [1,4+C,N]: planes, with boxes as corners.
  yolo9: { family: "yolov9", boxFormat: "xyxy", prepare: { resize: "letterbox-topleft" } },
  // Output [1,N,4+C]: rows of corners and probabilities.
  rtmdet: {
    family: "yolov9",
    boxFormat: "xyxy",
    prepare: {
      ...PILLOW,
      resize: "letterbox-topleft",
      order: "BGR",
      ...IMAGENET_BGR,
    },
  },
  picodet: { family: "picodet", prepare: { resample: "bilinear" } },
  yolox: { family: "yolox", boxFormat: "cxcywh", prepare: PILLOW },
  yolonas: { family: "yolo-nas", prepare: PILLOW },
  damoyolo: { family: "damo-yolo" },
  rfdetr: { family: "rfdetr", prepare: PILLOW },
  dfine: { family: "dfine" },
  rtdetrv4: { family: "dfine" },
  ec: { family: "dfine", prepare: IMAGENET_RGB },
  deim: { family: "deim" },
  deimv2: { family: "deimv2", prepare: { ...PILLOW, resize: "stretch" } },
  rtdetr: { family: "rtdetr", prepare: { resample: "bilinear" } },
  rtdetrv2: { family: "rtdetr", prepare: { resample: "bilinear" } },
};

/** Model sizes of DEIMv2 with the backbone DINOv3, which needs the mean of ImageNet. */
const DINO_SIZES = ["s", "m", "l", "x"];

type Metadata = { readonly [key: string]: string | undefined };

function optionsOf({
  model_family: family = "",
  task = "detect",
  ...rest
}: Metadata): Partial<TypedOptions> | undefined {
  if (task === "classify") return { family: "classifier", scores: "softmax-logits", prepare: PILLOW };
  const form = Object.hasOwn(FORMS, family) ? FORMS[family] : undefined;
  // Refuse masks and keypoints, since LibreYOLO changes their tensors. Only RF-DETR's masks are exported unchanged.
  if (task !== "detect" && !(family === "rfdetr" && task === "segment")) return undefined;
  if (family === "deimv2" && DINO_SIZES.includes(rest["size"] ?? rest["model_size"] ?? ""))
    return { ...form, prepare: { ...form?.prepare, ...IMAGENET_RGB } };
  // With `nms`, the graph contains suppression, and outputs rows of corners, score and class id.
  if (form?.boxFormat === "xyxy" && rest["nms"] === "true")
    return { family: form.family, reading: "end-to-end", prepare: form.prepare };
  return form;
}

/** Returns the facts in the metadata. Returns `null` if they are not LibreYOLO's, or name an unknown network. */
export function readLibreyolo(metadata: Metadata): InferenceMetadata | null {
  const {
    model_family: family,
    task = "detect",
    names,
    nb_classes: count,
    imgsz_h: h,
    imgsz_w: w,
  } = metadata;
  const options = family === undefined ? undefined : optionsOf(metadata);
  if (!options) return null;
  const classes = Number(count ?? metadata["nc"]);
  const sides = [Number(w ?? metadata["imgsz"]), Number(h ?? metadata["imgsz"])] as const;
  return {
    exporter: "libreyolo",
    task: task === "classify" || task === "segment" ? task : "detect",
    taskName: task,
    names: namesOf(names, classes),
    keypoints: null,
    inputSize: sides.every((n) => Number.isSafeInteger(n) && n > 0) ? sides : null,
    options: { ...options, ...(Number.isSafeInteger(classes) && classes > 0 && { classes }) },
  };
}

/** Returns the class names by class id, `null` unless there is a name for each class. */
function namesOf(text: string | undefined, classes: number): readonly string[] | null {
  const json = parseJson(text ?? "");
  if (!isObject(json) && !Array.isArray(json)) return null;
  const all = Object.values(json as object).map(String);
  return all.length === classes ? all : null;
}
