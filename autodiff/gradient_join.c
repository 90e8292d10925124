// An adjoint that adds sums by keys of one table is one sum, whose entries are walked once. What
// only some entries add is chosen at each.
//     dx[n] = (sum {m:M : face[m, 0] == n} a[m]) - (sum {m:M : face[m, 1] == n} b[m])
//  →  dx[n] = sum {m:M, k:_3 : face[m, k] == n} (k == 0 ? a[m] : 0) + (k == 1 ? -b[m] : 0)
#include "gradient_internal.h"

enum {
    NARROW = 16,      // numbers of a row, whose terms may be evaluated at columns that have none
    MOST_TERMS = 16   // that are added
};

typedef struct {
    tensor_expr load;
    uint32_t stage;   // the sum that it reads
    bool negative;
} term;

typedef struct {
    gradient *g;
    uint32_t reader, n;
    term terms[MOST_TERMS];
} terms;

static const tensor_stage *stage_at(const gradient *g, uint32_t i) {
    return &g->op->stages.data[i];
}

static const tensor_stage *stage_of(const terms *t, uint32_t i) {
    return stage_at(t->g, t->terms[i].stage);
}

static const tensor_node *node_at(const gradient *g, tensor_expr e) {
    return tensor_node_at(g->op, e);
}

static bool is_var(const gradient *g, tensor_expr e, tensor_var v) {
    const tensor_node *n = node_at(g, e);
    return n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == v;
}

// ---- Terms --------------------------------------------------------------------------------------
static bool at_own_point(const gradient *g, const tensor_stage *st, const tensor_expr *index,
                         uint32_t n) {
    bool own = n == st->nleft;
    for (uint32_t i = 0; i < n && own; i++) own = is_var(g, index[i], st->left[i]);
    return own;
}

static bool is_plain(const gradient *g, const tensor_stage *st) {
    return st->loop == TENSOR_NO_LOOP && st->ntargets == 1 && st->nbody == 1 && !st->nelse &&
           at_own_point(g, st, st->targets[0].index, st->targets[0].rank);
}

static bool is_keyed_sum(const gradient *g, const tensor_stage *st) {
    return is_plain(g, st) && st->reducer != TENSOR_NO_REDUCER && st->nkeys == 1 && !st->nfilters &&
           g->op->reducers.data[st->reducer].kind == REDUCE_SUM;
}

static bool read_by(const gradient *g, const tensor_stage *st, tensor_val v) {
    const tensor_load_list *loads = tensor_loads_of(g->op, st);
    bool does = false;
    for (uint32_t i = 0; i < loads->n && !does; i++)
        does = (tensor_val)node_at(g, loads->at[i])->imm.i == v;
    return does;
}

// The stage that makes it, of the gradient alone, for one reader; UINT32_MAX: there is none such.
static uint32_t made_for_one(const gradient *g, tensor_val v) {
    uint32_t writer = UINT32_MAX, writers = 0, readers = 0;
    for (uint32_t i = 0; i < g->op->stages.len; i++) {
        const tensor_stage *st = stage_at(g, i);
        for (uint32_t t = 0; t < st->ntargets; t++)
            if (st->targets[t].val == v) writer = i, writers++;
        readers += read_by(g, st, v);
    }
    return v >= g->nvals && writers == 1 && readers == 1 ? writer : UINT32_MAX;
}

static void add_load(terms *t, tensor_expr e, bool negative) {
    const gradient *g = t->g;
    const tensor_node *n = node_at(g, e);
    if (n->op != TENSOR_LOAD_OP || t->n == MOST_TERMS ||
        !at_own_point(g, stage_at(g, t->reader), n->args, n->nargs))
        return;
    const uint32_t writer = made_for_one(g, (tensor_val)n->imm.i);
    if (writer != UINT32_MAX && is_keyed_sum(g, stage_at(g, writer)))
        t->terms[t->n++] = (term){e, writer, negative};
}

