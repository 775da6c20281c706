/** Finds the family that a name in a file, or a name typed by a user, means. Determines the family of a config. */
import { FAMILIES, TRAITS, titleOf } from "./families.ts";
import type { Family } from "./family.ts";
import { KINDS, type NetworkKind } from "./parsers.ts";

/** Returns notes about names that contradict `read`, the family by which the tensors are read. */
export const notesOnNames = (
  read: Family,
  boxFormat: string | null,
  names: readonly (string | null)[],
): string[] => {
  const said = FAMILIES.filter(
    (family) =>
      family !== read && UNLIKE_THEIR_SHAPES.includes(family) && names.some((name) => hasWord(family, name)),
  );
  const isLibre = boxFormat === null && names.some((name) => /libre-?yolo/i.test(name ?? ""));
  // TensorFlow's saved models have a tensor of this name, and count the background as a class. TFLite files use other
  // names.
  const countsBackground =
    TRAITS[read].idsLeaveOutBackground && names.some((name) => /detection_classes/i.test(name ?? ""));
  return [
    ...said.map(
      (family) =>
        `the name says ${titleOf(family)}, and the tensors are read as ${titleOf(read)}, whose boxes ` +
        `differ: family "${family}" is right if the name is`,
    ),
    ...(countsBackground
      ? [
          "detection_classes is a name of TensorFlow's Object Detection API, whose class ids begin at 1 " +
            'outside of TFLite: family "boxes" with boxFormat "yxyx" and coordinates "normalised" reads them, ' +
            "with a first label for the background",
        ]
      : []),
    ...(isLibre ? ['the name says LibreYOLO, whose YOLO9 gives corners: boxFormat "xyxy" reads them'] : []),
  ];
};

/** Families whose tensors have the same shapes as those of another family, but whose boxes are encoded differently. */
const UNLIKE_THEIR_SHAPES: readonly Family[] = ["picodet", "ppyoloe", "rtmdet", "damo-yolo", "yolo-nas"];

const hasWord = (family: Family, name: string | null): boolean =>
  (name && TRAITS[family].word?.test(name.toLowerCase())) === true;

/** Returns the family of a `subtype` in NN Archives, `null` for none. The subtype must be in lower case. */
const familyOfSubtype = (subtype: string): Family | null =>
  FAMILIES.find((family) => TRAITS[family].subtypes?.includes(subtype)) ?? null;

/** True if the archive format defines the subtype. An empty subtype is allowed: it states no family. */
export const isSubtype = (subtype: string): boolean =>
  subtype === "" || familyOfSubtype(subtype.toLowerCase()) !== null;

/** Returns the family in a name ("YOLOv8n", "yolo-v3-tiny-tf", "output1_yolov6r2"), `null` for none. */
export function familyInName(name: string): Family | null {
  const word = familyTyped(name);
  return word !== null && TRAITS[word].typedOnly ? null : word;
}

/** Returns the other family that a name may mean: names of YOLOv6 often leave out the release. */
export const otherRelease = (family: Family): Family => (family === "yolov6r1" ? "yolov6" : family);

/** Returns the family that a user means by the typed `name`. Returns `null` for none. */
export function familyTyped(name: string): Family | null {
  const letters = name.toLowerCase();
  const byWord = (family: Family): boolean => hasWord(family, letters);
  const rest = /yolo[-_]?v?(\d.*)/.exec(letters)?.[1] ?? "";
  const version = /^\d+/.exec(rest)?.[0];
  if (TRAITS.yolox.word?.test(letters)) return "yolox";
  // Releases 2, 3 and 4 of YOLOv6 have the same distance head. In "yolov6nr3", the letter n is the model size.
  if (version === "6") return /yolo[-_]?v?6[nsml]?r[02-9]/.test(letters) ? "yolov6" : "yolov6r1";
  // Compare first with versions that are more than digits: a name with "8-odd" does not mean version "8".
  const byLongVersion = (family: Family): boolean => {
    const { version: own = "" } = TRAITS[family];
    return /\D/.test(own) && rest.startsWith(own);
  };
  const byVersion = (family: Family): boolean => version !== undefined && TRAITS[family].version === version;
  return FAMILIES.find(byLongVersion) ?? FAMILIES.find(byVersion) ?? FAMILIES.find(byWord) ?? null;
}

