// Serial reductions. Each bound variable is walked by a key where one says which points remain: the
// preimage of a prepared map as a range of its offsets, or a single point; else its whole space.
// Other keys and filters are tests inside. Sums of f32 are carried in f64, however long a row is:
//     s = f32(s64 = s64 + f64(x) for each x in order)
#include "naive/naive.h"

typedef enum { WALK_ALL, WALK_POINT, WALK_PREIMAGE } walk_kind;
typedef struct {
    tensor_var var;
    walk_kind kind;
    tensor_expr rhs;   // POINT, PREIMAGE
    walkable map;      // PREIMAGE
} walk;

typedef struct {
    kernel *k;
    const tensor_reducer *r;
    walk *walks;
    uint32_t nwalks;
    VEC(tensor_key) tests;   // keys nothing walks by
    simt_type *types;        // carried: the state, then whether anything was combined
    uint32_t n;
    bool *wide;   // per component: a sum of f32
    bool apart;   // each is combined from its own two sides
} reducing;

static bool depends(const naive *n, tensor_expr e, tensor_var v) {
    return tensor_mentions(n->op, e, v);
}

// ---- Choosing -----------------------------------------------------------------------------------
static bool walk_by(kernel *k, tensor_key key, tensor_var var, walk *w) {
    const tensor_node *lhs = tensor_node_at(k->n->op, key.lhs);
    w->rhs = key.rhs;
    if (lhs->op == TENSOR_VAR_OP && (tensor_var)lhs->imm.i == var)
        return w->kind = WALK_POINT, true;
    w->kind = WALK_PREIMAGE;
    return map_of_key(k->n, key.lhs, var, &w->map);
}

// A key serves bound variable b if its right side needs only what is walked before.
static void choose(reducing *d, const tensor_stage *st, uint32_t b, bool *used) {
    walk *w = &d->walks[d->nwalks];
    for (uint32_t i = 0; i < st->nkeys; i++) {
        *w = (walk){.var = st->bound[b]};
        bool later = false;
        for (uint32_t o = 0; o < st->nbound; o++) {
            bool walked = false;
            for (uint32_t x = 0; x < d->nwalks; x++) walked |= d->walks[x].var == st->bound[o];
            later |= !walked && depends(d->k->n, st->keys[i].rhs, st->bound[o]);
        }
        if (!used[i] && !later && walk_by(d->k, st->keys[i], st->bound[b], w)) {
            used[i] = true;
            d->nwalks++;
            return;
        }
    }
    *w = (walk){.var = st->bound[b], .kind = WALK_ALL};
    d->nwalks++;
}

static void choose_walks(reducing *d, const tensor_stage *st) {
    bool *used = ARENA_ARRAY(d->k->n->arena, bool, st->nkeys + 1);
    d->walks = ARENA_ARRAY(d->k->n->arena, walk, st->nbound + 1);
    for (uint32_t b = 0; b < st->nbound; b++) choose(d, st, b, used);
    for (uint32_t i = 0; i < st->nkeys; i++)
        if (!used[i]) VEC_PUSH(d->k->n->arena, &d->tests, st->keys[i]);
}

// ---- The innermost point ------------------------------------------------------------------------
static void combine(reducing *d, simt_builder *b, const simt_value *state, simt_value *out) {
    kernel *k = d->k;
    simt_value *arg = ARENA_ARRAY(k->n->arena, simt_value, d->r->nargs + 1),
               *lifted = ARENA_ARRAY(k->n->arena, simt_value, d->r->nstate);
    for (uint32_t i = 0; i < d->r->nargs; i++) arg[i] = expr_lower(k, b, k->stage->body[i]);
    reducer_lower(k, b, d->r->lift, d->r->nstate, arg, NULL, NULL, lifted);
    for (uint32_t i = 0; d->apart && i < d->r->nstate; i++) {
        if (!d->wide[i]) reducer_lower(k, b, &d->r->combine[i], 1, NULL, state, lifted, &out[i]);
        else
            out[i] = simt_build_binary(b, SIMT_ADD, state[i],
                                       simt_build_cvt(b, d->types[i], lifted[i]));
    }
    if (!d->apart) reducer_lower(k, b, d->r->combine, d->r->nstate, NULL, state, lifted, out);
    out[d->r->nstate] = simt_build_pred(b, true);
}

