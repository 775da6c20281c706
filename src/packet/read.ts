/** Reads packets. Every field is checked before use, since the bytes come from another machine. */
import { rowsOf } from "../decode/rows.ts";
import { rotationProblem } from "../core/turn.ts";
import type { DetectionFields } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import { readAttributes, envelopeOf, eventType } from "./envelope.ts";
import { PacketError, type PacketErrorKind, need } from "./error.ts";
import { Packet } from "./packet.ts";
import { padded, parse, readHead } from "./text.ts";
import { type PacketTensor, isIndex, readTensor } from "./wire.ts";

/** Limits for reading a packet. */
export interface PacketOptions {
  /** Largest size of a packet in bytes. Default 64 MiB, the largest limit that a NATS server accepts. */
  readonly maxBytes?: number;
}

/** JSON fields that are not checked yet. */
type Json = Record<string, unknown>;

/**
 * Reads a packet. Tensors are views of `bytes` if `bytes` begins at a multiple of 8 in memory, otherwise copies. Also
 * reads unchanged responses of Triton, KServe and OpenVINO Model Server.
 * @throws PacketError if the bytes are cut off, no packet or too many, or if `bytes` is no Uint8Array
 * @example
 * import { fromPacket } from "boxwright";
 *
 * const answer = '{"model_name":"m","outputs":[{"name":"n","shape":[2],"datatype":"FP32","data":[0.5,2]}]}';
 * const packet = fromPacket(new TextEncoder().encode(answer));
 * console.log(packet.kind, packet.tensors[0].name, packet.tensors[0].data[1]); // raw n 2
 */
export function fromPacket(bytes: Uint8Array, options?: PacketOptions): Packet {
  for (const name of Object.keys(options ?? {}))
    if (name !== "maxBytes")
      throw new PacketError(null, `${name}: got an unknown name, expected one of maxBytes`);
  const { maxBytes = 2 ** 26 } = options ?? {};
  const [head, end] = readHead(bytes, maxBytes);
  // A detection packet is a structured CloudEvent. A raw packet has no `specversion` at the top level of its JSON.
  const isEvent = "specversion" in head;
  const kind = isEvent ? "detection" : "raw";
  const given = (isEvent ? head : (head.parameters ?? {})) as Json;
  const prefix = isEvent ? "" : "ce-";
  // Ignore `parameters` written by other programs, which have no event type of boxwright.
  const type = eventType(kind);
  const isOwn = given[`${prefix}type`] === type;
  const { specversion } = head;
  need(!isEvent || (isOwn && specversion === "1.0"), "type", [specversion, head.type], `1.0,${type}`);
  const attributes = isOwn
    ? readAttributes(given, prefix, "foreign", true)
    : readAttributes({ id: head.id || null }, "", "foreign", false);

  const outputs = isEvent ? [] : (head.outputs as readonly unknown[]);
  const heads = outputs.map((output, i, { length }) => readTensor(output, i, length, `outputs[${i}]`));
  let at = bytes.length;
  for (const [, size] of heads) at -= size;
  // boxwright pads the JSON to a multiple of 8 bytes. In other programs' responses, tensors may follow the JSON
  // directly.
  const first = isOwn && !isEvent ? padded(end) : end;
  need(
    at === first || (at === padded(end) && bytes.subarray(end, at).every((byte) => byte === 32)),
    "length",
    bytes.length,
    bytes.length + first - at,
    at < first ? "cut off" : "foreign",
  );
  const tensors: PacketTensor[] = [];
  for (const [place, size, , tensorOf] of heads) tensors[place] = tensorOf(bytes.subarray(at, (at += size)));

  const data = (head.data ?? {}) as Json;
  const { sources = [] } = data;
  const areCells = Array.isArray(sources) && sources.every((cell) => isIndex(cell, 2 ** 32));
  need(!isEvent || areCells, "data.sources", sources, "a list of the cells' indices");
  // In a raw packet, the frame is JSON inside a string.
  const frame = isOwn ? (isEvent ? data.frame : (parse(() => given.frame as string) ?? given.frame)) : null;
  return new Packet(envelopeOf(attributes), {
    kind,
    frame: readFrame(frame),
    // Drop empty entries: if two tensors state the same index, another index stays empty.
    tensors: tensors.filter(Boolean),
    detections: isEvent ? recordsOf(data.detections, "data.detections") : null,
    sources: isEvent ? (sources as readonly number[]) : [],
  });
}

/**
 * Reads a frame. Does not check `resize` of a packet's frame, which `decode` checks later.
 * @param kind kind of the PacketError; null if the frame is an argument of a call, whose `resize` is checked, too
 */
export function readFrame(given: unknown, kind: PacketErrorKind | null = "foreign"): Frame | null {
  if ((given ?? null) === null) return null;
  const frame = given as Frame;
  const { width, height, resize, placed = [0, 0, 1, 1], rotation } = frame;
  need(
    placed?.length === 4 &&
      [width, height].concat(placed).every(Number.isFinite) &&
      width > 0 &&
      height > 0 &&
      rotationProblem(rotation) === null &&
      (kind !== null || /^(stretch|crop|letterbox(-topleft)?)$/.test(resize)),
    "frame",
    frame,
    "width, height, resize, and rotation 0 to 3 if any",
    kind,
  );
  return frame;
}

/** Returns detections as a list after checking each record's common fields. `receive` checks those of the task. */
export function recordsOf(
  given: unknown,
  where: string,
  kind?: PacketErrorKind | null,
): readonly DetectionFields[] {
  const rows = rowsOf(given);
  // Refuse a string, since strings are iterable, too: an empty string would count as a frame without detections.
  const isList = typeof rows === "object" && rows !== null && Symbol.iterator in rows;
  const records = Array.from((isList ? rows : [rows]) as Iterable<DetectionFields | null>);
  records.forEach((d, i) => {
    const { class_id: id = -1, label, confidence, x_min, y_min, x_max, y_max } = d ?? ({} as DetectionFields);
    need(
      [confidence, x_min, y_min, x_max, y_max].every(Number.isFinite) &&
        // Limit the class id: no network has 2^20 classes.
        isIndex(id, 2 ** 20) &&
        typeof label === "string",
      `${where}[${i}]`,
      d,
      "a detection",
      kind,
    );
  });
  return records as readonly DetectionFields[];
}
