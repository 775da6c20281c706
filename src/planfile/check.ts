/**
 * Checks everything that an engine takes from a plan block for an address, a step or a count. A forged file can have a
 * valid checksum. After these checks an engine reads and writes inside memory, and its work is bounded.
 */
import * as A from "../core/abi.ts";
import { keptBlocks } from "../memory/layout.ts";
import { type PlanBytes, aligned, within } from "./bytes.ts";

/** Sizes that addresses are checked against. */
export interface Limits {
  /** Bytes of the file that belong in memory. */
  readonly imageBytes: number;
  readonly memoryBytes: number;
  /** Rows of the detection columns. */
  readonly rows: number;
}

/** Totals of the heads of a plan block. */
interface Needs {
  /** Cells of all heads. Each gives one candidate at most, unless the plan is multi-label. */
  cells: number;
  /** Elements that a scan looks at. */
  elements: number;
  /** Class ids that heads can give; Infinity if a column gives them. */
  classes: number;
  /** True if a head has several classes and no objectness: its scan keeps maxima over groups of classes. */
  groups: boolean;
}

/** Checks that `count` words at `at` lie where the image never changes. Returns the largest word; -1 if `at` is 0. */
type LargestOf = (at: number, count: number) => number;

const HEAD_BYTES = A.HEAD_WORDS * 4;

/**
 * Checks a plan block, and what its words lead to. Returns the end of the memory that its kernel writes.
 * @param constants end of all plan blocks. Kernels write to these; the rest of the image never changes
 */
export function checkPlanBlock(file: PlanBytes, plan: number, constants: number, limits: Limits): number {
  const word = (index: number): number => file.word(plan, index);
  const { imageBytes, memoryBytes, rows } = limits;
  within(word(A.P_MAX_DETECTIONS), 0, rows, 0);

  const count = word(A.P_HEADS);
  const first = aligned(word(A.P_HEAD0), count * HEAD_BYTES, imageBytes, constants);
  const largestOf: LargestOf = (at, length) => {
    let largest = -1;
    if (at > 0) aligned(at, length * 4, imageBytes, constants);
    for (let k = 0; at > 0 && k < length; k++) largest = Math.max(largest, file.word(at, k));
    return largest;
  };
  const needs: Needs = { cells: 0, elements: 0, classes: 0, groups: false };
  for (let i = 0; i < count; i++) checkHead(file, first + i * HEAD_BYTES, word(A.P_SCORES), needs, largestOf);
  const { cells, elements, classes, groups } = needs;
  within(elements, 0, memoryBytes, 0);

  // The vector kernel divides its scratch by these two. With groups it keeps a word for each cell after two rows.
  const column = within(word(A.P_COLUMN), 0, memoryBytes, A.COLUMN_BYTES);
  const scanRows = within(
    word(A.P_ROWS),
    0,
    memoryBytes,
    groups ? 2 * A.ROW_BYTES + column : A.PLAIN_ROWS_BYTES,
  );

  // The regions that a kernel writes follow the image, one after the other, as `layout.ts` draws them.
  // A full multi-label plan makes room by dropping candidates, and so needs some.
  const isMultiLabel = (word(A.P_FLAGS) & A.FLAG_MULTI_LABEL) > 0;
  const capacity = within(word(A.P_CAPACITY), 0, memoryBytes, isMultiLabel ? Math.min(cells, 1) : cells);
  const after = (end: number, index: number, bytes: number): number =>
    Math.ceil((aligned(word(index), bytes, memoryBytes, end) + bytes) / 16) * 16;
  let work = imageBytes;
  for (let k = A.P_SCORES; k <= A.P_BOXES; k++) work = after(work, k, capacity * (k < A.P_BOXES ? 4 : 16));
  const order = after(work, A.P_ORDER, capacity * 4);
  const sort = after(after(order, A.P_SPARE, capacity * 4), A.P_COUNTS, 4 << A.BUCKET_BITS);
  // A scan of several candidates a cell sorts if there are too many.
  const scratch = Math.max(3 * column + scanRows, groups ? A.SCAN_BYTES : 0);
  const scan = after(isMultiLabel ? sort : work, A.P_SCRATCH, scratch);
  // Up to ONE_WAVE candidates are in order before suppression begins.
  const chains = after(capacity <= A.ONE_WAVE ? order : sort, A.P_CHAINS, A.CHAINS * 4);
  const blocks = keptBlocks(rows, word(A.P_FLAGS) & A.FLAG_NMS_ALL ? 1 : classes);
  let end = Math.max(scan, sort, after(chains, A.P_KEPT, blocks * A.KEPT4_BYTES));
  for (let k = A.P_DET_BOXES; k <= A.P_DET_SOURCES; k++)
    end = after(end, k, rows * (k > A.P_DET_BOXES ? 4 : 16));
  return end;
}

