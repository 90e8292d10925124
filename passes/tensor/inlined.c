// Stages with what is computed inside of them, written out. The default asks for them by the
// thousand, so each is found once, until another stage is computed where it is read.
//     s[e] = l[dst[e]] + r[src[e]], inlined;  m[v] = max{e : dst[e] == v} s[e]
//       →  m reads l and r
#include "base/base.h"
#include "tensor/tensor.h"

#include <string.h>

// All that an answer depends on.
typedef struct {
    const tensor_expr *body;
    const tensor_target *targets;
} stage_text;

struct inlined_stages {
    const tensor_op *op;
    uint32_t nstages, nvals;
    stage_text *texts;            // per stage
    uint32_t *inlined;            // per value: the stage; UINT32_MAX: it is not
    const tensor_expr **bodies;   // per stage; NULL: it was not asked for
};

static stage_text text_of(const planner *p, uint32_t stage) {
    const tensor_stage *st = plan_stage(p, stage);
    return (stage_text){st->body, st->targets};
}

static uint32_t inlined_by(const planner *p, tensor_val v) {
    const loop_value *w = &p->plan->values.data[v];
    return w->home == LOOP_INLINE ? w->stage : UINT32_MAX;
}

static bool is_as_it_was(const planner *p) {
    const struct inlined_stages *x = p->of_op.inlined;
    if (!x || x->op != p->op || x->nstages != p->op->stages.len || x->nvals != p->plan->values.len)
        return false;
    for (uint32_t i = 0; i < x->nstages; i++) {
        const stage_text now = text_of(p, i);
        if (now.body != x->texts[i].body || now.targets != x->texts[i].targets) return false;
    }
    for (tensor_val v = 0; v < x->nvals; v++)
        if (inlined_by(p, v) != x->inlined[v]) return false;
    return true;
}

static void begin(planner *p) {
    const uint32_t nstages = p->op->stages.len, nvals = p->plan->values.len;
    struct inlined_stages *x = p->of_op.inlined;
    if (!x || x->nstages != nstages || x->nvals != nvals) {
        x = p->of_op.inlined = ARENA_NEW(p->arena, struct inlined_stages);
        *x = (struct inlined_stages){
            .nstages = nstages,
            .nvals = nvals,
            .texts = ARENA_ARRAY(p->arena, stage_text, nstages + 1),
            .inlined = ARENA_ARRAY(p->arena, uint32_t, nvals + 1),
            .bodies = ARENA_ARRAY(p->arena, const tensor_expr *, nstages + 1)};
    }
    x->op = p->op;
    for (uint32_t i = 0; i < nstages; i++) x->texts[i] = text_of(p, i), x->bodies[i] = NULL;
    for (tensor_val v = 0; v < nvals; v++) x->inlined[v] = inlined_by(p, v);
}

static const tensor_expr *body_of(planner *p, const tensor_stage *st) {
    tensor_expr *body = ARENA_ARRAY(p->arena, tensor_expr, st->nbody + 1);
    for (uint32_t i = 0; i < st->nbody; i++) {
        tensor_expr before = st->body[i];
        // what is computed there may read what was not when it was rewritten
        while ((body[i] = plan_inline_loads(p, before)) != before) before = body[i];
    }
    return body;
}

tensor_stage plan_inlined_stage(planner *p, uint32_t stage) {
    tensor_stage st = *plan_stage(p, stage);
    if (!is_as_it_was(p)) begin(p);
    const tensor_expr **body = &p->of_op.inlined->bodies[stage];
    if (!*body) *body = body_of(p, &st);
    st.body = *body;
    return st;
}
