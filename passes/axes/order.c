// In which order a kernel visits the points of its outermost index, and classes of them that are
// dealt out differently.
//     order v by degree(dst, v) desc            →  for p in 0 .. size(V) { let v = order_desc.degrees.dst[p]
//     … } bucket v by degree(dst, v) at 32 use A, B  →  the kernel twice: p in at_least(dst, 32) .. size(V)
//     by A, from 0 by B
#include "base/base.h"
#include "kernels/kernels.h"
#include "axes/axes.h"

#include <string.h>

// `above COUNT` leaves points of that few as they stand, behind the others: that is about degrees
// which fall, and of classes about the first alone.
static bool check_least(planner *p, const schedule_cell *c, bool falling,
                        const schedule_value *limits) {
    const schedule_value *above = schedule_value_of(c, "above");
    if (!above) return true;
    if (!falling) {
        diagnostic *d = plan_refuse(
            p, E0544, c->at,
            "'above %lld' is about degrees, the largest first, and this order is another",
            (long long)above->number);
        if (d)
            diag_help(
                d, "take degrees, the largest first: `order %s by degree(…, %s) desc above %lld`",
                c->subject, c->subject, (long long)above->number);
        return false;
    }
    if (!limits || above->number < limits->numbers[0]) return true;
    diagnostic *d = plan_refuse(
        p, E0525, c->at,
        "'above %lld' leaves points as they stand that belong to several classes, from %lld on",
        (long long)above->number, (long long)limits->numbers[0]);
    if (d)
        diag_help(d, "keep to the first class: `above %lld`, or fewer",
                  (long long)limits->numbers[0] - 1);
    return false;
}

// The frontend asks it of an op's schedules; indices of a gradient are known here first.
bool plan_key_fits(planner *p, const schedule_cell *c, tensor_space of, tensor_var var) {
    const tensor_space_info *spaces = p->op->spaces.data;
    if (p->op->vars.data[var].space == of) return true;
    const char *runs = spaces[p->op->vars.data[var].space].name;
    diagnostic *d = plan_refuse(p, E0529, c->at,
                                "this key is of points of %s, and '%s' runs over %s",
                                spaces[of].name, c->subject, runs);
    const char *counted = c->verb == SCHEDULE_BLOCK
                              ? ""
                              : arena_printf(p->arena, ", or degree(map, %s) of a map into %s",
                                             c->subject, runs);
    if (d) diag_help(d, "take a map of %s%s", runs, counted);
    return false;
}

// The prepared order of a key: of a map's values, or of how many points a map takes to each.
static bool key_order(planner *p, const schedule_cell *c, tensor_var var, const schedule_value *key,
                      bool descending, tensor_val *order, tensor_val *counted) {
    const schedule_value *above = schedule_value_of(c, "above");
    tensor_val v = plan_key_read(p, key), map;
    *counted = TENSOR_NO_VAL;
    if (v != TENSOR_NO_VAL) {
        if (schedule_counts(p->s, v, &map)) {
            const tensor_val_info m = p->op->vals.data[map];
            *counted = map;
            v = above ? plan_degrees_from(p, map, above->number)
                      : plan_prepare(p, PREPARED_DEGREES, &map, 1, m.axes[0], m.into);
        }
        if (!check_least(p, c, descending && *counted != TENSOR_NO_VAL, schedule_value_of(c, "at")))
            return false;
        plan_map m = {.map = v};
        if (p->op->vals.data[v].role == VAL_PREPARED || plan_map_of(p, v, &m)) {
            const tensor_val_info i = p->op->vals.data[v = m.map];
            if (!plan_key_fits(p, c, i.axes[0], var)) return false;
            *order = plan_prepare(p, descending ? PREPARED_ORDER_DESC : PREPARED_ORDER, &v, 1,
                                  i.axes[0], i.axes[0]);
            return true;
        }
    }
    diagnostic *d = plan_refuse(
        p, E0544, c->at,
        "the runtime orders '%s' by a map or by degree(map, %s), and this key is neither",
        c->subject, c->subject);
    if (d) diag_help(d, "hand the key over as a map: a parameter of the op");
    return false;
}

static bool row_order(planner *p, const schedule_cell *c, tensor_var var, tensor_val *order) {
    tensor_val counted;
    return key_order(p, c, var, schedule_value_of(c, "by"), schedule_value_of(c, "desc") != NULL,
                     order, &counted);
}

