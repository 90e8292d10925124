// gnnc check --grad: gradients beside finite differences, both of the op evaluated in f64 on one
// input (check_difference.c), and in the type at hand, where they must have numbers, too
// (check_inputs.c). An element that is not finite is told apart, so that it hides no other. What an
// op saves for its gradient is evaluated by their twins, which must give the same gradient.
#include "check_gradient.h"
#include "table.h"
#include "testing/widen.h"

#include <string.h>

enum { MOST = 48 };   // elements of a tensor

// ---- Tensors ------------------------------------------------------------------------------------
static void tell_not_finite(checking *c, const char *name, const char *tensor, const outcome *o,
                            double value) {
    const char *more = "";
    if (o->not_finite > 1)
        more = arena_printf(c->d->arena, ", and %lld more %s not finite",
                            (long long)o->not_finite - 1, o->not_finite > 2 ? "are" : "is");
    diag(c->d->ds, E0826, NO_SPAN, "%s: element %lld of '%s' is %s%s", name,
         (long long)o->first_not_finite, tensor,
         isnan(value) ? "nan"
         : value > 0  ? "inf"
                      : "-inf",
         more);
}

static void tell_none(checking *c, const char *name, const char *tensor) {
    const char *why = "the op has a kink near each";
    const long long uncertain = c->uncertain, infinite = c->left_out - c->uncertain;
    arena *a = c->d->arena;
    if (infinite) why = arena_printf(a, "%lld elements of the results are not finite", infinite);
    if (infinite && uncertain) why = arena_printf(a, "%s, and %lld are uncertain", why, uncertain);
    else if (uncertain)
        why = arena_printf(
            a, "%lld elements of the results are uncertain: rounding alone could turn each",
            uncertain);
    diagnostic *d = diag(c->d->ds, E0826, NO_SPAN, "%s: no element of '%s' can be compared: %s",
                         name, tensor, why);
    if (uncertain)
        diag_help(d, "of values that tie, such as the two best of an argmax, either may be chosen: "
                     "what leads by more than rounding may move it is certain");
    diag_help(d, "--param=NAME=V gives a parameter other values, and --seed others at random");
}

// than: what gives something else.
static void add_row(checking *c, const char *name, tensor_val result, const outcome *o,
                    const double *values, const char *than) {
    enum { COLUMNS = 8 };
    arena *a = c->d->arena;
    const char *tensor = c->gradient->vals.data[result].name;
    bool near = o->worst <= check_tolerance(c),
         none = o->elements && !o->compared && !o->not_finite;
    bool right = near && !o->not_finite && !o->beyond;
    const char *cells[COLUMNS] = {name,
                                  tensor,
                                  arena_printf(a, "%lld", (long long)o->elements),
                                  arena_printf(a, "%lld", (long long)o->compared),
                                  arena_printf(a, "%lld", (long long)o->skipped),
                                  arena_printf(a, "%.1e", o->worst),
                                  c->reach > 0 && !none ? arena_printf(a, "%g", c->reach) : "-",
                                  !right ? "WRONG"
                                  : none ? "not compared"
                                         : "right"};
    for (uint32_t i = 0; i < COLUMNS; i++) VEC_PUSH(a, &c->cells, cells[i]);
    c->rows++;
    c->d->mismatch |= !right || none;
    if (o->not_finite) tell_not_finite(c, name, tensor, o, values[o->first_not_finite]);
    if (o->beyond && !o->not_finite) diag(c->d->ds, E0826, NO_SPAN, "%s: %s", name, o->beyond);
    if (none) tell_none(c, name, tensor);
    if (!near)
        diag(c->d->ds, E0826, NO_SPAN,
             "%s: element %lld of '%s' is not what %s: off by %.1e of the largest", name,
             (long long)o->worst_at, tensor, than, o->worst);
}

// The largest of those that are finite.
static double largest_of(const tensor_evaluated *x) {
    double largest = 0;
    for (int64_t k = 0; k < x->points; k++)
        if (isfinite(check_value_at(x, k))) largest = fmax(largest, fabs(x->value[k]));
    return largest;
}

// Where some results are not finite, what reaches no others may be so, too.
static bool find_not_finite(checking *c, tensor_array *of, const tensor_evaluated *x, outcome *o) {
    for (int64_t k = x->points; k-- > 0;) {
        bool should = true;
        if (!check_told_not_finite(x, k)) continue;
        if (c->left_out && !check_is_smooth(c, of, k, &should)) return false;
        if (should) o->not_finite++, o->first_not_finite = k;
    }
    return true;
}

