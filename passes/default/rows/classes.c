// Classes of rows by length, each with a schedule of its own: a row of many entries gets a block,
// one of a few some lanes.
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "default/rows/rows.h"
#include "kernels/kernels.h"

static schedule *class_of_rows(making *m, const stage_group *g, const default_class *of,
                               uint32_t number, void (*more)(void *user, uint32_t number),
                               void *user) {
    schedule *whole = m->s;
    m->s = ARENA_NEW(m->p->arena, schedule);
    *m->s = (schedule){.name = arena_printf(m->p->arena, "%s_%s",
                                            m->p->op->stages.data[g->data[g->len - 1]].name,
                                            of->name),
                       .op = whole->op,
                       .ids = whole->ids,
                       .automatic = true};
    m->owner = of->owner;
    m->owners = of->owners;
    default_stages(m, g);
    if (more) more(user, number);
    schedule *made = m->s;
    default_nones(m);
    m->owner = ROW_OF_LANES;
    m->owners = 0;
    m->s = whole;
    return made;
}

void default_bucket(making *m, const stage_group *g, tensor_val map, const default_classes *all,
                    void (*more)(void *user, uint32_t number), void *user) {
    arena *a = m->p->arena;
    const tensor_stage *deepest = &m->p->op->stages.data[g->data[g->len - 1]];
    default_bucket_class *made = ARENA_ARRAY(a, default_bucket_class, all->n);
    for (uint32_t i = 0; i < all->n; i++) {
        made[i].use = class_of_rows(m, g, &all->of[i], i, more, user);
        made[i].limit = all->of[i].limit;   // what is dealt out may have said so
    }
    const default_standing how = {all->stands ? made[0].limit - 1 : 0, false};
    default_fill_bucket(m, deepest, default_left_of(m->p, deepest).at[0], map, made, all->n, &how);
}

void default_long_rows(making *m, const stage_group *g, tensor_val map) {
    const default_class two[] = {{"light", ROW_OF_LANES, 0, DEFAULT_HEAVY},
                                 {"heavy", ROW_OF_BLOCK, default_heavy_groups(m->p), 0}};
    default_bucket(m, g, map, &(default_classes){two, 2, false}, NULL, NULL);
}
