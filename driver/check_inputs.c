// What a gradient is checked with. Random numbers lie in [-1, 1]; where results are not finite of
// them, those of a tensor are made positive, or larger than 1 by size, where that leaves fewer. The
// type at hand is tried with the same numbers, and a hundred and ten thousand times as large, where
// exponentials and squares leave it: what has a number in f64 has one there.
#include "check_gradient.h"

#include <string.h>

static void widen_all(checking *c) {
    for (tensor_val v = 0; v < c->own->nparams; v++)
        if (c->own->vals.data[v].role != VAL_RESULT && c->wide[v].data != c->narrow[v].data)
            for (int64_t k = 0; k < check_elements(&c->wide[v]); k++)
                ((double *)c->wide[v].data)[k] = bind_load(c->narrow[v].type, c->narrow[v].data, k);
}

// Of the op that is no gradient: what a gradient is given besides stays.
static bool is_drawn(const checking *c, tensor_val v) {
    const tensor_val_info *i = &c->own->vals.data[v];
    bool random = c->b->sources[v].from == FROM_RANDOM && !c->b->sources[v].text;
    return random && i->role == VAL_TENSOR && ir_dtype_is_float(i->type) &&
           check_named(c->root, i->name) != TENSOR_NO_VAL;
}

// ---- The domain ---------------------------------------------------------------------------------
// Elements of an op's results that are such.
static bool count_elements(checking *c, const tensor_op *op, const tensor_array *in,
                           bool (*are)(const tensor_evaluated *, int64_t), int64_t *out) {
    arena *a = arena_new();
    tensor_evaluated *y = ARENA_ARRAY(a, tensor_evaluated, op->nparams + 1);
    bool good = check_evaluate(c, op, in, a, y);
    *out = 0;
    for (tensor_val v = 0, r = 0; v < op->nparams && good; v++) {
        if (op->vals.data[v].role != VAL_RESULT) continue;
        for (int64_t k = 0; y[r].is_float && k < y[r].points; k++) *out += are(&y[r], k);
        r++;
    }
    arena_free(a);
    return good;
}

static bool is_not_finite(const tensor_evaluated *y, int64_t k) {
    return !isfinite(check_value_at(y, k));
}

static bool count_not_finite(checking *c, int64_t *out) {
    widen_all(c);
    return count_elements(c, c->levels[0].op, c->levels[0].inputs, is_not_finite, out);
}

// Numbers as x of [-1, 1] lies: 0.75 + 0.25 x and so on.
static const struct {
    double middle, width;
    const char *text;
} ranges[] = {{0.75, 0.25, "in [0.5, 1]"},
              {1.5, 0.25, "in [1.25, 1.75]"},
              {-0.75, 0.25, "in [-1, -0.5]"},
              {-1.5, 0.25, "in [-1.75, -1.25]"}};
enum { RANGES = sizeof ranges / sizeof *ranges };

static void put_range(checking *c, tensor_val v, const double *was, uint32_t range) {
    tensor_array *x = &c->narrow[v];
    for (int64_t k = 0; k < check_elements(x); k++)
        bind_store(x->type, x->data, k,
                   range < RANGES ? ranges[range].middle + ranges[range].width * was[k] : was[k]);
}

static bool find_range(checking *c, tensor_val v, int64_t *left) {
    tensor_array *x = &c->narrow[v];
    double *was = ARENA_ARRAY(c->d->arena, double, (size_t)check_elements(x) + 1);
    uint32_t best = RANGES;
    for (int64_t k = 0; k < check_elements(x); k++) was[k] = bind_load(x->type, x->data, k);
    for (uint32_t r = 0; r < RANGES && *left; r++) {
        int64_t n;
        put_range(c, v, was, r);
        if (!count_not_finite(c, &n)) return false;
        if (n < *left) *left = n, best = r;
    }
    put_range(c, v, was, best);
    if (best == RANGES) return true;
    VEC_PUSH(c->d->arena, &c->told,
             arena_printf(c->d->arena,
                          "%s: '%s' is drawn %s, as of others more results are not finite",
                          c->own->name, c->own->vals.data[v].name, ranges[best].text));
    return true;
}

bool check_find_domain(checking *c) {
    int64_t left;
    if (!count_not_finite(c, &left)) return false;
    for (tensor_val v = 0; v < c->own->nparams && left; v++)
        if (is_drawn(c, v) && !find_range(c, v, &left)) return false;
    widen_all(c);
    return true;
}

// ---- The type at hand ---------------------------------------------------------------------------
static void scale_inputs(checking *c, const double *const *was, double by) {
    for (tensor_val v = 0; v < c->own->nparams; v++)
        for (int64_t k = 0; was[v] && k < check_elements(&c->narrow[v]); k++)
            bind_store(c->narrow[v].type, c->narrow[v].data, k,
                       is_drawn(c, v) ? by * was[v][k] : was[v][k]);
    widen_all(c);
}

static bool holds_floats(const checking *c, tensor_val v) {
    return c->own->vals.data[v].role != VAL_RESULT && ir_dtype_is_float(c->narrow[v].type);
}

