// Whether an op only ever asks of the points of a space which are the same, and what is mapped to
// them, never what number one has: then the numbers may be dealt out anew. A sorted map into such a
// space ties the numbers of its own points to theirs: those are sorted again. Points of two spaces
// that a prefix makes one get the same new numbers.
#include "metamorphic_internal.h"

#include <stdlib.h>
#include <string.h>

static void reach(uint8_t *seen, const tensor_expr *e, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) seen[e[i]] = 1;
}

static void reach_stage(const tensor_op *op, uint8_t *seen, const tensor_stage *s) {
    for (uint32_t i = 0; i < s->ntargets; i++) reach(seen, s->targets[i].index, s->targets[i].rank);
    reach(seen, s->body, s->nbody);
    reach(seen, s->filters, s->nfilters);
    reach(seen, s->orelse, s->nelse);
    for (uint32_t i = 0; i < s->nkeys; i++) seen[s->keys[i].lhs] = seen[s->keys[i].rhs] = 1;
    if (s->reducer == TENSOR_NO_REDUCER) return;
    const tensor_reducer *r = &op->reducers.data[s->reducer];
    reach(seen, r->identity, r->nstate);
    reach(seen, r->lift, r->nstate);
    reach(seen, r->combine, r->nstate);
    reach(seen, r->finish, r->nresults);
}

// Per expression: whether a stage, a reducer of one or a precondition has it.
static uint8_t *meta_reached(arena *a, const tensor_op *op) {
    uint8_t *seen = ARENA_ARRAY(a, uint8_t, op->exprs.len + 1);
    for (uint32_t i = 0; i < op->stages.len; i++) reach_stage(op, seen, &op->stages.data[i]);
    for (tensor_expr e = op->exprs.len; e-- > 1;)
        if (seen[e]) reach(seen, tensor_node_at(op, e)->args, tensor_node_at(op, e)->nargs);
    return seen;
}

// ---- Spaces with the same numbers ---------------------------------------------------------------

static tensor_space find(tensor_space *up, tensor_space s) {
    while (up[s] != s) s = up[s];
    return s;
}

static tensor_space *tied(arena *a, const tensor_op *op) {
    tensor_space *up = ARENA_ARRAY(a, tensor_space, op->spaces.len + 1);
    const uint8_t *seen = meta_reached(a, op);
    for (tensor_space s = 0; s < op->spaces.len; s++) up[s] = s;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->role == VAL_MAP && i->facts & FACT_PREFIX)
            up[find(up, i->axes[0])] = find(up, i->into);
    }
    for (tensor_expr e = 1; e < op->exprs.len; e++) {
        const tensor_node *n = tensor_node_at(op, e);
        if (!seen[e] || n->op != TENSOR_INDEX_OP) continue;
        tensor_type t = tensor_typeof(op, n->args[0]);
        if (t.type == DT_INDEX) up[find(up, t.space)] = find(up, n->type.space);
    }
    return up;
}

tensor_space meta_leader(arena *a, const tensor_op *op, tensor_space s) {
    return find(tied(a, op), s);
}

// ---- Numbers that matter ------------------------------------------------------------------------

static bool is_index(const tensor_op *op, const tensor_node *n, uint32_t arg, tensor_space s) {
    tensor_type t = tensor_typeof(op, n->args[arg]);
    return t.type == DT_INDEX && t.space == s;
}

static const char *asked_by(const tensor_op *op, const tensor_node *n, tensor_space s) {
    switch ((tensor_opcode)n->op) {
    case TENSOR_CVT_OP: return is_index(op, n, 0, s) ? "the number of a point is read" : NULL;
    case TENSOR_INDEX_OP:
        return n->type.space == s && tensor_typeof(op, n->args[0]).type != DT_INDEX
                   ? "a point is named by its number"
                   : NULL;
    case TENSOR_LT_OP:
    case TENSOR_LE_OP:
    case TENSOR_GT_OP:
    case TENSOR_GE_OP:
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP: return is_index(op, n, 0, s) ? "its points are compared in order" : NULL;
    default: return NULL;
    }
}

static const char *ordered_by(const tensor_op *op, const tensor_stage *s, tensor_space space) {
    if (s->reducer == TENSOR_NO_REDUCER || op->reducers.data[s->reducer].commutative) return NULL;
    for (uint32_t i = 0; i < s->nbound; i++)
        if (op->vars.data[s->bound[i]].space == space) return "a reducer takes its points in order";
    return NULL;
}