static void add_terms(terms *t, tensor_expr e, bool negative) {
    const tensor_node n = *node_at(t->g, e);
    if (n.op == TENSOR_ADD_OP) {
        add_terms(t, n.args[0], negative);
        add_terms(t, n.args[1], negative);
    } else if (n.op == TENSOR_NEG_OP) {
        add_terms(t, n.args[0], !negative);
    } else {
        add_load(t, e, negative);
    }
}

// A sum that is added twice is left alone.
static void leave_out(terms *t) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t same = 0;
        for (uint32_t k = 0; k < t->n; k++) same += t->terms[k].load == t->terms[i].load;
        if (same == 1) t->terms[n++] = t->terms[i];
    }
    t->n = n;
}

static terms terms_of(gradient *g, uint32_t reader) {
    terms t = {.g = g, .reader = reader};
    const tensor_stage *st = stage_at(g, reader);
    if (!is_plain(g, st) || st->reducer != TENSOR_NO_REDUCER || st->targets[0].val < g->nvals)
        return t;
    add_terms(&t, st->body[0], false);
    leave_out(&t);
    return t;
}

// ---- Entries of a table -------------------------------------------------------------------------
// face[m, k + 1]: at each axis an index that is reduced, a number further, or a number.
typedef struct {
    tensor_var var;   // UINT32_MAX: none
    int64_t number;
} column;

static column column_of(const gradient *g, tensor_expr e) {
    const tensor_node *n = node_at(g, e);
    column c = {UINT32_MAX, 0};
    if (n->op == TENSOR_INDEX_OP) n = node_at(g, n->args[0]);
    if (n->op == TENSOR_ADD_OP && node_at(g, n->args[1])->op == TENSOR_CONST_OP) {
        c.number = node_at(g, n->args[1])->imm.i;
        n = node_at(g, n->args[0]);
    }
    if (n->op == TENSOR_CVT_OP) n = node_at(g, n->args[0]);
    if (n->op == TENSOR_VAR_OP) c.var = (tensor_var)n->imm.i;
    else if (n->op == TENSOR_CONST_OP) c.number = n->imm.i;
    else c.number = -1;
    return c;
}

static bool has_size(const gradient *g, tensor_space s) {
    return g->op->spaces.data[s].kind == SPACE_CONST && g->op->spaces.data[s].size > 0;
}

static bool is_bound(const tensor_stage *st, tensor_var v) {
    bool bound = false;
    for (uint32_t i = 0; i < st->nbound; i++) bound |= st->bound[i] == v;
    return bound;
}

// Each index that is reduced stands at one axis, and has a size where it is not that of the axis.
static const tensor_node *table_of(const gradient *g, const tensor_stage *st) {
    const tensor_node *n = node_at(g, st->keys[0].lhs);
    if (n->op != TENSOR_LOAD_OP || g->op->vals.data[n->imm.i].role != VAL_MAP) return NULL;
    uint32_t found = 0;
    for (uint32_t i = 0; i < n->nargs; i++) {
        const column c = column_of(g, n->args[i]);
        const bool bound = c.var != UINT32_MAX;
        for (uint32_t k = 0; k < i; k++)
            if (bound && column_of(g, n->args[k]).var == c.var) return NULL;
        if (c.number < 0 || (bound && !is_bound(st, c.var))) return NULL;
        const tensor_space axis = g->op->vals.data[n->imm.i].axes[i];
        const bool whole = bound && g->op->vars.data[c.var].space == axis && !c.number;
        if (!whole && bound && !has_size(g, g->op->vars.data[c.var].space)) return NULL;
        found += bound;
    }
    return found == st->nbound ? n : NULL;
}

static bool is_narrow(const gradient *g, const tensor_stage *st) {
    int64_t numbers = 1;
    for (uint32_t i = 1; i < st->nleft; i++) {
        const tensor_space_info *s = &g->op->spaces.data[g->op->vars.data[st->left[i]].space];
        if (s->kind != SPACE_CONST || s->size > NARROW) return false;
        numbers *= s->size;
    }
    return numbers <= NARROW;
}

