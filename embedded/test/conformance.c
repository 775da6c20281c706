/*
 * Every case of cases.bin through the C library: detections must be those of the JavaScript engines bit for bit, and
 * those of the recording within 1e-5. Then what the library has to refuse. Runs on a system and on a bare board.
 */
#include <string.h>

#include "boxwright.h"
#include "kernel_prelude.h"
#include "cases.h"
#include "report.h"

/* Room for the largest plan of the cases, and a copy of a plan to spoil. */
#define MEMORY_BYTES (640 * 1024)
static _Alignas(16) uint8_t memory[MEMORY_BYTES];
static _Alignas(16) uint8_t spoilt[8192];

static float real(uint32_t at, uint32_t index) {
    float value;
    memcpy(&value, cases + at + (size_t)index * 4, sizeof value);
    return value;
}

static bxw_status load(bxw_decoder *d, uint32_t c) {
    /* what stood in memory before must not matter */
    memset(memory, 0xa5, sizeof memory);
    return bxw_load(d, cases + word(c, C_PLAN), word(c, C_PLAN_BYTES), memory, sizeof memory);
}

static void fill(bxw_decoder *d, uint32_t c, const char *name) {
    for (uint32_t t = 0; t < word(c, C_TENSORS); t++) {
        const uint32_t row = word(c, C_TENSOR_TABLE) + t * T_WORDS * 4;
        bxw_slot slot;
        bxw_status status = bxw_slot_named(d, text(word(row, T_NAME)), &slot);
        report_check(name, "a slot for each tensor", status == BXW_OK, d->got, d->expected);
        report_check(name, "bytes of a slot", slot.bytes == word(row, T_BYTES), slot.bytes, word(row, T_BYTES));
        if (status == BXW_OK && slot.bytes == word(row, T_BYTES)) memcpy(slot.data, cases + word(row, T_DATA), slot.bytes);
    }
}

static uint32_t differing(const void *a, uint32_t at, uint32_t count) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) n += memcmp((const uint8_t *)a + i * 4, cases + at + i * 4, 4) != 0;
    return n;
}

static int near(float a, float b) { return a - b <= 1e-5f && b - a <= 1e-5f; }

static void check_detections(const bxw_decoder *d, uint32_t c, const char *name) {
    bxw_stats sum = {0};
    report_check(name, "images", bxw_images(d) == word(c, C_IMAGES), bxw_images(d), word(c, C_IMAGES));
    for (uint32_t image = 0; image < word(c, C_IMAGES); image++) {
        const uint32_t want = word(c, C_IMAGE_TABLE) + image * D_WORDS * 4;
        const uint32_t n = word(want, D_COUNT);
        const bxw_detections got = bxw_read(d, image);
        const bxw_stats stats = bxw_stats_of(d, image);
        sum.candidates += stats.candidates;
        sum.capped += stats.capped;
        sum.not_finite += stats.not_finite;
        report_check(name, "detections", got.count == n, got.count, n);
        if (got.count != n) continue;
        uint32_t other = differing(got.boxes, word(want, D_BOXES), n * 4);
        report_check(name, "coordinates of other bits", other == 0, other, 0);
        other = differing(got.scores, word(want, D_SCORES), n);
        report_check(name, "scores of other bits", other == 0, other, 0);
        other = differing(got.class_ids, word(want, D_LABELS), n);
        report_check(name, "class ids that differ", other == 0, other, 0);
        other = differing(got.sources, word(want, D_SOURCES), n);
        report_check(name, "sources that differ", other == 0, other, 0);
    }
    report_check(name, "candidates", sum.candidates == word(c, C_CANDIDATES), sum.candidates, word(c, C_CANDIDATES));
    report_check(name, "capped", sum.capped == word(c, C_CAPPED), sum.capped, word(c, C_CAPPED));
    report_check(name, "not finite", sum.not_finite == word(c, C_NOT_FINITE), sum.not_finite, word(c, C_NOT_FINITE));
}

