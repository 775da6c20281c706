/* Loads plans, provides slots and reads detections. The kernel does all decoding. */
#include "boxwright.h"
#include "parts.h"

#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "boxwright needs a little-endian processor: the words of a plan are little-endian"
#endif

/* The value of BXW_LEAST_MEMORY in kernel_prelude.h. Every plan needs more: its scratch has BXW_SCAN_SCALAR_BYTES. */
enum { LEAST_MEMORY = 8192 };
_Static_assert(LEAST_MEMORY <= BXW_SCAN_SCALAR_BYTES, "the least memory must fit every plan");

static uint32_t crc32(const uint8_t *bytes, size_t count) {
    uint32_t c = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        c ^= bytes[i];
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ ((c & 1u) ? 0xedb88320u : 0u);
    }
    return ~c;
}

uint32_t bxw_memory_bytes(const void *plan, size_t plan_bytes) {
    const uint8_t *file = plan;
    if (plan_bytes < BXW_FILE_WORDS * 4 || word(file, BXW_F_MAGIC) != (uint32_t)BXW_PLAN_MAGIC) return 0;
    return word(file, BXW_F_MEMORY_BYTES);
}

/* Checks length, versions and checksum of a plan file. */
static bxw_status check_file(bxw_decoder *d, const uint8_t *file, size_t bytes) {
    if (bytes < BXW_FILE_WORDS * 4) return refuse(d, BXW_CUT_SHORT, bytes, BXW_FILE_WORDS * 4);
    const uint32_t magic = word(file, BXW_F_MAGIC);
    if (magic != (uint32_t)BXW_PLAN_MAGIC) return refuse(d, BXW_NO_PLAN, magic, BXW_PLAN_MAGIC);
    const uint32_t version = word(file, BXW_F_VERSION);
    if (version != BXW_PLAN_VERSION) return refuse(d, BXW_PLAN_NEWER, version, BXW_PLAN_VERSION);
    const uint32_t length = word(file, BXW_F_FILE_BYTES);
    if (bytes < length || length < BXW_FILE_WORDS * 4) return refuse(d, BXW_CUT_SHORT, bytes, length);
    const uint32_t check = crc32(file + BXW_F_FILE_BYTES * 4, length - BXW_F_FILE_BYTES * 4);
    if (check != word(file, BXW_F_CHECK)) return refuse(d, BXW_DAMAGED, check, word(file, BXW_F_CHECK));
    const uint32_t abi = word(file, BXW_F_ABI);
    if (abi != BXW_ABI_VERSION) return refuse(d, BXW_OTHER_ABI, abi, BXW_ABI_VERSION);
    return BXW_OK;
}

/* Checks that every table lies inside the file. A forged file can have a valid checksum. */
static bxw_status check_tables(bxw_decoder *d) {
    const uint8_t *file = d->plan;
    const uint32_t length = word(file, BXW_F_FILE_BYTES);
    const uint32_t image = word(file, BXW_F_IMAGE_BYTES);
    const uint32_t labels = word(file, BXW_F_LABELS);
    const struct {
        uint32_t at, rows, row_bytes;
    } tables[] = {
        {word(file, BXW_F_IMAGE_TABLE), word(file, BXW_F_IMAGES), BXW_IMAGE_WORDS * 4},
        {word(file, BXW_F_SLOT_TABLE), word(file, BXW_F_SLOTS), BXW_SLOT_WORDS * 4},
        {word(file, BXW_F_LABEL_TABLE), labels, 4},
    };
    if (d->memory_bytes < LEAST_MEMORY) return refuse(d, BXW_DAMAGED, d->memory_bytes, LEAST_MEMORY);
    if (image < BXW_FIRST_ADDRESS || image > d->memory_bytes || image > length)
        return refuse(d, BXW_DAMAGED, image, d->memory_bytes);
    if (!fits(image, BXW_TASK_WORDS, 4, length)) return refuse(d, BXW_DAMAGED, image, length);
    for (uint32_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!fits(tables[i].at, tables[i].rows, tables[i].row_bytes, length))
            return refuse(d, BXW_DAMAGED, tables[i].at, length);
    /* The file must end with a zero byte, so that every string ends inside it. */
    if (file[length - 1] != 0) return refuse(d, BXW_DAMAGED, file[length - 1], 0);
    for (uint32_t i = 0; i < labels; i++) {
        const uint32_t at = word(file + word(file, BXW_F_LABEL_TABLE), i);
        if (at >= length) return refuse(d, BXW_DAMAGED, at, length);
    }
    return BXW_OK;
}

