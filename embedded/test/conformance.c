/*
 * Decodes every case of cases.bin with the C library. Detections must equal those of the JavaScript engines bit for
 * bit, and those of a recording within 1e-5. Then checks what the library must refuse. Runs on a system and on a board.
 */
#include <string.h>

#include "boxwright.h"
#include "kernel_prelude.h"
#include "cases.h"
#include "report.h"

/* Memory for the largest plan of the cases, and room for a copy of the first plan. */
#define MEMORY_BYTES (640 * 1024)
static _Alignas(16) uint8_t memory[MEMORY_BYTES];
static _Alignas(16) uint8_t copy[8192];
/* Rows for the candidates of the largest oriented case, and for the boxes that are kept. */
static bxw_candidate work[3600];
static bxw_oriented_box turned[300];
/* Rows for the cells of the largest map. */
static bxw_cell cells[1200];

static float real(uint32_t at, uint32_t index) {
    float value;
    memcpy(&value, cases + at + (size_t)index * 4, sizeof value);
    return value;
}

static bxw_status load(bxw_decoder *d, uint32_t c) {
    /* Earlier contents of memory must not matter. */
    memset(memory, 0xa5, sizeof memory);
    return bxw_load(d, cases + word(c, C_PLAN), word(c, C_PLAN_BYTES), memory, sizeof memory);
}

static void fill(bxw_decoder *d, uint32_t c, const char *name) {
    for (uint32_t t = 0; t < word(c, C_TENSORS); t++) {
        const uint32_t row = word(c, C_TENSOR_TABLE) + t * T_WORDS * 4;
        bxw_slot slot;
        bxw_status status = bxw_slot_named(d, text(word(row, T_NAME)), &slot);
        report_check(name, "slot of a tensor", status == BXW_OK, d->got, d->expected);
        report_check(name, "bytes of a slot", slot.bytes == word(row, T_BYTES), slot.bytes, word(row, T_BYTES));
        if (status == BXW_OK && slot.bytes == word(row, T_BYTES))
            memcpy(slot.data, cases + word(row, T_DATA), slot.bytes);
    }
}

/* Returns how many of the words differ from those at offset `at` of the cases. */
static uint32_t differing(const void *a, uint32_t at, uint32_t count) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) n += memcmp((const uint8_t *)a + i * 4, cases + at + i * 4, 4) != 0;
    return n;
}

static int is_near(float a, float b) { return a - b <= 1e-5f && b - a <= 1e-5f; }

/* Compares keypoints and masks of each detection with those of JavaScript, bit for bit. */
static void check_extras(bxw_decoder *d, uint32_t c, const char *name, uint32_t image) {
    static float points[3 * 64];
    static uint8_t mask[64 * 64];
    const uint32_t want = word(c, C_IMAGE_TABLE) + image * D_WORDS * 4;
    const uint32_t count = word(c, C_KEYPOINTS);
    const bxw_window whole = bxw_mask_size(d);
    const int has_masks = word(c, C_HAS_MASKS) != 0;
    report_check(name, "keypoints", bxw_keypoint_count(d) == count, bxw_keypoint_count(d), count);
    report_check(name, "masks", (whole.width > 0) == has_masks, whole.width, (uint32_t)has_masks);
    if (count > sizeof points / 12 || whole.width * whole.height > sizeof mask) {
        report_check(name, "room for keypoints and masks", 0, count, whole.width);
        return;
    }
    uint32_t other = 0, windows = 0, pixels = 0;
    for (uint32_t i = 0; i < word(want, D_COUNT); i++) {
        const int32_t got = bxw_keypoints(d, image, i, points);
        const int32_t expected = count > 0 ? (int32_t)count : BXW_NOT_IN_PLAN;
        report_check(name, "status of keypoints", got == expected, (uint32_t)got, (uint32_t)expected);
        if (got > 0) other += differing(points, word(want, D_KEYPOINTS) + i * count * 12, count * 3);
        bxw_window window;
        const bxw_status status = bxw_mask(d, image, i, mask, sizeof mask, &window);
        report_check(name, "status of a mask", status == (has_masks ? BXW_OK : BXW_NOT_IN_PLAN), (uint32_t)-status, 0);
        if (status != BXW_OK) continue;
        const uint32_t m = word(want, D_MASKS) + i * M_WORDS * 4;
        windows += differing(&window, m + M_WINDOW * 4, 4);
        for (uint32_t k = 0; k < window.width * window.height; k++) pixels += mask[k] != cases[word(m, M_DATA) + k];
    }
    report_check(name, "keypoints with other bits", other == 0, other, 0);
    report_check(name, "windows of masks", windows == 0, windows, 0);
    report_check(name, "pixels of masks", pixels == 0, pixels, 0);
    const uint32_t none = word(want, D_COUNT);
    const bxw_status behind = count > 0 ? BXW_NO_SUCH_ROW : BXW_NOT_IN_PLAN;
    const int32_t refused = bxw_keypoints(d, image, none, points);
    report_check(name, "no keypoints behind the last row", refused == (int32_t)behind, (uint32_t)-refused, 0);
}