static void check_golden(const bxw_decoder *d, uint32_t c, const char *name) {
    if (word(c, C_GOLDEN) == 0xffffffffu) return;
    const bxw_detections got = bxw_read(d, 0);
    report_check(name, "detections of the recording", got.count == word(c, C_GOLDEN), got.count, word(c, C_GOLDEN));
    for (uint32_t g = 0; g < word(c, C_GOLDEN); g++) {
        const uint32_t row = word(c, C_GOLDEN_TABLE) + g * G_WORDS * 4;
        uint32_t found = 0;
        for (uint32_t i = 0; i < got.count; i++) {
            const bxw_detection one = bxw_at(&got, i);
            found += one.class_id == (int32_t)word(row, G_LABEL) && near(one.score, real(row, G_SCORE)) &&
                     near(one.x_min, real(row, G_BOX)) && near(one.y_min, real(row, G_BOX + 1)) &&
                     near(one.x_max, real(row, G_BOX + 2)) && near(one.y_max, real(row, G_BOX + 3));
        }
        report_check(name, "matches of a recorded detection", found == 1, found, 1);
    }
}

static void run_case(uint32_t c) {
    const char *name = text(word(c, C_NAME));
    bxw_decoder d;
    const bxw_status status = load(&d, c);
    report_check(name, bxw_explain(status), status == BXW_OK, d.got, d.expected);
    if (status != BXW_OK) return;
    fill(&d, c, name);
    bxw_status set = bxw_set_frame(&d, word(c, C_WIDTH), word(c, C_HEIGHT), (bxw_resize)word(c, C_RESIZE));
    report_check(name, "frame", set == BXW_OK, d.got, d.expected);
    int32_t n = bxw_decode(&d);
    report_check(name, "decode", n >= 0, (uint32_t)-n, 0);
    check_detections(&d, c, name);
    check_golden(&d, c, name);
    /* the kernel keeps no state: again is the same */
    const int32_t again = bxw_decode(&d);
    report_check(name, "detections of a second decode", again == n, (uint32_t)again, (uint32_t)n);
    check_detections(&d, c, name);
    report_text("ok: ");
    report_text(name);
    report_text(", ");
    report_number((uint32_t)n);
    report_text(" detections, memory ");
    report_number(d.memory_bytes);
    report_text("\n");
}

/* ---- What has to be refused, on a copy of the first plan ---------------------------------------------------- */

static uint32_t spoilt_word(uint32_t at) {
    uint32_t value;
    memcpy(&value, spoilt + at, sizeof value);
    return value;
}

/* Writes a word into the copy, and the checksum that makes it whole again, so that the later checks are reached. */
static void spoil(uint32_t at, uint32_t value) {
    memcpy(spoilt + at, &value, sizeof value);
    restore_checksum(spoilt, sizeof spoilt);
}

static void refused(const char *what, bxw_status got, bxw_status expected) {
    report_check("refusals", what, got == expected, (uint32_t)-(int32_t)got, (uint32_t)-(int32_t)expected);
}