/* True if two ranges of bytes do not overlap. An empty range overlaps nothing. */
static int apart(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return b_bytes == 0 || a + a_bytes <= b || b + b_bytes <= a;
}

/* Checks that the candidate columns have a row for each cell. A multi-label plan may have fewer rows. */
static bxw_status check_capacity(bxw_decoder *d, const uint8_t *plan) {
    const uint32_t image = word(d->plan, BXW_F_IMAGE_BYTES);
    const uint32_t heads = word(plan, BXW_P_HEADS), first = word(plan, BXW_P_HEAD0);
    const uint32_t capacity = word(plan, BXW_P_CAPACITY);
    uint64_t cells = 0;
    if (!fits(first, heads, BXW_HEAD_WORDS * 4, image)) return refuse(d, BXW_DAMAGED, first, image);
    for (uint32_t i = 0; i < heads; i++)
        cells += word(d->plan + first + (size_t)i * BXW_HEAD_WORDS * 4, BXW_H_CELLS);
    /* A full multi-label plan drops candidates to make room, so it needs some room. */
    const uint32_t least = word(plan, BXW_P_FLAGS) & BXW_FLAG_MULTI_LABEL ? cells > 0 : (uint32_t)cells;
    if (capacity < least || cells > UINT32_MAX) return refuse(d, BXW_DAMAGED, (size_t)cells, capacity);
    return BXW_OK;
}

/*
 * Checks that suppression ends. Suppression follows chains of kept boxes and reads its counts from the plan block. So
 * no other column may overlap the chains, and no column may lie in the image of the plan:
 *
 *     | image: plan blocks, head records | slots, candidate columns | chains | kept boxes | detection columns |
 */
static bxw_status check_chains(bxw_decoder *d, const uint8_t *plan) {
    const uint32_t chains = word(plan, BXW_P_CHAINS), kept = word(plan, BXW_P_KEPT);
    const uint32_t image = word(d->plan, BXW_F_IMAGE_BYTES), most = word(plan, BXW_P_MAX_DETECTIONS);
    const uint64_t end = kept + (uint64_t)most * BXW_KEPT_WORDS * 4;
    if (chains < image || chains > d->memory_bytes)
        return refuse(d, BXW_DAMAGED, chains, d->memory_bytes);
    if (kept < chains + BXW_CHAINS * 4 || end > d->memory_bytes) return refuse(d, BXW_DAMAGED, kept, d->memory_bytes);
    /*
     * With room for at most ONE_WAVE candidates, the sort ends before suppression begins. The chains may then use the
     * memory of the sort.
     */
    const uint32_t capacity = word(plan, BXW_P_CAPACITY);
    const uint32_t sorted = capacity > BXW_ONE_WAVE ? capacity : 0;
    const uint32_t counts = sorted > 0 ? 4u << BXW_BUCKET_BITS : 0;
    const struct {
        uint32_t word, rows, row_bytes;
    } columns[] = {
        {BXW_P_SCORES, capacity, 4}, {BXW_P_CLASS_IDS, capacity, 4}, {BXW_P_SOURCES, capacity, 4},
        {BXW_P_BOXES, capacity, 16}, {BXW_P_ORDER, capacity, 4}, {BXW_P_SPARE, sorted, 4},
        {BXW_P_COUNTS, counts, 1}, {BXW_P_SCRATCH, 0, 1}, {BXW_P_DET_BOXES, most, 16}, {BXW_P_DET_SCORES, most, 4},
        {BXW_P_DET_CLASS_IDS, most, 4}, {BXW_P_DET_SOURCES, most, 4},
    };
    for (uint32_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const uint32_t at = word(plan, columns[i].word);
        if (at < image) return refuse(d, BXW_DAMAGED, at, image);
        if (!apart(chains, end - chains, at, (uint64_t)columns[i].rows * columns[i].row_bytes))
            return refuse(d, BXW_DAMAGED, at, chains);
    }
    return BXW_OK;
}

