/** ONNX Runtime, in Node and as WebAssembly, on the graphs of `onnx-graph.ts`; one thread each. */
import type { Tensor } from "onnxruntime-common";
import type { Found } from "../definition.ts";
import type { Workload } from "../workloads.ts";
import { columnsOf, NotApplicable, type Prepared } from "./common.ts";
import { buildGraph } from "./onnx-graph.ts";

type Outputs = Record<string, Tensor>;

export async function prepareOrt(
  runtime: "node" | "web",
  workload: Workload,
  multiLabel: boolean,
): Promise<Prepared> {
  if (workload.type !== "float32") throw new NotApplicable("its NonMaxSuppression takes float32 only");
  if (multiLabel && workload.kind !== "v8") throw new NotApplicable("measured for v8 only");
  const ort = runtime === "node" ? await import("onnxruntime-node") : await import("onnxruntime-web");
  if (runtime === "web") ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(buildGraph(workload, multiLabel), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    ...(runtime === "web" ? { executionProviders: ["wasm"] } : {}),
  });
  const feeds: Outputs = {};
  for (const [name, { data, dims }] of Object.entries(workload.tensors)) {
    const shape = workload.kind !== "nms" ? dims : name === "boxes" ? [1, ...dims] : [1, 1, ...dims];
    feeds[name] = new ort.Tensor("float32", data as Float32Array, shape);
  }
  let outputs: Outputs = {};
  return {
    run: async () => {
      outputs = (await session.run(feeds)) as Outputs;
      return (outputs.selected ?? outputs.scores).dims[0];
    },
    found: (): Found => {
      if (outputs.selected === undefined) {
        const { boxes, scores, labels } = outputs;
        return columnsOf(
          workload,
          boxes.data as Float32Array,
          scores.data as Float32Array,
          labels.data as BigInt64Array,
        );
      }
      const triples = Array.from(outputs.selected.data as BigInt64Array, Number);
      const kept = triples.filter((_, i) => i % 3 === 2);
      return { count: kept.length, kept, boxes: [], scores: [], classIds: [] };
    },
  };
}
