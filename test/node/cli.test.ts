import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HELP } from "../../src/node/cli/help.ts";
import { COMMANDS, parseShape, setupOf } from "../../src/node/cli/options.ts";
import { run } from "../../src/node/cli/run.ts";
import { table } from "../../src/node/cli/table.ts";
import { LIBRARY } from "../../src/node/cli/words.ts";
import { imageInfo } from "../../src/picture/image-info.ts";
import { writeSafetensors } from "../../src/node/files.ts";
import { showJson } from "../../src/core/json.ts";
import { dict, npy } from "../support/npy.ts";
import type { Detection } from "../../src/entries/index.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const expected = (network: string, photo: string) =>
  (
    JSON.parse(readFileSync(fixture(`${network}/${photo}/expected.json`), "utf8")) as {
      detections: Detection[];
    }
  ).detections;

async function boxwright(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const code = await run(argv, { out: (t) => void (out += t), err: (t) => void (err += t) });
  return { code, out, err };
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "boxwright-cli-"));
});
afterAll(() => rm(folder, { recursive: true }));

const yolo = (photo: string) => [
  fixture("yolo-fastest-1.1/config.json"),
  fixture(`yolo-fastest-1.1/${photo}/meta.json`),
  "--activation",
  "logits",
  "--conventions",
  "opencv",
];
const ssd = (photo: string) => [
  fixture("mobilenet-ssd/config.json"),
  fixture(`mobilenet-ssd/${photo}/meta.json`),
];

function expectSame(got: Detection[], want: Detection[]) {
  const sorted = (list: Detection[]) => [...list].sort((a, b) => b.confidence - a.confidence);
  expect(got).toHaveLength(want.length);
  sorted(got).forEach((d, i) => {
    const w = sorted(want)[i];
    expect(d.class_id).toBe(w.class_id);
    for (const key of ["confidence", "x_min", "y_min", "x_max", "y_max"] as const)
      expect(d[key]).toBeCloseTo(w[key], 4);
  });
}

interface Printed {
  output_format: string;
  detections: Detection[];
}
const json = (out: string) => JSON.parse(out) as Printed;

