/**
 * The kernel's binary interface, written once and read by both compilers (asc and tsc).
 *
 * The JavaScript side prepares one linear memory: plan blocks, head records, tables and tensor slots. Engines read and
 * write nothing else. A word has 4 bytes, little-endian. Addresses are byte addresses, 16-aligned unless stated
 * otherwise. Address 0 means "none". `layout.ts` shows how the memory is divided.
 *
 * A kernel exports `abiVersion() -> i32`. Four functions take the address of a plan block: `scan(plan) -> candidates`,
 * `sort(plan) -> ordered`, `nms(plan) -> detections`, and `decode(plan) -> detections`, which runs the other three. Two
 * functions take the address of a column record, and check its values: `within(column, from) -> index`,
 * `compare(column) -> differing`.
 */

export const ABI_VERSION = 3;

// ---- Plan block: one for each image of a batch, and one more for gathered input ---------------------------
export const P_HEADS = 0; //           count of head records
export const P_HEAD0 = 1; //           address of the first head record; the others follow it
export const P_CAPACITY = 2; //        rows of the candidate columns
export const P_SCORES = 3; //          f32[capacity]
export const P_CLASS_IDS = 4; //       i32[capacity]
export const P_SOURCES = 5; //         u32[capacity]: index of the (head, anchor, cell) that the candidate belongs to
export const P_BOXES = 6; //           f32[capacity][4]: x1 y1 x2 y2, normalised to the network input
export const P_ORDER = 7; //           u32[capacity]: candidate indices, best first; the first P_SORTED are in order
export const P_SPARE = 8; //           u32[capacity]: scratch of the sort
export const P_COUNTS = 9; //          u32[2048]: scratch of the sort, kept until nms ends, since nms may sort more
export const P_SCRATCH = 10; //        scratch of the scan, see COLUMN_BYTES
export const P_CHAINS = 11; //         u32[256]: scratch of nms: newest kept box of each chain
export const P_KEPT = 12; //           scratch of nms: kept boxes, see KEPT_*
export const P_DET_BOXES = 13; //      f32[maxDetections][4], in the coordinates of the frame
export const P_DET_SCORES = 14; //     f32[maxDetections]
export const P_DET_CLASS_IDS = 15; //  i32[maxDetections]
export const P_DET_SOURCES = 16; //    u32[maxDetections]
export const P_MAX_CANDIDATES = 17; // largest number of candidates that nms may compare
export const P_MAX_DETECTIONS = 18; // largest number of detections that nms may keep
export const P_IOU = 19; //            f32: threshold of the IoU
export const P_FLAGS = 20; //          FLAG_*
export const P_OFFSET_X = 21; //       f32: added to widths in areas and intersections (pixelOffset / input width)
export const P_OFFSET_Y = 22; //       f32: added to heights in areas and intersections (pixelOffset / input height)
export const P_SCALE_X = 23; //        f32: detection x = box x * scale + shift; undoes the letterbox
export const P_SCALE_Y = 24; //        f32
export const P_SHIFT_X = 25; //        f32
export const P_SHIFT_Y = 26; //        f32
export const P_COLUMN = 27; //         bytes of a column of scratch, see COLUMN_BYTES
export const P_ROWS = 28; //           bytes of the rows of scratch, see COLUMN_BYTES
// The kernel writes the words below.
export const P_CANDIDATES = 29; //   after scan: count of candidates
export const P_OVERFLOW = 30; //     candidates dropped for lack of room: the worst ones (multi-label plans only)
export const P_NOT_FINITE = 31; //   candidates dropped because box, score or class id was not finite
export const P_OUT_OF_RANGE = 32; // candidates dropped because a probability was above 1
export const P_ORDERED = 33; //      after sort: candidates that nms may compare
export const P_DETECTIONS = 34; //   after nms: count of detections
export const P_VISITED = 35; //      after nms: candidates that nms compared
export const P_SORTED = 36; //       candidates sorted so far: all, or only the best ones
export const P_EMPTY = 37; //        candidates dropped because the clamp left no area
export const PLAN_WORDS = 38;

