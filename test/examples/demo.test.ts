/** demo/: the package `boxwright-demo`, run as npx runs it, in a folder with what npm installs beside it. */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { imageInfo } from "../../src/picture/image-info.ts";
import { tempFolder } from "../support/files.ts";
import { packed } from "./run-example.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const demo = join(root, "demo");
const folder = tempFolder();
const manifest = JSON.parse(readFileSync(join(demo, "package.json"), "utf8")) as {
  files: string[];
  dependencies: Record<string, string>;
};
const place = packed === undefined ? folder.path("package") : join(packed, "node_modules/boxwright-demo");
const pack = (way: "in" | "out"): unknown => execFileSync(process.execPath, [join(demo, "pack.mjs"), way]);

beforeAll(() => {
  if (packed !== undefined) return;
  pack("in");
  for (const name of ["package.json", ...manifest.files])
    cpSync(join(demo, name), join(place, name), { recursive: true });
  pack("out");
  for (const name of Object.keys(manifest.dependencies)) {
    const link = join(place, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(name === "boxwright" ? root : join(root, "node_modules", name), link, "junction");
  }
});
afterAll(() => pack("out"));

function run(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(place, "demo.mjs"), ...words], (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

describe("boxwright-demo", () => {
  test("draws the photo that it brings, without a word on the error stream", async () => {
    const picture = folder.path("boxes.png");
    const { code, out, err } = await run("--out", picture);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^cup 0\.[89]\d at 1[56]\d \d+ 4[12]\d /m);
    expect(out).toContain(picture);
    expect(imageInfo(readFileSync(picture))).toMatchObject({ mime: "image/png", width: 600, height: 400 });
    expect(readFileSync(join(demo, "README.md"), "utf8")).toContain(out.split("\n", 1)[0]);
  });

  test("draws another photo", async () => {
    const picture = folder.path("dogs.png");
    const { code, out } = await run(join(root, "test/fixtures/photos/dogs.jpg"), "--out", picture);
    expect(code).toBe(0);
    expect(out.match(/^dog 0\.\d\d at /gm)).toHaveLength(2);
    expect(existsSync(picture)).toBe(true);
  });

  test.each([
    [["none.jpg"], /none\.jpg: got no photo \(ENOENT\), expected the path/],
    [["a.jpg", "b.jpg"], /got 2 photos, expected one or none/],
    [["--ou", "x"], /'--ou'[^]*usage: boxwright-demo/],
    [[join(demo, "package.json")], /got a file that begins with .*expected a PNG or JPEG/],
  ])("%j is refused with what to do", async (words, message) => {
    const { code, err } = await run(...words);
    expect(code).toBe(1);
    expect(err).toMatch(message);
    expect(err).not.toMatch(/\n {4}at /);
  });

  test("depends on what the tests of boxwright run with", () => {
    const { devDependencies, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      devDependencies: Record<string, string>;
      version: string;
    };
    for (const [name, range] of Object.entries(manifest.dependencies))
      expect([name, range]).toEqual([name, name === "boxwright" ? `^${version}` : devDependencies[name]]);
  });
});
