/*
 * Makes oriented boxes: reads angles, suppresses, writes boxes and corners. A separate object file, so that programs
 * with upright boxes do not link it.
 *
 * Steps and precision are those of src/tasks/oriented/, src/tasks/suppression/oriented-overlap.ts and
 * src/core/elementary.ts, so that the bits agree. These files explain the steps. This file uses no sin, exp or sqrt
 * of a C library, since C libraries round them differently.
 */
#include "boxwright.h"
#include "parts.h"

static const double PI = 3.141592653589793;
static const double HALF_PI = 1.5707963267948966;

/* ---- Elementary functions, twins of src/core/elementary.ts ---------------------------------------------------- */

/* 1.5 * 2^52. Adding and then subtracting this constant rounds a double to an integer. */
static const double ROUND = 6755399441055744.0;

/* Returns the remainder of x / `by`, with the sign of x, as fmod does. Every step is exact. */
static double remainder_of(double x, double by) {
    double rest = x < 0 ? -x : x, part = by;
    if (!(rest - rest == 0)) return rest - rest;
    while (part <= rest / 2) part *= 2;
    for (; part >= by; part /= 2)
        if (rest >= part) rest -= part;
    return x < 0 ? -rest : rest;
}

/* Sets cosine and sine of an angle. Sets NaN if the angle is not finite. */
static void cos_sin_of(double angle, double *cosine, double *sine) {
    const double x = angle > -131072 && angle < 131072 ? angle : remainder_of(angle, 2 * PI);
    const double quarters = x * 0.6366197723675814 + ROUND - ROUND;
    const double r = x - quarters * 1.5707963267923333 - quarters * 2.563344151594519e-12;
    const double z = r * r;
    const double s9 = 1.0 / 362880 - z * (1.0 / 39916800 - z * (1.0 / 6227020800 - z * (1.0 / 1307674368000 -
                      z * (1.0 / 355687428096000))));
    const double s = r - r * (z * (1.0 / 6 - z * (1.0 / 120 - z * (1.0 / 5040 - z * s9))));
    const double c8 = 1.0 / 40320 - z * (1.0 / 3628800 - z * (1.0 / 479001600 - z * (1.0 / 87178291200 -
                      z * (1.0 / 20922789888000))));
    const double c = 1 - z * (0.5 - z * (1.0 / 24 - z * (1.0 / 720 - z * c8)));
    const uint32_t quarter = quarters == quarters ? (uint32_t)(int32_t)quarters & 3 : 0;
    *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}

/* Returns the angle of a vector other than (0, 0). */
static double angle_of_vector(double x, double y) {
    static const double arc_tangents[] = {0, 0.24497866312686414, 0.4636476090008061, 0.6435011087932844,
                                          0.7853981633974483};
    const double across = x < 0 ? -x : x, down = y < 0 ? -y : y;
    const int is_steep = down > across;
    const double t = is_steep ? across / down : down / across;
    if (!(t >= 0 && t <= 1)) return t;
    const double quarters = t * 4 + ROUND - ROUND;
    const double c = quarters / 4;
    const double u = (t - c) / (1 + t * c);
    const double z = u * u;
    const double u9 = 1.0 / 9 - z * (1.0 / 11 - z * (1.0 / 13 - z * (1.0 / 15 - z * (1.0 / 17))));
    const double acute = arc_tangents[(uint32_t)quarters] +
                         (u - u * (z * (1.0 / 3 - z * (1.0 / 5 - z * (1.0 / 7 - z * u9)))));
    const double steep = is_steep ? HALF_PI - acute : acute;
    const double right = x < 0 ? PI - steep : steep;
    return y < 0 ? -right : right;
}

/* Returns x * 2^k. 2^k must be a normal double. */
static double scaled(double x, int32_t k) {
    const uint64_t bits = (uint64_t)(k + 1023) << 52;
    double two;
    memcpy(&two, &bits, sizeof two);
    return x * two;
}

