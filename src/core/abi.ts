/**
 * The kernel's binary interface, written once and read by both compilers (asc and tsc).
 *
 * The host writes one *image*: plan blocks, head records, tables and tensor slots in one linear memory.
 * Every engine works on that image and on nothing else. Words are 4 bytes, little-endian; addresses are
 * byte addresses, 16-aligned unless said otherwise; address 0 means "not there". `layout.ts` draws the map.
 *
 * The verbs: `abiVersion() -> i32`, and with the address of a plan block `scan(plan) -> candidates`,
 * `sort(plan) -> ordered`, `nms(plan) -> detections`, `decode(plan) -> detections` (the three in a row).
 */

export const ABI_VERSION = 2;

// ---- Plan block: one per image of a batch, and one more for gathered input ------------------------------
export const P_HEADS = 0; //           number of head records
export const P_HEAD0 = 1; //           address of the first; they lie one after the other
export const P_CAPACITY = 2; //        rows of the candidate columns
export const P_SCORES = 3; //          f32[capacity]
export const P_CLASS_IDS = 4; //          i32[capacity]
export const P_SOURCES = 5; //         u32[capacity]: number of the (head, anchor, cell) it came from
export const P_BOXES = 6; //           f32[capacity][4]: x1 y1 x2 y2, normalised to the network input
export const P_ORDER = 7; //           u32[capacity]: candidate rows, best first, of which P_SORTED are in order
export const P_SPARE = 8; //           u32[capacity]: scratch of the sort
export const P_COUNTS = 9; //          u32[2048]: scratch of the sort (counts); has to outlive it, since nms may have more put in order
export const P_SCRATCH = 10; //          scratch of the scan, see SCAN_BYTES
export const P_CHAINS = 11; //         u32[256]: scratch of nms: where the newest kept box of a label stands, by the low byte of the label, or that of a strip
export const P_KEPT = 12; //           scratch of nms: kept boxes, see KEPT_*
export const P_DET_BOXES = 13; //      f32[maxDetections][4], in the frame's coordinates
export const P_DET_SCORES = 14; //     f32[maxDetections]
export const P_DET_CLASS_IDS = 15; //     i32[maxDetections]
export const P_DET_SOURCES = 16; //    u32[maxDetections]
export const P_MAX_CANDIDATES = 17; // at most so many candidates go into nms
export const P_MAX_DETECTIONS = 18;
export const P_IOU = 19; //            f32
export const P_FLAGS = 20; //          FLAG_*
export const P_OFFSET_X = 21; //       f32, added to widths in areas (pixelOffset / input width)
export const P_OFFSET_Y = 22;
export const P_SCALE_X = 23; //        f32: detection x = box x * scale + shift (letterbox undo)
export const P_SCALE_Y = 24;
export const P_SHIFT_X = 25;
export const P_SHIFT_Y = 26;
export const P_COLUMN = 27; //         bytes of a column of scratch, see SCAN_BYTES
export const P_ROWS = 28; //           bytes of its rows
// written by the kernel
export const P_CANDIDATES = 29; //     after scan
export const P_OVERFLOW = 30; //       candidates that found no room (multi-label plans only)
export const P_NOT_FINITE = 31; //     candidates dropped because box, score or label was not finite
export const P_OUT_OF_RANGE = 32; //   candidates whose probability was outside [0, 1]
export const P_ORDERED = 33; //        after sort: candidates that nms may look at
export const P_DETECTIONS = 34; //     after nms
export const P_VISITED = 35; //        candidates that nms looked at before it had enough
export const P_SORTED = 36; //         candidates in order so far: all, or the best of many
export const PLAN_WORDS = 37;

export const FLAG_NMS_CLASS = 1; //      suppression within a class
export const FLAG_NMS_ALL = 2; //        suppression across classes; neither flag: none
export const FLAG_SUPPRESS_EQUAL = 4; // suppress at IoU == threshold too
export const FLAG_CLAMP_BEFORE = 8;
export const FLAG_CLAMP_AFTER = 16;
export const FLAG_CLAMP_CENTRE = 32;
export const FLAG_MULTI_LABEL = 64;

// ---- Head record: one per (tensor, anchor) that is scanned -----------------------------------------------
export const H_CELLS = 0; //        cells to scan
export const H_RULE = 1; //         RULE_*: how objectness and class make a score
export const H_THRESHOLD = 2; //         f32: smallest score that passes
export const H_SOURCE = 3; //       source number of cell 0
export const H_INDEX = 4; //        gathered input: address of u32 cell numbers; 0: row i is cell i

