#include "report.h"

#if __STDC_HOSTED__
#include <stdio.h>
void report_text(const char *text) { fputs(text, stdout); }
#else
#include "../boards/console.h"
void report_text(const char *text) { console_write(text); }
#endif

static uint32_t passed, failed;

void report_number(uint32_t value) {
    char digits[12];
    char *at = digits + sizeof digits - 1;
    *at = 0;
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    report_text(at);
}

void report_check(const char *subject, const char *name, int held, uint32_t got, uint32_t expected) {
    if (held) {
        passed++;
        return;
    }
    failed++;
    report_text("FAILED: ");
    report_text(subject);
    report_text(": ");
    report_text(name);
    report_text(": got ");
    report_number(got);
    report_text(", expected ");
    report_number(expected);
    report_text("\n");
}

int report_end(void) {
    report_number(passed);
    report_text(" passed, ");
    report_number(failed);
    report_text(" failed\n");
    /* A run without checks has failed. */
    return failed == 0 && passed > 0 ? 0 : 1;
}
