// Turns the syntax tree into units of text for the layout.
#include "format.h"

static format_unit *new_unit(arena *a, span at, span block) {
    format_unit *u = ARENA_NEW(a, format_unit);
    u->at = at;
    u->block = block;
    u->head.text = textbuf_new(a);
    return u;
}

// " like x", where there is one
static void put_word(format_flow *f, const char *word, const char *text) {
    if (text) textbuf_printf(&f->text, " %s %s", word, text);
}

// ---- Ops ----------------------------------------------------------------------------------------
static void put_generics(format_flow *f, const ast_generic *list) {
    if (!list) return;
    format_open(f, "<");
    for (const ast_generic *g = list; g; g = g->next) {
        format_puts(f, g->name.text);
        if (g->kind.text) textbuf_printf(&f->text, ": %s", g->kind.text);
        if (!g->next) break;
        format_puts(f, ",");
        format_break_at(f, FORMAT_LIST, g->next->name.at.lo);
    }
    format_close(f, ">");
}

static void put_facts(format_flow *f, const ast_fact *list) {
    for (const ast_fact *fact = list; fact; fact = fact->next) {
        textbuf_printf(&f->text, " %s", fact->name.text);
        if (fact->args) format_exprs(f, fact->args, "(", ")");
    }
}

static void put_type(format_flow *f, const ast_type *t) {
    switch (t->kind) {
    case AST_SCALAR: format_puts(f, t->element.text); return;
    case AST_TENSOR:
        format_puts(f, t->element.text);
        format_exprs(f, t->axes, "[", "]");
        return;
    case AST_MAP:
        if (t->axes->kind == AST_NAME && !t->axes->next) format_expr(f, t->axes);
        else format_exprs(f, t->axes, "[", "]");
        textbuf_printf(&f->text, " -> %s", t->element.text);
        return;
    }
}

static void put_params(format_flow *f, const ast_param *list) {
    format_open(f, "(");
    for (const ast_param *p = list; p; p = p->next) {
        textbuf_printf(&f->text, "%s: ", p->name.text);
        put_type(f, p->type);
        put_facts(f, p->facts);
        if (!p->next) break;
        format_puts(f, ",");
        format_break_at(f, FORMAT_LIST, p->next->at.lo);
    }
    format_close(f, ")");
}

static void put_op(format_flow *f, const ast_item *item) {
    textbuf_printf(&f->text, "op %s", item->name.text);
    put_generics(f, item->generics);
    put_params(f, item->params);
    format_break_at(f, FORMAT_LIST, item->results ? item->results->at.lo : item->block.lo);
    format_puts(f, "-> ");
    put_params(f, item->results);
    if (!item->where) return;
    format_break_at(f, FORMAT_LIST, item->where->at.lo);
    format_puts(f, "where ");
    format_exprs(f, item->where, "(", ")");
}

static format_unit *equation_units(arena *a, const ast_equation *list) {
    format_unit *first = NULL, **last = &first;
    for (const ast_equation *e = list; e; e = e->next, last = &(*last)->next) {
        *last = new_unit(a, e->at, NO_SPAN);
        format_flow *f = &(*last)->head;
        format_exprs(f, e->targets, "", "");
        format_puts(f, " =");
        format_break_at(f, FORMAT_LAST, e->value->at.lo);
        if (e->generics) {
            format_puts(f, e->value->name.text);
            format_names(f, e->generics, "<", ">");
            format_exprs(f, e->value->args, "(", ")");
        } else {
            format_expr(f, e->value);
        }
        if (e->binders) {
            format_break_at(f, FORMAT_LIST, e->binders->name.at.lo);
            format_puts(f, "for ");
            format_binders(f, e->binders);
        }
        format_puts(f, ";");
    }
    return first;
}

// ---- Functions and reducers ---------------------------------------------------------------------
static void put_fn(format_flow *f, const ast_item *item) {
    textbuf_printf(&f->text, "fn %s", item->name.text);
    format_open(f, "(");
    for (const ast_fn_param *p = item->fn_params; p; p = p->next) {
        format_puts(f, p->name.text);
        put_word(f, "by", p->by.text);
        if (!p->next) break;
        format_puts(f, ",");
        format_break_at(f, FORMAT_LIST, p->next->name.at.lo);
    }
    format_close(f, ") =");
    format_break_at(f, FORMAT_LAST, item->body->at.lo);
    format_expr(f, item->body);
    format_puts(f, ";");
}

static void put_reducer(format_flow *f, const ast_item *item) {
    textbuf_printf(&f->text, "reducer %s", item->name.text);
    format_names(f, item->names, "(", ")");
    format_break_at(f, FORMAT_LIST, item->outputs->name.at.lo);
    format_puts(f, "-> ");
    format_names(f, item->outputs, "(", ")");
    put_facts(f, item->facts);
}

static format_unit *section_units(arena *a, const ast_section *list) {
    format_unit *first = NULL, **last = &first;
    for (const ast_section *s = list; s; s = s->next, last = &(*last)->next) {
        *last = new_unit(a, s->at, NO_SPAN);
        textbuf_printf(&(*last)->head.text, "%s ", s->name.text);
        format_exprs(&(*last)->head, s->exprs, "(", ")");
        format_puts(&(*last)->head, ";");
    }
    return first;
}