export const H_SCORE_TYPE = 5; //   TYPE_*
export const H_SCORE = 6; //        address of class 0 of cell 0
export const H_SCORE_CHANNEL = 7; // bytes from class to class
export const H_SCORE_CELL = 8; //   bytes from cell to cell
export const H_SCORE_SCALE = 9; //  f32
export const H_SCORE_ZERO = 10; //  f32
export const H_SCORE_FN = 11; //    FN_NONE, FN_SIGMOID or FN_SOFTMAX
export const H_SCORE_RAW_THRESHOLD = 12; //  smallest raw value that can pass: f32 bits, or an integer key; softmax: f32, how far below the row's largest logit
export const H_CLASSES = 13; //     classes looked at
export const H_CLASS_BASE = 14; //  label of class 0
export const H_CLASS_LIST = 15; //  u32[classes]: which classes; 0: 0, 1, 2, ...
export const H_CLASS_THRESHOLDS = 16; // f32[classes]: smallest score per class; 0: H_THRESHOLD for all
export const H_SOFT = 17; //        softmax: address of the first logit of cell 0
export const H_SOFT_COUNT = 18; //  softmax: number of logits

export const H_OBJ_TYPE = 19;
export const H_OBJ = 20; //         address of the objectness of cell 0; 0: none
export const H_OBJ_CELL = 21;
export const H_OBJ_SCALE = 22;
export const H_OBJ_ZERO = 23;
export const H_OBJ_FN = 24;
export const H_OBJ_RAW_THRESHOLD = 25;

export const H_CLASS_ID_TYPE = 26; //  class number given by a column of its own
export const H_CLASS_ID = 27;
export const H_CLASS_ID_CELL = 28;
export const H_CLASS_ID_SCALE = 29;
export const H_CLASS_ID_ZERO = 30;

export const H_MARKER = 31; //      f32 or f16 column whose value -1 ends the list (SSD DetectionOutput); type: H_SCORE_TYPE
export const H_MARKER_CELL = 32;
export const H_COUNT = 33; //       address of the number of valid cells (TFLite post-process)
export const H_COUNT_TYPE = 34;

export const H_KIND = 35; //        KIND_*
export const H_BOX_TYPE = 36;
export const H_BOX_CELL = 37; //    bytes from cell to cell
export const H_BOX_0 = 38; //       addresses of the four box channels of cell 0: x y w h, or x1 y1 x2 y2, or l t r b
export const H_BOX_1 = 39;
export const H_BOX_2 = 40;
export const H_BOX_3 = 41;
export const H_BOX_SCALE = 42;
export const H_BOX_ZERO = 43;
export const H_BIN = 44; //         distance: bytes from bin to bin
export const H_BINS = 45; //        distance: bins of a distribution; 0: the distance itself
export const H_GRID_W = 46; //      cells in a row of the grid
export const H_XY_FN = 47; //       FN_* on x and y
export const H_XY_SCALE = 48; //    f32: centre = (column + scale * f(x) + bias) * H_KX
export const H_XY_BIAS = 49;
export const H_WH_FN = 50; //       FN_* on w and h
export const H_W = 51; //           f32: width = f(w) * H_W (anchor width, normalised)
export const H_H = 52;
export const H_KX = 53; //          f32: to normalised coordinates
export const H_KY = 54;
export const H_TABLE = 55; //       prior: f32[cells][4]: cx cy w h, normalised
export const H_V0 = 56; //          prior: factors on the four box channels (variances)
export const H_V1 = 57;
export const H_V2 = 58;
export const H_V3 = 59;
export const H_CHECK = 60; //       f32: a probability above this is out of range; +Infinity: no check
export const H_LIST_LENGTH = 61; //      label column: entries of H_CLASS_LIST and H_CLASS_THRESHOLDS; 0: all labels, H_THRESHOLD
export const HEAD_WORDS = 64;

export const KIND_GRID = 0; //      centre from the cell, size from an anchor (YOLOv2..v7) or the stride (YOLOX)
export const KIND_DISTANCE = 1; //  left, top, right, bottom from the centre of the cell, in cells
export const KIND_PRIOR = 2; //     offsets against a prior box (SSD)
export const KIND_CENTRE = 3; //    plain cx cy w h
export const KIND_CORNERS = 4; //   plain x1 y1 x2 y2
export const KIND_TOPLEFT = 5; //   plain x1 y1 w h

