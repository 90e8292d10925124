// What lanes hold of inputs while a reduction is walked: `keep src, w registers` with a tile of the
// index, or `shared` (axes/held_shared.c). What is read of them at the index, and otherwise where
// all lanes of the walk are, is loaded for a tile at once.
//     tile e 32;  keep src registers;  →  for e in … [serial 32, serial] hold (src[e]) lanes 32 { … }
#include "axes/axes.h"
#include "base/base.h"

#include <string.h>

struct held_loop {
    loop_node *loop;
    index_cut cut;
    const schedule_cell *cell;   // that asks for it
};
typedef struct held_loop held_loop;
typedef struct {
    planner *p;
    const held_reader *reader;
    tensor_expr at;   // the point of the walked index
    VEC(tensor_expr) entries;
    schedule_cell *cell;   // one that asks for them; NULL: none does
    bool *seen;            // per expression
    bool shared;           // entries in shared memory are asked for, now
} holding;

// ---- What is read -------------------------------------------------------------------------------
static schedule_cell *asked(const holding *h, tensor_val v) {
    const tensor_val_info *i = &h->p->op->vals.data[v];
    if (i->role != VAL_MAP && i->role != VAL_TENSOR) return NULL;
    const tensor_stage *st = h->reader->stage;
    schedule_cell *c = schedule_find(h->p->s, st->id, SCHEDULE_KEEP, i->id);
    if (c && h->shared) return plan_reads_tile(h->p, st, v, h->reader->points) ? c : NULL;
    return c && plan_kept_place(c) == KEPT_REGISTERS ? c : NULL;
}

static bool overwritten(const holding *h, tensor_val v) {
    for (tensor_val w = 0; w < h->p->op->nparams; w++)
        if (h->p->op->vals.data[w].inplace == v) return true;
    return false;
}

static bool among(tensor_var v, const tensor_var *vars, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (vars[i] == v) return true;
    return false;
}

// It is bound outside the loop.
static bool outside(const holding *h, tensor_var v) {
    const held_reader *r = h->reader;
    if (among(v, r->stage->bound + r->within, r->stage->nbound - r->within)) return false;
    return !r->points && !(h->p->cut.carried && *h->p->cut.carried == v);
}

static tensor_expr entry_of(holding *h, tensor_expr e);

// An index of an entry; 0: it is none, or may be; *at: it is a point of the walk.
static tensor_expr index_of(holding *h, tensor_expr e, bool *at) {
    const tensor_node n = *tensor_node_at(h->p->op, e);
    bool point = n.op == TENSOR_VAR_OP && (tensor_var)n.imm.i == h->reader->var;
    if (n.op == TENSOR_VAR_OP && !point) return outside(h, (tensor_var)n.imm.i) ? e : 0;
    *at = true;
    if (point) return h->at;
    bool some = n.op == TENSOR_LOAD_OP && !(h->p->op->vals.data[n.imm.i].facts & FACT_PARTIAL);
    return some ? entry_of(h, e) : 0;
}

// A load as an entry of the loop; 0: it is none.
static tensor_expr entry_of(holding *h, tensor_expr e) {
    const tensor_node n = *tensor_node_at(h->p->op, e);
    tensor_val v = (tensor_val)n.imm.i;
    tensor_expr index[8];
    bool at = false;
    if (n.op != TENSOR_LOAD_OP || !asked(h, v) || overwritten(h, v)) return 0;
    for (uint32_t i = 0; i < n.nargs; i++)
        if (!(index[i] = index_of(h, n.args[i], &at))) return 0;
    return at ? tensor_load(h->p->op, v, index, n.nargs, NO_SPAN) : 0;
}

static void add(holding *h, tensor_expr entry) {
    for (uint32_t i = 0; i < h->entries.len; i++)
        if (h->entries.data[i] == entry) return;
    VEC_PUSH(h->p->arena, &h->entries, entry);
}

// What an entry is read at comes before it.
static void collect(holding *h, tensor_expr e) {
    const tensor_node n = *tensor_node_at(h->p->op, e);
    if (h->seen[e]) return;
    h->seen[e] = true;
    for (uint32_t i = 0; i < n.nargs; i++) collect(h, n.args[i]);
    tensor_expr entry = entry_of(h, e);
    if (!entry) return;
    h->cell = asked(h, (tensor_val)n.imm.i);
    h->cell->consumed = true;
    plan_refuse_swizzle(h->p, h->cell, "what is read of it at once is entries, not rows");
    if (tensor_node_at(h->p->op, h->at)->op == TENSOR_LOAD_OP) add(h, h->at);
    add(h, entry);
}

