/* DIRECT and POINT, included once an element type. Weights are packed once into panels of output channels; a task copies
   the rows that it needs, padded and with columns split by the stride, into a slab that fits L2, and reads that through a
   table of offsets. Depth is the outermost sum: one plane of the kernel after the other. */

/* A slab stays in L2 together with panels of weights, and what a tile reads of them in L1 (NEAR, bytes); there are enough
   tasks for many threads where the map allows, taken in parts where there are far more.
   FLAT     depth from which groups of positions may cross the ends of rows, which costs a permutation a vector
   GATHER   panels from which a tile's part of the slab is copied first, in whole lines: each of them reads it again
   CHOICE   by so much blocks of rows may grow for the sake of fewer tiles */
#ifdef MASK
enum { FN(SLAB) = 512 * 1024 / TBYTES, FN(PANELS) = 512 * 1024 / TBYTES, FN(FLAT) = 1, FN(GATHER) = 8, FN(CHOICE) = 2 };
#else
enum { FN(SLAB) = 256 * 1024 / TBYTES, FN(PANELS) = 128 * 1024 / TBYTES, FN(FLAT) = 64, FN(GATHER) = 1 << 30, FN(CHOICE) = 1 };
#endif
enum { FN(SLAB_ALONE) = 256 * 1024 / TBYTES, FN(NEAR) = 16 * 1024, FN(TASKS) = 32, FN(LOTS) = 64, FN(LITTLE) = 500000 };

typedef struct {
    const conv_call *call;
    conv_axis axis[CONV_AXES];
    const T *x, *w, *bias;
    T *y;
    T *panels;                              /* [group][kernel depth][phase][panel][c, tap][rows of the panel] */
    int32_t *offsets;                       /* [phase][c, tap] in the slab */
    FN(lanes) *lanes;                       /* by group of positions; NULL where groups do not cross the ends of rows */
    gemm_split rows;
    int64_t mp, weights;                    /* panels; elements of one kernel plane of a group */
    int64_t row_block, col_block, row_blocks, col_blocks;
    int64_t width, map, channel, slab;      /* a slab: a row, a phase of a channel, a channel, all of it */
    int64_t phased;                         /* elements of a result of all phases, before they are woven; 0 for one phase */
    int64_t k_chunk, panel_chunk;
    int64_t tasks, each;                    /* all, and in a part */
    int64_t gather;                         /* elements of a tile's part of the slab where that is copied, else 0 */
    const uint8_t *only;                    /* NULL, or for each image and group whether to compute it */
    int in_place;                           /* whether the input is its own slab */
    int failed, odd;                        /* odd: a weight is not finite */
} FN(job);

GEMM_INLINE int FN(job_height)(const FN(job) *g, int64_t i) { return (int)(g->rows.each + (i < g->rows.more)); }
GEMM_INLINE int64_t FN(plane_in)(const FN(job) *g) { return g->axis[1].in * g->axis[2].in; }
GEMM_INLINE int64_t FN(plane_out)(const FN(job) *g) { return g->axis[1].out * g->axis[2].out; }

/* Panel i of phase (r, q) of plane d of the kernel of a group: task numbers count (group, d, panel). */
static void FN(pack_weights)(void *ctx, int64_t task)
{
    FN(job) *g = ctx;
    T odd = 0; /* becomes a NaN */
    const conv_call *call = g->call;
    const int64_t i = task % g->mp, d = task / g->mp % call->kernel[0], group = task / g->mp / call->kernel[0];
    const int64_t i0 = gemm_start(g->rows, i), area = call->kernel[1] * call->kernel[2];
    const int rows = FN(job_height)(g, i);
    const T *w = g->w + group * call->w_g + i0 * call->w_o + d * area;
    T *out = g->panels + (group * call->kernel[0] + d) * g->weights;
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    for (int64_t r = 0; r < h->phases; r++)
        for (int64_t q = 0; q < v->phases; q++) {
            const int64_t depth = call->c * conv_taps(h, r) * conv_taps(v, q);
            T *p = out + i0 * depth;
            for (int64_t c = 0; c < call->c; c++)
                for (int64_t y = h->first[r]; y < h->first[r + 1]; y++)
                    for (int64_t x = v->first[q]; x < v->first[q + 1]; x++, p += rows) {
                        const T *from = w + c * call->w_c + h->tap[y] * call->kernel[2] + v->tap[x];
                        for (int j = 0; j < rows; j++) {
                            p[j] = from[j * call->w_o];
                            odd += p[j] * 0;
                        }
                    }
            out += call->o * depth;
        }
    if (odd != odd) __atomic_store_n(&g->odd, 1, __ATOMIC_RELAXED);
}

