/*
 * boxwright for C: decodes the output tensors of YOLO and SSD networks into detections.
 *
 * `boxwright compile` writes a plan on a computer. The plan describes each tensor. A program then takes four steps:
 * load the plan into its own memory, fill the slots, decode, read.
 *
 *     static _Alignas(16) uint8_t memory[face_memory_bytes];
 *     bxw_decoder d;
 *     bxw_load(&d, face, face_bytes, memory, sizeof memory);
 *     bxw_fill(&d, 0, output, sizeof output);
 *     int32_t count = bxw_decode(&d);
 *     bxw_detections found = bxw_read(&d, 0);
 *
 * The library allocates nothing and keeps all state in the decoder and its memory. Several decoders can run at the
 * same time. The library needs memcpy, memcmp and strcmp from a C library or from boards/freestanding/. C11,
 * little-endian.
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

/* Result of a call. Functions that return a count return a negative bxw_status when they fail. */
typedef enum bxw_status {
    BXW_OK = 0,
    BXW_NO_PLAN = -1,       /* the bytes do not begin with the magic word of a plan */
    BXW_PLAN_NEWER = -2,    /* the plan file has another layout version */
    BXW_OTHER_ABI = -3,     /* the plan is for another version of the kernel */
    BXW_CUT_SHORT = -4,     /* the plan has fewer bytes than its directory states */
    BXW_DAMAGED = -5,       /* the checksum, a size or an address of the plan is wrong */
    BXW_MEMORY_SMALL = -6,  /* the memory has fewer bytes than the plan needs */
    BXW_MEMORY_ALIGN = -7,  /* the memory does not begin at a multiple of 4 */
    BXW_NO_SUCH_SLOT = -8,  /* no slot has this index or name */
    BXW_SLOT_SIZE = -9,     /* the tensor and its slot differ in length */
    BXW_OUT_OF_RANGE = -10, /* a probability is outside 0..1: the plan was compiled with the wrong activation */
    BXW_BAD_VALUE = -11,    /* a setting is outside its range */
    BXW_NO_SUCH_ROW = -12,  /* the image has no detection of this index */
    BXW_NOT_IN_PLAN = -13   /* the plan has no keypoints, no masks, no oriented boxes, or no cells */
} bxw_status;

/* How the original image was resized to the input of the network. */
typedef enum bxw_resize {
    BXW_STRETCH = 0,           /* width and height scaled independently */
    BXW_LETTERBOX = 1,         /* aspect ratio kept, image centred */
    BXW_LETTERBOX_TOPLEFT = 2, /* aspect ratio kept, image in the top left corner */
    BXW_CROP = 3               /* aspect ratio kept, input filled, the surplus cut off on both sides */
} bxw_resize;

typedef struct bxw_decoder {
    const uint8_t *plan; /* the plan file, which must stay at this address */
    uint8_t *memory;     /* address 0 of the kernel */
    uint32_t memory_bytes;
    uint32_t got;      /* value that the last failed call found */
    uint32_t expected; /* value that the last failed call would have accepted */
    void *kernel;      /* unused; a program with its own engine may store a pointer here */
    uint32_t frame_width, frame_height; /* arguments of bxw_set_frame; 0 and 0 if there is no frame */
    bxw_resize resize;
} bxw_decoder;

/* Slot of one tensor. If the network writes to `data`, nothing is copied. */
typedef struct bxw_slot {
    void *data;
    uint32_t bytes;
    uint32_t type; /* BXW_TYPE_* */
    const char *name;
    uint32_t rank;
    uint32_t dims[BXW_MAX_RANK];
    float scale; /* real = (raw - zero) * scale; 1 for floats */
    float zero;  /* 0 for floats */
} bxw_slot;

/* Columns of the detections of one image, best first. The next bxw_decode overwrites them. */
typedef struct bxw_detections {
    uint32_t count;
    const float *boxes; /* x_min y_min x_max y_max of each detection, 0..1 */
    const float *scores;
    const int32_t *class_ids;
    const uint32_t *sources; /* index of the (head, anchor, cell) of each detection */
} bxw_detections;

