import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { PNG } from "pngjs";
import { beforeAll, expect, test } from "vitest";
import { labelsOf } from "../../../src/core/labels.ts";
import { matcherOf } from "../../../src/node/cli/image-files.ts";
import { formatter } from "../../../src/node/cli/results.ts";
import { run } from "../../../src/node/cli/run.ts";
import { imageInfo } from "../../../src/picture/image-info.ts";
import { boxwright, refused } from "../../support/cli.ts";
import { type Row, HEIGHT, WIDTH, expectedOf, pictureOf } from "../../support/echo-network.ts";
import { fixture, tempFolder } from "../../support/files.ts";
import { png } from "../../support/pictures.ts";
import { describeShared } from "../../support/shared-data.ts";

const folder = tempFolder();
const model = fixture("detect/network.onnx");
const dog: Row = [51, 102, 153, 204, 230, 255];
const cat: Row = [10, 20, 30, 40, 128, 0];

function pngOf(...rows: Row[]): Buffer {
  const { data, width, height } = pictureOf(rows);
  const png = new PNG({ width, height });
  png.data = Buffer.from(data.map((value, i) => (i % 4 === 3 ? 255 : value)));
  return PNG.sync.write(png);
}

const photos = folder.path("photos");
beforeAll(() => {
  mkdirSync(`${photos}/more`, { recursive: true });
  writeFileSync(`${photos}/a.png`, pngOf(dog));
  writeFileSync(`${photos}/notes.txt`, "no photo");
  writeFileSync(`${photos}/more/000000000139.png`, pngOf(dog, cat));
  writeFileSync(`${photos}/more/c.PNG`, pngOf());
});

/** Detections with their numbers to six decimals, and the name of their image. */
const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, v: unknown) => (typeof v === "number" ? +v.toFixed(6) : v)));
const resultOf = (image: string, ...rows: Row[]): unknown =>
  rounded({ image, width: WIDTH, height: HEIGHT, output_format: "detection", detections: expectedOf(rows) });
const all = (): unknown[] => [
  resultOf(`${photos}/a.png`, dog),
  resultOf(`${photos}/more/000000000139.png`, dog, cat),
  resultOf(`${photos}/more/c.PNG`),
];
const linesOf = (text: string): unknown[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => rounded(JSON.parse(line)));

test("prints a table for each photo", async () => {
  const { code, out, err } = await boxwright("run", model, `${photos}/a.png`, `${photos}/more/c.PNG`);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toBe(`${photos}/a.png (32 x 24): 1 detection
label  class  confidence   x_min   y_min   x_max   y_max  pixels (x, y, width, height)
dog        1      0.9020  0.2000  0.4000  0.6000  0.8000  6, 10, 13, 10

${photos}/more/c.PNG (32 x 24): 0 detections

`);
});

test("takes a folder with the folders in it, patterns, and each photo once", async () => {
  const ndjson = async (...words: string[]) =>
    linesOf((await boxwright("run", model, ...words, "--format", "ndjson")).out);
  expect(await ndjson(photos)).toEqual(all());
  expect(await ndjson(`${photos}/**/*.png`)).toEqual(all().slice(0, 2));
  expect(await ndjson(`${photos}/*/[!0-9]*`)).toEqual(all().slice(2));
  expect(await ndjson(`${photos}/{a,b}.png`, photos)).toEqual(all());
});

test("reads a photo, or a list of paths, from standard input", async () => {
  const piped = async (bytes: Uint8Array) => {
    let out = "";
    const io = { out: (t: string | Uint8Array) => void (out += String(t)), err: () => undefined };
    const code = await run(["run", model, "-", "--format", "ndjson"], { ...io, stdin: async () => bytes });
    return { code, out };
  };
  expect(linesOf((await piped(pngOf(cat))).out)).toEqual([resultOf("-", cat)]);
  const list = new TextEncoder().encode(`${photos}/a.png\r\n${photos}/more\n`);
  expect(linesOf((await piped(list)).out)).toEqual(all());
  expect((await piped(new Uint8Array())).code).toBe(2);
});