/* Checks that the plan block of each image lies inside the image, and its detection columns inside memory. */
static bxw_status check_images(bxw_decoder *d) {
    const uint32_t image = word(d->plan, BXW_F_IMAGE_BYTES);
    const uint32_t rows = word(d->plan, BXW_F_MAX_DETECTIONS);
    for (uint32_t i = 0; i < bxw_images(d); i++) {
        const uint8_t *row = image_row(d, i);
        const uint32_t at = word(row, BXW_I_PLAN);
        if (!fits(at, BXW_PLAN_WORDS, 4, image) || at < BXW_FIRST_ADDRESS) return refuse(d, BXW_DAMAGED, at, image);
        const uint32_t most = word(d->plan + at, BXW_P_MAX_DETECTIONS);
        if (most > rows) return refuse(d, BXW_DAMAGED, most, rows);
        bxw_status status = check_capacity(d, d->plan + at);
        if (status == BXW_OK) status = check_chains(d, d->plan + at);
        if (status != BXW_OK) return status;
        for (uint32_t k = BXW_I_BOXES; k <= BXW_I_SOURCES; k++) {
            const uint32_t column = word(row, k);
            /*
             * The caller reads columns as floats and words, so they must be aligned: some processors fault at other
             * addresses.
             */
            if (column % 4 != 0 || !fits(column, rows, k == BXW_I_BOXES ? 16 : 4, d->memory_bytes))
                return refuse(d, BXW_DAMAGED, column, d->memory_bytes);
        }
    }
    return BXW_OK;
}

/* Checks that each slot lies inside memory, after the image. */
static bxw_status check_slots(bxw_decoder *d) {
    const uint32_t length = word(d->plan, BXW_F_FILE_BYTES);
    for (uint32_t i = 0; i < bxw_slots(d); i++) {
        const uint8_t *row = slot_row(d, i);
        const uint32_t at = word(row, BXW_S_ADDRESS);
        if (at % 4 != 0 || at < word(d->plan, BXW_F_IMAGE_BYTES) ||
            !fits(at, word(row, BXW_S_BYTES), 1, d->memory_bytes))
            return refuse(d, BXW_DAMAGED, at, d->memory_bytes);
        if (word(row, BXW_S_NAME) >= length || word(row, BXW_S_RANK) > BXW_MAX_RANK)
            return refuse(d, BXW_DAMAGED, word(row, BXW_S_NAME), length);
    }
    return BXW_OK;
}

/* Steps along one dimension of a tensor: their count, and the length of one step in elements. */
typedef struct steps {
    uint32_t count, step;
} steps;

/* Checks that the last element lies in the slot: the element after all steps along four dimensions. */
static bxw_status check_reach(bxw_decoder *d, uint32_t slot, uint32_t first, const steps list[4]) {
    if (slot >= bxw_slots(d)) return refuse(d, BXW_DAMAGED, slot, bxw_slots(d));
    const uint8_t *row = slot_row(d, slot);
    const uint32_t type = word(row, BXW_S_TYPE);
    if (type > BXW_TYPE_I32) return refuse(d, BXW_DAMAGED, type, BXW_TYPE_I32);
    const uint32_t elements = word(row, BXW_S_BYTES) / element_bytes(type);
    uint64_t last = first;
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t count = list[k].count;
        if (count < 1 || count > elements) return refuse(d, BXW_DAMAGED, count, elements);
        /* Compare after each step, so that no sum wraps. */
        last += (uint64_t)(count - 1) * list[k].step;
        if (last >= elements) return refuse(d, BXW_DAMAGED, (size_t)last, elements);
    }
    return BXW_OK;
}

/* Checks a row of the head table. `count` is the count of extra channels of the head. */
static bxw_status check_extra(bxw_decoder *d, const uint8_t *row, uint32_t count, uint32_t rule) {
    const uint32_t cells = word(row, BXW_E_CELLS), table = word(row, BXW_E_TABLE);
    const steps list[4] = {{bxw_images(d), word(row, BXW_E_IMAGE)},
                           {cells, word(row, BXW_E_CELL)},
                           {count, word(row, BXW_E_CHANNEL)},
                           {1, 0}};
    if (word(row, BXW_E_GRID_W) < 1) return refuse(d, BXW_DAMAGED, 0, 1);
    const uint32_t image = word(d->plan, BXW_F_IMAGE_BYTES);
    if (rule == BXW_POINTS_PRIOR && (table < BXW_FIRST_ADDRESS || !fits(table, cells, 16, image)))
        return refuse(d, BXW_DAMAGED, table, image);
    return check_reach(d, word(row, BXW_E_SLOT), word(row, BXW_E_OFFSET), list);
}