typedef struct bxw_detection {
    float x_min, y_min, x_max, y_max; /* 0..1 */
    float score;
    int32_t class_id;
    uint32_t source;
} bxw_detection;

typedef struct bxw_stats {
    uint32_t candidates; /* boxes that passed the score threshold */
    uint32_t capped;     /* candidates beyond a limit of the plan */
    uint32_t not_finite; /* candidates dropped because box or score was not finite */
} bxw_stats;

/* Position of a mask in the prototypes, in pixels. The prototypes cover the whole input of the network. */
typedef struct bxw_window {
    uint32_t x, y, width, height;
} bxw_window;

/* An oriented box. y points down, and the angle turns x towards y, so positive angles are clockwise on the screen. */
typedef struct bxw_oriented_box {
    float cx, cy, width, height; /* in pixels of the frame, or of the network's input if there is no frame */
    float angle;                 /* radians, of the width's direction in those pixels */
    float corners[8];            /* x, y of four corners, in order around the box, relative to the image: 0..1 */
    float score;
    int32_t class_id;
    uint32_t source;
} bxw_oriented_box;

/* Memory for one candidate in bxw_decode_oriented. A program provides this memory and does not read it. */
typedef struct bxw_candidate {
    double numbers[7];
    uint32_t index;
    int32_t class_id;
} bxw_candidate;

/* A rectangle of cells of a map, in columns and rows. */
typedef struct bxw_area {
    uint32_t x, y, width, height;
} bxw_area;

/* Memory for one cell in bxw_decode_cells. A program provides this memory and does not read it. */
typedef struct bxw_cell {
    bxw_area area, grown;
    uint32_t source;
    int32_t class_id;
    float score;
} bxw_cell;

/*
 * Checks the plan and copies its image into `memory`. `memory` needs bxw_memory_bytes(plan) bytes and an alignment
 * of 4. With an alignment of 16, the slots are 16-aligned too. The plan is not copied, and may be at any address,
 * for instance in flash.
 */
bxw_status bxw_load(bxw_decoder *d, const void *plan, size_t plan_bytes, void *memory, size_t memory_bytes);

/* Returns the bytes of memory that a plan needs, or 0 if the bytes are not a plan. */
uint32_t bxw_memory_bytes(const void *plan, size_t plan_bytes);

/* Returns the count of slots. */
uint32_t bxw_slots(const bxw_decoder *d);
bxw_status bxw_slot_at(bxw_decoder *d, uint32_t index, bxw_slot *slot);
bxw_status bxw_slot_named(bxw_decoder *d, const char *name, bxw_slot *slot);
/* Copies a tensor into its slot. `bytes` must be the length of the slot. */
bxw_status bxw_fill(bxw_decoder *d, uint32_t index, const void *data, size_t bytes);

/* Returns the count of images in the batch. */
uint32_t bxw_images(const bxw_decoder *d);
/*
 * Decodes the slots. Returns the count of detections over all images, or a negative bxw_status. Slots may hold any
 * bytes. After BXW_OUT_OF_RANGE, the detections are readable but meaningless.
 */
int32_t bxw_decode(bxw_decoder *d);
/* Returns the detections of one image; none if the batch has no such image. */
bxw_detections bxw_read(const bxw_decoder *d, uint32_t image);
/* Returns one detection as a struct. `index` must be below found->count. */
bxw_detection bxw_at(const bxw_detections *found, uint32_t index);
bxw_stats bxw_stats_of(const bxw_decoder *d, uint32_t image);
/* Returns the name of a class in UTF-8, or NULL if the plan has none. */
const char *bxw_label(const bxw_decoder *d, int32_t class_id);

/*
 * The functions below compute keypoints and masks of a detection from the slots. So the slots must still hold the
 * tensors of the last bxw_decode, and the frame must not have changed since that call.
 */

/* Returns the count of keypoints of each detection, or 0 if the plan has none. */
uint32_t bxw_keypoint_count(const bxw_decoder *d);
/*
 * Writes x, y and confidence of each keypoint of a detection: three floats each, 3 * bxw_keypoint_count in all. x and y
 * are relative to the image, as boxes are. The confidence is 1 if the tensor has none. Returns the count of keypoints,
 * or a negative bxw_status.
 */
