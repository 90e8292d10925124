// Preconditions on sizes: where one does not hold, sizes that nobody gave are tried near their
// defaults. What depends on the graph itself is left to the plan.
#include "bind.h"

// ---- Expressions over sizes ---------------------------------------------------------------------

static int64_t floor_mod(int64_t x, int64_t y) {
    if (y == 0 || y == -1) return 0;
    int64_t m = x % y;
    return m && (m < 0) != (y < 0) ? m + y : m;
}

static bool compare(tensor_opcode op, int64_t x, int64_t y) {
    if (op == TENSOR_EQ_OP) return x == y;
    if (op == TENSOR_NE_OP) return x != y;
    if (op == TENSOR_LT_OP) return x < y;
    if (op == TENSOR_LE_OP) return x <= y;
    if (op == TENSOR_GT_OP) return x > y;
    if (op == TENSOR_GE_OP) return x >= y;
    ICE("comparison %d", (int)op);
}

// false: overflow, or not an operation on sizes.
static bool arithmetic(tensor_opcode op, int64_t x, int64_t y, int64_t *out) {
    *out = 0;
    if (op == TENSOR_ADD_OP) return !__builtin_add_overflow(x, y, out);
    if (op == TENSOR_SUB_OP) return !__builtin_sub_overflow(x, y, out);
    if (op == TENSOR_MUL_OP) return !__builtin_mul_overflow(x, y, out);
    if (op == TENSOR_NEG_OP) return !__builtin_sub_overflow(0, x, out);
    if (op == TENSOR_MOD_OP) *out = floor_mod(x, y);
    else if (op == TENSOR_QUOT_OP && y == -1) return !__builtin_sub_overflow(0, x, out);
    else if (op == TENSOR_QUOT_OP) *out = y ? (x - floor_mod(x, y)) / y : 0;
    else if (op == TENSOR_MIN_OP) *out = x < y ? x : y;
    else if (op == TENSOR_MAX_OP) *out = x > y ? x : y;
    else return false;
    return true;
}

static bool leaf(const binding *b, const tensor_node *n, int64_t *out) {
    if (n->op == TENSOR_CONST_OP) *out = n->imm.i;
    else if (n->op == TENSOR_SIZE_OP) *out = b->sizes[n->imm.i];
    else return false;
    return true;
}

bool bind_expression(const binding *b, tensor_expr e, int64_t *out) {
    const tensor_node *n = tensor_node_at(b->op, e);
    const tensor_op_info *info = tensor_op_table((tensor_opcode)n->op);
    int64_t x = 0, y = 0;
    if (n->nargs == 0) return leaf(b, n, out);
    bool first = bind_expression(b, n->args[0], &x);
    if (n->op == TENSOR_AND_OP || n->op == TENSOR_OR_OP) {   // one side may tell
        bool decides = n->op == TENSOR_OR_OP, second = bind_expression(b, n->args[1], &y);
        *out = (first && (x != 0) == decides) || (second && (y != 0) == decides) ? decides
                                                                                 : !decides;
        return (first && second) || *out == decides;
    }
    if (!first || (n->nargs > 1 && !bind_expression(b, n->args[1], &y))) return false;
    if (n->op == TENSOR_NOT_OP) *out = !x;
    else if (n->op == TENSOR_CVT_OP || n->op == TENSOR_STOP_OP) *out = x;
    else if (info->kind == TENSOR_COMPARE) *out = compare((tensor_opcode)n->op, x, y);
    else return arithmetic((tensor_opcode)n->op, x, y, out);
    return true;
}

// ---- Search -------------------------------------------------------------------------------------

static bool refresh(binding *b) {
    for (tensor_space s = 0; s < b->op->spaces.len; s++)
        if (b->op->spaces.data[s].kind == SPACE_EXPR &&
            (!bind_expression(b, b->op->spaces.data[s].expr, &b->sizes[s]) || b->sizes[s] < 0))
            return false;
    return true;
}

// The first precondition of sizes that fails; UINT32_MAX: none.
static uint32_t first_failing(const binding *b) {
    for (uint32_t i = 0; i < b->op->required.len; i++) {
        int64_t holds;
        if (bind_expression(b, b->op->required.data[i].holds, &holds) && !holds) return i;
    }
    return UINT32_MAX;
}

static bool maps_fit(const binding *b) {
    for (tensor_val v = 0; v < b->op->nparams; v++) {
        const tensor_val_info *info = &b->op->vals.data[v];
        int64_t points;
        if (info->role != VAL_MAP || !(info->facts & (FACT_UNIQUE | FACT_PREFIX))) continue;
        if (!bind_points(b, info, &points) || points > b->sizes[info->into]) return false;
    }
    return true;
}

static bool helps(binding *b, uint32_t failing) {
    return refresh(b) && maps_fit(b) && first_failing(b) > failing;
}

// Tries sizes for one space, from its default up and then from 0; keeps the first that meets more.
static bool try_space(binding *b, tensor_space s, uint32_t failing) {
    enum { FARTHEST = 256 };
    int64_t was = b->sizes[s];
    for (int64_t k = 1; k <= FARTHEST + was; k++) {
        b->sizes[s] = k <= FARTHEST ? was + k : k - FARTHEST - 1;
        if (helps(b, failing)) return true;
    }
    b->sizes[s] = was;
    refresh(b);
    return false;
}

static bool try_pair(binding *b, tensor_space s, tensor_space t, uint32_t failing) {
    enum { FARTHEST = 64 };
    int64_t was[2] = {b->sizes[s], b->sizes[t]};
    for (int64_t k = 0; k < FARTHEST * FARTHEST; k++) {
        b->sizes[s] = 1 + k / FARTHEST;
        b->sizes[t] = 1 + k % FARTHEST;
        if (helps(b, failing)) return true;
    }
    b->sizes[s] = was[0];
    b->sizes[t] = was[1];
    refresh(b);
    return false;
}

static bool improve(binding *b, uint32_t failing) {
    uint32_t n = b->op->spaces.len;
    for (tensor_space s = 0; s < n; s++)
        if (b->spaces[s].is_default && try_space(b, s, failing)) return true;
    for (tensor_space s = 0; s < n; s++)
        for (tensor_space t = s + 1; t < n; t++)
            if (b->spaces[s].is_default && b->spaces[t].is_default && try_pair(b, s, t, failing))
                return true;
    return false;
}

bool bind_requires(binding *b) {
    for (uint32_t failing; (failing = first_failing(b)) != UINT32_MAX;) {
        if (improve(b, failing)) continue;
        const tensor_require *r = &b->op->required.data[failing];
        diag_help(diag(b->d->ds, E0820, r->at, "%s: '%s' does not hold for these sizes",
                       b->op->name, r->text),
                  "give sizes that meet it with -D");
        return false;
    }
    return true;
}
