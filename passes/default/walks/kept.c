// Which scores of edges walks store by default, though each could find them again: what others
// read, too, and what costs more to find again than to read, as a dot product with features of the
// edge does in a walk that does not read those. Where there is room, also what spares a walk all
// that it reduces at an edge, and the rows that it would read for that.
//     s[e, h] = sum{d} q[dst[e], h, d] * g[e, h, d]
//     dx[u, h, d] = sum{e : src[e] == u} s[e, h] * y[dst[e], h, d]   →   s is stored
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/walks/walks.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

// What is asked for again and again: of a stage, or of a stage and another one, or a parameter.
// Each answer is found once, as stages that read others in turn have as many ways to one as there
// are.
typedef enum {
    READS,
    NEEDS,
    READS_FEATURES,
    REDUCES_WITHOUT,
    QUESTIONS_OF_PAIRS,
    HAS_REDUCTION = QUESTIONS_OF_PAIRS,
    MULTIPLIES,
    NEEDS_WALK,
    QUESTIONS
} question;

typedef struct {
    planner *p;               // the op as it came
    tensor_val *map;          // per stage: that it walks rows by; TENSOR_NO_VAL: none
    bool *score;              // per stage: of edges that are walked, and no result
    bool *before;             // per stage: of those, stored by a kernel of its own, before walks
    char *known[QUESTIONS];   // per stage, and what else the question is about
} edges;

static uint32_t count(const edges *x) { return x->p->op->stages.len; }

// ---- Asked once ---------------------------------------------------------------------------------
static uint32_t width_of(const edges *x, question q) {
    if (q >= QUESTIONS_OF_PAIRS) return 1;
    return q == READS_FEATURES ? x->p->op->nparams : count(x);
}

static void forget(edges *x, question q) {
    x->known[q] = ARENA_ARRAY(x->p->arena, char, (size_t)count(x) * width_of(x, q) + 1);
}

typedef bool answer(const edges *x, uint32_t stage, uint32_t other);

static bool ask(const edges *x, question q, uint32_t stage, uint32_t other, answer *find) {
    enum { NOT = 1, IS };
    char *known = &x->known[q][(size_t)stage * width_of(x, q) + other];
    if (!*known) *known = find(x, stage, other) ? IS : NOT;
    return *known == IS;
}

static const tensor_val_info *val_at(const edges *x, tensor_val v) {
    return &x->p->op->vals.data[v];
}

static tensor_space first_space(const edges *x, uint32_t i) {
    const tensor_stage *st = plan_stage(x->p, i);
    return st->nleft ? x->p->op->vars.data[st->left[0]].space : TENSOR_NO_SPACE;
}

static bool find_reads(const edges *x, uint32_t reader, uint32_t writer) {
    return reader != writer && plan_reads_stage(x->p, reader, writer);
}

static bool reads(const edges *x, uint32_t reader, uint32_t writer) {
    return ask(x, READS, reader, writer, find_reads);
}

static bool is_walked(const edges *x, tensor_space s) {
    for (uint32_t i = 0; i < count(x); i++)
        if (x->map[i] != TENSOR_NO_VAL && val_at(x, x->map[i])->axes[0] == s) return true;
    return false;
}

static bool is_of_edges(const edges *x, uint32_t i) {
    const tensor_stage *st = plan_stage(x->p, i);
    return st->loop == TENSOR_NO_LOOP && st->ntargets == 1 && x->map[i] == TENSOR_NO_VAL &&
           is_walked(x, first_space(x, i)) &&
           (st->reducer == TENSOR_NO_REDUCER || (default_reduces_dense(x->p, st) && !st->nkeys));
}

// ---- Read by others -----------------------------------------------------------------------------
static bool has_reduction(const edges *x, uint32_t i);

static bool find_reduction(const edges *x, uint32_t i, uint32_t) {
    if (plan_stage(x->p, i)->reducer != TENSOR_NO_REDUCER) return true;
    for (uint32_t k = 0; k < i; k++)
        if (x->score[k] && reads(x, i, k) && has_reduction(x, k)) return true;
    return false;
}

static bool has_reduction(const edges *x, uint32_t i) {
    return ask(x, HAS_REDUCTION, i, 0, find_reduction);
}

typedef struct {
    const edges *x;
    const tensor_stage *st;
} factors;

static bool has_all_left(void *user, const tensor_node *load) {
    const factors *f = user;
    return !plan_load_mentions(f->x->p, load, f->st->bound[0]) ||
           default_reads_all_left(f->x->p, f->st, load);
}

