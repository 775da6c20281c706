/** Makes the result of a frame from the columns that a thread sent. */
import type { TensorInput } from "../core/tensor.ts";
import { Detections, extend, setLength, withoutMasks } from "../decode/detections.ts";
import { ORIENTED_ROWS } from "../tasks/oriented/rows.ts";
import { POSE_ROWS } from "../tasks/pose/rows.ts";
import type { ReplyColumns } from "./protocol.ts";

/** Result of one frame. */
export interface PoolResult {
  /** The detections, in separate memory, so that later frames do not change them. */
  readonly detections: Detections;
  /** Milliseconds of the decode in its thread. */
  readonly milliseconds: number;
  /** The caller's packet, whose memory belongs to the caller again. Null for tensors. */
  readonly bytes: Uint8Array | null;
  /** The caller's tensors, whose memory belongs to the caller again. Null for a packet. */
  readonly tensors: readonly TensorInput[] | null;
}

/** Mask functions that throw, since the prototypes stay in the thread. */
const WITHOUT_MASKS = withoutMasks(
  "detections of a pool, whose threads keep the prototypes",
  "those of a decoder in this thread: createDecoderSync(config), then decode(outputs, frame) or " +
    "receive(fromPacket(bytes))",
);

/** Returns detections from the columns that a thread sent. */
export function detectionsFrom(columns: ReplyColumns, labels: readonly string[] | null): Detections {
  const { boxes, scores, classIds, sources, task, hasMasks } = columns;
  const detections = new Detections(boxes, scores, classIds, sources, labels);
  setLength(detections, scores.length);
  if (task) extend(detections, task, task.keypoints ? POSE_ROWS : ORIENTED_ROWS);
  else if (hasMasks) extend(detections, {}, WITHOUT_MASKS);
  return detections;
}