/* Makes the oriented boxes of all images and compares them with those of JavaScript, bit for bit. Returns their count. */
static int32_t check_oriented(bxw_decoder *d, uint32_t c, const char *name) {
    const uint32_t rows = sizeof work / sizeof *work, room = sizeof turned / sizeof *turned;
    enum { FLOATS = offsetof(bxw_oriented_box, score) / 4 };
    int32_t sum = 0;
    for (uint32_t image = 0; image < word(c, C_IMAGES); image++) {
        const uint32_t want = word(c, C_IMAGE_TABLE) + image * D_WORDS * 4;
        const int32_t n = bxw_decode_oriented(d, image, turned, room, work, rows);
        report_check(name, "oriented boxes", n == (int32_t)word(want, D_COUNT), (uint32_t)n, word(want, D_COUNT));
        uint32_t other = 0, columns = 0;
        const bxw_detections found = bxw_read(d, image);
        for (uint32_t i = 0; (int32_t)i < n && i < word(want, D_COUNT); i++) {
            const bxw_detection one = bxw_at(&found, i);
            other += differing(&turned[i], word(want, D_ORIENTED) + i * FLOATS * 4, FLOATS);
            columns += one.score != turned[i].score || one.class_id != turned[i].class_id ||
                       one.source != turned[i].source;
        }
        report_check(name, "oriented boxes with other bits", other == 0, other, 0);
        report_check(name, "oriented boxes unlike their columns", columns == 0, columns, 0);
        sum += n;
    }
    return sum;
}

/* Groups the cells of all images. Returns the count of groups, which check_detections compares. */
static int32_t check_cells(bxw_decoder *d, uint32_t c, const char *name) {
    int32_t sum = 0;
    for (uint32_t image = 0; image < word(c, C_IMAGES); image++) {
        const int32_t few = bxw_decode_cells(d, image, cells, 0);
        report_check(name, "too few rows", few == BXW_MEMORY_SMALL && d->expected > 0, d->got, d->expected);
        const int32_t n = bxw_decode_cells(d, image, cells, sizeof cells / sizeof *cells);
        report_check(name, "groups of cells", n > 0, (uint32_t)-n, 0);
        sum += n;
    }
    return sum;
}

/* Decodes all images of a case by the function of its task. */
static int32_t decode_case(bxw_decoder *d, uint32_t c, const char *name) {
    if (word(c, C_IS_ORIENTED) != 0) return check_oriented(d, c, name);
    return word(c, C_IS_CELLS) != 0 ? check_cells(d, c, name) : bxw_decode(d);
}