static bool same_points(const gradient *g, const tensor_stage *a, const tensor_stage *b) {
    bool same = a->nleft == b->nleft && a->reducer == b->reducer;
    for (uint32_t i = 0; i < a->nleft && same; i++)
        same = g->op->vars.data[a->left[i]].space == g->op->vars.data[b->left[i]].space &&
               is_var(g, a->keys[0].rhs, a->left[i]) == is_var(g, b->keys[0].rhs, b->left[i]);
    return same;
}

static bool same_column(const gradient *g, const column *c, const column *d) {
    if (c->number != d->number || (c->var == UINT32_MAX) != (d->var == UINT32_MAX)) return false;
    return c->var == UINT32_MAX || g->op->vars.data[c->var].space == g->op->vars.data[d->var].space;
}

// Rows of two sums are found by one table.
typedef enum { OTHER_TABLE, ONE_TABLE, SAME_COLUMNS } sharing;

static sharing share_table(const gradient *g, const tensor_stage *a, const tensor_stage *b) {
    const tensor_node *x = table_of(g, a), *y = table_of(g, b);
    sharing how = SAME_COLUMNS;
    if (!x || !y || x->imm.i != y->imm.i || !same_points(g, a, b)) return OTHER_TABLE;
    for (uint32_t i = 0; i < x->nargs; i++) {
        const column c = column_of(g, x->args[i]), d = column_of(g, y->args[i]);
        if (!same_column(g, &c, &d)) how = ONE_TABLE;
    }
    return how;
}

// ---- One sum ------------------------------------------------------------------------------------
typedef struct {
    terms *t;
    uint32_t n;
    uint32_t of[MOST_TERMS];   // of the terms
    bool alike;                // all have the same columns
    tensor_stage sum;          // in the making
    tensor_expr *at;           // per axis of the table
} joining;

static void begin_sum(joining *j) {
    gradient *g = j->t->g;
    const tensor_stage *first = stage_of(j->t, j->of[0]);
    const tensor_node key = *table_of(g, first);
    tensor_var *bound = ARENA_ARRAY(g->arena, tensor_var, key.nargs + 1);
    tensor_key *k = ARENA_NEW(g->arena, tensor_key);
    j->sum = *first;
    if (j->alike) return;
    j->sum.nbound = 0;
    j->at = ARENA_ARRAY(g->arena, tensor_expr, key.nargs + 1);
    for (uint32_t i = 0; i < key.nargs; i++) {
        const column c = column_of(g, key.args[i]);
        const tensor_space axis = g->op->vals.data[key.imm.i].axes[i];
        const tensor_var v = c.var != UINT32_MAX && g->op->vars.data[c.var].space == axis
                                 ? c.var
                                 : tensor_add_var(g->op, arena_printf(g->arena, "column.%u", i),
                                                  axis);
        bound[j->sum.nbound++] = v;
        j->at[i] = tensor_var_expr(g->op, v, NO_SPAN);
    }
    *k = (tensor_key){tensor_load(g->op, (tensor_val)key.imm.i, j->at, key.nargs, key.at),
                      first->keys[0].rhs};
    j->sum.bound = bound;
    j->sum.keys = k;
}

static tensor_expr compared(gradient *g, tensor_opcode o, tensor_expr x, int64_t y) {
    return tensor_binary(g->op, o, x, tensor_int(g->op, y), NO_SPAN);
}

