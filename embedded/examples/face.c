/*
 * A complete program that decodes the output of a face detector. Runs on a computer, and on a board with 64 KiB of
 * flash and 64 KiB of RAM. This command writes `face_plan.h`:
 *
 *     boxwright compile embedded/examples/face.json --outputs out0:1x13x13x25:f32 --c face --out face_plan.h
 *
 * `tensor` is the recorded output of the network for a portrait. report.h prints without a C library.
 */
#include "../test/report.h"
#include "boxwright.h"
#include "face_plan.h"

extern const uint8_t tensor[];

static _Alignas(16) uint8_t memory[face_memory_bytes];

/* Prints a value between 0 and 1 in units of 1/10000. */
static void print_fraction(float value) {
    report_text(" ");
    report_number((uint32_t)(value * 10000.0f + 0.5f));
}

static void print_detection(const bxw_decoder *d, const bxw_detection *one) {
    report_text(bxw_label(d, one->class_id));
    print_fraction(one->score);
    print_fraction(one->x_min);
    print_fraction(one->y_min);
    print_fraction(one->x_max);
    print_fraction(one->y_max);
    report_text(" (of 10000)\n");
}

int main(void) {
    bxw_decoder d;
    bxw_slot slot;
    bxw_status status = bxw_load(&d, face, face_bytes, memory, sizeof memory);
    if (status == BXW_OK) status = bxw_slot_named(&d, "out0", &slot);
    if (status == BXW_OK) status = bxw_fill(&d, 0, tensor, slot.bytes);
    if (status != BXW_OK) {
        report_check("face", bxw_explain(status), 0, d.got, d.expected);
        return report_end();
    }
    const int32_t count = bxw_decode(&d);
    const bxw_detections found = bxw_read(&d, 0);
    for (uint32_t i = 0; i < found.count; i++) {
        const bxw_detection one = bxw_at(&found, i);
        print_detection(&d, &one);
    }
    report_check("face", "detections", count == 1, (uint32_t)count, 1);
    return report_end();
}
