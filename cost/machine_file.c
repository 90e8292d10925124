// Machine files: text that holds a machine, a number a line with where it comes from (README.md).
//
//     gnnc-machine 1
//     name      h200_here
//     gb_per_s  4213      MEASURED   # what stands behind a # is for people
#include "cost.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "gnnc-machine"
#define VERSION "1"

static const struct {
    double least, most;
} limits[COST_FIELDS] = {
#define FIELD(name, least, most, on, text) {least, most},
#include "machine_fields.def"
};

// ---- Words of a line ----------------------------------------------------------------------------
typedef struct {
    const char *text;
    size_t len;
    span at;
} word;
typedef struct {
    arena *arena;
    diag_set *ds;
    const source_file *file;
    const char *at;   // where it reads
    cost_machine *out;
    cost_source *source;
    bool seen[COST_FIELDS], good;
} reader;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The next of the line; of length 0 where it ends.
static word next_word(reader *r) {
    const char *end = r->file->text + r->file->length;
    while (r->at < end && is_blank(*r->at)) r->at++;
    word w = {.text = r->at};
    if (r->at < end && *r->at == '#')
        while (r->at < end && *r->at != '\n') r->at++;
    else
        while (r->at < end && *r->at != '\n' && !is_blank(*r->at)) r->at++, w.len++;
    const uint32_t lo = r->file->base + (uint32_t)(w.text - r->file->text);
    w.at = (span){lo, lo + (uint32_t)(w.len ? w.len : 1)};
    return w;
}

static bool is(const word *w, const char *text) {
    return strlen(text) == w->len && !memcmp(text, w->text, w->len);
}

static const char *copied(const reader *r, const word *w) {
    return arena_strndup(r->arena, w->text, w->len);
}

static diagnostic *fault(reader *r, const word *w, const char *format, ...) SUP_PRINTF(3, 4);
static diagnostic *fault(reader *r, const word *w, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    const char *text = arena_vprintf(r->arena, format, ap);
    va_end(ap);
    r->good = false;
    return diag(r->ds, E0817, w->at, "%s", text);
}

// The rest of a line, its ends without blanks.
static word rest_of_line(reader *r) {
    word w = next_word(r), last = w;
    while (last.len) {
        w.len = (size_t)(last.text + last.len - w.text);
        last = next_word(r);
    }
    w.at.hi = w.at.lo + (uint32_t)(w.len ? w.len : 1);
    return w;
}

static void end_line(reader *r) {
    const word w = next_word(r);
    if (w.len) fault(r, &w, "nothing more is expected on this line, not '%s'", copied(r, &w));
    const char *end = r->file->text + r->file->length;
    while (r->at < end && *r->at != '\n') r->at++;
    if (r->at < end) r->at++;
}

// ---- Lines --------------------------------------------------------------------------------------
static cost_field field_of(const word *w) {
    cost_field f = 0;
    while (f < COST_FIELDS && !is(w, cost_field_name(f))) f++;
    return f;
}

