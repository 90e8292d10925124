// One word of a statement against the kind its form wants: single, list or choice, and what each
// part names.
#include "sema_schedule_names.h"
#include <string.h>

static bool one_wanted(schedule_checker *c, const schedule_kind_info *k, const ast_subject *x) {
    bool list = x->list != NULL;
    const ast_subject *second = list ? x->list : x->choice;
    diagnostic *d = diag(c->s->ds, E0518, second->at,
                         list ? "%s stands here alone, not in a list" : "%s is not a choice",
                         k->what);
    bool index = k == schedule_kind_at(SCHEDULE_INDEX) || k == schedule_kind_at(SCHEDULE_REDUCED);
    if (!list) diag_help(d, "only what follows a statement's subject may be a choice");
    else if (index) diag_help(d, "write a statement for each");
    else diag_help(d, "a choice is written with |, as in 32 | 64");
    return false;
}

// ---- Names --------------------------------------------------------------------------------------
static bool check_index(schedule_checker *c, schedule_kind k, const ast_subject *x) {
    const char *name = schedule_name_of(x);
    if (name) return schedule_index_known(c, name, x->at, k == SCHEDULE_REDUCED);
    diagnostic *d = diag(c->s->ds, E0516, x->at, "%s is wanted here", schedule_kind_at(k)->what);
    if (x->kind == AST_SUBJECT_BINARY)
        diag_help(d, "the words of a statement are names and numbers, and none of them is below 0");
    return false;
}

static bool check_stage(schedule_checker *c, const ast_subject *x) {
    if (x->kind == AST_SUBJECT_PATH)
        return schedule_stage_known(c, schedule_path_text(c->s, x->path), x->at);
    diag(c->s->ds, E0515, x->at, "a stage is wanted here");
    return false;
}

static bool check_value(schedule_checker *c, const ast_subject *x) {
    if (x->kind == AST_SUBJECT_PATH)
        return schedule_value_known(c, schedule_path_text(c->s, x->path), x->at);
    diagnostic *d = diag(c->s->ds, E0517, x->at, "a tensor, a map or a stage is wanted here");
    if (x->kind == AST_SUBJECT_REF)
        diag_fix(d, x->at, x->expr->name.text, "it is named without indices: '%s'",
                 x->expr->name.text);
    return false;
}

static bool check_map(schedule_checker *c, const ast_subject *x, bool of_index) {
    const char *name = schedule_name_of(x);
    if (name) return schedule_map_known(c, name, x->at, of_index);
    diagnostic *d = diag(c->s->ds, E0517, x->at, "the name of a map is wanted here");
    if (x->kind == AST_SUBJECT_REF)
        diag_fix(d, x->at, x->expr->name.text, "it is named without indices: '%s'",
                 x->expr->name.text);
    return false;
}

static bool check_key(schedule_checker *c, const ast_subject *x, bool of_index) {
    const char *name = schedule_name_of(x);
    const tensor_val_info *v = name ? schedule_value_find(c, name) : NULL;
    if (of_index && v && v->type == DT_INDEX) return schedule_map_known(c, name, x->at, true);
    if (x->kind == AST_SUBJECT_PATH && !name) {
        diag(c->s->ds, E0517, x->at, "%s is wanted here", schedule_kind_at(SCHEDULE_KEY)->what);
        return false;
    }
    ast_expr e = {.kind = AST_NAME, .at = x->at};
    if (name) e.name = x->path->name;
    return schedule_key(c, name ? &e : x->expr, of_index);
}

// ---- Schedules of a bucket ----------------------------------------------------------------------
static bool buckets(const ast_statement *st) {
    for (; st; st = st->next)
        if ((st->verb.text && !st->let && !strcmp(st->verb.text, "bucket")) || buckets(st->inner))
            return true;
    return false;
}

