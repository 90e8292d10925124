// The index arrays of an op: from the graph, from a file, or random ones that keep every declared
// fact.
#include "bind.h"
#include "spread.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t *data;
    int64_t points, into;
    uint32_t facts;
    uint64_t stream;
} index_map;

// ---- Order --------------------------------------------------------------------------------------

// none comes last.
static int by_value(const void *x, const void *y) {
    uint64_t a = (uint64_t)*(const int64_t *)x, b = (uint64_t)*(const int64_t *)y;
    return a < b ? -1 : a > b;
}

static bool is_sorted(const index_map *m) {
    for (int64_t i = 1; i < m->points; i++)
        if ((uint64_t)m->data[i - 1] > (uint64_t)m->data[i]) return false;
    return true;
}

static void sort_whole(const index_map *m) {
    if (m->points) qsort(m->data, (size_t)m->points, sizeof *m->data, by_value);
}

typedef struct {
    int64_t class, x;
} class_pair;

static int by_class(const void *p, const void *q) {
    const class_pair *a = p, *b = q;
    if (a->class != b->class) return a->class < b->class ? -1 : 1;
    return (uint64_t)a->x<(uint64_t)b->x ? -1 : (uint64_t)a->x>(uint64_t) b->x;
}

// Sorts the values of each class of `by` among the positions that class has.
static void sort_within(const index_map *m, const int64_t *by) {
    arena *scratch = arena_new();
    class_pair *places = ARENA_ARRAY(scratch, class_pair, m->points),
               *values = ARENA_ARRAY(scratch, class_pair, m->points);
    for (int64_t i = 0; i < m->points; i++) {
        places[i] = (class_pair){by[i], i};
        values[i] = (class_pair){by[i], m->data[i]};
    }
    if (m->points) {
        qsort(places, (size_t)m->points, sizeof *places, by_class);
        qsort(values, (size_t)m->points, sizeof *values, by_class);
    }
    for (int64_t i = 0; i < m->points; i++) m->data[places[i].x] = values[i].x;
    arena_free(scratch);
}

// ---- Random maps --------------------------------------------------------------------------------

static void draw_piece(void *user, int64_t first, int64_t last) {
    const index_map *m = user;
    for (int64_t i = first; i < last; i++)
        m->data[i] = bind_below(bind_random(m->stream, (uint64_t)i), m->into);
}

// The head of a shuffled codomain (Fisher and Yates).
static void draw_distinct(const index_map *m) {
    arena *scratch = arena_new();
    int64_t *left = ARENA_ARRAY(scratch, int64_t, m->into);
    for (int64_t i = 0; i < m->into; i++) left[i] = i;
    for (int64_t i = 0; i < m->points; i++) {
        int64_t at = i + bind_below(bind_random(m->stream, (uint64_t)i), m->into - i), x = left[at];
        left[at] = left[i];
        m->data[i] = x;
    }
    arena_free(scratch);
}

static void drop_some(const index_map *m) {
    enum { ONE_IN = 6 };
    for (int64_t i = 0; i < m->points; i++)
        if (m->into == 0 || bind_below(bind_random(~m->stream, (uint64_t)i), ONE_IN) == 0)
            m->data[i] = -1;
}

static bool draw(binding *b, tensor_val v, index_map *m) {
    bool distinct = m->facts & FACT_UNIQUE, partial = m->facts & FACT_PARTIAL;
    if (m->points && !partial && (m->into == 0 || (distinct && m->into < m->points))) {
        bind_fault(b, v, E0819, "cannot map %lld points into %lld%s", (long long)m->points,
                   (long long)m->into, distinct ? " without repeating one" : "");
        return false;
    }
    if (distinct && m->into >= m->points) draw_distinct(m);
    else if (distinct) memset(m->data, 0xff, (size_t)m->points * sizeof *m->data);
    else spread(m->points, draw_piece, m);
    if (partial) drop_some(m);
    return true;
}

// ---- Given maps ---------------------------------------------------------------------------------

typedef struct {
    const run_graph *graph;
    const int64_t *values, *order;   // NULL: labels; as they stand
    int64_t *to;
} graph_copy;

static void copy_piece(void *user, int64_t first, int64_t last) {
    const graph_copy *c = user;
    for (int64_t i = first; i < last; i++) {
        int64_t at = c->order ? c->order[i] : i;
        c->to[i] = c->values ? c->values[at] : graph_label(c->graph, at);
    }
}

static void copy_graph(const binding *b, tensor_val v, const index_map *m) {
    bool ordered = b->edge_order && b->op->vals.data[v].axes[0] == b->edges;
    graph_copy c = {b->graph, graph_values(b->graph, b->sources[v].which),
                    ordered ? b->edge_order : NULL, m->data};
    spread(m->points, copy_piece, &c);
    if (b->options->mixed && m->facts & FACT_PARTIAL && b->sources[v].which != GRAPH_LABEL)
        drop_some(m);
}

static bool copy_array(binding *b, tensor_val v, const index_map *m) {
    const gnn_array *x = b->sources[v].array;
    for (int64_t i = 0; i < m->points; i++) {
        if (x->dtype == GNN_I32) m->data[i] = ((const int32_t *)x->data)[i];
        else if (x->dtype == GNN_I64) m->data[i] = ((const int64_t *)x->data)[i];
        else {
            bind_fault(b, v, E0818, "is a map: it takes integers, not %s",
                       gnn_dtype_text(x->dtype));
            return false;
        }
    }
    return true;
}

// The graph's own order does not meet a fact: nothing but a permutation of the graph would.
static bool check_order(binding *b, tensor_val v, const index_map *m) {
    const tensor_val_info *info = &b->op->vals.data[v];
    if (b->sources[v].from != FROM_GRAPH || !(m->facts & FACT_SORTED) ||
        info->sorted_by != TENSOR_NO_VAL || is_sorted(m))
        return true;
    diag_help(
        bind_fault(
            b, v, E0819,
            "is declared sorted, and the graph's '%s' is not, in the order that the other maps need",
            graph_array_table(b->sources[v].which)->name),
        "give other values: --param %s=random:1", info->name);
    return false;
}

bool bind_map(binding *b, tensor_val v) {
    const tensor_val_info *info = &b->op->vals.data[v];
    index_map m = {.data = b->arrays[v].data,
                   .into = b->sizes[info->into],
                   .facts = info->facts,
                   .stream = bind_stream(b, v)};
    bind_points(b, info, &m.points);
    switch (b->sources[v].from) {
    case FROM_GRAPH: copy_graph(b, v, &m); return check_order(b, v, &m);
    case FROM_ARRAY: return copy_array(b, v, &m);
    case FROM_ZERO:
    case FROM_NUMBER: return true;
    case FROM_RANDOM: break;
    }
    if (!draw(b, v, &m)) return false;
    if (info->facts & FACT_SORTED && info->sorted_by == TENSOR_NO_VAL) sort_whole(&m);
    if (info->facts & FACT_SORTED && info->sorted_by != TENSOR_NO_VAL &&
        !(b->op->vals.data[info->sorted_by].facts & FACT_PREFIX))
        sort_within(&m, b->arrays[info->sorted_by].data);
    return true;
}