test("writes JSON, COCO results and CSV", async () => {
  const print = async (format: string, ...words: string[]) =>
    (await boxwright("run", model, photos, "--format", format, ...words)).out;
  expect(rounded(JSON.parse(await print("json")))).toEqual(all());
  const name = { image_id: "a", category_id: 1, bbox: [6.4, 9.6, 12.8, 9.6] };
  const [first, second, third] = JSON.parse(await print("coco")) as Record<string, unknown>[];
  expect(first).toMatchObject(name);
  expect(second).toMatchObject({ ...name, image_id: 139 });
  expect(third).toMatchObject({ image_id: 139, category_id: 0 });
  expect(first["score"]).toBeCloseTo(230 / 255, 6);
  // COCO's own ids: 2 is a bicycle, 1 a person
  const named = JSON.parse(await print("coco", "--labels", "coco80", "--classes", "80")) as (typeof first)[];
  expect(named.map((d) => d["category_id"])).toEqual([2, 2, 1]);
  const csv = (await print("csv", "--labels", await folder.put("names.txt", 'c\na "b", d'))).split("\n");
  expect(csv[0]).toBe("image,width,height,class_id,label,confidence,x_min,y_min,x_max,y_max");
  expect(csv[1]).toMatch(new RegExp(`^${photos}/a.png,32,24,1,"a ""b"", d",0.90196`));
  expect(csv).toHaveLength(5);
  expect(JSON.parse(await print("json", "--keep", "cat", "--confidence", "0.9"))).toHaveLength(3);
});

test("draws on each photo, in its own format", async () => {
  const drawn = folder.path("drawn");
  const photo = fixture("photos/coffee.jpg");
  const { code, err } = await boxwright("run", model, photos, photo, "--draw", drawn, "--format", "ndjson");
  expect(code).toBe(0);
  // The network copies its input: pixels of a photo are no corners.
  expect(err.trim().split("\n")).toEqual([expect.stringMatching(/^boxwright: note: .*are the rows corners/)]);
  expect(readdirSync(drawn).sort()).toEqual(["a.png", "coffee.jpg", "more"]);
  expect(readdirSync(`${drawn}/more`)).toHaveLength(2);
  expect(imageInfo(readFileSync(`${drawn}/coffee.jpg`))).toMatchObject({
    mime: "image/jpeg",
    width: 600,
    height: 400,
  });
  expect(PNG.sync.read(readFileSync(`${drawn}/a.png`)).data).not.toEqual(PNG.sync.read(pngOf(dog)).data);
  expect((await boxwright("run", model, photos, "--draw", photos)).err).toContain("--draw: got");
  const twice = await boxwright("run", model, `${photos}/a.png`, `${photos}/more/../a.png`, "--draw", drawn);
  expect(twice).toMatchObject({ code: 2 });
  expect(twice.err).toContain("would both be drawn to");
});

test("goes on behind a photo that fails, says which, and ends with exit code 1", async () => {
  const broken = folder.path("broken");
  mkdirSync(broken);
  writeFileSync(`${broken}/a.png`, pngOf(dog));
  writeFileSync(`${broken}/b.png`, pngOf(dog).subarray(0, 80));
  writeFileSync(`${broken}/c.png`, pngOf(cat));
  const { code, out, err } = await boxwright(
    "run",
    model,
    broken,
    `${broken}/none.png`,
    "--format",
    "ndjson",
  );
  expect(code).toBe(1);
  expect(linesOf(out)).toEqual([resultOf(`${broken}/a.png`, dog), resultOf(`${broken}/c.png`, cat)]);
  expect(err).toContain(`boxwright: ${broken}/b.png: got a PNG that cannot be read`);
  expect(err).toContain(`${broken}/none.png cannot be read: there is no such file or folder.`);
  expect(err).toMatch(/2 of 4 images failed\.\n$/);
});

