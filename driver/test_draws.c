// What a case varied, and --draws: how often each was drawn, and what became of these cases.
#include "test.h"

#include <string.h>

const test_axis test_axes[] = {
#define AXIS(option, values, of, on, beside) {option, values, beside, on, of},
#include "test_draws.def"
    {0}};
const test_graph test_graphs[] = {
#define GRAPH(what, text) {what, text},
#include "test_draws.def"
    {0}};
static const char *const sources[] = {
#define SOURCE(id, of, what) what,
#include "test_draws.def"
};
static const char *const others[] = {
#define OTHER(id, what) what,
#include "test_draws.def"
};

void test_drew(arena *a, test_case *c, const char *group, const char *what) {
    VEC_PUSH(a, &c->drawn, ((test_drawn){group, what}));
}
void test_drew_source(arena *a, test_case *c, test_source s) {
    test_drew(a, c, "schedule", sources[s]);
}
void test_drew_other(arena *a, test_case *c, test_other o) { test_drew(a, c, "also", others[o]); }

// ---- Counting -----------------------------------------------------------------------------------
static test_count *count_of(arena *a, test_counts *all, const char *group, const char *what) {
    for (uint32_t i = 0; i < all->len; i++)
        if (!strcmp(all->data[i].group, group) && !strcmp(all->data[i].what, what))
            return &all->data[i];
    VEC_PUSH(a, all, ((test_count){.group = group, .what = what}));
    return &all->data[all->len - 1];
}

// All that there is, so that what is never drawn is told, too.
test_counts test_counts_new(arena *a) {
    test_counts all = {0};
    for (const test_axis *x = test_axes; x->option; x++)
        for (uint32_t k = 0; k < test_axis_values(x); k++)
            count_of(a, &all, "option", test_axis_text(a, x, k));
    for (const test_graph *g = test_graphs; g->what; g++) count_of(a, &all, "graph", g->what);
    for (uint32_t i = 0; i < TEST_SOURCE_COUNT; i++) count_of(a, &all, "schedule", sources[i]);
    for (uint32_t i = 0; i < TEST_OTHER_COUNT; i++) count_of(a, &all, "also", others[i]);
    const schedule_statement *row;
    for (uint32_t i = 0; (row = schedule_statement_at(i)); i++)
        if (*row->by) count_of(a, &all, "statement", row->verb);
    return all;
}

static void count_one(arena *a, test_counts *all, const char *group, const char *what,
                      test_verdict v) {
    test_count *n = count_of(a, all, group, what);
    n->cases++;
    n->right += v == TEST_RIGHT;
    n->refused += v == TEST_REFUSED;
}

void test_counts_add(arena *a, test_counts *all, const test_case *c, test_verdict v) {
    for (uint32_t i = 0; i < c->drawn.len; i++)
        count_one(a, all, c->drawn.data[i].group, c->drawn.data[i].what, v);
    for (uint32_t i = 0; i < c->schedules.len; i++)
        for (uint32_t k = 0; k < c->schedules.data[i].statements.len; k++)
            count_one(a, all, "statement", c->schedules.data[i].statements.data[k].verb, v);
}

void test_counts_print(const test_counts *all) {
    printf("%-10s %-46s %7s %7s %7s\n", "varied", "as", "drawn", "right", "refused");
    for (uint32_t i = 0; i < all->len; i++) {
        const test_count *n = &all->data[i];
        printf("%-10s %-46s %7u %7u %7u\n", n->group, n->what, n->cases, n->right, n->refused);
    }
}

// ---- Values of an axis, by blanks ---------------------------------------------------------------
uint32_t test_axis_values(const test_axis *x) {
    uint32_t n = 1;
    for (const char *at = x->values; *at; at++) n += *at == ' ';
    return n;
}

const char *test_axis_text(arena *a, const test_axis *x, uint32_t k) {
    const char *at = x->values;
    while (k--) at = strchr(at, ' ') + 1;
    return arena_printf(a, "%s%.*s", x->option, (int)strcspn(at, " "), at);
}
