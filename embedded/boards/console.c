#include "console.h"

#include <stdint.h>

/* Calls Arm semihosting: operation in r0, parameter in r1, then breakpoint 0xAB, as on all M-profile cores. */
static int32_t host(int32_t operation, const void *parameter) {
    register int32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = parameter;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void console_write(const char *text) { host(0x04, text); }

__attribute__((noreturn)) void console_exit(int code) {
    /* Use SYS_EXIT_EXTENDED, which takes reason and exit code. On 32 bits, SYS_EXIT has no exit code. */
    const uint32_t block[2] = {0x20026u, (uint32_t)code};
    host(0x20, block);
    for (;;) continue;
}
