// A statement of any verb, by its form in schedule.def: `INDEX COUNT [by MAP [group COUNT]]`
// becomes words that may fit.
#include "test.h"
#include "table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    test_maker *m;
    test_schedule *schedule;
    const char *verb, *keyword;   // before a number it says which numbers are apt
    const test_stage *stage;      // the statement is about it alone; NULL: about all
    const char *index;
    tensor_space space;
    bool one_space;   // the index runs over one space in all its stages
    uint32_t nlimits;
    bool failed;   // nothing of a kind that the form wants
} statement_maker;

// ---- Tables -------------------------------------------------------------------------------------
typedef struct {
    const char *kind, *text, *needs;
} word_row;
static const word_row word_rows[] = {
#define WORD(kind, id, text, needs) {#kind, text, needs},
#include "schedule.def"
};

typedef struct {
    const char *keyword;
    int64_t numbers[8];
    uint32_t n;
} number_row;
static const number_row number_rows[] = {
    {"block", {1, 2, 3, 4, 8, 12, 64}, 7},     {"groups", {1, 2, 2, 3, 4, 8}, 6},
    {"lanes", {1, 2, 4, 8, 16, 32, 3, 64}, 8}, {"registers", {1, 2, 2, 3, 4}, 5},
    {"vector", {1, 2, 2, 4, 3, 8}, 6},         {"tile", {1, 2, 4, 5, 8, 16}, 6},
    {"unroll", {1, 2, 3, 4, 16}, 5},           {"at", {1, 2, 3, 5, 8}, 5},
};
static const number_row other_numbers = {"", {1, 2, 3, 4, 6, 7, 8}, 7};

static bool has_meaning(const test_maker *m, const char *needs) {
    if (!*needs) return true;
    if (!strcmp(needs, "grad")) return m->op->gradient;
    gpu_feature feature;
    return !m->host && (!gpu_feature_find(needs, &feature) || gpu_has(m->arch, feature));
}

static const schedule_statement *row_of(const char *verb) {
    const schedule_statement *row;
    for (uint32_t i = 0; (row = schedule_statement_at(i)); i++)
        if (!strcmp(row->verb, verb)) return row;
    return NULL;
}

bool test_verb_usable(const test_maker *m, const char *verb) {
    const schedule_statement *row = row_of(verb);
    return row && *row->by && has_meaning(m, row->needs);
}

static bool word_usable(const test_maker *m, const char *text) {
    for (uint32_t i = 0; i < sizeof word_rows / sizeof *word_rows; i++)
        if (!strcmp(word_rows[i].text, text)) return has_meaning(m, word_rows[i].needs);
    return true;
}

// ---- One word -----------------------------------------------------------------------------------
typedef VEC(const char *) names;

static const char *pick_name(statement_maker *x, const names *n) {
    x->failed |= !n->len;
    return n->len ? n->data[test_draw(x->m->rng, n->len)] : "";
}

static const char *table_word(statement_maker *x, const char *kind) {
    names n = {0};
    for (uint32_t i = 0; i < sizeof word_rows / sizeof *word_rows; i++)
        if (!strcmp(word_rows[i].kind, kind) && has_meaning(x->m, word_rows[i].needs))
            VEC_PUSH(x->m->arena, &n, word_rows[i].text);
    return n.len ? pick_name(x, &n) : NULL;
}

bool test_word_of(const char *text, const char *kind) {
    for (uint32_t i = 0; i < sizeof word_rows / sizeof *word_rows; i++)
        if (!strcmp(word_rows[i].kind, kind) && !strcmp(word_rows[i].text, text)) return true;
    return false;
}

const char *test_word_draw(test_maker *m, const char *kind) {
    return table_word(&(statement_maker){.m = m}, kind);
}