/** True if the name is one that exporters give to an output of the detection head, such as "output1_yolov6r2". */
export const namesHead = (output: string): boolean => /_yolo/i.test(output);

/** Facts about a network from a file or a caller. `settleFamily` finds the family by them. */
export interface FamilyEvidence {
  /** Family that an option or a model file states. */
  readonly family?: Family | null;
  /** Exporter of the model file that states the family. Absent if an option states it. */
  readonly familyExporter?: string;
  readonly kind?: NetworkKind | null;
  readonly subtype: string | null;
  readonly outputNames: readonly string[];
  readonly modelName: string | null;
  /** True if the file lists anchors, false if it states that there are none, `null` if it says nothing. */
  readonly anchors: boolean | null;
}

/** The evidence that decided the family, and the name in which it was found. */
export interface FamilyReason {
  readonly kind:
    | "option"
    | "model file"
    | "file"
    | "subtype with anchors"
    | "subtype"
    | "output name"
    | "model name"
    | "exporter"
    | "no anchors"
    | "default";
  readonly value: string | null;
}

/**
 * True if `marked`, the family of an archive's subtype, may be wrong: exporters give its subtype also to networks of
 * the family `named`, which have the same shapes.
 */
const sharesSubtype = (marked: Family | null, named: Family | null): boolean =>
  marked !== null && named !== null && TRAITS[marked].objectness === "gate" && TRAITS[marked].like === named;

/**
 * Determines the family of a config by the strongest evidence, and returns that evidence: files of YOLOv3 and YOLOv5
 * may be equal, so the family may be a guess.
 */
export function settleFamily(evidence: FamilyEvidence): { family: Family; why: FamilyReason } {
  const { subtype, outputNames, modelName, anchors, kind, family: stated, familyExporter } = evidence;
  if (stated)
    return {
      family: stated,
      why: familyExporter ? { kind: "model file", value: familyExporter } : { kind: "option", value: null },
    };
  // Ignore a name whose family contradicts what the file says about anchors.
  const fitting = (family: Family | null): Family | null =>
    family && (anchors === null || (TRAITS[family].head === "anchor") === anchors) ? family : null;
  const subtypeWord = subtype?.toLowerCase() ?? "";
  const model = familyInName(modelName ?? "");
  const evidences: readonly (readonly [Family | null | undefined, FamilyReason["kind"], string | null])[] = [
    [kind && KINDS[kind].family, "file", kind ? KINDS[kind].nnFamily : null],
    // If an archive of subtype "yolov5-u" lists anchors, its head is that of YOLOv5: "-u" networks have no anchors.
    [subtypeWord === "yolov5-u" && anchors ? "yolov5" : null, "subtype with anchors", subtype],
    // The exporter gives YOLOX the subtype of YOLOv6 r1, but only YOLOX multiplies scores by objectness. So the model's
    // name is stronger evidence than the subtype here.
    [sharesSubtype(familyOfSubtype(subtypeWord), model) ? model : null, "model name", modelName],
    [familyOfSubtype(subtypeWord), "subtype", subtype],
    ...outputNames.map(
      (name) => [fitting(familyInName(/_(yolo.*)$/i.exec(name)?.[1] ?? "")), "output name", name] as const,
    ),
    // A model name such as "yolov6n" does not state the release. Assume release 2 or later.
    [
      fitting(model === "yolov6r1" && !/r1/i.test(modelName as string) ? "yolov6" : model),
      "model name",
      modelName,
    ],
    // Only tools.luxonis.com writes a model.xml. Its networks with anchors are YOLOv5 and v7, which are decoded alike.
    [anchors && /\.xml$/i.test(modelName ?? "") ? "yolov5" : null, "exporter", modelName],
    [anchors === false ? "yolov8" : null, "no anchors", null],
    ["yolov3", "default", null],
  ];
  const [family, reason, value] = evidences.find(([said]) => said) as [
    Family,
    FamilyReason["kind"],
    string | null,
  ];
  return { family, why: { kind: reason, value } };
}
