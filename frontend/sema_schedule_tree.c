// Choices: a tree of conditions, of which the leaves name schedules of one op. They are checked
// here.
#include "gpu.h"
#include "sema_schedule_names.h"
#include "sema_schedule_tree.h"
#include <string.h>

enum { MAX_LEVELS = 24 };

static const ast_expr *without_parentheses(const ast_expr *e) {
    while (e->kind == AST_PAREN) e = e->args;
    return e;
}

bool schedule_is_default(const ast_expr *leaf) { return !strcmp(leaf->name.text, "default"); }

// An alias has the schedules of the op that it is a form of, too.
const ast_item *schedule_chosen(const sema *s, const schedule_op *op, const char *name) {
    const ast_item *own = schedule_named(s, op->path, name);
    if (own || op->gradient || op->item->kind != AST_OP_ALIAS) return own;
    return schedule_named(s, op->item->target.text, name);
}

// ---- Leaves -------------------------------------------------------------------------------------
static diagnostic *report_leaf(schedule_checker *c, span at, const char *what) {
    return diag(c->s->ds, E0534, at, "%s", what);
}

static void report_unknown(schedule_checker *c, const ast_expr *leaf) {
    const char *name = leaf->name.text;
    diagnostic *d = report_leaf(
        c, leaf->at, arena_printf(c->s->arena, "'%s' has no schedule '%s'", c->op->path, name));
    schedule_names there = {0};
    const ast_item *elsewhere = NULL;
    for (uint32_t i = 0; i < c->s->schedules.len; i++) {
        const ast_item *item = c->s->schedules.data[i];
        if (schedule_chosen(c->s, c->op, item->name.text) == item)
            VEC_PUSH(c->s->arena, &there, item->name.text);
        if (item->name.text == name) elsewhere = item;
    }
    if (elsewhere)
        diag_note(d, elsewhere->name.at, "this one is of '%s'",
                  schedule_path_text(c->s, elsewhere->path));
    VEC_PUSH(c->s->arena, &there, "default");
    schedule_suggest(c, d, leaf->at, name, &there, "it chooses among");
}

// Where the choice is made, the schedule may be taken: without `for` on every GPU, so on the first
// that there is.
static const char *beyond(const ast_item *choice, const ast_item *chosen) {
    const ast_names *n = choice->schedule.targets;
    if (!n) return schedule_for(chosen, gpu_arch_at(0)->name) ? NULL : gpu_arch_at(0)->name;
    for (; n; n = n->next)
        if (!schedule_for(chosen, n->name.text)) return n->name.text;
    return NULL;
}

static void check_leaf(schedule_checker *c, const ast_expr *leaf) {
    if (leaf->kind != AST_NAME) {
        diagnostic *d = report_leaf(
            c, leaf->at,
            "a choice ends in the name of a schedule, or in default, and this is none");
        diag_help(d, "choose %s = CONDITION ? SCHEDULE : default;", c->op->path);
        return;
    }
    if (schedule_is_default(leaf)) return;
    const ast_item *chosen = schedule_chosen(c->s, c->op, leaf->name.text);
    const char *target = chosen ? beyond(c->item, chosen) : NULL;
    if (!chosen) report_unknown(c, leaf);
    if (!target) return;
    const ast_names *for_names = chosen->schedule.targets;
    const char *what = arena_printf(c->s->arena, "schedule '%s' is not for %s", leaf->name.text,
                                    target);
    diagnostic *d = report_leaf(c, leaf->at, what);
    diag_note(d, for_names ? for_names->name.at : chosen->name.at,
              for_names ? "it is for this" : "it is for GPUs");
    textbuf b = textbuf_new(c->s->arena);
    for (const ast_names *n = for_names; n; n = n->next)
        textbuf_printf(&b, "%s%s", n == for_names ? "" : ", ", n->name.text);
    diag_help(d, "say what the choice is for: choose %s%s%s = …;", c->op->path,
              for_names ? " for " : "", b.data);
}

// ---- The tree -----------------------------------------------------------------------------------
// An alignment is known at a launch, and a choice is made with the plan.
static bool check_decided(schedule_checker *c, const ast_expr *e) {
    if (!schedule_asks_alignment(e)) return true;
    diagnostic *d = diag(c->s->ds, E0527, e->at,
                         "alignment is known at a launch, and a choice is made before it");
    diag_help(
        d,
        "say `when (aligned(x, 16))` of the schedule: where it does not hold, the next is tried");
    return false;
}

static void check_tree(schedule_checker *c, const ast_expr *e, uint32_t level) {
    e = without_parentheses(e);
    if (e->kind != AST_COND) {
        check_leaf(c, e);
        return;
    }
    if (level > MAX_LEVELS) {
        diag(c->s->ds, E0536, e->at, "a choice has at most %d conditions one inside another",
             MAX_LEVELS);
        return;
    }
    if (c->op->op && check_decided(c, e->args)) schedule_condition_check(c, e->args);
    check_tree(c, e->args->next, level + 1);
    check_tree(c, e->args->next->next, level + 1);
}

void schedule_tree_check(schedule_checker *c) {
    for (const ast_condition *w = c->item->schedule.when; w; w = w->next)
        if (c->op->op) check_decided(c, w->expr);
    check_tree(c, c->item->body, 1);
}