export const FLAG_NMS_CLASS = 1; //      suppress within a class
export const FLAG_NMS_ALL = 2; //        suppress across classes; without both flags nothing is suppressed
export const FLAG_SUPPRESS_EQUAL = 4; // also suppress at IoU == threshold
export const FLAG_CLAMP_BEFORE = 8; //   clamp candidates to 0..1, and drop those that become empty
export const FLAG_CLAMP_AFTER = 16; //   clamp the corners of detections to 0..1
export const FLAG_CLAMP_CENTRE = 32; //  clamp centre and size of detections to 0..1
export const FLAG_MULTI_LABEL = 64; //   make a candidate of each class above its threshold, not only of the best one

// ---- Head record: one for each (tensor, anchor) that is scanned -------------------------------------------
export const H_CELLS = 0; //     cells to scan
export const H_RULE = 1; //      RULE_*: how objectness and class make a score
export const H_THRESHOLD = 2; // f32: smallest score that passes
export const H_SOURCE = 3; //    source index of cell 0
export const H_INDEX = 4; //     gathered input: address of u32 cell numbers; 0: row i is cell i

export const H_SCORE_TYPE = 5; //           TYPE_*
export const H_SCORE = 6; //                address of class 0 of cell 0
export const H_SCORE_CHANNEL = 7; //        bytes from class to class
export const H_SCORE_CELL = 8; //           bytes from cell to cell
export const H_SCORE_SCALE = 9; //          f32
export const H_SCORE_ZERO = 10; //          f32: zero point
export const H_SCORE_FN = 11; //            FN_NONE, FN_SIGMOID or FN_SOFTMAX
export const H_SCORE_RAW_THRESHOLD = 12; // least raw value that can pass: f32 or integer key; softmax: best - top logit
export const H_CLASSES = 13; //             count of classes that are compared
export const H_CLASS_BASE = 14; //          class id of class 0
export const H_CLASS_LIST = 15; //          u32[classes]: the classes that are compared; 0: 0, 1, 2, ...
export const H_CLASS_THRESHOLDS = 16; //    f32[classes]: smallest score of each class; 0: H_THRESHOLD for all
export const H_SOFT = 17; //                softmax: address of the first logit of cell 0
export const H_SOFT_COUNT = 18; //          softmax: count of logits

export const H_OBJ_TYPE = 19; //          TYPE_*
export const H_OBJ = 20; //               address of the objectness of cell 0; 0: none
export const H_OBJ_CELL = 21; //          bytes from cell to cell
export const H_OBJ_SCALE = 22; //         f32
export const H_OBJ_ZERO = 23; //          f32: zero point
export const H_OBJ_FN = 24; //            FN_NONE or FN_SIGMOID
export const H_OBJ_RAW_THRESHOLD = 25; // smallest raw objectness that can pass: f32 or integer key

export const H_CLASS_ID_TYPE = 26; //  TYPE_* of a column of class ids
export const H_CLASS_ID = 27; //       address of the class id of cell 0; 0: no such column
export const H_CLASS_ID_CELL = 28; //  bytes from cell to cell
export const H_CLASS_ID_SCALE = 29; // f32
export const H_CLASS_ID_ZERO = 30; //  f32: zero point

export const H_MARKER = 31; //      column of type H_SCORE_TYPE; a -1 ends the list (SSD DetectionOutput); 0: none
export const H_MARKER_CELL = 32; // bytes from cell to cell
export const H_COUNT = 33; //       address of the count of valid cells (TFLite post-process); 0: none
export const H_COUNT_TYPE = 34; //  TYPE_*

