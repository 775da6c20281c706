import { expect, test } from "vitest";
import { boxwright, ssd, yolo } from "../../support/cli.ts";
import { fixture } from "../../support/files.ts";

test("describes a config with its tensors", async () => {
  const { code, out } = await boxwright("inspect", ...yolo("coffee"));
  expect(code).toBe(0);
  expect(out).toContain("raw_conv_120");
  expect(out).toContain("raw_conv_129");
});

test("takes shapes that a comma separates, as compile does, for as many tensors", async () => {
  const [boxes, masks] = ["output0:1x300x38:f32", "output1:1x32x160x160:f32"];
  const apart = await boxwright("inspect", boxes, masks);
  expect(apart.out).toContain("output1 [1,32,160,160]");
  expect(await boxwright("inspect", `${boxes},${masks}`)).toEqual(apart);
  const scaled = ["boxes:1x4x8400:i8:0.5,-3", "scores:1x80x8400:i8:0.01"];
  expect(await boxwright("inspect", scaled.join(","))).toEqual(await boxwright("inspect", ...scaled));
  expect((await boxwright("inspect", "a:1x2,no/such.json")).err).toContain("a:1x2,no/such.json");
});

test("describes a config alone, an archive, and a shape alone", async () => {
  for (const [word, ...lines] of [
    [
      fixture("yolo-fastest-1.1/config.json"),
      "config: nn_config, output_format detection",
      "classes: 80, labels person, bicycle, car, ...",
      "anchors: 12 x 18, 37 x 49, 52 x 132 for the map 20 wide; 115 x 73, 119 x 199, 242 x 238 for the map 10 wide",
      "input: 320x320",
    ],
    [
      fixture("files/nnarchive.tar.xz"),
      'family: yolov8 (subtype "yolov8")',
      "input: 160x96; batch 1; 4 classes",
      "tensor output1_yolov6r2: [1,9,12,20] f32",
      "tensor output2_yolov6r2: [1,9,6,10] f32",
      "tensor output3_yolov6r2: [1,9,3,5] f32",
    ],
    [
      "output0:1x84x8400:f32",
      "output0 [1,84,8400] can be:",
      '    { family: "yolov8", classes: 80, inputSize: [width, height] }',
    ],
  ]) {
    const { code, out, err } = await boxwright("inspect", word);
    expect({ word, code, err }).toEqual({ word, code: 0, err: "" });
    expect(out.split("\n")).toEqual(expect.arrayContaining(lines));
  }
});

test("--json prints the description as JSON", async () => {
  const said = JSON.parse((await boxwright("inspect", ...ssd("coffee"), "--json")).out) as object;
  expect(said).toMatchObject({
    family: "ssd",
    reading: "detection-output",
    batch: 1,
    tensors: [{ name: "detection_out", dims: [1, 1, 100, 7], type: "f32" }],
    heads: [{ cells: 100, kind: "corners", firstSource: 0 }],
  });
});

test("sizes that a file leaves open are written N, ? or as its words", async () => {
  const first = async (...words: readonly string[]): Promise<string> => {
    const { out, err } = await boxwright("inspect", ...words);
    expect(err).toBe("");
    return out.split("\n").find((line) => line.includes("family:")) ?? out;
  };
  expect(await first("boxes:Nx5", "labels:N:i32", "masks:Nx28x28")).toContain(
    'family: "mask-rcnn", task: "segment"',
  );
  expect(await first("output0:batchx84xanchors")).toContain('family: "yolov8", classes: 80');
  const { code, err } = await boxwright("inspect", fixture("yolo-fastest-1.1/config.json"), "boxes:Nx5");
  expect(code).toBe(2);
  expect(err).toContain("Write every size as a number.");
});
