/* Loads plans, hands out slots, reads detections. Knows nothing of heads and boxes: that is the kernel's. */
#include "boxwright.h"

#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "byte order: got big-endian or unknown, expected little-endian, as the words of a plan are"
#endif

/* Every plan needs many times that; the kernel's bounds checks subtract constants from the size of its memory, see kernel_prelude.h. */
enum { LEAST_MEMORY = 1024 };

/* A plan may lie at any address, so its words are taken byte by byte; compilers make one load of it where they may. */
static uint32_t word(const uint8_t *at, uint32_t index) {
    uint32_t value;
    memcpy(&value, at + (size_t)index * 4, sizeof value);
    return value;
}

static float real(const uint8_t *at, uint32_t index) {
    float value;
    memcpy(&value, at + (size_t)index * 4, sizeof value);
    return value;
}

static const uint8_t *slot_row(const bxw_decoder *d, uint32_t index) {
    return d->plan + word(d->plan, BXW_F_SLOT_TABLE) + (size_t)index * BXW_SLOT_WORDS * 4;
}

static const uint8_t *image_row(const bxw_decoder *d, uint32_t image) {
    return d->plan + word(d->plan, BXW_F_IMAGE_TABLE) + (size_t)image * BXW_IMAGE_WORDS * 4;
}

/* The plan block of an image, in memory. */
static uint8_t *block(const bxw_decoder *d, uint32_t image) { return d->memory + word(image_row(d, image), BXW_I_PLAN); }

static void put(uint8_t *at, uint32_t index, uint32_t value) { memcpy(at + (size_t)index * 4, &value, sizeof value); }

static void put_real(uint8_t *at, uint32_t index, float value) { memcpy(at + (size_t)index * 4, &value, sizeof value); }

static bxw_status refuse(bxw_decoder *d, bxw_status status, size_t got, size_t expected) {
    d->got = (uint32_t)got;
    d->expected = (uint32_t)expected;
    return status;
}

static uint32_t crc32(const uint8_t *bytes, size_t count) {
    uint32_t c = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        c ^= bytes[i];
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ ((c & 1u) ? 0xedb88320u : 0u);
    }
    return ~c;
}

/* Whether `count` things of `size` bytes from `at` on end within `bytes`; nothing here can wrap. */
static int fits(uint32_t at, uint32_t count, uint32_t size, uint32_t bytes) {
    return (uint64_t)at + (uint64_t)count * size <= bytes;
}

uint32_t bxw_memory_bytes(const void *plan, size_t plan_bytes) {
    const uint8_t *file = plan;
    if (plan_bytes < BXW_FILE_WORDS * 4 || word(file, BXW_F_MAGIC) != (uint32_t)BXW_PLAN_MAGIC) return 0;
    return word(file, BXW_F_MEMORY_BYTES);
}

