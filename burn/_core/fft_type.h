/* Fourier transforms in one dtype; included by fft.h for each. T: dtype, V: vector of L lanes, I: lanes of integers. */

#define AT(p) (*(V_UN *)(p))
#define AT_C(p) (*(const V_UN *)(p))
#define PAD (64 / (int)sizeof(T)) /* after each row of the matrix, so that a column does not fall into few sets of a cache */

/* ---- butterflies on complex vectors re[], im[] */
VINL void FN(dft2)(V *a, V *b) {
    V t = *a - *b;
    *a = *a + *b;
    *b = t;
}
VINL void FN(dft4)(V *re, V *im, const int a, const int b, const int c, const int d) {
    FN(dft2)(&re[a], &re[c]), FN(dft2)(&im[a], &im[c]), FN(dft2)(&re[b], &re[d]), FN(dft2)(&im[b], &im[d]);
    V r1 = re[a], i1 = im[a], r2 = re[c], i2 = im[c], r3 = re[b], i3 = im[b], r4 = re[d], i4 = im[d];
    re[a] = r1 + r3, im[a] = i1 + i3;
    re[b] = r2 + i4, im[b] = i2 - r4;
    re[c] = r1 - r3, im[c] = i1 - i3;
    re[d] = r2 - i4, im[d] = i2 + r4;
}
VINL void FN(dft8)(V *re, V *im) {
    const T root = (T)0.70710678118654752440;
    V r, i;
    FN(dft4)(re, im, 0, 2, 4, 6);
    FN(dft4)(re, im, 1, 3, 5, 7);
    r = re[3], i = im[3];
    re[3] = (r + i) * root, im[3] = (i - r) * root;
    r = re[5], i = im[5];
    re[5] = i, im[5] = -r;
    r = re[7], i = im[7];
    re[7] = (i - r) * root, im[7] = (r + i) * -root;
    V er[4] = {re[0], re[2], re[4], re[6]}, ei[4] = {im[0], im[2], im[4], im[6]};
    V or[4] = {re[1], re[3], re[5], re[7]}, oi[4] = {im[1], im[3], im[5], im[7]};
    for (int k = 0; k < 4; k++) {
        re[k] = er[k] + or[k], im[k] = ei[k] + oi[k];
        re[k + 4] = er[k] - or[k], im[k + 4] = ei[k] - oi[k];
    }
}

/* One pass over columns: row q + s (p + m k) of x, k < R, to row q + s (R p + k) of y; w: R - 1 twiddles for each p. Each
   radix is a function of its own, or its pointers do not fit the registers. */
VINL void FN(pass)(const int R, int64_t m, int64_t s, const T *w, const T *xr, const T *xi, int64_t xs, T *yr, T *yi,
                   int64_t ys, const int last) {
    const int64_t a = s * m * xs, b = s * ys, skip = (R - 1) * b;
    for (int64_t p = 0; p < m; p++, w += 2 * (R - 1), yr += skip, yi += skip)
        for (int64_t q = 0; q < s; q++, xr += xs, xi += xs, yr += ys, yi += ys) {
            V re[8], im[8];
            for (int k = 0; k < R; k++) re[k] = AT_C(xr + k * a), im[k] = AT_C(xi + k * a);
            if (R == 2) FN(dft2)(&re[0], &re[1]), FN(dft2)(&im[0], &im[1]);
            else if (R == 4) FN(dft4)(re, im, 0, 1, 2, 3);
            else FN(dft8)(re, im);
            AT(yr) = re[0], AT(yi) = im[0];
            for (int k = 1; k < R; k++) {
                V r = re[k], i = im[k];
                if (!last) {
                    const T c = w[2 * k - 2], d = w[2 * k - 1];
                    r = re[k] * c - im[k] * d, i = re[k] * d + im[k] * c;
                }
                AT(yr + k * b) = r, AT(yi + k * b) = i;
            }
        }
}
#define PASS(name, R, last) \
    static __attribute__((noinline)) void FN(name)(int64_t m, int64_t s, const T *w, const T *xr, const T *xi, int64_t xs, \
                                                   T *yr, T *yi, int64_t ys) { \
        FN(pass)(R, m, s, w, xr, xi, xs, yr, yi, ys, last); \
    }
