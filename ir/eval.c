// The evaluator of tensor IR: inputs, sizes, classes, preconditions and the order of stages. See tensor.h for
// what its bounds mean.
#include "eval.h"

#include <stdlib.h>
#include <string.h>

void eval_fault(evaluator *ev, const char *format, ...) {
    if (ev->why || ev->guessing) return;
    va_list ap;
    va_start(ap, format);
    ev->why = arena_vprintf(ev->results, format, ap);
    va_end(ap);
}

void eval_count_step(evaluator *ev) {
    ev->steps++;
    if (ev->in->max_steps && ev->steps > ev->in->max_steps)
        eval_fault(ev, "gave up after %llu points", (unsigned long long)ev->in->max_steps);
}

// ---- Slots -----------------------------------------------------------------------------------------------

// A stage computes its elements when they are read.
static bool waits(const evaluator *ev, tensor_val v) {
    for (uint32_t i = 0; ev->in->one_in > 1 && i < ev->op->stages.len; i++)
        for (uint32_t t = 0; t < ev->op->stages.data[i].ntargets; t++)
            if (ev->op->stages.data[i].targets[t].val == v)
                return tensor_may_wait(ev->op, &ev->op->stages.data[i]);
    return false;
}

static void shape_slot(evaluator *ev, eval_slot *s, tensor_val v) {
    s->info = &ev->op->vals.data[v];
    s->rank = s->info->rank;
    s->is_float = ir_dtype_is_float(s->info->type);
    s->sampled = ev->in->one_in > 1 && tensor_is_sampled(ev->op, v);
    bool elsewhere = s->info->role == VAL_TENSOR || s->info->role == VAL_SCALAR || s->info->role == VAL_MAP;
    s->asked = waits(ev, v);
    int64_t most = s->sampled || s->asked || elsewhere ? INT64_MAX : EVAL_MAX_POINTS;
    s->points = 1;
    for (uint32_t k = s->rank; k-- > 0;) {
        s->shape[k] = eval_size(ev, s->info->axes[k]);
        s->stride[k] = s->points;
        if (s->shape[k] > 0 && s->points > most / s->shape[k]) {
            eval_fault(ev, "'%s' has more than %lld elements", s->info->name, (long long)most);
            return;
        }
        s->points *= s->shape[k];
    }
}

static int64_t place_of(const eval_slot *s, int64_t at) {   // or the empty place where it would be
    uint64_t x = (uint64_t)(at + 1) * UINT64_C(0x9e3779b97f4a7c15);
    int64_t i = (int64_t)(x >> 20) & (s->room - 1);
    while (s->at[i] && s->at[i] != at + 1) i = (i + 1) & (s->room - 1);
    return i;
}

int64_t eval_slot_asked(const eval_slot *s, int64_t at) {
    int64_t i = place_of(s, at);
    return s->at[i] ? i : -1;
}

static void copy_element(eval_slot *to, int64_t i, const eval_slot *from, int64_t k) {
    to->at[i] = from->at[k];
    if (to->is_float) to->value[i] = from->value[k], to->bound[i] = from->bound[k];
    else to->integer[i] = from->integer[k], to->certain[i] = from->certain[k];
    if (to->beyond) to->beyond[i] = from->beyond[k];
}

static void allot(evaluator *ev, eval_slot *s, arena *a, int64_t n) {
    if (s->is_float) {
        s->value = ARENA_ARRAY(a, double, n);
        s->bound = ARENA_ARRAY(a, double, n);
    } else {
        s->integer = ARENA_ARRAY(a, int64_t, n);
        s->certain = ARENA_ARRAY(a, uint8_t, n);
    }
    if (ev->in->real) s->beyond = ARENA_ARRAY(a, uint32_t, n);
}

