// How a reduction is spelled changes nothing (normal form N3): its condition is split into
// conjuncts, its indices stand in the order in which keys find the fewest points, and each key
// stands where its right side is known.
//     sum {b, a : dst[a] == v, dst[b] == src[a]}    →  sum {a, b : dst[a] == v, dst[b] == src[a]}
//     sum {e, i : and(src[e] == u, dst[e] == i)}    →  sum {e, i : src[e] == u, i == dst[e]}
// Terms come in another order only where the reducer is commutative. Derive gradients before: `ties
// first` goes by the order that was written.
#include "tensor_internal.h"

#include <string.h>

// indices; those whose orders are all tried; nodes that a comparison looks at
enum { MOST = 62, SEARCHED = 7, BUDGET = 4096 };
#define OTHER (UINT64_C(1) << 63)
// the points of an index that a key leaves, and what visiting them costs
enum { AT_POINT, AT_RANGE, AT_ORDER, AT_ALL = 16 };

// A conjunct: a filter, or, where it has sides, one that may be a key.
typedef struct {
    tensor_expr filter;   // 0: it was written as a key, and stays one
    tensor_expr a, b;     // 0: a filter
    uint32_t written;     // its place there
    bool used;            // as a key
    uint32_t key;         // and that
} conjunct;

typedef struct {
    uint32_t cost;
    tensor_var *order;
    uint32_t *classes;
} found_order;

typedef struct {
    tensor_op *op;
    arena *scratch;
    tensor_stage *st;
    uint32_t *stamp, stamps;   // per expression: the last walk that met it
    // per variable: of an index of the reduction one of its own, of others OTHER
    uint64_t *bit;
    uint64_t known;    // what is visited before
    bool *outer;       // per variable: neighbours of it lie far apart
    uint32_t *place;   // per variable: on the left, or where it first stands in the body
    VEC(conjunct) all;
    uint32_t budget;
    found_order now, best;
} normal;

static const tensor_node *node(const normal *n, tensor_expr e) { return tensor_node_at(n->op, e); }

static bool is_bound(const normal *n, tensor_var v) { return n->bit[v] != OTHER; }

static bool first_time(normal *n, tensor_expr e) {
    bool first = n->stamp[e] != n->stamps;
    n->stamp[e] = n->stamps;
    return first;
}

static int order(uint64_t a, uint64_t b) { return a == b ? 0 : a < b ? -1 : 1; }

// ---- What stands where --------------------------------------------------------------------------
static void note_places(normal *n, tensor_expr e, uint32_t *next) {
    const tensor_node *x = node(n, e);
    if (!first_time(n, e)) return;
    if (x->op == TENSOR_VAR_OP && n->place[x->imm.i] == UINT32_MAX) n->place[x->imm.i] = (*next)++;
    for (uint32_t i = 0; i < x->nargs; i++) note_places(n, x->args[i], next);
}

// Variables that index maps or first axes are outer ones, so that features stay innermost and
// adjacent.
static void note_outer(normal *n, tensor_expr e) {
    const tensor_node *x = node(n, e);
    if (!first_time(n, e)) return;
    bool map = x->op == TENSOR_LOAD_OP && n->op->vals.data[x->imm.i].type == DT_INDEX;
    for (uint32_t i = 0; i < x->nargs; i++) {
        const tensor_node *at = node(n, x->args[i]);
        bool far = map || (x->op == TENSOR_LOAD_OP && i == 0 && x->nargs > 1);
        if (far && at->op == TENSOR_VAR_OP) n->outer[at->imm.i] = true;
        note_outer(n, x->args[i]);
    }
}

static int compare_var(const normal *n, tensor_var a, tensor_var b) {
    if (a == b) return 0;
    int c = order(is_bound(n, a), is_bound(n, b));
    if (!c && is_bound(n, a)) c = order(n->outer[b], n->outer[a]);
    if (!c) c = order(n->place[a], n->place[b]);
    return c ? c : order(n->op->vars.data[a].space, n->op->vars.data[b].space);
}

