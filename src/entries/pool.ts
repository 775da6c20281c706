/** `boxwright/pool`: decoders over worker threads. These are Node's. */
export { PoolError, type PoolErrorKind } from "../pool/errors.ts";
export type { PoolOptions } from "../pool/options.ts";
export { type DecoderPool, createPool } from "../pool/pool.ts";
export type { PoolNetwork } from "../pool/protocol.ts";
export type { PoolResult } from "../pool/result.ts";
export type { Percentiles, PoolStats } from "../pool/stats.ts";