static void collect_reader(holding *h) {
    const tensor_stage *st = h->reader->stage;
    h->seen = ARENA_ARRAY(h->p->arena, bool, h->p->op->exprs.len + 1);
    for (uint32_t i = 0; i < st->nbody; i++) collect(h, st->body[i]);
    for (uint32_t i = 0; i < st->nfilters; i++) collect(h, st->filters[i]);
    for (uint32_t i = 0; i < st->nkeys; i++)
        if (!h->reader->walked || !h->reader->walked[i])
            collect(h, st->keys[i].lhs), collect(h, st->keys[i].rhs);
}

// ---- Refusals -----------------------------------------------------------------------------------
static bool in_shared(const held_loop *h) { return plan_kept_place(h->cell) == KEPT_SHARED; }

static diagnostic *cannot(planner *p, diag_code code, const held_loop *h, tensor_val v,
                          const char *why) {
    return plan_refuse(p, code, h->cell->at, "'%s' cannot be kept in %s in the loop over '%s': %s",
                       p->op->vals.data[v].name, in_shared(h) ? "shared memory" : "registers",
                       plan_index_text(p, h->cut.var), why);
}

static bool takes_threads(const loop_digit *d) {
    return d->place == LOOP_LANE_PLACE || d->place == LOOP_GROUP_PLACE;
}

// A statement by which the points of a thread are not evenly apart; NULL: they are.
static const schedule_cell *uneven(const index_cut *c, const loop_node *n) {
    uint32_t i = 0;
    while (i < n->ndigits && takes_threads(&n->digits[i])) i++;
    while (i < n->ndigits && !takes_threads(&n->digits[i])) i++;
    while (i < n->ndigits && takes_threads(&n->digits[i])) i++;
    if (n->rounds.pad) return c->cell[SCHEDULE_PAD];
    if (n->ndigits && n->digits[0].place == LOOP_VECTOR_PLACE) return c->cell[SCHEDULE_VECTOR];
    return i < n->ndigits ? c->cell[SCHEDULE_REGISTERS] : NULL;
}

// That a thread has of a round.
static uint32_t points_of(const loop_node *n) {
    uint32_t points = 1;
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (!takes_threads(&n->digits[i])) points *= n->digits[i].extent;
    return points;
}

static bool can_hold(planner *p, const held_loop *h) {
    const loop_node *n = h->loop;
    tensor_val v = (tensor_val)tensor_node_at(p->op, n->holding.loads[n->holding.n - 1])->imm.i;
    const schedule_cell *other = uneven(&h->cut, n);
    const char *name = plan_index_text(p, h->cut.var);
    diagnostic *d;
    if (!p->machine->gpu) {
        d = cannot(p, E0540, h, v,
                   "a block of the host is one thread, which has no lanes to share it out to");
        if (d) diag_help(d, "leave it out: what a thread reads is in its registers");
    } else if (other) {
        d = cannot(p, E0541, h, v, "the points of a thread are not evenly apart");
        if (d) diag_note(d, other->at, "by '%s %s'", schedule_verb_text(other->verb), name);
        if (d && other->verb == SCHEDULE_REGISTERS)
            diag_help(d, "say `strided` there, or leave one of the two out");
        else if (d) diag_help(d, "leave one of the two out");
    } else if (points_of(n) < 2) {
        d = cannot(p, E0540, h, v, "there is no tile to load at once");
        if (d)
            diag_help(d, "take a tile of as many points as lanes share a row: `tile %s 32`", name);
    } else return true;
    return false;
}

static holding held_in(planner *p, const held_readers *by, tensor_expr at, bool shared) {
    holding h = {.p = p, .at = at, .shared = shared};
    for (uint32_t i = 0; i < by->len; i++) {
        h.reader = &by->data[i];
        collect_reader(&h);
    }
    return h;
}

static void refuse_two(planner *p, const index_cut *c, const holding *h, const holding *o) {
    diagnostic *d = plan_refuse(p, E0541, o->cell->at,
                                "entries of one loop over '%s' are kept in one place, not in two",
                                plan_index_text(p, c->var));
    if (d) diag_note(d, h->cell->at, "the other place");
    if (d) diag_help(d, "say one place for all of them: `keep …, … shared`");
}