static int compare(normal *n, tensor_expr a, tensor_expr b) {
    if (a == b || !n->budget) return 0;
    n->budget--;
    const tensor_node *x = node(n, a), *y = node(n, b);
    int c = order(x->op, y->op);
    if (!c) c = order(x->type.type, y->type.type);
    if (!c && x->op == TENSOR_VAR_OP)
        return compare_var(n, (tensor_var)x->imm.i, (tensor_var)y->imm.i);
    if (!c) c = order((uint64_t)x->imm.i, (uint64_t)y->imm.i);
    if (!c) c = order((uint64_t)x->imm2, (uint64_t)y->imm2);
    if (!c) c = order(x->nargs, y->nargs);
    for (uint32_t i = 0; i < x->nargs && !c; i++) c = compare(n, x->args[i], y->args[i]);
    return c;
}

static uint32_t loads_in(normal *n, tensor_expr e) {
    const tensor_node *x = node(n, e);
    if (!first_time(n, e)) return 0;
    uint32_t count = x->op == TENSOR_LOAD_OP;
    for (uint32_t i = 0; i < x->nargs; i++) count += loads_in(n, x->args[i]);
    return count;
}

static uint32_t loads_of(normal *n, const conjunct *c) {
    n->stamps++;
    return c->filter ? loads_in(n, c->filter) : 0;
}

// What takes little to tell comes first.
static int compare_conjuncts(normal *n, const conjunct *x, const conjunct *y) {
    int c = order(loads_of(n, x), loads_of(n, y));
    n->budget = BUDGET;
    if (!c) c = order(!x->a, !y->a);
    if (!c && !x->a) return compare(n, x->filter, y->filter);
    if (!c) c = compare(n, x->a, y->a);
    return c ? c : compare(n, x->b, y->b);
}

static void sort_conjuncts(normal *n) {
    for (uint32_t i = 1; i < n->all.len; i++)
        for (uint32_t k = i; k && compare_conjuncts(n, &n->all.data[k], &n->all.data[k - 1]) < 0;
             k--) {
            conjunct c = n->all.data[k];
            n->all.data[k] = n->all.data[k - 1];
            n->all.data[k - 1] = c;
        }
}

// ---- Conjuncts ----------------------------------------------------------------------------------
// A point that can be told anywhere: of maps and variables alone, which no guard has to stand
// before.
static bool is_chain(const normal *n, tensor_expr e, uint32_t depth) {
    const tensor_node *x = node(n, e);
    if (x->type.type != DT_INDEX || depth > 8) return false;
    if (x->op == TENSOR_INDEX_OP) return node(n, x->args[0])->op == TENSOR_CONST_OP;
    if (x->op == TENSOR_VAR_OP) return true;
    return x->op == TENSOR_LOAD_OP && x->nargs == 1 && is_chain(n, x->args[0], depth + 1);
}

static bool never_none(const normal *n, tensor_expr e) {
    const tensor_node *x = node(n, e);
    return x->op != TENSOR_LOAD_OP || !(n->op->vals.data[x->imm.i].facts & FACT_PARTIAL);
}

static bool is_told(const normal *n, tensor_expr side) {   // by a conjunct: it is not none
    bool told = false;
    for (uint32_t i = 0; i < n->all.len && !told; i++) {
        const tensor_node *x = n->all.data[i].filter ? node(n, n->all.data[i].filter) : NULL;
        if (!x || x->op != TENSOR_NE_OP) continue;
        for (uint32_t k = 0; k < 2; k++)
            told |= x->args[k] == side && node(n, x->args[1 - k])->op == TENSOR_NONE_OP;
    }
    return told;
}

// none equals none, and no key has it: a comparison is a key only where a side is a point.
static void find_sides(normal *n) {
    for (uint32_t i = 0; i < n->all.len; i++) {
        conjunct *c = &n->all.data[i];
        const tensor_node *x = c->filter ? node(n, c->filter) : NULL;
        if (!x || x->op != TENSOR_EQ_OP) continue;
        tensor_expr a = x->args[0], b = x->args[1];
        if (!is_chain(n, a, 0) || !is_chain(n, b, 0)) continue;
        if (never_none(n, a) || never_none(n, b) || is_told(n, a) || is_told(n, b))
            c->a = a, c->b = b;
    }
}

