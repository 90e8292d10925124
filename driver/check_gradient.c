// gnnc check --grad: gradients beside finite differences. The op and its gradient are evaluated in f64 on one
// input; with y its results and dy what the gradient is given, L = sum(dy * y) is differentiated by the
// central difference of each element, of two steps, as Richardson extrapolation has it: (16 D(h) - D(4 h)) /
// 15, whose error is of the fourth order. Where the two are far apart the op has a kink nearby, and nothing
// is said of the element. Results that are not finite are left out of L, and what may reach no others is not
// compared. An element of the gradient that is not finite is told apart, so that it hides no other. What an op
// saves for its gradient is evaluated by their twins, which must give the same gradient.
#include "run.h"

#include <math.h>
#include <string.h>

enum { MOST = 48 };   // elements of a tensor

typedef struct {
    driver *d;
    const tensor_op *forward, *gradient;
    const tensor_op *saving, *saved;   // their twins; NULL: nothing is saved
    const ast_names *wrt;
    binding *b;             // of the gradient, whose parameters are those of the op and more
    tensor_array *inputs;   // of the op
    const int64_t *sizes;
    int64_t left_out;       // elements of results that are not finite
    VEC(const char *) cells;
    uint32_t rows;
} checking;

typedef struct {
    int64_t elements, compared, skipped, not_finite;
    double worst;   // error over the largest element of the gradient
    int64_t worst_at, first_not_finite;
} outcome;

// ---- The op ----------------------------------------------------------------------------------------------
static tensor_val named(const tensor_op *op, const char *name) {
    for (tensor_val v = 0; v < op->nparams; v++)
        if (!strcmp(op->vals.data[v].name, name)) return v;
    return TENSOR_NO_VAL;
}

static int64_t elements(const tensor_array *x) {
    int64_t n = 1;
    for (uint32_t i = 0; i < x->rank; i++) n *= x->shape[i];
    return n;
}

static bool evaluate(checking *c, const tensor_op *op, const tensor_array *inputs, arena *a,
                     tensor_evaluated *out) {
    const char *why = "";
    tensor_eval_input in = {.sizes = c->sizes, .inputs = inputs};
    if (tensor_eval(a, op, &in, out, &why)) return true;
    diag(c->d->ds, E0821, NO_SPAN, "op '%s' cannot be evaluated: %s", op->name, why);
    return false;
}

// Where the gradient is given dy of the first float result: behind the parameters that are the op's.
static tensor_val first_given(const checking *c) {
    tensor_val n = 0;
    for (tensor_val v = 0; v < c->forward->nparams; v++) n += c->forward->vals.data[v].role != VAL_RESULT;
    return n;
}

// Where any value may stand the evaluator has a 0.
static double value_at(const tensor_evaluated *x, int64_t k) {
    return isinf(x->bound[k]) ? (double)NAN : x->value[k];
}

static double weighed(checking *c, tensor_array *dy, const tensor_evaluated *y) {
    (void)c;
    double sum = 0;
    for (int64_t k = 0; k < elements(dy); k++) {
        double w = bind_load(dy->type, dy->data, k);
        if (w != 0) sum += w * value_at(y, k);
    }
    return sum;
}

// An element that is not finite weighs nothing: of an empty row, a masked one, or where the op is not defined.
static double leave_out(checking *c, tensor_array *dy, const tensor_evaluated *y) {
    for (int64_t k = 0; k < elements(dy); k++) {
        if (isfinite(value_at(y, k))) continue;
        bind_store(dy->type, dy->data, k, 0);
        c->left_out++;
    }
    return 0;
}

// The sum of what `of` gives for each result that is a float and its dy.
static bool over_results(checking *c, double (*of)(checking *, tensor_array *, const tensor_evaluated *),
                         double *out) {
    arena *a = arena_new();
    tensor_evaluated *y = ARENA_ARRAY(a, tensor_evaluated, c->forward->nparams + 1);
    bool good = evaluate(c, c->forward, c->inputs, a, y);
    tensor_val given = first_given(c);
    *out = 0;
    for (tensor_val v = 0, r = 0; v < c->forward->nparams && good; v++) {
        const tensor_val_info *i = &c->forward->vals.data[v];
        if (i->role != VAL_RESULT) continue;
        if (ir_dtype_is_float(i->type)) *out += of(c, &c->b->arrays[given++], &y[r]);
        r++;
    }
    arena_free(a);
    return good;
}