int32_t bxw_keypoints(bxw_decoder *d, uint32_t image, uint32_t index, float *xyc);

/* Returns width and height of the prototypes as a window, or 0 if the plan has no masks. */
bxw_window bxw_mask_size(const bxw_decoder *d);
/*
 * Writes the mask of a detection at the size of the prototypes: one byte for each pixel inside the box, 1 if its
 * logit is above 0, else 0, row by row. `window` gets the position of these pixels. `bytes` is the length of `mask`;
 * width * height of bxw_mask_size always suffices. Needs about 1 KB of stack.
 */
bxw_status bxw_mask(bxw_decoder *d, uint32_t image, uint32_t index, uint8_t *mask, size_t bytes, bxw_window *window);

/*
 * Decodes one image of a plan of oriented boxes, in place of bxw_decode, which would return upright candidates.
 * Suppresses by the plan's rule: "ultralytics" (ProbIoU, not greedy), "probiou" (greedy) or "opencv" (polygons,
 * greedy), chosen by `boxwright compile --oriented-suppression`. Returns the count of boxes, or a negative
 * bxw_status.
 *
 * Writes at most `room` boxes, best first. bxw_read then returns the same rows, with the upright boxes around the
 * oriented ones. `work` has a row for each candidate that suppression may compare, at most one per cell. With
 * BXW_MEMORY_SMALL, d->expected is the count of rows that this frame needs. BXW_OUT_OF_RANGE: a probability, or an
 * angle that should be a sigmoid's output, is outside 0..1. Needs about 1.5 KB of stack. src/oriented.c contains
 * only this function.
 */
int32_t bxw_decode_oriented(bxw_decoder *d, uint32_t image, bxw_oriented_box *boxes, uint32_t room,
                            bxw_candidate *work, uint32_t work_rows);

/*
 * Decodes one image of a plan of cells (FOMO), in place of bxw_decode, which would return single cells. Groups cells
 * by the plan's rule: like Edge Impulse's SDK, or all touching cells into their enclosing box. Returns the count of
 * groups, which bxw_read then returns, or a negative bxw_status.
 *
 * `work` has a row of 44 bytes for each cell and class that passes the threshold. With BXW_MEMORY_SMALL, d->expected
 * is the count of rows that this frame needs. Under the SDK's rule, groups beyond 4,096 are left out.
 * src/cells.c contains only this function.
 */
int32_t bxw_decode_cells(bxw_decoder *d, uint32_t image, bxw_cell *work, uint32_t work_rows);

/*
 * Sets the size of the original image and how it was resized. Boxes are then relative to that image, until the next
 * call. With width 0 and height 0, boxes are relative to the input of the network again. Unlike JavaScript, C has no
 * rotation: for a picture that was turned before the network, pass the turned size. Boxes then refer to the turned
 * picture.
 */
bxw_status bxw_set_frame(bxw_decoder *d, uint32_t width, uint32_t height, bxw_resize resize);
/* Sets the IoU threshold of the suppression, 0..1. */
bxw_status bxw_set_iou(bxw_decoder *d, float threshold);
/* Sets the largest number of detections per image: from 1 to the number for which the plan was compiled. */
bxw_status bxw_set_max_detections(bxw_decoder *d, uint32_t count);

/* Returns what is wrong and what to do. d->got and d->expected are the values of the failed call. */
const char *bxw_explain(bxw_status status);

/*
 * The functions of the kernel that boxwright.c calls. kernel.c implements both by the translated kernel. A program
 * with another engine replaces kernel.c by a file of its own (see engines.md).
 */
uint32_t bxw_run_abi(bxw_decoder *d);
uint32_t bxw_run_decode(bxw_decoder *d, uint32_t plan);

/*
 * Called when the translated kernel would leave its memory or divide by zero. With a plan from `boxwright compile`,
 * no tensor causes this; a forged plan can. The default stops the program. A program may define its own function,
 * which must not return.
 */
BXW_NORETURN void bxw_trap(int reason);

#ifdef __cplusplus
}
#endif

#endif
