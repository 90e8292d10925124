// Stages computed where they are read, and keys put to use, as rewrites of the equations before any
// loop exists.
//     s[e, h] = l[dst[e], h] + r[src[e], h]          a.max[v, h] = max {e : dst[e] == v} s[e, h]
//  →                                                 a.max[v, h] = max {e : dst[e] == v} l[v, h] + r[src[e],
//  h]
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

// operations of a body that every reader may compute again: the weights of a GAT, of a softmax
enum { INLINE_COST = 49 };

// ---- Rewriting expressions ----------------------------------------------------------------------
typedef struct {
    planner *p;
    tensor_expr *memo;          // per expression there was when the rewriting began
    const tensor_expr *vars;    // per variable: what replaces it; 0: itself
    const tensor_stage *keys;   // a reduction whose keys hold here; NULL: none
    bool inlines;               // loads of inlined stages are replaced
    plan_replacement *by;       // any load is, NULL: none
    void *user;
} rewriting;

static tensor_expr rewrite(rewriting *r, tensor_expr e);

static tensor_expr rewrite_in(planner *p, tensor_expr e, const tensor_expr *vars,
                              const tensor_stage *keys, bool inlines) {
    rewriting r = {.p = p,
                   .memo = ARENA_ARRAY(p->arena, tensor_expr, p->op->exprs.len + 1),
                   .vars = vars,
                   .keys = keys,
                   .inlines = inlines};
    return rewrite(&r, e);
}

static const tensor_stage *inlined_stage(const planner *p, tensor_val v) {
    const loop_value *w = &p->plan->values.data[v];
    return w->home == LOOP_INLINE ? &p->op->stages.data[w->stage] : NULL;
}

// The stage's body with its variables at the load's indices.
static tensor_expr body_at(planner *p, const tensor_stage *st, const tensor_expr *index) {
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    for (uint32_t i = 0; i < st->targets[0].rank; i++)
        vars[tensor_node_at(p->op, st->targets[0].index[i])->imm.i] = index[i];
    return rewrite_in(p, st->body[0], vars, NULL, false);
}

static tensor_expr rewrite_node(rewriting *r, tensor_expr e) {
    tensor_node n = *tensor_node_at(r->p->op, e);
    if (n.op == TENSOR_VAR_OP) return r->vars && r->vars[n.imm.i] ? r->vars[n.imm.i] : e;
    tensor_expr *args = ARENA_ARRAY(r->p->arena, tensor_expr, n.nargs + 1u);
    bool same = true;
    for (uint32_t i = 0; i < n.nargs; i++) {
        args[i] = rewrite(r, n.args[i]);
        same = same && args[i] == n.args[i];
    }
    const tensor_stage *inlined = r->inlines && n.op == TENSOR_LOAD_OP
                                      ? inlined_stage(r->p, (tensor_val)n.imm.i)
                                      : NULL;
    if (inlined) return body_at(r->p, inlined, args);
    n.args = args;
    tensor_expr made = same ? e : tensor_node_new(r->p->op, n);
    return r->by && n.op == TENSOR_LOAD_OP ? r->by(r->user, made) : made;
}

static tensor_expr rewrite(rewriting *r, tensor_expr e) {
    if (r->memo[e]) return r->memo[e];
    tensor_expr to = 0;
    for (uint32_t k = 0; r->keys && k < r->keys->nkeys; k++)
        if (r->keys->keys[k].lhs == e && tensor_node_at(r->p->op, e)->op != TENSOR_VAR_OP)
            to = r->keys->keys[k].rhs;
    return r->memo[e] = to ? to : rewrite_node(r, e);
}

