/** `createDetector`: from an image to detections. Prepares the image, runs the network, decodes its outputs. */
import type { Crop } from "../core/crop.ts";
import { ConfigError, TensorError, mismatch, refuse } from "../core/errors.ts";
import type { EngineName } from "../core/engine-name.ts";
import { TRAITS } from "../core/families.ts";
import { adviceOnCocoLabels } from "../core/labels.ts";
import { namesFor, nearestName } from "../core/names.ts";
import { type Rule, checkOptions, checkValue, namesOnly } from "../core/options.ts";
import { elementType, isBytes, show } from "../core/tensor.ts";
import { readConfig } from "../config/config.ts";
import { inputOf, sizeOf } from "../config/model/input.ts";
import { readModel } from "../config/model/model.ts";
import type { Model } from "../config/model/types.ts";
import { isObject } from "../config/fields.ts";
import { isModel } from "../config/model-config.ts";
import type { Config, DecoderOptions } from "../config/types.ts";
import { familyOf } from "../heads/query.ts";
import { type Decoder, decoderOf } from "../decode/decoder.ts";
import type { Detections } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import type { Outputs } from "../decode/inputs.ts";
import type { ImageInput, PreparedData } from "../decode/prepare.ts";
import { prepareEngine } from "../engine/choose.ts";
import { ALL_TASKS } from "../whole/tasks.ts";
import { type DetectorImage, PixelReader } from "./image.ts";
import { constantOf, isConstant } from "./constants.ts";
import { ChainedDetector, checkPoints } from "./chain.ts";
import { type DetectorFrames, type Images, iteratorOf } from "./iterate.ts";
import type { Detector } from "./types.ts";
import { type Arrival, Arrivals } from "./arrivals.ts";
import { outputReader } from "./outputs.ts";
import type { InputSpec, InputType, Lane, Runtime, Session, SessionTensor } from "./session.ts";

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
}

/**
 * Makes a detector from a network's own file and a runtime that is installed.
 * @param source the network, the adapter of its runtime, and a config if the file does not state enough
 * @param options what overrides the config
 * @throws ConfigError if file, config and options do not say how images are prepared or outputs are decoded: it lists
 * what is missing. TensorError if the network's outputs do not fit. What the runtime throws on a file it cannot open
 * @example
 * import { createDetector } from "boxwright";
 *
 * // A network that finds one thing in the middle of whatever it is given. Adapters make such a session of a runtime.
 * const input = new Float32Array(3 * 32 * 32);
 * const output0 = { data: Float32Array.of(16, 16, 8, 8, 0.9), dims: [1, 1, 5] };
 * const session = {
 *   inputs: [{ name: "images", dims: [1, 3, 32, 32], type: "float32" }],
 *   overlaps: true,
 *   createLane: () => ({ input: () => input, run: async () => ({ output0 }), release() {}, close() {} }),
 *   close() {},
 * };
 * const config = { family: "yolov8", labels: ["thing"], inputSize: [32, 32] };
 * const detector = await createDetector({ session, config });
 * const [found] = await detector.detect({ data: new Uint8Array(64 * 32 * 4), width: 64, height: 32 });
 * console.log(found.label, found.x, found.y, found.width, found.height); // thing 0.375 0.25 0.25 0.5
 */
export async function createDetector<Opened = never, Second = never>(
  source: DetectorSource<Opened> & { readonly points?: PointsSource<Second> },
  options: DetectorOptions = {},
): Promise<Detector> {
  checkDetectorNames(options ?? {});
  const { most = Infinity, ...rest } = options ?? {};
  const { points } = (source as typeof source | null) ?? {};
  if (options?.most !== undefined && !(Number.isInteger(most) && most > 0 && points))
    refuse("options.most", show(most), "a positive whole number, beside a network of points", RangeError);
  const detector = await openDetector<Opened>(source, rest);
  if (points === undefined) return detector;
  try {
    const second = await openDetector<Second>(points, points?.options ?? {});
    try {
      checkPoints(second.decoder);
    } catch (error) {
      await second.close();
      throw error;
    }
    return new ChainedDetector(detector, second, most);
  } catch (error) {
    await detector.close();
    throw error;
  }
}

