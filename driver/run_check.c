// Comparing what was launched with the definition of the op, evaluated point by point within
// bounds.
#include "loop.h"
#include "progress.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Cost ---------------------------------------------------------------------------------------

static double count_nodes(const tensor_op *op, tensor_expr e, uint8_t *seen) {
    if (!e || seen[e]) return 0;
    seen[e] = 1;
    const tensor_node *n = tensor_node_at(op, e);
    double count = 1;
    for (uint32_t i = 0; i < n->nargs; i++) count += count_nodes(op, n->args[i], seen);
    return count;
}

static double expressions_cost(const tensor_op *op, const tensor_stage *s) {
    uint8_t *seen = memset(xmalloc(op->exprs.len), 0, op->exprs.len);
    double cost = 1;
    for (uint32_t i = 0; i < s->nbody; i++) cost += count_nodes(op, s->body[i], seen);
    for (uint32_t i = 0; i < s->nfilters; i++) cost += count_nodes(op, s->filters[i], seen);
    free(seen);
    return cost;
}

// A key leaves of its points those of one class: about one in as many as there are.
static double stage_points(const binding *b, const tensor_stage *s) {
    double points = 1;
    for (uint32_t i = 0; i < s->nleft; i++)
        points *= (double)b->sizes[b->op->vars.data[s->left[i]].space];
    for (uint32_t i = 0; i < s->nbound; i++)
        points *= (double)b->sizes[b->op->vars.data[s->bound[i]].space];
    for (uint32_t i = 0; i < s->nkeys; i++) {
        tensor_space space = tensor_typeof(b->op, s->keys[i].lhs).space;
        double classes = space == TENSOR_NO_SPACE ? 1 : (double)b->sizes[space];
        if (classes > 1) points /= classes;
    }
    return points;
}

// What is known of the expressions of a stage and an index: each is looked at once.
typedef struct {
    const tensor_op *op;
    tensor_var v;
    uint8_t *mentions;   // 0: not looked at, 1: no, 2: yes
    uint8_t *seen;
} reading;

static bool mentions(reading *r, tensor_expr e) {
    const tensor_node *n = tensor_node_at(r->op, e);
    if (r->mentions[e]) return r->mentions[e] == 2;
    bool some = n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == r->v;
    for (uint32_t i = 0; i < n->nargs && !some; i++) some = mentions(r, n->args[i]);
    r->mentions[e] = 1 + some;
    return some;
}

static bool reads_along(reading *r, tensor_expr e, tensor_val of) {
    const tensor_node *n = tensor_node_at(r->op, e);
    if (r->seen[e]) return false;
    r->seen[e] = 1;
    if (n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == of && mentions(r, e)) return true;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (reads_along(r, n->args[i], of)) return true;
    return false;
}

static bool reduces_along(const tensor_op *op, const tensor_stage *s, tensor_var v, tensor_val of) {
    size_t n = op->exprs.len;
    uint8_t *memory = memset(xmalloc(2 * n), 0, 2 * n);
    reading r = {op, v, memory, memory + n};
    bool keyed = false, some = false;
    for (uint32_t i = 0; i < s->nkeys; i++) keyed |= mentions(&r, s->keys[i].lhs);
    for (uint32_t i = 0; i < s->nbody && !keyed && !some; i++)
        some = reads_along(&r, s->body[i], of);
    for (uint32_t i = 0; i < s->nfilters && !keyed && !some; i++)
        some = reads_along(&r, s->filters[i], of);
    free(memory);
    return some;
}

// Whether some stage reduces all points of an index along which it reads the value: one element
// asks for them.
static bool read_whole(const tensor_op *op, tensor_val of) {
    for (uint32_t i = 0; i < op->stages.len; i++) {
        const tensor_stage *s = &op->stages.data[i];
        for (uint32_t b = 0; b < s->nbound; b++)
            if (reduces_along(op, s, s->bound[b], of)) return true;
    }
    return false;
}

