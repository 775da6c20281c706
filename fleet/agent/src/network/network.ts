/** Runs pictures through the network, one at a time, with the model and config in use at that moment. */
import { readFile } from "node:fs/promises";
import {
  type Frame,
  type ImageInput,
  type Outputs,
  type PacketAbout,
  type PacketKind,
  type TensorInput,
  fromPacket,
  toPacket,
} from "boxwright";
import { messageOf } from "boxwright-service/errors";
import { Bell, Turns } from "../core/wait.ts";
import type { NetworkSettings } from "../settings/schema.ts";
import { type NetworkPlan, makePlan } from "./plan.ts";
import { type SharedRuntime, openRuntime } from "./session.ts";

/** Milliseconds of each step of one frame. */
export interface StepTimes {
  readonly prepare: number;
  readonly run: number;
  /** Decoding, if this device decodes, and making the packet. */
  readonly pack: number;
}

/** A frame that went through the network. */
export interface Processed {
  readonly packet: Uint8Array;
  readonly kind: PacketKind;
  readonly times: StepTimes;
  /** Plan of the config with which the frame was processed. */
  readonly plan: NetworkPlan;
}

/** A frame while its outputs exist. They are gone when `onSeen` returns. */
export interface SeenFrame extends Pick<Processed, "packet" | "kind" | "times" | "plan"> {
  readonly image: ImageInput;
  readonly about: PacketAbout;
  readonly outputs: Outputs;
  readonly frame: Frame;
}

/** The network's last outputs. A new config must be able to decode them before it is used. */
interface LastOutputs {
  readonly outputs: Outputs;
  readonly frame: Frame;
}

/** A model, and the config and options for decoding its outputs. */
export interface NetworkChoice {
  /** Id of the model. If this model is open already, it is not opened again. */
  readonly modelId: string;
  /** Name of the model in messages. */
  readonly modelName: string;
  readonly read: () => Promise<Uint8Array>;
  /** Parsed config; undefined if the model file itself states how to decode its outputs. */
  readonly config: unknown;
  /** Options of `createDetector`. */
  readonly options: Readonly<Record<string, unknown>>;
}

interface OpenModel {
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly runtime: SharedRuntime;
}

/** An empty picture with which a new network and config are tested. */
const BLANK = { data: new Uint8Array(64 * 48 * 3).fill(114), width: 64, height: 48, format: "rgb" } as const;

export class Network {
  readonly #settings: Omit<NetworkSettings, "model" | "config">;
  readonly #onNote: (note: string) => void;
  readonly #turns = new Turns();
  /** Queue for changes of the network. Frames continue while a model is opened. */
  readonly #changes = new Turns();
  readonly #chosen = new Bell();
  #model: OpenModel | null = null;
  #plan: NetworkPlan | null = null;
  #last: LastOutputs | null = null;
  /** Called with each frame. The function must neither wait nor throw. */
  onSeen: ((seen: SeenFrame) => void) | null = null;

  /** @param onNote called with each note of the decoder in use */
  constructor(settings: Omit<NetworkSettings, "model" | "config">, onNote: (note: string) => void = () => undefined) {
    this.#settings = settings;
    this.#onNote = onNote;
  }

  /** Opens the model of the settings. Call `use` next. */
  static async open(settings: NetworkSettings & { readonly model: string }): Promise<Network> {
    const network = new Network(settings);
    const { model: modelId } = settings;
    network.#model = await network.#open({ modelId, modelName: modelId, read: () => readFile(modelId) });
    return network;
  }

  /**
   * The plan in use: config hash, facts for a host, and whether device or host decodes. Null if there is no network
   * yet.
   */
  get plan(): NetworkPlan | null {
    return this.#plan;
  }

  /** Switches to another config of the same model, with the options of the settings. See `choose`. */
  use(config: unknown): Promise<void> {
    return this.#turns.take(() => this.#switch(this.#model!, config, this.#settings.options));
  }

