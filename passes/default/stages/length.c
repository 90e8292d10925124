// How many instructions the stages of a kernel have for each number along their last index.
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/stages/stages.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

// Of all bodies, so many copies of what mentions the last index.
static int64_t length_at(const planner *p, const stage_group *g, uint32_t depth, int64_t copies) {
    uint8_t *seen = arena_alloc(p->arena, p->op->exprs.len + 1);
    int64_t sum = 0;
    memset(seen, 0, p->op->exprs.len + 1);
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = plan_stage(p, g->data[i]);
        const default_left left = default_left_of(p, st);
        for (uint32_t k = 0; k < st->nbody && depth && left.n == depth; k++)
            sum += plan_length(p, st->body[k], left.at[depth - 1], copies, seen);
    }
    return sum;
}

int64_t default_length(const planner *p, const stage_group *g, uint32_t depth) {
    return length_at(p, g, depth, 2) - length_at(p, g, depth, 1);
}

int64_t default_fewer_terms(const planner *p, const tensor_stage *st, int64_t most, int64_t least) {
    int64_t length = plan_operations(p, st->body[0],
                                     ARENA_ARRAY(p->arena, uint8_t, p->op->exprs.len + 1));
    for (; most > least && length > DEFAULT_TERM_LIGHT; length /= 2) most /= 2;
    return most;
}