bxw_status bxw_load(bxw_decoder *d, const void *plan, size_t plan_bytes, void *memory, size_t memory_bytes) {
    const uint8_t *file = plan;
    d->plan = file;
    d->memory = memory;
    d->got = d->expected = 0;
    if (plan_bytes < BXW_FILE_WORDS * 4) return refuse(d, BXW_CUT_SHORT, plan_bytes, BXW_FILE_WORDS * 4);
    if (word(file, BXW_F_MAGIC) != (uint32_t)BXW_PLAN_MAGIC) return refuse(d, BXW_NO_PLAN, word(file, BXW_F_MAGIC), BXW_PLAN_MAGIC);
    if (word(file, BXW_F_VERSION) != BXW_PLAN_VERSION) return refuse(d, BXW_PLAN_NEWER, word(file, BXW_F_VERSION), BXW_PLAN_VERSION);
    const uint32_t length = word(file, BXW_F_FILE_BYTES);
    if (plan_bytes < length || length < BXW_FILE_WORDS * 4) return refuse(d, BXW_CUT_SHORT, plan_bytes, length);
    const uint32_t check = crc32(file + BXW_F_FILE_BYTES * 4, length - BXW_F_FILE_BYTES * 4);
    if (check != word(file, BXW_F_CHECK)) return refuse(d, BXW_DAMAGED, check, word(file, BXW_F_CHECK));
    if (word(file, BXW_F_ABI) != BXW_ABI_VERSION) return refuse(d, BXW_OTHER_ABI, word(file, BXW_F_ABI), BXW_ABI_VERSION);
    const uint32_t needed = word(file, BXW_F_MEMORY_BYTES);
    if (memory_bytes < needed) return refuse(d, BXW_MEMORY_SMALL, memory_bytes, needed);
    if ((uintptr_t)memory % 4 != 0) return refuse(d, BXW_MEMORY_ALIGN, (uintptr_t)memory % 4, 0);
    /* the kernel sees what the plan asked for, even where there is more */
    d->memory_bytes = needed;

    /* A checksum finds accidents; that every table and every address lies inside is looked at all the same. */
    const uint32_t image = word(file, BXW_F_IMAGE_BYTES);
    const uint32_t images = word(file, BXW_F_IMAGES);
    const uint32_t slots = word(file, BXW_F_SLOTS);
    const uint32_t labels = word(file, BXW_F_LABELS);
    const uint32_t rows = word(file, BXW_F_MAX_DETECTIONS);
    if (needed < LEAST_MEMORY) return refuse(d, BXW_DAMAGED, needed, LEAST_MEMORY);
    if (image < 64 || image > needed || image > length) return refuse(d, BXW_DAMAGED, image, needed);
    if (!fits(word(file, BXW_F_IMAGE_TABLE), images, BXW_IMAGE_WORDS * 4, length)) return refuse(d, BXW_DAMAGED, images, 0);
    if (!fits(word(file, BXW_F_SLOT_TABLE), slots, BXW_SLOT_WORDS * 4, length)) return refuse(d, BXW_DAMAGED, slots, 0);
    if (!fits(word(file, BXW_F_LABEL_TABLE), labels, 4, length)) return refuse(d, BXW_DAMAGED, labels, 0);
    /* with a zero at the very end, no string that begins inside can run out */
    if (file[length - 1] != 0) return refuse(d, BXW_DAMAGED, file[length - 1], 0);
    for (uint32_t i = 0; i < images; i++) {
        const uint8_t *row = image_row(d, i);
        if (!fits(word(row, BXW_I_PLAN), BXW_PLAN_WORDS, 4, image) || word(row, BXW_I_PLAN) < 64)
            return refuse(d, BXW_DAMAGED, word(row, BXW_I_PLAN), image);
        const uint32_t most = word(file + word(row, BXW_I_PLAN), BXW_P_MAX_DETECTIONS);
        if (most > rows) return refuse(d, BXW_DAMAGED, most, rows);
        for (uint32_t column = BXW_I_BOXES; column <= BXW_I_SOURCES; column++) {
            const uint32_t at = word(row, column);
            /* The caller reads columns as floats and words: some processors fault on other addresses. */
            if (at % 4 != 0 || !fits(at, rows, column == BXW_I_BOXES ? 16 : 4, needed)) return refuse(d, BXW_DAMAGED, at, needed);
        }
    }
    for (uint32_t i = 0; i < slots; i++) {
        const uint8_t *row = slot_row(d, i);
        if (word(row, BXW_S_ADDRESS) % 4 != 0 || word(row, BXW_S_ADDRESS) < image || !fits(word(row, BXW_S_ADDRESS), word(row, BXW_S_BYTES), 1, needed))
            return refuse(d, BXW_DAMAGED, word(row, BXW_S_ADDRESS), needed);
        if (word(row, BXW_S_NAME) >= length || word(row, BXW_S_RANK) > BXW_MAX_RANK)
            return refuse(d, BXW_DAMAGED, word(row, BXW_S_NAME), length);
    }
    for (uint32_t i = 0; i < labels; i++) {
        const uint32_t at = word(file + word(file, BXW_F_LABEL_TABLE), i);
        if (at >= length) return refuse(d, BXW_DAMAGED, at, length);
    }

    memcpy(d->memory, file, image);
    const uint32_t abi = bxw_run_abi(d);
    if (abi != BXW_ABI_VERSION) return refuse(d, BXW_OTHER_ABI, abi, BXW_ABI_VERSION);
    return BXW_OK;
}

uint32_t bxw_slots(const bxw_decoder *d) { return word(d->plan, BXW_F_SLOTS); }