/* Returns e^x, with x clamped to [-150, 130]. */
static double exponential(double x) {
    if (x != x) return x;
    const double within = x < -150 ? -150 : x > 130 ? 130 : x;
    const double k = within * 1.4426950408889634 + ROUND - ROUND;
    const double r = within - k * 0.69314718036912381649 - k * 1.90821492927058770002e-10;
    const double r9 = 1.0 / 362880 + r * (1.0 / 3628800 + r * (1.0 / 39916800 + r * (1.0 / 479001600 +
                      r * (1.0 / 6227020800))));
    const double r5 = 1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040 + r * (1.0 / 40320 + r * r9)));
    return scaled(1 + (r + r * (r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * r5))))), (int32_t)k);
}

/* Returns the natural logarithm of a number between 1e-9 and 2, as log in src/core/exp.ts does. */
static double logarithm(double x) {
    double m = x, k = 0;
    for (; m < 0.00390625; m *= 256) k -= 8;
    for (; m < 0.7071067811865476; m *= 2) k -= 1;
    for (; m >= 1.4142135623730951; m *= 0.5) k += 1;
    const double s = (m - 1) / (m + 1);
    const double z = s * s;
    const double tail = 0.1111111111111111 + z * (0.09090909090909091 + z * 0.07692307692307693);
    const double series = 1 + z * (0.3333333333333333 + z * (0.2 + z * (0.14285714285714285 + z * tail)));
    return 2 * s * series + k * 0.6931471805599453;
}

/* Returns the square root, correctly rounded, digit by digit, since some processors lack one for doubles. */
static double root_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (!(x > 0) || bits >> 52 == 2047) return x < 0 ? -(x - x) / (x - x) : x;
    int32_t exponent = (int32_t)(bits >> 52) - 1075;
    uint64_t left = bits & 0xfffffffffffffu;
    if (bits >> 52 > 0) left |= 1ull << 52;
    else exponent++;
    /* x = left * 2^exponent, with `left` of 53 or 54 bits and an even exponent. */
    for (; left < 1ull << 52; left <<= 1) exponent--;
    if ((uint32_t)exponent & 1) {
        left <<= 1;
        exponent--;
    }
    /* The root of left * 2^54 has 54 bits, of which the last rounds. If that bit is set, the remainder is not 0. */
    uint64_t root = 0, rest = 0;
    for (uint32_t i = 0; i < 54; i++, left = left << 2 & 0x3fffffffffffffu) {
        rest = rest << 2 | left >> 52;
        root <<= 1;
        if (rest > root << 1) {
            rest -= root << 1 | 1;
            root |= 1;
        }
    }
    return scaled((double)((root + 1) >> 1), (exponent - 54) / 2 + 1);
}

/* ---- Boxes, twins of src/tasks/oriented/geometry.ts ------------------------------------------------------------------- */

typedef struct turned {
    double x, y, width, height, angle;
} turned;

/* Returns an equal box with an angle in [0, pi/2). */
static turned regular(turned b) {
    double half = b.angle;
    if (!(half >= 0 && half < PI)) {
        half = remainder_of(half, PI);
        if (half < 0) half = half + PI < PI ? half + PI : 0;
    }
    if (half < HALF_PI) return (turned){b.x, b.y, b.width, b.height, half};
    return (turned){b.x, b.y, b.height, b.width, half - HALF_PI};
}

static void corners_of(const turned *b, double to[8]) {
    double cosine, sine;
    cos_sin_of(b->angle, &cosine, &sine);
    cosine /= 2;
    sine /= 2;
    const double ux = b->width * cosine, uy = b->width * sine;
    const double vx = -b->height * sine, vy = b->height * cosine;
    to[0] = b->x + ux + vx;
    to[1] = b->y + uy + vy;
    to[2] = b->x + ux - vx;
    to[3] = b->y + uy - vy;
    to[4] = b->x - ux - vx;
    to[5] = b->y - uy - vy;
    to[6] = b->x - ux + vx;
    to[7] = b->y - uy + vy;
}

