/* What a program needs at run time, measured on the board itself: depth of the stack, and instructions. */
#ifndef BOXWRIGHT_MEASURE_H
#define BOXWRIGHT_MEASURE_H

#include <stdint.h>

/* Fills the unused stack with a pattern. Call it first. */
void stack_paint(void);
/* Bytes of the stack that have been overwritten since. */
uint32_t stack_used(void);

/* Counts the system timer of the core. At 25 MHz under `qemu -icount shift=0`, a tick is 40 instructions. */
void ticks_start(void);
uint32_t ticks(void);

#endif