static bool check_tensor(checking *c, const char *of, const tensor_evaluated *got, outcome *o) {
    tensor_array *x = &c->wide[check_named(c->gradient, of)];
    double largest = largest_of(got);
    o->elements = check_elements(x);
    if (!find_not_finite(c, x, got, o)) return false;
    int64_t each = o->elements > MOST ? o->elements / MOST : 1;
    for (int64_t k = 0; k < o->elements; k += each)
        if (!isfinite(check_value_at(got, k))) o->skipped++;
        else if (!check_element(c, x, k, got->value[k], largest, o)) return false;
    return true;
}

// ---- With what is saved -------------------------------------------------------------------------
// Of what the op gave: the next part of the buffer, which has names of its own, or the result that
// is read as it is.
static tensor_val of_forward(const tensor_op *saved, const tensor_val_info *result,
                             tensor_val *part) {
    if (result->facts & FACT_SAVED) {
        while (!(saved->vals.data[*part].facts & FACT_SAVED)) ++*part;
        return (*part)++;
    }
    tensor_val v = check_named(saved, result->name);
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
        x.data = arena_alloc(a, (size_t)check_elements(&x) * sizeof(double) + 1);
        for (int64_t k = 0; k < check_elements(&x); k++)
            bind_store(x.type, (void *)x.data, k,
                       of->value ? of->value[k] : (double)of->integer[k]);
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
        else check_note_error(&o, same ? 0 : fabs(y - x) / (largest + 1e-6), k);
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
        if (c->gradient->vals.data[v].role != VAL_RESULT)
            in[check_named(c->saved, c->gradient->vals.data[v].name)] = c->wide[v];
    if (!check_evaluate(c, c->saving, c->levels[0].inputs, a, forward)) return false;
    hand_over(c, forward, in);
    if (!check_evaluate(c, c->saved, in, a, got)) return false;
    for (tensor_val v = 0, r = 0; v < c->gradient->nparams; v++)
        if (c->gradient->vals.data[v].role == VAL_RESULT)
            compare_saved(c, v, &wanted[r], &got[r]), r++;
    return true;
}

// ---- All ----------------------------------------------------------------------------------------
// Neither a step nor a result is rounded.
static const tensor_op *in_f64(arena *a, const tensor_op *of) {
    tensor_op *op = tensor_op_copy(a, of);
    tensor_widen(op);
    return op;
}

// Numbers of its own that are moved.
static tensor_array widened(arena *a, tensor_array x) {
    if (!ir_dtype_is_float(x.type)) return x;
    x.type = DT_F64;
    x.data = ARENA_ARRAY(a, double, (size_t)check_elements(&x) + 1);
    return x;
}

// Parameters of each level are among those of the gradient, by name; the level above is given
// weights behind its other parameters.
static void fill_level(checking *c, check_level *l, const tensor_op *above) {
    arena *a = c->d->arena;
    tensor_val given = 0;
    l->inputs = ARENA_ARRAY(a, tensor_array, l->op->nparams + 1);
    l->weights = ARENA_ARRAY(a, tensor_array *, l->op->nparams + 1);
    for (tensor_val v = 0; v < l->op->nparams; v++) {
        const tensor_val_info *i = &l->op->vals.data[v];
        if (i->role == VAL_RESULT) continue;
        l->inputs[v] = c->wide[check_named(c->gradient, i->name)];
        given++;
    }
    for (tensor_val v = 0; v < l->op->nparams; v++) {
        const tensor_val_info *i = &l->op->vals.data[v];
        if (i->role == VAL_RESULT && ir_dtype_is_float(i->type))
            l->weights[l->nweights++] =
                &c->wide[check_named(c->gradient, above->vals.data[given++].name)];
    }
}

static void begin(checking *c) {
    arena *a = c->d->arena;
    c->sizes = c->b->sizes;
    c->narrow = c->b->arrays;
    c->wide = ARENA_ARRAY(a, tensor_array, c->own->nparams + 1);
    for (tensor_val v = 0; v < c->own->nparams; v++)
        c->wide[v] = c->own->vals.data[v].role == VAL_RESULT ? c->narrow[v]
                                                             : widened(a, c->narrow[v]);
    for (uint32_t l = 0; l < c->depth; l++)
        fill_level(c, &c->levels[l], l + 1 < c->depth ? c->levels[l + 1].op : c->gradient);
}

