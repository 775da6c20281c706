/*
 * The smallest whole program: a face detector's output, its plan as a C array, memory reserved by the linker. Built for
 * a system and for a board with 64 KiB of flash and 64 KiB of RAM. `face_plan.h` is what
 *
 *     boxwright compile config.json --outputs out0:1x13x13x25:f32 --c face > face_plan.h
 *
 * prints; `tensor` stands for what the network would have written.
 */
#include "boxwright.h"
#include "face_plan.h"
#include "../test/report.h"

#if !__STDC_HOSTED__
#include "../boards/measure.h"
#endif

extern const uint8_t tensor[];

static _Alignas(16) uint8_t memory[face_memory_bytes];

static void part(float x) {
    report_text(" ");
    report_number((uint32_t)(x * 10000.0f + 0.5f));
}

int main(void) {
#if !__STDC_HOSTED__
    stack_paint();
#endif
    bxw_decoder d;
    bxw_slot out;
    bxw_status status = bxw_load(&d, face, face_bytes, memory, sizeof memory);
    if (status == BXW_OK) status = bxw_slot_named(&d, "out0", &out);
    if (status == BXW_OK) status = bxw_fill(&d, 0, tensor, out.bytes);
    if (status != BXW_OK) {
        report_check("face", bxw_explain(status), 0, d.got, d.expected);
        return report_end();
    }
#if !__STDC_HOSTED__
    ticks_start();
#endif
    const int32_t n = bxw_decode(&d);
#if !__STDC_HOSTED__
    report_text("measured: ");
    report_number(ticks() * 40);
    report_text(" instructions, stack ");
    report_number(stack_used());
    report_text(" bytes\n");
#endif
    const bxw_detections found = bxw_read(&d, 0);
    for (uint32_t i = 0; i < found.count; i++) {
        const bxw_detection one = bxw_at(&found, i);
        report_text(bxw_label(&d, one.class_id));
        part(one.score);
        part(one.x_min);
        part(one.y_min);
        part(one.x_max);
        part(one.y_max);
        report_text(" (of 10000)\n");
    }
    report_check("face", "detections", n == 1, (uint32_t)n, 1);
    return report_end();
}
