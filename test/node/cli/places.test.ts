import { existsSync } from "node:fs";
import { copyFile, readFile, symlink, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { showJson } from "../../../src/core/json.ts";
import { writeBelow } from "../../../src/node/cli/places.ts";
import { systemReason } from "../../../src/node/files/load.ts";
import { boxwright } from "../../support/cli.ts";
import { fixture, tempFolder } from "../../support/files.ts";

const folder = tempFolder();

test("refuses to write over a file that is read or written by the same command", async () => {
  const photo = folder.path("own.png");
  const config = folder.path("own.json");
  const link = folder.path("link.png");
  await copyFile(fixture("photos/chelsea.png"), photo);
  await copyFile(fixture("mobilenet-ssd/config.json"), config);
  await symlink(photo, link);
  const tensors = fixture("mobilenet-ssd/chelsea/meta.json");
  const before = await readFile(photo);
  const plan = folder.path("own.bin");
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
      `boxwright: --${option}: got ${showJson(path)}, expected a file of its own: this one is read or written here already\n`,
    );
  }
  expect(await readFile(photo)).toEqual(before);
  expect(existsSync(plan)).toBe(false);
});

test("why a file cannot be written is told in words, by run and by draw", async () => {
  const file = folder.path("a-file");
  await writeFile(file, "");
  const photo = fixture("photos/coffee.jpg");
  const run = await boxwright("run", fixture("detect/network.onnx"), photo, "--draw", `${file}/boxes`);
  expect(run.code).toBe(1);
  expect(run.err).toMatch(
    /--draw: .*coffee.jpg cannot be written: a part of the path is a file, and no folder\./,
  );
  await expect(writeBelow("out", `${file}/a.svg`, "")).rejects.toThrow(
    `--out: ${file}/a.svg cannot be written: a file has the name of its folder.`,
  );
  expect(systemReason(Object.assign(new Error("x"), { code: "EACCES" }))).toBe("you have no permission");
  expect(systemReason(Object.assign(new Error("x"), { code: "ENEW" }))).toBe("ENEW");
});