static bool waits(const tensor_op *op, const tensor_stage *s) {
    for (uint32_t t = 0; t < s->ntargets; t++)
        if (read_whole(op, s->targets[t].val)) return false;
    return tensor_may_wait(op, s);
}

// Expressions the evaluator computes, at most, where it takes one in so many elements of the
// results no stage reads. `certain`: without those of stages that compute what the sample reads, a
// part of them.
static double evaluation_cost(const binding *b, double one_in, bool certain) {
    double cost = 0;
    for (uint32_t i = 0; i < b->op->stages.len; i++) {
        const tensor_stage *s = &b->op->stages.data[i];
        if (certain && one_in > 1 && waits(b->op, s)) continue;
        double rounds = s->loop == TENSOR_NO_LOOP
                            ? 1
                            : (double)b->sizes[b->op->loops.data[s->loop].space];
        double points = stage_points(b, s) / (tensor_is_final(b->op, s) ? one_in : 1);
        cost += rounds * points * expressions_cost(b->op, s);
    }
    return cost;
}

static const tensor_stage *written_by(const tensor_op *op, tensor_val v) {
    for (uint32_t i = 0; i < op->stages.len; i++)
        for (uint32_t t = 0; t < op->stages.data[i].ntargets; t++)
            if (op->stages.data[i].targets[t].val == v) return &op->stages.data[i];
    return NULL;
}

// Bytes the evaluator keeps: value and bound of each element that a stage or the op defines, of a
// sample its own alone.
static double evaluation_bytes(const binding *b, double one_in) {
    double bytes = 0;
    for (tensor_val v = 0; v < b->op->vals.len; v++) {
        const tensor_val_info *info = &b->op->vals.data[v];
        double points = info->role == VAL_RESULT || info->role == VAL_STAGE ? 17 : 0;
        if (tensor_is_sampled(b->op, v) ||
            (one_in > 1 && written_by(b->op, v) && waits(b->op, written_by(b->op, v))))
            points /= one_in;   // of what is asked for then, about as many
        for (uint32_t k = 0; k < info->rank; k++) points *= (double)b->sizes[info->axes[k]];
        bytes += fabs(points);   // a space of classes has no size before it is counted
    }
    return bytes;
}

// Expressions, beyond which no evaluation begins: a time is not worth waiting as long for.
static double longest(const run_op *o) { return o->r->d->verb == VERB_BENCH ? 2e9 : 2e10; }

// Whether an evaluation is too long for a sample: by what is certain to be computed, and of a time
// that a small budget asks for soon, by the geometric mean of that and of all that may be.
static bool is_too_long(const run_op *o, uint64_t one_in) {
    enum { BUDGETS = 50 };
    double asked = BUDGETS * o->r->asked.check_budget,
           certain = evaluation_cost(o->b, (double)one_in, true),
           all = evaluation_cost(o->b, (double)one_in, false);
    bool soon = o->r->d->verb == VERB_BENCH && asked > 0 && asked < longest(o);
    return certain > longest(o) || (soon && sqrt(certain * all) > asked);
}

// Of the smallest result, too, some hundreds of elements are compared; fewer where that would take
// too long.
static uint64_t affordable_sample(const run_op *o) {
    enum { FEWEST = 512 };
    uint64_t one_in = 1;
    int64_t points, smallest = INT64_MAX;
    for (tensor_val v = 0; v < o->op->op->nparams; v++)
        if (o->op->op->vals.data[v].role == VAL_RESULT &&
            bind_points(o->b, &o->op->op->vals.data[v], &points))
            smallest = points < smallest ? points : smallest;
    while (evaluation_cost(o->b, (double)one_in, false) > o->r->asked.check_budget &&
           (int64_t)one_in * FEWEST < smallest)
        one_in *= 2;
    while (is_too_long(o, one_in) && 2 * (int64_t)one_in <= smallest) one_in *= 2;
    return evaluation_cost(o->b, (double)one_in, false) < evaluation_cost(o->b, 1, false) ? one_in
                                                                                          : 1;
}

