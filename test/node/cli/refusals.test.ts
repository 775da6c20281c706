/** Input that cannot be decoded: exit code 1, one message, no stack. */
import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { OptionHint } from "../../../src/core/errors.ts";
import { COMMAND_NAMES, optionsOf } from "../../../src/node/cli/options.ts";
import { writeSafetensors } from "../../../src/node/files/safetensors.ts";
import { boxwright, refused } from "../../support/cli.ts";
import { fixture, tempFolder } from "../../support/files.ts";

const folder = tempFolder();

/** Options that errors of the library name. */
const LIBRARY_OPTIONS: readonly OptionHint["option"][] = [
  "family",
  "classes",
  "labels",
  "inputSize",
  "task",
  "keypoints",
  "orientedSuppression",
  "angleRange",
  "angleForm",
  "outputs",
  "anchors",
  "anchorMasks",
  "strides",
  "scaleXY",
  "scores",
  "reading",
  "boxFormat",
  "coordinates",
  "background",
  "priors",
  "priorFormat",
  "variances",
  "scales",
  "roles",
  "rules",
  "confidenceThreshold",
  "iouThreshold",
  "maxDetections",
  "suppression",
  "keep",
  "quantisation",
];

test("refuses a config that is not JSON, or of a network that does not detect", async () => {
  const config = folder.path("bad.json");
  await writeFile(config, "{nonsense");
  await refused("decode", config, fixture("mobilenet-ssd/coffee/meta.json"));
  await writeFile(
    config,
    JSON.stringify({ NN_config: { output_format: "detection", NN_family: "segmentation" } }),
  );
  expect(await refused("decode", config, fixture("mobilenet-ssd/coffee/meta.json"))).toContain("NN_family");
});

test("refuses tensors that do not fit the config", async () => {
  const file = folder.path("t.safetensors");
  await writeFile(
    file,
    writeSafetensors([{ name: "t", type: "f32", dims: [1, 3, 3], data: new Float32Array(9) }]),
  );
  await refused("decode", fixture("yolo-fastest-1.1/config.json"), file);
});

test("lists the readings of a shape that has two", async () => {
  const err = await refused(
    "inspect",
    "--family",
    "yolov8",
    "--classes",
    "80",
    "--input-size",
    "640x640",
    "output0:1x84x84",
  );
  expect(err).toMatch(/\[1,84,84\].*2 ways/);
});

test("suggests the options that would settle an error, unless they were given", async () => {
  const yolov8 = ["--family", "yolov8", "--classes", "80"];
  const shaped = [...yolov8, "--outputs", "output0:1x84x8400"];
  const ssd = ["--family", "ssd", "--classes", "3", "a:1x10x4", "b:1x10x3"];
  for (const [argv, added] of [
    [["compile", ...yolov8], "--outputs output0:1x84x8400:f32"],
    [["compile", ...shaped], "--input-size 640x640, --coordinates normalised"],
    [["inspect", "--family", "yolov8", "o:1x84x8400"], "--classes 80, --labels names.txt"],
    [["inspect", "--family=yolov5", "--classes=80", "o:1x255x80x80"], "--anchors w,h,w,h,..."],
    [["inspect", ...ssd], "--priors priors.npy, --variances 0.1,0.1,0.2,0.2, --scales 10,10,5,5"],
    [["inspect", ...ssd, "--variances=1,1,1,1"], "--priors priors.npy"],
  ] as const)
    expect((await refused(...argv)).split("\n")).toContain(`In this command: ${added}`);
  const set = COMMAND_NAMES.flatMap((name) => Object.values(optionsOf(name)).map(({ sets }) => sets));
  expect(new Set(set.filter((option) => option !== undefined))).toEqual(new Set(LIBRARY_OPTIONS));
  // the path of a value in a file is no option to write
  const typed = folder.path("typed.json");
  await writeFile(typed, JSON.stringify({ family: "yolov8", classes: 0, inputSize: 640, boxFormat: "x" }));
  expect(await refused("inspect", typed, "o:1x84x8400")).not.toContain("In this command");
  // nor is the word that says where the family was read
  await writeFile(typed, JSON.stringify({ family: "yolov8", classes: 7, inputSize: [640, 640] }));
  expect(await refused("inspect", typed, "o:1x84x8400")).not.toContain("In this command");
});

test("refuses a plan, and the JSON beside a raw tensor, in place of a config", async () => {
  const plan = folder.path("plan.bin");
  const argv = ["--family", "yolov8", "--classes", "2", "--input-size", "64x64", "--outputs", "o:1x6x84"];
  expect(await boxwright("compile", ...argv, "--out", plan)).toMatchObject({ code: 0 });
  expect(await refused("decode", plan, fixture("files/c.npy"))).toContain(
    `${plan} is a plan file, and plans are for loadPlan of boxwright/plan. Pass tensors, or the config that the plan was compiled from.`,
  );
  const raw = folder.path("out.bin");
  await writeFile(raw, new Float32Array(4));
  await writeFile(`${raw}.json`, JSON.stringify({ dtype: "f32", shape: [1, 4] }));
  expect(await refused("decode", fixture("mobilenet-ssd/config.json"), `${raw}.json`)).toContain(
    `describes a raw tensor. Pass the tensor, ${raw}:`,
  );
});

test("takes a malformed shape for a path, and says how shapes are written", async () => {
  for (const word of ["output0:1,84,8400", "[1,84,8400]", "output0:1*84*8400"])
    expect(await refused("inspect", word)).toBe(
      `boxwright: ${word} cannot be read: there is no such file or folder. A shape is written NAME:1x84x8400.\n`,
    );
  const list = folder.path("list.json");
  await writeFile(list, JSON.stringify([{ file: "absent.bin", dtype: "f32", shape: [1] }]));
  expect(await refused("inspect", list)).not.toContain("A shape is written");
});

test("refuses files that are missing or cut short", async () => {
  expect(await refused("decode", fixture("mobilenet-ssd/config.json"), "absent.npy")).toBe(
    "boxwright: absent.npy cannot be read: there is no such file or folder.\n",
  );
  const cut = folder.path("cut.npy");
  await writeFile(cut, (await readFile(fixture("files/c.npy"))).subarray(0, 200));
  expect(await refused("decode", fixture("mobilenet-ssd/config.json"), cut)).toMatch(
    /got 72 bytes of data, expected 96/,
  );
});
