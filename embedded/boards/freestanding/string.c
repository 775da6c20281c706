/*
 * memcpy and similar functions for targets without a C library. Compile with -fno-tree-loop-distribute-patterns.
 * Otherwise, the compiler replaces the loop in a function by a call of the same function.
 */
#include <stdint.h>
#include <string.h>

typedef uint32_t __attribute__((may_alias)) any_word;

/* Copy words if both addresses are aligned. Tensors are large, and copying bytes takes four times as long. */
void *memcpy(void *restrict to, const void *restrict from, size_t count) {
    unsigned char *t = to;
    const unsigned char *f = from;
    if (((uintptr_t)t | (uintptr_t)f) % 4 == 0) {
        for (; count >= 4; count -= 4, t += 4, f += 4) *(any_word *)(void *)t = *(const any_word *)(const void *)f;
    }
    while (count-- > 0) *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t count) {
    unsigned char *t = to;
    const unsigned char *f = from;
    /* Copy forward unless `to` lies inside the source. The subtraction wraps if `to` lies below. */
    if ((uintptr_t)t - (uintptr_t)f >= count) return memcpy(to, from, count);
    while (count-- > 0) t[count] = f[count];
    return to;
}

void *memset(void *to, int value, size_t count) {
    unsigned char *t = to;
    while (count-- > 0) *t++ = (unsigned char)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t count) {
    const unsigned char *x = a;
    const unsigned char *y = b;
    for (; count > 0; count--, x++, y++)
        if (*x != *y) return *x < *y ? -1 : 1;
    return 0;
}

int strcmp(const char *a, const char *b) {
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n] != 0) n++;
    return n;
}