// Room for twice as many elements of a sample, or that are asked for.
static void widen_slot(evaluator *ev, eval_slot *s) {
    enum { FIRST = 1024 };
    eval_slot old = *s;
    arena *a = s->info->role == VAL_RESULT ? ev->results : ev->scratch;
    s->room = s->room ? 2 * s->room : FIRST;
    s->at = ARENA_ARRAY(a, int64_t, s->room);
    allot(ev, s, a, s->room);
    for (int64_t k = 0; k < (s->asked ? old.room : s->kept); k++)
        if (!s->asked) copy_element(s, k, &old, k);
        else if (old.at[k]) copy_element(s, place_of(s, old.at[k] - 1), &old, k);
}

int64_t eval_slot_keep(evaluator *ev, eval_slot *s, int64_t at, int64_t known) {
    if (s->asked) {
        if (2 * s->kept >= s->room) widen_slot(ev, s);
        int64_t i = place_of(s, at);
        s->kept += !s->at[i];
        s->at[i] = at + 1;
        return i;
    }
    if (!s->sampled) {
        s->written[at] = 1;
        return at;
    }
    if (known < 0 && s->kept == s->room) widen_slot(ev, s);
    int64_t i = known < 0 ? s->kept++ : known;
    s->at[i] = at;
    return i;
}

void eval_slot_expect(evaluator *ev, eval_slot *s, int64_t n) {
    while (s->room < n) widen_slot(ev, s);
    s->kept = n;
}

static void fill_slot(evaluator *ev, eval_slot *s) {
    if (s->sampled || s->asked) {
        widen_slot(ev, s);
        return;
    }
    arena *a = s->info->role == VAL_RESULT ? ev->results : ev->scratch;
    allot(ev, s, a, s->points);
    s->written = ARENA_ARRAY(ev->scratch, uint8_t, s->points);
}

static void number_classes(evaluator *ev, tensor_val v);

eval_slot *eval_slot_of(evaluator *ev, tensor_val v) {
    eval_slot *s = &ev->slots[v];
    if (s->ready || ev->why) return ev->why ? NULL : s;
    tensor_role role = ev->op->vals.data[v].role;
    shape_slot(ev, s, v);
    if (ev->why) return NULL;
    if (role == VAL_STAGE || role == VAL_RESULT) fill_slot(ev, s);
    else if (role == VAL_CLASSES) number_classes(ev, v);
    else if (role == VAL_PREPARED) eval_prepared(ev, v);
    else s->input = ev->in->inputs[v].data;
    s->ready = true;
    return ev->why ? NULL : s;
}

eval_value eval_slot_get(const eval_slot *s, int64_t at) {
    if (s->input)
        return s->is_float ? eval_float(eval_read_float(s->info->type, s->input, at), 0)
                           : eval_int(eval_read_int(s->info->type, s->input, at), true);
    eval_value x = s->is_float ? eval_float(s->value[at], s->bound[at]) : eval_int(s->integer[at], s->certain[at]);
    if (s->beyond) x.beyond = s->beyond[at];
    return x;
}

// ---- Stages in order -------------------------------------------------------------------------------------

static void run_loop(evaluator *ev, uint32_t first, uint32_t end) {
    const tensor_loop *l = &ev->op->loops.data[ev->op->stages.data[first].loop];
    int64_t rounds = eval_size(ev, l->space);
    for (int64_t t = 0; t < rounds && !ev->why; t++)
        for (uint32_t i = first; i < end && !ev->why; i++) {
            ev->vars[l->step] = t;
            eval_stage(ev, &ev->op->stages.data[i]);
        }
}

// Runs what has not run of the first n stages, loops as a whole.
static void run_stages(evaluator *ev, uint32_t n) {
    while (ev->done < n && !ev->why) {
        uint32_t first = ev->done, end = first + 1, loop = ev->op->stages.data[first].loop;
        while (loop != TENSOR_NO_LOOP && end < ev->op->stages.len && ev->op->stages.data[end].loop == loop)
            end++;
        ev->done = end;
        const tensor_stage *s = &ev->op->stages.data[first];
        if (loop != TENSOR_NO_LOOP) run_loop(ev, first, end);
        else if (ev->in->one_in > 1 && tensor_may_wait(ev->op, s)) eval_defer(ev, s);
        else eval_stage(ev, s);
    }
}

