// Scalar expressions of tensor IR at one instance, for all lanes of the vector at once or for the one that is
// fixed. A choice becomes a select, or a branch where the arm not taken could read at no index; where lanes
// would take different branches, each is computed by itself. Scalars meet vectors by being splat.
#include "lower/values.h"
#include "lower/copies.h"
#include "lower/sums.h"
#include "lower/loops.h"
#include "lower/matrix/matrix.h"
#include "base/scalar.h"

#include <math.h>

// ---- What must not be evaluated where its condition fails ------------------------------------------------
bool lw_is_known(const kernel *k, tensor_expr e) {
    const memo_cell *c = &k->memo[e];
    return c->known && c->of[lw_instance(k, c->axes)];
}

static bool unguarded(kernel *k, tensor_expr e) {
    lowering *l = k->l;
    if (!(l->none_facts[e] & READS_AT_NONE) || lw_is_known(k, e) || l->visited[e] == l->visits) return false;
    l->visited[e] = l->visits;
    const tensor_node *n = tensor_node_at(l->op, e);
    for (uint32_t i = 0; i < n->nargs; i++) {
        if (n->op == TENSOR_LOAD_OP && l->none_facts[n->args[i]] & MAYBE_NONE) return true;
        if (unguarded(k, n->args[i])) return true;
    }
    return false;
}

bool lw_needs_guard(kernel *k, tensor_expr e) {
    k->l->visits++;
    return unguarded(k, e);
}

// ---- Vectors ---------------------------------------------------------------------------------------------
simt_value lw_widen(simt_builder *b, simt_value x, uint32_t lanes) {
    simt_type t = simt_typeof(b->func, x);
    if (t.lanes > 1 || lanes == 1) return x;
    t.lanes = (uint8_t)lanes;
    return simt_result(b->func, simt_build_op(b, SIMT_SPLAT, &x, 1, &t, 1), 0);
}

simt_value lw_pick(simt_builder *b, simt_value x, uint32_t lane) {
    simt_type t = simt_typeof(b->func, x);
    if (t.lanes == 1) return x;
    t.lanes = 1;
    simt_instr i = simt_build_op(b, SIMT_EXTRACT, &x, 1, &t, 1);
    b->func->instrs.data[i].imm.i = lane;
    return simt_result(b->func, i, 0);
}

simt_value lw_slice(simt_builder *b, simt_value x, uint32_t first, uint32_t lanes) {
    simt_type t = simt_typeof(b->func, x);
    if (t.lanes == 1) return x;
    if (lanes == 1) return lw_pick(b, x, first);
    t.lanes = (uint8_t)lanes;
    simt_instr i = simt_build_op(b, SIMT_SLICE, &x, 1, &t, 1);
    b->func->instrs.data[i].imm.i = first;
    return simt_result(b->func, i, 0);
}

simt_value lw_insert(simt_builder *b, simt_value v, simt_value x, uint32_t lane) {
    simt_type t = simt_typeof(b->func, v);
    simt_instr i = simt_build_op(b, SIMT_INSERT, (simt_value[]){v, x}, 2, &t, 1);
    b->func->instrs.data[i].imm.i = lane;
    return simt_result(b->func, i, 0);
}

simt_value lw_gather(simt_builder *b, const simt_value *x, uint32_t n) {
    if (n == 1) return x[0];
    simt_value v = lw_widen(b, x[0], n);
    for (uint32_t lane = 1; lane < n; lane++)
        if (x[lane] != x[0]) v = lw_insert(b, v, x[lane], lane);
    return v;
}

static uint32_t lanes_of(const simt_builder *b, simt_value x) { return simt_typeof(b->func, x).lanes; }

static uint32_t match(simt_builder *b, simt_value *x, simt_value *y) {
    uint32_t n = lanes_of(b, *x) > lanes_of(b, *y) ? lanes_of(b, *x) : lanes_of(b, *y);
    *x = lw_widen(b, *x, n);
    *y = lw_widen(b, *y, n);
    return n;
}

simt_value lw_two(simt_builder *b, simt_op op, simt_value x, simt_value y) {
    match(b, &x, &y);
    return simt_build_binary(b, op, x, y);
}

static simt_value convert(simt_builder *b, simt_element e, simt_value x) {
    return simt_build_cvt(b, (simt_type){e, (uint8_t)lanes_of(b, x)}, x);
}

