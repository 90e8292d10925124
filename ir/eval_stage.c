// One stage: for each point of its left-hand variables, its expressions or its reduction. Bound
// variables with a key on them alone visit only the points whose key fits, found once a stage by
// sorting.
#include "eval_stage.h"

#include <stdlib.h>
#include <string.h>

// ---- Preparation --------------------------------------------------------------------------------

static uint32_t *compile_all(stage_run *r, const tensor_expr *exprs, uint32_t n) {
    uint32_t *nodes = ARENA_ARRAY(r->ev->temp, uint32_t, n);
    for (uint32_t i = 0; i < n && !r->ev->why; i++) nodes[i] = eval_compile(r->p, exprs[i]);
    return nodes;
}

static bound_variable variable(stage_run *r, tensor_var v, uint32_t level) {
    r->p->var_level[v] = level;
    return (bound_variable){.var = v,
                            .level = level,
                            .size = eval_size(r->ev, r->ev->op->vars.data[v].space),
                            .key = NO_KEY,
                            .joined = 1};
}

static void enter_variables(stage_run *r) {
    const tensor_stage *s = r->s;
    tensor_var step = s->loop == TENSOR_NO_LOOP ? UINT32_MAX : r->ev->op->loops.data[s->loop].step;
    r->left = ARENA_ARRAY(r->ev->temp, bound_variable, s->nleft);
    r->bound = ARENA_ARRAY(r->ev->temp, bound_variable, s->nbound);
    for (uint32_t i = 0; i < s->nleft; i++) {
        if (s->left[i] == step) continue;
        r->left[r->nleft] = variable(r, s->left[i], r->nleft + 1);
        r->nleft++;
    }
    for (uint32_t i = 0; i < s->nbound; i++)
        r->bound[i] = variable(r, s->bound[i], r->nleft + 1 + i);
}

// Terms that are added before a factor is applied to their sum: it stays in range where each is
// small enough.
static void limit_terms(stage_run *r) {
    const uint32_t *every = r->ev->in->every;
    uint32_t terms = every ? every[r->s - r->ev->op->stages.data] : 0;
    eval_node *product = &r->p->nodes.data[r->nodes.body[0]];
    if (terms < 2 || product->op != TENSOR_MUL_OP) return;
    product->most = eval_precision_of(r->reducer->state_types[0].type)->limit / terms;
}

static void round_relative(eval_program *p, uint32_t at) {
    eval_node *n = &p->nodes.data[at];
    if (n->op == TENSOR_ROUND_OP || n->op == TENSOR_TF32_OP) n->relative = true;
    for (uint32_t i = 0; n->op == TENSOR_MUL_OP && i < n->nargs; i++) round_relative(p, n->args[i]);
}

// Factors that are taken out of an infinite sum may leave differences of infinities.
static eval_value taken_apart(const stage_run *r, eval_value x) {
    const bool *apart = r->ev->in->apart;
    bool infinite = apart && apart[r->s - r->ev->op->stages.data] && isinf(x.v);
    if (infinite) x.bound = (double)INFINITY;
    return x;
}

static void prepare_reduction(stage_run *r) {
    evaluator *ev = r->ev;
    const tensor_reducer *reducer = r->reducer = &ev->op->reducers.data[r->s->reducer];
    r->name = EVAL_OF_STAGE | (uint32_t)(r->s - ev->op->stages.data);
    r->args = ARENA_ARRAY(ev->temp, eval_value, reducer->nargs);
    bool numeric = reducer->kind == REDUCE_SUM || reducer->kind == REDUCE_PROD ||
                   reducer->kind == REDUCE_MAX || reducer->kind == REDUCE_MIN;
    r->tallied = numeric && tensor_type_is_float(reducer->state_types[0]);
    if (!r->tallied) r->states = eval_states_new(ev, reducer, r->name);
    else r->precision = eval_precision_in(ev, reducer->state_types[0].type);
    for (uint32_t i = 0; i < r->s->nbody && !ev->why; i++)
        r->p->nodes.data[r->nodes.body[i]].contracts = true;
    if (!ev->why) limit_terms(r);
    const bool *relative = ev->in->relative;
    if (!ev->why && relative && relative[r->s - ev->op->stages.data])
        round_relative(r->p, r->nodes.body[0]);
}