static uint32_t last_writer(const tensor_op *op, tensor_val v) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < op->stages.len; i++)
        for (uint32_t k = 0; k < op->stages.data[i].ntargets; k++)
            if (op->stages.data[i].targets[k].val == v) last = i + 1;
    return last;
}

// ---- Classes ---------------------------------------------------------------------------------------------

typedef struct {
    int64_t point;
    const int64_t *keys;   // of all points, a row each
    uint32_t nkeys;
} class_point;

static int by_tuple(const void *x, const void *y) {
    const class_point *a = x, *b = y;
    for (uint32_t k = 0; k < a->nkeys; k++) {
        int64_t p = a->keys[a->point * a->nkeys + k], q = b->keys[b->point * b->nkeys + k];
        if (p != q) return p < q ? -1 : 1;
    }
    return 0;
}

static bool read_key(evaluator *ev, tensor_val key, int64_t *keys, uint32_t k, uint32_t nkeys) {
    bool certain = true;
    if (ev->op->vals.data[key].role == VAL_STAGE) run_stages(ev, last_writer(ev->op, key));
    const eval_slot *s = eval_slot_of(ev, key);
    for (int64_t i = 0; s && i < s->points; i++) {
        eval_value x = eval_slot_get(s, i);
        if (s->written && !s->written[i])
            eval_fault(ev, "'%s' makes classes before it is defined", s->info->name);
        keys[i * nkeys + k] = x.i;
        certain = certain && x.certain;
    }
    return certain;
}

static void number_classes(evaluator *ev, tensor_val v) {
    eval_slot *s = &ev->slots[v];
    const tensor_val_info *info = s->info;
    bool certain = true;
    int64_t *keys = ARENA_ARRAY(ev->scratch, int64_t, s->points * info->nkeys), n = 0, classes = 0;
    for (uint32_t k = 0; k < info->nkeys && !ev->why; k++)
        certain &= read_key(ev, info->keys[k], keys, k, info->nkeys);
    class_point *order = ARENA_ARRAY(ev->scratch, class_point, s->points);
    s->integer = ARENA_ARRAY(ev->scratch, int64_t, s->points);
    s->certain = ARENA_ARRAY(ev->scratch, uint8_t, s->points);
    for (int64_t i = 0; i < s->points; i++) {
        bool none = false;
        for (uint32_t k = 0; k < info->nkeys; k++) none |= keys[i * info->nkeys + k] < 0;
        if (!none) order[n++] = (class_point){i, keys, info->nkeys};
        s->integer[i] = -1;
        s->certain[i] = certain;
    }
    if (n) qsort(order, (size_t)n, sizeof *order, by_tuple);
    for (int64_t i = 0; i < n; i++) {
        if (i > 0 && by_tuple(&order[i - 1], &order[i]) != 0) classes++;
        s->integer[order[i].point] = classes;
    }
    ev->sizes[info->into] = n ? classes + 1 : 0;
}

// ---- Sizes -----------------------------------------------------------------------------------------------

static int64_t evaluate_closed(evaluator *ev, const char *what, tensor_expr e) {
    eval_program *p = eval_program_new(ev, what, 0);
    uint32_t node = eval_compile(p, e);
    if (ev->why) return 0;
    eval_ready(p);
    return eval_node_value(p, node).i;
}

static int64_t find_size(evaluator *ev, tensor_space s) {
    const tensor_space_info *info = &ev->op->spaces.data[s];
    switch (info->kind) {
    case SPACE_FREE: return ev->in->sizes[s];
    case SPACE_CONST: return info->size;
    case SPACE_EXPR:
        return evaluate_closed(ev, arena_printf(ev->scratch, "space '%s'", info->name), info->expr);
    case SPACE_COUNT_OF:
        if (ev->slots[info->classes].ready) return ev->sizes[s];
        eval_slot_of(ev, info->classes);
        return ev->why ? 0 : ev->sizes[s];
    }
    ICE("no space kind %d", (int)info->kind);
}