static void refusals(uint32_t c) {
    const uint8_t *plan = cases + word(c, C_PLAN);
    const uint32_t bytes = word(c, C_PLAN_BYTES);
    bxw_decoder d;
#define FRESH() memcpy(spoilt, plan, bytes)
#define LOAD(size) bxw_load(&d, spoilt, (size), memory, sizeof memory)
    FRESH();
    refused("a whole copy", LOAD(bytes), BXW_OK);
    refused("no bytes at all", LOAD(0), BXW_CUT_SHORT);
    refused("the directory alone", LOAD(64), BXW_CUT_SHORT);
    refused("a byte short", LOAD(bytes - 1), BXW_CUT_SHORT);
    report_check("refusals", "says the length", d.got == bytes - 1 && d.expected == bytes, d.got, bytes - 1);
    refused("memory a byte short", bxw_load(&d, plan, bytes, memory, bxw_memory_bytes(plan, bytes) - 1), BXW_MEMORY_SMALL);
    refused("memory out of line", bxw_load(&d, plan, bytes, memory + 2, sizeof memory - 2), BXW_MEMORY_ALIGN);
    /* as interpreters hand it out */
    refused("memory at a word", bxw_load(&d, plan, bytes, memory + 4, sizeof memory - 4), BXW_OK);
    refused("fill there", bxw_fill(&d, 0, cases + word(word(c, C_TENSOR_TABLE), T_DATA), word(word(c, C_TENSOR_TABLE), T_BYTES)), BXW_OK);
    const int32_t there = bxw_decode(&d);
    report_check("memory at a word", "detections", there == 1, (uint32_t)there, 1);
    for (uint32_t at = BXW_F_CHECK * 4; at < bytes; at += 97) {
        FRESH();
        spoilt[at] ^= 0x10;
        const bxw_status status = LOAD(bytes);
        /* a larger length is met before the checksum */
        refused("one bit turned over", status == BXW_CUT_SHORT ? BXW_DAMAGED : status, BXW_DAMAGED);
    }
    FRESH();
    spoilt[0] = 'X';
    refused("another file", LOAD(bytes), BXW_NO_PLAN);
    report_check("refusals", "memory of another file", bxw_memory_bytes(spoilt, bytes) == 0, bxw_memory_bytes(spoilt, bytes), 0);
    FRESH();
    spoil(BXW_F_VERSION * 4, BXW_PLAN_VERSION + 1);
    refused("a newer layout", LOAD(bytes), BXW_PLAN_NEWER);
    FRESH();
    spoil(BXW_F_ABI * 4, BXW_ABI_VERSION + 1);
    refused("another kernel's plan", LOAD(bytes), BXW_OTHER_ABI);
    static const uint32_t words_to_spoil[] = {BXW_F_IMAGE_BYTES, BXW_F_IMAGES, BXW_F_IMAGE_TABLE, BXW_F_SLOTS,
                                              BXW_F_SLOT_TABLE, BXW_F_LABELS, BXW_F_LABEL_TABLE, BXW_F_MAX_DETECTIONS};
    for (uint32_t i = 0; i < sizeof words_to_spoil / sizeof *words_to_spoil; i++) {
        FRESH();
        spoil(words_to_spoil[i] * 4, 0x7ffffff0u);
        refused("a table that leaves the file", LOAD(bytes), BXW_DAMAGED);
    }
    FRESH();
    spoil(BXW_F_IMAGE_BYTES * 4, 64);
    spoil(BXW_F_MEMORY_BYTES * 4, 512);
    refused("less memory than the kernel's bounds checks reckon with", LOAD(bytes), BXW_DAMAGED);
    report_check("refusals", "says the memory", d.got == 512, d.got, 512);
    report_check("refusals", "says the least", d.expected == BXW_LEAST_MEMORY, d.expected, BXW_LEAST_MEMORY);
    FRESH();
    /* columns of no rows, and a plan block that writes some */
    spoil(BXW_F_MAX_DETECTIONS * 4, 0);
    refused("more detections than columns hold", LOAD(bytes), BXW_DAMAGED);
    FRESH();
    const uint32_t slot = spoilt_word(BXW_F_SLOT_TABLE * 4);
    spoil(slot + BXW_S_ADDRESS * 4, 0xfffffff0u);
    refused("a slot that leaves memory", LOAD(bytes), BXW_DAMAGED);
    FRESH();
    spoil(slot + BXW_S_BYTES * 4, 0xfffffff0u);
    refused("a slot longer than memory", LOAD(bytes), BXW_DAMAGED);
    FRESH();
    spoil(spoilt_word(BXW_F_IMAGE_TABLE * 4) + BXW_I_BOXES * 4, spoilt_word(BXW_F_MEMORY_BYTES * 4) - 4);
    refused("a column that leaves memory", LOAD(bytes), BXW_DAMAGED);
    FRESH();
    spoil(spoilt_word(BXW_F_IMAGE_TABLE * 4) + BXW_I_SCORES * 4, spoilt_word(spoilt_word(BXW_F_IMAGE_TABLE * 4) + BXW_I_SCORES * 4) + 1);
    refused("a column at an odd address", LOAD(bytes), BXW_DAMAGED);
    FRESH();
    spoil(slot + BXW_S_ADDRESS * 4, spoilt_word(slot + BXW_S_ADDRESS * 4) + 2);
    refused("a slot at an address that is no multiple of 4", LOAD(bytes), BXW_DAMAGED);
    FRESH();
    spoil(bytes - 4, 0x41414141u);
    refused("a string without an end", LOAD(bytes), BXW_DAMAGED);

    /* a plan at an odd address, as flash tools sometimes leave it */
    memcpy(spoilt + 1, plan, bytes);
    refused("a plan at an odd address", bxw_load(&d, spoilt + 1, bytes, memory, sizeof memory), BXW_OK);
    report_check("odd address", "slots", bxw_slots(&d) == 1, bxw_slots(&d), 1);

    refused("load", load(&d, c), BXW_OK);
    const uint32_t tensor = word(c, C_TENSOR_TABLE);
    refused("fill", bxw_fill(&d, 0, cases + word(tensor, T_DATA), word(tensor, T_BYTES)), BXW_OK);
    refused("fill, other length", bxw_fill(&d, 0, cases + word(tensor, T_DATA), word(tensor, T_BYTES) - 4), BXW_SLOT_SIZE);
    refused("fill, no such slot", bxw_fill(&d, 1, cases, 4), BXW_NO_SUCH_SLOT);
    bxw_slot s;
    refused("slot of another name", bxw_slot_named(&d, "nobody", &s), BXW_NO_SUCH_SLOT);
    report_check("slot", "rank", bxw_slot_at(&d, 0, &s) == BXW_OK && s.rank == 4, s.rank, 4);
    report_check("slot", "dims", s.dims[0] == 1 && s.dims[1] == 13 && s.dims[2] == 13 && s.dims[3] == 25, s.dims[1], 13);
    report_check("slot", "type", s.type == BXW_TYPE_F32, s.type, BXW_TYPE_F32);
    report_check("slot", "alignment", (uintptr_t)s.data % 16 == 0, (uint32_t)((uintptr_t)s.data % 16), 0);
    const int32_t found = bxw_decode(&d);
    report_check("settings", "detections", found == 1, (uint32_t)found, 1);
    report_check("label", "its name", bxw_label(&d, 0) != NULL && strcmp(bxw_label(&d, 0), "face") == 0, 0, 1);
    report_check("label", "none beyond", bxw_label(&d, 1) == NULL && bxw_label(&d, -1) == NULL, 1, 0);
    refused("IoU above 1", bxw_set_iou(&d, 1.5f), BXW_BAD_VALUE);
    refused("IoU that is no number", bxw_set_iou(&d, __builtin_nanf("")), BXW_BAD_VALUE);
    refused("no detections wanted", bxw_set_max_detections(&d, 0), BXW_BAD_VALUE);
    refused("more detections than columns", bxw_set_max_detections(&d, 21), BXW_BAD_VALUE);
    refused("a width without height", bxw_set_frame(&d, 5, 0, BXW_STRETCH), BXW_BAD_VALUE);
    refused("a resize there is not", bxw_set_frame(&d, 5, 5, (bxw_resize)3), BXW_BAD_VALUE);
    /* as in JavaScript: a row of pixels is left of it */
    refused("an image a million to one", bxw_set_frame(&d, 1000000, 1, BXW_LETTERBOX), BXW_OK);
    report_check("read", "no image beyond", bxw_read(&d, 1).count == 0, 1, 0);
}

