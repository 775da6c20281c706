/** Packets from bytes. Each field is checked before it is used: the bytes come from another machine. */
import type { StorageOrder } from "../core/tensor.ts";
import type { DetectionFields } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import { type Attributes, type PacketKind, checkAttributes, envelopeOf, eventType } from "./envelope.ts";
import { type PacketErrorKind, need } from "./error.ts";
import { Packet } from "./packet.ts";
import { endOfObject, padded, parse, textOf } from "./text.ts";
import { CLASSES, type PacketTensor, type WireArray, type WireType } from "./wire.ts";

/** Limits of a reader. */
export interface PacketOptions {
  /** Most bytes of a packet. Default 64 MiB, the most that a NATS server can be set to. */
  readonly maxBytes?: number;
}

/** The datatypes of the wire. */
export const NAMES = /* @__PURE__ */ Object.keys(CLASSES);

/**
 * Reads a packet. Tensors are views of `bytes` if those begin at a multiple of 8 in memory, and are copied else.
 * Answers of Triton, KServe and OpenVINO Model Server are read as they are.
 * @throws PacketError if the bytes are cut off, foreign or too large
 * @example
 * import { fromPacket } from "boxwright/packet";
 *
 * const answer = '{"model_name":"m","outputs":[{"name":"n","shape":[2],"datatype":"FP32","data":[0.5,2]}]}';
 * const packet = fromPacket(new TextEncoder().encode(answer));
 * console.log(packet.kind, packet.tensors[0].name, packet.tensors[0].data[1]); // raw n 2
 */
export function fromPacket(bytes: Uint8Array, { maxBytes = 2 ** 26 }: PacketOptions = {}): Packet {
  need(ArrayBuffer.isView(bytes) && bytes.BYTES_PER_ELEMENT === 1, "bytes", typeof bytes, "a Uint8Array");
  need(bytes.length <= maxBytes, "length", bytes.length, `at most ${maxBytes} bytes`, "too large");
  const end = endOfObject(bytes);
  need(end !== 0 || bytes.length === 0, "first byte", bytes[0], 'JSON, "{"');
  need(end > 0, "length", bytes.length, "the whole packet", "cut off");
  const head = (parse(() => textOf(bytes.subarray(0, end))) ?? {}) as Record<string, unknown>;
  if ("specversion" in head) return readEvent(head, bytes.subarray(end));
  need(Array.isArray(head.outputs), "JSON", head, "an event or outputs");
  return readResponse(head, head.outputs, bytes, end);
}

/** True for the byte that pads JSON. */
const isSpace = (byte: number): boolean => byte === 32;

/** Reads a detection packet: a structured CloudEvent, and nothing behind it. */
function readEvent(head: Record<string, unknown>, rest: Uint8Array): Packet {
  need(rest.every(isSpace), "length behind the event", rest.length, 0);
  const attributes = ownAttributes(head, "", "detection");
  const { frame, detections, sources } = (head.data ?? {}) as Record<string, unknown>;
  need(Array.isArray(detections), "data.detections", detections, "a list");
  detections.forEach(checkRecord);
  return new Packet(envelopeOf(attributes), {
    kind: "detection",
    frame: readFrame(frame),
    tensors: [],
    detections: detections as readonly DetectionFields[],
    sources: Array.isArray(sources) ? (sources as readonly number[]) : [],
  });
}

/** Returns the attributes of an event, which has to be one of `toPacket`. */
function ownAttributes(given: Record<string, unknown>, prefix: string, kind: PacketKind): Attributes {
  need(given.specversion === "1.0", `${prefix}specversion`, given.specversion, "1.0");
  need(given.type === eventType(kind), `${prefix}type`, given.type, eventType(kind));
  return checkAttributes(given, prefix, "foreign", true);
}

/**
 * Reads a frame. `decode` checks how it was resized.
 * @param kind of the PacketError; null throws a RangeError, also for a way of resizing that no receiver knows
 */
export function readFrame(given: unknown, kind: PacketErrorKind | null = "foreign"): Frame | null {
  if ((given ?? null) === null) return null;
  const frame = given as Frame;
  const { width, height, resize, placed = [0, 0, 1, 1] } = frame;
  need(
    placed?.length === 4 &&
      [width, height].concat(placed).every(Number.isFinite) &&
      width > 0 &&
      height > 0 &&
      (kind !== null || /^(stretch|crop|letterbox(-topleft)?)$/.test(resize)),
    "frame",
    frame,
    "width, height, resize",
    kind,
  );
  return frame;
}

/** Checks what every record has. The task that reads more checks that: `receive` throws the same error. */
function checkRecord(d: Partial<DetectionFields> | null, i: number): void {
  const { class_id: id = -1, label, confidence, x_min, y_min, x_max, y_max } = d ?? {};
  need(
    [confidence, x_min, y_min, x_max, y_max].every(Number.isFinite) &&
      // More classes than any network has.
      isIndex(id, 2 ** 20) &&
      typeof label === "string",
    `data.detections[${i}]`,
    d,
    "a detection",
  );
}

