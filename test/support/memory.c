// Arenas, vectors, text buffers, interned strings.
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed = 1, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

static void arenas(arena *a) {
    for (size_t n = 0; n < 300000; n = n * 2 + 1) {
        char *p = arena_alloc(a, n);
        CHECK((uintptr_t)p % 16 == 0);
        for (size_t i = 0; i < n; i++) CHECK(p[i] == 0);
        memset(p, 0xff, n);
    }
    CHECK(!strcmp(arena_printf(a, "%s.%d", "x", 7), "x.7"));
    CHECK(!memcmp(arena_strndup(a, "a\0b", 3), "a\0b", 4));
    VEC(int) v = {0};
    for (int i = 0; i < 10000; i++) VEC_PUSH(a, &v, i);
    CHECK(v.len == 10000);
    for (int i = 0; i < 10000; i++) CHECK(v.data[i] == i);
}

static void doubles(arena *a) {
    static const struct {
        double x;
        const char *text;
    } rows[] = {{0.1, "0.1"},        {1, "1"},           {-0.0, "-0"},
                {1e300, "1e+300"},   {5e-324, "5e-324"}, {INFINITY, "inf"},
                {-INFINITY, "-inf"}, {NAN, "nan"},       {0.1 + 0.2, "0.30000000000000004"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        textbuf b = textbuf_new(a);
        textbuf_double(&b, rows[i].x);
        CHECK(!strcmp(b.data, rows[i].text));
    }
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        double x, y;
        memcpy(&x, &bits, sizeof x);
        if (isnan(x)) continue;
        textbuf b = textbuf_new(a);
        textbuf_double(&b, x);
        y = strtod(b.data, NULL);
        CHECK(!memcmp(&x, &y, sizeof x));
    }
}

static void texts(arena *a) {
    textbuf b = textbuf_new(a);
    for (int i = 0; i < 1000; i++) textbuf_printf(&b, "%d,", i);
    CHECK(b.len == 3890 && b.data[b.len] == 0 && !strcmp(b.data + 3886, "999,"));
    textbuf j = textbuf_new(a);
    textbuf_json_string(&j, "a\"\\\n\t\1\0\xc3\xa9\xff\xc0\x80", 12);
    CHECK(!strcmp(j.data, "\"a\\\"\\\\\\n\\t\\u0001\\u0000\xc3\xa9\\ufffd\\ufffd\\ufffd\""));
    textbuf x = textbuf_new(a);
    textbuf_xml(&x, "a<\"b'&>\1\xc3\xa9\xff\xef\xbf\xbf\t");
    CHECK(!strcmp(x.data, "a&#60;&#34;b&#39;&#38;&#62;?\xc3\xa9??\t"));
}

static void interned(arena *a) {
    intern_table *t = intern_new(a);
    const char *seven = intern(t, "n7");
    for (int i = 0; i < 5000; i++) intern(t, arena_printf(a, "n%d", i));
    CHECK(intern(t, "n7") == seven && intern_n(t, "n77", 2) == seven);
    CHECK(intern_n(t, "a\0b", 3) != intern_n(t, "a\0c", 3));
    CHECK(intern_n(t, NULL, 0) == intern(t, ""));
}

int main(void) {
    arena *a = arena_new();
    arenas(a);
    doubles(a);
    texts(a);
    interned(a);
    arena_free(a);
    return failed;
}