/*
 * A forged plan: whole by its checksum, its tables in order, but the plan block sends the kernel out of memory. With
 * the bounds checks compiled in, bxw_trap has to be called. The compiler's own setjmp, since a bare board has no other.
 */
#ifndef BXW_UNCHECKED
static void *back[5];
static volatile int expected, trapped;

BXW_NORETURN void bxw_trap(int reason) {
    trapped = reason;
    if (expected) __builtin_longjmp(back, 1);
    report_check("the kernel", "stays in its memory", 0, (uint32_t)reason, 0);
    report_end();
    __builtin_trap();
}

static void forged(uint32_t c, uint32_t plan_word, uint32_t address) {
    static bxw_decoder d;
    const uint32_t bytes = word(c, C_PLAN_BYTES);
    memcpy(spoilt, cases + word(c, C_PLAN), bytes);
    spoil(spoilt_word(spoilt_word(BXW_F_IMAGE_TABLE * 4) + BXW_I_PLAN * 4) + plan_word * 4, address);
    refused("a forged plan loads", bxw_load(&d, spoilt, bytes, memory, sizeof memory), BXW_OK);
    const uint32_t tensor = word(c, C_TENSOR_TABLE);
    refused("fill", bxw_fill(&d, 0, cases + word(tensor, T_DATA), word(tensor, T_BYTES)), BXW_OK);
    trapped = 0;
    expected = 1;
    if (__builtin_setjmp(back) == 0) bxw_decode(&d);
    expected = 0;
    report_check("a forged plan", "trap for leaving memory", trapped == 1, (uint32_t)trapped, 1);
}