simt_value lw_choose(simt_builder *b, simt_value c, simt_value x, simt_value y) {
    uint32_t n = match(b, &x, &y);
    if (lanes_of(b, c) > n) {
        n = lanes_of(b, c);
        x = lw_widen(b, x, n);
        y = lw_widen(b, y, n);
    }
    return simt_build_select(b, c, x, y);
}

// Each lane by itself, as a vector again.
static simt_value by_lanes(kernel *k, simt_builder *b, tensor_expr e) {
    simt_value x[16];
    uint32_t n = lw_lanes(k);
    for (uint32_t i = 0; i < n; i++) {
        k->at[k->vector] = (int32_t)i;
        x[i] = lw_expr(k, b, e);
    }
    k->at[k->vector] = -1;
    return lw_gather(b, x, n);
}

// ---- Choices ---------------------------------------------------------------------------------------------
static simt_element element_of(kernel *k, tensor_expr e) {
    return lw_value_element(k, tensor_typeof(k->l->op, e).type);
}

static simt_value lower_arm(kernel *k, simt_builder *b, tensor_expr e, uint32_t lanes) {
    region_mark m = lw_enter(k);
    simt_value v = lw_widen(b, lw_expr(k, b, e), lanes);
    lw_leave(k, m);
    return v;
}

static simt_value lower_branch(kernel *k, simt_builder *b, simt_value c, tensor_expr x, tensor_expr y) {
    uint32_t lanes = lw_vector_free(k, lw_depends(k, x) | lw_depends(k, y)) ? lw_lanes(k) : 1;
    simt_type t = {element_of(k, x), (uint8_t)lanes};
    simt_builder then, other;
    simt_instr i = simt_build_if(b, c, &t, 1, &then, &other);
    simt_value v = lower_arm(k, &then, x, lanes);
    simt_build_yield(&then, &v, 1);
    v = lower_arm(k, &other, y, lanes);
    simt_build_yield(&other, &v, 1);
    return simt_result(k->f, i, 0);
}

static simt_value lower_select(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n) {
    bool guard = lw_needs_guard(k, n->args[1]) || lw_needs_guard(k, n->args[2]);
    simt_value below = guard ? 0 : lw_exp_below(k, b, e);
    if (!below && !guard) below = lw_chosen_below(k, b, e);
    if (below) return below;
    simt_value c = lw_expr(k, b, n->args[0]);   // for all lanes: each then takes its own
    if (guard && lanes_of(b, c) > 1) return by_lanes(k, b, e);
    if (guard) return lower_branch(k, b, c, n->args[1], n->args[2]);
    simt_value x = lw_expr(k, b, n->args[1]), y = lw_expr(k, b, n->args[2]);
    return lw_choose(b, c, x, y);
}

static simt_value lower_logic(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n, bool is_and) {
    bool guard = lw_needs_guard(k, n->args[1]);
    simt_value x = lw_expr(k, b, n->args[0]);
    if (guard && lw_vector_free(k, lw_depends(k, e))) return by_lanes(k, b, e);
    if (!guard) return lw_two(b, is_and ? SIMT_AND : SIMT_OR, x, lw_expr(k, b, n->args[1]));
    simt_type t = SIMT_T(PRED);
    simt_builder then, other;
    simt_instr i = simt_build_if(b, x, &t, 1, &then, &other);
    simt_builder *rest = is_and ? &then : &other, *known = is_and ? &other : &then;
    simt_value v = lower_arm(k, rest, n->args[1], 1);
    simt_build_yield(rest, &v, 1);
    v = simt_build_pred(known, !is_and);
    simt_build_yield(known, &v, 1);
    return simt_result(k->f, i, 0);
}

