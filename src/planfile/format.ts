/**
 * Format of the plan file. `boxwright compile` writes plan files; `decoder.ts` and C programs load them. This source
 * file holds only numbers, since `scripts/embedded-header.mjs` converts it and `abi.ts` to one C header.
 *
 * A plan file begins with the memory image, so that loading copies one range:
 *
 *       0  directory, 16 words (F_*). Kernels never read these addresses
 *      64  plan blocks, head records, lists and prior tables, at their addresses in memory
 *          task record, TASK_WORDS words (T_*): keypoints, masks, angles or cells. Its offset is F_IMAGE_BYTES
 *          image table: IMAGE_WORDS words for each image of the batch
 *          slot table: SLOT_WORDS words for each tensor
 *          head table: EXTRA_WORDS words for each head, where its extra channels are; none if there is no task
 *          name table: one word for each keypoint name, the offset of its string
 *          edge table: two words for each edge of the skeleton, the indices of its keypoints
 *          label table: one word for each label, the offset of its string
 *          strings: names of tensors, labels and names of keypoints, UTF-8, each ended by a zero byte. The file ends
 *          with a zero byte
 *
 * Words are 4 bytes, little-endian. Offsets count from the start of the file, addresses from the start of memory. Only
 * the first F_IMAGE_BYTES bytes are copied to memory. The tables can stay where the file is, for example in flash.
 * Memory after the image need not be cleared.
 */

export const PLAN_MAGIC = 1347901506; //  the bytes "BXWP"
export const PLAN_VERSION = 3; //         version of this layout

// ---- Directory -------------------------------------------------------------------------------------------
export const F_MAGIC = 0; //              PLAN_MAGIC
export const F_VERSION = 1; //            PLAN_VERSION
export const F_ABI = 2; //                ABI_VERSION of the kernel that the image is for
export const F_CHECK = 3; //              CRC-32 (as in gzip and PNG) of the file from F_FILE_BYTES on
export const F_FILE_BYTES = 4; //         length of the file
export const F_IMAGE_BYTES = 5; //        bytes that belong in memory, from address 0 on
export const F_MEMORY_BYTES = 6; //       bytes of memory that the image needs in all
export const F_IMAGES = 7; //             number of images in a batch
export const F_IMAGE_TABLE = 8; //        offset
export const F_SLOTS = 9; //              number of tensors
export const F_SLOT_TABLE = 10; //        offset
export const F_LABELS = 11; //            number of class names; 0: the config has none
export const F_LABEL_TABLE = 12; //       offset
export const F_MAX_DETECTIONS = 13; //    rows of the detection columns
export const F_INPUT_WIDTH = 14; //       width of the network input in pixels; 0: not known
export const F_INPUT_HEIGHT = 15; //      height of the network input in pixels; 0: not known
export const FILE_WORDS = 16;

// ---- Image table ---------------------------------------------------------------------------------------------
export const I_PLAN = 0; //               address of the plan block, the argument of decode()
export const I_BOXES = 1; //              address: f32[F_MAX_DETECTIONS][4]: x_min y_min x_max y_max, 0..1
export const I_SCORES = 2; //             address: f32[F_MAX_DETECTIONS]
export const I_CLASS_IDS = 3; //          address: i32[F_MAX_DETECTIONS]
export const I_SOURCES = 4; //            address: u32[F_MAX_DETECTIONS]
export const IMAGE_WORDS = 5;

// ---- Slot table ------------------------------------------------------------------------------------------------
export const S_ADDRESS = 0; //            address of the tensor
export const S_BYTES = 1; //              length of the tensor in bytes
export const S_TYPE = 2; //               TYPE_*
export const S_SCALE = 3; //              f32: real = (raw - zero) * scale
export const S_ZERO = 4; //               f32
export const S_NAME = 5; //               offset of the tensor's name
export const S_RANK = 6; //               number of dims
export const S_DIM_0 = 7; //              first of MAX_RANK dims, one after the other
export const S_ORDER = 15; //             stated storage order: 1 NCHW, 2 NHWC, 3 CHW, 4 HWC, 5 rows, 6 planes; 0: none
export const S_PLACE = 16; //             index among the outputs of the network; a plan need not read all of them
export const S_OUTPUTS = 17; //           number of outputs of the network
export const SLOT_WORDS = 18;
export const MAX_RANK = 8;

