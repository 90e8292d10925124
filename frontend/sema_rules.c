// Rule files: schedules and choices for the ops of a file, kept apart from it. NAME.gnn.rule stands
// beside NAME.gnn; `gnnc tune` writes it.
#include "sema_rules.h"
#include "sema_schedule.h"
#include <string.h>

static const char *const kinds[] = {[AST_IMPORT] = "an import",    [AST_OP] = "an op",
                                    [AST_OP_ALIAS] = "an op",      [AST_FN] = "a function",
                                    [AST_REDUCER] = "a reducer",   [AST_GRAD] = "a gradient",
                                    [AST_SCHEDULE] = "a schedule", [AST_CHOOSE] = "a choice"};

static bool belongs(sema *s, const ast_item *item) {
    bool good = item->kind == AST_SCHEDULE || item->kind == AST_CHOOSE;
    if (!good)
        diag(s->ds, E0535, item->at, "a rule file holds schedules and choices, and this is %s",
             kinds[item->kind]);
    return good;
}

// Names mean what they mean in the main file.
static bool read_rules(frontend_unit *u, const char *path) {
    sema *s = u->sema;
    size_t length;
    for (uint32_t i = 0; i < u->rules.len; i++)
        if (!strcmp(u->rules.data[i]->path, path)) return true;
    const char *text = s->options.read ? s->options.read(s->options.user, s->arena, path, &length)
                                       : NULL;
    const source_file *source = text ? source_map_add(diag_sources(s->ds), path, text, length)
                                     : NULL;
    if (!text) return false;
    if (!source) {
        diag(s->ds, E0607, NO_SPAN, "%s: too much source text in one run", path);
        return true;
    }
    source_map_advise(diag_sources(s->ds), source,
                      "'--no-rules' leaves rules out; 'gnnc tune' writes them anew");
    const ast_file *file = ast_parse(s->arena, s->names, s->ds, source);
    VEC_PUSH(s->arena, &s->files, file);
    VEC_PUSH(s->arena, &s->imports, ((import_edge){path, s->main->path}));
    VEC_PUSH(s->arena, &u->dependencies, path);
    VEC_PUSH(s->arena, &u->rules, source);
    for (const ast_item *i = file->items; i; i = i->next)
        if (belongs(s, i) && i->kind == AST_SCHEDULE) VEC_PUSH(s->arena, &s->schedules, i);
        else if (i->kind == AST_CHOOSE) VEC_PUSH(s->arena, &s->choices, i);
    return true;
}

void rules_load(frontend_unit *u, const char *main) {
    const frontend_options *o = &u->sema->options;
    for (uint32_t i = 0; i < o->nrules; i++)
        if (!read_rules(u, o->rules[i]) && diag_raised(u->ds) == u->sema->raised)
            diag(u->ds, E0535, NO_SPAN, "there is no rule file '%s'", o->rules[i]);
    if (o->rules_beside && strcmp(main, "-"))
        read_rules(u, arena_printf(u->arena, "%s.rule", main));
}

uint32_t rules_rank(const frontend_unit *u, span at) {
    const source_file *file = source_map_file(diag_sources(u->ds), at.lo);
    for (uint32_t i = 0; i < u->rules.len; i++)
        if (u->rules.data[i] == file) return 0;
    return file == u->main ? 1 : 2;
}

// ---- Which are in use ---------------------------------------------------------------------------
static bool has_item(const frontend_unit *u, const source_file *file, uint32_t op) {
    const sema *s = u->sema;
    for (uint32_t i = 0; i < s->schedules.len + s->choices.len; i++) {
        const ast_item *item = i < s->schedules.len ? s->schedules.data[i]
                                                    : s->choices.data[i - s->schedules.len];
        const char *asked = s->options.schedule;
        if (asked && (item->kind == AST_CHOOSE || strcmp(item->name.text, asked) != 0)) continue;
        if (source_map_file(diag_sources(u->ds), item->at.lo) == file &&
            schedule_is_of(item, &u->ops.data[op]))
            return true;
    }
    return false;
}

const char *frontend_rules(const frontend_unit *u, uint32_t op, uint32_t *at) {
    const frontend_options *o = &u->sema->options;
    while (*at < u->rules.len) {
        const source_file *file = u->rules.data[(*at)++];
        if (!o->no_schedule && has_item(u, file, op)) return file->path;
    }
    return NULL;
}
