/* Sorts of entries of one width. sort.h includes this file twice, with these macros set:
     K, E, COUNT           key, entry, and a number of entries
     DIGITS, DIGIT(e, q)   bytes of a key; the q-th of an entry, as an unsigned number in the order of the keys
     MERGED                most entries that are merged rather than sorted by their digits
     MAKE(key, at), AT(e), KEY(e)   entry of a key and a position; its position; its key
     LESS(a, b)            order of entries
     VECTORS               whether keys are as vi of vec.h has them
     FN(name)              width_name */

/* at most RANKED entries: the place of each is the number of smaller ones */
VINL void FN(rank)(const E *a, E *b, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const E e = a[i];
        int64_t place = 0;
        for (int64_t j = 0; j < n; j++) place += LESS(a[j], e);
        b[place] = e;
    }
}

/* Runs a..b and b..end. Two of one length are merged from both ends at once, half of them each: two chains of steps that do
   not wait for each other, and neither can run dry. */
VINL void FN(merge)(const E *a, const E *b, const E *end, E *out) {
    const E *middle = b;
    if (end - b == b - a) {
        const E *a_last = b - 1, *b_last = end - 1;
        E *last = out + (end - a) - 1;
        for (int64_t i = b - a; i > 0; i--) {
            const E left = *a, right = *b, low = *a_last, high = *b_last;
            const int64_t take = LESS(right, left), keep = LESS(high, low);
            *out++ = take ? right : left;
            *last-- = keep ? low : high;
            b += take;
            a += 1 - take;
            a_last -= keep;
            b_last -= 1 - keep;
        }
        return;
    }
    while (a < middle && b < end) {
        const E left = *a, right = *b;
        const int64_t take = LESS(right, left);
        *out++ = take ? right : left;
        b += take;
        a += 1 - take;
    }
    if (a < middle) memcpy(out, a, (size_t)((const char *)middle - (const char *)a));
    else memcpy(out, b, (size_t)((const char *)end - (const char *)b));
}

/* starts of the digits' ranges from their counts, two sets of which are added; 0 where all entries have the same digit */
VINL int FN(starts)(COUNT *count, const COUNT *other, int64_t n) {
    COUNT sum = 0;
    int same = 0;
    for (int z = 0; z < 256; z++) {
        COUNT c = count[z] + other[z];
        same |= c == (COUNT)n;
        count[z] = sum;
        sum += c;
    }
    return !same;
}

/* Neighbours often share a digit, and a counter that is bumped twice in a row waits for itself: two sets take turns. */
static void FN(histogram)(const E *a, int64_t n, COUNT (*count)[DIGITS][256]) {
    memset(count, 0, 2 * sizeof *count);
    int64_t i = 0;
    for (; i + 2 <= n; i += 2)
        for (int q = 0; q < DIGITS; q++) count[0][q][DIGIT(a[i], q)]++, count[1][q][DIGIT(a[i + 1], q)]++;
    if (i < n) for (int q = 0; q < DIGITS; q++) count[0][q][DIGIT(a[i], q)]++;
}

#define SCATTER(q) case q: for (int64_t i = 0; i < n; i++) { const E e = a[i]; b[start[DIGIT(e, q)]++] = e; } break;
static void FN(scatter)(const E *a, E *b, int64_t n, int digit, COUNT *start) {
    switch (digit) {
    SCATTER(0) SCATTER(1) SCATTER(2) SCATTER(3)
#if DIGITS == 8
    SCATTER(4) SCATTER(5) SCATTER(6) SCATTER(7)
#endif
    }
}
#undef SCATTER

/* entries of a in order; they then lie in a or in b, as the result says */
static E *FN(sort)(E *a, E *b, int64_t n) {
    if (n <= RANKED) {
        FN(rank)(a, b, n);
        return b;
    }
    if (n <= MERGED) {
        for (int64_t i = 0; i < n; i += RANKED) FN(rank)(a + i, b + i, i64_min(RANKED, n - i));
        for (int64_t w = RANKED; w < n; w *= 2) {
            E *from = b, *to = a;
            for (int64_t i = 0; i < n; i += 2 * w)
                FN(merge)(from + i, from + i64_min(i + w, n), from + i64_min(i + 2 * w, n), to + i);
            a = from;
            b = to;
        }
        return b;
    }
    COUNT count[2][DIGITS][256];
    FN(histogram)(a, n, count);
    for (int q = 0; q < DIGITS; q++) {
        if (!FN(starts)(count[0][q], count[1][q], n)) continue;
        FN(scatter)(a, b, n, q, count[0][q]);
        E *t = a;
        a = b;
        b = t;
    }
    return a;
}

/* The entries whose keys may be among the k smallest: the k-th smallest of the minima of many groups bounds them, and of
   those at the bound the first k. Gives their number; b is room for as many entries as there are keys. */
