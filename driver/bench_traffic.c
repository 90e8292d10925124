// What an op must move and compute, counted over its equations. A node is computed, and an array
// read, once for each point of the variables it depends on; keys thin those points out as the maps
// at hand do (exactly where a stage has one key, as if independent where it has several). Filters,
// select, and, or are taken to choose everything.
#include "bench.h"

#include <string.h>

typedef struct {
    const binding *b;
    const tensor_op *op;
    arena *arena;
    const int64_t *sizes;
    double *uses;   // per value: its elements read, counted anew at each use
    double flops;
    // of the stage at hand:
    const tensor_stage *stage;
    double rounds;     // of its loop
    bool **key_vars;   // per key: the variables it is about
    double *share;     // per key: of the pairs of its sides, those that meet
} counting;

// ---- Points -------------------------------------------------------------------------------------

static void mark(const counting *c, tensor_expr e, bool *vars, uint8_t *seen) {
    if (!e || seen[e]) return;
    seen[e] = 1;
    const tensor_node *n = tensor_node_at(c->op, e);
    if (n->op == TENSOR_VAR_OP) vars[n->imm.i] = true;
    for (uint32_t i = 0; i < n->nargs; i++) mark(c, n->args[i], vars, seen);
}

static bool *vars_of(const counting *c, tensor_expr e) {
    bool *vars = ARENA_ARRAY(c->arena, bool, c->op->vars.len + 1);
    mark(c, e, vars, ARENA_ARRAY(c->arena, uint8_t, c->op->exprs.len));
    return vars;
}

static bool holds_all(const counting *c, const bool *vars, const bool *of) {
    for (uint32_t v = 0; v < c->op->vars.len; v++)
        if (of[v] && !vars[v]) return false;
    return true;
}

static double sizes_of(const counting *c, const tensor_var *vars, uint32_t n, const bool *marked) {
    const tensor_stage *s = c->stage;
    // in rounds
    tensor_var step = s->loop == TENSOR_NO_LOOP ? UINT32_MAX : c->op->loops.data[s->loop].step;
    double points = 1;
    for (uint32_t i = 0; i < n; i++)
        if (marked[vars[i]] && vars[i] != step)
            points *= (double)c->sizes[c->op->vars.data[vars[i]].space];
    return points;
}

// Of a stage's points, how many differ in these variables.
static double points_of(const counting *c, const bool *vars) {
    const tensor_stage *s = c->stage;
    double points = c->rounds * sizes_of(c, s->left, s->nleft, vars) *
                    sizes_of(c, s->bound, s->nbound, vars);
    for (uint32_t k = 0; k < s->nkeys; k++)
        if (holds_all(c, vars, c->key_vars[k])) points *= c->share[k];
    return points;
}

static bool *all_vars(const counting *c, bool with_bound) {
    bool *vars = ARENA_ARRAY(c->arena, bool, c->op->vars.len + 1);
    for (uint32_t i = 0; i < c->stage->nleft; i++) vars[c->stage->left[i]] = true;
    for (uint32_t i = 0; with_bound && i < c->stage->nbound; i++) vars[c->stage->bound[i]] = true;
    return vars;
}

// ---- Keys ---------------------------------------------------------------------------------------

// How often one side of a key takes each value; NULL: only running it would tell.
static double *count_values(const counting *c, tensor_expr side, int64_t classes, double *points) {
    const tensor_node *n = tensor_node_at(c->op, side);
    double *count = ARENA_ARRAY(c->arena, double, classes + 1);
    bool is_map = n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i < c->op->nparams;
    const tensor_val_info *info = is_map ? &c->op->vals.data[n->imm.i] : NULL;
    *points = sizes_of(c, c->stage->left, c->stage->nleft, vars_of(c, side)) *
              sizes_of(c, c->stage->bound, c->stage->nbound, vars_of(c, side));
    for (uint32_t i = 0; is_map && i < n->nargs; i++)
        is_map &= tensor_node_at(c->op, n->args[i])->op == TENSOR_VAR_OP;
    if (n->op != TENSOR_VAR_OP && !is_map) return NULL;
    int64_t entries = (int64_t)*points;
    bool identity = n->op == TENSOR_VAR_OP || info->facts & FACT_PREFIX;
    const int64_t *values = identity ? NULL : c->b->arrays[n->imm.i].data;
    for (int64_t i = 0; i < entries; i++) {
        int64_t x = identity ? i : values[i];
        if (x >= 0 && x < classes) count[x]++;
    }
    return count;
}