static void read_number(reader *r, cost_field f, const word *key) {
    const word number = next_word(r), source = next_word(r);
    char *end;
    const char *text = copied(r, &number);
    const double x = strtod(text, &end);
    if (r->seen[f]) fault(r, key, "'%s' has a line already", cost_field_name(f));
    r->seen[f] = true;
    if (!number.len || *end || !isfinite(x))
        fault(r, &number, "a number is expected behind '%s'%s%s%s", cost_field_name(f),
              number.len ? ", not '" : "", text, number.len ? "'" : "");
    else if (x < limits[f].least || x > limits[f].most)
        fault(r, &number, "%s is a number from %.15g to %.15g", cost_field_name(f), limits[f].least,
              limits[f].most);
#define FIELD(name, ...)                                                                           \
    if (f == COST_FIELD_##name) r->out->name = x;
#include "machine_fields.def"
    cost_source s = 0;
    while (s < COST_SOURCES && !is(&source, cost_source_name(s))) s++;
    if (s == COST_SOURCES)
        diag_help(fault(r, &source, "it is not said where the number comes from"),
                  "MEASURED, DRIVER, SHEET, SCALED or ROUND stands behind it");
    else r->source[f] = s;
}

static void read_name(reader *r) {
    const word w = next_word(r);
    r->out->name = copied(r, &w);
    bool good = w.len;   // rules of gnnc tune are named after it
    for (const char *c = r->out->name; *c; c++) good &= isalnum((unsigned char)*c) || *c == '_';
    if (!good) fault(r, &w, "a machine's name has letters, digits and '_'");
}

static void read_arch(reader *r) {
    const word w = next_word(r);
    r->out->arch = copied(r, &w);
    if (gpu_arch_find(r->out->arch) || is(&w, "host")) return;
    const char *names[64];
    uint32_t n = 0;
    for (; n < 63 && gpu_arch_at(n); n++) names[n] = gpu_arch_at(n)->name;
    names[n++] = "host";
    diag_suggest(fault(r, &w, "'%s' is not an architecture gnnc knows", r->out->arch), NO_SPAN,
                 r->out->arch, names, n);
}

static void unknown_key(reader *r, const word *key) {
    const char *names[COST_FIELDS + 3] = {"name", "arch", "of"};
    for (cost_field f = 0; f < COST_FIELDS; f++) names[f + 3] = cost_field_name(f);
    diag_suggest(fault(r, key, "a machine has no '%s'", copied(r, key)), NO_SPAN, copied(r, key),
                 names, COST_FIELDS + 3);
}

static void read_line(reader *r) {
    const word key = next_word(r);
    const cost_field f = field_of(&key);
    if (is(&key, "name")) read_name(r);
    else if (is(&key, "arch")) read_arch(r);
    else if (is(&key, "of")) {
        const word w = rest_of_line(r);
        r->out->holds = copied(r, &w);
    } else if (is(&key, "date") || is(&key, "driver") || is(&key, "command")) rest_of_line(r);
    else if (f < COST_FIELDS) read_number(r, f, &key);
    else if (key.len) {
        unknown_key(r, &key);
        rest_of_line(r);
    }
    end_line(r);
}

static void check_complete(reader *r) {
    const word end = {.text = r->at, .at = {r->file->base + r->file->length, 0}};
    const word at = {.at = {end.at.lo, end.at.lo + 1}};
    if (!r->out->name) fault(r, &at, "the file ends without a line 'name'");
    if (!r->out->arch) fault(r, &at, "the file ends without a line 'arch'");
    const bool host = r->out->arch && cost_machine_is_host(r->out);
    for (cost_field f = 0; f < COST_FIELDS && r->out->arch; f++)
        if (!r->seen[f] && cost_field_on(f, host))
            fault(r, &at, "the file ends without a line '%s'", cost_field_name(f));
}

const cost_machine *cost_machine_parse(arena *a, diag_set *ds, const source_file *text) {
    reader r = {.arena = a,
                .ds = ds,
                .file = text,
                .at = text->text,
                .out = ARENA_NEW(a, cost_machine),
                .source = ARENA_ARRAY(a, cost_source, COST_FIELDS),
                .good = true};
    const word magic = next_word(&r), version = next_word(&r);
    if (!is(&magic, MAGIC) || !is(&version, VERSION)) {
        diag_help(fault(&r, &magic, "a machine file begins with '" MAGIC " " VERSION "'"),
                  "gnnc calibrate -o FILE writes one");
        return NULL;
    }
    end_line(&r);
    while (r.at < text->text + text->length) read_line(&r);
    check_complete(&r);
    r.out->source = r.source;
    if (!r.out->holds) r.out->holds = r.out->name;
    return r.good ? r.out : NULL;
}

// ---- Writing ------------------------------------------------------------------------------------
void cost_machine_put(textbuf *out, const cost_machine *m, const cost_machine_fact *facts,
                      uint32_t nfacts) {
    enum { KEY = 16, NUMBER = 10, SOURCE = 9 };
    const bool host = cost_machine_is_host(m);
    textbuf_printf(out, MAGIC " " VERSION "\n%-*s%s\n%-*s%s\n%-*s%s\n", KEY, "name", m->name, KEY,
                   "of", m->holds, KEY, "arch", m->arch);
    for (uint32_t i = 0; i < nfacts; i++)
        textbuf_printf(out, "%-*s%s\n", KEY, facts[i].key, facts[i].text);
    for (cost_field f = 0; f < COST_FIELDS; f++)
        if (cost_field_on(f, host))
            textbuf_printf(out, "%-*s%-*.6g%-*s # %s\n", KEY, cost_field_name(f), NUMBER,
                           cost_machine_number(m, f), SOURCE,
                           cost_source_name(cost_machine_source(m, f)), cost_field_text(f));
}
