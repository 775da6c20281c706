/** Adapter for WebNN: graphs that a page built with `MLGraphBuilder`. */
import { TensorError } from "../core/errors.ts";
import { ELEMENTS, TYPES, elementType, volume } from "../core/tensor.ts";
import type { Outputs, Slot } from "../decode/inputs.ts";
import { type InputSpec, type Lane, type Runtime, checkModule, ownInput } from "./session.ts";

/** The members of an `MLTensor` that are used here. */
export interface MlTensor {
  readonly dataType: string;
  readonly shape: readonly number[];
}

/** The members of an `MLContext` that are used here. */
export interface MlContext {
  writeTensor(tensor: never, data: never): void;
  dispatch(graph: never, inputs: never, outputs: never): void;
  readTensor(tensor: never, into: never): Promise<unknown>;
}

/** A graph with its tensors: inputs made with `writable: true`, outputs made with `readable: true`. */
export interface WebNnGraph {
  readonly graph: object;
  readonly inputs: { readonly [name: string]: MlTensor };
  readonly outputs: { readonly [name: string]: MlTensor };
}

/**
 * Runs graphs of WebNN. The browser writes outputs directly into the decoder's memory.
 * @param context the `MLContext` that the graph was built in
 * @example
 * import { createDetector, webnn } from "boxwright";
 *
 * // In a page: const context = await navigator.ml.createContext(). Here a context that answers with zeros.
 * const context = { writeTensor() {}, dispatch() {}, readTensor: async () => {} };
 * const tensor = (...shape: number[]) => ({ dataType: "float32", shape });
 * const model = { graph: {}, inputs: { images: tensor(1, 3, 64, 64) }, outputs: { output0: tensor(1, 6, 84) } };
 * const config = { family: "yolov8", labels: ["cat", "dog"] };
 * const detector = await createDetector({ model, runtime: webnn(context), config });
 * console.log((await detector.detect({ data: new Uint8Array(64), width: 4, height: 4 })).length); // 0
 */
export function webnn(context: MlContext): Runtime<WebNnGraph> {
  checkModule("webnn", context, "dispatch");
  return {
    name: "webnn",
    open: async ({ graph, inputs, outputs }) => ({
      overlaps: true,
      feedsConstants: true,
      inputs: Object.entries(inputs).map(([name, { shape, dataType }]) => ({
        name,
        dims: shape,
        type: dataType,
      })),
      createLane: (input) => laneOf(context, { graph, inputs, outputs }, input),
      // Nothing to free: the page made the graph and its tensors, and destroys them.
      close: () => undefined,
    }),
  };
}

function arraysFor(outputs: WebNnGraph["outputs"]): Record<string, Slot> {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { dataType, shape }]) => {
      const type = elementType(dataType);
      if (type === null)
        throw new TensorError(`tensor "${name}": got the type ${dataType}, expected ${TYPES.join(", ")}`);
      const length = volume(shape);
      const data = new ELEMENTS[type].array(new ArrayBuffer(length * ELEMENTS[type].bytes), 0, length);
      return [name, { data, dims: shape, type }];
    }),
  );
}

function laneOf(context: MlContext, { graph, inputs, outputs }: WebNnGraph, spec: InputSpec): Lane {
  const input = ownInput(spec);
  /** Memory for outputs if the decoder's slots are not available, such as while the decoder works. */
  let own: Record<string, Slot> | null = null;
  for (const { name, data } of spec.constants ?? [])
    context.writeTensor(inputs[name] as never, data as never);
  return {
    input: () => input.data,
    // Two lanes may share the tensors of the graph, since a context runs its commands in order.
    run: async (slots) => {
      context.writeTensor(inputs[spec.name] as never, input.data as never);
      context.dispatch(graph as never, inputs as never, outputs as never);
      const isFilled = slots !== null && Object.keys(slots).length > 0;
      const into = isFilled ? slots : (own ??= arraysFor(outputs));
      await Promise.all(
        Object.keys(into).map((name) => context.readTensor(outputs[name] as never, into[name].data as never)),
      );
      return isFilled ? null : (into as Outputs);
    },
    // Nothing to free: the tensors belong to the page.
    release: () => undefined,
    close: () => undefined,
  };
}
