/**
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

export const PLAN_MAGIC = 1347901506; //  the bytes "BXWP"
export const PLAN_VERSION = 2; //         of this layout

// ---- Directory -------------------------------------------------------------------------------------------
export const F_MAGIC = 0; //              PLAN_MAGIC
export const F_VERSION = 1; //            PLAN_VERSION
export const F_ABI = 2; //                ABI_VERSION of the kernel the image is for
export const F_CHECK = 3; //              CRC-32 (as in gzip and PNG) of the file from F_FILE_BYTES on
export const F_FILE_BYTES = 4; //         length of the file
export const F_IMAGE_BYTES = 5; //        bytes that belong in memory, from address 0
export const F_MEMORY_BYTES = 6; //       bytes of memory the image needs in all
export const F_IMAGES = 7; //             images in a batch
export const F_IMAGE_TABLE = 8; //        offset
export const F_SLOTS = 9; //              tensors
export const F_SLOT_TABLE = 10; //        offset
export const F_LABELS = 11; //            class names; 0: the config has none
export const F_LABEL_TABLE = 12; //       offset
export const F_MAX_DETECTIONS = 13; //    rows of the detection columns
export const F_INPUT_WIDTH = 14; //       of the network input in pixels; 0: not known
export const F_INPUT_HEIGHT = 15;
export const FILE_WORDS = 16;

// ---- Image table ---------------------------------------------------------------------------------------------
export const I_PLAN = 0; //               address of the plan block: what decode() takes
export const I_BOXES = 1; //              address: f32[F_MAX_DETECTIONS][4]: x_min y_min x_max y_max, 0..1
export const I_SCORES = 2; //             address: f32[F_MAX_DETECTIONS]
export const I_CLASS_IDS = 3; //             address: i32[F_MAX_DETECTIONS]: class numbers
export const I_SOURCES = 4; //            address: u32[F_MAX_DETECTIONS]
export const IMAGE_WORDS = 5;

// ---- Slot table ------------------------------------------------------------------------------------------------
export const S_ADDRESS = 0; //            where the tensor goes
export const S_BYTES = 1; //              its length
export const S_TYPE = 2; //               TYPE_*
export const S_SCALE = 3; //              f32: real = (raw - zero) * scale
export const S_ZERO = 4; //               f32
export const S_NAME = 5; //               offset of its name
export const S_RANK = 6; //               number of dims
export const S_DIM_0 = 7; //              the first of MAX_RANK dims, the others behind it
export const S_ORDER = 15; //             the order its dims were said to have: 1 NCHW, 2 NHWC, 3 CHW, 4 HWC, 5 rows, 6 planes; 0: not said
export const S_PLACE = 16; //             its place among the outputs of the network, of which a plan leaves some alone
export const S_OUTPUTS = 17; //           how many these are
export const SLOT_WORDS = 18;
export const MAX_RANK = 8;
