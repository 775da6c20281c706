/** Runs an ONNX file in the browser. ONNX Runtime is loaded when the first network is opened. */
import { type Detector, type DetectorOptions, createDetector, onnxRuntime } from "boxwright";
import type * as runtimeTypes from "onnxruntime-web/wasm";
import type { NamedTensor } from "@repo/src/node/files/tensor.ts";

type Ort = typeof runtimeTypes;
type Session = Awaited<ReturnType<Ort["InferenceSession"]["create"]>>;

/** Element types of files by ONNX Runtime's names. */
const TYPES: Record<string, NamedTensor["type"]> = {
  float32: "f32",
  float16: "f16",
  float64: "f64",
  uint8: "u8",
  int8: "i8",
  uint16: "u16",
  int16: "i16",
  uint32: "u32",
  int32: "i32",
  int64: "i64",
};

let loading: Promise<Ort> | undefined;

/** Loads ONNX Runtime from this site. */
export function loadRuntime(): Promise<Ort> {
  if (typeof WebAssembly !== "object")
    throw new Error(
      "This browser has no WebAssembly, and ONNX Runtime needs it to run a model. Drop the model's output tensors instead (.npy, .npz, .safetensors).",
    );
  loading ??= (async () => {
    const [ort, { default: address }] = await Promise.all([
      import("onnxruntime-web/wasm"),
      import("onnxruntime-web/ort-wasm-simd-threaded.wasm?url"),
    ]);
    // Without cross-origin isolation there are no threads.
    ort.env.wasm.numThreads = 1;
    ort.env.wasm.wasmPaths = { wasm: new URL(address, location.href).href };
    return ort;
  })();
  loading.catch(() => (loading = undefined));
  return loading;
}

/** A detector with access to its last output tensors. */
export interface OpenNetwork {
  readonly detector: Detector;
  /** The outputs of the last run. */
  outputs(): readonly NamedTensor[];
}

/**
 * Opens a model.
 * @param model the bytes of an ONNX file
 * @throws ConfigError if the file does not say how to decode its outputs; also errors of ONNX Runtime
 */
export async function openNetwork(
  model: Uint8Array,
  options: DetectorOptions,
  config?: unknown,
): Promise<OpenNetwork> {
  const ort = await loadRuntime();
  let last: object = {};
  // The detector passes outputs only to its decoder. This session also keeps them.
  const InferenceSession = {
    async create(bytes: Uint8Array, sessionOptions?: object): Promise<Session> {
      const session = await ort.InferenceSession.create(bytes, sessionOptions);
      const run = session.run.bind(session) as (...given: never[]) => Promise<object>;
      session.run = (async (...given: never[]) => (last = await run(...given))) as never;
      return session;
    },
  };
  const runtime = onnxRuntime({ env: ort.env, Tensor: ort.Tensor, InferenceSession } as never);
  const detector = await createDetector(
    { model, runtime, ...(config !== undefined && { config }) } as never,
    options,
  );
  return {
    detector,
    outputs: () =>
      Object.entries(last).map(([name, tensor]) => ({
        name,
        data: (tensor as { data: NamedTensor["data"] }).data,
        dims: [...(tensor as { dims: readonly number[] }).dims],
        type: TYPES[(tensor as { type: string }).type] ?? "f32",
      })),
  };
}
