/** `run` on TFLite files: the built command, with the package of the runtime in NODE_PATH. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { runtimeOf, runtimePackage } from "../../src/node/runtimes.ts";
import { obtain } from "../runtimes/install.mjs";
import { pngOf } from "../examples/run-example.ts";
import { type Row, echoTflite } from "../support/echo-network.ts";
import { isThorough } from "../support/effort.ts";
import { fixture, tempFolder } from "../support/files.ts";

const folder = tempFolder();
const cli = fileURLToPath(new URL("../../dist/cli.mjs", import.meta.url));
const NAME = "@tensorflow/tfjs-tflite";
const dog: Row = [51, 102, 153, 204, 230, 255];
const OPTIONS = ["--family", "yolov10", "--labels", "cat,dog", "--coordinates", "normalised"];

/** A stand-in for the package. It copies the picture to the output, or refuses the network if STUB_REFUSES is 1. */
const STUB = `
  let runs = 0;
  const vector = (...tensors) => ({ size: () => tensors.length, get: (i) => tensors[i] });
  module.exports = async ({ printErr }) => ({
    HEAPU8: new Uint8Array(1 << 20),
    _malloc: () => 8,
    TFLiteWebModelRunner: {
      CreateFromBufferAndOptions(at, size) {
        const isBroken = process.env.STUB_REFUSES === "1";
        if (isBroken) printErr("Didn't find op for builtin opcode 'MAGIC'.");
        const tensor = (name, shape, data) => ({ name, shape, dataType: "float32", data: () => data });
        const data = new Float32Array(24 * 32 * 3);
        const runner = {
          GetInputs: () => vector(tensor("images", "1,24,32,3", data)),
          GetOutputs: () => vector(tensor("output0", "1,384,6", data)),
          Infer: () => true,
          delete() {},
        };
        return { ok: () => !isBroken, errorMessage: () => "Could not build model.", value: () => runner };
      },
    },
  });`;

function run(modules: string, words: readonly string[], environment: object = {}) {
  const env = { ...process.env, ...environment, NODE_PATH: modules };
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "run", ...words], {
    encoding: "utf8",
    env,
  });
  return { status, stdout, stderr };
}

describe("run on a TFLite file", () => {
  const network = folder.path("network.tflite");
  const photo = folder.path("photo.png");
  const stub = folder.path("node_modules");
  beforeAll(() => {
    writeFileSync(network, echoTflite());
    writeFileSync(photo, pngOf([dog], "NHWC"));
    const wasm = join(stub, NAME, "wasm");
    mkdirSync(wasm, { recursive: true });
    writeFileSync(join(stub, NAME, "package.json"), '{ "main": "wasm/tflite_web_api_cc_simd.js" }');
    writeFileSync(join(wasm, "tflite_web_api_cc_simd.js"), STUB);
    writeFileSync(join(wasm, "tflite_web_api_cc_simd.wasm"), "");
  });

  const words = (): string[] => [network, photo, ...OPTIONS, "--format", "json"];
  const found = (modules: string): unknown => {
    const { status, stdout, stderr } = run(modules, words());
    expect({ status, stderr: stderr.replace(/^boxwright: note: .*\n/gm, "") }).toEqual({
      status: 0,
      stderr: "",
    });
    return (JSON.parse(stdout) as { detections: object[] }[]).flatMap(({ detections }) => detections);
  };
  const expected = [{ label: "dog", x_min: 0.2, y_min: 0.4, x_max: 0.6, y_max: 0.8 }];

  test("prints what the interpreter gives", () => {
    expect(found(stub)).toMatchObject(expected.map((d) => closeTo(d)));
  });

  test.skipIf(!isThorough)("prints the same by TensorFlow Lite itself", async () => {
    const program = await obtain("tflite");
    const modules = dirname(dirname(dirname(dirname(program))));
    expect(found([modules].join(delimiter))).toMatchObject(expected.map((d) => closeTo(d)));
  });

  test("tells why the interpreter refuses a network", () => {
    const { status, stderr } = run(stub, words(), { STUB_REFUSES: "1" });
    expect(status).toBe(1);
    expect(stderr).toContain(
      "the network cannot be run by TensorFlow Lite: Could not build model. Didn't find op",
    );
  });

  test("names the package that is missing", () => {
    expect(run("", words()).stderr).toContain(`not installed. Run npm install ${NAME}\n`);
  });
});

/** Returns a detection whose numbers may differ in their last digits. */
const closeTo = (d: object): object =>
  Object.fromEntries(
    Object.entries(d).map(([key, value]) => [
      key,
      typeof value === "number" ? (expect.closeTo(value, 5) as unknown) : (value as unknown),
    ]),
  );

test("each format has its package, and an archive has none", async () => {
  expect(runtimePackage("onnx", "a.onnx")).toBe("onnxruntime-node");
  expect(runtimePackage("tflite", "a.tflite")).toBe(NAME);
  expect(() => runtimePackage("nn-archive", "a.tar")).toThrow(
    "a.tar: got a file of the format nn-archive, expected ONNX or TFLite",
  );
  await expect(runtimeOf("nn-archive", "a.tar")).rejects.toThrow("expected ONNX or TFLite");
  expect((await runtimeOf("onnx", fixture("detect/network.onnx"))).name).toBe("onnxRuntime");
});
