import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { noteLine } from "../../../src/node/cli/hints.ts";
import { writeSafetensors } from "../../../src/node/files/safetensors.ts";
import { boxwright, expectSame, expectedDetections, printedJson, ssd, yolo } from "../../support/cli.ts";
import { fixture, tempFolder } from "../../support/files.ts";
import { dict, npy } from "../../support/npy.ts";

const folder = tempFolder();

test.each(["astronaut", "chelsea", "coffee"])(
  "decodes the feature maps of YOLO-Fastest on %s as OpenCV does",
  async (photo) => {
    const { code, out, err } = await boxwright("decode", ...yolo(photo), "--json");
    expect(code).toBe(0);
    // The config names no network, and four others have such maps.
    expect(err).toMatch(/^boxwright: note: the family was guessed, .*yolov5.*\n$/);
    expect(printedJson(out).output_format).toBe("detection");
    expectSame(printedJson(out).detections, expectedDetections("yolo-fastest-1.1", photo));
  },
);

test.each(["astronaut", "chelsea", "coffee"])(
  "decodes the output of MobileNet-SSD on %s as OpenCV does",
  async (photo) => {
    const { code, out } = await boxwright("decode", ...ssd(photo), "--json", "--rules", "opencv");
    expect(code).toBe(0);
    const want = expectedDetections("mobilenet-ssd", photo);
    expectSame(printedJson(out).detections, want);
    expect(
      printedJson(out)
        .detections.map((d) => d.label)
        .sort(),
    ).toEqual(want.map((d) => d.label).sort());
  },
);

test.each(["simd", "scalar", "ts"])("prints a table, engine %s", async (engine) => {
  const { code, out } = await boxwright("decode", ...ssd("coffee"), "--engine", engine);
  expect(code).toBe(0);
  expect(out).toMatch(
    /^label +class +confidence +x_min +y_min +x_max +y_max\ncup +47 +0\.7852 .*\ndining table +67 +0\.5977 /,
  );
  expect(out).toMatch(new RegExp(`\n2 detections, engine ${engine}, [\\d.]+ ms`));
});

test("--format json prints what --json does", async () => {
  const { out } = await boxwright("decode", ...ssd("coffee"), "--json");
  expect(await boxwright("decode", ...ssd("coffee"), "--format", "json")).toMatchObject({ code: 0, out });
});

test("prints pixels too if the size of the photo is known", async () => {
  const { out } = await boxwright("decode", ...ssd("coffee"), "--photo", fixture("photos/coffee.jpg"));
  expect(out).toMatch(/pixels \(x, y, width, height\)\ncup .* 167, 17, 256, 297\n/);
  expect((await boxwright("decode", ...ssd("coffee"), "--image-size", "600x400")).out).toContain(
    "167, 17, 256, 297",
  );
});

test("--resize returns boxes relative to a letterboxed photo", async () => {
  const plain = printedJson((await boxwright("decode", ...yolo("coffee"), "--json")).out).detections;
  const { out } = await boxwright(
    "decode",
    ...yolo("coffee"),
    "--json",
    "--image-size",
    "600x400",
    "--resize",
    "letterbox-topleft",
  );
  const boxed = printedJson(out).detections;
  // 600x400 fills the upper two thirds of the square
  expect(boxed).toHaveLength(expectedDetections("yolo-fastest-1.1", "coffee").length);
  expect(plain).toHaveLength(boxed.length);
  boxed.forEach((d, i) => expect(d.y_min).toBeCloseTo(plain[i].y_min * 1.5, 2));
});

test("--resize crop returns boxes relative to a photo whose sides were cut off", async () => {
  const plain = printedJson((await boxwright("decode", ...yolo("coffee"), "--json")).out).detections;
  const words = [...yolo("coffee"), "--json", "--image-size", "600x400", "--resize", "crop"];
  const { code, out } = await boxwright("decode", ...words);
  const cropped = printedJson(out).detections;
  expect(code).toBe(0);
  expect(cropped).toHaveLength(plain.length);
  // The square is the middle two thirds of 600 pixels.
  cropped.forEach((d, i) => {
    expect(d.x_min).toBeCloseTo(1 / 6 + (plain[i].x_min * 2) / 3, 2);
    expect(d.y_min).toBeCloseTo(plain[i].y_min, 5);
  });
});

test("options replace thresholds, classes and labels of the config", async () => {
  const count = async (...more: string[]) =>
    printedJson((await boxwright("decode", ...ssd("coffee"), "--json", ...more)).out).detections.map(
      (d) => d.label,
    );
  expect(await count("--confidence", "0.7")).toEqual(["cup"]);
  expect(await count("--max", "1")).toEqual(["cup"]);
  expect(await count("--keep", "dining table")).toEqual(["dining table"]);
  expect(await count("--keep", "47")).toEqual(["cup"]);
  const names = folder.path("names.txt");
  await writeFile(names, Array.from({ length: 91 }, (_, i) => `thing ${i}`).join("\r\n") + "\r\n");
  expect(await count("--labels", names)).toEqual(["thing 47", "thing 67"]);
  expect(await count("--labels", names, "--keep", "thing 67")).toEqual(["thing 67"]);
});