// ---- Variables and positions -----------------------------------------------------------------------------
position lw_var_position(kernel *k, simt_builder *b, tensor_var v) {
    const binding *x = &k->var[v];
    switch (x->kind) {
    case BOUND_LOOP: {
        uint32_t copy = lw_instance(k, x->own);
        position p = {.at = x->of[copy], .pad = copy < x->whole ? 0 : x->pad, .last = x->last};
        if (x->step) p.step = x->step[lw_instance(k, x->own)], p.inside = x->inside[lw_instance(k, x->own)];
        if (x->along && k->at[k->vector] < 0) p.shape = POSITION_ALONG;
        else if (x->along) p.at = simt_build_binary(b, SIMT_ADD, p.at, lw_ix(k, b, k->at[k->vector]));
        return p;
    }
    case BOUND_LET: return lw_position(k, b, x->value);
    case BOUND_GIVEN:
        if (x->given.shape == POSITION_ONE || k->at[k->vector] < 0) return x->given;
        return (position){.at = lw_position_lane(k, b, x->given, (uint32_t)k->at[k->vector]),
                          .pad = x->given.pad,
                          .last = x->given.last};
    case BOUND_NOT: break;
    }
    for (uint32_t i = 0; i < k->l->op->loops.len; i++)
        if (k->l->op->loops.data[i].step == v) return lw_at(lw_to_ix(k, b, lw_arg(k, ARG_STEP, 0, 0)));
    ICE("'%s': variable '%s' is read where it is not bound", k->plan->name, k->l->op->vars.data[v].name);
}

// As a number: padding has that of the last position.
static simt_value spread(kernel *k, simt_builder *b, position p) {
    simt_value x[16];
    if (p.shape == POSITION_ANY) return p.at;
    uint32_t n = p.shape == POSITION_ONE ? 1 : lw_lanes(k);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = lw_position_lane(k, b, p, i);
        if (p.pad) x[i] = simt_build_binary(b, SIMT_MIN, x[i], p.last);
    }
    return lw_gather(b, x, n);
}

// Positions along the vector, as far as sums of them with what does not vary along it.
static bool along_position(kernel *k, simt_builder *b, tensor_expr e, position *out) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    if (x->op == TENSOR_VAR_OP) {
        *out = lw_var_position(k, b, (tensor_var)x->imm.i);
        return !out->pad && (out->shape == POSITION_ALONG || out->shape == POSITION_SHIFTED);
    }
    if (x->op == TENSOR_INDEX_OP || (x->op == TENSOR_CVT_OP && x->type.type == DT_I64))
        return along_position(k, b, x->args[0], out);
    if (x->op != TENSOR_ADD_OP && x->op != TENSOR_SUB_OP) return false;
    uint32_t still = x->op == TENSOR_SUB_OP || !lw_vector_free(k, lw_depends(k, x->args[1])) ? 1 : 0;
    if (lw_vector_free(k, lw_depends(k, x->args[still])) || !along_position(k, b, x->args[1 - still], out))
        return false;
    simt_value by = lw_to_ix(k, b, lw_expr(k, b, x->args[still]));
    out->at = simt_build_binary(b, x->op == TENSOR_SUB_OP ? SIMT_SUB : SIMT_ADD, out->at, by);
    out->shape = POSITION_SHIFTED;
    return true;
}

// A variable of a padded loop stands for itself where it is an index, and so does that of a masked step.
static bool own_position(kernel *k, simt_builder *b, tensor_expr e, position *out) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    if (x->op == TENSOR_VAR_OP) *out = lw_var_position(k, b, (tensor_var)x->imm.i);
    return x->op == TENSOR_VAR_OP && (out->pad || out->step);
}

position lw_position(kernel *k, simt_builder *b, tensor_expr e) {
    position p;
    if (own_position(k, b, e, &p)) return p;
    if (lw_vector_free(k, lw_depends(k, e)) && along_position(k, b, e, &p)) return p;
    simt_value x = lw_to_ix(k, b, lw_expr(k, b, e));
    return (position){.at = x, .shape = lanes_of(b, x) > 1 ? POSITION_ANY : POSITION_ONE};
}

static simt_value lower_var(kernel *k, simt_builder *b, const tensor_node *n) {
    return spread(k, b, lw_var_position(k, b, (tensor_var)n->imm.i));
}

// ---- Loads -----------------------------------------------------------------------------------------------
static bool same_place(const register_value *r, tensor_val v, const position *index, uint32_t rank) {
    bool same = r->val == v;
    for (uint32_t i = 0; same && i < rank; i++)
        same = r->index[i].at == index[i].at && r->index[i].shape == index[i].shape;
    return same;
}

simt_value lw_known(const kernel *k, tensor_val v, const position *index, uint32_t rank, uint32_t from) {
    for (uint32_t i = k->registers.len; i-- > from;)
        if (same_place(&k->registers.data[i], v, index, rank)) return k->registers.data[i].value;
    return 0;
}

