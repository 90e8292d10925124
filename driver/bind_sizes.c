// The sizes of an op's spaces. In this order: constants and -D; --size; shapes of files; the
// graph's arrays; the graph by the name of the space; defaults, which keep maps possible. A
// codomain may be larger than what the graph points at.
#include "bind.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *space_name(const binding *b, tensor_space s) {
    return b->op->spaces.data[s].name;
}

static bool set_size(binding *b, tensor_space s, int64_t value, const char *origin) {
    bind_space *x = &b->spaces[s];
    const char *text = space_name(b, s);
    if (!x->known) {
        *x = (bind_space){.known = true, .at_least = x->at_least, .origin = origin};
        b->sizes[s] = value;
    } else if (b->sizes[s] != value) {
        diagnostic *fault = diag(b->d->ds, E0819, b->op->spaces.data[s].at,
                                 "%s: %s is %lld by %s, but %lld by %s", b->op->name, text,
                                 (long long)value, origin, (long long)b->sizes[s], x->origin);
        if (b->op->spaces.data[s].kind == SPACE_CONST && b->graph->given)
            diag_help(fault, "leave out -D %s", text);
        return false;
    }
    return true;
}

static void set_default(binding *b, tensor_space s, int64_t value) {
    if (b->spaces[s].known || b->op->spaces.data[s].kind != SPACE_FREE) return;
    set_size(b, s, value, "default");
    b->spaces[s].is_default = true;
}

// ---- What is told -------------------------------------------------------------------------------

static void constants(binding *b) {
    for (tensor_space s = 0; s < b->op->spaces.len; s++) {
        const tensor_space_info *info = &b->op->spaces.data[s];
        if (info->kind == SPACE_CONST) set_size(b, s, info->size, "its declaration or -D");
    }
}

static bool given_sizes(binding *b) {
    for (uint32_t i = 0; i < b->d->values[OPT_SIZE].len; i++) {
        const char *text = b->d->values[OPT_SIZE].data[i];
        size_t n = strcspn(text, "=");
        for (tensor_space s = 0; s < b->op->spaces.len; s++) {
            const char *name = space_name(b, s);
            bool named = !strncmp(name, text, n) && !name[n];
            if (named && !set_size(b, s, strtoll(text + n + 1, NULL, 10), "--size")) return false;
        }
    }
    return true;
}

static bool array_sizes(binding *b, tensor_val v) {
    const tensor_val_info *info = &b->op->vals.data[v];
    const gnn_array *x = b->sources[v].array;
    if (b->sources[v].from != FROM_ARRAY) return true;
    if (x->rank != info->rank) {
        bind_fault(b, v, E0818, "has %u axes, but what is given has %u", info->rank, x->rank);
        return false;
    }
    for (uint32_t k = 0; k < info->rank; k++)
        if (!set_size(b, info->axes[k], x->shape[k],
                      arena_printf(b->arena, "what is given for '%s'", info->name)))
            return false;
    return true;
}

// The domain of a map of the graph is as large as the graph says, its codomain at least.
static bool map_sizes(binding *b, tensor_val v) {
    const tensor_val_info *info = &b->op->vals.data[v];
    if (info->role != VAL_MAP || b->sources[v].from != FROM_GRAPH) return true;
    const graph_array_info *x = graph_array_table(b->sources[v].which);
    bind_space *into = &b->spaces[info->into];
    int64_t codomain = graph_counted(b->graph, x->codomain);
    if (codomain > into->at_least) into->at_least = codomain;
    if (!into->known)
        into->origin = arena_printf(b->arena, "the graph's %s", graph_count_text(x->codomain));
    return set_size(b, info->axes[0], graph_counted(b->graph, x->domain),
                    arena_printf(b->arena, "the graph's %s", graph_count_text(x->domain)));
}

static bool settle_codomains(binding *b) {
    for (tensor_space s = 0; s < b->op->spaces.len; s++) {
        bind_space *x = &b->spaces[s];
        if (!x->known && x->origin) set_size(b, s, x->at_least, x->origin);
        if (!x->known || b->sizes[s] >= x->at_least) continue;
        diag(b->d->ds, E0819, b->op->spaces.data[s].at,
             "%s: %s is %lld by %s, but the graph points at %lld", b->op->name, space_name(b, s),
             (long long)b->sizes[s], x->origin, (long long)x->at_least);
        return false;
    }
    return true;
}

// ---- What names tell ----------------------------------------------------------------------------

// E1, E_2: of the kind of E.
static bool has_stem(const char *name, const char *stem) {
    size_t n = strlen(stem);
    if (strncmp(name, stem, n) != 0) return false;
    for (name += n; *name; name++)
        if (!isdigit((unsigned char)*name) && *name != '_') return false;
    return true;
}

static bool is_edges(const binding *b, tensor_space s) { return has_stem(space_name(b, s), "E"); }

