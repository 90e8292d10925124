// Which stages are computed where they are read. What is stored is written once and read by each
// reader; what is not is computed by each of them, from what it reads itself. The default takes
// what costs less, by the bytes and operations of a point, unless a statement says otherwise.
//     a[e, f] = sin(x[e, f]) * exp(x[e, f]);   y[v, f] = sum{e : dst[e] == v} a[e, f] * a[e, f]
//  →  y[v, f] = sum{e : dst[e] == v} (sin(x[e, f]) * exp(x[e, f])) * …
// One point reads each a[e, f], so that nothing is computed again.
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

// ---- Costs --------------------------------------------------------------------------------------
enum {
    // operations of a body that every reader may compute again: the weights of a GAT, of a softmax
    INLINE_COST = 49,
    // operations of a GPU in the time that its memory takes for a byte
    BYTE = 6,
    DEGREE = 16,   // points that a map takes to one, where it is not known
    EXTENT = 32,   // of a dense index, likewise
    FEWER = 2      // times the bytes, where a few operations would have a kernel of their own
};

// ---- What a schedule says, and what cannot be ---------------------------------------------------
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

// An index that a map says of other indices, by which the load does not go itself: it gathers.
// kind[e] of s[e, kind[e]] is none: it chooses one of what the point has.
static bool gathers_by(const planner *p, const tensor_stage *reader, const tensor_node *load,
                       uint32_t arg) {
    if (tensor_node_at(p->op, load->args[arg])->op != TENSOR_LOAD_OP) return false;
    for (uint32_t i = 0; i < reader->nleft + reader->nbound; i++) {
        const tensor_var v = plan_var_at(reader, i);
        bool named = !plan_mentions(p, load->args[arg], v);
        for (uint32_t k = 0; k < load->nargs && !named; k++) {
            const tensor_node *at = tensor_node_at(p->op, load->args[k]);
            named = at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == v;
        }
        if (!named) return true;
    }
    return false;
}

static bool read_in_place(void *user, const tensor_node *load) {
    const rereading *r = user;
    bool in_place = true;
    for (uint32_t i = 0; i < load->nargs && (tensor_val)load->imm.i == r->val; i++)
        in_place &= !gathers_by(r->p, r->reader, load, i);
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

// ---- Points that compute it ---------------------------------------------------------------------
typedef struct {
    const planner *p;
    const tensor_stage *of, *reader;
    bool dense;      // along dense indices alone, but the last one, which lanes have side by side
    double points;   // of readers that compute it, for each of its own
    int64_t reads;   // places where it is read
} computing;

static double extent_of(const planner *p, tensor_var v) {
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[v].space];
    if (s->kind == SPACE_CONST) return (double)s->size;
    return plan_dense(p, v) ? EXTENT : DEGREE;
}

// By a key it is known from what the load mentions, or the load is the same along it.
static bool is_keyed(const planner *p, const tensor_stage *st, const tensor_node *load,
                     tensor_var v) {
    for (uint32_t k = 0; k < st->nkeys; k++)
        for (uint32_t i = 0; i < st->nleft + st->nbound; i++) {
            const tensor_var other = plan_var_at(st, i);
            const tensor_expr one = st->keys[k].lhs, two = st->keys[k].rhs;
            const bool meet = (plan_mentions(p, one, v) && plan_mentions(p, two, other)) ||
                              (plan_mentions(p, two, v) && plan_mentions(p, one, other));
            if (meet && plan_load_mentions(p, load, other)) return true;
        }
    return false;
}

// The load goes along the index itself, or by what a map says of it. Where it is at a place computed
// from it, such as i / 3 and i % 3, the stage's own extents say how often each is read.
static bool goes_along(const planner *p, const tensor_node *load, tensor_var v) {
    bool along = false;
    for (uint32_t i = 0; i < load->nargs; i++) {
        const tensor_opcode o = tensor_node_at(p->op, load->args[i])->op;
        along |= (o == TENSOR_VAR_OP || o == TENSOR_LOAD_OP) && plan_mentions(p, load->args[i], v);
    }
    return along;
}

// Points of the reader along its indices, for each that the load names.
static bool count_points(void *user, const tensor_node *load) {
    computing *c = user;
    if ((tensor_val)load->imm.i != c->of->targets[0].val) return true;
    double points = 1;
    for (uint32_t i = 0; i < c->reader->nleft + c->reader->nbound; i++) {
        const tensor_var v = plan_var_at(c->reader, i);
        if (c->dense && (i + 1 == c->reader->nleft || !plan_dense(c->p, v))) continue;
        if (!goes_along(c->p, load, v) && !is_keyed(c->p, c->reader, load, v))
            points *= extent_of(c->p, v);
    }
    for (uint32_t i = 0; i < load->nargs; i++) {
        const tensor_node *at = tensor_node_at(c->p->op, load->args[i]);
        if (gathers_by(c->p, c->reader, load, i)) points *= c->dense ? 1 : DEGREE;
        else if (at->op != TENSOR_VAR_OP) points /= extent_of(c->p, c->of->left[i]);
    }
    c->points += points;
    c->reads++;
    return true;
}

static bool is_worth(const planner *p, const tensor_stage *st, int64_t cost, bool dense) {
    computing c = {.p = p, .of = st, .dense = dense};
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        c.reader = &p->op->stages.data[i];
        if (!plan_inlined(p, i)) plan_loads(p, c.reader, count_points, &c);
    }
    const int64_t bytes = ir_dtype_bytes(p->op->vals.data[st->targets[0].val].type);
    return (double)cost * (c.points - 1) <=
           (double)(BYTE * bytes * (1 + c.reads) * (dense ? FEWER : 1));
}

// Whether the operations that are added take no longer than the bytes that are spared. Of what is
// found at one point alone nothing is computed again.
bool plan_inline_is_worth(const planner *p, const tensor_stage *st, int64_t cost) {
    return is_worth(p, st, cost, false);
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

bool plan_inlines(planner *p, const tensor_stage *st) {
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
    if (cost > INLINE_COST) return plan_inline_is_worth(p, st, cost);
    if (gathers_more(p, st)) return false;
    return cost <= INLINE_COST / 2 || (!read_again(p, st) && is_worth(p, st, cost, true));
}
