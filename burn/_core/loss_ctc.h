/* CTC. A path goes through blanks 0..L and labels 0..L-1 in turns, L the length of the target. blank[i] is entered from
   itself and from label[i-1]; label[i] from itself, from blank[i], and from label[i-1] unless that is the same label or
   either is the blank. A row of these is kept as the blanks and the labels apart, so that neighbours are lanes of a vector. */
#pragma once

#define LOSS_NONE (-INFINITY)

/* out = log(e^a + e^b + e^c) of n numbers, rounded up to whole vectors; c may be NULL */
static void log_add_rows(const double *a, const double *b, const double *c, double *out, int64_t n) {
    const vd none = bcd(LOSS_NONE);
    for (int64_t i = 0; i < n; i += VW) {
        vd v[3][2], most[2], base[2];
        for (int h = 0; h < 2; h++) {
            v[0][h] = vd_load(a + i + h * VD);
            v[1][h] = vd_load(b + i + h * VD);
            most[h] = vd_max(v[0][h], v[1][h]);
            if (c) {
                v[2][h] = vd_load(c + i + h * VD);
                most[h] = vd_max(most[h], v[2][h]);
            }
            base[h] = (vd)((vl)most[h] & ~(vl)(most[h] == none)); /* -inf - -inf would be no number */
        }
        /* e^-80 beside 1 is nothing, and keeps to the short path of the exponential */
        vf x[3], sum;
        for (int k = 0; k < (c ? 3 : 2); k++)
            x[k] = vf_max(bc(-80.f), vf_from_d(v[k][0] - base[0], v[k][1] - base[1]));
        if (c) {
            m_exp_many(x, 3);
            sum = x[0] + x[1] + x[2];
        } else {
            m_exp_many(x, 2);
            sum = x[0] + x[1];
        }
        sum = m_log(sum);
        vd_store(out + i, most[0] + vf_dlo(sum));
        vd_store(out + i + VD, most[1] + vf_dhi(sum));
    }
}
/* the same in double */
static void log_add_rows_exact(const double *a, const double *b, const double *c, double *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const double x = c ? log_add(b[i], c[i]) : b[i];
        out[i] = log_add(a[i], x);
    }
}
/* out = e^(a + b + k); 0 below e^-86 in float */
static void exp_rows(const double *a, const double *b, double k, double *out, int64_t n) {
    const vd add = bcd(k);
    for (int64_t i = 0; i < n; i += VW) {
        vf x = vf_from_d(vd_load(a + i) + vd_load(b + i) + add, vd_load(a + i + VD) + vd_load(b + i + VD) + add);
        vf e = vf_sel(vf_lt(x, bc(-86.f)), bc(0.f), m_exp(vf_max(bc(-86.f), x)));
        vd_store(out + i, vf_dlo(e));
        vd_store(out + i + VD, vf_dhi(e));
    }
}
static void exp_rows_exact(const double *a, const double *b, double k, double *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = exp(a[i] + b[i] + k);
}

typedef struct {
    const loss_type *t;
    const burn_buf *in;     /* logarithms of probabilities [steps, batch, classes], targets, lengths of inputs and of targets */
    char *out;
    double *alphas;         /* [batch, steps, 2 targets + 1], or NULL where nobody wants them */
    const char *g;
    int64_t steps, batch, classes, targets, blank;
    int failed;
} ctc_job;

/* Scratch of a sample. Arrays have room for whole vectors and a place before the first; all that is not used is -inf. */
typedef struct {
    double *blank[2], *label[2], *emit, *skip, *masked, *sums;
    int64_t *ids, length, steps;
    void *memory;
    size_t bytes;
} ctc_sample;

