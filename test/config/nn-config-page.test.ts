/** docs/nn-config.md: what its tables call read is read, and what they call ignored changes nothing. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDecoderSync, parseConfig } from "../../src/entries/index.ts";
import { describeShared } from "../support/shared-data.ts";

type Json = Record<string, unknown>;

const page = readFileSync(new URL("../../docs/nn-config.md", import.meta.url), "utf8");
const METADATA = "model.heads[].metadata.";

/** Rows of the tables: path, and whether it is read. Keys without a place are those of a head's metadata. */
const rows = [...page.matchAll(/^\| `([^`]+)` \| (read|ignored) \|/gm)].map(([, key, state]) => ({
  path: /[.]|^(handler|version|openvino_version|family|config_version)$/.test(key) ? key : METADATA + key,
  state,
}));

const nn = (more: Json = {}): Json => ({
  nn_config: {
    output_format: "detection",
    NN_family: "YOLO",
    input_size: "416x416",
    NN_specific_metadata: {
      classes: 2,
      coordinates: 4,
      anchors: [10, 14, 23, 27, 37, 58],
      anchor_masks: { side26: [0, 1, 2] },
      ...more,
    },
  },
  mappings: { labels: ["a", "b"] },
  model: { model_name: "net", xml: "net.xml" },
});

const archive = (parser: string, metadata: Json, outputs: readonly (readonly number[])[]): Json => ({
  config_version: "1.0",
  model: {
    metadata: { name: "net" },
    inputs: [
      {
        name: "images",
        dtype: "float32",
        input_type: "image",
        shape: [1, 3, 64, 96],
        layout: "NCHW",
        preprocessing: { mean: [0, 0, 0], scale: [255, 255, 255], reverse_channels: true },
      },
    ],
    outputs: outputs.map((shape, i) => ({ name: `o${i}`, dtype: "float32", shape, layout: "NCHW" })),
    heads: [{ parser, outputs: outputs.map((_, i) => `o${i}`), metadata }],
  },
});

const named = { classes: ["a", "b"], n_classes: 2 };
const yolo = { ...named, subtype: "yolov8", conf_threshold: 0.4, iou_threshold: 0.4, max_det: 9 };
const map = [1, 7, 8, 12];

/** Files of each format. A key is read if one of them shows it. */
const FILES: readonly Json[] = [
  nn({ confidence_threshold: 0.4, iou_threshold: 0.4 }),
  { ...nn(), model: { xml: "net.xml" } },
  archive("YOLOExtendedParser", { ...yolo, yolo_outputs: ["o0"], strides: [8] }, [map]),
  archive("YOLOExtendedParser", { ...named, subtype: "yolov5", anchors: [[[1, 2]]] }, [map]),
  archive("YOLOExtendedParser", { ...yolo, n_keypoints: 2, keypoints_outputs: ["o1"] }, [map, [1, 6, 96]]),
  archive("YOLOExtendedParser", { ...yolo, n_prototypes: 4, mask_outputs: ["o1"], protos_outputs: "o2" }, [
    map,
    [1, 4, 8, 12],
    [1, 4, 16, 24],
  ]),
  archive("YOLOExtendedParser", { ...yolo, angles_outputs: ["o1"] }, [map, [1, 1, 8, 12]]),
  archive("SSD", { ...named, boxes_outputs: "o0", scores_outputs: "o1" }, [
    [1, 9, 4],
    [1, 9, 3],
  ]),
  archive("KeypointParser", { n_keypoints: 2, scale_factor: 64 }, [[1, 4]]),
  archive("ClassificationParser", { ...named, is_softmax: true }, [[1, 2]]),
  archive("PPTextDetectionParser", { mask_threshold: 0.25 }, [[1, 1, 64, 96]]),
  archive("MPPalmDetectionParser", { scale: 192 }, []),
  archive("SCRFDParser", { feat_stride_fpn: [8, 16, 32] }, []),
].map((file) => {
  const { model } = file as { model: Json };
  // Without a shape the parser's own field tells the size.
  if (JSON.stringify(model).includes('"scale":192')) delete (model.inputs as Json[])[0].shape;
  return file;
});

/** Everything that a decoder knows of a file, or the errors. */
function outcome(file: unknown): string {
  const attempt = (act: () => unknown): unknown => {
    try {
      return act();
    } catch (error) {
      return (error as Error).message;
    }
  };
  // The input block is kept as it is: what is read of it shows in the preparation.
  const config = attempt(() => ({ ...parseConfig(file), picture: null }));
  const rule = attempt(() => createDecoderSync(file, { onNote: () => undefined }).prepareRule);
  return JSON.stringify([config, rule]);
}

/** Returns a copy with another value at a path, null if the file has no such place. */
function withValue(file: Json, path: string, value: unknown): Json | null {
  const copy = structuredClone(file);
  const keys = path.replaceAll("[]", ".0").split(".");
  let place: Json | undefined = copy;
  for (const key of keys.slice(0, -1)) {
    place = place?.[key] as Json | undefined;
    if (place === undefined || place === null) return null;
  }
  (place as Json)[keys[keys.length - 1]] = value;
  return copy;
}

const OUTCOMES = FILES.map(outcome);
const VALUES = [{ junk: 1 }, "junk", -7, 0.123, ["junk"], true, false, [[0, 1]], 3] as const;

/** True if some value at the path changes what comes of some file. */
const isRead = (path: string): boolean =>
  FILES.some((file, i) =>
    VALUES.some((value) => {
      const changed = withValue(file, path, value);
      return changed !== null && outcome(changed) !== OUTCOMES[i];
    }),
  );

describe("each key of the page", () => {
  test.each(rows)("$path is $state", ({ path, state }) => {
    expect(isRead(path) ? "read" : "ignored").toBe(state);
  });

  test("stands once", () => {
    expect(rows.length).toBeGreaterThan(60);
    expect(new Set(rows.map(({ path }) => path)).size).toBe(rows.length);
  });
});

/** Keys of a head in luxonis-ml's schema (nn_archive, August 2026), and those that depthai-nodes' parsers read. */
const PUBLISHED =
  "postprocessor_path classes n_classes iou_threshold conf_threshold max_det anchors boxes_outputs scores_outputs " +
  "is_softmax background_class yolo_outputs mask_outputs protos_outputs keypoints_outputs angles_outputs subtype " +
  "n_prototypes n_keypoints strides mask_conf keypoint_label_names keypoint_labels skeleton_edges scale_factor " +
  "score_threshold scale mask_threshold feat_stride_fpn num_anchors prompt points point_label bbox " +
  "classes_in_one_layer";

test.each(PUBLISHED.split(" "))("the published key %s stands in the page", (key) => {
  expect(page).toContain(`\`${key}\``);
});

test("the files are read without an error", () => {
  for (const seen of OUTCOMES) expect(seen).toContain('"format":"n');
});

/** Returns the paths of all keys in a file. */
function pathsIn(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = path === "" ? key : `${path}.${key}`;
    return [own, ...(own.endsWith("anchor_masks") ? [] : pathsIn(inner, own))];
  });
}

describeShared("files in circulation", (data) => {
  test("have no key that the page leaves out", () => {
    const known = new Set(rows.map(({ path }) => path));
    const isBlock = (path: string): boolean => [...known].some((key) => key.startsWith(`${path}.`));
    const isKnown = (path: string): boolean => known.has(path) || isBlock(path) || isBlock(`${path}[]`);
    const folder = join(data, "configs");
    for (const name of readdirSync(folder).filter((file) => file.endsWith(".json"))) {
      const file = JSON.parse(readFileSync(join(folder, name), "utf8")) as unknown;
      const paths = pathsIn(file).map((path) => path.replace(/^NN_config/, "nn_config"));
      expect(
        paths.filter((path) => !isKnown(path)),
        name,
      ).toEqual([]);
    }
  });
});
