/*
 * Checks the elementary functions of oriented.c. Their bits must be those of src/core/elementary.ts: the checksum of
 * 4,000 values is that of test/core/elementary.test.ts. Roots are compared with those of the processor, if it has them.
 */
/* The library has the function of this name. */
#define bxw_decode_oriented decode_oriented_again
#include "../src/oriented.c"

#include "report.h"

/* The generator of the TypeScript tests. Returns a number in 0..1. */
static double random_of(uint32_t *state) {
    *state += 0x6d2b79f5u;
    uint32_t t = (*state ^ (*state >> 15)) * (*state | 1);
    t = (t + ((t ^ (t >> 7)) * (t | 61))) ^ t;
    return (t ^ (t >> 14)) / 4294967296.0;
}

/* Returns the CRC-32 that gzip and PNG use. */
static uint32_t crc32(const uint8_t *bytes, uint32_t count) {
    uint32_t c = 0xffffffffu;
    for (uint32_t i = 0; i < count; i++) {
        c ^= bytes[i];
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ ((c & 1u) ? 0xedb88320u : 0u);
    }
    return ~c;
}

static void check_bits(void) {
    static double values[4000];
    static const double ranges[] = {1, 7, 90, 200000};
    uint32_t state = 6;
    for (uint32_t i = 0; i < 4000; i++) {
        const double x = (random_of(&state) - 0.5) * ranges[i % 4], y = random_of(&state) - 0.5;
        double cosine, sine;
        cos_sin_of(x, &cosine, &sine);
        const double results[] = {cosine, sine, angle_of_vector(x, y), exponential(x / 1000)};
        values[i] = results[(i >> 2) % 4];
    }
    const uint32_t check = crc32((const uint8_t *)values, sizeof values);
    report_check("elementary functions", "checksum", check == 508605499u, check, 508605499u);
}

static void check_remainders(void) {
    static const double expected[][3] = {{7, 2, 1}, {-7, 2, -1}, {1.5, 2, 1.5}, {1e300, 3, 0}, {1e15, 7, 6}, {-0.25, 0.125, 0}};
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const double got = remainder_of(expected[i][0], expected[i][1]);
        report_check("remainder", "value", got == expected[i][2], (uint32_t)got, (uint32_t)expected[i][2]);
    }
    const double none = remainder_of(__builtin_inf(), 2);
    report_check("remainder", "NaN of infinity", none != none, 0, 1);
}

static void check_decimals(void) {
    static const double decimals[] = {0, 0.45, 0.7, 0.1, 0.3333333, 0.001234567, 0.05, 0.999, 1};
    for (uint32_t i = 0; i < sizeof decimals / sizeof *decimals; i++)
        report_check("decimal", "of a threshold", decimal_of((float)decimals[i]) == decimals[i], i, 0);
    const int is_safe = decimal_of(__builtin_nanf("")) == 0 && decimal_of(-3.0f) == 0 && decimal_of(1e30f) == 1;
    report_check("decimal", "of a forged threshold", is_safe, 0, 1);
}

/* Roots of squares are exact. The others are compared where the processor has correctly rounded ones. */
static void check_roots(void) {
    uint32_t wrong = 0, state = 7;
    for (uint32_t i = 0; i < 2000; i++) {
        const double x = (double)(uint32_t)(random_of(&state) * 94906265);
        wrong += root_of(x * x) != x;
    }
    report_check("roots", "of squares", wrong == 0, wrong, 0);
    report_check("roots", "of special values", root_of(0) == 0 && root_of(__builtin_inf()) == __builtin_inf(), 0, 1);
    report_check("roots", "NaN of a negative number", root_of(-1) != root_of(-1), 0, 1);
#if defined(__SSE2__) || defined(__aarch64__)
    wrong = 0;
    for (uint32_t i = 0; i < 200000; i++) {
        /* Any positive double: subnormal ones, too. */
        const uint32_t high = (uint32_t)(random_of(&state) * 2146435072.0);
        const uint64_t bits = (uint64_t)high << 32 | (uint32_t)(random_of(&state) * 4294967296.0);
        double x;
        memcpy(&x, &bits, sizeof x);
        wrong += root_of(x) != __builtin_sqrt(x);
    }
    report_check("roots", "unlike those of the processor", wrong == 0, wrong, 0);
#endif
}

int main(void) {
    check_bits();
    check_remainders();
    check_decimals();
    check_roots();
    return report_end();
}
