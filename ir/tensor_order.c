// Stages stand in an order that goes by what they read and over what they run (normal form N6),
// however equations were written. It is made from the last stage to the first: of those that
// nothing left reads, the one that can share the loops of the one behind it.
//     d = f(x);  y = g(x);  b = h(d);  →  y = g(x);  d = f(x);  b = h(d);     where b follows y
// Stages of a recurrence stay together, as they were. A result in the memory of a parameter comes
// after all that reads the parameter.
#include "tensor_internal.h"

#include <string.h>

typedef VEC(uint32_t) numbers;

typedef struct {
    uint32_t by, reader;   // stages: what the first one writes over is read by the second one
    bool elsewhere;        // at other points than its own, too
} overwrite;

// What is put as one: a stage, or those of a recurrence. It goes by the number of its first stage.
typedef struct {
    uint32_t n;               // stages; 0: they belong to one before
    numbers needs, readers;   // in the order of loads
    VEC(bool) elsewhere;      // of each that it needs: also at other points than its own
    uint32_t level;           // how many are on the longest way from what the caller gives
    uint32_t waits;           // readers that have no place yet
    numbers classes;          // values that say classes, in the order of loads
} place;

typedef struct {
    tensor_op *op;
    arena *arena;
    numbers *writers;          // per value: stages, by the literals at which they write
    uint32_t *stamp, stamps;   // per expression: the last walk that met it
    uint32_t *first;           // per stage: its place
    place *places;             // per stage
    uint32_t nplaces;          // of stages that are the first ones of theirs
    VEC(overwrite) overwrites;
    numbers ready;   // places that none without an order reads, as they came to be so
} ordering;

static void find_places(ordering *o) {
    const tensor_op *op = o->op;
    for (uint32_t s = 0; s < op->stages.len; s++) {
        const uint32_t loop = op->stages.data[s].loop;
        const bool goes_on = s && loop != TENSOR_NO_LOOP && op->stages.data[s - 1].loop == loop;
        o->first[s] = goes_on ? o->first[s - 1] : s;
        o->places[o->first[s]].n++;
        o->nplaces += !goes_on;
    }
}

// ---- What a stage needs -------------------------------------------------------------------------
static bool writes(const tensor_stage *st, tensor_val v) {
    for (uint32_t t = 0; t < st->ntargets; t++)
        if (st->targets[t].val == v) return true;
    return false;
}

static void need(ordering *o, uint32_t stage, uint32_t needed_stage, bool elsewhere) {
    const uint32_t at = o->first[stage], needed = o->first[needed_stage];
    place *p = &o->places[at];
    uint32_t i = 0;
    while (i < p->needs.len && p->needs.data[i] != needed) i++;
    if (i < p->needs.len) p->elsewhere.data[i] |= elsewhere;
    if (at == needed || i < p->needs.len) return;
    VEC_PUSH(o->arena, &p->needs, needed);
    VEC_PUSH(o->arena, &p->elsewhere, elsewhere);
    VEC_PUSH(o->arena, &o->places[needed].readers, at);
}

static bool fills(const ordering *o, uint32_t at, tensor_val v) {
    bool does = false;
    for (uint32_t i = 0; i < o->places[at].n; i++) does |= writes(&o->op->stages.data[at + i], v);
    return does;
}

// A stage that fills part of what it reads needs the parts before.
static void need_value(ordering *o, uint32_t stage, tensor_val v, bool elsewhere) {
    const tensor_val_info *i = &o->op->vals.data[v];
    for (uint32_t k = 0; i->role == VAL_CLASSES && k < i->nkeys; k++)
        need_value(o, stage, i->keys[k], true);
    if (i->role == VAL_CLASSES) VEC_PUSH(o->arena, &o->places[o->first[stage]].classes, v);
    const bool part = fills(o, o->first[stage], v);
    for (uint32_t w = 0; w < o->writers[v].len; w++)
        if (o->writers[v].data[w] < stage || !part)
            need(o, stage, o->writers[v].data[w], elsewhere);
}

static bool is_elsewhere(const ordering *o, uint32_t stage, const tensor_node *load) {
    const tensor_stage *st = &o->op->stages.data[stage];
    bool is = load->nargs > st->nleft;
    for (uint32_t i = 0; i < load->nargs && !is; i++) {
        const tensor_node *n = tensor_node_at(o->op, load->args[i]);
        is = n->op == TENSOR_VAR_OP ? n->imm.i != st->left[i] : n->op != TENSOR_INDEX_OP;
    }
    return is;
}