static double share_of(const counting *c, const tensor_key *key) {
    tensor_space space = tensor_typeof(c->op, key->lhs).space;
    int64_t classes = space == TENSOR_NO_SPACE ? 1 : c->sizes[space];
    double n, m, pairs = 0;
    double *left = count_values(c, key->lhs, classes, &n),
           *right = count_values(c, key->rhs, classes, &m);
    if (!left || !right) return classes > 1 ? 1 / (double)classes : 1;
    for (int64_t i = 0; i < classes; i++) pairs += left[i] * right[i];
    return n > 0 && m > 0 ? pairs / n / m : 0;
}

static void enter_stage(counting *c, const tensor_stage *s) {
    c->stage = s;
    c->rounds = s->loop == TENSOR_NO_LOOP ? 1 : (double)c->sizes[c->op->loops.data[s->loop].space];
    c->key_vars = ARENA_ARRAY(c->arena, bool *, s->nkeys + 1);
    c->share = ARENA_ARRAY(c->arena, double, s->nkeys + 1);
    for (uint32_t k = 0; k < s->nkeys; k++) {
        uint8_t *seen = ARENA_ARRAY(c->arena, uint8_t, c->op->exprs.len);
        c->key_vars[k] = ARENA_ARRAY(c->arena, bool, c->op->vars.len + 1);
        mark(c, s->keys[k].lhs, c->key_vars[k], seen);
        mark(c, s->keys[k].rhs, c->key_vars[k], seen);
        c->share[k] = share_of(c, &s->keys[k]);
    }
}

// ---- Counting -----------------------------------------------------------------------------------

static bool is_flop(const tensor_node *n) {
    uint8_t kind = tensor_op_table((tensor_opcode)n->op)->kind;
    return ir_dtype_is_float(n->type.type) && (kind == TENSOR_ARITH || kind == TENSOR_MATHS);
}

// Classes are found by reading their keys.
static void count_load(counting *c, tensor_val v, double points) {
    const tensor_val_info *info = &c->op->vals.data[v];
    c->uses[v] += points;
    for (uint32_t k = 0; info->role == VAL_CLASSES && k < info->nkeys; k++)
        count_load(c, info->keys[k], points);
}

static void count_nodes(counting *c, tensor_expr e, uint8_t *seen) {
    if (!e || seen[e]) return;
    seen[e] = 1;
    const tensor_node *n = tensor_node_at(c->op, e);
    if (n->op == TENSOR_LOAD_OP) count_load(c, (tensor_val)n->imm.i, points_of(c, vars_of(c, e)));
    if (is_flop(n)) c->flops += points_of(c, vars_of(c, e));
    for (uint32_t i = 0; i < n->nargs; i++) count_nodes(c, n->args[i], seen);
}

static double flops_in(const counting *c, tensor_expr e, uint8_t *seen) {
    if (!e || seen[e]) return 0;
    seen[e] = 1;
    const tensor_node *n = tensor_node_at(c->op, e);
    double flops = is_flop(n);
    for (uint32_t i = 0; i < n->nargs; i++) flops += flops_in(c, n->args[i], seen);
    return flops;
}

static double flops_in_all(const counting *c, const tensor_expr *e, uint32_t n) {
    uint8_t *seen = ARENA_ARRAY(c->arena, uint8_t, c->op->exprs.len);
    double flops = 0;
    for (uint32_t i = 0; i < n; i++) flops += flops_in(c, e[i], seen);
    return flops;
}

