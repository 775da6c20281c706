/*
 * Forges one word of a plan at a time, restores the checksum and runs the whole library over the result. Every forged
 * plan must be refused, trapped or decoded. Built with the address and undefined-behaviour sanitizers, which report an
 * access outside of the plan or the memory: both are heap blocks of exact size. Runs on a system only.
 */
#include <setjmp.h>
#include <stdlib.h>

#include "boxwright.h"
#include "cases.h"
#include "report.h"

static jmp_buf back;
static uint32_t runs, refused, trapped, decoded;
static volatile uint32_t sink;

BXW_NORETURN void bxw_trap(int reason) {
    (void)reason;
    longjmp(back, 1);
}

/* Makes oriented boxes, into heap blocks of exact size. Few boxes, since more of them meet no other code. */
static void use_oriented(bxw_decoder *d, uint32_t image) {
    bxw_oriented_box *boxes = malloc(3 * sizeof *boxes);
    int32_t n = bxw_decode_oriented(d, image, boxes, 3, NULL, 0);
    if (n == BXW_MEMORY_SMALL && d->expected <= 4096) {
        const uint32_t rows = d->expected;
        bxw_candidate *work = malloc(rows * sizeof *work);
        n = bxw_decode_oriented(d, image, boxes, 3, work, rows);
        free(work);
    }
    for (int32_t i = 0; i < n; i++) sink += boxes[i].cx > 0.5f;
    free(boxes);
}

/* Groups cells, in heap blocks of exact size. */
static void use_cells(bxw_decoder *d, uint32_t image) {
    if (bxw_decode_cells(d, image, NULL, 0) != BXW_MEMORY_SMALL || d->expected > 4096) return;
    const uint32_t rows = d->expected;
    bxw_cell *work = malloc(rows * sizeof *work);
    sink += (uint32_t)bxw_decode_cells(d, image, work, rows);
    free(work);
}

/* Asks for keypoints and mask of a detection, into heap blocks of exact size. */
static void use_extras(bxw_decoder *d, uint32_t image, uint32_t index) {
    const bxw_window whole = bxw_mask_size(d);
    const size_t count = bxw_keypoint_count(d), pixels = (size_t)whole.width * whole.height;
    float *points = malloc(count * 12 + 1);
    uint8_t *mask = malloc(pixels + 1);
    bxw_window window;
    if (bxw_keypoints(d, image, index, points) > 0) sink += points[count * 3 - 1] > 0.5f;
    if (bxw_mask(d, image, index, mask, pixels, &window) == BXW_OK) sink += window.width;
    free(points);
    free(mask);
}

/* Reads all that the library hands out for a plan it has loaded. */
static void use(bxw_decoder *d, uint32_t c) {
    bxw_slot slot;
    for (uint32_t i = 0; i < bxw_slots(d) && i < 8; i++) {
        if (bxw_slot_at(d, i, &slot) != BXW_OK) continue;
        memset(slot.data, 0x3f, slot.bytes);
        sink += (uint32_t)strlen(slot.name);
    }
    fill_slots(d, c);
    bxw_set_frame(d, 640, 480, BXW_LETTERBOX);
    bxw_set_iou(d, 0.5f);
    bxw_decode(d);
    for (uint32_t image = 0; image < bxw_images(d) && image < 8; image++) {
        use_oriented(d, image);
        use_cells(d, image);
        const bxw_detections found = bxw_read(d, image);
        sink += bxw_stats_of(d, image).candidates;
        for (uint32_t i = 0; i < found.count; i++) {
            const bxw_detection one = bxw_at(&found, i);
            if (i < 3) use_extras(d, image, i);
            const char *label = bxw_label(d, one.class_id);
            sink += one.source + (uint32_t)found.class_ids[i] + (label == NULL ? 0 : (uint32_t)strlen(label));
        }
    }
}

static void run(const uint8_t *plan, uint32_t bytes, uint8_t *memory, uint32_t memory_bytes, uint32_t c) {
    static bxw_decoder d;
    runs++;
    if (bxw_load(&d, plan, bytes, memory, memory_bytes) != BXW_OK) {
        refused++;
        return;
    }
    if (setjmp(back) != 0) {
        trapped++;
        return;
    }
    use(&d, c);
    decoded++;
}

static void forge_each_word(uint32_t c) {
    const uint32_t bytes = word(c, C_PLAN_BYTES);
    const uint32_t needed = bxw_memory_bytes(cases + word(c, C_PLAN), bytes);
    const uint32_t values[] = {0, 1, needed, needed - 1, needed - 3, needed - 100, 0x7fffff00u, 0xfffffffcu};
    uint8_t *plan = malloc(bytes);
    uint8_t *memory = malloc(needed);
    for (uint32_t at = 0; at + 4 <= bytes; at += 4) {
        for (uint32_t v = 0; v < sizeof values / sizeof *values; v++) {
            memcpy(plan, cases + word(c, C_PLAN), bytes);
            memcpy(plan + at, &values[v], sizeof values[v]);
            restore_checksum(plan, bytes);
            run(plan, bytes, memory, needed, c);
        }
    }
    free(plan);
    free(memory);
}

static void report_count(const char *name, uint32_t count) {
    report_text(name);
    report_number(count);
}

int main(void) {
    for (uint32_t i = 0; i < case_count(); i++) {
        const uint32_t before = runs;
        forge_each_word(case_at(i));
        report_check(text(word(case_at(i), C_NAME)), "plans were forged", runs > before, runs - before, 1);
    }
    /* Each outcome must occur: forgeries that never reach the kernel would prove nothing about it. */
    report_check("forged plans", "refused", refused > runs / 20, refused, runs / 20);
    report_check("forged plans", "trapped", trapped > runs / 40, trapped, runs / 40);
    report_check("forged plans", "decoded", decoded > runs / 20, decoded, runs / 20);
    report_count("forged ", runs);
    report_count(", refused ", refused);
    report_count(", trapped ", trapped);
    report_count(", decoded ", decoded);
    report_text("\n");
    return report_end();
}
