/** Files that a command reads: regular ones and standard input, up to a size. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { boxwright, expectSame, expectedDetections, printedJson, refused, ssd } from "../../support/cli.ts";
import { fixture, tempFolder } from "../../support/files.ts";

const folder = tempFolder();
const cli = fileURLToPath(new URL("../../../dist/cli.mjs", import.meta.url));
const config = fixture("mobilenet-ssd/config.json");
const tensors = fixture("mobilenet-ssd/coffee/meta.json");

test.skipIf(!existsSync("/dev/zero"))("refuses a device, which may have no end", async () => {
  const words = [
    ["decode", config, "/dev/zero"],
    ["decode", "/dev/zero", tensors],
    ["inspect", "/dev/zero"],
    ["decode", config, tensors, "--photo", "/dev/zero"],
    ["decode", config, tensors, "--labels", "/dev/zero"],
    ["decode", config, tensors, "--priors", "/dev/zero"],
  ];
  for (const each of words)
    expect(await refused(...each)).toContain("/dev/zero: got a pipe or a device, expected a regular file");
});

test.skipIf(process.platform === "win32")(
  "refuses a named pipe without opening it, which would wait",
  async () => {
    const pipe = folder.path("pipe.npy");
    execFileSync("mkfifo", [pipe]);
    expect(await refused("decode", config, pipe)).toContain(`${pipe}: got a pipe or a device`);
  },
);

test("refuses files above --max-file, also once unpacked", async () => {
  const large = folder.path("large.npy");
  await writeFile(large, new Uint8Array((1 << 20) + 1));
  expect(await refused("decode", config, large, "--max-file", "1")).toBe(
    `boxwright: ${large}: got 1048577 bytes, expected at most 1048576. The option --max-file N of the command allows N MiB\n`,
  );
  expect(await refused("decode", config, large, "--max-file", "2")).not.toContain("--max-file");
  const bomb = folder.path("bomb.npy.gz");
  await writeFile(bomb, gzipSync(new Uint8Array(3 << 20)));
  expect(await refused("inspect", bomb, "--max-file", "2")).toContain(
    `${bomb}: got more than 2097152 bytes once unpacked, expected at most 2097152`,
  );
  const wrong = await boxwright("inspect", bomb, "--max-file", "0");
  expect(wrong).toMatchObject({ code: 2, out: "" });
});

test("reads standard input for -, up to --max-file", () => {
  const input = readFileSync(config);
  const words = ["decode", "-", tensors, "--json"];
  const { stdout, status } = spawnSync(process.execPath, [cli, ...words], { input, encoding: "utf8" });
  expect(status).toBe(0);
  expectSame(printedJson(stdout).detections, expectedDetections("mobilenet-ssd", "coffee"));
  expect(ssd("coffee")).toEqual([config, tensors]);
  const endless = spawnSync(
    "sh",
    ["-c", `cat /dev/zero | "${process.execPath}" "${cli}" inspect - --max-file 1`],
    {
      encoding: "utf8",
    },
  );
  expect(endless.stderr).toContain("-: got more than 1048576 bytes, expected at most 1048576");
});