test("goes on with a run that was stopped, and runs again only what failed", async () => {
  const list = folder.path("resume");
  mkdirSync(list);
  writeFileSync(`${list}/a.png`, pngOf(dog));
  writeFileSync(`${list}/b.png`, "no picture");
  const out = folder.path("found.json");
  const words = ["run", model, list, "--format", "json", "--out", out];
  expect(await boxwright(...words)).toMatchObject({ code: 1, out: "" });
  expect(rounded(JSON.parse(readFileSync(out, "utf8")))).toEqual([resultOf(`${list}/a.png`, dog)]);
  writeFileSync(`${list}/b.png`, pngOf(cat));
  // a line that the end of the process cut
  writeFileSync(`${out}.partial`, `${readFileSync(`${out}.partial`, "utf8")}{"image":"${list}/b.png","det`);
  // an image that is done is not read again: the same size and time, other bytes
  const { size, mtime } = statSync(`${list}/a.png`);
  writeFileSync(`${list}/a.png`, "no picture".padEnd(size));
  utimesSync(`${list}/a.png`, mtime, mtime);
  const again = await boxwright(...words, "--resume");
  expect(again).toMatchObject({ code: 0, err: "boxwright: 1 of 2 images are done already\n" });
  expect(rounded(JSON.parse(readFileSync(out, "utf8")))).toEqual([
    resultOf(`${list}/a.png`, dog),
    resultOf(`${list}/b.png`, cat),
  ]);
  expect(existsSync(`${out}.partial`)).toBe(false);
  writeFileSync(`${out}.partial`, "[]\n");
  expect(await refused(...words, "--resume")).toContain("got a line that is no result");
});

test("a photo that was replaced is run again, with a size or a time of its own; one that is gone is not", async () => {
  const list = folder.path("replaced");
  mkdirSync(list);
  const paths = ["a", "b", "c", "gone"].map((name) => `${list}/${name}.png`);
  const time = new Date(2026, 0, 1);
  for (const path of paths) {
    writeFileSync(path, pngOf(dog));
    utimesSync(path, time, time);
  }
  writeFileSync(`${list}/z.png`, "no picture");
  const out = folder.path("replaced.json");
  const words = ["run", model, ...paths, `${list}/z.png`, "--format", "json", "--out", out];
  expect((await boxwright(...words)).code).toBe(1);
  writeFileSync(paths[0], pngOf(cat));
  writeFileSync(paths[1], pngOf(cat, dog));
  expect(pngOf(cat, dog).length).not.toBe(pngOf(dog).length);
  utimesSync(paths[1], time, time);
  rmSync(paths[3]);
  writeFileSync(`${list}/z.png`, pngOf(dog));
  const { code, err } = await boxwright(...words, "--resume");
  expect(code).toBe(0);
  expect(err).toBe(
    "boxwright: 2 of 5 images were replaced and are run again\nboxwright: 2 of 5 images are done already\n",
  );
  const found = rounded(JSON.parse(readFileSync(out, "utf8"))) as { image: string }[];
  const rows = [[cat], [dog, cat], [dog], [dog]];
  expect(found.sort((x, y) => (x.image < y.image ? -1 : 1))).toEqual([
    ...paths.map((path, i) => resultOf(path, ...rows[i])),
    resultOf(`${list}/z.png`, dog),
  ]);
});

