/** Small networks run here by ONNX Runtime: from the photo's pixels to labelled boxes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { PNG } from "pngjs";
import { beforeAll, describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Frame } from "../../src/decode/frame.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { engines } from "../support/engines.ts";
import { networks, objectOn, uniformRule } from "../support/recorded-networks.ts";
import { apart, expectSame, iou } from "../support/expect-detections.ts";
import {
  type Preprocess,
  type Row,
  describeShared,
  foldersIn,
  readBytes,
  readRecording,
} from "../support/shared-data.ts";

const models = [
  "yolox_nano",
  "FastestDet",
  "nanodet_m_320",
  "version-RFB-320",
  "version-RFB-320_without_postprocessing",
];

interface Photo {
  readonly width: number;
  readonly height: number;
  /** RGBA. */
  readonly data: Uint8Array;
}

/**
 * The network's input as its recording prepared it: resized between the four nearest pixels to whole
 * values, padded, normalised.
 */
function prepare(photo: Photo, p: Preprocess): Tensor {
  const { inputWidth: w, inputHeight: h } = p;
  const plane = w * h;
  const out = new Float32Array(3 * plane);
  const scaleX = photo.width / p.resizedWidth;
  const scaleY = photo.height / p.resizedHeight;
  for (let c = 0; c < 3; c++) {
    const channel = p.bgr ? 2 - c : c;
    const at = (x: number, y: number): number => photo.data[(y * photo.width + x) * 4 + channel];
    for (let y = 0; y < h; y++) {
      for (let x = 0; x < w; x++) {
        let v = p.pad;
        if (x < p.resizedWidth && y < p.resizedHeight) {
          const sx = Math.min(Math.max((x + 0.5) * scaleX - 0.5, 0), photo.width - 1);
          const sy = Math.min(Math.max((y + 0.5) * scaleY - 0.5, 0), photo.height - 1);
          const [x0, y0] = [Math.floor(sx), Math.floor(sy)];
          const [x1, y1] = [Math.min(x0 + 1, photo.width - 1), Math.min(y0 + 1, photo.height - 1)];
          const [fx, fy] = [sx - x0, sy - y0];
          v =
            (at(x0, y0) * (1 - fx) + at(x1, y0) * fx) * (1 - fy) +
            (at(x0, y1) * (1 - fx) + at(x1, y1) * fx) * fy;
        }
        out[c * plane + y * w + x] = (Math.round(v) - p.mean[c]) / p.std[c];
      }
    }
  }
  return new Tensor("float32", out, [1, 3, h, w]);
}

