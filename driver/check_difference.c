// Derivatives by differences of values. Of one gradient it is the central difference of two steps,
// as Richardson extrapolation has it: (16 D(h) - D(4 h)) / 15, whose error is of the fourth order.
// Where the two are far apart the op has a kink nearby, and nothing is said of the element. Of a
// gradient of a gradient a difference is taken of a difference, with longer steps, and two
// extrapolations are compared. Results that are not finite are left out, and what may reach no
// others is not compared.
#include "check_gradient.h"

#include <string.h>

// The step, how far estimates may be apart, and rounding of differences, over the sum of the terms,
// by the number of gradients.
enum { DEEPEST = 3 };
static const struct {
    double step, near, noise;
} precision[DEEPEST] = {{0x1p-14, 1e-6, 0}, {0x1p-11, 1e-5, 1e-4}, {0x1p-8, 1e-5, 1e-3}};

static uint32_t depth_of(const checking *c) {
    return c->depth < DEEPEST ? c->depth - 1 : DEEPEST - 1;
}
double check_tolerance(const checking *c) { return precision[depth_of(c)].near; }

// ---- Values -------------------------------------------------------------------------------------
// The sum of what `of` gives for each float result of a level and its weights.
static bool over_results(checking *c, uint32_t level,
                         double (*of)(checking *, tensor_array *, const tensor_evaluated *),
                         double *out) {
    arena *a = arena_new();
    const check_level *l = &c->levels[level];
    tensor_evaluated *y = ARENA_ARRAY(a, tensor_evaluated, l->op->nparams + 1);
    bool good = check_evaluate(c, l->op, l->inputs, a, y);
    *out = 0;
    for (tensor_val v = 0, r = 0, given = 0; v < l->op->nparams && good; v++) {
        const tensor_val_info *i = &l->op->vals.data[v];
        if (i->role != VAL_RESULT) continue;
        if (ir_dtype_is_float(i->type)) *out += of(c, l->weights[given++], &y[r]);
        r++;
    }
    arena_free(a);
    return good;
}

static double term_at(tensor_array *dy, const tensor_evaluated *y, int64_t k) {
    double w = bind_load(dy->type, dy->data, k);
    return w != 0 ? w * check_value_at(y, k) : 0;   // what has no weight may be no number
}

static double weighed(checking *c, tensor_array *dy, const tensor_evaluated *y) {
    (void)c;
    double sum = 0;
    for (int64_t k = 0; k < check_elements(dy); k++) sum += term_at(dy, y, k);
    return sum;
}

static double sizes_of_terms(checking *c, tensor_array *dy, const tensor_evaluated *y) {
    (void)c;
    double sum = 0;
    for (int64_t k = 0; k < check_elements(dy); k++) sum += fabs(term_at(dy, y, k));
    return sum;
}

// Of an empty row, a masked one, or where the op is not defined.
static double leave_out(checking *c, tensor_array *dy, const tensor_evaluated *y) {
    for (int64_t k = 0; k < check_elements(dy); k++) {
        if (isfinite(check_value_at(y, k))) continue;
        bind_store(dy->type, dy->data, k, 0);
        c->left_out++;
        c->uncertain += !check_told_not_finite(y, k);
    }
    return 0;
}

bool check_leave_out(checking *c) {
    bool good = true;
    double none;
    c->left_out = c->uncertain = 0;
    for (uint32_t l = 0; l < c->depth && good; l++) good = over_results(c, l, leave_out, &none);
    return good;
}

// ---- Along weights ------------------------------------------------------------------------------
static tensor_array *by(checking *c, const ast_names *name) {
    return &c->wide[check_named(c->gradient, name->name.text)];
}

// What a level is differentiated by, moved by a multiple of the weights of the level above.
static void move(checking *c, uint32_t level, double step) {
    const ast_names *name = c->levels[level - 1].wrt;
    for (uint32_t i = 0; name; i++, name = name->next) {
        tensor_array *x = by(c, name), *w = c->levels[level].weights[i];
        double *to = x->data;
        const double *from = w->data;
        for (int64_t k = 0; k < check_elements(x); k++) to[k] += step * from[k];
    }
}

