/**
 * The binary interface of the kernel that makes masks, read by asc and tsc. A mask is made in three steps: multiply a
 * detection's coefficients and the prototypes of the image, resize the product, compare it with a threshold.
 *
 * Functions, each with the address of a job: `product(job)` writes the products (logits) for a window of prototype
 * pixels, `cut(job)` compares the logits with the threshold, `resize(job)` resizes the logits and then compares them,
 * `paint(job)` writes the label of a detection where its mask is set. A kernel has no memory of its own: the job
 * contains every address.
 */

export const MASKS_ABI_VERSION = 1;

// ---- Job: words of 4 bytes. Addresses are byte addresses ------------------------------------------------
export const M_TYPE = 0; //         element type of the prototypes: TYPE_F32, TYPE_F16, TYPE_U8, TYPE_I8
export const M_PROTOTYPES = 1; //   address of channel 0 of the window's first pixel
export const M_ROW = 2; //          bytes from row to row
export const M_COLUMN = 3; //       bytes from pixel to pixel
export const M_PLANE = 4; //        bytes from channel to channel
export const M_COUNT = 5; //        count of channels, which is the count of coefficients
export const M_COEFFICIENTS = 6; // f32[count], times the scale of the prototypes
export const M_ZERO = 7; //         f32: zero point of the prototypes
export const M_WIDTH = 8; //        pixels of the window
export const M_HEIGHT = 9;
export const M_SIGMOID = 10; //     1: product writes probabilities
export const M_LOGITS = 11; //      address of the f32 of the window's first pixel
export const M_LOGITS_ROW = 12; //  bytes from row to row
export const M_RESIZED = 13; //     resize: address of pixel 0, 0 of the logits. Only the window is there and is read
export const M_COLUMNS = 14; //     four columns of M_COLUMNS_SIZE bytes: i32 number of the left and of the right pixel
//                                  in a row of logits, and the f32 weights of the two. From the first pixel to make on
export const M_COLUMNS_SIZE = 15;
export const M_ROWS = 16; //        the same for rows: number of the upper and of the lower row, and their weights
export const M_ROWS_SIZE = 17;
export const M_OUT_WIDTH = 18; //   pixels of a row of the mask
export const M_FIRST = 19; //       first row of the mask to make, as an index into M_ROWS
export const M_END = 20; //         row after the last one to make
export const M_SCRATCH = 21; //     two rows of f32, aligned to 16
export const M_SCRATCH_ROW = 22; // bytes of one, with room for three more pixels
export const M_THRESHOLD = 23; //   f32: a pixel is set if its value is larger
export const M_OUT = 24; //         u8 of the first row to make, without gaps. Vectors write 15 bytes past the last
export const M_MAP = 25; //         paint: address of the i16 of the first pixel
export const M_MAP_ROW = 26; //     bytes from row to row
export const M_LABEL = 27; //       i16
export const M_FREE = 28; //        1: paint only pixels that are -1
export const MASK_JOB_WORDS = 29;
