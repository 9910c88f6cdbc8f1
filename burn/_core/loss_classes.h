/* Losses of rows of scores [n, classes], each with a class: its own score, as it is or beside all others, or by how much these
   come near to it. */
#pragma once

typedef struct {
    const loss_type *t;
    const char *x, *weights, *g; /* weights and g may be missing */
    char *out, *counts;          /* counts may be missing */
    double *log_sums;            /* of rows; may be missing, but for gradients */
    const burn_buf *targets;
    int64_t rows, classes, group; /* rows of a task */
    int64_t padded, pad;          /* whether rows of the class `pad` count for nothing */
    double smoothing, margin;
    int64_t p;
    int stream;
} class_job;

/* Whether all targets are classes, or pads. */
static int classes_check(const class_job *j, burn_args *a) {
    for (int64_t r = 0; r < j->rows; r++) {
        const int64_t id = int_at(j->targets, r);
        if ((id < 0 || id >= j->classes) && !(j->padded && id == j->pad)) return loss_outside(a, 0, r, id, j->classes);
    }
    return BURN_OK;
}
static double class_value(const class_job *j, const void *row, int64_t at) {
    double v;
    j->t->gather(row, &at, 1, &v);
    return v;
}
static int classes_run(void (*body)(void *, int64_t), class_job *j, double ns) {
    j->group = i64_max(1, (int64_t)(j->rows * 8192 / (ns + 1)));
    rt_tasks(body, j, ceil_div(j->rows, j->group), ns);
    return BURN_OK;
}

/* ---- minus the weighted score of the class; smoothing mixes in the mean of all weighted scores of the row */
static void nll_task(void *ctx, int64_t task) {
    const class_job *j = ctx;
    const int size = j->t->size;
    const int64_t last = i64_min(j->rows, (task + 1) * j->group);
    for (int64_t r = task * j->group; r < last; r++) {
        const int64_t id = int_at(j->targets, r);
        const char *row = j->x + r * j->classes * size;
        double loss = 0, count = 0;
        if (!(j->padded && id == j->pad)) {
            count = j->weights ? class_value(j, j->weights, id) : 1;
            loss = class_value(j, row, id) * count;
            if (j->smoothing != 0)
                loss = loss * (1 - j->smoothing) +
                       j->t->dot(row, j->weights, j->classes, 0) * (j->smoothing / (double)j->classes);
        }
        j->t->put(j->out, r, 0 - loss);
        if (j->counts) j->t->put(j->counts, r, count);
    }
}
static int nll_forward(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t padded, int64_t pad, double smoothing) {
    class_job j = {.t = LOSS_TYPES[in[0].dtype], .x = in[0].p, .weights = a->n_in > 2 ? in[2].p : NULL, .out = out[0].p,
                   .counts = a->n_out > 1 ? out[1].p : NULL, .targets = &in[1], .rows = in[0].shape[0],
                   .classes = in[0].shape[1], .padded = padded, .pad = pad, .smoothing = smoothing};
    const int status = classes_check(&j, a);
    return status ? status : classes_run(nll_task, &j, (double)(j.rows * (5 + (smoothing != 0 ? j.classes / 4 : 0))));
}
static void nll_slope_task(void *ctx, int64_t task) {
    const class_job *j = ctx;
    const int size = j->t->size;
    const int64_t last = i64_min(j->rows, (task + 1) * j->group);
    for (int64_t r = task * j->group; r < last; r++) {
        const int64_t id = int_at(j->targets, r);
        const double g = class_value(j, j->g, r), each = j->smoothing / (double)j->classes;
        char *row = j->out + r * j->classes * size;
        if (g == 0 || (j->padded && id == j->pad)) {
            memset(row, 0, (size_t)(j->classes * size));
            continue;
        }
        if (j->smoothing != 0) j->t->spread(j->weights, row, j->classes, -g * each);
        else memset(row, 0, (size_t)(j->classes * size));
        j->t->put(row, id, -g * (1 - j->smoothing + each) * (j->weights ? class_value(j, j->weights, id) : 1));
    }
}
/* in = gradient, targets, weights where there are any */
static int nll_backward(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t padded, int64_t pad, double smoothing) {
    class_job j = {.t = LOSS_TYPES[in[0].dtype], .g = in[0].p, .weights = a->n_in > 2 ? in[2].p : NULL, .out = out[0].p,
                   .targets = &in[1], .rows = out[0].shape[0], .classes = out[0].shape[1], .padded = padded, .pad = pad,
                   .smoothing = smoothing};
    return classes_run(nll_slope_task, &j, (double)(j.rows * (10 + j.classes / 4)));
}

