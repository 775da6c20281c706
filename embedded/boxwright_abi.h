/* Made by scripts/embedded-header.mjs from src/core/abi.ts and src/planfile/format.ts. Do not edit. */
#ifndef BOXWRIGHT_ABI_H
#define BOXWRIGHT_ABI_H

/*
 * The kernel's binary interface, written once and read by both compilers (asc and tsc).
 *
 * The host writes one image into one linear memory: plan blocks, head records, tables and tensor slots. Engines work on
 * that image and on nothing else. A word has 4 bytes, little-endian. Addresses are byte addresses, 16-aligned unless
 * stated otherwise. Address 0 means "none". `layout.ts` draws the map.
 *
 * Verbs: `abiVersion() -> i32`. With the address of a plan block: `scan(plan) -> candidates`, `sort(plan) -> ordered`,
 * `nms(plan) -> detections`, and `decode(plan) -> detections`, which runs the three.
 */
#define BXW_ABI_VERSION 2

/* Plan block: one for each image of a batch, and one more for gathered input */
#define BXW_P_HEADS 0 /* count of head records */
#define BXW_P_HEAD0 1 /* address of the first head record; the others follow it */
#define BXW_P_CAPACITY 2 /* rows of the candidate columns */
#define BXW_P_SCORES 3 /* f32[capacity] */
#define BXW_P_CLASS_IDS 4 /* i32[capacity] */
#define BXW_P_SOURCES 5 /* u32[capacity]: index of the (head, anchor, cell) that a candidate came from */
#define BXW_P_BOXES 6 /* f32[capacity][4]: x1 y1 x2 y2, normalised to the network input */
#define BXW_P_ORDER 7 /* u32[capacity]: candidate indices, best first; the first P_SORTED are in order */
#define BXW_P_SPARE 8 /* u32[capacity]: scratch of the sort */
#define BXW_P_COUNTS 9 /* u32[2048]: scratch of the sort, kept until nms ends, since nms may sort more */
#define BXW_P_SCRATCH 10 /* scratch of the scan, see COLUMN_BYTES */
#define BXW_P_CHAINS 11 /* u32[256]: scratch of nms: newest kept box of each chain */
#define BXW_P_KEPT 12 /* scratch of nms: kept boxes, see KEPT_* */
#define BXW_P_DET_BOXES 13 /* f32[maxDetections][4], in the coordinates of the frame */
#define BXW_P_DET_SCORES 14 /* f32[maxDetections] */
#define BXW_P_DET_CLASS_IDS 15 /* i32[maxDetections] */
#define BXW_P_DET_SOURCES 16 /* u32[maxDetections] */
#define BXW_P_MAX_CANDIDATES 17 /* nms looks at this many candidates at most */
#define BXW_P_MAX_DETECTIONS 18 /* nms keeps this many at most */
#define BXW_P_IOU 19 /* f32: threshold of the IoU */
#define BXW_P_FLAGS 20 /* FLAG_* */
#define BXW_P_OFFSET_X 21 /* f32: added to widths in areas and intersections (pixelOffset / input width) */
#define BXW_P_OFFSET_Y 22 /* f32: the same for heights */
#define BXW_P_SCALE_X 23 /* f32: detection x = box x * scale + shift; undoes the letterbox */
#define BXW_P_SCALE_Y 24 /* f32 */
#define BXW_P_SHIFT_X 25 /* f32 */
#define BXW_P_SHIFT_Y 26 /* f32 */
#define BXW_P_COLUMN 27 /* bytes of a column of scratch, see COLUMN_BYTES */
#define BXW_P_ROWS 28 /* bytes of the rows of scratch, see COLUMN_BYTES */
/* written by the kernel */
#define BXW_P_CANDIDATES 29 /* after scan: count of candidates */
#define BXW_P_OVERFLOW 30 /* candidates that found no room (multi-label plans only) */
#define BXW_P_NOT_FINITE 31 /* candidates dropped because box, score or class id was not finite */
#define BXW_P_OUT_OF_RANGE 32 /* candidates dropped because a probability was outside [0, 1] */
#define BXW_P_ORDERED 33 /* after sort: candidates that nms may look at */
#define BXW_P_DETECTIONS 34 /* after nms: count of detections */
#define BXW_P_VISITED 35 /* after nms: candidates that nms looked at */
#define BXW_P_SORTED 36 /* candidates in order so far: all, or the best of many */
#define BXW_PLAN_WORDS 37
#define BXW_FLAG_NMS_CLASS 1 /* suppress within a class */
#define BXW_FLAG_NMS_ALL 2 /* suppress across classes; without both flags nothing is suppressed */
#define BXW_FLAG_SUPPRESS_EQUAL 4 /* suppress at IoU == threshold too */
#define BXW_FLAG_CLAMP_BEFORE 8 /* clamp candidates to 0..1, and drop those that become empty */
#define BXW_FLAG_CLAMP_AFTER 16 /* clamp the corners of detections to 0..1 */
#define BXW_FLAG_CLAMP_CENTRE 32 /* clamp centre and size of detections to 0..1 */
#define BXW_FLAG_MULTI_LABEL 64 /* make a candidate of each class that passes, not of the best alone */