// The place in all lanes, of which one is at hand; false: saying it would take an access.
static bool place_in_all(kernel *k, simt_builder *b, const tensor_node *load, position *index) {
    int32_t lane = k->at[k->vector];
    bool known = true;
    k->at[k->vector] = -1;
    for (uint32_t i = 0; known && i < load->nargs; i++) {
        if (lw_vector_free(k, lw_depends(k, load->args[i])))
            known = own_position(k, b, load->args[i], &index[i]) ||
                    along_position(k, b, load->args[i], &index[i]);
        else index[i] = lw_position(k, b, load->args[i]);
    }
    k->at[k->vector] = lane;
    return known;
}

// What this thread computed itself at that place; 0: it did not.
static simt_value register_load(kernel *k, simt_builder *b, const tensor_node *load, tensor_val v,
                                const position *index) {
    simt_value known = lw_known(k, v, index, load->nargs, 0);
    position all[8];
    if (known || k->vector == LOWER_NO_AXIS || k->at[k->vector] < 0 || !place_in_all(k, b, load, all))
        return known;
    known = lw_known(k, v, all, load->nargs, 0);   // as a vector, read by lane
    return known ? lw_pick(b, known, (uint32_t)k->at[k->vector]) : 0;
}

// A tile stands for what it is one of while it is filled and the variables of its origin are bound.
static tensor_val through_tile(const kernel *k, tensor_val v) {
    for (uint32_t i = k->tiles.len; i-- > 0;)
        if (k->l->plan->values.data[k->tiles.data[i]].of == v) return k->tiles.data[i];
    return v;
}

// The stage's body with its variables at the load's indices, known for this load alone.
static simt_value inlined_load(kernel *k, simt_builder *b, const tensor_stage *st, const position *index,
                               axis_set axes) {
    arena *a = k->l->arena;
    memo_cell *memo = k->memo;
    binding *var = k->var;
    uint32_t log = k->log.len;
    k->memo = ARENA_ARRAY(a, memo_cell, k->l->op->exprs.len + 1);
    k->var = ARENA_ARRAY(a, binding, k->l->op->vars.len + 1);
    for (uint32_t i = 0; i < st->targets[0].rank; i++) {
        const tensor_node *x = tensor_node_at(k->l->op, st->targets[0].index[i]);
        axis_set vector = index[i].shape == POSITION_ONE ? 0 : axes & AXIS(k->vector);
        if (x->op == TENSOR_VAR_OP)
            k->var[x->imm.i] = (binding){.kind = BOUND_GIVEN, .axes = vector, .given = index[i]};
    }
    simt_value v = lw_expr(k, b, st->body[0]);
    k->log.len = log;
    k->memo = memo;
    k->var = var;
    return v;
}

static simt_value fetched_load(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n,
                               const fetched_rows *f) {
    simt_value adjacent = lw_load_adjacent(k, b, e);
    if (adjacent) return adjacent;
    position last = lw_position(k, b, n->args[n->nargs - 1]);
    return lw_load_fetched(k, b, f, n, last, last.shape == POSITION_ONE ? 1 : lw_lanes(k));
}

static simt_value lower_load(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n) {
    tensor_var row;
    if (lw_row(k, n, &row)) return spread(k, b, lw_var_position(k, b, row));
    simt_value most = lw_running(k, b, n);
    if (most) return most;
    const fetched_rows *f = lw_fetched(k, n);
    if (f) return fetched_load(k, b, e, n, f);
    tensor_val v = through_tile(k, (tensor_val)n->imm.i);
    const loop_value *where = &k->l->plan->values.data[v];
    position index[8];
    axis_set axes = 0;
    for (uint32_t i = 0; i < n->nargs; i++) {
        index[i] = lw_position(k, b, n->args[i]);
        axes |= lw_depends(k, n->args[i]);
    }
    if (where->home == LOOP_INLINE)
        return inlined_load(k, b, &k->l->op->stages.data[where->stage], index, axes);
    simt_value known = (k->written[v] || k->held[v]) && where->home != LOOP_SHARED
                           ? register_load(k, b, n, v, index)
                           : 0;
    if (known) return known;
    if (where->home == LOOP_REGISTERS)
        ICE("'%s': %s is read where it is not known", k->plan->name, k->l->op->vals.data[v].name);
    simt_value adjacent = lw_load_adjacent(k, b, e);
    return adjacent ? adjacent : lw_load_from(k, b, v, index);
}