/** Options that a detector has and a decoder lacks. `readConfig` checks the others. */
const OWN_OPTIONS = ["warmUp", "most"];

/** Throws a ConfigError for a misspelt option of the detector's own, which `readConfig` does not know. */
function checkDetectorNames(options: object): void {
  for (const name of Object.keys(options))
    if (!OWN_OPTIONS.includes(name) && nearestName(name, OWN_OPTIONS) !== undefined)
      throw new ConfigError([
        { path: `options.${name}`, message: mismatch("an unknown name", namesFor(name, OWN_OPTIONS)) },
      ]);
}

/** Fields of the first argument of `createDetector`. `options` are those of a second network, in `points`. */
const SOURCE = /* @__PURE__ */ namesOnly("model", "runtime", "session", "config", "points", "options");

const WARM_UP: Rule<number> = [
  "a whole number of runs from 0 to 1000",
  (x) => Number.isInteger(x) && (x as number) >= 0 && (x as number) <= 1000,
];

/** Opens one network, and runs it on a blank image. */
async function openDetector<Opened>(
  source: DetectorSource<Opened>,
  options: DetectorOptions,
): Promise<SessionDetector> {
  const { warmUp, ...stated } = options ?? {};
  checkValue("options.warmUp", warmUp ?? 1, WARM_UP);
  const { open, config: unread, file } = await readSource(source);
  let session: Session | null = "session" in source ? source.session : null;
  try {
    // Before a runtime is started: it may take seconds.
    const config = readConfig(unread, stated);
    session ??= await open();
    const { input, others } = inputsOf(session);
    await prepareEngine(stated.engine ?? "auto");
    const known = withInput(config, input, file);
    const decoder = decoderOf(others.length > 0 ? inInputPixels(known) : known, stated, ALL_TASKS);
    checkPreparation(decoder);
    const spec = inputSpecOf(input, others, decoder);
    const { overlaps } = session;
    const lanes: FrameLane[] = [];
    for (let i = 0; i < (overlaps ? 2 : 1); i++)
      lanes.push(new FrameLane(session.createLane(spec), decoder, outputReader(file)));
    const detector = new SessionDetector(session, decoder, lanes);
    for (let i = 0; i < (warmUp ?? 1); i++) await detector.warmUp(blankImage(decoder));
    if (stated.onNote) noteMissingNames(decoder, stated.onNote);
    return detector;
  } catch (error) {
    await session?.close();
    throw error;
  }
}

/** Tells how class ids get names, if their count is that of COCO. */
function noteMissingNames(decoder: Decoder, onNote: (note: string) => void): void {
  const { classes } = decoder.describe().json as { readonly classes?: number | null };
  const advice = adviceOnCocoLabels(decoder.config.labels, classes ?? decoder.config.classes);
  if (advice !== null) onNote(`the network has class ids and no names: ${advice}`);
}

/** Returns how the network is opened, and its config. A model file is read for the config that it states. */
async function readSource<Opened>(source: DetectorSource<Opened>): Promise<Source> {
  if (typeof source !== "object" || source === null || !("session" in source || "model" in source))
    return refuse("createDetector", show(source), "{ model, runtime } or { session, config }");
  checkOptions(source, SOURCE, { name: "createDetector", Kind: TensorError });
  if ("session" in source) {
    const { session, config } = source;
    // Every adapter makes these members. An ONNX Runtime session is not such a session: it needs its adapter.
    const members = ["inputs", "createLane", "close"] as const;
    const lacks = members.filter((name) => (session as Partial<Session> | null)?.[name] === undefined);
    if (lacks.length > 0)
      return refuse(
        "createDetector: session",
        `one without ${lacks.join(", ")}`,
        "a session of this package's adapters, or one of your own with inputs, createLane and close. For " +
          "a file, say { model, runtime: onnxRuntime(ort) }",
      );
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
    open: async () => runtime.open(bytes ?? (model as Opened)),
    config: known,
    file: read ?? modelIn(known),
  };
}