/* Head record: one for each (tensor, anchor) that is scanned */
#define BXW_H_CELLS 0 /* cells to scan */
#define BXW_H_RULE 1 /* RULE_*: how objectness and class make a score */
#define BXW_H_THRESHOLD 2 /* f32: smallest score that passes */
#define BXW_H_SOURCE 3 /* source index of cell 0 */
#define BXW_H_INDEX 4 /* gathered input: address of u32 cell numbers; 0: row i is cell i */
#define BXW_H_SCORE_TYPE 5 /* TYPE_* */
#define BXW_H_SCORE 6 /* address of class 0 of cell 0 */
#define BXW_H_SCORE_CHANNEL 7 /* bytes from class to class */
#define BXW_H_SCORE_CELL 8 /* bytes from cell to cell */
#define BXW_H_SCORE_SCALE 9 /* f32 */
#define BXW_H_SCORE_ZERO 10 /* f32: zero point */
#define BXW_H_SCORE_FN 11 /* FN_NONE, FN_SIGMOID or FN_SOFTMAX */
#define BXW_H_SCORE_RAW_THRESHOLD 12 /* least raw value that can pass: f32 or integer key; softmax: f32, best - top logit */
#define BXW_H_CLASSES 13 /* count of classes that are looked at */
#define BXW_H_CLASS_BASE 14 /* class id of class 0 */
#define BXW_H_CLASS_LIST 15 /* u32[classes]: the classes that are looked at; 0: 0, 1, 2, ... */
#define BXW_H_CLASS_THRESHOLDS 16 /* f32[classes]: smallest score of each class; 0: H_THRESHOLD for all */
#define BXW_H_SOFT 17 /* softmax: address of the first logit of cell 0 */
#define BXW_H_SOFT_COUNT 18 /* softmax: count of logits */
#define BXW_H_OBJ_TYPE 19 /* TYPE_* */
#define BXW_H_OBJ 20 /* address of the objectness of cell 0; 0: none */
#define BXW_H_OBJ_CELL 21 /* bytes from cell to cell */
#define BXW_H_OBJ_SCALE 22 /* f32 */
#define BXW_H_OBJ_ZERO 23 /* f32: zero point */
#define BXW_H_OBJ_FN 24 /* FN_NONE or FN_SIGMOID */
#define BXW_H_OBJ_RAW_THRESHOLD 25 /* least raw objectness that can pass: f32 or integer key */
#define BXW_H_CLASS_ID_TYPE 26 /* TYPE_* of a column of class ids */
#define BXW_H_CLASS_ID 27 /* address of the class id of cell 0; 0: no such column */
#define BXW_H_CLASS_ID_CELL 28 /* bytes from cell to cell */
#define BXW_H_CLASS_ID_SCALE 29 /* f32 */
#define BXW_H_CLASS_ID_ZERO 30 /* f32: zero point */
#define BXW_H_MARKER 31 /* column, type H_SCORE_TYPE, whose -1 ends the list (SSD DetectionOutput); 0: none */
#define BXW_H_MARKER_CELL 32 /* bytes from cell to cell */
#define BXW_H_COUNT 33 /* address of the count of valid cells (TFLite post-process); 0: none */
#define BXW_H_COUNT_TYPE 34 /* TYPE_* */
#define BXW_H_KIND 35 /* KIND_* */
#define BXW_H_BOX_TYPE 36 /* TYPE_* */
#define BXW_H_BOX_CELL 37 /* bytes from cell to cell */
#define BXW_H_BOX_0 38 /* address of the first box channel of cell 0: x, x1 or left */
#define BXW_H_BOX_1 39 /* address of the second: y, y1 or top */
#define BXW_H_BOX_2 40 /* address of the third: w, x2 or right */
#define BXW_H_BOX_3 41 /* address of the fourth: h, y2 or bottom */
#define BXW_H_BOX_SCALE 42 /* f32 */
#define BXW_H_BOX_ZERO 43 /* f32: zero point */
#define BXW_H_BIN 44 /* distance: bytes from bin to bin */
#define BXW_H_BINS 45 /* distance: bins of a distribution; 0: the channel is the distance itself */
#define BXW_H_GRID_W 46 /* cells in a line of the grid */
#define BXW_H_XY_FN 47 /* grid: FN_* on x and y */
#define BXW_H_XY_SCALE 48 /* f32: centre = (column + scale * f(x) + bias) * H_KX */
#define BXW_H_XY_BIAS 49 /* f32 */
#define BXW_H_WH_FN 50 /* FN_* on w and h */
#define BXW_H_W 51 /* f32: width = f(w) * H_W (anchor width, normalised) */
#define BXW_H_H 52 /* f32: height = f(h) * H_H */
#define BXW_H_KX 53 /* f32: factor to normalised x */
#define BXW_H_KY 54 /* f32: factor to normalised y */
#define BXW_H_TABLE 55 /* prior: f32[cells][4]: cx cy w h, normalised */
#define BXW_H_V0 56 /* prior: f32: factor on box channel 0 (variance) */
#define BXW_H_V1 57 /* prior: f32: factor on box channel 1 */
#define BXW_H_V2 58 /* prior: f32: factor on box channel 2 */
#define BXW_H_V3 59 /* prior: f32: factor on box channel 3 */
#define BXW_H_MAX_PROBABILITY 60 /* f32: a probability above this is out of range; +Infinity: none is */
#define BXW_H_LIST_LENGTH 61 /* class id column: length of H_CLASS_LIST and H_CLASS_THRESHOLDS; 0: neither */
#define BXW_HEAD_WORDS 64
#define BXW_KIND_GRID 0 /* centre from the cell, size from an anchor (YOLOv2 to v7) or the stride (YOLOX) */
#define BXW_KIND_DISTANCE 1 /* left, top, right, bottom from the centre of the cell, in cells */
#define BXW_KIND_PRIOR 2 /* offsets against a prior box (SSD) */
#define BXW_KIND_CENTRE 3 /* plain cx cy w h */
#define BXW_KIND_CORNERS 4 /* plain x1 y1 x2 y2 */
#define BXW_KIND_TOPLEFT 5 /* plain x1 y1 w h */
#define BXW_RULE_CLASS 0 /* the class score; objectness, if there is one, only gates */
#define BXW_RULE_PRODUCT 1 /* objectness x class score */
#define BXW_RULE_OBJECTNESS 2 /* the objectness: one class and no class channel */
#define BXW_RULE_POWER 3 /* objectness^0.6 x class score^0.4 (FastestDet) */
#define BXW_FN_NONE 0
#define BXW_FN_SIGMOID 1
#define BXW_FN_SOFTMAX 2
#define BXW_FN_TANH 3
#define BXW_FN_EXP 4
#define BXW_FN_SQUARE 5 /* (2 w)^2, for a w that is a probability already */
#define BXW_FN_SQUARE_SIGMOID 6 /* (2 sigmoid(w))^2 */
#define BXW_TYPE_F32 0
#define BXW_TYPE_F16 1
#define BXW_TYPE_I8 2
#define BXW_TYPE_U8 3
#define BXW_TYPE_I16 4
#define BXW_TYPE_I32 5