// ---- Operators -------------------------------------------------------------------------------------------
static simt_value lower_const(kernel *k, simt_builder *b, const tensor_node *n) {
    simt_type t = {lw_value_element(k, n->type.type), 1};
    if (ir_dtype_is_float(n->type.type)) return simt_build_float(b, t, n->imm.f);
    return n->type.type == DT_BOOL ? simt_build_pred(b, n->imm.i != 0) : simt_build_int(b, t, n->imm.i);
}

static simt_value lower_floored(kernel *k, simt_builder *b, const tensor_node *n) {
    simt_value v = lw_divide(k, b, n);
    if (v) return v;
    simt_value x = lw_expr(k, b, n->args[0]), y = lw_expr(k, b, n->args[1]);
    match(b, &x, &y);
    return n->op == TENSOR_MOD_OP ? scalar_mod(b, x, y) : scalar_quot(b, x, y);
}

static simt_value lower_rand(kernel *k, simt_builder *b, const tensor_node *n) {
    simt_value h = scalar_hash(b, 0, lw_expr(k, b, n->args[0]));
    for (uint32_t i = 1; i < n->nargs; i++) {
        simt_value x = lw_expr(k, b, n->args[i]);
        match(b, &h, &x);
        h = scalar_hash(b, h, x);
    }
    return scalar_uniform(b, h);
}

// A cell that is so many times what it was (tensor/outside.c).
static bool is_scaled(const kernel *k, tensor_expr e) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    if (x->op == TENSOR_SELECT_OP) return is_scaled(k, x->args[2]);
    if (x->op == TENSOR_ADD_OP || x->op == TENSOR_SUB_OP) return is_scaled(k, x->args[0]);
    if (x->op != TENSOR_MUL_OP) return false;
    const tensor_node *by = tensor_node_at(k->l->op, x->args[1]);
    int power;
    bool here = by->op == TENSOR_CONST_OP && by->imm.f > 1 && frexp(by->imm.f, &power) == 0.5;
    return here || is_scaled(k, x->args[0]) || is_scaled(k, x->args[1]);
}

static simt_value lower_round(kernel *k, simt_builder *b, const tensor_node *n) {
    if (k->again && (ir_dtype)n->imm.i == DT_F16 && is_scaled(k, n->args[0])) return lw_expr(k, b, n->args[0]);
    simt_value x = convert(b, lw_memory_element(k, (ir_dtype)n->imm.i), lw_expr(k, b, n->args[0]));
    return convert(b, lw_value_element(k, n->type.type), x);
}

// The maths library is scalar: lane by lane.
simt_value lw_maths(kernel *k, simt_builder *b, const char *name, const simt_value *args, uint32_t n) {
    simt_func *f = simt_math(k->f->module, name, (simt_element)simt_typeof(b->func, args[0]).element);
    if (!f) ICE("the maths library has no '%s'", name);
    simt_value of[16];
    uint32_t lanes = 1;
    for (uint32_t i = 0; i < n; i++)
        if (lanes_of(b, args[i]) > lanes) lanes = lanes_of(b, args[i]);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        simt_value one[2] = {0, 0};
        for (uint32_t i = 0; i < n; i++) one[i] = lw_pick(b, args[i], lane);
        of[lane] = simt_build_call(b, f, one, n);
    }
    return lw_gather(b, of, lanes);
}

static simt_value lower_maths(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n) {
    simt_value args[2] = {0, 0};
    if (n->op == TENSOR_EXP_OP) return lw_exp(k, b, e);
    for (uint32_t i = 0; i < n->nargs; i++) args[i] = lw_expr(k, b, n->args[i]);
    const char *name = tensor_op_table((tensor_opcode)n->op)->text;
    return lw_maths(k, b, name, args, n->nargs);
}

static simt_value lower_compare(kernel *k, simt_builder *b, const tensor_node *n, simt_predicate p) {
    simt_value x = lw_expr(k, b, n->args[0]), y = lw_expr(k, b, n->args[1]);
    if (tensor_typeof(k->l->op, n->args[0]).type == DT_BOOL) {   // conditions compare as 0 and 1
        x = convert(b, SIMT_I32, x);
        y = convert(b, SIMT_I32, y);
    }
    match(b, &x, &y);
    return simt_build_cmp(b, p, x, y);
}

