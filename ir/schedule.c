// Schedules as tables of cells: finding, filling, and their text.
#include "schedule.h"

#include <string.h>

// ---- The table ----------------------------------------------------------------------------------
static const schedule_statement statements[] = {
#define STATEMENT(id, verb, form, excludes, needs, by, summary)                                    \
    [SCHEDULE_##id] = {verb, form, excludes, needs, by, summary},
#include "schedule.def"
};

const schedule_statement *schedule_statement_at(uint32_t i) {
    return i < SCHEDULE_VERB_COUNT ? &statements[i] : NULL;
}

const char *schedule_verb_text(schedule_verb v) { return statements[v].verb; }

const char *schedule_word_text(schedule_word w) {
    static const char *const texts[SCHEDULE_WORD_COUNT] = {
#define WORD(kind, id, text, needs) [SCHEDULE_##kind##_##id] = text,
#include "schedule.def"
    };
    return texts[w];
}

// Whether its subjects are stages or values, several of them joined by commas.
static bool lists_subjects(schedule_verb v) {
    const char *form = statements[v].form;
    return (*form == 'S' || *form == 'V') &&
           (!strncmp(form, "STAGES", 6) || !strncmp(form, "VALUES", 6));
}

static bool form_has(schedule_verb v, const char *word) {
    size_t n = strlen(word);
    for (const char *p = statements[v].form; *p;) {
        size_t k = strcspn(p, " []");
        if (k == n && !strncmp(p, word, n)) return true;
        p += k ? k : 1;
    }
    return false;
}

// ---- Cells --------------------------------------------------------------------------------------
static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

bool schedule_means(schedule_ids ids, tensor_id id) {
    for (uint32_t i = 0; i < ids.n; i++)
        if (ids.data[i] == id) return true;
    return false;
}

bool schedule_lists(const schedule_cell *c, tensor_id id) {
    for (uint32_t v = 0; v < c->nvalues; v++)
        for (uint32_t k = 0; k < c->values[v].nnames && c->values[v].ids; k++)
            if (schedule_means(c->values[v].ids[k], id)) return true;
    return false;
}

schedule_ids schedule_one(arena *a, tensor_id id) {
    if (id == TENSOR_ALL) return (schedule_ids){0};
    tensor_id *one = ARENA_NEW(a, tensor_id);
    *one = id;
    return (schedule_ids){1, one};
}

bool schedule_covers(const schedule *s, const schedule_cell *c, tensor_id stage) {
    return tensor_id_covers(s->ids, c->of, stage);
}

static bool is_about(const schedule *s, const schedule_cell *c, tensor_id id) {
    if (!c->about.n || id == TENSOR_ALL) return !c->about.n && id == TENSOR_ALL;
    if (lists_subjects(c->verb)) return tensor_id_covers(s->ids, c->about.data[0], id);
    return schedule_means(c->about, id);
}

static uint32_t depth_of_subject(const schedule *s, const schedule_cell *c) {
    return c->about.n ? tensor_id_depth(s->ids, c->about.data[0]) : 0;
}

static uint32_t row_of(schedule_verb verb, tensor_id of) {
    return (of * 31u + (uint32_t)verb) % SCHEDULE_ROWS;
}

// Passes ask for cells by the ten thousand, and few cells are of the stage or what it lies in.
static const schedule_places *places_of(const schedule *s) {
    schedule_places *x = (schedule_places *)&s->places;
    if (x->of != s->cells.data || x->n > s->cells.len) *x = (schedule_places){.of = s->cells.data};
    for (; x->n < s->cells.len; x->n++) {
        schedule_cell *c = &s->cells.data[x->n];
        uint32_t *last = &x->last[row_of(c->verb, c->of)];
        c->before = *last;
        *last = x->n + 1;
        x->says[c->verb] = true;
    }
    return x;
}

// Of those that are as specific, the first.
static schedule_cell *found_of(const schedule *s, tensor_id of, schedule_verb verb,
                               tensor_id about) {
    schedule_cell *best = NULL;
    for (uint32_t i = places_of(s)->last[row_of(verb, of)]; i; i = s->cells.data[i - 1].before) {
        schedule_cell *c = &s->cells.data[i - 1];
        if (c->verb != verb || c->of != of || !is_about(s, c, about)) continue;
        if (!best || depth_of_subject(s, best) <= depth_of_subject(s, c)) best = c;
    }
    return best;
}

// What is of an inner stage is more specific than what is of those around it.
schedule_cell *schedule_find(const schedule *s, tensor_id stage, schedule_verb verb,
                             tensor_id about) {
    if (!schedule_says(s, verb)) return NULL;
    schedule_cell *best = found_of(s, stage, verb, about);
    for (tensor_id of = stage; !best && of;) {
        of = tensor_id_outer(s->ids, of);
        best = found_of(s, of, verb, about);
    }
    return best && !best->empty ? best : NULL;
}

bool schedule_says(const schedule *s, schedule_verb verb) { return places_of(s)->says[verb]; }

const schedule_value *schedule_value_of(const schedule_cell *c, const char *keyword) {
    for (uint32_t i = 0; i < c->nvalues; i++)
        if (same_text(c->values[i].keyword, keyword)) return &c->values[i];
    return NULL;
}

int64_t schedule_number(const schedule_cell *c, const char *keyword) {
    const schedule_value *v = schedule_value_of(c, keyword);
    return v ? v->number : 0;
}

static bool same_ids(schedule_ids a, schedule_ids b) {
    return a.n == b.n && (!a.n || !memcmp(a.data, b.data, a.n * sizeof *a.data));
}

bool schedule_same_place(const schedule_cell *a, const schedule_cell *b) {
    return a->of == b->of && same_ids(a->about, b->about);
}

void schedule_fill(arena *a, schedule *s, schedule_cell cell) {
    schedule_cell *same = NULL;   // the first
    for (uint32_t i = places_of(s)->last[row_of(cell.verb, cell.of)]; i;
         i = s->cells.data[i - 1].before) {
        schedule_cell *c = &s->cells.data[i - 1];
        if (c->verb == cell.verb && schedule_same_place(c, &cell)) same = c;
    }
    if (same) {
        cell.before = same->before;
        *same = cell;
    } else {
        VEC_PUSH(a, &s->cells, cell);
    }
}

// ---- Keys ---------------------------------------------------------------------------------------
// y[v] = sum {e : m(e) == v} 1
bool schedule_stage_counts(const tensor_op *op, const tensor_stage *st, tensor_val *map) {
    bool plain = st->ntargets == 1 && st->nleft == 1 && st->reducer != TENSOR_NO_REDUCER &&
                 st->nbound == 1 && st->nkeys == 1 && !st->nfilters && !st->nelse &&
                 st->loop == TENSOR_NO_LOOP;
    if (!plain || op->reducers.data[st->reducer].kind != REDUCE_SUM) return false;
    const tensor_node *one = tensor_node_at(op, st->body[0]),
                      *lhs = tensor_node_at(op, st->keys[0].lhs),
                      *rhs = tensor_node_at(op, st->keys[0].rhs);
    if (one->op != TENSOR_CONST_OP || one->type.type != DT_I64 || one->imm.i != 1) return false;
    if (rhs->op != TENSOR_VAR_OP || rhs->imm.i != st->left[0] || lhs->op != TENSOR_LOAD_OP ||
        lhs->nargs != 1)
        return false;
    const tensor_node *at = tensor_node_at(op, lhs->args[0]);
    *map = (tensor_val)lhs->imm.i;
    return at->op == TENSOR_VAR_OP && at->imm.i == st->bound[0];
}

bool schedule_counts(const schedule *s, tensor_val v, tensor_val *map) {
    for (uint32_t i = 0; i < s->stages.len; i++)
        if (s->stages.data[i].targets[0].val == v)
            return schedule_stage_counts(s->op, &s->stages.data[i], map);
    for (uint32_t i = 0; s->op && i < s->op->stages.len; i++)
        if (s->op->stages.data[i].targets[0].val == v)
            return schedule_stage_counts(s->op, &s->op->stages.data[i], map);
    return false;
}

// ---- What nobody consumed -----------------------------------------------------------------------
const char *schedule_cell_text(arena *a, const schedule_cell *c) {
    return arena_printf(a, "%s%s%s%s%s", c->stage ? c->stage : "", c->stage ? ": " : "",
                        schedule_verb_text(c->verb), c->subject ? " " : "",
                        c->subject ? c->subject : "");
}

void schedule_unconsumed(diag_set *ds, arena *a, const schedule *s, schedule_reason *why,
                         void *user) {
    for (uint32_t i = 0; i < s->cells.len && !s->automatic; i++) {
        const schedule_cell *c = &s->cells.data[i];
        if (c->empty || c->consumed) continue;
        const char *reason = why ? why(user, c) : NULL;
        diagnostic *d = diag(ds, E0540, c->at, "'%s' has nothing to do here%s%s",
                             schedule_cell_text(a, c), reason ? ": " : "", reason ? reason : "");
        diag_note(d, s->at, "schedule '%s' is executed whole or not at all", s->name);
        diag_help(d, "leave it out, or compile with --no-schedule");
    }
}

// ---- Text ---------------------------------------------------------------------------------------
static void put_names(textbuf *out, const char *const *names, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) textbuf_printf(out, "%s%s", i ? ", " : " ", names[i]);
}