void plan_hold(planner *p, const held_readers *by, const index_cut *c, tensor_expr at,
               loop_node *n) {
    holding h = held_in(p, by, at, false), o = held_in(p, by, at, true);
    if (h.entries.len && o.entries.len) refuse_two(p, c, &h, &o);
    if (!h.entries.len) h = o;
    if (!h.entries.len || p->failed) return;
    n->holding.n = h.entries.len;
    n->holding.loads = h.entries.data;
    n->holding.shared = h.shared;
    plan_hold_ahead(p, c, n);
    held_loop *l = ARENA_NEW(p->arena, held_loop);
    *l = (held_loop){n, *c, h.cell};
    if (can_hold(p, l)) VEC_PUSH(p->arena, &p->loops.held, l);
    else n->holding = (loop_holding){0};
}

// ---- Lanes --------------------------------------------------------------------------------------
// When threads are dealt out: which of them a loop's rows and entries are the same for.
typedef struct {
    planner *p;
    const loop_kernel *kernel;
    uint32_t *strides;   // per variable: of the digits it depends on, or'ed
    // per variable: one it depends on, with copies in a thread; NO_COPIES: none
    tensor_var *copied;
    bool *seen;
} settling;
enum { NO_COPIES = UINT32_MAX };

typedef struct {
    uint32_t strides;
    tensor_var copied;
} dependence;

static void join(dependence *d, dependence e) {
    d->strides |= e.strides;
    if (d->copied == NO_COPIES) d->copied = e.copied;
}

static dependence depends_in(settling *s, tensor_expr e) {
    dependence d = {0, NO_COPIES};
    const tensor_node *n = tensor_node_at(s->p->op, e);
    if (s->seen[e]) return d;
    s->seen[e] = true;
    if (n->op == TENSOR_VAR_OP) join(&d, (dependence){s->strides[n->imm.i], s->copied[n->imm.i]});
    for (uint32_t i = 0; i < n->nargs; i++) join(&d, depends_in(s, n->args[i]));
    return d;
}

static dependence depends(settling *s, tensor_expr e) {
    memset(s->seen, 0, s->p->op->exprs.len * sizeof *s->seen);
    return e ? depends_in(s, e) : (dependence){0, NO_COPIES};
}

static dependence of_digits(const settling *s, const loop_node *n) {
    dependence d = {0, n->rounds.unroll > 1 ? n->var : NO_COPIES};
    for (uint32_t i = 0; i < n->ndigits; i++) {
        const loop_digit *g = &n->digits[i];
        if (g->extent == 1 || g->place == LOOP_SERIAL_PLACE) continue;
        if (g->place == LOOP_LANE_PLACE) d.strides |= g->unit;
        else if (g->place == LOOP_GROUP_PLACE) d.strides |= g->unit * s->kernel->lanes;
        else d.copied = n->var;
    }
    return d;
}

static bool fits(const loop_node *n, uint32_t lanes) {
    uint32_t all = points_of(n), written = 1;
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place == LOOP_UNROLL_PLACE || n->digits[i].place == LOOP_REGISTER_PLACE)
            written *= n->digits[i].extent;
    if (all <= lanes || written == all) return all <= lanes || all % lanes == 0;
    return all % lanes == 0 && (written % lanes == 0 || lanes % written == 0);
}

// Steps that go from register to register are a digit of their own.
static void part_registers(loop_node *n) {
    uint32_t at = 0;
    while (at < n->ndigits && n->digits[at].place != LOOP_SERIAL_PLACE) at++;
    if (at == n->ndigits) return;
    uint32_t inside = n->holding.lanes / (points_of(n) / n->digits[at].extent);
    if (inside <= 1 || n->digits[at].extent <= inside) return;
    for (uint32_t i = n->ndigits++; i > at; i--) n->digits[i] = n->digits[i - 1];
    n->digits[at].extent = inside;
    n->digits[at + 1].extent /= inside;
}

static uint32_t lowest(uint32_t bits) { return bits & (~bits + 1); }

static bool refuse_copies(settling *s, const held_loop *h, tensor_expr entry, tensor_var copied) {
    const tensor_node *x = tensor_node_at(s->p->op, entry);
    const char *name = plan_index_text(s->p, copied);
    diagnostic *d = cannot(
        s->p, E0541, h, (tensor_val)x->imm.i,
        arena_printf(s->p->arena, "a thread reads it at several '%s' at once", name));
    if (d) diag_help(d, "leave out what gives a thread several '%s', or keep less", name);
    return false;
}

