// Sums by matrix operations of four warps whose second factor a round has fetched, row by row, into panels of shared
// memory (lower_fetch.c): the operation reads it there, columns or points of the depth a row each.
//     fetch 3 k[…] panels, x[…] panels { reduce s by m64k16.f16 (v, slot, d) …  reduce y by m64k16.f16 (v, d, slot) … }
//  →  copy.wait; fence.mma; barrier;  s, … = mma.rows k, q, …  y, … = mma.rows.trans x, s, …, y, …
#include "lower_matrix.h"

typedef struct {
    kernel *k;
    const reduction *r;
    const pieces *p;
    const fetched_rows *f, *own;   // of the second factor; of the first one, NULL: registers have it
    axis_set columns, steps;   // axes of pieces of columns, of steps of the depth
    uint32_t npieces, nsteps;
} product;

// Of the instance at hand, the number of its points along those axes, in turns of so many.
static uint32_t number(const kernel *k, axis_set axes, uint32_t turn) {
    int64_t at = 0;
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
        if (axes & AXIS(i) && k->at[i] > 0) at += (int64_t)k->at[i] * k->axis[i].weight;
    return (uint32_t)at / turn;
}

static bool sums_of(const product *x, simt_builder *b, simt_value *c) {
    kernel *k = x->k;
    bool zeros = true;
    for (instance_walk w = lw_walk_begin(k, x->columns); lw_walk_next(&w);) {
        simt_value part[4];
        for (uint32_t i = 0; i < x->p->info->held[SIMT_MMA_C]; i++) {
            part[i] = *lm_slot(k, x->r, x->p, i);
            zeros &= lm_is_zero(k->f, part[i]);
        }
        c[number(k, x->columns, x->p->info->n)] = lw_gather(b, part, x->p->info->held[SIMT_MMA_C]);
    }
    return zeros;
}

static void set_sums(const product *x, simt_builder *b, simt_instr made) {
    kernel *k = x->k;
    for (instance_walk w = lw_walk_begin(k, x->columns); lw_walk_next(&w);)
        for (uint32_t i = 0; i < x->p->info->held[SIMT_MMA_C]; i++)
            *lm_slot(k, x->r, x->p, i) = lw_pick(b, simt_result(k->f, made, number(k, x->columns, x->p->info->n)), i);
}

static simt_value place_of(kernel *k, simt_builder *b, const fetched_rows *f) { return simt_build_addr(b, lw_shared(k, b, f->at), f->buffer, 1, 0); }

static simt_op op_of(const product *x) {
    if (x->f->node->var == x->p->m->depth) return SIMT_MMA_ROWS_TRANS;
    return x->own ? SIMT_MMA_ROWS_BOTH : SIMT_MMA_ROWS;
}

// Of the rows at hand.
static void multiply(const product *x, simt_builder *b, const operands *a) {
    kernel *k = x->k;
    simt_value *args = ARENA_ARRAY(k->l->arena, simt_value, 2 + x->nsteps + x->npieces);
    simt_type *types = ARENA_ARRAY(k->l->arena, simt_type, x->npieces);
    uint32_t factors = x->own ? 2 : 1 + x->nsteps;
    args[0] = place_of(k, b, x->f);
    if (x->own) args[1] = place_of(k, b, x->own);
    for (instance_walk s = lw_walk_begin(k, x->steps); !x->own && lw_walk_next(&s);)
        args[1 + number(k, x->steps, x->p->info->k)] = a->of[lw_instance(k, a->axes)];
    bool zeros = sums_of(x, b, args + factors);
    for (uint32_t i = 0; i < x->npieces; i++) types[i] = simt_mma_type(x->p->m->kind, SIMT_MMA_C);
    simt_instr made = simt_build_op(b, op_of(x), args, factors + (zeros ? 0 : x->npieces), types, x->npieces);
    k->f->instrs.data[made].aux = x->p->m->kind;
    k->f->instrs.data[made].imm.i = x->nsteps;
    k->f->instrs.data[made].mem.scale = (uint16_t)x->f->tile.rows;
    set_sums(x, b, made);
}

static const fetched_rows *own_rows(const kernel *k, tensor_expr factor) {
    const tensor_node *load = loop_matrix_factor(k->l->op, factor);
    const fetched_rows *f = load->op == TENSOR_LOAD_OP ? lw_fetched_panels(k, load) : NULL;
    return f && f->rows->own ? f : NULL;
}

bool lm_panels(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps, axis_set sums) {
    const tensor_node *body = tensor_node_at(k->l->op, k->l->op->stages.data[r->stage].body[0]),
                      *load = loop_matrix_factor(k->l->op, body->args[1]);
    const fetched_rows *f = load->op == TENSOR_LOAD_OP ? lw_fetched_panels(k, load) : NULL;
    if (!f && loop_again(r->node)) ICE("'%s': rows of a matrix operation of four warps are not in panels", k->plan->name);
    if (!f) return false;
    product x = {.k = k, .r = r, .p = p, .f = f, .columns = sums & lw_written_out(k, k->var[p->m->columns].axes), .steps = steps};
    x.npieces = lw_instances(k, x.columns);
    x.nsteps = lw_instances(k, steps);
    x.own = own_rows(k, body->args[0]);
    operands a = {0};
    if (!x.own) a = lm_operands(k, b, r, p, steps, SIMT_MMA_A, body->args[0]);
    for (instance_walk w = lw_walk_begin(k, sums & ~x.columns); lw_walk_next(&w);) multiply(&x, b, &a);
    return true;
}