// What lies where a parameter lies is written once all others have read the parameter.
static void be_overwritten(ordering *o, uint32_t stage, const tensor_node *load) {
    const tensor_op *op = o->op;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const bool over = op->vals.data[v].inplace == (tensor_val)load->imm.i;
        if (!over || fills(o, o->first[stage], v)) continue;
        for (uint32_t w = 0; w < o->writers[v].len; w++)
            VEC_PUSH(o->arena, &o->overwrites,
                     ((overwrite){o->writers[v].data[w], stage, is_elsewhere(o, stage, load)}));
    }
}

static void need_read(ordering *o, uint32_t stage, tensor_expr e) {
    if (o->stamp[e] == o->stamps) return;
    o->stamp[e] = o->stamps;
    const tensor_node n = *tensor_node_at(o->op, e);
    for (uint32_t i = 0; i < n.nargs; i++) need_read(o, stage, n.args[i]);
    if (n.op != TENSOR_LOAD_OP) return;
    need_value(o, stage, (tensor_val)n.imm.i, is_elsewhere(o, stage, &n));
    be_overwritten(o, stage, &n);
}

static void need_all(ordering *o, uint32_t stage, const tensor_expr *e, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) need_read(o, stage, e[i]);
}

// The sizes of what it runs over may be counts of classes.
static void need_classes(ordering *o, uint32_t stage, const tensor_var *vars, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const tensor_space_info *s = &o->op->spaces.data[o->op->vars.data[vars[i]].space];
        if (s->kind == SPACE_COUNT_OF) need_value(o, stage, s->classes, true);
    }
}

static void find_needs(ordering *o, uint32_t stage) {
    const tensor_stage *st = &o->op->stages.data[stage];
    o->stamps++;
    need_classes(o, stage, st->left, st->nleft);
    need_classes(o, stage, st->bound, st->nbound);
    for (uint32_t k = 0; k < st->nkeys; k++) {
        need_read(o, stage, st->keys[k].lhs);
        need_read(o, stage, st->keys[k].rhs);
    }
    need_all(o, stage, st->filters, st->nfilters);
    need_all(o, stage, st->body, st->nbody);
    need_all(o, stage, st->orelse, st->nelse);
    for (uint32_t t = 0; t < st->ntargets; t++)
        need_all(o, stage, st->targets[t].index, st->targets[t].rank);
}

// ---- Who writes a value -------------------------------------------------------------------------
static const tensor_target *target_of(const tensor_stage *st, tensor_val v) {
    for (uint32_t t = 0; t < st->ntargets; t++)
        if (st->targets[t].val == v) return &st->targets[t];
    return NULL;
}

// y[v, 0] before y[v, 1].
static bool comes_first(const tensor_op *op, uint32_t a, uint32_t b, tensor_val v) {
    const tensor_target *x = target_of(&op->stages.data[a], v),
                        *y = target_of(&op->stages.data[b], v);
    for (uint32_t i = 0; i < x->rank; i++) {
        const tensor_at p = tensor_target_at(op, x->index[i]),
                        q = tensor_target_at(op, y->index[i]);
        const bool both = p.kind == TENSOR_AT_CONST && q.kind == TENSOR_AT_CONST;
        if (both && p.offset != q.offset) return p.offset < q.offset;
    }
    return false;
}

static void find_writers(ordering *o, uint32_t stage) {
    const tensor_stage *st = &o->op->stages.data[stage];
    for (uint32_t t = 0; t < st->ntargets; t++) {
        const tensor_val v = st->targets[t].val;
        numbers *w = &o->writers[v];
        if (w->len && w->data[w->len - 1] == stage) continue;
        VEC_PUSH(o->arena, w, stage);
        for (uint32_t i = w->len - 1; i && comes_first(o->op, stage, w->data[i - 1], v); i--)
            w->data[i] = w->data[i - 1], w->data[i - 1] = stage;
    }
}

// ---- Order --------------------------------------------------------------------------------------
// false: stages need each other.
static bool find_levels(ordering *o) {
    numbers done = {0};
    uint32_t *missing = ARENA_ARRAY(o->arena, uint32_t, o->op->stages.len + 1);
    for (uint32_t s = 0; s < o->op->stages.len; s++)
        if (!(missing[s] = o->places[s].needs.len) && o->places[s].n) VEC_PUSH(o->arena, &done, s);
    for (uint32_t i = 0; i < done.len; i++) {
        const place *p = &o->places[done.data[i]];
        for (uint32_t r = 0; r < p->readers.len; r++) {
            place *reader = &o->places[p->readers.data[r]];
            if (reader->level <= p->level) reader->level = p->level + 1;
            if (!--missing[p->readers.data[r]]) VEC_PUSH(o->arena, &done, p->readers.data[r]);
        }
    }
    return done.len == o->nplaces;
}

// Whether a's left indices are a prefix of b's.
static bool is_prefix(const tensor_op *op, const tensor_stage *a, const tensor_stage *b) {
    bool is = a->nleft <= b->nleft;
    for (uint32_t i = 0; i < a->nleft && is; i++)
        is = op->vars.data[a->left[i]].space == op->vars.data[b->left[i]].space;
    return is;
}

