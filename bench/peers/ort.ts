/** ONNX Runtime, in Node and as WebAssembly, on the graphs of `onnx-graph.ts`; one thread each. */
import type { Tensor } from "onnxruntime-common";
import type { Workload } from "../workloads.ts";
import { buildGraph, inputDims } from "./onnx-graph.ts";
import { cornersIn01, keptOnly, NotApplicable, type Prepared } from "./prepared.ts";

type Outputs = Record<string, Tensor>;

export async function prepare(runtime: "node" | "web", workload: Workload): Promise<Prepared> {
  if (workload.type !== "float32") throw new NotApplicable("its NonMaxSuppression takes float32 only");
  const ort = runtime === "node" ? await import("onnxruntime-node") : await import("onnxruntime-web");
  if (runtime === "web") ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(buildGraph(workload), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    ...(runtime === "web" ? { executionProviders: ["wasm"] } : {}),
  });
  const feeds: Outputs = {};
  for (const [name, { data }] of Object.entries(workload.tensors))
    feeds[name] = new ort.Tensor("float32", data as Float32Array, inputDims(workload, name));
  let outputs: Outputs = {};
  return {
    run: async () => {
      outputs = (await session.run(feeds)) as Outputs;
      return (outputs.selected ?? outputs.scores).dims[0];
    },
    answer: () => {
      const { selected, boxes, scores, labels } = outputs;
      // The operator returns triples of batch, class and box.
      if (selected !== undefined)
        return keptOnly(Array.from(selected.data as BigInt64Array, Number).filter((_, i) => i % 3 === 2));
      const columns = [boxes.data as Float32Array, scores.data as Float32Array] as const;
      return cornersIn01(workload, ...columns, labels.data as BigInt64Array);
    },
  };
}
