/** Seeded tensors against what depthai-core's and depthai-nodes' own code answered on them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Decoder, createDecoderSync } from "../../src/decode/decoder.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import type { EngineName } from "../../src/core/engine-name.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { engines } from "../support/engines.ts";
import { expectSame } from "../support/expect-detections.ts";
import {
  type Row,
  describeShared,
  fixtures,
  foldersIn,
  readBytes,
  readJson,
} from "../support/shared-data.ts";

interface Fixture {
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

const root = join(fixtures, "golden");
const cases = foldersIn(root);

/** Element types of the files, with the array that holds them. */
const ARRAYS = { fp32: Float32Array, fp16: Uint16Array, i8: Int8Array, u8: Uint8Array } as const;

const DTYPES = { fp32: "float32", fp16: "float16", i8: "int8", u8: "uint8" } as const;

function tensorsOf(name: string, f: Fixture): Record<string, TensorInput> {
  return Object.fromEntries(
    f.tensors.map((t) => {
      const bytes = readBytes(root, name, t.file);
      const data = new ARRAYS[t.dtype as keyof typeof ARRAYS](bytes.buffer);
      const scale = t.scale === undefined ? {} : { scale: t.scale, zeroPoint: t.zero_point ?? 0 };
      return [t.name, { data, dims: t.dims, type: t.dtype, ...scale }];
    }),
  );
}

