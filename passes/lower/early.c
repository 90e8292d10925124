// Launches that overlap (programmatic dependent launch). A kernel says when the next one may start,
// and waits for the one before: at its end, or, where a kernel before may still write what it
// reads, ahead of the first such access.
//     kernel y_cut … early wait first { … }  →  %row = ld i32 %a invariant   grid.wait   %part = ld f32 %b

#include "lower/lower.h"

const loop_kernel *lw_launch_at(const lowering *l, uint32_t step) {
    bool launch = step < l->plan->steps.len && l->plan->steps.data[step].kind == LOOP_LAUNCH;
    return launch ? l->plan->steps.data[step].kernel : NULL;
}

bool lw_shares_launch(const lowering *l, uint32_t step) {
    const loop_kernel *k = lw_launch_at(l, step);
    return k && loop_shares_launch(k->start);
}

// A load that is invariant, or goes through a pointer without aliases, may come before the wait. So
// no value may be loaded that way which a kernel before still writes, or reads where this kernel
// writes it.
static const loop_uses *uses_of(lowering *l, uint32_t step) {
    const loop_uses **of = &l->uses[step];
    if (*of) return *of;
    loop_uses *made = ARENA_NEW(l->arena, loop_uses);
    *made = loop_uses_of(l->arena, l->plan, lw_launch_at(l, step));
    return *of = made;
}

void lw_find_unsettled(kernel *k, uint32_t step) {
    if (k->plan->start != LOOP_START_WAIT_FIRST || !k->l->o->machine->gpu) return;
    arena *a = k->l->arena;
    const loop_uses own = loop_uses_of(a, k->l->plan, k->plan);
    k->access.unsettled = ARENA_ARRAY(a, bool, k->l->op->vals.len + 1);
    for (uint32_t i = step; i-- > 0 && lw_launch_at(k->l, i);) {
        const loop_uses *before = uses_of(k->l, i);
        for (tensor_val v = 0; v < k->l->op->vals.len; v++)
            k->access.unsettled[v] |= before->writes[v] || (before->reads[v] && own.writes[v]);
        if (lw_launch_at(k->l, i)->start == LOOP_START_IN_TURN) return;
    }
}

static bool find_states(const kernel *k, const loop_body *body, bool *states) {
    bool any = false;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        any |= find_states(k, &n->body, states) || n->kind == LOOP_STORE_STATE;
        for (uint32_t s = 0; n->kind == LOOP_STORE_STATE && s < n->state.n; s++)
            states[tensor_node_at(k->l->op, n->state.loads[s])->imm.i] = true;
    }
    return any;
}

// Of temporaries, the launch writes the states of parts of rows alone, and no launch before touches
// them. They are large, and may share memory with temporaries of launches that still run. Then the
// kernel waits before it writes them, which is the last it does.
static bool leaves_states_alone(const kernel *k, uint32_t step) {
    const tensor_op *op = k->l->op;
    bool *states = ARENA_ARRAY(k->l->arena, bool, op->vals.len + 1), any = false;
    uint32_t end = step + 1;
    while (lw_shares_launch(k->l, end)) end++;
    for (uint32_t i = step; i < end; i++)
        any |= find_states(k, &lw_launch_at(k->l, i)->body, states);
    for (uint32_t i = 0; i < end && any; i++) {
        if (!lw_launch_at(k->l, i)) continue;
        const loop_uses *uses = uses_of(k->l, i);
        for (tensor_val v = 0; v < op->vals.len; v++) {
            bool before = i < step && states[v] && (uses->reads[v] || uses->writes[v]),
                 other = i >= step && !states[v] && uses->writes[v] &&
                         op->vals.data[v].role == VAL_STAGE;
            if (before || other) return false;
        }
    }
    return any;
}

void lw_find_left(kernel *k, uint32_t step) {
    k->access.waits_to_write = k->plan->start == LOOP_START_WAIT_LAST && k->l->o->machine->gpu &&
                               leaves_states_alone(k, step);
}

void lw_begin_early(kernel *k, simt_builder *b, uint32_t step) {
    while (lw_shares_launch(k->l, step + 1)) step++;
    const loop_kernel *next = lw_launch_at(k->l, step + 1);
    if (!k->l->o->machine->gpu) return;
    if (next && next->start) simt_build_op(b, SIMT_LAUNCH_NEXT, NULL, 0, NULL, 0);
    if (k->plan->start == LOOP_START_WAIT_FIRST) simt_build_op(b, SIMT_GRID_WAIT, NULL, 0, NULL, 0);
}

void lw_end_early(kernel *k, simt_builder *b) {
    bool waits = k->plan->start == LOOP_START_WAIT_LAST && k->l->o->machine->gpu;
    if (waits) simt_build_op(b, SIMT_GRID_WAIT, NULL, 0, NULL, 0);
}

static bool may_precede(const simt_func *f, const simt_instr_info *i) {
    uint8_t flags = simt_op_table((simt_op)i->op)->flags;
    bool invariant = i->op == SIMT_LD && i->mem.invariant;
    if (flags & SIMT_TERMINATOR && i->op != SIMT_YIELD) return false;
    if (!i->nregions) return invariant || !(flags & (SIMT_READS | SIMT_WRITES));
    for (uint32_t r = 0; r < i->nregions; r++) {
        const simt_region_info *in = i->regions[r] ? &f->regions.data[i->regions[r]] : NULL;
        for (uint32_t n = 0; in && n < in->instrs.len; n++)
            if (!may_precede(f, &f->instrs.data[in->instrs.data[n]])) return false;
    }
    return true;
}

void lw_wait_late(kernel *k) {
    enum { BODY = 1 };
    simt_region_info *body = &k->f->regions.data[BODY];
    if (!k->access.unsettled) return;
    uint32_t at = 0;
    while (k->f->instrs.data[body->instrs.data[at]].op != SIMT_GRID_WAIT) at++;
    simt_instr wait = body->instrs.data[at];
    for (; may_precede(k->f, &k->f->instrs.data[body->instrs.data[at + 1]]); at++)
        body->instrs.data[at] = body->instrs.data[at + 1];
    body->instrs.data[at] = wait;
}