static simt_value test_condition(reducing *d, simt_builder *b, uint32_t i) {
    kernel *k = d->k;
    if (i >= d->tests.len) return expr_lower(k, b, k->stage->filters[i - d->tests.len]);
    simt_value x = expr_lower_key(k, b, d->tests.data[i].lhs),
               y = expr_lower_key(k, b, d->tests.data[i].rhs);
    // none matches no key
    simt_value some = simt_build_cmp(b, SIMT_GE, x, simt_build_int(b, NAIVE_I64, 0));
    return simt_build_binary(b, SIMT_AND, simt_build_cmp(b, SIMT_EQ, x, y), some);
}

// The tests in order, each only where those before hold.
static void tested(reducing *d, simt_builder *b, uint32_t i, const simt_value *state,
                   simt_value *out) {
    if (i == d->tests.len + d->k->stage->nfilters) {
        combine(d, b, state, out);
        return;
    }
    simt_value c = test_condition(d, b, i);
    simt_builder then, other;
    simt_instr branch = simt_build_if(b, c, d->types, d->n, &then, &other);
    simt_value *next = ARENA_ARRAY(d->k->n->arena, simt_value, d->n);
    uint32_t mark = memo_mark(d->k);
    tested(d, &then, i + 1, state, next);
    memo_undo(d->k, mark);
    simt_build_yield(&then, next, d->n);
    simt_build_yield(&other, state, d->n);
    for (uint32_t s = 0; s < d->n; s++) out[s] = simt_result(d->k->f, branch, s);
}

// ---- Loops --------------------------------------------------------------------------------------
static void walked(reducing *d, simt_builder *b, uint32_t w, const simt_value *state,
                   simt_value *out);

static void walk_point(reducing *d, simt_builder *b, uint32_t w, const simt_value *state,
                       simt_value *out) {
    kernel *k = d->k;
    simt_value at = expr_lower_key(k, b, d->walks[w].rhs);
    simt_value some = simt_build_cmp(b, SIMT_GE, at, simt_build_int(b, NAIVE_I64, 0));
    simt_builder then, other;
    simt_instr branch = simt_build_if(b, some, d->types, d->n, &then, &other);
    simt_value *next = ARENA_ARRAY(k->n->arena, simt_value, d->n);
    uint32_t mark = memo_mark(k);
    k->var[d->walks[w].var] = at;
    walked(d, &then, w + 1, state, next);
    memo_undo(k, mark);
    simt_build_yield(&then, next, d->n);
    simt_build_yield(&other, state, d->n);
    for (uint32_t s = 0; s < d->n; s++) out[s] = simt_result(k->f, branch, s);
}

static void range_of(reducing *d, simt_builder *b, const walk *w, simt_value *lo, simt_value *hi) {
    kernel *k = d->k;
    simt_value zero = simt_build_int(b, NAIVE_I64, 0), one = simt_build_int(b, NAIVE_I64, 1);
    *lo = zero;
    if (w->kind == WALK_ALL) {
        *hi = kernel_size(k, k->n->op->vars.data[w->var].space);
        return;
    }
    uint32_t offsets = prepare(k->n, PREPARED_OFFSETS, &w->map.ref, 1, w->map.domain, w->map.into);
    simt_value key = expr_lower_key(k, b, w->rhs);
    if (tensor_node_at(k->n->op, w->rhs)->op == TENSOR_VAR_OP) {
        *lo = prepared_load(k, b, offsets, key);
        *hi = prepared_load(k, b, offsets, simt_build_binary(b, SIMT_ADD, key, one));
        return;
    }
    // none has no preimage: the first entry twice is an empty range, and offsets have at least one.
    simt_value some = simt_build_cmp(b, SIMT_GE, key, zero),
               at = simt_build_select(b, some, key, zero);
    *lo = prepared_load(k, b, offsets, at);
    *hi = prepared_load(k, b, offsets,
                        simt_build_binary(b, SIMT_ADD, at, simt_build_cvt(b, NAIVE_I64, some)));
}

