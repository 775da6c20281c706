/** Seeded tensors with the answers of depthai-core's and depthai-nodes' own code, which stand in `fixtures/golden`. */
import { join } from "node:path";
import type { TensorInput } from "../../src/core/tensor.ts";
import { type Row, fixtures, foldersIn, readBytes, readJson } from "./shared-data.ts";

/** One folder of the golden files: a network, its tensors, and what two published decoders answered. */
export interface Fixture {
  readonly config: {
    readonly subtype: string;
    readonly n_classes: number;
    readonly input_width: number;
    readonly input_height: number;
    readonly strides?: readonly number[];
    readonly anchors?: readonly (readonly (readonly number[])[])[] | null;
    readonly conf_threshold: number;
    readonly iou_threshold?: number;
    readonly max_det?: number;
  };
  readonly tensors: readonly {
    readonly name: string;
    readonly storage_order?: string;
    readonly dtype: string;
    readonly scale?: number;
    readonly zero_point?: number;
    readonly dims: readonly number[];
    readonly file: string;
  }[];
  readonly expected_depthai_core?: {
    readonly detections: readonly {
      label: number;
      confidence: number;
      xmin: number;
      ymin: number;
      xmax: number;
      ymax: number;
    }[];
  } | null;
  readonly expected_depthai_nodes?:
    readonly { label: number; confidence: number; cx: number; cy: number; w: number; h: number }[] | null;
  readonly score_ties_in_result?: number;
}

/** Folder of the fixtures, and their names. */
export const root = join(fixtures, "golden");
export const cases = foldersIn(root);

/** Element types of the files, with the array that holds them. */
const ARRAYS = { fp32: Float32Array, fp16: Uint16Array, i8: Int8Array, u8: Uint8Array } as const;

const DTYPES = { fp32: "float32", fp16: "float16", i8: "int8", u8: "uint8" } as const;

/** Returns the tensors of a fixture, ready to decode. */
export function tensorsOf(name: string, f: Fixture): Record<string, TensorInput> {
  return Object.fromEntries(
    f.tensors.map((t) => {
      const bytes = readBytes(root, name, t.file);
      const data = new ARRAYS[t.dtype as keyof typeof ARRAYS](bytes.buffer);
      const scale = t.scale === undefined ? {} : { scale: t.scale, zeroPoint: t.zero_point ?? 0 };
      return [t.name, { data, dims: t.dims, type: t.dtype as keyof typeof ARRAYS, ...scale }];
    }),
  );
}

/** Returns the NN Archive config.json of a network with such outputs. */
export function archiveOf(f: Fixture, shapes = false): object {
  const { config: c } = f;
  return {
    config_version: "1.0",
    model: {
      metadata: { name: "golden", path: "golden.onnx", precision: "float32" },
      inputs: [
        {
          name: "images",
          dtype: "float32",
          input_type: "image",
          shape: [1, 3, c.input_height, c.input_width],
          layout: "NCHW",
          preprocessing: { mean: null, scale: null, reverse_channels: true },
        },
      ],
      outputs: f.tensors.map((t) => ({
        name: t.name,
        dtype: DTYPES[t.dtype as keyof typeof DTYPES],
        ...(shapes ? { shape: t.dims, layout: t.storage_order ?? "NCD" } : {}),
      })),
      heads: [
        {
          name: "detection",
          parser: "YOLO",
          outputs: null,
          metadata: {
            classes: Array.from({ length: c.n_classes }, (_, i) => `class ${i}`),
            n_classes: c.n_classes,
            iou_threshold: c.iou_threshold ?? 0.5,
            conf_threshold: c.conf_threshold,
            max_det: c.max_det ?? 300,
            anchors: c.anchors ?? null,
            yolo_outputs: f.tensors.map((t) => t.name),
            subtype: c.subtype,
            ...(c.strides === undefined ? {} : { strides: c.strides }),
          },
        },
      ],
    },
  };
}

/** Returns the same as typed options. */
export function typedOf(f: Fixture): object {
  const { config: c } = f;
  const family = {
    yolov6r1: "yolov6r1",
    yolov8: "yolov8",
    yolov3: "yolov3",
    yolov5: "yolov5",
    yolo26: "yolo26",
  }[c.subtype];
  return {
    family,
    classes: c.n_classes,
    inputSize: [c.input_width, c.input_height],
    confidenceThreshold: c.conf_threshold,
    iouThreshold: c.iou_threshold ?? 0.5,
    maxDetections: c.max_det ?? 300,
    ...(c.anchors === null || c.anchors === undefined ? {} : { anchors: c.anchors }),
    ...(c.strides === undefined ? {} : { strides: c.strides }),
    // typed options take maps for what a network computes before its sigmoid; only v3 is that here
    scores: c.subtype === "yolov3" ? "logits" : "probabilities",
  };
}

const coreRows = (f: Fixture): Row[] =>
  (f.expected_depthai_core?.detections ?? []).map((d) => ({
    class_id: d.label,
    confidence: d.confidence,
    x_min: d.xmin,
    y_min: d.ymin,
    x_max: d.xmax,
    y_max: d.ymax,
  }));

const nodesRows = (f: Fixture): Row[] =>
  (f.expected_depthai_nodes ?? []).map((d) => ({
    class_id: d.label,
    confidence: d.confidence,
    x_min: d.cx - d.w / 2,
    y_min: d.cy - d.h / 2,
    x_max: d.cx + d.w / 2,
    y_max: d.cy + d.h / 2,
  }));

/**
 * Returns the lists that count. The list of depthai-core for v6r1 predates a fix of depthai-core, as the notes of the
 * fixtures say.
 */
export function lists(
  name: string,
  f: Fixture,
): { readonly rules: "depthai" | "depthai-nodes"; readonly rows: Row[] }[] {
  const out: ReturnType<typeof lists> = [];
  if (f.expected_depthai_core !== null && f.expected_depthai_core !== undefined && !name.startsWith("r1af"))
    out.push({ rules: "depthai", rows: coreRows(f) });
  if (f.expected_depthai_nodes !== null && f.expected_depthai_nodes !== undefined)
    out.push({ rules: "depthai-nodes", rows: nodesRows(f) });
  return out;
}

/** Reads a fixture. */
export const fixtureOf = (name: string): Fixture => readJson(root, name, "fixture.json") as Fixture;