PASS(pass2, 2, 1)
PASS(pass4, 4, 0)
PASS(pass4_last, 4, 1)
PASS(pass8, 8, 0)
PASS(pass8_last, 8, 1)
#undef PASS

/* Transforms L columns of 2^bits rows from x to y (distances of rows xs, ys), by way of two buffers of rows of L, re and
   then im; x may be the second buffer or y. Without y the result is in the buffer that is returned. */
static T *FN(columns)(const T *w, int bits, const T *xr, const T *xi, int64_t xs, T *yr, T *yi, int64_t ys, T *first,
                      T *second) {
    const int64_t plane = L << bits;
    T *to = first, *other = second;
    for (int64_t s = 1;;) {
        const int take = pass_bits(bits), last = take == bits, out = last && yr;
        const int64_t m = (int64_t)1 << (bits - take), ts = out ? ys : L;
        T *tr = out ? yr : to, *ti = out ? yi : to + plane;
        if (take == 1) FN(pass2)(m, s, w, xr, xi, xs, tr, ti, ts);
        else if (take == 3) (last ? FN(pass8_last) : FN(pass8))(m, s, w, xr, xi, xs, tr, ti, ts);
        else (last ? FN(pass4_last) : FN(pass4))(m, s, w, xr, xi, xs, tr, ti, ts);
        if (last) return to;
        w += 2 * m * ((1 << take) - 1);
        s <<= take;
        bits -= take;
        xr = to, xi = to + plane, xs = L;
        T *t = to;
        to = other, other = t;
    }
}

