// Tiles of a block that follow one another, and what stays while their value of the map is the same:
// the pieces that tensor cores multiply by, in registers, or in shared memory for four warps. The
// block goes from value to value, and through the tiles of each.
//     block e 64 by type serial 4;  keep w registers
//  →  for e.chain in 0 .. size(type.tiles64.by4) [block] {
//       for e.type in tile_values.type.64[4 * e.chain] .. … [serial] {
//         for e.tile in max(4 * e.chain, tile_begins.type.64[e.type]) .. … [serial] stay w {
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"

// ---- What stays ---------------------------------------------------------------------------------
static schedule_cell *cell_of(const planner *p, const tensor_stage *st, const plan_matrix *m,
                              tensor_val v) {
    schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_KEEP, p->op->vals.data[v].id);
    const bool shared = c && plan_kept_place(c) == KEPT_SHARED;
    return c && (shared ? simt_mma_table(m->kind)->warps > 1 : plan_kept_place(c) == KEPT_REGISTERS)
               ? c
               : NULL;
}

// What the stage is multiplied by on the right, if that stays; TENSOR_NO_VAL: it does not.
static tensor_val staying(const planner *p, const tensor_stage *st, schedule_cell **cell) {
    plan_matrix m;
    if (!plan_matrix_of(p, st, &m)) return TENSOR_NO_VAL;
    const tensor_node *product = tensor_node_at(p->op, st->body[0]),
                      *right = loop_matrix_factor(p->op, product->args[1]);
    if (right->op != TENSOR_LOAD_OP || !(*cell = cell_of(p, st, &m, (tensor_val)right->imm.i)))
        return TENSOR_NO_VAL;
    return (tensor_val)right->imm.i;
}

bool plan_stays(const planner *p, const tensor_stage *st, tensor_val v) {
    schedule_cell *cell;
    return st->nleft && plan_tiled_by(p, st, st->left[0]) != TENSOR_NO_VAL &&
           staying(p, st, &cell) == v;
}

// Operations of four warps have it in shared memory.
static bool refuse_place(planner *p, const tensor_stage *st, schedule_cell *cell) {
    plan_matrix m;
    if (plan_kept_place(cell) == KEPT_SHARED || !plan_matrix_of(p, st, &m) ||
        simt_mma_table(m.kind)->warps == 1)
        return true;
    diagnostic *d = plan_refuse(
        p, E0572, cell->at,
        "'%s' does not stay in registers: operations of four warps have it in shared memory",
        cell->subject);
    if (d) diag_help(d, "say `keep %s shared`", cell->subject);
    return false;
}

static bool refuse_alone(planner *p, const plan_tile *t, schedule_cell *cell) {
    if (t->group > 1) return true;
    diagnostic *d = plan_refuse(
        p, E0540, cell->at,
        "'keep %s %s' has nothing to do here: a block goes through one tile of '%s', "
        "for which it loads '%s' once",
        cell->subject, schedule_value_of(cell, NULL)->text, t->cell->subject, cell->subject);
    if (d)
        diag_help(d, "let it go through several: `block %s %lld by %s serial 4`", t->cell->subject,
                  (long long)t->points, plan_tiled(t->cell)->text);
    return false;
}

// ---- Loops --------------------------------------------------------------------------------------
static tensor_expr value_at(planner *p, const plan_tile *t, tensor_expr tile) {
    tensor_expr at = tensor_index(p->op, p->op->vars.data[t->number].space, tile, NO_SPAN);
    return tensor_load(p->op, t->values, &at, 1, NO_SPAN);
}

static tensor_expr two(planner *p, tensor_opcode op, tensor_expr a, tensor_expr b) {
    return tensor_binary(p->op, op, a, b, NO_SPAN);
}

static loop_node *open(planner *p, const plan_tile *t, tensor_var v, tensor_expr lo, tensor_expr hi,
                       loop_body *to) {
    loop_node *n = loop_node_new(p->plan, LOOP_FOR, t->cell->at);
    n->var = v;
    n->lo = lo;
    n->hi = hi;
    n->rest = LOOP_SERIAL_PLACE;
    loop_append(p->plan, to, n);
    return n;
}

static tensor_var chain_position(planner *p, const plan_tile *t) {
    tensor_space tiles = p->op->vars.data[t->number].space;
    tensor_expr up = two(p, TENSOR_ADD_OP, tensor_size(p->op, tiles, NO_SPAN),
                         tensor_int(p->op, t->group - 1));
    tensor_space chains = plan_space(
        p, arena_printf(p->arena, "%s.by%lld", p->op->spaces.data[tiles].name, (long long)t->group),
        two(p, TENSOR_QUOT_OP, up, tensor_int(p->op, t->group)));
    return tensor_add_var(p->op, arena_printf(p->arena, "%s.chain", t->cell->subject), chains);
}