static void add(normal *n, conjunct c) {
    c.written = n->all.len;
    VEC_PUSH(n->scratch, &n->all, c);
}

static void add_filter(normal *n, tensor_expr e) {
    const tensor_node *x = node(n, e);
    if (x->op == TENSOR_AND_OP) {
        add_filter(n, x->args[0]);
        add_filter(n, x->args[1]);
        return;
    }
    if (!first_time(n, e) || (x->op == TENSOR_CONST_OP && x->imm.i)) return;
    add(n, (conjunct){.filter = e});
}

static void split(normal *n) {
    n->stamps++;
    for (uint32_t i = 0; i < n->st->nkeys; i++)
        add(n, (conjunct){.a = n->st->keys[i].lhs, .b = n->st->keys[i].rhs});
    for (uint32_t i = 0; i < n->st->nfilters; i++) add_filter(n, n->st->filters[i]);
    find_sides(n);
}

// Which side of a comparison is which has no meaning.
static void orient(normal *n) {
    for (uint32_t i = 0; i < n->all.len; i++) {
        conjunct *c = &n->all.data[i];
        n->budget = BUDGET;
        if (!c->a || compare(n, c->a, c->b) <= 0) continue;
        tensor_expr a = c->a;
        c->a = c->b, c->b = a;
    }
}

// ---- Keys ---------------------------------------------------------------------------------------
// that alone writes a value, and reduces nothing
static const tensor_stage *plain_stage(const normal *n, tensor_val v) {
    const tensor_stage *found = NULL;
    for (uint32_t i = 0; i < n->op->stages.len; i++)
        for (uint32_t t = 0; t < n->op->stages.data[i].ntargets; t++) {
            const tensor_stage *st = &n->op->stages.data[i];
            if (st->targets[t].val != v) continue;
            if (found || st->reducer != TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP ||
                st->nleft != 1)
                return NULL;
            found = st;
        }
    return found;
}

// The points at which a chain of maps from v leads somewhere, as a plan can have them prepared.
static uint32_t reached_by(const normal *n, tensor_expr e, tensor_var v, uint32_t depth) {
    const tensor_node *x = node(n, e);
    if (x->op == TENSOR_VAR_OP) return (tensor_var)x->imm.i == v ? AT_POINT : AT_ALL;
    if (x->op != TENSOR_LOAD_OP || x->nargs != 1 || depth > 8) return AT_ALL;
    uint32_t from = reached_by(n, x->args[0], v, depth + 1);
    const tensor_val_info *m = &n->op->vals.data[x->imm.i];
    if (from == AT_ALL || m->type != DT_INDEX) return AT_ALL;
    if (m->role == VAL_MAP) {
        bool sorted = m->facts & FACT_SORTED && m->sorted_by == TENSOR_NO_VAL &&
                      !(m->facts & FACT_PARTIAL);
        return from == AT_POINT && sorted ? AT_RANGE : AT_ORDER;
    }
    if (m->role == VAL_CLASSES) return AT_ORDER;
    const tensor_stage *st = plain_stage(n, (tensor_val)x->imm.i);
    return st && reached_by(n, st->body[0], st->left[0], depth + 1) != AT_ALL ? AT_ORDER : AT_ALL;
}

static uint64_t vars_in(normal *n, tensor_expr e) {
    const tensor_node *x = node(n, e);
    if (!first_time(n, e)) return 0;
    uint64_t all = x->op == TENSOR_VAR_OP ? n->bit[x->imm.i] : 0;
    for (uint32_t i = 0; i < x->nargs; i++) all |= vars_in(n, x->args[i]);
    return all;
}

static uint64_t vars_of(normal *n, tensor_expr e) {
    n->stamps++;
    return vars_in(n, e);
}

// The conjunct that leaves the fewest points of v to be visited, as a key; UINT32_MAX: none does.
static uint32_t key_for(normal *n, tensor_var v, uint32_t *class, tensor_key *key) {
    uint32_t best = UINT32_MAX;
    *class = AT_ALL;
    for (uint32_t i = 0; i < n->all.len; i++) {
        const conjunct *c = &n->all.data[i];
        tensor_expr sides[] = {c->a, c->b};
        for (uint32_t k = 0; k < 2 && c->a && !c->used; k++) {
            uint32_t reached = reached_by(n, sides[k], v, 0);
            if (reached >= *class || vars_of(n, sides[1 - k]) & ~(n->known | OTHER)) continue;
            *class = reached, best = i;
            *key = (tensor_key){sides[k], sides[1 - k]};
        }
    }
    return best;
}

