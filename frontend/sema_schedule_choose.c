// Which schedule an op is compiled by. A schedule is executed whole or not at all: where a pass is missing
// for one of its statements, compiling is refused, and --no-schedule asks for the naive plan.
#include "schedule.h"
#include <string.h>

typedef VEC(const ast_item *) item_list;

static void add_schedules(frontend_unit *u, const char *path, item_list *list) {
    for (int imported = 0; imported < 2; imported++)
        for (uint32_t i = 0; i < u->sema->schedules.len; i++) {
            const ast_item *item = u->sema->schedules.data[i];
            bool elsewhere = source_map_file(diag_sources(u->ds), item->at.lo) != u->main;
            if (elsewhere == imported && schedule_path_is(item->path, path)) VEC_PUSH(u->arena, list, item);
        }
}

// An alias takes its own schedules first, then those of the op it is a form of. The main file's go before
// imported ones.
static item_list schedules_of(frontend_unit *u, const ast_item *op) {
    item_list list = {0};
    add_schedules(u, op->name.text, &list);
    if (op->kind == AST_OP_ALIAS) add_schedules(u, op->target.text, &list);
    return list;
}

static span verb_span(const ast_statement *st) {
    bool tuned = !strcmp(st->verb.text, "tune") && st->words;
    return tuned ? st->words->subjects->at : st->verb.at;
}

// Its first statement that no pass executes; NULL: there is none.
static const schedule_cell *unexecuted(sema *s, const ast_item *item) {
    sema quiet = *s;
    quiet.ds = diag_set_new(s->arena, diag_sources(s->ds));
    schedule_checker *c = ARENA_NEW(s->arena, schedule_checker);
    schedule_collect(c, &quiet, item);
    for (uint32_t i = 0; i < c->cells.len; i++)
        if (!c->cells.data[i].empty && !*c->cells.data[i].what->pass) return &c->cells.data[i];
    return NULL;
}

static bool executable(frontend_unit *u, const char *op, const ast_item *item, const char *target) {
    const schedule_cell *cell = unexecuted(u->sema, item);
    if (!cell) return true;
    bool forced = u->sema->options.schedule != NULL;
    diagnostic *d = diag(u->ds, E0530, verb_span(cell->statement), "'%s' has no pass in this version",
                         cell->what->verb);
    diag_note(d, item->name.at,
              forced ? "schedule '%s' of '%s' was asked for" : "schedule '%s' of '%s' may apply on %s",
              item->name.text, op, target);
    diag_help(d, "compile with --no-schedule: the naive plan is right for every op");
    return false;
}

// ---- --schedule -----------------------------------------------------------------------------------------
static bool report_no_schedule(frontend_unit *u, const char *op, const item_list *list) {
    const char *name = u->sema->options.schedule;
    diagnostic *d = diag(u->ds, E0531, NO_SPAN, "'%s' has no schedule '%s'", op, name);
    schedule_names there = {0};
    textbuf b = textbuf_new(u->arena);
    for (uint32_t i = 0; i < list->len; i++) {
        VEC_PUSH(u->arena, &there, list->data[i]->name.text);
        textbuf_printf(&b, "%s%s", i ? ", " : "", list->data[i]->name.text);
    }
    const char *near = closest_name(name, there.data, there.len);
    if (near) diag_help(d, "did you mean '%s'?", near);
    diag_help(d, list->len ? "its schedules: %s" : "it has none%s; --op takes one op of a file", b.data);
    return false;
}

static bool take_named(frontend_unit *u, const char *op, const item_list *list, const char *target) {
    const char *name = intern(u->names, u->sema->options.schedule);
    const ast_item *item = NULL;
    for (uint32_t i = 0; i < list->len && !item; i++)
        if (list->data[i]->name.text == name) item = list->data[i];
    if (!item) return report_no_schedule(u, op, list);
    if (schedule_for(item, target)) return executable(u, op, item, target);
    diagnostic *d = diag(u->ds, E0532, item->targets ? item->targets->name.at : item->name.at,
                         "schedule '%s' of '%s' is not for %s", name, op, target);
    if (!item->targets) diag_help(d, "without 'for' a schedule is for GPUs");
    return false;
}

bool schedule_choose(frontend_unit *u, uint32_t op, const char *target) {
    sema *s = u->sema;
    const ast_item *item = u->ops.data[op].item;
    if (!schedules_check(s)) return false;
    if (s->options.no_schedule) return true;
    item_list list = schedules_of(u, item);
    if (s->options.schedule) return take_named(u, item->name.text, &list, target);
    const ast_item *body = item->kind == AST_OP_ALIAS ? sema_find(s->ops.data, s->ops.len, item->target.text)
                                                      : item;
    for (uint32_t i = 0; i < list.len; i++) {
        const schedule_op *of = schedule_op_find(s, list.data[i]);
        schedule_op compiled = {.item = item, .body = body, .op = of ? of->op : NULL};
        bool applies = schedule_for(list.data[i], target) &&
                       schedule_when_may_hold(s, &compiled, list.data[i]);
        if (applies && !executable(u, item->name.text, list.data[i], target)) return false;
    }
    return true;
}
