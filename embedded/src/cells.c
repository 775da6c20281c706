/* Groups cells of a map into boxes (FOMO). Uses the steps of src/tasks/peaks/cells.ts, so that the bits agree. */
#include "boxwright.h"
#include "parts.h"

/* Largest count of cubes, as the SDK names its groups; as in src/tasks/peaks/cells.ts. */
enum { MOST_CUBES = 4096 };

/* True if a cell comes before another one: by its position in the map, then by class. */
static int is_earlier(const bxw_cell *a, const bxw_cell *b) {
    return a->source != b->source ? a->source < b->source : a->class_id < b->class_id;
}

/* True if a group comes before another one: by score, then by its first cell. */
static int is_better(const bxw_cell *a, const bxw_cell *b) {
    return a->score != b->score ? a->score > b->score : is_earlier(a, b);
}

/* Sorts rows in place by Shell's method, which is short, and fast for the few hundred rows of a map. */
static void sort(bxw_cell *rows, uint32_t count, int (*before)(const bxw_cell *, const bxw_cell *)) {
    uint32_t gap = 1;
    while (gap < count / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (uint32_t i = gap; i < count; i++) {
            const bxw_cell row = rows[i];
            uint32_t to = i;
            for (; to >= gap && before(&row, &rows[to - gap]); to -= gap) rows[to] = rows[to - gap];
            rows[to] = row;
        }
}

/* Copies the candidates of an image to the rows, in the order of the map. */
static bxw_status read_cells(bxw_decoder *d, const uint8_t *p, uint32_t across, bxw_cell *rows, uint32_t room) {
    static const uint32_t columns[] = {BXW_P_SCORES, BXW_P_CLASS_IDS, BXW_P_SOURCES};
    const uint32_t count = word(p, BXW_P_CANDIDATES);
    for (uint32_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (!fits(word(p, columns[i]), count, 4, d->memory_bytes))
            return refuse(d, BXW_DAMAGED, word(p, columns[i]), d->memory_bytes);
    if (count > room) return refuse(d, BXW_MEMORY_SMALL, room, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t source = word(d->memory + word(p, BXW_P_SOURCES), i);
        const int32_t class_id = (int32_t)word(d->memory + word(p, BXW_P_CLASS_IDS), i);
        const float score = real(d->memory + word(p, BXW_P_SCORES), i);
        const bxw_area area = {source % across, source / across, 1, 1};
        rows[i] = (bxw_cell){area, area, source, class_id, score};
    }
    sort(rows, count, is_earlier);
    return BXW_OK;
}

/*
 * Merges a part, which is a cell or a cube, into an area. Returns 0 if the two do not touch. Moves the left and upper
 * edges before comparing the right and lower ones, as the SDK does.
 */
static int take_up(bxw_area *a, const bxw_area *part) {
    if (a->x + a->width < part->x || a->y + a->height < part->y || a->x > part->x + part->width ||
        a->y > part->y + part->height)
        return 0;
    if (part->x < a->x) a->x = part->x;
    if (part->y < a->y) a->y = part->y;
    if (part->x + part->width > a->x + a->width) a->width = part->x + part->width - a->x;
    if (part->y + part->height > a->y + a->height) a->height = part->y + part->height - a->y;
    return 1;
}

/* End of a list of rows. */
static const uint32_t NO_ROW = UINT32_MAX;

/*
 * The cubes that later parts can still touch, as a list of rows in the order in which the cubes began. Parts come
 * row by row of the map, so no later part touches a cube that ends two rows or more above the current part. The y of
 * a cube never changes, since no later part starts above the cube. So the field `grown.y` holds the next row of the
 * list.
 */
typedef struct {
    uint32_t first, last;
} open_list;

static void append(bxw_cell *rows, open_list *open, uint32_t row) {
    rows[row].grown.y = NO_ROW;
    if (open->first == NO_ROW) open->first = row;
    else rows[open->last].grown.y = row;
    open->last = row;
}

/*
 * Merges a part into the first cube of its class that it touches. `grown` of a row is its cube. Removes cubes that no
 * later part can touch. Returns the row of the cube, or NO_ROW.
 */
static uint32_t take_up_first(bxw_cell *rows, open_list *open, const bxw_area *part, int32_t class_id) {
    uint32_t before = NO_ROW, row = open->first;
    while (row != NO_ROW) {
        const uint32_t next = rows[row].grown.y;
        bxw_area cube = rows[row].grown;
        cube.y = rows[row].area.y;
        if (cube.y + cube.height < part->y) {
            if (before == NO_ROW) open->first = next;
            else rows[before].grown.y = next;
            if (next == NO_ROW) open->last = before;
        } else if (rows[row].class_id == class_id && take_up(&cube, part)) {
            rows[row].grown = cube;
            rows[row].grown.y = next;
            return row;
        } else
            before = row;
        row = next;
    }
    return NO_ROW;
}

/* Groups as Edge Impulse's SDK does. Returns the count of groups, which are in the first rows. */
static uint32_t group_by_sdk(bxw_cell *rows, uint32_t count) {
    uint32_t cubes = 0, kept = 0;
    open_list open = {NO_ROW, NO_ROW};
    for (uint32_t i = 0; i < count; i++) {
        const bxw_cell cell = rows[i];
        const uint32_t row = take_up_first(rows, &open, &cell.area, cell.class_id);
        if (row != NO_ROW) {
            if (cell.score > rows[row].score) rows[row].score = cell.score;
        } else if (cubes < MOST_CUBES) {
            rows[cubes] = cell;
            append(rows, &open, cubes++);
        }
    }
    /*
     * The second pass drops each cube that touches an earlier cube. The earlier cube grows, but its `area`, which is
     * the result, does not change.
     */
    open = (open_list){NO_ROW, NO_ROW};
    for (uint32_t i = 0; i < cubes; i++) {
        bxw_cell cube = rows[i];
        cube.area.width = cube.grown.width;
        cube.area.height = cube.grown.height;
        cube.area.x = cube.grown.x;
        if (take_up_first(rows, &open, &cube.area, cube.class_id) != NO_ROW) continue;
        rows[kept] = cube;
        append(rows, &open, kept++);
    }
    return kept;
}

/* Returns the row of a cell of a class, or `count`. Rows are in the order of the map. */
static uint32_t row_of(const bxw_cell *rows, uint32_t count, uint32_t source, int32_t class_id) {
    const bxw_cell wanted = {.source = source, .class_id = class_id};
    uint32_t from = 0, to = count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (is_earlier(&rows[middle], &wanted)) from = middle + 1;
        else to = middle;
    }
    return from < count && rows[from].source == source && rows[from].class_id == class_id ? from : count;
}

/* Returns the first row of a row's group, by following `grown.x`. */
static uint32_t root_of(bxw_cell *rows, uint32_t row) {
    uint32_t root = row;
    while (rows[root].grown.x != root) root = rows[root].grown.x;
    while (rows[row].grown.x != root) {
        const uint32_t next = rows[row].grown.x;
        rows[row].grown.x = root;
        row = next;
    }
    return root;
}

/* Groups the touching cells of each class into their enclosing boxes. Returns the count of groups. */
static uint32_t group_by_touch(bxw_cell *rows, uint32_t count, uint32_t across) {
    /* Neighbours that come before a cell in the order of the map: upper left, above, upper right, left. */
    static const struct {
        int32_t dx, dy;
    } steps[] = {{-1, -1}, {0, -1}, {1, -1}, {-1, 0}};
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i++) {
        rows[i].grown.x = i;
        for (uint32_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            const int64_t x = (int64_t)rows[i].area.x + steps[k].dx, y = (int64_t)rows[i].area.y + steps[k].dy;
            if (x < 0 || y < 0 || x >= across) continue;
            const uint32_t other = row_of(rows, i, (uint32_t)(y * across + x), rows[i].class_id);
            if (other == i) continue;
            const uint32_t a = root_of(rows, other), b = root_of(rows, i);
            if (a < b) rows[b].grown.x = a;
            else rows[a].grown.x = b;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t root = root_of(rows, i);
        bxw_area *box = &rows[root].area;
        if (root == i) continue;
        const uint32_t x = rows[i].area.x, right = box->x + box->width;
        const uint32_t end = right > x + 1 ? right : x + 1;
        if (x < box->x) box->x = x;
        box->width = end - box->x;
        box->height = rows[i].area.y + 1 - box->y;
        if (rows[i].score > rows[root].score) rows[root].score = rows[i].score;
    }
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].grown.x == i) rows[groups++] = rows[i];
    return groups;
}