static bool check_schedule(schedule_checker *c, const ast_subject *x) {
    const char *name = schedule_name_of(x);
    const ast_item *item = name ? schedule_named(c->s, c->op->path, name) : NULL;
    if (!item) {
        diagnostic *d = diag(c->s->ds, E0525, x->at,
                             name ? "'%s' has no schedule '%s'"
                                  : "a schedule of '%s' is wanted here",
                             c->op->path, name ? name : "");
        schedule_names there = {0};
        for (uint32_t i = 0; i < c->s->schedules.len; i++)
            if (schedule_path_is(c->s->schedules.data[i]->path, c->op->path))
                VEC_PUSH(c->s->arena, &there, c->s->schedules.data[i]->name.text);
        schedule_suggest(c, d, x->at, name ? name : "", &there, "schedules of this op");
        return false;
    }
    for (uint32_t depth = 0; item && depth < 32; depth++) {
        if (buckets(item->schedule.statements)) {
            diagnostic *d = diag(c->s->ds, E0525, x->at, "'%s' has buckets itself", name);
            diag_note(d, item->name.at,
                      item->name.text == name ? "'%s' is this one" : "through '%s'",
                      item->name.text);
            return false;
        }
        item = item->as.text ? schedule_named(c->s, c->op->path, item->as.text) : NULL;
    }
    return true;
}

// ---- Words of a fixed set -----------------------------------------------------------------------
bool schedule_is_float_generic(const schedule_checker *c, const char *name) {
    for (const ast_generic *g = c->op->body && c->op->body->kind == AST_OP ? c->op->body->generics
                                                                           : NULL;
         g; g = g->next)
        if (g->name.text == name && (!g->kind.text || !strcmp(g->kind.text, "float"))) return true;
    return false;
}

static bool check_shape(schedule_checker *c, const ast_subject *x) {
    const char *p = schedule_name_of(x);
    for (const char *axis = "mnk"; p && *axis; axis++) {
        size_t digits = *p == *axis ? strspn(p + 1, "0123456789") : 0;
        p = digits ? p + 1 + digits : *axis == 'n' ? p : NULL;   // any number of columns
    }
    if (p && !*p) return true;
    diag(c->s->ds, E0521, x->at, "%s is wanted here", schedule_kind_at(SCHEDULE_SHAPE)->what);
    return false;
}

static bool check_fixed(schedule_checker *c, schedule_kind k, const ast_subject *x) {
    const char *name = schedule_name_of(x);
    const schedule_word_info *w = name ? schedule_word_find(k, name) : NULL;
    if (w) return schedule_need_add(c, w->needs, x->at, w->text), true;
    if (k == SCHEDULE_TYPE && name && schedule_is_float_generic(c, name)) return true;
    const char *what = schedule_kind_at(k)->what;
    diagnostic *d = name ? diag(c->s->ds, E0521, x->at, "'%s' is not %s", name, what)
                         : diag(c->s->ds, E0521, x->at, "%s is wanted here", what);
    schedule_names there = {0};
    for (uint32_t i = 0; schedule_word_at(i); i++)
        if (schedule_word_at(i)->kind == k)
            VEC_PUSH(c->s->arena, &there, schedule_word_at(i)->text);
    schedule_suggest(c, d, x->at, name ? name : "", &there, "known");
    return false;
}

static bool check_width(schedule_checker *c, const ast_subject *x) {
    const char *name = schedule_name_of(x), *const fit = "fit";
    int64_t extent;
    if (name && !strcmp(name, fit)) return true;
    if (!name || !closest_name(name, &fit, 1)) return schedule_extent(c, x, &extent);
    diag_fix(diag(c->s->ds, E0521, x->at, "'%s' is not %s", name,
                  schedule_kind_at(SCHEDULE_WIDTH)->what),
             x->at, fit, "did you mean 'fit'?");
    return false;
}