void eval_run_prepare(stage_run *r) {
    const tensor_stage *s = r->s;
    evaluator *ev = r->ev;
    r->p = eval_program_new(ev, arena_printf(ev->temp, "stage '%s'", s->name),
                            s->nleft + s->nbound);
    enter_variables(r);
    tensor_expr *sides = ARENA_ARRAY(ev->temp, tensor_expr, 2 * s->nkeys);
    for (uint32_t i = 0; i < s->nkeys; i++) {
        sides[i] = s->keys[i].lhs;
        sides[s->nkeys + i] = s->keys[i].rhs;
    }
    r->nodes.lhs = compile_all(r, sides, s->nkeys);
    r->nodes.rhs = compile_all(r, sides + s->nkeys, s->nkeys);
    r->found_by = ARENA_ARRAY(ev->temp, bool, s->nkeys);
    r->nodes.filters = compile_all(r, s->filters, s->nfilters);
    r->nodes.body = compile_all(r, s->body, s->nbody);
    r->nodes.orelse = compile_all(r, s->orelse, s->nelse);
    r->targets = ARENA_ARRAY(ev->temp, eval_slot *, s->ntargets);
    for (uint32_t i = 0; i < s->ntargets; i++) r->targets[i] = eval_slot_of(ev, s->targets[i].val);
    r->values = ARENA_ARRAY(ev->temp, eval_value, s->ntargets);
    if (s->reducer != TENSOR_NO_REDUCER) prepare_reduction(r);
    eval_ready(r->p);
}

static void assign(stage_run *r, const bound_variable *b, int64_t point) {
    r->ev->vars[b->var] = point;
    eval_move(r->p, b->level);
}

// A point of variables that are found at once, of which the last goes fastest.
static void assign_joined(stage_run *r, const bound_variable *b, int64_t point) {
    for (uint32_t k = b->joined; k-- > 0; point /= b[k].size) assign(r, &b[k], point % b[k].size);
}

// ---- Keys ---------------------------------------------------------------------------------------

// Of levels from `first` on, which are marked in *levels, and of what is the same at all points.
static bool is_of_levels(const eval_program *p, uint32_t node, uint32_t first, uint64_t *levels,
                         uint32_t *budget) {
    const eval_node *n = &p->nodes.data[node];
    if (!*budget) return false;
    --*budget;   // nodes are shared, and paths among them may be countless
    if (n->op == TENSOR_VAR_OP) {
        if (n->level < first || n->level - first >= 64) return false;
        *levels |= UINT64_C(1) << (n->level - first);
        return true;
    }
    if (n->level == 0) return true;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (!is_of_levels(p, n->args[i], first, levels, budget)) return false;
    return true;
}