bool run_affordable(run_op *o) {
    static const double notice = 3e8;
    if (o->r->asked.check_budget > 0) o->one_in = affordable_sample(o);
    double cost = evaluation_cost(o->b, (double)o->one_in, false),
           bytes = evaluation_bytes(o->b, (double)o->one_in);
    o->unchecked = is_too_long(o, o->one_in) || bytes > bind_memory() / 2;
    if (o->unchecked && o->r->d->verb == VERB_BENCH) {
        diag_help(
            diag(
                o->r->d->ds, W0804, o->op->op->at,
                "%s: it is timed, and NOT compared: that would evaluate about %.1e expressions in %.1f GiB",
                o->op->name, cost, bytes / 1073741824.0),
            "gnnc run --check compares it on a smaller graph");
        return true;
    }
    if (o->unchecked) {
        diag_help(diag(o->r->d->ds, E0821, o->op->op->at,
                       "%s: --check would evaluate about %.1e expressions in %.1f GiB", o->op->name,
                       cost, bytes / 1073741824.0),
                  "take smaller sizes (%s) with -D, or a smaller graph", run_sizes(o->b));
        return false;
    }
    const char *about = o->one_in > 1 ? "at most"
                                      // of what a sample needs, not all may be computed
                                      : "about";
    if (cost > notice)
        fprintf(stderr, "gnnc: checking %s: %s %.1e expressions\n", o->op->name, about, cost);
    return true;
}

// ---- Comparing ----------------------------------------------------------------------------------

static const char *element_name(run_op *o, tensor_val v, int64_t at) {
    const tensor_array *x = &o->results[v];
    textbuf out = textbuf_new(o->arena);
    int64_t index[8];
    for (uint32_t k = x->rank; k-- > 0; at /= x->shape[k]) index[k] = at % x->shape[k];
    textbuf_printf(&out, "%s[", o->op->op->vals.data[v].name);
    for (uint32_t k = 0; k < x->rank; k++)
        textbuf_printf(&out, "%s%lld", k ? ", " : "", (long long)index[k]);
    textbuf_puts(&out, "]");
    return out.data;
}

static int64_t kept_at(const tensor_evaluated *x, int64_t at) {
    int64_t kept = x->at ? 0 : at;
    while (x->at && x->at[kept] != at) kept++;
    return kept;
}

static void tell_wrong(run_op *o, tensor_val v, const tensor_evaluated *expected,
                       const tensor_comparison *c) {
    int64_t at = c->first_wrong, kept = kept_at(expected, at);
    const tensor_array *x = &o->results[v];
    const char *name = element_name(o, v, at);
    long long wrong = c->wrong, of = c->compared;
    if (!expected->is_float) {
        long long got = x->type == DT_I64 || x->type == DT_INDEX
                            ? ((const int64_t *)x->data)[at]
                            : (long long)bind_load(x->type, x->data, at);
        run_mismatch(o, "%s is %lld, not %lld; %lld of %lld are wrong", name, got,
                     (long long)expected->integer[kept], wrong, of);
        return;
    }
    textbuf text = textbuf_new(o->arena);
    textbuf_double(&text, bind_load(x->type, x->data, at));
    textbuf_puts(&text, ", not ");
    textbuf_double(&text, expected->value[kept]);
    textbuf_puts(&text, " within ");
    textbuf_double(&text, expected->bound[kept]);
    run_mismatch(o, "%s is %s; %lld of %lld are wrong", name, text.data, wrong, of);
}

static const char *number_text(arena *a, const tensor_evaluated *x, int64_t kept) {
    if (!x->is_float) return arena_printf(a, "%lld", (long long)x->integer[kept]);
    textbuf text = textbuf_new(a);
    if (isinf(x->bound[kept])) return "a number";
    textbuf_double(&text, x->value[kept]);
    return text.data;
}

