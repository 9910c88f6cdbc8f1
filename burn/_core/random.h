/* Random numbers from Philox4x32-10 (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as
   easy as 1, 2, 3", 2011): a function from a counter and a key to four 32-bit words, so that any element can be made
   alone.

     key        the 64-bit seed, low word first
     counter    offset + j / 4 for element j, low word first, upper 64 bits 0; word j % 4.
                8-byte dtypes (but not bernoulli): offset + j / 2, words 2 (j % 2) and 2 (j % 2) + 1, low word first

     uniform    float: u = (word >> 8) 2^-24, double: u = (64 bits >> 11) 2^-53; low + u (high - low) rounded after the
                product and after the sum (never fused), then at most the largest value below high. Half types by way
                of float. Integers: low + the upper half of word * (high - low); the whole range gives the word itself
     normal     Box-Muller on elements 2i, 2i + 1 with the u of both: r = sqrt(-2 log(u0 + 1 unit)),
                mean + std r cos(2 pi u1) and mean + std r sin(2 pi u1)
     bernoulli  1 where the word is below p 2^32, whatever the dtype: p = 0 and p = 1 are exact

   Everything but log, sine and cosine is exact or correctly rounded: equal bits at every level, on every backend. */
#pragma once
#include "rounded.h"
#include "runtime.h"
#include "scalar.h"
#include "vmath.h"

#define WORDS 1024      /* made at once, in L1: */
#define GROUP 64        /* so many, or a multiple */
#define RANDOM_TASK 16  /* blocks of WORDS a task */

typedef uint64_t vul __attribute__((vector_size(8 * VD), may_alias));