describe("help and usage", () => {
  test("--help, help, -h, and per command", async () => {
    for (const argv of [["--help"], ["-h"], ["help"]])
      expect(await boxwright(...argv)).toEqual({ code: 0, out: HELP[""], err: "" });
    for (const command of Object.keys(COMMANDS)) {
      expect(await boxwright(command, "--help")).toEqual({ code: 0, out: HELP[command], err: "" });
      expect(await boxwright("help", command)).toEqual({ code: 0, out: HELP[command], err: "" });
      expect(await boxwright(command, "--bogus", "-h")).toMatchObject({ code: 2 });
    }
    expect((await boxwright("toString")).err).toContain("\nTry: boxwright --help\n");
  });

  test("every option is in the help of its command, and the other way round", () => {
    for (const [command, options] of Object.entries(COMMANDS)) {
      const told = new Set([...HELP[command].matchAll(/^ {2}--([a-z-]+)/gm)].map((m) => m[1]));
      const known = new Set(Object.keys(options).filter((o) => o !== "help"));
      expect({ command, told: [...told].sort() }).toEqual({ command, told: [...known].sort() });
    }
  });

  test("--version", async () => {
    expect(await boxwright("--version")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
  });

  test.each<[string, string[], RegExp]>([
    ["no command", [], /got no command, expected decode, draw, inspect or compile\nTry: boxwright --help/],
    ["another command", ["detect"], /got command "detect"/],
    ["a name like a method", ["constructor"], /got command "constructor"/],
    ["an unknown option", ["decode", "--colour"], /got --colour, expected an option of decode\nTry: /],
    [
      "an option of other commands",
      ["decode", "--out", "x"],
      /got --out, expected an option of decode: this is one of draw, compile\n/,
    ],
    ["the beginning of an option", ["decode", "--conf", "0.5"], /got --conf, expected --confidence\n/],
    [
      "the beginning of two",
      ["decode", "--con", "0.5"],
      /got --con, expected --conventions or --confidence\n/,
    ],
    ["an option and more", ["decode", "--labels-file", "x"], /got --labels-file, expected --labels\n/],
    ["what others call it", ["decode", "--nms", "0.5"], /got --nms, expected --iou\n/],
    [
      "what others call it, where several are meant",
      ["decode", "--scale", "2"],
      /got --scale, expected --scale-xy or --scales or --quantised\n/,
    ],
    ["a size of nothing", ["inspect", "o:0x84x8400"], /o:0x84x8400: got a size of 0, expected 1 or more\n/],
    ["what others call it, by a letter", ["draw", "-o", "x.svg"], /got -o, expected --out\n/],
    ["what the library calls it", ["decode", "--iou-threshold=0.5"], /got --iou-threshold, expected --iou\n/],
    ["letters in disorder", ["decode", "--confidecne", "1"], /got --confidecne, expected --confidence\n/],
    ["a name like a method as an option", ["decode", "--toString"], /got --toString, expected an option/],
    ["a missing value", ["decode", "--iou"], /--iou: got nothing, expected a value\n/],
    [
      "an option for a value",
      ["decode", "--iou", "--json"],
      /--iou: got "--json", expected a value; one that begins with a dash is written --iou=--json/,
    ],
    ["a value too many", ["decode", "--json=3"], /--json: got "3", expected no value/],
    [
      "no config",
      ["decode", fixture("files/c.npy")],
      /got no config, expected a config file or archive, or --family/,
    ],
    ["no tensors", ["decode", fixture("mobilenet-ssd/config.json")], /got no tensors/],
    [
      "two configs",
      ["decode", fixture("mobilenet-ssd/config.json"), fixture("yolo-fastest-1.1/config.json")],
      /got the configs .* expected one/,
    ],
    [
      "a number that is none",
      ["decode", ...ssd("coffee"), "--iou", "x"],
      /--iou: got "x", expected a number from 0 to 1/,
    ],
    [
      "a threshold beyond 1",
      ["decode", ...ssd("coffee"), "--confidence", "50"],
      /--confidence: got "50", expected a number from 0 to 1/,
    ],
    [
      "half a detection",
      ["decode", ...ssd("coffee"), "--max", "1.5"],
      /--max: got "1.5", expected a whole number/,
    ],
    [
      "more than are ever counted",
      ["decode", ...ssd("coffee"), "--max", "1e9"],
      /--max: got "1e9", expected a number from 1 to 999999999/,
    ],
    [
      "a size that is none",
      ["decode", ...ssd("coffee"), "--input-size", "640"],
      /--input-size: got "640", expected WxH/,
    ],
    [
      "anchors beside a config",
      ["decode", ...ssd("coffee"), "--anchors", "3,4"],
      /--anchors: got it beside a config file, expected one of the two/,
    ],
    [
      "labels that are none",
      ["decode", ...ssd("coffee"), "--labels", "nofile.txt"],
      /--labels: got "nofile.txt"/,
    ],
    [
      "a tensor that is not there",
      ["decode", ...ssd("coffee"), "--only", "x"],
      /--only: got "x", expected one of detection_out/,
    ],
    [
      "a way to resize that is none",
      ["decode", ...ssd("coffee"), "--image-size", "9x9", "--resize", "crop"],
      /--resize: got "crop", expected stretch, letterbox/,
    ],
    ["--resize alone", ["decode", ...ssd("coffee"), "--resize", "letterbox"], /--resize: got it alone/],
    [
      "a size other than the photo's",
      ["decode", ...ssd("coffee"), "--photo", fixture("photos/coffee.jpg"), "--image-size", "9x9"],
      /--image-size: got 9x9, expected 600x400/,
    ],
    ["no photo", ["draw", ...ssd("coffee")], /--photo: got nothing/],
    [
      "a picture of another kind",
      ["draw", ...ssd("coffee"), "--photo", fixture("photos/coffee.jpg"), "--out", "x.gif"],
      /--out: got "x.gif", expected a name that ends in .svg or .png/,
    ],
    [
      "an image the batch has not",
      ["draw", ...ssd("coffee"), "--photo", fixture("photos/coffee.jpg"), "--index", "1"],
      /--index: got 1, expected below 1/,
    ],
    [
      "a role that is none",
      ["decode", "--family", "ssd", "--role", "x", fixture("files/c.npy")],
      /--role: got "x", expected PART=NAME/,
    ],
    [
      "masks that are none",
      ["decode", "--family", "yolov3", "--masks", "{", fixture("files/c.npy")],
      /--masks: got "\{", expected JSON/,
    ],
    [
      "anchors that are none",
      ["decode", "--family", "yolov3", "--anchors", "1,x", fixture("files/c.npy")],
      /--anchors: got "1,x", expected numbers/,
    ],
    [
      "priors that are none",
      ["decode", "--family", "ssd", "--priors", fixture("files/stored.npz"), fixture("files/c.npy")],
      /--priors: .* expected a file with one f32 tensor, not boxes \(f32\), scores \(f16\), ids \(i64\)/,
    ],
    ["nothing to inspect", ["inspect"], /got nothing to look at/],
    ["a type that is none", ["inspect", "a:1x2:complex"], /got type "complex", expected f32/],
    ["a name twice", ["inspect", "a:1x2", "a:1x3"], /got tensor "a" twice/],
    [
      "a threshold that is blank",
      ["decode", ...ssd("coffee"), "--confidence", " "],
      /--confidence: got " ", expected a number from 0 to 1/,
    ],
    [
      "nothing to keep",
      ["decode", ...ssd("coffee"), "--keep", ""],
      /--keep: got "", expected names separated by commas/,
    ],
    ["nothing of all", ["decode", ...ssd("coffee"), "--only", " , "], /--only: got " , ", expected names/],
    [
      "no names",
      ["decode", ...ssd("coffee"), "--labels", ",,"],
      /--labels: got ",,", expected one name or more/,
    ],
    [
      "names as JSON",
      ["decode", ...ssd("coffee"), "--labels", fixture("mobilenet-ssd/config.json")],
      /--labels: got .*, expected a text file with one name a line, not JSON/,
    ],
    [
      "names in another encoding",
      ["decode", ...ssd("coffee"), "--labels", fixture("photos/coffee.jpg")],
      /--labels: got .*, expected a text file in UTF-8/,
    ],
    [
      "anchors without a family",
      ["inspect", "a:1x255x13x13", "--anchors", "1,2"],
      /--anchors: got it without a family, expected --family with it/,
    ],
    [
      "detections and a threshold",
      ["draw", "--detections", "d.json", "--photo", fixture("photos/coffee.jpg"), "--confidence", "0.9"],
      /--confidence: got it beside --detections, which are drawn as they are/,
    ],
    [
      "a size that is not that of the detections",
      ["draw", "--detections", "d.json", "--photo", fixture("photos/coffee.jpg"), "--image-size", "6x4"],
      /--image-size: got it beside --detections/,
    ],
    [
      "detections beside tensors",
      ["draw", "x.npy", "--detections", "d.json", "--photo", fixture("photos/coffee.jpg")],
      /--detections: got it beside x.npy/,
    ],
  ])("%s: exit code 2", async (_, argv, message) => {
    const { code, out, err } = await boxwright(...argv);
    expect(err).toMatch(message);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^boxwright: /);
    expect(err).not.toMatch(/^ {4}at /m);
  });
});