static void tell_overflowed(run_op *o, tensor_val v, const tensor_evaluated *expected,
                            const tensor_comparison *c) {
    int64_t at = c->first_overflowed, kept = kept_at(expected, at);
    textbuf got = textbuf_new(o->arena);
    const tensor_array *x = &o->results[v];
    textbuf_double(&got, bind_load(x->type, x->data, at));
    diagnostic *fault = diag(
        o->r->d->ds, E0827, o->op->op->at,
        "%s%s: %s is %s, and %s in real arithmetic: something on the way overflows; so do %lld of %lld elements",
        o->op->name, o->where, element_name(o, v, at), got.data,
        number_text(o->arena, expected->real, kept), (long long)c->overflowed,
        (long long)expected->kept);
    uint32_t beyond = expected->real->beyond[kept];
    if (beyond) diag_note(fault, tensor_beyond(o->op->op, beyond), "this does not fit its type");
    diag_help(
        fault,
        "let nothing grow so large, as softmax takes the largest off first, or take a wider type; --accept-overflow takes it as it is");
}

static void compare_result(run_op *o, tensor_val v, const tensor_evaluated *expected,
                           run_row *row) {
    tensor_comparison c = tensor_compare(expected, &o->results[v]);
    row->check.compared += c.compared;
    row->check.uncertain += c.uncertain;
    row->check.overflowed += c.overflowed;
    if (c.worst_ratio > row->check.worst_ratio || isnan(c.worst_ratio))
        row->check.worst_ratio = c.worst_ratio;
    if (c.wrong) tell_wrong(o, v, expected, &c);
    if (!c.overflowed || o->r->asked.accept_overflow) return;
    row->check.fails_by_overflow = true;
    tell_overflowed(o, v, expected, &c);
}

// Per stage, whether it is one of n.
static const bool *named(run_op *o, const tensor_op *op, const char *const *names, uint32_t n) {
    bool *is = ARENA_ARRAY(o->arena, bool, op->stages.len + 1);
    for (uint32_t i = 0; i < op->stages.len; i++)
        for (uint32_t k = 0; k < n; k++) is[i] |= !strcmp(op->stages.data[i].name, names[k]);
    return is;
}

// ---- Evaluating ---------------------------------------------------------------------------------

// As the plan computes it; NULL: as the definition says.
static tensor_evaluated *evaluate(run_op *o, const tensor_op *op, const loop_plan *plan,
                                  bool real) {
    progress told = progress_begin("checking", o->op->name);
    const tensor_eval_input input = {
        .sizes = o->b->sizes,
        .inputs = o->b->arrays,
        .one_in = o->one_in,
        .every = plan && plan->typed ? plan->every : NULL,
        .apart = plan ? named(o, op, plan->apart.data, plan->apart.len) : NULL,
        .relative = plan ? named(o, op, plan->relative.data, plan->relative.len) : NULL,
        .near = plan && plan->near,
        .narrow = plan && plan->narrow,
        .real = real,
        .progress = progress_tell,
        .user = &told};
    const char *why = "";
    tensor_evaluated *expected = ARENA_ARRAY(o->arena, tensor_evaluated, op->nparams + 1);
    bool good = tensor_eval(o->arena, op, &input, expected, &why);
    progress_end(&told);
    if (good) return expected;
    diag(o->r->d->ds, E0822, op->at, "%s: it cannot be evaluated: %s", o->op->name, why);
    return NULL;
}

// ---- In the types of a schedule -----------------------------------------------------------------

// What the version at hand was planned as; NULL: nothing was.
static const loop_plan *plan_taken(const run_op *o) {
    const program *p = o->op->program;
    for (uint32_t i = 0; o->taken && p && i < p->versions.len && i < o->op->plans.len; i++)
        if (!strcmp(p->versions.data[i].name, o->taken)) return o->op->plans.data[i];
    return NULL;
}

static bool has_again(const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++)
        if (body->data[i]->kind == LOOP_AGAIN || has_again(&body->data[i]->body)) return true;
    return false;
}

