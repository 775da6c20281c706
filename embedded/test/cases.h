/* How make-cases.mjs lays out the cases: words, little-endian, and what they point to, by offsets from the start. */
#ifndef BOXWRIGHT_CASES_H
#define BOXWRIGHT_CASES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../boxwright.h"

extern const uint8_t cases[];

/* Words of a case, of a tensor, of the detections of an image, of an expected detection; in the order they are written. */
enum {
    C_NAME, C_PLAN, C_PLAN_BYTES, C_TENSORS, C_TENSOR_TABLE, C_WIDTH, C_HEIGHT, C_RESIZE, C_IMAGES, C_IMAGE_TABLE,
    C_CANDIDATES, C_CAPPED, C_NOT_FINITE, C_GOLDEN, C_GOLDEN_TABLE
};
enum { T_NAME, T_DATA, T_BYTES, T_WORDS };
enum { D_COUNT, D_BOXES, D_SCORES, D_LABELS, D_SOURCES, D_WORDS };
enum { G_LABEL, G_SCORE, G_BOX, G_WORDS = 6 };

static inline uint32_t word(uint32_t at, uint32_t index) {
    uint32_t value;
    memcpy(&value, cases + at + (size_t)index * 4, sizeof value);
    return value;
}

static inline const char *text(uint32_t at) { return (const char *)cases + at; }

static inline uint32_t case_count(void) { return word(0, 0); }

static inline uint32_t case_at(uint32_t index) { return word(word(0, 1), index); }

/* Copies the tensors of a case into the slots of its plan; 0: some slot is not there, or has another size. */
static inline int fill_slots(bxw_decoder *d, uint32_t c) {
    for (uint32_t t = 0; t < word(c, C_TENSORS); t++) {
        const uint32_t row = word(c, C_TENSOR_TABLE) + t * T_WORDS * 4;
        bxw_slot slot;
        if (bxw_slot_named(d, text(word(row, T_NAME)), &slot) != BXW_OK || slot.bytes != word(row, T_BYTES)) return 0;
        memcpy(slot.data, cases + word(row, T_DATA), slot.bytes);
    }
    return 1;
}

#endif