/* Scratch */
/*
 * Cells of a block of the scan; twice as many if an element has 1 or 2 bytes. What is kept of a block stays in the
 * first-level cache. With vectors, a block of planes is as long as scratch has room for (`planeBlock`): memory is read
 * fastest in long runs along each plane.
 */
#define BXW_BLOCK 512
/*
 * Scratch of the scan with vectors, from P_SCRATCH on. Each part has room for every cell of a block:
 *
 *     0              P_COLUMN        2 P_COLUMN        3 P_COLUMN    then rows, P_ROWS bytes in all
 *     | rows that    | their best    | their best      | maxima of   | maxima of     | of group 1   | up to GROUPS |
 *     | may pass     | values        | classes         | all classes | group 0       |              |              |
 *
 * A group has eight classes, or as many times eight as keep the count of groups at most GROUPS. Heads with objectness,
 * or with one class, have no groups. They use the room of three rows for other things.
 *
 * The kernel without vectors has three columns of COLUMN_BYTES and no rows. Its columns of values (as keys) and of
 * classes hold all cells of a block.
 */
#define BXW_COLUMN_BYTES 4112
#define BXW_ROW_BYTES 2064
#define BXW_GROUPS 16
/* Bytes of the rows: the least that heads with groups need, and what heads without groups need. */
#define BXW_GROUP_ROWS_BYTES 35088
#define BXW_PLAIN_ROWS_BYTES 6192
/* Bytes of the scratch, with groups and without. */
#define BXW_SCAN_BYTES 47424
#define BXW_SCAN_COLUMN_BYTES 18528
/* Bytes of the scratch that the kernel without vectors needs. */
#define BXW_SCAN_SCALAR_BYTES 12336
/* First address that a layout hands out. Address 0 stays unused, so that a forgotten pointer is caught. */
#define BXW_FIRST_ADDRESS 64
/* Up to this many candidates are sorted by insertion. */
#define BXW_SORT_SMALL 24
/* Up to this many candidates are sorted at once. More are sorted in waves. */
#define BXW_ONE_WAVE 3072
/* The first wave has this many candidates, or an eighth of all. A sample of SORT_SAMPLE scores says where it ends. */
#define BXW_FIRST_WAVE 1024
#define BXW_SORT_SAMPLE 512
/* The sort has up to 2^BUCKET_BITS buckets. With more than BUCKET_CROWD in one, a radix sort is faster. */
#define BXW_BUCKET_BITS 11
#define BXW_BUCKET_CROWD 32
/*
 * Kept boxes of nms with vectors: blocks of four, all of one class or strip, in columns. Offsets in bytes:
 *
 *     0         16        32        48        64          80           84         88      92
 *     | x1[4]   | y1[4]   | x2[4]   | y2[4]   | area[4]   | next block | class id | count | unused |
 */