#include "conv_slab.h"

/* rows x cols positions of one phase, from one plane of the kernel. */
typedef struct {
    const T *slab, *a, *bias;
    const int32_t *off;
    int64_t depth, rows, cols, ld, row_ld;
    T *y, *parts, *near;
    int add;
} FN(patch);

#include "conv_depth.h"
#ifdef MASK
#include "conv_run.h"
#else
GEMM_INLINE int64_t FN(run_depth)(const FN(job) *g) { return 0 * g->mp; }
#endif

/* All output channels of a group. Outputs may be written twice, unless something is added to them: so the last group of a row
   begins early enough to be whole, and the last one stands in for those that a tile lacks: an earlier one would write over it. */
static void FN(multiply)(const FN(job) *g, const FN(patch) *w)
{
    const int64_t across = gemm_ceil(w->cols, VL), depth = w->depth, all = w->rows * w->cols;
    const int64_t groups = g->lanes ? gemm_ceil((w->rows - 1) * g->width + w->cols, VL) : w->rows * across;
    const int64_t far = !w->add && w->cols >= VL ? w->cols - VL : w->cols;
    const int wide = g->rows.each + (g->rows.more > 0) <= GEMM_THREE ? 3 : 2;
#ifdef MASK
    if (!w->add && depth <= FN(run_depth)(g)) {
        for (int64_t i = 0; i < g->mp; i++) {
            const int64_t o = gemm_start(g->rows, i);
            FN(run_of)(FN(job_height)(g, i), g, w, w->a + o * depth, w->bias ? w->bias + o : NULL, w->y + o * w->ld);
        }
        return;
    }
#endif
    FN(goal) to = {.ld = w->ld, .add = w->add};
    for (int64_t i0 = 0; i0 < g->mp; i0 += g->panel_chunk) {
        int64_t r = 0, j = 0; /* row and column of the next group */
        for (int64_t p = 0; p < groups; p += wide) {
            const T *b[3];
            T *y[3];
            for (int h = 0; h < wide; h++) {
                if (p + h >= groups) {
                    b[h] = b[h - 1];
                    y[h] = y[h - 1];
                    to.order[h] = to.order[h - 1];
                    to.w[h] = w->add ? 0 : to.w[h - 1];
                    to.room[h] = w->add ? 0 : to.room[h - 1];
                } else if (g->lanes) {
                    const FN(lanes) *at = g->lanes + p + h;
                    b[h] = w->slab + (p + h) * VL;
                    y[h] = w->y + at->at;
                    to.order[h] = at;
                    to.w[h] = (int)gemm_min(at->count, all - at->at);
                    to.room[h] = (int)(w->add ? to.w[h] : all - at->at);
                } else {
                    const int64_t from = gemm_min(j, far);
                    b[h] = w->slab + r * g->width + from;
                    y[h] = w->y + r * w->row_ld + from;
                    to.w[h] = to.room[h] = (int)gemm_min(w->cols - from, VL);
                    j += VL;
                    if (j >= w->cols) j = 0, r++;
                }
            }
            int64_t k0 = 0;
            do {
                const int64_t kk = gemm_min(depth - k0, g->k_chunk);
                to.more = k0 > 0;
                to.keep = k0 + kk < depth;
                for (int64_t k = 0; g->gather && k < kk; k++) {
                    STORE(w->near + k * NR, LOAD(b[0] + w->off[k0 + k]));
                    STORE(w->near + k * NR + VL, LOAD(b[1] + w->off[k0 + k]));
                }
                for (int64_t i = i0; i < gemm_min(i0 + g->panel_chunk, g->mp); i++) {
                    const int64_t o = gemm_start(g->rows, i);
                    const int rows = FN(job_height)(g, i);
                    to.bias = w->bias ? w->bias + o : NULL;
                    to.part = w->parts + (i - i0) * GEMM_MR * NR;
                    for (int h = 0; h < wide; h++) to.y[h] = y[h] + o * w->ld;
                    if (g->gather) FN(sums_packed)(rows, kk, w->a + o * depth + k0 * rows, w->near, &to);
                    else FN(sums_by_offsets)(rows, wide, kk, w->a + o * depth + k0 * rows, b, w->off + k0, &to);
                }
                k0 += kk;
            } while (k0 < depth);
        }
    }
}