// ---- The order of indices -----------------------------------------------------------------------
static int compare_orders(const normal *n, const found_order *x, const found_order *y,
                          uint32_t count) {
    int c = order(x->cost, y->cost);
    for (uint32_t i = 0; i < count && !c; i++) c = order(x->classes[i], y->classes[i]);
    for (uint32_t i = 0; i < count && !c; i++) c = compare_var(n, x->order[i], y->order[i]);
    return c;
}

static void keep_best(normal *n, uint32_t count) {
    if (n->best.cost != UINT32_MAX && compare_orders(n, &n->now, &n->best, count) >= 0) return;
    n->best.cost = n->now.cost;
    memcpy(n->best.order, n->now.order, count * sizeof *n->now.order);
    memcpy(n->best.classes, n->now.classes, count * sizeof *n->now.classes);
}

static void search(normal *n, const tensor_var *vars, uint32_t count, uint32_t at);

static void take(normal *n, const tensor_var *vars, uint32_t count, uint32_t at, tensor_var v) {
    tensor_key key;
    uint32_t class, i = key_for(n, v, &class, &key);
    if (i != UINT32_MAX) n->all.data[i].used = true;
    n->known |= n->bit[v];
    n->now.order[at] = v, n->now.classes[at] = class;
    n->now.cost += class;
    search(n, vars, count, at + 1);
    n->now.cost -= class;
    n->known &= ~n->bit[v];
    if (i != UINT32_MAX) n->all.data[i].used = false;
}

static bool is_better(normal *n, tensor_var v, tensor_var than) {
    tensor_key key;
    uint32_t x, y;
    key_for(n, v, &x, &key);
    key_for(n, than, &y, &key);
    return x < y || (x == y && compare_var(n, v, than) < 0);
}

// All orders; of many indices each step takes the best.
static void search(normal *n, const tensor_var *vars, uint32_t count, uint32_t at) {
    if (n->now.cost > n->best.cost) return;
    if (at == count) {
        keep_best(n, count);
        return;
    }
    tensor_var one = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (n->known & n->bit[vars[i]]) continue;
        if (count <= SEARCHED) take(n, vars, count, at, vars[i]);
        else if (one == UINT32_MAX || is_better(n, vars[i], one)) one = vars[i];
    }
    if (one != UINT32_MAX) take(n, vars, count, at, one);
}

static bool is_linked(normal *n, tensor_var v) {   // a key may find it, or start from it
    bool linked = false;
    for (uint32_t i = 0; i < n->all.len && !linked; i++)
        linked = n->all.data[i].a &&
                 (vars_of(n, n->all.data[i].a) | vars_of(n, n->all.data[i].b)) & n->bit[v];
    return linked;
}

static void sort_vars(const normal *n, tensor_var *vars, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k && compare_var(n, vars[k], vars[k - 1]) < 0; k--) {
            tensor_var v = vars[k];
            vars[k] = vars[k - 1], vars[k - 1] = v;
        }
}

// What keys find comes first, then what is visited as a whole.
static void order_indices(normal *n) {
    uint32_t count = n->st->nbound, linked = 0, dense = 0;
    tensor_var *vars = ARENA_ARRAY(n->scratch, tensor_var, count),
               *rest = ARENA_ARRAY(n->scratch, tensor_var, count),
               *out = ARENA_ARRAY(n->op->arena, tensor_var, count);
    for (uint32_t i = 0; i < count; i++)
        if (is_linked(n, n->st->bound[i])) vars[linked++] = n->st->bound[i];
        else rest[dense++] = n->st->bound[i];
    n->now = (found_order){0, ARENA_ARRAY(n->scratch, tensor_var, count),
                           ARENA_ARRAY(n->scratch, uint32_t, count)};
    n->best = (found_order){UINT32_MAX, out, ARENA_ARRAY(n->scratch, uint32_t, count)};
    sort_vars(n, vars, linked);
    search(n, vars, linked, 0);
    sort_vars(n, rest, dense);
    memcpy(out + linked, rest, dense * sizeof *rest);
    n->st->bound = out;
}

