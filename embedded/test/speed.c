/*
 * Decodes the first case DECODES times, and then computes the mask of each detection MASKS times. tools/speed.mjs counts
 * the instructions of whole runs: the difference of two runs is that of one decode, or of all masks.
 */
#include "cases.h"

#ifndef MEMORY_BYTES
#define MEMORY_BYTES (16u << 20)
#endif
static _Alignas(16) uint8_t memory[MEMORY_BYTES];
static uint8_t mask[160 * 160];

int main(void) {
    const uint32_t c = case_at(0);
    const uint32_t want = word(word(c, C_IMAGE_TABLE), D_COUNT);
    bxw_decoder d;
    bxw_window window;
    if (bxw_load(&d, cases + word(c, C_PLAN), word(c, C_PLAN_BYTES), memory, sizeof memory) != BXW_OK) return 2;
    if (!fill_slots(&d, c)) return 3;
    for (uint32_t i = 0; i < DECODES; i++)
        if (bxw_decode(&d) != (int32_t)want) return 4;
    for (uint32_t i = 0; i < MASKS; i++)
        for (uint32_t k = 0; k < want; k++)
            if (bxw_mask(&d, 0, k, mask, sizeof mask, &window) != BXW_OK) return 5;
    return 0;
}

#ifdef __riscv
/* Begins a program without a C library under qemu-riscv32: sets the pointer to globals. System call 93 ends it. */
__attribute__((naked)) void _start(void) {
    __asm__(".option push\n .option norelax\n la gp, __global_pointer$\n .option pop\n call main\n li a7, 93\n ecall");
}
#endif
