/** Finds the family that a name in a file or typed by a user stands for, and settles the family of a config. */
import { FAMILIES, TRAITS, titleOf } from "./families.ts";
import type { Family } from "./family.ts";
import { KINDS, type NetworkKind } from "./parsers.ts";

/** Returns notes about names that state another family than the one in use. */
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
  // The saved models of TensorFlow name this tensor and count the background. TFLite files have other names.
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

/** Families whose tensors have the shapes of another family but hold boxes of another kind. */
const UNLIKE_THEIR_SHAPES: readonly Family[] = ["picodet", "ppyoloe", "rtmdet", "damo-yolo", "yolo-nas"];

const hasWord = (family: Family, name: string | null): boolean =>
  (name && TRAITS[family].word?.test(name.toLowerCase())) === true;

/** Returns the family of an NN Archive's subtype, `null` if none has it. The subtype is in small letters. */
const familyOfSubtype = (subtype: string): Family | null =>
  FAMILIES.find((family) => TRAITS[family].subtypes?.includes(subtype)) ?? null;

/** True if the archive format has the subtype. An empty subtype says nothing and is allowed. */
export const isSubtype = (subtype: string): boolean =>
  subtype === "" || familyOfSubtype(subtype.toLowerCase()) !== null;

/**
 * Returns the family in a name as people write it ("YOLOv8n", "yolo-v3-tiny-tf", "output1_yolov6r2"), `null` for none.
 */
export function familyInName(name: string): Family | null {
  const word = familyTyped(name);
  return word !== null && TRAITS[word].typedOnly ? null : word;
}

/** Returns the family that a user means by typing `name`, `null` for none. */
export function familyTyped(name: string): Family | null {
  const letters = name.toLowerCase();
  const byWord = (family: Family): boolean => hasWord(family, letters);
  const rest = /yolo[-_]?v?(\d.*)/.exec(letters)?.[1] ?? "";
  const version = /^\d+/.exec(rest)?.[0];
  if (TRAITS.yolox.word?.test(letters)) return "yolox";
  // Releases 2, 3, 4 share the distance head. "yolov6nr3" has the size letter before the release.
  if (version === "6") return /yolo[-_]?v?6[nsml]?r[02-9]/.test(letters) ? "yolov6" : "yolov6r1";
  // First compare the versions that hold more than digits: a name with "8-odd" does not mean version "8".
  const byLongVersion = (family: Family): boolean => {
    const { version: own = "" } = TRAITS[family];
    return /\D/.test(own) && rest.startsWith(own);
  };
  const byVersion = (family: Family): boolean => version !== undefined && TRAITS[family].version === version;
  return FAMILIES.find(byLongVersion) ?? FAMILIES.find(byVersion) ?? FAMILIES.find(byWord) ?? null;
}

/** True if exporters name an output of the detection head like this: "output1_yolov6r2". */
export const namesHead = (output: string): boolean => /_yolo/i.test(output);

/** What a file or a caller says about a network whose family no option states. */
export interface FamilyEvidence {
  /** Family that an option or a model file states. */
  readonly family?: Family | null;
  /** Exporter of the model file that states the family. Absent: an option states it. */
  readonly familyExporter?: string;
  readonly kind?: NetworkKind | null;
  readonly subtype: string | null;
  readonly outputNames: readonly string[];
  readonly modelName: string | null;
  /** True if the file lists anchors, false if it states that there are none, `null` if it says nothing. */
  readonly anchors: boolean | null;
}

/** The evidence that settled the family, with the name that contained it. */
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
 * True if archives label networks of the named family with the subtype of another one, whose maps have the same shapes.
 */
const sharesSubtype = (marked: Family | null, named: Family | null): boolean =>
  marked !== null && named !== null && TRAITS[marked].objectness === "gate" && TRAITS[marked].like === named;

/**
 * Settles the family of a config. The first evidence that names a family decides, and the reason says which. A file
 * alone cannot always tell: those of YOLOv3 and YOLOv5 can be identical, yet their boxes differ.
 */
export function settleFamily(evidence: FamilyEvidence): { family: Family; why: FamilyReason } {
  const { subtype, outputNames, modelName, anchors, kind, family: stated, familyExporter } = evidence;
  if (stated)
    return {
      family: stated,
      why: familyExporter ? { kind: "model file", value: familyExporter } : { kind: "option", value: null },
    };
  // Ignore a name whose family contradicts the file's statement on anchors.
  const fitting = (family: Family | null): Family | null =>
    family && (anchors === null || (TRAITS[family].head === "anchor") === anchors) ? family : null;
  const subtypeWord = subtype?.toLowerCase() ?? "";
  const model = familyInName(modelName ?? "");
  const evidences: readonly (readonly [Family | null | undefined, FamilyReason["kind"], string | null])[] = [
    [kind && KINDS[kind].family, "file", kind ? KINDS[kind].nnFamily : null],
    // A "-u" subtype with anchors is the classic head after all: "-u" exports have none.
    [subtypeWord === "yolov5-u" && anchors ? "yolov5" : null, "subtype with anchors", subtype],
    // The exporter marks YOLOX as YOLOv6 r1, which does not multiply by objectness. In that case the model's name
    // decides.
    [sharesSubtype(familyOfSubtype(subtypeWord), model) ? model : null, "model name", modelName],
    [familyOfSubtype(subtypeWord), "subtype", subtype],
    ...outputNames.map(
      (name) => [fitting(familyInName(/_(yolo.*)$/i.exec(name)?.[1] ?? "")), "output name", name] as const,
    ),
    // A bare "yolov6n" does not tell the release, and files of every release list no anchors.
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
