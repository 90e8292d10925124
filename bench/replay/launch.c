// The same launch over two poisons: what is not written, or computed from what was not, differs.
#include "replay.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 0xAA, SECOND = 0x55 };

static bool is_overwritten(const launch_data *l, uint32_t i) {
    for (uint32_t k = 0; k < l->n; k++)
        if (l->over[k] == i) return true;
    return false;
}

static const char *name_of(const replay *r, uint32_t i) {
    gnn_param_info info;
    return gnn_program_param(r->program, i, &info) ? "?" : info.name;
}

static bool set_up(replay *r, launch_data *l, uint8_t poison) {
    for (uint32_t i = 0; i < l->n; i++)
        if (l->regions[i].image &&
            replay_failed(r, region_upload(&l->regions[i], poison, l->inputs[i])))
            return false;
    return !l->workspace.image || !replay_failed(r, region_upload(&l->workspace, poison, NULL));
}

static bool launch(replay *r, launch_data *l) {
    machine_begin();
    gnn_status s = gnn_launch(l->plan, l->args, l->n, l->workspace.tensor.data,
                              (size_t)l->workspace.count, NULL);
    if (!s) s = gnn_sync(r->context, NULL);
    const uint32_t faults = machine_end();
    if (faults) replay_wrong(r, "%u faults in kernels", faults);
    return !replay_failed(r, s);
}

// Of a workspace only what lies around it may not be written.
static void check_workspace(replay *r, launch_data *l, uint8_t poison) {
    region *x = &l->workspace;
    void *written = x->image ? malloc((size_t)x->count + 1) : NULL;
    if (!written || replay_failed(r, region_download(x))) {
        free(written);
        return;
    }
    region_get(x, written);
    if (!region_intact(x, poison, written))
        replay_wrong(r, "memory around the workspace was written");
    free(written);
}

// Results as they were stored, packed, to stored[i]; what lies around them and the inputs must be
// as they were.
static bool collect(replay *r, launch_data *l, uint8_t poison, void **stored) {
    for (uint32_t i = 0; i < l->n; i++) {
        region *x = &l->regions[l->over[i] < 0 ? i : (uint32_t)l->over[i]];
        if (!l->args[i].tensor) continue;
        if (l->over[i] < 0 && replay_failed(r, region_download(x))) return false;
        if (l->intervals[i]) {
            stored[i] = malloc((size_t)x->count * gnn_dtype_bytes(x->tensor.dtype) + 1);
            if (!stored[i]) return false;
            region_get(x, stored[i]);
        }
        if (!is_overwritten(l, i) &&
            !region_intact(x, poison, l->intervals[i] ? stored[i] : l->inputs[i]))
            replay_wrong(r, "memory %s '%s' was written", l->intervals[i] ? "around" : "of",
                         name_of(r, i));
    }
    check_workspace(r, l, poison);
    return !r->lost;
}

static bool compare(replay *r, launch_data *l, uint32_t i, const void *stored) {
    enum { LONGEST = 140 };
    char text[LONGEST];
    const region *x = &l->regions[l->over[i] < 0 ? i : (uint32_t)l->over[i]];
    comparison c = intervals_compare(x->tensor.dtype, stored, l->intervals[i], x->count);
    r->tally->compared += c.compared;
    r->tally->open += c.open;
    if (!c.wrong) return true;
    interval_print(text, sizeof text, x->tensor.dtype, stored, l->intervals[i], x->count,
                   c.first_wrong);
    replay_wrong(r, "element %lld of '%s' is %s; %lld of %lld are wrong", (long long)c.first_wrong,
                 name_of(r, i), text, (long long)c.wrong, (long long)c.compared);
    return false;
}

static bool is_poison(const uint8_t *at, size_t n, uint8_t poison) {
    for (size_t k = 0; k < n; k++)
        if (at[k] != poison) return false;
    return true;
}

static void compare_launches(replay *r, launch_data *l, uint32_t i, const uint8_t *a,
                             const uint8_t *b) {
    const region *x = &l->regions[l->over[i] < 0 ? i : (uint32_t)l->over[i]];
    const size_t n = gnn_dtype_bytes(x->tensor.dtype);
    for (size_t k = 0; k < (size_t)x->count; k++) {
        if (!memcmp(a + k * n, b + k * n, n)) continue;
        if (is_poison(a + k * n, n, FIRST) && is_poison(b + k * n, n, SECOND))
            replay_wrong(r, "element %zu of '%s' is not written", k, name_of(r, i));
        else if (gnn_program_deterministic(r->program))
            replay_wrong(
                r,
                "element %zu of '%s' differs between two launches, or comes from memory not written",
                k, name_of(r, i));
        return;
    }
}

void replay_launches(replay *r, launch_data *l) {
    void **first = calloc(2 * l->n + 1, sizeof *first), **second = first + l->n;
    if (first && set_up(r, l, FIRST) && launch(r, l) && collect(r, l, FIRST, first) &&
        set_up(r, l, SECOND) && launch(r, l) && collect(r, l, SECOND, second))
        for (uint32_t i = 0; i < l->n; i++) {
            if (!l->intervals[i]) continue;
            if (compare(r, l, i, first[i])) compare(r, l, i, second[i]);
            compare_launches(r, l, i, first[i], second[i]);
        }
    for (uint32_t i = 0; first && i < 2 * l->n; i++) free(first[i]);
    free(first);
}
