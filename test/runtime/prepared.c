// Prepared structures against definitions spelled out by brute force, on random maps with none, empty and unsorted.
#include "Inputs/harness.h"

enum { MOST = 60 };
typedef struct {
    int64_t n, into, at[MOST];
} map;

static map random_map(uint64_t *r, int64_t n, int64_t into) {
    map m = {n, into, {0}};
    for (int64_t i = 0; i < n; i++)
        m.at[i] = random_below(r, into + 1) - 1;
    return m;
}

static rt_map_view view(gnn_context *c, const map *m, bool wide) {
    rt_map_view v = {.codomain = m->into};
    GOOD(c, rt_ints_new(c, m->n, wide, &v.values));
    for (int64_t i = 0; i < m->n; i++)
        rt_set(&v.values, i, m->at[i]);
    return v;
}

static void offsets(gnn_context *c, const map *m, bool wide) {
    rt_map_view v = view(c, m, wide);
    rt_ints got;
    GOOD(c, rt_build_offsets(c, &v, wide, &got));
    CHECK(got.count == m->into + 1);
    for (int64_t k = 0; k <= m->into; k++) {
        int64_t below = 0;
        for (int64_t e = 0; e < m->n; e++)
            below += m->at[e] >= 0 && m->at[e] < k;
        CHECK(rt_get(&got, k) == below);
    }
    rt_free(c, got.data);
    rt_free(c, v.values.data);
}

static bool comes_before(const map *m, int64_t e, int64_t f) {
    int64_t a = m->at[e] < 0 ? INT64_MAX : m->at[e], b = m->at[f] < 0 ? INT64_MAX : m->at[f];
    return a < b || (a == b && e < f);
}

static void order(gnn_context *c, const map *m, bool wide) {
    rt_map_view v = view(c, m, wide);
    rt_ints got;
    GOOD(c, rt_build_order(c, &v, wide, &got));
    CHECK(got.count == m->n);
    for (int64_t e = 0; e < m->n; e++) {
        int64_t rank = 0;
        for (int64_t f = 0; f < m->n; f++)
            rank += comes_before(m, f, e);
        CHECK(rt_get(&got, rank) == e);
    }
    rt_free(c, got.data);
    rt_free(c, v.values.data);
}

static void compose(gnn_context *c, const map *m, const map *n, bool wide) {
    rt_map_view v = view(c, m, wide), w = view(c, n, wide);
    rt_ints got;
    GOOD(c, rt_build_compose(c, &v, &w, wide, &got));
    for (int64_t e = 0; e < m->n; e++)
        CHECK(rt_get(&got, e) == (m->at[e] < 0 ? -1 : n->at[m->at[e]]));
    rt_free(c, got.data);
    rt_free(c, v.values.data);
    rt_free(c, w.values.data);
}

static bool none(const map *maps, uint32_t n, int64_t e) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= maps[i].at[e] < 0;
    return any;
}

static int compare(const map *maps, uint32_t n, int64_t e, int64_t f) {
    for (uint32_t i = 0; i < n; i++)
        if (maps[i].at[e] != maps[i].at[f])
            return maps[i].at[e] < maps[i].at[f] ? -1 : 1;
    return 0;
}

// The number of distinct smaller tuples, told by the first of each.
static int64_t class_of(const map *maps, uint32_t n, int64_t e) {
    int64_t class = 0;
    for (int64_t f = 0; f < maps->n; f++) {
        bool counts = !none(maps, n, f) && compare(maps, n, f, e) < 0;
        for (int64_t g = 0; g < f && counts; g++)
            counts = compare(maps, n, g, f) != 0;
        class += counts;
    }
    return class;
}

static void classes(gnn_context *c, const map *maps, uint32_t n, bool wide) {
    rt_map_view v[3];
    rt_ints got;
    int64_t count = -1, most = -1;
    for (uint32_t i = 0; i < n; i++)
        v[i] = view(c, &maps[i], wide);
    GOOD(c, rt_build_classes(c, v, n, wide, &got, &count));
    for (int64_t e = 0; e < maps->n; e++) {
        int64_t class = none(maps, n, e) ? -1 : class_of(maps, n, e);
        CHECK(rt_get(&got, e) == class);
        most = class > most ? class : most;
    }
    CHECK(count == most + 1);
    rt_free(c, got.data);
    for (uint32_t i = 0; i < n; i++)
        rt_free(c, v[i].values.data);
}

static void statistics(gnn_context *c, const map *m) {
    rt_map_view v = view(c, m, true);
    rt_preimages got;
    int64_t most = 0, least = m->into ? MOST : 0, sum = 0;
    GOOD(c, rt_measure(c, &v, &got));
    for (int64_t k = 0; k < m->into; k++) {
        int64_t n = 0;
        for (int64_t e = 0; e < m->n; e++)
            n += m->at[e] == k;
        most = n > most ? n : most;
        least = n < least ? n : least;
        sum += n;
    }
    CHECK(got.max == most && got.min == least && got.avg == (m->into ? sum / m->into : 0));
    rt_free(c, v.values.data);
}

static void symmetric(gnn_context *c, const map *a, const map *b) {
    rt_map_view v = view(c, a, false), w = view(c, b, false);
    int64_t got, wanted = 1;
    GOOD(c, rt_symmetric(c, &v, &w, &got));
    for (int64_t e = 0; e < a->n; e++) {
        int64_t there = 0, back = 0;
        for (int64_t f = 0; f < a->n && a->at[e] >= 0 && b->at[e] >= 0; f++) {
            there += a->at[f] == a->at[e] && b->at[f] == b->at[e];
            back += a->at[f] == b->at[e] && b->at[f] == a->at[e];
        }
        wanted &= there == back;
    }
    CHECK(got == wanted);
    rt_free(c, v.values.data);
    rt_free(c, w.values.data);
}

static void round_of(gnn_context *c, uint64_t *r) {
    const int64_t n = random_below(r, 4) ? random_below(r, MOST) : 0, into = random_below(r, 9);
    const bool wide = random_below(r, 2);
    const map maps[3] = {random_map(r, n, into), random_map(r, n, random_below(r, 5)), random_map(r, n, random_below(r, 3))};
    const map next = random_map(r, into, random_below(r, 6));
    offsets(c, maps, wide);
    order(c, maps, wide);
    compose(c, maps, &next, wide);
    classes(c, maps, 1 + (uint32_t)random_below(r, 3), wide);
    statistics(c, maps);
    map small = random_map(r, random_below(r, 5), 2), other = random_map(r, small.n, 2);
    symmetric(c, &small, &other);
}

int main(void) {
    ledger l;
    uint64_t r = 1;
    gnn_context *c = new_context(&l, 1);
    for (int i = 0; i < 400; i++)
        round_of(c, &r);
    const map path = {4, 3, {0, 1, 1, 2}}, back = {4, 3, {1, 0, 2, 1}};
    symmetric(c, &path, &back);
    end_context(c, &l);
    return failed;
}