static void check_detections(bxw_decoder *d, uint32_t c, const char *name) {
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
        report_check(name, "coordinates with other bits", other == 0, other, 0);
        other = differing(got.scores, word(want, D_SCORES), n);
        report_check(name, "scores with other bits", other == 0, other, 0);
        other = differing(got.class_ids, word(want, D_LABELS), n);
        report_check(name, "other class ids", other == 0, other, 0);
        other = differing(got.sources, word(want, D_SOURCES), n);
        report_check(name, "other sources", other == 0, other, 0);
        check_extras(d, c, name, image);
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
            found += one.class_id == (int32_t)word(row, G_LABEL) && is_near(one.score, real(row, G_SCORE)) &&
                     is_near(one.x_min, real(row, G_BOX)) && is_near(one.y_min, real(row, G_BOX + 1)) &&
                     is_near(one.x_max, real(row, G_BOX + 2)) && is_near(one.y_max, real(row, G_BOX + 3));
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
    const int is_oriented = word(c, C_IS_ORIENTED) != 0;
    const int32_t n = decode_case(&d, c, name);
    report_check(name, "decode", n >= 0, (uint32_t)-n, 0);
    if (!is_oriented) {
        const int32_t none = bxw_decode_oriented(&d, 0, turned, 0, work, 0);
        report_check(name, "no oriented boxes", none == BXW_NOT_IN_PLAN, (uint32_t)-none, (uint32_t)-BXW_NOT_IN_PLAN);
    }
    if (word(c, C_IS_CELLS) == 0) {
        const int32_t none = bxw_decode_cells(&d, 0, cells, 0);
        report_check(name, "no cells", none == BXW_NOT_IN_PLAN, (uint32_t)-none, (uint32_t)-BXW_NOT_IN_PLAN);
    }
    check_detections(&d, c, name);
    check_golden(&d, c, name);
    /* The kernel keeps no state: a second decode gives the same detections. */
    const int32_t again = decode_case(&d, c, name);
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

/* ---- Refusals, tried on a copy of the plan of the first case ----------------------------------------------- */

static uint32_t copy_word(uint32_t at) {
    uint32_t value;
    memcpy(&value, copy + at, sizeof value);
    return value;
}

/* Writes a word into the copy, with a valid checksum. */
static void forge(uint32_t at, uint32_t value) {
    memcpy(copy + at, &value, sizeof value);
    restore_checksum(copy, sizeof copy);
}

static void expect(const char *what, bxw_status got, bxw_status expected) {
    report_check("status", what, got == expected, (uint32_t)-(int32_t)got, (uint32_t)-(int32_t)expected);
}

static void copy_plan(uint32_t c) { memcpy(copy, cases + word(c, C_PLAN), word(c, C_PLAN_BYTES)); }

static bxw_status load_copy(bxw_decoder *d, uint32_t bytes) { return bxw_load(d, copy, bytes, memory, sizeof memory); }

static bxw_status fill_first(bxw_decoder *d, uint32_t c) {
    const uint32_t tensor = word(c, C_TENSOR_TABLE);
    return bxw_fill(d, 0, cases + word(tensor, T_DATA), word(tensor, T_BYTES));
}

static void refuse_files(uint32_t c) {
    const uint32_t bytes = word(c, C_PLAN_BYTES);
    bxw_decoder d;
    copy_plan(c);
    expect("a whole plan", load_copy(&d, bytes), BXW_OK);
    expect("no bytes", load_copy(&d, 0), BXW_CUT_SHORT);
    expect("only the directory", load_copy(&d, 64), BXW_CUT_SHORT);
    expect("one byte missing", load_copy(&d, bytes - 1), BXW_CUT_SHORT);
    report_check("refusal", "states both lengths", d.got == bytes - 1 && d.expected == bytes, d.got, bytes - 1);
    for (uint32_t at = BXW_F_CHECK * 4; at < bytes; at += 97) {
        copy_plan(c);
        copy[at] ^= 0x10;
        const bxw_status status = load_copy(&d, bytes);
        /* A larger length is found before the checksum. */
        expect("one bit inverted", status == BXW_CUT_SHORT ? BXW_DAMAGED : status, BXW_DAMAGED);
    }
    copy_plan(c);
    copy[0] = 'X';
    expect("another file", load_copy(&d, bytes), BXW_NO_PLAN);
    report_check("refusal", "no memory for another file", bxw_memory_bytes(copy, bytes) == 0, 1, 0);
    copy_plan(c);
    forge(BXW_F_VERSION * 4, BXW_PLAN_VERSION + 1);
    expect("a newer layout", load_copy(&d, bytes), BXW_PLAN_NEWER);
    copy_plan(c);
    forge(BXW_F_ABI * 4, BXW_ABI_VERSION + 1);
    expect("a newer kernel", load_copy(&d, bytes), BXW_OTHER_ABI);
}

static void refuse_memory(uint32_t c) {
    const uint32_t bytes = word(c, C_PLAN_BYTES);
    const uint32_t needed = bxw_memory_bytes(cases + word(c, C_PLAN), bytes);
    bxw_decoder d;
    copy_plan(c);
    expect("memory one byte too small", bxw_load(&d, copy, bytes, memory, needed - 1), BXW_MEMORY_SMALL);
    expect("memory at address 2", bxw_load(&d, copy, bytes, memory + 2, sizeof memory - 2), BXW_MEMORY_ALIGN);
    /* Interpreters hand out memory that is only 4-aligned. */
    expect("memory at address 4", bxw_load(&d, copy, bytes, memory + 4, sizeof memory - 4), BXW_OK);
    expect("fill at address 4", fill_first(&d, c), BXW_OK);
    const int32_t found = bxw_decode(&d);
    report_check("memory at address 4", "detections", found == 1, (uint32_t)found, 1);
    /* A plan in flash can lie at any address. */
    memcpy(copy + 1, cases + word(c, C_PLAN), bytes);
    expect("a plan at an odd address", bxw_load(&d, copy + 1, bytes, memory, sizeof memory), BXW_OK);
    report_check("a plan at an odd address", "slots", bxw_slots(&d) == 1, bxw_slots(&d), 1);
    copy_plan(c);
    forge(BXW_F_IMAGE_BYTES * 4, 64);
    forge(BXW_F_MEMORY_BYTES * 4, 512);
    expect("less memory than the bounds checks of the kernel need", load_copy(&d, bytes), BXW_DAMAGED);
    report_check("refusal", "states the memory", d.got == 512, d.got, 512);
    report_check("refusal", "states the least memory", d.expected == BXW_LEAST_MEMORY, d.expected, BXW_LEAST_MEMORY);
}

/* Loads a copy with one forged word, which must be refused. */
static void refuse_word(uint32_t c, const char *what, uint32_t at, uint32_t value) {
    bxw_decoder d;
    copy_plan(c);
    forge(at, value);
    expect(what, load_copy(&d, word(c, C_PLAN_BYTES)), BXW_DAMAGED);
}

/* Returns the offset of the plan block of the first image. */
static uint32_t plan_block(void) { return copy_word(copy_word(BXW_F_IMAGE_TABLE * 4) + BXW_I_PLAN * 4); }

/* Steps that would lead out of the slots, and tables outside of the file. */
static void refuse_task(uint32_t c) {
    copy_plan(c);
    const uint32_t task = copy_word(BXW_F_IMAGE_BYTES * 4), head = copy_word(task + BXW_T_HEAD_TABLE * 4);
    static const uint32_t words[] = {BXW_T_KIND, BXW_T_COUNT, BXW_T_VALUES, BXW_T_RULE, BXW_T_HEADS, BXW_T_HEAD_TABLE};
    static const uint32_t steps[] = {BXW_E_CELLS,   BXW_E_SLOT, BXW_E_OFFSET,
                                     BXW_E_CHANNEL, BXW_E_CELL, BXW_E_OFFSET};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        refuse_word(c, "a word of the task record", task + words[i] * 4, 0x7ffffff0u);
    for (uint32_t i = 0; i < sizeof steps / sizeof *steps; i++)
        refuse_word(c, "a word of the head table", head + steps[i] * 4, 0x7ffffff0u);
    refuse_word(c, "no keypoints", task + BXW_T_COUNT * 4, 0);
    refuse_word(c, "a map without columns", head + BXW_E_GRID_W * 4, 0);
    copy_plan(c);
    refuse_word(c, "one element behind the slot", head + BXW_E_OFFSET * 4, copy_word(head + BXW_E_OFFSET * 4) + 1);
}

/* Loads the copied plan of oriented boxes with one forged word and decodes. */
static int32_t decode_forged(bxw_decoder *d, uint32_t c, uint32_t at, uint32_t value) {
    copy_plan(c);
    forge(at, value);
    expect("load", load_copy(d, word(c, C_PLAN_BYTES)), BXW_OK);
    fill(d, c, text(word(c, C_NAME)));
    return bxw_decode_oriented(d, 0, turned, sizeof turned / sizeof *turned, work, sizeof work / sizeof *work);
}

/* What bxw_decode_oriented refuses. The angles of the case are radians, some of them negative. */
static void refuse_oriented(uint32_t c) {
    bxw_decoder d;
    copy_plan(c);
    const uint32_t task = copy_word(BXW_F_IMAGE_BYTES * 4), head = copy_word(task + BXW_T_HEAD_TABLE * 4);
    refuse_word(c, "angles of no channels", task + BXW_T_VALUES * 4, 0);
    refuse_word(c, "an angle behind the slot", head + BXW_E_OFFSET * 4, copy_word(head + BXW_E_OFFSET * 4) + 1);
    const int32_t n = decode_forged(&d, c, task + BXW_T_ANGLE * 4, BXW_ANGLE_RADIANS);
    report_check("oriented", "boxes", n > 3, (uint32_t)n, 4);
    expect("an unknown activation", (bxw_status)decode_forged(&d, c, task + BXW_T_ANGLE * 4, 3), BXW_DAMAGED);
    expect("an unknown suppression", (bxw_status)decode_forged(&d, c, task + BXW_T_SUPPRESSION * 4, 4), BXW_DAMAGED);
    expect("radians for a sigmoid's output",
           (bxw_status)decode_forged(&d, c, task + BXW_T_ANGLE * 4, BXW_ANGLE_SIGMOID), BXW_OUT_OF_RANGE);
    expect("load", load(&d, c), BXW_OK);
    fill(&d, c, text(word(c, C_NAME)));
    expect("an image behind the batch", (bxw_status)bxw_decode_oriented(&d, 1, turned, 9, work, 9), BXW_NO_SUCH_ROW);
    expect("no work rows", (bxw_status)bxw_decode_oriented(&d, 0, turned, 9, work, 0), BXW_MEMORY_SMALL);
    const uint32_t rows = d.expected;
    report_check("oriented", "a row for each candidate", rows == bxw_stats_of(&d, 0).candidates, rows, 0);
    const int32_t few = bxw_decode_oriented(&d, 0, turned, 3, work, rows);
    report_check("oriented", "as many boxes as there is room for", few == 3, (uint32_t)few, 3);
    expect("one row too few", (bxw_status)bxw_decode_oriented(&d, 0, turned, 9, work, rows - 1), BXW_MEMORY_SMALL);
    report_check("oriented", "states both counts of rows", d.got == rows - 1 && d.expected == rows, d.got, rows - 1);
}

/* Addresses that would let the kernel write over its plan, over chains of kept boxes, or for ever. */
static void refuse_block(uint32_t c) {
    copy_plan(c);
    const uint32_t plan = plan_block(), chains = copy_word(plan + BXW_P_CHAINS * 4);
    refuse_word(c, "head records outside of the image", plan + BXW_P_HEAD0 * 4, 0x7fffff00u);
    refuse_word(c, "more cells than candidate rows", plan + BXW_P_CAPACITY * 4, 1);
    refuse_word(c, "chains in the plan", plan + BXW_P_CHAINS * 4, 0);
    refuse_word(c, "an order in the plan", plan + BXW_P_ORDER * 4, 0);
    refuse_word(c, "kept boxes in the chains", plan + BXW_P_KEPT * 4, chains);
    refuse_word(c, "kept boxes behind memory", plan + BXW_P_KEPT * 4, copy_word(BXW_F_MEMORY_BYTES * 4));
    refuse_word(c, "detections in the chains", plan + BXW_P_DET_BOXES * 4, chains);
}

static void refuse_tables(uint32_t c) {
    static const uint32_t counts[] = {BXW_F_IMAGE_BYTES, BXW_F_IMAGES, BXW_F_IMAGE_TABLE, BXW_F_SLOTS,
                                      BXW_F_SLOT_TABLE, BXW_F_LABELS, BXW_F_LABEL_TABLE, BXW_F_MAX_DETECTIONS};
    for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++)
        refuse_word(c, "a table outside of the file", counts[i] * 4, 0x7ffffff0u);
    copy_plan(c);
    const uint32_t memory_end = copy_word(BXW_F_MEMORY_BYTES * 4);
    const uint32_t slot = copy_word(BXW_F_SLOT_TABLE * 4);
    const uint32_t image = copy_word(BXW_F_IMAGE_TABLE * 4);
    const uint32_t slot_at = copy_word(slot + BXW_S_ADDRESS * 4);
    const uint32_t scores_at = copy_word(image + BXW_I_SCORES * 4);
    refuse_word(c, "more detections than rows", BXW_F_MAX_DETECTIONS * 4, 0);
    refuse_word(c, "a slot outside of memory", slot + BXW_S_ADDRESS * 4, 0xfffffff0u);
    refuse_word(c, "a slot longer than memory", slot + BXW_S_BYTES * 4, 0xfffffff0u);
    refuse_word(c, "a slot that is not 4-aligned", slot + BXW_S_ADDRESS * 4, slot_at + 2);
    refuse_word(c, "a column outside of memory", image + BXW_I_BOXES * 4, memory_end - 4);
    refuse_word(c, "a column that is not 4-aligned", image + BXW_I_SCORES * 4, scores_at + 1);
    refuse_word(c, "a string without an end", word(c, C_PLAN_BYTES) - 4, 0x41414141u);
    refuse_block(c);
}