typedef VEC(double *) copies;

static copies keep(checking *c, uint32_t level, arena *a) {
    copies all = {0};
    for (const ast_names *name = c->levels[level - 1].wrt; name; name = name->next) {
        size_t n = (size_t)check_elements(by(c, name));
        double *copy = ARENA_ARRAY(a, double, n + 1);
        memcpy(copy, by(c, name)->data, n * sizeof *copy);
        VEC_PUSH(a, &all, copy);
    }
    return all;
}

static void put_back(checking *c, uint32_t level, const copies *all) {
    const ast_names *name = c->levels[level - 1].wrt;
    for (uint32_t i = 0; name; i++, name = name->next)
        memcpy(by(c, name)->data, all->data[i],
               (size_t)check_elements(by(c, name)) * sizeof(double));
}

static bool value_of(checking *c, uint32_t level, double h, double *out);

static bool slope_along(checking *c, uint32_t level, double h, double step, const copies *was,
                        double *out) {
    double high, low;
    move(c, level, step);
    bool good = value_of(c, level - 1, h, &high);
    put_back(c, level, was);
    move(c, level, -step);
    good = good && value_of(c, level - 1, h, &low);
    put_back(c, level, was);
    if (good) *out = (high - low) / (2 * step);
    return good;
}

static bool value_of(checking *c, uint32_t level, double h, double *out) {
    if (!level) return over_results(c, 0, weighed, out);
    arena *a = arena_new();
    copies was = keep(c, level, a);
    double fine, coarse;
    bool good = slope_along(c, level, h, h, &was, &fine) &&
                slope_along(c, level, h, 2 * h, &was, &coarse);
    if (good) *out = (4 * fine - coarse) / 3;
    arena_free(a);
    return good;
}

// ---- One element --------------------------------------------------------------------------------
static bool difference(checking *c, tensor_array *x, int64_t at, double step, double *out) {
    double *to = (double *)x->data + at, was = *to, h = precision[depth_of(c)].step, high, low;
    *to = was + step;
    double above = *to;
    bool good = value_of(c, c->depth - 1, h, &high);
    *to = was - step;
    double below = *to;
    good = good && value_of(c, c->depth - 1, h, &low);
    *to = was;
    if (good) *out = (high - low) / (above - below);
    return good;
}

// The derivative, and another estimate of it.
static bool estimate(checking *c, tensor_array *x, int64_t at, double *best, double *other) {
    double h = precision[depth_of(c)].step, fine, middle, coarse;
    if (!difference(c, x, at, h, &fine) || !difference(c, x, at, 4 * h, &coarse)) return false;
    *best = (16 * fine - coarse) / 15, *other = *best + (fine - coarse);
    if (c->depth == 1) return true;
    if (!difference(c, x, at, 2 * h, &middle)) return false;
    *best = (4 * fine - middle) / 3, *other = (4 * middle - coarse) / 3;
    return true;
}

// NaN is larger than any.
void check_note_error(outcome *o, double error, int64_t at) {
    o->compared++;
    if (isnan(error)) error = (double)INFINITY;
    if (error > o->worst) o->worst = error, o->worst_at = at;
}

bool check_element(checking *c, tensor_array *x, int64_t at, double given, double largest,
                   outcome *o) {
    double near = check_tolerance(c), best, other, terms = 0, noise = precision[depth_of(c)].noise;
    if (!estimate(c, x, at, &best, &other)) return false;
    if (noise > 0 && !over_results(c, 0, sizes_of_terms, &terms)) return false;
    double scale = largest + 1e-6 + noise * terms;
    bool kink = !(fabs(best - other) <= near * scale + near * fabs(best)),
         reaches_none = c->left_out && given == 0 && best == 0;
    if (kink || reaches_none) o->skipped++;
    else check_note_error(o, fabs(best - given) / scale, at);
    return true;
}

// What reaches no result that is finite has no derivative.
bool check_is_smooth(checking *c, tensor_array *x, int64_t at, bool *out) {
    double slope;
    bool good = difference(c, x, at, precision[depth_of(c)].step, &slope);
    *out = good && isfinite(slope) && !(c->left_out && slope == 0);
    return good;
}