static tensor_expr at_least(planner *p, tensor_val map, int64_t k) {
    return tensor_node_new(
        p->op,
        (tensor_node){.op = TENSOR_AT_LEAST_OP, .type = TENSOR_TYPE(I64), .imm.i = map, .imm2 = k});
}

// The lowest first: class k of a descending order, from the points with limit k or more to those
// with limit k - 1 or more.
static bool degree_classes(planner *p, const schedule_cell *c, tensor_var var, row_class *out,
                           uint32_t *n) {
    const schedule_value *limits = schedule_value_of(c, "at"), *use = schedule_value_of(c, "use");
    tensor_val order, counted;
    if (!key_order(p, c, var, schedule_value_of(c, "by"), true, &order, &counted)) return false;
    if (counted == TENSOR_NO_VAL) {
        diagnostic *d = plan_refuse(
            p, E0544, c->at,
            "the limits of classes are degrees: the key of a bucket is degree(map, %s)",
            c->subject);
        if (d)
            diag_help(d, "to visit points in the order of this key: `order %s by …`", c->subject);
        return false;
    }
    *n = use->nnames;
    for (uint32_t k = 0; k < use->nnames; k++) {
        tensor_expr lo = k < limits->nnumbers ? at_least(p, counted, limits->numbers[k])
                                              : tensor_int(p->op, 0),
                    hi = k ? at_least(p, counted, limits->numbers[k - 1])
                           : tensor_size(p->op, p->op->vals.data[counted].into, NO_SPAN);
        out[k] = (row_class){.order = order,
                             .lo = lo,
                             .hi = hi,
                             .counted = counted,
                             .most = k < limits->nnumbers ? limits->numbers[k] - 1 : 0,
                             .schedule = use->schedules ? (schedule *)(uintptr_t)use->schedules[k]
                                                        : p->s};
    }
    return true;
}

// Which index of a kernel is visited in an order, or by tiles, of its own.
static bool find_rows(planner *p, const tensor_stage *deepest, const tensor_var *left, uint32_t n,
                      row_class *rows) {
    const schedule_cell *said = NULL;
    *rows = (row_class){.order = TENSOR_NO_VAL, .counted = TENSOR_NO_VAL, .schedule = p->s};
    for (uint32_t i = 0; i < n; i++) {
        const tensor_id index = plan_var_id(p, left[i]);
        schedule_cell *order = schedule_find(p->s, deepest->id, SCHEDULE_ORDER, index),
                      *block = schedule_find(p->s, deepest->id, SCHEDULE_BLOCK, index);
        plan_matrix m;
        bool windows = plan_matrix_role(p, deepest, left[i], &m) == MATRIX_ROWS && m.window;
        if (!plan_tiled(block)) block = NULL;
        if (!order && !block && !windows) continue;
        if (said) {
            diagnostic *d = plan_refuse(
                p, E0530,
                block   ? block->at
                : order ? order->at
                        : m.window->at,
                "an order of two indices of a kernel has no pass in this version");
            if (d) diag_note(d, said->at, "the other order");
            if (d) diag_help(d, "leave one out");
            return false;
        }
        said = block ? block : order ? order : m.window;
        rows->level = i;
        if (windows) plan_window_rows(p, left[i], &m, rows);
        if (!order && !block) continue;
        if (order) order->consumed = true;
        if (block ? !plan_tile_rows(p, left[i], block, order, rows)
                  : !row_order(p, order, left[i], &rows->order))
            return false;
    }
    return true;
}

// Steps from `made` to `end` go before those from `first` on: the longest rows begin, and short
// ones fill what they leave of the machine. What takes up rows that are cut stays behind.
static void launch_first(planner *p, uint32_t first, uint32_t made, uint32_t end) {
    loop_step *steps = p->plan->steps.data;
    const uint32_t later = made - first;
    if (!later || made == end) return;
    loop_step *kept = ARENA_ARRAY(p->arena, loop_step, later);
    memcpy(kept, steps + first, later * sizeof *kept);
    memmove(steps + first, steps + made, (end - made) * sizeof *steps);
    memcpy(steps + end - later, kept, later * sizeof *kept);
}

static loop_kernel *kernel_at(const planner *p, uint32_t step) {
    return p->plan->steps.data[step].kernel;
}

