/**
 * Opens the network once, for the detectors of all configs. A lane is the memory of one input, with one run at a time.
 * The agent runs the lane itself, since it may send the outputs without decoding.
 */
import { type InputSpec, type Lane, type Runtime, type Session, onnxRuntime } from "boxwright";
import "./telemetry.ts";
import * as ort from "onnxruntime-node";
import type { Problem } from "../core/errors.ts";
import type { NetworkSettings } from "../settings/schema.ts";

/** A runtime whose session stays open from one detector to the next. */
export interface SharedRuntime extends Runtime<Uint8Array> {
  /** Returns the lane of the newest detector. Its outputs are separate from the decoder's slots. */
  takeLane(): Lane;
  /** Makes a lane without a detector. */
  createLane(spec: InputSpec): Lane;
  /** The network's inputs. */
  readonly inputs: Session["inputs"];
  close(): Promise<void>;
}

/**
 * Returns a problem for each execution provider that this runtime lacks. An existing provider may still fail to start
 * without hardware or a library; the runtime then refuses to open the network.
 */
export function providerProblems(providers: readonly string[] | null): Problem[] {
  const known = ort.listSupportedBackends().map(({ name }) => name);
  const unknown = providers?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length === 0) return [];
  const message = `got ${unknown.join(", ")}, expected some that this runtime has: ${known.join(", ")}`;
  return [{ path: "network.providers", message }];
}

/** Opens the network of an ONNX file. */
export async function openRuntime(
  model: Uint8Array,
  { threads, providers }: Pick<NetworkSettings, "threads" | "providers">,
): Promise<SharedRuntime> {
  // Log errors only: the runtime prints thousands of warnings about initializers that an exporter listed as inputs.
  ort.env.logLevel = "error";
  const runtime = onnxRuntime(ort, {
    logSeverityLevel: 3,
    ...(threads !== null && { intraOpNumThreads: threads }),
    ...(providers !== null && { executionProviders: providers }),
  });
  const session = await runtime.open(model);
  let last: Lane | null = null;
  const shared: Session = {
    inputs: session.inputs,
    overlaps: false,
    createLane(spec) {
      const lane = session.createLane(spec);
      // Keep outputs separate from the decoder's slots, since a packet may need them unchanged.
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