#define ZIP_LOW(l, unused) ((l) / 2 + (l) % 2 * VL)
#define ZIP_HIGH(l, unused) ((VL + (l)) / 2 + (l) % 2 * VL)
/* a[0], b[0], a[1], b[1] and so on, around the caches where asked for */
GEMM_INLINE void FN(zip)(const T *a, const T *b, int64_t n, T *d, const int around)
{
    if (n < VL) {
        for (int64_t j = 0; j < n; j++) d[2 * j] = a[j], d[2 * j + 1] = b[j];
        return;
    }
    for (int64_t j = 0; j < n; j += VL) {
        const int64_t at = gemm_min(j, n - VL);
        const VEC x = LOAD(a + at), y = LOAD(b + at);
        const VEC low = GEMM_SHUFFLE(IVEC, x, y, LANES(ZIP_LOW, 0)), high = GEMM_SHUFFLE(IVEC, x, y, LANES(ZIP_HIGH, 0));
        if (around) {
            vf_stream((float *)(d + 2 * at), (vf)low);
            vf_stream((float *)(d + 2 * at + VL), (vf)high);
        } else {
            STORE(d + 2 * at, low);
            STORE(d + 2 * at + VL, high);
        }
    }
}
#undef ZIP_LOW
#undef ZIP_HIGH

/* The results of phases, each [o][rows][cols], to their places between one another, row by row of the output. With lanes all have
   the cols of the first. */
static void FN(weave)(const FN(job) *g, const T *from, int64_t q0, int64_t j0, T *y)
{
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    const int64_t s = v->write, plane = g->axis[0].out * FN(plane_out)(g), outputs = g->call->o;
    /* phases beyond that of the last output have a position less than the others */
    const int64_t high = conv_positions(h, 0) - q0, wide = conv_positions(v, 0) - j0;
    const int64_t last_h = (h->out - 1) % h->write, last_v = (v->out - 1) % s;
    const int both = s == 2 && wide > (last_v == 0);
    const int around = g->call->n * g->call->groups * outputs * plane * TBYTES >= STREAM_BYTES;
    for (int64_t o = 0; o < outputs; o++)
        for (int64_t i = 0; i < gemm_min(g->row_block, high); i++) {
            const T *phase = from;
            T *d = y + o * plane + (q0 + i) * h->write * v->out + j0 * s;
            for (int64_t r = 0; r < h->phases; r++, d += v->out) {
                const int64_t rows = gemm_min(g->row_block, high - (r > last_h));
                if (rows <= 0) break;
                const T *a = NULL;
                for (int64_t q = 0; q < v->phases; q++) {
                    const int64_t cols = gemm_min(g->col_block, wide - (q > last_v));
                    if (cols <= 0) break;
                    const int64_t ld = g->lanes ? g->col_block : cols;
                    const T *b = phase + (o * rows + i) * ld;
                    phase += outputs * rows * ld;
                    if (i >= rows) continue;
                    if (both && q == 0) a = b;
                    else if (both) {
                        if (around && ((uintptr_t)d | cols * 2 * TBYTES) % GEMM_VBYTES == 0) FN(zip)(a, b, cols, d, 1);
                        else FN(zip)(a, b, cols, d, 0);
                        if (gemm_min(g->col_block, wide) > cols) d[2 * cols] = a[cols];
                    } else for (int64_t j = 0; j < cols; j++) d[j * s + q] = b[j];
                }
            }
        }
    if (both && around) v_fence();
}