static double within_unit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* Writes a group to a row of the detections. */
static void write_group(const bxw_decoder *d, uint32_t image, uint32_t row, const bxw_cell *group) {
    const uint8_t *t = task_of(d), *columns = image_row(d, image), *p = block(d, image);
    const uint8_t *head = d->plan + word(t, BXW_T_HEAD_TABLE);
    const uint32_t flags = word(t, BXW_T_FLAGS), across = word(head, BXW_E_GRID_W);
    const bxw_area *a = &group->area;
    const uint32_t edges[4] = {a->x, a->y, a->x + a->width, a->y + a->height};
    uint8_t *box = d->memory + word(columns, BXW_I_BOXES) + (size_t)row * 16;
    for (uint32_t k = 0; k < 4; k++) {
        double x = (double)edges[k] * real64(head, k & 1 ? BXW_E_UNIT_Y : BXW_E_UNIT_X);
        if (flags & BXW_TASK_FLAG_CLAMP_BEFORE) x = within_unit(x);
        x = x * (double)real(p, BXW_P_SCALE_X + (k & 1)) + (double)real(p, BXW_P_SHIFT_X + (k & 1));
        put_real(box, k, (float)(flags & BXW_TASK_FLAG_CLAMP_AFTER ? within_unit(x) : x));
    }
    put_real(d->memory + word(columns, BXW_I_SCORES), row, group->score);
    put(d->memory + word(columns, BXW_I_CLASS_IDS), row, (uint32_t)group->class_id);
    put(d->memory + word(columns, BXW_I_SOURCES), row, a->y * across + a->x);
}

