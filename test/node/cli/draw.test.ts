import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { imageInfo } from "../../../src/picture/image-info.ts";
import { boxwright, printedJson, ssd } from "../../support/cli.ts";
import { fixture, tempFolder } from "../../support/files.ts";

const folder = tempFolder();

test("writes SVG and PNG of one decode", async () => {
  const svg = folder.path("a.svg");
  const png = folder.path("a.png");
  const photo = ["--photo", fixture("photos/coffee.jpg"), "--width", "300"];
  const { code, out, err } = await boxwright("draw", ...ssd("coffee"), ...photo, "--out", svg, "--out", png);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toBe(`${svg}: 2 detections\n${png}: 2 detections\n`);
  const text = await readFile(svg, "utf8");
  expect(text).toContain(">cup 79%</text>");
  expect(text).toContain(">dining table 60%</text>");
  expect(imageInfo(new Uint8Array(await readFile(png)))).toMatchObject({ width: 300, height: 200 });
});

test("--detections draws what decode printed", async () => {
  const list = folder.path("d.json");
  const svg = folder.path("b.svg");
  await writeFile(list, (await boxwright("decode", ...ssd("chelsea"), "--json")).out);
  const draw = ["draw", "--detections", list, "--photo", fixture("photos/chelsea.png")];
  const toSvg = [...draw, "--out", svg];
  const { code } = await boxwright(...toSvg);
  expect(code).toBe(0);
  expect(await readFile(svg, "utf8")).toContain(">cat 64%</text>");
  await writeFile(list, JSON.stringify([printedJson(await readFile(list, "utf8")), { detections: [] }]));
  expect((await boxwright(...toSvg, "--index", "1")).out).toContain("0 detections");
  await writeFile(list, "\ufeff[]");
  expect(await boxwright(...toSvg)).toMatchObject({ code: 0, out: `${svg}: 0 detections\n` });
  await writeFile(list, '"no list"');
  expect(await boxwright(...draw)).toMatchObject({ code: 2 });
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
    /--photo: \/no\/photo.png cannot be read: there is no such file or folder/,
  ],
  [
    "a folder that is not there",
    ["--photo", fixture("photos/coffee.jpg"), "--out", "/no/such/x.svg"],
    /--out: \/no\/such\/x.svg cannot be written: there is no such file or folder/,
  ],
])("%s: exit code 1, no stack", async (_, argv, message) => {
  const { code, err } = await boxwright("draw", ...ssd("coffee"), ...argv);
  expect(code).toBe(1);
  expect(err).toMatch(message);
  expect(err).not.toMatch(/^ {4}at /m);
});