static void name_size(binding *b, tensor_space s) {
    static const struct {
        const char *stem;
        graph_count count;
    } rows[] = {{"E", COUNT_EDGES},   {"V", COUNT_NODES}, {"N", COUNT_NODES},
                {"U", COUNT_SOURCES}, {"R", COUNT_TYPES}, {"G", COUNT_GRAPHS}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows && !b->spaces[s].known; k++)
        if (has_stem(space_name(b, s), rows[k].stem) &&
            (k < 4 || graph_counted(b->graph, rows[k].count) > 0))
            set_size(b, s, graph_counted(b->graph, rows[k].count),
                     arena_printf(b->arena, "the graph's %s", graph_count_text(rows[k].count)));
}

// ---- Defaults -----------------------------------------------------------------------------------

static int64_t usual_size(const binding *b, tensor_space s) {
    static const struct {
        const char *stem;
        int64_t size;
    } rows[] = {{"E", 64}, {"B", 64}, {"V", 12}, {"N", 14}, {"U", 15},
                {"L", 15}, {"M", 13}, {"X", 70}, {"F", 16}, {"H", 4},
                {"R", 5},  {"G", 6},  {"C", 7},  {"S", 3},  {"P", 4}};
    enum { OTHER = 8 };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (has_stem(space_name(b, s), rows[k].stem)) return rows[k].size;
    return OTHER;
}

static bool is_free_map(const binding *b, tensor_val v) {
    return b->op->vals.data[v].role == VAL_MAP && b->sources[v].from != FROM_GRAPH;
}

// Maps of edges lead to nodes, but for relations, which are few.
static int64_t codomain_size(const binding *b, const tensor_val_info *map) {
    bool relations = has_stem(space_name(b, map->into), "R");
    if (b->graph->given && map->rank == 1 && is_edges(b, map->axes[0]) && !relations)
        return b->graph->graph.nodes;
    return usual_size(b, map->into);
}

// A map that repeats no value, or is the identity, needs a codomain as large as its domain.
enum { INJECTIVE = FACT_UNIQUE | FACT_PREFIX };

static void free_codomains(binding *b) {
    for (tensor_val v = 0; v < b->op->nparams; v++) {
        const tensor_val_info *info = &b->op->vals.data[v];
        if (is_free_map(b, v) && !(info->facts & INJECTIVE))
            set_default(b, info->into, codomain_size(b, info));
    }
}

static void free_domain(binding *b, const tensor_val_info *map, tensor_space s) {
    int64_t into = b->sizes[map->into],
            size = b->graph->given && is_edges(b, s) ? b->graph->graph.edges : usual_size(b, s);
    bool empty = into == 0 && !(map->facts & FACT_PARTIAL);
    if (map->facts & INJECTIVE && into >= 0 && size > into) size = into;
    set_default(b, s, empty ? 0 : size);
}

static void free_domains(binding *b) {
    for (tensor_val v = 0; v < b->op->nparams; v++)
        for (uint32_t k = 0; is_free_map(b, v) && k < b->op->vals.data[v].rank; k++)
            free_domain(b, &b->op->vals.data[v], b->op->vals.data[v].axes[k]);
}

static void injective_codomains(binding *b) {
    enum { SPARE = 3 };
    for (tensor_val v = 0; v < b->op->nparams; v++) {
        const tensor_val_info *info = &b->op->vals.data[v];
        int64_t points;
        if (is_free_map(b, v) && info->facts & INJECTIVE && bind_points(b, info, &points))
            set_default(b, info->into, points + SPARE);
    }
}

// ---- Sizes of others ----------------------------------------------------------------------------

static bool expression_sizes(binding *b) {
    for (tensor_space s = 0; s < b->op->spaces.len; s++) {
        const tensor_space_info *info = &b->op->spaces.data[s];
        // a plan's own, of its maps
        if (info->kind != SPACE_EXPR || tensor_node_at(b->op, info->expr)->counted) continue;
        if (!bind_expression(b, info->expr, &b->sizes[s]) || b->sizes[s] < 0) {
            diag(b->d->ds, E0819, info->at, "%s: the size of %s is negative or too large",
                 b->op->name, info->name);
            return false;
        }
        b->spaces[s].known = true;
    }
    return true;
}

bool bind_sizes(binding *b) {
    constants(b);
    if (!given_sizes(b)) return false;
    for (tensor_val v = 0; v < b->op->nparams; v++)
        if (!array_sizes(b, v) || !map_sizes(b, v)) return false;
    if (!settle_codomains(b)) return false;
    for (tensor_space s = 0; s < b->op->spaces.len && b->graph->given; s++)
        if (b->op->spaces.data[s].kind == SPACE_FREE) name_size(b, s);
    free_codomains(b);
    free_domains(b);
    injective_codomains(b);
    for (tensor_space s = 0; s < b->op->spaces.len; s++) set_default(b, s, usual_size(b, s));
    return expression_sizes(b);
}