test("decodes without a config, by --family and other options", async () => {
  const argv = [
    "decode",
    "--family",
    "yolov3",
    "--labels",
    fixture("labels/coco80.txt"),
    "--input-size",
    "320x320",
    "--anchors",
    "12,18,37,49,52,132,115,73,119,199,242,238",
    "--anchor-masks",
    '{"side20":[0,1,2],"side10":[3,4,5]}',
  ];
  const { code, out, err } = await boxwright(
    ...argv,
    "--confidence",
    "0.26",
    "--iou",
    "0.45",
    "--rules",
    "opencv",
    fixture("yolo-fastest-1.1/coffee/meta.json"),
    "--json",
  );
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expectSame(printedJson(out).detections, expectedDetections("yolo-fastest-1.1", "coffee"));
  expect(printedJson(out).detections[0].label).toBe("cup");
});

test("notes name options as the command does", () => {
  const line = (note: string) => noteLine(note, "decode");
  expect(line('say scores: "probabilities", or labels: "coco80"')).toBe(
    "boxwright: note: say --scores probabilities, or --labels coco80\n",
  );
  expect(line("the option inputSize settles it")).toBe(
    "boxwright: note: the option --input-size settles it\n",
  );
  expect(line('the output "boxes", {boxes: "a"}')).toBe(
    'boxwright: note: the output "boxes", {boxes: "a"}\n',
  );
});

test("a network with COCO's count of classes and no names says how it gets them", async () => {
  const data = new Float32Array(84 * 336);
  [64, 64, 8, 8, 0.9].forEach((value, channel) => (data[channel * 336] = value));
  const file = folder.path("person.safetensors");
  await writeFile(file, writeSafetensors([{ name: "o", type: "f32", dims: [1, 84, 336], data }]));
  const words = ["decode", "--family", "yolov8", "--input-size", "128x128", file] as const;
  expect((await boxwright(...words, "--classes", "80")).err).toBe(
    "boxwright: note: the network has class ids and no names: --labels coco80 names them if they are COCO's\n",
  );
  expect(await boxwright(...words, "--labels", "coco80")).toMatchObject({ code: 0, err: "" });
});

test("notes about network, photo and dropped candidates go to standard error", async () => {
  const file = folder.path("odd.safetensors");
  const network = ["--family", "yolov8", "--classes", "2", "--input-size", "64x64", file];
  const write = (fill: (data: Float32Array<ArrayBuffer>) => void) => {
    const data = new Float32Array(6 * 84);
    fill(data);
    return writeFile(file, writeSafetensors([{ name: "o", type: "f32", dims: [1, 6, 84], data }]));
  };
  await write((data) => data.fill(NaN));
  expect((await boxwright("decode", ...network)).err).toBe(
    "boxwright: note: 168 scores of the first frame are NaN or infinite\n",
  );
  await write((data) => {
    data.fill(Infinity, 0, 1);
    data.fill(0.9, 4 * 84, 4 * 84 + 1);
  });
  expect((await boxwright("decode", ...network)).err).toBe(
    "boxwright: note: candidates of frame 1 whose box, score or class id is NaN or infinite are dropped: 1\n",
  );
  await write((data) => {
    data.fill(Infinity, 0, 1);
    data.fill(0.9, 4 * 84, 4 * 84 + 2);
    for (const channel of [0, 1, 2, 3]) data[channel * 84 + 1] = 32;
  });
  const told =
    "boxwright: note: candidates of frame 1 whose box, score or class id is NaN or infinite are dropped: 1\n";
  expect(await boxwright("decode", ...network, "--json")).toMatchObject({ code: 0, err: told });
  const drawn = ["--photo", fixture("photos/coffee.jpg"), "--out", folder.path("odd.svg")];
  // Of a photo with other proportions, how it was fitted.
  const fitted =
    "boxwright: note: the photo of 600x400 counts as stretched to the input, 64x64. If it was fitted otherwise, pass --resize: stretch, letterbox, letterbox-topleft, crop\n";
  expect(await boxwright("draw", ...network, ...drawn)).toMatchObject({ code: 0, err: told + fitted });
  const said = await boxwright("draw", ...network, ...drawn, "--resize", "stretch");
  expect(said).toMatchObject({ code: 0, err: told });
  const like = await boxwright("decode", ...network, "--image-size", "1920x1920");
  expect(like).toMatchObject({ code: 0, err: told });
  // Two boxes apart, of which one has room.
  await write((data) => {
    for (const cell of [0, 1]) [16 + 32 * cell, 32, 8, 8, 0.9].forEach((v, k) => (data[k * 84 + cell] = v));
  });
  const full = await boxwright("decode", ...network, "--max", "1");
  expect(full.err).toMatch(/^boxwright: note: 1 candidates were left out: /);
});