static int64_t number_for(statement_maker *x, const char *keyword) {
    const number_row *row = &other_numbers;
    for (uint32_t i = 0; i < sizeof number_rows / sizeof *number_rows; i++)
        if (!strcmp(number_rows[i].keyword, keyword)) row = &number_rows[i];
    return row->numbers[test_draw(x->m->rng, row->n)];
}

typedef enum { MAPS_FROM, MAPS_INTO, MAPS_ANY } map_side;

static names maps_of(const statement_maker *x, map_side side) {
    const tensor_op *op = x->m->op->op;
    names n = {0};
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        bool fits = side == MAPS_ANY || (x->one_space && i->rank == 1 &&
                                         (side == MAPS_FROM ? i->axes[0] : i->into) == x->space);
        if (i->role == VAL_MAP && fits) VEC_PUSH(x->m->arena, &n, i->name);
    }
    return n;
}

static const char *key(statement_maker *x) {
    names from = maps_of(x, MAPS_FROM), into = maps_of(x, MAPS_INTO), keys = {0};
    for (uint32_t i = 0; i < into.len; i++)
        for (int weight = 0; weight < 3; weight++)
            VEC_PUSH(x->m->arena, &keys,
                     arena_printf(x->m->arena, "degree(%s, %s)", into.data[i], x->index));
    for (uint32_t i = 0; i < from.len && strcmp(x->verb, "bucket"); i++)
        VEC_PUSH(x->m->arena, &keys, from.data[i]);
    return pick_name(x, &keys);
}

// Of a sum's results: a number, or by how many terms a row has. The indices of a stage that a `by`
// made have no name that a schedule may say, nor have some that a gradient made.
static const char *factor(statement_maker *x) {
    names n = {0};
    const tensor_op *op = x->m->op->op;
    VEC_PUSH(x->m->arena, &n, "1 / 4");
    VEC_PUSH(x->m->arena, &n, "0.5");
    const bool named = x->stage && !strchr(x->stage->name, '.') && !strchr(x->m->op->name, '.');
    for (uint32_t k = 0; named && k < x->stage->nleft; k++)
        for (tensor_val v = 0; v < op->nparams; v++) {
            const tensor_val_info *i = &op->vals.data[v];
            if (i->role == VAL_MAP && i->rank == 1 && i->into == x->stage->indices[k].space)
                VEC_PUSH(x->m->arena, &n,
                         arena_printf(x->m->arena, "1 / degree(%s, %s)", i->name,
                                      x->stage->indices[k].name));
        }
    return pick_name(x, &n);
}

static const test_stage *any_stage(statement_maker *x) {
    return x->stage ? x->stage : &x->m->op->stages.data[test_draw(x->m->rng, x->m->op->stages.len)];
}

static const char *reduced_index(statement_maker *x) {
    names n = {0};
    for (uint32_t s = 0; s < x->m->op->stages.len; s++) {
        const test_stage *st = &x->m->op->stages.data[s];
        for (uint32_t i = st->nleft; i < st->nindices && (!x->stage || st == x->stage); i++)
            VEC_PUSH(x->m->arena, &n, st->indices[i].name);
    }
    return pick_name(x, &n);
}

static const char *joined(arena *a, const char *const *texts, uint32_t n) {
    textbuf out = textbuf_new(a);
    for (uint32_t i = 0; i < n; i++) textbuf_printf(&out, "%s%s", i ? ", " : "", texts[i]);
    return out.data ? out.data : "";
}

static const char *some_indices(statement_maker *x) {
    const test_stage *st = any_stage(x);
    names n = {0};
    for (uint32_t i = 0; i < st->nindices; i++) VEC_PUSH(x->m->arena, &n, st->indices[i].name);
    x->failed |= !n.len;
    for (uint32_t i = n.len; i > 1; i--) {
        uint32_t k = (uint32_t)test_draw(x->m->rng, i);
        const char *t = n.data[k];
        n.data[k] = n.data[i - 1];
        n.data[i - 1] = t;
    }
    return n.len ? joined(x->m->arena, n.data, 1 + (uint32_t)test_draw(x->m->rng, n.len)) : "";
}

