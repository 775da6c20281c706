/** Reads the first argument of `createDetector`: a model with its runtime, or a session with a config. */
import { isObject } from "../config/fields.ts";
import { isModel } from "../config/model-config.ts";
import { readModel } from "../config/model/model.ts";
import type { Model } from "../config/model/types.ts";
import type { DecoderOptions } from "../config/types.ts";
import { TensorError, refuse, refuseConfig } from "../core/errors.ts";
import { checkOptions, namesOnly } from "../core/options.ts";
import { isBytes, show } from "../core/tensor.ts";
import type { Runtime, Session } from "./session.ts";

/** The bytes of a model file, or its URL, which is fetched. */
export type ModelSource = Uint8Array | ArrayBuffer | string | URL;

/** A network for a detector. */
export type DetectorSource<Opened> =
  | {
      /** The network's own file, ONNX or TFLite. */
      readonly model: ModelSource;
      readonly runtime: Runtime<Uint8Array>;
      /** Config as for `createDecoder`. Default: the facts that the model file states. */
      readonly config?: unknown;
    }
  | {
      /** A network that a runtime has opened: `InferenceSession`, `CompiledModel`, `GraphModel`, ... */
      readonly model: Opened;
      readonly runtime: Runtime<Opened>;
      /** Config as for `createDecoder`, or the result of `readModel`. */
      readonly config: unknown;
    }
  | {
      /** A network opened by your own adapter. */
      readonly session: Session;
      readonly config: unknown;
    };

/** A second network with its options. It finds keypoints in the crop of each detected object. */
export type PointsSource<Opened> = DetectorSource<Opened> & { readonly options?: DetectorOptions };

/** Options of `createDetector`, in addition to the options of `createDecoder`. */
export interface DetectorOptions extends Omit<DecoderOptions, "outputs"> {
  /** Count of runs on a blank image before the detector is ready, since a runtime's first runs are slow. Default 1. */
  readonly warmUp?: number;
  /**
   * Largest count of objects whose keypoints are computed, the best first. Only with `points`. While this many objects
   * are tracked, `detectAll` does not run the detector. Default: no limit.
   */
  readonly most?: number;
  /**
   * True: `detect` and `detectAll` return the same object each time, and the next image overwrites it. No result is
   * copied, which matters for masks. Default false.
   */
  readonly reuse?: boolean;
}

/** Fields of the first argument. `points` is the second network. */
export const FIRST_NAMES: readonly string[] = ["model", "runtime", "session", "config", "points"];
/** Fields of `points`, which has its options among its fields. */
const POINTS_NAMES: readonly string[] = ["model", "runtime", "session", "config", "options"];

/** Throws for an unknown field of the first argument, or of `points`. Says where options belong. */
function checkSource(source: object, isPoints: boolean): void {
  const more = `: options go into ${isPoints ? "points.options" : "the second argument of createDetector"}`;
  const prefix = isPoints ? "points." : "";
  const names = namesOnly(...(isPoints ? POINTS_NAMES : FIRST_NAMES));
  checkOptions(source, names, { prefix, more, name: "createDetector", Kind: TensorError });
}

/** Returns the config, and a function that opens the network. Without a config, takes it from the model file. */
export async function readSource<Opened>(source: DetectorSource<Opened>, isPoints: boolean): Promise<Source> {
  if (typeof source !== "object" || source === null || !("session" in source || "model" in source))
    return refuse("createDetector", show(source), "{ model, runtime } or { session, config }");
  checkSource(source, isPoints);
  if ("session" in source) {
    const { session, config } = source;
    checkSession("session", session);
    return { open: () => Promise.resolve(session), config, file: modelIn(config) };
  }
  const { model, runtime, config } = source as {
    model: ModelSource | Opened;
    runtime: Runtime<Uint8Array | Opened>;
    config?: unknown;
  };
  if (typeof runtime?.open !== "function")
    return refuse("createDetector", `runtime ${show(runtime)}`, "an adapter, such as onnxRuntime(ort)");
  if (typeof (model as { then?: unknown } | null | undefined)?.then === "function")
    return refuse("model", "a promise", "what it resolves to: await it");
  const bytes = await bytesOf(model);
  if (bytes === null && config === undefined)
    return refuseConfig(
      "config",
      "a network that is open already, and no config",
      "one: { family, labels, inputSize } or a config file, or what readModel returned",
    );
  // If there is a config, allow formats that only the runtime can read.
  const read =
    bytes &&
    (await readModel(bytes).catch((error: unknown) => (config === undefined ? throwIt(error) : null)));
  const known = config ?? read;
  return {
    open: async () => {
      const session = await runtime.open(bytes ?? (model as Opened));
      checkSession("what runtime.open() gave", session);
      return session;
    },
    config: known,
    file: read ?? modelIn(known),
  };
}

/** Throws a TensorError for an object that lacks methods of `Session`, such as an ONNX Runtime session itself. */
function checkSession(what: string, session: Session | null | undefined): void {
  const members = ["inputs", "createLane", "close"] as const;
  const lacks = members.filter((name) => (session as Partial<Session> | null)?.[name] === undefined);
  if (lacks.length > 0)
    refuse(
      `createDetector: ${what}`,
      `one without ${lacks.join(", ")}`,
      "a session of this package's adapters, or one of your own with inputs, createLane and close. For " +
        "a file, say { model, runtime: onnxRuntime(ort) }",
    );
}

interface Source {
  readonly open: () => Promise<Session>;
  readonly config: unknown;
  /** The facts that the network's file states. `null` if the file is unknown. */
  readonly file: Model | null;
}

const throwIt = (error: unknown): never => {
  throw error;
};

/** Returns the config if it is a result of `readModel`. Else returns null. */
const modelIn = (config: unknown): Model | null =>
  isObject(config) && isModel(config) ? (config as unknown as Model) : null;

/** Returns the bytes of a model file, `null` for a network that is already open. */
async function bytesOf(model: unknown): Promise<Uint8Array | null> {
  if (isBytes(model)) return new Uint8Array(model.buffer, model.byteOffset, model.byteLength);
  if (model instanceof ArrayBuffer) return new Uint8Array(model);
  if (typeof model !== "string" && !(model instanceof URL)) return null;
  const response = await fetch(model).catch((error: Error) => error);
  if (response instanceof Error)
    return refuse(
      "model",
      `${String(model)}, which cannot be fetched (${response.message})`,
      "an address, or the bytes of the file: await readFile(path) in Node",
    );
  if (!response.ok)
    return refuse("model", `status ${response.status} for ${String(model)}`, "a model file at this address");
  return new Uint8Array(await response.arrayBuffer());
}
