// Stages fused at random: neighbours in their order, at a row, or at an edge that they walk; and
// sums of one row's edges with indices of their own.
#include "test.h"

#include <string.h>

// ---- Sums with indices of their own -------------------------------------------------------------
static bool walks(const test_maker *m, const test_stage *st) {
    return st->nleft && st->nindices == st->nleft + 1 &&
           m->op->sparse[st->indices[st->nleft].space];
}

// Both walk the same edges of the same rows, and neither's indices begin with the other's.
static bool are_apart(const test_maker *m, const test_stage *a, const test_stage *b) {
    bool apart = false;
    if (!walks(m, a) || !walks(m, b) || a->indices[0].space != b->indices[0].space ||
        a->indices[a->nleft].space != b->indices[b->nleft].space)
        return false;
    for (uint32_t k = 1; k < a->nleft && k < b->nleft; k++)
        apart |= a->indices[k].space != b->indices[k].space;
    return apart;
}

bool test_walks_apart(const test_maker *m) {
    for (uint32_t i = 0; i + 1 < m->op->stages.len; i++)
        if (are_apart(m, &m->op->stages.data[i], &m->op->stages.data[i + 1])) return true;
    return false;
}

// Two of them, and maybe those behind; gives how many.
static uint32_t pick_apart(test_maker *m, uint32_t *first) {
    const test_stage *st = m->op->stages.data;
    uint32_t left = m->op->stages.len - 1, n = 2;
    do *first = (uint32_t)test_draw(m->rng, left);
    while (!are_apart(m, &st[*first], &st[*first + 1]));
    while (*first + n <= left && test_chance(m->rng, 50)) n++;
    while (*first && test_chance(m->rng, 25)) --*first, n++;
    return n;
}

static void put_number(test_maker *m, test_schedule *s, const char *verb, const char *index,
                       int64_t n) {
    test_put(m, s, verb, (test_word[]){test_text(index), test_number(n)}, 2, NULL);
}

// ---- Fused --------------------------------------------------------------------------------------
// Inner indices of all these stages dealt out at once, so that what is around them is walked once.
static void hold(test_maker *m, test_schedule *s, uint32_t first, uint32_t n, bool vectors) {
    static const int64_t lanes[] = {1, 2, 4, 8};
    for (uint32_t i = first; i < first + n; i++)
        for (uint32_t k = 1; k < m->op->stages.data[i].nleft; k++) {
            const test_index *x = &m->op->stages.data[i].indices[k];
            int64_t extent = m->sizes[x->space], by = m->host ? 1 : TEST_PICK(m->rng, lanes);
            if (extent < 0) continue;
            static const char *const verbs[] = {"block",  "groups", "lanes", "registers",
                                                "vector", "tile",   "unroll"};
            for (uint32_t v = 0; v < sizeof verbs / sizeof *verbs; v++)
                test_take_verb(s, verbs[v], x->name);
            int64_t wide = vectors && test_chance(m->rng, 30) ? 2 << test_draw(m->rng, 2) : 1;
            if (extent % wide) wide = 1;
            if (wide > 1) put_number(m, s, "vector", x->name, wide);
            put_number(m, s, "lanes", x->name, by);
            by *= wide;
            put_number(m, s, "registers", x->name, extent > by ? (extent + by - 1) / by : 1);
        }
}

// Neighbours in the order of stages share a kernel, down to a row or to an edge that all of them
// walk.
void test_fuse(test_maker *m, test_schedule *s) {
    test_rng *r = m->rng;
    uint32_t all = m->op->stages.len, first = (uint32_t)test_draw(r, all - 1),
             n = 2 + (uint32_t)test_draw(r, 3);
    if (n > all - first) n = all - first;
    bool apart = test_walks_apart(m) && test_chance(r, 60);
    if (apart) n = pick_apart(m, &first);
    textbuf list = textbuf_new(m->arena);
    const char *at = NULL, *walked = NULL;
    for (uint32_t i = first; i < first + n; i++) {
        const test_stage *st = &m->op->stages.data[i];
        textbuf_printf(&list, "%s%s", i > first ? ", " : "", st->name);
        if (st->nleft && (!at || test_chance(r, 70))) at = st->indices[0].name;
        for (uint32_t k = st->nleft; k < st->nindices; k++)
            if (m->op->sparse[st->indices[k].space]) walked = st->indices[k].name;
    }
    bool edge = walked && (apart || test_chance(r, 30));
    if (edge) at = walked;
    if (!at) return;
    test_put(m, s, "fuse", (test_word[]){test_text(list.data), test_text("at"), test_text(at)}, 3,
             NULL);
    if (edge) hold(m, s, first, n, apart);
    if (apart) {
        static const char *const taken[] = {"block", "unroll"};
        for (uint32_t v = 0; v < sizeof taken / sizeof *taken; v++) test_take_verb(s, taken[v], at);
    }
    if (test_chance(r, 10))
        test_statement_draw(m, s, test_chance(r, 50) ? "order" : "bucket", NULL);
    static const char *const places[] = {"registers", "shared", "global"};
    const char *place = TEST_PICK(r, places);
    if (test_chance(r, 50) && (!m->host || strcmp(place, "shared")))
        test_put(m, s, "keep",
                 (test_word[]){test_text(m->op->stages.data[first + test_draw(r, n)].name),
                               test_text(place)},
                 2, NULL);
}