static const char *numbered(arena *a, const tensor_op *op, tensor_space s) {
    const uint8_t *seen = meta_reached(a, op);
    const char *why = NULL;
    for (tensor_expr e = 1; e < op->exprs.len && !why; e++)
        if (seen[e]) why = asked_by(op, tensor_node_at(op, e), s);
    for (uint32_t i = 0; i < op->stages.len && !why; i++)
        why = ordered_by(op, &op->stages.data[i], s);
    for (uint32_t i = 0; i < op->loops.len && !why; i++)
        if (op->loops.data[i].space == s) why = "it is the steps of a recurrence";
    for (tensor_val v = 0; v < op->nparams && !why; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        bool touches = i->type == DT_INDEX && i->into == s;
        for (uint32_t k = 0; k < i->rank; k++) touches |= i->axes[k] == s;
        if (touches && i->facts & FACT_SORTED && i->rank != 1)
            why = "a map of several axes is sorted";
    }
    return why;
}

// ---- What moves with a space --------------------------------------------------------------------

static bool sorted_from(const tensor_op *op, tensor_val v, tensor_space s) {
    const tensor_val_info *i = &op->vals.data[v];
    return i->role == VAL_MAP && i->facts & FACT_SORTED && i->rank == 1 && i->axes[0] == s;
}

// Classes are numbered by their keys.
static bool classes_move(const tensor_op *op, tensor_space s, const uint8_t *moves) {
    if (op->spaces.data[s].kind != SPACE_COUNT_OF) return false;
    const tensor_val_info *i = &op->vals.data[op->spaces.data[s].classes];
    for (uint32_t k = 0; k < i->nkeys; k++)
        if (op->vals.data[i->keys[k]].into != TENSOR_NO_SPACE &&
            moves[op->vals.data[i->keys[k]].into])
            return true;
    return false;
}

static bool follow(const tensor_op *op, meta_relation *r, tensor_space *up,
                   tensor_space *resorted) {
    bool more = false;
    for (tensor_val v = 0; v < op->nparams && !r->why_not; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->role != VAL_MAP || i->rank != 1 || !sorted_from(op, v, i->axes[0]) ||
            !r->moves[i->into])
            continue;
        tensor_space domain = i->axes[0];
        if (r->moves[domain] == 2) continue;
        if (r->moves[domain]) r->why_not = "a sorted map leads from it into itself";
        for (tensor_space s = 0; s < op->spaces.len; s++)
            if (s != domain && find(up, s) == find(up, domain))
                r->why_not = "what is sorted by it is tied to another space";
        r->moves[domain] = 2;
        resorted[r->nresorted++] = domain;
        more = true;
    }
    for (tensor_space s = 0; s < op->spaces.len; s++)
        if (!r->moves[s] && classes_move(op, s, r->moves)) r->moves[s] = 1, more = true;
    return more;
}

// ---- Sums that another order changes ------------------------------------------------------------

// A sum of all points may be taken as one of what rows of some map give (`rfactor`).
static bool rows_move(const tensor_op *op, tensor_space points, const uint8_t *moves) {
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *m = &op->vals.data[v];
        if (m->role == VAL_MAP && m->rank == 1 && m->axes[0] == points && moves[m->into])
            return true;
    }
    return false;
}

static bool rounds(const tensor_op *op, const tensor_stage *s, const uint8_t *moves) {
    if (s->reducer == TENSOR_NO_REDUCER) return false;
    const tensor_reducer *r = &op->reducers.data[s->reducer];
    bool over = false, exact = true;
    for (uint32_t i = 0; i < s->nbound; i++) {
        tensor_space space = op->vars.data[s->bound[i]].space;
        over |= moves[space] != 0 || (!s->nkeys && rows_move(op, space, moves));
    }
    for (uint32_t i = 0; i < s->nkeys;
         // a plan may walk the terms in the order of their keys, and cut that where it likes
         i++) {
        tensor_type t = tensor_typeof(op, s->keys[i].lhs);
        over |= t.type == DT_INDEX && moves[t.space];
    }
    for (uint32_t i = 0; i < r->nstate; i++) {
        tensor_reduce_kind by = r->kind;
        bool alone = r->kind != REDUCE_USER || tensor_combined_by(op, r, i, &by);
        if (tensor_type_is_float(r->state_types[i]))
            exact &= alone && (by == REDUCE_MAX || by == REDUCE_MIN);
    }
    return over && !exact;
}

