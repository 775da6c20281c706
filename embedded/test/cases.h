/* Layout of cases.bin, which make-cases.mjs writes: little-endian words. Offsets count from the start of the file. */
#ifndef BOXWRIGHT_CASES_H
#define BOXWRIGHT_CASES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "boxwright.h"

extern const uint8_t cases[];

/* Words of a case (C), a tensor (T), the detections of an image (D) and a recorded detection (G), in file order.
   D_KEYPOINTS: floats of all rows. D_MASKS: a table with a row for each mask. D_ORIENTED: the first floats of a
   bxw_oriented_box for each row. */
enum {
    C_NAME, C_PLAN, C_PLAN_BYTES, C_TENSORS, C_TENSOR_TABLE, C_WIDTH, C_HEIGHT, C_RESIZE, C_IMAGES, C_IMAGE_TABLE,
    C_CANDIDATES, C_CAPPED, C_NOT_FINITE, C_GOLDEN, C_GOLDEN_TABLE, C_KEYPOINTS, C_HAS_MASKS,
    C_IS_ORIENTED, C_IS_CELLS
};
enum { T_NAME, T_DATA, T_BYTES, T_WORDS };
enum { D_COUNT, D_BOXES, D_SCORES, D_LABELS, D_SOURCES, D_KEYPOINTS, D_MASKS, D_ORIENTED, D_WORDS };
/* A mask (M): its window, and its bytes. */
enum { M_WINDOW, M_DATA = 4, M_WORDS };
enum { G_LABEL, G_SCORE, G_BOX, G_WORDS = 6 };

static inline uint32_t word(uint32_t at, uint32_t index) {
    uint32_t value;
    memcpy(&value, cases + at + (size_t)index * 4, sizeof value);
    return value;
}

static inline const char *text(uint32_t at) { return (const char *)cases + at; }

static inline uint32_t case_count(void) { return word(0, 0); }

static inline uint32_t case_at(uint32_t index) { return word(word(0, 1), index); }

/* Copies the tensors of a case into their slots. Returns 0 if a slot is missing or differs in length. */
static inline int fill_slots(bxw_decoder *d, uint32_t c) {
    for (uint32_t t = 0; t < word(c, C_TENSORS); t++) {
        const uint32_t row = word(c, C_TENSOR_TABLE) + t * T_WORDS * 4;
        bxw_slot slot;
        if (bxw_slot_named(d, text(word(row, T_NAME)), &slot) != BXW_OK || slot.bytes != word(row, T_BYTES)) return 0;
        memcpy(slot.data, cases + word(row, T_DATA), slot.bytes);
    }
    return 1;
}

/* Returns the CRC-32 that gzip and PNG use. */
static inline uint32_t crc32(const uint8_t *bytes, uint32_t count) {
    uint32_t c = 0xffffffffu;
    for (uint32_t i = 0; i < count; i++) {
        c ^= bytes[i];
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ ((c & 1u) ? 0xedb88320u : 0u);
    }
    return ~c;
}

/* Writes a valid checksum into a changed plan, so that later checks are reached. `bytes`: room of the plan. */
static inline void restore_checksum(uint8_t *plan, uint32_t bytes) {
    uint32_t length;
    memcpy(&length, plan + BXW_F_FILE_BYTES * 4, sizeof length);
    if (length < BXW_FILE_WORDS * 4 || length > bytes) return;
    const uint32_t check = crc32(plan + BXW_F_FILE_BYTES * 4, length - BXW_F_FILE_BYTES * 4);
    memcpy(plan + BXW_F_CHECK * 4, &check, sizeof check);
}

#endif