// Keywords that only tell parts apart, such as "type" and "stages", are not in the form.
static void put_value(textbuf *out, schedule_verb verb, const schedule_value *v) {
    bool written = v->keyword && form_has(verb, v->keyword);
    if (v->keyword && !strcmp(v->keyword, "stages")) return;
    if (written) textbuf_printf(out, " %s", v->keyword);
    if (v->open) {
        textbuf_printf(out, " %s", v->open);
        return;
    }
    put_names(out, v->names, v->nnames);
    for (uint32_t i = 0; i < v->nnumbers; i++)
        textbuf_printf(out, "%s%lld", i ? ", " : " ", (long long)v->numbers[i]);
    if (v->text) textbuf_printf(out, " %s", v->text);
    else if (v->number) textbuf_printf(out, " %lld", (long long)v->number);
}

static bool same_value(const schedule_value *a, const schedule_value *b) {
    if (!same_text(a->keyword, b->keyword) || a->number != b->number ||
        !same_text(a->text, b->text) || !same_text(a->open, b->open) || a->nnames != b->nnames ||
        a->nnumbers != b->nnumbers)
        return false;
    for (uint32_t i = 0; i < a->nnames; i++)
        if (strcmp(a->names[i], b->names[i])) return false;
    for (uint32_t i = 0; i < a->nnumbers; i++)
        if (a->numbers[i] != b->numbers[i]) return false;
    return true;
}