static bool is_result(const tensor_op *op, const char *name) {
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role == VAL_RESULT && !strcmp(op->vals.data[v].name, name))
            return true;
    return false;
}

// Those that can be inlined are no results and reduce nothing.
static const char *inlinable(statement_maker *x) {
    names n = {0};
    for (uint32_t s = 0; s < x->m->op->stages.len; s++) {
        const test_stage *st = &x->m->op->stages.data[s];
        if (st->nleft == st->nindices && !is_result(x->m->op->op, st->name))
            VEC_PUSH(x->m->arena, &n, st->name);
    }
    return pick_name(x, &n);
}

static const char *some_stages(statement_maker *x) {
    if (!strcmp(x->verb, "inline")) return inlinable(x);
    uint32_t all = x->m->op->stages.len, first = (uint32_t)test_draw(x->m->rng, all),
             n = 1 + (uint32_t)test_draw(x->m->rng, 3);
    names list = {0};
    for (uint32_t i = first; i < all && i < first + n; i++)
        VEC_PUSH(x->m->arena, &list, x->m->op->stages.data[i].name);
    return joined(x->m->arena, list.data, list.len);
}

static const char *some_values(statement_maker *x) {
    const tensor_op *op = x->m->op->op;
    names n = {0};
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role != VAL_SCALAR) VEC_PUSH(x->m->arena, &n, op->vals.data[v].name);
    for (uint32_t s = 0; s < x->m->op->stages.len; s++)
        VEC_PUSH(x->m->arena, &n, x->m->op->stages.data[s].name);
    return pick_name(x, &n);
}

static const char *limits(statement_maker *x) {
    int64_t first = number_for(x, "at");
    x->nlimits = 1 + (uint32_t)test_draw(x->m->rng, 2);
    if (x->nlimits == 1) return arena_printf(x->m->arena, "%lld", (long long)first);
    return arena_printf(x->m->arena, "%lld, %lld", (long long)first,
                        (long long)first + 1 + (long long)test_draw(x->m->rng, 9));
}

// Classes with blocks of one kind may share a launch.
static const char *class_schedules(statement_maker *x) {
    names n = {0};
    const bool alike = test_chance(x->m->rng, 30);
    for (uint32_t i = 0; i <= x->nlimits; i++)
        VEC_PUSH(x->m->arena, &n, alike && i ? n.data[0] : test_class_draw(x->m));
    return joined(x->m->arena, n.data, n.len);
}

static test_word word_of(statement_maker *x, const char *kind) {
    names maps;
    const char *fixed = table_word(x, kind);
    if (fixed) return test_text(fixed);
    if (!strcmp(kind, "INDEX")) return test_text(x->index);
    if (!strcmp(kind, "REDUCED")) return test_text(reduced_index(x));
    if (!strcmp(kind, "INDICES")) return test_text(some_indices(x));
    if (!strcmp(kind, "STAGES")) return test_text(some_stages(x));
    if (!strcmp(kind, "VALUES")) return test_text(some_values(x));
    if (!strcmp(kind, "COUNT")) return test_number(number_for(x, x->keyword));
    if (!strcmp(kind, "WIDTH"))
        return test_chance(x->m->rng, 10) ? test_text("fit") : test_number(number_for(x, "lanes"));
    if (!strcmp(kind, "MAP") || !strcmp(kind, "SOURCE")) {
        maps = maps_of(x, *kind == 'M' ? MAPS_FROM : MAPS_ANY);
        return test_text(pick_name(x, &maps));
    }
    if (!strcmp(kind, "SHAPE"))
        return test_text(simt_mma_table((simt_mma)test_draw(x->m->rng, SIMT_MMA_COUNT))->shape);
    if (!strcmp(kind, "KEY")) return test_text(key(x));
    if (!strcmp(kind, "LIMITS")) return test_text(limits(x));
    if (!strcmp(kind, "SCHEDULES")) return test_text(class_schedules(x));
    if (!strcmp(kind, "FACTOR")) return test_text(factor(x));
    ICE("gnnc test knows no words of kind %s", kind);
}