// Threads that are the same but for this many low bits of their number read the same entries; 0:
// refused.
static uint32_t together(settling *s, const held_loop *h, dependence rows) {
    const loop_node *n = h->loop;
    uint32_t apart = rows.strides | of_digits(s, n).strides | s->kernel->threads;
    if (!n->holding.shared) apart |= s->p->machine->lanes;
    for (uint32_t i = 0; i < n->holding.n; i++) {
        dependence d = depends(s, n->holding.loads[i]);
        if (d.copied != NO_COPIES && !refuse_copies(s, h, n->holding.loads[i], d.copied)) return 0;
        apart |= d.strides;
        if (lowest(apart) > 1) continue;
        diagnostic *f = cannot(s->p, E0540, h,
                               (tensor_val)tensor_node_at(s->p->op, n->holding.loads[i])->imm.i,
                               "no two lanes that are neighbours read the same of it");
        if (f)
            diag_help(
                f,
                "give what is computed at each '%s' to lanes, or say it of other stages alone: `STAGE: keep …`",
                plan_index_text(s->p, h->cut.var));
        return 0;
    }
    return lowest(apart);
}

static void refuse_uneven(settling *s, const held_loop *h, uint32_t points, uint32_t lanes) {
    const schedule_cell *tile = h->cut.cell[SCHEDULE_TILE], *unroll = h->cut.cell[SCHEDULE_UNROLL];
    const char *name = plan_index_text(s->p, h->cut.var);
    diagnostic *d = plan_refuse(
        s->p, E0542, tile ? tile->at : h->cell->at,
        "%u points of '%s', which a thread goes through, cannot be shared out to %u lanes%s",
        points, name, lanes, unroll ? ", with the steps that are written out" : "");
    if (!d) return;
    if (tile) diag_note(d, h->cell->at, "they keep what is read for it");
    long long even = (points / lanes + 1) * lanes * (tile ? h->cut.tile / points : 1);
    if (unroll) diag_help(d, "take powers of two: `tile %s %lld;  unroll %s 2;`", name, even, name);
    else diag_help(d, "take a multiple: `tile %s %lld`", name, even);
}

static void choose_lanes(settling *s, const held_loop *h, dependence rows) {
    loop_node *n = h->loop;
    uint32_t most = together(s, h, rows), points = points_of(n);
    if (!most) return;
    n->holding.lanes = most;
    if (n->holding.shared) return;   // each entry has a place of its own
    while (n->holding.lanes / 2 >= points) n->holding.lanes /= 2;
    while (n->holding.lanes > 1 && !fits(n, n->holding.lanes)) n->holding.lanes /= 2;
    if (n->holding.lanes > 1) part_registers(n);
    else refuse_uneven(s, h, points, most);
}

static const held_loop *held_at(const settling *s, const loop_node *n) {
    for (uint32_t i = 0; i < s->p->loops.held.len; i++)
        if (s->p->loops.held.data[i]->loop == n) return s->p->loops.held.data[i];
    ICE("a loop that lanes hold entries for was not planned");
}

static void settle_in(settling *s, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        loop_node *n = body->data[i];
        dependence d = depends(s, n->lo);
        join(&d, depends(s, n->hi));
        if (n->kind == LOOP_LET) join(&d, depends(s, n->value));
        if (n->kind == LOOP_FOR) s->strides[n->var] = 0, s->copied[n->var] = NO_COPIES;
        if (n->holding.n) choose_lanes(s, held_at(s, n), d);
        if (n->kind == LOOP_FOR) join(&d, of_digits(s, n));
        if (n->kind == LOOP_FOR || n->kind == LOOP_LET)
            s->strides[n->var] = d.strides, s->copied[n->var] = d.copied;
        settle_in(s, &n->body);
    }
}

void plan_held_lanes(planner *p, const loop_kernel *k) {
    uint32_t vars = p->op->vars.len + 1;
    settling s = {.p = p,
                  .kernel = k,
                  .strides = ARENA_ARRAY(p->arena, uint32_t, vars),
                  .copied = ARENA_ARRAY(p->arena, tensor_var, vars)};
    if (!p->loops.held.len) return;
    s.seen = ARENA_ARRAY(p->arena, bool, p->op->exprs.len + 1);
    for (tensor_var v = 0; v < vars; v++) s.copied[v] = NO_COPIES;
    settle_in(&s, &k->body);
    for (uint32_t i = 0; i < p->loops.held.len && !p->failed; i++) {
        const held_loop *h = p->loops.held.data[i];
        if (h->loop->holding.shared)
            plan_check_held_room(p, k, h->loop, h->cell, plan_index_text(p, h->cut.var));
    }
    p->loops.held.len = 0;
}
