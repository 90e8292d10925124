// Searches on a space whose best point is known: all of it, at random, by generations, with points
// that cannot be run among them.
#include "tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed = 1, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

enum { SITES = 8, TEXTS = 5 };
static const char *const digits[TEXTS] = {"0", "1", "2", "3", "4"};

static tune_space digits_space(arena *a, uint32_t sites) {
    tune_space s = {0};
    for (uint32_t k = 0; k < 2; k++) {   // two bases: that of "a" has no good point
        char *text = arena_printf(a, "%s", k ? "b00000000" : "a00000000");
        text[1 + sites] = 0;
        tune_base b = {.name = "x", .text = text};
        for (uint32_t i = 0; i < sites; i++)
            VEC_PUSH(a, &b.sites,
                     ((tune_site){.from = 1 + i, .to = 2 + i, .n = TEXTS, .texts = digits}));
        tune_link(&b);
        VEC_PUSH(a, &s.bases, b);
    }
    return s;
}

// The best is b33333333; neighbours whose digits add up to a multiple of 7 cannot be run.
static double cost_of(const char *text) {
    double cost = *text == 'a' ? 200 : 100;
    uint32_t sum = 0;
    for (const char *c = text + 1; *c; c++) {
        cost += 10 * abs(*c - '3');
        sum += (uint32_t)(*c - '0');
    }
    return sum && sum % 7 == 0 ? INFINITY : cost;
}

typedef struct {
    uint32_t asked, doubles, refused;
    double best;
    char trace[1 << 16];
} outcome;

// at_once: so many are asked for before they are told.
static void search(tune_way way, uint32_t sites, uint32_t most, uint32_t at_once, uint64_t seed,
                   outcome *o) {
    arena *a = arena_new();
    const tune_space space = digits_space(a, sites);
    tune_search *s = tune_search_new(a, way, &space, seed);
    VEC(const char *) seen = {0};
    memset(o, 0, sizeof *o);
    o->best = INFINITY;
    for (bool any = true; any && o->asked < most;) {
        tune_point p[8];
        uint32_t n = 0;
        while (n < at_once && o->asked + n < most && tune_ask(s, &p[n])) n++;
        any = n;
        for (uint32_t i = 0; i < n; i++) {
            const char *text = tune_text(a, &space, &p[i]);
            for (uint32_t k = 0; k < seen.len; k++) o->doubles += !strcmp(seen.data[k], text);
            VEC_PUSH(a, &seen, text);
            if (strlen(o->trace) + 16 < sizeof o->trace) strcat(strcat(o->trace, text), " ");
            o->refused += isinf(cost_of(text)) ? 1 : 0;
            o->best = fmin(o->best, cost_of(text));
            tune_tell(s, p[i].number, cost_of(text));
        }
        o->asked += n;
    }
    arena_free(a);
}

// Sites of a group without weight never change.
static void weighs(void) {
    arena *a = arena_new();
    static const double weights[] = {0, 1};
    tune_space space = digits_space(a, SITES);
    for (uint32_t i = 0; i < SITES; i++) space.bases.data[0].sites.data[i].group = i == 2;
    space.bases.len = 1;
    tune_search *s = tune_search_new(a, TUNE_RANDOM, &space, 1);
    tune_weigh(s, weights, 2);
    tune_point p;
    uint32_t asked = 0;
    for (; tune_ask(s, &p); asked++) {
        const char *text = tune_text(a, &space, &p);
        CHECK(!strncmp(text, "a00", 3) && !strcmp(text + 4, "00000"));
        tune_tell(s, p.number, 1);
    }
    CHECK(asked == TEXTS);
    arena_free(a);
}

int main(void) {
    weighs();
    static outcome all, again, random, genetic;
    search(TUNE_EXHAUSTIVE, 3, 1000, 4, 1, &all);
    CHECK(all.asked == 2 * 125 && !all.doubles && all.best == 100);

    search(TUNE_RANDOM, SITES, 200, 4, 1, &random);
    search(TUNE_GENETIC, SITES, 200, 4, 1, &genetic);
    CHECK(random.asked == 200 && !random.doubles);
    CHECK(genetic.asked == 200 && !genetic.doubles);
    CHECK(genetic.best < random.best && genetic.best <= 120);

    search(TUNE_GENETIC, SITES, 200, 4, 1, &again);   // the same seed, the same points
    CHECK(!strcmp(genetic.trace, again.trace));
    search(TUNE_GENETIC, SITES, 200, 4, 2, &again);
    CHECK(strcmp(genetic.trace, again.trace) && again.best <= 120);

    search(TUNE_GENETIC, 1, 1000, 8, 1, &all);   // a space that ends
    CHECK(all.asked == 2 * TEXTS && !all.doubles && all.best == 100);
    return failed;
}
