/*
 * What has to happen on a Cortex-M between reset and main: vector table, floating point on, memory as C expects it.
 * Nothing here is of a certain chip; flash.ld says where flash and RAM are.
 */
#include <stdint.h>

#include "console.h"

extern uint32_t flash_data[], ram_data[], ram_data_end[], ram_bss[], ram_bss_end[], stack_top[];

int main(void);

/* Coprocessor access: the floating-point unit is off after reset, and the first instruction of it would fault. */
#define CPACR (*(volatile uint32_t *)0xE000ED88u)

__attribute__((noreturn)) void start(void) {
#ifdef __ARM_FP
    CPACR |= 0xFu << 20;
    __asm__ volatile("dsb\n isb" ::: "memory");
#endif
    const uint32_t *from = flash_data;
    for (uint32_t *to = ram_data; to < ram_data_end;) *to++ = *from++;
    for (uint32_t *to = ram_bss; to < ram_bss_end;) *to++ = 0;
    console_exit(main());
}

__attribute__((noreturn)) static void fault(void) {
    console_write("fault: the processor stopped the program\n");
    console_exit(1);
}

typedef void (*vector)(void);

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    vector handlers[15];
} vectors = {stack_top, {start, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault}};
