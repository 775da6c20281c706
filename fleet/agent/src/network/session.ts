/**
 * Opens the network once, for the detectors of all configs. A lane is the memory of an input, with one run at a time.
 * The agent runs the detector's lane by itself, since it may send the outputs undecoded.
 */
import { type InputSpec, type Lane, type Runtime, type Session, onnxRuntime } from "boxwright";
import * as ort from "onnxruntime-node";

/** A runtime whose session stays open from one detector to the next. */
export interface SharedRuntime extends Runtime<Uint8Array> {
  /** Returns the lane that the newest detector made. Its outputs are not the slots of the decoder. */
  takeLane(): Lane;
  /** Makes a lane without a detector. */
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
      // Write no outputs into the decoder's slots: a packet may need them as the network gave them.
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