// Whether two cells are one statement with several subjects.
static bool same_statement(const schedule_cell *a, const schedule_cell *b) {
    if (a->verb != b->verb || !lists_subjects(a->verb) || !same_text(a->stage, b->stage) ||
        a->empty != b->empty || a->optional != b->optional || a->nvalues != b->nvalues)
        return false;
    for (uint32_t i = 0; i < a->nvalues; i++)
        if (!same_value(&a->values[i], &b->values[i])) return false;
    return true;
}

static void put_statement(textbuf *out, const schedule *s, uint32_t i, bool *done) {
    const schedule_cell *c = &s->cells.data[i];
    textbuf_printf(out, "%s%s", c->optional ? "tune " : "", schedule_verb_text(c->verb));
    bool first = true;
    for (uint32_t k = i; k < s->cells.len; k++) {
        const schedule_cell *x = &s->cells.data[k];
        if (done[k] || (k != i && !same_statement(c, x))) continue;
        done[k] = true;
        if (x->subject) textbuf_printf(out, "%s%s", first ? " " : ", ", x->subject);
        first = false;
    }
    for (uint32_t k = 0; k < c->nvalues && !c->empty; k++) put_value(out, c->verb, &c->values[k]);
    textbuf_puts(out, c->empty ? " none;" : ";");
}

static void put_stage(textbuf *out, const schedule *s, const char *stage, bool *done) {
    const char *indent = stage ? "        " : "    ";
    if (stage) textbuf_printf(out, "    %s: {\n", stage);
    for (uint32_t i = 0; i < s->cells.len; i++) {
        if (done[i] || !same_text(s->cells.data[i].stage, stage)) continue;
        textbuf_puts(out, indent);
        put_statement(out, s, i, done);
        textbuf_puts(out, "\n");
    }
    if (stage) textbuf_puts(out, "    }\n");
}

void schedule_print(textbuf *out, const tensor_op *op, const schedule *s) {
    textbuf_printf(out, "schedule %s %s", s->path ? s->path : op->name, s->name);
    if (s->target) textbuf_printf(out, " for %s", s->target);
    for (uint32_t i = 0; i < s->when.len; i++)
        textbuf_printf(out, "%s%s", i ? ", " : " when (", s->when.data[i].text);
    textbuf_puts(out, s->when.len ? ") {\n" : " {\n");
    for (uint32_t i = 0; i < s->lets.len; i++)
        textbuf_printf(out, "    let %s = %s;\n", s->lets.data[i].name, s->lets.data[i].text);
    bool *done = ARENA_ARRAY(out->arena, bool, s->cells.len + 1);
    put_stage(out, s, NULL, done);
    for (uint32_t i = 0; i < s->cells.len; i++)
        if (!done[i]) put_stage(out, s, s->cells.data[i].stage, done);
    textbuf_puts(out, "}\n");
}
