// Constructors of the syntax tree's items, equations and schedules. Expressions are built in
// parse_expr.c.
#include "parse.h"

#include <string.h>

ast_names *parse_name_node(parse *p, ast_name name) {
    ast_names *n = ARENA_NEW(p->arena, ast_names);
    n->name = name;
    return n;
}

// ---- Items --------------------------------------------------------------------------------------
void parse_add_item(parse *p, ast_item *item) {
    if (p->last_item) p->last_item->next = item;
    else p->file->items = item;
    p->last_item = item;
}

static ast_item *new_item(parse *p, ast_item_kind kind, span at, ast_name name) {
    ast_item *item = ARENA_NEW(p->arena, ast_item);
    item->kind = kind;
    item->at = at;
    item->name = name;
    return item;
}

ast_item *parse_import(parse *p, span at, ast_name file) {
    return new_item(p, AST_IMPORT, at, file);
}

ast_item *parse_op(parse *p, span at, ast_name name, ast_generic_list generics,
                   ast_param_list params, ast_param_list results, ast_expr_list where,
                   ast_equation_list equations, span body) {
    ast_item *item = new_item(p, AST_OP, at, name);
    item->generics = generics.first;
    item->params = params.first;
    item->results = results.first;
    item->where = where.first;
    item->equations = equations.first;
    item->block = body;
    return item;
}

ast_item *parse_alias(parse *p, span at, ast_name name, ast_name target, ast_names_list arguments) {
    ast_item *item = new_item(p, AST_OP_ALIAS, at, name);
    item->target = target;
    item->names = arguments.first;
    return item;
}

ast_item *parse_fn(parse *p, span at, ast_name name, ast_fn_param_list params, ast_expr *value) {
    ast_item *item = new_item(p, AST_FN, at, name);
    item->fn_params = params.first;
    item->body = value;
    return item;
}

ast_item *parse_reducer(parse *p, span at, ast_name name, ast_names_list params,
                        ast_names_list results, ast_fact_list facts, ast_section_list sections,
                        span body) {
    ast_item *item = new_item(p, AST_REDUCER, at, name);
    item->names = params.first;
    item->outputs = results.first;
    item->facts = facts.first;
    item->sections = sections.first;
    item->block = body;
    return item;
}

// A derived op has no name of its own; what it is called stands in `path` and `as`.
ast_item *parse_grad(parse *p, span at, ast_path_list op, ast_names_list wrt, ast_name as) {
    ast_item *item = new_item(p, AST_GRAD, at, as);
    item->path = op.first;
    item->names = wrt.first;
    item->as = as;
    return item;
}

ast_item *parse_schedule(parse *p, span at, ast_path_list op, ast_name name, ast_name like,
                         ast_names_list targets, ast_condition_list when,
                         ast_statement_list statements, span body) {
    ast_item *item = new_item(p, AST_SCHEDULE, at, name);
    item->path = op.first;
    item->as = like;
    item->schedule.targets = targets.first;
    item->schedule.when = when.first;
    item->schedule.statements = statements.first;
    item->block = body;
    return item;
}

ast_item *parse_choose(parse *p, span at, ast_path_list op, ast_names_list targets,
                       ast_condition_list when, ast_expr *tree) {
    ast_item *item = new_item(p, AST_CHOOSE, at, parse_no_name());
    item->path = op.first;
    item->schedule.targets = targets.first;
    item->schedule.when = when.first;
    item->body = tree;
    return item;
}

ast_generic *parse_generic(parse *p, ast_name name, ast_name kind) {
    ast_generic *g = ARENA_NEW(p->arena, ast_generic);
    g->name = name;
    g->kind = kind;
    return g;
}

ast_fn_param *parse_fn_param(parse *p, ast_name name, ast_name by) {
    ast_fn_param *f = ARENA_NEW(p->arena, ast_fn_param);
    f->name = name;
    f->by = by;
    return f;
}

ast_section *parse_section(parse *p, span at, ast_name name, ast_expr_list exprs) {
    ast_section *s = ARENA_NEW(p->arena, ast_section);
    s->name = name;
    s->exprs = exprs.first;
    s->at = at;
    return s;
}

// ---- Parameters ---------------------------------------------------------------------------------
ast_param *parse_param(parse *p, span at, ast_name name, ast_type *type, ast_fact_list facts) {
    ast_param *param = ARENA_NEW(p->arena, ast_param);
    param->name = name;
    param->type = type;
    param->facts = facts.first;
    param->at = at;
    return param;
}

static ast_type *new_type(parse *p, ast_type_kind kind, span at, ast_name element, ast_expr *axes) {
    ast_type *t = ARENA_NEW(p->arena, ast_type);
    *t = (ast_type){kind, at, element, axes};
    return t;
}