int32_t bxw_decode_cells(bxw_decoder *d, uint32_t image, bxw_cell *work, uint32_t work_rows) {
    const uint8_t *t = task_of(d);
    if (word(t, BXW_T_KIND) != BXW_TASK_CELLS)
        return (int32_t)refuse(d, BXW_NOT_IN_PLAN, word(t, BXW_T_KIND), BXW_TASK_CELLS);
    if (image >= bxw_images(d)) return (int32_t)refuse(d, BXW_NO_SUCH_ROW, image, bxw_images(d));
    const uint32_t across = word(d->plan + word(t, BXW_T_HEAD_TABLE), BXW_E_GRID_W);
    uint8_t *p = block(d, image);
    /* Complete each image before the next, since images share the candidate columns. */
    bxw_run_decode(d, word(image_row(d, image), BXW_I_PLAN));
    const uint32_t outside = word(p, BXW_P_OUT_OF_RANGE);
    if (outside > 0) return (int32_t)refuse(d, BXW_OUT_OF_RANGE, outside, 0);
    const bxw_status status = read_cells(d, p, across, work, work_rows);
    if (status != BXW_OK) return (int32_t)status;
    const uint32_t cells = word(p, BXW_P_CANDIDATES), most = word(d->plan, BXW_F_MAX_DETECTIONS);
    uint32_t groups = word(t, BXW_T_RULE) == BXW_CELLS_ENCLOSING ? group_by_touch(work, cells, across)
                                                                 : group_by_sdk(work, cells);
    sort(work, groups, is_better);
    if (groups > word(p, BXW_P_MAX_DETECTIONS)) groups = word(p, BXW_P_MAX_DETECTIONS);
    if (groups > most) groups = most;
    for (uint32_t i = 0; i < groups; i++) write_group(d, image, i, &work[i]);
    put(p, BXW_P_DETECTIONS, groups);
    return (int32_t)groups;
}