#define BXW_KEPT4_NEXT 80
#define BXW_KEPT4_CLASS_ID 84
#define BXW_KEPT4_COUNT 88
#define BXW_KEPT4_BYTES 96
/*
 * Kept boxes of nms without vectors: records of KEPT_WORDS words:
 *
 *     0               1                2                    3      4          5
 *     | left and top  | right and      | address of the     | area | class id | address of the      |
 *     | edge, packed  | bottom, packed | box                |      |          | next record         |
 *
 * Addresses are word indices in the TypeScript engine.
 */
#define BXW_KEPT_FAR 1
#define BXW_KEPT_BOX 2
#define BXW_KEPT_AREA 3
#define BXW_KEPT_CLASS_ID 4
#define BXW_KEPT_NEXT 5
#define BXW_KEPT_WORDS 6
/* Chains of kept boxes: one for each low byte of a class id. */
#define BXW_CHAINS 256
/* Across classes, kept boxes hang in strips. These divide the breadth of the best STRIP_SAMPLE candidates. */
#define BXW_STRIPS 16
#define BXW_STRIP_SAMPLE 64

/*
 * The plan file: what `boxwright compile` writes, and `load.ts` and C programs load. Only numbers stand here, since
 * `scripts/embedded-header.mjs` turns this file and `abi.ts` into one C header.
 *
 * The file begins with the memory image itself, as far as it is not empty, so that loading is one copy:
 *
 *       0  directory, 16 words (F_*); it stands where the image never holds anything, and the kernel never looks there
 *      64  plan blocks, head records, lists and prior tables, at the addresses they have in memory
 *          image table: IMAGE_WORDS words for each image of the batch
 *          slot table: SLOT_WORDS words for each tensor
 *          label table: the offset of each label
 *          strings: names and labels, UTF-8, each ended by a zero byte; the file ends with one
 *
 * Words are 4 bytes, little-endian. Offsets count from the start of the file, addresses from the start of memory.
 * Only the first F_IMAGE_BYTES belong in memory; the tables can stay where the file is, in flash for instance. The
 * rest of memory needs no clearing.
 */
