/**
 * Reads a plan file. The checksum detects accidental damage; checks of every address and offset detect forgery.
 * `format.ts` documents the format; `embedded/` reads plan files in C.
 */
import * as A from "../core/abi.ts";
import { crc32 } from "../core/crc32.ts";
import { ELEMENTS, ORDERS, TYPES, type TensorSpec, isBytes, kindOf, show, volume } from "../core/tensor.ts";
import type { DetectionColumns } from "../memory/layout.ts";
import { PlanBytes, aligned, refusePlan, within } from "./bytes.ts";
import { type Limits, checkPlanBlock } from "./check.ts";
import * as F from "./format.ts";

/** Contents of a plan file. */
export interface PlanFile {
  /** A copy of the whole file. The task record follows `image`. */
  readonly file: PlanBytes;
  readonly image: Uint8Array;
  readonly memoryBytes: number;
  /** Rows of the detection columns. */
  readonly rows: number;
  /** Width and height of the network input in pixels; null if the plan does not state them. */
  readonly inputSize: readonly [number, number] | null;
  /** Class names by class id; null if the plan has none. */
  readonly labels: readonly string[] | null;
  readonly images: readonly PlanImage[];
  readonly slots: readonly PlanSlot[];
  /** Count of the network's outputs. */
  readonly outputs: number;
  /** Code of the network's task, TASK_*. */
  readonly task: number;
}

/** An image of the batch: its plan block, and the addresses of its detection columns. */
export interface PlanImage extends DetectionColumns {
  readonly plan: number;
}

/** A tensor that the plan reads. */
export interface PlanSlot {
  readonly spec: TensorSpec;
  readonly address: number;
  /** Index among all outputs of the network. */
  readonly place: number;
}

/**
 * Reads and checks a plan file.
 * @throws ConfigError if the bytes are no plan file, are damaged, or are for another version of the kernel
 */
export function readPlan(given: Uint8Array | ArrayBuffer): PlanFile {
  // Copy the file, since the caller may change the bytes before the decoder is made.
  const file = new PlanBytes(wholeFile(given).slice());
  file.checkLastByte();
  const limits = readLimits(file);
  const images = readImages(file, limits);
  const rows = file.table(F.F_SLOT_TABLE, F.F_SLOTS, F.SLOT_WORDS);
  const slots = rows.map((row) => readSlotRow(file, row, limits));
  const record = within(limits.imageBytes, F.TASK_WORDS * 4, file.bytes.length);
  const task = within(file.word(record, F.T_KIND), 0, F.TASK_CELLS, 0);
  const labels = file.table(F.F_LABEL_TABLE, F.F_LABELS, 1).map((row) => file.text(file.word(row, 0)));
  return {
    file,
    image: file.bytes.subarray(0, limits.imageBytes),
    memoryBytes: limits.memoryBytes,
    rows: limits.rows,
    inputSize: readInputSize(file),
    labels: labels.length > 0 ? Object.freeze(labels) : null,
    images,
    slots,
    outputs: rows.length > 0 ? file.word(rows[0], F.S_OUTPUTS) : 0,
    task,
  };
}

/** Returns the file's bytes after checking length, checksum and versions. */
function wholeFile(given: Uint8Array | ArrayBuffer): Uint8Array {
  const whole = asBytes(given);
  const view = new DataView(whole.buffer, whole.byteOffset, whole.length);
  const word = (index: number): number => view.getUint32(index * 4, true);
  if (whole.length >= 4 && word(F.F_MAGIC) !== F.PLAN_MAGIC)
    refusePlan(
      `a file that begins with ${show(String.fromCharCode(...whole.subarray(0, 8)))}`,
      "one made by boxwright compile, without --c",
    );
  const head = F.FILE_WORDS * 4;
  if (whole.length < head) refusePlan(`${whole.length} bytes`, `at least ${head}`);
  if (word(F.F_VERSION) !== F.PLAN_VERSION)
    refusePlan(
      `a file of version ${word(F.F_VERSION)}`,
      `${F.PLAN_VERSION}. Compile the plan again with this version of boxwright.`,
    );
  // Allow bytes after the end of the file, as flash memory has them.
  const length = word(F.F_FILE_BYTES);
  if (whole.length < length || length < head)
    refusePlan(`${whole.length} bytes`, `${length}: was the file cut short, or read or written as text?`);
  const bytes = whole.subarray(0, length);
  const checksum = crc32(bytes.subarray(F.F_FILE_BYTES * 4));
  if (checksum !== word(F.F_CHECK))
    refusePlan(`damaged bytes: a checksum of ${checksum}`, String(word(F.F_CHECK)));
  if (word(F.F_ABI) !== A.ABI_VERSION)
    refusePlan(
      `a plan for kernel version ${word(F.F_ABI)}`,
      `${A.ABI_VERSION}. Compile the plan again with this version of boxwright.`,
    );
  return bytes;
}