// ---- Which stages -------------------------------------------------------------------------------
// By its own name: what is said of the result of a called op, y, names not what that computes on
// the way, y.s; and a matrix operation is of the sum inside an equation, which is stored or not as
// it would be.
static bool plan_named(const planner *p, tensor_id stage) {
    for (uint32_t i = 0; i < p->s->cells.len; i++) {
        const schedule_cell *c = &p->s->cells.data[i];
        if (c->empty || c->verb == SCHEDULE_INLINE || c->verb == SCHEDULE_MMA) continue;
        if (c->of == stage || (c->verb == SCHEDULE_FUSE && schedule_lists(c, stage))) return true;
        if ((c->verb == SCHEDULE_KEEP || c->verb == SCHEDULE_FUSE) &&
            schedule_means(c->about, stage))
            return true;
    }
    return false;
}

// What a statement says of a stage that it names goes before what it says of all that is inside
// one, where results such as `a.lse` of `a` are none of its business.
static schedule_cell *inline_cell(const planner *p, const tensor_stage *st) {
    const tensor_ids *ids = p->op->ids;
    bool result = p->op->vals.data[st->targets[0].val].role == VAL_RESULT;
    schedule_cell *found = NULL;
    for (uint32_t i = 0; i < p->s->cells.len; i++) {
        schedule_cell *c = &p->s->cells.data[i];
        if (c->verb != SCHEDULE_INLINE || !c->about.n ||
            !tensor_id_covers(ids, c->about.data[0], st->id))
            continue;
        if (c->about.data[0] != st->id && result) continue;
        if (!found ||
            tensor_id_depth(ids, c->about.data[0]) > tensor_id_depth(ids, found->about.data[0]))
            found = c;
    }
    return found && !found->empty ? found : NULL;
}

static bool plain_target(const planner *p, const tensor_stage *st) {
    const tensor_target *t = &st->targets[0];
    for (uint32_t i = 0; i < t->rank; i++)
        if (tensor_node_at(p->op, t->index[i])->op != TENSOR_VAR_OP) return false;
    return st->ntargets == 1 && t->rank == st->nleft;
}

static uint32_t definitions(const planner *p, tensor_val v) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        for (uint32_t t = 0; t < p->op->stages.data[i].ntargets; t++)
            n += p->op->stages.data[i].targets[t].val == v;
    return n;
}

static bool is_class_key(const planner *p, tensor_val v) {
    for (uint32_t i = 0; i < p->op->vals.len; i++)
        for (uint32_t k = 0; k < p->op->vals.data[i].nkeys; k++)
            if (p->op->vals.data[i].keys[k] == v) return true;
    return false;
}

static bool overwritten(void *user, const tensor_node *load) {
    const planner *p = user;
    for (tensor_val v = 0; v < p->op->nparams; v++)
        if (p->op->vals.data[v].inplace == (tensor_val)load->imm.i) return false;
    return true;
}

// Or what is left of one: what it divides by would be read again wherever it is.
static bool reduces(const tensor_stage *st) {
    return st->reducer != TENSOR_NO_REDUCER || tensor_marked(st, TENSOR_FINISHES);
}

static const char *why_not_inline(planner *p, const tensor_stage *st) {
    if (reduces(st)) return "it is a reduction";
    if (st->loop != TENSOR_NO_LOOP) return "it is part of a recurrence";
    if (p->op->vals.data[st->targets[0].val].role != VAL_STAGE)
        return "it is a result, which the caller gets";
    if (!plain_target(p, st)) return "it has several targets, or indices that are more than names";
    if (definitions(p, st->targets[0].val) > 1) return "several equations fill it";
    if (is_class_key(p, st->targets[0].val)) return "its values are numbered as a key";
    if (!plan_loads(p, st, overwritten, p))
        return "it reads a parameter whose memory a result shares";
    return NULL;
}

typedef struct {
    const planner *p;
    const tensor_stage *reader;
    tensor_val val;
} rereading;

static bool has_all(const rereading *r, const tensor_node *load, const tensor_var *vars,
                    uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        bool has = false;
        for (uint32_t k = 0; k < load->nargs && !has; k++)
            has = plan_mentions(r->p, load->args[k], vars[i]);
        if (!has) return false;
    }
    return true;
}

