/** Real networks on real photos, against recorded answers of formulas in float64 and of other runtimes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import type { Frame } from "../../src/decode/frame.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import {
  blazefaceAnchors,
  caffePriors,
  ssdAnchors,
  ssdMobilenetAnchors,
  ultrafacePriors,
} from "../../src/heads/priors.ts";
import { enginesOf } from "../support/engine-shares.ts";
import { engines } from "../support/engines.ts";
import { planJson } from "../support/plan-json.ts";
import { type Network, networks, objectOn, uniformRule } from "../support/recorded-networks.ts";
import { apart, expectSame, iou } from "../support/expect-detections.ts";
import {
  type Recording,
  type Row,
  describeShared,
  fixtures,
  foldersIn,
  readJson,
  readRecording,
} from "../support/shared-data.ts";

const pick = (r: Recording, names: readonly string[]): Record<string, Recording["tensors"][string]> =>
  Object.fromEntries(names.map((n) => [n, r.tensors[n]]));

const outputsOf = (r: Recording, n: Network): Outputs =>
  n.outputs === undefined ? r.tensors : pick(r, n.outputs);

function labelsOf(data: string, labels: Network["labels"]): string[] {
  if (labels === "face") return ["face"];
  const lines = readFileSync(
    join(data, "labels", labels === "coco90" ? "coco91.txt" : `${labels}.txt`),
    "utf8",
  )
    .split(/\r?\n/)
    .filter((l) => l !== "");
  return labels === "coco90" ? lines.slice(1) : lines;
}

/** Of the original photo, as the recording's preprocessing treated it. */
function frameOf(r: Recording): Frame {
  const { preprocess: p } = r.meta;
  const resize = { stretch: "stretch", letterbox: "letterbox", topleft: "letterbox-topleft" }[p.mode];
  return {
    width: (r.meta.imageWidth ?? p.imageWidth) as number,
    height: (r.meta.imageHeight ?? p.imageHeight) as number,
    resize: (resize ?? "letterbox-topleft") as Frame["resize"],
  };
}

/** Detections by the number of the cell they come from. */
function bySource(decoder: Decoder, outputs: Outputs): Map<number, Row> {
  const found = decoder.decode(outputs);
  return new Map(found.toArray().map((d, i) => [found.sources[i], d]));
}

/** Scale of the anchors in the quantised file: all of them are whole multiples of it, up to 255. */
const ANCHOR_STEP = 1.6455304622650146 / 255;

const roundedAnchors = (): Float32Array =>
  ssdMobilenetAnchors().map((x) => Math.round(x / ANCHOR_STEP) * ANCHOR_STEP);

/** First cell number of the heads that read each tensor. */
function firstSources(
  decoder: Decoder,
): { readonly about: string; readonly first: number; readonly cells: number }[] {
  return planJson(decoder).heads.map((h) => ({ about: h.about, first: h.firstSource, cells: h.cells }));
}