int64_t eval_size(evaluator *ev, tensor_space s) {
    if (ev->why) return 0;
    if (ev->sizes[s] >= 0) return ev->sizes[s];
    const char *name = ev->op->spaces.data[s].name;
    if (ev->sizing[s]) eval_fault(ev, "the size of '%s' depends on itself", name);
    if (ev->why) return 0;
    ev->sizing[s] = true;
    int64_t size = find_size(ev, s);
    ev->sizing[s] = false;
    if (size < 0 && !ev->why) eval_fault(ev, "the size of '%s' is %lld", name, (long long)size);
    if (ev->why) return 0;
    return ev->sizes[s] = size;
}

// ---- Preconditions ---------------------------------------------------------------------------------------

int64_t *eval_preimage_sizes(evaluator *ev, tensor_val map) {
    const tensor_val_info *info = &ev->op->vals.data[map];
    int64_t into = eval_size(ev, info->into);
    const eval_slot *s = eval_slot_of(ev, map);
    if (into > EVAL_MAX_POINTS) eval_fault(ev, "'%s' has too many classes to count", info->name);
    if (!s || into == 0 || ev->why) return NULL;
    int64_t *counts = ARENA_ARRAY(ev->scratch, int64_t, into);
    for (int64_t i = 0; i < s->points; i++) {
        int64_t at = info->facts & FACT_PREFIX ? i : eval_slot_get(s, i).i;
        if (at >= 0) counts[at]++;
    }
    return counts;
}

static eval_value preimage_size(evaluator *ev, tensor_val map, int64_t statistic) {
    int64_t into = eval_size(ev, ev->op->vals.data[map].into), total = 0, most = 0, least = INT64_MAX;
    const int64_t *counts = eval_preimage_sizes(ev, map);
    if (!counts) return eval_int(0, true);
    for (int64_t i = 0; i < into; i++) {
        total += counts[i];
        if (counts[i] > most) most = counts[i];
        if (counts[i] < least) least = counts[i];
    }
    return eval_int(statistic == 0 ? most : statistic == 1 ? least : total / into, true);
}

static eval_value preimages_at_least(evaluator *ev, tensor_val map, int64_t least) {
    int64_t into = eval_size(ev, ev->op->vals.data[map].into), n = 0, *counts = eval_preimage_sizes(ev, map);
    for (int64_t i = 0; counts && i < into; i++) n += counts[i] >= least;
    return eval_int(n, true);
}

static eval_value preimages_cut(evaluator *ev, tensor_val map, int64_t most) {
    int64_t into = eval_size(ev, ev->op->vals.data[map].into), n = 0, *counts = eval_preimage_sizes(ev, map);
    for (int64_t i = 0; counts && i < into; i++)
        if (counts[i] > most) n += counts[i] / most + (counts[i] % most != 0);
    return eval_int(n, true);
}

typedef struct {
    int64_t x, y;
} index_pair;

static int by_pair(const void *p, const void *q) {
    const index_pair *a = p, *b = q;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return a->y < b->y ? -1 : a->y > b->y;
}

static index_pair *sorted_pairs(evaluator *ev, tensor_val first, tensor_val second, int64_t *n) {
    const eval_slot *a = eval_slot_of(ev, first), *b = eval_slot_of(ev, second);
    *n = a && b ? a->points : 0;
    index_pair *pairs = ARENA_ARRAY(ev->scratch, index_pair, *n);
    for (int64_t i = 0; i < *n; i++) {
        pairs[i].x = a->info->facts & FACT_PREFIX ? i : eval_slot_get(a, i).i;
        pairs[i].y = b->info->facts & FACT_PREFIX ? i : eval_slot_get(b, i).i;
    }
    if (*n) qsort(pairs, (size_t)*n, sizeof *pairs, by_pair);
    return pairs;
}