static double magnitude(double x) { return x < 0 ? -x : x; }

/* Returns the smallest rectangle around a parallelogram. */
static turned fitted(const double c[8]) {
    const double ux = (c[0] - c[6] + c[2] - c[4]) / 2, uy = (c[1] - c[7] + c[3] - c[5]) / 2;
    const double vx = (c[0] - c[2] + c[6] - c[4]) / 2, vy = (c[1] - c[3] + c[7] - c[5]) / 2;
    const double width = root_of(ux * ux + uy * uy), height = root_of(vx * vx + vy * vy);
    const int is_wide = width >= height;
    const double longer = is_wide ? width : height;
    turned b = {(c[0] + c[2] + c[4] + c[6]) / 4, (c[1] + c[3] + c[5] + c[7]) / 4, 0, 0, 0};
    if (longer == 0) return b;
    const double along = longer + magnitude(ux * vx + uy * vy) / longer;
    const double across = magnitude(ux * vy - uy * vx) / longer;
    b.width = is_wide ? along : across;
    b.height = is_wide ? across : along;
    b.angle = is_wide ? angle_of_vector(ux, uy) : angle_of_vector(vy, -vx);
    return b;
}

/* ---- Overlaps, twins of src/tasks/suppression/oriented-overlap.ts -------------------------------------------------------- */

static const double LITTLE = 1e-7;

/* How boxes suppress each other. The last two fields are bounds that follow from the threshold. */
typedef struct overlap_rule {
    uint32_t name; /* BXW_ORIENTED_* */
    int or_equal, per_class;
    double threshold, far_ratio, limit;
} overlap_rule;

/* Indices of a candidate's numbers: centre N_X, N_Y, then N_XX to N_EXTENT (ProbIoU) or N_AX to N_AREA (polygons). */
enum { N_X, N_Y, N_XX, N_YY, N_XY, N_ROOT, N_EXTENT };
enum { N_AX = 2, N_AY, N_BX, N_BY, N_AREA };

/*
 * Returns the double nearest to a threshold as the user wrote it, with up to seven digits. The plan stores 0.7 as an
 * f32, which is below 0.7, while overlaps are doubles. The products are exact for thresholds above 1e-6.
 */
static double decimal_of(float f32) {
    if (!(f32 > 0)) return 0;
    if (f32 >= 1) return 1;
    double scale = 1e7;
    while ((double)f32 * scale < 1e6 && scale < 1e22) scale *= 10;
    const double digits = (double)f32 * scale;
    /* Round to the nearest integer, halves up. */
    uint64_t whole = (uint64_t)digits;
    if (digits - (double)whole >= 0.5) whole++;
    return (double)whole / scale;
}

/* Returns the threshold of the plan, or the one set by bxw_set_iou. */
static double threshold_of(const bxw_decoder *d, const uint8_t *p) {
    const double planned = real64(task_of(d), BXW_T_IOU);
    const float now = real(p, BXW_P_IOU);
    return planned >= 0 && planned <= 1 && now == (float)planned ? planned : decimal_of(now);
}

static overlap_rule rule_of(const bxw_decoder *d, const uint8_t *p) {
    const uint8_t *t = task_of(d);
    const uint32_t flags = word(t, BXW_T_FLAGS);
    overlap_rule r = {word(t, BXW_T_SUPPRESSION), (flags & BXW_TASK_FLAG_AT_THRESHOLD) != 0,
                      (flags & BXW_TASK_FLAG_PER_CLASS) != 0, threshold_of(d, p), __builtin_inf(), 0};
    const double most = 1 - (r.threshold > 1e-6 ? r.threshold : 1e-6);
    r.limit = -logarithm(1 + LITTLE - (1 - r.threshold) * (1 - r.threshold));
    if (r.threshold > 0) r.far_ratio = 4.04 * -logarithm(1 - most * most + LITTLE) + LITTLE;
    return r;
}

