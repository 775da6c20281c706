/* Loads one case, fills its slots and decodes once: for counting the instructions of bxw_decode. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../boxwright.h"

extern const uint8_t cases[];

static uint32_t word(uint32_t at, uint32_t index) {
    uint32_t value;
    memcpy(&value, cases + at + (size_t)index * 4, sizeof value);
    return value;
}

int main(int argc, char **argv) {
    const uint32_t index = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    if (index >= word(0, 0)) {
        fprintf(stderr, "got case %u, expected below %u\n", (unsigned)index, (unsigned)word(0, 0));
        return 3;
    }
    const uint32_t c = word(word(0, 1), index);
    const uint8_t *plan = cases + word(c, 1);
    const uint32_t bytes = bxw_memory_bytes(plan, word(c, 2));
    void *memory = aligned_alloc(16, (bytes + 15u) & ~15u);
    bxw_decoder d;
    if (memory == NULL || bxw_load(&d, plan, word(c, 2), memory, bytes) != BXW_OK) return 2;
    for (uint32_t t = 0; t < word(c, 3); t++) {
        const uint32_t row = word(c, 4) + t * 12;
        bxw_slot slot;
        if (bxw_slot_named(&d, (const char *)cases + word(row, 0), &slot) != BXW_OK || slot.bytes != word(row, 2)) return 2;
        memcpy(slot.data, cases + word(row, 1), slot.bytes);
    }
    const int32_t n = bxw_decode(&d);
    printf("%s: %d detections\n", (const char *)cases + word(c, 0), (int)n);
    free(memory);
    return n < 0 ? 2 : 0;
}