typedef enum { NOT_AT_ALL, AT_ITS_POINT, ELSEWHERE } reading;
static reading reads(const ordering *o, uint32_t stage, uint32_t other) {
    const place *p = &o->places[stage];
    for (uint32_t i = 0; i < p->needs.len; i++)
        if (p->needs.data[i] == other) return p->elsewhere.data[i] ? ELSEWHERE : AT_ITS_POINT;
    return NOT_AT_ALL;
}

static bool read_the_same(const ordering *o, uint32_t a, uint32_t b) {
    const numbers *x = &o->places[a].needs;
    bool same = false;
    for (uint32_t i = 0; i < x->len && !same; i++) same = reads(o, b, x->data[i]) == AT_ITS_POINT;
    return same;
}

// Whether a stage had better stand right before the last one, whose loops it can share: both run
// over the same, or one has at hand what the other needs.
static bool belongs(const ordering *o, uint32_t stage, uint32_t last) {
    const tensor_stage *x = &o->op->stages.data[stage], *y = &o->op->stages.data[last];
    const reading how = reads(o, last, stage);
    if (x->loop != TENSOR_NO_LOOP || y->loop != TENSOR_NO_LOOP) return false;
    return is_prefix(o->op, x, y) && how != ELSEWHERE &&
           (x->nleft == y->nleft || how == AT_ITS_POINT || read_the_same(o, stage, last));
}

// Whether b is the better one before `last`, which is UINT32_MAX of the op's last stage. Of those
// that belong there, a deeper one: what comes before it can then be a prefix of both. Of results
// that nothing reads, the one given later; of others the one that more has to be computed for.
static bool is_better(const ordering *o, uint32_t b, uint32_t a, uint32_t last) {
    const tensor_stage *x = &o->op->stages.data[a], *y = &o->op->stages.data[b];
    const bool has = last != UINT32_MAX && belongs(o, a, last),
               would = last != UINT32_MAX && belongs(o, b, last);
    if (has != would) return would;
    if (has) return y->nleft >= x->nleft;
    if (!o->places[a].readers.len && !o->places[b].readers.len) return true;
    if (o->places[a].level != o->places[b].level) return o->places[b].level > o->places[a].level;
    return y->nleft <= x->nleft;
}

static uint32_t take(ordering *o, uint32_t last) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < o->ready.len; i++)
        if (is_better(o, o->ready.data[i], o->ready.data[best], last)) best = i;
    const uint32_t stage = o->ready.data[best];
    memmove(o->ready.data + best, o->ready.data + best + 1,
            (o->ready.len - best - 1) * sizeof *o->ready.data);
    o->ready.len--;
    return stage;
}

static void find_ready(ordering *o, uint32_t stage) {
    place *p = &o->places[stage];
    p->waits = p->readers.len;
    if (!p->waits) VEC_PUSH(o->arena, &o->ready, stage);
}

static void put_from_the_last(ordering *o, uint32_t *to) {
    uint32_t last = UINT32_MAX;
    for (uint32_t left = o->op->stages.len; left;) {
        const uint32_t stage = take(o, last);
        const numbers *needs = &o->places[stage].needs;
        last = stage;
        for (uint32_t i = o->places[stage].n; i--;) to[--left] = stage + i;
        for (uint32_t i = 0; i < needs->len; i++)
            if (!--o->places[needs->data[i]].waits) VEC_PUSH(o->arena, &o->ready, needs->data[i]);
    }
}

// Results come to be ready in the order in which the op gives them.
static void begin(ordering *o) {
    bool *met = ARENA_ARRAY(o->arena, bool, o->op->stages.len + 1);
    for (tensor_val v = 0; v < o->op->vals.len; v++)
        for (uint32_t w = 0; w < o->writers[v].len; w++) {
            const uint32_t stage = o->first[o->writers[v].data[w]];
            if (!met[stage]) find_ready(o, stage);
            met[stage] = true;
        }
}

// ---- Numbers ------------------------------------------------------------------------------------
// The caller's come first, as they stand; then as stages meet them.
static void number(uint32_t *as, uint32_t *next, uint32_t x) {
    if (as[x] == UINT32_MAX) as[x] = (*next)++;
}

// Recurrences go by the order of their stages.
static void number_loops(const ordering *o, const uint32_t *stages) {
    tensor_op *op = o->op;
    uint32_t *as = ARENA_ARRAY(o->arena, uint32_t, op->loops.len + 1), next = 0;
    tensor_loop *old = ARENA_ARRAY(o->arena, tensor_loop, op->loops.len + 1);
    for (uint32_t l = 0; l < op->loops.len; l++) old[l] = op->loops.data[l], as[l] = UINT32_MAX;
    for (uint32_t s = 0; s < op->stages.len; s++) {
        uint32_t *loop = &op->stages.data[stages[s]].loop;
        if (*loop == TENSOR_NO_LOOP) continue;
        number(as, &next, *loop);
        *loop = as[*loop];
    }
    for (uint32_t l = 0; l < op->loops.len; l++) op->loops.data[as[l]] = old[l];
}