/* Computes the numbers of a box that its overlaps need. */
static void describe(const overlap_rule *r, const turned *b, double n[7]) {
    double cosine, sine;
    cos_sin_of(b->angle, &cosine, &sine);
    n[N_X] = b->x;
    n[N_Y] = b->y;
    if (r->name == BXW_ORIENTED_OPENCV) {
        n[N_AX] = b->width / 2 * cosine;
        n[N_AY] = b->width / 2 * sine;
        n[N_BX] = -b->height / 2 * sine;
        n[N_BY] = b->height / 2 * cosine;
        n[N_AREA] = magnitude(b->width * b->height);
        return;
    }
    const double along = b->width * b->width / 12, across = b->height * b->height / 12;
    n[N_XX] = along * cosine * cosine + across * sine * sine;
    n[N_YY] = along * sine * sine + across * cosine * cosine;
    n[N_XY] = (along - across) * cosine * sine;
    const double determinant = n[N_XX] * n[N_YY] - n[N_XY] * n[N_XY];
    n[N_ROOT] = determinant > 0 ? root_of(determinant) : 0;
    n[N_EXTENT] = along > across ? along : across;
}

/* True if an overlap is large enough to suppress. */
static int passes(const overlap_rule *r, double overlap) {
    return r->or_equal ? overlap >= r->threshold : overlap > r->threshold;
}

/* True if the Gaussians of two boxes overlap enough. */
static int gaussians_pass(const overlap_rule *r, const double a[7], const double b[7]) {
    const double dx = a[N_X] - b[N_X], dy = a[N_Y] - b[N_Y];
    if (dx * dx + dy * dy > r->far_ratio * (a[N_EXTENT] + b[N_EXTENT]) + r->far_ratio * LITTLE) return passes(r, 0);
    const double xx = a[N_XX] + b[N_XX], yy = a[N_YY] + b[N_YY], xy = a[N_XY] + b[N_XY];
    const double product = xx * yy - xy * xy;
    const double determinant = product > 0 ? product : 0;
    const double centre_term = ((xx * dy * dy + yy * dx * dx) / 4 - xy * dx * dy / 2) / (determinant + LITTLE);
    const double shape_ratio = determinant / (4 * (a[N_ROOT] * b[N_ROOT]) + LITTLE) + LITTLE;
    if (shape_ratio >= 1) {
        if (centre_term > r->limit + 1e-9) return 0;
        if (centre_term + (shape_ratio - 1) / 2 < r->limit - 1e-9) return 1;
    }
    const double alike = exponential(-centre_term) / root_of(shape_ratio);
    return passes(r, 1 - root_of(1 - (alike > 0.999999900000005 ? 0.999999900000005 : alike) + LITTLE));
}

/* Writes the corners of a box from its numbers. */
static void outline_of(const double n[7], double to[8]) {
    const double x = n[N_X], y = n[N_Y], ax = n[N_AX], ay = n[N_AY], bx = n[N_BX], by = n[N_BY];
    to[0] = ax + bx + x;
    to[1] = ay + by + y;
    to[2] = bx - ax + x;
    to[3] = by - ay + y;
    to[4] = -ax - bx + x;
    to[5] = -ay - by + y;
    to[6] = ax - bx + x;
    to[7] = ay - by + y;
}

/* Clips the polygon of `n` corners by the line through two corners. Returns the count of corners left. */
static uint32_t clip(const double *p, double *clipped, uint32_t n, const double from[2], const double to[2]) {
    const double side_x = to[0] - from[0], side_y = to[1] - from[1];
    uint32_t count = 0;
    double px = p[n * 2 - 2], py = p[n * 2 - 1];
    double before = side_x * (py - from[1]) - side_y * (px - from[0]);
    for (uint32_t i = 0; i < n; i++, p += 2) {
        const double here = side_x * (p[1] - from[1]) - side_y * (p[0] - from[0]);
        if ((before >= 0) != (here >= 0)) {
            const double part = before / (before - here);
            clipped[count++] = px + part * (p[0] - px);
            clipped[count++] = py + part * (p[1] - py);
        }
        if (here >= 0) {
            clipped[count++] = p[0];
            clipped[count++] = p[1];
        }
        px = p[0];
        py = p[1];
        before = here;
    }
    return count >> 1;
}

