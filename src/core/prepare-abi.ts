/**
 * The binary interface of the kernel that prepares pictures, read by asc and tsc. The JavaScript side copies a strip of
 * source rows into memory. The kernel then makes those rows of the input tensor that need only these source rows.
 *
 * Functions, each with the address of a job: `unpack(job)` converts other formats to four bytes per pixel,
 * `resample(job)` makes the pixels of the tensor's rows, `emit(job)` converts these pixels to tensor elements.
 * `prepare(job)` runs the three.
 *
 * A pixel is four bytes: R, G, B and an ignored byte. BGR images keep their byte order; the JavaScript side exchanges
 * J_SHIFT_* instead.
 */

export const PREPARE_ABI_VERSION = 1;

// ---- Job: words of 4 bytes. Addresses are byte addresses ------------------------------------------------
export const J_FORMAT = 0; //        FORMAT_*
export const J_SOURCE = 1; //        address of the strip's first row, in another format than FORMAT_PIXELS
export const J_SOURCE_STRIDE = 2; // bytes from row to row
export const J_U = 3; //             address of the strip's first chroma row; NV12: U and V alternate
export const J_V = 4; //             I420 only
export const J_CHROMA_STRIDE = 5;
export const J_COLUMNS = 6; //       count of pixels in a source row
export const J_ROWS = 7; //          count of source rows in the strip
export const J_ODD = 8; //           1: the strip begins with the second of two rows that share chroma
export const J_PIXELS = 9; //        address of the source rows as pixels, 4-aligned
export const J_PIXEL_STRIDE = 10; // bytes from row to row
export const J_KIND = 11; //         KIND_*
export const J_WIDTH = 12; //        count of pixels in a resampled row
export const J_FIRST = 13; //        first row to make, as an index into the table of rows
export const J_LAST = 14; //         row after the last one to make
export const J_ORIGIN = 15; //       index of the strip's first source row in the image
export const J_XTAB = 16; //         address of the table of columns
export const J_YTAB = 17; //         address of the table of rows
export const J_XWEIGHTS = 18; //     KIND_AREA, KIND_TAPS: weights of the columns, J_XTAPS words each
export const J_XTAPS = 19;
export const J_YWEIGHTS = 20; //     the same for the rows
export const J_YTAPS = 21;
export const J_BLOCK_X = 22; //      KIND_BLOCK: pixels of a block, and f32 1 / area
export const J_BLOCK_Y = 23;
export const J_BLOCK_SCALE = 24;
export const J_SCRATCH = 25; //      KIND_LINEAR: two rows of i16; KIND_AREA: two of f32; KIND_TAPS: J_ROWS of pixels
export const J_RESAMPLED = 26; //    address of the rows of pixels that resample makes, without gaps, 16-aligned
export const J_TYPE = 27; //         ELEMENT_*
export const J_OUT = 28; //          element of the first row's first pixel, channel 0
export const J_OUT_ROW = 29; //      bytes from row to row
export const J_OUT_PLANE = 30; //    bytes from channel to channel; 0: the channels of a pixel are adjacent
export const J_SHIFT_0 = 31; //      bits to shift a pixel right by, for each channel of the tensor
export const J_SHIFT_1 = 32;
export const J_SHIFT_2 = 33;
export const J_VALUES = 34; //       3 x 256 elements: the element of each byte, for each channel of the tensor
export const J_MEAN_0 = 35; //       f32: the same for ELEMENT_F32, (byte - mean) / divisor or (byte - mean) * divisor
export const J_MEAN_1 = 36;
export const J_MEAN_2 = 37;
export const J_DIVISOR_0 = 38;
export const J_DIVISOR_1 = 39;
export const J_DIVISOR_2 = 40;
export const J_MULTIPLIES = 41; //   1: multiply
export const J_FLIP = 42; //         ELEMENT_BYTE: each element is its byte ^ this; 256: use the table
export const JOB_WORDS = 43;

export const FORMAT_PIXELS = 0; // four bytes per pixel: nothing to unpack
export const FORMAT_THREE = 1; //  three bytes per pixel
export const FORMAT_GRAY = 2;
export const FORMAT_YUYV = 3;
export const FORMAT_NV12 = 4;
export const FORMAT_I420 = 5;

/** Nearest pixel. Columns have byte offsets of source pixels, rows have indices of source rows. */
export const KIND_NEAREST = 0;
/** Blocks of 2 x 2 pixels: (sum + 2) >> 2. The tables are those of KIND_NEAREST. */
export const KIND_HALF = 1;
/** Blocks of J_BLOCK_X x J_BLOCK_Y pixels: sum * scale in f32, rounded to even. Tables are those of KIND_NEAREST. */
export const KIND_BLOCK = 2;
/**
 * Bilinear. An entry for a column holds a byte offset, and two i16 weights in a word. An entry for a row holds two
 * source rows and two weights.
 */
export const KIND_LINEAR = 3;
/**
 * Area. An entry for a column holds the byte offset of the first pixel and the count of f32 weights. An entry for a row
 * holds the first row and the count.
 */
export const KIND_AREA = 4;
/** Taps. Tables are those of KIND_AREA, but weights are i32, and TAP_ONE means 1. Columns are done before rows. */
export const KIND_TAPS = 5;
export const TAP_BITS = 22;

export const ELEMENT_BYTE = 0; // u8, i8
export const ELEMENT_HALF = 1; // f16
export const ELEMENT_F32 = 2;

// BT.601 in video range as cv2.cvtColor calculates it, in fixed-point numbers of 20 bits.
export const YUV_BITS = 20;
export const YUV_Y = 1220542;
export const YUV_RV = 1673527;
export const YUV_GV = -852492;
export const YUV_GU = -409993;
export const YUV_BU = 2116026;