describe("decode", () => {
  test.each(["astronaut", "chelsea", "coffee"])(
    "raw YOLO maps of %s, described by a config file",
    async (photo) => {
      const { code, out, err } = await boxwright("decode", ...yolo(photo), "--json");
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(json(out).output_format).toBe("detection");
      expectSame(json(out).detections, expected("yolo-fastest-1.1", photo));
    },
  );

  test.each(["astronaut", "chelsea", "coffee"])("SSD output of %s", async (photo) => {
    const { code, out } = await boxwright("decode", ...ssd(photo), "--json", "--conventions", "opencv");
    expect(code).toBe(0);
    const want = expected("mobilenet-ssd", photo);
    expectSame(json(out).detections, want);
    expect(
      json(out)
        .detections.map((d) => d.label)
        .sort(),
    ).toEqual(want.map((d) => d.label).sort());
  });

  test.each(["simd", "scalar", "ts"])("as a table, engine %s", async (engine) => {
    const { code, out } = await boxwright("decode", ...ssd("coffee"), "--engine", engine);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^label +class +confidence +x_min +y_min +x_max +y_max\ncup +47 +0\.7852 .*\ndining table +67 +0\.5977 /,
    );
    expect(out).toMatch(new RegExp(`\n2 detections, engine ${engine}, [\\d.]+ ms`));
  });

  test("with the photo's size, pixels stand beside", async () => {
    const { out } = await boxwright("decode", ...ssd("coffee"), "--photo", fixture("photos/coffee.jpg"));
    expect(out).toMatch(/pixels \(x, y, width, height\)\ncup .* 167, 17, 256, 297\n/);
    expect((await boxwright("decode", ...ssd("coffee"), "--image-size", "600x400")).out).toContain(
      "167, 17, 256, 297",
    );
  });

  test("a letterboxed photo is undone", async () => {
    const plain = json((await boxwright("decode", ...yolo("coffee"), "--json")).out).detections;
    const { out } = await boxwright(
      "decode",
      ...yolo("coffee"),
      "--json",
      "--image-size",
      "600x400",
      "--resize",
      "letterbox-topleft",
    );
    const boxed = json(out).detections;
    // 600x400 fills the upper two thirds of the square
    expect(boxed).toHaveLength(expected("yolo-fastest-1.1", "coffee").length);
    expect(plain).toHaveLength(boxed.length);
    boxed.forEach((d, i) => expect(d.y_min).toBeCloseTo(plain[i].y_min * 1.5, 2));
  });

  test("thresholds, classes and names are set over the config", async () => {
    const count = async (...more: string[]) =>
      json((await boxwright("decode", ...ssd("coffee"), "--json", ...more)).out).detections.map(
        (d) => d.label,
      );
    expect(await count("--confidence", "0.7")).toEqual(["cup"]);
    expect(await count("--max", "1")).toEqual(["cup"]);
    expect(await count("--keep", "dining table")).toEqual(["dining table"]);
    expect(await count("--keep", "47")).toEqual(["cup"]);
    const names = join(folder, "names.txt");
    await writeFile(names, Array.from({ length: 91 }, (_, i) => `thing ${i}`).join("\r\n") + "\r\n");
    expect(await count("--labels", names)).toEqual(["thing 47", "thing 67"]);
    expect(await count("--labels", names, "--keep", "thing 67")).toEqual(["thing 67"]);
  });

  test("without a config: family and the rest as options", async () => {
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
      "--masks",
      '{"side20":[0,1,2],"side10":[3,4,5]}',
    ];
    const { code, out, err } = await boxwright(
      ...argv,
      "--confidence",
      "0.26",
      "--iou",
      "0.45",
      "--conventions",
      "opencv",
      fixture("yolo-fastest-1.1/coffee/meta.json"),
      "--json",
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expectSame(json(out).detections, expected("yolo-fastest-1.1", "coffee"));
    expect(json(out).detections[0].label).toBe("cup");
  });

  test("what is odd or left out is said on the error stream, also beside JSON and by draw", async () => {
    const file = join(folder, "odd.safetensors");
    const network = ["--family", "yolov8", "--classes", "2", "--input-size", "64x64", file];
    const write = (fill: (data: Float32Array<ArrayBuffer>) => void) => {
      const data = new Float32Array(6 * 84);
      fill(data);
      return writeFile(file, writeSafetensors([{ name: "o", type: "f32", dims: [1, 6, 84], data }]));
    };
    await write((data) => data.fill(NaN));
    expect((await boxwright("decode", ...network)).err).toBe(
      "boxwright: note: 168 scores of the first frame are NaN, which pass no threshold\n",
    );
    await write((data) => {
      data.fill(Infinity, 0, 1);
      data.fill(0.9, 4 * 84, 4 * 84 + 1);
    });
    expect((await boxwright("decode", ...network)).err).toBe(
      "boxwright: note: boxes of frame 1 are NaN or infinite, and dropped: 1\n",
    );
    await write((data) => {
      data.fill(Infinity, 0, 1);
      data.fill(0.9, 4 * 84, 4 * 84 + 2);
      for (const channel of [0, 1, 2, 3]) data[channel * 84 + 1] = 32;
    });
    const told = "boxwright: 1 candidates dropped: box or score is not a finite number\n";
    expect(await boxwright("decode", ...network, "--json")).toMatchObject({ code: 0, err: told });
    const drawn = ["--photo", fixture("photos/coffee.jpg"), "--out", join(folder, "odd.svg")];
    // of a photo with other proportions, how it was fitted
    const fitted =
      "boxwright: note: a photo of 600x400 is taken as stretched to the input, 64x64; --resize says otherwise: stretch, letterbox, letterbox-topleft\n";
    expect(await boxwright("draw", ...network, ...drawn)).toMatchObject({ code: 0, err: fitted + told });
    const said = await boxwright("draw", ...network, ...drawn, "--resize", "stretch");
    expect(said).toMatchObject({ code: 0, err: told });
    const like = await boxwright("decode", ...network, "--image-size", "1920x1920");
    expect(like).toMatchObject({ code: 0, err: told });
  });

  test("nothing found is said, not an error", async () => {
    const { code, out } = await boxwright("decode", ...ssd("coffee"), "--confidence", "1");
    expect(code).toBe(0);
    expect(out).toMatch(/^0 detections, engine /);
  });
});