test("a run with other settings does not go on with the results of the first", async () => {
  const list = folder.path("settings");
  mkdirSync(list);
  writeFileSync(`${list}/a.png`, pngOf(dog));
  writeFileSync(`${list}/b.png`, "no picture");
  const out = folder.path("settings.json");
  const words = ["run", model, list, "--out", out, "--resume"];
  const stop = () => boxwright(...words, "--format", "ndjson");
  expect(await stop()).toMatchObject({ code: 1 });
  const partial = readFileSync(`${out}.partial`, "utf8");
  for (const [other, name] of [
    [["--confidence", "0.9"], "config or threshold"],
    [["--keep", "cat"], "config or threshold"],
    [["--std", "250"], "config or threshold, preparation of photos"],
    [["--draw", folder.path("settings-drawn")], "--draw"],
    [["--masks", "rle"], "--masks"],
  ] as const) {
    const said = await refused(...words, ...other);
    expect(said).toContain(
      `${out}.partial: got results of a run with another ${name}, expected those of the same settings. Remove the file to start over.`,
    );
    expect(readFileSync(`${out}.partial`, "utf8")).toBe(partial);
  }
  const copy = await folder.put(
    "other.onnx",
    Buffer.concat([readFileSync(model), Buffer.from([0x92, 0x03, 0])]),
  );
  expect(await refused("run", copy, ...words.slice(2))).toContain("another network file");
  // Without --resume nothing is overwritten; without the file the run starts over. The format decides no result.
  expect(await refused(...words.slice(0, -1), "--confidence", "0.95")).toContain(
    `${out}.partial: got 1 result of a run that was stopped or failed in part. Add --resume to go on with it, or remove the file`,
  );
  rmSync(`${out}.partial`);
  expect((await boxwright(...words.slice(0, -1), "--confidence", "0.95")).code).toBe(1);
  expect(await refused(...words)).toContain("another config or threshold");
  writeFileSync(`${out}.partial`, partial);
  writeFileSync(`${list}/b.png`, pngOf(cat));
  expect((await boxwright(...words, "--format", "json")).err).toContain("1 of 2 images are done");
  expect(JSON.parse(readFileSync(out, "utf8"))).toHaveLength(2);
  // results of a build that recorded no settings
  writeFileSync(`${out}.partial`, partial.split("\n").slice(1).join("\n"));
  expect(await refused(...words)).toContain("the settings of the run in the first line");
});

test("lines that a kill or a full disk cut are run again, wherever they stand", async () => {
  const list = folder.path("cut");
  mkdirSync(list);
  for (const name of ["a", "b", "c"]) writeFileSync(`${list}/${name}.png`, pngOf(dog));
  writeFileSync(`${list}/d.png`, "no picture");
  const out = folder.path("cut.json");
  const words = ["run", model, list, "--format", "json", "--out", out];
  expect(await boxwright(...words)).toMatchObject({ code: 1 });
  const [settings, a, b, c] = readFileSync(`${out}.partial`, "utf8").split("\n");
  writeFileSync(`${list}/d.png`, pngOf(dog));
  const done = async (text: string) => {
    writeFileSync(`${out}.partial`, text);
    const { code, err } = await boxwright(...words, "--resume");
    expect(code).toBe(0);
    expect(
      (JSON.parse(readFileSync(out, "utf8")) as { image: string }[]).map(({ image }) => image).sort(),
    ).toEqual(["a", "b", "c", "d"].map((name) => `${list}/${name}.png`));
    return /(\d) of 4 images are done/.exec(err)?.[1] ?? "0";
  };
  // whole but for its line end; glued to the next one; filled with zeros; not even the settings
  expect(await done([settings, a, b, c].join("\n"))).toBe("2");
  expect(await done([settings, a.slice(0, 40) + b, c, ""].join("\n"))).toBe("1");
  expect(await done([settings, a, "\0".repeat(50), c, ""].join("\n"))).toBe("2");
  expect(await done(settings.slice(0, 40))).toBe("0");
});

test("ids of COCO results are those of one image each", async () => {
  const list = folder.path("ids");
  for (const name of [
    "x/1.png",
    "y/1.png",
    "y/01.png",
    "2.png",
    "z/9007199254740993.png",
    "z/9007199254740992.png",
  ]) {
    mkdirSync(dirname(`${list}/${name}`), { recursive: true });
    writeFileSync(`${list}/${name}`, pngOf(dog));
  }
  const ids = JSON.parse((await boxwright("run", model, list, "--format", "coco")).out) as {
    image_id: unknown;
  }[];
  expect(ids.map(({ image_id }) => image_id)).toEqual([
    2,
    `${list}/x/1`,
    `${list}/y/01`,
    `${list}/y/1`,
    "9007199254740992",
    "9007199254740993",
  ]);
});

