// Facts against brute force: small plans over small graphs, both by chance; every fact claimed of a
// chance expression is checked at every point that the plan reaches. A plan that breaks the rules
// (an index out of range) is thrown away.
#include "facts/internal.h"

#include <stdlib.h>
#include <string.h>

// ---- Chance -------------------------------------------------------------------------------------

static uint64_t state;
static uint64_t next(void) {
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = (state ^ (state >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
static int64_t below(int64_t n) { return n > 0 ? (int64_t)(next() % (uint64_t)n) : 0; }
static bool chance(int64_t percent) { return below(100) < percent; }

// ---- A graph ------------------------------------------------------------------------------------

enum { MAX_SIZE = 14, MAX_LOOPS = 3, MAX_LETS = 3, MAX_POINTS = 1500, MAX_VALS = 24 };
enum { MAX_DIGITS = LOOP_MAX_DIGITS + 1 };
enum { E, V, U, W, F, C, V1, W1, N, N1, SPACES };
enum { COUNTED = 9 };
typedef struct {
    tensor_val dst, src, up, rank, weight, offsets, order, compose, up_offsets, up_order, degrees,
        tiles, most;
} world_maps;
typedef struct {
    arena *arena;
    tensor_op *op;
    loop_plan *plan;
    int64_t size[SPACES];
    int64_t data[MAX_VALS][MAX_SIZE + 2];
    int64_t length[MAX_VALS];
    world_maps maps;
    loop_node *loops[MAX_LOOPS], *at;
    uint32_t nloops;
    tensor_var vars[MAX_LOOPS + MAX_LETS];
    uint32_t nvars;
    int64_t claims[COUNTED];   // how often a fact of each kind was claimed
    int failures;
} world;
typedef enum { RANGE, CONSTANT, MULTIPLE, BASE, UNIFORM, AFFINE, SORTED, DISTINCT, LESS } counted;

static tensor_val add_map(world *w, const char *name, tensor_space domain, tensor_space into,
                          uint32_t facts) {
    tensor_space *axes = ARENA_NEW(w->arena, tensor_space);
    *axes = domain;
    tensor_val_info info = {.name = name,
                            .role = VAL_MAP,
                            .type = DT_INDEX,
                            .into = into,
                            .facts = facts,
                            .rank = 1,
                            .axes = axes};
    info.sorted_by = info.inplace = TENSOR_NO_VAL;
    tensor_val v = tensor_add_val(w->op, info);
    w->length[v] = w->size[domain];
    return v;
}

static int ascending(const void *x, const void *y) {
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return a < b ? -1 : a > b;
}

static void fill_map(world *w, tensor_val v) {
    tensor_val_info *info = &w->op->vals.data[v];
    int64_t size = w->size[info->into], n = w->length[v];
    for (int64_t i = 0; i < n; i++) {
        w->data[v][i] = below(size);
        if (info->facts & FACT_UNIQUE)
            w->data[v][i] = (i * 5 + size / 2) % size;   // 5 and size: no common factor
        if (info->facts & FACT_PARTIAL && chance(25)) w->data[v][i] = -1;
    }
    if (info->facts & FACT_SORTED && info->sorted_by == TENSOR_NO_VAL)
        qsort(w->data[v], (size_t)n, sizeof(int64_t), ascending);
}

static tensor_val add_prepared(world *w, const char *name, prepared_builder b, tensor_space domain,
                               tensor_space into, const tensor_val *args, uint32_t nargs) {
    tensor_space *axes = ARENA_NEW(w->arena, tensor_space);
    *axes = domain;
    tensor_val_info info = {.name = name,
                            .role = VAL_PREPARED,
                            .type = DT_INDEX,
                            .into = into,
                            .rank = 1,
                            .axes = axes};
    info.sorted_by = info.inplace = TENSOR_NO_VAL;
    loop_prepared p = {.val = loop_add_val(w->plan, info, (loop_value){.of = TENSOR_NO_VAL}),
                       .builder = b,
                       .nargs = nargs};
    tensor_val *copy = ARENA_ARRAY(w->arena, tensor_val, nargs);
    memcpy(copy, args, nargs * sizeof *args);
    p.args = copy;
    VEC_PUSH(w->arena, &w->plan->prepared, p);
    w->length[p.val] = w->size[domain];
    return p.val;
}

static void fill_offsets(world *w, tensor_val offsets, tensor_val order, tensor_val map,
                         int64_t rows) {
    int64_t n = 0, points = w->length[map];
    for (int64_t v = 0; v <= rows; v++) {
        w->data[offsets][v] = n;
        for (int64_t e = 0; e < points && v < rows; e++)
            if (w->data[map][e] == v) w->data[order][n++] = e;
    }
    for (int64_t e = 0; e < points; e++)
        if (w->data[map][e] < 0) w->data[order][n++] = e;
}

// Tiles of at most two entries of one key.
static int64_t count_tiles(world *w, tensor_val into) {
    int64_t n = 0, rows = w->size[V];
    for (int64_t v = 0; v < rows; v++)
        for (int64_t p = w->data[w->maps.offsets][v]; p < w->data[w->maps.offsets][v + 1]; p += 2)
            w->data[into][n++] = p;
    w->data[into][n] = w->data[w->maps.offsets][rows];
    return n;
}

static void add_spaces(world *w) {
    static const char *const names[] = {"E", "V", "U", "W", "F", "C", "V1", "W1", "N", "N1"};
    static const int64_t upmost[] = {10, 5, 7, 4, 12, 6, 0, 0, 0, 0};
    for (tensor_space s = 0; s < SPACES; s++) {
        tensor_space_info info = {.name = names[s], .kind = s == C ? SPACE_CONST : SPACE_FREE};
        w->size[s] = s == U ? 7 : below(upmost[s] + 1);
        if ((s == V && w->size[E]) || (s == W && w->size[V]))
            w->size[s] += w->size[s] == 0;   // a map needs somewhere to go
        if (s == F && chance(60)) w->size[s] = w->size[s] / 4 * 4;
        if (s == V1 || s == W1 || s == N1) {
            tensor_space of = s == N1 ? N : s == V1 ? V : W;
            info.kind = SPACE_EXPR;
            info.expr = tensor_binary(w->op, TENSOR_ADD_OP, tensor_size(w->op, of, NO_SPAN),
                                      tensor_int(w->op, 1), NO_SPAN);
            w->size[s] = w->size[of] + 1;
        }
        info.size = w->size[s];
        tensor_add_space(w->op, info);
    }
}

static void add_maps(world *w) {
    uint32_t kind = chance(40) ? FACT_SORTED : chance(40) ? FACT_PARTIAL : 0;
    w->maps.dst = add_map(w, "dst", E, V, kind);
    w->maps.src = add_map(w, "src", E, U, 0);
    w->maps.up = add_map(w, "up", V, W, chance(50) ? FACT_SORTED : chance(30) ? FACT_PARTIAL : 0);
    w->maps.rank = add_map(w, "rank", V, U, FACT_UNIQUE);
    w->op->vals.data[w->maps.src].facts = FACT_SORTED;
    w->op->vals.data[w->maps.src].sorted_by = w->maps.dst;
    tensor_space *axes = ARENA_NEW(w->arena, tensor_space);
    *axes = E;
    tensor_val_info weight = {
        .name = "weight", .role = VAL_TENSOR, .type = DT_I64, .rank = 1, .axes = axes};
    weight.into = TENSOR_NO_SPACE;
    weight.sorted_by = weight.inplace = TENSOR_NO_VAL;
    w->maps.weight = tensor_add_val(w->op, weight);
    w->length[w->maps.weight] = w->size[E];
    w->op->nparams = w->op->vals.len;
    for (int64_t e = 0; e < w->size[E]; e++)
        w->data[w->maps.weight][e] = chance(30) ? INT64_MAX - below(3) : below(9) - 4;
    fill_map(w, w->maps.dst), fill_map(w, w->maps.up), fill_map(w, w->maps.rank);
    for (int64_t e = 0; e < w->size[E]; e++) w->data[w->maps.src][e] = below(7);
    for (int64_t i = 0; i < w->size[E]; i++)   // sorted within each preimage
        for (int64_t e = 0; e < i; e++) {
            int64_t *x = &w->data[w->maps.src][e], *y = &w->data[w->maps.src][i], t = *x;
            if (w->data[w->maps.dst][e] == w->data[w->maps.dst][i] && *x > *y) *x = *y, *y = t;
        }
}

static void prepare(world *w) {
    tensor_val two[] = {w->maps.dst, w->maps.up};
    w->maps.offsets = add_prepared(w, "offsets.dst", PREPARED_OFFSETS, V1, E, &w->maps.dst, 1);
    w->maps.order = add_prepared(w, "order.dst", PREPARED_ORDER, E, E, &w->maps.dst, 1);
    w->maps.compose = add_prepared(w, "up.dst", PREPARED_COMPOSE, E, W, two, 2);
    w->maps.up_offsets = add_prepared(w, "offsets.up", PREPARED_OFFSETS, W1, E, &w->maps.compose,
                                      1);
    w->maps.up_order = add_prepared(w, "order.up", PREPARED_ORDER, E, E, &w->maps.compose, 1);
    w->maps.degrees = add_prepared(w, "degrees.dst", PREPARED_DEGREES, V, E, &w->maps.dst, 1);
    w->maps.tiles = add_prepared(w, "tiles.dst", PREPARED_TILES, N1, E, &w->maps.dst, 1);
    fill_offsets(w, w->maps.offsets, w->maps.order, w->maps.dst, w->size[V]);
    for (int64_t e = 0; e < w->size[E]; e++) {
        int64_t v = w->data[w->maps.dst][e];
        w->data[w->maps.compose][e] = v < 0 ? -1 : w->data[w->maps.up][v];
    }
    fill_offsets(w, w->maps.up_offsets, w->maps.up_order, w->maps.compose, w->size[W]);
    for (int64_t v = 0; v < w->size[V]; v++)
        w->data[w->maps.degrees][v] = w->data[w->maps.offsets][v + 1] - w->data[w->maps.offsets][v];
    w->size[N] = count_tiles(w, w->maps.tiles);
    w->size[N1] = w->size[N] + 1;
    w->length[w->maps.tiles] = w->size[N1];
}

static void require(world *w, tensor_opcode o, tensor_expr x, tensor_expr y) {
    tensor_require r = {.text = "", .holds = tensor_binary(w->op, o, x, y, NO_SPAN)};
    VEC_PUSH(w->arena, &w->op->required, r);
}

static void add_requires(world *w) {
    tensor_op *op = w->op;
    int64_t most = 0, least = INT64_MAX;
    for (int64_t v = 0; v < w->size[V]; v++) {
        int64_t n = w->data[w->maps.degrees][v];
        most = n > most ? n : most;
        least = n < least ? n : least;
    }
    tensor_node max = {.op = TENSOR_PREIMAGE_OP, .type = TENSOR_TYPE(I64), .imm.i = w->maps.dst},
                min = max;
    min.imm2 = 1;
    if (chance(50))
        require(w, TENSOR_LE_OP, tensor_node_new(op, max), tensor_int(op, most + below(2)));
    if (w->size[V] && chance(50))
        require(w, TENSOR_GT_OP, tensor_node_new(op, min), tensor_int(op, least - 1));
    for (tensor_space s = 0; s <= F; s++) {
        tensor_expr size = tensor_size(op, s, NO_SPAN);
        int64_t by = chance(50) ? 4 : 2;
        if (w->size[s] % by == 0 && chance(50)) {
            tensor_expr left = tensor_binary(op, TENSOR_MOD_OP, size, tensor_int(op, by), NO_SPAN);
            require(w, TENSOR_EQ_OP, left, tensor_int(op, 0));
        }
        if (chance(30)) require(w, TENSOR_LE_OP, size, tensor_int(op, w->size[s] + below(3)));
        if (chance(20)) require(w, TENSOR_NE_OP, size, tensor_int(op, w->size[s] ? 0 : -1));
        for (tensor_space t = 0; t < s; t++)
            if (w->size[t] == w->size[s] && chance(50))
                require(w, TENSOR_EQ_OP, size, tensor_size(op, t, NO_SPAN));
    }
}

// ---- Expressions by chance ----------------------------------------------------------------------

static tensor_expr number(world *w, int depth);
static tensor_expr index_of(world *w, tensor_space s, int depth);

// A key at a position: dst[p], up[dst[order.dst[p]]], up.dst[order.up[p]], …
static tensor_expr key_at(world *w) {
    tensor_expr at = index_of(w, E, 0);
    int64_t order = below(3);
    if (order)
        at = tensor_load(w->op, order == 1 ? w->maps.order : w->maps.up_order, &at, 1, NO_SPAN);
    at = tensor_load(w->op, chance(70) ? w->maps.dst : w->maps.compose, &at, 1, NO_SPAN);
    if (chance(70) || tensor_node_at(w->op, at)->imm.i != w->maps.dst) return at;
    return tensor_load(w->op, w->maps.up, &at, 1, NO_SPAN);
}

static tensor_expr index_of(world *w, tensor_space s, int depth) {
    for (uint32_t tries = 0; tries < 6 && w->nvars; tries++) {
        tensor_var v = w->vars[below(w->nvars)];
        if (w->op->vars.data[v].space == s) return tensor_var_expr(w->op, v, NO_SPAN);
    }
    const world_maps *of = &w->maps;
    tensor_val maps[] = {of->dst, of->src, of->up, of->rank, of->order, of->compose, of->up_order};
    tensor_val m = maps[below(7)];
    if (depth > 0 && w->op->vals.data[m].into == s) {
        tensor_expr at = index_of(w, w->op->vals.data[m].axes[0], depth - 1);
        return tensor_load(w->op, m, &at, 1, NO_SPAN);
    }
    return tensor_index(
        w->op, s, depth > 0 && chance(60) ? number(w, depth - 1) : tensor_int(w->op, below(2)),
        NO_SPAN);
}

static tensor_expr comparison(world *w, int depth) {
    tensor_opcode ops[] = {TENSOR_EQ_OP, TENSOR_NE_OP, TENSOR_LT_OP,
                           TENSOR_LE_OP, TENSOR_GT_OP, TENSOR_GE_OP};
    if (depth > 0 && chance(20))
        return tensor_unary(w->op, TENSOR_NOT_OP, comparison(w, depth - 1), NO_SPAN);
    if (depth > 0 && chance(25))
        return tensor_binary(w->op, chance(60) ? TENSOR_AND_OP : TENSOR_OR_OP,
                             comparison(w, depth - 1), comparison(w, depth - 1), NO_SPAN);
    return tensor_binary(w->op, ops[below(6)], number(w, depth), number(w, depth), NO_SPAN);
}

static tensor_expr entry(world *w, tensor_val v, tensor_expr i64) {
    tensor_expr at = tensor_index(w->op, w->op->vals.data[v].axes[0], i64, NO_SPAN);
    return tensor_load(w->op, v, &at, 1, NO_SPAN);
}

// offsets.dst[v + n] - offsets.dst[v]
static tensor_expr rows_between(world *w) {
    tensor_expr v = tensor_cvt(w->op, TENSOR_TYPE(I64), index_of(w, V, 0), NO_SPAN);
    tensor_expr end = tensor_binary(w->op, TENSOR_ADD_OP, v, tensor_int(w->op, 1 + below(2)),
                                    NO_SPAN);
    tensor_expr hi = tensor_cvt(w->op, TENSOR_TYPE(I64), entry(w, w->maps.offsets, end), NO_SPAN);
    return tensor_binary(w->op, TENSOR_SUB_OP, hi,
                         tensor_cvt(w->op, TENSOR_TYPE(I64), entry(w, w->maps.offsets, v), NO_SPAN),
                         NO_SPAN);
}

static tensor_expr load_number(world *w, int depth) {
    tensor_val vals[] = {w->maps.offsets, w->maps.degrees, w->maps.weight, w->maps.up_offsets};
    tensor_val v = vals[below(4)];
    tensor_expr at = index_of(w, w->op->vals.data[v].axes[0], depth - 1);
    return tensor_cvt(w->op, TENSOR_TYPE(I64), tensor_load(w->op, v, &at, 1, NO_SPAN), NO_SPAN);
}

static tensor_expr number(world *w, int depth) {
    static const tensor_opcode ops[] = {TENSOR_ADD_OP, TENSOR_ADD_OP, TENSOR_SUB_OP,
                                        TENSOR_MUL_OP, TENSOR_MOD_OP, TENSOR_QUOT_OP,
                                        TENSOR_MIN_OP, TENSOR_MAX_OP};
    tensor_op *op = w->op;
    if (depth <= 0) {
        if (chance(15)) return tensor_int(op, below(9) - 2);
        if (chance(15)) return tensor_size(op, (tensor_space)below(SPACES), NO_SPAN);
        return tensor_cvt(op, TENSOR_TYPE(I64),
                          tensor_var_expr(op, w->vars[below(w->nvars)], NO_SPAN), NO_SPAN);
    }
    if (chance(12)) return load_number(w, depth);
    if (chance(5)) return rows_between(w);
    if (chance(35))
        return tensor_cvt(op, TENSOR_TYPE(I64), index_of(w, (tensor_space)below(C), depth),
                          NO_SPAN);
    if (chance(8))
        return tensor_select(op, comparison(w, 0), number(w, depth - 1), number(w, depth - 1),
                             NO_SPAN);
    tensor_opcode o = ops[below(8)];
    bool constant = (o == TENSOR_MUL_OP || o == TENSOR_MOD_OP || o == TENSOR_QUOT_OP) && chance(80);
    tensor_expr x = number(w, depth - 1), y = constant
                                                  ? tensor_int(op, chance(90) ? 1 + below(8) : -2)
                                                  : number(w, depth - 1);
    return tensor_binary(op, o, x, y, NO_SPAN);
}

// ---- Plans by chance ----------------------------------------------------------------------------

static void add_digits(loop_node *n) {
    static const loop_place places[] = {LOOP_VECTOR_PLACE, LOOP_LANE_PLACE, LOOP_GROUP_PLACE};
    for (uint32_t i = 0; i < 3 && chance(45); i++)
        n->digits[n->ndigits++] = (loop_digit){places[i], (uint32_t)(1 << below(3)), 1};
    n->rest = chance(12) ? LOOP_WHOLE_PLACE : LOOP_SERIAL_PLACE;
}

static tensor_var bind(world *w, const char *name, tensor_space s) {
    tensor_var v = tensor_add_var(w->op, name, s);
    w->vars[w->nvars++] = v;
    return v;
}

// A range of a prepared array from a loop's variable around: a row, several rows, or a tile.
static bool walk_range(world *w, loop_node *n) {
    tensor_val arrays[] = {w->maps.offsets, w->maps.offsets, w->maps.up_offsets, w->maps.tiles};
    tensor_val array = arrays[below(4)];
    tensor_space rows = array == w->maps.offsets ? V : array == w->maps.tiles ? N : W;
    int64_t width = chance(60) ? 1 : 1 + below(3);
    for (uint32_t i = 0; i < w->nvars; i++) {
        if (w->op->vars.data[w->vars[i]].space != rows) continue;
        tensor_expr v = tensor_cvt(w->op, TENSOR_TYPE(I64),
                                   tensor_var_expr(w->op, w->vars[i], NO_SPAN), NO_SPAN);
        v = tensor_binary(w->op, TENSOR_MUL_OP, v, tensor_int(w->op, chance(80) ? width : 1),
                          NO_SPAN);
        n->lo = entry(w, array, v);
        n->hi = entry(w, array,
                      tensor_binary(w->op, TENSOR_ADD_OP, v, tensor_int(w->op, width), NO_SPAN));
        n->var = tensor_add_var(w->op, "p", E);
        return true;
    }
    return false;
}

static void bound_by_size(world *w, loop_node *n) {
    tensor_space spaces[] = {V, V, W, N, F, E, C};
    tensor_space s = spaces[below(7)];
    n->lo = tensor_int(w->op, 0);
    n->hi = tensor_size(w->op, s, NO_SPAN);
    int64_t part = 1 + below(3);
    if (chance(20))
        n->hi = tensor_binary(w->op, TENSOR_QUOT_OP, n->hi, tensor_int(w->op, part), NO_SPAN);
    else if (chance(25))   // points in blocks of `part`
        n->hi = tensor_binary(
            w->op, TENSOR_QUOT_OP,
            tensor_binary(w->op, TENSOR_ADD_OP, n->hi, tensor_int(w->op, part - 1), NO_SPAN),
            tensor_int(w->op, part), NO_SPAN);
    if (w->nvars && chance(15))
        n->lo = number(w, 1),
        n->hi = tensor_binary(w->op, TENSOR_ADD_OP, n->lo, tensor_int(w->op, 4), NO_SPAN);
    n->var = tensor_add_var(w->op, "v", s);
}

static loop_body *add_node(world *w, loop_body *to, loop_node *n) {
    loop_append(w->plan, to, n);
    return n->kind == LOOP_LET ? to : &n->body;
}

static loop_body *add_let(world *w, loop_body *to) {
    loop_node *n = loop_node_new(w->plan, LOOP_LET, NO_SPAN);
    tensor_space s = (tensor_space)below(C);
    n->value = index_of(w, s, 2);
    n->var = bind(w, "l", s);
    return add_node(w, to, n);
}

static loop_body *add_loop(world *w, loop_body *to) {
    loop_node *n = loop_node_new(w->plan, LOOP_FOR, NO_SPAN);
    if (!chance(65) || !walk_range(w, n)) bound_by_size(w, n);
    w->vars[w->nvars++] = n->var;
    add_digits(n);
    w->loops[w->nloops++] = n;
    return add_node(w, to, n);
}

static void add_plan(world *w) {
    loop_kernel *k = ARENA_NEW(w->arena, loop_kernel);
    loop_body *to = &k->body;
    int64_t nloops = 1 + below(MAX_LOOPS);
    for (int64_t i = 0; i < nloops; i++) {
        to = add_loop(w, to);
        if (chance(30)) to = add_let(w, to);
        if (!chance(30)) continue;
        loop_node *n = loop_node_new(w->plan, LOOP_IF, NO_SPAN);
        n->value = comparison(w, 2);
        to = add_node(w, to, n);
    }
    w->at = loop_node_new(w->plan, LOOP_PHASE, NO_SPAN);
    loop_append(w->plan, to, w->at);
    VEC_PUSH(w->arena, &w->plan->steps, ((loop_step){.kind = LOOP_LAUNCH, .kernel = k}));
}

// ---- Evaluation ---------------------------------------------------------------------------------

static bool broken;   // an index out of range: the plan or the expression has no meaning
typedef struct {
    int64_t var[64];
} env;

static int64_t floor_quot(int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (y == -1) return (int64_t)(0 - (uint64_t)x);
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static int64_t eval(const world *w, const env *v, tensor_expr e);

static int64_t eval_load(const world *w, const env *v, const tensor_node *n) {
    int64_t at = eval(w, v, n->args[0]);
    broken |= at < 0 || at >= w->length[n->imm.i];
    return broken ? 0 : w->data[n->imm.i][at];
}

static int64_t eval_index(const world *w, const tensor_node *n, int64_t x) {
    broken |= x < -1 || x >= w->size[n->type.space];
    return x;
}

static int64_t eval(const world *w, const env *v, tensor_expr e) {
    tensor_node n = *tensor_node_at(w->op, e);
    if (broken) return 0;
    if (n.op == TENSOR_LOAD_OP) return eval_load(w, v, &n);
    int64_t x = n.nargs > 0 ? eval(w, v, n.args[0]) : 0;
    if (n.op == TENSOR_SELECT_OP) return eval(w, v, n.args[x ? 1 : 2]);
    if ((n.op == TENSOR_AND_OP && !x) || (n.op == TENSOR_OR_OP && x)) return x;
    int64_t y = n.nargs > 1 ? eval(w, v, n.args[1]) : 0;
    switch (n.op) {
    case TENSOR_CONST_OP: return n.imm.i;
    case TENSOR_VAR_OP: return v->var[n.imm.i];
    case TENSOR_SIZE_OP: return w->size[n.imm.i];
    case TENSOR_INDEX_OP: return eval_index(w, &n, x);
    case TENSOR_CVT_OP: return x;
    case TENSOR_ADD_OP: return (int64_t)((uint64_t)x + (uint64_t)y);
    case TENSOR_SUB_OP: return (int64_t)((uint64_t)x - (uint64_t)y);
    case TENSOR_MUL_OP: return (int64_t)((uint64_t)x * (uint64_t)y);
    case TENSOR_QUOT_OP: return floor_quot(x, y);
    case TENSOR_MOD_OP:
        return y == 0 ? 0 : (int64_t)((uint64_t)x - (uint64_t)floor_quot(x, y) * (uint64_t)y);
    case TENSOR_MIN_OP: return x < y ? x : y;
    case TENSOR_MAX_OP: return x > y ? x : y;
    case TENSOR_EQ_OP: return x == y;
    case TENSOR_NE_OP: return x != y;
    case TENSOR_LT_OP: return x < y;
    case TENSOR_LE_OP: return x <= y;
    case TENSOR_GT_OP: return x > y;
    case TENSOR_GE_OP: return x >= y;
    case TENSOR_AND_OP:
    case TENSOR_OR_OP: return y;
    case TENSOR_NOT_OP: return !x;
    default: ICE("the test makes no such expression");
    }
}

typedef struct {
    env vars;
    int64_t position[MAX_LOOPS];            // hi - lo counted from 0
    int64_t digit[MAX_LOOPS][MAX_DIGITS];   // the last is the rest
} point;
static point points[MAX_POINTS];
static uint32_t npoints;

static void split(const loop_node *n, int64_t position, int64_t *digit) {
    for (uint32_t i = 0; i < n->ndigits; i++)
        digit[i] = position % n->digits[i].extent, position /= n->digits[i].extent;
    digit[n->ndigits] = position;
}

static void fail(world *w, const char *what, const loop_node *loop, int64_t claimed) {
    printf("%s of loop %u: claimed %lld\n", what, (unsigned)loop->var, (long long)claimed);
    w->failures++;
}

static void visit(world *w, facts *f, const loop_body *body, uint32_t loop, point *p);

static void visit_loop(world *w, facts *f, const loop_node *n, uint32_t loop, point *p) {
    int64_t lo = eval(w, &p->vars, n->lo), hi = eval(w, &p->vars, n->hi),
            digits = loop_digits_product(n);
    bool whole = n->rest == LOOP_WHOLE_PLACE;
    int64_t extent;
    broken |= __builtin_sub_overflow(hi, lo, &extent) || extent > 100 || lo < -100 ||
              (whole && extent > digits);
    if (broken) return;
    if (f && hi - lo > facts_cover(f, n)) fail(w, "extent", n, facts_cover(f, n));
    bool exact = whole ? hi - lo == digits : hi <= lo || (hi - lo) % digits == 0;
    if (f && facts_exact(f, n) && !exact) fail(w, "exact", n, 1);
    for (int64_t i = lo; i < hi && !broken; i++) {
        p->vars.var[n->var] = i;
        p->position[loop] = i - lo;
        split(n, i - lo, p->digit[loop]);
        visit(w, f, &n->body, loop + 1, p);
    }
}

static void visit(world *w, facts *f, const loop_body *body, uint32_t loop, point *p) {
    for (uint32_t i = 0; i < body->len && !broken; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_FOR) visit_loop(w, f, n, loop, p);
        else if (n->kind == LOOP_LET) p->vars.var[n->var] = eval(w, &p->vars, n->value);
        else if (n->kind == LOOP_IF && eval(w, &p->vars, n->value) && !broken)
            visit(w, f, &n->body, loop, p);
        else if (n->kind == LOOP_PHASE) {
            broken |= npoints == MAX_POINTS;
            if (!broken) points[npoints++] = *p;
        }
    }
}

// ---- Checks -------------------------------------------------------------------------------------

static int64_t values[MAX_POINTS], others[MAX_POINTS];

static bool evaluate(const world *w, tensor_expr e, int64_t *out) {
    broken = false;
    for (uint32_t i = 0; i < npoints && !broken; i++) out[i] = eval(w, &points[i].vars, e);
    return !broken;
}

static void say(world *w, tensor_expr e, const char *fact, uint32_t loop, uint32_t digit,
                uint32_t at) {
    printf("wrong: expression %u, %s, loop %u digit %d, value %lld at point %u\n", (unsigned)e,
           fact, (unsigned)loop, (int)digit, (long long)values[at], (unsigned)at);
    if (w->failures++) return;
    textbuf out = textbuf_new(w->arena);
    loop_print(&out, w->plan);
    textbuf_puts(&out, "expression: ");
    facts_print_expr(&out, w->op, e);
    printf("%s\n", out.data);
}

static int64_t bound_value(const world *w, const facts_bound *b) {
    int64_t x = b->constant;
    for (uint32_t i = 0; i < b->n; i++) x += b->terms[i].factor * w->size[b->terms[i].space];
    return x;
}

static void check_value(world *w, facts *f, tensor_expr e) {
    facts_range r = facts_interval(f, w->at, e);
    int64_t m = facts_multiple(f, w->at, e);
    w->claims[RANGE] += r.lo.known + r.hi.known;
    w->claims[CONSTANT] += (r.min != INT64_MIN) + (r.max != INT64_MAX);
    w->claims[MULTIPLE] += m != 1;
    for (uint32_t i = 0; i < npoints; i++) {
        if ((r.lo.known && values[i] < bound_value(w, &r.lo)) || values[i] < r.min)
            say(w, e, "least", 0, 0, i);
        if ((r.hi.known && values[i] > bound_value(w, &r.hi)) || values[i] > r.max)
            say(w, e, "most", 0, 0, i);
        if (m ? values[i] % m != 0 : values[i] != 0) say(w, e, "multiple", 0, 0, i);
    }
}

static bool is_base(const point *p, uint32_t loop, uint32_t digit) {
    for (uint32_t i = 0; i <= digit; i++)
        if (p->digit[loop][i]) return false;
    return true;
}

static void check_base(world *w, facts *f, tensor_expr e, uint32_t loop, uint32_t digit) {
    int64_t m = facts_base_multiple(f, w->at, e, w->loops[loop]->var, digit);
    w->claims[BASE] += m != 1;
    for (uint32_t i = 0; i < npoints; i++)
        if (is_base(&points[i], loop, digit) && (m ? values[i] % m != 0 : values[i] != 0))
            say(w, e, "base", loop, digit, i);
}

// Whether all digits but that one are equal.
static bool comparable(const world *w, const point *x, const point *y, uint32_t loop,
                       uint32_t digit) {
    for (uint32_t l = 0; l < w->nloops; l++) {
        if (l == loop && digit == FACTS_POSITION) continue;
        for (uint32_t i = 0; i <= w->loops[l]->ndigits; i++)
            if ((l != loop || i != digit) && x->digit[l][i] != y->digit[l][i]) return false;
    }
    return true;
}

static void check_motion(world *w, facts *f, tensor_expr e, uint32_t loop, uint32_t digit) {
    facts_motion m = facts_along(f, w->at, e, w->loops[loop]->var, digit);
    w->claims[UNIFORM] += m.uniform;
    w->claims[AFFINE] += m.affine && !m.uniform;
    w->claims[SORTED] += m.sorted && !m.affine;
    w->claims[DISTINCT] += m.distinct && !m.affine;
    for (uint32_t i = 0; i < npoints; i++)
        for (uint32_t k = 0; k < npoints; k++) {
            const point *x = &points[i], *y = &points[k];
            bool whole = digit == FACTS_POSITION;
            int64_t d = whole ? y->position[loop] - x->position[loop]
                              : y->digit[loop][digit] - x->digit[loop][digit];
            if (d <= 0 || !comparable(w, x, y, loop, digit)) continue;
            uint64_t rise = (uint64_t)values[k] - (uint64_t)values[i];
            if (m.uniform && rise) say(w, e, "uniform", loop, digit, k);
            if (m.affine && rise != (uint64_t)m.step * (uint64_t)d)
                say(w, e, "affine", loop, digit, k);
            if (m.sorted && values[k] < values[i]) say(w, e, "sorted", loop, digit, k);
            if (m.distinct && !rise) say(w, e, "distinct", loop, digit, k);
        }
}

static void check(world *w, facts *f, tensor_expr e, tensor_expr other) {
    if (evaluate(w, other, others) && evaluate(w, e, values) && facts_less(f, w->at, e, other)) {
        w->claims[LESS]++;
        for (uint32_t i = 0; i < npoints; i++)
            if (values[i] >= others[i]) say(w, e, "less", 0, 0, i);
    }
    if (!evaluate(w, e, values)) return;
    check_value(w, f, e);
    for (uint32_t l = 0; l < w->nloops; l++) {
        for (uint32_t d = 0; d <= w->loops[l]->ndigits; d++) {
            check_base(w, f, e, l, d);
            check_motion(w, f, e, l, d);
        }
        check_motion(w, f, e, l, FACTS_POSITION);
    }
}

static void trial(world *w) {
    point p = {0};
    tensor_op *op = tensor_op_new(w->arena, "chance");
    w->op = op;
    add_spaces(w);
    add_maps(w);
    w->plan = loop_plan_new(w->arena, op);
    w->op = w->plan->op;
    prepare(w);
    add_requires(w);
    add_plan(w);
    npoints = 0;
    broken = false;
    visit(w, NULL, &w->plan->steps.data[0].kernel->body, 0, &p);
    if (broken || npoints == 0) return;
    facts *f = facts_new(w->arena, w->plan);
    npoints = 0;
    visit(w, f, &w->plan->steps.data[0].kernel->body, 0, &p);
    for (int i = 0; i < 40; i++) {
        tensor_expr e = chance(25)   ? tensor_cvt(w->op, TENSOR_TYPE(I64), key_at(w), NO_SPAN)
                        : chance(50) ? number(w, 2)
                                     : tensor_cvt(w->op, TENSOR_TYPE(I64),
                                                  index_of(w, (tensor_space)below(C), 3), NO_SPAN);
        check(w, f, e, number(w, 1));
    }
}

// Shared expressions of 2^60 paths: answers take no longer than there are expressions.
static void deep(void) {
    world w = {.arena = arena_new()};
    tensor_op *op = tensor_op_new(w.arena, "deep");
    tensor_space s = tensor_add_space(op, (tensor_space_info){.name = "E"});
    loop_plan *plan = loop_plan_new(w.arena, op);
    op = plan->op;
    loop_node *loop = loop_node_new(plan, LOOP_FOR, NO_SPAN),
              *test = loop_node_new(plan, LOOP_IF, NO_SPAN),
              *at = loop_node_new(plan, LOOP_PHASE, NO_SPAN);
    loop_kernel *k = ARENA_NEW(w.arena, loop_kernel);
    loop->lo = tensor_int(op, 0);
    loop->hi = tensor_size(op, s, NO_SPAN);
    loop->var = tensor_add_var(op, "e", s);
    tensor_expr x = tensor_cvt(op, TENSOR_TYPE(I64), tensor_var_expr(op, loop->var, NO_SPAN),
                               NO_SPAN),
                c = tensor_bool(op, true);
    for (int i = 0; i < 60; i++) {
        tensor_expr less = tensor_binary(op, TENSOR_LT_OP, x, tensor_int(op, 100 + i), NO_SPAN);
        c = tensor_binary(op, TENSOR_AND_OP, tensor_binary(op, TENSOR_AND_OP, c, less, NO_SPAN), c,
                          NO_SPAN);
        tensor_expr y = tensor_binary(op, TENSOR_MIN_OP, x,
                                      tensor_binary(op, TENSOR_MUL_OP, x, x, NO_SPAN), NO_SPAN);
        x = tensor_select(op, less,
                          tensor_binary(op, TENSOR_QUOT_OP,
                                        tensor_binary(op, TENSOR_ADD_OP, x, y, NO_SPAN),
                                        tensor_int(op, 2), NO_SPAN),
                          y, NO_SPAN);
    }
    test->value = c;
    loop_append(plan, &k->body, loop);
    loop_append(plan, &loop->body, test);
    loop_append(plan, &test->body, at);
    VEC_PUSH(w.arena, &plan->steps, ((loop_step){.kind = LOOP_LAUNCH, .kernel = k}));
    facts *f = facts_new(w.arena, plan);
    facts_interval(f, at, x);
    facts_multiple(f, at, x);
    facts_along(f, at, x, loop->var, FACTS_POSITION);
    arena_free(w.arena);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"range",  "constant", "multiple", "base", "uniform",
                                        "affine", "sorted",   "distinct", "less"};
    static const int64_t enough[] = {20000, 20000, 2000, 2000, 20000, 5000, 2000, 300, 500};
    int64_t claims[COUNTED] = {0};
    int failures = 0, trials = argc > 1 ? atoi(argv[1]) : 3000;
    deep();
    state = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
    for (int i = 0; i < trials && failures < 20; i++) {
        world w = {.arena = arena_new()};
        trial(&w);
        failures += w.failures;
        for (int k = 0; k < COUNTED; k++) claims[k] += w.claims[k];
        arena_free(w.arena);
    }
    for (int k = 0; k < COUNTED; k++) {
        if (claims[k] < enough[k] || argc > 1)
            printf("%s: claimed %lld times\n", names[k], (long long)claims[k]);
        failures += claims[k] < enough[k] && argc == 1;
    }
    return failures != 0;
}