static bool read_once_a_point(void *user, const tensor_node *load) {
    const rereading *r = user;
    return (tensor_val)load->imm.i != r->val ||
           (has_all(r, load, r->reader->left, r->reader->nleft) &&
            has_all(r, load, r->reader->bound, r->reader->nbound));
}

// Whether a contraction reads it: as a factor, once for each of its columns. (What walks rows has
// lanes along features that would idle.)
static bool read_again(const planner *p, const tensor_stage *st) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        rereading r = {p, &p->op->stages.data[i], st->targets[0].val};
        bool contracts = r.reader->reducer != TENSOR_NO_REDUCER && !r.reader->nkeys;
        if (contracts && !plan_loads(p, r.reader, read_once_a_point, &r)) return true;
    }
    return false;
}

// Rows of features that an expression reads, through stages that are computed where they are read.
static uint32_t rows_read(const planner *p, tensor_expr e, uint32_t rank, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (seen[e]) return 0;
    seen[e] = 1;
    const loop_value *w = n->op == TENSOR_LOAD_OP ? &p->plan->values.data[n->imm.i] : NULL;
    if (w && w->home == LOOP_INLINE)
        return rows_read(p, p->op->stages.data[w->stage].body[0], rank, seen);
    uint32_t rows = w && n->nargs == rank;
    for (uint32_t i = 0; i < n->nargs; i++) rows += rows_read(p, n->args[i], rank, seen);
    return rows;
}

static bool read_in_place(void *user, const tensor_node *load) {
    const rereading *r = user;
    bool in_place = true;
    for (uint32_t i = 0; i < load->nargs && (tensor_val)load->imm.i == r->val; i++)
        in_place &= tensor_node_at(r->p->op, load->args[i])->op != TENSOR_LOAD_OP;
    return in_place;
}

// Whether rows of it are gathered, and each would be several.
static bool gathers_more(const planner *p, const tensor_stage *st) {
    uint8_t *seen = arena_alloc(p->arena, p->op->exprs.len + 1);
    memset(seen, 0, p->op->exprs.len + 1);
    if (st->nleft < 2 || rows_read(p, st->body[0], st->nleft, seen) < 2) return false;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        rereading r = {p, &p->op->stages.data[i], st->targets[0].val};
        if (!plan_loads(p, r.reader, read_in_place, &r)) return true;
    }
    return false;
}

// A sum over all points of a graph, of which few results are left: nothing is gained where those
// are stored twice.
static bool sums_all_points(const planner *p, tensor_val v) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        if (st->targets[0].val == v && st->reducer != TENSOR_NO_REDUCER && !st->nkeys && st->nbound)
            return !plan_dense(p, st->bound[0]);
    }
    return false;
}

// Whether an expression reads, at the stage's own point, what a reduction left in more bytes.
static bool reads_wider(const planner *p, const tensor_stage *st, tensor_expr e, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (seen[e]) return false;
    seen[e] = 1;
    if (n->op == TENSOR_LOAD_OP) {
        const loop_value *w = &p->plan->values.data[n->imm.i];
        const tensor_val_info *v = &p->op->vals.data[n->imm.i];
        rereading r = {.p = p};
        if (v->role != VAL_STAGE || !has_all(&r, n, st->left, st->nleft)) return false;
        if (w->home == LOOP_INLINE)
            return reads_wider(p, st, p->op->stages.data[w->stage].body[0], seen);
        return n->nargs == st->nleft && !sums_all_points(p, (tensor_val)n->imm.i) &&
               ir_dtype_bytes(v->type) > ir_dtype_bytes(p->op->vals.data[st->targets[0].val].type);
    }
    for (uint32_t i = 0; i < n->nargs; i++)
        if (reads_wider(p, st, n->args[i], seen)) return true;
    return false;
}

