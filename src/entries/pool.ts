/** `boxwright/pool`: decoders over worker threads of Node. */
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
export { ConfigError, TensorError } from "../core/errors.ts";
export { Detections } from "../decode/detections.ts";
export { PacketError } from "../packet/error.ts";