static int by_key(const void *x, const void *y) {
    const keyed_point *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

// The key is an input's value at the variable itself, from 0 on and ascending, as edges by
// destination are.
static const int64_t *ordered_map(const stage_run *r, const bound_variable *b, uint32_t key) {
    const eval_node *nodes = r->p->nodes.data, *n = &nodes[r->nodes.lhs[key]];
    if (n->op != TENSOR_LOAD_OP || n->nargs != 1 || !n->slot || !n->slot->input ||
        n->slot->info->type != DT_INDEX)
        return NULL;
    if (nodes[n->args[0]].op != TENSOR_VAR_OP || nodes[n->args[0]].imm != b->var ||
        n->slot->points != b->size)
        return NULL;
    const int64_t *x = n->slot->input;
    int64_t before = 0;
    for (int64_t i = 0; i < b->size; before = x[i++])
        if (x[i] < before) return NULL;
    return x;
}

// Points of variables that are found at once; 0: there are none, or too many.
static int64_t joined_points(const bound_variable *b) {
    int64_t points = 1;
    for (uint32_t k = 0; k < b->joined; k++) {
        if (b[k].size > EVAL_MAX_POINTS / (points > 1 ? points : 1)) return 0;
        points *= b[k].size;
    }
    return points;
}

// Evaluates a key's left side at each point of its variables. false: somewhere it is not certain,
// or they are too many.
static bool sort_points(stage_run *r, bound_variable *b, uint32_t key) {
    int64_t points = joined_points(b);
    b->npoints = points;
    b->map = b->joined == 1 ? ordered_map(r, b, key) : NULL;
    if (b->map || !points) return b->map || b->size == 0;
    b->points = ARENA_ARRAY(r->ev->temp, keyed_point, points);
    b->npoints = 0;
    bool certain = true, sorted = true;
    for (int64_t i = 0; i < points && certain && !r->ev->why; i++) {
        assign_joined(r, b, i);
        eval_value x = eval_node_value(r->p, r->nodes.lhs[key]);
        certain = x.certain;
        if (x.i < 0) continue;
        if (b->npoints && b->points[b->npoints - 1].key > x.i) sorted = false;
        b->points[b->npoints++] = (keyed_point){x.i, i};
    }
    if (certain && !sorted) qsort(b->points, (size_t)b->npoints, sizeof *b->points, by_key);
    return certain;
}

// Of the variables from b on, how many the key's left side is made of, each of them; 0: of others.
static uint32_t joined_by(const stage_run *r, const bound_variable *b, uint32_t key) {
    const eval_node *nodes = r->p->nodes.data;
    uint32_t budget = 4096, joined = 0;
    uint64_t levels = 0;
    if (nodes[r->nodes.rhs[key]].level >= b->level ||
        !is_of_levels(r->p, r->nodes.lhs[key], b->level, &levels, &budget))
        return 0;
    while (levels & 1) levels >>= 1, joined++;
    return levels ? 0 : joined;
}

static int64_t key_of(const bound_variable *b, int64_t i) {
    return b->map ? b->map[i] : b->points[i].key;
}

static int64_t classes_of(const bound_variable *b) {
    int64_t n = b->npoints > 0;
    for (int64_t i = 1; i < b->npoints; i++) n += key_of(b, i) != key_of(b, i - 1);
    return n;
}

// Of several keys variables are found by the one with most classes: they have the fewest points.
static void find_key(stage_run *r, bound_variable *b) {
    int64_t most = -1;
    bound_variable best = *b;
    for (uint32_t k = 0; k < r->s->nkeys && !r->ev->why; k++) {
        b->joined = r->found_by[k] ? 0 : joined_by(r, b, k);
        if (!b->joined || !sort_points(r, b, k)) continue;
        b->key = k;
        int64_t classes = classes_of(b);
        if (classes > most) best = *b;
        if (classes > most) most = classes;
    }
    *b = best;
    if (b->key != NO_KEY) r->found_by[b->key] = true;
}

static void find_keys(stage_run *r) {
    r->ev->lenient = true;
    for (uint32_t j = 0; j < r->s->nbound && !r->ev->why; j += r->bound[j].joined)
        find_key(r, &r->bound[j]);
    r->ev->lenient = false;
}

static int64_t first_with(const bound_variable *b, int64_t key) {
    int64_t lo = 0, hi = b->npoints;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (key_of(b, mid) < key) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

static eval_value key_side(stage_run *r, uint32_t node) {
    r->ev->lenient = true;
    eval_value x = eval_node_value(r->p, node);
    r->ev->lenient = false;
    return x;
}

// ---- Terms --------------------------------------------------------------------------------------

// Whether the present point is a term: in exact arithmetic (*included), and whether that is
// certain.
static bool is_member(stage_run *r, bool *included) {
    bool certain = true;
    *included = true;
    for (uint32_t k = 0; k < r->s->nkeys; k++) {
        if (r->found_by[k]) continue;
        eval_value x = key_side(r, r->nodes.lhs[k]), y = key_side(r, r->nodes.rhs[k]);
        bool fits = x.i == y.i && x.i != -1;
        if (!fits) *included = false;
        if (!x.certain || !y.certain) certain = false;
        else if (!fits) return true;
    }
    for (uint32_t k = 0; k < r->s->nfilters; k++) {
        r->ev->guessing += !certain;
        eval_value x = eval_node_value(r->p, r->nodes.filters[k]);
        r->ev->guessing -= !certain;
        if (!x.i) *included = false;
        if (x.certain && !x.i) return true;
        certain = certain && x.certain;
    }
    return certain;
}

static void add_term(stage_run *r) {
    bool included, certain = is_member(r, &included);
    eval_count_step(r->ev);
    if (certain && !included) return;
    r->ev->guessing += !certain;
    for (uint32_t i = 0; i < r->s->nbody; i++) r->args[i] = eval_node_value(r->p, r->nodes.body[i]);
    r->ev->guessing -= !certain;
    r->terms.members += included;
    r->terms.sure += certain;
    r->terms.perhaps += !certain;
    if (r->tallied) eval_tally_add(&r->tally, r->reducer->kind, r->args[0], included, !certain);
    else eval_states_add(r->states, r->args, included, !certain);
}

static void visit_terms(stage_run *r, uint32_t j) {
    if (j == r->s->nbound) {
        add_term(r);
        return;
    }
    const bound_variable *b = &r->bound[j];
    if (b->key == NO_KEY) {
        for (int64_t i = 0; i < b->size && !r->ev->why; i++) {
            assign(r, b, i);
            visit_terms(r, j + 1);
        }
        return;
    }
    eval_value x = key_side(r, r->nodes.rhs[b->key]);
    if (!x.certain) r->terms.unsure_domain = true;
    if (x.i < 0) return;
    for (int64_t i = first_with(b, x.i); i < b->npoints && key_of(b, i) == x.i && !r->ev->why;
         i++) {
        assign_joined(r, b, b->map ? i : b->points[i].point);
        visit_terms(r, j + b->joined);
    }
}

static void forget_certainty(stage_run *r) {
    for (uint32_t i = 0; i < r->s->ntargets; i++) r->values[i] = eval_unsure(r->values[i]);
}

static void reduce(stage_run *r) {
    r->terms.members = r->terms.sure = r->terms.perhaps = 0;
    r->terms.unsure_domain = false;
    if (r->tallied) eval_tally_start(&r->tally);
    else eval_states_start(r->states);
    visit_terms(r, 0);
    bool nothing = r->terms.members == 0, lone_perhaps = r->terms.sure == 0 && r->terms.perhaps > 0;
    if (nothing && r->s->nelse)
        for (uint32_t i = 0; i < r->s->nelse; i++)
            r->values[i] = eval_node_value(r->p, r->nodes.orelse[i]);
    else if (r->tallied)
        r->values[0] = taken_apart(
            r, eval_tally_finish(r->ev, &r->tally, r->reducer->kind, r->precision, r->name));
    else eval_states_finish(r->states, r->values);
    if (r->reducer->roundings) r->values[0] = taken_apart(r, r->values[0]);
    if (r->terms.unsure_domain || (r->s->nelse && lone_perhaps)) forget_certainty(r);
}

// ---- Storing ------------------------------------------------------------------------------------

static int64_t target_position(stage_run *r, const tensor_target *t, const eval_slot *slot) {
    int64_t at = 0;
    for (uint32_t k = 0; k < t->rank; k++) {
        tensor_at x = tensor_target_at(r->ev->op, t->index[k]);
        int64_t i = x.offset;
        if (x.kind != TENSOR_AT_CONST) i = (int64_t)((uint64_t)i + (uint64_t)r->ev->vars[x.var]);
        if (i < 0 || i >= slot->shape[k]) {
            eval_fault(r->ev, "%s: %lld is no index of axis %u of '%s', which has %lld", r->p->what,
                       (long long)i, (unsigned)k, slot->info->name, (long long)slot->shape[k]);
            return 0;
        }
        at += i * slot->stride[k];
    }
    return at;
}

bool tensor_is_final(const tensor_op *op, const tensor_stage *s) {
    if (s->loop != TENSOR_NO_LOOP) return false;
    for (uint32_t k = 0; k < s->ntargets; k++) {
        if (op->vals.data[s->targets[k].val].role != VAL_RESULT) return false;
        for (tensor_expr e = 1; e < op->exprs.len; e++)
            if (op->exprs.data[e].op == TENSOR_LOAD_OP &&
                op->exprs.data[e].imm.i == s->targets[k].val)
                return false;
    }
    return true;
}

bool tensor_is_sampled(const tensor_op *op, tensor_val v) {
    uint32_t writers = 0, final = 0;
    for (uint32_t i = 0; i < op->stages.len; i++)
        for (uint32_t k = 0; k < op->stages.data[i].ntargets; k++) {
            if (op->stages.data[i].targets[k].val != v) continue;
            writers++;
            final += tensor_is_final(op, &op->stages.data[i]);
        }
    return writers == 1 && final == 1;
}

// A stage may be stored in less than it is computed in.
static bool is_rounded(const stage_run *r, uint32_t target, const eval_slot *slot) {
    if (slot->info->role == VAL_RESULT) return true;
    tensor_type t = r->reducer ? r->reducer->result_types[target]
                               : tensor_typeof(r->ev->op, r->s->body[target]);
    return slot->is_float && tensor_type_is_float(t) && !ir_dtype_holds(slot->info->type, t.type);
}

static void store(stage_run *r, uint32_t target) {
    eval_slot *slot = r->targets[target];
    eval_value x = r->values[target];
    int64_t at = target_position(r, &r->s->targets[target], slot);
    if (r->ev->why) return;
    if (is_rounded(r, target, slot)) x = eval_stored(r->ev, slot->info->type, x);
    if (slot->info->type == DT_INDEX && x.certain &&
        (x.i < -1 || x.i >= eval_size(r->ev, slot->info->into)))
        eval_fault(r->ev, "%s: %lld is stored to '%s', which is no index of its space", r->p->what,
                   (long long)x.i, slot->info->name);
    at = eval_slot_keep(r->ev, slot, at, r->kept_at);
    if (slot->is_float) {
        slot->value[at] = x.v;
        slot->bound[at] = x.bound;
    } else {
        slot->integer[at] = x.i;
        slot->certain[at] = x.certain;
    }
    if (slot->beyond) slot->beyond[at] = x.beyond;
}

static void at_point(stage_run *r) {
    eval_count_step(r->ev);
    if (r->reducer) reduce(r);
    else
        for (uint32_t i = 0; i < r->s->nbody; i++)
            r->values[i] = eval_node_value(r->p, r->nodes.body[i]);
    for (uint32_t i = 0; i < r->s->ntargets && !r->ev->why; i++) store(r, i);
}

// splitmix64's finaliser: no stride of an axis can hide from it.
static uint64_t hash_of(uint64_t x) {
    uint64_t z = (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// The point is one of all points of the left-hand variables, of which the last goes fastest.
static void eval_run_at(stage_run *r, uint64_t point) {
    for (uint32_t k = r->nleft; k-- > 0; point /= (uint64_t)r->left[k].size)
        assign(r, &r->left[k], (int64_t)(point % (uint64_t)r->left[k].size));
    at_point(r);
}

eval_sample eval_sample_of(const stage_run *r, uint64_t one_in) {
    enum { LONGEST = 128, FEWEST = 8 };
    eval_sample x = {.points = 1, .one_in = one_in < 1 ? 1 : one_in, .length = 1};
    for (uint32_t k = 0; k < r->nleft; k++) x.points *= (uint64_t)r->left[k].size;
    if (one_in > 1) x.length = x.points / one_in / FEWEST;
    x.length = x.length < 1 ? 1 : x.length > LONGEST ? LONGEST : x.length;
    const uint64_t apart = x.length * x.one_in;
    x.runs = x.points / apart + (x.points % apart != 0);
    return x;
}

static uint64_t begin_of(const eval_sample *x, uint64_t run) {
    uint64_t first = run * x->length * x->one_in;
    return x->one_in > 1 ? first + x->length * (hash_of(first) % x->one_in) : first;
}

void eval_sample_run(stage_run *r, const eval_sample *x, uint64_t run) {
    uint64_t begin = begin_of(x, run);
    for (uint64_t point = begin; point < begin + x->length && point < x->points && !r->ev->why;
         point++) {
        if (r->kept_at >= 0) r->kept_at = (int64_t)(run * x->length + point - begin);
        eval_run_at(r, point);
    }
}

int64_t eval_sample_size(const eval_sample *x) {
    uint64_t last = x->runs ? begin_of(x, x->runs - 1) : 0;   // which may end behind all points
    uint64_t left = last < x->points ? x->points - last : 0;
    return x->runs ? (int64_t)((x->runs - 1) * x->length + (left < x->length ? left : x->length))
                   : 0;
}

static void sampled_points(stage_run *r, uint64_t one_in) {
    const eval_sample x = eval_sample_of(r, one_in);
    for (uint64_t run = 0; run < x.runs && !r->ev->why; run++) eval_sample_run(r, &x, run);
}

static void each_point(stage_run *r) {
    uint64_t one_in = tensor_is_final(r->ev->op, r->s) ? r->ev->in->one_in : 1;
    for (uint32_t k = 0; k < r->nleft; k++) {
        if (r->left[k].size == 0) return;
        assign(r, &r->left[k], 0);
    }
    if (eval_in_threads(r, one_in)) return;
    if (one_in > 1) {
        sampled_points(r, one_in);
        return;
    }
    while (!r->ev->why) {
        at_point(r);
        uint32_t k = r->nleft;
        while (k > 0 && r->ev->vars[r->left[k - 1].var] + 1 == r->left[k - 1].size) k--;
        if (k == 0) return;
        assign(r, &r->left[k - 1], r->ev->vars[r->left[k - 1].var] + 1);
        for (; k < r->nleft; k++) assign(r, &r->left[k], 0);
    }
}

void eval_stage(evaluator *ev, const tensor_stage *s) {
    stage_run r = {.ev = ev, .s = s, .kept_at = -1};
    arena *outer = ev->temp;   // preparing may run another stage to find a size
    ev->temp = arena_new();
    eval_run_prepare(&r);
    if (!ev->why) find_keys(&r);
    if (!ev->why) each_point(&r);
    arena_free(ev->temp);
    ev->temp = outer;
}

// ---- On demand ----------------------------------------------------------------------------------
// Of a sample of the results a few rows are wanted of what they are computed from, such as the sums
// of a softmax.
struct eval_deferred {
    stage_run run;
    arena *temp;
};

static uint32_t writers_of(const tensor_op *op, tensor_val v) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < op->stages.len; i++)
        for (uint32_t k = 0; k < op->stages.data[i].ntargets; k++)
            n += op->stages.data[i].targets[k].val == v;
    return n;
}

static uint32_t left_at(const tensor_op *op, const tensor_stage *s, tensor_expr index) {
    tensor_at x = tensor_target_at(op, index);
    uint32_t i = 0;
    while (x.kind == TENSOR_AT_VAR && !x.offset && i < s->nleft && s->left[i] != x.var) i++;
    return x.kind == TENSOR_AT_VAR && !x.offset ? i : s->nleft;
}

// The place of an element tells the point that writes it.
static bool tells_point(const tensor_op *op, const tensor_stage *s, const tensor_target *t) {
    uint32_t seen = 0;
    for (uint32_t k = 0; k < t->rank; k++) {
        uint32_t i = left_at(op, s, t->index[k]);
        if (i == s->nleft || seen >> i & 1) return false;
        seen |= 1u << i;
    }
    return t->rank == s->nleft;
}

bool tensor_may_wait(const tensor_op *op, const tensor_stage *s) {
    if (s->loop != TENSOR_NO_LOOP || s->nleft > 8) return false;
    for (uint32_t t = 0; t < s->ntargets; t++) {
        const tensor_val_info *i = &op->vals.data[s->targets[t].val];
        if (i->role != VAL_STAGE || !ir_dtype_is_float(i->type) ||
            writers_of(op, s->targets[t].val) > 1 || !tells_point(op, s, &s->targets[t]))
            return false;
    }
    return true;
}

void eval_defer(evaluator *ev, const tensor_stage *s) {
    struct eval_deferred *d = ARENA_NEW(ev->scratch, struct eval_deferred);
    arena *outer = ev->temp;
    *d = (struct eval_deferred){.run = {.ev = ev, .s = s, .kept_at = -1}, .temp = arena_new()};
    ev->temp = d->temp;
    eval_run_prepare(&d->run);
    if (!ev->why) find_keys(&d->run);
    for (uint32_t t = 0; t < s->ntargets && !ev->why; t++) d->run.targets[t]->deferred = d;
    VEC_PUSH(ev->scratch, &ev->temps, d->temp);
    ev->temp = outer;
}

static uint32_t target_of(const stage_run *r, const eval_slot *slot) {
    uint32_t t = 0;
    while (r->targets[t] != slot) t++;
    return t;
}

// Its variables may be those of the stage that reads, which stands at other points.
static void swap_points(stage_run *r, int64_t *kept) {
    for (uint32_t i = 0; i < r->s->nleft + r->s->nbound; i++) {
        int64_t *at =
                    &r->ev->vars[i < r->s->nleft ? r->left[i].var : r->bound[i - r->s->nleft].var],
                was = *at;
        *at = kept[i];
        kept[i] = was;
    }
}

void eval_demand(evaluator *ev, const eval_slot *slot, int64_t at) {
    stage_run *r = &slot->deferred->run;
    const tensor_target *target = &r->s->targets[target_of(r, slot)];
    int64_t kept[64] = {0};
    arena *temp = ev->temp;
    uint32_t guessing = ev->guessing;
    bool lenient = ev->lenient;
    if (r->s->nleft + r->s->nbound > sizeof kept / sizeof *kept)
        ICE("a stage has too many variables");
    swap_points(r, kept);
    ev->temp = slot->deferred->temp;
    ev->guessing = 0;
    ev->lenient = false;
    for (uint32_t k = 0; k < target->rank; k++)
        assign(r, &r->left[left_at(ev->op, r->s, target->index[k])],
               at / slot->stride[k] % slot->shape[k]);
    at_point(r);
    ev->temp = temp;
    ev->guessing = guessing;
    ev->lenient = lenient;
    swap_points(r, kept);
}
