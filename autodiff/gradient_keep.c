// The op of a gradient: its parameters, and of all stages those that its results need, in the order
// they were made.
#include "gradient_internal.h"

#include <string.h>

typedef struct {
    gradient *g;
    tensor_op *to;
    bool *needed;     // per value
    bool more;        // some became so
    bool *given;      // per value: the caller hands it over, nothing computes it
    bool *one;        // per value: the sum of a softmax whose maximum makes up for it
    bool *low;        // per value: of a result of 32 bits, which a stage has whole
    tensor_val *as;   // per value: where it went
    gradient_rewriting rewriting;
    uint32_t *reducer;   // per reducer: where it went
} moving;

// ---- What is needed -----------------------------------------------------------------------------
static void need_value(moving *m, tensor_val v) {
    m->more |= !m->needed[v];
    m->needed[v] = true;
}

static void need(moving *m, tensor_expr e, bool *seen) {
    const tensor_node *n = tensor_node_at(m->g->op, e);
    if (seen[e]) return;
    seen[e] = true;
    if (n->op == TENSOR_LOAD_OP) need_value(m, (tensor_val)n->imm.i);
    for (uint32_t i = 0; i < n->nargs; i++) need(m, n->args[i], seen);
}

static void need_stage(moving *m, const tensor_stage *s, bool *seen) {
    for (uint32_t t = 0; t < s->ntargets; t++) {
        need_value(m, s->targets[t].val);   // one stage writes them all
        for (uint32_t i = 0; i < s->targets[t].rank; i++) need(m, s->targets[t].index[i], seen);
    }
    for (uint32_t i = 0; i < s->nbody; i++) need(m, s->body[i], seen);
    for (uint32_t i = 0; i < s->nfilters; i++) need(m, s->filters[i], seen);
    for (uint32_t i = 0; i < s->nelse; i++) need(m, s->orelse[i], seen);
    for (uint32_t i = 0; i < s->nkeys; i++)
        need(m, s->keys[i].lhs, seen), need(m, s->keys[i].rhs, seen);
}

static bool writes_needed(const moving *m, const tensor_stage *s) {
    bool needed = false;
    for (uint32_t t = 0; t < s->ntargets; t++)
        needed |= m->needed[s->targets[t].val] && !m->given[s->targets[t].val];
    return needed;
}

static void need_classes(moving *m) {
    const tensor_op *op = m->g->op;
    for (tensor_val v = 0; v < op->vals.len; v++) {
        if (op->vals.data[v].role != VAL_CLASSES) continue;
        m->needed[v] = true;
        for (uint32_t k = 0; k < op->vals.data[v].nkeys; k++)
            m->needed[op->vals.data[v].keys[k]] = true;
    }
}

static void find_needed(moving *m) {
    const tensor_op *op = m->g->op;
    bool *seen = ARENA_ARRAY(m->g->arena, bool, op->exprs.len);
    need_classes(m);
    do {   // of loops, a stage may read what a later one wrote
        m->more = false;
        for (uint32_t i = op->stages.len; i-- > 0;)
            if (writes_needed(m, &op->stages.data[i])) need_stage(m, &op->stages.data[i], seen);
    } while (m->more);
}

// ---- Moving -------------------------------------------------------------------------------------
// What is stored in i32 of an integer: its low 32 bits.
static tensor_expr low_bits(tensor_op *op, tensor_expr x) {
    const int64_t all = INT64_C(1) << 32;
    tensor_expr low = tensor_binary(op, TENSOR_MOD_OP, x, tensor_int(op, all), NO_SPAN),
                negative = tensor_binary(op, TENSOR_GE_OP, low, tensor_int(op, all / 2), NO_SPAN);
    return tensor_select(op, negative,
                         tensor_binary(op, TENSOR_SUB_OP, low, tensor_int(op, all), NO_SPAN), low,
                         NO_SPAN);
}

static tensor_expr put_value(gradient_rewriting *r, const tensor_node *of) {
    const moving *m = r->user;
    tensor_node n = *of;
    bool of_value = n.op == TENSOR_LOAD_OP || n.op == TENSOR_PREIMAGE_OP ||
                    n.op == TENSOR_AT_LEAST_OP || n.op == TENSOR_CUT_PARTS_OP ||
                    n.op == TENSOR_SYMMETRIC_OP;
    if (!of_value) return 0;
    if (n.op == TENSOR_LOAD_OP && m->one[n.imm.i]) return tensor_float(m->to, n.type.type, 1);
    bool low = n.op == TENSOR_LOAD_OP && m->low[n.imm.i];
    n.imm.i = (int64_t)m->as[n.imm.i];
    if (n.op == TENSOR_SYMMETRIC_OP) n.imm2 = (int64_t)m->as[n.imm2];
    tensor_expr moved = tensor_node_new(m->to, n);
    return low ? low_bits(m->to, moved) : moved;
}

