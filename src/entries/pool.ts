/** `boxwright/pool`: decoders on the worker threads of Node. */
export { PoolError, type PoolErrorKind } from "../pool/errors.ts";
export type { PoolOptions } from "../pool/options.ts";
export { type DecoderPool, createPool } from "../pool/pool.ts";
export type { PoolNetwork } from "../pool/protocol.ts";
export type { PoolResult } from "../pool/result.ts";
export type { Percentiles, PoolStats } from "../pool/stats.ts";