static void forgeries(uint32_t c) {
    forged(c, BXW_P_HEAD0, 0x7fffff00u);
    forged(c, BXW_P_SCORES, 0xffffff00u);
    /* the first byte behind memory, and across the end of it */
    forged(c, BXW_P_BOXES, bxw_memory_bytes(cases + word(c, C_PLAN), 64));
    forged(c, BXW_P_DET_BOXES, bxw_memory_bytes(cases + word(c, C_PLAN), 64) - 2);
}
#else
static void forgeries(uint32_t c) { (void)c; }
#endif

/* Thresholds at run time do what they say: fewer detections with a lower IoU, no more than the cap. */
static void settings(void) {
    for (uint32_t i = 0; i < case_count(); i++) {
        const uint32_t c = case_at(i);
        const char *name = text(word(c, C_NAME));
        if (strcmp(name, "planes") != 0) continue;
        bxw_decoder d;
        refused("load", load(&d, c), BXW_OK);
        fill(&d, c, name);
        const int32_t before = bxw_decode(&d);
        refused("IoU", bxw_set_iou(&d, 0.0f), BXW_OK);
        const int32_t strict = bxw_decode(&d);
        report_check(name, "fewer at IoU 0", strict > 0 && strict < before, (uint32_t)strict, (uint32_t)before);
        refused("IoU", bxw_set_iou(&d, 1.0f), BXW_OK);
        const int32_t loose = bxw_decode(&d);
        report_check(name, "all candidates at IoU 1", (uint32_t)loose == bxw_stats_of(&d, 0).candidates, (uint32_t)loose, bxw_stats_of(&d, 0).candidates);
        refused("cap", bxw_set_max_detections(&d, 2), BXW_OK);
        const int32_t capped = bxw_decode(&d);
        report_check(name, "two at most", capped == 2, (uint32_t)capped, 2);
        /* logits where the plan expects probabilities */
        bxw_slot slot;
        refused("slot", bxw_slot_at(&d, 0, &slot), BXW_OK);
        const float seven = 7;
        memcpy((uint8_t *)slot.data + slot.bytes - 4, &seven, 4);
        refused("a score of 7", (bxw_status)bxw_decode(&d), BXW_OUT_OF_RANGE);
        /* any bytes at all are safe: the fence of bxw_trap would end the program */
        for (uint32_t k = 0; k < slot.bytes; k++) ((uint8_t *)slot.data)[k] = (uint8_t)(k * 31 + (k >> 8) * 17);
        bxw_decode(&d);
        memset(slot.data, 0xff, slot.bytes);
        report_check(name, "nothing in a slot of NaN", bxw_decode(&d) == 0, bxw_read(&d, 0).count, 0);
        return;
    }
    report_check("settings", "the case named planes", 0, 0, 1);
}

int main(void) {
    const uint32_t count = case_count();
    for (uint32_t i = 0; i < count; i++) run_case(case_at(i));
    report_check("cases", "how many", count >= 20, count, 20);
    refusals(case_at(0));
    forgeries(case_at(0));
    settings();
    return report_end();
}
