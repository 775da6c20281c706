/**
 * A family is data, not code. It says which arithmetic a box needs and what is in a tensor by default;
 * whether an export is raw heads, rows or planes is read from the shapes (`reading.ts`), never from the family.
 */
import { hasOwn } from "./own.ts";

/** Names a user writes; spelling variants that appear inside files are read by `familyInName`. */
export const FAMILIES = [
  "yolov2",
  "yolov3",
  "yolov4",
  "yolov5",
  "yolov7",
  "yolov6r1",
  "yolox",
  "yolov6",
  "yolov8",
  "yolov9",
  "yolov10",
  "yolo11",
  "yolo12",
  "yolov13",
  "yolo26",
  "nanodet",
  "fastestdet",
  "detr",
  "ssd",
  "ssd-detection-output",
  "tflite-postprocess",
  "blazeface",
  "ultraface",
  "boxes",
] as const;

/** How a network writes its boxes; spelling variants are understood. */
export type Family = (typeof FAMILIES)[number];

/** Whether the tensor holds probabilities already ("sigmoid" was applied by the network) or raw logits. */
export type Activation = "sigmoid" | "logits";

/** What a user may say: also "softmax", raw logits of which the decoder takes a softmax over the classes, the background included. */
export const ACTIVATIONS = ["sigmoid", "logits", "softmax"] as const;
export type ActivationOption = (typeof ACTIVATIONS)[number];

/** How a network's own maps become boxes, where the export leaves that to us. */
export interface FamilyRules {
  /**
   * `anchor`: cell and anchor; `point`: cell and stride, exp; `distance`: left, top, right, bottom from the centre
   * of the cell (as numbers, or as distributions); `prior`: against prior boxes; `plain`: decoded by the network.
   */
  readonly head: "anchor" | "point" | "distance" | "prior" | "plain";
  /** `anchor`: width = exp(w) x anchor (v2..v4), or (2 w)^2 x anchor with w a probability (v5, v7). */
  readonly size?: "exp" | "square";
  /** `anchor`: centre = cell + scaleXY x xy - (scaleXY - 1) / 2. YOLOv5's "2 x - 0.5" is scaleXY = 2. */
  readonly scaleXY?: number;
  /** How objectness enters: "gate" keeps it out of the score whatever the convention says. */
  readonly objectness?: "gate" | "power";
  /** Class scores are a softmax over the class channels, not independent. */
  readonly softmax?: boolean;
  /** Default activation of raw maps and of rows; see `defaultActivation`. */
  readonly maps?: Activation;
  readonly rows?: Activation;
  /** One-to-one heads need no suppression. */
  readonly nms?: "none";
  readonly multiLabel?: boolean;
}

const anchorExp: FamilyRules = { head: "anchor", size: "exp", scaleXY: 1, maps: "logits" };
const anchorSquare: FamilyRules = { head: "anchor", size: "square", scaleXY: 2, maps: "logits" };
const distance: FamilyRules = { head: "distance", maps: "logits" };

export const RULES: { readonly [F in Family]: FamilyRules } = {
  yolov2: { ...anchorExp, softmax: true },
  yolov3: anchorExp,
  yolov4: anchorExp,
  yolov5: anchorSquare,
  yolov7: anchorSquare,
  // the exporters of both put the sigmoid of objectness and classes into the network
  yolov6r1: { head: "point", objectness: "gate", maps: "sigmoid" },
  yolox: { head: "point", maps: "sigmoid" },
  yolov6: distance,
  yolov8: distance,
  yolov9: distance,
  yolov10: distance,
  yolo11: distance,
  yolo12: distance,
  yolov13: distance,
  yolo26: distance,
  nanodet: { head: "distance", maps: "sigmoid" },
  fastestdet: { head: "anchor", objectness: "power", maps: "sigmoid" },
  detr: { head: "plain", rows: "logits", nms: "none" },
  ssd: { head: "prior", rows: "sigmoid" },
  "ssd-detection-output": { head: "plain", nms: "none" },
  "tflite-postprocess": { head: "plain", nms: "none" },
  blazeface: { head: "prior", rows: "logits" },
  ultraface: { head: "prior", rows: "sigmoid" },
  boxes: { head: "plain", rows: "sigmoid" },
};

/**
 * `subtype` of an NN Archive -> family. "yolov6" is the first release there (point heads), as on the device since
 * depthai-core #1911; later releases say yolov6r2. The "-u" subtypes are the anchor-free rebuilds.
 */