// Of floats what they are; NULL: of others.
static const double **copies_of(checking *c) {
    const double **all = ARENA_ARRAY(c->d->arena, const double *, c->own->nparams + 1);
    for (tensor_val v = 0; v < c->own->nparams; v++) {
        if (!holds_floats(c, v)) continue;
        double *x = ARENA_ARRAY(c->d->arena, double, (size_t)check_elements(&c->narrow[v]) + 1);
        for (int64_t k = 0; k < check_elements(&c->narrow[v]); k++)
            x[k] = bind_load(c->narrow[v].type, c->narrow[v].data, k);
        all[v] = x;
    }
    return all;
}

// Elements of the op's results that are not numbers in its own type.
static bool count_beyond(checking *c, int64_t *out) {
    arena *a = arena_new();
    tensor_array *in = ARENA_ARRAY(a, tensor_array, c->root->nparams + 1);
    for (tensor_val v = 0; v < c->root->nparams; v++)
        if (c->root->vals.data[v].role != VAL_RESULT)
            in[v] = c->narrow[check_named(c->own, c->root->vals.data[v].name)];
    bool good = count_elements(c, c->root, in, check_told_not_finite, out);
    arena_free(a);
    return good;
}

// Where f64 has no number either, differences tell whether there is one.
static bool should_be_finite(checking *c, const ast_names *of, tensor_val result,
                             const tensor_evaluated *in_f64, int64_t k, bool *out) {
    double x = check_value_at(in_f64, k);
    *out = isfinite(x) && isfinite(ir_dtype_round(c->own->vals.data[result].type, x));
    if (isfinite(x) || isinf(in_f64->bound[k])) return true;
    return check_is_smooth(c, &c->wide[check_named(c->own, of->name.text)], k, out);
}

static bool compare_types(checking *c, tensor_val result, const ast_names *of,
                          const tensor_evaluated *mine, const tensor_evaluated *in_f64,
                          outcome *o) {
    for (int64_t k = 0; k < mine->points && !o->beyond; k++) {
        bool should = false;
        if (!check_told_not_finite(mine, k)) continue;
        if (!should_be_finite(c, of, result, in_f64, k, &should)) return false;
        double there = check_value_at(in_f64, k);
        if (should)
            o->beyond = arena_printf(
                c->d->arena, "element %lld of '%s' is %s in %s where inputs reach %g: %s",
                (long long)k, c->own->vals.data[result].name,
                isnan(mine->value[k]) ? "nan" : "infinite",
                ir_dtype_text(
                    tensor_type_of_storage(c->own->vals.data[result].type, TENSOR_NO_SPACE).type),
                c->reach,
                isfinite(there) ? arena_printf(c->d->arena, "in f64 it is %.6g", there)
                                : "differences of the op are finite");
    }
    return true;
}

// A weight that was left out is so in either type.
static void weigh_alike(checking *c) {
    for (tensor_val v = 0; v < c->own->nparams; v++)
        for (int64_t k = 0; holds_floats(c, v) && k < check_elements(&c->narrow[v]); k++)
            if (((double *)c->wide[v].data)[k] == 0)
                bind_store(c->narrow[v].type, c->narrow[v].data, k, 0);
}

static bool check_reach(checking *c, int64_t usual, outcome *outcomes, bool *fits) {
    arena *a = arena_new();
    tensor_evaluated *mine = ARENA_ARRAY(a, tensor_evaluated, c->own->nparams + 1),
                     *in_f64 = ARENA_ARRAY(a, tensor_evaluated, c->own->nparams + 1);
    int64_t beyond;
    bool good = count_beyond(c, &beyond) && check_leave_out(c);
    *fits = good && beyond <= usual && c->left_out <= usual;
    weigh_alike(c);
    good = good && (!*fits || (check_evaluate(c, c->own, c->narrow, a, mine) &&
                               check_evaluate(c, c->gradient, c->wide, a, in_f64)));
    const ast_names *of = c->wrt;
    for (tensor_val v = 0, r = 0; v < c->own->nparams && good && *fits; v++) {
        if (c->own->vals.data[v].role != VAL_RESULT) continue;
        good = compare_types(c, v, of, &mine[r], &in_f64[r], &outcomes[r]);
        of = of->next, r++;
    }
    arena_free(a);
    return good;
}

bool check_in_type(checking *c, outcome *outcomes) {
    static const double reaches[] = {1, 100, 10000};
    const double **was = copies_of(c);
    double reach = 0;
    // empty rows and the like; more of them are results that overflow
    int64_t usual = c->left_out;
    bool fits = true;
    for (uint32_t i = 0; i < 3 && fits; i++) {
        c->reach = reaches[i];
        scale_inputs(c, was, c->reach);
        if (!check_reach(c, usual, outcomes, &fits)) return false;
        if (fits) reach = c->reach;
    }
    c->reach = reach;
    scale_inputs(c, was, 1);
    return check_leave_out(c);
}