/* Checks that the task record, the head table, and everything to which they point, lie in the file and in the slots. */
static bxw_status check_task(bxw_decoder *d) {
    const uint8_t *t = task_of(d);
    const uint32_t kind = word(t, BXW_T_KIND), count = word(t, BXW_T_COUNT), values = word(t, BXW_T_VALUES);
    const uint32_t heads = word(t, BXW_T_HEADS), table = word(t, BXW_T_HEAD_TABLE), rule = word(t, BXW_T_RULE);
    const uint32_t length = word(d->plan, BXW_F_FILE_BYTES);
    if (kind == BXW_TASK_BOXES) return BXW_OK;
    if (kind > BXW_TASK_CELLS) return refuse(d, BXW_DAMAGED, kind, BXW_TASK_CELLS);
    if (kind == BXW_TASK_CELLS && heads != 1) return refuse(d, BXW_DAMAGED, heads, 1);
    if (!fits(table, heads, BXW_EXTRA_WORDS * 4, length)) return refuse(d, BXW_DAMAGED, table, length);
    if (values < (kind == BXW_TASK_KEYPOINTS ? 2u : 1u) || values > 3) return refuse(d, BXW_DAMAGED, values, 3);
    if (rule > BXW_POINTS_PRIOR) return refuse(d, BXW_DAMAGED, rule, BXW_POINTS_PRIOR);
    /* No slot has more elements than memory has bytes, so the product does not wrap. */
    if (count < 1 || count > d->memory_bytes / 4) return refuse(d, BXW_DAMAGED, count, d->memory_bytes / 4);
    bxw_status status = BXW_OK;
    if (kind == BXW_TASK_MASKS) {
        const steps list[4] = {{bxw_images(d), word(t, BXW_T_IMAGE)},
                               {count, word(t, BXW_T_PLANE)},
                               {word(t, BXW_T_HEIGHT), word(t, BXW_T_ROW)},
                               {word(t, BXW_T_WIDTH), word(t, BXW_T_COLUMN)}};
        if (count > BXW_MAX_COEFFICIENTS) return refuse(d, BXW_DAMAGED, count, BXW_MAX_COEFFICIENTS);
        status = check_reach(d, word(t, BXW_T_SLOT), 0, list);
    }
    for (uint32_t i = 0; i < heads && status == BXW_OK; i++)
        status = check_extra(d, d->plan + table + (size_t)i * BXW_EXTRA_WORDS * 4, count * values, rule);
    return status;
}

bxw_status bxw_load(bxw_decoder *d, const void *plan, size_t plan_bytes, void *memory, size_t memory_bytes) {
    d->plan = plan;
    d->memory = memory;
    d->got = d->expected = 0;
    d->frame_width = d->frame_height = 0;
    bxw_status status = check_file(d, plan, plan_bytes);
    if (status != BXW_OK) return status;
    const uint32_t needed = word(plan, BXW_F_MEMORY_BYTES);
    if (memory_bytes < needed) return refuse(d, BXW_MEMORY_SMALL, memory_bytes, needed);
    if ((uintptr_t)memory % 4 != 0) return refuse(d, BXW_MEMORY_ALIGN, (uintptr_t)memory % 4, 0);
    /* Give the kernel only the memory that the plan needs, even if the caller provides more. */
    d->memory_bytes = needed;
    status = check_tables(d);
    if (status == BXW_OK) status = check_images(d);
    if (status == BXW_OK) status = check_slots(d);
    if (status == BXW_OK) status = check_task(d);
    if (status != BXW_OK) return status;

    memcpy(memory, plan, word(plan, BXW_F_IMAGE_BYTES));
    const uint32_t abi = bxw_run_abi(d);
    if (abi != BXW_ABI_VERSION) return refuse(d, BXW_OTHER_ABI, abi, BXW_ABI_VERSION);
    return BXW_OK;
}

uint32_t bxw_slots(const bxw_decoder *d) { return word(d->plan, BXW_F_SLOTS); }

bxw_status bxw_slot_at(bxw_decoder *d, uint32_t index, bxw_slot *slot) {
    if (index >= bxw_slots(d)) return refuse(d, BXW_NO_SUCH_SLOT, index, bxw_slots(d));
    const uint8_t *row = slot_row(d, index);
    slot->data = d->memory + word(row, BXW_S_ADDRESS);
    slot->bytes = word(row, BXW_S_BYTES);
    slot->type = word(row, BXW_S_TYPE);
    slot->name = (const char *)d->plan + word(row, BXW_S_NAME);
    slot->rank = word(row, BXW_S_RANK);
    for (uint32_t k = 0; k < BXW_MAX_RANK; k++) slot->dims[k] = word(row, BXW_S_DIM_0 + k);
    slot->scale = real(row, BXW_S_SCALE);
    slot->zero = real(row, BXW_S_ZERO);
    return BXW_OK;
}

