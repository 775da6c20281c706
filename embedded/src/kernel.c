/*
 * Connects boxwright.c with the translated kernel. A program with another engine replaces this file (see
 * engines.md).
 */
#include "boxwright.h"
#include "kernel_prelude.h"

uint32_t bxw_run_abi(bxw_decoder *d) { return bxw_kernel_abiVersion((bxw_linear){d->memory, d->memory_bytes}); }

uint32_t bxw_run_decode(bxw_decoder *d, uint32_t plan) {
    return bxw_kernel_decode((bxw_linear){d->memory, d->memory_bytes}, plan);
}

/* Weak, so that a program can define its own. */
__attribute__((weak)) BXW_NORETURN void bxw_trap(int reason) {
    (void)reason;
    __builtin_trap();
}