static void find_exact(arena *a, const tensor_op *op, meta_relation *r) {
    uint8_t *val = ARENA_ARRAY(a, uint8_t, op->vals.len + 1),
            *expr = ARENA_ARRAY(a, uint8_t, op->exprs.len);
    for (bool moved = true; moved;) {
        moved = false;
        for (tensor_expr e = 1; e < op->exprs.len; e++) {
            const tensor_node *n = tensor_node_at(op, e);
            expr[e] = n->op == TENSOR_LOAD_OP && val[n->imm.i];
            for (uint32_t k = 0; k < n->nargs; k++) expr[e] |= expr[n->args[k]];
        }
        for (uint32_t i = 0; i < op->stages.len; i++) {
            const tensor_stage *s = &op->stages.data[i];
            bool inexact = rounds(op, s, r->moves);
            for (uint32_t k = 0; k < s->nbody; k++) inexact |= expr[s->body[k]];
            for (uint32_t k = 0; k < s->nfilters; k++) inexact |= expr[s->filters[k]];
            for (uint32_t k = 0; k < s->nelse; k++) inexact |= expr[s->orelse[k]];
            for (uint32_t k = 0; k < s->nkeys; k++)
                inexact |= expr[s->keys[k].lhs] | expr[s->keys[k].rhs];
            for (uint32_t k = 0; k < s->ntargets && inexact; k++) {
                moved |= !val[s->targets[k].val];
                val[s->targets[k].val] = 1;
            }
        }
    }
    for (tensor_val v = 0; v < op->nparams; v++) r->result[v] = val[v] ? META_BOUND : META_EXACT;
}

void meta_permuted(arena *a, const tensor_op *op, meta_relation *r) {
    tensor_space *up = tied(a, op), *resorted = ARENA_ARRAY(a, tensor_space, op->spaces.len + 1);
    r->moves = ARENA_ARRAY(a, uint8_t, op->spaces.len + 1);
    r->result = ARENA_ARRAY(a, int32_t, op->nparams + 1);
    r->resorted = resorted;
    for (tensor_space s = 0; s < op->spaces.len; s++)
        r->moves[s] = find(up, s) == find(up, r->space);
    while (follow(op, r, up, resorted)) {
    }
    for (tensor_space s = 0; s < op->spaces.len && !r->why_not; s++)
        if (r->moves[s]) r->why_not = numbered(a, op, s);
    find_exact(a, op, r);
}

// ---- New numbers --------------------------------------------------------------------------------

typedef struct {
    int64_t point;
    uint64_t luck;
    const uint64_t *keys;   // of all points, a row each
    uint32_t nkeys;
} numbered_point;

static int by_keys(const void *x, const void *y) {
    const numbered_point *p = x, *q = y;
    for (uint32_t k = 0; k < p->nkeys; k++) {
        uint64_t i = p->keys[(uint64_t)p->point * p->nkeys + k],
                 j = q->keys[(uint64_t)q->point * q->nkeys + k];
        if (i != j) return i < j ? -1 : 1;
    }
    return p->luck < q->luck ? -1 : p->luck > q->luck;
}

static const int64_t *inverse(arena *a, const int64_t *from, int64_t n) {
    int64_t *to = ARENA_ARRAY(a, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++) to[from[i]] = i;
    return to;
}

// Maps sorted as a whole come first; none comes last. to[]: the new numbers that are known.
static uint32_t gather_keys(const tensor_op *op, tensor_space s, const meta_change *c,
                            const int64_t *const *to, const uint32_t *last, uint64_t *keys,
                            uint32_t nkeys) {
    uint32_t n = 0;
    for (int within = 0; within < 2; within++)
        for (tensor_val v = 0; v < op->nparams; v++) {
            const tensor_val_info *i = &op->vals.data[v];
            if (!sorted_from(op, v, s) || (i->sorted_by != TENSOR_NO_VAL) != within) continue;
            const int64_t *m = c->in.inputs[v].data;
            for (int64_t k = 0; keys && k < c->sizes[s]; k++)
                keys[(uint64_t)k * nkeys + n] =
                    (uint64_t)(m[k] >= 0 && to[i->into] ? to[i->into][m[k]] : m[k]);
            n++;
        }
    if (last && keys)   // segments that a prefix cuts stay where they are
        for (int64_t k = 0; k < c->sizes[s]; k++) keys[(uint64_t)k * nkeys + n] = last[k];
    return n + (last != NULL);
}

