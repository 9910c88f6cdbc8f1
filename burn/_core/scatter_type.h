/* Scattering into out elements of type U from values of type T (VALUE converts); included by index.h once a dtype. */
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

VINL void FN(scatter_each)(const scatter_block *b, const enum scatter_mode mode, const int wide) {
    U *out = b->out;
    const T *v = b->values;
    if (b->idx_col == 0 && b->w > 1) { /* a row a time, of those that are ours */
        for (int64_t j = 0; j < b->k; j++, v += b->inner) {
            const int64_t row = index_at(b->idx, wide, b->at + j * b->idx_row);
            if (row < b->first || row >= b->end) continue;
            U *restrict to = out + row * b->pitch;
            for (int64_t c = 0; c < b->w; c++) FN(put)(to + c, (U)VALUE(v[c]), mode);
        }
        return;
    }
    if (b->w == 1 && b->inner == 1) {
        for (int64_t j = 0; j < b->k; j++)
            FN(put)(out + index_at(b->idx, wide, b->at + j * b->idx_row) * b->pitch, (U)VALUE(v[j]), mode);
        return;
    }
    for (int64_t j = 0; j < b->k; j++, v += b->inner)
        for (int64_t c = 0; c < b->w; c++)
            FN(put)(out + index_at(b->idx, wide, b->at + j * b->idx_row + c * b->idx_col) * b->pitch + c,
                    (U)VALUE(v[c]), mode);
}

static void FN(scatter)(const scatter_block *b) {
#define BOTH(m) case m: if (b->wide) FN(scatter_each)(b, m, 1); else FN(scatter_each)(b, m, 0); break;
    switch (b->mode) {
    BOTH(SCATTER_ASSIGN)
    BOTH(SCATTER_ADD)
    BOTH(SCATTER_MUL)
    BOTH(SCATTER_MIN)
    BOTH(SCATTER_MAX)
    }
#undef BOTH
}
#undef U
#undef T
#undef VALUE
#undef FN
