// A checked schedule as passes read it: inherited cells merged, lets and choices replaced, keys
// lowered. A choice stands for its first alternative, and a statement under tune for itself.
#include "sema_schedule_names.h"
#include "sema_schedule_resolve.h"
#include <ctype.h>
#include <string.h>

typedef struct {
    schedule_resolver *r;
    schedule_checker *c;
    const written_cell *from;
    schedule_form form;
    schedule *out;
    VEC(schedule_value) values;
} resolving;

static span schedule_verb_span(const ast_statement *st) {
    bool tuned = !strcmp(st->verb.text, "tune") && st->words;
    return tuned ? st->words->subjects->at : st->verb.at;
}

static arena *arena_of(const resolving *x) { return x->r->unit->arena; }

// ---- Whom names mean ----------------------------------------------------------------------------
// Gradients and called ops are there by now: every name that means something means a stage, an
// index or a value.
static tensor_ids *ids_of(const resolving *x) { return x->r->place.op->op->ids; }

static schedule_ids index_ids(resolving *x, const char *name) {
    const schedule_ids found = schedule_index_ids(x->c, x->from->stage, name);
    return found.n
               ? found
               : schedule_one(arena_of(x),
                              tensor_id_of_index(ids_of(x), name));   // no stage has it: nobody's
}

static schedule_ids path_ids(resolving *x, const char *path) {
    return schedule_one(arena_of(x), tensor_id_of_path(ids_of(x), path));
}

static bool names_index(schedule_kind k) {
    return k == SCHEDULE_INDEX || k == SCHEDULE_REDUCED || k == SCHEDULE_INDICES;
}

static schedule_ids ids_of_name(resolving *x, schedule_kind k, const char *name) {
    return names_index(k) ? index_ids(x, name) : path_ids(x, name);
}

static const schedule_ids *ids_of_names(resolving *x, schedule_kind k, const char *const *names,
                                        uint32_t n) {
    schedule_ids *ids = ARENA_ARRAY(arena_of(x), schedule_ids, n + 1);
    for (uint32_t i = 0; i < n; i++) ids[i] = ids_of_name(x, k, names[i]);
    return ids;
}

// ---- Words --------------------------------------------------------------------------------------
static const char *const *subject_texts(resolving *x, const ast_subject *s, uint32_t *n) {
    VEC(const char *) names = {0};
    for (; s; s = s->list) VEC_PUSH(arena_of(x), &names, schedule_path_text(x->c->s, s->path));
    *n = names.len;
    return names.data;
}

static void set_limits(resolving *x, const ast_subject *s, schedule_value *v) {
    VEC(int64_t) limits = {0};
    for (int64_t one; s && schedule_extent(x->c, s, &one); s = s->list)
        VEC_PUSH(arena_of(x), &limits, one);
    v->numbers = limits.data;
    v->nnumbers = limits.len;
}

static void set_schedules(resolving *x, const ast_subject *s, schedule_value *v) {
    v->names = subject_texts(x, s, &v->nnames);
    const schedule **classes = ARENA_ARRAY(arena_of(x), const schedule *, v->nnames);
    for (uint32_t i = 0; i < v->nnames; i++) {
        const ast_item *item = schedule_named(x->c->s, x->c->op->path,
                                              intern(x->c->s->names, v->names[i]));
        if (!item || x->r->depth > 1) ICE("schedule '%s' of a bucket", v->names[i]);
        classes[i] = schedule_resolve(x->r, item);
    }
    v->schedules = classes;
}

static void set_key(resolving *x, const ast_subject *s, schedule_value *v, bool of_index) {
    const char *base = arena_printf(arena_of(x), "%s.%s", x->out->name, x->from->what->verb);
    schedule_key_place k = {.c = x->c, .stage = x->from->stage, .base = base};
    if (of_index) k.index = x->from->subject;
    schedule_key_lower(x->r, &k, s, x->out, v);
}

static const char *bound_type(resolving *x, const char *name) {
    const ast_generic *g = schedule_generic_find(x->r->place.op, name);
    return g ? schedule_generic_value(&x->r->place, g) : name;
}

static void set_fixed(schedule_value *v, schedule_kind k, const char *text) {
    const schedule_word_info *w = schedule_word_find(k, text);
    v->text = text;
    v->word = w ? w->word : SCHEDULE_NO_WORD;
}

static void set_word(resolving *x, schedule_kind k, const ast_subject *s, schedule_value *v) {
    switch (k) {
    case SCHEDULE_LIMITS: set_limits(x, s, v); return;
    case SCHEDULE_SCHEDULES: set_schedules(x, s, v); return;
    case SCHEDULE_INDICES:
    case SCHEDULE_STAGES:
    case SCHEDULE_VALUES:
        v->names = subject_texts(x, s, &v->nnames);
        v->ids = ids_of_names(x, k, v->names, v->nnames);
        return;
    case SCHEDULE_COUNT: schedule_extent(x->c, s, &v->number); return;
    case SCHEDULE_WIDTH:
        if (schedule_name_of(s)) v->text = schedule_name_of(s);
        else schedule_extent(x->c, s, &v->number);
        return;
    case SCHEDULE_KEY:
    case SCHEDULE_FACTOR: set_key(x, s, v, k == SCHEDULE_KEY); return;
    case SCHEDULE_TYPE: set_fixed(v, k, bound_type(x, schedule_name_of(s))); return;
    case SCHEDULE_INDEX:
    case SCHEDULE_REDUCED:
    case SCHEDULE_MAP:
    case SCHEDULE_SOURCE:
        v->text = schedule_name_of(s);
        v->ids = ids_of_names(x, k, &v->text, 1);
        return;
    case SCHEDULE_OPERAND:
    case SCHEDULE_SHAPE: v->text = schedule_name_of(s); return;   // a column of mma.def
    case SCHEDULE_PLACE:
    case SCHEDULE_WAY:
    case SCHEDULE_HINT: set_fixed(v, k, schedule_name_of(s)); return;
    case SCHEDULE_OPTION:
    case SCHEDULE_CHOICES:
    case SCHEDULE_ANY:
    case SCHEDULE_KIND_COUNT: break;
    }
    ICE("kind %d in a form", k);
}

