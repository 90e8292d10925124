// Which results follow when a row of a space V becomes two that hold the same values, and what is
// mapped to the row is dealt out to the two. Of each expression it is found whether it is the same
// at either new row as at the old one (COPY), or adds up to it over a variable of V (from ADDS on),
// as a sum of what is mapped to a row does; a number of the points of V, a comparison of two of
// them, or a count of them is neither.
#include "metamorphic_internal.h"

// Of an expression ADDS + u adds up over variable u, of a value ADDS + k along axis k. ANY: 0,
// which does both.
enum { ANY = -2, COPY = META_COPY, ADDS = 0, UNKNOWN = META_NOTHING };

typedef struct {
    const tensor_op *op;
    tensor_space space;
    int32_t *val, *expr;
} splitting;

static int32_t join(int32_t x, int32_t y) {
    return x == ANY ? y : y == ANY || x == y ? x : UNKNOWN;
}
static bool copies(int32_t x) { return x == ANY || x == COPY; }
static bool is_row(const splitting *f, tensor_expr e) {
    tensor_type t = tensor_typeof(f->op, e);
    return t.type == DT_INDEX && t.space == f->space;
}

static int32_t all_copy(const splitting *f, const tensor_node *n, uint32_t first) {
    for (uint32_t i = first; i < n->nargs; i++)
        if (!copies(f->expr[n->args[i]])) return UNKNOWN;
    return COPY;
}

static bool counts_rows(const splitting *f, tensor_space s) {
    const tensor_space_info *i = &f->op->spaces.data[s];
    return s == f->space || (i->kind == SPACE_COUNT_OF && !copies(f->val[i->classes]));
}

static bool mentions(const splitting *f, tensor_expr e, tensor_var u, uint32_t *budget) {
    const tensor_node *n = tensor_node_at(f->op, e);
    if (!*budget) return true;
    --*budget;   // nodes are shared, and paths among them may be countless
    if (n->op == TENSOR_VAR_OP) return n->imm.i == u;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (mentions(f, n->args[i], u, budget)) return true;
    return false;
}

static int32_t loaded(const splitting *f, const tensor_node *n) {
    int32_t x = f->val[n->imm.i];
    uint32_t budget = 256;
    if (all_copy(f, n, 0) == UNKNOWN || x == UNKNOWN) return UNKNOWN;
    if (copies(x)) return x;
    const tensor_node *at = tensor_node_at(f->op, n->args[x - ADDS]);
    if (at->op != TENSOR_VAR_OP) return UNKNOWN;
    for (uint32_t i = 0; i < n->nargs; i++)
        if ((int32_t)i != x - ADDS && mentions(f, n->args[i], (tensor_var)at->imm.i, &budget))
            return UNKNOWN;
    return ADDS + (int32_t)at->imm.i;
}

// Of two rows it says whether they are the same one, which the new ones are not.
static int32_t compared(const splitting *f, const tensor_node *n) {
    bool equality = n->op == TENSOR_EQ_OP || n->op == TENSOR_NE_OP;
    if (!is_row(f, n->args[0])) return all_copy(f, n, 0);
    bool none = tensor_node_at(f->op, n->args[0])->op == TENSOR_NONE_OP ||
                tensor_node_at(f->op, n->args[1])->op == TENSOR_NONE_OP;
    return equality && none ? all_copy(f, n, 0) : UNKNOWN;
}

static int32_t converted(const splitting *f, const tensor_node *n) {
    int32_t x = f->expr[n->args[0]];
    bool numbers = tensor_type_is_float(n->type) ||
                   (n->type.type == DT_I64 &&
                    !tensor_type_is_float(tensor_typeof(f->op, n->args[0])));
    if (is_row(f, n->args[0])) return UNKNOWN;
    return copies(x) || numbers ? x : UNKNOWN;
}

static int32_t product(const splitting *f, const tensor_node *n) {
    int32_t x = f->expr[n->args[0]], y = f->expr[n->args[1]];
    bool divides = n->op == TENSOR_DIV_OP;
    if (x == UNKNOWN || y == UNKNOWN) return UNKNOWN;
    if (x == ANY || (y == ANY && !divides)) return divides && !copies(y) ? UNKNOWN : ANY;
    if (copies(y)) return x;
    return copies(x) && !divides ? y : UNKNOWN;
}