// What the index of a sum is at an entry, and where it is one of its; elsewhere it is any.
static tensor_expr index_at(gradient *g, const column *c, tensor_expr at, tensor_space axis,
                            tensor_expr *holds) {
    const tensor_space space = g->op->vars.data[c->var].space;
    if (space == axis && !c->number) return at;
    const tensor_expr x = tensor_cvt(g->op, TENSOR_TYPE(I64), at, NO_SPAN);
    tensor_expr here = compared(g, TENSOR_GE_OP, x, c->number);
    const int64_t end = c->number + g->op->spaces.data[space].size;
    if (!has_size(g, axis) || end < g->op->spaces.data[axis].size)
        here = gradient_both(g->op, here, compared(g, TENSOR_LT_OP, x, end));
    *holds = gradient_both(g->op, *holds, here);
    const tensor_expr own = tensor_select(g->op, here, compared(g, TENSOR_SUB_OP, x, c->number),
                                          tensor_int(g->op, 0), NO_SPAN);
    return tensor_index(g->op, space, own, NO_SPAN);
}

static tensor_expr term_at(const joining *j, uint32_t i) {
    gradient *g = j->t->g;
    const tensor_stage st = *stage_of(j->t, j->of[i]);
    const tensor_node key = *table_of(g, &st);
    tensor_expr *as = ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len + 1), holds = 0;
    for (uint32_t k = 0; k < st.nleft; k++)
        as[st.left[k]] = tensor_var_expr(g->op, j->sum.left[k], NO_SPAN);
    for (uint32_t k = 0; k < key.nargs; k++) {
        const column c = column_of(g, key.args[k]);
        const tensor_space axis = g->op->vals.data[key.imm.i].axes[k];
        if (j->alike && c.var != UINT32_MAX) {
            const column own = column_of(g, node_at(g, j->sum.keys[0].lhs)->args[k]);
            as[c.var] = tensor_var_expr(g->op, own.var, NO_SPAN);
        } else if (j->alike) {
            continue;
        } else if (c.var != UINT32_MAX) {
            as[c.var] = index_at(g, &c, j->at[k], axis, &holds);
        } else {
            const tensor_expr x = tensor_cvt(g->op, TENSOR_TYPE(I64), j->at[k], NO_SPAN);
            holds = gradient_both(g->op, holds, compared(g, TENSOR_EQ_OP, x, c.number));
        }
    }
    tensor_expr e = gradient_replace(g, st.body[0], as);
    if (j->t->terms[j->of[i]].negative) e = tensor_unary(g->op, TENSOR_NEG_OP, e, NO_SPAN);
    return gradient_under(g->op, holds, e);
}

// What the reader adds besides them; 0: nothing.
static tensor_expr rest_of(const joining *j, tensor_expr e) {
    tensor_op *op = j->t->g->op;
    const tensor_node n = *tensor_node_at(op, e);
    for (uint32_t i = 0; i < j->n; i++)
        if (j->t->terms[j->of[i]].load == e) return 0;
    if (n.op != TENSOR_ADD_OP && n.op != TENSOR_NEG_OP) return e;
    const tensor_expr x = rest_of(j, n.args[0]);
    if (n.op == TENSOR_NEG_OP) return x ? tensor_unary(op, TENSOR_NEG_OP, x, n.at) : 0;
    const tensor_expr y = rest_of(j, n.args[1]);
    return x && y ? tensor_binary(op, TENSOR_ADD_OP, x, y, n.at) : x ? x : y;
}

// A reader that adds nothing else is the sum itself.
static bool becomes_sum(const gradient *g, const tensor_stage *reader, const tensor_stage *sum) {
    return g->op->vals.data[reader->targets[0].val].type ==
           g->op->vals.data[sum->targets[0].val].type;
}

static void take_target(gradient *g, tensor_stage *sum, const tensor_stage *reader) {
    tensor_expr *index = ARENA_ARRAY(g->arena, tensor_expr, sum->nleft + 1);
    tensor_target *to = ARENA_NEW(g->arena, tensor_target);
    for (uint32_t i = 0; i < sum->nleft; i++)
        index[i] = tensor_var_expr(g->op, sum->left[i], NO_SPAN);
    *to = (tensor_target){reader->targets[0].val, sum->nleft, index};
    sum->targets = to;
    sum->name = reader->name;
    sum->id = reader->id;
}