/** Returns the caller's bytes. Throws if the argument is something else. */
function asBytes(given: Uint8Array | ArrayBuffer): Uint8Array {
  if (given instanceof Promise) refusePlan("a promise", "what it resolves to: await it");
  const isBuffer = kindOf(given) === "ArrayBuffer";
  if (!isBuffer && !isBytes(given))
    refusePlan(show(given), "the bytes of a plan file, a Uint8Array or an ArrayBuffer");
  // Return early: a detached buffer has length 0, and a view of it cannot be made.
  if (given.byteLength === 0) return new Uint8Array(0);
  const { buffer, byteOffset, byteLength } = given as Uint8Array;
  return isBuffer ? new Uint8Array(given as ArrayBuffer) : new Uint8Array(buffer, byteOffset, byteLength);
}

function readLimits(file: PlanBytes): Limits {
  const memoryBytes = file.word(0, F.F_MEMORY_BYTES);
  return {
    imageBytes: within(file.word(0, F.F_IMAGE_BYTES), 0, Math.min(file.bytes.length, memoryBytes)),
    memoryBytes,
    rows: file.word(0, F.F_MAX_DETECTIONS),
  };
}

/** Reads the image table, and checks the plan blocks and records to which its rows point. */
function readImages(file: PlanBytes, { imageBytes, memoryBytes, rows }: Limits): PlanImage[] {
  const table = file.table(F.F_IMAGE_TABLE, F.F_IMAGES, F.IMAGE_WORDS);
  let constants = A.FIRST_ADDRESS;
  for (const row of table)
    constants = aligned(file.word(row, F.I_PLAN), A.PLAN_WORDS * 4, imageBytes, constants) + A.PLAN_WORDS * 4;
  let end = 0;
  const images = table.map((row) => {
    const plan = file.word(row, F.I_PLAN);
    end = Math.max(end, checkPlanBlock(file, plan, constants, { imageBytes, memoryBytes, rows }));
    const [boxes, scores, classIds, sources] = [0, 1, 2, 3].map((k) => {
      const column = file.word(plan, A.P_DET_BOXES + k);
      return within(file.word(row, F.I_BOXES + k), 0, column, column);
    });
    return { plan, boxes, scores, classIds, sources };
  });
  // Check that memory ends where the last detection columns end.
  within(memoryBytes, 0, end, end);
  return images;
}

/** Reads a row of the slot table. Slots come after the image. */
function readSlotRow(file: PlanBytes, row: number, { imageBytes, memoryBytes }: Limits): PlanSlot {
  const rank = file.word(row, F.S_RANK);
  const type = TYPES.find((t) => ELEMENTS[t].code === file.word(row, F.S_TYPE));
  if (type === undefined || rank > F.MAX_RANK)
    return refusePlan(
      `type ${file.word(row, F.S_TYPE)} of ${rank} dims`,
      `a known one of at most ${F.MAX_RANK}`,
    );
  const dims = Object.freeze(Array.from({ length: rank }, (_, k) => file.word(row, F.S_DIM_0 + k)));
  const needed = volume(dims) * ELEMENTS[type].bytes;
  const bytes = file.word(row, F.S_BYTES);
  if (bytes !== needed) refusePlan(`${bytes} bytes for ${type} [${dims.join()}]`, String(needed));
  return {
    spec: {
      name: file.text(file.word(row, F.S_NAME)),
      dims,
      type,
      scale: file.float(row, F.S_SCALE),
      zeroPoint: file.float(row, F.S_ZERO),
      order: ORDERS[file.word(row, F.S_ORDER) - 1] ?? null,
    },
    address: aligned(file.word(row, F.S_ADDRESS), bytes, memoryBytes, imageBytes),
    place: file.word(row, F.S_PLACE),
  };
}

function readInputSize(file: PlanBytes): readonly [number, number] | null {
  const [width, height] = [file.word(0, F.F_INPUT_WIDTH), file.word(0, F.F_INPUT_HEIGHT)];
  return width && height ? Object.freeze<[number, number]>([width, height]) : null;
}
