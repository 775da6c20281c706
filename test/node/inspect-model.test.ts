/** Model files on the command line: they stand where a config stands. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { run } from "../../src/node/cli/run.ts";
import { input, output, ultralyticsOnnx, ultralyticsTflite } from "../support/model-files.ts";
import { onnxFile } from "../support/onnx.ts";
import { tfliteFile } from "../support/tflite.ts";

const folder = mkdtempSync(join(tmpdir(), "boxwright-model-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

async function call(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: "", err: "" };
  const add = (key: "out" | "err") => (text: string | Uint8Array) => void (said[key] += String(text));
  const code = await run(words, { out: add("out"), err: add("err") });
  return { code, ...said };
}

const unknown = (name: string): string =>
  write(name, onnxFile({ inputs: [input(1, 3, 64, 64)], outputs: [output("x", 1, 252, 85)] }));

describe("boxwright inspect", () => {
  test("prints what a file says, and what is decoded", async () => {
    const { code, out } = await call("inspect", write("net.onnx", ultralyticsOnnx()));
    expect(code).toBe(0);
    for (const line of [
      "file: onnx, pytorch 2.5.1, opset 13",
      "exporter: ultralytics",
      "names: 2: person, driver's hat",
      "input size: 64x64",
      "in: images [1,3,64,64] f32",
      "out: output0 [1,6,84] f32",
      "family: yolo11 (the file, by its exporter ultralytics)",
      "reading: class-rows",
    ])
      expect(out).toContain(line);
    const stated = await call("inspect", write("net.onnx", ultralyticsOnnx()), "--family", "yolov8");
    expect(stated.out).toContain("family: yolov8 (option family)");
  });

  test("puts the family first whose built priors are as many as the rows", async () => {
    for (const [size, rows] of [
      [[240, 320], 4420],
      [[480, 640], 17640],
    ] as const) {
      const bytes = onnxFile({
        inputs: [input(1, 3, ...size)],
        outputs: [output("scores", 1, rows, 2), output("boxes", 1, rows, 4)],
      });
      const { out } = await call("inspect", write("faces.onnx", bytes));
      expect(out.split(`boxes [1,${rows},4] can be:`)[1]).toMatch(/^\n- .*: 1 class, ultraface\n/);
    }
  });

  test("names the next step, with the options that the file leaves open", async () => {
    const next = async (path: string, ...words: string[]): Promise<string | undefined> =>
      (await call("inspect", path, ...words)).out.trimEnd().split("\n").at(-1);
    const known = write("known.onnx", ultralyticsOnnx());
    expect(await next(known)).toBe(`next: npx boxwright run ${known} photo.jpg --draw boxes`);
    const open = unknown("open.onnx");
    expect(await next(open)).toBe(
      `next: npx boxwright run ${open} photo.jpg --family yolov5 --labels coco80 --draw boxes`,
    );
    expect(await next(open, "--family", "yolov5", "--labels", "coco80")).toBe(
      `next: npx boxwright run ${open} photo.jpg --draw boxes`,
    );
    // A family in the file's name comes first, and a name that means another family is told.
    expect(await next(unknown("my yolov7.onnx"))).toMatch(
      /run ".*my yolov7.onnx" .* --family yolov7 --labels coco80/,
    );
    const { out } = await call("inspect", unknown("yolov5su.onnx"));
    expect(out).toContain(
      'the name says YOLOv5u and YOLOv3u, which have the head of YOLOv8: family "yolov8"',
    );
  });

  test("names the next step of a TFLite file too, in quotes if its path has spaces", async () => {
    const tensor = (name: string, ...dims: number[]) => ({ name, type: "float32", shape: dims }) as const;
    const outputs = [tensor("r", 1, 896, 16), tensor("c", 1, 896, 1)];
    const tflite = write("a b.tflite", tfliteFile({ inputs: [tensor("i", 1, 128, 128, 3)], outputs }));
    expect((await call("inspect", tflite)).out).toContain(
      `next: npx boxwright run ${JSON.stringify(tflite)} photo.jpg --family blazeface --draw boxes`,
    );
  });

  test("says the contents of points once", async () => {
    const shapes = ["Identity:1x195", "Identity_1:1x1", "Identity_3:1x64x64x39"];
    const { out } = await call("inspect", ...shapes, "--input-size", "256x256");
    expect(out.match(/33 landmarks/g)).toHaveLength(1);
  });

  test("finds families of points by their tensors, and names them", async () => {
    const rows = (name: string, values: number) =>
      [8, 16, 32].map((stride) => output(`${name}_${stride}`, 1, (64 / stride) ** 2, values));
    const outputs = [...rows("cls", 1), ...rows("obj", 1), ...rows("bbox", 4), ...rows("kps", 10)];
    const path = write("faces.onnx", onnxFile({ inputs: [input(1, 3, 64, 64)], outputs }));
    const { out } = await call("inspect", path);
    expect(out).toContain('{ family: "yunet", classes: 1, inputSize: [64, 64] }');
    expect(out).toContain(`next: npx boxwright run ${path} photo.jpg --family yunet --draw boxes`);
  });

  test("names the task that every likely reading has", async () => {
    const outputs = [output("output0", 1, 25200, 117), output("output1", 1, 32, 160, 160)];
    const path = write("masks.onnx", onnxFile({ inputs: [input(1, 3, 640, 640)], outputs }));
    const { out } = await call("inspect", path);
    expect(out).toMatch(/next: .* --family yolov5.* --task segment /);
  });

  test("prints the quantisation of a TFLite file, whatever the file is called", async () => {
    const quantised = ultralyticsTflite({ type: "int8", scale: [0.004], zeroPoint: [-120] });
    const { out } = await call("inspect", write("net.bytes", quantised));
    expect(out).toContain("file: tflite, written by a test");
    expect(out).toContain("out: Identity [1,6,84] i8, real = (raw + 120) * 0.004");
  });

  test("without a family, lists what is missing and what the shapes can be", async () => {
    const { code, out } = await call("inspect", unknown("a.onnx"));
    expect(code).toBe(0);
    expect(out).toContain("missing family: got outputs x [1,252,85]");
    expect(out).toContain('{ family: "yolov5", classes: 80, inputSize: [64, 64] }');
  });

  test("boxes beside priors are offsets if the graph has no exponentials, which decoding them takes", async () => {
    const outputs = [output("scores", 1, 4420, 2), output("boxes", 1, 4420, 4)];
    const file = onnxFile({ inputs: [input(1, 3, 240, 320)], outputs });
    const { out } = await call("inspect", write("faces.onnx", file));
    expect(out).toContain("offsets, scores, 4420 priors");
    expect(out).toContain(
      'family: "ultraface", classes: 1, inputSize: [320, 240], variances: [0.1, 0.1, 0.2, 0.2]',
    );
    const shapes = await call("inspect", "scores:1x4420x2", "boxes:1x4420x4", "--input-size", "320x240");
    expect(shapes.out).not.toContain("variances: [");
  });

  test("a plan says how many values a point has, also for networks that get a crop", async () => {
    const outputs = [output("simcc_x", 1, 17, 384), output("simcc_y", 1, 17, 512)];
    const file = write("crop.onnx", onnxFile({ inputs: [input(1, 3, 256, 192)], outputs }));
    const { out } = await call("inspect", file, "--json");
    expect(JSON.parse(out)).toMatchObject({ decoder: { task: { name: "pose", count: 17, values: 3 } } });
  });

  test("takes options over the file, and prints all as JSON", async () => {
    const words = ["--family", "yolov5", "--classes", "80", "--json"];
    const { out } = await call("inspect", unknown("b.onnx"), ...words);
    const json = JSON.parse(out) as { kind: string; model: { format: string }; decoder: { kind: string } };
    expect(json).toMatchObject({ kind: "model", model: { format: "onnx" }, decoder: { kind: "plan" } });
  });

  test("a pose network is described with its keypoints", async () => {
    const bytes = ultralyticsOnnx({ task: "pose", kpt_shape: "[17, 3]" }, [output("output0", 1, 57, 84)]);
    const { code, out } = await call("inspect", write("pose.onnx", bytes));
    expect(code).toBe(0);
    expect(out).toContain("task: pose");
    expect(out).toContain("keypoints: 17 of 3 values");
    expect(out).toContain("pose: 17 keypoints of x, y and a confidence in 0..1, decoded, in pixels");
  });

  test("a network for another task is described, without a plan", async () => {
    const bytes = ultralyticsOnnx({ task: "depth" }, [output("output0", 1, 1, 64, 64)]);
    const { code, out } = await call("inspect", write("depth.onnx", bytes));
    expect(code).toBe(0);
    expect(out).toContain('missing task: got a network for "depth"');
    expect(out).not.toContain("reading:");
  });

  test("a damaged file is refused with its name", async () => {
    const path = write("half.onnx", ultralyticsOnnx().slice(0, 40));
    const { code, err } = await call("inspect", path);
    expect(code).toBe(1);
    expect(err).toContain(`${path}: ONNX file`);
    expect(err).toContain("cut short");
  });
});

test("boxwright decode takes a model file in place of a config", async () => {
  const model = write("decode.onnx", ultralyticsOnnx());
  const values = new Float32Array(6 * 84);
  [32, 16, 20, 24, 0.1, 0.75].forEach((value, channel) => (values[channel * 84 + 10] = value));
  const tensor = write("output0.bin", new Uint8Array(values.buffer));
  writeFileSync(`${tensor}.json`, JSON.stringify({ name: "output0", dtype: "float32", shape: [1, 6, 84] }));
  const { code, out } = await call("decode", model, tensor, "--json");
  expect(code).toBe(0);
  const { detections } = JSON.parse(out) as { detections: unknown[] };
  expect(detections).toMatchObject([{ label: "driver's hat", confidence: 0.75, x_min: 22 / 64 }]);
});
