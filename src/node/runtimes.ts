/** Finds the runtime for a model file in Node. Each format has one runtime, which is an optional package. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { ModelFormat } from "../config/model/types.ts";
import { TensorError } from "../core/errors.ts";
import { onnxRuntime } from "../detect/onnxruntime.ts";
import type { Runtime } from "../detect/session.ts";
import { type Tflite, type TfliteTensor, tflite } from "../detect/tflite.ts";
import { MissingPackage } from "./images.ts";

const PACKAGES: { readonly [format in ModelFormat]?: string } = {
  onnx: "onnxruntime-node",
  tflite: "@tensorflow/tfjs-tflite",
};

/** Returns the optional package that runs files of a format. Throws a TensorError if there is none. */
export function runtimePackage(format: ModelFormat, path: string): string {
  const name = PACKAGES[format];
  if (name === undefined)
    throw new TensorError(
      `${path}: got a file of the format ${format}, expected ONNX or TFLite, which the command can run.`,
    );
  return name;
}

/** Returns the runtime for a format. Throws a MissingPackage error if its package is not installed. */
export async function runtimeOf(format: ModelFormat, path: string): Promise<Runtime<Uint8Array>> {
  const name = runtimePackage(format, path);
  if (name === PACKAGES.tflite) return tflite(interpreter());
  // Turn telemetry off: otherwise onnxruntime-node would report to Microsoft, and leave a log in the temporary folder.
  process.env["ORT_DISABLE_TELEMETRY"] ??= "1";
  const ort = await import("onnxruntime-node").catch(() => {
    throw new MissingPackage("a network", name);
  });
  return onnxRuntime(ort);
}

/** A vector of the C++ interpreter. */
interface Vector {
  size(): number;
  get(i: number): TfliteTensor;
}

/** The WebAssembly interpreter in @tensorflow/tfjs-tflite, with the members that this file uses. */
interface Build {
  readonly HEAPU8: Uint8Array;
  _malloc(size: number): number;
  readonly TFLiteWebModelRunner: {
    CreateFromBufferAndOptions(
      at: number,
      size: number,
      options: object,
    ): {
      ok(): boolean;
      errorMessage(): string;
      value(): { GetInputs(): Vector; GetOutputs(): Vector; Infer(): boolean; delete(): void };
    };
  };
}

const BUILD = `${PACKAGES.tflite}/wasm/tflite_web_api_cc_simd`;
const OPTIONS = {
  numThreads: 1,
  enableWebNNDelegate: false,
  enableProfiling: false,
  maxProfilingBufferEntries: 1,
};

const listOf = (vector: Vector): TfliteTensor[] =>
  Array.from({ length: vector.size() }, (_, i) => vector.get(i));

/** Returns TensorFlow Lite on its WebAssembly interpreter, since the package's own entry works only in a page. */
function interpreter(): Tflite {
  const require = createRequire(import.meta.url);
  return {
    async loadTFLiteModel(buffer) {
      const said: string[] = [];
      const module = await loadBuild(require, said);
      const bytes = new Uint8Array(buffer);
      const at = module._malloc(bytes.length);
      module.HEAPU8.set(bytes, at);
      const opened = module.TFLiteWebModelRunner.CreateFromBufferAndOptions(at, bytes.length, OPTIONS);
      if (!opened.ok())
        throw new TensorError(
          `the network cannot be run by TensorFlow Lite: ${[opened.errorMessage(), ...said].join(" ").trim()}`,
        );
      const runner = opened.value();
      return {
        getInputs: () => listOf(runner.GetInputs()),
        getOutputs: () => listOf(runner.GetOutputs()),
        infer: () => runner.Infer(),
        cleanUp: () => runner.delete(),
      };
    },
  };
}

/** Loads the interpreter. Appends the interpreter's messages about a network to `said`. */
async function loadBuild(require: NodeJS.Require, said: string[]): Promise<Build> {
  let make: (options: object) => Promise<Build>;
  let wasmBinary: Buffer;
  try {
    make = require(`${BUILD}.js`) as typeof make;
    wasmBinary = readFileSync(require.resolve(`${BUILD}.wasm`));
  } catch {
    throw new MissingPackage("a TFLite network", PACKAGES.tflite as string);
  }
  return make({ wasmBinary, print: () => undefined, printErr: (line: string) => void said.push(line) });
}