/** Checks the head record at `head`, and adds it to `needs`. Tensors end at `tensorsEnd`, or before. */
function checkHead(
  file: PlanBytes,
  head: number,
  tensorsEnd: number,
  needs: Needs,
  largestOf: LargestOf,
): void {
  const word = (index: number): number => file.word(head, index);
  // Checks that `rows` and `channels` steps from the first element lead to another one, of a known type. 16 bytes
  // follow each tensor, so that four bytes fit there in any case.
  const reads = (at: number, type: number, rows = 0, step = 0, channels = 0, channel = 0): void => {
    within(word(type), 0, A.TYPE_I32, 0);
    within(word(at), rows * word(step) + channels * word(channel) + 4, tensorsEnd);
  };
  if (word(A.H_COUNT)) reads(A.H_COUNT, A.H_COUNT_TYPE);
  const cells = word(A.H_CELLS);
  // A head of which no class is kept has no cells.
  if (cells === 0) return;

  // A column of class ids stands beside one score. Only decoders of configs gather rows.
  const kind = word(A.H_KIND);
  const hasClassId = word(A.H_CLASS_ID) > 0;
  const isSoftmax = word(A.H_SCORE_FN) === A.FN_SOFTMAX;
  const classes = within(word(A.H_CLASSES), 0, hasClassId ? 1 : tensorsEnd, 1);
  const logits = within(isSoftmax ? word(A.H_SOFT_COUNT) : 1, 0, tensorsEnd, 1);
  const bins = Math.max(1, word(A.H_BINS));
  within(word(A.H_INDEX), 0, 0, 0);
  if (kind <= A.KIND_DISTANCE) within(word(A.H_GRID_W), 0, cells, 1);
  if (kind === A.KIND_PRIOR) aligned(word(A.H_TABLE), cells * 16, tensorsEnd, 0);
  const listed = hasClassId ? word(A.H_LIST_LENGTH) : classes;
  const largest = largestOf(word(A.H_CLASS_LIST), listed);
  largestOf(word(A.H_CLASS_THRESHOLDS), listed);
  const lastClass = hasClassId || largest < 0 ? classes - 1 : largest;

  const rows = cells - 1;
  reads(A.H_SCORE, A.H_SCORE_TYPE, rows, A.H_SCORE_CELL, lastClass, A.H_SCORE_CHANNEL);
  if (isSoftmax) reads(A.H_SOFT, A.H_SCORE_TYPE, rows, A.H_SCORE_CELL, logits - 1, A.H_SCORE_CHANNEL);
  for (const [at, type, step] of COLUMNS) if (word(at)) reads(at, type, rows, step);
  for (let k = A.H_BOX_0; k <= A.H_BOX_3; k++) reads(k, A.H_BOX_TYPE, rows, A.H_BOX_CELL, bins - 1, A.H_BIN);
  needs.cells += cells;
  needs.elements += cells * Math.max(classes, logits, bins);
  needs.classes = Math.max(needs.classes, hasClassId ? Infinity : word(A.H_CLASS_BASE) + lastClass + 1);
  needs.groups ||= classes > 1 && !word(A.H_OBJ);
}

/** Columns of one channel: words with the address (0: none), the type, and the bytes from cell to cell. */
const COLUMNS = [
  [A.H_OBJ, A.H_OBJ_TYPE, A.H_OBJ_CELL],
  [A.H_CLASS_ID, A.H_CLASS_ID_TYPE, A.H_CLASS_ID_CELL],
  [A.H_MARKER, A.H_SCORE_TYPE, A.H_MARKER_CELL],
] as const;