static int32_t arithmetic(const splitting *f, const tensor_node *n) {
    int32_t x = f->expr[n->args[0]];
    switch ((tensor_opcode)n->op) {
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP: return join(x, f->expr[n->args[1]]);
    case TENSOR_NEG_OP: return x;
    case TENSOR_MUL_OP:
    case TENSOR_DIV_OP: return product(f, n);
    default: return is_row(f, n->args[0]) ? UNKNOWN : all_copy(f, n, 0);
    }
}

static int32_t constant(const tensor_node *n) {
    return (tensor_type_is_float(n->type) ? n->imm.f == 0 : n->imm.i == 0) ? ANY : COPY;
}

static int32_t state_of(const splitting *f, const tensor_node *n) {
    if (tensor_op_table((tensor_opcode)n->op)->kind == TENSOR_COMPARE) return compared(f, n);
    if (tensor_op_table((tensor_opcode)n->op)->kind == TENSOR_ARITH) return arithmetic(f, n);
    switch ((tensor_opcode)n->op) {
    case TENSOR_CONST_OP: return constant(n);
    case TENSOR_SIZE_OP: return counts_rows(f, (tensor_space)n->imm.i) ? UNKNOWN : COPY;
    case TENSOR_LOAD_OP: return loaded(f, n);
    case TENSOR_INDEX_OP:
        return n->type.space == f->space || is_row(f, n->args[0]) ? UNKNOWN : all_copy(f, n, 0);
    case TENSOR_CVT_OP: return converted(f, n);
    case TENSOR_ROUND_OP:
    case TENSOR_TF32_OP:
    case TENSOR_PARTS_OP:
    case TENSOR_STOP_OP: return f->expr[n->args[0]];
    case TENSOR_SELECT_OP:
        return copies(f->expr[n->args[0]]) ? join(f->expr[n->args[1]], f->expr[n->args[2]])
                                           : UNKNOWN;
    case TENSOR_PREIMAGE_OP:
    case TENSOR_AT_LEAST_OP:
    case TENSOR_CUT_PARTS_OP:
    case TENSOR_SYMMETRIC_OP: return UNKNOWN;
    default: return all_copy(f, n, 0);   // arguments of a reducer are checked where it stands
    }
}

// ---- Stages -------------------------------------------------------------------------------------

typedef struct {
    uint32_t pins;    // keys that ask for a row
    int32_t pinned;   // to the row of this left variable
    uint32_t walks;   // bound variables over rows
    int32_t walked;
    bool same;   // filters, and keys of other spaces
} terms;

static bool is_left(const tensor_stage *s, tensor_var v) {
    for (uint32_t i = 0; i < s->nleft; i++)
        if (s->left[i] == v) return true;
    return false;
}

static terms terms_of(const splitting *f, const tensor_stage *s) {
    terms t = {.same = true, .pinned = UNKNOWN};
    for (uint32_t i = 0; i < s->nkeys; i++) {
        const tensor_node *right = tensor_node_at(f->op, s->keys[i].rhs);
        t.same &= copies(f->expr[s->keys[i].lhs]) && copies(f->expr[s->keys[i].rhs]);
        if (!is_row(f, s->keys[i].lhs)) continue;
        t.pins++;
        if (right->op == TENSOR_VAR_OP && is_left(s, (tensor_var)right->imm.i))
            t.pinned = (int32_t)right->imm.i;
    }
    for (uint32_t i = 0; i < s->nfilters; i++) t.same &= copies(f->expr[s->filters[i]]);
    for (uint32_t i = 0; i < s->nbound; i++)
        if (f->op->vars.data[s->bound[i]].space == f->space)
            t.walks++, t.walked = (int32_t)s->bound[i];
    return t;
}

