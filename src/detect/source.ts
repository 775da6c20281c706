/** Reads what a detector is made of: a model file and a runtime, or a session and a config. */
import { isObject } from "../config/fields.ts";
import { isModel } from "../config/model-config.ts";
import { readModel } from "../config/model/model.ts";
import type { Model } from "../config/model/types.ts";
import type { DecoderOptions } from "../config/types.ts";
import { ConfigError, TensorError, mismatch, refuse } from "../core/errors.ts";
import { checkOptions, namesOnly } from "../core/options.ts";
import { isBytes, show } from "../core/tensor.ts";
import type { Runtime, Session } from "./session.ts";

/** The bytes of a model file, or where a page fetches it. */
export type ModelSource = Uint8Array | ArrayBuffer | string | URL;

/** A network for a detector. */
export type DetectorSource<Opened> =
  | {
      /** The network's own file: ONNX, TFLite. */
      readonly model: ModelSource;
      readonly runtime: Runtime<Uint8Array>;
      /** Config of `createDecoder`. Default: what the file says. */
      readonly config?: unknown;
    }
  | {
      /** A network that its runtime opened already: `InferenceSession`, `CompiledModel`, `GraphModel`, ... */
      readonly model: Opened;
      readonly runtime: Runtime<Opened>;
      /** Config of `createDecoder`, or what `readModel` returned. */
      readonly config: unknown;
    }
  | {
      /** A network by an adapter of your own. */
      readonly session: Session;
      readonly config: unknown;
    };

/** A network of points that gets the crop of each object that a detector finds, and its options. */
export type PointsSource<Opened> = DetectorSource<Opened> & { readonly options?: DetectorOptions };

/** Options of `createDetector`: those of `createDecoder`, and these. */
export interface DetectorOptions extends Omit<DecoderOptions, "outputs"> {
  /** Runs on a blank image before the detector is ready. The first run of most runtimes is slow. Default 1. */
  readonly warmUp?: number;
  /**
   * With `points`: most objects whose points are found in an image, the best first. `detectAll` leaves the detector out
   * while so many objects are tracked from the frame before. Default: all of them.
   */
  readonly most?: number;
  /**
   * True: `detect` and `detectAll` return one result again and again, which the next image overwrites. A loop that is
   * done with a result before the next image saves the copy, which matters for masks. Default false.
   */
  readonly reuse?: boolean;
}

/** Fields of the first argument of `createDetector`. `options` are those of a second network, in `points`. */
const SOURCE = /* @__PURE__ */ namesOnly("model", "runtime", "session", "config", "points", "options");

/** Returns how the network is opened, and its config. A model file is read for the config that it states. */
export async function readSource<Opened>(source: DetectorSource<Opened>): Promise<Source> {
  if (typeof source !== "object" || source === null || !("session" in source || "model" in source))
    return refuse("createDetector", show(source), "{ model, runtime } or { session, config }");
  checkOptions(source, SOURCE, { name: "createDetector", Kind: TensorError });
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
  const bytes = await bytesOf(model);
  if (bytes === null && config === undefined)
    throw new ConfigError([
      {
        path: "config",
        message: mismatch(
          "a network that is open already, and no config",
          "one: { family, labels, inputSize } or a config file, or what readModel returned",
        ),
      },
    ]);
  // A runtime may read formats that readModel does not, if there is a config.
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

/** Throws a TensorError for what lacks a member that every adapter makes, such as a session of ONNX Runtime itself. */
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

/** A network that can be opened. */
interface Source {
  readonly open: () => Promise<Session>;
  readonly config: unknown;
  /** The statements of the network's file, if the file is known. */
  readonly file: Model | null;
}

const throwIt = (error: unknown): never => {
  throw error;
};

/** Returns the config if `readModel` made it, else null. */
const modelIn = (config: unknown): Model | null =>
  isObject(config) && isModel(config) ? (config as unknown as Model) : null;

/** Returns the bytes of a model file, `null` if the model is a network that is open already. */
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
