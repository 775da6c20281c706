import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { setupOf } from "../../../src/node/cli/setup.ts";
import { writeSafetensors } from "../../../src/node/files/safetensors.ts";
import { tempFolder } from "../../support/files.ts";

const folder = tempFolder();

test("setupOf turns option values into typed options", async () => {
  const priors = folder.path("priors.safetensors");
  await writeFile(
    priors,
    writeSafetensors([{ name: "p", type: "f32", dims: [1, 4], data: Float32Array.of(1, 2, 3, 4) }]),
  );
  const values = {
    family: "ssd",
    classes: "3",
    role: ["boxes=a", "boxes=b", "scores=c"],
    priors,
    "scale-xy": "1.05,1.1",
    strides: "8, 16",
    background: "none",
    keep: "cat,2",
    labels: "cat,dog,",
    anchors: "1,2",
    "anchor-masks": "[[0]]",
  };
  const { config, options } = await setupOf(values, undefined);
  expect(config).toEqual({ family: "ssd" });
  expect(options).toEqual({
    family: "ssd",
    classes: 3,
    anchors: [1, 2],
    anchorMasks: [[0]],
    roles: { boxes: ["a", "b"], scores: "c" },
    priors: Float32Array.of(1, 2, 3, 4),
    scaleXY: [1.05, 1.1],
    strides: [8, 16],
    background: false,
    keep: ["cat", 2],
    labels: ["cat", "dog"],
  });
  // a class without a name keeps its number
  expect((await setupOf({ labels: "voc20" }, "{}")).options.labels?.[7]).toBe("cat");
  expect((await setupOf({ labels: "cat,,dog" }, "{}")).options.labels).toEqual(["cat", "", "dog"]);
  expect(await setupOf({ "scale-xy": "1.2" }, "{}")).toEqual({ config: "{}", options: { scaleXY: 1.2 } });
  expect(await setupOf({ "input-size": "64x32" }, undefined)).toEqual({
    config: undefined,
    options: { inputSize: [64, 32] },
  });
});
