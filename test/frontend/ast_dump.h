// The syntax tree as text, without positions: two trees are equal where their dumps are.
#ifndef TEST_AST_DUMP_H
#define TEST_AST_DUMP_H

#include "ast.h"

static void dump_expr(textbuf *b, const ast_expr *e);

static void dump_list(textbuf *b, const char *head, const ast_expr *list) {
    if (!list) return;
    textbuf_printf(b, " %s[", head);
    for (const ast_expr *e = list; e; e = e->next) dump_expr(b, e);
    textbuf_puts(b, "]");
}

static void dump_name(textbuf *b, const char *head, ast_name name) {
    if (name.text) textbuf_printf(b, " %s=%s", head, name.text);
}

static void dump_names(textbuf *b, const char *head, const ast_names *list) {
    for (; list; list = list->next) dump_name(b, head, list->name);
}

static void dump_path(textbuf *b, const char *head, const ast_path *p) {
    if (p) textbuf_printf(b, " %s=", head);
    for (; p; p = p->next) textbuf_printf(b, ".%s", p->name.text);
}

static void dump_binders(textbuf *b, const ast_binder *list) {
    for (; list; list = list->next) {
        dump_name(b, "index", list->name);
        dump_list(b, "in", list->in);
    }
}

static const char *const dump_kinds[] = {
    "number", "name", "primed", "ref", "tuple", "call", "reduce", "neg", "not", "+",  "-", "*",
    "/",      "%",    "==",     "!=",  "<",     "<=",   ">",      ">=",  "&&",  "||", "?", "()"};

static void dump_expr(textbuf *b, const ast_expr *e) {
    textbuf_printf(b, "(%s", dump_kinds[e->kind]);
    dump_name(b, "", e->name);
    if (e->kind == AST_NUMBER)
        textbuf_printf(b, " %s %d %lld %a", e->text, e->is_integer, (long long)e->integer,
                       e->number);
    for (const ast_expr *a = e->args; a; a = a->next) dump_expr(b, a);
    if (e->how != AST_PLAIN) dump_names(b, e->how == AST_BY ? "by" : "over", e->keys);
    dump_binders(b, e->binders);
    dump_list(b, "guard", e->guard);
    dump_list(b, "else", e->orelse);
    dump_name(b, "ties", e->ties);
    dump_list(b, "body", e->body);
    textbuf_puts(b, ")");
}

static void dump_facts(textbuf *b, const ast_fact *list) {
    for (; list; list = list->next) {
        dump_name(b, "fact", list->name);
        dump_list(b, "", list->args);
    }
}

static void dump_params(textbuf *b, const char *head, const ast_param *list) {
    for (; list; list = list->next) {
        textbuf_printf(b, "\n  %s", head);
        dump_name(b, "", list->name);
        textbuf_printf(b, " type%d %s", list->type->kind, list->type->element.text);
        dump_list(b, "axes", list->type->axes);
        dump_facts(b, list->facts);
    }
}

static void dump_equations(textbuf *b, const ast_equation *list) {
    for (; list; list = list->next) {
        textbuf_printf(b, "\n  equation call%d", list->call);
        dump_list(b, "targets", list->targets);
        dump_names(b, "generic", list->generics);
        dump_list(b, "value", list->value);
        dump_binders(b, list->binders);
    }
}

static void dump_subject(textbuf *b, const ast_subject *s) {
    textbuf_printf(b, " subject%d", s->kind);
    dump_list(b, "", s->expr);
    dump_path(b, "path", s->path);
}

static void dump_words(textbuf *b, const ast_word *list) {
    for (; list; list = list->next) {
        textbuf_puts(b, " word:");
        for (const ast_subject *s = list->subjects; s; s = s->list) dump_subject(b, s);
        for (const ast_subject *s = list->subjects->choice; s; s = s->choice)
            textbuf_puts(b, " |"), dump_subject(b, s);
    }
}

static void dump_statements(textbuf *b, const ast_statement *list) {
    for (; list; list = list->next) {
        textbuf_printf(b, "\n  statement let%d", list->let);
        for (const ast_paths *s = list->stages; s; s = s->next) dump_path(b, "stage", s->path);
        dump_name(b, "verb", list->verb);
        dump_words(b, list->words);
        if (list->block.hi)
            textbuf_puts(b, " {"), dump_statements(b, list->inner), textbuf_puts(b, " }");
    }
}

static void dump_item(textbuf *b, const ast_item *item) {
    textbuf_printf(b, "item%d", item->kind);
    dump_name(b, "", item->name);
    for (const ast_generic *g = item->generics; g; g = g->next)
        dump_name(b, "generic", g->name), dump_name(b, "kind", g->kind);
    dump_params(b, "param", item->params);
    dump_params(b, "result", item->results);
    dump_list(b, "where", item->where);
    dump_equations(b, item->equations);
    dump_name(b, "target", item->target);
    for (const ast_fn_param *p = item->fn_params; p; p = p->next)
        dump_name(b, "param", p->name), dump_name(b, "by", p->by);
    dump_list(b, "body", item->body);
    dump_names(b, "name", item->names);
    dump_names(b, "output", item->outputs);
    dump_facts(b, item->facts);
    for (const ast_section *s = item->sections; s; s = s->next)
        dump_name(b, "section", s->name), dump_list(b, "", s->exprs);
    dump_path(b, "path", item->path);
    dump_name(b, "as", item->as);
    dump_names(b, "for", item->schedule.targets);
    for (const ast_condition *c = item->schedule.when; c; c = c->next)
        dump_list(b, "when", c->expr), dump_list(b, "in", c->in);
    dump_statements(b, item->schedule.statements);
    textbuf_puts(b, "\n");
}

static inline void dump_file(textbuf *b, const ast_file *file) {
    for (const ast_item *item = file->items; item; item = item->next) dump_item(b, item);
}

#endif
