// A few versions of many, a tree that chooses among them, and how it does on what it did not see.
#include "tuning.h"

#include <math.h>
#include <stdio.h>

static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed = 1, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

enum { CASES = 12, VERSIONS = 4 };

// Version 1 is good where the first feature is small, 2 where it is large; 3 cannot run where the
// second one is 0; 0 is never best by much.
static void measure(double *costs, double *features) {
    for (uint32_t c = 0; c < CASES; c++) {
        const double degree = 1 << c;
        features[2 * c] = degree;
        features[2 * c + 1] = c % 2;
        double *of = costs + c * VERSIONS;
        of[0] = 100;
        of[1] = degree <= 64 ? 50 : 300;
        of[2] = degree <= 64 ? 300 : 50;
        of[3] = c % 2 ? 49.9 : INFINITY;
    }
}

int main(void) {
    double costs[CASES * VERSIONS], features[CASES * 2];
    measure(costs, features);
    const tune_measured m = {CASES, VERSIONS, 2, costs, features};
    arena *a = arena_new();
    uint32_t few[TUNE_MOST_VERSIONS];

    CHECK(tune_few(&m, 1, few) == 1 && few[0] == 0);   // alone, the one without surprises
    const uint32_t n = tune_few(&m, TUNE_MOST_VERSIONS, few);
    CHECK(n == 3);   // 3 saves too little
    for (uint32_t i = 0; i < n; i++) CHECK(few[i] != 3);

    const tune_tree t = tune_fit(a, &m, few, n);
    for (uint32_t c = 0; c < CASES; c++)
        CHECK(tune_choice(&t, features + 2 * c) == (c <= 6 ? 1 : 2));
    CHECK(t.nodes.len == 3 && t.nodes.data[0].feature == 0);   // one question
    CHECK(t.nodes.data[0].most >= 64 && t.nodes.data[0].most < 128);

    const tune_regret r = tune_regret_of(a, &m, few, n);
    CHECK(r.mean < 0.6 && r.most < 5.1);   // next to the limit it may guess wrong

    // a tree of the cases with a small feature takes version 1 of the others, too
    const tune_measured half = {7, VERSIONS, 2, costs, features};
    const tune_tree small = tune_fit(a, &half, few, n);
    const tune_regret seen = tune_regret_under(&half, &small, 0, 7),
                      held = tune_regret_under(&half, &small, 7, 9);
    CHECK(seen.most < 0.01 && seen.mean <= seen.most);
    CHECK(held.mean > 4.9 && held.mean < 5.1 && held.most > 4.9 && held.most < 5.1);
    arena_free(a);
    return failed;
}