describeShared("recorded networks", (data) => {
  const recorded = join(data, "recorded");
  const read = (model: string, photo: string): Recording => readRecording(recorded, model, photo);

  test("every recorded network is decoded here", () => {
    const others = ["opencv_face_ssd"];
    expect([...new Set(networks.map((n) => n.folder)), ...others].sort()).toEqual(foldersIn(recorded));
  });

  for (const n of networks) {
    describe(`${n.folder}, ${n.form}`, () => {
      const photos = foldersIn(recorded, n.folder);
      for (const photo of photos) {
        const r = read(n.folder, photo);
        const some = enginesOf(photos.indexOf(photo));
        const labels = labelsOf(data, n.labels);
        // the file's own threshold is the recorded rule of this one
        const rule: DecoderOptions = n.folder === "mobilenet_ssd_detection_output" ? {} : uniformRule;

        test.each(engines)(`${photo}: expected.json (%s)`, (engine) => {
          const decoder = createDecoderSync(n.config(r), { engine, ...rule });
          const expected = r.expected as Row[];
          expect(expected.length).toBeGreaterThan(0);
          expectSame(decoder.decode(outputsOf(r, n)).toArray(), expected);
          // and again: the second decode may read the tensors in part
          expectSame(decoder.decode(outputsOf(r, n)).toArray(), expected);
        });

        test.each(some)(`${photo}: what the photo shows (%s)`, (engine) => {
          const decoder = createDecoderSync(n.config(r), { engine, labels, ...rule });
          const frame = frameOf(r);
          const found = decoder.decode(outputsOf(r, n), frame).toArray();
          const truth = objectOn(photo, labels, frame.width, frame.height);
          // by label, since class numbers may count a background that the labels leave out
          const first = found.find((d) => d.label === labels[truth.class_id]);
          expect(
            first,
            `a ${labels[truth.class_id]} among ${found.map((d) => d.label).join()}`,
          ).toBeDefined();
          expect(iou(first as Row, truth.box)).toBeGreaterThan(0.5);
          if (n.mistakes?.includes(photo) !== true) expect(first).toEqual(found[0]);
        });

        test.each(some)(`${photo}: keep reads what it names and nothing else (%s)`, (engine) => {
          // every class over the threshold on its own, so that dropping one cannot bring another forward
          const all: DecoderOptions = {
            ...uniformRule,
            rules: { set: "ultralytics", clamp: "none", maxCandidates: 0, multiLabel: true },
          };
          const wide = createDecoderSync(n.config(r), { engine, ...all })
            .decode(outputsOf(r, n))
            .copy();
          const classes = [...new Set([...wide].map((d) => d.class_id))];
          for (const keep of [...classes.map((c) => [c]), classes.slice(1), classes.slice(-2)]) {
            if (keep.length === 0) continue;
            const found = createDecoderSync(n.config(r), { engine, ...all, keep }).decode(outputsOf(r, n));
            expect(found.toArray()).toEqual(wide.toArray().filter((d) => keep.includes(d.class_id)));
          }
        });
      }
    });
  }

  describe("yolo-fastest-1.1 against OpenCV", () => {
    const config = networks[0].config(read("yolo-fastest-1.1", "astronaut"));
    const names = networks[0].outputs as string[];

    describe.each(foldersIn(recorded, "yolo-fastest-1.1"))("%s", (photo) => {
      const r = read("yolo-fastest-1.1", photo);

      test.each(engines)("rows of its Region layer (%s)", (engine) => {
        const decoder = createDecoderSync(config, {
          engine,
          confidenceThreshold: 0.2,
          rules: { suppress: "none", clamp: "none", maxCandidates: 0 },
          maxDetections: 1500,
        });
        const ours = bySource(decoder, pick(r, names));
        const heads = firstSources(decoder);
        let compared = 0;
        for (const { raw, region } of r.meta.heads ?? []) {
          const { data: rows, dims } = r.tensors[region];
          const own = heads.filter((h) => h.about.includes(raw));
          expect(own).toHaveLength(3);
          for (let row = 0; row < dims[0]; row++) {
            const [cx, cy, w, h, , ...scores] = rows.subarray(row * 85, row * 85 + 85);
            const best = Math.max(...scores);
            // its rows go cell by cell, ours anchor by anchor
            const d = ours.get(own[row % 3].first + Math.floor(row / 3));
            if (best === 0) {
              expect(d).toBeUndefined();
              continue;
            }
            expect(d).toBeDefined();
            expectSame(
              [d as Row],
              [
                {
                  class_id: scores.indexOf(best),
                  confidence: best,
                  x_min: cx - w / 2,
                  y_min: cy - h / 2,
                  x_max: cx + w / 2,
                  y_max: cy + h / 2,
                },
              ],
              1e-4,
            );
            compared++;
          }
        }
        expect(compared).toBe(ours.size);
        expect(compared).toBeGreaterThan(5);
      });

      test.each(engines)("objects that it found (%s)", (engine) => {
        const decoder = createDecoderSync(config, {
          engine,
          confidenceThreshold: 0.25,
          iouThreshold: 0.45,
          rules: "opencv",
        });
        const frame = frameOf(r);
        const theirs = (r.meta.detections ?? []).map(({ cls, score, box: [x1, y1, x2, y2] }) => ({
          class_id: cls,
          confidence: score,
          x_min: x1 / frame.width,
          y_min: y1 / frame.height,
          x_max: x2 / frame.width,
          y_max: y2 / frame.height,
        }));
        expect(theirs.length).toBeGreaterThan(0);
        expectSame(decoder.decode(pick(r, names), frame).toArray(), theirs, 1e-4, true);
      });
    });
  });

  describe("opencv_face_ssd", () => {
    const r = read("opencv_face_ssd", "astronaut");
    const table = r.tensors["detection_out"];
    const rows: Row[] = [];
    for (let i = 0; i < table.dims[2]; i++) {
      const [image, class_id, confidence, x_min, y_min, x_max, y_max] = table.data.subarray(i * 7, i * 7 + 7);
      if (image === 0 && confidence > 0) rows.push({ class_id, confidence, x_min, y_min, x_max, y_max });
    }

    test("the recording has what is compared below", () => {
      expect(rows.length).toBeGreaterThan(50);
      expect(rows[0].class_id).toBe(1);
    });

    test.each(engines)("its [1,1,200,7] (%s)", (engine) => {
      const decoder = createDecoderSync(
        { family: "ssd-detection-output", confidenceThreshold: 0 },
        { engine },
      );
      expectSame(decoder.decode(pick(r, ["detection_out"])).toArray(), rows, 1e-6, true);
    });

    test.each(engines)(
      "raw boxes, scores and priors under its own rule give its own answer (%s)",
      (engine) => {
        const decoder = createDecoderSync(
          {
            family: "ssd",
            confidenceThreshold: 0.01,
            iouThreshold: 0.45,
            maxDetections: 200,
            rules: { set: "opencv", maxCandidates: 400 },
          },
          { engine },
        );
        const raw = pick(r, ["mbox_loc", "mbox_conf_flatten", "mbox_priorbox"]);
        expectSame(decoder.decode(raw).toArray(), rows, 1e-5, true);
      },
    );

    test.each(engines)("the softmax rows in place of the flattened ones (%s)", (engine) => {
      const decoder = createDecoderSync(
        { family: "ssd", confidenceThreshold: 0.01, rules: { set: "opencv", maxCandidates: 400 } },
        { engine, maxDetections: 200 },
      );
      const raw = pick(r, ["mbox_loc", "mbox_conf_softmax", "mbox_priorbox"]);
      expectSame(decoder.decode(raw).toArray(), rows, 1e-5, true);
    });
  });

  describe("coco_ssd_mobilenet_v1: TFLite_Detection_PostProcess", () => {
    describe.each(foldersIn(recorded, "coco_ssd_mobilenet_v1.raw"))("%s", (photo) => {
      const raw = read("coco_ssd_mobilenet_v1.raw", photo);
      const post = read("coco_ssd_mobilenet_v1.postprocess", photo).tensors;
      const name = "TFLite_Detection_PostProcess";
      const count = post[`${name}:3`].data[0];
      const rows = Array.from({ length: count }, (_, i): Row => {
        const [y_min, x_min, y_max, x_max] = post[name].data.subarray(i * 4, i * 4 + 4);
        return {
          class_id: post[`${name}:1`].data[i],
          confidence: post[`${name}:2`].data[i],
          x_min,
          y_min,
          x_max,
          y_max,
        };
      });
      const config = {
        family: "ssd",
        classes: 90,
        scales: [10, 10, 5, 5],
        confidenceThreshold: 1e-8,
        iouThreshold: 0.6,
        rules: "tflite",
      };

      test.each(engines)("raw outputs under the tflite rules: the operator's rows (%s)", (engine) => {
        expect(rows).toHaveLength(10);
        const decoder = createDecoderSync({ ...config, priors: raw.tensors["anchors"].data }, { engine });
        expectSame(decoder.decode(pick(raw, ["Squeeze", "convert_scores"])).toArray(), rows);
      });

      test.each(engines)("the same with anchors made here, rounded as the file's are (%s)", (engine) => {
        const decoder = createDecoderSync({ ...config, priors: roundedAnchors() }, { engine });
        expectSame(decoder.decode(pick(raw, ["Squeeze", "convert_scores"])).toArray(), rows);
      });

      test.each(engines)("the operator's four outputs, read as they are (%s)", (engine) => {
        const decoder = createDecoderSync(
          { family: "tflite-postprocess", confidenceThreshold: 0 },
          { engine },
        );
        expectSame(decoder.decode(post).toArray(), rows, 1e-6);
      });

      test.each(engines)("labels and thresholds listed without the background, or with it (%s)", (engine) => {
        const tensors = pick(raw, ["Squeeze", "convert_scores"]);
        const all = labelsOf(data, "coco91");
        const truth = objectOn(photo, all, 1, 1);
        const only = all.map((_, i) => (i === truth.class_id ? 0.3 : 1));
        for (const first of [0, 1]) {
          const list = { labels: all.slice(first), confidenceThreshold: only.slice(first) };
          for (const rules of ["ultralytics", "tflite"] as const) {
            const options = {
              ...config,
              priors: raw.tensors["anchors"].data,
              rules,
              classes: 91 - first,
            };
            // per-class thresholds, then the filter by name
            const decoder = createDecoderSync({ ...options, ...list }, { engine });
            const found = decoder.decode(tensors).toArray();
            expect(found.length).toBeGreaterThan(0);
            expect(new Set(found.map((d) => d.label))).toEqual(new Set([all[truth.class_id]]));
            decoder.update({ confidenceThreshold: list.confidenceThreshold });
            expect(decoder.decode(tensors).toArray()).toEqual(found);
            const kept = createDecoderSync(
              { ...options, labels: list.labels, keep: [all[truth.class_id]], confidenceThreshold: 0.3 },
              { engine },
            );
            expect(kept.decode(tensors).toArray()).toEqual(found);
          }
        }
      });

      test.each(engines)("raw outputs as the bytes they were dequantised from (%s)", (engine) => {
        const { quant } = raw.meta as unknown as {
          quant: Record<string, { scale: number; zeroPoint: number }>;
        };
        const bytes = Object.fromEntries(
          ["Squeeze", "convert_scores"].map((n) => {
            const { scale, zeroPoint } = quant[n];
            const t = raw.tensors[n];
            const data = Uint8Array.from(t.data, (x) => Math.round(x / scale) + zeroPoint);
            return [n, { data, dims: t.dims, type: "uint8" as const, scale, zeroPoint }];
          }),
        );
        const decoder = createDecoderSync({ ...config, priors: raw.tensors["anchors"].data }, { engine });
        expectSame(decoder.decode(bytes).toArray(), rows);
      });
    });
  });

  describe("generated priors are those of the networks", () => {
    const farthest = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
      expect(a.length).toBe(b.length);
      return Array.from(a, (x, i) => Math.abs(x - b[i])).reduce((m, d) => Math.max(m, d), 0);
    };

    test("SSD-MobileNet v1: the anchors in the network's file, which are bytes", () => {
      const { data: theirs } = read("coco_ssd_mobilenet_v1.raw", "coffee").tensors["anchors"];
      expect(farthest(ssdMobilenetAnchors(), theirs)).toBeLessThanOrEqual(ANCHOR_STEP / 2);
      expect(farthest(roundedAnchors(), theirs)).toBeLessThan(1e-6);
    });

    test("MediaPipe's SSD-MobileNet v2", () => {
      const { data: theirs } = read("mediapipe_ssd_mobilenetv2_oidv4", "coffee").tensors["anchors_xywh"];
      const ours = ssdAnchors({
        inputSize: [300, 300],
        strides: [16, 32, 64, 128, 256, 512],
        minScale: 0.2,
        maxScale: 0.95,
        reduceLowest: true,
      });
      expect(farthest(ours, theirs)).toBeLessThan(1e-6);
    });

    test("Caffe's PriorBox layers of OpenCV's face detector", () => {
      const theirs = read("opencv_face_ssd", "astronaut").tensors["mbox_priorbox"].data;
      // cells, min_size, max_size, aspect_ratio and step of each layer of its prototxt; the last three maps are 5x5 all
      const layers: [number, number, number, number[], number][] = [
        [38, 30, 60, [2], 8],
        [19, 60, 111, [2, 3], 16],
        [10, 111, 162, [2, 3], 32],
        [5, 162, 213, [2, 3], 64],
        [5, 213, 264, [2], 100],
        [5, 264, 315, [2], 300],
      ];
      const ours = caffePriors(
        [300, 300],
        layers.map(([cells, minSize, maxSize, aspectRatios, step]) => ({
          width: cells,
          height: cells,
          minSize,
          maxSize,
          aspectRatios,
          step,
          flip: true,
        })),
      );
      // the second half holds their variances; steps of f32 below 4, where the centres of the last map lie
      expect(farthest(ours, theirs.subarray(0, 8892 * 4))).toBeLessThanOrEqual(2 ** -22);
    });

    test("BlazeFace", () => {
      const { data: theirs } = read("blazeface_short", "astronaut").tensors["anchors_xywh"];
      expect(farthest(blazefaceAnchors(), theirs)).toBeLessThan(1e-6);
    });

    test.each(engines)(
      "UltraFace: offsets against them are the boxes of the decoding graph (%s)",
      (engine) => {
        const [scores, boxes] = ["scores", "boxes"].map(
          (n) => read("version-RFB-320", "astronaut").tensors[n].data,
        );
        const decoder = createDecoderSync(
          {
            family: "ultraface",
            classes: 1,
            inputSize: [320, 240],
            variances: [0.1, 0.1, 0.2, 0.2],
            priors: ultrafacePriors(),
            priorFormat: "cxcywh",
            confidenceThreshold: 0,
            maxDetections: 4420,
            rules: { suppress: "none", clamp: "none", maxCandidates: 0 },
          },
          { engine },
        );
        const ours = bySource(decoder, read("version-RFB-320_without_postprocessing", "astronaut").tensors);
        expect(ours.size).toBe(4420);
        for (const [i, d] of ours) {
          const [x_min, y_min, x_max, y_max] = boxes.subarray(i * 4, i * 4 + 4);
          const theirs = { class_id: 1, confidence: scores[i * 2 + 1], x_min, y_min, x_max, y_max };
          expect(apart(d, theirs)).toBeLessThan(1e-5);
          expect(Math.abs(d.confidence - theirs.confidence)).toBeLessThan(1e-5);
        }
      },
    );
  });

  describe("raw heads give what their own network decoded from them", () => {
    const everything: DecoderOptions = {
      confidenceThreshold: 0,
      rules: { suppress: "none", clamp: "none", maxCandidates: 0 },
    };

    type Decoded = readonly [box: readonly number[], scoreOf: (classId: number) => number];
    /** Networks of 320x320, and what their own last step made of a cell: a box from its centre, and scores. */
    const own: readonly (readonly [string, string, string, (data: Float32Array, i: number) => Decoded])[] = [
      [
        "yolov8n_320_rawheads",
        "raw DFL maps",
        "output0",
        (planes, i) => [
          [0, 1, 2, 3].map((c) => planes[c * 2100 + i]),
          (classId) => planes[(4 + classId) * 2100 + i],
        ],
      ],
      [
        "yolov5n_320",
        "raw maps",
        "output",
        (rows, i) => {
          const [cx, cy, w, h, objectness, ...classes] = rows.subarray(i * 85, i * 85 + 85);
          return [[cx, cy, w, h], (classId) => objectness * classes[classId]];
        },
      ],
    ];
    for (const [folder, form, output, decoded] of own)
      describe.each(foldersIn(recorded, folder))(`${folder}, %s`, (photo) => {
        const r = read(folder, photo);
        const { data, dims } = r.tensors[output];
        const cells = Math.max(...dims.slice(1));

        test.each(engines)("boxes of all cells within 0.01 px (%s)", (engine) => {
          const [network] = networks.filter((n) => n.folder === folder && n.form === form);
          const options = { engine, ...everything, maxDetections: cells };
          const ours = bySource(createDecoderSync(network.config(r), options), outputsOf(r, network));
          expect(ours.size).toBe(cells);
          let worst = 0;
          let worstScore = 0;
          for (const [i, d] of ours) {
            const [[cx, cy, w, h], scoreOf] = decoded(data as Float32Array, i);
            const corners = [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2];
            [d.x_min, d.y_min, d.x_max, d.y_max].forEach((x, k) => {
              worst = Math.max(worst, Math.abs(x * 320 - corners[k]));
            });
            worstScore = Math.max(worstScore, Math.abs(d.confidence - scoreOf(d.class_id)));
          }
          expect(worst).toBeLessThan(0.01);
          expect(worstScore).toBeLessThan(1e-5);
        });
      });
  });
});

