/** `boxwright inspect MODEL --try PHOTO`: every reading and preparation in one page. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { PNG } from "pngjs";
import { beforeAll, describe, expect, test } from "vitest";
import { preparationsOf } from "../../../src/node/preparations.ts";
import { trialLines } from "../../../src/node/cli/try.ts";
import { type Trial, foundText, ranked } from "../../../src/node/try-page.ts";
import { boxwright } from "../../support/cli.ts";
import { type Row, echoTflite, pictureOf } from "../../support/echo-network.ts";
import { fixture, tempFolder } from "../../support/files.ts";

const folder = tempFolder();
// Beside the photo: the path of a clone may have spaces, and lines to copy quote those.
const model = folder.path("network.onnx");
const dog: Row = [51, 102, 153, 204, 230, 255];
const photo = folder.path("photo.png");
const page = folder.path("page.html");

beforeAll(() => {
  copyFileSync(fixture("detect/network.onnx"), model);
  const { data, width, height } = pictureOf([dog]);
  const png = new PNG({ width, height });
  png.data = Buffer.from(data.map((value, i) => (i % 4 === 3 ? 255 : value)));
  writeFileSync(photo, PNG.sync.write(png));
  writeFileSync(folder.path("network.tflite"), echoTflite());
});

test("the stated preparation stands first, and finds what the network gives", async () => {
  const { code, out, err } = await boxwright("inspect", model, "--try", photo, "--out", page);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain(
    "\ntried, the likeliest first:\n- 1 found, best dog 90 %: prepared as its file and family say\n",
  );
  expect(out.endsWith(`pictures and lines to copy: ${page}\n`)).toBe(true);
  const html = readFileSync(page, "utf8");
  // The photo is there once, and nothing is loaded from elsewhere.
  expect(html.split("data:image/png;base64,")).toHaveLength(2);
  expect(html.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/(src|href)="(?!#|data:)/);
  expect(html).toContain(`<pre>npx boxwright run ${model} ${photo} --draw boxes</pre>`);
  expect(html).toContain(`<pre>npx boxwright run ${model} ${photo} --order BGR --draw boxes</pre>`);
  expect(html).toContain("createDetector({ model, runtime }, { prepare: { order: &#34;BGR&#34; } })");
});

test("with --json each trial has its detections, and a line that is followed finds the same", async () => {
  const { out } = await boxwright("inspect", model, "--try", photo, "--out", page, "--json");
  const { kind, trials } = JSON.parse(out) as { kind: string; trials: Trial[] };
  expect(kind).toBe("model");
  expect(trials[0].found).toHaveLength(1);
  expect(trials[0].found?.[0]).toMatchObject({ label: "dog", class_id: 1 });
  for (const { lines, found } of trials.slice(0, 3)) {
    const words = lines[0]
      .replace(/^npx boxwright /, "")
      .replace(" --draw boxes", "")
      .split(" ");
    const { out: table, code } = await boxwright(...words, "--format", "json");
    expect(code).toBe(0);
    const result = JSON.parse(table) as { detections: object[] } | { detections: object[] }[];
    const { detections } = [result].flat()[0];
    expect(detections).toHaveLength(found?.length ?? -1);
  }
});

test("a path with spaces is quoted in the line to copy", async () => {
  const spaced = folder.path("my photo.png");
  copyFileSync(photo, spaced);
  const { code } = await boxwright("inspect", model, "--try", spaced, "--out", page);
  expect(code).toBe(0);
  expect(readFileSync(page, "utf8")).toMatch(
    /<pre>npx boxwright run \S+ (&#39;|')[^']*my photo\.png(&#39;|') --draw boxes<\/pre>/,
  );
});

test.each([
  [["inspect", "output0:1x84x8400", "--try", "photo.png"], "--try runs a network, and none is given."],
  [["inspect", model, "--out", "page.html"], "--out names the page of --try."],
  [
    ["inspect", folder.path("network.tflite"), "--family", "yolov8", "--try", photo],
    "Run npm install @tensorflow/tfjs-tflite",
  ],
])("%j is refused", async (words, message) => {
  const { code, err } = await boxwright(...words);
  expect(code).not.toBe(0);
  expect(err).toContain(message);
});

describe("preparations", () => {
  test("are the rule and each other order, scale and fit", () => {
    expect(preparationsOf({}).map(({ about }) => about)).toEqual([
      "prepared as its file and family say",
      "channels in the order BGR",
      "values 0..255",
      "mean and deviation of ImageNet",
      "resize: stretch",
    ]);
    const of = { order: "BGR", resize: "stretch", mean: 0, std: 1 } as const;
    expect(preparationsOf(of).map(({ rule }) => rule)).toEqual([
      {},
      { order: "RGB" },
      { mean: 0, std: 255 },
      { mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375] },
      { resize: "letterbox" },
    ]);
  });
  test("leave the scale of bytes alone", () => {
    expect(preparationsOf({ type: "u8", scale: 0.0078, zeroPoint: 128 })).toHaveLength(3);
  });
});

describe("the order of trials", () => {
  const trial = (preparation: string, more: Partial<Trial>): Trial => ({
    reading: "r",
    preparation,
    isStated: false,
    lines: [],
    found: [],
    notes: [],
    ...more,
  });
  const box = (confidence: number) => ({
    class_id: 0,
    label: "0",
    confidence,
    x_min: 0,
    y_min: 0,
    x_max: 1,
    y_max: 1,
  });
  test("the terminal says why a trial was refused, and each note once", () => {
    const trials = [
      trial("a", { found: [box(0.9)], notes: ["odd"] }),
      trial("b", { notes: ["odd"] }),
      trial("c", { found: null, notes: ["got\n  2"] }),
    ];
    expect(trialLines(trials, {}, "net.onnx").slice(1, -1)).toEqual([
      "- 1 found, best class 0 90 %: a",
      "- nothing found: b",
      "- refused: c: got 2",
      "note: odd",
    ]);
  });

  test("fewest notes, then the stated preparation, then the surest; refusals last", () => {
    const trials = [
      trial("refused", { found: null, notes: ["no"] }),
      trial("noted", { found: [box(0.99)], notes: ["odd"] }),
      trial("empty and stated", { isStated: true }),
      trial("weak", { found: [box(0.3)] }),
      trial("sure", { found: [box(0.9)] }),
      trial("stated", { isStated: true, found: [box(0.5)] }),
    ];
    expect(ranked(trials).map(({ preparation }) => preparation)).toEqual([
      "stated",
      "sure",
      "weak",
      "empty and stated",
      "noted",
      "refused",
    ]);
    expect(ranked(trials).map(foundText).slice(1, 4)).toEqual([
      "1 found, best class 0 90 %",
      "1 found, best class 0 30 %",
      "nothing found",
    ]);
  });
});