static void FN(direct_task)(FN(job) *g, int64_t task, T *scratch)
{
    const conv_call *call = g->call;
    const conv_axis *d = &g->axis[0], *h = &g->axis[1], *v = &g->axis[2];
    const int64_t col = task % g->col_blocks, row = task / g->col_blocks % g->row_blocks;
    const int64_t plane = task / g->col_blocks / g->row_blocks, z = plane % d->out, image = plane / d->out;
    const int64_t group = image % call->groups, q0 = row * g->row_block, j0 = col * g->col_block;
    if (g->only && !g->only[image]) return;
    const T *x = g->x + image * call->c * d->in * FN(plane_in)(g);
    T *y = g->y + image * call->o * d->out * FN(plane_out)(g) + z * FN(plane_out)(g);
    const int64_t most = gemm_min(g->row_block, conv_positions(h, 0) - q0);
    const int64_t top = q0 * h->read + h->low, rows = (most - 1) * h->read + h->span + 1;
    T *near = scratch + g->panel_chunk * GEMM_MR * NR, *phased = near + g->gather, *copy = phased + g->phased;
    int add = 0;
    const int64_t r0 = z % d->write, z0 = z / d->write * d->read;
    for (int64_t t = d->first[r0]; t <= d->first[r0 + 1]; t++) {
        const int last = t == d->first[r0 + 1]; /* no tap is left: where none was inside, the bias remains */
        const int64_t at = last ? 0 : z0 + d->offset[t];
        if (last ? add : at < 0 || at >= d->in) continue;
        const T *slab = g->in_place ? x + at * FN(plane_in)(g) + top * v->in + j0 : copy;
        if (!last && !g->in_place) FN(fill_slab)(g, x + at * FN(plane_in)(g), rows, top, j0 * v->read + v->low, copy);
        const T *a = g->panels + (group * call->kernel[0] + (last ? 0 : d->tap[t])) * g->weights;
        const int32_t *off = g->offsets;
        T *to = phased;
        for (int64_t r = 0; r < h->phases; r++)
            for (int64_t q = 0; q < v->phases; q++) {
                const int64_t depth = call->c * conv_taps(h, r) * conv_taps(v, q);
                FN(patch) w = {.slab = slab, .a = a, .off = off, .depth = last ? 0 : depth, .add = add};
                w.parts = scratch;
                w.near = near;
                w.rows = gemm_min(g->row_block, conv_positions(h, r) - q0);
                w.cols = gemm_min(g->col_block, conv_positions(v, q) - j0);
                w.bias = g->bias && !add ? g->bias + group * call->o : NULL;
                a += call->o * depth;
                off += depth;
                if (w.rows <= 0 || w.cols <= 0) continue;
                if (g->lanes) w.cols = g->col_block; /* the lanes are those of the longest phase: its ends are not woven in */
                w.ld = g->phased ? w.rows * w.cols : d->out * FN(plane_out)(g);
                w.row_ld = g->phased ? w.cols : v->out;
                w.y = g->phased ? to : y + q0 * v->out + j0;
                to += call->o * w.rows * w.cols;
                if (FN(is_thin)(call))
                    for (int64_t o = 0; o < call->o; o++)
                        FN(thin)(g, &w, call->o, w.bias ? w.bias[o] : 0, w.a + o, w.y + o * w.ld);
                else FN(multiply)(g, &w);
            }
        add = 1;
    }
    if (g->phased) FN(weave)(g, phased, q0, j0, y);
}