// Each term is lifted and combined, each result finished.
static void count_reducer(counting *c) {
    if (c->stage->reducer == TENSOR_NO_REDUCER) return;
    const tensor_reducer *r = &c->op->reducers.data[c->stage->reducer];
    double each = flops_in_all(c, r->lift, r->nstate) + flops_in_all(c, r->combine, r->nstate);
    c->flops += each * points_of(c, all_vars(c, true));
    c->flops += flops_in_all(c, r->finish, r->nresults) * points_of(c, all_vars(c, false));
}

static void count_stage(counting *c, const tensor_stage *s) {
    enter_stage(c, s);
    uint8_t *seen = ARENA_ARRAY(c->arena, uint8_t, c->op->exprs.len);
    for (uint32_t i = 0; i < s->nkeys; i++) {
        count_nodes(c, s->keys[i].lhs, seen);
        count_nodes(c, s->keys[i].rhs, seen);
    }
    for (uint32_t i = 0; i < s->nfilters; i++) count_nodes(c, s->filters[i], seen);
    for (uint32_t i = 0; i < s->nbody; i++) count_nodes(c, s->body[i], seen);
    for (uint32_t i = 0; i < s->nelse; i++) count_nodes(c, s->orelse[i], seen);
    count_reducer(c);
}

// ---- Bytes --------------------------------------------------------------------------------------

static double least(double x, double y) { return x < y ? x : y; }

// Offsets say what a sorted map says, and may be fewer. What is read less than once is not read
// whole.
static void add_bytes(const counting *c, tensor_val v, uint32_t index_bits, bench_traffic *out) {
    const tensor_val_info *info = &c->op->vals.data[v];
    double bytes = info->type == DT_INDEX ? index_bits / 8 : ir_dtype_bytes(info->type),
           elements = 1;
    if (info->role == VAL_SCALAR) return;
    for (uint32_t k = 0; k < info->rank; k++) elements *= (double)c->sizes[info->axes[k]];
    if (out->moved)
        out->moved[v] = (info->role == VAL_RESULT ? elements : least(elements, c->uses[v])) * bytes;
    if (info->role == VAL_RESULT) {
        out->compulsory += elements * bytes;
        out->gathered += (elements + c->uses[v]) * bytes;
        return;
    }
    if (info->facts & FACT_PREFIX) return;
    bool sorted = info->role == VAL_MAP && info->facts & FACT_SORTED &&
                  info->sorted_by == TENSOR_NO_VAL;
    double offsets = sorted ? (double)c->sizes[info->into] + 1 : elements;
    out->compulsory += least(least(elements, offsets), c->uses[v]) * bytes;
    out->gathered += c->uses[v] * bytes;
}

bool bench_traffic_of(const run_op *o, bench_traffic *out) {
    const tensor_op *op = o->op->op;
    arena *scratch = arena_new();
    int64_t *sizes = ARENA_ARRAY(scratch, int64_t, op->spaces.len + 1);
    const char *why = "";
    bool good = tensor_eval_sizes(
        scratch, op, &(tensor_eval_input){.sizes = o->b->sizes, .inputs = o->b->arrays}, sizes,
        &why);
    if (!good) diag(o->r->d->ds, E0822, op->at, "%s: it cannot be evaluated: %s", o->op->name, why);
    counting c = {.b = o->b, .op = op, .arena = scratch, .sizes = sizes};
    c.uses = ARENA_ARRAY(scratch, double, op->vals.len + 1);
    for (uint32_t i = 0; good && i < op->stages.len; i++) count_stage(&c, &op->stages.data[i]);
    *out = (bench_traffic){.flops = c.flops, .moved = out->moved};
    for (tensor_val v = 0; good && v < op->nparams; v++)
        add_bytes(&c, v, o->op->program->index_bits, out);
    arena_free(scratch);
    return good;
}
