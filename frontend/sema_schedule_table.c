// The statement table, and forms read from it.
#include "sema_schedule.h"
#include <string.h>

static const schedule_kind_info kinds[SCHEDULE_KIND_COUNT] = {
#define KIND(id, shape, what) {#id, SCHEDULE_##shape, what},
#include "schedule.def"
};
static const schedule_word_info words[] = {
#define WORD(kind, id, text, needs) {SCHEDULE_##kind, SCHEDULE_##kind##_##id, text, needs},
#include "schedule.def"
};
enum { WORDS = sizeof words / sizeof *words };

const schedule_kind_info *schedule_kind_at(schedule_kind k) { return &kinds[k]; }

const schedule_word_info *schedule_word_at(uint32_t i) { return i < WORDS ? &words[i] : NULL; }

const schedule_word_info *schedule_word_find(schedule_kind k, const char *text) {
    for (uint32_t i = 0; i < WORDS; i++)
        if (words[i].kind == k && !strcmp(words[i].text, text)) return &words[i];
    return NULL;
}

const schedule_statement *schedule_statement_find(const char *verb) {
    for (uint32_t i = 0; i < SCHEDULE_VERB_COUNT; i++)
        if (!strcmp(schedule_statement_at(i)->verb, verb)) return schedule_statement_at(i);
    return NULL;
}

const char *schedule_renamed(const char *of, const char *old) {
    static const struct {
        const char *of, *old, *now;
    } renamed[] = {
#define RENAMED(of, old, now) {of, old, now},
#include "schedule.def"
    };
    for (uint32_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(renamed[i].of, of) && !strcmp(renamed[i].old, old)) return renamed[i].now;
    return NULL;
}

// ---- Forms --------------------------------------------------------------------------------------
static bool kind_named(const char *text, size_t n, schedule_kind *out) {
    for (uint32_t k = 0; k < SCHEDULE_KIND_COUNT; k++)
        if (strlen(kinds[k].name) == n && !strncmp(kinds[k].name, text, n))
            return *out = (schedule_kind)k, true;
    return false;
}

// Keywords point into the table's text: they end at a blank or bracket.
static void add_part(schedule_form *f, const char *text, size_t n, uint32_t option,
                     uint32_t inside) {
    if (f->n == SCHEDULE_MAX_PARTS)
        ICE("a form of schedule.def is longer than %d parts", SCHEDULE_MAX_PARTS);
    schedule_part p = {.option = option, .inside = inside};
    if (!kind_named(text, n, &p.kind)) p.keyword = text;
    f->parts[f->n++] = p;
}

schedule_form schedule_form_read(const schedule_statement *st) {
    schedule_form f = {.n = 0};
    uint32_t open[4] = {0}, depth = 0, options = 0;
    for (const char *p = st->form; *p;) {
        size_t n = strcspn(p, " []");
        if (n) add_part(&f, p, n, open[depth], depth ? open[depth - 1] : 0);
        else if (*p == '[') open[++depth] = ++options;
        else if (*p == ']') depth--;
        p += n ? n : 1;
    }
    const schedule_part *first = f.n && !f.parts[0].option && !f.parts[0].keyword ? &f.parts[0]
                                                                                  : NULL;
    f.subject = first && (first->kind == SCHEDULE_INDEX || first->kind == SCHEDULE_REDUCED ||
                          first->kind == SCHEDULE_STAGES || first->kind == SCHEDULE_VALUES);
    return f;
}

static bool lists(const char *verbs, const char *verb) {
    size_t n = strlen(verb);
    for (const char *p = verbs; (p = strstr(p, verb)); p += n)
        if ((p == verbs || p[-1] == ' ') && (!p[n] || p[n] == ' ')) return true;
    return false;
}

bool schedule_excludes(const schedule_statement *a, const schedule_statement *b) {
    return lists(a->excludes, b->verb) || lists(b->excludes, a->verb);
}