  /**
   * Switches to another model or config. No frame is lost: a running frame finishes with the old one, and later frames
   * wait.
   * @throws the error of an unusable model, config, or combination of both. The old model and config then stay in use
   */
  async choose(choice: NetworkChoice): Promise<void> {
    const { modelId, config, options } = choice;
    // Only the config changes: keep the model open.
    if (this.#model?.id === modelId) {
      const isSwitched = await this.#turns.take(async () => {
        if (this.#model?.id !== modelId) return false;
        await this.#switch(this.#model, config, options);
        return true;
      });
      if (isSwitched) return;
    }
    await this.#changes.take(async () => {
      const isOpen = this.#model?.id === modelId;
      const model = isOpen ? this.#model! : await this.#open(choice);
      try {
        await this.#turns.take(() => this.#switch(model, config, options));
      } catch (error) {
        if (!isOpen) await model.runtime.close();
        throw error;
      }
    });
  }

  /** Closes model and config. Frames then wait for a new network. */
  clear(): Promise<void> {
    return this.#changes.take(() =>
      this.#turns.take(async () => {
        await this.#plan?.detector.close();
        await this.#model?.runtime.close();
        this.#plan = this.#model = this.#last = null;
      }),
    );
  }

  async #open({ modelId: id, modelName, read }: Omit<NetworkChoice, "config" | "options">): Promise<OpenModel> {
    const { providers } = this.#settings;
    const bytes = await read();
    try {
      return { id, bytes, runtime: await openRuntime(bytes, this.#settings) };
    } catch (error) {
      if (providers)
        throw new Error(
          `network.providers: ${modelName} cannot be opened by ${providers.join(", ")}: ${messageOf(error)}. ` +
            "Leave the setting out to run on the processor",
        );
      throw new Error(`${modelName} cannot be opened, expected an ONNX file: ${messageOf(error)}`);
    }
  }

  async #switch(model: OpenModel, config: unknown, options: NetworkChoice["options"]): Promise<void> {
    const { bytes, runtime } = model;
    const { outputFormat } = this.#settings;
    const onNote = this.#onNote;
    const plan = await makePlan({ model: bytes, runtime, config, options, outputFormat, onNote });
    try {
      await this.#try(plan, model === this.#model ? this.#last : null);
    } catch (error) {
      await plan.detector.close();
      throw error;
    }
    await this.#plan?.detector.close();
    if (this.#model && this.#model !== model) {
      await this.#model.runtime.close();
      this.#last = null;
    }
    this.#model = model;
    this.#plan = plan;
    this.#chosen.ring();
  }

  /**
   * Tests a plan, since a valid config may not fit this network: decodes the model's last outputs, or its outputs for
   * an empty picture. Also tests configs with which only hosts decode.
   */
  async #try({ decoder, detector, lane, record, scales }: NetworkPlan, last: LastOutputs | null): Promise<void> {
    if (!record) return;
    if (last) return void decoder.decode(last.outputs, last.frame);
    const { frame } = detector.decoder.prepare(BLANK, { into: lane.input() as never });
    try {
      decoder.decode(withScales(((await lane.run(null)) ?? {}) as Record<string, TensorInput>, scales), frame);
    } finally {
      lane.release();
    }
  }

  /**
   * Processes one picture. Waits until there is a network.
   * @returns null if the signal aborts during this wait
   * @throws the error of preparation, runtime or decoder; later frames may still succeed
   */
  async process(image: ImageInput, about: PacketAbout, signal?: AbortSignal): Promise<Processed | null> {
    for (;;) {
      const processed = await this.#turns.take(async () => this.#plan && this.#process(this.#plan, image, about));
      if (processed || signal?.aborted) return processed;
      await this.#chosen.heard(signal);
    }
  }

  async #process(plan: NetworkPlan, image: ImageInput, about: PacketAbout): Promise<Processed> {
    const { decoder, detector, lane, decodes, scales } = plan;
    const start = performance.now();
    const { frame } = detector.decoder.prepare(image, { into: lane.input() as never });
    const prepared = performance.now();
    const outputs = withScales(((await lane.run(null)) ?? {}) as Record<string, TensorInput>, scales);
    const ran = performance.now();
    try {
      const content = decodes ? decoder.decode(outputs, frame) : outputs;
      const packet = toPacket(decoder, content, frame, about);
      this.#last = { outputs, frame };
      const times = { prepare: prepared - start, run: ran - prepared, pack: performance.now() - ran };
      const processed = { packet, kind: decodes ? ("detection" as const) : ("raw" as const), times, plan };
      this.onSeen?.({ ...processed, image, about, outputs, frame });
      return processed;
    } finally {
      lane.release();
    }
  }

  /**
   * Returns a packet with the detections of a frame. Decodes tensors as a host would.
   * @returns null if nothing on this device states how to decode
   */
  async decoded({ packet, kind, plan }: Processed): Promise<Uint8Array | null> {
    if (kind === "detection") return packet;
    if (plan.record === null) return null;
    return this.#turns.take(() => {
      const { id, source, subject, time, sequence, frame } = fromPacket(packet);
      const about = {
        // Packets of this agent always have an id and a source.
        ...{ id: id!, source: source! },
        ...(subject !== null && { subject }),
        ...(time !== null && { time }),
        ...(sequence !== null && { sequence }),
      };
      const detections = plan.decoder.receive(fromPacket(packet));
      return Promise.resolve(toPacket(plan.decoder, detections, frame ?? undefined, about));
    });
  }

  close(): Promise<void> {
    return this.clear();
  }
}

/** Adds the quantisation scales of the model file to the outputs: packets need these scales, which runtimes lack. */
function withScales(outputs: Readonly<Record<string, TensorInput>>, scales: NetworkPlan["scales"]): Outputs {
  const named: Record<string, TensorInput> = {};
  for (const [name, { data, dims, type }] of Object.entries(outputs))
    named[name] = { data, dims, ...(type && { type }), ...scales.get(name) };
  return named;
}
