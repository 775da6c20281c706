#include "measure.h"

extern uint32_t ram_bss_end[], stack_top[];

#define PATTERN 0xC0FFEE11u

void stack_paint(void) {
    uint32_t *here = (uint32_t *)__builtin_frame_address(0) - 16;
    for (uint32_t *at = ram_bss_end; at < here; at++) *at = PATTERN;
}

uint32_t stack_used(void) {
    const uint32_t *at = ram_bss_end;
    while (at < stack_top && *at == PATTERN) at++;
    return (uint32_t)((uintptr_t)stack_top - (uintptr_t)at);
}

/* SysTick: control, reload value, current value; it counts down and has 24 bits. */
#define SYST_CSR (*(volatile uint32_t *)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018u)

void ticks_start(void) {
    SYST_RVR = 0xFFFFFFu;
    SYST_CVR = 0;
    SYST_CSR = 5; /* on, from the processor's clock, without interrupts */
}

uint32_t ticks(void) { return 0xFFFFFFu - SYST_CVR; }
