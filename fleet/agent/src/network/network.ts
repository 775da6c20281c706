/** Runs pictures through the network, one at a time, with the config that is in use at that moment. */
import { readFile } from "node:fs/promises";
import {
  type Frame,
  type ImageInput,
  type Outputs,
  type PacketAbout,
  type PacketKind,
  type TensorInput,
  toPacket,
} from "boxwright";
import { messageOf } from "boxwright-service/errors";
import { Turns } from "../core/wait.ts";
import type { NetworkSettings } from "../settings/types.ts";
import { type NetworkPlan, makePlan } from "./plan.ts";
import { type SharedRuntime, openRuntime } from "./session.ts";

/** Milliseconds of the steps of one frame. */
export interface StepTimes {
  readonly prepare: number;
  readonly run: number;
  /** Decode, if the device does, and making the packet. */
  readonly pack: number;
}

/** A frame that went through the network. */
export interface Processed {
  readonly packet: Uint8Array;
  readonly kind: PacketKind;
  readonly times: StepTimes;
  /** Plan of the config that the frame went through. */
  readonly plan: NetworkPlan;
}

/** The last outputs of the network. A new config has to decode them before it is used. */
interface LastOutputs {
  readonly outputs: Outputs;
  readonly frame: Frame;
}

export class Network {
  readonly #settings: NetworkSettings;
  readonly #model: Uint8Array;
  readonly #runtime: SharedRuntime;
  readonly #turns = new Turns();
  #plan: NetworkPlan | null = null;
  #last: LastOutputs | null = null;

  private constructor(settings: NetworkSettings, model: Uint8Array, runtime: SharedRuntime) {
    this.#settings = settings;
    this.#model = model;
    this.#runtime = runtime;
  }

  /** Opens the model. `use` has to follow. */
  static async open(settings: NetworkSettings): Promise<Network> {
    const model = await readFile(settings.model);
    const runtime = await openRuntime(model, settings).catch((error: unknown) => {
      if (settings.providers)
        throw new Error(
          `network.providers: ${settings.model} cannot be opened by ${settings.providers.join(", ")}: ` +
            `${messageOf(error)}. Leave the setting out to run on the processor`,
        );
      throw new Error(`${settings.model} cannot be opened, expected an ONNX file: ${messageOf(error)}`);
    });
    return new Network(settings, model, runtime);
  }

  /** The config in use: its hash, what a host needs of it, and who decodes. */
  get plan(): NetworkPlan {
    return this.#plan!;
  }

  /**
   * Switches to another config. A running frame ends with the old one, and later frames wait, so that none is lost.
   * @param config parsed file; undefined to use the model file alone
   * @throws the error of an invalid config; the old config then stays in use
   */
  use(config: unknown): Promise<void> {
    return this.#turns.take(async () => {
      const { options, outputFormat } = this.#settings;
      const plan = await makePlan({ model: this.#model, runtime: this.#runtime, config, options, outputFormat });
      // Decode the last outputs: a valid config may still not fit this network. Do so for raw configs too, since hosts
      // decode with them.
      try {
        if (this.#last && plan.record) plan.decoder.decode(this.#last.outputs, this.#last.frame);
      } catch (error) {
        await plan.detector.close();
        throw error;
      }
      await this.#plan?.detector.close();
      this.#plan = plan;
    });
  }

  /**
   * Runs one picture.
   * @throws the error of preparation, runtime or decoder; later frames may still succeed
   */
  process(image: ImageInput, about: PacketAbout): Promise<Processed> {
    return this.#turns.take(() => this.#process(image, about));
  }

  async #process(image: ImageInput, about: PacketAbout): Promise<Processed> {
    const { plan } = this;
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
      return { packet, kind: decodes ? "detection" : "raw", times, plan };
    } finally {
      lane.release();
    }
  }

  async close(): Promise<void> {
    await this.#turns.take(async () => {
      await this.#plan?.detector.close();
      await this.#runtime.close();
    });
  }
}

/** Returns outputs with the scales of the model file: a packet carries them, and no runtime states them. */
function withScales(outputs: Readonly<Record<string, TensorInput>>, scales: NetworkPlan["scales"]): Outputs {
  const named: Record<string, TensorInput> = {};
  for (const [name, { data, dims, type }] of Object.entries(outputs))
    named[name] = { data, dims, ...(type && { type }), ...scales.get(name) };
  return named;
}