// A product with a matrix, of which a row is no more than what edges have.
static bool is_product(const edges *x, uint32_t i) {
    const tensor_stage *st = plan_stage(x->p, i);
    factors f = {x, st};
    if (st->reducer == TENSOR_NO_REDUCER || plan_loads(x->p, st, has_all_left, &f)) return false;
    int64_t all = default_extent(x->p, st->bound[0]);
    for (uint32_t k = 1; k < st->nleft; k++) all *= default_extent(x->p, st->left[k]);
    return !all || all > DEFAULT_KEPT_MATRIX;
}

static bool is_long(const edges *x, uint32_t product) {
    int64_t terms = default_extent(x->p, plan_stage(x->p, product)->bound[0]);
    return !terms || terms >= DEFAULT_KEPT_TERMS;
}

static bool multiplies(const edges *x, uint32_t i);

static bool find_product(const edges *x, uint32_t i, uint32_t) {
    if (is_product(x, i)) return true;
    for (uint32_t k = 0; k < i; k++)
        if (x->score[k] && reads(x, i, k) && multiplies(x, k)) return true;
    return false;
}

static bool multiplies(const edges *x, uint32_t i) {
    return ask(x, MULTIPLIES, i, 0, find_product);
}

static bool read_by_others(const edges *x, uint32_t score) {
    for (uint32_t i = 0; i < count(x); i++) {
        bool plain_result = is_of_edges(x, i) && plan_stage(x->p, i)->reducer == TENSOR_NO_REDUCER;
        if (!x->score[i] && x->map[i] == TENSOR_NO_VAL && !plain_result && reads(x, i, score))
            return true;
    }
    return false;
}

// ---- Dear ---------------------------------------------------------------------------------------
// Of an edge; 0: that is not known.
static int64_t elements(const edges *x, const tensor_space *axes, uint32_t n) {
    int64_t all = 1;
    for (uint32_t i = 1; i < n; i++) {
        const tensor_space_info *s = &x->p->op->spaces.data[axes[i]];
        all *= s->kind == SPACE_CONST ? s->size : 0;
    }
    return all;
}

// An array of edges that is read by a stage, or by what edges make on the way without a reduction.
static bool reads_features(const edges *x, uint32_t i, tensor_val features);

static bool find_features(const edges *x, uint32_t i, tensor_val features) {
    if (plan_read_by(x->p, i, features)) return true;
    for (uint32_t k = 0; k < i; k++)
        if (x->score[k] && plan_stage(x->p, k)->reducer == TENSOR_NO_REDUCER && reads(x, i, k) &&
            reads_features(x, k, features))
            return true;
    return false;
}

static bool reads_features(const edges *x, uint32_t i, tensor_val features) {
    return ask(x, READS_FEATURES, i, features, find_features);
}

static bool needs(const edges *x, uint32_t i, uint32_t score);

static bool find_need(const edges *x, uint32_t i, uint32_t score) {
    if (reads(x, i, score)) return true;
    for (uint32_t k = 0; k < i; k++)
        if (x->score[k] && reads(x, i, k) && needs(x, k, score)) return true;
    return false;
}

static bool needs(const edges *x, uint32_t i, uint32_t score) {
    return ask(x, NEEDS, i, score, find_need);
}

// Some walk by another map than the first one's needs the score, and none by that map has the
// features at hand.
static bool read_without(const edges *x, uint32_t score, tensor_val features) {
    tensor_val first = TENSOR_NO_VAL;
    for (uint32_t i = 0; i < count(x); i++) {
        tensor_val map = x->map[i];
        if (map == TENSOR_NO_VAL || !needs(x, i, score)) continue;
        if (first == TENSOR_NO_VAL) first = map;
        bool at_hand = map == first;
        for (uint32_t k = 0; k < count(x) && !at_hand; k++)
            at_hand = x->map[k] == map && reads_features(x, k, features);
        if (!at_hand) return true;
    }
    return false;
}

static bool is_dear(const edges *x, uint32_t i) {
    const tensor_stage *st = plan_stage(x->p, i);
    const tensor_val_info *own = val_at(x, st->targets[0].val);
    int64_t kept = elements(x, own->axes, own->rank);
    for (tensor_val v = 0; v < x->p->op->nparams && st->reducer != TENSOR_NO_REDUCER && kept; v++) {
        const tensor_val_info *f = val_at(x, v);
        if (f->role != VAL_TENSOR || f->rank < 2 || f->axes[0] != first_space(x, i) ||
            !plan_read_by(x->p, i, v))
            continue;
        if (elements(x, f->axes, f->rank) > DEFAULT_KEPT_DEARER * kept && read_without(x, i, v))
            return true;
    }
    return false;
}