bxw_status bxw_slot_named(bxw_decoder *d, const char *name, bxw_slot *slot) {
    for (uint32_t i = 0; i < bxw_slots(d); i++) {
        const bxw_status status = bxw_slot_at(d, i, slot);
        if (status != BXW_OK || strcmp(slot->name, name) == 0) return status;
    }
    return refuse(d, BXW_NO_SUCH_SLOT, bxw_slots(d), bxw_slots(d));
}

bxw_status bxw_fill(bxw_decoder *d, uint32_t index, const void *data, size_t bytes) {
    bxw_slot slot;
    const bxw_status status = bxw_slot_at(d, index, &slot);
    if (status != BXW_OK) return status;
    if (bytes != slot.bytes) return refuse(d, BXW_SLOT_SIZE, bytes, slot.bytes);
    memcpy(slot.data, data, bytes);
    return BXW_OK;
}

uint32_t bxw_images(const bxw_decoder *d) { return word(d->plan, BXW_F_IMAGES); }

int32_t bxw_decode(bxw_decoder *d) {
    uint32_t found = 0;
    uint32_t outside = 0;
    for (uint32_t i = 0; i < bxw_images(d); i++) {
        found += bxw_run_decode(d, word(image_row(d, i), BXW_I_PLAN));
        outside += word(block(d, i), BXW_P_OUT_OF_RANGE);
    }
    if (outside > 0) return (int32_t)refuse(d, BXW_OUT_OF_RANGE, outside, 0);
    return (int32_t)found;
}

bxw_detections bxw_read(const bxw_decoder *d, uint32_t image) {
    bxw_detections found = {0};
    if (image >= bxw_images(d)) return found;
    const uint8_t *row = image_row(d, image);
    /* Limit the count to the rows. Before the first decode, the count is a word of the plan, which may be forged. */
    const uint32_t count = word(block(d, image), BXW_P_DETECTIONS);
    const uint32_t most = word(d->plan, BXW_F_MAX_DETECTIONS);
    found.count = count < most ? count : most;
    found.boxes = (const float *)(const void *)(d->memory + word(row, BXW_I_BOXES));
    found.scores = (const float *)(const void *)(d->memory + word(row, BXW_I_SCORES));
    found.class_ids = (const int32_t *)(const void *)(d->memory + word(row, BXW_I_CLASS_IDS));
    found.sources = (const uint32_t *)(const void *)(d->memory + word(row, BXW_I_SOURCES));
    return found;
}

bxw_detection bxw_at(const bxw_detections *found, uint32_t index) {
    /* Read through memcpy: the caller may have declared the memory as an array of bytes. */
    const uint8_t *boxes = (const uint8_t *)found->boxes + (size_t)index * 16;
    bxw_detection one = {real(boxes, 0), real(boxes, 1), real(boxes, 2), real(boxes, 3), 0, 0, 0};
    one.score = real((const uint8_t *)found->scores, index);
    memcpy(&one.class_id, found->class_ids + index, sizeof one.class_id);
    memcpy(&one.source, found->sources + index, sizeof one.source);
    return one;
}

bxw_stats bxw_stats_of(const bxw_decoder *d, uint32_t image) {
    bxw_stats stats = {0};
    if (image >= bxw_images(d)) return stats;
    const uint8_t *p = block(d, image);
    stats.candidates = word(p, BXW_P_CANDIDATES);
    stats.capped = word(p, BXW_P_OVERFLOW) + stats.candidates - word(p, BXW_P_VISITED);
    stats.not_finite = word(p, BXW_P_NOT_FINITE);
    return stats;
}

const char *bxw_label(const bxw_decoder *d, int32_t class_id) {
    if (class_id < 0 || (uint32_t)class_id >= word(d->plan, BXW_F_LABELS)) return NULL;
    return (const char *)d->plan + word(d->plan + word(d->plan, BXW_F_LABEL_TABLE), (uint32_t)class_id);
}

/* ---- Keypoints and masks ------------------------------------------------------------------------------------ */

/* Finds the extra channels of a detection: its row of the head table, and its cell in that head. */
static bxw_status extras_of(bxw_decoder *d, uint32_t kind, uint32_t image, uint32_t index, channels *found,
                            const uint8_t **row, uint32_t *cell) {
    const uint8_t *t = task_of(d);
    if (word(t, BXW_T_KIND) != kind) return refuse(d, BXW_NOT_IN_PLAN, word(t, BXW_T_KIND), kind);
    const bxw_detections all = bxw_read(d, image);
    if (index >= all.count) return refuse(d, BXW_NO_SUCH_ROW, index, all.count);
    return channels_of(d, image, bxw_at(&all, index).source, found, row, cell);
}