static void check_calls(uint32_t c) {
    const uint32_t tensor = word(c, C_TENSOR_TABLE);
    bxw_decoder d;
    bxw_slot s;
    expect("load", load(&d, c), BXW_OK);
    expect("fill", fill_first(&d, c), BXW_OK);
    const uint8_t *data = cases + word(tensor, T_DATA);
    expect("fill with another length", bxw_fill(&d, 0, data, word(tensor, T_BYTES) - 4), BXW_SLOT_SIZE);
    expect("fill a slot that does not exist", bxw_fill(&d, 1, cases, 4), BXW_NO_SUCH_SLOT);
    expect("a slot name that does not exist", bxw_slot_named(&d, "nobody", &s), BXW_NO_SUCH_SLOT);
    report_check("slot", "rank", bxw_slot_at(&d, 0, &s) == BXW_OK && s.rank == 4, s.rank, 4);
    static const uint32_t dims[] = {1, 13, 13, 25};
    for (uint32_t k = 0; k < 4; k++) report_check("slot", "dims", s.dims[k] == dims[k], s.dims[k], dims[k]);
    report_check("slot", "type", s.type == BXW_TYPE_F32, s.type, BXW_TYPE_F32);
    report_check("slot", "alignment", (uintptr_t)s.data % 16 == 0, (uint32_t)((uintptr_t)s.data % 16), 0);
    const int32_t found = bxw_decode(&d);
    report_check("decode", "detections", found == 1, (uint32_t)found, 1);
    report_check("label", "name of class 0", bxw_label(&d, 0) != NULL && strcmp(bxw_label(&d, 0), "face") == 0, 0, 1);
    report_check("label", "none for other class ids", bxw_label(&d, 1) == NULL && bxw_label(&d, -1) == NULL, 1, 0);
    report_check("read", "nothing for other images", bxw_read(&d, 1).count == 0, 1, 0);
    expect("IoU above 1", bxw_set_iou(&d, 1.5f), BXW_BAD_VALUE);
    expect("IoU of NaN", bxw_set_iou(&d, __builtin_nanf("")), BXW_BAD_VALUE);
    expect("at most 0 detections", bxw_set_max_detections(&d, 0), BXW_BAD_VALUE);
    expect("more detections than rows", bxw_set_max_detections(&d, 21), BXW_BAD_VALUE);
    expect("a width without height", bxw_set_frame(&d, 5, 0, BXW_STRETCH), BXW_BAD_VALUE);
    expect("an unknown resize", bxw_set_frame(&d, 5, 5, (bxw_resize)4), BXW_BAD_VALUE);
    /* As in JavaScript: at least one row of pixels remains. */
    expect("an image a million times as wide as high", bxw_set_frame(&d, 1000000, 1, BXW_LETTERBOX), BXW_OK);
}