#define EXCHANGE(d) \
    for (int k = 0; k < L; k++) \
        if (!(k & d)) { \
            V a = v[k], b = v[k + d]; \
            v[k] = __builtin_shuffle(a, b, (I)LANES(SWAP##d##_LO)); \
            v[k + d] = __builtin_shuffle(a, b, (I)LANES(SWAP##d##_HI)); \
        }
VINL void FN(transpose)(V *v) {
    EXCHANGE(1)
#if L >= 4
    EXCHANGE(2)
#endif
#if L >= 8
    EXCHANGE(4)
#endif
#if L >= 16
    EXCHANGE(8)
#endif
}
#undef EXCHANGE

/* N complex numbers, in one array as pairs (xi is NULL) or in two, to the matrix z of N2 rows, zs apart. The matrix b may be
   z; pass: the two buffers. */
static void FN(row)(const signal_plan *plan, const T *xr, const T *xi, T *b, int64_t bs, T *zr, T *zi, int64_t zs,
                    T *buffer) {
    const int64_t n1 = (int64_t)1 << plan->bits1, n2 = (int64_t)1 << plan->bits2, plane = L * i64_max(n1, n2);
    T *first = buffer, *second = buffer + 2 * plane, *bi = b + n2 * bs;
    const T *turn = plan->turn, *lanes = plan->lanes;
    for (int64_t c = 0; c < n2; c += L) {
        const T *done, *from_r = xr + c, *from_i = xi + c;
        int64_t stride = n2;
        if (!xi) {
            for (int64_t r = 0; r < n1; r++) {
                const T *pairs = xr + 2 * (r * n2 + c);
                V lo = AT_C(pairs), hi = AT_C(pairs + L);
                __builtin_prefetch(pairs + 2 * L, 0, 2);
                AT(second + r * L) = __builtin_shuffle(lo, hi, (I)LANES(PICK_EVEN));
                AT(second + (n1 + r) * L) = __builtin_shuffle(lo, hi, (I)LANES(PICK_ODD));
            }
            from_r = second, from_i = second + n1 * L, stride = L;
        }
        done = FN(columns)(plan->steps1, plan->bits1, from_r, from_i, stride, NULL, NULL, 0, first, second);
        for (int64_t k = 0; k < n1; k += L, turn += 2 * L) {
            V re[L], im[L];
            for (int l = 0; l < L; l++) {
                V r = AT_C(done + (k + l) * L), i = AT_C(done + (n1 + k + l) * L);
                V e = AT_C(lanes + 2 * (k + l) * L), f = AT_C(lanes + (2 * (k + l) + 1) * L);
                V c_ = e * turn[2 * l] - f * turn[2 * l + 1], d = e * turn[2 * l + 1] + f * turn[2 * l];
                re[l] = r * c_ - i * d, im[l] = r * d + i * c_;
            }
            FN(transpose)(re);
            for (int l = 0; l < L; l++) AT(b + (c + l) * bs + k) = re[l];
            FN(transpose)(im);
            for (int l = 0; l < L; l++) AT(bi + (c + l) * bs + k) = im[l];
        }
    }
    for (int64_t k = 0; k < n1; k += L)
        FN(columns)(plan->steps2, plan->bits2, b + k, bi + k, bs, zr + k, zi + k, zs, first, second);
}

/* ---- real transforms: the bins of n = 2 N samples from the transform of their pairs, and back */
#define MIRRORED(p) __builtin_shuffle(AT_C(p), (I)LANES(MIRROR))

/* z: N2 rows of N1 numbers, zs apart, each followed by the first number of the next (the last by that of the first) */
static void FN(to_bins)(const signal_plan *plan, const T *zr, const T *zi, int64_t n1, int64_t n2, int64_t zs, T *re,
                        T *im) {
    const int64_t n = n1 * n2, half = n / 2;
    const T *wr = plan->half_re, *wi = plan->half_im, h = (T)0.5;
    const int64_t rows = n2 == 1 ? 1 : n2 / 2, width = n2 == 1 ? half : n1; /* the half that the other one mirrors */
    if (width % L)
        for (int64_t k = 0; k < half; k++) {
            T er = (zr[k] + zr[n - k]) * h, ei = (zi[k] - zi[n - k]) * h;
            T or = (zi[k] + zi[n - k]) * h, oi = (zr[n - k] - zr[k]) * h;
            T tr = or * wr[k] - oi * wi[k], ti = or * wi[k] + oi * wr[k];
            re[k] = er + tr, im[k] = ei + ti;
            re[n - k] = er - tr, im[n - k] = ti - ei;
        }
    else
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < width; c += L) {
                const int64_t k = r * n1 + c, at = r * zs + c, mirror = (n2 - 1 - r) * zs + n1 - c - (L - 1);
                V ar = AT_C(zr + at), ai = AT_C(zi + at), br = MIRRORED(zr + mirror), bi = MIRRORED(zi + mirror);
                V er = (ar + br) * h, ei = (ai - bi) * h, or = (ai + bi) * h, oi = (br - ar) * h;
                V cr = AT_C(wr + k), ci = AT_C(wi + k);
                V tr = or * cr - oi * ci, ti = or * ci + oi * cr;
                AT(re + k) = er + tr, AT(im + k) = ei + ti;
                er = er - tr, ei = ti - ei;
                AT(re + n - k - (L - 1)) = MIRRORED(&er);
                AT(im + n - k - (L - 1)) = MIRRORED(&ei);
            }
    const int64_t middle = n2 == 1 ? half : n2 / 2 * zs;
    re[half] = zr[middle], im[half] = -zi[middle];
    im[0] = im[n] = 0;
}

/* z has room for N + 1; it is scaled for the inverse transform. The imaginary parts of the first and last bin do not count. */
static void FN(from_bins)(const signal_plan *plan, const T *re, const T *im, T *zr, T *zi) {
    const int64_t n = (int64_t)1 << plan->bits, half = n / 2;
    const T *wr = plan->half_re, *wi = plan->half_im, h = (T)0.5 / (T)n;
    int64_t k = 0;
    for (; k + L <= half; k += L) {
        const int64_t mirror = n - k - (L - 1);
        V ar = AT_C(re + k), ai = AT_C(im + k), br = MIRRORED(re + mirror), bi = MIRRORED(im + mirror);
        V er = (ar + br) * h, ei = (ai - bi) * h, dr = (ar - br) * h, di = (ai + bi) * h;
        V cr = AT_C(wr + k), ci = AT_C(wi + k);
        V or = dr * cr + di * ci, oi = di * cr - dr * ci;
        AT(zr + k) = er - oi, AT(zi + k) = ei + or;
        er = er + oi, or = or - ei;
        AT(zr + mirror) = MIRRORED(&er), AT(zi + mirror) = MIRRORED(&or);
    }
    for (; k < half; k++) {
        T er = (re[k] + re[n - k]) * h, ei = (im[k] - im[n - k]) * h;
        T dr = (re[k] - re[n - k]) * h, di = (im[k] + im[n - k]) * h;
        T or = dr * wr[k] + di * wi[k], oi = di * wr[k] - dr * wi[k];
        zr[k] = er - oi, zi[k] = ei + or;
        zr[n - k] = er + oi, zi[n - k] = or - ei;
    }
    zr[0] = (re[0] + re[n]) * h, zi[0] = (re[0] - re[n]) * h;
    zr[half] = re[half] * (2 * h), zi[half] = -im[half] * (2 * h);
}

static void FN(zip)(const T *even, const T *odd, T *out, int64_t n) {
    int64_t k = 0;
    for (; k + L <= n; k += L) {
        V a = AT_C(even + k), b = AT_C(odd + k);
        AT(out + 2 * k) = __builtin_shuffle(a, b, (I)LANES(ZIP_LO));
        AT(out + 2 * k + L) = __builtin_shuffle(a, b, (I)LANES(ZIP_HI));
    }
    for (; k < n; k++) out[2 * k] = even[k], out[2 * k + 1] = odd[k];
}

/* ---- rows of a call */

/* a row of `have` values as one of `want`: itself, or a copy in room */
static const T *FN(fitted)(const T *x, int64_t have, int64_t want, T *room) {
    if (have >= want) return x;
    memcpy(room, x, (size_t)have * sizeof(T));
    memset(room + have, 0, (size_t)(want - have) * sizeof(T));
    return room;
}

/* Short rows: up to L of them side by side, the missing ones as copies of the first. z: a matrix of one row for each, zs apart.
   The next rows are `ahead` values further: pieces as short as these are not foreseen by the processor. */
static void FN(side_by_side)(const signal_plan *plan, const T *const *xr, const T *const *xi, int64_t count, int64_t ahead,
                             T *z, int64_t zs, T *buffer) {
    const int64_t n = (int64_t)1 << plan->bits, plane = L * n;
    T *first = buffer, *second = buffer + 2 * plane;
    V re[L], im[L];
    int64_t k = 0;
    for (; k + L <= n; k += L) {
        for (int l = 0; l < L; l++) {
            const T *x = xr[l < count ? l : 0];
            if (xi[0]) {
                const T *y = xi[l < count ? l : 0];
                re[l] = AT_C(x + k), im[l] = AT_C(y + k);
                __builtin_prefetch(x + k + ahead), __builtin_prefetch(y + k + ahead);
            } else {
                __builtin_prefetch(x + 2 * k + ahead);
                V lo = AT_C(x + 2 * k), hi = AT_C(x + 2 * k + L);
                re[l] = __builtin_shuffle(lo, hi, (I)LANES(PICK_EVEN)), im[l] = __builtin_shuffle(lo, hi, (I)LANES(PICK_ODD));
            }
        }
        FN(transpose)(re);
        for (int l = 0; l < L; l++) AT(second + (k + l) * L) = re[l];
        FN(transpose)(im);
        for (int l = 0; l < L; l++) AT(second + plane + (k + l) * L) = im[l];
    }
    for (; k < n; k++)
        for (int64_t l = 0; l < L; l++) {
            const int64_t from = l < count ? l : 0;
            second[k * L + l] = xi[0] ? xr[from][k] : xr[from][2 * k];
            second[plane + k * L + l] = xi[0] ? xi[from][k] : xr[from][2 * k + 1];
        }
    const T *done = FN(columns)(plan->steps1, plan->bits, second, second + plane, L, NULL, NULL, 0, first, second);
    for (k = 0; k + L <= n; k += L)
        for (int part = 0; part < 2; part++) {
            for (int l = 0; l < L; l++) re[l] = AT_C(done + part * plane + (k + l) * L);
            FN(transpose)(re);
            for (int l = 0; l < L; l++) AT(z + (2 * l + part) * zs + k) = re[l];
        }
    for (; k < n; k++)
        for (int64_t l = 0; l < L; l++) {
            z[2 * l * zs + k] = done[k * L + l];
            z[(2 * l + 1) * zs + k] = done[plane + k * L + l];
        }
}

static void FN(rows_task)(void *ctx, int64_t task) {
    signal_job *j = ctx;
    const signal_plan *plan = j->plan;
    const int64_t n = (int64_t)1 << plan->bits, short_rows = !plan->bits2, side = short_rows ? L : 1;
    const int64_t n1 = short_rows ? n : (int64_t)1 << plan->bits1, n2 = n / n1, zs = n1 + PAD;
    const int64_t bins = n + 1, values = j->op == SIGNAL_RFFT ? j->n : j->op == SIGNAL_IRFFT ? bins : n;
    const int64_t matrix = 2 * n2 * zs, buffer = 4 * L * i64_max(n1, n2), fit = values + PAD, bin = n + PAD;
    const size_t bytes = (size_t)(side * (matrix + 2 * fit + 2 * bin) + buffer) * sizeof(T);
    T *z = rt->alloc(bytes);
    if (!z) {
        j->failed = 1; /* every writer writes the same */
        return;
    }
    T *scratch = z + side * matrix, *room = scratch + buffer, *made = room + 2 * side * fit;
    const int64_t end = i64_min(j->rows, (task + 1) * j->group);
    for (int64_t row = task * j->group; row < end; row += side) {
        const int64_t count = i64_min(side, end - row);
        const T *xr[L], *xi[L];
        for (int64_t l = 0; l < count; l++) {
            const int64_t from = (row + l) * j->have;
            xr[l] = FN(fitted)((const T *)j->a + from, j->have, values, room + 2 * l * fit);
            xi[l] = j->op == SIGNAL_RFFT ? NULL
                                         : FN(fitted)((const T *)j->b + from, j->have, values, room + (2 * l + 1) * fit);
            if (j->op == SIGNAL_IRFFT) { /* the inverse is the transform with the parts exchanged */
                T *mr = made + 2 * l * bin, *mi = mr + bin;
                FN(from_bins)(plan, xr[l], xi[l], mr, mi);
                xr[l] = mi, xi[l] = mr;
            }
        }
        const int64_t to = row * (j->op == SIGNAL_RFFT ? bins : j->n);
        T *re = (T *)j->re + to, *im = j->op == SIGNAL_IRFFT ? NULL : (T *)j->im + to;
        if (short_rows) FN(side_by_side)(plan, xr, xi, count, j->have * L, z, zs, scratch);
        else if (j->op == SIGNAL_CFFT) {
            FN(row)(plan, xr[0], xi[0], z, zs, re, im, n1, scratch);
            continue;
        } else FN(row)(plan, xr[0], xi[0], z, zs, z, z + n2 * zs, zs, scratch);
        for (int64_t l = 0; l < count; l++) {
            T *zr = z + l * matrix, *zi = zr + n2 * zs;
            if (j->op == SIGNAL_CFFT) {
                memcpy(re + l * n, zr, (size_t)n * sizeof(T));
                memcpy(im + l * n, zi, (size_t)n * sizeof(T));
            } else if (j->op == SIGNAL_IRFFT) {
                for (int64_t r = 0; r < n2; r++) FN(zip)(zi + r * zs, zr + r * zs, re + l * j->n + 2 * r * n1, n1);
            } else {
                for (int64_t r = 0; r < n2; r++)
                    zr[r * zs + n1] = zr[(r + 1) % n2 * zs], zi[r * zs + n1] = zi[(r + 1) % n2 * zs];
                FN(to_bins)(plan, zr, zi, n1, n2, zs, re + l * bins, im + l * bins);
            }
        }
    }
    rt->free(z, bytes);
}

/* ---- plans, made once for each length and kept */
static void FN(put_root)(int64_t k, int64_t n, T *re, T *im) {
    double c, s;
    unit_root(k, n, &c, &s);
    *re = (T)c, *im = (T)s;
}

static T *FN(put_steps)(T *w, int bits) {
    while (bits) {
        const int take = pass_bits(bits);
        const int64_t n = (int64_t)1 << bits, m = n >> take;
        for (int64_t p = 0; p < m; p++)
            for (int k = 1; k < 1 << take; k++, w += 2) FN(put_root)(p * k, n, w, w + 1);
        bits -= take;
    }
    return w;
}

static signal_plan *FN(make_plan)(int bits) {
    const int64_t n = (int64_t)1 << bits;
    const int whole = n >= FFT_SIDE_BY_SIDE, bits2 = whole ? bits / 2 : 0, bits1 = bits - bits2;
    const int64_t n1 = (int64_t)1 << bits1, n2 = (int64_t)1 << bits2;
    const int64_t count = (whole ? 2 * n1 * L + 2 * n / L : 0) + n + 4 * (n1 + n2); /* the passes of n take less than 2 n roots */
    signal_plan *plan = NULL;
    if (posix_memalign((void **)&plan, 64, 128 + (size_t)count * sizeof(T))) return NULL;
    T *w = (T *)((char *)plan + 128);
    *plan = (signal_plan){.bits = bits, .bits1 = bits1, .bits2 = bits2, .lanes = w};
    for (int64_t k = 0; whole && k < n1; k++, w += 2 * L)
        for (int l = 0; l < L; l++) FN(put_root)(k * l, n, w + l, w + L + l);
    plan->turn = w;
    for (int64_t c = 0; whole && c < n2; c += L)
        for (int64_t k = 0; k < n1; k++, w += 2) FN(put_root)(k * c, n, w, w + 1);
    plan->half_re = w, plan->half_im = w + n / 2;
    for (int64_t k = 0; k < n / 2; k++) FN(put_root)(k, 2 * n, w + k, w + n / 2 + k);
    plan->steps1 = w + n;
    plan->steps2 = FN(put_steps)(w + n, bits1);
    FN(put_steps)(plan->steps2, bits2);
    return plan;
}

/* No lock: it might be held while the process forks. Of two that are made at once, one is kept. */
static const signal_plan *FN(plan)(int bits) {
    static signal_plan *kept[FFT_MOST_BITS + 1];
    signal_plan *plan = __atomic_load_n(&kept[bits], __ATOMIC_ACQUIRE), *other = NULL;
    if (plan) return plan;
    plan = FN(make_plan)(bits);
    if (plan && !__atomic_compare_exchange_n(&kept[bits], &other, plan, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        free(plan);
        return other;
    }
    return plan;
}

#undef AT
#undef AT_C
#undef PAD
#undef MIRRORED
#undef L
#undef FN
#undef T
#undef V
#undef V_UN
#undef I
