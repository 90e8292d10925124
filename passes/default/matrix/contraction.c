// Contractions: sums over a dense index of products of two factors, one with rows of its own, the
// other with columns. What is one, and the cells that all of them have.
//     y[e, q] = sum{k} x[e, k] * w[type[e], k, q]   →  rows e, columns q, depth k; by type
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/matrix/contraction.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

// ---- What is one --------------------------------------------------------------------------------
static uint32_t factors_with(const planner *p, const tensor_node *product, tensor_var v,
                             tensor_val given) {
    const uint32_t first = plan_depends(p, product->args[0], v, given),
                   second = plan_depends(p, product->args[1], v, given);
    return first | second << 1;
}

// Of the maps that rows are read by, the one that leaves the second factor without rows.
static bool find_by(const planner *p, contraction *c, const tensor_node *product,
                    uint32_t columns) {
    for (tensor_val v = 0; v < p->op->nparams && c->by == TENSOR_NO_VAL; v++) {
        const tensor_val_info *i = &p->op->vals.data[v];
        bool sorted = i->role == VAL_MAP && i->facts & FACT_SORTED &&
                      i->sorted_by == TENSOR_NO_VAL && !(i->facts & FACT_PARTIAL);
        if (sorted && factors_with(p, product, c->rows, v) == (columns ^ 3)) c->by = v;
    }
    return c->by != TENSOR_NO_VAL;
}

static bool find_roles(const planner *p, contraction *c) {
    const tensor_stage *st = c->sum;
    const tensor_node *product = tensor_node_at(p->op, st->body[0]);
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    if (product->op != TENSOR_MUL_OP || plan_left(p, st, left) != 2) return false;
    c->rows = left[0], c->columns = left[1], c->depth = st->bound[0];
    uint32_t columns = factors_with(p, product, c->columns, TENSOR_NO_VAL);
    if (columns != 1 && columns != 2) return false;
    c->first = product->args[columns == 1], c->second = product->args[columns == 2];
    return factors_with(p, product, c->rows, TENSOR_NO_VAL) == (columns ^ 3) ||
           find_by(p, c, product, columns);
}

static void find_bytes(contraction *c) {
    for (simt_mma k = 0; k < SIMT_MMA_COUNT && !c->bytes; k++) {
        const simt_mma_info *i = simt_mma_table(k);
        if (strcmp(i->operand, c->operand)) continue;
        c->bytes = simt_element_bits(i->element) / 8;
        c->held = simt_mma_splits(k) ? 2 * c->bytes : c->bytes;
    }
}

// Of 32 bits, taken apart in two numbers of tf32 each; NULL: no operation of one warp does.
static const char *words_operand(const planner *p, const contraction *c) {
    const tensor_type a = tensor_typeof(p->op, c->first), b = tensor_typeof(p->op, c->second);
    for (simt_mma k = 0; k < SIMT_MMA_COUNT && a.type == DT_F32 && b.type == DT_F32; k++) {
        const simt_mma_info *i = simt_mma_table(k);
        if (i->warps == 1 && i->element == SIMT_F32 && simt_mma_splits(k) &&
            simt_mma_runs(k, p->machine->arch))
            return i->operand;
    }
    return NULL;
}

// As the schedule says, or as both factors are stored.
bool default_operand(const planner *p, contraction *c) {
    c->said = schedule_find(p->s, c->sum->id, SCHEDULE_MMA, p->op->vars.data[c->depth].id);
    if (c->said) {
        c->operand = schedule_value_of(c->said, NULL)->text;
        find_bytes(c);
        // none: refused as any such `mma` is
        return c->bytes && !schedule_value_of(c->said, "shape");
    }
    ir_dtype t = default_narrow_type(p->op, c->first);
    c->operand = t != DT_COUNT && t == default_narrow_type(p->op, c->second) ? ir_dtype_text(t)
                                                                             : words_operand(p, c);
    if (c->operand) find_bytes(c);
    return c->operand;
}

int64_t default_matrix_least(const contraction *c) {
    return c->bytes == 2 || c->said ? DEFAULT_MATRIX_LEAST : DEFAULT_WORDS_LEAST;
}

// Where what is reduced alone has any extent, or leads what is read and may have, its parts are for
// blocks, as a sum of outer products.
static bool is_worth(const planner *p, const contraction *c) {
    const int64_t depth = default_extent(p, c->depth), columns = default_extent(p, c->columns),
                  rows = default_extent(p, c->rows), least = default_matrix_least(c);
    const bool outer = (rows && columns) || default_leads(p, c->sum, c->depth);
    return (depth || !outer || c->said) && (!depth || depth >= least) &&
           (!columns || columns >= least);
}

