/**
 * Checks every address, step and count that an engine reads from a plan block, since a forged file can have a valid
 * checksum. After these checks, an engine stays inside memory, and its work is bounded.
 */
import * as A from "../core/abi.ts";
import { keptBlocks } from "../memory/layout.ts";
import { type PlanBytes, aligned, within } from "./bytes.ts";

/** Limits against which addresses and counts are checked. */
export interface Limits {
  /** Count of the file's bytes that are copied to memory. */
  readonly imageBytes: number;
  readonly memoryBytes: number;
  /** Rows of the detection columns. */
  readonly rows: number;
}

/** Totals over the heads of a plan block. */
interface Needs {
  /** Count of cells. A cell gives at most one candidate, unless the plan is multi-label. */
  cells: number;
  /** Count of elements that a scan reads. */
  elements: number;
  /** Count of class ids that candidates can have. Infinity if a column holds class ids. */
  classes: number;
  /** True if a head has several classes and no objectness. Its scan then keeps maxima over groups of classes. */
  groups: boolean;
}

/**
 * Checks that `count` words at address `at` lie in the part of the image that kernels never change. Returns the largest
 * of these words, -1 if `at` is 0.
 */
type LargestOf = (at: number, count: number) => number;

const HEAD_BYTES = A.HEAD_WORDS * 4;

/**
 * Checks a plan block and the records to which it points. Returns the end of the memory that a kernel writes for this
 * block.
 * @param constants end of all plan blocks. Kernels write to plan blocks; the rest of the image never changes
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

  // Check P_COLUMN and P_ROWS, by which the kernel with vectors divides its scratch. For heads with groups, the kernel
  // also writes a word per cell after the first two rows.
  const column = within(word(A.P_COLUMN), 0, memoryBytes, A.COLUMN_BYTES);
  const scanRows = within(
    word(A.P_ROWS),
    0,
    memoryBytes,
    groups ? 2 * A.ROW_BYTES + column : A.PLAIN_ROWS_BYTES,
  );

  // The regions that a kernel writes follow the image, in the order of `layout.ts`. A multi-label plan may have fewer
  // rows than cells: when the columns are full, it drops candidates.
  const isMultiLabel = (word(A.P_FLAGS) & A.FLAG_MULTI_LABEL) > 0;
  const capacity = within(word(A.P_CAPACITY), 0, memoryBytes, isMultiLabel ? Math.min(cells, 1) : cells);
  const after = (end: number, index: number, bytes: number): number =>
    Math.ceil((aligned(word(index), bytes, memoryBytes, end) + bytes) / 16) * 16;
  let work = imageBytes;
  for (let k = A.P_SCORES; k <= A.P_BOXES; k++) work = after(work, k, capacity * (k < A.P_BOXES ? 4 : 16));
  const order = after(work, A.P_ORDER, capacity * 4);
  const sort = after(after(order, A.P_SPARE, capacity * 4), A.P_COUNTS, 4 << A.BUCKET_BITS);
  // The scan of a multi-label plan sorts if there are too many candidates, so its scratch lies after the memory of the
  // sort.
  const scratch = Math.max(3 * column + scanRows, groups ? A.SCAN_BYTES : 0);
  const scan = after(isMultiLabel ? sort : work, A.P_SCRATCH, scratch);
  // With at most ONE_WAVE candidates, sorting ends before suppression begins, so the memory of both may overlap.
  const chains = after(capacity <= A.ONE_WAVE ? order : sort, A.P_CHAINS, A.CHAINS * 4);
  const blocks = keptBlocks(rows, word(A.P_FLAGS) & A.FLAG_NMS_ALL ? 1 : classes);
  let end = Math.max(scan, sort, after(chains, A.P_KEPT, blocks * A.KEPT4_BYTES));
  for (let k = A.P_DET_BOXES; k <= A.P_DET_SOURCES; k++)
    end = after(end, k, rows * (k > A.P_DET_BOXES ? 4 : 16));
  return end;
}

/** Checks the head record at `head`, and adds its counts to `needs`. All tensors end at or before `tensorsEnd`. */
function checkHead(
  file: PlanBytes,
  head: number,
  tensorsEnd: number,
  needs: Needs,
  largestOf: LargestOf,
): void {
  const word = (index: number): number => file.word(head, index);
  // Checks that the type is known, and that four bytes at the last element, after `rows` and `channels` steps, lie
  // before `tensorsEnd`. Kernels load up to four bytes; each tensor is followed by 16 spare bytes, so a valid plan
  // passes.
  const reads = (at: number, type: number, rows = 0, step = 0, channels = 0, channel = 0): void => {
    within(word(type), 0, A.TYPE_I32, 0);
    within(word(at), rows * word(step) + channels * word(channel) + 4, tensorsEnd);
  };
  if (word(A.H_COUNT)) reads(A.H_COUNT, A.H_COUNT_TYPE);
  const cells = word(A.H_CELLS);
  // A head without a kept class has no cells.
  if (cells === 0) return;

  // A head with a class id column has a single score column. H_INDEX must be 0, since plan files never gather rows.
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

/**
 * Columns with one channel. A head record has three words for each: the address (0: no column), the type, and the bytes
 * from cell to cell.
 */
const COLUMNS = [
  [A.H_OBJ, A.H_OBJ_TYPE, A.H_OBJ_CELL],
  [A.H_CLASS_ID, A.H_CLASS_ID_TYPE, A.H_CLASS_ID_CELL],
  [A.H_MARKER, A.H_SCORE_TYPE, A.H_MARKER_CELL],
] as const;
