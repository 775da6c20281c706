/** The built command, in a process of its own. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { helpText } from "../../../src/node/cli/help.ts";
import { expectSame, expectedDetections, printedJson, ssd } from "../../support/cli.ts";
import { fixture, tempFolder } from "../../support/files.ts";
import { png } from "../../support/pictures.ts";

const folder = tempFolder();
const cli = fileURLToPath(new URL("../../../dist/cli.mjs", import.meta.url));

/** Returns what the command wrote, without notes: the network of the fixture is untrained, and gets some. */
const withoutNotes = (said: string): string => said.replace(/^boxwright: note: .*\n/gm, "");

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
      // Each of CI and ORT_DISABLE_TELEMETRY turns the telemetry of onnxruntime-node off.
      env: { ...process.env, CI: undefined, ORT_DISABLE_TELEMETRY: undefined, TMPDIR: scratch },
      encoding: "utf8",
    },
  );
  expect({ status, said: withoutNotes(stderr) }).toEqual({ status: 0, said: "" });
  expect(readdirSync(scratch)).toEqual([]);
});

test("missing packages are listed at once, only those that are needed, and after mistakes in the words", () => {
  // A copy of the package that finds no other one.
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const alone = folder.path("alone");
  for (const name of ["dist", "package.json"])
    cpSync(`${root}${name}`, `${alone}/${name}`, { recursive: true });
  const say = (words: string[], input?: Buffer) =>
    spawnSync(process.execPath, [`${alone}/dist/cli.mjs`, "run", ...words], { encoding: "utf8", input })
      .stderr;
  const network = fixture("detect/network.onnx");
  const [dogs, cat] = [fixture("photos/dogs.jpg"), fixture("photos/chelsea.png")];
  const needs = (...names: string[]): string =>
    `boxwright: the command needs optional packages that are not installed. Run npm install ${names.join(" ")}\n`;
  expect(say([network, cat])).toBe(needs("onnxruntime-node", "pngjs"));
  expect(say([network, dogs, cat, "--draw", folder.path("none")])).toBe(
    needs("onnxruntime-node", "jpeg-js", "@resvg/resvg-js", "pngjs"),
  );
  expect(say([network, "-"], readFileSync(dogs))).toBe(needs("onnxruntime-node", "jpeg-js"));
  expect(say(["none.onnx", cat])).toBe(
    "boxwright: none.onnx cannot be read: there is no such file or folder.\n",
  );
  expect(say([dogs, cat])).toContain("got the file of a photo, expected ONNX");
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
      stderr: "boxwright: standard output cannot be written: the disk is full\n",
    });
  },
);

test("Ctrl-C says how far the run came, and --resume goes on from there", async () => {
  const photos = folder.path("photos");
  mkdirSync(photos);
  for (let i = 0; i < 40; i++) writeFileSync(`${photos}/${i + 10}.png`, png(32, 24));
  const out = folder.path("found.json");
  const words = [cli, "run", fixture("detect/network.onnx"), photos, "--out", out];
  // The process gives itself the signal between two images, however late others run. The first line has the settings.
  const signals = await folder.put(
    "signals.mjs",
    `import { existsSync, readFileSync } from "node:fs";
    const file = ${JSON.stringify(`${out}.partial`)};
    const lines = () => existsSync(file) ? readFileSync(file, "utf8").split("\\n").length : 0;
    setInterval(() => lines() >= 5 && process.emit("SIGINT"), 1).unref();`,
  );
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", pathToFileURL(signals).href, ...words],
    {
      encoding: "utf8",
    },
  );
  expect(status).toBe(130);
  expect(withoutNotes(stderr)).toMatch(
    /^boxwright: stopped after \d+ of 40 images\. The same command with --resume goes on/,
  );
  const again = spawnSync(process.execPath, [...words, "--resume"], { encoding: "utf8" });
  expect(withoutNotes(again.stderr)).toMatch(/^boxwright: \d+ of 40 images are done already\n$/);
  expect(again.status).toBe(0);
});
