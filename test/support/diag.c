// The collection and printing of diagnostics.
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed = 1, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

static const char text[] = "op f(x\t: f32) {\r\n\ty = x\t+ \x80 \xc3\xa9 zz\0q;\nlast";

static diag_set *new_set(arena *a, const source_file **f, diag_options options) {
    source_map *m = source_map_new(a);
    *f = source_map_add(m, "a.gnn", text, sizeof text - 1);
    diag_set *ds = diag_set_new(a, m);
    diag_configure(ds, options);
    return ds;
}

static void expect(diag_set *ds, const char *wanted) {
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    diag_print(ds, out);
    fclose(out);
    if (strcmp(printed, wanted)) {
        failed = 1;
        printf("--- printed\n%s--- wanted\n%s", printed, wanted);
    }
    free(printed);
}

static span at(const source_file *f, const char *s, uint32_t n) {
    uint32_t lo = f->base;
    while (memcmp(text + (lo - f->base), s, strlen(s))) lo++;
    return (span){lo, lo + n};
}

static void text_form(arena *a) {
    const source_file *f;
    diag_set *ds = new_set(a, &f, (diag_options){0});
    diag(ds, E0802, (span){f->base + f->length, f->base + f->length}, "at the end");
    diagnostic *d = diag(ds, E0801, at(f, "zz", 3), "bad 'zz\1'");
    diag_note(d, (span){f->base, f->base + 30}, "over two lines");
    diag_fix(d, at(f, "zz", 2), "yy", "did you mean 'yy'?");
    diag_help(d, "try harder");
    diag(ds, W0801, NO_SPAN, "nowhere");
    expect(ds, "gnnc: warning[W0801]: nowhere [-Wunused-option]\n"
               "a.gnn:2:15: error[E0801]: bad 'zz<01>'\n"
               "    2 |     y = x   + <80> \xc3\xa9 zz<00>q;\n"
               "      |                      ^^^^^^\n"
               "a.gnn:1:1: note: over two lines\n"
               "    1 | op f(x  : f32) {\n"
               "      | ^^^^^^^^^^^^^^^^\n"
               "a.gnn:2:15: help: did you mean 'yy'?\n"
               "    2 |     y = x   + <80> \xc3\xa9 zz<00>q;\n"
               "      |                      ^^\n"
               "      |                      yy\n"
               "  = help: try harder\n"
               "a.gnn:3:5: error[E0802]: at the end\n"
               "    3 | last\n"
               "      |     ^\n");
    expect(ds, "");
}

static void json_form(arena *a) {
    const source_file *f;
    diag_set *ds = new_set(a, &f, (diag_options){.format = DIAG_JSON, .werror = true});
    diagnostic *d = diag(ds, W0801, at(f, "zz", 100), "a \"b\"");
    diag_fix(d, at(f, "zz", 2), "yy", "take yy");
    expect(
        ds,
        "{\"code\":\"W0801\",\"name\":\"unused-option\",\"severity\":\"error\",\"message\":\"a \\\"b\\\"\",\"file\":\"a.gnn\","
        "\"line\":2,\"column\":15,\"end_line\":3,\"end_column\":5,\"notes\":[],\"fixes\":[{\"replacement\":\"yy\","
        "\"message\":\"take yy\",\"file\":\"a.gnn\",\"line\":2,\"column\":15,\"end_line\":2,\"end_column\":17}]}\n");
}

static void counting(arena *a) {
    const source_file *f;
    bool disabled[DIAG_COUNT] = {0};
    diag_set *ds = new_set(a, &f, (diag_options){.disabled = disabled});
    for (int i = 0; i < 3; i++) diag(ds, E0801, NO_SPAN, "same");
    diag(ds, W0801, NO_SPAN, "warning");
    CHECK(diag_errors(ds) == 1 && diag_raised(ds) == 3 && diag_count(ds) == 2);
    diag_configure(ds, (diag_options){.werror = true, .disabled = disabled});
    CHECK(diag_errors(ds) == 2);
    disabled[W0801] = true;
    CHECK(diag_errors(ds) == 1 && diag_count(ds) == 1);
    disabled[E0801] = true;
    CHECK(diag_errors(ds) == 1);
}

static void limit(arena *a) {
    const source_file *f;
    diag_set *ds = new_set(a, &f, (diag_options){.max_errors = 2});
    for (int i = 0; i < 200; i++) diag(ds, E0801, NO_SPAN, "fault %d", i);
    CHECK(diag_errors(ds) == 200);
    expect(ds, "gnnc: error[E0801]: fault 0\ngnnc: error[E0801]: fault 1\n"
               "gnnc: 198 more errors not shown (--max-errors=2)\n");
}

static void long_line(arena *a) {
    char line[5000];
    memset(line, 'a', sizeof line);
    source_map *m = source_map_new(a);
    const source_file *f = source_map_add(m, "long", line, sizeof line);
    diag_set *ds = diag_set_new(a, m);
    diag(ds, E0801, (span){f->base + 2000, f->base + 4990}, "wide");
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    diag_print(ds, out);
    fclose(out);
    CHECK(size < 600 && strstr(printed, "long:1:2001: error[E0801]: wide"));
    free(printed);
}

static void every_span(arena *a) {   // no span of a file, nor one beyond it, breaks the printer
    const source_file *f;
    diag_set *ds = new_set(a, &f, (diag_options){.color = true});
    for (uint32_t lo = 0; lo < f->length + 5; lo++)
        for (uint32_t hi = lo; hi < f->length + 5; hi++) diag(ds, E0801, (span){lo, hi}, "x");
    FILE *out = fopen("/dev/null", "w");
    diag_print(ds, out);
    fclose(out);
    diag_code code;
    CHECK(diag_find("E0802", &code) && code == E0802 && diag_find("unused-option", &code) &&
          code == W0801);
    CHECK(!diag_find("E9999", &code) && !strcmp(diag_table(E0802)->code, "E0802"));
}

int main(void) {
    arena *a = arena_new();
    text_form(a);
    json_form(a);
    counting(a);
    limit(a);
    long_line(a);
    every_span(a);
    arena_free(a);
    return failed;
}