static void forget(gradient *g, uint32_t stage) {
    tensor_stage *all = g->op->stages.data;
    for (uint32_t i = stage; i + 1 < g->op->stages.len; i++) all[i] = all[i + 1];
    g->op->stages.len--;
}

static void join(joining *j) {
    gradient *g = j->t->g;
    tensor_stage reader = *stage_at(g, j->t->reader);
    tensor_expr *body = ARENA_ARRAY(g->arena, tensor_expr, 1),
                *all = ARENA_ARRAY(g->arena, tensor_expr, 1);
    uint32_t last = 0;
    begin_sum(j);
    for (uint32_t i = 0; i < j->n; i++) {
        const uint32_t at = j->t->terms[j->of[i]].stage;
        const tensor_expr one = term_at(j, i);
        *body = *body ? tensor_binary(g->op, TENSOR_ADD_OP, *body, one, NO_SPAN) : one;
        last = at > last ? at : last;
    }
    j->sum.body = body;
    const tensor_expr rest = rest_of(j, reader.body[0]), load = j->t->terms[j->of[0]].load;
    const bool own = !rest && becomes_sum(g, &reader, &j->sum);
    *all = gradient_add(g->op, rest, load);
    reader.body = all;
    if (own) take_target(g, &j->sum, &reader);
    g->op->stages.data[j->t->reader] = own ? j->sum : reader;
    g->op->stages.data[last] = j->sum;
    for (uint32_t i = g->op->stages.len; i-- > 0;) {
        bool gone = own && i == last;
        for (uint32_t k = 0; k < j->n; k++) gone |= i != last && j->t->terms[j->of[k]].stage == i;
        if (gone) forget(g, i);
    }
}

// Entries of a row of the table at single numbers, each of which is evaluated for all sums: few
// more than there are sums, and of few numbers.
static bool are_worth(const joining *j) {
    const gradient *g = j->t->g;
    const tensor_stage *st = stage_of(j->t, j->of[0]);
    const tensor_node *key = table_of(g, st);
    int64_t entries = 1;
    for (uint32_t i = 0; i < key->nargs; i++) {
        const tensor_space_info *s = &g->op->spaces.data[g->op->vals.data[key->imm.i].axes[i]];
        bool single = false;
        for (uint32_t k = 0; k < j->n; k++) {
            const tensor_node *other = table_of(g, stage_of(j->t, j->of[k]));
            single |= column_of(g, other->args[i]).var == UINT32_MAX;
        }
        if (single && (s->kind != SPACE_CONST || !is_narrow(g, st))) return false;
        if (single && entries <= 2 * MOST_TERMS) entries *= s->size;
    }
    return entries <= 2 * j->n;
}

// What else the reader adds may read one of them, too, as a factor has it.
static bool are_read_once(const joining *j) {
    const gradient *g = j->t->g;
    const tensor_expr rest = rest_of(j, stage_at(g, j->t->reader)->body[0]);
    bool once = true;
    for (uint32_t i = 0; i < j->n && rest; i++)
        once &= !tensor_loads(g->op, rest,
                              (tensor_val)node_at(g, j->t->terms[j->of[i]].load)->imm.i);
    return once;
}

static bool join_some(gradient *g, uint32_t reader, bool alike) {
    terms t = terms_of(g, reader);
    for (uint32_t i = 0; i < t.n; i++) {
        joining j = {.t = &t, .alike = alike};
        for (uint32_t k = i; k < t.n; k++)
            if (share_table(g, stage_of(&t, i), stage_of(&t, k)) >=
                (alike ? SAME_COLUMNS : ONE_TABLE))
                j.of[j.n++] = k;
        if (j.n < 2 || (!alike && !are_worth(&j)) || !are_read_once(&j)) continue;
        join(&j);
        return true;
    }
    return false;
}

void gradient_join_sums(gradient *g) {
    for (uint32_t i = 0; i < g->op->stages.len; i++)   // again where stages moved
        if (join_some(g, i, true) || join_some(g, i, false)) i = UINT32_MAX;
}