/** A network that can be opened. */
interface Source {
  readonly open: () => Promise<Session>;
  readonly config: unknown;
  /** What the network's file says, if it is known. */
  readonly file: Model | null;
}

const throwIt = (error: unknown): never => {
  throw error;
};

/** Returns the config if it is what `readModel` returned. */
const modelIn = (config: unknown): Model | null =>
  isObject(config) && isModel(config) ? (config as unknown as Model) : null;

/** Returns the bytes of a model file, `null` if the model is none. */
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

/** Returns the input that takes the picture, and those that tell its size. */
function inputsOf({ inputs, feedsConstants = false }: Session): {
  readonly input: SessionTensor;
  readonly others: readonly SessionTensor[];
} {
  if (inputs.length === 1) return { input: inputs[0], others: [] };
  const names = inputs.map(({ name }) => name).join(", ");
  const pictures = inputs.filter((input) => !isConstant(input));
  if (pictures.length === 1 && feedsConstants)
    return { input: pictures[0], others: inputs.filter(isConstant) };
  return refuse(
    "inputs",
    `${inputs.length} inputs (${names})`,
    pictures.length === 1
      ? "one, or a runtime whose session feeds constants, such as onnxRuntime. Run such a network " +
          "yourself, and decode its outputs by createDecoder"
      : "one, which takes the picture. Run such a network yourself, and decode its outputs by createDecoder",
  );
}

/** Returns the config for a network that is told the size of its input: its boxes are in pixels of the input. */
function inInputPixels(config: Config): Config {
  const { finishedIn } = TRAITS[familyOf(config, config.outputs ?? []).family];
  return (config.coordinates ?? finishedIn) === "photo" ? { ...config, coordinates: "pixels" } : config;
}

/**
 * Returns the config, completed by what runtime and file state of the input. Fields of the config's `prepare` win.
 * @throws ConfigError if the config states another input size than the network
 */
function withInput(config: Config, { name, dims, type }: SessionTensor, file: Model | null): Config {
  const quantisation = file?.input?.quantisation ?? null;
  const tensor = { name, dims, type: type ?? "f32", quantisation: null, signature: null };
  const input = inputOf([tensor], null);
  const known = elementType(type ?? "f32");
  const isPicture = PICTURE_TYPES.find((allowed) => allowed === known);
  const told = sizeOf(input);
  const size = told?.every((side) => side > 0) ? told : null;
  const stated = config.inputSize;
  if (size && stated && size.join() !== stated.join())
    throw new ConfigError([
      {
        path: "inputSize",
        message: mismatch(
          `${stated.join("x")}, but the network's input ${name} [${dims?.join()}] takes ${size.join("x")}`,
          `${size.join("x")}, or a network that was exported for ${stated.join("x")}. Leave the size out to take the network's`,
        ),
        option: "inputSize",
      },
    ]);
  if (!isPicture)
    refuse(
      "inputs",
      `${name} of type ${show(type)}`,
      `one that takes a picture: ${PICTURE_TYPES.join(", ")}`,
    );
  return {
    ...config,
    inputSize: size ?? stated,
    prepare: {
      ...(input?.layout && { layout: input.layout }),
      ...(type !== null && { type: isPicture }),
      ...(quantisation?.scale.length === 1 && {
        scale: quantisation.scale[0],
        zeroPoint: quantisation.zeroPoint[0],
      }),
      ...config.prepare,
    },
  };
}

const PICTURE_TYPES: readonly InputType[] = ["f32", "f16", "u8", "i8"];