/* Returns e^x by the steps of src/core/exp.ts, which explains them. With + - * alone, all engines get the same bits. */
static double exp_of(double x) {
    static const double round = 6755399441056767.0;
    if (x != x) return x;
    if (x < -150) x = -150;
    if (x > 130) x = 130;
    const double k = x * 1.4426950408889634 + round - round;
    const double r = x - k * 0.69314718036912381649 - k * 1.90821492927058770002e-10;
    const double r2 = r * r;
    const double p47 = 0.041666295093165544 + r * 0.008333497009701958 +
                       r2 * (0.0013944648624804954 + r * 0.00019790351629918478);
    const double y = 1 + r + r2 * (0.5000000067642643 + r * 0.1666666586941133) + r2 * r2 * p47;
    const uint64_t bits = (uint64_t)((int32_t)k + 1023) << 52;
    double two;
    memcpy(&two, &bits, sizeof two);
    return y * two;
}

static double within_unit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

uint32_t bxw_keypoint_count(const bxw_decoder *d) {
    const uint8_t *t = task_of(d);
    return word(t, BXW_T_KIND) == BXW_TASK_KEYPOINTS ? word(t, BXW_T_COUNT) : 0;
}

/* Uses the steps and the precision of src/tasks/pose/points.ts, so that the bits agree. */
int32_t bxw_keypoints(bxw_decoder *d, uint32_t image, uint32_t index, float *xyc) {
    const uint8_t *t = task_of(d), *e = NULL;
    uint32_t cell = 0;
    channels c;
    const bxw_status status = extras_of(d, BXW_TASK_KEYPOINTS, image, index, &c, &e, &cell);
    if (status != BXW_OK) return (int32_t)status;
    const uint32_t count = word(t, BXW_T_COUNT), values = word(t, BXW_T_VALUES);
    const uint32_t rule = word(t, BXW_T_RULE), flags = word(t, BXW_T_FLAGS);
    double scale[2] = {real64(e, BXW_E_SCALE_X), real64(e, BXW_E_SCALE_Y)};
    double shift[2] = {0, 0};
    if (rule == BXW_POINTS_GRID) {
        const uint32_t across = word(e, BXW_E_GRID_W);
        shift[0] = (cell % across + real64(e, BXW_E_ADD)) * real64(e, BXW_E_UNIT_X);
        shift[1] = (cell / across + real64(e, BXW_E_ADD)) * real64(e, BXW_E_UNIT_Y);
    } else if (rule == BXW_POINTS_PRIOR) {
        const uint8_t *prior = d->plan + word(e, BXW_E_TABLE) + (size_t)cell * 16;
        for (uint32_t axis = 0; axis < 2; axis++) {
            scale[axis] *= (double)real(prior, 2 + axis);
            shift[axis] = (double)real(prior, axis);
        }
    }
    const uint8_t *p = block(d, image);
    for (uint32_t k = 0; k < count; k++, xyc += 3) {
        for (uint32_t axis = 0; axis < 2; axis++) {
            const uint32_t from = flags & BXW_TASK_FLAG_Y_FIRST ? 1 - axis : axis;
            const float at = (float)((double)channel(&c, k * values + from) * scale[axis] + shift[axis]);
            double x = (double)at;
            if (flags & BXW_TASK_FLAG_CLAMP_BEFORE) x = within_unit(x);
            x = x * (double)real(p, BXW_P_SCALE_X + axis) + (double)real(p, BXW_P_SHIFT_X + axis);
            xyc[axis] = (float)(flags & BXW_TASK_FLAG_CLAMP_AFTER ? within_unit(x) : x);
        }
        const double confidence = values == 3 ? (double)channel(&c, k * values + 2) : 1.0;
        xyc[2] = (float)(flags & BXW_TASK_FLAG_LOGITS ? 1 / (1 + exp_of(-confidence)) : confidence);
    }
    return (int32_t)count;
}

bxw_window bxw_mask_size(const bxw_decoder *d) {
    const uint8_t *t = task_of(d);
    bxw_window size = {0};
    if (word(t, BXW_T_KIND) != BXW_TASK_MASKS) return size;
    size.width = word(t, BXW_T_WIDTH);
    size.height = word(t, BXW_T_HEIGHT);
    return size;
}

/*
 * Returns the first of `pixels` pixels at or after an edge, or -1 if the edge is NaN. Edges are f32, in which whole
 * pixels are inexact, so an edge very near to a whole pixel counts as that pixel. Twin of cropOf in
 * src/tasks/masks/axis.ts.
 */