static bool check_all(checking *c) {
    arena *a = c->d->arena;
    tensor_evaluated *got = ARENA_ARRAY(a, tensor_evaluated, c->gradient->nparams + 1);
    outcome *o = ARENA_ARRAY(a, outcome, c->gradient->nparams + 1);
    const ast_names *of = c->wrt;
    bool good = check_find_domain(c) && check_leave_out(c) &&
                check_evaluate(c, c->gradient, c->wide, a, got);
    for (uint32_t r = 0; of && good; r++, of = of->next)
        good = check_tensor(c, of->name.text, &got[r], &o[r]);
    good = good && check_in_type(c, o);
    for (tensor_val v = 0, r = 0; v < c->gradient->nparams && good; v++)
        if (c->gradient->vals.data[v].role == VAL_RESULT)
            add_row(c, c->gradient->name, v, &o[r], got[r].value, "finite differences give"), r++;
    c->reach = 0;
    return good && check_saved(c, got);
}

static void check_op(checking *c, const run_graph *g, const bind_options *options) {
    if (!(c->b = bind_op(c->d, c->d->arena, c->own, g, options))) return;
    begin(c);
    check_all(c);
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
    if (c->saving) c->saving = in_f64(c->d->arena, c->saving);
    if (c->saved) c->saved = in_f64(c->d->arena, c->saved);
}

// What the gradient is of, and so on, each in f64.
static bool find_levels(checking *c, unit *u, const unit_op *o) {
    arena *a = c->d->arena;
    frontend_steps steps = {0};
    if (!o->frontend || !frontend_steps_of(u->frontend, o->number, &steps) || !steps.len)
        return false;
    c->depth = steps.len;
    c->levels = ARENA_ARRAY(a, check_level, steps.len);
    for (uint32_t i = 0; i < steps.len; i++) {
        const uint32_t level = steps.len - 1 - i;
        c->levels[level] = (check_level){.op = in_f64(a, steps.data[i].op),
                                         .wrt = steps.data[i].wrt};
    }
    c->root = steps.data[steps.len - 1].op;
    c->wrt = steps.data[0].wrt;
    c->own = o->op;
    c->gradient = in_f64(a, o->op);
    find_twins(c, u, o->number);
    return true;
}

static void print_rows(checking *c) {
    text_table t = {.cells = c->cells.data,
                    .rows = c->rows + 1,
                    .columns = 8,
                    .first_number = 2,
                    .last_number = 6};
    if (c->rows) table_print(c->d->arena, &t, stdout);
    for (uint32_t i = 0; i < c->told.len; i++) printf("%s\n", c->told.data[i]);
}

static bool takes(const unit *u, const char *text, size_t n) {
    for (uint32_t i = 0; i < u->ops.len; i++)
        for (tensor_val v = 0; u->ops.data[i].op && v < u->ops.data[i].op->nparams; v++) {
            const tensor_val_info *x = &u->ops.data[i].op->vals.data[v];
            if (x->role != VAL_RESULT && strlen(x->name) == n && !strncmp(x->name, text, n))
                return true;
        }
    return false;
}

static bool check_parameters(driver *d, const unit *u) {
    for (uint32_t i = 0; i < d->values[OPT_PARAM].len; i++) {
        const char *text = d->values[OPT_PARAM].data[i];
        size_t n = strcspn(text, "=");
        if (!text[n] || !n || !text[n + 1]) usage(d, E0812, "--param takes NAME=V, not '%s'", text);
        else if (!takes(u, text, n))
            usage(d, E0809, "no op of '%s' has a parameter '%.*s'", u->path, (int)n, text);
    }
    return !d->usage_fault;
}

void check_gradients(driver *d, unit *u) {
    const char *graph = option_text(d, OPT_GRAPH, "er:9:31,types=3");
    const char *titles[] = {"gradient", "of",          "elements", "compared",
                            "skipped",  "worst error", "reach",    "verdict"};
    bind_options options = {.seed = (uint64_t)option_number(d, OPT_SEED, 0)};
    checking c = {.d = d};
    run_graph g;
    for (uint32_t i = 0; i < 8; i++) VEC_PUSH(d->arena, &c.cells, titles[i]);
    if (!check_parameters(d, u) || !run_graph_load(d, graph, &g)) return;
    for (uint32_t i = 0; i < u->ops.len; i++)
        if (find_levels(&c, u, &u->ops.data[i])) check_op(&c, &g, &options);
    run_graph_free(&g);
    print_rows(&c);
}
