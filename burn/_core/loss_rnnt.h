/* RNN-T. A path goes through the grid of steps and labels: at a step it emits the blank, and the next step begins, or the next
   label. Rows of classes are read where they lie: their log-softmax is never stored, only the logarithm of each row's sum.
   Rows and samples are dealt out to the threads; the sums over paths of a sample are made by one. */
#pragma once

typedef struct {
    const loss_type *t;
    const burn_buf *in;     /* logits or logarithms of probabilities [batch, steps, rows, classes], targets, lengths of both */
    char *out;
    double *alphas, *sums;  /* [batch, steps, rows]; sums: NULL where the input holds logarithms of probabilities */
    double *paths;          /* [batch, steps, rows, 2]: the share of paths that emit the blank here, and the label */
    const char *g;
    int64_t batch, steps, rows, classes, targets, blank;
    int failed;
} rnnt_job;

static int64_t rnnt_steps(const rnnt_job *j, int64_t b) { return int_at(&j->in[2], b); }
static int64_t rnnt_count(const rnnt_job *j, int64_t b) { return int_at(&j->in[3], b); }

/* the logarithms of the blank and of label u at a place of the grid (-inf behind the last label) */
VINL void rnnt_emit(const rnnt_job *j, int64_t b, int64_t t, int64_t u, double *blank, double *label) {
    const int64_t at = (b * j->steps + t) * j->rows + u;
    const char *row = (const char *)j->in[0].p + at * j->classes * j->t->size;
    const double sum = j->sums ? j->sums[at] : 0;
    j->t->gather(row, &j->blank, 1, blank);
    *blank -= sum;
    *label = -INFINITY;
    if (u < rnnt_count(j, b)) {
        const int64_t id = int_at(&j->in[1], b * j->targets + u);
        j->t->gather(row, &id, 1, label);
        *label -= sum;
    }
}

/* the sums of the rows of one step */
static void rnnt_sums_task(void *ctx, int64_t task) {
    const rnnt_job *j = ctx;
    const int64_t b = task / j->steps, line = j->classes * j->t->size;
    if (task % j->steps >= rnnt_steps(j, b)) return;
    for (int64_t u = 0, at = task * j->rows; u <= rnnt_count(j, b); u++, at++)
        j->sums[at] = j->t->log_sum((const char *)j->in[0].p + at * line, j->classes);
}

static void rnnt_forward_task(void *ctx, int64_t b) {
    const rnnt_job *j = ctx;
    const int64_t steps = rnnt_steps(j, b), count = rnnt_count(j, b);
    double *alpha = j->alphas + b * j->steps * j->rows, blank, label;
    for (int64_t t = 0; t < steps; t++) {
        double *now = alpha + t * j->rows, left = -INFINITY; /* left: by the label of the place before */
        for (int64_t u = 0; u <= count; u++) {
            now[u] = t == 0 && u == 0 ? 0.0 : log_add(t ? now[u] : -INFINITY, left);
            rnnt_emit(j, b, t, u, &blank, &label);
            left = now[u] + label;
            if (t + 1 < steps) now[u + j->rows] = now[u] + blank;
            else if (u == count) j->t->put(j->out, b, 0.0 - (now[u] + blank));
        }
    }
}