static int64_t edge(double normalised, uint32_t pixels) {
    const double place = normalised * pixels;
    if (place != place) return -1;
    if (place <= 0) return 0;
    if (place >= pixels) return pixels;
    const int64_t whole = (int64_t)(place + 0.5), down = (int64_t)place;
    const double off = place - (double)whole;
    if ((off < 0 ? -off : off) <= pixels * 4.76837158203125e-7) return whole;
    return (double)down < place ? down + 1 : down;
}

/* Sets the pixels that a box covers along one axis. */
static void crop(double low, double high, uint32_t pixels, uint32_t *first, uint32_t *length) {
    const int64_t from = edge(low, pixels), to = edge(high, pixels);
    const int covers = from >= 0 && to > from;
    *first = covers ? (uint32_t)from : 0;
    *length = covers ? (uint32_t)(to - from) : 0;
}

bxw_status bxw_mask(bxw_decoder *d, uint32_t image, uint32_t index, uint8_t *mask, size_t bytes, bxw_window *window) {
    const uint8_t *t = task_of(d), *e = NULL;
    uint32_t cell = 0;
    channels c;
    const bxw_status status = extras_of(d, BXW_TASK_MASKS, image, index, &c, &e, &cell);
    if (status != BXW_OK) return status;
    const bxw_detections all = bxw_read(d, image);
    const bxw_detection one = bxw_at(&all, index);
    const uint8_t *p = block(d, image);
    const double sx = (double)real(p, BXW_P_SCALE_X), sy = (double)real(p, BXW_P_SCALE_Y);
    const double dx = (double)real(p, BXW_P_SHIFT_X), dy = (double)real(p, BXW_P_SHIFT_Y);
    crop((one.x_min - dx) / sx, (one.x_max - dx) / sx, word(t, BXW_T_WIDTH), &window->x, &window->width);
    crop((one.y_min - dy) / sy, (one.y_max - dy) / sy, word(t, BXW_T_HEIGHT), &window->y, &window->height);
    /* Set the position of an empty mask to 0, as in JavaScript. */
    if (window->width == 0 || window->height == 0) *window = (bxw_window){0};
    const uint64_t needed = (uint64_t)window->width * window->height;
    if (bytes < needed) return refuse(d, BXW_MEMORY_SMALL, bytes, (size_t)needed);

    /* Multiply the scale of the prototypes into the coefficients, which are fewer than the pixels. */
    float by[BXW_MAX_COEFFICIENTS];
    const uint32_t count = word(t, BXW_T_COUNT);
    const uint32_t slot = word(t, BXW_T_SLOT);
    const channels whole = channels_at(d, slot, (size_t)image * word(t, BXW_T_IMAGE), word(t, BXW_T_PLANE));
    for (uint32_t k = 0; k < count; k++) by[k] = channel(&c, k) * whole.scale;
    for (uint32_t y = 0; y < window->height; y++)
        for (uint32_t x = 0; x < window->width; x++) {
            const size_t element = (size_t)image * word(t, BXW_T_IMAGE) +
                                   (size_t)(window->y + y) * word(t, BXW_T_ROW) +
                                   (size_t)(window->x + x) * word(t, BXW_T_COLUMN);
            const uint8_t *at = channels_at(d, slot, element, 1).first;
            /* Use four sums, added in the kernels' order, so that the bits agree. */
            float sums[4] = {0};
            for (uint32_t k = 0; k < count; k++, at += whole.step)
                sums[k & 3] += by[k] * (raw_at(at, whole.type) - whole.zero);
            *mask++ = (sums[0] + sums[1]) + (sums[2] + sums[3]) > 0;
        }
    return BXW_OK;
}

/* Returns the nearest integer. Rounds a half to the even neighbour, as OpenCV and Python do. */
static uint32_t round_to_even(double x) {
    const uint32_t whole = (uint32_t)x;
    const double rest = x - whole;
    return whole + (rest > 0.5 || (rest == 0.5 && (whole & 1) == 1));
}

/*
 * Computes scale and shift that undo the resizing of one side of the image. Uses the steps and the precision of
 * src/core/place.ts, so that the bits agree.
 */
static void undo_resize(uint32_t input, uint32_t side, double factor, bxw_resize resize, float *scale, float *shift) {
    const double exact = side * factor;
    /* Keep at least one pixel of an image that is a thousand times as wide as high. */
    const uint32_t pixels = exact > 0.5 ? round_to_even(exact) : 1;
    /* A crop keeps its exact length. Of an odd surplus, the smaller half is cut off at the left or top. */
    const double length = resize == BXW_CROP ? exact : pixels;
    double before = 0;
    if (resize == BXW_CROP && pixels > input) before = -(double)((pixels - input) / 2);
    else if (resize == BXW_LETTERBOX) before = (input - pixels) / 2;
    *scale = (float)((double)input / length);
    *shift = (float)(-before / length);
}

