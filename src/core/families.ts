/**
 * A family is data, not code. It says which arithmetic a box needs and what is in a tensor by default;
 * whether an export is raw heads, rows or planes is read from the shapes (`readings.ts`), and the family only settles
 * what shapes leave open.
 */
/** How a network writes its boxes; spelling variants that appear inside files are read by `familyInName`. */
export type Family =
  | "yolov2"
  | "yolov3"
  | "yolov4"
  | "yolov5"
  | "yolov7"
  | "yolov6r1"
  | "yolox"
  | "yolov6"
  | "yolov8"
  | "yolov9"
  | "yolov10"
  | "yolo11"
  | "yolo12"
  | "yolov13"
  | "yolo26"
  | "nanodet"
  | "fastestdet"
  | "detr"
  | "ssd"
  | "ssd-detection-output"
  | "tflite-postprocess"
  | "blazeface"
  | "ultraface"
  | "boxes";

/** Whether the tensor holds probabilities already ("sigmoid" was applied by the network) or raw logits. */
export type Activation = "sigmoid" | "logits";

/** What a user may say: also "softmax", raw logits of which the decoder takes a softmax over the classes, the background included. */
export const ACTIVATIONS = ["sigmoid", "logits", "softmax"] as const;
export type ActivationOption = (typeof ACTIVATIONS)[number];

/** How a network's own maps become boxes, where the export leaves that to us. */
export interface FamilyTraits {
  /**
   * `anchor`: cell and anchor; `point`: cell and stride, exp; `distance`: left, top, right, bottom from the centre
   * of the cell (as numbers, or as distributions); `prior`: against prior boxes; `plain`: decoded by the network.
   */
  readonly head: "anchor" | "point" | "distance" | "prior" | "plain";
  /**
   * `anchor`: width = (2 w)^2 x anchor with w a probability, and centre = cell + 2 xy - 0.5 unless `scaleXY` says
   * otherwise (v5, v7); else width = exp(w) x anchor (v2..v4).
   */
  readonly square?: boolean;
  /** How objectness enters: "gate" keeps it out of the score whatever the convention says. */
  readonly objectness?: "gate" | "power";
  /** Class scores are a softmax over the class channels, not independent. */
  readonly softmax?: boolean;
  /** Which of the score columns means "nothing here"; lists with an entry per class may then name the background. */
  readonly background?: "first" | "last";
  /** What the network's own maps, offsets or queries hold by default; boxes it decoded come with probabilities. */
  readonly raw: Activation;
}

// no spreads here: bundlers leave what is not used out of a bundle only where it is plain
const anchor: FamilyTraits = { head: "anchor", raw: "logits" };
const square: FamilyTraits = { head: "anchor", raw: "logits", square: true };
const distance: FamilyTraits = { head: "distance", raw: "logits" };
const plain: FamilyTraits = { head: "plain", raw: "sigmoid" };
const prior: FamilyTraits = { head: "prior", raw: "sigmoid", background: "first" };
const finished: FamilyTraits = { head: "plain", raw: "sigmoid", background: "first" };

export const TRAITS: { readonly [F in Family]: FamilyTraits } = {
  yolov2: { head: "anchor", raw: "logits", softmax: true },
  yolov3: anchor,
  yolov4: anchor,
  yolov5: square,
  yolov7: square,
  // the exporters of both put the sigmoid of objectness and classes into the network
  yolov6r1: { head: "point", raw: "sigmoid", objectness: "gate" },
  yolox: { head: "point", raw: "sigmoid" },
  yolov6: distance,
  yolov8: distance,
  yolov9: distance,
  yolov10: distance,
  yolo11: distance,
  yolo12: distance,
  yolov13: distance,
  yolo26: distance,
  nanodet: { head: "distance", raw: "sigmoid" },
  fastestdet: { head: "anchor", raw: "sigmoid", objectness: "power" },
  detr: { head: "plain", raw: "logits", background: "last" },
  ssd: prior,
  "ssd-detection-output": finished,
  "tflite-postprocess": finished,
  blazeface: { head: "prior", raw: "logits" },
  ultraface: prior,
  boxes: plain,
};