static bool reducer_copies(const splitting *f, const tensor_reducer *r) {
    bool good = true;
    for (uint32_t i = 0; i < r->nstate; i++)
        good &= copies(f->expr[r->identity[i]]) && copies(f->expr[r->lift[i]]) &&
                copies(f->expr[r->combine[i]]);
    for (uint32_t i = 0; i < r->nresults; i++) good &= copies(f->expr[r->finish[i]]);
    return good;
}

static int32_t reduced(const splitting *f, const tensor_stage *s) {
    const tensor_reducer *r = &f->op->reducers.data[s->reducer];
    terms t = terms_of(f, s);
    int32_t x = ANY, otherwise = ANY;
    for (uint32_t i = 0; i < s->nbody; i++) x = join(x, f->expr[s->body[i]]);
    for (uint32_t i = 0; i < s->nelse; i++) otherwise = join(otherwise, f->expr[s->orelse[i]]);
    bool sum = r->kind == REDUCE_SUM,
         once = r->kind == REDUCE_USER || r->kind == REDUCE_PROD || sum;   // each term counts
    if (!t.same || x == UNKNOWN || !reducer_copies(f, r)) return UNKNOWN;
    if (t.pins + t.walks > 1) return UNKNOWN;
    if (t.pins)
        return sum && copies(x) && t.pinned != UNKNOWN && otherwise == ANY ? ADDS + t.pinned
                                                                           : UNKNOWN;
    if (t.walks && sum && x == ADDS + t.walked) return copies(otherwise) ? COPY : UNKNOWN;
    if (t.walks) return !once && copies(x) && copies(otherwise) ? COPY : UNKNOWN;
    if (copies(x)) return copies(otherwise) ? COPY : UNKNOWN;
    return sum && otherwise == ANY ? x : UNKNOWN;
}

static int32_t stored(const splitting *f, const tensor_target *t, int32_t x) {
    int32_t axis = UNKNOWN;
    uint32_t found = 0;
    for (uint32_t k = 0; k < t->rank; k++) {
        tensor_at at = tensor_target_at(f->op, t->index[k]);
        if (at.kind != TENSOR_AT_VAR && f->op->vals.data[t->val].axes[k] == f->space)
            return UNKNOWN;
        if (at.kind == TENSOR_AT_VAR && (int32_t)at.var == x - ADDS) axis = (int32_t)k, found++;
    }
    return copies(x) || x == UNKNOWN ? x : found == 1 ? ADDS + axis : UNKNOWN;
}

static bool run_stage(splitting *f, const tensor_stage *s) {
    bool moved = false;
    int32_t all = s->reducer == TENSOR_NO_REDUCER ? ANY : reduced(f, s);
    for (uint32_t i = 0; i < s->ntargets; i++) {
        int32_t *to = &f->val[s->targets[i].val],
                x = s->reducer == TENSOR_NO_REDUCER ? f->expr[s->body[i]] : all,
                next = join(*to, stored(f, &s->targets[i], x));
        moved |= next != *to;
        *to = next;
    }
    return moved;
}

static bool number_classes(splitting *f) {
    bool moved = false;
    for (tensor_val v = 0; v < f->op->vals.len; v++) {
        const tensor_val_info *i = &f->op->vals.data[v];
        for (uint32_t k = 0; k < i->nkeys && f->val[v] != UNKNOWN; k++) {
            if (f->op->vals.data[i->keys[k]].into != f->space && copies(f->val[i->keys[k]]))
                continue;
            f->val[v] = UNKNOWN;
            moved = true;
        }
    }
    return moved;
}

// ---- A space ------------------------------------------------------------------------------------

static const char *fixed(const tensor_op *op, tensor_space s) {
    if (op->spaces.data[s].kind != SPACE_FREE) return "its size is not free";
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        bool from = false, into = i->type == DT_INDEX && i->into == s;
        for (uint32_t k = 0; k < i->rank; k++) from |= i->axes[k] == s;
        if ((from || into) && i->facts & FACT_PREFIX)
            return "a prefix ties its points to another's";
        if (from && i->facts & FACT_UNIQUE) return "two rows would be mapped to one point";
        if ((from || into) && i->facts & FACT_SORTED && i->rank != 1)
            return "a map of several axes is sorted";
    }
    for (uint32_t i = 0; i < op->loops.len; i++)
        if (op->loops.data[i].space == s) return "it is the steps of a recurrence";
    for (tensor_expr e = 1; e < op->exprs.len; e++)
        for (tensor_space k = 0; k < op->spaces.len; k++) {
            const tensor_node *n = tensor_node_at(op, e);
            if (n->op == TENSOR_SIZE_OP && n->imm.i == s && op->spaces.data[k].kind == SPACE_EXPR)
                return "another's size may follow from its own";
        }
    return NULL;
}