/*
 * Forged plans that load: checksum and tables are valid, but the plan block sends the kernel out of memory. The bounds
 * checks must call bxw_trap. Uses the setjmp of the compiler, since a bare board has no other. forged.c tries more.
 */
#ifndef BXW_UNCHECKED
static void *back[5];
static volatile int is_expected, trapped;

BXW_NORETURN void bxw_trap(int reason) {
    trapped = reason;
    if (is_expected) __builtin_longjmp(back, 1);
    report_check("the kernel", "stays in its memory", 0, (uint32_t)reason, 0);
    report_end();
    __builtin_trap();
}

static void trap_address(uint32_t c, uint32_t at, uint32_t address) {
    static bxw_decoder d;
    copy_plan(c);
    forge(at, address);
    expect("load a forged plan", load_copy(&d, word(c, C_PLAN_BYTES)), BXW_OK);
    expect("fill", fill_first(&d, c), BXW_OK);
    trapped = 0;
    is_expected = 1;
    if (__builtin_setjmp(back) == 0) bxw_decode(&d);
    is_expected = 0;
    const uint32_t reason = (uint32_t)trapped;
    report_check("a forged plan", "trap of the bounds check", reason == BXW_TRAP_BOUNDS, reason, BXW_TRAP_BOUNDS);
}