test("no detection is no error", async () => {
  const { code, out } = await boxwright("decode", ...ssd("coffee"), "--confidence", "1");
  expect(code).toBe(0);
  expect(out).toMatch(/^0 detections, engine /);
});

test("--quantised states scale and zero point of integers", async () => {
  const put = async (
    name: string,
    type: string,
    shape: string,
    data: Uint8Array<ArrayBuffer>,
  ): Promise<string> => {
    const path = folder.path(`${name}.npy`);
    await writeFile(path, npy(dict(`'${type}'`, shape), data));
    return path;
  };
  const boxes = new Uint8Array(4 * 84).fill(10);
  [138, 74, 74, 42].forEach((v, i) => (boxes[i * 84 + 5] = v)); // centre 32, 16, size 16, 8
  const scores = new Uint8Array(2 * 84);
  scores[84 + 5] = 192;
  const files = [
    await put("quantised-boxes", "|u1", "(1, 4, 84)", boxes),
    await put("quantised-scores", "|u1", "(1, 2, 84)", scores),
  ];
  const network = ["--family", "yolov8", "--classes", "2", "--input-size", "64x64", ...files];
  const of = ["--quantised", "quantised-boxes=0.25,10"];

  expect((await boxwright("decode", ...network)).err).toContain(
    "got integers (u8) without a scale, expected scale and zeroPoint: real = (raw - zeroPoint) * scale\nIn this command: --quantised NAME=0.07,128",
  );
  // where one is left, it needs no name
  const { out, err } = await boxwright("decode", "--json", ...network, ...of, "--quantised", "0.00390625");
  expect(err).toBe("");
  expect(printedJson(out).detections).toEqual([
    { class_id: 1, label: "1", confidence: 0.75, x_min: 0.375, y_min: 0.1875, x_max: 0.625, y_max: 0.3125 },
  ]);
  const looked = await boxwright("inspect", ...network, ...of, "--quantised=quantised-scores=4e-3,1");
  expect(looked.out).toContain("tensor quantised-scores: [1,2,84] u8, real = (raw - 1) * 0.004");
  for (const [word, said] of [
    [
      "0.5",
      "expected the name of a tensor of integers without a scale: one of quantised-boxes, quantised-scores",
    ],
    ["b=0.5", "one of quantised-boxes, quantised-scores"],
    ["quantised-boxes=0", "expected [NAME=]SCALE[,ZERO] with a positive scale, for example boxes=0.07,128"],
    ["quantised-boxes", "expected [NAME=]SCALE[,ZERO]"],
  ])
    expect(await boxwright("decode", ...network, "--quantised", word)).toMatchObject({
      code: 2,
      err: expect.stringContaining(said) as string,
    });
  const floats = await put("floats", "<f4", "(1, 6, 84)", new Uint8Array(4 * 6 * 84));
  const argv = [
    "--family",
    "yolov8",
    "--classes",
    "2",
    "--input-size",
    "64x64",
    floats,
    "--quantised=floats=1",
  ];
  expect((await boxwright("decode", ...argv)).err).toContain("without a scale: the files have none");
});

test("--task oriented prints angles, and the sides of turned boxes in pixels", async () => {
  const row = Float32Array.of(100, 50, 60, 20, 0, 0.9, 0.5);
  const file = folder.path("oriented.npy");
  await writeFile(file, npy(dict("'<f4'", "(1, 1, 7)"), new Uint8Array(row.buffer)));
  const argv = ["--family", "yolov8", "--classes", "2", "--input-size", "200x100", "--task", "oriented"];
  const of = [file, "--reading", "class-rows", "--image-size", "400x200", "--resize", "letterbox"];
  const { code, out, err } = await boxwright("decode", ...of, ...argv);
  expect(err).not.toContain("unknown");
  expect(code).toBe(0);
  expect(out).toMatch(/ angle {2}pixels \(centre x, y, width, height\)\n/);
  expect(out).toMatch(/ 0\.5000 {2}200, 100, 120, 40\n/);
  const json = printedJson((await boxwright("decode", ...of, ...argv, "--json", "--angle-range", "raw")).out);
  expect(json.detections[0]).toMatchObject({ angle: 0.5, class_id: 1 });
  const wrong = await boxwright("decode", ...of, ...argv, "--oriented-suppression", "fast");
  expect(wrong.err).toContain("ultralytics, probiou, opencv");
});