// ---- Task record -----------------------------------------------------------------------------------------------
export const T_KIND = 0; //               TASK_*
export const T_COUNT = 1; //              keypoints of a detection, coefficients of a mask, or 1 angle
export const T_VALUES = 2; //             extra channels of each: 2 or 3 for keypoints, 1 for coefficients and angles
export const T_RULE = 3; //               keypoints: POINTS_*; cells: CELLS_*
export const T_FLAGS = 4; //              sum of TASK_FLAG_*
export const T_HEADS = 5; //              number of heads
export const T_HEAD_TABLE = 6; //         offset
export const T_SLOT = 7; //               masks: index of the slot of the prototypes
export const T_WIDTH = 8; //              masks: pixels of a prototype
export const T_HEIGHT = 9;
export const T_COLUMN = 10; //            masks: elements from pixel to pixel of a row
export const T_ROW = 11; //               masks: elements from row to row
export const T_PLANE = 12; //             masks: elements from prototype to prototype
export const T_IMAGE = 13; //             masks: elements from image to image
export const T_NAMES = 7; //              keypoints: number of names, T_COUNT or 0
export const T_NAME_TABLE = 8; //         keypoints: offset
export const T_EDGES = 9; //              keypoints: number of edges
export const T_EDGE_TABLE = 10; //        keypoints: offset
export const T_ANGLE = 7; //              oriented boxes: ANGLE_*
export const T_SUPPRESSION = 8; //        oriented boxes: ORIENTED_*
export const T_IOU = 9; //                oriented boxes: f64, threshold of the overlap while P_IOU is its nearest f32
export const TASK_WORDS = 14;
export const MAX_COEFFICIENTS = 256; //   most coefficients of a mask: a program holds them on its stack
export const TASK_BOXES = 0; //           nothing besides boxes
export const TASK_KEYPOINTS = 1;
export const TASK_MASKS = 2;
export const TASK_ORIENTED = 3;
export const TASK_CELLS = 4; //           the map says which cells hold the centre of an object
export const POINTS_DECODED = 0; //       x = raw * E_SCALE_X
export const POINTS_GRID = 1; //          x = raw * E_SCALE_X + (column + E_ADD) * E_UNIT_X
export const POINTS_PRIOR = 2; //         x = raw * (E_SCALE_X * width of the prior) + centre of the prior
export const CELLS_SDK = 0; //            cells are grouped as the SDK of Edge Impulse does
export const CELLS_ENCLOSING = 1; //      the box around all cells of a class that touch
export const TASK_FLAG_Y_FIRST = 1; //    y stands before x
export const TASK_FLAG_LOGITS = 2; //     confidences need a sigmoid
export const TASK_FLAG_CLAMP_BEFORE = 4; // points, or boxes of cells, are clamped to the input
export const TASK_FLAG_CLAMP_AFTER = 8; // points, or boxes of cells, are clamped to the image
export const TASK_FLAG_REGULAR = 16; //   angles of results are in [0, pi/2)
export const TASK_FLAG_AT_THRESHOLD = 32; // an overlap equal to the threshold suppresses too
export const TASK_FLAG_PER_CLASS = 64; // boxes suppress each other within a class only
export const TASK_FLAG_HALF_TURN = 128; // angles of the network are in [-pi/4, 3pi/4); others are suspect
export const ANGLE_RADIANS = 0; //        angle = raw
export const ANGLE_LOGITS = 1; //         angle = (sigmoid(raw) - 1/4) pi
export const ANGLE_SIGMOID = 2; //        angle = (raw - 1/4) pi
export const ORIENTED_NONE = 0; //        nothing suppresses
export const ORIENTED_ULTRALYTICS = 1; // ProbIoU, and a suppressed box suppresses too
export const ORIENTED_PROBIOU = 2; //     ProbIoU, greedy
export const ORIENTED_OPENCV = 3; //      IoU of the polygons, greedy

// ---- Head table ------------------------------------------------------------------------------------------------ The
// unit of steps is an element of the slot. A double takes two words.
export const E_SOURCE = 0; //             source of the first cell
export const E_CELLS = 1; //              number of cells
export const E_SLOT = 2; //               index of the slot
export const E_OFFSET = 3; //             element of the first extra channel of cell 0
export const E_CHANNEL = 4; //            elements from channel to channel
export const E_CELL = 5; //               elements from cell to cell
export const E_IMAGE = 6; //              elements from image to image
export const E_GRID_W = 7; //             cells in a row of the map, at least 1
export const E_TABLE = 8; //              POINTS_PRIOR: address of f32[E_CELLS][4]: cx cy w h
export const E_TURNS = 8; //              oriented boxes: 1 if the angle also rotates the vector from cell to box centre
export const E_SCALE_X = 9; //            f64
export const E_SCALE_Y = 11; //           f64
export const E_UNIT_X = 13; //            f64; cells: width of one; oriented boxes: likewise, in pixels of the input
export const E_UNIT_Y = 15; //            f64
export const E_ADD = 17; //               f64; oriented boxes: place of a cell's centre, in cells from its corner
export const EXTRA_WORDS = 19;
