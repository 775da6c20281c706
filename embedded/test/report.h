/* Prints text and counts checks, on a system and on a bare board. */
#ifndef BOXWRIGHT_REPORT_H
#define BOXWRIGHT_REPORT_H

#include <stdint.h>

void report_text(const char *text);
void report_number(uint32_t value);
/* Counts one check. If it failed, prints subject, name and both values. */
void report_check(const char *subject, const char *name, int held, uint32_t got, uint32_t expected);
/* Prints "N passed, N failed" and returns the exit code of the program. */
int report_end(void);

#endif
