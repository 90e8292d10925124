// Remarks on sums that a statement holds in 16 bits. f16 keeps 11 bits and ends at 65504, bf16
// keeps 8: a sum of more terms than that loses what is added last, and one of f16 may leave its
// range. How many terms there are is known where a precondition or a condition bounds the rows, or
// from extents.
#include "tensor/tensor.h"
#include "base/base.h"

#define F16_LARGEST 65504

// Terms of one size, from which on another one changes nothing.
static int64_t kept(ir_dtype t) { return t == DT_F16 ? 1 << 11 : 1 << 8; }

static int64_t by_key(const planner *p, const tensor_stage *st, tensor_var v, bool *keyed) {
    int64_t most = 0;
    for (uint32_t k = 0; k < st->nkeys; k++) {
        const tensor_node *n = tensor_node_at(p->op, st->keys[k].lhs);
        if (!tensor_mentions(p->op, st->keys[k].lhs, v)) continue;
        *keyed = true;
        bool map = n->op == TENSOR_LOAD_OP && p->op->vals.data[n->imm.i].role == VAL_MAP;
        int64_t rows = map ? plan_largest_row(p, (tensor_val)n->imm.i) : 0;
        if (rows && (!most || rows < most)) most = rows;
    }
    return most;
}

// 0: nothing says how many.
static int64_t most_terms(const planner *p, const tensor_stage *st) {
    int64_t all = 1;
    for (uint32_t b = 0; b < st->nbound; b++) {
        bool keyed = false;
        int64_t n = by_key(p, st, st->bound[b], &keyed);
        const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[st->bound[b]].space];
        if (!n && !keyed && s->kind == SPACE_CONST) n = s->size;
        if (__builtin_mul_overflow(all, n, &all)) return INT64_MAX;
    }
    return all;
}

// The 16-bit type that some part of the state adds up in; DT_COUNT: none does.
static ir_dtype added_in(const planner *p, const tensor_reducer *r) {
    tensor_reduce_kind by;
    for (uint32_t i = 0; i < r->nstate; i++)
        if (tensor_type_is_narrow(r->state_types[i]) && tensor_combined_by(p->op, r, i, &by) &&
            by == REDUCE_SUM)
            return r->state_types[i].type;
    return DT_COUNT;
}

// The rows of a map have degrees, by which a sum is scaled.
static void help(const planner *p, const tensor_stage *st, diagnostic *d) {
    const tensor_node *map = st->nkeys ? tensor_node_at(p->op, st->keys[0].lhs) : NULL,
                      *row = st->nkeys ? tensor_node_at(p->op, st->keys[0].rhs) : NULL;
    if (st->nkeys == 1 && map->op == TENSOR_LOAD_OP && row->op == TENSOR_VAR_OP)
        diag_help(d,
                  "`accumulate f32`, or, so that the sum stays as large as a term, "
                  "`accumulate f16 scale 1 / degree(%s, %s) every 64`",
                  p->op->vals.data[map->imm.i].name, plan_var_name(p, (tensor_var)row->imm.i));
    else diag_help(d, "`accumulate f32`");
}

static void warn(planner *p, const tensor_stage *st, const schedule_cell *c, ir_dtype t,
                 int64_t most) {
    const char *range = t == DT_F16
                            ? arena_printf(p->arena, ", and terms above %.3g on average overflow",
                                           (double)F16_LARGEST / (double)most)
                            : "";
    help(p, st,
         diag(p->ds, W0503, c->at,
              "'%s' adds up to %lld terms in %s: after %lld of one size another one is lost%s",
              st->name, (long long)most, ir_dtype_text(t), (long long)kept(t), range));
}

void plan_narrow_sum(planner *p, const tensor_stage *st, const schedule_cell *c) {
    ir_dtype t = added_in(p, &p->op->reducers.data[st->reducer]);
    if (t == DT_COUNT || !c->at.hi || p->alone) return;
    int64_t most = most_terms(p, st);
    if (most > kept(t)) warn(p, st, c, t, most);
    if (most) return;
    help(p, st,
         diag(p->ds, P0502, c->at,
              "'%s' adds up rows of any length in %s: after %lld terms of one "
              "size another one is lost",
              st->name, ir_dtype_text(t), (long long)kept(t)));
}
