/** Seeded tensors against what depthai-core's and depthai-nodes' own code answered on them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import type { EngineName } from "../../src/core/engine-name.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { engines } from "../support/engines.ts";
import { expectSame } from "../support/expect-detections.ts";
import { archiveOf, cases, fixtureOf, lists, root, tensorsOf, typedOf } from "../support/golden.ts";
import { describeShared, foldersIn, readBytes, readJson } from "../support/shared-data.ts";

test("the cases are all there, in three number types and two orders", () => {
  const read = cases.map((name) => fixtureOf(name));
  expect(cases).toHaveLength(8);
  expect(new Set(read.flatMap((f) => f.tensors.map((t) => t.dtype)))).toEqual(
    new Set(["fp32", "fp16", "i8"]),
  );
  expect(new Set(read.flatMap((f) => f.tensors.map((t) => t.storage_order ?? "rows")))).toEqual(
    new Set(["NCHW", "NHWC", "rows"]),
  );
  const counted = Object.fromEntries(
    cases.map((name, i) => [name, lists(name, read[i]).map((l) => `${l.rules} ${l.rows.length}`)]),
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
  const f = fixtureOf(name);
  describe(name, () => {
    for (const { rules, rows } of lists(name, f)) {
      // the fixture counts the ties of one list; of the other (class scores in fp16) only its own scores tell
      const ordered =
        f.score_ties_in_result === 0 && new Set(rows.map((r) => r.confidence)).size === rows.length;
      for (const [source, config] of [
        ["NN Archive", archiveOf(f)],
        ["typed options", typedOf(f)],
      ] as const) {
        test.each(engines)(`${rules} from ${source}${ordered ? ", in order" : ""} (%s)`, (engine) => {
          // depthai is the convention of an archive that says nothing else
          const options: DecoderOptions = source === "NN Archive" && rules === "depthai" ? {} : { rules };
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
    const f = fixtureOf(name);
    const options: DecoderOptions = { engine, rules: lists(name, f)[0].rules };
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
    const f = fixtureOf(name);
    return createDecoderSync(archiveOf(f), { engine }).decode(tensorsOf(name, f)).toArray();
  });
  expect(a).toEqual(b);
});

describeShared("golden fixtures in place", (data) => {
  test("the copies in the repository are the originals", () => {
    const originals = join(data, "golden", "depthai");
    expect(foldersIn(originals)).toEqual(cases);
    for (const name of cases) {
      const f = fixtureOf(name);
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
