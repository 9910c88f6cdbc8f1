/* The gradient of the weight, included once an element type after conv_few.h: for each group a product
   [output channels, positions] @ [positions, (c, tap)], whose right operand is made from slabs a panel of columns at a time, or
   with few output channels inner products. The images are cut into parts by shape; each part sums on its own, and the parts are
   added in order. */

typedef struct {
    FN(job) job;                 /* the convolution whose weight it is: slabs and offsets */
    const T *grad;               /* [n, groups, o, positions] */
    T *out, *sums;               /* sums: [group, part][kernel depth][o][columns] */
    int64_t columns, units, parts, splits, positions;
    int32_t *places;             /* of the vectors of inner products; NULL where columns are packed */
    int64_t edges, flat;         /* where the last of them begin; what a map of the gradient takes, its rows as in a slab, or 0 */
    int failed;
} FN(weight);

GEMM_INLINE int64_t FN(few_columns)(int64_t depth) { return gemm_ceil(depth, FN(FEW_COLUMNS)) * FN(FEW_COLUMNS); }

/* Whether nothing is packed: few output channels, rows that fill their vectors, and sums that stay in L2. */
enum { FN(UNIT) = 256, FN(FEW) = 32, FN(FEW_LANES) = 96 * 1024 / TBYTES };

static int FN(is_few)(const FN(job) *g, int64_t depth)
{
    const int64_t cols = g->col_block, wide = gemm_min(gemm_ceil(cols, VL) * VL, g->width);
    return g->call->o <= FN(FEW) && g->col_blocks == 1 && cols >= VL && wide * 4 <= cols * 5 &&
           g->row_block * cols >= FN(UNIT) && g->call->o * FN(few_columns)(depth) * VL <= FN(FEW_LANES);
}

/* Positions from the first one of `rows` rows to the last, with those between rows. */
GEMM_INLINE int64_t FN(flat_length)(const FN(job) *g, int64_t rows) { return (rows - 1) * g->width + g->col_block; }

/* The places of the vectors in `rows` rows: first those of all rows that are whole, then the edges; or where the gradient's rows
   lie as the slab's, those of all rows as of one, then its edge for each number of rows. */
static void FN(few_places)(FN(weight) *w, int32_t *to)
{
    const FN(job) *g = &w->job;
    const int64_t cols = g->col_block, out = g->axis[2].out, rows = g->row_block;
    w->places = to;
    if (w->flat)
        for (int64_t p = 0; p + VL <= FN(flat_length)(g, rows); p += VL) *to++ = (int32_t)p, *to++ = (int32_t)p;
    else
        for (int64_t r = 0; r < rows; r++)
            for (int64_t j = 0; j + VL <= cols; j += VL) {
                *to++ = (int32_t)(r * g->width + j);
                *to++ = (int32_t)(r * out + j);
            }
    w->edges = to - w->places;
    for (int64_t r = 0; r < rows; r++) {
        *to++ = (int32_t)(r * g->width + cols - VL);
        *to++ = (int32_t)(r * (w->flat ? g->width : out) + cols - VL);
    }
}

static FN(steps) FN(few_steps)(const FN(weight) *w, int64_t rows)
{
    const int64_t cols = w->flat ? FN(flat_length)(&w->job, rows) : w->job.col_block, rest = cols % VL;
    FN(steps) s = {.full = w->places, .edge = w->places + w->edges + (w->flat ? 2 * (rows - 1) : 0)};
    s.full_count = cols / VL * (w->flat ? 1 : rows);
    s.edge_count = rest == 0 ? 0 : w->flat ? 1 : rows;
    TI mask[VL];
    for (int l = 0; l < VL; l++) mask[l] = l >= VL - rest ? -1 : 0;
    memcpy(&s.mask, mask, sizeof mask);
    return s;
}

/* The gradient of all output channels at `rows` rows, as the slab's lie: zeros between them. */
static void FN(few_flat)(const FN(weight) *w, const T *grad, int64_t ld, int64_t rows, T *to)
{
    const int64_t cols = w->job.col_block, width = w->job.width;
    for (int64_t o = 0; o < w->job.call->o; o++)
        for (int64_t r = 0; r < rows; r++)
            FN(fill_row)(grad + o * ld + r * cols, 1, 0, cols, r + 1 < rows ? width : cols, to + o * w->flat + r * width);
}