/* ---- the same of logits: a row's softmax is never stored, its gradient needs the logarithm of the sum of exponentials alone */
static void entropy_task(void *ctx, int64_t task) {
    const class_job *j = ctx;
    const int64_t last = i64_min(j->rows, (task + 1) * j->group);
    for (int64_t r = task * j->group; r < last; r++) {
        const int64_t id = int_at(j->targets, r);
        const char *row = j->x + r * j->classes * j->t->size;
        double loss = 0, count = 0, log_sum = 0;
        if (!(j->padded && id == j->pad)) {
            count = j->weights ? class_value(j, j->weights, id) : 1;
            log_sum = j->t->log_sum(row, j->classes);
            loss = (class_value(j, row, id) - log_sum) * count;
            if (j->smoothing != 0)
                loss = loss * (1 - j->smoothing) +
                       j->t->dot(row, j->weights, j->classes, log_sum) * (j->smoothing / (double)j->classes);
        }
        j->t->put(j->out, r, 0 - loss);
        if (j->counts) j->t->put(j->counts, r, count);
        if (j->log_sums) j->log_sums[r] = log_sum;
    }
}
static int entropy_forward(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t padded, int64_t pad, double smoothing) {
    class_job j = {.t = LOSS_TYPES[in[0].dtype], .x = in[0].p, .weights = a->n_in > 2 ? in[2].p : NULL, .out = out[0].p,
                   .log_sums = out[1].p, .counts = a->n_out > 2 ? out[2].p : NULL, .targets = &in[1],
                   .rows = in[0].shape[0], .classes = in[0].shape[1], .padded = padded, .pad = pad, .smoothing = smoothing};
    const int status = classes_check(&j, a);
    return status ? status : classes_run(entropy_task, &j, (double)(j.rows * (20 + j.classes)));
}
static void entropy_slope_task(void *ctx, int64_t task) {
    const class_job *j = ctx;
    const int64_t last = i64_min(j->rows, (task + 1) * j->group);
    const double each = j->smoothing / (double)j->classes;
    double all = (double)j->classes; /* the sum of the weights */
    if (j->smoothing != 0 && j->weights) all = j->t->dot(j->weights, NULL, j->classes, 0);
    for (int64_t r = task * j->group; r < last; r++) {
        const int64_t id = int_at(j->targets, r), at = r * j->classes * j->t->size;
        const double g = class_value(j, j->g, r);
        if (g == 0 || (j->padded && id == j->pad)) {
            memset(j->out + at, 0, (size_t)(j->classes * j->t->size));
            continue;
        }
        const double own = (1 - j->smoothing) * (j->weights ? class_value(j, j->weights, id) : 1);
        j->t->likelier(j->x + at, j->weights, j->out + at, j->classes, j->log_sums[r], g * (own + each * all), g * each, id,
                       g * own, j->stream);
    }
    if (j->stream) v_fence();
}
/* in = logits, targets, logarithms of the sums, gradient, weights where there are any */
static int entropy_backward(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t padded, int64_t pad,
                            double smoothing) {
    class_job j = {.t = LOSS_TYPES[in[0].dtype], .x = in[0].p, .targets = &in[1], .log_sums = in[2].p, .g = in[3].p,
                   .weights = a->n_in > 4 ? in[4].p : NULL, .out = out[0].p, .rows = out[0].shape[0],
                   .classes = out[0].shape[1], .padded = padded, .pad = pad, .smoothing = smoothing};
    j.stream = j.classes * j.t->size % 64 == 0 && j.t->size >= 4 && can_stream(j.out, j.rows * j.classes * j.t->size);
    return classes_run(entropy_slope_task, &j, (double)(j.rows * (20 + j.classes)));
}

/* ---- the mean over the row of max(0, margin - score of the class + other score)^p, p = 1 or 2 */
static void margin_task(void *ctx, int64_t task) {
    const class_job *j = ctx;
    const int64_t last = i64_min(j->rows, (task + 1) * j->group);
    for (int64_t r = task * j->group; r < last; r++) {
        const char *row = j->x + r * j->classes * j->t->size;
        j->t->put(j->out, r, j->t->lacking(row, j->classes, int_at(j->targets, r), j->margin, j->p) / (double)j->classes);
    }
}
static int margin_forward(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t p, double margin) {
    class_job j = {.t = LOSS_TYPES[in[0].dtype], .x = in[0].p, .out = out[0].p, .targets = &in[1], .rows = in[0].shape[0],
                   .classes = in[0].shape[1], .margin = margin, .p = p};
    const int status = classes_check(&j, a);
    return status ? status : classes_run(margin_task, &j, (double)(j.rows * (10 + j.classes / 4)));
}
static void margin_slope_task(void *ctx, int64_t task) {
    const class_job *j = ctx;
    const int64_t last = i64_min(j->rows, (task + 1) * j->group);
    for (int64_t r = task * j->group; r < last; r++) {
        const int64_t at = r * j->classes * j->t->size;
        const double g = class_value(j, j->g, r) / (double)j->classes;
        if (g == 0) memset(j->out + at, 0, (size_t)(j->classes * j->t->size));
        else j->t->slopes(j->x + at, j->out + at, j->classes, int_at(j->targets, r), j->margin, j->p, g);
    }
}
static int margin_backward(const burn_buf *out, const burn_buf *in, burn_args *a, int64_t p, double margin) {
    class_job j = {.t = LOSS_TYPES[in[0].dtype], .x = in[0].p, .g = in[2].p, .out = out[0].p, .targets = &in[1],
                   .rows = in[0].shape[0], .classes = in[0].shape[1], .margin = margin, .p = p};
    return classes_run(margin_slope_task, &j, (double)(j.rows * (10 + j.classes / 3)));
}