// ---- By kind ------------------------------------------------------------------------------------
static bool check_one(schedule_checker *c, schedule_kind k, const ast_subject *x) {
    int64_t extent;
    switch (k) {
    case SCHEDULE_INDEX:
    case SCHEDULE_REDUCED:
    case SCHEDULE_INDICES: return check_index(c, k, x);
    case SCHEDULE_STAGES: return check_stage(c, x);
    case SCHEDULE_VALUES: return check_value(c, x);
    case SCHEDULE_SCHEDULES: return check_schedule(c, x);
    case SCHEDULE_LIMITS:
    case SCHEDULE_COUNT: return schedule_extent(c, x, &extent);
    case SCHEDULE_WIDTH: return check_width(c, x);
    case SCHEDULE_MAP: return check_map(c, x, true);
    case SCHEDULE_SOURCE: return check_map(c, x, false);
    case SCHEDULE_KEY: return check_key(c, x, true);
    case SCHEDULE_FACTOR: return check_key(c, x, false);
    case SCHEDULE_SHAPE: return check_shape(c, x);
    case SCHEDULE_TYPE:
    case SCHEDULE_OPERAND:
    case SCHEDULE_PLACE:
    case SCHEDULE_WAY:
    case SCHEDULE_HINT: return check_fixed(c, k, x);
    case SCHEDULE_OPTION:
    case SCHEDULE_CHOICES:
    case SCHEDULE_ANY:
    case SCHEDULE_KIND_COUNT: break;
    }
    ICE("kind %d in a form", k);
}

static bool check_choices(schedule_checker *c, schedule_kind k, const ast_subject *x);

// A let stands for its value: each of its choices has to be of the kind.
static bool check_let(schedule_checker *c, schedule_kind k, schedule_let *let, span at) {
    let->used = true;
    if (let->open) {
        diagnostic *d = diag(c->s->ds, E0522, at, "'%s' is defined by itself", let->name.text);
        diag_note(d, let->name.at, "it is defined here");
        return false;
    }
    let->open = true;
    bool good = !let->value || check_choices(c, k, let->value);
    let->open = false;
    return good;
}

static bool check_choices(schedule_checker *c, schedule_kind k, const ast_subject *x) {
    bool good = true;
    for (; x; x = x->choice) {
        const char *name = schedule_name_of(x);
        schedule_let *let = name ? schedule_let_find(c, name) : NULL;
        good &= let ? check_let(c, k, let, x->at) : check_one(c, k, x);
    }
    return good;
}

static bool check_list(schedule_checker *c, schedule_kind k, const ast_subject *x) {
    bool good = true;
    for (; x; x = x->list) good &= check_one(c, k, x);
    return good;
}

// The limits between classes grow.
static bool check_limits(schedule_checker *c, const ast_subject *x) {
    int64_t last = 0, limit;
    bool good = true;
    for (c->limits = 0; x; x = x->list, c->limits++) {
        if (!schedule_extent(c, x, &limit)) good = false, limit = last;
        else if (limit <= last)
            diag(c->s->ds, E0525, x->at, "limits grow, and %lld is not above %lld",
                 (long long)limit, (long long)last),
                good = false;
        last = limit;
    }
    return good;
}

static bool check_schedules(schedule_checker *c, const ast_subject *x) {
    uint32_t n = 0;
    for (const ast_subject *y = x; y; y = y->list) n++;
    bool good = n == c->limits + 1;
    if (!good)
        diag(c->s->ds, E0525, schedule_subject_span(x),
             "there are %u classes here, and %u schedules for them", c->limits + 1, n);
    return check_list(c, SCHEDULE_SCHEDULES, x) && good;
}

bool schedule_word_check(schedule_checker *c, schedule_kind k, const ast_word *w) {
    const schedule_kind_info *info = schedule_kind_at(k);
    const ast_subject *x = w->subjects;
    if (x->list && info->shape != SCHEDULE_LIST) return one_wanted(c, info, x);
    if (x->choice && info->shape != SCHEDULE_CHOICE) return one_wanted(c, info, x);
    if (k == SCHEDULE_LIMITS) return check_limits(c, x);
    if (k == SCHEDULE_SCHEDULES) return check_schedules(c, x);
    return info->shape == SCHEDULE_CHOICE ? check_choices(c, k, x) : check_list(c, k, x);
}