// As often as (u, v) stands among the pairs, (v, u) does.
static eval_value symmetric(evaluator *ev, tensor_val first, tensor_val second) {
    int64_t n, m;
    const index_pair *one = sorted_pairs(ev, first, second, &n), *other = sorted_pairs(ev, second, first, &m);
    bool same = n == m;
    for (int64_t i = 0; i < n && same; i++) same = one[i].x == other[i].x && one[i].y == other[i].y;
    return eval_int(same, true);
}

eval_value eval_statistic(evaluator *ev, const eval_node *n) {
    if (n->op == TENSOR_PREIMAGE_OP) return preimage_size(ev, (tensor_val)n->imm, n->imm2);
    if (n->op == TENSOR_AT_LEAST_OP) return preimages_at_least(ev, (tensor_val)n->imm, n->imm2);
    if (n->op == TENSOR_CUT_PARTS_OP) return preimages_cut(ev, (tensor_val)n->imm, n->imm2);
    return symmetric(ev, (tensor_val)n->imm, (tensor_val)n->imm2);
}

static void check_requires(evaluator *ev) {
    for (uint32_t i = 0; i < ev->op->requires.len && !ev->why; i++) {
        const tensor_require *r = &ev->op->requires.data[i];
        bool holds = evaluate_closed(ev, arena_printf(ev->scratch, "precondition '%s'", r->text), r->holds) !=
                     0;
        if (!holds) eval_fault(ev, "the precondition '%s' does not hold", r->text);
    }
}

// ---- Inputs ----------------------------------------------------------------------------------------------

static void check_indices(evaluator *ev, const eval_slot *s) {
    int64_t into = eval_size(ev, s->info->into);
    bool partial = s->info->facts & FACT_PARTIAL;
    for (int64_t i = 0; i < s->points && !ev->why; i++) {
        int64_t x = eval_slot_get(s, i).i;
        if (x >= into || x < -1 || (x == -1 && !partial))
            eval_fault(ev, "'%s' holds %lld at %lld, which is no index of '%s'", s->info->name, (long long)x,
                       (long long)i, ev->op->spaces.data[s->info->into].name);
    }
}

static void check_input(evaluator *ev, tensor_val v) {
    const tensor_val_info *info = &ev->op->vals.data[v];
    if (info->role == VAL_RESULT) return;
    const tensor_array *in = &ev->in->inputs[v];
    if (info->facts & FACT_PREFIX) {
        if (eval_size(ev, info->axes[0]) > eval_size(ev, info->into))
            eval_fault(ev, "'%s' is a prefix, but its space is the larger one", info->name);
        return;
    }
    if (in->type != info->type) eval_fault(ev, "'%s' is of the wrong type", info->name);
    if (in->rank != info->rank)
        eval_fault(ev, "'%s' has %u axes, not %u", info->name, (unsigned)in->rank, (unsigned)info->rank);
    for (uint32_t k = 0; k < info->rank && !ev->why; k++) {
        int64_t size = eval_size(ev, info->axes[k]);
        if (!ev->why && in->shape[k] != size)
            eval_fault(ev, "axis %u of '%s' has %lld points, '%s' has %lld", (unsigned)k, info->name,
                       (long long)in->shape[k], ev->op->spaces.data[info->axes[k]].name, (long long)size);
    }
    const eval_slot *s = eval_slot_of(ev, v);
    if (!s) return;
    if (s->points && !in->data) eval_fault(ev, "'%s' has no data", info->name);
    if (info->type == DT_INDEX && !ev->why) check_indices(ev, s);
}

// ---- Entry -----------------------------------------------------------------------------------------------

