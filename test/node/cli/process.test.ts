/** The built command, in a process of its own. */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { helpText } from "../../../src/node/cli/help.ts";
import { expectSame, expectedDetections, printedJson, ssd } from "../../support/cli.ts";

const cli = fileURLToPath(new URL("../../../dist/cli.mjs", import.meta.url));

test("the built command prints its help, and decodes", () => {
  expect(execFileSync(process.execPath, [cli, "--help"], { encoding: "utf8" })).toBe(helpText());
  const out = execFileSync(process.execPath, [cli, "decode", ...ssd("coffee"), "--json"], {
    encoding: "utf8",
  });
  expectSame(printedJson(out).detections, expectedDetections("mobilenet-ssd", "coffee"));
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
