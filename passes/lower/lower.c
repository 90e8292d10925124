// From a loop plan to kernels in SIMT IR and a version of the program: its steps, and rows of the
// program's tables for the prepared arrays and temporaries that the kernels use. Versions share
// these rows by name.

#include "lower/lower.h"
#include "base/scalar.h"
#include <string.h>

static program_map_ref ref_of(const lowering *l, tensor_val v) {
    if (v < l->op->nparams) return (program_map_ref){false, v};
    if (l->prepared_of[v] == UINT32_MAX)
        ICE("'%s' is not prepared before what is made of it", l->op->vals.data[v].name);
    return (program_map_ref){true, l->prepared_of[v]};
}

static tensor_space domain_of(const lowering *l, tensor_val v) {
    const tensor_val_info *i = &l->op->vals.data[v];
    return i->axes[0] < l->p->spaces.len ? i->axes[0] : i->into;
}

// Degrees and places lead into spaces that only this plan has. They are told apart by what they are
// degrees and places of.
static tensor_space into_of(const lowering *l, tensor_val v) {
    const tensor_val_info *i = &l->op->vals.data[v];
    if (i->into < l->p->spaces.len) return i->into;
    return domain_of(l, i->role == VAL_PREPARED && i->builder == PREPARED_COMPOSE ? i->keys[1] : v);
}

static uint32_t prepared_row(lowering *l, program_prepared row) {
    for (uint32_t i = 0; i < l->p->prepared.len; i++)
        if (!strcmp(l->p->prepared.data[i].name, row.name)) return i;
    VEC_PUSH(l->arena, &l->p->prepared, row);
    return l->p->prepared.len - 1;
}

// Offsets have an entry for each point that their map leads to, and one more.
static void add_prepared(lowering *l, const loop_prepared *r) {
    const tensor_val_info *v = &l->op->vals.data[r->val];
    program_map_ref *args = ARENA_ARRAY(l->arena, program_map_ref, r->nargs);
    textbuf name = textbuf_new(l->arena);
    textbuf_printf(&name, "%s(", prepared_builder_text(r->builder));
    for (uint32_t i = 0; i < r->nargs; i++) {
        args[i] = ref_of(l, r->args[i]);
        const char *arg = args[i].prepared ? l->p->prepared.data[args[i].index].name
                                           : l->p->params.data[args[i].index].name;
        textbuf_printf(&name, "%s%s", i ? "," : "", arg);
    }
    if (r->extent) textbuf_printf(&name, ",%lld", (long long)r->extent);
    if (r->slots) textbuf_printf(&name, ",%lld", (long long)r->slots);
    textbuf_puts(&name, ")");
    bool by_map = r->builder == PREPARED_COMPOSE || r->builder == PREPARED_CLASSES;
    tensor_space domain = domain_of(l, r->builder == PREPARED_COLUMN ? r->val : r->args[0]),
                 into = into_of(l, by_map ? r->val : r->args[0]);
    program_prepared row = {.name = name.data,
                            .builder = r->builder,
                            .nargs = r->nargs,
                            .args = args,
                            .extent = r->extent,
                            .slots = r->slots,
                            .domain = domain,
                            .into = into};
    l->prepared_of[r->val] = prepared_row(l, row);
    if (v->role == VAL_CLASSES) l->p->spaces.data[v->into].prepared = l->prepared_of[r->val];
}

static void add_step(lowering *l, uint32_t at) {
    const loop_step *s = &l->plan->steps.data[at];
    program_step step = {.kind = STEP_END};
    switch (s->kind) {
    case LOOP_LAUNCH: lw_kernel(l, at); return;
    case LOOP_ROUNDS:
        step = (program_step){
            .kind = STEP_LOOP,
            .count = size_product(l->arena, l->p, l->op, &l->op->loops.data[s->loop].space, 1)};
        break;
    case LOOP_ROUNDS_END: break;
    }
    VEC_PUSH(l->arena, &l->v->steps, step);
}

void lower_plan(arena *a, const loop_plan *plan, program *p, program_version *v,
                const lower_options *o) {
    const tensor_op *op = plan->op;
    uint32_t before = p->module->funcs.len;
    lowering l = {.arena = a, .plan = plan, .op = op, .p = p, .v = v, .o = o};
    l.temp_of = ARENA_ARRAY(a, uint32_t, op->vals.len + 1);
    l.prepared_of = ARENA_ARRAY(a, uint32_t, op->vals.len + 1);
    l.visited = ARENA_ARRAY(a, uint32_t, op->exprs.len + 1);
    l.uses = ARENA_ARRAY(a, const loop_uses *, plan->steps.len + 1);
    for (tensor_val i = 0; i < op->vals.len; i++) l.temp_of[i] = l.prepared_of[i] = UINT32_MAX;
    l.none_facts = scalar_none_facts(l.arena, l.op);
    lw_find_nonpositive(&l);
    p->deterministic = p->deterministic && !loop_unordered(plan);
    for (uint32_t i = 0; i < plan->prepared.len; i++) add_prepared(&l, &plan->prepared.data[i]);
    for (uint32_t i = 0; i < plan->steps.len; i++) add_step(&l, i);
    const char *fault = o->verify ? simt_verify_added(a, p->module, before) : NULL;
    if (fault) ICE("%s: the plan made simt IR that does not verify: %s", op->name, fault);
}