test("patterns: alternatives with stars, lists that leave the slash alone, and what is none", async () => {
  const matches = (pattern: string, path: string) => matcherOf(pattern)(path);
  expect(matches("a/{b*,c}.png", "a/bcd.png")).toBe(true);
  expect(matches("a/{b*,c}.png", "a/d.png")).toBe(false);
  expect(matches("a[!x]b", "a/b")).toBe(false);
  expect(matches("a[!x]b", "a-b")).toBe(true);
  expect(matches("a[^]b", "a^b")).toBe(true);
  expect(matches("a[!]b", "a[!]b")).toBe(true);
  expect(matches("a[", "a[")).toBe(true);
  expect(matches("a{b", "a{b")).toBe(true);
  for (const [pattern, expected] of [
    [`${photos}/[z-a].png`, "ranges in order between [ and ]"],
    [`${photos}/{a,{b,c}}.png`, "no braces within braces"],
  ]) {
    const { code, err } = await boxwright("run", model, pattern);
    expect(code).toBe(2);
    expect(err).toContain(`got the pattern "${pattern}", expected `);
    expect(err).toContain(expected);
  }
});

test("shows progress on a terminal only", async () => {
  const shown = async (isTerminal: boolean) => {
    let err = "";
    await run(["run", model, photos], { out: () => undefined, err: (t) => void (err += t), isTerminal });
    return err;
  };
  expect(await shown(false)).toBe("");
  expect(await shown(true)).toMatch(
    /\r\u001b\[K\[-{24}\] 0\/3 .*a\.png[^]*\[#{16}-{8}\] 2\/3, \d+ s left .*\r\u001b\[K$/,
  );
});

test("a note on a terminal stands in a line of its own", async () => {
  const files = [1, 2].map((n) => folder.path(`noise${n}.png`));
  for (const file of files) writeFileSync(file, png(WIDTH, HEIGHT));
  let err = "";
  const io = { out: () => undefined, err: (t: string) => void (err += t), isTerminal: true };
  await run(["run", model, ...files], io);
  expect(err).toMatch(/0\/2 .*\.png\r\u001b\[Kboxwright: note: /);
});

test("says what is missing or cannot be", async () => {
  const usage = async (...words: string[]) => {
    const { code, err } = await boxwright("run", ...words);
    expect(code).toBe(2);
    return err;
  };
  expect(await usage()).toContain("no network is given");
  expect(await usage(model)).toContain("no photos are given");
  expect(await usage(model, photos, "--resume")).toContain("Add --out FILE");
  expect(await usage(model, photos, "--format", "xml")).toContain(
    '--format: got "xml", expected table, json, ndjson',
  );
  expect(await usage(model, photos, "--resize", "fit")).toContain(
    "letterbox, letterbox-topleft, stretch, crop",
  );
  expect(await usage(model, fixture("labels"))).toContain("a folder without photos");
  expect(await usage(model, `${photos}/*.gif`)).toContain("a pattern without photos");
  expect(await refused("run", fixture("labels/coco80.txt"), photos)).toContain("coco80.txt");
});

describeShared("a wrong family", (data) => {
  const runOn = (file: string, photo: string, ...words: string[]) =>
    boxwright("run", `${data}/models/${file}`, fixture(`photos/${photo}`), ...words);

  test("is told from the shapes when it fails, before a photo and at one", async () => {
    for (const words of [[], ["--classes", "80"]]) {
      const { code, err } = await runOn("FastestDet.onnx", "dogs.jpg", "--family", "yolov8", ...words);
      expect(code).toBe(1);
      expect(err).toContain("\nThe shapes look like those of another family: --family fastestdet\n");
    }
  });

  test("is not told where the family fits, and the advice at a photo is an option of the command", async () => {
    const file = "version-RFB-320_without_postprocessing.onnx";
    const words = [file, "hopper.jpg", "--family", "ultraface"] as const;
    const { err } = await runOn(...words);
    expect(err).not.toContain("another family");
    expect(err).toContain("\nIn this command: --variances 0.1,0.1,0.2,0.2\n");
    const all = "--family ultraface --variances 0.1,0.1,0.2,0.2";
    expect((await runOn(file, "hopper.jpg")).err).toContain(`\nIn this command: ${all}\n`);
    expect((await boxwright("inspect", `${data}/models/${file}`)).out).toContain(
      `photo.jpg ${all} --draw boxes`,
    );
    const decoded = await boxwright("inspect", `${data}/models/version-RFB-320.onnx`);
    expect(decoded.out).toContain("photo.jpg --family ultraface --draw boxes");
    expect((await runOn(...words, "--variances", "0.1,0.1,0.2,0.2")).out).toMatch(/1 detection\n/);
  });
});

test("prepares photos as options say", async () => {
  const photo = folder.path("cat.png");
  writeFileSync(photo, pngOf(cat));
  const confidence = async (...words: string[]) => {
    const { out } = await boxwright("run", model, photo, "--format", "json", "--confidence", "0.1", ...words);
    return (JSON.parse(out) as [{ detections: { confidence: number }[] }])[0].detections[0].confidence;
  };
  expect(await confidence()).toBeCloseTo(128 / 255, 6);
  expect(await confidence("--std", "250", "--mean", "0,0,0")).toBeCloseTo(128 / 250, 6);
});

test.each([
  ["--std", "0", "one number above 0, or three separated by commas"],
  ["--std", "58,-1,57", "one number above 0, or three separated by commas"],
  ["--std", "58,57", "one number above 0, or three separated by commas"],
  ["--std", "x", "one number above 0, or three separated by commas"],
  ["--mean", "1,2", "one number, or three separated by commas"],
])("%s %s is a mistake in the words, whichever network is named", async (option, value, expected) => {
  const { code, err } = await boxwright("run", "none.onnx", `${photos}/a.png`, option, value);
  expect(code).toBe(2);
  expect(err).toContain(`${option}: got ${JSON.stringify(value)}, expected ${expected}`);
});

test("names the list of labels of a network that has COCO's count of classes and no names", async () => {
  const run = (...words: string[]) =>
    boxwright("run", fixture("models/yolox_nano.onnx"), fixture("photos/chelsea.png"), ...words);
  expect((await run()).err).toBe(
    "boxwright: note: the network has class ids and no names: --labels coco80 names them if they are COCO's\n",
  );
  expect((await run("--labels", "coco80")).err).toBe("");
  // A class id is no category id of COCO, and nothing says whose classes these are.
  const { code, out, err } = await run("--format", "coco");
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain("--format coco needs the names of the classes");
  expect(err).toContain("Add --labels coco80 if the classes are COCO's.");
  await run("--format", "coco", "--out", folder.path("unnamed.json"));
  expect(existsSync(folder.path("unnamed.json.partial"))).toBe(false);
});

test.each(["coco80", "coco91"] as const)("COCO results of a network with the names %s", (name) => {
  const labels = labelsOf(name);
  const cup = { class_id: labels.indexOf("cup"), label: "cup", confidence: 1 };
  const box = { ...cup, x_min: 0, y_min: 0, x_max: 1, y_max: 1 };
  const idOf = (names: readonly string[]): unknown => {
    const { begin, of, end } = formatter("coco", names, []);
    const image = { image: "a.png", width: 4, height: 4, output_format: "detection" } as const;
    const [{ category_id }] = JSON.parse(begin + of({ ...image, detections: [box] }, 0) + end) as [
      { category_id: unknown },
    ];
    return category_id;
  };
  expect(idOf(labels)).toBe(47);
  // TFLite_Detection_PostProcess leaves the background out.
  expect(idOf(labels.slice(name === "coco91" ? 1 : 0))).toBe(47);
  // Further classes: a data set of its own.
  expect(idOf([...labels, "paw"])).toBe(cup.class_id);
});
