/** A real network on real photos: one command, and what a person sees in them. */
import { existsSync, mkdirSync, readFileSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { startProcess } from "../support/process.ts";

const SHARED = process.env.BOXWRIGHT_SHARED;
const isHere = SHARED !== undefined && existsSync(join(SHARED, "data", "models", "yolox_nano.onnx"));
if (!isHere) console.log("BOXWRIGHT_SHARED is unset or has no models: the test of a real network is skipped");

it.skipIf(!isHere)("one command finds the cat, the cup and the astronaut", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "photos"));
  const photos = fileURLToPath(new URL("../../../../test/fixtures/photos", import.meta.url));
  for (const name of ["astronaut.jpg", "chelsea.png", "coffee.jpg"])
    copyFileSync(join(photos, name), join(folder, "photos", name));
  const out = join(folder, "out.ndjson");
  const model = join(SHARED!, "data", "models", "yolox_nano.onnx");
  const args = ["--photos", join(folder, "photos"), "--model", model, "--labels", "coco80", "--to", out];
  const { code, text } = await startProcess([...args, "--state", join(folder, "state")]).ended;
  expect(text).toContain("3 frames sent, 0 failed, 0 lost");
  expect(code).toBe(0);
  const events = readFileSync(out, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const best = events.map(({ data }) => data.detections[0].label);
  expect(best).toEqual(["person", "cat", "cup"]);
});