// Rounded to 16 bits it is stored for its readers, in the kernel that sums it up; else they would
// read the sum, twice as wide.
static bool narrows(const planner *p, const tensor_stage *st) {
    uint8_t *seen = arena_alloc(p->arena, p->op->exprs.len + 1);
    memset(seen, 0, p->op->exprs.len + 1);
    ir_dtype t = p->op->vals.data[st->targets[0].val].type;
    return ir_dtype_is_narrow(t) && reads_wider(p, st, st->body[0], seen);
}

static bool inlines(planner *p, const tensor_stage *st) {
    schedule_cell *asked = inline_cell(p, st);
    const char *no = why_not_inline(p, st);
    if (asked) asked->consumed = true;
    if (plan_may_recompute(p, st)) return false;   // where it is read, once that is known
    // `inline a` of a softmax is about the equation: what it reduces, a.max and a.sum, is stored
    // all the same, and so are terms that a statement makes a stage.
    bool stays = asked && ((no && reduces(st)) || plan_has_terms(p, st->id));
    if (stays && !schedule_means(asked->about, st->id)) asked = NULL;
    if (asked && no) {
        diagnostic *d = plan_refuse(p, E0553, asked->at,
                                    "'%s' cannot be computed where it is read: %s", st->name, no);
        if (d) diag_note(d, st->at, "'%s' is computed here", st->name);
        if (d)
            diag_help(d, "leave it out: what can be computed again and costs little is so anyway");
    }
    if (no || asked) return !no;
    if (plan_online_inlines(p, (uint32_t)(st - p->op->stages.data))) return true;
    if (tensor_marked(st, TENSOR_COUNTED))
        return true;   // whatever is said of the stages it is inside of
    if (plan_named(p, st->id) || plan_has_terms(p, st->id) || narrows(p, st)) return false;
    uint8_t *seen = arena_alloc(p->arena, p->op->exprs.len + 1);
    memset(seen, 0, p->op->exprs.len + 1);
    int64_t cost = plan_operations(p, st->body[0], seen);
    if (cost > INLINE_COST || gathers_more(p, st)) return false;
    return cost <= INLINE_COST / 2 || !read_again(p, st);
}

// ---- The whole ----------------------------------------------------------------------------------
static const tensor_expr *rewrite_list(planner *p, const tensor_expr *e, uint32_t n,
                                       const tensor_expr *vars, const tensor_stage *keys) {
    tensor_expr *out = ARENA_ARRAY(p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++)
        out[i] = rewrite_in(p, rewrite_in(p, e[i], vars, NULL, true), NULL, keys, false);
    return out;
}

// Equations may share variables; loops of one kernel bind each once, so a stage gets some of its
// own.
static const tensor_var *own_vars(planner *p, const tensor_stage *st, const tensor_var *v,
                                  uint32_t n, bool *taken, uint32_t ntaken, tensor_expr *vars) {
    tensor_var *own = ARENA_ARRAY(p->arena, tensor_var, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        own[i] = v[i];
        if (v[i] >= ntaken || plan_is_step(p, st, v[i])) continue;
        if (taken[v[i]]) {
            own[i] = tensor_add_var_of(
                p->op, v[i],
                arena_printf(p->arena, "%s'%u", plan_var_name(p, v[i]), p->op->vars.len));
            vars[v[i]] = tensor_var_expr(p->op, own[i], NO_SPAN);
        }
        taken[v[i]] = true;
    }
    return own;
}

static const tensor_target *rewrite_targets(planner *p, const tensor_stage *st,
                                            const tensor_expr *vars) {
    tensor_target *out = ARENA_ARRAY(p->arena, tensor_target, st->ntargets + 1);
    for (uint32_t t = 0; t < st->ntargets; t++)
        out[t] = (tensor_target){
            st->targets[t].val, st->targets[t].rank,
            rewrite_list(p, st->targets[t].index, st->targets[t].rank, vars, NULL)};
    return out;
}