bxw_status bxw_slot_at(bxw_decoder *d, uint32_t index, bxw_slot *slot) {
    if (index >= bxw_slots(d)) return refuse(d, BXW_NO_SUCH_SLOT, index, bxw_slots(d));
    const uint8_t *row = slot_row(d, index);
    slot->data = d->memory + word(row, BXW_S_ADDRESS);
    slot->bytes = word(row, BXW_S_BYTES);
    slot->type = word(row, BXW_S_TYPE);
    slot->name = (const char *)d->plan + word(row, BXW_S_NAME);
    slot->rank = word(row, BXW_S_RANK);
    for (uint32_t k = 0; k < BXW_MAX_RANK; k++) slot->dims[k] = word(row, BXW_S_DIM_0 + k);
    slot->scale = real(row, BXW_S_SCALE);
    slot->zero = real(row, BXW_S_ZERO);
    return BXW_OK;
}

bxw_status bxw_slot_named(bxw_decoder *d, const char *name, bxw_slot *slot) {
    for (uint32_t i = 0; i < bxw_slots(d); i++) {
        const bxw_status status = bxw_slot_at(d, i, slot);
        if (status != BXW_OK || strcmp(slot->name, name) == 0) return status;
    }
    return refuse(d, BXW_NO_SUCH_SLOT, bxw_slots(d), bxw_slots(d));
}

bxw_status bxw_fill(bxw_decoder *d, uint32_t index, const void *data, size_t bytes) {
    bxw_slot slot;
    const bxw_status status = bxw_slot_at(d, index, &slot);
    if (status != BXW_OK) return status;
    if (bytes != slot.bytes) return refuse(d, BXW_SLOT_SIZE, bytes, slot.bytes);
    memcpy(slot.data, data, bytes);
    return BXW_OK;
}

uint32_t bxw_images(const bxw_decoder *d) { return word(d->plan, BXW_F_IMAGES); }

int32_t bxw_decode(bxw_decoder *d) {
    uint32_t found = 0;
    uint32_t outside = 0;
    for (uint32_t i = 0; i < bxw_images(d); i++) {
        found += bxw_run_decode(d, word(image_row(d, i), BXW_I_PLAN));
        outside += word(block(d, i), BXW_P_OUT_OF_RANGE);
    }
    if (outside > 0) return (int32_t)refuse(d, BXW_OUT_OF_RANGE, outside, 0);
    return (int32_t)found;
}

bxw_detections bxw_read(const bxw_decoder *d, uint32_t image) {
    bxw_detections found = {0};
    if (image >= bxw_images(d)) return found;
    const uint8_t *row = image_row(d, image);
    /* before the first decode the count is what the plan says: no more than there is room for */
    const uint32_t count = word(block(d, image), BXW_P_DETECTIONS);
    const uint32_t most = word(d->plan, BXW_F_MAX_DETECTIONS);
    found.count = count < most ? count : most;
    found.boxes = (const float *)(const void *)(d->memory + word(row, BXW_I_BOXES));
    found.scores = (const float *)(const void *)(d->memory + word(row, BXW_I_SCORES));
    found.class_ids = (const int32_t *)(const void *)(d->memory + word(row, BXW_I_CLASS_IDS));
    found.sources = (const uint32_t *)(const void *)(d->memory + word(row, BXW_I_SOURCES));
    return found;
}

bxw_detection bxw_at(const bxw_detections *found, uint32_t index) {
    /* through memcpy: right also where the memory was declared as an array of bytes */
    const uint8_t *boxes = (const uint8_t *)found->boxes + (size_t)index * 16;
    bxw_detection one = {real(boxes, 0), real(boxes, 1), real(boxes, 2), real(boxes, 3), 0, 0, 0};
    one.score = real((const uint8_t *)found->scores, index);
    memcpy(&one.class_id, found->class_ids + index, sizeof one.class_id);
    memcpy(&one.source, found->sources + index, sizeof one.source);
    return one;
}

bxw_stats bxw_stats_of(const bxw_decoder *d, uint32_t image) {
    bxw_stats stats = {0};
    if (image >= bxw_images(d)) return stats;
    const uint8_t *p = block(d, image);
    stats.candidates = word(p, BXW_P_CANDIDATES);
    stats.capped = word(p, BXW_P_OVERFLOW) + stats.candidates - word(p, BXW_P_VISITED);
    stats.not_finite = word(p, BXW_P_NOT_FINITE);
    return stats;
}

const char *bxw_label(const bxw_decoder *d, int32_t class_id) {
    if (class_id < 0 || (uint32_t)class_id >= word(d->plan, BXW_F_LABELS)) return NULL;
    return (const char *)d->plan + word(d->plan + word(d->plan, BXW_F_LABEL_TABLE), (uint32_t)class_id);
}

