/*
 * Plans forged after they were loaded: one word of the image at a time is set to an address at the end of memory, a little
 * before or behind it, or far from it, and the case decoded. Whatever the kernel does then, a bounds check has to stop it
 * before it leaves its memory: translate.mjs leaves out the checks that earlier ones prove. Built with -DBXW_PROVE, by which
 * every access checks itself once more and says so; prove.mjs looks at those that no forgery reaches. On a system only: a decode
 * that a forged count keeps busy is cut off by a timer.
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "../boxwright.h"
#include "../kernel_prelude.h"
#include "cases.h"
#include "report.h"

static sigjmp_buf back;
static volatile uint32_t trapped, unproven, busy;

BXW_NORETURN void bxw_trap(int reason) {
    if (reason == BXW_TRAP_UNPROVEN) unproven++;
    else trapped++;
    siglongjmp(back, 1);
}

static void cut_off(int signal) {
    (void)signal;
    busy++;
    siglongjmp(back, 2);
}

static const struct itimerval soon = {.it_value = {.tv_usec = 20000}}, never;

static uint32_t forge(uint32_t c) {
    const uint8_t *plan = cases + word(c, C_PLAN);
    const uint32_t bytes = word(c, C_PLAN_BYTES), needed = bxw_memory_bytes(plan, bytes);
    uint32_t runs = 0, image;
    memcpy(&image, plan + BXW_F_IMAGE_BYTES * 4, sizeof image);
    const uint32_t values[] = {0, needed + 4, needed, needed - 1, needed - 3, needed - 16, needed - 100, 0x7fffff00u, 0xffffff00u, 0xfffffffcu};
    uint8_t *memory = malloc(needed);
    static bxw_decoder d;
    for (uint32_t at = 64; at + 4 <= image; at += 4) {
        for (uint32_t v = 0; v < sizeof values / sizeof *values; v++) {
            if (bxw_load(&d, plan, bytes, memory, needed) != BXW_OK || !fill_slots(&d, c)) return 0;
            memcpy(memory + at, &values[v], sizeof values[v]);
            runs++;
            if (sigsetjmp(back, 1) == 0) {
                setitimer(ITIMER_VIRTUAL, &soon, NULL);
                bxw_decode(&d);
            }
            setitimer(ITIMER_VIRTUAL, &never, NULL);
        }
    }
    free(memory);
    return runs;
}

int main(void) {
    const struct sigaction action = {.sa_handler = cut_off};
    sigaction(SIGVTALRM, &action, NULL);
    uint32_t runs = 0;
    for (uint32_t i = 0; i < case_count(); i++) {
        const uint32_t c = case_at(i), before = runs;
        runs += forge(c);
        report_check(text(word(c, C_NAME)), "words were forged", runs > before, runs - before, 1);
    }
    report_check("forgeries", "no access without a check", unproven == 0, unproven, 0);
    /* forgeries that no check met would mean that none was needed, or none there */
    report_check("forgeries", "trapped", trapped > runs / 20, trapped, runs / 20);
    report_check("forgeries", "not cut off before their end", busy < runs / 10, busy, runs / 10);
    report_text("forged: ");
    report_number(runs);
    report_text(", trapped ");
    report_number(trapped);
    report_text(", cut off ");
    report_number(busy);
    report_text("\n");
    return report_end();
}