/* Returns the shared area of two boxes: clips one by each side of the other. */
static double shared_area(const double a[7], const double b[7]) {
    /*
     * A clip of a convex polygon adds one corner at most. If rounding puts corners on either side of the line, every
     * second one may become two: four corners become 6, 9, 13 and 19.
     */
    double one[19 * 2], other[13 * 2], sides[8], *p = one, *q = other;
    uint32_t n = 4;
    outline_of(a, p);
    outline_of(b, sides);
    for (uint32_t side = 0; side < 8 && n > 0; side += 2) {
        n = clip(p, q, n, sides + side, sides + ((side + 2) & 7));
        double *swap = p;
        p = q;
        q = swap;
    }
    double twice = 0;
    for (uint32_t i = 4; i < n * 2; i += 2)
        twice += (p[i - 2] - p[0]) * (p[i + 1] - p[1]) - (p[i] - p[0]) * (p[i - 1] - p[1]);
    return magnitude(twice) / 2;
}

static double lesser(double a, double b) { return a < b ? a : b; }
static double greater(double a, double b) { return a > b ? a : b; }

/* Returns the length by which two boxes overlap along an axis. */
static double common(double a, double a_half, double b, double b_half) {
    return lesser(a + a_half, b + b_half) - greater(a - a_half, b - b_half);
}

/* True if the polygons of two boxes overlap enough. */
static int polygons_pass(const overlap_rule *r, const double a[7], const double b[7]) {
    const double width = common(a[N_X], magnitude(a[N_AX]) + magnitude(a[N_BX]), b[N_X],
                                magnitude(b[N_AX]) + magnitude(b[N_BX]));
    const double height = common(a[N_Y], magnitude(a[N_AY]) + magnitude(a[N_BY]), b[N_Y],
                                 magnitude(b[N_AY]) + magnitude(b[N_BY]));
    if (width < 0 || height < 0) return passes(r, 0);
    const double areas = a[N_AREA] + b[N_AREA];
    const double most = lesser(width * height, lesser(a[N_AREA], b[N_AREA])) * (1 + LITTLE);
    if (most == 0 || most < r->threshold * (areas - most)) return passes(r, 0);
    const double both = shared_area(a, b);
    const double whole = areas - both;
    return passes(r, whole > 0 ? both / whole : 0);
}

/* True if one of the first `n` rows suppresses a box. */
static int is_suppressed(const overlap_rule *r, const bxw_candidate *rows, uint32_t n, const bxw_candidate *one) {
    for (uint32_t i = 0; i < n; i++)
        if ((!r->per_class || rows[i].class_id == one->class_id) &&
            (r->name == BXW_ORIENTED_OPENCV ? polygons_pass(r, rows[i].numbers, one->numbers)
                                            : gaussians_pass(r, rows[i].numbers, one->numbers)))
            return 1;
    return 0;
}

/* ---- Candidates, twins of src/tasks/oriented/attach.ts ----------------------------------------------------------------- */

/* The candidate columns of an image. */
typedef struct candidates {
    const uint8_t *scores, *class_ids, *sources, *boxes;
    uint32_t count;   /* of all candidates */
    uint32_t ordered; /* of those that suppression may look at */
} candidates;