// ---- The condition ------------------------------------------------------------------------------
static tensor_expr put(normal *n, tensor_expr *memo, tensor_expr e, tensor_key k) {
    if (e == k.lhs) return k.rhs;
    if (memo[e]) return memo[e];
    tensor_node x = *node(n, e);
    tensor_expr *args = ARENA_ARRAY(n->op->arena, tensor_expr, x.nargs + 1), made = e;
    bool same = true;
    for (uint32_t i = 0; i < x.nargs; i++) {
        args[i] = put(n, memo, x.args[i], k);
        same &= args[i] == x.args[i];
    }
    x.args = args;
    if (!same) made = tensor_node_new(n->op, x);
    return memo[e] = made;
}

static const tensor_expr *put_all(normal *n, tensor_expr *memo, const tensor_expr *e,
                                  uint32_t count, tensor_key k) {
    tensor_expr *out = ARENA_ARRAY(n->op->arena, tensor_expr, count + 1);
    for (uint32_t i = 0; i < count; i++) out[i] = put(n, memo, e[i], k);
    return out;
}

// Where the key holds, m[e] is v: what is read there is read once a row.
static void read_in_rows(normal *n, tensor_key k) {
    if (node(n, k.rhs)->op != TENSOR_VAR_OP || node(n, k.lhs)->op == TENSOR_VAR_OP) return;
    tensor_expr *memo = ARENA_ARRAY(n->scratch, tensor_expr, n->op->exprs.len + 1);
    n->st->body = put_all(n, memo, n->st->body, n->st->nbody, k);
    n->st->filters = put_all(n, memo, n->st->filters, n->st->nfilters, k);
}

static bool may_be_none(const normal *n, tensor_expr e) {
    const tensor_node *x = node(n, e);
    bool choice = x->op == TENSOR_SELECT_OP || x->op == TENSOR_MIN_OP || x->op == TENSOR_MAX_OP ||
                  x->op == TENSOR_NONE_OP;
    return x->type.type == DT_INDEX && (choice || !never_none(n, e));
}

// It may be evaluated at any point: nothing in it needs a guard.
static bool stands_alone(normal *n, tensor_expr e) {
    const tensor_node *x = node(n, e);
    if (!first_time(n, e)) return true;
    bool alone = x->op != TENSOR_INDEX_OP || node(n, x->args[0])->op == TENSOR_CONST_OP;
    for (uint32_t i = 0; i < x->nargs && alone; i++) {
        bool asked = x->op == TENSOR_LOAD_OP || x->op == TENSOR_CVT_OP || x->op == TENSOR_INDEX_OP;
        alone = !(asked && may_be_none(n, x->args[i])) && stands_alone(n, x->args[i]);
    }
    return alone;
}

static bool needs_guard(normal *n, tensor_expr filter) {
    n->stamps++;
    return !stands_alone(n, filter);
}

// Filters that stand alone come first, in an order of their own; others, as they were written.
static void set_filters(normal *n) {
    tensor_expr *out = ARENA_ARRAY(n->op->arena, tensor_expr, n->all.len + 1);
    uint32_t count = 0, place = 0;
    for (uint32_t i = 0; i < n->all.len; i++)
        if (n->all.data[i].filter && !n->all.data[i].used && !needs_guard(n, n->all.data[i].filter))
            out[count++] = n->all.data[i].filter;
    for (; place < n->all.len; place++)
        for (uint32_t i = 0; i < n->all.len; i++) {
            const conjunct *c = &n->all.data[i];
            if (c->written == place && c->filter && !c->used && needs_guard(n, c->filter))
                out[count++] = c->filter;
        }
    n->st->filters = out;
    n->st->nfilters = count;
}

// the last index among them, in their order, from 1 on
static uint32_t last_of(const normal *n, uint64_t vars) {
    uint32_t last = 0;
    for (uint32_t b = 0; b < n->st->nbound; b++)
        if (n->bit[n->st->bound[b]] & vars) last = b + 1;
    return last;
}