/** Reads a response of the Open Inference Protocol. `end`: index behind its JSON. */
function readResponse(
  { id, parameters }: Record<string, unknown>,
  outputs: readonly unknown[],
  bytes: Uint8Array,
  end: number,
): Packet {
  const given = (parameters ?? {}) as Record<string, unknown>;
  const { frame } = given;
  // Our attributes stand behind "ce-". Parameters of other programs do no harm: their event type is another.
  const attributes: Record<string, unknown> = {};
  for (const name in given) attributes[name.slice(3)] = given[name];
  const isOwn = attributes.type === eventType("raw");
  const checked = isOwn
    ? ownAttributes(attributes, "ce-", "raw")
    : checkAttributes({ id: id || null }, "", "foreign", false);

  const heads = outputs.map(readHead);
  let at = bytes.length;
  for (const [, size] of heads) at -= size;
  // Our JSON is padded. Behind that of others the tensors may begin at once.
  const first = isOwn ? padded(end) : end;
  need(
    at === first || (at === padded(end) && bytes.subarray(end, at).every(isSpace)),
    "length",
    bytes.length,
    bytes.length + first - at,
    at < first ? "cut off" : "foreign",
  );
  const tensors: PacketTensor[] = [];
  for (const [place, size, tensorOf] of heads) tensors[place] = tensorOf(bytes.subarray(at, (at += size)));
  return new Packet(envelopeOf(checked), {
    kind: "raw",
    frame: readFrame(typeof frame === "string" ? parse(() => frame) : null),
    // A place that two tensors claim leaves another one empty.
    tensors: tensors.filter(Boolean),
    detections: null,
    sources: [],
  });
}

/**
 * A tensor of the JSON: its index among the sender's outputs, the count of its bytes behind the JSON, and the function
 * that makes it of them.
 */
type TensorHead = readonly [place: number, size: number, tensorOf: (bytes: Uint8Array) => PacketTensor];

function readHead(output: unknown, i: number, { length }: readonly unknown[]): TensorHead {
  const where = `outputs[${i}]`;
  const { name, shape, datatype, data, parameters } = (output ?? {}) as Record<string, unknown>;
  need(NAMES.includes(datatype as string), `${where}.datatype`, datatype, NAMES);
  const type = datatype as string;
  const ArrayOf = CLASSES[type];
  const dims = (Array.isArray(shape) ? shape : [NaN]) as number[];
  const count = dims.reduce((n, d) => (isIndex(d) ? n * d : NaN), 1);
  need(typeof name === "string" && Number.isSafeInteger(count), where, [name, shape], "name and shape");

  const p = (parameters ?? {}) as Record<string, number | undefined>;
  const { scale = 0, zero_point: zeroPoint = 0, place = i, order, binary_data_size: stated } = p;
  const values = stated === undefined ? valuesOf(data, type, count, `${where}.data`) : null;
  const size = values ? 0 : count * ArrayOf.BYTES_PER_ELEMENT;
  // OpenVINO's pages write sizes as text, too.
  need(values ?? Number(stated) === size, `${where}.binary_data_size`, stated, size);
  need(isScale(scale, zeroPoint) && isIndex(place, length), `${where}.parameters`, p, "numbers");
  return [
    place,
    size,
    (bytes) => {
      // A view where the address allows, else a copy.
      const { buffer, byteOffset } =
        bytes.byteOffset % ArrayOf.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
      return {
        name,
        dims,
        type: type.toLowerCase() as WireType,
        ...(scale && { scale, zeroPoint }),
        ...(order !== undefined && { order: String(order) as StorageOrder }),
        data: values ?? new ArrayOf(buffer, byteOffset, count),
      };
    },
  ];
}

/** Returns the elements of a tensor in the JSON, which may be nested by its shape. */
function valuesOf(data: unknown, datatype: string, count: number, where: string): WireArray {
  const list = (Array.isArray(data) ? data.flat(32) : []) as number[];
  need(
    datatype !== "FP16" &&
      list.length === count &&
      list.every(datatype.startsWith("FP") ? Number.isFinite : Number.isSafeInteger),
    where,
    data,
    `${count} elements of ${datatype}, or binary_data_size`,
  );
  return CLASSES[datatype].from(datatype.endsWith("INT64") ? list.map(BigInt) : list);
}

/** True for a whole number of 0 or more, below a limit. */
const isIndex = (n: number, limit = Infinity): boolean => n >= 0 && n < limit && n % 1 === 0;

/** True for quantisation that a decoder takes. A scale of 0 is none. */
export const isScale = (scale: number, zeroPoint: number): boolean =>
  [scale, zeroPoint].every(Number.isFinite) && scale >= 0;