/* Rows of the slab at `rows` x `cols` positions for columns k..k + NR of the product, to [position][NR]. */
static void FN(gather_columns)(const FN(job) *g, const T *slab, int64_t k, int64_t depth, int64_t rows, int64_t cols, T *d)
{
    const T *from[NR];
    for (int l = 0; l < NR; l++) from[l] = slab + g->offsets[gemm_min(k + l, depth - 1)];
    for (int64_t r = 0; r < rows; r++, d += cols * NR) {
        const int64_t down = r * g->width;
        for (int64_t j = 0; j < cols; j += VL)
            for (int h = 0; h < NR; h += VL) {
                VEC t[VL];
                GEMM_PRAGMA(GCC unroll 16)
                for (int l = 0; l < VL; l++) t[l] = LOAD(from[h + l] + down + j);
                FN(transpose)(t);
                /* what lies beyond the row is written over by the next one */
                GEMM_PRAGMA(GCC unroll 16)
                for (int l = 0; l < VL; l++) STORE(d + (j + l) * NR + h, t[l]);
            }
    }
}

static void FN(weight_part)(void *ctx, int64_t task)
{
    FN(weight) *w = ctx;
    FN(job) *g = &w->job;
    const conv_call *call = g->call;
    const conv_axis *d = &g->axis[0], *h = &g->axis[1], *v = &g->axis[2];
    const int64_t split = task % w->splits, part = task / w->splits % w->parts, group = task / w->splits / w->parts;
    const gemm_split units = gemm_even(w->units, w->parts), panels = gemm_even(g->mp, w->splits);
    const int64_t i0 = gemm_start(panels, split), i1 = gemm_start(panels, split + 1);
    const int64_t o0 = gemm_start(g->rows, i0), outputs = gemm_start(g->rows, i1) - o0;
    const int64_t depth = call->c * call->kernel[1] * call->kernel[2];
    T *sums = w->sums + (group * w->parts + part) * call->kernel[0] * call->o * w->columns;
    const int64_t every = FN(few_columns)(depth), lanes = call->o * every * VL;
    const int64_t room_a = (outputs * (w->places ? w->flat : w->positions) + 63) / 64 * 64;
    const int64_t room_b = w->places ? call->kernel[0] * lanes + VL * VL : (w->positions + VL) * NR;
    const size_t bytes = (room_a + room_b + g->slab) * sizeof(T);
    T *a = rt->alloc(bytes), *b = a + room_a, *slab = b + room_b;
    if (!a) {
        __atomic_store_n(&w->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    if (w->places) memset(b, 0, room_b * sizeof(T));
    else for (int64_t z = 0; z < call->kernel[0]; z++)
        memset(sums + (z * call->o + o0) * w->columns, 0, outputs * w->columns * sizeof(T));
    for (int64_t unit = gemm_start(units, part); unit < gemm_start(units, part + 1); unit++) {
        const int64_t col = unit % g->col_blocks, row = unit / g->col_blocks % g->row_blocks;
        const int64_t plane = unit / g->col_blocks / g->row_blocks, z = plane % d->out;
        const int64_t image = plane / d->out * call->groups + group, q0 = row * g->row_block, j0 = col * g->col_block;
        const int64_t rows = gemm_min(g->row_block, h->out - q0), cols = gemm_min(g->col_block, v->out - j0);
        const int64_t k = rows * cols, volume = d->out * FN(plane_out)(g);
        const T *grad = w->grad + (image * call->o + o0) * volume + z * FN(plane_out)(g) + q0 * v->out + j0;
        if (w->flat) FN(few_flat)(w, grad, volume, rows, a);
        for (int64_t i = w->places ? i1 : i0; i < i1; i++) {
            const int64_t o = gemm_start(g->rows, i) - o0;
            const int height = FN(job_height)(g, i);
            T *p = a + o * k;
            if (cols == v->out) FN(pack_a)(grad + o * volume, volume, 1, height, k, p);
            else
                for (int64_t r = 0; r < rows; r++)
                    FN(pack_a)(grad + o * volume + r * v->out, volume, 1, height, cols, p + r * cols * height);
        }
        for (int64_t t = 0; t < call->kernel[0]; t++) {
            const int64_t at = z * d->read + d->offset[t];
            if (at < 0 || at >= d->in) continue;
            FN(fill_slab)(g, g->x + (image * call->c * d->in + at) * FN(plane_in)(g),
                          (rows - 1) * h->read + h->span + 1, q0 * h->read + h->low, j0 * v->read + v->low, slab);
            if (w->places) {
                const FN(steps) steps = FN(few_steps)(w, rows);
                FN(few_unit)(g, &steps, w->flat ? a : grad, w->flat ? w->flat : volume, slab, depth, every, b + t * lanes);
                continue;
            }
            T *c = sums + (t * call->o + o0) * w->columns;
            for (int64_t n = 0; n < depth; n += NR) {
                FN(gather_columns)(g, slab, n, depth, rows, cols, b);
                for (int64_t i = i0; i < i1; i++) {
                    const int64_t o = gemm_start(g->rows, i) - o0;
                    const FN(target) to = {.c = c + o * w->columns + n, .ldc = w->columns, .add = 1, .w = NR};
                    FN(tile_packed)(FN(job_height)(g, i), k, a + o * k, b, &to);
                }
            }
        }
    }
    if (w->places)
        for (int64_t t = 0; t < call->kernel[0]; t++)
            FN(few_sums)(call->o, b + t * lanes, depth, every, w->columns, sums + t * call->o * w->columns);
    rt->free(a, bytes);
}

/* Parts added in order, to [group, o, c, kernel depth, tap]. */
static void FN(weight_sum)(void *ctx, int64_t task)
{
    FN(weight) *w = ctx;
    T odd = 0; /* becomes a NaN with a sum that is one */
    const conv_call *call = w->job.call;
    const int64_t area = call->kernel[1] * call->kernel[2], group = task / call->o, o = task % call->o;
    const int64_t step = call->kernel[0] * call->o * w->columns;
    T *out = w->out + task * call->c * call->kernel[0] * area;
    for (int64_t z = 0; z < call->kernel[0]; z++) {
        const T *sums = w->sums + group * w->parts * step + (z * call->o + o) * w->columns;
        for (int64_t c = 0; c < call->c; c++)
            for (int64_t k = 0; k < area; k++) {
                T sum = 0;
                for (int64_t p = 0; p < w->parts; p++) sum += sums[p * step + c * area + k];
                out[(c * call->kernel[0] + z) * area + k] = sum;
                odd += sum * 0;
            }
    }
    if (odd != odd) __atomic_store_n(&w->job.odd, 1, __ATOMIC_RELAXED);
}

/* The positions from p[0] up to p[1] at which tap t reads an element that exists. */
GEMM_INLINE void FN(positions_inside)(const conv_axis *x, int64_t t, int64_t p[2])
{
    p[0] = i64_max(0, -conv_floor(x->offset[t], x->read));
    p[1] = gemm_min(x->out, conv_floor(x->in - 1 - x->offset[t], x->read) + 1);
}

/* What lies outside was multiplied as zeros. With gradients that are not finite that makes NaN, so sums that are NaN are made
   again without it: one output channel. */
static void FN(mend_weight)(void *ctx, int64_t task)
{
    const FN(weight) *w = ctx;
    const conv_call *call = w->job.call;
    const conv_axis *d = &w->job.axis[0], *h = &w->job.axis[1], *v = &w->job.axis[2];
    const int64_t group = task / call->o, all = call->groups * call->c, in = d->in * FN(plane_in)(&w->job);
    T *out = w->out + task * call->c * call->kernel[0] * call->kernel[1] * call->kernel[2];
    int64_t a[2], b[2], e[2];
    for (int64_t c = 0; c < call->c; c++)
        for (int64_t p = 0; p < call->kernel[0]; p++)
            for (int64_t q = 0; q < call->kernel[1]; q++)
                for (int64_t r = 0; r < call->kernel[2]; r++, out++) {
                    if (*out == *out) continue;
                    FN(positions_inside)(d, p, a);
                    FN(positions_inside)(h, q, b);
                    FN(positions_inside)(v, r, e);
                    T sum = 0;
                    for (int64_t n = 0; n < call->n; n++) {
                        const T *x = w->job.x + (n * all + group * call->c + c) * in;
                        const T *y = w->grad + (n * call->groups * call->o + task) * d->out * FN(plane_out)(&w->job);
                        for (int64_t i = a[0]; i < a[1]; i++)
                            for (int64_t j = b[0]; j < b[1]; j++) {
                                const int64_t z = i * d->read + d->offset[p], s = j * h->read + h->offset[q];
                                for (int64_t k = e[0]; k < e[1]; k++)
                                    sum += y[(i * h->out + j) * v->out + k] *
                                           x[(z * h->in + s) * v->in + k * v->read + v->offset[r]];
                            }
                    }
                    *out = sum;
                }
}

enum { FN(PARTS) = 16, FN(SUMS) = (32 << 20) / TBYTES };

static size_t FN(weight_gradient)(const conv_call *call, const T *grad, T *out)
{
    FN(weight) w = {.job = {.call = call, .x = call->x}, .grad = grad, .out = out};
    FN(job) *g = &w.job;
    const int64_t depth = call->c * call->kernel[1] * call->kernel[2];
    int64_t room = depth;
    for (int a = 0; a < CONV_AXES; a++) room += conv_axis_room(call, a);
    w.columns = gemm_ceil(depth, NR) * NR;
    g->mp = gemm_ceil(call->o, GEMM_MR);
    g->rows = gemm_even(call->o, g->mp);
    int32_t *ints = rt->alloc(room * sizeof(int32_t));
    if (!ints) return room * sizeof(int32_t);
    g->offsets = ints;
    ints += depth;
    for (int a = 0; a < CONV_AXES; a++) {
        conv_axis_fill(&g->axis[a], call, a, ints);
        ints += conv_axis_room(call, a);
    }
    FN(direct_sizes)(g);
    if (!FN(offsets_fit)(g)) {
        rt->free(g->offsets, room * sizeof(int32_t));
        return g->slab * sizeof(T);
    }
    /* fewer positions at a time than in a product: the packed panel of columns shall stay in L1 and L2 */
    const int few = FN(is_few)(g, depth);
    const int64_t unit = few ? 4 * FN(UNIT) : 2 * FN(UNIT);
    while (g->row_block > 1 && g->row_block * g->col_block > unit) g->row_block = gemm_ceil(g->row_block, 2);
    g->row_blocks = gemm_ceil(g->axis[1].out, g->row_block);
    FN(direct_offsets)(g);
    w.positions = g->row_block * g->col_block;
    w.units = call->n * g->axis[0].out * g->row_blocks * g->col_blocks;
    const int64_t size = call->kernel[0] * call->o * w.columns;
    w.parts = gemm_min(w.units, gemm_ceil(FN(PARTS), call->groups));
    while (w.parts > 1 && w.parts * call->groups * size > FN(SUMS)) w.parts = (w.parts + 1) / 2;
    w.parts = i64_max(w.parts, 1);
    w.splits = i64_max(1, gemm_min(g->mp / 8, FN(PARTS) / 2 / (w.parts * call->groups)));
    if (few) w.splits = 1;
    /* rows that are read on, and what lies between them, where that is less than their last vectors lack */
    if (few && g->width < gemm_ceil(g->col_block, VL) * VL) w.flat = gemm_ceil(FN(flat_length)(g, g->row_block), VL) * VL;
    const int64_t places = few ? g->row_block * (g->col_block / VL + 2) * 2 : 0;
    const size_t bytes = call->groups * w.parts * size * sizeof(T) + places * sizeof(int32_t);
    w.sums = rt->alloc(bytes);
    if (w.sums) {
        if (places) FN(few_places)(&w, (int32_t *)(w.sums + call->groups * w.parts * size));
        const double work = (double)w.units * w.positions * call->groups * call->o * depth * call->kernel[0] / 12;
        rt_tasks(FN(weight_part), &w, call->groups * w.parts * w.splits, work);
        rt_tasks(FN(weight_sum), &w, call->groups * call->o, (double)(call->groups * w.parts * size) / 4);
        if (g->odd) rt_tasks(FN(mend_weight), &w, call->groups * call->o, 12 * work);
        rt->free(w.sums, bytes);
    }
    rt->free(g->offsets, room * sizeof(int32_t));
    return !w.sums || w.failed ? bytes : 0;
}
