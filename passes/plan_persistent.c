// A kernel whose grid fills the machine and walks the work: its blocks take one share after the other.
//     persistent 2;  →  kernel spmm threads 128 lanes 32 persistent 2 { … }: min(blocks, 2 · multiprocessors)
//     blocks
#include "planner.h"

static bool dealt_to_blocks(const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if ((n->kind == LOOP_FOR && n->rest == LOOP_BLOCK_PLACE) || dealt_to_blocks(&n->body)) return true;
    }
    return false;
}

static void take(planner *p, loop_kernel *k, const char *stage) {
    schedule_cell *c = schedule_find(p->s, stage, SCHEDULE_PERSISTENT, NULL);
    if (!c) return;
    uint32_t blocks = c->nvalues ? (uint32_t)c->values[0].number : 1;
    c->consumed = true;
    if (k->persistent && k->persistent != blocks) {
        diagnostic *d = plan_refuse(
            p, E0541, c->at,
            "'%s' shares its kernel with a stage that wants %u blocks a multiprocessor, not %u", stage,
            k->persistent, blocks);
        if (d) diag_help(d, "say it once for both");
        return;
    }
    k->persistent = blocks;
}

static void take_all(planner *p, loop_kernel *k, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        take_all(p, k, &n->body);
        bool stores = n->kind == LOOP_STORE || n->kind == LOOP_STORE_STATE || n->kind == LOOP_CARRY ||
                      n->kind == LOOP_CLEAR || n->kind == LOOP_COMBINE;
        for (uint32_t s = 0; stores && s < n->nstages; s++) take(p, k, p->op->stages.data[n->stages[s]].name);
    }
}

// Without blocks there is nothing to walk, and the statement has nothing to do.
void plan_persistent(planner *p, loop_kernel *k) {
    if (dealt_to_blocks(&k->body)) take_all(p, k, &k->body);
}
