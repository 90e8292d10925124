// Statements that nothing was left to: a schedule is executed whole or refused, so each is told,
// with what made it idle.
//     inline s;  s: lanes e 32;   →  's: lanes e' has nothing to do here: 's' is computed where it is read
#include "loop/loop.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

// ---- Why ----------------------------------------------------------------------------------------
typedef struct {
    uint32_t stages, inlined, with_index, outermost, left;   // that the statement covers
    const char *inlined_name, *other;   // one of the inlined; one where another cell holds
} audience;

static const tensor_var *index_of(const planner *p, const tensor_stage *st, const schedule_cell *c,
                                  tensor_var *v) {
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++)
        if (plan_is_among(p, c->about, *v = plan_var_at(st, i))) return v;
    return NULL;
}

static void hear(const planner *p, const schedule_cell *c, uint32_t stage, audience *a) {
    const tensor_stage *st = &p->op->stages.data[stage];
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1), v;
    if (!schedule_covers(p->s, c, st->id)) return;
    a->stages++;
    if (plan_inlined(p, stage)) {
        a->inlined++;
        a->inlined_name = st->name;
    } else if (index_of(p, st, c, &v)) {
        a->with_index++;
        a->outermost += plan_left(p, st, left) && plan_is_among(p, c->about, left[0]);
        for (uint32_t i = 0; i < st->nleft; i++) a->left += plan_is_among(p, c->about, st->left[i]);
        if (schedule_find(p->s, st->id, c->verb, plan_var_id(p, v)) != c) a->other = st->name;
    }
}

static bool keeps_registers(const schedule_cell *c) {
    return c->verb == SCHEDULE_KEEP && plan_kept_place(c) == KEPT_REGISTERS;
}

static bool overwritten(const planner *p, const schedule_cell *c) {
    for (tensor_val v = 0; v < p->op->nparams; v++) {
        tensor_val of = p->op->vals.data[v].inplace;
        if (of != TENSOR_NO_VAL && schedule_means(c->about, p->op->vals.data[of].id)) return true;
    }
    return false;
}

static const char *why(void *user, const schedule_cell *c) {
    const planner *p = user;
    const char *form = schedule_statement_at(c->verb)->form;
    audience a = {0};
    for (uint32_t i = 0; i < p->op->stages.len; i++) hear(p, c, i, &a);
    if (c->verb == SCHEDULE_CANONICALIZE) return "the op is in canonical form";
    if (a.stages && a.stages == a.inlined)
        return arena_printf(p->arena, "'%s' is computed where it is read", a.inlined_name);
    if (c->verb == SCHEDULE_OVERLAP || c->verb == SCHEDULE_INTERLEAVE)
        return "no kernel comes right after one that it holds for, and what shares a kernel has one launch";
    if (c->verb == SCHEDULE_SEPARATE)
        return "no stage that it holds for could share the kernel of the one before it";
    if (c->verb == SCHEDULE_TERMS) return "it is no reduction, nor is what is inside it";
    if (c->verb == SCHEDULE_LOOPS) return "no stage that it holds for has two of its indices";
    if (keeps_registers(c) && overwritten(p, c))
        return arena_printf(p->arena, "a result overwrites '%s'", c->subject);
    if (keeps_registers(c))
        return arena_printf(p->arena,
                            "no reduction that it holds for reads '%s' at the point of its loop",
                            c->subject);
    if (strncmp(form, "INDEX", 5) && strncmp(form, "REDUCED", 7)) return NULL;
    if (!a.with_index)
        return arena_printf(p->arena, "no stage that it holds for has an index '%s' of its own",
                            c->subject);
    if (a.other)
        return arena_printf(p->arena, "a more specific statement takes its place in '%s'", a.other);
    if (c->verb == SCHEDULE_WINDOW)
        return arena_printf(
            p->arena, "no sum with '%s' on the left has an 'mma' of what it reduces", c->subject);
    if (c->verb == SCHEDULE_ORDER && !a.left)
        return arena_printf(
            p->arena, "'%s' is reduced, not on the left, and comes in the order of its sum's key",
            c->subject);
    if (c->verb == SCHEDULE_BUCKET && !a.outermost)
        return arena_printf(p->arena, "'%s' is the outermost index of no kernel", c->subject);
    if (c->verb == SCHEDULE_ORDER || c->verb == SCHEDULE_BUCKET)
        return "it is said for the last stage of a kernel, whose loops the others share";
    return NULL;
}

static const char *why_not_whole(void *user, const schedule_cell *c) {
    if (c->verb == SCHEDULE_ORDER) return "a bucket visits its points in the order of its own key";
    const char *reason = keeps_registers(c) ? NULL : why(user, c);
    return reason ? reason : "each class of the bucket is distributed by its own schedule";
}

static bool deals_out(schedule_verb v) {
    static const bool does[SCHEDULE_VERB_COUNT] = {
        [SCHEDULE_BLOCK] = true,     [SCHEDULE_GROUPS] = true, [SCHEDULE_LANES] = true,
        [SCHEDULE_REGISTERS] = true, [SCHEDULE_VECTOR] = true, [SCHEDULE_TILE] = true,
        [SCHEDULE_UNROLL] = true,    [SCHEDULE_WINDOW] = true, [SCHEDULE_MMA] = true};
    return does[v];
}

static const char *why_not_in_class(void *user, const schedule_cell *c) {
    const char *reason = why(user, c);
    if (deals_out(c->verb) || keeps_registers(c)) return reason;
    return "the schedule of a class distributes its rows; which stages make a kernel, and their order, is said by the one with the bucket";
}

static void take_canonicalize(schedule *s) {
    for (uint32_t i = 0; i < s->cells.len; i++)
        s->cells.data[i].consumed |= s->cells.data[i].verb == SCHEDULE_CANONICALIZE;
}

void plan_unused(planner *p) {
    schedule *whole = p->s;
    uint32_t errors = diag_raised(p->ds);
    if (whole->automatic) return;
    if (whole->canonicalized) take_canonicalize(whole);
    bool buckets = false;
    for (uint32_t i = 0; i < whole->cells.len; i++) {
        const schedule_cell *c = &whole->cells.data[i];
        const schedule_value *use = c->verb == SCHEDULE_BUCKET && c->consumed
                                        ? schedule_value_of(c, "use")
                                        : NULL;
        buckets = buckets || use;
        for (uint32_t k = 0; use && use->schedules && k < use->nnames; k++) {
            p->s = (schedule *)(uintptr_t)use->schedules[k];
            if (whole->canonicalized) take_canonicalize(p->s);
            schedule_unconsumed(p->ds, p->arena, p->s, why_not_in_class, p);
        }
    }
    p->s = whole;
    schedule_unconsumed(p->ds, p->arena, p->s, buckets ? why_not_whole : why, p);
    p->failed |= diag_raised(p->ds) != errors;
}