bxw_status bxw_set_frame(bxw_decoder *d, uint32_t width, uint32_t height, bxw_resize resize) {
    const uint32_t w = word(d->plan, BXW_F_INPUT_WIDTH);
    const uint32_t h = word(d->plan, BXW_F_INPUT_HEIGHT);
    float scale[2] = {1, 1};
    float shift[2] = {0, 0};
    if ((width == 0) != (height == 0)) return refuse(d, BXW_BAD_VALUE, width == 0 ? width : height, 1);
    if (width != 0 && resize != BXW_STRETCH) {
        if (resize != BXW_LETTERBOX && resize != BXW_LETTERBOX_TOPLEFT && resize != BXW_CROP)
            return refuse(d, BXW_BAD_VALUE, (size_t)resize, BXW_CROP);
        if (w == 0 || h == 0) return refuse(d, BXW_BAD_VALUE, 0, 1);
        const double across = (double)w / width;
        const double down = (double)h / height;
        /*
         * Round the factor of a crop to f32, as OpenCV does. A crop takes the larger factor, which fills the input. A
         * letterbox takes the smaller factor, which keeps both sides within the input.
         */
        const double factor = resize == BXW_CROP ? (float)(across > down ? across : down) : across < down ? across : down;
        undo_resize(w, width, factor, resize, &scale[0], &shift[0]);
        undo_resize(h, height, factor, resize, &scale[1], &shift[1]);
    }
    d->frame_width = width;
    d->frame_height = height;
    d->resize = resize;
    for (uint32_t i = 0; i < bxw_images(d); i++) {
        uint8_t *p = block(d, i);
        put_real(p, BXW_P_SCALE_X, scale[0]);
        put_real(p, BXW_P_SCALE_Y, scale[1]);
        put_real(p, BXW_P_SHIFT_X, shift[0]);
        put_real(p, BXW_P_SHIFT_Y, shift[1]);
    }
    return BXW_OK;
}

bxw_status bxw_set_iou(bxw_decoder *d, float threshold) {
    if (!(threshold >= 0 && threshold <= 1)) return refuse(d, BXW_BAD_VALUE, 0, 1);
    for (uint32_t i = 0; i < bxw_images(d); i++) put_real(block(d, i), BXW_P_IOU, threshold);
    return BXW_OK;
}

bxw_status bxw_set_max_detections(bxw_decoder *d, uint32_t count) {
    const uint32_t most = word(d->plan, BXW_F_MAX_DETECTIONS);
    if (count < 1 || count > most) return refuse(d, BXW_BAD_VALUE, count, most);
    for (uint32_t i = 0; i < bxw_images(d); i++) put(block(d, i), BXW_P_MAX_DETECTIONS, count);
    return BXW_OK;
}

const char *bxw_explain(bxw_status status) {
    switch (status) {
    case BXW_OK: return "no error";
    case BXW_NO_PLAN: return "the bytes do not begin with the magic word of a plan; pass a file from boxwright compile";
    case BXW_PLAN_NEWER: return "the plan file has another layout version; compile it with this release";
    case BXW_OTHER_ABI: return "plan and kernel have different ABI versions; take both from one release";
    case BXW_CUT_SHORT: return "the plan has too few bytes; copy the whole file";
    case BXW_DAMAGED: return "the checksum, a size or an address of the plan is wrong; compile it again";
    case BXW_MEMORY_SMALL: return "the memory has too few bytes; reserve what bxw_memory_bytes says";
    case BXW_MEMORY_ALIGN: return "the memory must begin at a multiple of 4; declare it with _Alignas(16)";
    case BXW_NO_SUCH_SLOT: return "no slot has this index or name; ask bxw_slots for their count";
    case BXW_SLOT_SIZE: return "tensor and slot differ in length; compile the plan for the shape of this tensor";
    case BXW_OUT_OF_RANGE: return "probabilities are outside 0..1; compile the plan with --scores logits";
    case BXW_BAD_VALUE: return "the setting is outside its range";
    case BXW_NO_SUCH_ROW: return "the image has no detection of this index; ask bxw_read for their count";
    case BXW_NOT_IN_PLAN: return "the plan has no such results; compile a config of that task";
    }
    return "unknown status";
}
