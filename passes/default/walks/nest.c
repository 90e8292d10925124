// How the sums of a walk nest by default: as the scores that they read, so that a score is computed
// once for all that a row has of it.
//     sum y[v, d, h] of s[e, h]  →  loops v, h, d
#include "default/cells/cells.h"
#include "default/walks/walks.h"
#include "base/base.h"

static uint32_t place_of(const walks *w, const tensor_var *left, uint32_t from, uint32_t n,
                         tensor_space s) {
    while (from < n && w->p->op->vars.data[left[from]].space != s) from++;
    return from;
}

// Of a sum of rows, the indices that what it reads of an edge has come first, in their order:
// around the walk are those alone that edges do without.
void default_nest(walks *w, uint32_t stage) {
    tensor_stage *st = &w->p->op->stages.data[stage];
    uint32_t read = default_deepest_read(w, stage);
    const tensor_stage *score = read == UINT32_MAX ? NULL : plan_stage(w->p, read);
    tensor_var *left = ARENA_ARRAY(w->p->arena, tensor_var, st->nleft + 1);
    bool moved = false;
    for (uint32_t i = 0; i < st->nleft; i++) left[i] = st->left[i];
    for (uint32_t i = 1; score && i < score->nleft && i < st->nleft; i++) {
        uint32_t at = place_of(w, left, i, st->nleft, w->p->op->vars.data[score->left[i]].space);
        if (at == st->nleft) return;
        tensor_var v = left[at];
        moved |= at > i;
        for (; at > i; at--) left[at] = left[at - 1];
        left[i] = v;
    }
    if (!moved) return;
    st->left = left;
    default_say(w->m, default_cell(SCHEDULE_LOOPS, st), default_index_list(w->p, left, st->nleft));
}
