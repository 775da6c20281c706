/** `boxwright/pool`: decoders over worker threads. These are Node's. */
export {
  type DecoderPool,
  type Percentiles,
  PoolError,
  type PoolErrorKind,
  type PoolOptions,
  type PoolResult,
  type PoolStats,
  createPool,
} from "../pool/pool.ts";
export type { PoolNetwork } from "../pool/protocol.ts";
