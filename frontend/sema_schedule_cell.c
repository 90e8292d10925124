// Cells: each is filled once at one level, and some cannot be filled together.
#include "sema_schedule_names.h"
#include <string.h>

static bool same_cell(const written_cell *a, const written_cell *b) {
    return a->what == b->what && a->stage == b->stage && a->subject == b->subject;
}

static const char *cell_text(schedule_checker *c, const written_cell *x) {
    return arena_printf(c->s->arena, "%s%s%s%s%s", x->stage ? x->stage : "", x->stage ? ": " : "",
                        x->what->verb, x->subject ? " " : "", x->subject ? x->subject : "");
}

// Another schedule's cell goes where this one, or one nearer, fills it.
static void add_one(schedule_checker *c, const written_cell *new) {
    for (uint32_t i = 0; i < c->cells.len; i++) {
        const written_cell *old = &c->cells.data[i];
        if (!same_cell(old, new)) continue;
        if (old->from != new->from) return;
        diagnostic *d = diag(c->s->ds, E0523, new->at, "'%s' is said twice", cell_text(c, new));
        diag_note(d, old->at, "first here");
        diag_help(d, "leave one out, or say it for a stage of its own: STAGE: %s …",
                  new->what->verb);
        return;
    }
    c->filled |= !new->empty;
    c->emptied |= new->empty;
    VEC_PUSH(c->s->arena, &c->cells, *new);
}

void schedule_cell_add(schedule_checker *c, const char *subject, span at, bool empty) {
    for (uint32_t i = 0; i < c->prefixes->len; i++) {
        const schedule_prefix *p = &c->prefixes->data[i];
        written_cell cell = {.stage = p->path,
                             .subject = subject,
                             .what = c->what,
                             .statement = c->statement,
                             .words = c->words,
                             .at = at,
                             .from = c->from,
                             .empty = empty};
        if (!p->unknown) add_one(c, &cell);
    }
}

// ---- Exclusion ----------------------------------------------------------------------------------
// Whether a more specific cell takes a's place wherever b holds.
static bool replaced(const schedule_checker *c, const written_cell *a, const written_cell *b) {
    for (uint32_t i = 0; i < c->cells.len; i++) {
        const written_cell *x = &c->cells.data[i];
        bool nearer = x->what == a->what && x->subject == a->subject && x->stage != a->stage &&
                      schedule_path_covers(a->stage, x->stage);
        if (nearer && b->stage && schedule_path_covers(x->stage, b->stage)) return true;
    }
    return false;
}

static bool has_effect(const schedule_checker *c, const written_cell *x, const tensor_stage *st) {
    schedule_form f = schedule_form_read(x->what);
    return !x->subject || f.parts[0].kind != SCHEDULE_REDUCED ||
           schedule_reduces(c, st, x->subject);
}

// Whether both say something about one stage: a split of y along e says nothing about y.sum, which
// does not reduce e.
static bool meet(const schedule_checker *c, const written_cell *a, const written_cell *b) {
    const tensor_op *op = c->op->op;
    for (uint32_t i = 0; op && i < op->stages.len; i++) {
        const tensor_stage *st = &op->stages.data[i];
        if (schedule_path_covers(a->stage, st->name) && schedule_path_covers(b->stage, st->name) &&
            has_effect(c, a, st) && has_effect(c, b, st))
            return true;
    }
    return !op;
}

static bool exclude(const schedule_checker *c, const written_cell *a, const written_cell *b) {
    if (a->empty || b->empty || !schedule_excludes(a->what, b->what)) return false;
    if (a->subject && b->subject && a->subject != b->subject) return false;
    bool over = schedule_path_covers(a->stage, b->stage),
         under = schedule_path_covers(b->stage, a->stage);
    if ((!over && !under) || !meet(c, a, b)) return false;
    return !replaced(c, a, b) && !replaced(c, b, a);
}

static void report_excluded(schedule_checker *c, const written_cell *a, const written_cell *b) {
    bool a_later = a->from == b->from ? a->at.lo > b->at.lo : a->from == c->item;
    const written_cell *x = a_later ? a : b, *y = a_later ? b : a;
    if (x->from != c->item) return;   // told in the schedule it starts from
    diagnostic *d = diag(c->ds, E0524, x->at, "'%s' and '%s' exclude each other", cell_text(c, x),
                         cell_text(c, y));
    diag_note(d, y->at, "'%s' is here", cell_text(c, y));
    if (y->from != x->from)
        diag_help(d, "'%s none;' empties what '%s' says", cell_text(c, y), y->from->name.text);
    else
        diag_help(d, "leave one out, or say each for a stage of its own: STAGE: %s …",
                  x->what->verb);
}

// ---- Combining floats as they come --------------------------------------------------------------
// Whether a combining expression rounds.
static bool rounds(const tensor_op *op, tensor_expr e, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(op, e);
    if (seen[e]) return false;
    seen[e] = 1;
    bool exact = n->op == TENSOR_MAX_OP || n->op == TENSOR_MIN_OP || n->op == TENSOR_SELECT_OP ||
                 !n->nargs;
    if (ir_dtype_is_float(n->type.type) && !exact) return true;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (rounds(op, n->args[i], seen)) return true;
    return false;
}

static bool order_matters(const tensor_op *op, const tensor_stage *st) {
    const tensor_reducer *r = st->reducer == TENSOR_NO_REDUCER ? NULL
                                                               : &op->reducers.data[st->reducer];
    uint8_t *seen = ARENA_ARRAY(op->arena, uint8_t, op->exprs.len);
    for (uint32_t i = 0; r && i < r->nstate; i++)
        if (rounds(op, r->combine[i], seen)) return true;
    return false;
}

static bool is_atomic(const written_cell *x) {
    const ast_word *last = x->statement->words;
    while (last && last->next) last = last->next;
    const char *name = last && !last->subjects->choice ? schedule_name_of(last->subjects) : NULL;
    return !x->empty && !strcmp(x->what->verb, "combine") && name && !strcmp(name, "atomic");
}

static void remark_atomic(schedule_checker *c, const written_cell *x) {
    const tensor_op *op = c->op->op;
    for (uint32_t i = 0; op && i < op->stages.len; i++) {
        const tensor_stage *st = &op->stages.data[i];
        if (!schedule_path_covers(x->stage, st->name) || !schedule_reduces(c, st, x->subject) ||
            !order_matters(op, st))
            continue;
        diagnostic *d = diag(
            c->ds, P0501, x->at,
            "combined atomically, the floats of '%s' meet in another order at each launch",
            st->name);
        diag_help(
            d,
            "it is taken only with --no-deterministic; 'combine %s staged' gives the same bits every time",
            x->subject);
        return;
    }
}

void schedule_cells_compare(schedule_checker *c) {
    for (uint32_t i = 0; i < c->cells.len; i++) {
        const written_cell *a = &c->cells.data[i];
        for (uint32_t j = 0; j < i; j++)
            if (exclude(c, a, &c->cells.data[j])) report_excluded(c, a, &c->cells.data[j]);
        if (a->from == c->item && !c->op->gradient && is_atomic(a)) remark_atomic(c, a);
    }
}