// ---- One element -----------------------------------------------------------------------------------------
static bool difference(checking *c, tensor_array *x, int64_t at, double step, double *out) {
    double was = bind_load(x->type, x->data, at), high, low;
    bind_store(x->type, x->data, at, was + step);
    double above = bind_load(x->type, x->data, at);
    bool good = over_results(c, weighed, &high);
    bind_store(x->type, x->data, at, was - step);
    double below = bind_load(x->type, x->data, at);
    good = good && over_results(c, weighed, &low);
    bind_store(x->type, x->data, at, was);
    if (good) *out = (high - low) / (above - below);
    return good;
}

// NaN is larger than any.
static void note_error(outcome *o, double error, int64_t at) {
    o->compared++;
    if (isnan(error)) error = (double)INFINITY;
    if (error > o->worst) o->worst = error, o->worst_at = at;
}

static bool check_element(checking *c, tensor_array *x, int64_t at, double given, double largest,
                          outcome *o) {
    const double H = 0x1p-14, NEAR = 1e-6;
    double fine, coarse, scale = largest + 1e-6;
    if (!difference(c, x, at, H, &fine) || !difference(c, x, at, 4 * H, &coarse)) return false;
    bool kink = !(fabs(fine - coarse) <= NEAR * scale + NEAR * fabs(fine));
    bool reaches_none = c->left_out && given == 0 && fine == 0;
    if (kink || reaches_none) o->skipped++;
    else note_error(o, fabs((16 * fine - coarse) / 15 - given) / scale, at);
    return true;
}