// ---- Statements ---------------------------------------------------------------------------------
// The stages that a statement fills cells for, without those that another one took or emptied.
static void add_stages(resolving *x) {
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < x->c->cells.len; i++) {
        const written_cell *w = &x->c->cells.data[i];
        if (w->words == x->from->words && w->stage == x->from->stage && !w->empty)
            VEC_PUSH(arena_of(x), &names, w->subject);
    }
    schedule_value v = {
        .keyword = "stages", .nnames = names.len, .names = names.data, .var = UINT32_MAX};
    v.ids = ids_of_names(x, SCHEDULE_STAGES, names.data, names.len);
    VEC_PUSH(arena_of(x), &x->values, v);
}

static const char *lower_case(resolving *x, const char *text) {
    char *s = arena_strdup(arena_of(x), text);
    for (char *p = s; *p; p++) *p = (char)tolower((unsigned char)*p);
    return s;
}

// A word belongs to the keyword just before it; the first that has none goes without, others by
// their kind.
static void add_word(resolving *x, const fitted_word *w, bool after_keyword, bool *bare) {
    const schedule_part *p = &x->form.parts[w->part];
    if (!w->word || !after_keyword) {
        schedule_value v = {.var = UINT32_MAX};
        if (!w->word)
            v.keyword = arena_strndup(arena_of(x), p->keyword, strcspn(p->keyword, " []"));
        else if (*bare) v.keyword = lower_case(x, schedule_kind_at(p->kind)->name);
        *bare |= w->word != NULL;
        VEC_PUSH(arena_of(x), &x->values, v);
    }
    if (!w->word) return;
    schedule_value v = x->values.data[x->values.len - 1];
    const ast_subject *s = w->word->subjects;
    v.open = schedule_open_text(x->c, s);
    if (schedule_kind_at(p->kind)->shape == SCHEDULE_CHOICE) s = schedule_first_choice(x->c, s);
    set_word(x, p->kind, s, &v);
    x->values.data[x->values.len - 1] = v;
}

static const fitted_word *word_of_part(const fitted_words *words, uint32_t part) {
    for (uint32_t i = 0; i < words->len; i++)
        if (words->data[i].part == part) return &words->data[i];
    return NULL;
}

static void add_words(resolving *x) {
    bool bare = false;
    for (uint32_t i = 0; i < x->form.n; i++) {   // in the form's order, however they were written
        const fitted_word *w = word_of_part(x->from->words, i);
        const schedule_part *before = i ? &x->form.parts[i - 1] : NULL;
        bool after = before && before->keyword && before->option == x->form.parts[i].option;
        bool stages = !i && x->form.subject && x->form.parts[0].kind == SCHEDULE_STAGES;
        if (stages) add_stages(x);
        else if (w && (i || !x->form.subject)) add_word(x, w, after, &bare);
    }
}

static schedule_cell resolve_cell(resolving *x, const written_cell *w) {
    x->from = w;
    x->form = schedule_form_read(w->what);
    x->values.data = NULL;
    x->values.len = x->values.cap = 0;
    if (!w->empty) add_words(x);
    return (schedule_cell){.verb = (schedule_verb)(w->what - schedule_statement_at(0)),
                           .stage = w->stage,
                           .subject = w->subject,
                           .of = tensor_id_of_path(ids_of(x), w->stage),
                           .about = w->subject ? ids_of_name(x, x->form.parts[0].kind, w->subject)
                                               : (schedule_ids){0},
                           .nvalues = x->values.len,
                           .values = x->values.data,
                           .at = schedule_verb_span(w->statement),
                           .empty = w->empty,
                           .optional = !w->empty && schedule_optional(w->statement)};
}

static const schedule_op *canonical_of(schedule_resolver *r) {
    if (!r->canonical) {
        schedule_op *copy = ARENA_NEW(r->unit->arena, schedule_op);
        *copy = *r->place.op;
        r->canonical = schedule_canonical(r->unit->sema, copy);
    }
    return r->canonical;
}

schedule *schedule_resolve(schedule_resolver *r, const ast_item *item) {
    // all was checked: what is told from here on is about the form compiled
    sema quiet = *r->unit->sema;
    quiet.ds = diag_set_new(quiet.arena, diag_sources(quiet.ds));
    schedule_checker *c = ARENA_NEW(quiet.arena, schedule_checker);
    schedule_collect(c, &quiet, item);
    schedule_op compiled = c->canonical ? *canonical_of(r) : *r->place.op;
    compiled.path = c->op->path;
    c->op = &compiled;
    c->ds = r->unit->ds;
    schedule *s = ARENA_NEW(quiet.arena, schedule);
    *s = (schedule){.name = item->name.text,
                    .path = compiled.path,
                    .target = r->place.target,
                    .at = item->name.at,
                    .canonical = c->canonical,
                    .form = c->canonical ? compiled.op : NULL,
                    .ids = compiled.op->ids};
    resolving x = {.r = r, .c = c, .out = s};
    r->depth++;
    for (uint32_t i = 0; i < c->cells.len; i++)
        VEC_PUSH(quiet.arena, &s->cells, resolve_cell(&x, &c->cells.data[i]));
    r->depth--;
    schedule_open_lets(c, s);
    VEC_PUSH(quiet.arena, &r->made, s);
    return s;
}
