/*
 * A complete program that decodes the map of a FOMO network, 12 x 12 cells in i8. Runs on a computer, and on a board
 * with 64 KiB of flash and 64 KiB of RAM. This command writes `fomo_plan.h`:
 *
 *     boxwright compile embedded/examples/fomo.json --outputs map:1x12x12x2:i8:0.00390625,-128 --c fomo --out fomo_plan.h
 *
 * `tensor` replaces the network's output: two faces of several cells. report.h prints without a C library.
 */
#include "../test/report.h"
#include "boxwright.h"
#include "fomo_plan.h"

extern const uint8_t tensor[];

static _Alignas(16) uint8_t memory[fomo_memory_bytes];
/* Rows for all cells of the map. If objects are small, fewer suffice. */
static bxw_cell work[144];

/* Prints the centre of a box in pixels of the input. FOMO's boxes are meaningful only by their centres. */
static void print_centre(float low, float high) {
    report_text(" ");
    report_number((uint32_t)((low + high) * 48.0f + 0.5f));
}

int main(void) {
    bxw_decoder d;
    bxw_slot slot;
    bxw_status status = bxw_load(&d, fomo, fomo_bytes, memory, sizeof memory);
    if (status == BXW_OK) status = bxw_slot_named(&d, "map", &slot);
    if (status == BXW_OK) status = bxw_fill(&d, 0, tensor, slot.bytes);
    if (status != BXW_OK) {
        report_check("fomo", bxw_explain(status), 0, d.got, d.expected);
        return report_end();
    }
    const int32_t count = bxw_decode_cells(&d, 0, work, sizeof work / sizeof *work);
    const bxw_detections found = bxw_read(&d, 0);
    for (uint32_t i = 0; i < found.count; i++) {
        const bxw_detection one = bxw_at(&found, i);
        report_text(bxw_label(&d, one.class_id));
        report_text(" at");
        print_centre(one.x_min, one.x_max);
        print_centre(one.y_min, one.y_max);
        report_text("\n");
    }
    report_check("fomo", "detections", count == 2, (uint32_t)count, 2);
    return report_end();
}
