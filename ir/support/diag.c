// The table of diagnostics and the set that collects them.
#include "internal.h"

#include <string.h>

static const diag_info table[DIAG_COUNT + 1] = {
#define DIAG(code, sev, name, summary) {#code, sev, name, summary},
#include "support/diag.def"
#undef DIAG
    {"", SEV_ERROR, "", ""},
};

const diag_info *diag_table(diag_code code) { return &table[code]; }

bool diag_find(const char *code, diag_code *out) {
    for (uint32_t i = 0; i < DIAG_COUNT; i++) {
        if (strcmp(table[i].code, code) && strcmp(table[i].name, code)) continue;
        *out = (diag_code)i;
        return true;
    }
    return false;
}

diag_set *diag_set_new(arena *a, source_map *m) {
    diag_set *ds = ARENA_NEW(a, diag_set);
    ds->arena = a;
    ds->sources = m;
    ds->unique_cap = 64;
    ds->unique = ARENA_ARRAY(a, diagnostic *, ds->unique_cap);
    return ds;
}

source_map *diag_sources(const diag_set *ds) { return ds->sources; }

void diag_configure(diag_set *ds, diag_options options) { ds->options = options; }

static bool same(const diagnostic *a, const diagnostic *b) {
    return a->code == b->code && a->at.lo == b->at.lo && a->at.hi == b->at.hi &&
           !strcmp(a->message, b->message);
}

static diagnostic **unique_slot(diagnostic **slots, uint32_t cap, const diagnostic *d) {
    uint64_t seed = (uint64_t)d->code << 48 ^ (uint64_t)d->at.lo << 16 ^ d->at.hi;
    uint32_t i = (uint32_t)hash_bytes(d->message, strlen(d->message), seed) & (cap - 1);
    while (slots[i] && !same(slots[i], d)) i = (i + 1) & (cap - 1);
    return &slots[i];
}

static void grow_unique(diag_set *ds) {
    diagnostic **grown = ARENA_ARRAY(ds->arena, diagnostic *, ds->unique_cap * 2);
    for (uint32_t i = 0; i < ds->all.len; i++)
        *unique_slot(grown, ds->unique_cap * 2, ds->all.data[i]) = ds->all.data[i];
    ds->unique = grown;
    ds->unique_cap *= 2;
}

// A repetition is given back for its notes to go to, but is in no list and never shown.
diagnostic *diag(diag_set *ds, diag_code code, span at, const char *format, ...) {
    diagnostic *d = ARENA_NEW(ds->arena, diagnostic);
    va_list ap;
    va_start(ap, format);
    d->message = arena_vprintf(ds->arena, format, ap);
    va_end(ap);
    d->set = ds;
    d->code = code;
    d->at = at;
    d->index = ds->all.len;
    ds->raised[code]++;
    if (ds->all.len * 2 >= ds->unique_cap) grow_unique(ds);
    diagnostic **slot = unique_slot(ds->unique, ds->unique_cap, d);
    if (*slot) return d;
    *slot = d;
    VEC_PUSH(ds->arena, &ds->all, d);
    ds->counts[code]++;
    return d;
}

static diagnostic *add_part(diagnostic *d, diag_part part, const char *format, va_list ap) {
    part.message = arena_vprintf(d->set->arena, format, ap);
    VEC_PUSH(d->set->arena, &d->parts, part);
    return d;
}

diagnostic *diag_note(diagnostic *d, span at, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    add_part(d, (diag_part){.kind = PART_NOTE, .at = at}, format, ap);
    va_end(ap);
    return d;
}

bool diag_told(const diag_set *ds, diag_code code) { return ds->raised[code] > 0; }

uint32_t diag_mark(const diag_set *ds) { return ds->all.len; }

diagnostic *diag_last(const diag_set *ds, uint32_t mark) {
    return ds->all.len > mark ? ds->all.data[ds->all.len - 1] : NULL;
}

void diag_note_use(diag_set *ds, uint32_t mark, span body, span call, const char *name) {
    for (uint32_t i = mark; i < ds->all.len; i++) {
        diagnostic *d = ds->all.data[i];
        span at = d->call.hi ? d->call : d->at;
        if (at.lo < body.lo || at.hi > body.hi) continue;
        diag_note(d, call, "in '%s', used here", name);
        d->call = call;
    }
}

diagnostic *diag_help(diagnostic *d, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    add_part(d, (diag_part){.kind = PART_HELP}, format, ap);
    va_end(ap);
    return d;
}

diagnostic *diag_fix(diagnostic *d, span at, const char *replacement, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    diag_part part = {
        .kind = PART_FIX, .at = at, .replacement = arena_strdup(d->set->arena, replacement)};
    add_part(d, part, format, ap);
    va_end(ap);
    return d;
}

// Errors can't be switched off. -Wperf shows remarks, and -Wno-NAME still hides single ones.
bool diag_shown(const diag_set *ds, diag_code code) {
    severity s = table[code].sev;
    if (s == SEV_ERROR) return true;
    if (ds->options.disabled && ds->options.disabled[code]) return false;
    return s == SEV_WARNING || ds->options.perf;
}

bool diag_is_error(const diag_set *ds, diag_code code) {
    severity s = table[code].sev;
    return s == SEV_ERROR || (s == SEV_WARNING && ds->options.werror && diag_shown(ds, code));
}

static uint32_t count_errors(const diag_set *ds, const uint32_t *counts) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < DIAG_COUNT; c++)
        if (counts[c] && diag_is_error(ds, (diag_code)c)) n += counts[c];
    return n;
}

uint32_t diag_errors(const diag_set *ds) { return count_errors(ds, ds->counts); }
uint32_t diag_raised(const diag_set *ds) { return count_errors(ds, ds->raised); }

uint32_t diag_count(const diag_set *ds) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < DIAG_COUNT; c++)
        if (diag_shown(ds, (diag_code)c)) n += ds->counts[c];
    return n;
}