static void FN(direct_part)(void *ctx, int64_t part)
{
    FN(job) *g = ctx;
    const size_t bytes = (g->panel_chunk * GEMM_MR * NR + g->gather + g->phased + g->slab) * sizeof(T);
    T *scratch = rt->alloc(bytes);
    if (!scratch) {
        __atomic_store_n(&g->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    for (int64_t i = part * g->each; i < gemm_min((part + 1) * g->each, g->tasks); i++) FN(direct_task)(g, i, scratch);
    rt->free(scratch, bytes);
}

/* The taps of an axis that read an element at output `at`: those are t[0] to t[1]; whether that is all of them. */
GEMM_INLINE int FN(taps_inside)(const conv_axis *x, int64_t at, int64_t t[2])
{
    const int64_t r = at % x->write, q = at / x->write * x->read, first = x->first[r], last = x->first[r + 1];
    int64_t n = 0;
    for (int64_t k = first; k < last; k++) {
        const int64_t e = q + x->offset[k];
        if (e < 0 || e >= x->in) continue;
        if (!n++) t[0] = k;
        t[1] = k + 1;
    }
    if (!n) t[0] = t[1] = first;
    return n == last - first;
}

/* What lies outside was multiplied as zeros. With weights that are not finite that makes NaN, so the outputs whose window
   leaves the input are summed again without it: one output channel of one image. */
static void FN(mend_borders)(void *ctx, int64_t task)
{
    const FN(job) *g = ctx;
    const conv_call *call = g->call;
    const conv_axis *d = &g->axis[0], *h = &g->axis[1], *v = &g->axis[2];
    const int64_t image = task / call->o, o = task % call->o, group = image % call->groups;
    if (g->only && !g->only[image]) return;
    const T *x = g->x + image * call->c * d->in * FN(plane_in)(g), *w = g->w + group * call->w_g + o * call->w_o;
    T *y = g->y + task * d->out * FN(plane_out)(g);
    int64_t a[2], b[2], c[2];
    for (int64_t i = 0; i < d->out; i++)
        for (int64_t j = 0; j < h->out; j++)
            for (int64_t k = 0; k < v->out; k++, y++) {
                if (FN(taps_inside)(d, i, a) & FN(taps_inside)(h, j, b) & FN(taps_inside)(v, k, c)) continue;
                T sum = g->bias ? g->bias[group * call->o + o] : 0;
                for (int64_t m = 0; m < call->c; m++)
                    for (int64_t p = a[0]; p < a[1]; p++)
                        for (int64_t q = b[0]; q < b[1]; q++)
                            for (int64_t r = c[0]; r < c[1]; r++) {
                                const int64_t z = i / d->write * d->read + d->offset[p];
                                const int64_t s = j / h->write * h->read + h->offset[q];
                                const int64_t t = k / v->write * v->read + v->offset[r];
                                const int64_t tap = (d->tap[p] * call->kernel[1] + h->tap[q]) * call->kernel[2] + v->tap[r];
                                sum += w[m * call->w_c + tap] * x[((m * d->in + z) * h->in + s) * v->in + t];
                            }
                *y = sum;
            }
}

/* Neither padding nor stride, and so little depth that copying would be a large part of the work. */
static int FN(is_own_slab)(const FN(job) *g)
{
    int own = !FN(is_thin)(g->call) && g->call->c * g->call->kernel[1] * g->call->kernel[2] <= FN(run_depth)(g) &&
              g->call->kernel[0] == 1 && g->call->c * g->call->in[0] * FN(plane_in)(g) <= INT32_MAX;
    for (int a = 0; a < CONV_AXES; a++) {
        const conv_axis *axis = &g->axis[a];
        own &= axis->read == 1 && axis->phases == 1 && axis->low == 0 && axis->out + axis->span == axis->in;
    }
    return own;
}

/* What follows from the rows and columns of a block, a row of the slab being `width`. */
static void FN(direct_block)(FN(job) *g, int64_t width)
{
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    g->width = width;
    g->map = (g->row_block + h->span / h->read) * width;
    g->channel = gemm_min(h->read, h->span + 1) * gemm_min(v->read, v->span + 1) * g->map + VL;
    if (g->channel * TBYTES % 1024 < 64) g->channel += 64 / TBYTES;
    g->slab = g->call->c * g->channel + 4 * VL;
    if (g->in_place) g->width = v->in, g->channel = g->axis[0].in * FN(plane_in)(g);
    g->row_blocks = gemm_ceil(conv_positions(h, 0), g->row_block);
    g->col_blocks = gemm_ceil(conv_positions(v, 0), g->col_block);
}

/* Tiles of all blocks of so many rows. */
static int64_t FN(direct_tiles)(const FN(job) *g, int64_t block, int flat)
{
    const int64_t rows = conv_positions(&g->axis[1], 0), cols = g->col_block;
    int64_t tiles = 0;
    for (int64_t q = 0; q < rows; q += block) {
        const int64_t n = gemm_min(block, rows - q), groups = n * gemm_ceil(cols, VL);
        tiles += gemm_ceil(flat ? gemm_ceil((n - 1) * g->width + cols, VL) : groups, 2);
    }
    return tiles;
}

static void FN(direct_sizes)(FN(job) *g)
{
    const conv_call *call = g->call;
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    const int64_t rows = conv_positions(h, 0), cols = conv_positions(v, 0);
    const int64_t images = call->n * call->groups * g->axis[0].out, lanes = FN(is_thin)(call) ? FN(THIN_LANES) : VL;
    const int64_t phases = gemm_min(h->read, h->span + 1) * gemm_min(v->read, v->span + 1);
    int64_t exact = cols + v->span / v->read, padded = gemm_ceil(cols, lanes) * lanes + v->span / v->read;
    /* groups that run on from row to row waste what the padding adds, others the end of each row */
    int flat = !FN(is_thin)(call) && rows > 1 && call->c * call->kernel[1] * call->kernel[2] >= FN(FLAT) &&
               exact < gemm_ceil(cols, VL) * VL;
    g->in_place = g->lanes && FN(is_own_slab)(g);
    const int64_t room = g->lanes ? FN(SLAB) : FN(SLAB_ALONE);
    g->row_block = rows;
    g->col_block = cols;
    for (;;) {
        flat = flat && g->col_block == cols;
        if (g->col_block < cols) padded = g->col_block + v->span / v->read;
        FN(direct_block)(g, flat ? exact : padded);
        const int large = g->slab > room, few = images * g->row_blocks * g->col_blocks < FN(TASKS);
        const int split = large || (few && g->row_block * g->col_block * call->c * call->o > 16384);
        if (split && g->row_block > 1) g->row_block = gemm_min(g->row_block - 1, gemm_ceil(rows, g->row_blocks + 1));
        else if (split && g->col_block > 16 * VL) {
            const int even = gemm_ceil(gemm_ceil(cols, g->col_blocks + 1), lanes);
            g->col_block = gemm_min(gemm_ceil(g->col_block, lanes) - 1, even) * lanes;
        } else break;
    }
    /* a few rows more may fill the last tile of each block */
    const int64_t first = g->row_block, most = g->lanes ? gemm_min(FN(CHOICE) * first, rows) : first;
    int64_t chosen = first, least = FN(direct_tiles)(g, first, flat);
    for (int64_t r = first + 1; r <= most && !FN(is_thin)(call); r++) {
        const int64_t map = (r + h->span / h->read) * g->width, tiles = FN(direct_tiles)(g, r, flat);
        if (call->c * phases * map > FN(SLAB) || images * gemm_ceil(rows, r) * g->col_blocks < FN(TASKS) / 2) break;
        if (tiles < least) least = tiles, chosen = r;
    }
    g->row_block = chosen;
    FN(direct_block)(g, g->width);
    if (!flat) g->lanes = NULL;
    g->phased = h->phases * v->phases > 1 ? call->o * h->phases * v->phases * g->row_block * g->col_block : 0;
    const int64_t taps = gemm_ceil(call->kernel[1], h->phases) * gemm_ceil(call->kernel[2], v->phases);
    const int64_t lines = gemm_ceil(call->kernel[1], h->phases) * gemm_min(v->read, 2) * 2 * 64; /* bytes a channel touches */
    const int64_t channels = gemm_ceil(call->c, gemm_ceil(call->c, i64_max(FN(NEAR) / lines, 1)));
    g->k_chunk = channels * taps;
    const int64_t chunks = gemm_ceil(g->mp, i64_max(FN(PANELS) / (GEMM_MR * call->c * taps), 1));
    g->panel_chunk = gemm_ceil(g->mp, chunks);
    g->gather = g->panel_chunk >= FN(GATHER) ? g->k_chunk * NR : 0;
}

/* Offsets in a slab have 32 bits; dilated by millions with many channels it does not take them, and counts as too large. */
GEMM_INLINE int FN(offsets_fit)(const FN(job) *g) { return g->in_place || g->slab <= INT32_MAX; }

static void FN(direct_offsets)(FN(job) *g)
{
    const conv_axis *h = &g->axis[1], *v = &g->axis[2];
    const int64_t phases = gemm_min(v->read, v->span + 1);
    int32_t *off = g->offsets;
    for (int64_t r = 0; r < h->phases; r++)
        for (int64_t q = 0; q < v->phases; q++)
            for (int64_t c = 0; c < g->call->c; c++)
                for (int64_t y = h->first[r]; y < h->first[r + 1]; y++)
                    for (int64_t x = v->first[q]; x < v->first[q + 1]; x++) {
                        const int64_t u = h->offset[y] - h->low, w = v->offset[x] - v->low;
                        *off++ = (int32_t)(c * g->channel + (u % h->read * phases + w % v->read) * g->map +
                                           u / h->read * g->width + w / v->read);
                    }
    if (!g->lanes) return;
    const int64_t cols = g->col_block;
    int32_t at = 0;
    for (int64_t i = 0; i < gemm_ceil(g->row_block * g->width, VL); i++) {
        FN(lanes) *to = g->lanes + i;
        TI order[VL] = {0};
        to->at = at;
        to->count = 0;
        for (int64_t l = 0; l < VL; l++)
            if ((i * VL + l) % g->width < cols) order[to->count++] = (TI)l;
        memcpy(&to->order, order, sizeof order);
        at += to->count;
    }
}

/* ---- POINT */

enum { FN(POINT_COLUMNS) = 12, FN(POINT_DEPTH) = 256 * 4 / TBYTES };

static void FN(point_part)(void *ctx, int64_t task)
{
    FN(job) *g = ctx;
    const conv_call *call = g->call;
    const int64_t size = g->axis[0].in * FN(plane_in)(g), panels = gemm_ceil(size, NR);
    const int64_t image = task / g->col_blocks, group = image % call->groups;
    const gemm_split split = gemm_even(panels, g->col_blocks);
    const int64_t begin = gemm_start(split, task % g->col_blocks), end = gemm_start(split, task % g->col_blocks + 1);
    const T *x = g->x + image * call->c * size, *a = g->panels + group * g->weights;
    T *y = g->y + image * call->o * size;
    const size_t bytes = (size_t)(end - begin) * NR * gemm_min(call->c, FN(POINT_DEPTH)) * sizeof(T);
    T *b = rt->alloc(bytes);
    if (!b) {
        __atomic_store_n(&g->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    const int around = call->c <= FN(POINT_DEPTH) && size * TBYTES % GEMM_VBYTES == 0 &&
                       can_stream(g->y, call->n * call->groups * call->o * size * TBYTES);
    for (int64_t k0 = 0; k0 < call->c; k0 += FN(POINT_DEPTH)) {
        const int64_t kk = gemm_min(call->c - k0, FN(POINT_DEPTH));
        for (int64_t k = 0; k < kk; k++)
            for (int64_t j = begin; j < end; j++) {
                const T *src = x + (k0 + k) * size + j * NR;
                T *d = b + ((j - begin) * kk + k) * NR;
                const int64_t w = gemm_min(size - j * NR, NR);
                if (w == NR) {
                    STORE(d, LOAD(src));
                    STORE(d + VL, LOAD(src + VL));
                } else for (int64_t u = 0; u < NR; u++) d[u] = u < w ? src[u] : 0;
            }
        for (int64_t j = begin; j < end; j++)
            for (int64_t i = 0; i < g->mp; i++) {
                const int64_t o = gemm_start(g->rows, i), w = gemm_min(size - j * NR, NR);
                const int rows = FN(job_height)(g, i);
                T *at = y + o * size + j * NR;
                const int w0 = (int)gemm_min(w, VL), w1 = (int)(w - w0);
                T tile[GEMM_MR * NR];
                const FN(goal) to = {.y = {at, at + VL}, .ld = size, .w = {w0, w1}, .room = {w0, w1}, .part = tile, .add = k0 > 0,
                                     .bias = g->bias && !k0 ? g->bias + group * call->o + o : NULL, .around = around};
                FN(sums_packed)(rows, kk, a + o * call->c + k0 * rows, b + (j - begin) * kk * NR, &to);
            }
    }
    if (around) v_fence();
    rt->free(b, bytes);
}

/* ---- both: plan, packing, tasks. Returns bytes that could not be had. */
static size_t FN(direct)(const conv_call *call, conv_way way, const uint8_t *only)
{
    FN(job) g = {.call = call, .x = call->x, .w = call->w, .bias = call->bias, .y = call->y, .only = only};
    int64_t taps = 1, room = 0, outputs = call->n * call->groups;
    for (int a = 0; a < CONV_AXES; a++) {
        taps *= call->kernel[a];
        room += conv_axis_room(call, a);
        outputs *= call->out[a];
    }
    const int64_t area = call->kernel[1] * call->kernel[2];
    g.mp = gemm_ceil(call->o, GEMM_MR);
    g.rows = gemm_even(call->o, g.mp);
    g.weights = call->o * call->c * area;
    const int64_t packed = (call->groups * call->kernel[0] * g.weights + 63) / 64 * 64;
    int32_t *ints = rt->alloc(room * sizeof(int32_t));
    if (!ints) return room * sizeof(int32_t);
    int32_t *const lists = ints;
    for (int a = 0; a < CONV_AXES; a++) {
        conv_axis_fill(&g.axis[a], call, a, ints);
        ints += conv_axis_room(call, a);
    }
    static FN(lanes) wanted; /* not NULL: to be decided */
    g.lanes = &wanted;
    FN(direct_sizes)(&g);
    if (!FN(offsets_fit)(&g)) {
        rt->free(lists, room * sizeof(int32_t));
        return g.slab * sizeof(T);
    }
    const int64_t groups = g.lanes ? gemm_ceil(g.row_block * g.width, VL) : 0;
    const size_t bytes = packed * sizeof(T) + groups * sizeof(FN(lanes)) + call->c * area * sizeof(int32_t);
    g.panels = rt->alloc(bytes);
    if (!g.panels) {
        rt->free(lists, room * sizeof(int32_t));
        return bytes;
    }
    if (g.lanes) g.lanes = (FN(lanes) *)(g.panels + packed);
    g.offsets = (int32_t *)((FN(lanes) *)(g.panels + packed) + groups);
    FN(direct_offsets)(&g);
    rt_tasks(FN(pack_weights), &g, call->groups * call->kernel[0] * g.mp, (double)packed);
    const double work = (double)outputs * call->o * call->c * taps * (TBYTES / 4) / 12;
    if (way == CONV_POINT) {
        g.col_blocks = gemm_ceil(gemm_ceil(g.axis[0].in * FN(plane_in)(&g), NR), FN(POINT_COLUMNS));
        rt_tasks(FN(point_part), &g, call->n * call->groups * g.col_blocks, work);
#ifdef MASK
    } else if (FN(is_deep)(&g) && !only) {
        FN(deep_run)(&g, work);
        if (g.odd) rt_tasks(FN(mend_borders), &g, call->n * call->groups * call->o, work);
#endif
    } else {
        g.tasks = call->n * call->groups * g.axis[0].out * g.row_blocks * g.col_blocks;
        g.each = i64_max(1, g.tasks / FN(LOTS));
        /* where that is little work, a part for each thread: the next call finds its lines in the same caches */
        if (work < FN(LITTLE)) g.each = gemm_ceil(g.tasks, rt->threads());
        rt_tasks(FN(direct_part), &g, gemm_ceil(g.tasks, g.each), work);
        if (g.odd) rt_tasks(FN(mend_borders), &g, call->n * call->groups * call->o, work);
    }
    rt->free(g.panels, bytes);
    rt->free(lists, room * sizeof(int32_t));
    return g.failed ? (g.slab + g.phased) * sizeof(T) : 0;
}
