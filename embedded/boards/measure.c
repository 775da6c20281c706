/*
 * Measures a decode on the board: instructions and depth of the stack. The linker option --wrap=bxw_decode puts
 * __wrap_bxw_decode in place of bxw_decode; bxw_decode_cells is wrapped too.
 */
#include "../test/report.h"
#include "boxwright.h"
#include "stack.h"

/* SysTick counts down from 24 bits at 25 MHz. Under `qemu -icount shift=0` a tick is 40 instructions. */
#define SYST_CSR (*(volatile uint32_t *)0xE000E010u) /* control */
#define SYST_RVR (*(volatile uint32_t *)0xE000E014u) /* reload value */
#define SYST_CVR (*(volatile uint32_t *)0xE000E018u) /* current value */
#define TICKS 0xFFFFFFu
#define INSTRUCTIONS_PER_TICK 40

int32_t __real_bxw_decode(bxw_decoder *d);
int32_t __wrap_bxw_decode(bxw_decoder *d);
int32_t __real_bxw_decode_cells(bxw_decoder *d, uint32_t image, bxw_cell *work, uint32_t rows);
int32_t __wrap_bxw_decode_cells(bxw_decoder *d, uint32_t image, bxw_cell *work, uint32_t rows);

/* Returns the bytes of stack that were overwritten since the program started. */
static uint32_t stack_used(void) {
    const uint32_t *at = ram_bss_end;
    while (at < stack_top && *at == STACK_PATTERN) at++;
    return (uint32_t)((uintptr_t)stack_top - (uintptr_t)at);
}

/* Starts the counter. */
static void start(void) {
    SYST_RVR = TICKS;
    SYST_CVR = 0;
    SYST_CSR = 5; /* on, clock of the processor, no interrupt */
}

/* Reports the instructions since `start`. */
static void report(void) {
    const uint32_t ticks = TICKS - SYST_CVR;
    report_text("measured: ");
    report_number(ticks * INSTRUCTIONS_PER_TICK);
    report_text(" instructions, stack ");
    report_number(stack_used());
    report_text(" bytes\n");
}

int32_t __wrap_bxw_decode(bxw_decoder *d) {
    start();
    const int32_t count = __real_bxw_decode(d);
    report();
    return count;
}

int32_t __wrap_bxw_decode_cells(bxw_decoder *d, uint32_t image, bxw_cell *work, uint32_t rows) {
    start();
    const int32_t count = __real_bxw_decode_cells(d, image, work, rows);
    report();
    return count;
}