// What is not finite is summed once more, and so are sums beside it that the thread has.
bool run_sums_again(const run_op *o) {
    const loop_plan *plan = plan_taken(o);
    bool again = false;
    for (uint32_t i = 0; plan && i < plan->steps.len; i++)
        again |= plan->steps.data[i].kind == LOOP_LAUNCH &&
                 has_again(&plan->steps.data[i].kernel->body);
    return again;
}

// What is right stays what the definition says; how far from it one may be follows from the types.
// false: the definition has a number, or an infinity, that the types cannot be relied on to hold.
static bool widen_float(double *value, double *bound, double v, double b) {
    bool known = isfinite(*value) && !isinf(*bound), held = isfinite(v) && !isinf(b);
    // inf, and an overflow beside it
    bool other = !known && !isinf(*bound) && v != *value && !(isnan(v) && isnan(*value));
    if (known && held) *bound = b + fabs(v - *value);
    else if (known || other) *bound = (double)INFINITY;
    else *value = v, *bound = b;
    return !other && (held || !known);
}

static int64_t widen(tensor_evaluated *x, const tensor_evaluated *by) {
    int64_t beyond = 0;
    if (x->kept != by->kept || (x->at && memcmp(x->at, by->at, (size_t)x->kept * sizeof *x->at)))
        ICE("two samples of one op");
    for (int64_t i = 0; i < x->kept; i++) {
        if (x->is_float)
            beyond += !widen_float(&x->value[i], &x->bound[i], by->value[i], by->bound[i]);
        else x->certain[i] = x->certain[i] && by->certain[i] && x->integer[i] == by->integer[i];
    }
    return beyond;
}

static tensor_evaluated copy_of(arena *a, const tensor_evaluated *x) {
    tensor_evaluated c = *x;
    if (x->is_float) {
        c.value = ARENA_ARRAY(a, double, x->kept + 1);
        c.bound = ARENA_ARRAY(a, double, x->kept + 1);
        memcpy(c.value, x->value, sizeof *c.value * (size_t)x->kept);
        memcpy(c.bound, x->bound, sizeof *c.bound * (size_t)x->kept);
    } else {
        c.certain = ARENA_ARRAY(a, uint8_t, x->kept + 1);
        memcpy(c.certain, x->certain, (size_t)x->kept);
    }
    return c;
}

static void tell_beyond(run_op *o, tensor_val v, int64_t beyond, int64_t of) {
    diag_help(
        diag(
            o->r->d->ds, W0802, o->op->op->at,
            "%s: %lld of %lld elements of '%s' may lie beyond what the types of schedule '%s' hold, and are not compared",
            o->op->name, (long long)beyond, (long long)of, o->op->op->vals.data[v].name, o->taken),
        "bf16 reaches as far as f32, and 'accumulate' may scale what it sums");
}

// Some element of a result is; else sums that are taken apart are as certain as others.
static bool any_infinite(const run_op *o) {
    bool any = false;
    for (tensor_val v = 0, n = 0; v < o->op->op->nparams; v++) {
        if (o->op->op->vals.data[v].role != VAL_RESULT) continue;
        const tensor_evaluated *x = &o->expected[n++];
        for (int64_t i = 0; x->is_float && i < x->kept && !any; i++) any = isinf(x->value[i]);
    }
    return any;
}

static bool is_finite_array(const tensor_array *x) {
    int64_t n = 1;
    for (uint32_t k = 0; k < x->rank; k++) n *= x->shape[k];
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(bind_load(x->type, x->data, i))) return false;
    return true;
}

static bool inputs_are_finite(const run_op *o) {
    for (tensor_val v = 0; v < o->op->op->nparams; v++) {
        const tensor_val_info *info = &o->op->op->vals.data[v];
        bool given = info->role == VAL_TENSOR || info->role == VAL_SCALAR;
        if (given && ir_dtype_is_float(info->type) && !is_finite_array(&o->b->arrays[v]))
            return false;
    }
    return true;
}