/* low 32 bits of each lane, multiplied to 64 */
#if BURN_LEVEL == 4
VINL vul mul_low(vul a, vul b) { return (vul)_mm512_mul_epu32((__m512i)a, (__m512i)b); }
#define EVEN_LANES {0, 8, 2, 10, 4, 12, 6, 14}
#define ODD_LANES {1, 9, 3, 11, 5, 13, 7, 15}
#define LANE_COUNTERS {0, 4, 1, 5, 2, 6, 3, 7}
#elif BURN_LEVEL == 3
VINL vul mul_low(vul a, vul b) { return (vul)_mm256_mul_epu32((__m256i)a, (__m256i)b); }
#define EVEN_LANES {0, 4, 2, 6}
#define ODD_LANES {1, 5, 3, 7}
#define LANE_COUNTERS {0, 2, 1, 3}
#else
#if BURN_LEVEL == 2
VINL vul mul_low(vul a, vul b) { return (vul)_mm_mul_epu32((__m128i)a, (__m128i)b); }
#else
VINL vul mul_low(vul a, vul b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
#endif
#define EVEN_LANES {0, 2}
#define ODD_LANES {1, 3}
#define LANE_COUNTERS {0, 1}
#endif

/* n words from this counter on, a multiple of GROUP. A lane carries one counter's state, 32 bits in each 64: what is above
   them is left there, as nothing looks at it. Lanes are numbered so that the words leave in order without crossing halves of
   the register. */
static void philox_words(uint64_t seed, uint64_t counter, uint32_t *words, int n) {
    const vul lanes = LANE_COUNTERS, m0 = (vul){0} + 0xd2511f53u, m1 = (vul){0} + 0xcd9e8d57u;
    for (int64_t i = 0; i < n; i += 4 * VD) {
        vul x0 = lanes + (counter + (uint64_t)(i / 4)), x1 = x0 >> 32, x2 = {0}, x3 = x2;
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
#pragma GCC unroll 10
        for (int round = 0; round < 10; round++) {
            vul p0 = mul_low(x0, m0), p1 = mul_low(x2, m1);
            x0 = (p1 >> 32) ^ x1 ^ (uint64_t)k0;
            x2 = (p0 >> 32) ^ x3 ^ (uint64_t)k1;
            x1 = p1;
            x3 = p0;
            k0 += 0x9e3779b9u;
            k1 += 0xbb67ae85u;
        }
        vul a = (x0 & 0xffffffffu) | x1 << 32, b = (x2 & 0xffffffffu) | x3 << 32;
        *(vul *)(words + i) = __builtin_shuffle(a, b, (vl)EVEN_LANES);
        *(vul *)(words + i + 2 * VD) = __builtin_shuffle(a, b, (vl)ODD_LANES);
    }
}

/* ---- from words to numbers, into an L1 block; n is a number of words, a multiple of GROUP */
VINL vf unit_float(vu w) { return vi_to_vf((vi)(w >> 8)) * bc(0x1p-24f); }
VINL double unit_double(const uint32_t *w) { return (double)(((uint64_t)w[1] << 32 | w[0]) >> 11) * 0x1p-53; }
VINL vf affine(vf x, float scale, float shift) {
    x = x * bc(scale);
    ROUNDED(x);
    return x + bc(shift);
}
VINL double affine_double(double x, double scale, double shift) {
    x *= scale;
    ROUNDED(x);
    return x + shift;
}

static void uniform_floats(const uint32_t *w, float *y, float low, float range, float top, int n) {
    for (int i = 0; i < n; i += VW)
        *(vf *)(y + i) = vf_min(affine(unit_float(*(const vu *)(w + i)), range, low), bc(top));
}

/* cos and sin of 2 pi k / 2^24: the nearest quarter turn comes off exactly, the rest is at most pi/4 */
VINL void turn_cos_sin(vi k, vf *cosine, vf *sine) {
    vi q = (k + (1 << 21)) >> 22;
    vf f = vi_to_vf(k - (q << 22));
    vf t = vf_fma(f, bc(0x1.921fb6p-22f), f * bc(-0x1.777a5cp-47f)), z = t * t; /* pi/2 2^-22 in two parts */
    vf s = vf_fma(z, bc(-1.9515295891e-4f), bc(8.3321608736e-3f));
    s = vf_fma(z, s, bc(-1.6666654611e-1f));
    s = vf_fma(z * t, s, t);
    vf c = vf_fma(z, bc(2.443315711809948e-5f), bc(-1.388731625493765e-3f));
    c = vf_fma(z, c, bc(4.166664568298827e-2f));
    c = vf_fma(z * z, c, vf_fnma(z, bc(.5f), bc(1.f)));
    vi odd = -(q & 1); /* sine and cosine change places at odd quarters */
    *cosine = (vf)(((odd & (vi)s) | (~odd & (vi)c)) ^ (vi)((vu)((q + 1) & 2) << 30));
    *sine = (vf)(((odd & (vi)c) | (~odd & (vi)s)) ^ (vi)((vu)(q & 2) << 30));
}

static void normal_floats(const uint32_t *w, float *y, float mean, float std, int n) {
    const vul low = (vul){0} + 0xffffffffu;
    for (int i = 0; i < n; i += 2 * VW) {
        vul a = *(const vul *)(w + i), b = *(const vul *)(w + i + VW);
        vu first = (vu)((a & low) | b << 32), second = (vu)(a >> 32 | (b & ~low)); /* of each pair; a and b alternate */
        vf u = vi_to_vf((vi)(first >> 8) + 1) * bc(0x1p-24f), c, s;
        vf r = vf_sqrt(m_log(u) * bc(-2.f));
        turn_cos_sin((vi)(second >> 8), &c, &s);
        vul even = (vul)affine(r * c, std, mean), odd = (vul)affine(r * s, std, mean);
        *(vul *)(y + i) = (even & low) | odd << 32;
        *(vul *)(y + i + VW) = even >> 32 | (odd & ~low);
    }
}

static void uniform_doubles(const uint32_t *w, double *y, double low, double range, double top, int n) {
    for (int i = 0; i < n / 2; i++) {
        double v = affine_double(unit_double(w + 2 * i), range, low);
        y[i] = v < top ? v : top;
    }
}
static void normal_doubles(const uint32_t *w, double *y, double mean, double std, int n) {
    for (int i = 0; i < n / 2; i += 2) {
        double r = sqrt(-2 * log(unit_double(w + 2 * i) + 0x1p-53)),
               t = 6.283185307179586477 * unit_double(w + 2 * i + 2);
        y[i] = affine_double(r * cos(t), std, mean);
        y[i + 1] = affine_double(r * sin(t), std, mean);
    }
}

/* ---- the driver */
enum random_op { RANDOM_UNIFORM, RANDOM_NORMAL, RANDOM_BERNOULLI };

typedef struct {
    enum random_op op;
    int dtype, size, pairs, stream; /* pairs: two words an element */
    uint64_t seed, offset, threshold;
    double first, second, top;      /* low and range, or mean and std; largest value below high */
    uint64_t low, range;            /* of integers; range 0 is the whole 64 bits */
    char *out;
    int64_t n;
} random_job;

VINL void store_int(char *out, int size, int64_t i, uint64_t v) {
    switch (size) {
    case 1: ((uint8_t *)out)[i] = (uint8_t)v; break;
    case 2: ((uint16_t *)out)[i] = (uint16_t)v; break;
    case 4: ((uint32_t *)out)[i] = (uint32_t)v; break;
    default: ((uint64_t *)out)[i] = v;
    }
}
VINL void store_ints(const random_job *j, const uint32_t *w, char *out, const int size, int n) {
    n = j->pairs ? n / 2 : n;
    if (j->op == RANDOM_BERNOULLI) {
        for (int i = 0; i < n; i++) store_int(out, size, i, w[i] < j->threshold);
    } else if (!j->pairs) {
        for (int i = 0; i < n; i++) store_int(out, size, i, j->low + (w[i] * j->range >> 32));
    } else {
        for (int i = 0; i < n; i++) {
            uint64_t bits = (uint64_t)w[2 * i + 1] << 32 | w[2 * i];
            store_int(out, size, i, j->low + (j->range ? (uint64_t)((unsigned __int128)bits * j->range >> 64) : bits));
        }
    }
}

/* one block of numbers into `out`, which has room for all of it */
static void random_block(const random_job *j, const uint32_t *w, char *out, int n) {
    float wide[WORDS] __attribute__((aligned(64)));
    int half = j->dtype == DT_F16 || j->dtype == DT_BF16;
    float *y = half ? wide : (float *)out;
    switch (j->dtype) {
    case DT_F64:
        if (j->op == RANDOM_UNIFORM) uniform_doubles(w, (double *)out, j->first, j->second, j->top, n);
        else if (j->op == RANDOM_NORMAL) normal_doubles(w, (double *)out, j->first, j->second, n);
        else for (int i = 0; i < n; i++) ((double *)out)[i] = w[i] < j->threshold;
        return;
    case DT_F32: case DT_FLEX32: case DT_F16: case DT_BF16:
        if (j->op == RANDOM_UNIFORM) uniform_floats(w, y, (float)j->first, (float)j->second, (float)j->top, n);
        else if (j->op == RANDOM_NORMAL) normal_floats(w, y, (float)j->first, (float)j->second, n);
        else for (int i = 0; i < n; i++) y[i] = w[i] < j->threshold;
        if (j->dtype == DT_F16) for (int i = 0; i < n; i += VW) vf_store_f16((uint16_t *)out + i, vf_loada(y + i));
        if (j->dtype == DT_BF16)
            for (int i = 0; i < n; i += VW) vf_store_bf16((uint16_t *)out + i, vf_loada(y + i));
        return;
    }
    switch (j->size) {
    case 1: store_ints(j, w, out, 1, n); break;
    case 2: store_ints(j, w, out, 2, n); break;
    case 4: store_ints(j, w, out, 4, n); break;
    default: store_ints(j, w, out, 8, n);
    }
}

static void random_task(void *ctx, int64_t task) {
    const random_job *j = ctx;
    uint32_t words[WORDS] __attribute__((aligned(64)));
    char block[WORDS * 8] __attribute__((aligned(64)));
    int64_t per = j->pairs ? WORDS / 2 : WORDS, first = task * RANDOM_TASK * per,
            end = i64_min(first + RANDOM_TASK * per, j->n);
    for (int64_t at = first; at < end; at += per) {
        int64_t bytes = i64_min(per, end - at) * j->size;
        char *out = j->out + at * j->size;
        int n = (int)(ceil_div(i64_min(per, end - at) * (WORDS / per), GROUP) * GROUP);
        philox_words(j->seed, j->offset + (uint64_t)(at / per) * (WORDS / 4), words, n);
        if (!j->stream && bytes == per * j->size && ((uintptr_t)out & 63) == 0) {
            random_block(j, words, out, n);
            continue;
        }
        random_block(j, words, block, n);
        if (j->stream && bytes == per * j->size) {
            for (int64_t i = 0; i < bytes; i += 4 * VW)
                vf_stream((float *)(out + i), vf_loada((const float *)(block + i)));
        } else {
            memcpy(out, block, (size_t)bytes);
        }
    }
    if (j->stream) v_fence();
}

static double half_value(int dtype, uint16_t h) {
    return dtype == DT_F16 ? vf_load_f16_n(&h, 1)[0] : vf_load_bf16_n(&h, 1)[0];
}

/* the largest value of the dtype that is less than high */
static double below(int dtype, double high) {
    if (dtype == DT_F64) return nextafter(high, -INFINITY);
    if (dtype != DT_F16 && dtype != DT_BF16) {
        float f = (float)high;
        return f < high ? f : nextafterf(f, -INFINITY);
    }
    uint16_t h;
    if (dtype == DT_F16) vf_store_f16_n(&h, bc((float)high), 1);
    else vf_store_bf16_n(&h, bc((float)high), 1);
    if (half_value(dtype, h) >= high) h = (h & 0x7fff) == 0 ? 0x8001 : h & 0x8000 ? h + 1 : h - 1;
    return half_value(dtype, h);
}

static int random_run(random_job *j) {
    int floating =
        j->dtype == DT_F64 || j->dtype == DT_F32 || j->dtype == DT_FLEX32 || j->dtype == DT_F16 || j->dtype == DT_BF16;
    j->size = DT_SIZE[j->dtype];
    j->pairs = j->size == 8 && j->op != RANDOM_BERNOULLI;
    j->stream = can_stream(j->out, j->n * j->size);
    if (j->op == RANDOM_UNIFORM && floating) {
        double low = j->first, high = j->second;
        j->top = below(j->dtype, high);
        j->second = j->dtype == DT_F64 ? high - low : (double)(float)(high - low);
    } else if (j->op == RANDOM_UNIFORM) {
        __int128 low = (__int128)j->first, high = (__int128)j->second;
        j->low = (uint64_t)low;
        j->range = (uint64_t)(high - low);
    } else if (j->op == RANDOM_BERNOULLI) {
        j->threshold = (uint64_t)(j->first * 0x1p32);
    }
    int64_t per = (j->pairs ? WORDS / 2 : WORDS) * RANDOM_TASK;
    rt_tasks(random_task, j, ceil_div(j->n, per), (double)j->n * (j->op == RANDOM_NORMAL && j->size == 8 ? 20 : 1.5));
    return BURN_OK;
}

static int uniform(int dtype, void *out, int64_t n, double low, double high, int64_t seed, int64_t offset) {
    random_job j = {.op = RANDOM_UNIFORM, .dtype = dtype, .out = out, .n = n, .first = low, .second = high,
                    .seed = (uint64_t)seed, .offset = (uint64_t)offset};
    return random_run(&j);
}
static int normal(int dtype, void *out, int64_t n, double mean, double std, int64_t seed, int64_t offset) {
    random_job j = {.op = RANDOM_NORMAL, .dtype = dtype, .out = out, .n = n, .first = mean, .second = std,
                    .seed = (uint64_t)seed, .offset = (uint64_t)offset};
    return random_run(&j);
}
static int bernoulli(int dtype, void *out, int64_t n, double p, int64_t seed, int64_t offset) {
    random_job j = {.op = RANDOM_BERNOULLI, .dtype = dtype, .out = out, .n = n, .first = p,
                    .seed = (uint64_t)seed, .offset = (uint64_t)offset};
    return random_run(&j);
}