// ---- Schedules ----------------------------------------------------------------------------------
// What it is for, and when.
static void put_place(format_flow *f, const ast_item *item) {
    if (item->schedule.targets) {
        format_puts(f, " for ");
        format_names(f, item->schedule.targets, "", "");
    }
    if (!item->schedule.when) return;
    format_break_at(f, FORMAT_LIST, item->schedule.when->expr->at.lo);
    format_open(f, "when (");
    for (const ast_condition *c = item->schedule.when; c; c = c->next) {
        format_expr(f, c->expr);
        if (c->in) format_puts(f, " in "), format_exprs(f, c->in, "{", "}");
        if (!c->next) break;
        format_puts(f, ",");
        format_break_at(f, FORMAT_LIST, c->next->expr->at.lo);
    }
    format_close(f, ")");
}

static void put_schedule(format_flow *f, const ast_item *item) {
    format_puts(f, "schedule ");
    ast_print_path(&f->text, item->path);
    textbuf_printf(&f->text, " %s", item->name.text);
    put_word(f, "like", item->as.text);
    put_place(f, item);
}

// A level of its tree a line, where one line does not hold all.
static void put_choice(format_flow *f, const ast_item *item) {
    format_puts(f, "choose ");
    ast_print_path(&f->text, item->path);
    put_place(f, item);
    format_puts(f, " =");
    const ast_expr *e = item->body;
    format_break_each(f, FORMAT_LAST, e->at.lo);
    for (; e->kind == AST_COND; e = e->args->next->next) {
        format_expr(f, e->args);
        format_break_at(f, FORMAT_CONDITIONAL, e->args->next->at.lo);
        format_puts(f, "? ");
        format_expr(f, e->args->next);
        format_break_each(f, FORMAT_LIST, e->args->next->next->at.lo);
        format_puts(f, ": ");
    }
    format_expr(f, e);
    format_puts(f, ";");
}

static void put_subject(format_flow *f, const ast_subject *s) {
    switch (s->kind) {
    case AST_SUBJECT_PATH: ast_print_path(&f->text, s->path); break;
    case AST_SUBJECT_BY: format_puts(f, "by"); break;
    case AST_SUBJECT_NUMBER:
    case AST_SUBJECT_REF:
    case AST_SUBJECT_CALL:
    case AST_SUBJECT_BINARY: format_expr(f, s->expr); break;
    }
}

static void put_words(format_flow *f, const ast_word *list) {
    for (const ast_word *w = list; w; w = w->next) {
        format_break_at(f, FORMAT_CONDITIONAL, w->subjects->at.lo);
        for (const ast_subject *s = w->subjects, *next; s; s = next) {
            next = s->list ? s->list : s->choice;
            put_subject(f, s);
            if (!next) break;
            format_puts(f, s->list ? "," : " |");
            format_break_at(f, FORMAT_SUM, next->at.lo);
        }
    }
}

static void put_stages(format_flow *f, const ast_paths *list) {
    for (const ast_paths *s = list; s; s = s->next) {
        ast_print_path(&f->text, s->path);
        format_puts(f, s->next ? "," : ":");
        if (s->next) format_break_at(f, FORMAT_LIST, s->next->at.lo);
    }
}

static format_unit *statement_units(arena *a, const ast_statement *list) {
    format_unit *first = NULL, **last = &first;
    for (const ast_statement *s = list; s; s = s->next, last = &(*last)->next) {
        *last = new_unit(a, s->at, s->block);
        format_flow *f = &(*last)->head;
        put_stages(f, s->stages);
        if (s->block.hi) {
            (*last)->inner = statement_units(a, s->inner);
            continue;
        }
        if (s->stages) format_break_at(f, FORMAT_LAST, s->verb.at.lo);
        if (s->let) format_puts(f, "let ");
        format_puts(f, s->verb.text);
        if (s->let) format_puts(f, " =");
        put_words(f, s->words);
        format_puts(f, ";");
    }
    return first;
}

// ---- Items --------------------------------------------------------------------------------------
static void put_alias(format_flow *f, const ast_item *item) {
    textbuf_printf(&f->text, "op %s =", item->name.text);
    format_break_at(f, FORMAT_LAST, item->target.at.lo);
    format_puts(f, item->target.text);
    format_names(f, item->names, "<", ">");
    format_puts(f, ";");
}

static void put_grad(format_flow *f, const ast_item *item) {
    format_puts(f, "grad ");
    ast_print_path(&f->text, item->path);
    if (item->names) {
        format_puts(f, " wrt ");
        format_names(f, item->names, "(", ")");
    }
    put_word(f, "as", item->as.text);
    format_puts(f, ";");
}

static void fill_item(arena *a, format_unit *u, const ast_item *item) {
    switch (item->kind) {
    case AST_IMPORT: textbuf_printf(&u->head.text, "import \"%s\";", item->name.text); break;
    case AST_OP: put_op(&u->head, item), u->inner = equation_units(a, item->equations); break;
    case AST_OP_ALIAS: put_alias(&u->head, item); break;
    case AST_FN: put_fn(&u->head, item); break;
    case AST_REDUCER:
        put_reducer(&u->head, item), u->inner = section_units(a, item->sections);
        break;
    case AST_GRAD: put_grad(&u->head, item); break;
    case AST_SCHEDULE:
        put_schedule(&u->head, item);
        u->inner = statement_units(a, item->schedule.statements);
        break;
    case AST_CHOOSE: put_choice(&u->head, item); break;
    }
}

format_unit *format_items(arena *a, const ast_item *items) {
    format_unit *first = NULL, **last = &first;
    for (const ast_item *item = items; item; item = item->next, last = &(*last)->next) {
        *last = new_unit(a, item->at, item->block);
        fill_item(a, *last, item);
    }
    return first;
}
