/**
 * The network as its runtime opened it, once. Each config makes a detector over it by `createDetector`, and the agent
 * asks the detector's lane for the outputs, which may be sent undecoded.
 */
import { type InputSpec, type Lane, type Runtime, type Session, onnxRuntime } from "boxwright/detect";
import * as ort from "onnxruntime-node";

/** A runtime whose session stays open from one detector to the next. */
export interface SharedRuntime extends Runtime<Uint8Array> {
  /** Returns the lane that the last detector made, with outputs in memory of their own. */
  takeLane(): Lane;
  /** Returns memory for the input, without a detector. */
  createLane(spec: InputSpec): Lane;
  /** The network's inputs. */
  readonly inputs: Session["inputs"];
  close(): Promise<void>;
}

/** Opens the network of an ONNX file. */
export async function openRuntime(model: Uint8Array, threads: number | null): Promise<SharedRuntime> {
  // The runtime warns of each initializer that an exporter listed as an input: thousands of lines.
  ort.env.logLevel = "error";
  const runtime = onnxRuntime(ort, {
    logSeverityLevel: 3,
    ...(threads !== null && { intraOpNumThreads: threads }),
  });
  const session = await runtime.open(model);
  let last: Lane | null = null;
  const shared: Session = {
    inputs: session.inputs,
    overlaps: false,
    createLane(spec) {
      const lane = session.createLane(spec);
      // Outputs are not written into the decoder's slots: a packet may need them as the network gave them.
      last = {
        input: () => lane.input(),
        run: () => lane.run(null),
        release: () => lane.release(),
        close: () => lane.close(),
      };
      return last;
    },
    close: () => undefined,
  };
  return {
    name: "onnxRuntime",
    open: () => Promise.resolve(shared),
    takeLane: () => last!,
    createLane: (spec) => shared.createLane(spec),
    inputs: session.inputs,
    close: async () => session.close(),
  };
}