// ---- Tensors ---------------------------------------------------------------------------------------------
static void tell_not_finite(checking *c, const char *name, const char *tensor, const outcome *o,
                            double value) {
    const char *more = "";
    if (o->not_finite > 1)
        more = arena_printf(c->d->arena, ", and %lld more %s not finite", (long long)o->not_finite - 1,
                            o->not_finite > 2 ? "are" : "is");
    diag(c->d->ds, E0826, NO_SPAN, "%s: element %lld of '%s' is %s%s", name, (long long)o->first_not_finite,
         tensor, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", more);
}

static void tell_none(checking *c, const char *name, const char *tensor) {
    const char *why = "the op has a kink near each";
    if (c->left_out)
        why = arena_printf(c->d->arena, "%lld elements of the results are not finite", (long long)c->left_out);
    diag(c->d->ds, E0826, NO_SPAN, "%s: no element of '%s' can be compared: %s", name, tensor, why);
}

// than: what gives something else.
static void add_row(checking *c, const char *name, tensor_val result, const outcome *o, const double *values,
                    const char *than) {
    enum { COLUMNS = 7 };
    arena *a = c->d->arena;
    const char *tensor = c->gradient->vals.data[result].name;
    bool near = o->worst <= 1e-6, none = o->elements && !o->compared && !o->not_finite;
    bool right = near && !none && !o->not_finite;
    const char *cells[COLUMNS] = {name,
                                  tensor,
                                  arena_printf(a, "%lld", (long long)o->elements),
                                  arena_printf(a, "%lld", (long long)o->compared),
                                  arena_printf(a, "%lld", (long long)o->skipped),
                                  arena_printf(a, "%.1e", o->worst),
                                  right ? "right" : "WRONG"};
    for (uint32_t i = 0; i < COLUMNS; i++) VEC_PUSH(a, &c->cells, cells[i]);
    c->rows++;
    c->d->mismatch |= !right;
    if (o->not_finite) tell_not_finite(c, name, tensor, o, values[o->first_not_finite]);
    if (none) tell_none(c, name, tensor);
    if (!near)
        diag(c->d->ds, E0826, NO_SPAN, "%s: element %lld of '%s' is not what %s: off by %.1e of the largest",
             name, (long long)o->worst_at, tensor, than, o->worst);
}

// The largest of those that are finite.
static double largest_of(const tensor_evaluated *x) {
    double largest = 0;
    for (int64_t k = 0; k < x->points; k++)
        if (isfinite(value_at(x, k))) largest = fmax(largest, fabs(x->value[k]));
    return largest;
}

static bool told_not_finite(const tensor_evaluated *x, int64_t k) {
    return !isinf(x->bound[k]) && !isfinite(x->value[k]);
}

static void find_not_finite(const tensor_evaluated *x, outcome *o) {
    for (int64_t k = x->points; k-- > 0;)
        if (told_not_finite(x, k)) o->not_finite++, o->first_not_finite = k;
}

static bool check_tensor(checking *c, tensor_val result, const char *of, const tensor_evaluated *got) {
    tensor_array *x = &c->inputs[named(c->forward, of)];
    outcome o = {.elements = elements(x)};
    double largest = largest_of(got);
    find_not_finite(got, &o);
    int64_t each = o.elements > MOST ? o.elements / MOST : 1;
    for (int64_t k = 0; k < o.elements; k += each)
        if (!isfinite(value_at(got, k))) o.skipped++;
        else if (!check_element(c, x, k, got->value[k], largest, &o)) return false;
    add_row(c, c->gradient->name, result, &o, got->value, "finite differences give");
    return true;
}

// ---- With what is saved ----------------------------------------------------------------------------------
// Of what the op gave: the next part of the buffer, which has names of its own, or the result that is read as it is.
static tensor_val of_forward(const tensor_op *saved, const tensor_val_info *result, tensor_val *part) {
    if (result->facts & FACT_SAVED) {
        while (!(saved->vals.data[*part].facts & FACT_SAVED)) ++*part;
        return (*part)++;
    }
    tensor_val v = named(saved, result->name);
    return v != TENSOR_NO_VAL && saved->vals.data[v].facts & FACT_GIVEN ? v : TENSOR_NO_VAL;
}

// What the op's twin gave that the gradient's reads.
static void hand_over(checking *c, const tensor_evaluated *given, tensor_array *in) {
    arena *a = c->d->arena;
    for (tensor_val from = 0, r = 0, part = 0; from < c->saving->nparams; from++) {
        const tensor_val_info *i = &c->saving->vals.data[from];
        if (i->role != VAL_RESULT) continue;
        const tensor_evaluated *of = &given[r++];
        tensor_val to = of_forward(c->saved, i, &part);
        if (to == TENSOR_NO_VAL) continue;
        tensor_array x = {.type = i->type, .rank = i->rank};
        for (uint32_t k = 0; k < i->rank; k++) x.shape[k] = c->sizes[i->axes[k]];
        x.data = arena_alloc(a, (size_t)elements(&x) * sizeof(double) + 1);
        for (int64_t k = 0; k < elements(&x); k++)
            bind_store(x.type, (void *)x.data, k, of->value ? of->value[k] : (double)of->integer[k]);
        in[to] = x;
    }
}

static void compare_saved(checking *c, tensor_val result, const tensor_evaluated *wanted,
                          const tensor_evaluated *got) {
    outcome o = {.elements = got->points};
    double largest = largest_of(wanted);
    for (int64_t k = 0; k < o.elements; k++) {
        double x = wanted->value[k], y = got->value[k];
        bool same = x == y || (isnan(x) && isnan(y));
        if (isinf(wanted->bound[k]) || isinf(got->bound[k])) o.skipped++;
        else note_error(&o, same ? 0 : fabs(y - x) / (largest + 1e-6), k);
    }
    add_row(c, c->saved->name, result, &o, got->value, "the gradient without what is saved gives");
}

// The two of them give what the gradient does.
static bool check_saved(checking *c, const tensor_evaluated *wanted) {
    arena *a = c->d->arena;
    if (!c->saving || !c->saved) return true;
    tensor_array *in = ARENA_ARRAY(a, tensor_array, c->saved->nparams + 1);
    tensor_evaluated *forward = ARENA_ARRAY(a, tensor_evaluated, c->saving->nparams + 1),
                     *got = ARENA_ARRAY(a, tensor_evaluated, c->saved->nparams + 1);
    for (tensor_val v = 0; v < c->gradient->nparams; v++)
        if (c->gradient->vals.data[v].role != VAL_RESULT) in[named(c->saved, c->gradient->vals.data[v].name)] = c->b->arrays[v];
    if (!evaluate(c, c->saving, c->inputs, a, forward)) return false;
    hand_over(c, forward, in);
    if (!evaluate(c, c->saved, in, a, got)) return false;
    for (tensor_val v = 0, r = 0; v < c->gradient->nparams; v++)
        if (c->gradient->vals.data[v].role == VAL_RESULT) compare_saved(c, v, &wanted[r], &got[r]), r++;
    return true;
}

// ---- All -------------------------------------------------------------------------------------------------
// Neither a step nor a result is rounded.
static const tensor_op *in_f64(arena *a, const tensor_op *of) {
    tensor_op *op = tensor_op_copy(a, of);
    tensor_widen(op);
    return op;
}

static void widen(arena *a, tensor_array *x) {
    int64_t n = elements(x);
    if (!ir_dtype_is_float(x->type) || x->type == DT_F64) return;
    double *wide = ARENA_ARRAY(a, double, (size_t)n + 1);
    for (int64_t k = 0; k < n; k++) wide[k] = bind_load(x->type, x->data, k);
    x->type = DT_F64;
    x->data = wide;
}

// Parameters of the op are among those of its gradient, by name.
static tensor_array *inputs_of(checking *c) {
    tensor_array *in = ARENA_ARRAY(c->d->arena, tensor_array, c->forward->nparams + 1);
    for (tensor_val v = 0; v < c->forward->nparams; v++) {
        tensor_val same = named(c->gradient, c->forward->vals.data[v].name);
        if (c->forward->vals.data[v].role != VAL_RESULT) in[v] = c->b->arrays[same];
    }
    return in;
}

static void check_op(checking *c, const run_graph *g, const bind_options *options) {
    arena *a = c->d->arena;
    if (!(c->b = bind_op(c->d, a, c->gradient, g, options))) return;
    c->sizes = c->b->sizes;
    for (tensor_val v = 0; v < c->gradient->nparams; v++)
        if (c->gradient->vals.data[v].role != VAL_RESULT) widen(a, &c->b->arrays[v]);
    c->forward = in_f64(a, c->forward);
    c->gradient = in_f64(a, c->gradient);
    if (c->saving) c->saving = in_f64(a, c->saving);
    if (c->saved) c->saved = in_f64(a, c->saved);
    c->inputs = inputs_of(c);
    tensor_evaluated *got = ARENA_ARRAY(a, tensor_evaluated, c->gradient->nparams + 1);
    double none;
    c->left_out = 0;
    bool good = over_results(c, leave_out, &none) && evaluate(c, c->gradient, c->b->arrays, a, got);
    const ast_names *of = c->wrt;
    for (tensor_val v = 0, r = 0; v < c->gradient->nparams && good; v++) {
        if (c->gradient->vals.data[v].role != VAL_RESULT) continue;
        good = check_tensor(c, v, of->name.text, &got[r++]);
        of = of->next;
    }
    if (good) check_saved(c, got);
    bind_free(c->b);
}

static const tensor_op *twin_of(unit *u, uint32_t op) {
    uint32_t twin = frontend_twin_of(u->frontend, op);
    return twin == UINT32_MAX ? NULL : frontend_lower(u->frontend, twin);
}

static void find_twins(checking *c, unit *u, uint32_t gradient) {
    const ast_path *of = u->frontend->ops.data[gradient].grad->path;
    c->saved = twin_of(u, gradient);
    c->saving = NULL;
    for (uint32_t i = 0; i < u->frontend->ops.len && c->saved; i++) {
        const frontend_op *f = &u->frontend->ops.data[i];
        if (!f->grad && !f->twin && f->name == of->name.text) c->saving = twin_of(u, i);
    }
}

void check_gradients(driver *d, unit *u) {
    const char *graph = option_text(d, OPT_GRAPH, "er:9:31,types=3");
    const char *titles[] = {"gradient", "of", "elements", "compared", "skipped", "worst error", "verdict"};
    bind_options options = {.seed = (uint64_t)option_number(d, OPT_SEED, 0)};
    checking c = {.d = d};
    run_graph g;
    for (uint32_t i = 0; i < 7; i++) VEC_PUSH(d->arena, &c.cells, titles[i]);
    if (!run_graph_load(d, graph, &g)) return;
    for (uint32_t i = 0; i < u->ops.len; i++) {
        const unit_op *o = &u->ops.data[i];
        const tensor_op *forward = o->frontend ? frontend_differentiated(u->frontend, o->number) : NULL;
        if (!forward) continue;
        c.forward = forward;
        c.wrt = u->frontend->ops.data[o->number].grad->names;
        c.gradient = o->op;
        find_twins(&c, u, o->number);
        check_op(&c, &g, &options);
    }
    run_graph_free(&g);
    run_table t = {
        .cells = c.cells.data, .rows = c.rows + 1, .columns = 7, .first_number = 2, .last_number = 5};
    if (c.rows) run_print_table(d->arena, &t, stdout);
}