static evaluator start(arena *a, arena *scratch, const tensor_op *op, const tensor_eval_input *in) {
    evaluator ev = {.op = op, .in = in, .results = a, .scratch = scratch, .temp = scratch};
    ev.slots = ARENA_ARRAY(scratch, eval_slot, op->vals.len);
    ev.sizes = ARENA_ARRAY(scratch, int64_t, op->spaces.len);
    ev.sizing = ARENA_ARRAY(scratch, bool, op->spaces.len);
    ev.vars = ARENA_ARRAY(scratch, int64_t, op->vars.len);
    for (uint32_t i = 0; i < op->spaces.len; i++) ev.sizes[i] = -1;
    return ev;
}

static void end(evaluator *ev) {
    for (uint32_t i = 0; i < ev->temps.len; i++) arena_free(ev->temps.data[i]);
    arena_free(ev->scratch);
}

static void publish(evaluator *ev, tensor_evaluated *results) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < ev->op->nparams; v++) {
        if (ev->op->vals.data[v].role != VAL_RESULT) continue;
        const eval_slot *s = eval_slot_of(ev, v);
        if (!s) return;
        for (int64_t i = 0; i < s->points && !s->sampled; i++) {
            if (s->written[i]) continue;
            if (ev->in->one_in < 2)
                eval_fault(ev, "nothing defines element %lld of '%s'", (long long)i, s->info->name);
            else if (s->is_float) s->bound[i] = (double)INFINITY;   // integers are not certain as they are
        }
        tensor_evaluated *out = &results[n++];
        *out = (tensor_evaluated){.rank = s->rank,
                                  .points = s->points,
                                  .kept = s->sampled ? s->kept : s->points,
                                  .at = s->at,
                                  .is_float = s->is_float,
                                  .value = s->value,
                                  .bound = s->bound,
                                  .integer = s->integer,
                                  .certain = s->certain,
                                  .overflows = ev->overflows,
                                  .beyond = s->beyond};
        memcpy(out->shape, s->shape, sizeof out->shape);
    }
}

bool tensor_eval(arena *a, const tensor_op *op, const tensor_eval_input *in, tensor_evaluated *results,
                 const char **why) {
    arena *scratch = arena_new();
    evaluator ev = start(a, scratch, op, in);
    for (uint32_t v = 0; v < op->nparams && !ev.why; v++) check_input(&ev, v);
    check_requires(&ev);
    run_stages(&ev, op->stages.len);
    if (!ev.why) publish(&ev, results);
    *why = ev.why;
    end(&ev);
    return !ev.why;
}

bool tensor_eval_sizes(arena *a, const tensor_op *op, const tensor_eval_input *in, int64_t *sizes,
                       const char **why) {
    arena *scratch = arena_new();
    evaluator ev = start(a, scratch, op, in);
    for (uint32_t s = 0; s < op->spaces.len && !ev.why; s++) sizes[s] = eval_size(&ev, s);
    *why = ev.why;
    end(&ev);
    return !ev.why;
}

tensor_evaluated tensor_evaluated_whole(arena *a, const tensor_evaluated *x) {
    tensor_evaluated y = *x;
    if (!x->at) return y;
    y.kept = x->points;
    y.at = NULL;
    y.beyond = NULL;
    y.real = NULL;
    y.value = x->is_float ? ARENA_ARRAY(a, double, x->points) : NULL;
    y.bound = x->is_float ? ARENA_ARRAY(a, double, x->points) : NULL;
    y.integer = x->is_float ? NULL : ARENA_ARRAY(a, int64_t, x->points);
    y.certain = x->is_float ? NULL : ARENA_ARRAY(a, uint8_t, x->points);
    for (int64_t i = 0; i < x->points && x->is_float; i++) y.bound[i] = (double)INFINITY;
    for (int64_t i = 0; i < x->kept; i++) {
        int64_t at = x->at[i];
        if (x->is_float) y.value[at] = x->value[i], y.bound[at] = x->bound[i];
        else y.integer[at] = x->integer[i], y.certain[at] = x->certain[i];
    }
    return y;
}
