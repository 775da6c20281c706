/* Text out and a count of what held, the same on a system and on a bare board. */
#ifndef BOXWRIGHT_REPORT_H
#define BOXWRIGHT_REPORT_H

#include <stdint.h>

void report_text(const char *text);
void report_number(uint32_t value);
/* One check; `name` is said where it fails, with both numbers. */
void report_check(const char *subject, const char *name, int held, uint32_t got, uint32_t expected);
/* Prints "N passed, N failed"; the program's exit code. */
int report_end(void);

#endif
