/** `npm run demo`: what it prints and draws is what the fixtures say, and a recording that differs is told. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { imageInfo } from "../../src/picture/image-info.ts";
import { type Row, fixtures, readJson } from "../support/shared-data.ts";
import { runEngines } from "../../scripts/demo/engines.mjs";
import { isGood, verdict } from "../../scripts/demo/table.mjs";
import { isThorough } from "../support/effort.ts";
import { tempFolder } from "../support/files.ts";

const script = fileURLToPath(new URL("../../scripts/demo.mjs", import.meta.url));
const folder = tempFolder();

interface Ended {
  readonly code: number;
  /** Lines of each picture by its title. */
  readonly shots: Readonly<Record<string, readonly string[]>>;
  readonly out: string;
}

/** Runs the demo, with as few rounds as can be. */
function runDemo(out: string, data: string): Promise<Ended> {
  const words = [script, "--rounds", "2", "--out", out, "--fixtures", data];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, words, { maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code !== "number" || stderr !== "") reject(error ?? new Error(stderr));
      else resolve({ code, out: stdout, shots: shotsOf(stdout) });
    });
  });
}

function shotsOf(out: string): Record<string, readonly string[]> {
  const blocks = out.split("\n\n").map((block) => block.split("\n"));
  return Object.fromEntries(blocks.map(([title, ...lines]) => [title, lines]));
}

/** Returns the cells of the table of a picture, without its head. Labels may hold one blank. */
const rowsOf = (lines: readonly string[]): string[][] =>
  lines
    .slice(
      1,
      lines.findIndex((line) => line.startsWith("  time:")),
    )
    .map((line) => line.trim().split(/ {2,}/));

const YUNET = ["beyond", "recorded", "yunet_2026may_320", "astronaut_collage", "outside.json"];
const MOVENET = ["beyond", "recorded", "movenet_lightning_192", "squat", "expected.json"];
const SELFIE = ["beyond", "recorded", "selfie_segmentation", "astronaut", "expected.json"];
const SEG = ["beyond", "heads", "seg_v8", "fixture.json"];
const OBB = ["beyond", "heads", "obb_v8", "fixture.json"];
const PREPARED = ["prepare", "chelsea.json"];

const ORIENTED_TITLE = "A YOLOv8 head of oriented boxes, seeded, on a plain ground";
const PERSON_TITLE = "MobileNet-SSD and MediaPipe's selfie segmentation on astronaut.jpg";
const LETTERBOX_TITLE = "chelsea.png as a network sees it: letterbox of Ultralytics, 0..1";
const FACES_TITLE = "YuNet on astronaut_collage.jpg";

