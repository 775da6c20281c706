import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import type { Detection } from "../../../src/entries/index.ts";
import { imageInfo } from "../../../src/picture/image-info.ts";
import { boxwright, expectSame, expectedDetections, refused, ssd } from "../../support/cli.ts";
import { fixture, tempFolder } from "../../support/files.ts";

const folder = tempFolder();
const config = fixture("mobilenet-ssd/config.json");
const photos = fixture("photos");
const names = ["astronaut", "chelsea", "coffee"];
/** Frames as folders with a meta.json. */
const frames = (): string => folder.path("frames");

beforeAll(() => {
  for (const name of names) {
    mkdirSync(`${frames()}/${name}`, { recursive: true });
    for (const file of ["meta.json", "detection_out.bin.gz"])
      copyFileSync(fixture(`mobilenet-ssd/${name}/${file}`), `${frames()}/${name}/${file}`);
  }
});

interface Result {
  readonly image: string;
  readonly width: number | null;
  readonly detections: Detection[];
}

test("decode gives one result for each frame of a folder, relative to the photo of its name", async () => {
  const words = ["decode", config, frames(), "--photo", photos];
  const { code, out, err } = await boxwright(...words, "--json");
  expect(code).toBe(0);
  expect(err).not.toContain("failed");
  const results = JSON.parse(out) as Result[];
  expect(results.map(({ image }) => image)).toEqual(
    ["astronaut.jpg", "chelsea.png", "coffee.jpg"].map((name) => `${photos}/${name}`),
  );
  for (const [i, name] of names.entries())
    expectSame(results[i].detections, expectedDetections("mobilenet-ssd", name));
  expect(results[1].width).toBe(451);
  const csv = (await boxwright(...words, "--format", "csv")).out.trimEnd().split("\n");
  expect(csv).toHaveLength(1 + results.reduce((n, { detections }) => n + detections.length, 0));
  const ndjson = (await boxwright("decode", config, frames(), "--format", "ndjson")).out
    .trimEnd()
    .split("\n");
  expect(ndjson.map((line) => (JSON.parse(line) as Result).width)).toEqual([null, null, null]);
  // a folder that is one frame, and frames that are files
  const one = await boxwright("decode", config, `${frames()}/coffee`, "--json");
  expectSame((JSON.parse(one.out) as Result[])[0].detections, expectedDetections("mobilenet-ssd", "coffee"));
  const files = await boxwright("decode", config, fixture("files"), "--format", "ndjson");
  expect(files).toMatchObject({ code: 1, out: "" });
});

test("a frame that fails does not end the command, but sets the exit code", async () => {
  const broken = folder.path("broken");
  for (const name of ["a", "b"]) mkdirSync(`${broken}/${name}`, { recursive: true });
  writeFileSync(`${broken}/a/meta.json`, "[]");
  for (const file of ["meta.json", "detection_out.bin.gz"])
    copyFileSync(fixture(`mobilenet-ssd/coffee/${file}`), `${broken}/b/${file}`);
  const { code, out, err } = await boxwright("decode", config, broken, "--format", "ndjson");
  expect(code).toBe(1);
  expect(
    out
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as Result).image),
  ).toEqual(["b"]);
  expect(err).toContain(`${broken}/a/meta.json: `);
  expect(err).toMatch(/1 of 2 frames failed\.\n$/);
  expect(await refused("decode", config, broken, "--photo", photos)).toContain(
    "got no photo a.png or a.jpg in",
  );
});

test("draw draws each frame of a folder on the photo of its name", async () => {
  const out = folder.path("boxes");
  const words = [
    "draw",
    config,
    frames(),
    "--photo",
    photos,
    "--out",
    out,
    "--out",
    `${out}/*.png`,
    "--width",
    "200",
  ];
  const ran = await boxwright(...words);
  expect(ran.code).toBe(0);
  expect(readdirSync(out).sort()).toEqual(
    names.flatMap((name) => [`${name}.boxes.svg`, `${name}.png`]).sort(),
  );
  expect(readFileSync(`${out}/coffee.boxes.svg`, "utf8")).toContain(">cup 79%</text>");
  expect(imageInfo(readFileSync(`${out}/chelsea.png`)).width).toBe(200);
  expect(ran.out).toContain(`${out}/chelsea.png: 1 detection\n`);
});

test("says what does not go with folders", async () => {
  const usage = async (...words: string[]) => {
    const { code, err } = await boxwright(...words);
    expect(code).toBe(2);
    return err;
  };
  expect(await usage("draw", config, frames())).toContain("--photo has to name a folder too");
  expect(await usage("draw", config, frames(), "--photo", photos, "--out", "a.png")).toContain('with "*"');
  expect(await usage("draw", config, frames(), "--photo", photos, "--index", "1")).toContain(
    "--index is for one frame",
  );
  expect(await usage("decode", config, fixture("labels"))).toContain("holds no frames");
  expect(await usage("decode", ...ssd("coffee"), "--format", "csv")).toContain("--format csv is for folders");
  // Without a size the boxes are in 0..1, and COCO's are in pixels.
  expect(await usage("decode", config, frames(), "--format", "coco")).toContain(
    "--format coco needs the size of the photos: its boxes are in pixels. Add --photo or --image-size.",
  );
  for (const size of [
    ["--photo", photos],
    ["--image-size", "640x480"],
  ]) {
    const { code, out } = await boxwright("decode", config, frames(), "--format", "coco", ...size);
    expect(code).toBe(0);
    for (const { bbox } of JSON.parse(out) as { bbox: number[] }[])
      expect(Math.max(...bbox)).toBeGreaterThan(2);
  }
});

test("inspect and draw take the folder that decode takes", async () => {
  const all = await boxwright("inspect", config, frames());
  expect(all).toMatchObject({ code: 0 });
  expect(all.err).toContain("holds 3 frames: the first one, astronaut, is inspected");
  expect(all.out).toBe((await boxwright("inspect", config, `${frames()}/astronaut/meta.json`)).out);
  expect((await boxwright("inspect", config, `${frames()}/coffee`)).err).toBe("");
  // One frame needs no folder of photos.
  const svg = folder.path("one.svg");
  const drawn = await boxwright(
    ...["draw", config, `${frames()}/coffee`, "--photo", `${photos}/coffee.jpg`, "--out", svg],
  );
  expect(drawn).toMatchObject({ code: 0, out: `${svg}: 2 detections\n` });
  expect(readFileSync(svg, "utf8")).toContain(">cup 79%</text>");
});

test("a table says whose coordinates it holds", async () => {
  const said = "coordinates are 0..1 of the network's input: --photo or --image-size";
  const times = async (...words: string[]) =>
    (await boxwright("decode", config, ...words)).out.split(said).length - 1;
  for (const one of [`${frames()}/coffee/meta.json`, frames()]) {
    expect(await times(one)).toBe(1);
    expect(await times(one, "--json")).toBe(0);
    expect(await times(one, "--image-size", "640x480")).toBe(0);
  }
});
