/** Errors of a pool: refused or lost frames, and threads that died or never became ready. */
import { mismatch } from "../core/errors.ts";
import { show } from "../core/tensor.ts";

/** `"full"`: the stream's queue is full. `"closed"`: the pool is closed. `"crashed"`: the frame's thread died. */
export type PoolErrorKind = "full" | "closed" | "crashed";

/** Error for a frame that the pool refused or lost. */
export class PoolError extends Error {
  static override readonly name = "PoolError";
  override readonly name = "PoolError";
  readonly kind: PoolErrorKind;

  constructor(kind: PoolErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Largest count of threads that may die without a result in between. One more death closes the pool. */
export const MAX_CRASHES = 3;

/** Returns the error for the frames of a thread that died. `isLast`: the pool closes, too. */
export const crashError = (cause: string, isLast: boolean): PoolError =>
  new PoolError(
    "crashed",
    `the thread died: ${cause}. ` +
      (isLast
        ? `So did the ${MAX_CRASHES} before, without a result: the pool is closed. Make another with createPool.`
        : "Its frames and their memory are lost, its networks are not added; the pool goes on with a new thread."),
  );

/** True if a thread died because its heap was full. */
export const isOutOfMemory = (why: string | Error): boolean =>
  (why as { readonly code?: string }).code === "ERR_WORKER_OUT_OF_MEMORY";

/** Returns the reason for a thread's death, as part of a sentence. */
export function causeOf(why: string | Error): string {
  if (isOutOfMemory(why)) return "it ran out of memory, and the option resourceLimits sets how much it has";
  // Use only the first line of the message: Node adds lines about required modules.
  return typeof why === "string" ? why : why.message.split("\n", 1)[0];
}

/** Returns the error about a worker file whose thread never became ready. */
export const wrongFileError = (file: URL, cause: string): Error =>
  new RangeError(
    "worker: " +
      mismatch(
        `${show(file.href)}, whose thread did not begin to decode: ${cause}`,
        "the file of boxwright/pool-worker. Add it to the bundle as an entry, and pass its URL as `worker`",
      ),
  );
