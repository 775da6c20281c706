/** Tensors of ONNX Runtime whose data is on the GPU: an error that says what to do, and detectors that fetch it. */
import { expect, test } from "vitest";
import { createDecoderSync, createDetector, onnxRuntime } from "../../src/entries/index.ts";

const CONFIG = { family: "yolo26", labels: ["dog"], inputSize: [32, 32], reading: "end-to-end" } as const;
const ROWS = Float32Array.of(4, 4, 20, 24, 0.9, 0);

/** A tensor of ONNX Runtime Web: `data` throws while the data is on the GPU. */
const onGpu = (location: string) => ({
  type: "float32" as const,
  dims: [1, 1, 6],
  location,
  get data(): Float32Array {
    throw new Error("The data is not on CPU.");
  },
  getData: () => Promise.resolve(ROWS),
});

test.each(["gpu-buffer", "ml-tensor", "texture"])("decode says how to fetch data at %s", async (location) => {
  const decoder = createDecoderSync(CONFIG);
  const tensor = onGpu(location);
  const refused =
    `tensor "output0": got data at location "${location}", expected data on the CPU: pass ` +
    "{ data: await tensor.getData(), dims: tensor.dims, type: tensor.type }";
  expect(() => decoder.decode({ output0: tensor })).toThrow(refused);
  // What the error says to do works, and once a plan stands the error is the same.
  const fetched = { data: await tensor.getData(), dims: tensor.dims, type: tensor.type };
  expect(decoder.decode({ output0: fetched }).length).toBe(1);
  expect(() => decoder.decode({ output0: tensor })).toThrow(refused);
  expect(() => decoder.decode([tensor])).toThrow(refused);
});

test("a tensor that was disposed is told", () => {
  expect(() => createDecoderSync(CONFIG).decode({ output0: onGpu("none") })).toThrow(
    'tensor "output0": got data at location "none", expected a tensor that was not disposed',
  );
});

test("a detector fetches the data", async () => {
  function Tensor(type: string, data: unknown, dims: readonly number[]): object {
    return { type, data, dims, location: "cpu" };
  }
  const session = {
    inputNames: ["images"],
    inputMetadata: [{ name: "images", isTensor: true, type: "float32", shape: [1, 3, 32, 32] }],
    run: () => Promise.resolve({ output0: onGpu("gpu-buffer") }),
  };
  const ort = { env: {}, InferenceSession: { create: () => Promise.resolve(session) }, Tensor };
  const detector = await createDetector({
    model: session,
    runtime: onnxRuntime(ort as never),
    config: CONFIG,
  } as never);
  const image = { data: new Uint8Array(32 * 32 * 4), width: 32, height: 32 };
  expect([...(await detector.detect(image))].map(({ label }) => label)).toEqual(["dog"]);
});
