/*
 * Everything that the translated kernel needs: loads, stores, and operations that WebAssembly defines and C does
 * not. translate.mjs puts this header in place of the prelude and the runtime of wasm2c. No runtime is needed, since
 * the kernel has no tables, no exceptions and a memory that never grows. The memory is passed in two registers.
 */
#ifndef BOXWRIGHT_KERNEL_PRELUDE_H
#define BOXWRIGHT_KERNEL_PRELUDE_H

#include <float.h>
#include <stdint.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "boxwright needs a little-endian processor: the words of a plan are little-endian"
#endif
#if FLT_EVAL_METHOD != 0
#error "FLT_EVAL_METHOD must be 0: wider registers round to other detections. On x86 compile with -msse2 -mfpmath=sse"
#endif
#ifdef __FAST_MATH__
#error "compile without -ffast-math: the kernel compares NaN and its sums have a fixed order"
#endif

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

/* The linear memory. Address and size never change. They are passed by value, so that they stay in registers. */
typedef struct bxw_linear {
    u8 *data;
    u32 size;
} bxw_linear;

#define BXW_TRAP_BOUNDS 1
#define BXW_TRAP_DIVISION 2
#define BXW_TRAP_CONVERSION 3
#define BXW_TRAP_UNREACHABLE 4

_Noreturn void bxw_trap(int reason);

#define BXW_UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * Each access checks that it ends inside memory. WebAssembly accesses base + offset, a sum that does not wrap.
 * `offset` is a constant, which translate.mjs refuses if it exceeds the smallest memory. So `size - (offset +
 * bytes)` cannot wrap, and one 32-bit comparison suffices. A 64-bit sum would take three instructions on 32-bit ARM.
 *
 *     0             base        base + offset                           size
 *     |--------------|----------------|--value--|-----------------------|
 *                    base <= size - (offset + bytes)
 */
#define BXW_LEAST_MEMORY 8192
#ifdef BXW_UNCHECKED
#define BXW_CHECK_BOUNDS(memory, base, offset, bytes) ((void)0)
#else
#define BXW_CHECK_BOUNDS(memory, base, offset, bytes)                          \
    do {                                                                       \
        if (BXW_UNLIKELY((base) > (memory).size - ((offset) + (u32)(bytes)))) \
            bxw_trap(BXW_TRAP_BOUNDS);                                         \
    } while (0)
#endif

#define BXW_LOAD(name, stored, result)                                         \
    static inline __attribute__((unused, always_inline)) result name(          \
        bxw_linear memory, u32 base, u32 offset) {                             \
        stored value;                                                          \
        BXW_CHECK_BOUNDS(memory, base, offset, sizeof value);                        \
        __builtin_memcpy(&value, memory.data + base + offset, sizeof value);   \
        return (result)value;                                                  \
    }

#define BXW_STORE(name, stored, given)                                         \
    static inline __attribute__((unused, always_inline)) void name(            \
        bxw_linear memory, u32 base, u32 offset, given from) {                 \
        stored value = (stored)from;                                           \
        BXW_CHECK_BOUNDS(memory, base, offset, sizeof value);                        \
        __builtin_memcpy(memory.data + base + offset, &value, sizeof value);   \
    }

/* Signed loads extend the sign through s32, then convert to the unsigned type of the kernel's arithmetic. */
#define BXW_LOAD_SIGNED(name, stored)                                          \
    static inline __attribute__((unused, always_inline)) u32 name(             \
        bxw_linear memory, u32 base, u32 offset) {                             \
        stored value;                                                          \
        BXW_CHECK_BOUNDS(memory, base, offset, sizeof value);                        \
        __builtin_memcpy(&value, memory.data + base + offset, sizeof value);   \
        return (u32)(s32)value;                                                \
    }