/** Names a user writes. */
export const FAMILIES = /* @__PURE__ */ Object.keys(TRAITS) as readonly Family[];

/** `subtype`s of NN Archives. */
const SUBTYPES =
  "yolov3 yolov3-tiny yolov3-u yolov3-tinyu yolov4 yolov4-tiny yolov5 yolov5-u yolov6 yolov6r1 yolov6r2 yolov7 " +
  "yolov8 yolov8n yolov9 yolov10 yolov11 yolov12 yolo26 yolo-p yolo-gold";

/** Whether `subtype` is one this package knows; "" says nothing and is allowed. */
export const knownSubtype = (subtype: string): boolean =>
  ["", ...SUBTYPES.split(" ")].includes(subtype.toLowerCase());

/**
 * Family of an archive's subtype. "yolov6" is the first release there (point heads), as on the device since
 * depthai-core #1911; later releases say yolov6r2. The "-u" subtypes are the anchor-free rebuilds.
 */
function familyOfSubtype(subtype: string): Family | null {
  if (!knownSubtype(subtype)) return null;
  if (/-(tiny)?u$/.test(subtype)) return "yolov8";
  return subtype === "yolo-p" ? "yolov5" : subtype === "yolo-gold" ? "yolov6" : familyInName(subtype);
}

/** A name as people write it ("YOLOv8n", "yolo-v3-tiny-tf", "output1_yolov6r2") -> family, or null. */
export function familyInName(name: string): Family | null {
  const s = name.toLowerCase();
  if (/yolo[-_]?x/.test(s)) return "yolox";
  const version = /yolo[-_]?v?(\d+)/.exec(s)?.[1];
  // releases 2, 3, 4 share the distance head; "yolov6nr3" puts the size letter before the release
  if (version === "6") return /yolo[-_]?v?6[nsml]?r[02-9]/.test(s) ? "yolov6" : "yolov6r1";
  return (
    FAMILIES.find((f) => f === `yolov${version}` || f === `yolo${version}`) ??
    (["fastestdet", "nanodet", "blazeface", "ultraface"] as const).find((f) => s.includes(f)) ??
    null
  );
}

/** What is known about a network before its head rule is settled. */
export interface HeadEvidence {
  /** Stated outright. */
  readonly family?: Family | null;
  readonly kind?: "yolo" | "ssd" | null;
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
  const { subtype, outputNames, modelName, anchors } = e;
  // a name that contradicts the file's anchors is no evidence
  const fitting = (family: Family | null): Family | null =>
    family && (anchors === null || (TRAITS[family].head === "anchor") === anchors) ? family : null;
  const stated = subtype?.toLowerCase() ?? "";
  const model = familyInName(modelName ?? "");
  const evidence: readonly (readonly [family: Family | null | undefined, why: string])[] = [
    [e.family, "option family"],
    [e.kind === "ssd" ? "ssd" : null, "family mobilenet"],
    // a "-u" export of an anchor model has no anchors; with anchors it is the classic head after all
    [stated === "yolov5-u" && anchors ? "yolov5" : null, `subtype "${subtype}" with anchors`],
    [familyOfSubtype(stated), `subtype "${subtype}"`],
    ...outputNames.map(
      (name) =>
        [fitting(familyInName(/_(yolo.*)$/i.exec(name)?.[1] ?? "")), `output name "${name}"`] as const,
    ),
    // a bare "yolov6n" says nothing of the release, and the files of all releases list no anchors
    [
      fitting(model === "yolov6r1" && !/r1/i.test(modelName as string) ? "yolov6" : model),
      `model name "${modelName}"`,
    ],
    [anchors === false ? "yolov8" : null, "empty anchors mean left-top-right-bottom distances"],
    ["yolov3", "nothing in the file says otherwise; the option `family` does"],
  ];
  const [family, why] = evidence.find((said) => said[0]) as [Family, string];
  return { family, why };
}