/** Throws if neither the config nor the family says how its networks want their picture. */
function checkPreparation({ config, prepareRule }: Decoder): void {
  const { family } = familyOf(config, config.outputs ?? []);
  const { prepare, head } = TRAITS[family];
  const states = (["mean", "std", "factor"] as const).some((key) => prepareRule[key] !== undefined);
  if (head === "plain" && prepare === undefined && !states)
    throw new ConfigError([
      {
        path: "options.prepare",
        message: mismatch(
          `the family "${family}", whose networks share no preparation`,
          'how this one wants its picture, for instance prepare: { resize: "letterbox", order: "RGB", mean: 0, std: 255 }',
        ),
        option: "prepare",
      },
    ]);
}

/** Returns the input tensor of a frame. */
function inputSpecOf(
  { name, dims }: SessionTensor,
  others: readonly SessionTensor[],
  { prepareRule }: Decoder,
): InputSpec {
  const { size, layout = "NCHW", type = "f32" } = prepareRule;
  if (!size)
    throw new ConfigError([
      {
        path: "options.inputSize",
        message: mismatch(
          `an input ${name} [${dims?.join() ?? "?"}], whose size is open`,
          "[width, height] in pixels",
        ),
        option: "inputSize",
      },
    ]);
  const [width, height] = size;
  const own = layout === "NCHW" ? [1, 3, height, width] : [1, height, width, 3];
  const isOther = dims?.some((given, i) => typeof given === "number" && given > 0 && given !== own[i]);
  if (isOther || (dims && dims.length !== own.length))
    refuse("inputs", `${name} [${dims?.join()}]`, `[${own.join()}], one picture of three channels`);
  const constants = others.map((other) => constantOf(other, size));
  return { name, dims: own, type, ...(constants.length > 0 && { constants }) };
}

function blankImage({ prepareRule }: Decoder): ImageInput {
  const [width, height] = prepareRule.size as readonly [number, number];
  return { data: new Uint8Array(width * height * 4).fill(114), width, height };
}

interface MutableTimings {
  prepare: number;
  run: number;
  decode: number;
}

/** A frame under way: its memory in the runtime, its outputs, and what takes boxes back to its image. */
class FrameLane {
  readonly #lane: Lane;
  readonly #decoder: Decoder;
  readonly #options: { readonly engine: EngineName; into?: PreparedData; crop?: Crop };
  #frame: Frame | undefined;
  #outputs: Outputs | null = null;
  readonly #read: (outputs: Outputs) => Outputs;

  constructor(lane: Lane, decoder: Decoder, read: (outputs: Outputs) => Outputs) {
    this.#lane = lane;
    this.#decoder = decoder;
    this.#read = read;
    this.#options = { engine: decoder.engine };
  }

  prepare(image: ImageInput, timings: MutableTimings, crop?: Crop): void {
    const start = performance.now();
    this.#options.into = this.#lane.input() as PreparedData;
    this.#options.crop = crop;
    this.#frame = this.#decoder.prepare(image, this.#options).frame;
    timings.prepare = performance.now() - start;
  }

  /** Runs the network. `isAlone`: the decoder is not at work, and the runtime may write to its slots. */
  async run(isAlone: boolean, timings: MutableTimings): Promise<void> {
    const start = performance.now();
    this.#outputs = await this.#lane.run(isAlone ? this.#decoder.slots : null);
    timings.run = performance.now() - start;
  }

  decode(timings: MutableTimings): Detections {
    const start = performance.now();
    try {
      return this.#decoder.decode(this.#outputs ? this.#read(this.#outputs) : undefined, this.#frame);
    } finally {
      this.#lane.release();
      timings.decode = performance.now() - start;
    }
  }

  /** Frees outputs that are not decoded. */
  discard(): void {
    this.#lane.release();
  }

  close(): void {
    this.#lane.close();
  }
}

const ignore = (): void => undefined;

class SessionDetector implements Detector {
  readonly decoder: Decoder;
  readonly timings: MutableTimings = { prepare: 0, run: 0, decode: 0 };
  readonly #session: Session;
  readonly #lanes: readonly FrameLane[];
  readonly #pixels = new PixelReader();
  #state: "free" | "busy" | "closed" = "free";