bool default_find_contraction(const making *m, const stage_group *g, contraction *c) {
    const planner *p = m->p;
    *c = (contraction){.sum = &p->op->stages.data[g->data[0]], .by = TENSOR_NO_VAL};
    const tensor_stage *st = c->sum;
    if (default_is_scalar(p, st)) return false;
    for (uint32_t i = 1; i < g->len; i++)
        if (p->op->stages.data[g->data[i]].reducer != TENSOR_NO_REDUCER) return false;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_id id = plan_stage(p, g->data[i])->id;
        if (schedule_find(p->s, id, SCHEDULE_COMPUTE, TENSOR_ALL) ||
            schedule_find(p->s, id, SCHEDULE_ACCUMULATE, TENSOR_ALL))
            return false;
    }
    return plan_matrix_sums(p, st) && default_reduces_dense(p, st) && !st->nkeys && !st->nfilters &&
           find_roles(p, c) && default_operand(p, c) && is_worth(p, c);
}

bool default_contracts(const making *m, const stage_group *g) {
    contraction c;
    return g->len && default_find_contraction(m, g, &c);
}

// To store what few terms of 32 bits sum takes longer than to compute it where it is read.
bool default_contracts_apart(const making *m, const stage_group *g) {
    contraction c;
    if (!g->len || !default_find_contraction(m, g, &c)) return false;
    const int64_t terms = default_extent(m->p, c.depth);
    return c.bytes == 2 || !terms || terms >= DEFAULT_KEPT_TERMS;
}

// ---- Factors ------------------------------------------------------------------------------------
// An input, or a stage that another kernel stored. (What is said of a stage by the name that the
// sum's begins is about where that stage itself lives.)
bool default_is_stored(const planner *p, const tensor_stage *sum, tensor_val v) {
    const tensor_val_info *x = &p->op->vals.data[v];
    bool stage = x->role == VAL_STAGE && p->plan->values.data[v].home != LOOP_INLINE &&
                 !tensor_id_covers(p->op->ids, sum->id, x->id);
    return (x->role == VAL_TENSOR || stage) && ir_dtype_is_float(x->type);
}

const tensor_val_info *default_factor_rows(const planner *p, const tensor_stage *sum,
                                           tensor_expr factor, tensor_var along) {
    const tensor_node *n = loop_matrix_factor(p->op, factor);
    if (n->op != TENSOR_LOAD_OP || n->nargs != 2 ||
        !default_is_stored(p, sum, (tensor_val)n->imm.i))
        return NULL;
    const tensor_val_info *x = &p->op->vals.data[n->imm.i];
    const tensor_node *row = tensor_node_at(p->op, n->args[0]),
                      *at = tensor_node_at(p->op, n->args[1]);
    bool there = row->op == TENSOR_VAR_OP || (row->op == TENSOR_LOAD_OP &&
                                              !(p->op->vals.data[row->imm.i].facts & FACT_PARTIAL));
    bool whole = at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == along;
    return there && whole ? x : NULL;
}

bool default_says_ahead(const planner *p, const contraction *c, const tensor_val_info *x) {
    const tensor_id stage = c->sum->id;
    return (x && schedule_find(p->s, stage, SCHEDULE_KEEP, x->id)) ||
           schedule_find(p->s, stage, SCHEDULE_PIPELINE, plan_var_id(p, c->rows)) ||
           schedule_find(p->s, stage, SCHEDULE_PIPELINE, plan_var_id(p, c->depth));
}

// ---- Cells --------------------------------------------------------------------------------------
void default_share(making *m, const contraction *c, tensor_val input) {
    default_keep(m, c->sum, input, SCHEDULE_PLACE_SHARED);
}

void default_multiply(making *m, const contraction *c) {
    if (!c->said || c->shape)
        default_say(m, default_index_cell(m->p, SCHEDULE_MMA, c->sum, c->depth),
                    default_text(NULL, c->operand),
                    default_if(c->shape, default_text("shape", c->shape)));
}

void default_matrix_cells(making *m, const stage_group *g, const contraction *c,
                          const matrix_shape *s) {
    const planner *p = m->p;
    tensor_var left[2];
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        plan_left(p, st, left);
        schedule_cell block = default_index_cell(p, SCHEDULE_BLOCK, st, left[0]);
        if (c->by == TENSOR_NO_VAL) default_say(m, block, default_number(s->block));
        else default_say(m, block, default_number(s->block), default_by(p, c->by));
        default_fill(m, st, SCHEDULE_GROUPS, left[0], s->groups, NULL);
        default_fill(m, st, SCHEDULE_REGISTERS, left[0], s->registers, NULL);
        if (s->column_block) default_fill(m, st, SCHEDULE_BLOCK, left[1], s->column_block, NULL);
        default_fill(m, st, SCHEDULE_GROUPS, left[1], s->column_groups, NULL);
        default_fill(m, st, SCHEDULE_VECTOR, left[1], s->column_vector, NULL);
        default_fill(m, st, SCHEDULE_REGISTERS, left[1], s->column_registers, NULL);
    }
    default_fill(m, c->sum, SCHEDULE_GROUPS, c->depth, s->depth_groups, NULL);
    default_fill(m, c->sum, SCHEDULE_VECTOR, c->depth, s->depth_vector, NULL);
    default_fill(m, c->sum, SCHEDULE_REGISTERS, c->depth, s->depth_registers, NULL);
    default_multiply(m, c);
}

int64_t default_power_in(int64_t n, int64_t most) {
    int64_t v = 1;
    while (v < most && n % (2 * v) == 0) v *= 2;
    return v;
}
