/** Prepares images, runs an opened network on them and decodes. Uses one lane, or two so that frames overlap. */
import type { Crop } from "../core/crop.ts";
import type { EngineName } from "../core/engine-name.ts";
import { refuse } from "../core/errors.ts";
import { checkOptions, namesOnly } from "../core/options.ts";
import { show } from "../core/tensor.ts";
import type { Decoder } from "../decode/decoder.ts";
import type { Detections } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import type { Outputs } from "../decode/inputs.ts";
import type { ImageInput, PreparedData } from "../decode/prepare.ts";
import type { Arrival, Arrivals } from "./arrivals.ts";
import { type DetectorImage, PixelReader } from "./image.ts";
import {
  type DetectAllOptions,
  type DetectorFrames,
  type Images,
  detectFrames,
  oneByOne,
} from "./iterate.ts";
import { OneCall } from "./one-call.ts";
import type { Lane, Session } from "./session.ts";
import type { Detector } from "./types.ts";

interface MutableTimings {
  prepare: number;
  run: number;
  decode: number;
}

/**
 * A lane with the state of its current frame: the prepared input in the runtime's memory, the outputs, and the `frame`
 * (the transform back to the image) for the decoder.
 */
export class FrameLane {
  readonly #lane: Lane;
  readonly #decoder: Decoder;
  readonly #options: { readonly engine: EngineName; into?: PreparedData; crop?: Crop };
  #frame: Frame | undefined;
  #outputs: Outputs | null = null;
  #areInSlots = false;
  readonly #read: (outputs: Outputs) => Outputs;

  constructor(lane: Lane, decoder: Decoder, read: (outputs: Outputs) => Outputs) {
    const lacks = LANE.filter((name) => typeof (lane as Partial<Lane> | null)?.[name] !== "function");
    if (lacks.length > 0)
      refuse("session.createLane", `a lane without ${lacks.join(", ")}`, `an object with ${LANE.join(", ")}`);
    this.#lane = lane;
    this.#decoder = decoder;
    this.#read = read;
    this.#options = { engine: decoder.engine };
  }

  prepare(image: ImageInput, timings: MutableTimings, crop?: Crop): void {
    const start = performance.now();
    const into = this.#lane.input() as PreparedData | undefined;
    // Refuse missing memory: the network would never read the prepared picture.
    if (!into) refuse("session: input() of a lane", show(into), "the memory of the input tensor");
    this.#options.into = into;
    this.#options.crop = crop;
    this.#frame = this.#decoder.prepare(image, this.#options).frame;
    timings.prepare = performance.now() - start;
  }

  /** Runs the network. If `isAlone`, the decoder is idle, so the runtime may write outputs to the decoder's slots. */
  async run(isAlone: boolean, timings: MutableTimings): Promise<void> {
    const start = performance.now();
    const slots = isAlone ? this.#decoder.slots : null;
    this.#outputs = await this.#lane.run(slots);
    this.#areInSlots = this.#outputs === null && Object.keys(slots ?? {}).length > 0;
    timings.run = performance.now() - start;
  }

  decode(timings: MutableTimings): Detections {
    const start = performance.now();
    try {
      // Refuse a run without outputs: the decoder would otherwise decode the last frame's outputs again.
      if (!this.#outputs && !this.#areInSlots)
        refuse(
          "session: run() of a lane",
          show(this.#outputs),
          "the outputs, or null if it wrote them into the slots that it was given",
        );
      return this.#decoder.decode(this.#outputs ? this.#read(this.#outputs) : undefined, this.#frame);
    } finally {
      this.#lane.release();
      timings.decode = performance.now() - start;
    }
  }

  /** Frees outputs without decoding them. */
  discard(): void {
    this.#lane.release();
  }

  close(): void {
    this.#lane.close();
  }
}

/** Methods that a lane must have. */
const LANE = ["input", "run", "release", "close"] as const;

const ignore = (): void => undefined;

export class SessionDetector implements Detector {
  readonly decoder: Decoder;
  readonly timings: MutableTimings = { prepare: 0, run: 0, decode: 0 };
  readonly #session: Session;
  readonly #lanes: readonly FrameLane[];
  readonly #pixels = new PixelReader();
  readonly #calls = new OneCall();
  /** True if callers get the decoder's result uncopied. The next image may overwrite this result. */
  readonly #reuses: boolean;

  constructor(session: Session, decoder: Decoder, lanes: readonly FrameLane[], reuses: boolean) {
    this.#session = session;
    this.decoder = decoder;
    this.#lanes = lanes;
    this.#reuses = reuses;
  }

  async detect(image: DetectorImage, options?: { readonly crop?: Crop }): Promise<Detections> {
    checkOptions(options ?? {}, namesOnly("crop"));
    this.#calls.enter("detect");
    try {
      return await this.#detectOne(image, options?.crop);
    } finally {
      this.#calls.leave();
    }
  }

  /** Runs the network on a blank image and discards the outputs. */
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
    return this.#decode(lane);
  }

  #decode(lane: FrameLane): Detections {
    const found = lane.decode(this.timings);
    return this.#reuses ? found : found.copy();
  }

  detectAll(
    frames: DetectorFrames,
    options: DetectAllOptions = {},
  ): AsyncGenerator<Detections, void, undefined> {
    return detectFrames(frames, options, this.#calls, (source, arrivals) =>
      this.#session.overlaps ? this.#overlapped(source, arrivals) : this.#detectEach(source, arrivals),
    );
  }

  async *#detectEach(source: Images, arrivals: Arrivals): AsyncGenerator<Detections, void, undefined> {
    for await (const image of oneByOne(source, arrivals)) yield await this.#detectOne(image);
  }

  /** Decodes the last image and prepares the next image while the network runs on the current one. */
  async *#overlapped(source: Images, arrivals: Arrivals): AsyncGenerator<Detections, void, undefined> {
    let running: Arrival<void> | null = null;
    let last = this.#lanes[1];
    try {
      let coming = arrivals.watch(source.next());
      for (;;) {
        const first = await arrivals.next();
        if (running !== null && first === running) {
          // The run ended before the next image arrived, so yield its result now.
          running.take();
          running = null;
          yield this.#decode(last);
          continue;
        }
        // Skip the arrival of a run that was already awaited by `await running?.promise` below.
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
        if (hasResult) yield this.#decode(before);
      }
      if (running) {
        await running.promise;
        running = null;
        yield this.#decode(last);
      }
    } finally {
      await running?.promise.catch(ignore);
    }
  }

  close(): Promise<void> {
    return this.#calls.close(async () => {
      for (const lane of this.#lanes) lane.close();
      await this.#session.close();
    });
  }
}
