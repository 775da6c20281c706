/** The recipes of docs/recipes.md that need no browser, run as they stand; `npm run bench:recipes` runs all. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { define, digestOf } from "../../bench/definition.ts";
import { optionsOf } from "../../bench/engines.ts";
import { PLACES, recipeBlocks } from "../../bench/recipes/blocks.ts";
import { reluModel } from "../../bench/recipes/tflite.ts";
import { timeRecipe, type Opened } from "../../bench/recipes/time.ts";
import { makeWorkload, WORKLOADS } from "../../bench/workloads.ts";
import { oneNode } from "../support/onnx.ts";

const blocks = recipeBlocks();
const workload = makeWorkload(WORKLOADS[0]);
const { data, dims } = workload.tensors.output0;
const truth = define(workload);

test("every block is a recipe that is run somewhere", () => {
  expect([...blocks.keys()]).toEqual([...new Set(PLACES.map(([name]) => name))]);
});

const value = { type: "float32", dims } as const;
const onnx = oneNode("Relu", [{ ...value, name: "images" }], { ...value, name: "output0" });

const models: Record<string, () => Promise<unknown>> = {
  "ort-node": async () => onnx,
  "ort-web": async () => {
    (await import("onnxruntime-web")).env.wasm.numThreads = 1;
    return onnx;
  },
  tfjs: async () => {
    const wasm = await import("@tensorflow/tfjs-backend-wasm");
    const tf = await import("@tensorflow/tfjs-core");
    const entry = createRequire(import.meta.url).resolve("@tensorflow/tfjs-backend-wasm");
    wasm.setWasmPaths(`${dirname(entry)}/`);
    return { predict: (x: unknown) => tf.relu(x as Parameters<typeof tf.relu>[0]) };
  },
};

describe("recipes for Node", () => {
  const files: URL[] = [];
  afterAll(() => files.forEach((file) => rmSync(file, { force: true })));

  test.each(PLACES.filter(([, place]) => place === "Node").map(([name]) => name))(
    "%s gives the definition's boxes",
    async (name) => {
      const file = new URL(`./.recipe-${name}.tmp.ts`, import.meta.url);
      files.push(file);
      const code = blocks.get(name)?.replace('"boxwright"', '"../../src/entries/index.ts"') ?? "";
      writeFileSync(file, `// @ts-nocheck\n${code}`);
      const { open } = (await import(file.href)) as {
        open(model: unknown, config: object): Promise<Opened>;
      };
      const opened = await open(await models[name](), optionsOf(workload));
      const found = await timeRecipe(opened, data as Float32Array, dims, 1);
      expect(found.count).toBe(truth.count);
      expect(digestOf(found, truth)).toBe(digestOf(truth, truth));
    },
    60_000,
  );
});

test("the network for TensorFlow Lite is a whole file of its format", () => {
  const bytes = reluModel([1, 84, 8400]);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  expect(new TextDecoder().decode(bytes.subarray(4, 8))).toBe("TFL3");
  // The root table, by its shape: version 3 in field 0, subgraphs in field 2.
  const root = view.getUint32(0, true);
  const shape = root - view.getInt32(root, true);
  expect(view.getUint32(root + view.getUint16(shape + 4, true), true)).toBe(3);
  const graphs = root + view.getUint16(shape + 8, true);
  expect(view.getUint32(graphs + view.getUint32(graphs, true), true)).toBe(1);
});

describe("README", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

  test("sends readers to the recipes", () => {
    expect(readme).toContain("(docs/recipes.md)");
  });
});
