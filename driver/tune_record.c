// The record of a search: a JSON object a line, so that a search that was stopped goes on where it
// was, and that others can be made of it.
#include "tune.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

typedef struct {
    const char *op, *machine, *graph, *sizes;
    tune_tried t;
} line;
struct tune_record {
    driver *d;
    const char *path;
    FILE *file;   // NULL: none is kept
    VEC(line) lines;
};

static const char *text_of(arena *a, const json_t *x, const char *key) {
    const char *text = json_string_value(json_object_get(x, key));
    return text ? arena_strdup(a, text) : NULL;
}

static void read_line(tune_record *r, const char *text) {
    arena *a = r->d->arena;
    json_t *x = json_loads(text, 0, NULL);   // the last one may be half a line
    line l = {.op = text_of(a, x, "op"),
              .machine = text_of(a, x, "machine"),
              .graph = text_of(a, x, "graph"),
              .sizes = text_of(a, x, "sizes"),
              .t = {.text = text_of(a, x, "schedule"),
                    .plan = text_of(a, x, "plan"),
                    .why = text_of(a, x, "why")}};
    const json_t *ns = json_object_get(x, "ns");
    l.t.ns = json_is_number(ns) ? json_number_value(ns) : INFINITY;
    l.t.code = (uint64_t)json_integer_value(json_object_get(x, "code"));
    if (l.op && l.machine && l.sizes) VEC_PUSH(a, &r->lines, l);
    json_decref(x);
}

static bool read_lines(tune_record *r) {
    FILE *f = fopen(r->path, "r");
    char *text = NULL;
    size_t room = 0;
    if (!f) return errno == ENOENT;
    while (getline(&text, &room, f) > 0) read_line(r, text);
    const bool good = !ferror(f);
    free(text);
    return !fclose(f) && good;
}

bool tune_record_open(driver *d, const char *path, tune_record **out) {
    tune_record *r = *out = ARENA_NEW(d->arena, tune_record);
    *r = (tune_record){.d = d, .path = path};
    if (!path) return true;
    if (read_lines(r) && (r->file = fopen(path, "a"))) return true;
    d->io_fault = true;
    diag(d->ds, E0804, NO_SPAN, "cannot keep the record '%s': %s", path, strerror(errno));
    return false;
}

static bool same(const char *x, const char *y) { return x && y ? !strcmp(x, y) : x == y; }

const tune_tried *tune_record_find(const tune_record *r, const tune_op *op, const tune_machine *m,
                                   const tune_case *c, const char *text) {
    for (uint32_t i = 0; i < r->lines.len; i++) {
        const line *l = &r->lines.data[i];
        if (same(l->op, op->name) && same(l->machine, m->name) && same(l->graph, c->graph) &&
            same(l->sizes, c->sizes) && same(l->t.text, text))
            return &l->t;
    }
    return NULL;
}

static void put(json_t *x, const char *key, const char *text) {
    if (text) json_object_set_new(x, key, json_string(text));
}

void tune_record_add(tune_record *r, const tune_op *op, const tune_machine *m, const tune_case *c,
                     const tune_tried *t) {
    if (!r->file) return;
    json_t *x = json_object();
    put(x, "op", op->name);
    put(x, "machine", m->name);
    put(x, "graph", c->graph);
    put(x, "sizes", c->sizes);
    put(x, "schedule", t->text);
    put(x, "plan", t->plan);
    if (t->ns < INFINITY) json_object_set_new(x, "ns", json_real(t->ns));
    if (t->code) json_object_set_new(x, "code", json_integer((json_int_t)t->code));
    put(x, "why", t->why);
    json_dumpf(x, r->file, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputs("\n", r->file);
    fflush(r->file);
    json_decref(x);
}

bool tune_record_close(tune_record *r) {
    if (!r->file || !fclose(r->file)) return true;
    return cannot_write(r->d, r->path);
}