BXW_LOAD(i32_load, u32, u32)
BXW_LOAD(i64_load, u64, u64)
BXW_LOAD(f32_load, f32, f32)
BXW_LOAD(f64_load, f64, f64)
BXW_LOAD(i32_load8_u, u8, u32)
BXW_LOAD(i32_load16_u, u16, u32)
BXW_LOAD_SIGNED(i32_load8_s, s8)
BXW_LOAD_SIGNED(i32_load16_s, s16)
BXW_STORE(i32_store, u32, u32)
BXW_STORE(i64_store, u64, u64)
BXW_STORE(f32_store, f32, f32)
BXW_STORE(f64_store, f64, f64)
BXW_STORE(i32_store8, u8, u32)
BXW_STORE(i32_store16, u16, u32)

static inline __attribute__((unused)) f32 f32_reinterpret_i32(u32 x) {
    f32 y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}

static inline __attribute__((unused)) u32 i32_reinterpret_f32(f32 x) {
    u32 y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}

static inline __attribute__((unused)) f64 f64_reinterpret_i64(u64 x) {
    f64 y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}

static inline __attribute__((unused)) u64 i64_reinterpret_f64(f64 x) {
    u64 y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}

/* In WebAssembly, a conversion makes a NaN quiet. Leave this out, since no NaN leaves the kernel. */
#define wasm_quiet(x) (x)
#define wasm_quietf(x) (x)

/*
 * Rounds down without the C library. The kernel rounds only exponents, far inside the range of an int. Returns NaN and
 * values outside that range unchanged.
 */
static inline __attribute__((unused)) f64 wasm_floor(f64 x) {
    if (!(x > -2147483648.0 && x < 2147483647.0)) return x;
    f64 whole = (f64)(s32)x;
    return whole > x ? whole - 1.0 : whole;
}

static inline __attribute__((unused)) u32 I32_TRUNC_S_F32(f32 x) {
    if (BXW_UNLIKELY(!(x >= -2147483648.f && x < 2147483648.f))) bxw_trap(BXW_TRAP_CONVERSION);
    return (u32)(s32)x;
}

/* Converts class ids, which are doubles with whole values. */
static inline __attribute__((unused)) u32 I32_TRUNC_S_F64(f64 x) {
    if (BXW_UNLIKELY(!(x > -2147483649.0 && x < 2147483648.0))) bxw_trap(BXW_TRAP_CONVERSION);
    return (u32)(s32)x;
}

/* Counts leading zeros. The built-in function is undefined for 0. */
static inline __attribute__((unused)) u32 I32_CLZ(u32 x) {
    return x ? (u32)__builtin_clz(x) : 32;
}

/* Counts trailing zeros. */
static inline __attribute__((unused)) u64 I64_CTZ(u64 x) {
    u32 low = (u32)x, high = (u32)(x >> 32);
    if (low) return 31 - I32_CLZ(low & -low);
    return high ? 63 - I32_CLZ(high & -high) : 64;
}

static inline __attribute__((unused)) u32 I32_DIV_S(u32 a, u32 b) {
    if (BXW_UNLIKELY(b == 0 || (a == 0x80000000u && b == 0xffffffffu))) bxw_trap(BXW_TRAP_DIVISION);
    return (u32)((s32)a / (s32)b);
}

#define UNREACHABLE bxw_trap(BXW_TRAP_UNREACHABLE)
#define UNLIKELY(x) BXW_UNLIKELY(x)
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define FUNC_PROLOGUE ((void)0)
#define FUNC_EPILOGUE ((void)0)
#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
#ifndef NAN
#define NAN __builtin_nanf("")
#endif

/* Exports of the kernel, defined in boxwright_kernel.c. */
u32 bxw_kernel_abiVersion(bxw_linear instance);
u32 bxw_kernel_scan(bxw_linear instance, u32 plan);
u32 bxw_kernel_sort(bxw_linear instance, u32 plan);
u32 bxw_kernel_nms(bxw_linear instance, u32 plan);
u32 bxw_kernel_decode(bxw_linear instance, u32 plan);
u32 bxw_kernel_within(bxw_linear instance, u32 column, u32 from);
u32 bxw_kernel_compare(bxw_linear instance, u32 column);

#endif
