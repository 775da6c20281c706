/* Loads one case, fills its slots and decodes once: for counting the instructions of bxw_decode. */
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"

int main(int argc, char **argv) {
    const uint32_t index = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    if (index >= case_count()) {
        fprintf(stderr, "got case %u, expected below %u\n", (unsigned)index, (unsigned)case_count());
        return 3;
    }
    const uint32_t c = case_at(index);
    const uint8_t *plan = cases + word(c, C_PLAN);
    const uint32_t bytes = bxw_memory_bytes(plan, word(c, C_PLAN_BYTES));
    void *memory = aligned_alloc(16, (bytes + 15u) & ~15u);
    bxw_decoder d;
    if (memory == NULL || bxw_load(&d, plan, word(c, C_PLAN_BYTES), memory, bytes) != BXW_OK || !fill_slots(&d, c)) return 2;
    const int32_t n = bxw_decode(&d);
    printf("%s: %d detections\n", text(word(c, C_NAME)), (int)n);
    free(memory);
    return n < 0 ? 2 : 0;
}