// ---- The form -----------------------------------------------------------------------------------
static const char *next_token(arena *a, const char **at) {
    while (**at == ' ') ++*at;
    if (!**at) return NULL;
    size_t n = **at == '[' || **at == ']' ? 1 : strcspn(*at, " []");
    const char *token = arena_strndup(a, *at, n);
    *at += n;
    return token;
}

static void skip_option(arena *a, const char **at) {
    int depth = 1;
    for (const char *t; depth && (t = next_token(a, at));)
        depth += *t == '[' ? 1 : *t == ']' ? -1 : 0;
}

static void words_of(statement_maker *x, const char **at, test_words *out);

static void maybe_option(statement_maker *x, const char **at, test_words *out) {
    const char *first = *at, *word = next_token(x->m->arena, &first);
    uint32_t chance = !strcmp(x->verb, "keep") ? 6 : 20;
    if (!test_chance(x->m->rng, chance) || !word_usable(x->m, word)) {
        skip_option(x->m->arena, at);
        return;
    }
    test_words inside = {0};
    words_of(x, at, &inside);
    VEC_PUSH(x->m->arena, out, ((test_word){.noption = inside.len, .option = inside.data}));
}

// Up to the end of the form, or of the option.
static void words_of(statement_maker *x, const char **at, test_words *out) {
    for (const char *t; (t = next_token(x->m->arena, at)) && *t != ']';) {
        if (*t == '[') {
            maybe_option(x, at, out);
        } else if (isupper((unsigned char)*t)) {
            VEC_PUSH(x->m->arena, out, word_of(x, t));
        } else {
            VEC_PUSH(x->m->arena, out, test_text(t));
            x->keyword = t;
        }
    }
}

// ---- The statement ------------------------------------------------------------------------------
static void choose_index(statement_maker *x) {
    const test_stage *st = any_stage(x);
    bool outer = (!strcmp(x->verb, "order") || !strcmp(x->verb, "bucket")) &&
                 test_chance(x->m->rng, 90);
    x->index = "none";
    if (!st->nindices) return;
    const test_index *i = &st->indices[outer ? 0 : test_draw(x->m->rng, st->nindices)];
    x->index = i->name;
    x->space = i->space;
    x->one_space = true;
    for (uint32_t s = 0; s < x->m->op->stages.len; s++)
        for (uint32_t k = 0; k < x->m->op->stages.data[s].nindices; k++) {
            const test_index *other = &x->m->op->stages.data[s].indices[k];
            x->one_space &= strcmp(other->name, i->name) || other->space == i->space;
        }
}

static const test_stage *choose_stage(test_maker *m, bool (*among)(const test_stage *)) {
    VEC(const test_stage *) fit = {0};
    for (uint32_t i = 0; i < m->op->stages.len; i++)
        if (!among || among(&m->op->stages.data[i]))
            VEC_PUSH(m->arena, &fit, &m->op->stages.data[i]);
    return fit.len ? fit.data[test_draw(m->rng, fit.len)] : NULL;
}

bool test_statement_draw(test_maker *m, test_schedule *s, const char *verb,
                         bool (*among)(const test_stage *)) {
    statement_maker x = {.m = m, .schedule = s, .verb = verb, .keyword = verb};
    if (among || test_chance(m->rng, 40)) x.stage = choose_stage(m, among);
    choose_index(&x);
    test_words words = {0};
    const char *form = row_of(verb)->form;
    words_of(&x, &form, &words);
    if (!x.failed) test_put(m, s, verb, words.data, words.len, x.stage ? x.stage->name : NULL);
    return !x.failed;
}
