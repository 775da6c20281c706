/** The built command, in a process of its own. */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { helpText } from "../../../src/node/cli/help.ts";
import { expectSame, expectedDetections, printedJson, ssd } from "../../support/cli.ts";
import { fixture, tempFolder } from "../../support/files.ts";
import { png } from "../../support/pictures.ts";

const folder = tempFolder();
const cli = fileURLToPath(new URL("../../../dist/cli.mjs", import.meta.url));

test("the built command prints its help, and decodes", () => {
  expect(execFileSync(process.execPath, [cli, "--help"], { encoding: "utf8" })).toBe(helpText());
  const out = execFileSync(process.execPath, [cli, "decode", ...ssd("coffee"), "--json"], {
    encoding: "utf8",
  });
  expectSame(printedJson(out).detections, expectedDetections("mobilenet-ssd", "coffee"));
});

test("run leaves nothing in the temporary folder", async () => {
  const photo = await folder.put("photo.png", png(32, 24));
  const scratch = folder.path("scratch");
  mkdirSync(scratch);
  const { status, stderr } = spawnSync(
    process.execPath,
    [cli, "run", fixture("detect/network.onnx"), photo],
    {
      env: { ...process.env, ORT_DISABLE_TELEMETRY: undefined, TMPDIR: scratch },
      encoding: "utf8",
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(readdirSync(scratch)).toEqual([]);
});

test.skipIf(!existsSync("/dev/full"))(
  "a full disk behind standard output is reported without a stack",
  () => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [cli, "decode", ...ssd("coffee")], {
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "boxwright: standard output cannot be written: ENOSPC\n",
    });
  },
);