// One that finds nothing is tested: what is visited last stands on its left.
static tensor_key tested(normal *n, const conjunct *c) {
    uint64_t a = vars_of(n, c->a), b = vars_of(n, c->b);
    bool swap = a & OTHER || !a || (b && !(b & OTHER) && last_of(n, b) > last_of(n, a));
    return swap ? (tensor_key){c->b, c->a} : (tensor_key){c->a, c->b};
}

static void set_keys(normal *n) {
    tensor_key *keys = ARENA_ARRAY(n->op->arena, tensor_key, n->all.len + 1);
    uint32_t count = 0, class;
    for (uint32_t b = 0; b < n->st->nbound; b++) {
        uint32_t i = key_for(n, n->st->bound[b], &class, &keys[count]);
        n->known |= n->bit[n->st->bound[b]];
        if (i == UINT32_MAX) continue;
        n->all.data[i].used = true;
        n->all.data[i].key = count++;
    }
    for (uint32_t i = 0; i < n->all.len; i++)
        if (!n->all.data[i].filter && !n->all.data[i].used)
            keys[count++] = tested(n, &n->all.data[i]);
    n->st->keys = keys;
    n->st->nkeys = count;
}

// ---- A stage ------------------------------------------------------------------------------------
static void note_variables(normal *n) {
    tensor_stage *st = n->st;
    uint32_t next = st->nleft;
    for (uint32_t v = 0; v < n->op->vars.len; v++)
        n->bit[v] = OTHER, n->place[v] = UINT32_MAX, n->outer[v] = false;
    for (uint32_t i = 0; i < st->nleft; i++) n->place[st->left[i]] = i;
    for (uint32_t i = 0; i < st->nbound; i++) n->bit[st->bound[i]] = UINT64_C(1) << i;
    n->stamps++;
    for (uint32_t i = 0; i < st->nbody; i++) note_outer(n, st->body[i]);
    for (uint32_t i = 0; i < n->all.len; i++) {
        if (n->all.data[i].filter) note_outer(n, n->all.data[i].filter);
        else note_outer(n, n->all.data[i].a), note_outer(n, n->all.data[i].b);
    }
    n->stamps++;
    for (uint32_t i = 0; i < st->nbody; i++) note_places(n, st->body[i], &next);
}

// Indices that the body does not mention stand as the conjuncts have them.
static void place_others(normal *n) {
    uint32_t next = UINT32_MAX / 2;
    n->stamps++;
    for (uint32_t i = 0; i < n->all.len; i++) {
        const conjunct *c = &n->all.data[i];
        if (c->a) note_places(n, c->a, &next), note_places(n, c->b, &next);
        else note_places(n, c->filter, &next);
    }
}

static void normalise(normal *n) {
    split(n);
    note_variables(n);
    orient(n);
    sort_conjuncts(n);
    place_others(n);
    if (n->op->reducers.data[n->st->reducer].commutative) order_indices(n);
    set_keys(n);
    set_filters(n);
    for (uint32_t i = 0; i < n->all.len; i++)
        if (n->all.data[i].used && n->all.data[i].filter)
            read_in_rows(n, n->st->keys[n->all.data[i].key]);
}

void tensor_normalise(tensor_op *op) {
    arena *scratch = arena_new();
    for (uint32_t i = 0; i < op->stages.len; i++) {
        tensor_stage *st = &op->stages.data[i];
        if (st->reducer == TENSOR_NO_REDUCER || st->nbound > MOST ||
            (st->nbound == 1 && !st->nkeys && !st->nfilters))
            continue;
        uint32_t vars = op->vars.len + 1;
        normal n = {.op = op,
                    .scratch = scratch,
                    .st = st,
                    .stamp = ARENA_ARRAY(scratch, uint32_t, op->exprs.len + 1)};
        n.bit = ARENA_ARRAY(scratch, uint64_t, vars);
        n.outer = ARENA_ARRAY(scratch, bool, vars);
        n.place = ARENA_ARRAY(scratch, uint32_t, vars);
        normalise(&n);
    }
    arena_free(scratch);
}