static simt_value lower_two(kernel *k, simt_builder *b, const tensor_node *n, simt_op op) {
    simt_value x = lw_expr(k, b, n->args[0]), y = lw_expr(k, b, n->args[1]);
    return lw_two(b, op, x, y);
}

static simt_value lower_product(kernel *k, simt_builder *b, const tensor_node *n) {
    simt_value exponential = lw_exp_times(k, b, n);
    return exponential ? exponential : lower_two(k, b, n, SIMT_MUL);
}

static const simt_instr_info *made_by(const simt_builder *b, simt_value v, simt_op op) {
    simt_instr i = b->func->values.data[v].def;
    return i && b->func->instrs.data[i].op == op ? &b->func->instrs.data[i] : NULL;
}

// The factors of a product, or of a lane of one; false: it is none.
static bool factors_of(simt_builder *b, simt_value v, simt_value *x, simt_value *y) {
    const simt_instr_info *lane = made_by(b, v, SIMT_EXTRACT),
                          *product = made_by(b, lane ? lane->args[0] : v, SIMT_MUL);
    uint32_t at = lane ? (uint32_t)lane->imm.i : 0;
    if (!product) return false;
    *x = product->args[0], *y = product->args[1];
    if (lane) *x = lw_pick(b, *x, at), *y = lw_pick(b, *y, at);
    return true;
}

// A product that a reduction adds is rounded with the sum, in one operation: half the arithmetic of a dot
// product. Elsewhere only where little is kept of it, and in 16 bits, where a product that is rounded by itself loses
// most of what a sum of it could keep.
static simt_value lower_add(kernel *k, simt_builder *b, const tensor_node *n) {
    simt_value x = lw_expr(k, b, n->args[0]), y = lw_expr(k, b, n->args[1]), p, q;
    match(b, &x, &y);
    bool fused = tensor_type_is_narrow(n->type) || ((k->right || lw_is_narrow(k)) && tensor_type_is_float(n->type));
    return fused && factors_of(b, y, &p, &q) ? simt_build_fma(b, p, q, x)
                                             : simt_build_binary(b, SIMT_ADD, x, y);
}

// What was widened to be narrowed again is what it was.
static simt_value lower_cvt(kernel *k, simt_builder *b, const tensor_node *n) {
    simt_value x = lw_expr(k, b, n->args[0]);
    const simt_instr_info *widened = tensor_type_is_narrow(n->type) ? made_by(b, x, SIMT_CVT) : NULL;
    simt_element to = lw_value_element(k, n->type.type);
    if (widened && simt_typeof(b->func, widened->args[0]).element == to) return widened->args[0];
    return convert(b, to, x);
}

static simt_value lower_one(kernel *k, simt_builder *b, const tensor_node *n, simt_op op) {
    return simt_build_unary(b, op, lw_expr(k, b, n->args[0]));
}

