/*
 * Brings a Cortex-M from reset to main: vector table, floating-point unit, initialised memory. Works for any chip;
 * flash.ld states where flash and RAM are.
 */
#include <stdint.h>

#include "console.h"
#include "stack.h"

extern uint32_t flash_data[], ram_data[], ram_data_end[], ram_bss[];

int main(void);

/* Coprocessor access control. The floating-point unit is off after reset, and its first instruction would fault. */
#define CPACR (*(volatile uint32_t *)0xE000ED88u)

__attribute__((noreturn)) void start(void) {
#ifdef __ARM_FP
    CPACR |= 0xFu << 20;
    __asm__ volatile("dsb\n isb" ::: "memory");
#endif
    const uint32_t *from = flash_data;
    for (uint32_t *to = ram_data; to < ram_data_end;) *to++ = *from++;
    for (uint32_t *to = ram_bss; to < ram_bss_end;) *to++ = 0;
    /* Leave 16 words of stack below this frame unchanged, since the loop itself may use them. */
    uint32_t *const frame = (uint32_t *)__builtin_frame_address(0) - 16;
    for (uint32_t *to = ram_bss_end; to < frame;) *to++ = STACK_PATTERN;
    console_exit(main());
}

__attribute__((noreturn)) static void fault(void) {
    console_write("FAILED: the processor raised a fault\n");
    console_exit(1);
}

typedef void (*handler)(void);

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    handler handlers[15];
} vectors = {stack_top,
             {start, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault}};