static int64_t FN(few)(const K *keys, int64_t n, int64_t k, int64_t groups, E *out, E *b) {
    K *least = (K *)b, bound;
    memcpy(least, keys, (size_t)groups * sizeof(K));
    int64_t i = groups, found = 0, equal = 0;
    if (groups == GROUPS) {
        for (; i + GROUPS <= n; i += GROUPS)
            for (int g = 0; g < GROUPS; g++) least[g] = keys[i + g] < least[g] ? keys[i + g] : least[g];
        bound = least[0];
        for (int g = 0; g < GROUPS; g++) {
            K below = 0, upto = 0;
            for (int h = 0; h < GROUPS; h++) below += least[h] < least[g], upto += least[h] <= least[g];
            if (below < k && k <= upto) {
                bound = least[g];
                break;
            }
        }
    } else {
        for (; i + groups <= n; i += groups)
            for (int64_t g = 0; g < groups; g++) least[g] = keys[i + g] < least[g] ? keys[i + g] : least[g];
        for (int64_t g = 0; g < groups; g++) out[g] = MAKE(least[g], g);
        bound = least[AT(FN(sort)(out, out + groups, groups)[k - 1])];
    }
    i = 0;
#if VECTORS
    vi most = bci(bound);
    for (; i + 2 * VW <= n; i += 2 * VW) {
        uint32_t beyond = vm_bits(vi_gt(vi_load(keys + i), most)) | vm_bits(vi_gt(vi_load(keys + i + VW), most)) << VW;
        uint32_t inside = ~beyond & (uint32_t)(((uint64_t)1 << 2 * VW) - 1);
        for (; inside; inside &= inside - 1) {
            int64_t at = i + __builtin_ctz(inside);
            out[found++] = MAKE(keys[at], at);
            equal += keys[at] == bound;
        }
        if (equal >= k) { /* from here on, smaller ones alone */
            if (bound == INT32_MIN) return found;
            most = bci(bound - 1);
        }
    }
#endif
    for (; i < n; i++) {
        if (keys[i] > bound || (keys[i] == bound && equal >= k)) continue;
        out[found++] = MAKE(keys[i], i);
        equal += keys[i] == bound;
    }
    return found;
}

/* whether all keys are the same */
static int FN(alike)(const E *a, int64_t n) {
    K other = 0;
    for (int64_t i = 0; i < n; i++) other |= KEY(a[i]) ^ KEY(a[0]);
    return other == 0;
}

/* The entry at one place of the order: digit by digit from the top, only the entries that share its digit are kept. */
static E *FN(pick)(E *a, E *b, int64_t n, int64_t place) {
    int q = DIGITS - 1;
    for (; q >= 0 && n > RANKED; q--) {
        COUNT count[2][256] = {{0}};
        int64_t i = 0, below = 0, found = 0;
        int z = 0;
        for (; i + 2 <= n; i += 2) count[0][DIGIT(a[i], q)]++, count[1][DIGIT(a[i + 1], q)]++;
        if (i < n) count[0][DIGIT(a[i], q)]++;
        while (below + (int64_t)(count[0][z] + count[1][z]) <= place) below += (int64_t)(count[0][z] + count[1][z]), z++;
        if ((int64_t)(count[0][z] + count[1][z]) == n) {
            if (FN(alike)(a, n)) return a + place;
            continue;
        }
        for (i = 0; i < n; i++) {
            b[found] = a[i];
            found += DIGIT(a[i], q) == z;
        }
        E *t = a;
        a = b;
        b = t;
        n = found;
        place -= below;
    }
    return q < 0 ? a + place : FN(sort)(a, b, n) + place; /* without a digit left, they lie in the order of positions */
}

#define VALUES(T) for (int64_t p = from; p < to; p++) ((T *)values)[p] = ((const T *)x)[AT(e[p])]; break;
/* positions from..to of a row's results, from its sorted entries */
static void FN(put)(const sort_job *j, int64_t row, const E *e, int64_t from, int64_t to) {
    const char *x = j->x + row * j->n * j->size;
    if (j->at && j->at_wide)
        for (int64_t p = from; p < to; p++) ((int64_t *)j->at)[row * j->k + p] = AT(e[p]);
    else if (j->at)
        for (int64_t p = from; p < to; p++) ((int32_t *)j->at)[row * j->k + p] = (int32_t)AT(e[p]);
    if (!j->values) return;
    char *values = j->values + row * j->k * j->size;
    switch (j->size) {
    case 1: VALUES(uint8_t)
    case 2: VALUES(uint16_t)
    case 4: VALUES(uint32_t)
    default: VALUES(uint64_t)
    }
}
#undef VALUES