/* One axis of the letterbox undo, in the steps and the precision of src/letterbox.ts, so that the bits agree. */
static void undo(uint32_t input, double resized, int centred, float *scale, float *shift) {
    const uint32_t pixels = (uint32_t)resized;
    const uint32_t before = centred ? (input - pixels) / 2 : 0;
    *scale = (float)((double)input / resized);
    *shift = (float)(-(double)before / resized);
}

/* A frame of a thousand times the input's proportions still has a row of pixels. */
static uint32_t least_one(uint32_t pixels) { return pixels > 0 ? pixels : 1; }

bxw_status bxw_set_frame(bxw_decoder *d, uint32_t width, uint32_t height, bxw_resize resize) {
    const uint32_t w = word(d->plan, BXW_F_INPUT_WIDTH);
    const uint32_t h = word(d->plan, BXW_F_INPUT_HEIGHT);
    float scale[2] = {1, 1};
    float shift[2] = {0, 0};
    if ((width == 0) != (height == 0)) return refuse(d, BXW_BAD_VALUE, width == 0 ? width : height, 1);
    if (width != 0 && resize != BXW_STRETCH) {
        if (resize != BXW_LETTERBOX && resize != BXW_LETTERBOX_TOPLEFT) return refuse(d, BXW_BAD_VALUE, (size_t)resize, BXW_LETTERBOX_TOPLEFT);
        if (w == 0 || h == 0) return refuse(d, BXW_BAD_VALUE, 0, 1);
        const double across = (double)w / width;
        const double down = (double)h / height;
        const double factor = across < down ? across : down;
        /* rounded to the nearest pixel, halves up; never more than the input, since the factor is the smaller one */
        const uint32_t rw = least_one((uint32_t)(width * factor + 0.5));
        const uint32_t rh = least_one((uint32_t)(height * factor + 0.5));
        undo(w, rw, resize == BXW_LETTERBOX, &scale[0], &shift[0]);
        undo(h, rh, resize == BXW_LETTERBOX, &scale[1], &shift[1]);
    }
    for (uint32_t i = 0; i < bxw_images(d); i++) {
        uint8_t *p = block(d, i);
        put_real(p, BXW_P_SCALE_X, scale[0]);
        put_real(p, BXW_P_SCALE_Y, scale[1]);
        put_real(p, BXW_P_SHIFT_X, shift[0]);
        put_real(p, BXW_P_SHIFT_Y, shift[1]);
    }
    return BXW_OK;
}

bxw_status bxw_set_iou(bxw_decoder *d, float threshold) {
    if (!(threshold >= 0 && threshold <= 1)) return refuse(d, BXW_BAD_VALUE, 0, 1);
    for (uint32_t i = 0; i < bxw_images(d); i++) put_real(block(d, i), BXW_P_IOU, threshold);
    return BXW_OK;
}

bxw_status bxw_set_max_detections(bxw_decoder *d, uint32_t count) {
    const uint32_t most = word(d->plan, BXW_F_MAX_DETECTIONS);
    if (count < 1 || count > most) return refuse(d, BXW_BAD_VALUE, count, most);
    for (uint32_t i = 0; i < bxw_images(d); i++) put(block(d, i), BXW_P_MAX_DETECTIONS, count);
    return BXW_OK;
}

const char *bxw_explain(bxw_status status) {
    switch (status) {
    case BXW_OK: return "no fault";
    case BXW_NO_PLAN: return "plan: first word is not that of a plan";
    case BXW_PLAN_NEWER: return "plan: version of the file layout";
    case BXW_OTHER_ABI: return "plan or kernel: version of the kernel interface";
    case BXW_CUT_SHORT: return "plan: number of bytes";
    case BXW_DAMAGED: return "plan: checksum, or a size or an address in it";
    case BXW_MEMORY_SMALL: return "memory: number of bytes";
    case BXW_MEMORY_ALIGN: return "memory: address modulo 4";
    case BXW_NO_SUCH_SLOT: return "slot: no such one (expected: below)";
    case BXW_SLOT_SIZE: return "slot: bytes of the tensor";
    case BXW_OUT_OF_RANGE: return "scores outside 0..1: the network gives logits, compile with activation logits";
    case BXW_BAD_VALUE: return "setting: outside its range";
    }
    return "unknown status";
}
