/**
 * TensorFlow Lite in Node: the interpreter of @tensorflow/tfjs-tflite without the page around it. What `interpreterOf`
 * returns is passed to the adapter `tflite`.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const BUILD = "@tensorflow/tfjs-tflite/wasm/tflite_web_api_cc_simd";
const OPTIONS = {
  numThreads: 1,
  enableWebNNDelegate: false,
  enableProfiling: false,
  maxProfilingBufferEntries: 1,
};

/**
 * Returns { loadTFLiteModel } of a package that was fetched.
 * @param program path of a file in the folder that has it in node_modules
 */
export function interpreterOf(program) {
  const require = createRequire(program);
  const list = (vector) => Array.from({ length: vector.size() }, (_, i) => vector.get(i));
  return {
    async loadTFLiteModel(buffer) {
      const module = await require(`${BUILD}.js`)({
        wasmBinary: readFileSync(require.resolve(`${BUILD}.wasm`)),
        printErr: () => undefined,
      });
      const bytes = new Uint8Array(buffer);
      const at = module._malloc(bytes.length);
      module.HEAPU8.set(bytes, at);
      const opened = module.TFLiteWebModelRunner.CreateFromBufferAndOptions(at, bytes.length, OPTIONS);
      if (!opened.ok()) throw new Error(opened.errorMessage());
      const runner = opened.value();
      return {
        getInputs: () => list(runner.GetInputs()),
        getOutputs: () => list(runner.GetOutputs()),
        infer: () => runner.Infer(),
        cleanUp: () => runner.delete(),
      };
    },
  };
}