ast_type *parse_scalar(parse *p, span at, ast_name element) {
    return new_type(p, AST_SCALAR, at, element, NULL);
}

ast_type *parse_tensor(parse *p, span at, ast_name element, ast_expr_list axes) {
    return new_type(p, AST_TENSOR, at, element, axes.first);
}

ast_type *parse_map(parse *p, span at, ast_expr_list from, ast_name to) {
    return new_type(p, AST_MAP, at, to, from.first);
}

ast_type *parse_map_of(parse *p, span at, ast_name from, ast_name to) {
    return parse_map(p, at, ast_expr_one(parse_named(p, AST_NAME, from.at, from)), to);
}

ast_fact *parse_fact(parse *p, span at, ast_name name, ast_expr_list args) {
    ast_fact *f = ARENA_NEW(p->arena, ast_fact);
    f->name = name;
    f->args = args.first;
    f->at = at;
    return f;
}

// ---- Equations ----------------------------------------------------------------------------------
ast_equation *parse_equation(parse *p, span at, ast_expr_list targets, ast_expr *value,
                             ast_binder_list binders) {
    ast_equation *e = ARENA_NEW(p->arena, ast_equation);
    e->targets = targets.first;
    e->value = value;
    e->binders = binders.first;
    e->at = at;
    return e;
}

ast_equation *parse_call_equation(parse *p, span at, ast_names_list targets,
                                  ast_names_list generics, ast_expr *call) {
    ast_expr_list names = ast_expr_none();
    for (ast_names *n = targets.first; n; n = n->next)
        names = ast_expr_append(names, parse_named(p, AST_NAME, n->name.at, n->name));
    ast_equation *e = parse_equation(p, at, names, call, ast_binder_none());
    e->generics = generics.first;
    e->call = true;
    return e;
}

// ---- Schedules ----------------------------------------------------------------------------------
ast_condition *parse_condition(parse *p, ast_expr *e, ast_expr_list in) {
    ast_condition *c = ARENA_NEW(p->arena, ast_condition);
    c->expr = e;
    c->in = in.first;
    return c;
}

ast_statement *parse_statement(parse *p, span at, ast_paths_list stages, ast_name verb,
                               ast_word_list words) {
    ast_statement *s = ARENA_NEW(p->arena, ast_statement);
    s->at = at;
    s->stages = stages.first;
    s->verb = verb;
    s->words = words.first;
    return s;
}

ast_statement *parse_block(parse *p, span at, ast_paths_list stages, ast_statement_list inner,
                           span body) {
    ast_statement *s = parse_statement(p, at, stages, parse_no_name(), ast_word_none());
    s->inner = inner.first;
    s->block = body;
    return s;
}

ast_statement *parse_let(parse *p, span at, ast_name name, ast_word_list words) {
    ast_statement *s = parse_statement(p, at, ast_paths_none(), name, words);
    s->let = true;
    return s;
}

ast_path *parse_path_part(parse *p, ast_name name) {
    ast_path *part = ARENA_NEW(p->arena, ast_path);
    part->name = name;
    return part;
}

ast_paths *parse_stage(parse *p, span at, ast_path_list path) {
    ast_paths *stage = ARENA_NEW(p->arena, ast_paths);
    stage->path = path.first;
    stage->at = at;
    return stage;
}

ast_word *parse_word(parse *p, ast_subject *subjects) {
    ast_word *w = ARENA_NEW(p->arena, ast_word);
    w->subjects = subjects;
    return w;
}

static ast_subject *new_subject(parse *p, int kind, span at) {
    ast_subject *s = ARENA_NEW(p->arena, ast_subject);
    *s = (ast_subject){.kind = kind, .at = at};
    return s;
}

ast_subject *parse_subject_path(parse *p, span at, ast_path_list path) {
    ast_subject *s = new_subject(p, AST_SUBJECT_PATH, at);
    s->path = path.first;
    return s;
}

ast_subject *parse_subject_by(parse *p, span at) { return new_subject(p, AST_SUBJECT_BY, at); }

// A name alone is the shortest path.
ast_subject *parse_subject(parse *p, span at, ast_expr *e) {
    if (e->kind == AST_NAME)
        return parse_subject_path(p, at, ast_path_one(parse_path_part(p, e->name)));
    int kind = e->kind == AST_NUMBER ? AST_SUBJECT_NUMBER
               : e->kind == AST_REF  ? AST_SUBJECT_REF
               : e->kind == AST_CALL ? AST_SUBJECT_CALL
                                     : AST_SUBJECT_BINARY;
    ast_subject *s = new_subject(p, kind, at);
    s->expr = e;
    return s;
}

ast_subject *parse_subject_list(ast_subject *a, ast_subject *rest) {
    a->list = rest;
    return a;
}

ast_subject *parse_subject_choice(ast_subject *a, ast_subject *rest) {
    a->choice = rest;
    return a;
}
