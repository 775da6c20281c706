/** `boxwright/pool`: decoders over worker threads. These are Node's. */
export {
  type DecoderPool,
  PoolError,
  type PoolErrorKind,
  type PoolResult,
  createPool,
} from "../pool/pool.ts";
export type { Percentiles, PoolStats } from "../pool/stats.ts";
export type { PoolOptions } from "../pool/options.ts";
export type { PoolNetwork } from "../pool/protocol.ts";
