// Values before a stage reads them: how large they are, stages that must run first, classes of
// tuples, prepared arrays, statistics of maps. A size may be an expression, an expression may read
// classes, and classes may be of what stages compute. So each is found when it is asked for.
#include "eval.h"

#include <stdlib.h>

// ---- Slots --------------------------------------------------------------------------------------

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
    bool elsewhere = s->info->role == VAL_TENSOR || s->info->role == VAL_SCALAR ||
                     s->info->role == VAL_MAP;
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

static void number_classes(evaluator *ev, tensor_val v);
static void prepare(evaluator *ev, tensor_val v);

eval_slot *eval_slot_of(evaluator *ev, tensor_val v) {
    eval_slot *s = &ev->slots[v];
    if (s->ready || ev->why) return ev->why ? NULL : s;
    tensor_role role = ev->op->vals.data[v].role;
    shape_slot(ev, s, v);
    if (ev->why) return NULL;
    if (role == VAL_STAGE || role == VAL_RESULT) eval_slot_fill(ev, s);
    else if (role == VAL_CLASSES) number_classes(ev, v);
    else if (role == VAL_PREPARED) prepare(ev, v);
    else s->input = ev->in->inputs[v].data;
    s->ready = true;
    return ev->why ? NULL : s;
}

// ---- Stages in order ----------------------------------------------------------------------------

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
void eval_run_stages(evaluator *ev, uint32_t n) {
    while (ev->done < n && !ev->why) {
        uint32_t first = ev->done, end = first + 1, loop = ev->op->stages.data[first].loop;
        while (loop != TENSOR_NO_LOOP && end < ev->op->stages.len &&
               ev->op->stages.data[end].loop == loop)
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

// ---- Classes ------------------------------------------------------------------------------------

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
    if (ev->op->vals.data[key].role == VAL_STAGE) eval_run_stages(ev, last_writer(ev->op, key));
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

// ---- Sizes --------------------------------------------------------------------------------------

int64_t eval_closed(evaluator *ev, const char *what, tensor_expr e) {
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
        return eval_closed(ev, arena_printf(ev->scratch, "space '%s'", info->name), info->expr);
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

// ---- Statistics of maps -------------------------------------------------------------------------

static int64_t *preimage_sizes(evaluator *ev, tensor_val map) {
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
    int64_t into = eval_size(ev, ev->op->vals.data[map].into), total = 0, most = 0,
            least = INT64_MAX;
    const int64_t *counts = preimage_sizes(ev, map);
    if (!counts) return eval_int(0, true);
    for (int64_t i = 0; i < into; i++) {
        total += counts[i];
        if (counts[i] > most) most = counts[i];
        if (counts[i] < least) least = counts[i];
    }
    return eval_int(statistic == 0 ? most : statistic == 1 ? least : total / into, true);
}

static eval_value preimages_at_least(evaluator *ev, tensor_val map, int64_t least) {
    int64_t into = eval_size(ev, ev->op->vals.data[map].into), n = 0,
            *counts = preimage_sizes(ev, map);
    for (int64_t i = 0; counts && i < into; i++) n += counts[i] >= least;
    return eval_int(n, true);
}

static eval_value preimages_cut(evaluator *ev, tensor_val map, int64_t most) {
    int64_t into = eval_size(ev, ev->op->vals.data[map].into), n = 0,
            *counts = preimage_sizes(ev, map);
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
    const index_pair *one = sorted_pairs(ev, first, second, &n),
                     *other = sorted_pairs(ev, second, first, &m);
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

// ---- Prepared values ----------------------------------------------------------------------------
// Those that equations of a plan read, from what they are made of: how many points a map takes to
// each, where they begin, and two maps one after the other. Others stand in loops alone.

static void put_offsets(eval_slot *s, const int64_t *counts) {
    for (int64_t i = 0; i + 1 < s->points; i++) s->integer[i + 1] = s->integer[i] + counts[i];
}

static void put_degrees(eval_slot *s, const int64_t *counts) {
    for (int64_t i = 0; i < s->points; i++) s->integer[i] = counts[i];
}

static void put_composition(eval_slot *s, const eval_slot *first, const eval_slot *second) {
    for (int64_t i = 0; i < s->points; i++) {
        int64_t at = eval_slot_get(first, i).i;
        s->integer[i] = at < 0 ? -1 : eval_slot_get(second, at).i;
    }
}

static void prepare(evaluator *ev, tensor_val v) {
    eval_slot *s = &ev->slots[v];
    const tensor_val_info *info = s->info;
    s->integer = ARENA_ARRAY(ev->scratch, int64_t, s->points + 1);
    s->certain = ARENA_ARRAY(ev->scratch, uint8_t, s->points + 1);
    for (int64_t i = 0; i < s->points; i++) s->certain[i] = 1;
    if (info->nkeys == 2 && info->builder == PREPARED_COMPOSE) {
        const eval_slot *first = eval_slot_of(ev, info->keys[0]),
                        *second = eval_slot_of(ev, info->keys[1]);
        if (first && second) put_composition(s, first, second);
    } else if (info->nkeys == 1 &&
               (info->builder == PREPARED_OFFSETS || info->builder == PREPARED_DEGREES)) {
        const int64_t *counts = preimage_sizes(ev, info->keys[0]);
        if (counts && info->builder == PREPARED_OFFSETS) put_offsets(s, counts);
        else if (counts) put_degrees(s, counts);
    } else
        eval_fault(ev, "an equation reads '%s', which says in which order a plan visits points",
                   info->name);
}