// What one class writes and another one touches; TENSOR_NO_VAL: nothing.
static tensor_val meets_before(const planner *p, uint32_t first, uint32_t step) {
    loop_uses own = loop_uses_of(p->arena, p->plan, kernel_at(p, step));
    for (uint32_t i = first; i < step; i++) {
        loop_uses theirs = loop_uses_of(p->arena, p->plan, kernel_at(p, i));
        tensor_val v = loop_uses_meet(p->plan, &own, &theirs);
        if (v != TENSOR_NO_VAL) return v;
    }
    return TENSOR_NO_VAL;
}

static void refuse_unlike(planner *p, const schedule_cell *bucket, const loop_kernel *a,
                          const loop_kernel *b) {
    diagnostic *d = plan_refuse(
        p, E0541, bucket->at,
        "classes of one launch have blocks that are alike, and none stays: %s; %s",
        loop_blocks_text(p->arena, a), loop_blocks_text(p->arena, b));
    if (d)
        diag_help(
            d,
            "give each class as many groups and lanes, one `occupancy` and no `persistent`, or leave `fused` out");
}

// The kernels from `first` to `end`, one for each class, in one launch. The default's are in
// several where they meet.
static void launch_fused(planner *p, const schedule_cell *bucket, uint32_t first, uint32_t end) {
    tensor_val v = TENSOR_NO_VAL;
    for (uint32_t i = first + 1; i < end && v == TENSOR_NO_VAL; i++) {
        if (!loop_blocks_alike(kernel_at(p, first), kernel_at(p, i))) {
            refuse_unlike(p, bucket, kernel_at(p, first), kernel_at(p, i));
            return;
        }
        v = meets_before(p, first, i);
    }
    if (v != TENSOR_NO_VAL && p->s->automatic) return;
    if (v != TENSOR_NO_VAL) {
        diagnostic *d = plan_refuse(
            p, E0541, bucket->at,
            "classes of one launch run at the same time, and these meet in '%s', which one writes and others use",
            p->op->vals.data[v].name);
        if (d) diag_help(d, "leave `fused` out");
        return;
    }
    for (uint32_t i = first + 1; i < end; i++) kernel_at(p, i)->start = LOOP_START_FUSED;
}

void plan_each_class(planner *p, const tensor_stage *deepest, plan_emit *emit, void *user) {
    const uint32_t first = p->plan->steps.len;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, deepest->nleft + 1);
    uint32_t nleft = plan_left(p, deepest, left), n = 1;
    schedule_cell *bucket = nleft ? schedule_find(p->s, deepest->id, SCHEDULE_BUCKET,
                                                  p->op->vars.data[left[0]].id)
                                  : NULL;
    const schedule_value *use = bucket ? schedule_value_of(bucket, "use") : NULL;
    row_class *classes = ARENA_ARRAY(p->arena, row_class, use ? use->nnames : 1);
    if (bucket) bucket->consumed = true;   // its points are in the order of its key
    if (bucket ? !degree_classes(p, bucket, left[0], classes, &n)
               : !find_rows(p, deepest, left, nleft, classes))
        return;
    schedule *whole = p->whole = p->s;
    uint32_t end = first;
    for (uint32_t i = 0; i < n && !p->failed; i++) {
        p->s = classes[i].schedule;
        const uint32_t made = p->plan->steps.len;
        p->cut.taken_up = UINT32_MAX;
        emit(p, &classes[i], n > 1 ? i + 1 : 0, user);
        end = p->cut.taken_up < p->plan->steps.len ? p->cut.taken_up : p->plan->steps.len;
        launch_first(p, first, made, end);
    }
    p->s = whole;
    p->whole = NULL;
    if (bucket && !p->failed && schedule_value_of(bucket, "fused"))
        launch_fused(p, bucket, first, end);
}

// Stages of a fused kernel share rows: the points of their outermost index, in one order.
bool plan_shares_rows(planner *p, const stage_group *g) {
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        for (uint32_t k = 0; k < st->nleft; k++) {
            const tensor_id index = plan_var_id(p, st->left[k]);
            const schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_BLOCK, index);
            bool tiles = plan_tiled(c) != NULL;
            if (!tiles) c = k ? schedule_find(p->s, st->id, SCHEDULE_ORDER, index) : NULL;
            if (!c) continue;
            diagnostic *d = plan_refuse(
                p, E0530, c->at, "'%s'%s of a kernel with shared rows has no pass in this version",
                schedule_verb_text(c->verb), tiles ? " by a map" : "");
            if (d) diag_help(d, "leave it out, or fuse and keep less");
            return false;
        }
    }
    return true;
}