/* a group of rows */
static void FN(task)(void *ctx, int64_t task) {
    sort_job *j = ctx;
    const int64_t n = j->n, each = ceil_div(n, 8) * 8, bytes = each * (int64_t)(sizeof(K) + 2 * sizeof(E));
    int64_t groups = GROUPS, end = i64_min((task + 1) * j->group, j->rows);
    E *room = rt->alloc((size_t)bytes), *a = room, *b = room + each;
    K *keys = (K *)(b + each);
    if (!room) {
        __atomic_store_n(&j->bad, 1, __ATOMIC_RELAXED);
        return;
    }
    while (groups < 2 * j->k) groups *= 2;
    for (int64_t r = task * j->group; r < end; r++) {
        FN(keys)(j->dtype, j->x + r * n * j->size, n, (K)j->flip, keys);
        int64_t count = n;
        if (j->first == 0 && 4 * groups <= n) count = FN(few)(keys, n, j->k, groups, a, b);
        else for (int64_t i = 0; i < n; i++) a[i] = MAKE(keys[i], i);
        if (j->k == 1 && count > RANKED) FN(put)(j, r, FN(pick)(a, b, count, j->first), 0, 1);
        else FN(put)(j, r, FN(sort)(a, b, count) + j->first, 0, j->k);
    }
    rt->free(room, (size_t)bytes);
}

/* ---- one long row by all threads: digit after digit, each piece of the row counts and scatters its entries */
typedef struct {
    sort_job *j;
    int64_t row, piece, step;
    int digit, pass; /* passes: entries and counts of all digits, counts of one digit, scatter, results */
    E *a, *b;
    COUNT (*count)[2][DIGITS][256];
} FN(long_job);

static void FN(long_task)(void *ctx, int64_t p) {
    FN(long_job) *l = ctx;
    const sort_job *j = l->j;
    const int64_t from = p * l->piece, to = i64_min(from + l->piece, j->n);
    COUNT *count = l->count[p][0][l->digit];
    switch (l->pass) {
    case 0:
        for (int64_t i = from; i < to; i += 256) {
            K keys[256];
            int64_t len = i64_min(256, to - i);
            FN(keys)(j->dtype, j->x + (l->row * j->n + i) * j->size, len, (K)j->flip, keys);
            for (int64_t q = 0; q < len; q++) l->a[i + q] = MAKE(keys[q], i + q);
        }
        FN(histogram)(l->a + from, to - from, l->count[p]);
        break;
    case 1: {
        const int q = l->digit;
        COUNT *other = l->count[p][1][q];
        memset(count, 0, 256 * sizeof *count);
        memset(other, 0, 256 * sizeof *other);
        for (int64_t i = from; i < to; i += 2) {
            count[DIGIT(l->a[i], q)]++;
            if (i + 1 < to) other[DIGIT(l->a[i + 1], q)]++;
        }
        break;
    }
    case 2:
        FN(scatter)(l->a + from, l->b, to - from, l->digit, count);
        break;
    default: {
        int64_t size = ceil_div(j->k, l->step);
        FN(put)(j, l->row, l->a + j->first, p * size, i64_min((p + 1) * size, j->k));
    }
    }
}

static void FN(long_row)(sort_job *j, int64_t row) {
    FN(long_job) l = {.j = j, .row = row, .step = i64_min(PIECES, j->n / PIECE)};
    const int64_t n = j->n, entries = n * (int64_t)sizeof(E), bytes = 2 * entries + l.step * (int64_t)sizeof *l.count;
    char *room = rt->alloc((size_t)bytes);
    if (!room) {
        j->bad = 1;
        return;
    }
    l.a = (E *)room;
    l.b = (E *)(room + entries);
    l.count = (void *)(room + 2 * entries);
    l.piece = ceil_div(n, l.step);
    rt->run(FN(long_task), &l, l.step);
    for (int fresh = 1; l.digit < DIGITS; l.digit++) {
        COUNT sum = 0;
        int same = 0;
        if (!fresh) {
            l.pass = 1;
            rt->run(FN(long_task), &l, l.step);
            fresh = 1;
        }
        for (int z = 0; z < 256; z++) {
            COUNT before = sum;
            for (int64_t p = 0; p < l.step; p++) {
                COUNT *c = l.count[p][0][l.digit], here = c[z] + l.count[p][1][l.digit][z];
                c[z] = sum;
                sum += here;
            }
            same |= sum - before == (COUNT)n;
        }
        if (same) continue;
        l.pass = 2;
        rt->run(FN(long_task), &l, l.step);
        E *t = l.a;
        l.a = l.b;
        l.b = t;
        fresh = 0;
    }
    l.pass = 3;
    rt->run(FN(long_task), &l, l.step);
    rt->free(room, (size_t)bytes);
}

#undef FN
#undef K
#undef E
#undef COUNT
#undef DIGITS
#undef MERGED
#undef MAKE
#undef AT
#undef KEY
#undef DIGIT
#undef LESS
#undef VECTORS
