// Choices: a tree of conditions, of which the leaves name schedules of one op. They are checked
// here, and made what passes and the runtime read.
#include "gpu.h"
#include "sema_rules.h"
#include "sema_schedule_names.h"
#include "sema_schedule_resolve.h"
#include "sema_schedule_tree.h"
#include <string.h>

// What the runtime's stack holds is 64 values deep.
enum { MAX_LEVELS = 24, MAX_DEPTH = 64 };

static const ast_expr *without_parentheses(const ast_expr *e) {
    while (e->kind == AST_PAREN) e = e->args;
    return e;
}

static bool is_default(const ast_expr *leaf) { return !strcmp(leaf->name.text, "default"); }

// An alias has the schedules of the op that it is a form of, too.
static const ast_item *chosen_of(const sema *s, const schedule_op *op, const char *name) {
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
        if (chosen_of(c->s, c->op, item->name.text) == item)
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
    if (is_default(leaf)) return;
    const ast_item *chosen = chosen_of(c->s, c->op, leaf->name.text);
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

// ---- What is left open --------------------------------------------------------------------------
typedef struct {
    const schedule_place *p;
    const schedule_items *items;
    ratio_context numbers;
    bool wants_default;
} opening;

static schedule_tree *new_tree(opening *o, const char *text, span at) {
    schedule_tree *t = ARENA_NEW(o->numbers.arena, schedule_tree);
    t->kind = TREE_LEAF;
    t->text = text;
    t->number = -1;
    t->at = at;
    return t;
}

static const schedule_tree *branch(opening *o, const char *text, span at, size_term holds,
                                   const schedule_tree *yes, const schedule_tree *no) {
    schedule_tree *t = new_tree(o, text, at);
    t->kind = !holds.known ? TREE_OPEN : holds.value ? TREE_HOLDS : TREE_FAILS;
    t->holds = holds.expr;
    t->yes = yes;
    t->no = no;
    return t;
}

static const schedule_op *op_of(const sema *s, const ast_item *choice) {
    for (uint32_t i = 0; i < s->schedule_ops.len; i++)
        if (schedule_path_is(choice->path, s->schedule_ops.data[i]->path))
            return s->schedule_ops.data[i];
    ICE("a choice is of no op");
}

static const schedule_tree *open_leaf(opening *o, const ast_item *choice, const ast_expr *leaf) {
    schedule_tree *t = new_tree(o, leaf->name.text, leaf->at);
    const ast_item *item = is_default(leaf)
                               ? NULL
                               : chosen_of(o->p->s, op_of(o->p->s, choice), leaf->name.text);
    t->number = o->items->len;   // the default's
    for (uint32_t i = 0; i < o->items->len; i++)
        if (o->items->data[i] == item) t->number = i;
    return t;
}

static const schedule_tree *open_tree(opening *o, const ast_item *choice, const ast_expr *e) {
    e = without_parentheses(e);
    if (e->kind != AST_COND) return open_leaf(o, choice, e);
    const ast_expr *yes = e->args->next;
    textbuf text = textbuf_new(o->numbers.arena);
    ast_print_expr(&text, e->args);
    return branch(o, text.data, e->args->at, schedule_condition_term(o->p, e->args),
                  open_tree(o, choice, yes), open_tree(o, choice, yes->next));
}

static const char *when_text(opening *o, const ast_item *choice) {
    textbuf b = textbuf_new(o->numbers.arena);
    for (const ast_condition *w = choice->schedule.when; w; w = w->next) {
        const bool loose = w->expr->kind == AST_OR && !w->in;
        textbuf_puts(&b, w == choice->schedule.when ? "" : " && ");
        textbuf_puts(&b, loose ? "(" : "");
        ast_print_expr(&b, w->expr);
        for (const ast_expr *a = w->in; a; a = a->next) {
            textbuf_puts(&b, a == w->in ? " in {" : ", ");
            ast_print_expr(&b, a);
        }
        textbuf_puts(&b, w->in ? "}" : loose ? ")" : "");
    }
    return b.data;
}

static size_term number_of(opening *o, const schedule_tree *t) {
    if (t->kind == TREE_LEAF) {
        o->wants_default |= t->number == o->items->len;
        return term_known(t->number);
    }
    if (t->kind != TREE_OPEN) return number_of(o, t->kind == TREE_HOLDS ? t->yes : t->no);
    const size_term holds = {.expr = t->holds}, yes = number_of(o, t->yes),
                    no = number_of(o, t->no);
    return term_select(&o->numbers, holds, yes, no);
}

static void put_text(textbuf *out, const schedule_tree *t) {
    textbuf_puts(out, t->text);
    if (t->kind == TREE_LEAF) return;
    const bool nested = t->yes->kind != TREE_LEAF;
    textbuf_puts(out, nested ? " ? (" : " ? ");
    put_text(out, t->yes);
    textbuf_puts(out, nested ? ") : " : " : ");
    put_text(out, t->no);
}

static bool is_shallow(const size_expr *e) {
    uint32_t depth = 0, most = 0;
    for (uint32_t i = 0; i < e->len; i++) {
        const size_token_kind k = e->data[i].kind;
        depth += k == SZ_COND                ? UINT32_MAX - 1
                 : k == SZ_NOT               ? 0
                 : k >= SZ_ADD && k <= SZ_OR ? UINT32_MAX
                                             : 1;
        if (depth > most) most = depth;
    }
    return most <= MAX_DEPTH;
}

static void fill_choice(opening *o, const schedule_tree *tree, schedule_choice *out) {
    textbuf text = textbuf_new(o->numbers.arena);
    put_text(&text, tree);
    out->tree = tree;
    out->text = text.data;
    out->of = term_expr(&o->numbers, number_of(o, tree));
    out->wants_default = o->wants_default;
    if (!is_shallow(&out->of))
        diag(o->p->s->ds, E0536, tree->at, "the conditions of this choice are too long together");
}

static void name_schedules(opening *o, schedule_choice *out) {
    const char **names = ARENA_ARRAY(o->numbers.arena, const char *, o->items->len + 1);
    for (uint32_t i = 0; i < o->items->len; i++) names[i] = o->items->data[i]->name.text;
    names[o->items->len] = "default";
    out->nschedules = o->items->len + 1;
    out->schedules = names;
}

// In the order in which schedules come: an alias's own first, rules before the file's.
static schedule_items choices_for(const schedule_place *p, frontend_unit *u,
                                  const frontend_op *op) {
    schedule_items list = {0};
    if (u->sema->options.schedule) return list;   // it was chosen
    for (int other = 0; other < 2; other++)
        for (uint32_t rank = 0; rank < RULES_RANKS; rank++)
            for (uint32_t i = 0; i < u->sema->choices.len; i++) {
                const ast_item *item = u->sema->choices.data[i];
                if (schedule_is_of(item, op) && schedule_path_is(item->path, op->path) == !other &&
                    rules_rank(u, item->at) == rank && schedule_for(item, p->target))
                    VEC_PUSH(u->arena, &list, item);
            }
    return list;
}

// The first that applies: what compiling leaves open of when one does is asked before its tree.
bool schedule_choice_open(const schedule_place *p, frontend_unit *u, const frontend_op *op,
                          const schedule_items *items, schedule_choice *out) {
    const uint32_t errors = diag_raised(u->ds);
    opening o = {.p = p, .items = items, .numbers = {.arena = u->arena}};
    const schedule_items list = choices_for(p, u, op);
    const schedule_tree *none = new_tree(&o, "none", NO_SPAN), *tree = none;
    for (uint32_t i = list.len; i-- > 0;) {
        const ast_item *item = list.data[i];
        const size_term when = schedule_when_term(p, item);
        if (when.known && !when.value) continue;
        const schedule_tree *its = open_tree(&o, item, item->body);
        tree = when.known ? its : branch(&o, when_text(&o, item), item->at, when, its, tree);
    }
    name_schedules(&o, out);
    if (tree != none) fill_choice(&o, tree, out);
    return diag_raised(u->ds) == errors;
}