export const H_KIND = 35; //            KIND_*
export const H_BOX_TYPE = 36; //        TYPE_*
export const H_BOX_CELL = 37; //        bytes from cell to cell
export const H_BOX_0 = 38; //           address of the first box channel of cell 0: x, x1 or left
export const H_BOX_1 = 39; //           address of the second box channel: y, y1 or top
export const H_BOX_2 = 40; //           address of the third box channel: w, x2 or right
export const H_BOX_3 = 41; //           address of the fourth box channel: h, y2 or bottom
export const H_BOX_SCALE = 42; //       f32
export const H_BOX_ZERO = 43; //        f32: zero point
export const H_BIN = 44; //             distance: bytes from bin to bin
export const H_BINS = 45; //            distance: bins of a distribution; 0: the channel is the distance itself
export const H_GRID_W = 46; //          cells in a line of the grid
export const H_XY_FN = 47; //           grid: FN_* on x and y
export const H_XY_SCALE = 48; //        f32: centre = (column + scale * f(x) + bias) * H_KX
export const H_XY_BIAS = 49; //         f32
export const H_WH_FN = 50; //           FN_* on w and h
export const H_W = 51; //               f32: width = f(w) * H_W (anchor width, normalised)
export const H_H = 52; //               f32: height = f(h) * H_H
export const H_KX = 53; //              f32: factor that makes x normalised
export const H_KY = 54; //              f32: factor that makes y normalised
export const H_TABLE = 55; //           prior: f32[cells][4]: cx cy w h, normalised
export const H_V0 = 56; //              prior: f32: factor on box channel 0 (variance)
export const H_V1 = 57; //              prior: f32: factor on box channel 1
export const H_V2 = 58; //              prior: f32: factor on box channel 2
export const H_V3 = 59; //              prior: f32: factor on box channel 3
export const H_MAX_PROBABILITY = 60; // f32: a class score above this value is out of range; +Infinity: no limit
export const H_LIST_LENGTH = 61; //     class id column: length of H_CLASS_LIST and H_CLASS_THRESHOLDS; 0: no lists
export const H_MAX_OBJECTNESS = 62; //  f32: an objectness above this value is out of range; +Infinity: no limit
export const HEAD_WORDS = 64;

// ---- Record of a column of values that a check reads. The JavaScript side writes the record to P_COUNTS -----
export const C_TYPE = 0; //      TYPE_*
export const C_SCALE = 1; //     f32
export const C_ZERO = 2; //      f32: zero point
export const C_AT = 3; //        address of the first value
export const C_RUN = 4; //       count of values in a run, at least 1
export const C_STEP = 5; //      bytes from value to value in a run
export const C_RUNS = 6; //      within: count of runs
export const C_RUN_STEP = 7; //  within: bytes from run to run
export const C_LOW = 8; //       within: f32: smallest good value
export const C_HIGH = 9; //      within: f32: largest good value
export const C_READ = 10; //     compare: bytes from a value to its neighbour in the order that is read
export const C_OTHER = 11; //    compare: bytes from a value to its neighbour in the other order
// The function `compare` writes the words below.
export const C_COMPARED = 12; // count of finite values with two finite neighbours
export const C_BY_READ = 13; //  f32: normalised difference to the neighbour in the order that is read, see compare
export const C_BY_OTHER = 14; // f32: normalised difference to the neighbour in the other order
export const COLUMN_WORDS = 16;

export const KIND_GRID = 0; //     centre from the cell, size from an anchor (YOLOv2 to v7) or the stride (YOLOX)
export const KIND_DISTANCE = 1; // left, top, right, bottom from the cell's centre or corner, times H_XY_SCALE in cells
export const KIND_PRIOR = 2; //    offsets from a prior box (SSD)
export const KIND_CENTRE = 3; //   plain cx cy w h
export const KIND_CORNERS = 4; //  plain x1 y1 x2 y2
export const KIND_TOPLEFT = 5; //  plain x1 y1 w h

export const RULE_CLASS = 0; //      the class score; objectness, if there is one, is only compared with the threshold
export const RULE_PRODUCT = 1; //    objectness x class score
export const RULE_OBJECTNESS = 2; // the objectness: there is one class and no class channel
export const RULE_POWER = 3; //      objectness^0.6 x class score^0.4 (FastestDet)

export const FN_NONE = 0;
export const FN_SIGMOID = 1;
export const FN_SOFTMAX = 2;
export const FN_TANH = 3;
export const FN_EXP = 4;
export const FN_SQUARE = 5; //         (2 w)^2, for a w that is already a probability
export const FN_SQUARE_SIGMOID = 6; // (2 sigmoid(w))^2
export const FN_CLAMP = 7; //          the value, clamped to 0..1

export const TYPE_F32 = 0;
export const TYPE_F16 = 1;
export const TYPE_I8 = 2;
export const TYPE_U8 = 3;
export const TYPE_I16 = 4;
export const TYPE_I32 = 5;

// ---- Scratch -----------------------------------------------------------------------------------------------
/**
 * Count of cells in a block of the scan; a block has twice as many if an element has 1 or 2 bytes. The scratch of a
 * block of this size stays in the first-level cache. With vectors, blocks of tensors stored as planes are as long as
 * the scratch allows (`planeBlock`), since memory is read fastest in long runs along a plane.
 */