static int ctc_open(const ctc_job *j, int64_t n, ctc_sample *s) {
    enum { ARRAYS = 7, BEFORE = 8 };
    s->length = int_at(&j->in[3], n);
    s->steps = int_at(&j->in[2], n);
    const int64_t room = BEFORE + (s->length + 2 + 15) / 16 * 16 + 16, extra = j->g ? j->classes : 0;
    s->bytes = (size_t)((ARRAYS + 1) * room + extra) * 8;
    double *p = s->memory = rt->alloc(s->bytes);
    if (!p) return 0;
    for (int64_t i = 0; i < ARRAYS * room; i++) p[i] = LOSS_NONE;
    p += BEFORE;
    double **const arrays[ARRAYS] = {&s->blank[0], &s->blank[1], &s->label[0], &s->label[1], &s->emit, &s->skip, &s->masked};
    for (int k = 0; k < ARRAYS; k++, p += room) *arrays[k] = p;
    s->ids = (int64_t *)p;
    s->sums = p - BEFORE + room;
    for (int64_t c = 0; c < extra; c++) s->sums[c] = 0;
    for (int64_t i = 0; i < s->length; i++) {
        s->ids[i] = int_at(&j->in[1], n * j->targets + i);
        if (i && s->ids[i] != j->blank && s->ids[i] != s->ids[i - 1]) s->skip[i] = 0;
    }
    return 1;
}
static void ctc_close(ctc_sample *s) { rt->free(s->memory, s->bytes); }

/* what sample n has at a step: the blank's logarithm, and those of the labels in emit */
static double ctc_emit(const ctc_job *j, const ctc_sample *s, int64_t n, int64_t step) {
    const char *row = (const char *)j->in[0].p + (step * j->batch + n) * j->classes * j->t->size;
    double blank;
    j->t->gather(row, &j->blank, 1, &blank);
    j->t->gather(row, s->ids, s->length, s->emit);
    return blank;
}