/* Finds the candidate columns. Refuses columns outside memory, as in a forged plan. */
static bxw_status columns_of(bxw_decoder *d, const uint8_t *p, candidates *c) {
    static const uint32_t columns[] = {BXW_P_SCORES, BXW_P_CLASS_IDS, BXW_P_SOURCES, BXW_P_ORDER, BXW_P_BOXES};
    c->count = word(p, BXW_P_CANDIDATES);
    c->ordered = word(p, BXW_P_ORDERED);
    if (c->ordered > c->count) c->ordered = c->count;
    for (uint32_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const uint32_t at = word(p, columns[i]);
        if (!fits(at, c->count, columns[i] == BXW_P_BOXES ? 16 : 4, d->memory_bytes))
            return refuse(d, BXW_DAMAGED, at, d->memory_bytes);
    }
    c->scores = d->memory + word(p, BXW_P_SCORES);
    c->class_ids = d->memory + word(p, BXW_P_CLASS_IDS);
    c->sources = d->memory + word(p, BXW_P_SOURCES);
    c->boxes = d->memory + word(p, BXW_P_BOXES);
    return BXW_OK;
}

/* True if candidate a comes after b: it has a lower score, or the same score and a higher index. */
static int is_behind(const candidates *c, uint32_t a, uint32_t b) {
    const float x = real(c->scores, a), y = real(c->scores, b);
    return x < y || (!(y < x) && a > b);
}

/* Sinks the index at row `at` of a heap of n rows. The first row of the heap comes after all others. */
static void sink(const candidates *c, bxw_candidate *rows, uint32_t at, uint32_t n) {
    const uint32_t index = rows[at].index;
    for (uint32_t next = at * 2 + 1; next < n; at = next, next = at * 2 + 1) {
        if (next + 1 < n && is_behind(c, rows[next + 1].index, rows[next].index)) next++;
        if (!is_behind(c, rows[next].index, index)) break;
        rows[at].index = rows[next].index;
    }
    rows[at].index = index;
}

/* Writes the indices of the candidates to the rows, best first. */
static bxw_status sort(bxw_decoder *d, const uint8_t *p, const candidates *c, bxw_candidate *rows, uint32_t room) {
    /* If there are many candidates, the kernel sorts only the best ones. */
    const int is_sorted = word(p, BXW_P_SORTED) >= c->ordered;
    const uint32_t n = is_sorted ? c->ordered : c->count;
    const uint8_t *order = d->memory + word(p, BXW_P_ORDER);
    if (n > room) return refuse(d, BXW_MEMORY_SMALL, room, n);
    for (uint32_t i = 0; i < n; i++) {
        rows[i].index = is_sorted ? word(order, i) : i;
        if (rows[i].index >= c->count) return refuse(d, BXW_DAMAGED, rows[i].index, c->count);
    }
    if (is_sorted) return BXW_OK;
    for (uint32_t i = n / 2; i-- > 0;) sink(c, rows, i, n);
    for (uint32_t i = n; i-- > 1;) {
        const uint32_t last = rows[0].index;
        rows[0].index = rows[i].index;
        rows[i].index = last;
        sink(c, rows, 0, i);
    }
    return BXW_OK;
}

/* Sets `angle` to the angle of a raw value, or to NaN if the raw value is not finite. */
static bxw_status read_angle(bxw_decoder *d, double raw, double *angle) {
    const uint32_t activation = word(task_of(d), BXW_T_ANGLE);
    *angle = raw;
    if (!(raw - raw == 0)) *angle = __builtin_nan("");
    else if (activation == BXW_ANGLE_SIGMOID && (raw < -0.01 || raw > 1.01)) return refuse(d, BXW_OUT_OF_RANGE, 1, 0);
    else if (activation == BXW_ANGLE_LOGITS) *angle = (1 / (1 + exponential(-raw)) - 0.25) * PI;
    else if (activation == BXW_ANGLE_SIGMOID) *angle = (raw - 0.25) * PI;
    return BXW_OK;
}

