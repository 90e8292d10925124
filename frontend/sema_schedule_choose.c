// Which schedules an op may be compiled by. A schedule is executed whole or not at all: where no
// pass executes what a statement says here, compiling is refused, and --no-schedule asks for the
// naive plan.
#include "sema_gradient.h"
#include "sema_rules.h"
#include "sema_schedule_names.h"
#include "sema_schedule_resolve.h"
#include <string.h>

static void add_schedules(frontend_unit *u, const char *path, schedule_items *list) {
    for (uint32_t rank = 0; rank < RULES_RANKS; rank++)
        for (uint32_t i = 0; i < u->sema->schedules.len; i++) {
            const ast_item *item = u->sema->schedules.data[i];
            if (schedule_path_is(item->path, path) && rules_rank(u, item->at) == rank)
                VEC_PUSH(u->arena, list, item);
        }
}

// An alias takes its own schedules first, then those of the op it is a form of. Those of rules go
// before the main file's, and these before imported ones.
static schedule_items schedules_of(frontend_unit *u, const frontend_op *f) {
    schedule_items list = {0};
    const ast_item *op = f->item;
    add_schedules(u, f->path, &list);
    if (op->kind == AST_OP_ALIAS && !f->grad) add_schedules(u, op->target.text, &list);
    return list;
}

// ---- Passes -------------------------------------------------------------------------------------
static bool refuse(frontend_unit *u, uint32_t op, const char *target, const schedule *s,
                   const schedule_cell *c) {
    bool forced = u->sema->options.schedule != NULL;
    diagnostic *d = diag(
        u->ds, E0530, c->at,
        "'%s' has no pass in this version but with 'mma', or with a 'tile' in shared memory",
        schedule_verb_text(c->verb));
    diag_note(d, s->at,
              forced ? "schedule '%s' of '%s' was asked for"
                     : "schedule '%s' of '%s' may apply on %s",
              s->name, u->ops.data[op].name, target);
    diag_help(d, "compile with --no-schedule: the naive plan is right for every op");
    return false;
}

// Copies for rounds are those of matrix operations, and of tiles.
static bool has_pass(const schedule *s, const schedule_cell *c) {
    bool rounds = c->verb != SCHEDULE_PIPELINE;
    for (uint32_t i = 0; i < s->cells.len; i++) {
        schedule_verb verb = s->cells.data[i].verb;
        rounds |= verb == SCHEDULE_MMA || verb == SCHEDULE_TILE;
    }
    return rounds;
}

bool frontend_executable(frontend_unit *u, uint32_t op, const char *target, const schedule *s) {
    bool good = true;
    for (uint32_t i = 0; i < s->cells.len; i++) {
        const schedule_cell *c = &s->cells.data[i];
        if (!c->empty && !has_pass(s, c)) good = refuse(u, op, target, s, c);
        for (uint32_t v = 0; v < c->nvalues; v++)
            for (uint32_t n = 0; c->values[v].schedules && n < c->values[v].nnames; n++)
                good &= frontend_executable(u, op, target, c->values[v].schedules[n]);
    }
    return good;
}

// ---- --schedule ---------------------------------------------------------------------------------
static bool report_no_schedule(frontend_unit *u, const char *op, const schedule_items *list) {
    const char *name = u->sema->options.schedule;
    diagnostic *d = diag(u->ds, E0531, NO_SPAN, "'%s' has no schedule '%s'", op, name);
    schedule_names there = {0};
    textbuf b = textbuf_new(u->arena);
    for (uint32_t i = 0; i < list->len; i++) {
        VEC_PUSH(u->arena, &there, list->data[i]->name.text);
        textbuf_printf(&b, "%s%s", i ? ", " : "", list->data[i]->name.text);
    }
    diag_suggest(d, NO_SPAN, name, there.data, there.len);
    diag_help(d, list->len ? "its schedules: %s" : "it has none%s; --op takes one op of a file",
              b.data);
    return false;
}

static const ast_item *find_named(frontend_unit *u, const char *op, const schedule_items *list,
                                  const char *target) {
    const char *name = intern(u->names, u->sema->options.schedule);
    const ast_item *item = NULL;
    for (uint32_t i = 0; i < list->len && !item; i++)
        if (list->data[i]->name.text == name) item = list->data[i];
    if (!item) return report_no_schedule(u, op, list), NULL;
    if (schedule_for(item, target) || (u->sema->options.schedule_of_gpu && !strcmp(target, "host")))
        return item;
    const ast_names *targets = item->schedule.targets;
    diagnostic *d = diag(u->ds, E0532, targets ? targets->name.at : item->name.at,
                         "schedule '%s' of '%s' is not for %s", name, op, target);
    if (!targets) diag_help(d, "without 'for' a schedule is for GPUs");
    return NULL;
}

// ---- All that may apply -------------------------------------------------------------------------
// Versions of a program go by the names of their schedules; an alias and its op may both have one
// of that name.
static const char *free_name_in(arena *a, const schedule_list *list, const char *base) {
    const char *name = base;
    for (uint32_t i = 0, n = 2; i < list->len; i++) {
        if (strcmp(list->data[i]->name, name)) continue;
        name = arena_printf(a, "%s_%u", base, n++);
        i = UINT32_MAX;   // from the start
    }
    return name;
}