static void ctc_forward_task(void *ctx, int64_t n) {
    ctc_job *j = ctx;
    ctc_sample s;
    if (!ctc_open(j, n, &s)) {
        __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    void (*const add)(const double *, const double *, const double *, double *, int64_t) =
        j->t->exact ? log_add_rows_exact : log_add_rows;
    const int64_t len = s.length, width = 2 * j->targets + 1;
    double *blank = s.blank[0], *label = s.label[0], *blank2 = s.blank[1], *label2 = s.label[1];
    blank[0] = 0; /* before the first step; where there is none, only an empty target has a path */
    for (int64_t t = 0; t < s.steps; t++) {
        const double lp = ctc_emit(j, &s, n, t);
        if (t == 0) {
            blank[0] = lp;
            if (len) label[0] = s.emit[0];
        } else {
            for (int64_t i = 0; i < len; i++) s.masked[i] = label[i - 1] + s.skip[i];
            add(blank, label - 1, NULL, blank2, len + 1);
            add(label, blank, s.masked, label2, len);
            for (int64_t i = 0; i <= len; i++) blank2[i] += lp;
            for (int64_t i = 0; i < len; i++) label2[i] += s.emit[i];
            for (int64_t i = len; i < len + VW && i % VW; i++) label2[i] = LOSS_NONE;
            double *b = blank, *l = label;
            blank = blank2, label = label2, blank2 = b, label2 = l;
        }
        if (j->alphas) {
            double *to = j->alphas + (n * j->steps + t) * width;
            memcpy(to, blank, (size_t)(len + 1) * 8);
            memcpy(to + j->targets + 1, label, (size_t)len * 8);
        }
    }
    const double total = len ? log_add(blank[len], label[len - 1]) : blank[0];
    j->t->put(j->out, n, 0.0 - total);
    ctc_close(&s);
}

/* The gradient by a logarithm is minus the probability that the path takes it there. Betas leave out what the step itself
   adds, so that alpha + beta is finite where there is a path. */
static void ctc_backward_task(void *ctx, int64_t n) {
    ctc_job *j = ctx;
    const int64_t line = j->classes * j->t->size, width = 2 * j->targets + 1;
    for (int64_t t = 0; t < j->steps; t++) memset(j->out + (t * j->batch + n) * line, 0, (size_t)line);
    ctc_sample s;
    if (!ctc_open(j, n, &s)) {
        __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    const int exact = j->t->exact;
    void (*const add)(const double *, const double *, const double *, double *, int64_t) =
        exact ? log_add_rows_exact : log_add_rows;
    const int64_t len = s.length, last = s.steps - 1;
    double *blank = s.blank[0], *label = s.label[0], *own_blank = s.blank[1], *own_label = s.label[1], g;
    const double *alpha = j->alphas + (n * j->steps + last) * width;
    const double total = last < 0 ? LOSS_NONE
                         : len    ? log_add(alpha[len], alpha[j->targets + len])
                                  : alpha[0];
    j->t->gather(j->g, &n, 1, &g);
    if (total != LOSS_NONE && g != 0) {
        blank[len] = 0;
        if (len) label[len - 1] = 0;
        for (int64_t t = last; t >= 0; t--) {
            alpha = j->alphas + (n * j->steps + t) * width;
            memcpy(own_blank, alpha, (size_t)(len + 1) * 8);
            memcpy(own_label, alpha + j->targets + 1, (size_t)len * 8);
            for (int64_t i = len + 1; i % VW; i++) own_blank[i] = LOSS_NONE;
            for (int64_t i = len; i % VW; i++) own_label[i] = LOSS_NONE;
            (exact ? exp_rows_exact : exp_rows)(own_blank, blank, -total, own_blank, len + 1);
            (exact ? exp_rows_exact : exp_rows)(own_label, label, -total, own_label, len);
            double sum = 0;
            for (int64_t i = 0; i <= len; i++) sum += own_blank[i];
            s.sums[j->blank] = sum;
            for (int64_t i = 0; i < len; i++) s.sums[s.ids[i]] += own_label[i];
            char *row = j->out + (t * j->batch + n) * line;
            j->t->put(row, j->blank, -g * s.sums[j->blank]);
            for (int64_t i = 0; i < len; i++) j->t->put(row, s.ids[i], -g * s.sums[s.ids[i]]);
            for (int64_t i = 0; i < len; i++) s.sums[s.ids[i]] = 0;
            if (t == 0) break;
            const double lp = ctc_emit(j, &s, n, t);
            for (int64_t i = 0; i <= len; i++) blank[i] += lp;
            for (int64_t i = 0; i < len; i++) label[i] += s.emit[i];
            for (int64_t i = 0; i < len; i++) s.masked[i] = label[i + 1] + s.skip[i + 1];
            add(blank, label, NULL, own_blank, len + 1);
            add(label, blank + 1, s.masked, own_label, len);
            for (int64_t i = len + 1; i % VW; i++) own_blank[i] = LOSS_NONE;
            for (int64_t i = len; i < len + VW; i++) own_label[i] = LOSS_NONE;
            double *b = blank, *l = label;
            blank = own_blank, label = own_label, own_blank = b, own_label = l;
        }
    }
    ctc_close(&s);
}

static ctc_job ctc_job_of(const burn_buf *in, int64_t blank) {
    return (ctc_job){.t = LOSS_TYPES[in[0].dtype], .in = in, .steps = in[0].shape[0], .batch = in[0].shape[1],
                     .classes = in[0].shape[2], .targets = in[1].shape[1], .blank = blank};
}
static double ctc_cost(const ctc_job *j) { return (double)j->batch * j->steps * (j->targets + 1) * (j->t->exact ? 60 : 5); }
static int ctc_done(const ctc_job *j, burn_args *a) {
    return j->failed ? rt_no_memory(a, (2 * j->targets + j->classes) * 8) : BURN_OK;
}

static int ctc_forward(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t blank) {
    ctc_job j = ctc_job_of(in, blank);
    int status = loss_check(in + 1, j.batch, j.targets, j.classes, 0, j.steps, a);
    if (status != BURN_OK) return status;
    j.out = out[0].p;
    j.alphas = a->n_out > 1 ? out[1].p : NULL;
    rt_tasks(ctc_forward_task, &j, j.batch, ctc_cost(&j));
    return ctc_done(&j, a);
}
static int ctc_backward(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t blank) {
    ctc_job j = ctc_job_of(in, blank);
    /* once more: they may lie in an array of NumPy's, which can be written to since forward */
    int status = loss_check(in + 1, j.batch, j.targets, j.classes, 0, j.steps, a);
    if (status != BURN_OK) return status;
    j.out = out->p;
    j.alphas = in[4].p;
    j.g = in[5].p;
    rt_tasks(ctc_backward_task, &j, j.batch, 2 * ctc_cost(&j));
    return ctc_done(&j, a);
}
