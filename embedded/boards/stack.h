/*
 * The stack of a board. start.c fills the unused part with a pattern, and measure.c finds how much of it was
 * overwritten.
 */
#ifndef BOXWRIGHT_STACK_H
#define BOXWRIGHT_STACK_H

#include <stdint.h>

#define STACK_PATTERN 0xC0FFEE11u

/* Symbols of flash.ld. The stack grows down from stack_top to ram_bss_end. */
extern uint32_t ram_bss_end[], stack_top[];

#endif
