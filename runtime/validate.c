// Whether a map is what its parameter declares. The first entry that isn't is told by array,
// position and value.
#include "tables.h"
#include "validate.h"

#include <stdio.h>
#include <string.h>

// "src[123456]", "at[2, 5]"
static void place(const rt_checked *m, int64_t e, char out[256]) {
    int64_t at[GNN_MAX_RANK];
    for (uint32_t i = m->rank; i--;) {
        at[i] = e % m->axes[i];
        e /= m->axes[i];
    }
    int n = snprintf(out, 256, "%.60s[", m->name);
    for (uint32_t i = 0; i < m->rank; i++)
        n += snprintf(out + n, 256 - (size_t)n, "%s%lld", i ? ", " : "", (long long)at[i]);
    snprintf(out + n, 256 - (size_t)n, "]");
}

gnn_status rt_tell_outside(gnn_context *c, const rt_checked *m, int64_t e, int64_t v) {
    char at[256];
    place(m, e, at);
    return rt_fail(c, GNN_BAD_INDEX, "%s = %lld is outside %.60s (%lld)%s%s%s", at, (long long)v,
                   m->into, (long long)m->map.codomain, v == -1 ? ": " : "", v == -1 ? m->name : "",
                   v == -1 ? " is not declared partial" : "");
}

static gnn_status check_range(gnn_context *c, const rt_checked *m) {
    int64_t least = m->facts & RT_PARTIAL ? -1 : 0;
    for (int64_t e = 0; e < m->map.values.count; e++) {
        int64_t v = rt_get(&m->map.values, e);
        if (v < least || v >= m->map.codomain) return rt_tell_outside(c, m, e, v);
    }
    return GNN_OK;
}

gnn_status rt_tell_unsorted(gnn_context *c, const rt_checked *m, int64_t e, int64_t v,
                            int64_t before, const char *by) {
    char at[256];
    place(m, e, at);
    return rt_fail(c, GNN_NOT_SORTED, "%s = %lld after %lld: %.60s is declared sorted%s%.60s%s%s",
                   at, (long long)v, (long long)before, m->name, by ? "(" : "", by ? by : "",
                   by ? ")" : "", before == -1 ? ", none come last" : "");
}

// None are the largest.
static bool in_order(int64_t before, int64_t v) { return v < 0 || (before >= 0 && before <= v); }

static gnn_status check_sorted(gnn_context *c, const rt_checked *m) {
    for (int64_t e = 1; e < m->map.values.count; e++) {
        int64_t before = rt_get(&m->map.values, e - 1), v = rt_get(&m->map.values, e);
        if (!in_order(before, v)) return rt_tell_unsorted(c, m, e, v, before, NULL);
    }
    return GNN_OK;
}

gnn_status rt_tell_repeated(gnn_context *c, const rt_checked *m, int64_t e, int64_t v,
                            int64_t earlier) {
    char at[256], before[256];
    place(m, e, at);
    place(m, earlier, before);
    return rt_fail(c, GNN_NOT_UNIQUE, "%s = %lld as %s is: %.60s is declared unique", at,
                   (long long)v, before, m->name);
}

static gnn_status check_unique(gnn_context *c, const rt_checked *m) {
    int64_t *first = rt_alloc_array(c, m->map.codomain, sizeof *first);   // position + 1
    if (!first) return GNN_NO_MEMORY;
    memset(first, 0, (size_t)m->map.codomain * sizeof *first);
    gnn_status s = GNN_OK;
    for (int64_t e = 0; e < m->map.values.count && !s; e++) {
        int64_t v = rt_get(&m->map.values, e);
        if (v < 0) continue;
        if (first[v]) s = rt_tell_repeated(c, m, e, v, first[v] - 1);
        first[v] = e + 1;
    }
    rt_free(c, first);
    return s;
}

gnn_status rt_check_map(gnn_context *c, const rt_checked *m) {
    gnn_status s = check_range(c, m);
    if (!s && m->facts & RT_SORTED) s = check_sorted(c, m);
    if (!s && m->facts & RT_UNIQUE) s = check_unique(c, m);
    return s;
}

gnn_status rt_check_sorted_by(gnn_context *c, const rt_checked *m, const char *by_name,
                              const rt_map_view *by) {
    int64_t *last = rt_alloc_array(c, by->codomain,
                                   sizeof *last);   // position + 1 of the last entry of a class
    if (!last) return GNN_NO_MEMORY;
    memset(last, 0, (size_t)by->codomain * sizeof *last);
    gnn_status s = GNN_OK;
    for (int64_t e = 0; e < m->map.values.count && !s; e++) {
        int64_t class = rt_get(&by->values, e), v = rt_get(&m->map.values, e);
        if (class < 0) continue;
        int64_t before = last[class] ? rt_get(&m->map.values, last[class] - 1) : 0;
        if (last[class] && !in_order(before, v)) s = rt_tell_unsorted(c, m, e, v, before, by_name);
        last[class] = e + 1;
    }
    rt_free(c, last);
    return s;
}

gnn_status rt_tell_falling(gnn_context *c, const rt_checked *m, int64_t v, int64_t at,
                           int64_t before) {
    return rt_fail(c, GNN_BAD_OFFSETS, "offsets of %.60s: [%lld] = %lld %s %lld", m->name,
                   (long long)v, (long long)at, v ? "after" : "where offsets begin at",
                   (long long)before);
}

gnn_status rt_tell_last(gnn_context *c, const rt_checked *m, int64_t v, int64_t at) {
    return rt_fail(c, GNN_BAD_OFFSETS,
                   "offsets of %.60s: the last, [%lld] = %lld, is not the number of entries, %lld",
                   m->name, (long long)v, (long long)at, (long long)m->map.values.count);
}

gnn_status rt_check_offsets(gnn_context *c, const rt_checked *m, const rt_ints *offsets) {
    int64_t before = 0;
    for (int64_t v = 0; v < offsets->count; v++) {
        int64_t at = rt_get(offsets, v);
        if (v ? at < before : at != 0) return rt_tell_falling(c, m, v, at, before);
        before = at;
    }
    return before == m->map.values.count ? GNN_OK : rt_tell_last(c, m, offsets->count - 1, before);
}

gnn_status rt_tell_disagreement(gnn_context *c, const rt_checked *m, int64_t v, int64_t said,
                                int64_t counted) {
    return rt_fail(c, GNN_BAD_OFFSETS,
                   "offsets of %.60s: [%lld] = %lld, but %lld of its entries are below %lld",
                   m->name, (long long)v, (long long)said, (long long)counted, (long long)v);
}

gnn_status rt_check_agreement(gnn_context *c, const rt_checked *m, const rt_ints *offsets) {
    rt_ints counted;
    gnn_status s = rt_build_offsets(c, &m->map, true, &counted);
    if (s) return s;
    for (int64_t v = 0; v < counted.count && !s; v++)
        if (rt_get(offsets, v) != rt_get(&counted, v))
            s = rt_tell_disagreement(c, m, v, rt_get(offsets, v), rt_get(&counted, v));
    rt_free(c, counted.data);
    return s;
}

gnn_status rt_tell_unfit(gnn_context *c, const char *name, int64_t e, int64_t v) {
    return rt_fail(c, GNN_BAD_INDEX, "%.60s: %lld at %lld does not fit 32 bits", name, (long long)v,
                   (long long)e);
}