  constructor(session: Session, decoder: Decoder, lanes: readonly FrameLane[]) {
    this.#session = session;
    this.decoder = decoder;
    this.#lanes = lanes;
  }

  async detect(image: DetectorImage, options?: { readonly crop?: Crop }): Promise<Detections> {
    checkOptions(options ?? {}, namesOnly("crop"));
    this.#enter("detect");
    try {
      return await this.#detectOne(image, options?.crop);
    } finally {
      this.#leave();
    }
  }

  /** Runs the network and does not decode: what it makes of a blank image may be anything. */
  async warmUp(image: ImageInput): Promise<void> {
    const [lane] = this.#lanes;
    lane.prepare(image, this.timings);
    await lane.run(true, this.timings);
    lane.discard();
  }

  async #detectOne(image: DetectorImage, crop?: Crop): Promise<Detections> {
    const [lane] = this.#lanes;
    const pixels = this.#pixels.readNow(image);
    lane.prepare(pixels instanceof Promise ? await pixels : pixels, this.timings, crop);
    await lane.run(true, this.timings);
    return lane.decode(this.timings);
  }

  async *detectAll(
    frames: DetectorFrames,
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Detections, void, undefined> {
    const { signal } = checkOptions((options as typeof options | null) ?? {}, namesOnly("signal"));
    // Before the detector counts as busy: it stays free if there is nothing to iterate over.
    const source = iteratorOf(frames);
    this.#enter("detectAll");
    const arrivals = new Arrivals(signal);
    try {
      if (this.#session.overlaps) yield* this.#overlapped(source, arrivals);
      else
        for (;;) {
          const coming = arrivals.watch(source.next());
          await arrivals.next();
          const { done, value } = coming.take();
          if (done) return;
          yield await this.#detectOne(value);
        }
    } finally {
      arrivals.end();
      // The source may wait for a frame that never comes.
      void Promise.resolve(source.return?.()).catch(ignore);
      this.#leave();
    }
  }

  /** Prepares the next image while one runs, and decodes the one before. */
  async *#overlapped(source: Images, arrivals: Arrivals): AsyncGenerator<Detections, void, undefined> {
    let running: Arrival<void> | null = null;
    let last = this.#lanes[1];
    try {
      let coming = arrivals.watch(source.next());
      for (;;) {
        const first = await arrivals.next();
        if (running !== null && first === running) {
          // No image has come: the result need not wait for it.
          running.take();
          running = null;
          yield last.decode(this.timings);
          continue;
        }
        // Otherwise a run that was waited for below.
        if (first !== coming) continue;
        const { done, value } = coming.take();
        if (done) break;
        const lane: FrameLane = last === this.#lanes[0] ? this.#lanes[1] : this.#lanes[0];
        const pixels = this.#pixels.readNow(value);
        lane.prepare(pixels instanceof Promise ? await pixels : pixels, this.timings);
        coming = arrivals.watch(source.next());
        const hasResult = running !== null;
        await running?.promise;
        running = arrivals.watch(lane.run(false, this.timings));
        const before = last;
        last = lane;
        if (hasResult) yield before.decode(this.timings);
      }
      if (running) {
        await running.promise;
        running = null;
        yield last.decode(this.timings);
      }
    } finally {
      await running?.promise.catch(ignore);
    }
  }

  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#enter("close");
    this.#state = "closed";
    for (const lane of this.#lanes) lane.close();
    await this.#session.close();
  }

  #enter(call: string): void {
    if (this.#state === "closed")
      throw new TensorError(`${call}() was called on a detector that is closed. Make another one.`);
    if (this.#state === "busy")
      throw new TensorError(
        `${call}() was called while another call of the same detector has not ended, and both have one ` +
          "result. Await it first, or use detectAll().",
      );
    this.#state = "busy";
  }

  #leave(): void {
    if (this.#state === "busy") this.#state = "free";
  }
}