// One a way for its conditions to hold; each has cells of its own, as passes mark them.
static void add_alternatives(schedule_resolver *r, const ast_item *item,
                             const schedule_alternatives *ways, schedule_list *out) {
    arena *a = r->unit->arena;
    schedule *s = ways->len ? schedule_resolve(r, item) : NULL;
    for (uint32_t i = 0; i < ways->len; i++) {
        schedule *one = ARENA_NEW(a, schedule);
        *one = *s;
        one->cells.data = NULL;
        one->cells.len = one->cells.cap = 0;
        for (uint32_t k = 0; k < s->cells.len; k++) VEC_PUSH(a, &one->cells, s->cells.data[k]);
        for (uint32_t k = 0; k < ways->data[i].len; k++)
            VEC_PUSH(a, &one->when, ways->data[i].data[k]);
        one->name = free_name_in(a, out, s->name);
        VEC_PUSH(a, out, one);
        VEC_PUSH(a, &r->made, one);
    }
}

static bool add_schedule(schedule_resolver *r, const ast_item *item, schedule_list *out) {
    schedule_alternatives ways = {0};
    if (r->place.s->options.schedule) VEC_PUSH(r->unit->arena, &ways, (schedule_conditions){0});
    else if (!schedule_conditions_open(&r->place, item, &ways)) return false;
    add_alternatives(r, item, &ways, out);
    return true;
}

// ---- What is kept -------------------------------------------------------------------------------
static bool has_index(const tensor_op *op, const tensor_stage *st, const char *name) {
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++) {
        tensor_var v = i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
        if (!strcmp(tensor_id_name(op->ids, op->vars.data[v].id), name)) return true;
    }
    return false;
}

static bool has_stage(const tensor_op *op, const char *stage) {
    for (uint32_t i = 0; i < op->stages.len; i++)
        if (!strcmp(op->stages.data[i].name, stage)) return true;
    return false;
}

// Whether it says how to compute a stage that the twin is given, or whose sum it finds in what it
// is given.
static bool is_about_given(const tensor_op *whole, const tensor_op *twin, const schedule_cell *c) {
    for (uint32_t i = 0; i < whole->stages.len; i++) {
        const tensor_stage *st = &whole->stages.data[i];
        bool about = (!c->stage || schedule_path_covers(c->stage, st->name)) &&
                     (!c->subject || has_index(whole, st, c->subject) ||
                      !strcmp(c->subject, st->name));
        if (about && !has_stage(twin, st->name)) return true;
    }
    return false;
}

static tensor_op *without_twin(frontend_unit *u, uint32_t op) {
    for (uint32_t i = 0; i < u->ops.len; i++)
        if (!u->ops.data[i].twin && u->ops.data[i].path == u->ops.data[op].path)
            return frontend_lower(u, i);
    return NULL;
}

// `save` and `recompute` have decided which stages there are. What says how to compute one has its
// meaning where it is computed, and none is missed where it is given.
static void consume_kept(frontend_unit *u, uint32_t op, const tensor_op *lowered,
                         schedule_resolver *r) {
    const tensor_op *whole = u->ops.data[op].twin == TWIN_SAVED && r->made.len ? without_twin(u, op)
                                                                               : NULL;
    for (uint32_t i = 0; i < r->made.len; i++)
        for (uint32_t k = 0; k < r->made.data[i]->cells.len; k++) {
            schedule_cell *c = &r->made.data[i]->cells.data[k];
            c->consumed |= c->verb == SCHEDULE_SAVE || c->verb == SCHEDULE_RECOMPUTE ||
                           (whole && is_about_given(whole, lowered, c));
        }
}

// All that are, where one was asked for by name.
static schedule_items those_for(frontend_unit *u, const schedule_items *list, const char *target) {
    schedule_items fit = {0};
    for (uint32_t i = 0; i < list->len; i++)
        if (u->sema->options.schedule || schedule_for(list->data[i], target))
            VEC_PUSH(u->arena, &fit, list->data[i]);
    return fit;
}

bool frontend_schedules(frontend_unit *u, uint32_t op, const char *target, const tensor_op *lowered,
                        schedule_list *out, schedule_choice *choice) {
    sema *s = u->sema;
    const ast_item *item = u->ops.data[op].item;
    *out = (schedule_list){0};
    *choice = (schedule_choice){0};
    if (!schedules_check(s)) return false;
    if (s->options.no_schedule) return true;
    schedule_items list = schedules_of(u, &u->ops.data[op]);
    if (s->options.schedule) {
        const ast_item *named = find_named(u, u->ops.data[op].name, &list, target);
        if (!named) return false;
        list.data[0] = named;
        list.len = schedule_for(named, target);
    }
    const ast_item *body = sema_op_body(s, item);
    schedule_op compiled = {
        .path = u->ops.data[op].path, .item = item, .body = body, .op = lowered};
    schedule_resolver r = {.place = {.s = s, .op = &compiled, .target = target}, .unit = u};
    uint32_t errors = diag_raised(u->ds);
    list = those_for(u, &list, target);
    for (uint32_t i = 0; i < list.len; i++) {
        const uint32_t before = out->len;
        add_schedule(&r, list.data[i], out);
        for (uint32_t k = before; k < out->len; k++) out->data[k]->number = i;
    }
    schedule_choice_open(&r.place, u, &u->ops.data[op], &list, choice);
    for (uint32_t i = 0; i < r.made.len; i++) {
        schedule *s = r.made.data[i];
        if (s->canonical) s->op = r.canonical_op ? r.canonical_op : r.canonical->op;
        else s->op = r.op ? r.op : lowered;
    }
    consume_kept(u, op, lowered, &r);
    if (u->ops.data[op].grad && !u->ops.data[op].twin)
        saved_check(s, u->ops.data[op].grad, frontend_differentiated(u, op), lowered);
    return diag_raised(u->ds) == errors;
}
