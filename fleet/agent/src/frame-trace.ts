/** The trace of one frame on the device: from its capture until its packet is in the spool. */
import type { OpenSpan, Traces } from "boxwright-service/traces";
import type { Processed } from "./network/network.ts";
import type { Source, SourceFrame } from "./sources/source.ts";

export class FrameTrace {
  readonly #span: OpenSpan;
  readonly #from: number | undefined;
  #processedAt: number | undefined;

  private constructor(span: OpenSpan, from: number | undefined) {
    this.#span = span;
    this.#from = from;
  }

  /** Returns null if the frame is not traced. */
  static begin(traces: Traces | null, device: string, source: Source, frame: SourceFrame): FrameTrace | null {
    const context = traces?.contextOf(device, frame.id) ?? null;
    if (traces === null || context === null) return null;
    // Begin the span of a recorded frame now, since its capture may be years ago.
    return new FrameTrace(traces.begin(context, "frame"), source.isRecorded ? undefined : frame.time.getTime());
  }

  /** Adds a span for each step of the network. Call this right after the last step. */
  processed({ times: { prepare, run, pack } }: Processed): void {
    const end = this.#span.now();
    this.#span.add("prepare", end - pack - run - prepare, end - pack - run);
    this.#span.add("run", end - pack - run, end - pack);
    this.#span.add("pack", end - pack, end);
    this.#processedAt = end;
  }

  /** @param problem why the frame has no packet in the spool */
  end(camera: string, processed?: Processed, problem?: string): void {
    if (this.#processedAt !== undefined) this.#span.add("spool", this.#processedAt, this.#span.now(), problem);
    const about = { "boxwright.camera": camera, "boxwright.kind": processed?.kind };
    this.#span.end({ ...about, "boxwright.config": processed?.plan.record?.hash }, problem, this.#from);
  }
}