static void rewrite_stage(planner *p, uint32_t i, bool *taken, uint32_t ntaken) {
    tensor_stage st = p->op->stages.data[i];
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    const tensor_var *left = own_vars(p, &st, st.left, st.nleft, taken, ntaken, vars);
    st.bound = own_vars(p, &st, st.bound, st.nbound, taken, ntaken, vars);
    st.left = left;
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st.nkeys + 1);
    for (uint32_t k = 0; k < st.nkeys; k++) {
        keys[k].lhs = rewrite_in(p, st.keys[k].lhs, vars, NULL, true);
        keys[k].rhs = rewrite_in(p, st.keys[k].rhs, vars, NULL, true);
    }
    st.keys = keys;
    st.targets = rewrite_targets(p, &st, vars);
    st.body = rewrite_list(p, st.body, st.nbody, vars, &st);
    st.filters = rewrite_list(p, st.filters, st.nfilters, vars, &st);
    st.orelse = rewrite_list(p, st.orelse, st.nelse, vars, NULL);
    p->op->stages.data[i] = st;
}

void plan_rewrite(planner *p) {
    uint32_t ntaken = p->op->vars.len;
    bool *taken = ARENA_ARRAY(p->arena, bool, ntaken + 1);
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        rewrite_stage(p, i, taken, ntaken);
        const tensor_stage *st = &p->op->stages.data[i];
        if (inlines(p, st))
            p->plan->values.data[st->targets[0].val] = (loop_value){
                .home = LOOP_INLINE, .stage = i, .of = TENSOR_NO_VAL};
    }
    if (!p->failed) plan_matrix_check(p);
}

// ---- Rewriting on request -----------------------------------------------------------------------
const tensor_expr *plan_substitute(planner *p, const tensor_expr *e, uint32_t n,
                                   const tensor_expr *vars) {
    tensor_expr *out = ARENA_ARRAY(p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = rewrite_in(p, e[i], vars, NULL, false);
    return out;
}

tensor_expr plan_by_keys(planner *p, tensor_expr e, const tensor_stage *st) {
    return rewrite_in(p, e, NULL, st, false);
}

static const tensor_expr *replaced(planner *p, const tensor_expr *e, uint32_t n,
                                   plan_replacement *by, void *user) {
    tensor_expr *out = ARENA_ARRAY(p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        rewriting r = {.p = p,
                       .memo = ARENA_ARRAY(p->arena, tensor_expr, p->op->exprs.len + 1),
                       .by = by,
                       .user = user};
        out[i] = rewrite(&r, e[i]);
    }
    return out;
}

tensor_expr plan_inline_loads(planner *p, tensor_expr e) {
    return rewrite_in(p, e, NULL, NULL, true);
}

tensor_stage plan_inlined_stage(planner *p, uint32_t stage) {
    tensor_stage st = p->op->stages.data[stage];
    tensor_expr *body = ARENA_ARRAY(p->arena, tensor_expr, st.nbody + 1);
    for (uint32_t i = 0; i < st.nbody; i++) body[i] = plan_inline_loads(p, st.body[i]);
    st.body = body;
    return st;
}

void plan_replace_loads(planner *p, uint32_t stage, plan_replacement *by, void *user) {
    tensor_stage st = p->op->stages.data[stage];
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st.nkeys + 1);
    for (uint32_t k = 0; k < st.nkeys; k++)
        keys[k] = (tensor_key){*replaced(p, &st.keys[k].lhs, 1, by, user),
                               *replaced(p, &st.keys[k].rhs, 1, by, user)};
    st.keys = keys;
    st.body = replaced(p, st.body, st.nbody, by, user);
    st.filters = replaced(p, st.filters, st.nfilters, by, user);
    st.orelse = replaced(p, st.orelse, st.nelse, by, user);
    p->op->stages.data[stage] = st;
}