static void move_value(moving *m, tensor_val v, tensor_role role) {
    tensor_val_info i = m->g->op->vals.data[v];
    if (i.role == VAL_RESULT && role == VAL_STAGE) {   // what the op gave is computed on the way
        m->low[v] = i.type == DT_I32;
        i.type = tensor_type_of_storage(i.type, i.into).type;
        i.facts &= FACT_PARTIAL;
        i.align = 0;
    }
    i.role = role;
    if (role != VAL_RESULT) i.inplace = TENSOR_NO_VAL;
    m->as[v] = tensor_add_val(m->to, i);
}

// In the buffer that a forward launch leaves for a backward one: packed, each part aligned.
static void move_saved(moving *m, const gradient_saved *x, tensor_role role) {
    enum { SAVED_ALIGN = 16 };
    move_value(m, x->val, role);
    tensor_val_info *i = &m->to->vals.data[m->as[x->val]];
    i->name = gradient_saved_name(m->g->arena, m->g->op, x);
    i->type = x->type;
    i->facts = FACT_SAVED | FACT_PACKED;
    i->align = SAVED_ALIGN;
}

static void move_facts(moving *m) {
    for (tensor_val v = 0; v < m->g->op->vals.len; v++) {
        tensor_val_info *i = m->as[v] == TENSOR_NO_VAL ? NULL : &m->to->vals.data[m->as[v]];
        if (!i) continue;
        if (i->sorted_by != TENSOR_NO_VAL) i->sorted_by = m->as[i->sorted_by];
        if (i->inplace != TENSOR_NO_VAL) i->inplace = m->as[i->inplace];
        tensor_val *keys = ARENA_ARRAY(m->g->arena, tensor_val, i->nkeys + 1);
        for (uint32_t k = 0; k < i->nkeys; k++) keys[k] = m->as[i->keys[k]];
        i->keys = keys;
    }
}

static bool uses(const moving *m, uint32_t reducer) {
    bool used = false;
    for (uint32_t i = 0; i < m->g->op->stages.len; i++)
        used |= m->g->op->stages.data[i].reducer == reducer &&
                writes_needed(m, &m->g->op->stages.data[i]);
    return used;
}

static void move_reducers(moving *m) {
    m->reducer = ARENA_ARRAY(m->g->arena, uint32_t, m->g->op->reducers.len + 1);
    for (uint32_t k = 0; k < m->g->op->reducers.len; k++) {
        tensor_reducer r = m->g->op->reducers.data[k];
        if (!uses(m, k)) continue;
        m->reducer[k] = m->to->reducers.len;
        r.identity = gradient_rewrite_all(&m->rewriting, r.identity, r.nstate);
        r.lift = gradient_rewrite_all(&m->rewriting, r.lift, r.nstate);
        r.combine = gradient_rewrite_all(&m->rewriting, r.combine, r.nstate);
        r.finish = gradient_rewrite_all(&m->rewriting, r.finish, r.nresults);
        if (r.grad) r.grad = gradient_rewrite_all(&m->rewriting, r.grad, r.nargs);
        VEC_PUSH(m->to->arena, &m->to->reducers, r);
    }
}

static void move_stage(moving *m, tensor_stage s) {
    tensor_stage made = gradient_rewrite_stage(&m->rewriting, s);
    tensor_target *targets = ARENA_ARRAY(m->g->arena, tensor_target, s.ntargets);
    for (uint32_t t = 0; t < s.ntargets; t++) {
        targets[t] = made.targets[t];
        targets[t].val = m->as[targets[t].val];
    }
    made.targets = targets;
    if (s.reducer != TENSOR_NO_REDUCER) made.reducer = m->reducer[s.reducer];
    tensor_add_stage(m->to, made);
}

static void move_values(moving *m, const gradient_kept *k) {
    const tensor_op *op = m->g->op;
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role != VAL_RESULT) move_value(m, v, op->vals.data[v].role);
    for (uint32_t i = 0; i < k->ngiven; i++) move_value(m, k->given[i], VAL_TENSOR);
    for (uint32_t i = 0; i < k->nsaved && !k->saves; i++) move_saved(m, &k->saved[i], VAL_TENSOR);
    for (uint32_t i = 0; i < k->nresults; i++) move_value(m, k->results[i], VAL_RESULT);
    for (uint32_t i = 0; i < k->nsaved && k->saves; i++) move_saved(m, &k->saved[i], VAL_RESULT);
    m->to->nparams = m->to->vals.len;
    for (tensor_val v = 0; v < op->vals.len; v++)
        if (m->as[v] == TENSOR_NO_VAL && m->needed[v] && !m->one[v])
            move_value(m, v, op->vals.data[v].role == VAL_CLASSES ? VAL_CLASSES : VAL_STAGE);
    move_facts(m);
}