static uint32_t count_results(const tensor_op *op) {
    uint32_t n = 0;
    for (tensor_val v = 0; v < op->nparams; v++) n += op->vals.data[v].role == VAL_RESULT;
    return n;
}

// The definition; in real arithmetic, too, where numbers leave their types on the way and no input
// is infinite or NaN.
static const tensor_evaluated *evaluate_real(run_op *o) {
    const tensor_op *op = o->op->op;
    tensor_evaluated *x = evaluate(o, op, NULL, false);
    uint32_t n = count_results(op);
    bool any = x && n && x->overflows && !o->changed && inputs_are_finite(o);
    const tensor_evaluated *real = any ? evaluate(o, op, NULL, true) : NULL;
    for (uint32_t i = 0; real && i < n; i++) x[i].real = &real[i];
    return any && !real ? NULL : x;
}

const tensor_evaluated *run_expected(run_op *o) {
    const tensor_op *op = o->op->op;
    const loop_plan *plan = plan_taken(o);
    const tensor_op *typed = plan ? plan->typed : NULL;   // in the types its schedule asks for
    if (!o->expected) o->expected = evaluate_real(o);   // once, however many versions are compared
    bool apart = o->expected && plan && plan->apart.len && any_infinite(o);
    if (!o->expected || (!typed && !apart && !(plan && plan->near))) return o->expected;
    const tensor_evaluated *by = evaluate(o, typed ? typed : op, plan, false);
    if (!by) return NULL;
    tensor_evaluated *expected = ARENA_ARRAY(o->arena, tensor_evaluated, op->nparams + 1);
    for (tensor_val v = 0, n = 0; v < op->nparams; v++) {
        if (op->vals.data[v].role != VAL_RESULT) continue;
        expected[n] = copy_of(o->arena, &o->expected[n]);
        int64_t beyond = widen(&expected[n], &by[n]);
        if (beyond && typed) tell_beyond(o, v, beyond, expected[n].kept);
        if (beyond) expected[n].real = NULL;   // the schedule's types overflow, which it was told
        n++;
    }
    return expected;
}

bool run_compare(run_op *o, run_row *row) {
    const tensor_op *op = o->op->op;
    phase(o->r->d, "check");
    const tensor_evaluated *expected = run_expected(o);
    if (!expected) return false;
    o->bounds = expected;
    uint32_t n = 0;
    row->checked = true;
    row->check.one_in = o->one_in;
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role == VAL_RESULT) compare_result(o, v, &expected[n++], row);
    return true;
}

// ---- At two levels of the code generator --------------------------------------------------------

static bool same_element(const tensor_array *x, const tensor_array *y, int64_t i) {
    size_t n = bind_bytes(x->type);
    if (!memcmp((const uint8_t *)x->data + (size_t)i * n, (const uint8_t *)y->data + (size_t)i * n,
                n))
        return true;
    return ir_dtype_is_float(x->type) && isnan(bind_load(x->type, x->data, i)) &&
           isnan(bind_load(y->type, y->data, i));
}

static void compare_levels(run_op *o, const run_stored *other) {
    for (tensor_val v = 0; v < o->op->op->nparams; v++) {
        int64_t points = 0;
        if (!o->results[v].data || !bind_points(o->b, &o->op->op->vals.data[v], &points)) continue;
        for (int64_t i = 0; i < points; i++) {
            if (same_element(&o->results[v], &other->results[v], i)) continue;
            run_mismatch(o, "%s is not what -O%u stores", element_name(o, v, i),
                         o->r->asked.levels[other->level]);
            break;
        }
    }
}

bool run_keep(run_op *o) {
    bool compared = o->r->asked.nlevels > 1 && gnn_program_deterministic(o->program);
    for (uint32_t i = 0; compared && i < o->stored.len; i++)
        if (!strcmp(o->stored.data[i].version, o->taken)) compare_levels(o, &o->stored.data[i]);
    VEC_PUSH(o->arena, &o->stored, ((run_stored){o->taken, o->level, o->results, o->bounds}));
    return true;
}
