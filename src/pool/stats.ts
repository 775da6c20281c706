import type { RecordableHistogram } from "node:perf_hooks";

/** Percentiles of times, in milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Counters of a pool. `in` is the sum of `out`, `dropped`, `failed`, `waiting` and `running`. */
export interface PoolStats {
  /** Frames that the pool accepted. */
  readonly in: number;
  /** Frames with detections. */
  readonly out: number;
  /** Frames that a full queue dropped. */
  readonly dropped: number;
  /** Frames whose decode failed with an error. */
  readonly failed: number;
  readonly waiting: number;
  readonly running: number;
  /** Frames that had to be copied, since they were part of a larger buffer. */
  readonly copied: number;
  /** Threads that died and were replaced. */
  readonly restarts: number;
  /** Milliseconds of the decode in its thread. */
  readonly decode: Percentiles;
  /** Milliseconds from the call to the result. */
  readonly latency: Percentiles;
}

/** Returns the percentiles of times in microseconds. Returns zeros if there are none. */
export function percentiles(histogram: RecordableHistogram): Percentiles {
  const [p50, p90, p99] = [50, 90, 99].map((p) => (histogram.count > 0 ? histogram.percentile(p) / 1000 : 0));
  return { p50, p90, p99, max: histogram.count > 0 ? histogram.max / 1000 : 0 };
}
