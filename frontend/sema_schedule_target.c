// Targets of schedules: "for host", "for sm_80" (that and later), "for sm_90a" (just that). Without
// "for" it is for every GPU.
#include "gpu.h"
#include "sema_schedule.h"
#include <stdlib.h>
#include <string.h>

static bool schedule_target_name(const char *name, uint32_t *sm, bool *exact) {
    *sm = 0;
    *exact = true;
    if (!strcmp(name, "host")) return true;
    size_t digits = strncmp(name, "sm_", 3) ? 0 : strspn(name + 3, "0123456789");
    const char *rest = name + 3 + digits;
    if (digits < 2 || digits > 3 || (*rest && strcmp(rest, "a") && strcmp(rest, "f"))) return false;
    *sm = (uint32_t)atoi(name + 3);
    *exact = *rest != 0;
    return true;
}

static bool known(const frontend_options *o, const char *name) {
    uint32_t sm;
    bool exact;
    for (uint32_t i = 0; i < o->ntargets; i++)
        if (!strcmp(o->targets[i], name)) return true;
    return !o->ntargets && schedule_target_name(name, &sm, &exact);
}

void schedule_targets_check(schedule_checker *c) {
    const frontend_options *o = &c->s->options;
    for (const ast_names *n = c->item->schedule.targets; n; n = n->next) {
        for (const ast_names *m = c->item->schedule.targets; m != n; m = m->next)
            if (m->name.text == n->name.text) {
                diagnostic *d = diag(c->ds, E0513, n->name.at, "'%s' is named twice", n->name.text);
                diag_note(d, m->name.at, "first here");
            }
        if (known(o, n->name.text)) continue;
        diagnostic *d = diag(c->ds, E0513, n->name.at, "'%s' is no target", n->name.text);
        if (!diag_suggest(d, n->name.at, n->name.text, o->targets, o->ntargets))
            diag_help(d, "host, or a GPU such as sm_80, which stands for later ones too");
    }
}

bool schedule_for(const ast_item *item, const char *target) {
    uint32_t sm, want;
    bool exact, host = !strcmp(target, "host");
    if (!item->schedule.targets) return !host;
    if (!schedule_target_name(target, &sm, &exact)) return false;
    for (const ast_names *n = item->schedule.targets; n; n = n->next) {
        if (!schedule_target_name(n->name.text, &want, &exact)) continue;
        if (want && !exact ? sm >= want : !strcmp(n->name.text, target)) return true;
    }
    return false;
}

// ---- What a statement needs ---------------------------------------------------------------------
// A statement of another schedule is told at "like".
static diagnostic *report(schedule_checker *c, span at, const char *text, const char *why) {
    bool own = c->from == c->item;
    diagnostic *d = diag(c->ds, E0528, own ? at : c->item->as.at, "'%s' %s", text, why);
    return own ? d : diag_note(d, at, "schedule '%s' says it here", c->from->name.text);
}

static bool serves(const char *target, const gpu_feature *f) {
    const gpu_arch *a = gpu_arch_find(target);
    return strcmp(target, "host") && (!f || !a || gpu_has(a, *f));
}

static void check_need(schedule_checker *c, const char *needs, span at, const char *text) {
    bool grad = !strcmp(needs, "grad");
    if (grad && c->op->gradient) return;
    if (grad) {
        diagnostic *d = report(c, at, text,
                               "is for gradients: a forward op keeps nothing by itself");
        diag_help(d, "say it in a schedule of '%s.grad'", c->op->path);
        return;
    }
    gpu_feature feature;
    bool any = !gpu_feature_find(needs, &feature);   // of GPUs
    const char *since = any ? NULL : gpu_since(feature)->name;
    for (const ast_names *n = c->item->schedule.targets; n; n = n->next) {
        if (serves(n->name.text, any ? NULL : &feature)) continue;
        const char *why = any ? "has no meaning on the host"
                              : arena_printf(c->s->arena, "needs %s", since);
        diag_note(report(c, at, text, why), n->name.at, "the schedule is for '%s'", n->name.text);
        return;
    }
    if (c->item->schedule.targets || any) return;
    diag_help(report(c, at, text, arena_printf(c->s->arena, "needs %s", since)),
              "say what the schedule is for: for %s", since);
}

void schedule_need_add(schedule_checker *c, const char *needs, span at, const char *text) {
    if (*needs) VEC_PUSH(c->s->arena, &c->needs, ((schedule_need){needs, text, at}));
}

void schedule_needs_check(schedule_checker *c) {
    bool counts = c->from == c->item ? !c->emptied : c->filled;
    for (uint32_t i = 0; i < c->needs.len && counts; i++)
        check_need(c, c->needs.data[i].needs, c->needs.data[i].at, c->needs.data[i].text);
    c->needs.len = 0;
}