// Spaces and variables stay as they are.
static void move_spaces(moving *m) {
    for (tensor_space s = 0; s < m->to->spaces.len; s++) {
        tensor_space_info *i = &m->to->spaces.data[s];
        if (i->kind == SPACE_EXPR) i->expr = gradient_rewrite(&m->rewriting, i->expr);
        if (i->kind == SPACE_COUNT_OF) i->classes = m->as[i->classes];
    }
}

// Those that a stage is left of; where each is then.
static uint32_t *move_loops(moving *m) {
    const tensor_op *op = m->g->op;
    uint32_t *to = ARENA_ARRAY(m->to->arena, uint32_t, op->loops.len + 1);
    for (uint32_t l = 0; l < op->loops.len; l++) {
        bool used = false;
        for (uint32_t i = 0; i < op->stages.len; i++)
            used |= op->stages.data[i].loop == l && writes_needed(m, &op->stages.data[i]);
        to[l] = m->to->loops.len;
        if (used) VEC_PUSH(m->to->arena, &m->to->loops, op->loops.data[l]);
    }
    return to;
}

static tensor_stage in_loop(tensor_stage s, const uint32_t *loops) {
    if (s.loop != TENSOR_NO_LOOP) s.loop = loops[s.loop];
    return s;
}

static moving moving_new(gradient *g) {
    moving m = {.g = g,
                .needed = ARENA_ARRAY(g->arena, bool, g->op->vals.len),
                .given = ARENA_ARRAY(g->arena, bool, g->op->vals.len),
                .one = ARENA_ARRAY(g->arena, bool, g->op->vals.len),
                .low = ARENA_ARRAY(g->arena, bool, g->op->vals.len),
                .as = ARENA_ARRAY(g->arena, tensor_val, g->op->vals.len)};
    for (tensor_val v = 0; v < g->op->vals.len; v++) m.as[v] = TENSOR_NO_VAL;
    return m;
}

tensor_op *gradient_keep(gradient *g, const gradient_kept *k) {
    moving m = moving_new(g);
    m.to = tensor_op_new(g->arena, k->name);
    m.rewriting = gradient_rewriting_new(g, m.to, put_value, &m);
    tensor_op *to = m.to;
    to->source = g->op->source;
    to->ids = g->op->ids;   // its variables are those of the gradient
    to->at = g->at;
    for (uint32_t i = 0; i < k->nresults; i++) m.needed[k->results[i]] = true;
    for (uint32_t i = 0; i < k->nsaved; i++) {
        const gradient_saved *x = &k->saved[i];
        m.needed[x->val] = k->saves, m.given[x->val] = !k->saves;
        if (x->sum != TENSOR_NO_VAL) m.given[x->sum] = m.one[x->sum] = true;
    }
    find_needed(&m);
    for (uint32_t i = 0; i < g->op->spaces.len; i++)
        VEC_PUSH(to->arena, &to->spaces, g->op->spaces.data[i]);
    for (uint32_t i = 0; i < g->op->vars.len; i++)
        VEC_PUSH(to->arena, &to->vars, g->op->vars.data[i]);
    uint32_t *loops = move_loops(&m);
    move_values(&m, k);
    move_spaces(&m);
    move_reducers(&m);
    for (uint32_t i = 0; i < g->op->stages.len; i++)
        if (writes_needed(&m, &g->op->stages.data[i]))
            move_stage(&m, in_loop(g->op->stages.data[i], loops));
    for (uint32_t i = 0; i < g->op->required.len; i++) {
        tensor_require q = g->op->required.data[i];
        q.holds = gradient_rewrite(&m.rewriting, q.holds);
        VEC_PUSH(to->arena, &to->required, q);
    }
    return to;
}

// ---- An op without what no result needs ---------------------------------------------------------
static bool results_last(const tensor_op *op) {
    bool result = false;
    for (tensor_val v = 0; v < op->nparams; v++) {
        if (result && op->vals.data[v].role != VAL_RESULT) return false;
        result = op->vals.data[v].role == VAL_RESULT;
    }
    return true;
}

tensor_op *tensor_without_unread(arena *a, tensor_op *op) {
    gradient g = {.arena = a, .op = op};
    moving m = moving_new(&g);
    for (tensor_val v = 0; v < op->nparams; v++) m.needed[v] = op->vals.data[v].role == VAL_RESULT;
    find_needed(&m);
    bool all = true;
    for (uint32_t i = 0; i < op->stages.len; i++) all &= writes_needed(&m, &op->stages.data[i]);
    return all || !results_last(op) ? op : tensor_saving(a, op, op->name, NULL, 0);
}