static void trap_addresses(uint32_t c) {
    const uint32_t memory_end = bxw_memory_bytes(cases + word(c, C_PLAN), 64);
    copy_plan(c);
    const uint32_t plan = plan_block(), head = copy_word(plan + BXW_P_HEAD0 * 4);
    trap_address(c, head + BXW_H_OBJ * 4, 0x7fffff00u);
    trap_address(c, plan + BXW_P_SCORES * 4, 0xffffff00u);
    /* The first byte behind memory, and a float across the end of memory. */
    trap_address(c, plan + BXW_P_BOXES * 4, memory_end);
    trap_address(c, plan + BXW_P_DET_BOXES * 4, memory_end - 2);
}
#else
static void trap_addresses(uint32_t c) { (void)c; }
#endif

/* Checks that settings change the detections of the case named "planes". */
static void check_settings(uint32_t c) {
    const char *name = text(word(c, C_NAME));
    bxw_decoder d;
    bxw_slot slot;
    expect("load", load(&d, c), BXW_OK);
    fill(&d, c, name);
    const int32_t before = bxw_decode(&d);
    expect("IoU 0", bxw_set_iou(&d, 0.0f), BXW_OK);
    const int32_t strict = bxw_decode(&d);
    report_check(name, "fewer detections at IoU 0", strict > 0 && strict < before, (uint32_t)strict, (uint32_t)before);
    expect("IoU 1", bxw_set_iou(&d, 1.0f), BXW_OK);
    const uint32_t loose = (uint32_t)bxw_decode(&d);
    const uint32_t candidates = bxw_stats_of(&d, 0).candidates;
    report_check(name, "all candidates at IoU 1", loose == candidates, loose, candidates);
    expect("at most 2 detections", bxw_set_max_detections(&d, 2), BXW_OK);
    const int32_t capped = bxw_decode(&d);
    report_check(name, "at most 2 detections", capped == 2, (uint32_t)capped, 2);
    /* A logit where the plan expects probabilities. */
    expect("slot", bxw_slot_at(&d, 0, &slot), BXW_OK);
    const float seven = 7;
    memcpy((uint8_t *)slot.data + slot.bytes - 4, &seven, 4);
    expect("a score of 7", (bxw_status)bxw_decode(&d), BXW_OUT_OF_RANGE);
    /* Any bytes in a slot are safe: bxw_trap would end the program. */
    for (uint32_t k = 0; k < slot.bytes; k++) ((uint8_t *)slot.data)[k] = (uint8_t)(k * 31 + (k >> 8) * 17);
    bxw_decode(&d);
    memset(slot.data, 0xff, slot.bytes);
    report_check(name, "no detections in a slot of NaN", bxw_decode(&d) == 0, bxw_read(&d, 0).count, 0);
}

int main(void) {
    const uint32_t first = case_at(0);
    uint32_t with_settings = 0, with_task = 0;
    for (uint32_t i = 0; i < case_count(); i++) {
        const uint32_t c = case_at(i);
        run_case(c);
        if (strcmp(text(word(c, C_NAME)), "pose, planes") == 0) {
            refuse_task(c);
            with_task++;
        }
        if (strcmp(text(word(c, C_NAME)), "oriented, planes") == 0) {
            refuse_oriented(c);
            with_task++;
        }
        if (strcmp(text(word(c, C_NAME)), "planes") == 0) {
            check_settings(c);
            with_settings++;
        }
    }
    report_check("cases", "count", case_count() >= 20, case_count(), 20);
    report_check("cases", "named pose, planes and oriented, planes", with_task == 2, with_task, 2);
    report_check("cases", "named planes", with_settings == 1, with_settings, 1);
    refuse_files(first);
    refuse_memory(first);
    refuse_tables(first);
    check_calls(first);
    trap_addresses(first);
    return report_end();
}