describeShared("networks run live by ONNX Runtime", (data) => {
  const recorded = join(data, "recorded");
  test("the five models are there", () => {
    expect(networks.map((n) => n.folder).filter((f) => models.includes(f))).toHaveLength(models.length);
  });

  test.each(["astronaut", "chelsea", "coffee"])(
    "UltraFace's two exports, every cell: the graph of one decodes its boxes, we those of the other: %s",
    async (photo) => {
      const image = PNG.sync.read(readFileSync(join(data, "photos", `${photo}.png`)));
      const everything = { suppress: "none", clamp: "none", maxCandidates: 0 } as const;
      const both = ["version-RFB-320", "version-RFB-320_without_postprocessing"].map(async (folder) => {
        const r = readRecording(recorded, folder, "astronaut");
        const n = networks.find((x) => x.folder === folder);
        const session = await InferenceSession.create(readBytes(data, "models", `${folder}.onnx`), {
          logSeverityLevel: 3,
        });
        const outputs = await session.run({ [session.inputNames[0]]: prepare(image, r.meta.preprocess) });
        return engines.map((engine) => {
          const found = createDecoderSync(n?.config(r), {
            engine,
            rules: everything,
            confidenceThreshold: 0,
            maxDetections: 4420,
          }).decode(outputs);
          const rows = found.toArray();
          return new Map(rows.map((d, i) => [found.sources[i], d]));
        });
      });
      const [decoded, offsets] = await Promise.all(both);
      engines.forEach((_, i) => {
        expect(decoded[i].size).toBe(4420);
        const inOrder = (found: Map<number, Row>): Row[] =>
          Array.from({ length: 4420 }, (_, source) => found.get(source) as Row);
        inOrder(offsets[i]).forEach((d, source) => {
          const theirs = decoded[i].get(source) as Row;
          expect(Math.max(apart(d, theirs), Math.abs(d.confidence - theirs.confidence))).toBeLessThan(1e-4);
        });
      });
    },
  );

  for (const n of networks.filter((x) => models.includes(x.folder))) {
    describe(n.folder, () => {
      let session: InferenceSession;

      beforeAll(async () => {
        session = await InferenceSession.create(readBytes(data, "models", `${n.folder}.onnx`), {
          // some of them list their weights among their inputs, about which ONNX Runtime has a line for each
          logSeverityLevel: 3,
        });
      });

      for (const photo of foldersIn(recorded, n.folder)) {
        const r = readRecording(recorded, n.folder, photo);

        test(`${photo}: session.run()'s result, as it is`, async () => {
          const image = PNG.sync.read(readFileSync(join(data, "photos", `${photo}.png`)));
          const input = prepare(image, r.meta.preprocess);
          const outputs = await session.run({ [session.inputNames[0]]: input });
          const frame: Frame = {
            width: image.width,
            height: image.height,
            resize: r.meta.preprocess.mode === "topleft" ? "letterbox-topleft" : "stretch",
          };
          const labels = n.labels === "face" ? ["face"] : coco(data);
          for (const engine of engines) {
            const decoder = createDecoderSync(n.config(r), { engine, labels, ...uniformRule });
            const found = decoder.decode(outputs).toArray();
            // what was far from its threshold in the recording is there, and nothing else is
            const sure = (d: Row): boolean => d.confidence > 0.3;
            const expected = (r.expected as Row[]).filter(sure);
            expect(expected.length).toBeGreaterThan(0);
            expectSame(found.filter(sure), expected, 1e-3);

            const truth = objectOn(photo, labels, image.width, image.height);
            const first = decoder
              .decode(outputs, frame)
              .toArray()
              .find((d) => d.label === labels[truth.class_id]);
            expect(iou(first as Row, truth.box)).toBeGreaterThan(0.5);
          }
        });
      }

      test.each(engines)(
        "ONNX Runtime writes into the decoder's slots: nothing is copied (%s)",
        async (engine) => {
          const r = readRecording(recorded, n.folder, "astronaut");
          const image = PNG.sync.read(readFileSync(join(data, "photos", "astronaut.png")));
          const feeds = { [session.inputNames[0]]: prepare(image, r.meta.preprocess) };
          const copied = await session.run(feeds);
          const config = n.config(r);
          const expected = createDecoderSync(config, { engine, ...uniformRule })
            .decode(copied)
            .toArray();
          expect(expected.length).toBeGreaterThan(0);

          const outputs = Object.fromEntries(
            Object.entries(copied).map(([name, t]) => [name, { dims: t.dims, type: t.type }]),
          );
          const decoder = createDecoderSync(config, { engine, ...uniformRule, outputs });
          expect(Object.keys(decoder.slots).sort()).toEqual([...session.outputNames].sort());
          const slots = Object.fromEntries(
            Object.entries(decoder.slots).map(([name, slot]) => [
              name,
              new Tensor("float32", slot.data as Float32Array<ArrayBuffer>, slot.dims),
            ]),
          );
          await session.run(feeds, slots);
          for (const [name, slot] of Object.entries(decoder.slots))
            expect(slot.data).toEqual((copied[name] as TensorInput).data);
          expect(decoder.decode().toArray()).toEqual(expected);
        },
      );
    });
  }
});

function coco(data: string): string[] {
  return readFileSync(join(data, "labels", "coco80.txt"), "utf8")
    .split(/\r?\n/)
    .filter((l) => l !== "");
}
