// Who stores: a block goes once through the loops around what it owns. Where one loop is dealt out
// to blocks, what stands beside it is computed by each of its blocks, and none of it may be stored
// in memory.
//     for v [block] { store m;  for f [serial 16, block] { store y } }   →  each block of f would store m
#include "loop_verify.h"

static bool any(const loop_verifier *v, const loop_node *n,
                bool (*is)(const loop_verifier *v, const loop_node *n)) {
    if (is(v, n)) return true;
    for (uint32_t i = 0; i < n->body.len; i++)
        if (any(v, n->body.data[i], is)) return true;
    return false;
}

static bool dealt_to_blocks(const loop_verifier *v, const loop_node *n) {
    (void)v;
    return n->kind == LOOP_FOR && n->rest == LOOP_BLOCK_PLACE;
}

static bool in_memory(const loop_verifier *v, const tensor_stage *s) {
    for (uint32_t t = 0; t < s->ntargets; t++)
        if (v->plan->values.data[s->targets[t].val].home == LOOP_MEMORY) return true;
    return false;
}

static bool stores(const loop_verifier *v, const loop_node *n) {
    if (n->kind != LOOP_STORE) return false;
    for (uint32_t i = 0; i < n->nstages; i++)
        if (in_memory(v, &v->op->stages.data[n->stages[i]])) return true;
    return false;
}

const char *loop_check_blocks(loop_verifier *v, const loop_body *body) {
    bool blocks = false, store = false;
    for (uint32_t i = 0; v->path.len && i < body->len; i++) {
        bool dealt = any(v, body->data[i], dealt_to_blocks);
        blocks |= dealt;
        store |= !dealt && any(v, body->data[i], stores);
    }
    return blocks && store
               ? loop_wrong(v, "each block of a loop would store what stands beside the loop")
               : NULL;
}
