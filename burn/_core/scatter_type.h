/* Scattering values into out, both of type U; included by index.h once a type, with IS_NAN and the MODES that it has. */
/* which of two values is larger cannot be foreseen: no branch */
VINL void FN(choose)(U *to, U v, int take) {
    BITS_OF(U) old, new, mask = (BITS_OF(U))0 - (BITS_OF(U))take;
    memcpy(&old, to, sizeof old);
    memcpy(&new, &v, sizeof new);
    old ^= (old ^ new) & mask;
    memcpy(to, &old, sizeof old);
}

VINL void FN(put)(U *to, U v, const enum scatter_mode mode) {
    switch (mode) {
    case SCATTER_ASSIGN: *to = v; break;
    case SCATTER_ADD: *to = (U)(*to + v); break;
    case SCATTER_MUL: *to = (U)(*to * v); break;
    case SCATTER_MIN: FN(choose)(to, v, (v < *to) | IS_NAN(v)); break; /* NaN of either wins */
    case SCATTER_MAX: FN(choose)(to, v, (v > *to) | IS_NAN(v)); break;
    }
}

/* LOT values and indices in a row, which go to one line of out, or to as many columns of it */
VINL void FN(lot)(const scatter_block *b, U *out, const U *v, int64_t at, const enum scatter_mode mode, const int wide,
                  const int columns) {
    U *to[LOT], new[LOT];
#pragma GCC unroll 8
    for (int q = 0; q < LOT; q++) {
        to[q] = columns ? out + index_at(b->idx, wide, at + q) * b->pitch + q : out + index_at(b->idx, wide, at + q);
        new[q] = *to[q];
        FN(put)(new + q, v[q], mode);
    }
    if (!columns && __builtin_expect(any_twice(b->idx, wide, at), 0)) {
        for (int q = 0; q < LOT; q++) FN(put)(to[q], v[q], mode);
        return;
    }
#pragma GCC unroll 8
    for (int q = 0; q < LOT; q++) *to[q] = new[q];
}

VINL void FN(scatter_each)(const scatter_block *b, const enum scatter_mode mode, const int wide) {
    U *out = b->out;
    const U *v = b->values;
    if (b->idx_col == 0 && b->w > 1) { /* a row a time, of those that are ours */
        for (int64_t j = 0; j < b->k; j++, v += b->inner) {
            const int64_t row = index_at(b->idx, wide, b->at + j * b->idx_row);
            if (row < b->first || row >= b->end) continue;
            U *restrict to = out + row * b->pitch;
            for (int64_t c = 0; c < b->w; c++) FN(put)(to + c, v[c], mode);
        }
        return;
    }
    if (b->w == 1 && b->inner == 1 && b->idx_row == 1) {
        int64_t j = 0;
        for (; mode != SCATTER_ASSIGN && j + LOT <= b->k; j += LOT) FN(lot)(b, out, v + j, b->at + j, mode, wide, 0);
        for (; j < b->k; j++) FN(put)(out + index_at(b->idx, wide, b->at + j), v[j], mode);
        return;
    }
    for (int64_t j = 0; j < b->k; j++, v += b->inner) {
        const int64_t at = b->at + j * b->idx_row;
        int64_t c = 0;
        for (; mode != SCATTER_ASSIGN && b->idx_col && c + LOT <= b->w; c += LOT)
            FN(lot)(b, out + c, v + c, at + c, mode, wide, 1);
        for (; c < b->w; c++)
            FN(put)(out + index_at(b->idx, wide, at + c * b->idx_col) * b->pitch + c, v[c], mode);
    }
}

static void FN(scatter)(const scatter_block *b) {
#define MODE(m) case m: if (b->wide) FN(scatter_each)(b, m, 1); else FN(scatter_each)(b, m, 0); break;
    switch (b->mode) {
    MODES
    default: break;
    }
#undef MODE
}
#undef U
#undef FN