describe("recordings in the repository", () => {
  for (const [folder, options] of [
    ["yolo-fastest-1.1", { scores: "logits" }],
    ["mobilenet-ssd", {}],
  ] as const) {
    const config = readJson(fixtures, folder, "config.json");
    describe.each(foldersIn(fixtures, folder))(`${folder}, %s`, (photo) => {
      const r = readRecording(fixtures, folder, photo);

      test.each(engines)(
        "NN_config with its own rules finds what the photo shows, labelled (%s)",
        (engine) => {
          const decoder = createDecoderSync(config, { engine, ...options });
          const frame = frameOf(r);
          const [first] = decoder.decode(r.tensors, frame).toArray();
          const labels = decoder.config.labels as string[];
          const truth = objectOn(photo, labels, frame.width, frame.height);
          expect(first.label).toBe(labels[truth.class_id]);
          expect(iou(first, truth.box)).toBeGreaterThan(0.5);
        },
      );

      test.each(engines)("expected.json under the uniform rule (%s)", (engine) => {
        const rule: DecoderOptions = folder === "mobilenet-ssd" ? {} : uniformRule;
        const decoder = createDecoderSync(config, { engine, ...options, ...rule });
        expectSame(decoder.decode(r.tensors).toArray(), r.expected as Row[]);
      });
    });
  }

  for (const n of networks.filter((x) => foldersIn(fixtures, "recorded").includes(x.folder))) {
    const r = readRecording(join(fixtures, "recorded"), n.folder, "astronaut");
    test.each(engines)(`${n.folder}, ${n.form}: expected.json under the uniform rule (%s)`, (engine) => {
      const decoder = createDecoderSync(n.config(r), { engine, ...uniformRule });
      expectSame(decoder.decode(outputsOf(r, n)).toArray(), r.expected as Row[]);
    });
  }

  describe.each(foldersIn(fixtures, "yolo-fastest-1.1"))("yolo-fastest-1.1, %s, in other hands", (photo) => {
    const r = readRecording(fixtures, "yolo-fastest-1.1", photo);
    const config = readJson(fixtures, "yolo-fastest-1.1", "config.json");
    const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

    test.each(engines)(
      "as OpenVINO's RegionYolo leaves it, which an NN_config means by itself (%s)",
      (engine) => {
        const activated = Object.fromEntries(
          Object.entries(r.tensors).map(([name, { data, dims }]) => {
            const cells = dims[2] * dims[3];
            // all but width and height, which stay what they were
            const plain = (i: number): boolean => [2, 3].includes(Math.floor(i / cells) % 85);
            return [name, { data: data.map((x, i) => (plain(i) ? x : sigmoid(x))), dims }];
          }),
        );
        const decoder = createDecoderSync(config, { engine, ...uniformRule });
        expectSame(decoder.decode(activated).toArray(), r.expected as Row[]);
        // and with logits it says what is wrong
        expect(() => createDecoderSync(config, { engine }).decode(r.tensors)).toThrow(
          /expected probabilities in 0\.\.1.*say scores: "logits"/,
        );
      },
    );

    test.each(engines)("gen1: every class of a cell, suppressed by any other (%s)", (engine) => {
      const options: DecoderOptions = {
        engine,
        scores: "logits",
        confidenceThreshold: 0.05,
        maxDetections: 5000,
      };
      const all = createDecoderSync(config, { ...options, rules: { set: "gen1", suppress: "none" } });
      const candidates = all.decode(r.tensors).toArray();
      // more than one class a cell, or there would be nothing to see
      expect(candidates.length).toBeGreaterThan(new Set(all.decode(r.tensors).copy().sources).size);
      const kept: Row[] = [];
      for (const d of candidates) if (kept.every((k) => iou(k, d) <= 0.45)) kept.push(d);
      const gen1 = createDecoderSync(config, { ...options, rules: "gen1", maxDetections: 5000 });
      expectSame(gen1.decode(r.tensors).toArray(), kept, 0, true);
    });
  });
});
