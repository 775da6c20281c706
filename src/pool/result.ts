/** The result of a frame, made of the columns that a thread sent. */
import type { TensorInput } from "../core/tensor.ts";
import { Detections, extend, setLength, withoutMasks } from "../decode/detections.ts";
import { ORIENTED_ROWS } from "../tasks/oriented/rows.ts";
import { POSE_ROWS } from "../tasks/pose/rows.ts";
import type { ReplyColumns } from "./protocol.ts";

/** Detections of one frame. */
export interface PoolResult {
  /** The result stands in memory of its own: the next frame leaves it alone. */
  readonly detections: Detections;
  /** Time that the decode took in its thread. */
  readonly milliseconds: number;
  /** The packet that was given, in memory that is the caller's again. Null for tensors. */
  readonly bytes: Uint8Array | null;
  /** The tensors that were given, likewise. Null for a packet. */
  readonly tensors: readonly TensorInput[] | null;
}

/** Detections whose masks stayed in a thread. */
const WITHOUT_MASKS = withoutMasks(
  "detections of a pool, whose threads keep the prototypes",
  "those of a decoder in this thread: createDecoderSync(config), then decode(outputs, frame) or " +
    "receive(fromPacket(bytes))",
);

/** Makes detections of the columns that a thread sent. */
export function detectionsFrom(columns: ReplyColumns, labels: readonly string[] | null): Detections {
  const { boxes, scores, classIds, sources, task, hasMasks } = columns;
  const detections = new Detections(boxes, scores, classIds, sources, labels);
  setLength(detections, scores.length);
  if (task) extend(detections, task, task.keypoints ? POSE_ROWS : ORIENTED_ROWS);
  else if (hasMasks) extend(detections, {}, WITHOUT_MASKS);
  return detections;
}
