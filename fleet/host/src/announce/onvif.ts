/**
 * Converts frames to ONVIF scene descriptions in JSON, as Profile M sends them over MQTT. As the Analytics Service
 * Specification says in "ONVIF Metadata in JSON over MQTT", the name of an attribute starts with `@`, and a text beside
 * attributes is named `#text`.
 */
import type { Detection } from "./detection.ts";

/**
 * ONVIF classes (`tt:ObjectType`) for labels of COCO. Other labels are used unchanged, since ONVIF allows custom types.
 */
const TYPES: Readonly<Record<string, string>> = {
  person: "Human",
  face: "HumanFace",
  bicycle: "Bicycle",
  ...Object.fromEntries(["car", "motorcycle", "bus", "truck", "train", "boat"].map((label) => [label, "Vehicle"])),
  ...Object.fromEntries(
    ["bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe"].map((label) => [
      label,
      "Animal",
    ]),
  ),
  "license plate": "LicensePlate",
  fire: "Fire",
  smoke: "Smoke",
};

/** Name of the module in topics and scene descriptions. */
export const MODULE = "boxwright";

/** Rounds a coordinate to a ten-thousandth of the picture. */
const round = (value: number): number => Math.round(value * 1e4) / 1e4;

/**
 * Returns a scene description. ONVIF's coordinates start in the middle of the picture and range from -1 to 1. The y
 * axis points up, so the top of a box is larger than the bottom.
 * @param time sortable time of capture
 */
export function sceneOf(time: string, detections: readonly Detection[]): object {
  const objects = detections.map(({ x_min, y_min, x_max, y_max, confidence, label, track_id }, i) => {
    const [left, right, top, bottom] = [2 * x_min - 1, 2 * x_max - 1, 1 - 2 * y_min, 1 - 2 * y_max].map(round);
    const likelihood = round(confidence);
    const type = Object.hasOwn(TYPES, label) ? [TYPES[label]!] : [];
    return {
      // Without a tracker, use the index as an id, which is valid in this frame only.
      "@ObjectId": track_id ?? i,
      Appearance: {
        Shape: {
          BoundingBox: { "@left": left, "@top": top, "@right": right, "@bottom": bottom },
          CenterOfGravity: { "@x": round(x_min + x_max - 1), "@y": round(1 - y_min - y_max) },
        },
        Class: { Type: [...type, label].map((text) => ({ "@Likelihood": likelihood, "#text": text })) },
      },
    };
  });
  // Return empty scenes too: ONVIF requires them as a sign that the analytics run.
  return { Frame: [{ "@UtcTime": `${time.slice(0, 23)}Z`, "@Source": MODULE, Object: objects }] };
}