// ---- Spared -------------------------------------------------------------------------------------
// It reduces at an edge, or reads a score that does, but for this one.
static bool reduces_without(const edges *x, uint32_t i, uint32_t score);

static bool find_reduction_without(const edges *x, uint32_t i, uint32_t score) {
    if (x->score[i] && plan_stage(x->p, i)->reducer != TENSOR_NO_REDUCER) return true;
    for (uint32_t k = 0; k < count(x); k++)
        if (k != score && k != i && x->score[k] && reads(x, i, k) && reduces_without(x, k, score))
            return true;
    return false;
}

static bool reduces_without(const edges *x, uint32_t i, uint32_t score) {
    return ask(x, REDUCES_WITHOUT, i, score, find_reduction_without);
}

// Sums by the map need it, and nothing else that is reduced at an edge.
static bool spares_map(const edges *x, tensor_val map, uint32_t score) {
    bool any = false;
    for (uint32_t i = 0; i < count(x); i++) {
        if (x->map[i] != map) continue;
        if (reduces_without(x, i, score)) return false;
        any |= needs(x, i, score);
    }
    return any;
}

// Of what a walk finds: who stores it would walk after that one.
static bool needs_walk(const edges *x, uint32_t i);

static bool find_walk(const edges *x, uint32_t i, uint32_t) {
    for (uint32_t k = 0; k < count(x); k++)
        if (reads(x, i, k) && (x->map[k] != TENSOR_NO_VAL || (k < i && needs_walk(x, k))))
            return true;
    return false;
}

static bool needs_walk(const edges *x, uint32_t i) { return ask(x, NEEDS_WALK, i, 0, find_walk); }

// By a walk by another map than the one it spares, which waits for none: that one finds it.
static bool needed_by_another(const edges *x, tensor_val map, uint32_t score) {
    for (uint32_t i = 0; i < count(x); i++)
        if (x->map[i] != TENSOR_NO_VAL && x->map[i] != map && needs(x, i, score) &&
            !needs_walk(x, i))
            return true;
    return false;
}

// Rows that are read at what another map says of an edge.
typedef struct {
    tensor_val map;    // whose rows are walked
    uint32_t levels;   // of what is kept: a row has more
    const planner *p;
    bool *of;     // per value
    bool *seen;   // per stage
} gathered;

static bool see_gathered(void *user, const tensor_node *load) {
    gathered *g = user;
    const tensor_node *at = load->nargs > g->levels ? tensor_node_at(g->p->op, load->args[0])
                                                    : NULL;
    bool other = at && at->op == TENSOR_LOAD_OP && at->nargs == 1 &&
                 (tensor_val)at->imm.i != g->map;
    if (other && (tensor_val)load->imm.i < g->p->op->nparams) g->of[load->imm.i] = true;
    return true;
}

static void gather(const edges *x, uint32_t i, uint32_t without, gathered *g) {
    if (g->seen[i]) return;
    g->seen[i] = true;
    plan_loads(x->p, plan_stage(x->p, i), see_gathered, g);
    for (uint32_t k = 0; k < count(x); k++)
        if (k != without && k != i && x->score[k] && reads(x, i, k)) gather(x, k, without, g);
}

// Sums by the map read fewer rows without it: what they would only compute again takes no longer
// than to store it and read it.
static bool saves_rows(const edges *x, tensor_val map, uint32_t score) {
    const uint32_t n = x->p->op->nparams, levels = plan_stage(x->p, score)->nleft;
    gathered all = {map, levels, x->p, ARENA_ARRAY(x->p->arena, bool, n + 1),
                    ARENA_ARRAY(x->p->arena, bool, count(x) + 1)},
             rest = {map, levels, x->p, ARENA_ARRAY(x->p->arena, bool, n + 1),
                     ARENA_ARRAY(x->p->arena, bool, count(x) + 1)};
    bool fewer = false;
    for (uint32_t i = 0; i < count(x); i++)
        if (x->map[i] == map) gather(x, i, UINT32_MAX, &all), gather(x, i, score, &rest);
    for (tensor_val v = 0; v < n; v++) fewer |= all.of[v] && !rest.of[v];
    return fewer;
}

static bool spares_walk(const edges *x, uint32_t score) {
    const tensor_val_info *own = val_at(x, plan_stage(x->p, score)->targets[0].val);
    int64_t kept = elements(x, own->axes, own->rank);
    if (!kept || !has_reduction(x, score) || needs_walk(x, score)) return false;
    for (uint32_t i = 0; i < count(x); i++) {
        tensor_val map = x->map[i];
        if (map != TENSOR_NO_VAL && spares_map(x, map, score) && needed_by_another(x, map, score) &&
            saves_rows(x, map, score))
            return true;
    }
    return false;
}

