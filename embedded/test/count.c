/* Decodes each case once. tools/count.sh counts the instructions of bxw_decode. Prints one line per case. */
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"

int main(void) {
    for (uint32_t i = 0; i < case_count(); i++) {
        const uint32_t c = case_at(i);
        const uint8_t *plan = cases + word(c, C_PLAN);
        const uint32_t bytes = bxw_memory_bytes(plan, word(c, C_PLAN_BYTES));
        void *memory = aligned_alloc(16, (bytes + 15u) & ~15u);
        bxw_decoder d;
        if (memory == NULL || bxw_load(&d, plan, word(c, C_PLAN_BYTES), memory, bytes) != BXW_OK || !fill_slots(&d, c))
            return 2;
        const int32_t count = bxw_decode(&d);
        free(memory);
        if (count < 0) return 3;
        printf("%s: %d detections\n", text(word(c, C_NAME)), (int)count);
    }
    return 0;
}
