/*
 * Code that the library's sources share: words of a plan, and channels of a tensor. Functions are static, so that
 * each object file is complete and a program links only the functions that it calls.
 */
#ifndef BOXWRIGHT_PARTS_H
#define BOXWRIGHT_PARTS_H

#include "boxwright.h"

#include <string.h>

#define PART static __attribute__((unused))

/* Loads a word byte by byte, since a plan may be at any address. Compilers emit one load if the processor allows it. */
PART uint32_t word(const uint8_t *at, uint32_t index) {
    uint32_t value;
    memcpy(&value, at + (size_t)index * 4, sizeof value);
    return value;
}

PART float real(const uint8_t *at, uint32_t index) {
    float value;
    memcpy(&value, at + (size_t)index * 4, sizeof value);
    return value;
}

PART const uint8_t *slot_row(const bxw_decoder *d, uint32_t index) {
    return d->plan + word(d->plan, BXW_F_SLOT_TABLE) + (size_t)index * BXW_SLOT_WORDS * 4;
}

PART const uint8_t *image_row(const bxw_decoder *d, uint32_t image) {
    return d->plan + word(d->plan, BXW_F_IMAGE_TABLE) + (size_t)image * BXW_IMAGE_WORDS * 4;
}

/* Returns the plan block of an image, in memory. */
PART uint8_t *block(const bxw_decoder *d, uint32_t image) {
    return d->memory + word(image_row(d, image), BXW_I_PLAN);
}

PART double real64(const uint8_t *at, uint32_t index) {
    double value;
    memcpy(&value, at + (size_t)index * 4, sizeof value);
    return value;
}

/* Returns the task record, which follows the image of the plan. */
PART const uint8_t *task_of(const bxw_decoder *d) { return d->plan + word(d->plan, BXW_F_IMAGE_BYTES); }

PART void put(uint8_t *at, uint32_t index, uint32_t value) { memcpy(at + (size_t)index * 4, &value, sizeof value); }

PART void put_real(uint8_t *at, uint32_t index, float value) { memcpy(at + (size_t)index * 4, &value, sizeof value); }

/* Stores the two values of a failed call and returns its status. */
PART bxw_status refuse(bxw_decoder *d, bxw_status status, size_t got, size_t expected) {
    d->got = (uint32_t)got;
    d->expected = (uint32_t)expected;
    return status;
}

/* True if `count` elements of `size` bytes from `at` on end within `bytes`. The 64-bit sum cannot wrap. */
PART int fits(uint32_t at, uint32_t count, uint32_t size, uint32_t bytes) {
    return (uint64_t)at + (uint64_t)count * size <= bytes;
}

/* Returns the bytes of an element. */
PART uint32_t element_bytes(uint32_t type) {
    if (type == BXW_TYPE_F32 || type == BXW_TYPE_I32) return 4;
    return type == BXW_TYPE_F16 || type == BXW_TYPE_I16 ? 2 : 1;
}

/* Elements of a tensor at equal distances: the first one, and `step` bytes from one to the next. */
typedef struct channels {
    const uint8_t *first;
    size_t step;
    uint32_t type;
    float scale, zero;
} channels;

PART channels channels_at(const bxw_decoder *d, uint32_t slot, size_t element, uint32_t step) {
    const uint8_t *row = slot_row(d, slot);
    const uint32_t type = word(row, BXW_S_TYPE);
    const size_t bytes = element_bytes(type);
    const uint8_t *data = d->memory + word(row, BXW_S_ADDRESS);
    return (channels){data + element * bytes, step * bytes, type, real(row, BXW_S_SCALE), real(row, BXW_S_ZERO)};
}

/* Returns the value of a half float. */
PART float half_to_float(uint32_t bits) {
    const uint32_t sign = (bits & 0x8000u) << 16, exponent = bits & 0x7c00u, fraction = bits & 1023u;
    float value;
    if (exponent == 0) {
        /* Zero or subnormal: fraction * 2^-24, exact in f32. */
        value = 5.9604644775390625e-8f * (float)fraction;
        return sign != 0 ? -value : value;
    }
    /* Move the fields to their places in an f32, and add the difference of the exponent biases. */
    const uint32_t word32 = sign | (((bits & 0x7fffu) << 13) + (exponent == 0x7c00u ? 0x70000000u : 0x38000000u));
    memcpy(&value, &word32, sizeof value);
    return value;
}

/* Returns the element at an address as it is stored: integers as floats, before scale and zero point. */
PART float raw_at(const uint8_t *at, uint32_t type) {
    int32_t i32;
    int16_t i16;
    switch (type) {
    case BXW_TYPE_F32: return real(at, 0);
    case BXW_TYPE_U8: return (float)*at;
    case BXW_TYPE_I8: return (float)(int8_t)*at;
    case BXW_TYPE_I32: memcpy(&i32, at, sizeof i32); return (float)i32;
    default: memcpy(&i16, at, sizeof i16);
    }
    return type == BXW_TYPE_F16 ? half_to_float((uint16_t)i16) : (float)i16;
}

/* Returns channel k as a number: (raw - zero) * scale for integers, rounded to f32 at each step. */
PART float channel(const channels *c, uint32_t k) {
    const float raw = raw_at(c->first + k * c->step, c->type);
    return c->type == BXW_TYPE_F32 || c->type == BXW_TYPE_F16 ? raw : (raw - c->zero) * c->scale;
}

/* Finds the extra channels of a source: its row of the head table, and its cell in that head. */
PART bxw_status channels_of(bxw_decoder *d, uint32_t image, uint32_t source, channels *found, const uint8_t **row,
                              uint32_t *cell) {
    const uint8_t *t = task_of(d);
    const uint32_t heads = word(t, BXW_T_HEADS);
    for (uint32_t i = 0; i < heads; i++) {
        const uint8_t *e = d->plan + word(t, BXW_T_HEAD_TABLE) + (size_t)i * BXW_EXTRA_WORDS * 4;
        *cell = source - word(e, BXW_E_SOURCE);
        if (*cell >= word(e, BXW_E_CELLS)) continue;
        *row = e;
        const size_t element = (size_t)word(e, BXW_E_OFFSET) + (size_t)image * word(e, BXW_E_IMAGE) +
                               (size_t)*cell * word(e, BXW_E_CELL);
        *found = channels_at(d, word(e, BXW_E_SLOT), element, word(e, BXW_E_CHANNEL));
        return BXW_OK;
    }
    return refuse(d, BXW_NO_SUCH_ROW, source, heads);
}

#endif
