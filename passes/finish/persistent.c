// A kernel whose grid fills the machine and walks the work: its blocks take one share after the
// other.
//     persistent 2;  →  kernel spmm threads 128 lanes 32 persistent 2 { … }: min(blocks, 2 · multiprocessors)
//     blocks
// And how many threads share a multiprocessor's registers:
//     occupancy 1024;  →  kernel s threads 256 lanes 32 occupancy 1024 { … }
//     occupancy 1024 soft;  →  kernel s threads 256 lanes 32 occupancy 1024 soft { … }: or fewer
#include "finish/finish.h"
#include "base/base.h"
#include "simt.h"

static bool dealt_to_blocks(const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if ((n->kind == LOOP_FOR && n->rest == LOOP_BLOCK_PLACE) || dealt_to_blocks(&n->body))
            return true;
    }
    return false;
}

static const schedule_cell *take(planner *p, const tensor_stage *st, schedule_verb verb,
                                 const char *what, uint32_t *number) {
    schedule_cell *c = schedule_find(p->s, st->id, verb, TENSOR_ALL);
    if (!c) return NULL;
    uint32_t wanted = c->nvalues ? (uint32_t)c->values[0].number : 1;
    c->consumed = true;
    if (*number && *number != wanted) {
        diagnostic *d = plan_refuse(
            p, E0541, c->at,
            "'%s' shares its kernel with a stage that wants %u %s a multiprocessor, not %u",
            st->name, *number, what, wanted);
        if (d) diag_help(d, "say it once for both");
        if (d && plan_may_separate(p, st))
            diag_help(d, "or let the later one begin a kernel of its own: `separate`");
        return NULL;
    }
    *number = wanted;
    return c;
}

static void take_room(planner *p, loop_kernel *k, const tensor_stage *st) {
    bool first = !k->occupancy;
    const schedule_cell *c = take(p, st, SCHEDULE_OCCUPANCY, "threads", &k->occupancy);
    if (c) k->soft = schedule_value_of(c, "soft") && (first || k->soft);   // who insists is heeded
    if (!c || (k->occupancy >= k->threads && k->occupancy <= SIMT_MOST_THREADS)) return;
    diagnostic *d = plan_refuse(p, E0543, c->at,
                                "room is for a block, of %u threads here, to %d, not for %u",
                                k->threads, SIMT_MOST_THREADS, k->occupancy);
    if (d) diag_help(d, "say how many threads a multiprocessor should have room for, such as 1024");
    k->occupancy = 0;
}

static void take_all(planner *p, loop_kernel *k, const loop_body *body, bool blocks) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        take_all(p, k, &n->body, blocks);
        bool stores = n->kind == LOOP_STORE || n->kind == LOOP_STORE_STATE ||
                      n->kind == LOOP_CARRY || n->kind == LOOP_CLEAR || n->kind == LOOP_COMBINE;
        for (uint32_t s = 0; stores && s < n->nstages; s++) {
            const tensor_stage *st = plan_stage(p, n->stages[s]);
            if (blocks) take(p, st, SCHEDULE_PERSISTENT, "blocks", &k->persistent);
            take_room(p, k, st);
        }
    }
}

// Without blocks there is nothing to walk, and `persistent` has nothing to do.
void plan_persistent(planner *p, loop_kernel *k) {
    take_all(p, k, &k->body, dealt_to_blocks(&k->body));
}
