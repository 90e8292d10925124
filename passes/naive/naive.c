// The naive plan: kernels for the stages in their order. Stages over the same points share a kernel
// where each reads of the others only its own point; cheap reduction-free stages are computed where
// they are read.
//     y[v, f] = sum {e : dst(e) == v} w(e) * x(src(e), f)
//  →  for each (v, f) in parallel: acc = 0; for e in offsets(dst)[v] … offsets(dst)[v + 1]: acc += w[e] *
//  x[src[e], f]; y[v, f] = acc
#include "naive/naive.h"
#include "base/base.h"
#include "base/scalar.h"

// What is computed where it is read has no stage of its own any more (tensor/pairs.c).
static bool is_written(const tensor_op *op, tensor_val v) {
    bool any = false;
    for (uint32_t i = 0; i < op->stages.len; i++)
        for (uint32_t t = 0; t < op->stages.data[i].ntargets; t++)
            any |= op->stages.data[i].targets[t].val == v;
    return any;
}

static void add_temps(naive *n) {
    for (tensor_val i = n->op->nparams; i < n->op->vals.len; i++) {
        const tensor_val_info *v = &n->op->vals.data[i];
        if (v->role != VAL_STAGE || n->inlined[i] || !is_written(n->op, i)) continue;
        n->temp_of[i] = n->p->temps.len;
        VEC_PUSH(n->arena, &n->p->temps,
                 ((program_temp){v->name, v->type,
                                 size_product(n->arena, n->p, n->op, v->axes, v->rank)}));
    }
}

// ---- What runs ----------------------------------------------------------------------------------
static void add_step(naive *n, program_step s) {
    VEC_PUSH(n->arena, &n->p->versions.data[0].steps, s);
}

typedef VEC(const tensor_stage *) stage_list;

static void flush(naive *n, stage_list *group) {
    if (group->len) kernel_build(n, group->data, group->len);
    *group = (stage_list){0};
}

static void add_stages(naive *n) {
    uint32_t loop = TENSOR_NO_LOOP;
    stage_list group = {0};
    for (uint32_t i = 0; i < n->op->stages.len; i++) {
        const tensor_stage *st = &n->op->stages.data[i];
        if (stage_inlined(n, st)) continue;
        if (st->loop != loop || !stage_joins(n, group.data, group.len, st)) flush(n, &group);
        if (loop != TENSOR_NO_LOOP && st->loop != loop)
            add_step(n, (program_step){.kind = STEP_END});
        if (st->loop != TENSOR_NO_LOOP && st->loop != loop)
            add_step(n,
                     (program_step){.kind = STEP_LOOP,
                                    .count = size_product(n->arena, n->p, n->op,
                                                          &n->op->loops.data[st->loop].space, 1)});
        loop = st->loop;
        VEC_PUSH(n->arena, &group, st);
    }
    flush(n, &group);
    if (loop != TENSOR_NO_LOOP) add_step(n, (program_step){.kind = STEP_END});
}

// Sums over edges that stand both ways take the end that is sorted.
static void swap_ends(const naive *n, tensor_op *op) {
    plan_ends ends;
    for (uint32_t i = 0; plan_ends_at(op, i, &ends); i++)
        plan_swap_ends(op, &ends, NULL, n->inlined);
}

// What is computed where it is read, and what is noted of expressions when all of them are there.
static void begin(naive *n, tensor_op *op) {
    n->op = op;
    n->temp_of = ARENA_ARRAY(n->arena, uint32_t, op->vals.len + 1);
    n->inlined = ARENA_ARRAY(n->arena, const tensor_stage *, op->vals.len + 1);
    n->prepared_of = ARENA_ARRAY(n->arena, uint32_t, op->vals.len + 1);
    for (uint32_t i = 0; i < op->vals.len; i++) n->temp_of[i] = n->prepared_of[i] = UINT32_MAX;
    n->visited = ARENA_ARRAY(n->arena, uint32_t, op->exprs.len + 1);
    choose_inlined(n);
    swap_ends(n, op);
    n->visited = ARENA_ARRAY(n->arena, uint32_t, op->exprs.len + 1);
    n->checked = ARENA_ARRAY(n->arena, uint32_t, op->exprs.len + 1);
    n->checked_inside = ARENA_ARRAY(n->arena, uint32_t, op->exprs.len + 1);
    n->none_facts = scalar_none_facts(n->arena, op);
}

program *pass_naive(arena *a, diag_set *ds, const tensor_op *op, const pass_options *o) {
    uint32_t errors = diag_raised(ds);
    program *p = program_start(a, op, o);
    VEC_PUSH(a, &p->versions, ((program_version){.name = "naive"}));
    naive n = {.arena = a, .ds = ds, .options = o, .p = p};
    begin(&n, tensor_op_copy(a, op));
    add_temps(&n);
    prepare_classes(&n);
    if (diag_raised(ds) != errors) return NULL;
    add_stages(&n);
    if (simt_too_deep(p->module)) {
        diag_help(diag(ds, E0207, op->at, "%s: its loops and choices nest too deeply", op->name),
                  "give a part an equation of its own");
        return NULL;
    }
    const char *fault = o->after.verify ? simt_verify(a, p->module) : NULL;
    if (fault) ICE("%s: the naive plan made simt IR that does not verify: %s", op->name, fault);
    pass_spent(&o->after, "naive");
    pass_done(&o->after, "naive", &(pass_state){.program = p});
    return p;
}