export const BLOCK = 512;
/**
 * Scratch of the scan with vectors, from P_SCRATCH on. Each part has room for every cell of a block:
 *
 *     0              P_COLUMN        2 P_COLUMN        3 P_COLUMN    then rows, P_ROWS bytes in all
 *     | rows that    | their best    | their best      | maxima of   | maxima of     | of group 1   | up to GROUPS |
 *     | may pass     | values        | classes         | all classes | group 0       |              |              |
 *
 * A group has eight classes, or the smallest multiple of eight that gives at most GROUPS groups. Heads with objectness,
 * or with one class, have no groups. They use three rows for other intermediate values.
 *
 * The kernel without vectors has three columns of COLUMN_BYTES and no rows. Its columns of best values (as sortable
 * keys) and best classes have an entry for every cell of a block.
 */
export const COLUMN_BYTES = BLOCK * 8 + 16;
export const ROW_BYTES = BLOCK * 4 + 16;
export const GROUPS = 16;
/** Smallest size of the rows of a head with groups, in bytes. A layout may reserve more. */
export const GROUP_ROWS_BYTES = (1 + GROUPS) * ROW_BYTES;
/** Size of the rows of a head without groups, in bytes. */
export const PLAIN_ROWS_BYTES = (1 + 2) * ROW_BYTES;
/** Smallest size of the scratch for heads with groups, in bytes. */
export const SCAN_BYTES = 3 * COLUMN_BYTES + GROUP_ROWS_BYTES;
/** Size of the scratch for heads without groups, in bytes. */
export const SCAN_COLUMN_BYTES = 3 * COLUMN_BYTES + PLAIN_ROWS_BYTES;
/** Size of the scratch for the kernel without vectors, in bytes. */
export const SCAN_SCALAR_BYTES = 3 * COLUMN_BYTES;
/** First address that a layout uses. Address 0 means "none". */
export const FIRST_ADDRESS = 64;
/** Lists of up to this many candidates are sorted by insertion. */
export const SORT_SMALL = 24;
/** Lists of up to this many candidates are sorted at once. Longer lists are sorted in waves, the best first. */
export const ONE_WAVE = 3072;
/**
 * The first wave has about an eighth of all candidates, but at least FIRST_WAVE and at most 4 FIRST_WAVE. The lowest
 * score of a wave is estimated from SORT_SAMPLE scores.
 */
export const FIRST_WAVE = 1024;
export const SORT_SAMPLE = 512;
/**
 * The sort has up to 2^BUCKET_BITS buckets. If one has more than BUCKET_CROWD candidates, a radix sort runs instead.
 */
export const BUCKET_BITS = 11;
export const BUCKET_CROWD = 32;
/**
 * Format of kept boxes in nms with vectors: blocks of four boxes of the same class or strip, as columns. Offsets in
 * bytes:
 *
 *     0         16        32        48        64          80           84         88      92
 *     | x1[4]   | y1[4]   | x2[4]   | y2[4]   | area[4]   | next block | class id | count | unused |
 */
export const KEPT4_NEXT = 80;
export const KEPT4_CLASS_ID = 84;
export const KEPT4_COUNT = 88;
export const KEPT4_BYTES = 96;
/**
 * Format of kept boxes in nms without vectors: records of KEPT_WORDS words:
 *
 *     0               1                2                    3      4          5
 *     | left and top  | right and      | address of the     | area | class id | address of the      |
 *     | edge, packed  | bottom, packed | box                |      |          | next record         |
 *
 * In the TypeScript engine, the two addresses are word indices.
 */
export const KEPT_FAR = 1;
export const KEPT_BOX = 2;
export const KEPT_AREA = 3;
export const KEPT_CLASS_ID = 4;
export const KEPT_NEXT = 5;
export const KEPT_WORDS = 6;
/** Count of chains over which kept boxes are distributed by class. */
export const CHAINS = 256;
/**
 * Count of vertical strips over which kept boxes are distributed if classes suppress each other. The strips divide the
 * x range of the best STRIP_SAMPLE candidates.
 */
export const STRIPS = 16;
export const STRIP_SAMPLE = 64;