static const tensor_val *number_values(const ordering *o, const uint32_t *stages) {
    const tensor_op *op = o->op;
    tensor_val *as = ARENA_ARRAY(o->arena, tensor_val, op->vals.len + 1), next = op->nparams;
    for (tensor_val v = 0; v < op->vals.len; v++) as[v] = v < op->nparams ? v : UINT32_MAX;
    for (uint32_t s = 0; s < op->stages.len; s++) {
        const numbers *classes = &o->places[stages[s]].classes;
        for (uint32_t i = 0; i < classes->len; i++) number(as, &next, classes->data[i]);
        const tensor_stage *st = &op->stages.data[stages[s]];
        for (uint32_t t = 0; t < st->ntargets; t++) number(as, &next, st->targets[t].val);
    }
    for (tensor_val v = op->nparams; v < op->vals.len; v++) number(as, &next, v);
    return as;
}

// Those before the last one that a parameter has are the caller's.
static tensor_space callers_spaces(const tensor_op *op) {
    tensor_space end = 0;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->type == DT_INDEX && i->into >= end) end = i->into + 1;
        for (uint32_t k = 0; k < i->rank; k++)
            if (i->axes[k] >= end) end = i->axes[k] + 1;
    }
    return end;
}

static void number_axes(const tensor_op *op, uint32_t *as, uint32_t *next, tensor_val v) {
    const tensor_val_info *i = &op->vals.data[v];
    for (uint32_t k = 0; k < i->rank; k++) number(as, next, i->axes[k]);
    if (i->type == DT_INDEX) number(as, next, i->into);
}

static const tensor_space *number_spaces(const ordering *o, const uint32_t *stages) {
    const tensor_op *op = o->op;
    tensor_space *as = ARENA_ARRAY(o->arena, tensor_space, op->spaces.len + 1),
                 end = callers_spaces(op), next = end;
    for (tensor_space s = 0; s < op->spaces.len; s++) as[s] = s < end ? s : UINT32_MAX;
    for (uint32_t s = 0; s < op->stages.len; s++) {
        const tensor_stage *st = &op->stages.data[stages[s]];
        for (uint32_t t = 0; t < st->ntargets; t++) number_axes(op, as, &next, st->targets[t].val);
        for (uint32_t i = 0; i < st->nleft; i++)
            number(as, &next, op->vars.data[st->left[i]].space);
        for (uint32_t i = 0; i < st->nbound; i++)
            number(as, &next, op->vars.data[st->bound[i]].space);
    }
    for (tensor_space s = 0; s < op->spaces.len; s++) number(as, &next, s);
    return as;
}

static void apply(const ordering *o, const uint32_t *stages) {
    tensor_op *op = o->op;
    tensor_stage *to = ARENA_ARRAY(o->arena, tensor_stage, op->stages.len + 1);
    const tensor_val *vals = number_values(o, stages);
    const tensor_space *spaces = number_spaces(o, stages);
    number_loops(o, stages);
    for (uint32_t s = 0; s < op->stages.len; s++) to[s] = op->stages.data[stages[s]];
    memcpy(op->stages.data, to, op->stages.len * sizeof *to);
    tensor_renumber(op, vals, spaces);
}

void tensor_order_stages(tensor_op *op) {
    if (!op->stages.len) return;
    ordering o = {.op = op, .arena = arena_new()};
    o.stamp = ARENA_ARRAY(o.arena, uint32_t, op->exprs.len + 1);
    o.writers = ARENA_ARRAY(o.arena, numbers, op->vals.len + 1);
    o.first = ARENA_ARRAY(o.arena, uint32_t, op->stages.len + 1);
    o.places = ARENA_ARRAY(o.arena, place, op->stages.len + 1);
    find_places(&o);
    for (uint32_t s = 0; s < op->stages.len; s++) find_writers(&o, s);
    for (uint32_t s = 0; s < op->stages.len; s++) find_needs(&o, s);
    for (uint32_t i = 0; i < o.overwrites.len; i++)
        need(&o, o.overwrites.data[i].by, o.overwrites.data[i].reader,
             o.overwrites.data[i].elsewhere);
    uint32_t *stages = ARENA_ARRAY(o.arena, uint32_t, op->stages.len + 1);
    if (find_levels(&o)) {
        begin(&o);
        put_from_the_last(&o, stages);
        apply(&o, stages);
    }
    arena_free(o.arena);
}
