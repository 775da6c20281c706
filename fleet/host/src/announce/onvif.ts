/**
 * Writes frames as ONVIF scene descriptions in JSON, as Profile M sends them over MQTT. Analytics Service
 * Specification, "ONVIF Metadata in JSON over MQTT": attributes get an `@`, and a text beside attributes is `#text`.
 */
import type { Detection } from "./detection.ts";

/** Classes of ONVIF (`tt:ObjectType`) by labels of COCO. Other labels stand alone: ONVIF allows types of one's own. */
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

/** Digits of a coordinate: a ten-thousandth of a picture. */
const round = (value: number): number => Math.round(value * 1e4) / 1e4;

/**
 * Returns a scene description. ONVIF's coordinates begin in the middle of the picture and reach from -1 to 1, with y
 * upwards: a top is larger than its bottom.
 * @param time sortable time of capture
 */
export function sceneOf(time: string, detections: readonly Detection[]): object {
  const objects = detections.map(({ x_min, y_min, x_max, y_max, confidence, label, track_id }, i) => {
    const [left, right, top, bottom] = [2 * x_min - 1, 2 * x_max - 1, 1 - 2 * y_min, 1 - 2 * y_max].map(round);
    const likelihood = round(confidence);
    const type = Object.hasOwn(TYPES, label) ? [TYPES[label]!] : [];
    return {
      // Without a tracker an id holds for its frame alone.
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
  // ONVIF wants empty scenes too: they say that somebody looks.
  return { Frame: [{ "@UtcTime": `${time.slice(0, 23)}Z`, "@Source": MODULE, Object: objects }] };
}