// ---- Products -----------------------------------------------------------------------------------
// Walks alone need it, which would find it again for each of their sums: none of outer products.
static bool is_of_walks(const edges *x, uint32_t product) {
    bool walks = !read_by_others(x, product);
    for (uint32_t i = 0; i < count(x) && walks; i++)
        walks = x->map[i] == TENSOR_NO_VAL || !default_sums_outer(x->p, plan_stage(x->p, i)) ||
                !needs(x, i, product);
    return walks;
}

static bool stays_outside(const edges *x, uint32_t i) {
    return x->score[i] && is_product(x, i) && is_long(x, i) && !needs_walk(x, i) &&
           is_of_walks(x, i);
}

// ---- Factors ------------------------------------------------------------------------------------
typedef struct {
    const edges *x;
    const tensor_stage *reader;
    tensor_val val;
} reading;

// Along what is reduced, by each of the results of an edge: lanes have these.
static bool reads_alike(void *user, const tensor_node *load) {
    const reading *r = user;
    if ((tensor_val)load->imm.i != r->val) return true;
    const tensor_stage *st = r->reader;
    return !plan_load_mentions(r->x->p, load, st->bound[0]) ||
           default_reads_all_left(r->x->p, st, load);
}

// Of a product at an edge whose results would each compute it anew.
static bool is_factor(const edges *x, uint32_t i) {
    const tensor_stage *st = plan_stage(x->p, i);
    if (st->reducer != TENSOR_NO_REDUCER || needs_walk(x, i)) return false;
    bool factor = false;
    for (uint32_t k = 0; k < count(x) && !factor; k++) {
        reading r = {x, plan_stage(x->p, k), st->targets[0].val};
        factor = x->score[k] && r.reader->reducer != TENSOR_NO_REDUCER &&
                 !plan_loads(x->p, r.reader, reads_alike, &r);
    }
    if (!factor) return false;
    uint8_t *seen = ARENA_ARRAY(x->p->arena, uint8_t, x->p->op->exprs.len + 1);
    const int64_t cost = plan_operations(x->p, st->body[0], seen);
    return cost >= DEFAULT_KEPT_FACTOR && !plan_inline_is_worth(x->p, st, cost);
}

// The last one: it has most of what is to be found in it.
static uint32_t spared(const edges *x) {
    for (uint32_t i = count(x); i-- > 0;)
        if (x->score[i] && !multiplies(x, i) && spares_walk(x, i)) return i;
    return UINT32_MAX;
}

// What it reads of scores is found before walks, too.
static void put_before(edges *x, uint32_t i) {
    if (x->before[i]) return;
    x->before[i] = true;
    for (uint32_t k = 0; k < count(x); k++)
        if (x->score[k] && reads(x, i, k)) put_before(x, k);
}

default_stored default_kept(planner *p, bool spares) {
    uint32_t n = p->op->stages.len;
    default_stored all = {0};
    edges x = {.p = p,
               .map = ARENA_ARRAY(p->arena, tensor_val, n + 1),
               .score = ARENA_ARRAY(p->arena, bool, n + 1),
               .before = ARENA_ARRAY(p->arena, bool, n + 1)};
    for (question q = 0; q < QUESTIONS; q++) forget(&x, q);
    for (uint32_t i = 0; i < n; i++) x.map[i] = default_walked_by(p, i);
    for (uint32_t i = 0; i < n; i++)
        x.score[i] = is_of_edges(&x, i) &&
                     val_at(&x, plan_stage(x.p, i)->targets[0].val)->role == VAL_STAGE;
    for (uint32_t i = 0; i < n; i++)
        if (x.score[i] &&
            (is_factor(&x, i) || (stays_outside(&x, i) && !plan_few_terms(p, plan_stage(p, i)))))
            put_before(&x, i);
    for (uint32_t i = 0; i < n; i++) {
        if (x.before[i]) VEC_PUSH(p->arena, &all.before, plan_stage(p, i)->id);
        x.score[i] &= !x.before[i];
    }
    for (question q = READS + 1; q < QUESTIONS; q++) forget(&x, q);   // of other scores
    uint32_t also = spares ? spared(&x) : UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        bool own = x.score[i] && !multiplies(&x, i) &&
                   ((has_reduction(&x, i) && read_by_others(&x, i)) || is_dear(&x, i));
        own |= stays_outside(&x, i);
        if (own || i == also) VEC_PUSH(p->arena, &all.kept, plan_stage(x.p, i)->id);
        if (!own && i == also) all.spares = true;
    }
    return all;
}