/* betas in place of a row of scratch, and with them the shares of paths */
static void rnnt_paths_task(void *ctx, int64_t b) {
    rnnt_job *j = ctx;
    const int64_t steps = rnnt_steps(j, b), count = rnnt_count(j, b), grid = b * j->steps * j->rows;
    const size_t bytes = (size_t)(count + 2) * 8;
    double *beta = rt->alloc(bytes), blank, label;
    if (!beta) {
        __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    rnnt_emit(j, b, steps - 1, count, &blank, &label);
    const double total = j->alphas[grid + (steps - 1) * j->rows + count] + blank;
    for (int64_t t = steps - 1; t >= 0; t--) {
        beta[count + 1] = -INFINITY;
        for (int64_t u = count; u >= 0; u--) { /* beta[u]: of the step behind */
            const int64_t at = grid + t * j->rows + u;
            rnnt_emit(j, b, t, u, &blank, &label);
            const double by_blank = blank + (t + 1 < steps ? beta[u] : u == count ? 0.0 : -INFINITY);
            const double by_label = label + beta[u + 1], before = j->alphas[at] - total;
            j->paths[2 * at] = total == -INFINITY ? 0 : exp(before + by_blank);
            j->paths[2 * at + 1] = total == -INFINITY ? 0 : exp(before + by_label);
            beta[u] = log_add(by_blank, by_label);
        }
    }
    rt->free(beta, bytes);
}

/* the gradient of the rows of one step */
static void rnnt_slopes_task(void *ctx, int64_t task) {
    const rnnt_job *j = ctx;
    const int64_t b = task / j->steps, line = j->classes * j->t->size;
    const int64_t last = task % j->steps < rnnt_steps(j, b) ? rnnt_count(j, b) : -1;
    double g;
    j->t->gather(j->g, &b, 1, &g);
    for (int64_t u = 0, at = task * j->rows; u < j->rows; u++, at++) {
        const char *x = (const char *)j->in[0].p + at * line;
        char *out = j->out + at * line;
        const double *path = j->paths + 2 * at, share = u <= last && g != 0 ? path[0] + path[1] : 0;
        if (!j->sums || !(share != 0)) memset(out, 0, (size_t)line);
        else j->t->softmax(x, out, j->classes, j->sums[at], g * share);
        if (u > last || g == 0) continue;
        const int64_t id = u < last ? int_at(&j->in[1], b * j->targets + u) : j->blank;
        double logs[2], of_blank = path[0] + (id == j->blank ? path[1] : 0);
        j->t->gather(x, &j->blank, 1, &logs[0]);
        j->t->gather(x, &id, 1, &logs[1]);
        for (int k = 0; k < 2; k++) logs[k] = j->sums && share != 0 ? share * exp(logs[k] - j->sums[at]) : 0;
        j->t->put(out, j->blank, g * (logs[0] - of_blank));
        if (id != j->blank) j->t->put(out, id, g * (logs[1] - path[1]));
    }
}

static rnnt_job rnnt_job_of(const burn_buf *in, int64_t blank) {
    const int64_t *shape = in[0].shape;
    return (rnnt_job){.t = LOSS_TYPES[in[0].dtype], .in = in, .batch = shape[0], .steps = shape[1], .rows = shape[2],
                      .classes = shape[3], .targets = shape[2] - 1, .blank = blank};
}

/* out: the loss, and what the gradient needs: alphas, then the sums of the rows where the input holds logits */
static int rnnt_forward(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t blank, int64_t logits) {
    rnnt_job j = rnnt_job_of(in, blank);
    const int64_t grid = j.batch * j.steps * j.rows;
    int status = loss_check(in + 1, j.batch, j.targets, j.classes, 1, j.steps, a);
    if (status != BURN_OK) return status;
    j.out = out[0].p;
    j.alphas = out[1].p;
    j.sums = logits ? j.alphas + grid : NULL;
    if (logits) rt_tasks(rnnt_sums_task, &j, j.batch * j.steps, (double)grid * j.classes * (j.t->exact ? 6 : 0.8));
    rt_tasks(rnnt_forward_task, &j, j.batch, (double)grid * 40);
    return BURN_OK;
}
static int rnnt_backward(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t blank, int64_t logits) {
    rnnt_job j = rnnt_job_of(in, blank);
    const int64_t grid = j.batch * j.steps * j.rows;
    const size_t bytes = (size_t)grid * 16;
    if (grid * j.classes == 0) return BURN_OK;
    int status = loss_check(in + 1, j.batch, j.targets, j.classes, 1, j.steps, a); /* as for CTC */
    if (status != BURN_OK) return status;
    j.out = out->p;
    j.alphas = in[4].p;
    j.sums = logits ? j.alphas + grid : NULL;
    j.g = in[5].p;
    j.paths = rt->alloc(bytes);
    if (!j.paths) return rt_no_memory(a, (int64_t)bytes);
    rt_tasks(rnnt_paths_task, &j, j.batch, (double)grid * 80);
    if (!j.failed) rt_tasks(rnnt_slopes_task, &j, j.batch * j.steps, (double)grid * j.classes * (j.t->exact ? 6 : 0.8));
    rt->free(j.paths, bytes);
    return j.failed ? rt_no_memory(a, (j.rows + 1) * 8) : BURN_OK;
}