/* Reads a candidate as an oriented box in pixels of the network's input. Its angle may be NaN. */
static bxw_status read_box(bxw_decoder *d, uint32_t image, const candidates *c, uint32_t index, turned *b) {
    const double w = word(d->plan, BXW_F_INPUT_WIDTH), h = word(d->plan, BXW_F_INPUT_HEIGHT);
    const uint8_t *e = NULL, *box = c->boxes + (size_t)index * 16;
    uint32_t cell = 0;
    channels found;
    bxw_status status = channels_of(d, image, word(c->sources, index), &found, &e, &cell);
    if (status == BXW_OK) status = read_angle(d, (double)channel(&found, 0), &b->angle);
    if (status != BXW_OK) return status;
    const double x1 = (double)real(box, 0), y1 = (double)real(box, 1);
    const double x2 = (double)real(box, 2), y2 = (double)real(box, 3);
    b->x = (x1 + x2) / 2 * w;
    b->y = (y1 + y2) / 2 * h;
    b->width = (x2 - x1) * w;
    b->height = (y2 - y1) * h;
    if (b->angle != b->angle || !word(e, BXW_E_TURNS)) return BXW_OK;
    /* Rotate the vector from the cell to the box centre too. */
    const uint32_t across = word(e, BXW_E_GRID_W);
    const double cell_x = (cell % across + real64(e, BXW_E_ADD)) * real64(e, BXW_E_UNIT_X);
    const double cell_y = (cell / across + real64(e, BXW_E_ADD)) * real64(e, BXW_E_UNIT_Y);
    const double dx = b->x - cell_x, dy = b->y - cell_y;
    double cosine, sine;
    cos_sin_of(b->angle, &cosine, &sine);
    b->x = cell_x + dx * cosine - dy * sine;
    b->y = cell_y + dx * sine + dy * cosine;
    return BXW_OK;
}

/* Writes a box in the coordinates of the frame. */
static void write_box(const bxw_decoder *d, const uint8_t *p, turned b, bxw_oriented_box *to) {
    const double w = word(d->plan, BXW_F_INPUT_WIDTH), h = word(d->plan, BXW_F_INPUT_HEIGHT);
    const double frame_w = d->frame_width > 0 ? d->frame_width : w, frame_h = d->frame_width > 0 ? d->frame_height : h;
    const int is_regular = (word(task_of(d), BXW_T_FLAGS) & BXW_TASK_FLAG_REGULAR) != 0;
    double c[8];
    if (is_regular) b = regular(b);
    corners_of(&b, c);
    if (d->frame_width > 0 && d->resize == BXW_STRETCH) {
        /* Stretching turns a rectangle into a parallelogram. */
        for (uint32_t k = 0; k < 8; k++) c[k] *= k & 1 ? frame_h / h : frame_w / w;
        b = fitted(c);
        if (is_regular) b = regular(b);
        corners_of(&b, c);
        for (uint32_t k = 0; k < 8; k++) c[k] /= k & 1 ? frame_h : frame_w;
    } else {
        const double scale[2] = {(double)real(p, BXW_P_SCALE_X) / w, (double)real(p, BXW_P_SCALE_Y) / h};
        for (uint32_t k = 0; k < 8; k++) c[k] = c[k] * scale[k & 1] + (double)real(p, BXW_P_SHIFT_X + (k & 1));
    }
    to->angle = (float)b.angle;
    for (uint32_t k = 0; k < 8; k++) {
        to->corners[k] = (float)c[k];
        c[k] = (double)to->corners[k] * (k & 1 ? frame_h : frame_w);
    }
    to->cx = (float)((c[0] + c[4]) / 2);
    to->cy = (float)((c[1] + c[5]) / 2);
    to->width = (float)root_of((c[0] - c[6]) * (c[0] - c[6]) + (c[1] - c[7]) * (c[1] - c[7]));
    to->height = (float)root_of((c[0] - c[2]) * (c[0] - c[2]) + (c[1] - c[3]) * (c[1] - c[3]));
}

static float lesser_f32(float a, float b) { return a < b ? a : b; }
static float greater_f32(float a, float b) { return a > b ? a : b; }