void meta_split(arena *a, const tensor_op *op, meta_relation *r) {
    r->why_not = fixed(op, r->space);
    if (r->why_not) return;
    arena *scratch = arena_new();
    splitting f = {op, r->space, ARENA_ARRAY(scratch, int32_t, op->vals.len + 1),
                   ARENA_ARRAY(scratch, int32_t, op->exprs.len)};
    for (tensor_val v = 0; v < op->vals.len; v++)
        f.val[v] = op->vals.data[v].role == VAL_RESULT || op->vals.data[v].role == VAL_STAGE ? ANY
                                                                                             : COPY;
    for (bool moved = true; moved;) {
        for (tensor_expr e = 1; e < op->exprs.len; e++)
            f.expr[e] = state_of(&f, tensor_node_at(op, e));
        moved = number_classes(&f);
        for (uint32_t i = 0; i < op->stages.len; i++) moved |= run_stage(&f, &op->stages.data[i]);
    }
    bool known = false;
    r->result = ARENA_ARRAY(a, int32_t, op->nparams + 1);
    for (tensor_val v = 0; v < op->nparams; v++) {
        if (op->vals.data[v].role != VAL_RESULT) continue;
        r->result[v] = f.val[v] == ANY ? COPY : f.val[v];
        known |= r->result[v] != META_NOTHING;
    }
    if (!known) r->why_not = "no result is a sum over its rows";
    arena_free(scratch);
}

// ---- Values -------------------------------------------------------------------------------------

// A row that something is mapped to, by one of the maps; -1: there is none.
static int64_t choose_row(const tensor_op *op, const meta_change *c, uint64_t seed) {
    int64_t row = -1;
    uint64_t seen = 0;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->role != VAL_MAP || i->into != c->relation->space) continue;
        const int64_t *m = c->in.inputs[v].data;
        for (int64_t k = 0; k < meta_points(&c->in.inputs[v]); k++)
            if (m[k] >= 0)
                // reservoir sampling
                row = meta_random(seed, seen) % (seen + 1) ? row : m[k], seen++;
    }
    return row;
}

// The later entries of the row go to the new one, so that sorted maps stay sorted.
static void cut_map(meta_change *c, tensor_val v, uint64_t seed) {
    tensor_array *x = &c->inputs[v];
    int64_t *m = x->data, mine = 0, seen = 0;
    for (int64_t k = 0; k < meta_points(x); k++) mine += m[k] == c->row;
    int64_t kept = mine ? 1 + (int64_t)(meta_random(seed, v) % (uint64_t)mine) : 0;
    if (kept == mine && mine > 1) kept--;
    for (int64_t k = 0; k < meta_points(x); k++)
        if (m[k] > c->row || (m[k] == c->row && seen++ >= kept)) m[k]++;
}

bool meta_cut(arena *a, const tensor_op *op, meta_change *c, const tensor_eval_input *in,
              uint64_t seed, const char **why) {
    tensor_space s = c->relation->space;
    c->row = choose_row(op, c, seed);
    if (c->row < 0) return *why = "nothing is mapped to a row", false;
    int64_t *from = ARENA_ARRAY(a, int64_t, c->sizes[s] + 2);
    for (int64_t i = 0; i <= c->sizes[s]; i++) from[i] = i > c->row ? i - 1 : i;
    c->from[s] = from;
    c->sizes[s]++;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        meta_move(a, op, c, v, &in->inputs[v]);
        if (i->role == VAL_MAP && i->into == s && c->inputs[v].data)
            cut_map(c, v, seed ^ 0x5bd1e995);
    }
    return true;
}