describe("on the fixtures", () => {
  let ended: Ended;
  beforeAll(async () => {
    ended = await runDemo(folder.path("out"), fixtures);
  });

  /** Expects numbers as they are printed, with one decimal, of doubles within 1e-4 of the picture. */
  const expectNear = (printed: readonly string[], wanted: readonly number[]): void => {
    expect(printed).toHaveLength(wanted.length);
    wanted.forEach((v, i) =>
      expect(Math.abs(Number(printed[i]) - v), `${printed[i]} for ${v}`).toBeLessThan(0.15),
    );
  };

  test("ends well, and says of all pictures that they are as recorded", () => {
    expect(ended.code).toBe(0);
    expect(ended.out).toContain("15 of 15 pictures are as recorded, by all engines.");
    const verdicts = ended.out
      .split("\n")
      .filter((line) => line.includes("engines agree to the last digit; as recorded: "));
    expect(verdicts).toHaveLength(15);
    for (const title of ["From a photo", "Boxes", "Keypoints", "Masks", "Oriented boxes", "Preparation"])
      expect(ended.out).toContain(`== ${title} ==`);
  });

  test("runs a network on photos, and finds what OpenCV's runtime finds", () => {
    for (const [photo, labels, size] of [
      ["dogs", ["dog", "dog"], [512, 430]],
      ["hopper", ["person", "tie"], [512, 600]],
    ] as const) {
      const { detections } = readJson(fixtures, "models", `yolox_nano.${photo}.json`) as {
        detections: Row[];
      };
      const rows = rowsOf(ended.shots[`YOLOX nano runs on ${photo}.jpg`]);
      expect(rows.map(([label]) => label)).toEqual(labels);
      rows.forEach(([, confidence, ...corners], i) => {
        const { x_min, y_min, x_max, y_max, ...d } = detections[i];
        expect(Math.abs(Number(confidence) - d.confidence)).toBeLessThan(0.01);
        [x_min, y_min, x_max, y_max].forEach((v, k) =>
          expect(Math.abs(Number(corners[k]) / size[k % 2] - Math.min(Math.max(v, 0), 1))).toBeLessThan(0.01),
        );
      });
    }
  });

  test("prints the boxes of a recorded network", () => {
    const { detections } = readJson(fixtures, "yolo-fastest-1.1", "coffee", "expected.json") as {
      detections: Row[];
    };
    const rows = rowsOf(ended.shots["Yolo-Fastest 1.1 on coffee.jpg"]);
    expect(rows.map(([label]) => label)).toEqual(["cup", "dining table"]);
    rows.forEach(([, confidence, ...corners], i) => {
      const { x_min, y_min, x_max, y_max, ...d } = detections[i];
      expect(confidence).toBe(d.confidence.toFixed(4));
      const [left, top, right, bottom] = [x_min, y_min, x_max, y_max].map((v) => Math.min(Math.max(v, 0), 1));
      expectNear(corners, [left * 600, top * 400, right * 600, bottom * 400]);
    });
  });

  test("prints OpenCV's faces in pixels of the photo, with five points each", () => {
    const { answers } = readJson(fixtures, ...YUNET) as { answers: Record<string, Row[]> };
    const faces = answers["score>=0.6 nms 0.3"];
    const rows = rowsOf(ended.shots[FACES_TITLE]);
    expect(rows).toHaveLength(5);
    rows.forEach(([label, confidence, ...rest], i) => {
      const { x_min, y_min, x_max, y_max } = faces[i];
      expect([label, confidence, rest[4]]).toEqual(["face", faces[i].confidence.toFixed(4), "5"]);
      // The photo of 900 x 600 fills 320 x 213 of the input.
      const down = (320 / 213) * 600;
      expectNear(rest.slice(0, 4), [x_min * 900, y_min * down, x_max * 900, y_max * down]);
    });
  });

  test("prints the pose with its 17 points", () => {
    const { keypoints } = readJson(fixtures, ...MOVENET) as { keypoints: number[][] };
    const [[label, confidence, left, top, right, bottom, count], ...others] = rowsOf(
      ended.shots["MoveNet Lightning on squat.jpg"],
    );
    expect(others).toEqual([]);
    const [xs, ys, scores] = [0, 1, 2].map((k) => keypoints.map((point) => point[k]));
    expect([label, count]).toEqual(["person", "17"]);
    expect(Number(confidence)).toBeCloseTo(scores.reduce((sum, v) => sum + v) / 17, 4);
    const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    // The photo of 500 x 610 fills 157 x 192 of the input, from column 17.
    const photo = box.map((v, k) => (k % 2 === 0 ? ((v * 192 - 17) / 157) * 500 : v * 610));
    expectNear([left, top, right, bottom], photo);
  });

  test("prints as many mask pixels as OpenCV and the formulas count", () => {
    const { area } = readJson(fixtures, ...SELFIE) as { area: number };
    expect(rowsOf(ended.shots[PERSON_TITLE]).map((row) => row[6])).toEqual([String(area)]);
    const { detections } = readJson(fixtures, ...SEG) as {
      detections: { masks: { input: { area: number } } }[];
    };
    const seeded = rowsOf(ended.shots["A YOLOv8 head of masks, seeded, on a plain ground"]);
    expect(seeded.map((row) => row[6])).toEqual(
      detections.slice(0, 5).map(({ masks }) => String(masks.input.area)),
    );
  });

  test("prints centre, sides and angle of oriented boxes", () => {
    const { detections } = readJson(fixtures, ...OBB) as { detections: Record<string, number>[] };
    const rows = rowsOf(ended.shots[ORIENTED_TITLE]);
    expect(rows).toHaveLength(6);
    for (const [label, confidence, cx, cy, width, height, angle] of rows) {
      const e = detections.find((d) => d.confidence.toFixed(4) === confidence);
      expect(label).toBe(`class ${e?.class_id}`);
      expectNear([cx, cy, width, height], [e?.cx, e?.cy, e?.w, e?.h].map(Number));
      expect(angle).toBe(`${(((e?.angle ?? NaN) * 180) / Math.PI).toFixed(1)}°`);
    }
  });

  test("prints the digests of OpenCV's input tensors", () => {
    const { tensors } = readJson(fixtures, ...PREPARED) as { tensors: Record<string, { sha256: string }> };
    const digest = (title: string): string => rowsOf(ended.shots[title])[0][3];
    expect(digest(LETTERBOX_TITLE)).toBe(tensors.letterbox.sha256.slice(0, 16));
    const stretch = "chelsea.png as a network sees it: stretch of the Object Detection API, -1..1";
    expect(digest(stretch)).toBe(tensors.stretch.sha256.slice(0, 16));
  });

  test("draws dots, lines, masks and turned boxes, as SVG and PNG, and a page with a section for each task", () => {
    const svgOf = (name: string): string => readFileSync(folder.path(`out/${name}.svg`), "utf8");
    const count = (text: string, part: string): number => text.split(part).length - 1;
    expect(count(svgOf("yunet_2026may_320.astronaut_collage"), "<circle ")).toBe(25);
    const pose = svgOf("movenet_lightning_192.squat");
    const { keypoints } = readJson(fixtures, ...MOVENET) as { keypoints: number[][] };
    expect(count(pose, "<circle ")).toBe(keypoints.filter(([, , score]) => score >= 0.25).length);
    expect(pose).toMatch(/<path d="M[^"]+" fill="none" stroke-linecap="round" stroke="#/);
    expect(count(svgOf("selfie-segmentation.astronaut"), 'fill-rule="evenodd"')).toBe(1);
    expect(count(svgOf("seeded-masks"), 'fill-rule="evenodd"')).toBe(5);
    expect(count(svgOf("seeded-oriented"), "<polygon ")).toBe(12);
    const sizes = {
      "prepared.letterbox": [320, 320],
      "seeded-oriented": [768, 512],
      "yolo-fastest-1.1.coffee": [600, 400],
    };
    for (const [name, [width, height]] of Object.entries(sizes))
      expect(imageInfo(readFileSync(folder.path(`out/${name}.png`)))).toMatchObject({ width, height });
    const page = readFileSync(folder.path("out/index.html"), "utf8");
    expect([count(page, "<section "), count(page, "<figure>")]).toEqual([6, 15]);
    for (const [, link] of page.matchAll(/href="([^"#:]+)"/g))
      expect(existsSync(folder.path(`out/${link}`)), link).toBe(true);
  });
});

test.skipIf(!isThorough)(
  "answers that differ from the recorded ones are told, and the exit code is 1",
  async () => {
    const data = folder.path("fixtures");
    cpSync(fixtures, data, { recursive: true });
    type Changed = Record<string, unknown> & { answers: Record<string, { keypoints: number[][] }[]> };
    const change = (path: readonly string[], edit: (value: Changed) => void, packed = true): void => {
      const value = readJson(fixtures, ...path) as Changed;
      edit(value);
      const text = JSON.stringify(value);
      writeFileSync(join(data, ...path) + (packed ? ".gz" : ""), packed ? gzipSync(text) : text);
    };
    change(YUNET, ({ answers }) => (answers["score>=0.6 nms 0.3"][2].keypoints[4][1] += 2e-4));
    change(SELFIE, ({ rle }) => ((rle as number[])[0]--, (rle as number[])[1]++));
    change(OBB, ({ detections }) => ((detections as { angle: number }[])[7].angle += 1e-4));
    change(
      PREPARED,
      ({ tensors }) => ((tensors as Record<string, { sha256: string }>).letterbox.sha256 = "0"),
      false,
    );
    const { code, shots, out } = await runDemo(folder.path("changed"), data);
    expect(code).toBe(1);
    expect(out).toContain("11 of 15 pictures are as recorded, by all engines.");
    const wrong = Object.keys(shots).filter((title) => shots[title].join().includes("OTHER THAN RECORDED"));
    expect(wrong).toEqual([FACES_TITLE, PERSON_TITLE, ORIENTED_TITLE, LETTERBOX_TITLE]);
    expect(shots[FACES_TITLE].join()).toMatch(/row 2: y of point 4 is 0\.\d+, recorded is 0\.\d+/);
    expect(shots[PERSON_TITLE].join()).toContain("row 0: pixels of the mask that differ: 1");
    expect(shots[ORIENTED_TITLE].join()).toMatch(/row 7: angle is 1\.\d+|row 7: angle is 0\.\d+/);
  },
);

test("engines that disagree in the last digit are told", async () => {
  const open = (engine: string) => ({
    engine,
    run: () => undefined,
    answer: () => (engine === "ts" ? 0.1 + 0.2 : 0.3),
  });
  const shot = { ...(await runEngines(2, open)), by: "nobody", problems: [] };
  expect(isGood(shot)).toBe(false);
  expect(verdict(shot)).toBe("THE ENGINES DISAGREE; as recorded: nobody");
});
