// The text of a point: places in a text, within each other too, and how many points there are.
#include "tuning.h"

#include <stdio.h>
#include <string.h>

static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed = 1, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

static const char *const lanes[] = {NULL, "16", "8"}, *const out[] = {NULL, ""},
                         *const more[] = {"", " groups v 2;"};

// "lanes f 32; unroll e 4;": a number, a statement that may go, with a number inside, one to add
static tune_space example(arena *a) {
    tune_space s = {0};
    tune_base b = {.name = "rows", .text = "lanes f 32; unroll e 4;"};
    VEC_PUSH(a, &b.sites, ((tune_site){.from = 8, .to = 10, .n = 3, .texts = lanes}));
    VEC_PUSH(a, &b.sites, ((tune_site){.from = 12, .to = 23, .n = 2, .texts = out}));
    VEC_PUSH(a, &b.sites, ((tune_site){.from = 21, .to = 22, .n = 3, .texts = lanes}));
    VEC_PUSH(a, &b.sites, ((tune_site){.from = 23, .to = 23, .n = 2, .texts = more}));
    tune_link(&b);
    VEC_PUSH(a, &s.bases, b);
    return s;
}

static bool gives(arena *a, const tune_space *s, const uint8_t picks[4], const char *text) {
    uint8_t copy[4];
    memcpy(copy, picks, 4);
    const tune_point p = {.base = 0, .picks = copy};
    const char *got = tune_text(a, s, &p);
    if (strcmp(got, text)) printf("got '%s', not '%s'\n", got, text);
    return !strcmp(got, text);
}

// Four groups of one number each, of which the first two and the last are alike.
static void linked(arena *a) {
    static const char *const like[] = {"x", "x", "y", "x"};
    tune_space s = {0};
    tune_base b = {.name = "linked", .text = "3333"};
    for (uint32_t i = 0; i < 4; i++)
        VEC_PUSH(
            a, &b.sites,
            ((tune_site){
                .from = i, .to = i + 1, .n = 3, .texts = lanes, .group = i + 1, .like = like[i]}));
    tune_link(&b);
    VEC_PUSH(a, &s.bases, b);
    CHECK(tune_points(&s) == 27);
    CHECK(gives(a, &s, (uint8_t[]){2, 1, 0, 1}, "88316"));
}

int main(void) {
    arena *a = arena_new();
    linked(a);
    const tune_space s = example(a);
    const tune_point first = tune_first(a, &s, 0);
    CHECK(!strcmp(tune_text(a, &s, &first), s.bases.data[0].text));
    CHECK(gives(a, &s, (uint8_t[]){1, 0, 0, 0}, "lanes f 16; unroll e 4;"));
    CHECK(gives(a, &s, (uint8_t[]){2, 0, 1, 0}, "lanes f 8; unroll e 16;"));
    CHECK(gives(a, &s, (uint8_t[]){0, 1, 0, 0}, "lanes f 32; "));
    CHECK(gives(a, &s, (uint8_t[]){0, 1, 2, 1},
                "lanes f 32;  groups v 2;"));   // an inner one is gone
    CHECK(gives(a, &s, (uint8_t[]){0, 0, 2, 1}, "lanes f 32; unroll e 8; groups v 2;"));
    CHECK(tune_points(&s) == 3 * 2 * 3 * 2);
    arena_free(a);
    return failed;
}