/** The NN Archive config.json of a network with such outputs. */
function archiveOf(f: Fixture, shapes = false): object {
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

/** The same as typed options. */
function typedOf(f: Fixture): object {
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
    activation: c.subtype === "yolov3" ? "logits" : "sigmoid",
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

/** Which list counts, by the notes of the fixtures: v6r1's core list predates a fix of depthai-core. */
function lists(
  name: string,
  f: Fixture,
): { readonly conventions: "depthai" | "depthai-nodes"; readonly rows: Row[] }[] {
  const out: ReturnType<typeof lists> = [];
  if (f.expected_depthai_core !== null && f.expected_depthai_core !== undefined && !name.startsWith("r1af"))
    out.push({ conventions: "depthai", rows: coreRows(f) });
  if (f.expected_depthai_nodes !== null && f.expected_depthai_nodes !== undefined)
    out.push({ conventions: "depthai-nodes", rows: nodesRows(f) });
  return out;
}

test("the cases are all there, in three number types and two orders", () => {
  const read = cases.map((name) => readJson(root, name, "fixture.json") as Fixture);
  expect(cases).toHaveLength(8);
  expect(new Set(read.flatMap((f) => f.tensors.map((t) => t.dtype)))).toEqual(
    new Set(["fp32", "fp16", "i8"]),
  );
  expect(new Set(read.flatMap((f) => f.tensors.map((t) => t.storage_order ?? "rows")))).toEqual(
    new Set(["NCHW", "NHWC", "rows"]),
  );
  const counted = Object.fromEntries(
    cases.map((name, i) => [name, lists(name, read[i]).map((l) => `${l.conventions} ${l.rows.length}`)]),
  );
  expect(counted).toEqual({
    r1af_v6r1_fp32: ["depthai-nodes 25"],
    tlbr_v8_conf1_fp32: ["depthai 21", "depthai-nodes 29"],
    tlbr_v8_nchw_fp32: ["depthai 21", "depthai-nodes 29"],
    tlbr_v8_nhwc_i8: ["depthai 21", "depthai-nodes 29"],
    v3ab_logits_fp32: ["depthai 32"],
    v5ab_nchw_fp32: ["depthai 34", "depthai-nodes 45"],
    v5ab_nhwc_fp16: ["depthai 34", "depthai-nodes 45"],
    yolo26_e2e_fp32: ["depthai-nodes 10"],
  });
});

for (const name of cases) {
  const f = readJson(root, name, "fixture.json") as Fixture;
  describe(name, () => {
    for (const { conventions, rows } of lists(name, f)) {
      // the fixture counts the ties of one list; of the other (class scores in fp16) only its own scores tell
      const ordered =
        f.score_ties_in_result === 0 && new Set(rows.map((r) => r.confidence)).size === rows.length;
      for (const [source, config] of [
        ["NN Archive", archiveOf(f)],
        ["typed options", typedOf(f)],
      ] as const) {
        test.each(engines)(`${conventions} from ${source}${ordered ? ", in order" : ""} (%s)`, (engine) => {
          // depthai is the convention of an archive that says nothing else
          const options: DecoderOptions =
            source === "NN Archive" && conventions === "depthai" ? {} : { conventions };
          const decoder = createDecoderSync(config, { engine, ...options });
          const tensors = tensorsOf(name, f);
          const found = decoder.decode(tensors).toArray();
          expectSame(found, rows, 1e-5, ordered);
          if (source === "NN Archive") expect(found[0].label).toBe(`class ${found[0].class_id}`);
          // the second time over gathered rows, where there is objectness
          expect(decoder.decode(tensors).toArray()).toEqual(found);
        });
      }
    }
  });
}

test.each(engines)("an archive with shapes has its slots at once (%s)", (engine) => {
  for (const name of cases) {
    const f = readJson(root, name, "fixture.json") as Fixture;
    const options: DecoderOptions = { engine, conventions: lists(name, f)[0].conventions };
    const decoder = createDecoderSync(archiveOf(f, true), options);
    const tensors = tensorsOf(name, f);
    if (name.endsWith("i8")) {
      // the format has no room for scales, so they come with the first tensors
      expect(decoder.slots).toEqual({});
      decoder.decode(tensors);
    }
    expect(Object.keys(decoder.slots)).toEqual(Object.keys(tensors));
    for (const [output, { data }] of Object.entries(tensors))
      decoder.slots[output].data.set(data as Float32Array);
    expect(decoder.decode().toArray()).toEqual(
      createDecoderSync(archiveOf(f), options).decode(tensors).toArray(),
    );
    expect(decoder.stats.plans).toBe(1);
  }
});

test.each(engines)("both confidence channels of a v8 export give one result (%s)", (engine) => {
  const [a, b] = ["tlbr_v8_conf1_fp32", "tlbr_v8_nchw_fp32"].map((name) => {
    const f = readJson(root, name, "fixture.json") as Fixture;
    return createDecoderSync(archiveOf(f), { engine }).decode(tensorsOf(name, f)).toArray();
  });
  expect(a).toEqual(b);
});

describeShared("golden fixtures in place", (data) => {
  test("the copies in the repository are the originals", () => {
    const originals = join(data, "golden", "depthai");
    expect(foldersIn(originals)).toEqual(cases);
    for (const name of cases) {
      const f = readJson(root, name, "fixture.json") as Fixture;
      expect(f).toEqual(readJson(originals, name, "fixture.json"));
      for (const t of f.tensors)
        expect(readBytes(root, name, t.file)).toEqual(readBytes(originals, name, t.file));
    }
  });

  interface Unit {
    readonly cases: readonly {
      readonly name: string;
      readonly file: string;
      readonly dims: readonly number[];
      readonly subtype?: string;
      readonly n_classes?: number;
      readonly strides?: readonly number[];
      readonly input?: readonly number[];
      readonly expect_counts: readonly { conf: number; iou?: number; count: number }[];
      readonly boxes_by_hand?: readonly {
        confidence: number;
        xmin: number;
        ymin: number;
        xmax: number;
        ymax: number;
      }[];
      readonly rows?: readonly { label: number; confidence: number; box: readonly number[] }[];
    }[];
  }
  const folder = join(data, "golden", "depthai_unit");
  const { cases: units } = readJson(folder, "fixture.json") as Unit;
  const [tlbr, mobilenet] = units;
  const tensorOf = (u: Unit["cases"][number]): Outputs => ({
    output: { data: new Uint16Array(readBytes(folder, u.file).buffer), dims: u.dims, type: "fp16" },
  });
  /** Counts at each setting, changed at run time as the unit test does. */
  function counts(decoder: Decoder, u: Unit["cases"][number]): number[] {
    return u.expect_counts.map(({ conf, iou }) => {
      decoder.update({ confidenceThreshold: conf, ...(iou === undefined ? {} : { iouThreshold: iou }) });
      return decoder.decode(tensorOf(u)).length;
    });
  }

  test("there are two cases, and both files", () => {
    expect(units.map((u) => u.name)).toEqual(["tlbr", "mobilenet"]);
    expect(units.every((u) => existsSync(join(folder, u.file)))).toBe(true);
  });

  test.each(engines)("depthai-core's own unit test, tlbr fp16 (%s)", (engine: EngineName) => {
    const [width, height] = tlbr.input as number[];
    const decoder = createDecoderSync(
      {
        config_version: "1.0",
        model: {
          metadata: { name: "unit" },
          inputs: [{ name: "images", dtype: "float16", shape: [1, 3, height, width], layout: "NCHW" }],
          outputs: [{ name: "output", dtype: "float16" }],
          heads: [
            {
              parser: "YOLO",
              metadata: {
                n_classes: tlbr.n_classes,
                subtype: tlbr.subtype,
                strides: tlbr.strides,
                yolo_outputs: ["output"],
              },
            },
          ],
        },
      },
      { engine },
    );
    expect(counts(decoder, tlbr)).toEqual(tlbr.expect_counts.map((e) => e.count));
    expectSame(
      decoder.decode(tensorOf(tlbr)).toArray(),
      (tlbr.boxes_by_hand ?? []).map((b) => ({
        class_id: 0,
        confidence: b.confidence,
        x_min: b.xmin,
        y_min: b.ymin,
        x_max: b.xmax,
        y_max: b.ymax,
      })),
      1e-5,
      true,
    );
  });

  test.each(engines)("depthai-core's own unit test, mobilenet fp16 (%s)", (engine: EngineName) => {
    const decoder = createDecoderSync(
      { nn_config: { output_format: "detection", NN_family: "mobilenet" } },
      { engine },
    );
    expect(counts(decoder, mobilenet)).toEqual(mobilenet.expect_counts.map((e) => e.count));
    decoder.update({ confidenceThreshold: 0.25 });
    expectSame(
      decoder.decode(tensorOf(mobilenet)).toArray(),
      (mobilenet.rows ?? []).map(({ label, confidence, box: [x_min, y_min, x_max, y_max] }) => ({
        class_id: label,
        confidence,
        x_min,
        y_min,
        x_max,
        y_max,
      })),
      1e-5,
      true,
    );
  });
});