describe("draw", () => {
  test("SVG and PNG of one decode", async () => {
    const svg = join(folder, "a.svg");
    const png = join(folder, "a.png");
    const { code, out, err } = await boxwright(
      "draw",
      ...ssd("coffee"),
      "--photo",
      fixture("photos/coffee.jpg"),
      "--out",
      svg,
      "--out",
      png,
      "--width",
      "300",
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(`${svg}: 2 detections\n${png}: 2 detections\n`);
    const text = await readFile(svg, "utf8");
    expect(text).toContain(">cup 79%</text>");
    expect(text).toContain(">dining table 60%</text>");
    expect(imageInfo(new Uint8Array(await readFile(png)))).toMatchObject({ width: 300, height: 200 });
  });

  test("detections that decode has printed", async () => {
    const list = join(folder, "d.json");
    const svg = join(folder, "b.svg");
    await writeFile(list, (await boxwright("decode", ...ssd("chelsea"), "--json")).out);
    const { code } = await boxwright(
      "draw",
      "--detections",
      list,
      "--photo",
      fixture("photos/chelsea.png"),
      "--out",
      svg,
    );
    expect(code).toBe(0);
    expect(await readFile(svg, "utf8")).toContain(">cat 64%</text>");
    await writeFile(list, JSON.stringify([json(await readFile(list, "utf8")), { detections: [] }]));
    expect(
      (
        await boxwright(
          "draw",
          "--detections",
          list,
          "--photo",
          fixture("photos/chelsea.png"),
          "--out",
          svg,
          "--index",
          "1",
        )
      ).out,
    ).toContain("0 detections");
    await writeFile(list, "\ufeff[]");
    expect(
      await boxwright("draw", "--detections", list, "--photo", fixture("photos/chelsea.png"), "--out", svg),
    ).toMatchObject({ code: 0, out: `${svg}: 0 detections\n` });
    await writeFile(list, '"no list"');
    expect(
      await boxwright("draw", "--detections", list, "--photo", fixture("photos/chelsea.png")),
    ).toMatchObject({ code: 2 });
  });

  test.each<[string, string[], RegExp]>([
    [
      "a photo that is none",
      ["--photo", fixture("README.md")],
      /README.md: got a file that begins with .*, expected a PNG or JPEG/,
    ],
    [
      "a photo that is not there",
      ["--photo", "/no/photo.png"],
      /--photo: \/no\/photo.png: got no such file, expected a file/,
    ],
    [
      "a folder that is not there",
      ["--photo", fixture("photos/coffee.jpg"), "--out", "/no/such/x.svg"],
      /--out: \/no\/such\/x.svg: got no such folder, expected a file that can be written/,
    ],
  ])("%s: exit code 1, no stack", async (_, argv, message) => {
    const { code, err } = await boxwright("draw", ...ssd("coffee"), ...argv);
    expect(code).toBe(1);
    expect(err).toMatch(message);
    expect(err).not.toMatch(/^ {4}at /m);
  });
});

test("a result does not take the place of what it is made from, nor of another result", async () => {
  const photo = join(folder, "own.png");
  const config = join(folder, "own.json");
  const link = join(folder, "link.png");
  await copyFile(fixture("photos/chelsea.png"), photo);
  await copyFile(fixture("mobilenet-ssd/config.json"), config);
  await symlink(photo, link);
  const tensors = fixture("mobilenet-ssd/chelsea/meta.json");
  const before = await readFile(photo);
  const plan = join(folder, "own.bin");
  for (const [option, path, argv] of [
    ["out", photo, ["draw", config, tensors, "--photo", photo, "--out", photo]],
    ["out", link, ["draw", config, tensors, "--photo", photo, "--out", link]],
    ["out", "x.svg", ["draw", config, tensors, "--photo", photo, "--out", "x.svg", "--out", "x.svg"]],
    ["out", config, ["compile", config, tensors, "--out", config]],
    ["kernel", plan, ["compile", config, tensors, "--out", plan, "--kernel", plan]],
  ] as const) {
    const { code, out, err } = await boxwright(...argv);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(
      `boxwright: --${option}: got ${showJson(path)}, expected a file of its own, not one that is read or written here already\n`,
    );
  }
  expect(await readFile(photo)).toEqual(before);
  expect(existsSync(plan)).toBe(false);
});

describe("inspect", () => {
  test("a config with its tensors", async () => {
    const { code, out } = await boxwright("inspect", ...yolo("coffee"));
    expect(code).toBe(0);
    expect(out).toContain("raw_conv_120");
    expect(out).toContain("raw_conv_129");
  });

  test("a config alone, an archive, a shape alone", async () => {
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

  test("--json prints JSON", async () => {
    const said = JSON.parse((await boxwright("inspect", ...ssd("coffee"), "--json")).out) as object;
    expect(said).toMatchObject({
      family: "ssd",
      reading: "detection-output",
      batch: 1,
      tensors: [{ name: "detection_out", dims: [1, 1, 100, 7], type: "f32" }],
      heads: [{ cells: 100, kind: "corners", firstSource: 0 }],
    });
  });

  test("words for shapes", () => {
    expect(parseShape("output0:1x84x8400:f32", 0)).toEqual({
      name: "output0",
      dims: [1, 84, 8400],
      type: "f32",
    });
    expect(parseShape("1x84x8400", 3)).toEqual({ name: "output3", dims: [1, 84, 8400], type: "f32" });
    expect(parseShape("Call:0:1x6:uint8:0.5,128", 0)).toEqual({
      name: "Call:0",
      dims: [1, 6],
      type: "u8",
      scale: 0.5,
      zeroPoint: 128,
    });
    expect(parseShape("a:2x2:i8:1e-3", 0)).toEqual({
      name: "a",
      dims: [2, 2],
      type: "i8",
      scale: 0.001,
      zeroPoint: 0,
    });
    expect(parseShape("a.npy", 0)).toBeNull();
    expect(parseShape("C:\\1x2.npy", 0)).toBeNull();
    expect(() => parseShape("a:2x2:i8:-1", 0)).toThrow(/expected a positive number/);
  });
});

describe("what cannot be decoded: exit code 1, the library's message, no stack", () => {
  const refused = async (...argv: string[]) => {
    const { code, out, err } = await boxwright(...argv);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^boxwright: /);
    expect(err).not.toMatch(/^ {4}at /m);
    return err;
  };

  test("a config that is no JSON, or of another network", async () => {
    const config = join(folder, "bad.json");
    await writeFile(config, "{nonsense");
    await refused("decode", config, fixture("mobilenet-ssd/coffee/meta.json"));
    await writeFile(
      config,
      JSON.stringify({ NN_config: { output_format: "detection", NN_family: "segmentation" } }),
    );
    expect(await refused("decode", config, fixture("mobilenet-ssd/coffee/meta.json"))).toContain("NN_family");
  });

  test("tensors that do not fit the config", async () => {
    const file = join(folder, "t.safetensors");
    await writeFile(
      file,
      writeSafetensors([{ name: "t", type: "f32", dims: [1, 3, 3], data: new Float32Array(9) }]),
    );
    await refused("decode", fixture("yolo-fastest-1.1/config.json"), file);
  });

  test("a shape that can be read in two ways: the readings are listed", async () => {
    const err = await refused(
      "inspect",
      "--family",
      "yolov8",
      "--classes",
      "80",
      "--input-size",
      "640x640",
      "output0:1x84x84",
    );
    expect(err).toMatch(/\[1,84,84\].*2 ways/);
  });

  test("options of the library are said as words of the command, unless they were given", async () => {
    const yolov8 = ["--family", "yolov8", "--classes", "80"];
    const shaped = [...yolov8, "--outputs", "output0:1x84x8400"];
    const ssd = ["--family", "ssd", "--classes", "3", "a:1x10x4", "b:1x10x3"];
    for (const [argv, added] of [
      [["compile", ...yolov8], "--outputs output0:1x84x8400:f32"],
      [["compile", ...shaped], "--input-size 640x640, --coordinates normalised"],
      [["inspect", "--family", "yolov8", "o:1x84x8400"], "--classes 80, --labels names.txt"],
      [
        ["inspect", "--family=yolov5", "--classes=80", "o:1x255x80x80"],
        "--anchors w,h,w,h,... (not beside a config file)",
      ],
      [["inspect", ...ssd], "--priors priors.npy, --variances 0.1,0.1,0.2,0.2, --scales 10,10,5,5"],
      [["inspect", ...ssd, "--variances=1,1,1,1"], "--priors priors.npy"],
    ] as const)
      expect((await refused(...argv)).split("\n")).toContain(`In this command: ${added}`);
    const all = Object.values(COMMANDS).flatMap((options) => Object.keys(options));
    for (const [option] of Object.values(LIBRARY)) expect(all).toContain(option);
    // the path of a value in a file is no option to write
    const typed = join(folder, "typed.json");
    await writeFile(typed, JSON.stringify({ family: "yolov8", classes: 0, inputSize: 640, boxFormat: "x" }));
    expect(await refused("inspect", typed, "o:1x84x8400")).not.toContain("In this command");
    // nor is the word that says where the family was read
    await writeFile(typed, JSON.stringify({ family: "yolov8", classes: 7, inputSize: [640, 640] }));
    expect(await refused("inspect", typed, "o:1x84x8400")).not.toContain("In this command");
  });

  test("a plan, and the JSON beside a raw tensor, are no configs", async () => {
    const plan = join(folder, "plan.bin");
    const argv = ["--family", "yolov8", "--classes", "2", "--input-size", "64x64", "--outputs", "o:1x6x84"];
    expect(await boxwright("compile", ...argv, "--out", plan)).toMatchObject({ code: 0 });
    expect(await refused("decode", plan, fixture("files/c.npy"))).toContain(
      `${plan}: got a plan file, expected tensors or a config: pass the config that the plan was compiled from`,
    );
    const raw = join(folder, "out.bin");
    await writeFile(raw, new Float32Array(4));
    await writeFile(`${raw}.json`, JSON.stringify({ dtype: "f32", shape: [1, 4] }));
    expect(await refused("decode", fixture("mobilenet-ssd/config.json"), `${raw}.json`)).toContain(
      `expected the tensor: pass ${raw}, and`,
    );
  });

  test("a shape that is written otherwise is taken for a file, and told how shapes are written", async () => {
    for (const word of ["output0:1,84,8400", "[1,84,8400]", "output0:1*84*8400"])
      expect(await refused("inspect", word)).toBe(
        `boxwright: ${word}: got no such file, expected a file that can be read, or a shape, NAME:1x84x8400\n`,
      );
    const list = join(folder, "list.json");
    await writeFile(list, JSON.stringify([{ file: "absent.bin", dtype: "f32", shape: [1] }]));
    expect(await refused("inspect", list)).not.toContain("or a shape");
  });

  test("files that are not there, or cut", async () => {
    expect(await refused("decode", fixture("mobilenet-ssd/config.json"), "absent.npy")).toBe(
      "boxwright: absent.npy: got no such file, expected a file that can be read\n",
    );
    const cut = join(folder, "cut.npy");
    await writeFile(cut, (await readFile(fixture("files/c.npy"))).subarray(0, 200));
    expect(await refused("decode", fixture("mobilenet-ssd/config.json"), cut)).toMatch(
      /got 72 bytes of data, expected 96/,
    );
  });
});

test("integers of NumPy files, whose scale the command line says", async () => {
  const put = async (
    name: string,
    type: string,
    shape: string,
    data: Uint8Array<ArrayBuffer>,
  ): Promise<string> => {
    const path = join(folder, `${name}.npy`);
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
  expect(json(out).detections).toEqual([
    { class_id: 1, label: "1", confidence: 0.75, x_min: 0.375, y_min: 0.1875, x_max: 0.625, y_max: 0.3125 },
  ]);
  const looked = await boxwright("inspect", ...network, ...of, "--quantised=quantised-scores=4e-3,1");
  expect(looked.out).toContain("tensor quantised-scores: [1,2,84] u8, real = (raw - 1) * 0.004");
  for (const [word, said] of [
    [
      "0.5",
      "expected the name of a tensor of integers whose scale is not known yet: one of quantised-boxes, quantised-scores",
    ],
    ["b=0.5", "one of quantised-boxes, quantised-scores"],
    ["quantised-boxes=0", "expected [NAME=]SCALE[,ZERO] with a positive scale, for instance boxes=0.07,128"],
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
  expect((await boxwright("decode", ...argv)).err).toContain("not known yet: the files have none");
});

test("words become options: lists, roles, priors; a file's text stays a file's text", async () => {
  const priors = join(folder, "priors.safetensors");
  await writeFile(
    priors,
    writeSafetensors([{ name: "p", type: "f32", dims: [1, 4], data: Float32Array.of(1, 2, 3, 4) }]),
  );
  const values = {
    family: "ssd",
    classes: "3",
    role: ["boxes=a", "boxes=b", "scores=c"],
    priors,
    "scale-xy": "1.05,1.1",
    strides: "8, 16",
    background: "none",
    keep: "cat,2",
    labels: "cat,dog,",
    anchors: "1,2",
    masks: "[[0]]",
  };
  const { config, options } = await setupOf(values, undefined);
  expect(config).toEqual({
    family: "ssd",
    classes: 3,
    strides: [8, 16],
    anchors: [1, 2],
    anchorMasks: [[0]],
  });
  expect(options).toEqual({
    family: "ssd",
    classes: 3,
    roles: { boxes: ["a", "b"], scores: "c" },
    priors: Float32Array.of(1, 2, 3, 4),
    scaleXY: [1.05, 1.1],
    strides: [8, 16],
    background: false,
    keep: ["cat", 2],
    labels: ["cat", "dog"],
  });
  // a class without a name keeps its number
  expect((await setupOf({ labels: "cat,,dog" }, "{}")).options.labels).toEqual(["cat", "", "dog"]);
  expect(await setupOf({ "scale-xy": "1.2" }, "{}")).toEqual({ config: "{}", options: { scaleXY: 1.2 } });
  expect(await setupOf({ "input-size": "64x32" }, undefined)).toEqual({
    config: undefined,
    options: { inputSize: [64, 32] },
  });
});

test("table: numbers to the right, words to the left, wide characters counted", () => {
  expect(
    table(
      ["word", "n"],
      [
        ["a", "1.5"],
        ["猫", "-10"],
      ],
    ),
  ).toBe("word    n\na     1.5\n猫    -10\n");
  // nothing that a terminal obeys
  expect(table(["word"], [["\u001b[2Ja\nb\tc\u009b\u202ed"]])).toBe("word\n�[2Ja�b�c��d\n");
});

test("the built command runs in a process of its own", async () => {
  const { execFileSync } = await import("node:child_process");
  const cli = fileURLToPath(new URL("../../dist/cli.mjs", import.meta.url));
  expect(execFileSync(process.execPath, [cli, "--help"], { encoding: "utf8" })).toBe(HELP[""]);
  const out = execFileSync(process.execPath, [cli, "decode", ...ssd("coffee"), "--json"], {
    encoding: "utf8",
  });
  expectSame(json(out).detections, expected("mobilenet-ssd", "coffee"));
});

test.skipIf(!existsSync("/dev/full"))(
  "a full disk behind standard output is said, with no stack",
  async () => {
    const { spawnSync } = await import("node:child_process");
    const cli = fileURLToPath(new URL("../../dist/cli.mjs", import.meta.url));
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [cli, "decode", ...ssd("coffee")], {
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "boxwright: standard output: got ENOSPC, expected it to take everything\n",
    });
  },
);
