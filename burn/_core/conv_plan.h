/* A convolution as the kernels see it: three spatial axes (an axis that is not there has size 1), each with the list of the
   kernel's taps, and the choice of algorithm. A transposed convolution is one that reads with step 1 and writes with its
   stride: the output falls into phases, and each phase has the taps that reach it. So do gradients of the input. */
#pragma once
#include "gemm_half.h"
#include "runtime.h"

enum { CONV_AXES = 3 };

/* out[n, g, o, pos] = bias[g, o] + sum over c and taps of w[g, o, c, tap] * x[n, g, c, place(pos, tap)], 0 outside of x.
   c and o count the channels of a group. */
typedef struct {
    const void *x, *w, *bias;
    void *y;
    int64_t n, groups, c, o;
    int64_t in[CONV_AXES], out[CONV_AXES], kernel[CONV_AXES], stride[CONV_AXES], pad[CONV_AXES], dilation[CONV_AXES];
    int64_t w_g, w_o, w_c; /* from a group, an output channel, an input channel of the weight to the next */
    int32_t transposed, winograd;
} conv_call;

/* Position q of phase r is element r + q * write of the output; its tap t reads element q * read + offset[t]. */
typedef struct {
    int64_t in, out, read, write, phases;
    int64_t low, span;           /* the lowest offset, and from there to the highest */
    int32_t *first;              /* taps first[r]..first[r + 1] belong to phase r */
    int32_t *tap, *offset;       /* number in the kernel, offset */
} conv_axis;

GEMM_INLINE int64_t conv_floor(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
GEMM_INLINE int64_t conv_taps(const conv_axis *x, int64_t r) { return x->first[r + 1] - x->first[r]; }
GEMM_INLINE int64_t conv_positions(const conv_axis *x, int64_t r)
{
    return x->out > r ? (x->out - r + x->write - 1) / x->write : 0;
}

/* ints of memory that the lists of an axis take */
GEMM_INLINE int64_t conv_axis_room(const conv_call *call, int a)
{
    return (call->transposed ? call->stride[a] : 1) + 1 + 2 * call->kernel[a];
}

static void conv_axis_fill(conv_axis *x, const conv_call *call, int a, int32_t *room)
{
    const int64_t s = call->stride[a], k = call->kernel[a];
    x->in = call->in[a];
    x->out = call->out[a];
    x->read = call->transposed ? 1 : s;
    x->write = x->phases = call->transposed ? s : 1;
    x->first = room;
    x->tap = room + x->phases + 1;
    x->offset = x->tap + k;
    int64_t n = 0, high = INT64_MIN;
    x->low = INT64_MAX;
    for (int64_t r = 0; r < x->phases; r++) {
        x->first[r] = (int32_t)n;
        for (int64_t t = 0; t < k; t++) {
            int64_t at = t * call->dilation[a] - call->pad[a];
            if (call->transposed) {
                at = r - at;
                if (conv_floor(at, s) * s != at) continue;
                at = conv_floor(at, s);
            }
            x->tap[n] = (int32_t)t;
            x->offset[n++] = (int32_t)at;
            if (at < x->low) x->low = at;
            if (at > high) high = at;
        }
    }
    x->first[x->phases] = (int32_t)n;
    if (!n) x->low = high = 0;
    x->span = high - x->low;
}

/* ---- the choice of algorithm, by shape alone
   POINT     one tap, every position read once: a matrix product an image
   WINOGRAD  F(4x4, 3x3): 2.25 multiplications an output instead of 9, for f32 maps and channels that are not too small; with
             stride 2 about 5 (conv_winograd_stride.h), where tiles are many and mostly whole; its transforms lose about a
             digit, and burn.set_winograd(False) forbids it
   DIRECT    all else: padded slabs of rows, read by the register tile through a table of offsets; single channels
             (depthwise) go by rows */
typedef enum { CONV_POINT, CONV_WINOGRAD, CONV_DIRECT } conv_way;

enum { CONV_WINOGRAD_MAP = 49, CONV_WINOGRAD_CHANNELS = 24 };
/* With stride 2: outputs that a tile of 16 must have on average, and how many tiles the transformed weights cost. */
#if BURN_LEVEL >= 4
enum { CONV_STRIDED_OUTPUTS = 10, CONV_STRIDED_WEIGHTS = 6 };
#else
enum { CONV_STRIDED_OUTPUTS = 10, CONV_STRIDED_WEIGHTS = 24 };
#endif

/* A plain convolution with step 2 that gains enough. */
static int conv_strided_pays(const conv_call *call)
{
    const int64_t tiles = call->n * gemm_ceil(call->out[1], 4) * gemm_ceil(call->out[2], 4);
    return !call->transposed && call->stride[1] == 2 &&
           call->n * call->out[1] * call->out[2] >= CONV_STRIDED_OUTPUTS * (tiles + CONV_STRIDED_WEIGHTS);
}

static conv_way conv_choose(const conv_call *call, int is_f32)
{
    int point = 1, square = 1;
    for (int a = 0; a < CONV_AXES; a++) {
        point &= call->kernel[a] == 1 && call->stride[a] == 1 && call->pad[a] == 0 && call->in[a] == call->out[a];
        square &= call->kernel[a] == (a ? 3 : 1) && call->dilation[a] == 1;
    }
    square &= call->stride[0] == 1 && call->stride[1] == call->stride[2];
    square &= call->stride[1] == 1 || conv_strided_pays(call);
    square &= call->in[0] == 1 && call->out[0] == 1 && call->pad[0] == 0;
    if (point && call->c > 1) return CONV_POINT;
    if (square && is_f32 && call->winograd && call->out[1] * call->out[2] >= CONV_WINOGRAD_MAP &&
        call->c >= CONV_WINOGRAD_CHANNELS && call->o >= CONV_WINOGRAD_CHANNELS)
        return CONV_WINOGRAD;
    return CONV_DIRECT;
}
