/** Runs the frames of one source through the network and writes their packets to the spool. */
import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import type { Traces } from "boxwright-service/traces";
import { RareLog } from "./core/log.ts";
import { FrameTrace } from "./frame-trace.ts";
import type { NetworkChooser } from "./network/live-config.ts";
import type { Network, Processed } from "./network/network.ts";
import type { Previews } from "./previews.ts";
import type { ConfigStore } from "./sinks/configs.ts";
import type { Source, SourceFrame } from "./sources/source.ts";
import type { Spool } from "./spool/spool.ts";

/** Counts of a camera. The camera updates the object in place. */
export interface CameraStats {
  /** Frames that came from the source. */
  frames: number;
  /** Frames whose packet is in the spool. */
  spooled: number;
  /** Frames that failed in preparation, network or decoder. */
  failed: number;
  /** Frames that the spool dropped. */
  lost: number;
}

/** Receives frames in addition to the spool, without delaying them. */
export interface FrameTaker {
  offer(camera: string, frame: SourceFrame, processed: Processed): void;
}

/** The pause of a device, which all of its cameras share. */
export interface Pausing {
  readonly isPaused: boolean;
  /** Waits until the device is not paused, or the signal aborts. */
  over(signal: AbortSignal): Promise<void>;
}

/** Parts that all cameras of a device share. */
export interface Device {
  readonly name: string;
  readonly network: Network;
  readonly config: NetworkChooser;
  readonly configs: ConfigStore;
  readonly spool: Spool;
  readonly previews: Previews | null;
  /** Snaps for the hub; null if the device has no hub. */
  readonly snaps: FrameTaker | null;
  /** Pause by the hub; null if the device has no hub. */
  readonly pause: Pausing | null;
  /** Traces of frames; null if frames are not traced. */
  readonly traces: Traces | null;
  readonly log: Logger;
  /** Sequence number of the first frame after this start of the agent (core/starts.ts). */
  readonly firstSequence: number;
  /** Called with each frame that went through the network. */
  readonly onProcessed: (camera: string, processed: Processed) => void;
}

export class Camera {
  readonly source: Source;
  readonly stats: CameraStats = { frames: 0, spooled: 0, failed: 0, lost: 0 };
  /** Error message of the last frame; null if that frame succeeded. */
  problem: string | null = null;
  readonly #device: Device;
  readonly #rare: RareLog;

  constructor(source: Source, device: Device) {
    this.source = source;
    this.#device = device;
    this.#rare = new RareLog(device.log);
  }

  /** Runs until the source ends or the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      const frame = await this.source.next(signal);
      if (!frame) {
        if (!signal.aborted) await this.#device.previews?.finish(this.source, signal);
        return;
      }
      if (await this.#isWanted(signal)) await this.#take(frame, signal);
    }
  }

  /**
   * Returns true if the device is not paused. During a pause, drops live frames without counting them, so that the
   * device resumes with a new frame. Recorded frames wait for the end of the pause.
   */
  async #isWanted(signal: AbortSignal): Promise<boolean> {
    const { pause } = this.#device;
    if (pause?.isPaused !== true) return true;
    if (!this.source.isRecorded) return false;
    await pause.over(signal);
    return !signal.aborted;
  }

  async #take(frame: SourceFrame, signal: AbortSignal): Promise<void> {
    const { name, traces, spool, config, configs, previews, onProcessed } = this.#device;
    const { camera } = this.source;
    const trace = FrameTrace.begin(traces, name, this.source, frame);
    const processed = await this.#process(frame, signal);
    if (!processed) return trace?.end(camera, undefined, this.problem ?? "the agent ends");
    onProcessed(camera, processed);
    trace?.processed(processed);
    this.#try(() => {
      if (processed.plan.record) configs.store(processed.plan.record);
    });
    if (!(await spool.append(processed.packet, signal))) {
      if (!signal.aborted) this.stats.lost++;
      return trace?.end(camera, processed, signal.aborted ? "the agent ends" : "the spool dropped the frame");
    }
    trace?.end(camera, processed);
    this.stats.spooled++;
    // Continue if `done` fails, for example on a full disk. After a restart the source yields this frame again, with
    // the same id.
    this.#try(() => frame.done());
    this.#try(() => config.prove(processed.plan));
    previews?.offer(this.source, frame, signal);
    this.#device.snaps?.offer(camera, frame, processed);
  }

  async #process({ image, id, time }: SourceFrame, signal: AbortSignal): Promise<Processed | null> {
    const { name, network, firstSequence } = this.#device;
    const { camera } = this.source;
    const sequence = firstSequence + this.stats.frames++;
    try {
      const processed = await network.process(image, { id, source: name, subject: camera, time, sequence }, signal);
      this.problem = null;
      return processed;
    } catch (error) {
      this.stats.failed++;
      this.problem = messageOf(error);
      this.#rare.error({ camera }, `frame failed: ${this.problem}`);
      return null;
    }
  }

  /** Runs a step that the frame itself does not need. Logs an error, such as a full disk, instead of throwing. */
  #try(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#rare.error({ camera: this.source.camera }, `cannot be noted on disk: ${messageOf(error)}`);
    }
  }
}