export const RULE_CLASS = 0; //     the class score; objectness, where there is one, only gates
export const RULE_PRODUCT = 1; //   objectness x class
export const RULE_OBJECTNESS = 2; // one class and no class channel
export const RULE_POWER = 3; //     objectness^0.6 x class^0.4 (FastestDet)

export const FN_NONE = 0;
export const FN_SIGMOID = 1;
export const FN_SOFTMAX = 2;
export const FN_TANH = 3;
export const FN_EXP = 4;
export const FN_SQUARE = 5; //      (2 w)^2 of a w that is a probability already
export const FN_SQUARE_SIGMOID = 6; // (2 sigmoid(w))^2

export const TYPE_F32 = 0;
export const TYPE_F16 = 1;
export const TYPE_I8 = 2;
export const TYPE_U8 = 3;
export const TYPE_I16 = 4;
export const TYPE_I32 = 5;

// ---- Scratch -----------------------------------------------------------------------------------------------
/**
 * Cells per block of the scan; of elements smaller than 4 bytes twice as many. Few enough that what is kept of a block stays in the first-level
 * cache. With vectors, blocks of planes are as long as scratch has room for (`planeBlock`): memory is read fastest by long runs along each plane.
 */
export const BLOCK = 512;
/**
 * Scratch of the scan, from P_SCRATCH on; each part has room for every cell of a block:
 *
 *     0              P_COLUMN        2 P_COLUMN        3 P_COLUMN  then rows, P_ROWS bytes of them ...
 *     | rows that    | their best    | their labels    | maxima    | maxima of     | of group 1   | up to 16 groups |
 *     | may pass     | scores        |                 | of cells  | group 0       |              |                 |
 *
 * A group is eight classes, or as many eights as keep the groups at sixteen. Heads with objectness, or of one class, have no groups and
 * use the room of the first three rows for other things. The kernel without vectors has columns of COLUMN_BYTES and no rows: scores and labels
 * are those of all cells of a block, by number, the scores as raw bits.
 */
export const COLUMN_BYTES = BLOCK * 8 + 16;
export const ROW_BYTES = BLOCK * 4 + 16;
export const GROUPS = 16;
/** Rows where there are groups, at least, and where there are none. */
export const GROUP_ROWS_BYTES = (1 + GROUPS) * ROW_BYTES;
export const PLAIN_ROWS_BYTES = (1 + 2) * ROW_BYTES;
export const SCAN_BYTES = 3 * COLUMN_BYTES + GROUP_ROWS_BYTES;
export const SCAN_COLUMN_BYTES = 3 * COLUMN_BYTES + PLAIN_ROWS_BYTES;
/** All that the kernel without vectors needs. */
export const SCAN_SCALAR_BYTES = 3 * COLUMN_BYTES;
/** Addresses begin here: a zero address is a bug, not data. */
export const FIRST_ADDRESS = 64;
/** Up to so many candidates are put in order by insertion. */
export const SORT_SMALL = 24;
/** Up to so many are put in order at once, and nms never calls for more. */
export const ONE_WAVE = 3072;
/** Of more than that the best first: so many, or an eighth, by a sample of the scores. */
export const FIRST_WAVE = 1024;
export const SORT_SAMPLE = 512;
/** The sort has up to 2^11 buckets; one with more than so many in it is too many to insert. */
export const BUCKET_BITS = 11;
export const BUCKET_CROWD = 32;
/** Kept boxes of the engine with vectors stand in blocks of four of a label or strip, in columns: x1[4] y1[4] x2[4] y2[4] area[4] next label count pad. */
export const KEPT4_NEXT = 80;
export const KEPT4_CLASS_ID = 84;
export const KEPT4_COUNT = 88;
export const KEPT4_BYTES = 96;
/**
 * Without vectors, records of six words: left and top edge as halves of one word | right and bottom edge | address of the box | area | label |
 * address of the next record.
 */
export const KEPT_FAR = 1;
export const KEPT_BOX = 2;
export const KEPT_AREA = 3;
export const KEPT_CLASS_ID = 4;
export const KEPT_NEXT = 5;
export const KEPT_WORDS = 6;
export const CHAINS = 256;
/** Across classes kept boxes hang in so many strips of the image, whose breadth is that of so many of the best candidates. */
export const STRIPS = 16;
export const STRIP_SAMPLE = 64;
