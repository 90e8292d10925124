// What chance needs to know of an op: the stages and indices a schedule can name.
#include "schedule_items.h"
#include "test.h"

#include <string.h>

#include "bind.h"

uint64_t test_draw(test_rng *r, uint64_t n) {
    return (uint64_t)bind_below(bind_random(r->seed, r->at++), (int64_t)n);
}
bool test_chance(test_rng *r, uint32_t per_cent) { return test_draw(r, 100) < per_cent; }

static void add_indices(arena *a, const tensor_op *op, const tensor_var *vars, uint32_t n,
                        test_stage *s) {
    for (uint32_t i = 0; i < n && s->nindices < TEST_MOST_INDICES; i++) {
        const tensor_var_info *v = &op->vars.data[vars[i]];
        const char *name = schedule_written(a, v->name);
        if (name) s->indices[s->nindices++] = (test_index){name, v->space};
    }
}

static test_stage stage_of(arena *a, const tensor_op *op, const tensor_stage *st) {
    test_stage s = {.name = st->name, .has_else = st->nelse != 0};
    s.sum = st->reducer != TENSOR_NO_REDUCER && op->reducers.data[st->reducer].kind == REDUCE_SUM;
    add_indices(a, op, st->left, st->nleft, &s);
    s.nleft = s.nindices;
    add_indices(a, op, st->bound, st->nbound, &s);
    return s;
}

static void find_sparse(const tensor_op *op, bool *sparse) {
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->role != VAL_MAP) continue;
        sparse[i->into] = true;
        for (uint32_t k = 0; k < i->rank; k++) sparse[i->axes[k]] = true;
    }
}

test_op test_op_new(arena *a, const unit_op *o) {
    const frontend_op *f = &o->frontend->ops.data[o->number];
    test_op t = {.name = f->name,
                 .op = o->op,
                 .sparse = ARENA_ARRAY(a, bool, o->op->spaces.len + 1),
                 .gradient = f->grad != NULL};
    const uint32_t twin = t.gradient ? frontend_twin_of(o->frontend, o->number) : UINT32_MAX;
    if (twin != UINT32_MAX) t.twin = o->frontend->ops.data[twin].name;
    for (const ast_generic *g = f->item->generics; g && t.ntypes < 4; g = g->next)
        if (!g->kind.text || !strcmp(g->kind.text, "float")) t.types[t.ntypes++] = g->name.text;
    for (uint32_t i = 0; i < o->op->stages.len; i++)
        VEC_PUSH(a, &t.stages, stage_of(a, o->op, &o->op->stages.data[i]));
    find_sparse(o->op, t.sparse);
    return t;
}