static loop_node *open_chains(planner *p, const plan_tile *t, loop_body *to, loop_node **tiles) {
    tensor_space all = p->op->vars.data[t->number].space;
    tensor_var chain = chain_position(p, t);
    loop_node *n = open(p, t, chain, tensor_int(p->op, 0),
                        tensor_size(p->op, p->op->vars.data[chain].space, NO_SPAN), to);
    n->rest = LOOP_BLOCK_PLACE;
    if (t->tiles > 1)
        n->digits[n->ndigits++] = (loop_digit){LOOP_GROUP_PLACE, (uint32_t)t->tiles, 1};
    tensor_expr one = tensor_int(p->op, 1), rank = plan_at(p, t->rank),
                first = two(p, TENSOR_MUL_OP, plan_wide(p, plan_at(p, chain)),
                            tensor_int(p->op, t->group)),
                end = two(p, TENSOR_MIN_OP,
                          two(p, TENSOR_ADD_OP, first, tensor_int(p->op, t->group)),
                          tensor_size(p->op, all, NO_SPAN)),
                last = plan_wide(p, value_at(p, t, two(p, TENSOR_SUB_OP, end, one)));
    loop_node *ranks = open(p, t, t->rank, value_at(p, t, first), two(p, TENSOR_ADD_OP, last, one),
                            &n->body);
    if (t->rank != t->value)
        plan_let(p, &ranks->body, t->value, tensor_load(p->op, t->by_size, &rank, 1, NO_SPAN),
                 t->cell->at);
    tensor_expr begin = plan_wide(p, plan_offset_at(p, t->begins, rank, 0)),
                behind = plan_wide(p, plan_offset_at(p, t->begins, rank, 1));
    *tiles = open(p, t, t->number, two(p, TENSOR_MAX_OP, first, begin),
                  two(p, TENSOR_MIN_OP, end, behind), &ranks->body);
    return n;
}

loop_node *plan_open_chains(planner *p, const plan_tile *t, const stage_group *g, loop_body **to) {
    schedule_cell *cell;
    VEC(tensor_val) stay = {0};
    for (uint32_t i = 0; i < g->len; i++) {
        tensor_val v = staying(p, &p->op->stages.data[g->data[i]], &cell);
        if (v == TENSOR_NO_VAL) continue;
        cell->consumed = true;
        if (!plan_refuse_swizzle(p, cell, "what stays is no tile that rounds copy") ||
            !refuse_place(p, &p->op->stages.data[g->data[i]], cell) || !refuse_alone(p, t, cell))
            return NULL;
        bool seen = false;
        for (uint32_t k = 0; k < stay.len; k++) seen |= stay.data[k] == v;
        if (!seen) VEC_PUSH(p->arena, &stay, v);
    }
    if (!stay.len) return NULL;
    loop_node *tiles, *n = open_chains(p, t, *to, &tiles);
    tiles->fetch.nstay = stay.len;
    tiles->fetch.stay = stay.data;
    *to = &tiles->body;
    return n;
}

bool plan_chained(const plan_tile *t, const loop_node *n) { return t && n && n->var != t->number; }

// ---- Legality -----------------------------------------------------------------------------------
static void refuse(planner *p, const stage_group *g, tensor_val v, const char *fault) {
    schedule_cell *cell = NULL;
    plan_matrix m = {0};
    for (uint32_t i = 0; i < g->len && !cell; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (staying(p, st, &cell) != v) cell = NULL;
        else plan_matrix_of(p, st, &m);
    }
    diagnostic *d = plan_refuse(p, E0572, cell->at, "'%s' does not stay: it %s", cell->subject,
                                fault);
    if (!d) return;
    diag_help(d,
              "let a thread have all of '%s' and '%s' at once, by `groups` and `registers` along "
              "them, or leave 'keep' out",
              plan_index_text(p, m.depth), plan_index_text(p, m.columns));
}

// Without vectors, for data that lies otherwise, a thread may not have all at once.
static void check_in(planner *p, const stage_group *g, const loop_body *body) {
    for (uint32_t i = 0; i < body->len && !p->failed; i++) {
        loop_node *n = body->data[i];
        for (uint32_t k = 0; k < n->fetch.nstay && !p->failed; k++) {
            const char *fault = loop_stay_fault(p->arena, p->plan, n, n->fetch.stay[k]);
            if (fault && p->s->automatic) n->fetch.nstay = 0;
            else if (fault) refuse(p, g, n->fetch.stay[k], fault);
        }
        check_in(p, g, &n->body);
    }
}

void plan_check_chains(planner *p, const stage_group *g, const loop_kernel *k) {
    check_in(p, g, &k->body);
}