/* Writes a row of the detection columns: the upright box around the corners, score, class id and source. */
static void write_row(const bxw_decoder *d, uint32_t image, uint32_t row, const bxw_oriented_box *b) {
    const uint8_t *columns = image_row(d, image);
    uint8_t *box = d->memory + word(columns, BXW_I_BOXES) + (size_t)row * 16;
    for (uint32_t k = 0; k < 2; k++) {
        const float *c = b->corners + k;
        put_real(box, k, lesser_f32(lesser_f32(c[0], c[2]), lesser_f32(c[4], c[6])));
        put_real(box, k + 2, greater_f32(greater_f32(c[0], c[2]), greater_f32(c[4], c[6])));
    }
    put_real(d->memory + word(columns, BXW_I_SCORES), row, b->score);
    put(d->memory + word(columns, BXW_I_CLASS_IDS), row, (uint32_t)b->class_id);
    put(d->memory + word(columns, BXW_I_SOURCES), row, b->source);
}

int32_t bxw_decode_oriented(bxw_decoder *d, uint32_t image, bxw_oriented_box *boxes, uint32_t room,
                            bxw_candidate *work, uint32_t work_rows) {
    const uint32_t kind = word(task_of(d), BXW_T_KIND);
    if (kind != BXW_TASK_ORIENTED) return (int32_t)refuse(d, BXW_NOT_IN_PLAN, kind, BXW_TASK_ORIENTED);
    if (image >= bxw_images(d)) return (int32_t)refuse(d, BXW_NO_SUCH_ROW, image, bxw_images(d));
    const uint32_t angle = word(task_of(d), BXW_T_ANGLE), name = word(task_of(d), BXW_T_SUPPRESSION);
    if (angle > BXW_ANGLE_SIGMOID) return (int32_t)refuse(d, BXW_DAMAGED, angle, BXW_ANGLE_SIGMOID);
    if (name > BXW_ORIENTED_OPENCV) return (int32_t)refuse(d, BXW_DAMAGED, name, BXW_ORIENTED_OPENCV);
    uint8_t *p = block(d, image);
    /* Complete each image before the next, since images share the candidate columns. */
    bxw_run_decode(d, word(image_row(d, image), BXW_I_PLAN));
    const uint32_t outside = word(p, BXW_P_OUT_OF_RANGE);
    if (outside > 0) return (int32_t)refuse(d, BXW_OUT_OF_RANGE, outside, 0);
    candidates c;
    bxw_status status = columns_of(d, p, &c);
    if (status == BXW_OK) status = sort(d, p, &c, work, work_rows);
    if (status != BXW_OK) return (int32_t)status;
    const overlap_rule rule = rule_of(d, p);
    uint32_t most = word(p, BXW_P_MAX_DETECTIONS), kept = 0, rows = 0;
    if (most > word(d->plan, BXW_F_MAX_DETECTIONS)) most = word(d->plan, BXW_F_MAX_DETECTIONS);
    if (most > room) most = room;
    for (uint32_t i = 0; i < c.ordered && kept < most; i++) {
        bxw_candidate one = {{0}, work[i].index, 0};
        turned b;
        status = read_box(d, image, &c, one.index, &b);
        if (status != BXW_OK) return (int32_t)status;
        if (b.angle != b.angle) continue;
        one.class_id = (int32_t)word(c.class_ids, one.index);
        int stays = 1;
        if (rule.name != BXW_ORIENTED_NONE) {
            describe(&rule, &b, one.numbers);
            stays = !is_suppressed(&rule, work, rows, &one);
            /* Rows up to i are read already, so they can hold the boxes that suppress others. */
            if (stays || rule.name == BXW_ORIENTED_ULTRALYTICS) work[rows++] = one;
        }
        if (!stays) continue;
        bxw_oriented_box *to = boxes + kept;
        write_box(d, p, b, to);
        to->score = real(c.scores, one.index);
        to->class_id = one.class_id;
        to->source = word(c.sources, one.index);
        write_row(d, image, kept++, to);
    }
    put(p, BXW_P_DETECTIONS, kept);
    return (int32_t)kept;
}
