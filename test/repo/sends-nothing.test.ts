/** "Sends nothing, fetches nothing": no import, decoder or command reaches for the network or for another program. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** Runs a program with every way out of the process trapped. */
function runTrapped(...words: string[]): { code: number | null; reached: string[]; text: string } {
  const trap = new URL("../support/no-network.mjs", import.meta.url).href;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", trap, ...words], {
    encoding: "utf8",
    cwd: path(""),
  });
  const reached = stderr.split("\n").filter((line) => line.startsWith("REACHED FOR"));
  return { code: status, reached, text: stdout + stderr };
}

const PROGRAM = `
import { createDecoder, createDetector, nms, onnxRuntime } from "boxwright";
import * as core from "boxwright/core";
import * as plan from "boxwright/plan";
import * as node from "boxwright/node";
import * as pool from "boxwright/pool";
const decoder = await createDecoder({ family: "yolov8", classes: 2, inputSize: [64, 64] });
decoder.decode({ output0: { data: new Float32Array(6 * 84), dims: [1, 6, 84] } });
nms([0, 0, 1, 1], [1], {});
`;

test("imports and decoders reach for nothing outside", () => {
  const done = runTrapped(
    "--input-type=module",
    "-e",
    `${PROGRAM}console.log("done", Object.keys({ core, plan, node, pool }).length)`,
  );
  expect([done.code, done.text.trim(), done.reached]).toEqual([0, "done 4", []]);
});

test("commands reach for nothing outside", () => {
  for (const words of [
    ["--version"],
    ["--help"],
    ["inspect", "output0:1x84x8400"],
    ["inspect", "test/fixtures/detect/network.onnx"],
  ]) {
    const { code, reached, text } = runTrapped("dist/cli.mjs", ...words);
    expect([words, code, reached]).toEqual([words, 0, []]);
    expect(text).not.toBe("");
  }
});

test("the one address that is fetched is the one that a program names; and the trap springs", () => {
  const named = `await createDetector({ model: "http://127.0.0.1:9/m.onnx", runtime: onnxRuntime({ InferenceSession: { create() {} }, Tensor: class {} }) }).catch(() => undefined);`;
  const { reached } = runTrapped("--input-type=module", "-e", `${PROGRAM}${named}`);
  expect(reached).toEqual(["REACHED FOR fetch"]);
});

test("nothing runs when the package is installed, and the pages that promise all this say so", () => {
  const { scripts, dependencies } = JSON.parse(readFileSync(path("package.json"), "utf8")) as {
    scripts: Record<string, string>;
    dependencies?: object;
  };
  expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  expect(dependencies).toBeUndefined();
  for (const page of ["SECURITY.md", "docs/support.md"])
    expect(readFileSync(path(page), "utf8").replace(/\s+/g, " ")).toContain(
      "sends nothing and fetches nothing",
    );
});