const SUBTYPES: Readonly<Record<string, Family>> = {
  yolov3: "yolov3",
  "yolov3-tiny": "yolov3",
  "yolov3-u": "yolov8",
  "yolov3-tinyu": "yolov8",
  yolov4: "yolov4",
  "yolov4-tiny": "yolov4",
  yolov5: "yolov5",
  "yolov5-u": "yolov8",
  yolov6: "yolov6r1",
  yolov6r1: "yolov6r1",
  yolov6r2: "yolov6",
  yolov7: "yolov7",
  yolov8: "yolov8",
  yolov8n: "yolov8",
  yolov9: "yolov9",
  yolov10: "yolov10",
  yolov11: "yolo11",
  yolov12: "yolo12",
  yolo26: "yolo26",
  "yolo-p": "yolov5",
  "yolo-gold": "yolov6",
};

/** A name as people write it ("YOLOv8n", "yolo-v3-tiny-tf", "output1_yolov6r2") -> family, or null. */
export function familyInName(name: string): Family | null {
  const s = name.toLowerCase();
  if (/yolo[-_]?x/.test(s)) return "yolox";
  const found = /yolo[-_]?v?(\d+)(?:r(\d))?/.exec(s) ?? /yolov?(\d+)n?r(\d)/.exec(s);
  if (found !== null) {
    const version = Number(found[1]);
    if (version === 6) {
      // releases 2, 3, 4 share the distance head; "yolov6nr3" puts the size letter before the release
      const release = found[2] ?? /yolov?6[nsml]?r(\d)/.exec(s)?.[1];
      return release === undefined || release === "1" ? "yolov6r1" : "yolov6";
    }
    for (const f of [`yolov${version}`, `yolo${version}`])
      if ((FAMILIES as readonly string[]).includes(f)) return f as Family;
  }
  for (const f of ["fastestdet", "nanodet", "blazeface", "ultraface"] as const) if (s.includes(f)) return f;
  return null;
}

/** What is known about a network of the YOLO kind before its head rule is settled. */
export interface HeadEvidence {
  readonly subtype: string | null;
  readonly outputNames: readonly string[];
  readonly modelName: string | null;
  /** `false`: the file says there are none. */
  readonly anchors: boolean | null;
}

/**
 * Which head rule a YOLO config means. A file cannot always tell (one of v3 and one of v5 can be identical, yet
 * their boxes differ), so the first of these that speaks decides, and `why` says which did.
 */
export function settleFamily(e: HeadEvidence): { family: Family; why: string } {
  if (e.subtype !== null && e.subtype !== "") {
    const subtype = e.subtype.toLowerCase();
    const family = hasOwn(SUBTYPES, subtype) ? SUBTYPES[subtype] : undefined;
    // a "-u" export of an anchor model has no anchors; with anchors it is the classic head after all
    if (family === "yolov8" && e.anchors === true && e.subtype.toLowerCase() === "yolov5-u")
      return { family: "yolov5", why: `subtype "${e.subtype}" with anchors` };
    if (family !== undefined) return { family, why: `subtype "${e.subtype}"` };
  }
  for (const name of e.outputNames) {
    const tail = /_(yolo.*)$/i.exec(name);
    const family = tail === null ? null : familyInName(tail[1]);
    if (family !== null && fits(family, e)) return { family, why: `output name "${name}"` };
  }
  if (e.modelName !== null) {
    let family = familyInName(e.modelName);
    // a bare "yolov6n" says nothing of the release, and the files of all releases list no anchors
    if (family === "yolov6r1" && !/r1/i.test(e.modelName)) family = "yolov6";
    if (family !== null && fits(family, e)) return { family, why: `model name "${e.modelName}"` };
  }
  if (e.anchors === false)
    return { family: "yolov8", why: "empty anchors mean left-top-right-bottom distances" };
  return { family: "yolov3", why: "nothing in the file says otherwise; the option `family` does" };
}

/** A name that contradicts the file's anchors is no evidence. */
function fits(family: Family, e: HeadEvidence): boolean {
  return e.anchors === null || (RULES[family].head === "anchor") === e.anchors;
}

/** Whether `subtype` is one this package knows; "" says nothing and is allowed. */
export function knownSubtype(subtype: string): boolean {
  return subtype === "" || hasOwn(SUBTYPES, subtype.toLowerCase());
}