static int64_t *shuffled(arena *a, const tensor_op *op, const meta_change *c, tensor_space s,
                         const int64_t *const *to, const uint32_t *segment, uint64_t seed) {
    int64_t n = c->sizes[s], *from = ARENA_ARRAY(a, int64_t, n + 1);
    uint32_t nkeys = gather_keys(op, s, c, to, segment, NULL, 0);
    arena *scratch = arena_new();
    uint64_t *keys = ARENA_ARRAY(scratch, uint64_t, n *nkeys + 1);
    numbered_point *p = ARENA_ARRAY(scratch, numbered_point, n + 1);
    gather_keys(op, s, c, to, segment, keys, nkeys);
    for (int64_t i = 0; i < n; i++)
        p[i] = (numbered_point){i, meta_random(seed, (uint64_t)i), keys, nkeys};
    if (n) qsort(p, (size_t)n, sizeof *p, by_keys);
    for (int64_t i = 0; i < n; i++) from[i] = p[i].point;
    arena_free(scratch);
    return from;
}

// The largest of the tied spaces is shuffled between the ends of the others, which take its head.
static bool shuffle_tied(arena *a, const tensor_op *op, meta_change *c, const int64_t **to,
                         uint64_t seed) {
    const meta_relation *r = c->relation;
    tensor_space *up = tied(a, op), largest = r->space;
    bool several = false;
    for (tensor_space s = 0; s < op->spaces.len; s++) {
        if (find(up, s) != find(up, r->space)) continue;
        several |= s != r->space;
        if (c->sizes[s] > c->sizes[largest]) largest = s;
    }
    uint32_t *segment = several ? ARENA_ARRAY(a, uint32_t, c->sizes[largest] + 1) : NULL;
    for (tensor_space s = 0; s < op->spaces.len && several; s++)
        for (int64_t i = c->sizes[s]; find(up, s) == find(up, r->space) && i < c->sizes[largest];
             i++)
            segment[i]++;
    const int64_t *from = shuffled(a, op, c, largest, to, segment, seed);
    for (tensor_space s = 0; s < op->spaces.len; s++)
        if (find(up, s) == find(up, r->space))
            c->from[s] = from, to[s] = inverse(a, from, c->sizes[largest]);
    bool moved = false;
    for (int64_t i = 0; i < c->sizes[largest]; i++) moved |= from[i] != i;
    return moved;
}

static bool stays_sorted(arena *a, const tensor_op *op, const meta_change *c, tensor_val v) {
    const tensor_val_info *i = &op->vals.data[v];
    if (i->role != VAL_MAP || !(i->facts & FACT_SORTED) || i->rank != 1) return true;
    const int64_t *m = c->inputs[v].data,
                  *by = i->sorted_by == TENSOR_NO_VAL ? NULL : c->inputs[i->sorted_by].data;
    // a prefix: each point is a class of its own
    if (i->sorted_by != TENSOR_NO_VAL && !by) return true;
    int64_t classes = by ? c->sizes[op->vals.data[i->sorted_by].into] : 0;
    uint64_t *last = ARENA_ARRAY(a, uint64_t, classes + 2);   // [0]: of those of no class
    for (int64_t k = 0; k < meta_points(&c->inputs[v]); k++) {
        uint64_t *before = &last[by ? by[k] + 1 : 0];
        if ((uint64_t)m[k] < *before) return false;
        *before = (uint64_t)m[k];
    }
    return true;
}

static void renumber(const meta_change *c, tensor_val v, const int64_t *to) {
    tensor_array *x = &c->inputs[v];
    int64_t *m = x->data;
    for (int64_t k = 0; m && to && k < meta_points(x); k++)
        if (m[k] >= 0) m[k] = to[m[k]];
}

bool meta_permute(arena *a, const tensor_op *op, meta_change *c, const tensor_eval_input *in,
                  uint64_t seed, const char **why) {
    const meta_relation *r = c->relation;
    const int64_t **to = ARENA_ARRAY(a, const int64_t *, op->spaces.len + 1);
    bool moved = false;
    for (uint64_t k = 0; k < 8 && !moved; k++)
        // two points stay as often as not
        moved = shuffle_tied(a, op, c, to, meta_random(seed, k));
    if (!moved) return *why = "no two of its points may change places", false;
    for (uint32_t i = 0; i < r->nresorted; i++) {
        tensor_space s = r->resorted[i];
        c->from[s] = shuffled(a, op, c, s, to, NULL, seed + i + 1);
        to[s] = inverse(a, c->from[s], c->sizes[s]);
    }
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        meta_move(a, op, c, v, &in->inputs[v]);
        if (i->type == DT_INDEX && i->role != VAL_RESULT) renumber(c, v, to[i->into]);
    }
    for (tensor_val v = 0; v < op->nparams; v++)
        if (!stays_sorted(a, op, c, v)) return *why = "no order keeps every map sorted", false;
    return true;
}