static void walk_range(reducing *d, simt_builder *b, uint32_t w, const simt_value *state,
                       simt_value *out) {
    kernel *k = d->k;
    const walk *x = &d->walks[w];
    simt_value lo, hi;
    range_of(d, b, x, &lo, &hi);
    simt_instr loop;
    simt_builder in = simt_build_for(b, lo, hi, simt_build_int(b, NAIVE_I64, 1), state, d->n,
                                     &loop);
    // Unrolling would cost the assembler more time than the whole rest.
    k->f->instrs.data[loop].aux = SIMT_LOOP_ROLLED;
    uint32_t mark = memo_mark(k);
    simt_value at = simt_for_index(k->f, loop);
    if (x->kind == WALK_PREIMAGE && !x->map.sorted) {
        uint32_t order = prepare(k->n, PREPARED_ORDER, &x->map.ref, 1, x->map.domain, x->map.into);
        at = prepared_load(k, &in, order, at);
    }
    k->var[x->var] = at;
    simt_value *carried = ARENA_ARRAY(k->n->arena, simt_value, d->n),
               *next = ARENA_ARRAY(k->n->arena, simt_value, d->n);
    for (uint32_t s = 0; s < d->n; s++) carried[s] = simt_for_carried(k->f, loop, s);
    walked(d, &in, w + 1, carried, next);
    memo_undo(k, mark);
    simt_build_yield(&in, next, d->n);
    for (uint32_t s = 0; s < d->n; s++) out[s] = simt_result(k->f, loop, s);
}

static void walked(reducing *d, simt_builder *b, uint32_t w, const simt_value *state,
                   simt_value *out) {
    if (w == d->nwalks) tested(d, b, 0, state, out);
    else if (d->walks[w].kind == WALK_POINT) walk_point(d, b, w, state, out);
    else walk_range(d, b, w, state, out);
}

// ---- The whole ----------------------------------------------------------------------------------
static void choose_else(reducing *d, simt_builder *b, simt_value some, simt_value *results) {
    kernel *k = d->k;
    const tensor_stage *st = k->stage;
    simt_type *types = ARENA_ARRAY(k->n->arena, simt_type, st->nelse);
    for (uint32_t i = 0; i < st->nelse; i++)
        types[i] = value_simt(tensor_typeof(k->n->op, st->orelse[i]));
    simt_builder then, other;
    simt_instr branch = simt_build_if(b, some, types, st->nelse, &then, &other);
    simt_build_yield(&then, results, st->nelse);
    simt_value *x = ARENA_ARRAY(k->n->arena, simt_value, st->nelse);
    uint32_t mark = memo_mark(k);
    for (uint32_t i = 0; i < st->nelse; i++) x[i] = expr_lower(k, &other, st->orelse[i]);
    memo_undo(k, mark);
    simt_build_yield(&other, x, st->nelse);
    for (uint32_t i = 0; i < st->nelse; i++) results[i] = simt_result(k->f, branch, i);
}

static void choose_types(reducing *d) {
    const kernel *k = d->k;
    const tensor_reducer *r = d->r;
    tensor_reduce_kind by;
    d->n = r->nstate + 1;
    d->types = ARENA_ARRAY(k->n->arena, simt_type, d->n);
    d->wide = ARENA_ARRAY(k->n->arena, bool, d->n);
    d->apart = true;
    for (uint32_t i = 0; i < r->nstate; i++)
        d->apart = d->apart && tensor_combined_by(k->n->op, r, i, &by);
    for (uint32_t i = 0; i < r->nstate; i++) {
        d->wide[i] = d->apart && r->state_types[i].type == DT_F32 &&
                     tensor_combined_by(k->n->op, r, i, &by) && by == REDUCE_SUM;
        d->types[i] = d->wide[i] ? SIMT_T(F64) : value_simt(r->state_types[i]);
    }
    d->types[r->nstate] = SIMT_T(PRED);
}

// From the types it is carried in, or into them.
static void convert_sums(reducing *d, simt_builder *b, simt_type to, simt_value *state) {
    for (uint32_t i = 0; i < d->r->nstate; i++)
        if (d->wide[i]) state[i] = simt_build_cvt(b, to, state[i]);
}

void reduction_build(kernel *k, simt_builder *b, simt_value *results) {
    const tensor_stage *st = k->stage;
    reducing d = {.k = k, .r = &k->n->op->reducers.data[st->reducer]};
    choose_types(&d);
    choose_walks(&d, st);
    simt_value *state = ARENA_ARRAY(k->n->arena, simt_value, d.n),
               *end = ARENA_ARRAY(k->n->arena, simt_value, d.n);
    reducer_lower(k, b, d.r->identity, d.r->nstate, NULL, NULL, NULL, state);
    convert_sums(&d, b, SIMT_T(F64), state);
    state[d.r->nstate] = simt_build_pred(b, false);
    walked(&d, b, 0, state, end);
    convert_sums(&d, b, SIMT_T(F32), end);
    reducer_lower(k, b, d.r->finish, d.r->nresults, NULL, end, NULL, results);
    if (st->nelse) choose_else(&d, b, end[d.r->nstate], results);
}
