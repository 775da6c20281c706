/*
 * boxwright for C: detections from the raw outputs of YOLO and SSD networks.
 *
 * A plan, made beforehand by `boxwright compile`, says what each output tensor is taken for. At run time there are
 * four steps: load the plan into memory of the caller's, fill the slots, decode, read.
 *
 *     static _Alignas(16) uint8_t memory[face_memory_bytes];
 *     bxw_decoder d;
 *     bxw_load(&d, face, face_bytes, memory, sizeof memory);
 *     bxw_fill(&d, 0, output, sizeof output);
 *     int32_t n = bxw_decode(&d);
 *     bxw_detections found = bxw_read(&d, 0);
 *
 * Nothing is allocated and nothing is kept outside of the decoder and its memory, so decoders may run beside each
 * other. Needs memcpy, memcmp and strcmp of a C library, or those in freestanding/. C11, little-endian.
 */
#ifndef BOXWRIGHT_H
#define BOXWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "boxwright_abi.h"

#ifdef __cplusplus
#define BXW_NORETURN [[noreturn]]
extern "C" {
#else
#define BXW_NORETURN _Noreturn
#endif

/* Results. Functions that return a count return these as negative numbers. */
typedef enum bxw_status {
    BXW_OK = 0,
    BXW_NO_PLAN = -1,       /* the bytes do not begin as a plan does */
    BXW_PLAN_NEWER = -2,    /* the plan file's layout is of another version */
    BXW_OTHER_ABI = -3,     /* the plan is for another version of the kernel */
    BXW_CUT_SHORT = -4,     /* fewer bytes than the plan says it has */
    BXW_DAMAGED = -5,       /* the checksum, or an address in the tables, is wrong */
    BXW_MEMORY_SMALL = -6,  /* fewer bytes of memory than the plan needs */
    BXW_MEMORY_ALIGN = -7,  /* the memory does not begin at a multiple of 4 */
    BXW_NO_SUCH_SLOT = -8,  /* slot number or name */
    BXW_SLOT_SIZE = -9,     /* a tensor of another length than the slot's */
    BXW_OUT_OF_RANGE = -10, /* a score that should be a probability is outside 0..1: the activation is another one */
    BXW_BAD_VALUE = -11     /* a setting outside its range */
} bxw_status;

typedef struct bxw_decoder {
    const uint8_t *plan; /* the plan file; it has to stay where it is */
    uint8_t *memory;     /* what addresses count from */
    uint32_t memory_bytes;
    uint32_t got; /* of the last refusal: what was found, and what would have been right */
    uint32_t expected;
    void *kernel; /* free for a host that brings its own kernel (see README, other engines) */
} bxw_decoder;

/* One tensor's place. `data` is where the tensor goes: let the network write there and nothing is copied. */
typedef struct bxw_slot {
    void *data;
    uint32_t bytes;
    uint32_t type; /* BXW_TYPE_* */
    const char *name;
    uint32_t rank;
    uint32_t dims[BXW_MAX_RANK];
    float scale; /* real = (raw - zero) * scale; 1 and 0 for floats */
    float zero;
} bxw_slot;

/* Columns in memory, best detection first; the next bxw_decode overwrites them. */
typedef struct bxw_detections {
    uint32_t count;
    const float *boxes; /* x_min y_min x_max y_max of each, 0..1 */
    const float *scores;
    const int32_t *class_ids;
    const uint32_t *sources; /* number of the (head, anchor, cell) it came from */
} bxw_detections;

typedef struct bxw_detection {
    float x_min, y_min, x_max, y_max; /* 0..1 */
    float score;
    int32_t class_id;
    uint32_t source;
} bxw_detection;

typedef struct bxw_stats {
    uint32_t candidates; /* what passed the threshold */
    uint32_t capped;     /* of these, left out by a cap */
    uint32_t not_finite; /* dropped: box or score was not a finite number */
} bxw_stats;

typedef enum bxw_resize {
    BXW_STRETCH = 0,          /* both sides scaled on their own */
    BXW_LETTERBOX = 1,        /* scaled alike, centred */
    BXW_LETTERBOX_TOPLEFT = 2 /* scaled alike, in the top left corner */
} bxw_resize;

/*
 * Checks the plan and brings its image into `memory`: as many bytes as bxw_memory_bytes says, 4-aligned; where it is
 * 16-aligned the slots are, too. The plan itself stays where it is and is read from there, so it may lie in flash, at
 * any address.
 */
bxw_status bxw_load(bxw_decoder *d, const void *plan, size_t plan_bytes, void *memory, size_t memory_bytes);

/* Bytes of memory that a plan needs; 0: no plan. For hosts that allocate. */
uint32_t bxw_memory_bytes(const void *plan, size_t plan_bytes);

uint32_t bxw_slots(const bxw_decoder *d);
bxw_status bxw_slot_at(bxw_decoder *d, uint32_t index, bxw_slot *slot);
bxw_status bxw_slot_named(bxw_decoder *d, const char *name, bxw_slot *slot);
/* Copies a tensor into its slot; `bytes` must be the slot's. */
bxw_status bxw_fill(bxw_decoder *d, uint32_t index, const void *data, size_t bytes);

/* Images of the plan's batch. */
uint32_t bxw_images(const bxw_decoder *d);
/*
 * Decodes what stands in the slots: the number of detections over all images, or a negative bxw_status. Any bytes in a
 * slot are safe. After BXW_OUT_OF_RANGE the detections can be read, and mean nothing.
 */
int32_t bxw_decode(bxw_decoder *d);
bxw_detections bxw_read(const bxw_decoder *d, uint32_t image);
bxw_detection bxw_at(const bxw_detections *found, uint32_t index);
bxw_stats bxw_stats_of(const bxw_decoder *d, uint32_t image);
/* Name of a class, UTF-8; NULL where the plan has none. */
const char *bxw_label(const bxw_decoder *d, int32_t class_id);

/*
 * Size of the original image and how it was brought to the network's input: detections come back relative to it. Lasts
 * until the next call. Width 0 and height 0: relative to the network input again.
 */
bxw_status bxw_set_frame(bxw_decoder *d, uint32_t width, uint32_t height, bxw_resize resize);
/* 0..1 */
bxw_status bxw_set_iou(bxw_decoder *d, float threshold);
/* 1 up to the number the plan was made for. */
bxw_status bxw_set_max_detections(bxw_decoder *d, uint32_t count);

/* What a status means, in words; d->got and d->expected are the numbers to it. */
const char *bxw_explain(bxw_status status);

/*
 * The kernel, as boxwright.c calls it. kernel.c provides both over the translated kernel; a host with another engine
 * leaves that file out and writes its own.
 */
uint32_t bxw_run_abi(bxw_decoder *d);
uint32_t bxw_run_decode(bxw_decoder *d, uint32_t plan);

/*
 * Called where the translated kernel would leave its memory or divide by zero. No tensor's contents bring it there with
 * a plan that `boxwright compile` made; a forged plan does. The one in kernel.c stops the program; a program may define
 * its own, which must not return.
 */
BXW_NORETURN void bxw_trap(int reason);

#ifdef __cplusplus
}
#endif

#endif