static simt_value lower_node(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n) {
    switch ((tensor_opcode)n->op) {
    case TENSOR_CONST_OP: return lower_const(k, b, n);
    case TENSOR_NONE_OP: return lw_ix(k, b, -1);
    case TENSOR_VAR_OP: return lower_var(k, b, n);
    case TENSOR_SIZE_OP: return lw_size(k, b, (tensor_space)n->imm.i);
    case TENSOR_ARG_OP: return k->arg[n->imm.i];
    case TENSOR_LEFT_OP: return k->left[n->imm.i];
    case TENSOR_RIGHT_OP: return k->right[n->imm.i];
    case TENSOR_LOAD_OP: return lower_load(k, b, e, n);
    case TENSOR_INDEX_OP: return lw_to_ix(k, b, lw_expr(k, b, n->args[0]));
    case TENSOR_PARTS_OP:   // whoever has it multiplied by parts takes it apart
    case TENSOR_STOP_OP: return lw_expr(k, b, n->args[0]);
    case TENSOR_ADD_OP: return lower_add(k, b, n);
    case TENSOR_SUB_OP: return lower_two(k, b, n, SIMT_SUB);
    case TENSOR_MUL_OP: return lower_product(k, b, n);
    case TENSOR_DIV_OP: return lower_two(k, b, n, SIMT_DIV);
    case TENSOR_MOD_OP:
    case TENSOR_QUOT_OP: return lower_floored(k, b, n);
    case TENSOR_BIT_OP: return scalar_bit(b, lw_expr(k, b, n->args[0]), lw_expr(k, b, n->args[1]));
    case TENSOR_MIN_OP: return lower_two(k, b, n, SIMT_MIN);
    case TENSOR_MAX_OP: return lower_two(k, b, n, SIMT_MAX);
    case TENSOR_NEG_OP: return lower_one(k, b, n, SIMT_NEG);
    case TENSOR_EQ_OP: return lower_compare(k, b, n, SIMT_EQ);
    case TENSOR_NE_OP: return lower_compare(k, b, n, SIMT_NE);
    case TENSOR_LT_OP: return lower_compare(k, b, n, SIMT_LT);
    case TENSOR_LE_OP: return lower_compare(k, b, n, SIMT_LE);
    case TENSOR_GT_OP: return lower_compare(k, b, n, SIMT_GT);
    case TENSOR_GE_OP: return lower_compare(k, b, n, SIMT_GE);
    case TENSOR_AND_OP: return lower_logic(k, b, e, n, true);
    case TENSOR_OR_OP: return lower_logic(k, b, e, n, false);
    case TENSOR_NOT_OP: return lower_one(k, b, n, SIMT_NOT);
    case TENSOR_SELECT_OP: return lower_select(k, b, e, n);
    case TENSOR_CVT_OP: return lower_cvt(k, b, n);
    case TENSOR_ROUND_OP: return lower_round(k, b, n);
    case TENSOR_TF32_OP: return lower_one(k, b, n, SIMT_CVT_TF32);
    case TENSOR_SQRT_OP: return lower_one(k, b, n, SIMT_SQRT);
    case TENSOR_FLOOR_OP: return lower_one(k, b, n, SIMT_FLOOR);
    case TENSOR_CEIL_OP: return lower_one(k, b, n, SIMT_CEIL);
    case TENSOR_EXP_OP:
    case TENSOR_LOG_OP:
    case TENSOR_POW_OP:
    case TENSOR_TANH_OP:
    case TENSOR_SIN_OP:
    case TENSOR_COS_OP:
    case TENSOR_ERF_OP:
    case TENSOR_EXPM1_OP:
    case TENSOR_LOG1P_OP: return lower_maths(k, b, e, n);
    case TENSOR_RAND_OP: return lower_rand(k, b, n);
    case TENSOR_PREIMAGE_OP:
    case TENSOR_AT_LEAST_OP:
    case TENSOR_CUT_PARTS_OP: return lw_number(k, e);
    case TENSOR_SYMMETRIC_OP:
    case TENSOR_OP_COUNT: break;
    }
    ICE("'%s' stands outside a precondition", tensor_op_table((tensor_opcode)n->op)->text);
}

simt_value lw_expr(kernel *k, simt_builder *b, tensor_expr e) {
    axis_set axes = lw_depends(k, e);
    simt_value *of = k->memo[e].of, v = of[lw_instance(k, axes)];
    if (v) return v;
    bool laned = k->vector != LOWER_NO_AXIS && axes & AXIS(k->vector) && k->at[k->vector] >= 0;
    simt_value all = laned ? of[lw_instance(k, axes) - (uint32_t)(k->at[k->vector] + 1)] : 0;
    if (all) return lw_remember(k, e, lw_pick(b, all, (uint32_t)k->at[k->vector]));
    const tensor_node *n = tensor_node_at(k->l->op, e);
    span outer = b->at;
    if (n->at.hi) b->at = n->at;
    v = lower_node(k, b, e, n);
    b->at = outer;
    return lw_remember(k, e, v);
}

void lw_reducer(kernel *k, simt_builder *b, const tensor_expr *e, uint32_t n, const simt_value *arg,
                const simt_value *left, const simt_value *right, simt_value *out) {
    memo_cell *memo = k->memo;
    uint32_t log = k->log.len;
    const simt_value *outer[3] = {k->arg, k->left, k->right};
    k->memo = k->spare ? k->spare : ARENA_ARRAY(k->l->arena, memo_cell, k->l->op->exprs.len + 1);
    k->spare = NULL;
    k->arg = arg;
    k->left = left;
    k->right = right;
    for (uint32_t i = 0; i < n; i++) out[i] = lw_expr(k, b, e[i]);
    lw_forget(k, log);
    k->spare = k->memo;
    k->memo = memo;
    k->arg = outer[0], k->left = outer[1], k->right = outer[2];
}