#define BXW_PLAN_MAGIC 1347901506 /* the bytes "BXWP" */
#define BXW_PLAN_VERSION 2 /* of this layout */

/* Directory */
#define BXW_F_MAGIC 0 /* PLAN_MAGIC */
#define BXW_F_VERSION 1 /* PLAN_VERSION */
#define BXW_F_ABI 2 /* ABI_VERSION of the kernel the image is for */
#define BXW_F_CHECK 3 /* CRC-32 (as in gzip and PNG) of the file from F_FILE_BYTES on */
#define BXW_F_FILE_BYTES 4 /* length of the file */
#define BXW_F_IMAGE_BYTES 5 /* bytes that belong in memory, from address 0 */
#define BXW_F_MEMORY_BYTES 6 /* bytes of memory the image needs in all */
#define BXW_F_IMAGES 7 /* images in a batch */
#define BXW_F_IMAGE_TABLE 8 /* offset */
#define BXW_F_SLOTS 9 /* tensors */
#define BXW_F_SLOT_TABLE 10 /* offset */
#define BXW_F_LABELS 11 /* class names; 0: the config has none */
#define BXW_F_LABEL_TABLE 12 /* offset */
#define BXW_F_MAX_DETECTIONS 13 /* rows of the detection columns */
#define BXW_F_INPUT_WIDTH 14 /* of the network input in pixels; 0: not known */
#define BXW_F_INPUT_HEIGHT 15
#define BXW_FILE_WORDS 16

/* Image table */
#define BXW_I_PLAN 0 /* address of the plan block: what decode() takes */
#define BXW_I_BOXES 1 /* address: f32[F_MAX_DETECTIONS][4]: x_min y_min x_max y_max, 0..1 */
#define BXW_I_SCORES 2 /* address: f32[F_MAX_DETECTIONS] */
#define BXW_I_CLASS_IDS 3 /* address: i32[F_MAX_DETECTIONS]: class numbers */
#define BXW_I_SOURCES 4 /* address: u32[F_MAX_DETECTIONS] */
#define BXW_IMAGE_WORDS 5

/* Slot table */
#define BXW_S_ADDRESS 0 /* where the tensor goes */
#define BXW_S_BYTES 1 /* its length */
#define BXW_S_TYPE 2 /* TYPE_* */
#define BXW_S_SCALE 3 /* f32: real = (raw - zero) * scale */
#define BXW_S_ZERO 4 /* f32 */
#define BXW_S_NAME 5 /* offset of its name */
#define BXW_S_RANK 6 /* number of dims */
#define BXW_S_DIM_0 7 /* the first of MAX_RANK dims, the others behind it */
#define BXW_S_ORDER 15 /* the order its dims were said to have: 1 NCHW, 2 NHWC, 3 CHW, 4 HWC, 5 rows, 6 planes; 0: not said */
#define BXW_S_PLACE 16 /* its place among the outputs of the network, of which a plan leaves some alone */
#define BXW_S_OUTPUTS 17 /* how many these are */
#define BXW_SLOT_WORDS 18
#define BXW_MAX_RANK 8

#endif
