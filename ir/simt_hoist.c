// Loads that give the same in every round of a loop are made before it, with what they need: the
// row that a map takes all points of a tile to is read once a tile, exchanged among lanes too, and
// so is what shared memory holds for it, which no round writes. So are divisions, which are text of
// the machine's to LLVM, that it does not move. What else is computed alike stays: LLVM weighs it
// against registers. Nothing is read for a loop without a round: unless its bounds are known, it
// stands with what left it under the condition of its first round.
//     for (i = lo to hi …) { x = ld invariant row; … }  →  if lo < hi { x = ld invariant row; for (…) { … } }
#include "simt_internal.h"

#include <string.h>

typedef VEC(simt_instr) instr_list;
typedef struct {
    simt_func *f;
    arena *a;
    VEC(uint32_t) loop;     // per value: the number of the loop that it may change in; 0: of none
    VEC(uint32_t) needed;   // per value: that of the last loop for whose loads and divisions it is
    VEC(uint32_t) gone;     // per instruction: that of the last loop it left
    uint32_t loops;
    bool shared_stays;   // while the loop at hand runs
} hoisting;

static simt_instr_info *at(const hoisting *h, simt_instr i) { return &h->f->instrs.data[i]; }
static simt_region_info *region(const hoisting *h, simt_region r) { return &h->f->regions.data[r]; }

// ---- What changes -------------------------------------------------------------------------------
static void mark(hoisting *h, simt_region r, uint32_t number) {
    for (uint32_t k = 0; k < region(h, r)->params.len; k++)
        h->loop.data[region(h, r)->params.data[k]] = number;
    for (uint32_t k = 0; k < region(h, r)->instrs.len; k++) {
        const simt_instr_info *i = at(h, region(h, r)->instrs.data[k]);
        for (uint32_t n = 0; n < i->nresults; n++) h->loop.data[i->results[n]] = number;
        for (uint32_t n = 0; n < i->nregions; n++) mark(h, i->regions[n], number);
    }
}

static void leaves(hoisting *h, const simt_instr_info *i) {
    for (uint32_t n = 0; n < i->nresults; n++) h->loop.data[i->results[n]] = 0;
}

static bool is_shared(const hoisting *h, const simt_instr_info *i) {
    return i->nargs && simt_typeof(h->f, i->args[0]).element == SIMT_PTR_SHARED;
}

// Whether no thread may write shared memory while the loop runs: none in it, nor elsewhere between
// its barriers.
static bool leaves_shared(const hoisting *h, simt_region r) {
    for (uint32_t k = 0; k < region(h, r)->instrs.len; k++) {
        const simt_instr_info *i = at(h, region(h, r)->instrs.data[k]);
        uint8_t flags = simt_op_table(i->op)->flags;
        bool orders = i->op == SIMT_BARRIER || i->op == SIMT_BARRIER_ANY || i->op == SIMT_FENCE ||
                      i->op == SIMT_WARP_SYNC || i->op == SIMT_COPY_WAIT || i->op == SIMT_FENCE_MMA;
        if (orders || (!i->nregions && flags & SIMT_WRITES && is_shared(h, i))) return false;
        for (uint32_t n = 0; n < i->nregions; n++)
            if (!leaves_shared(h, i->regions[n])) return false;
    }
    return true;
}

static bool divides(const hoisting *h, const simt_instr_info *i) {
    return i->op == SIMT_DIV && simt_is_float(simt_typeof(h->f, i->results[0]).element);
}

// Whole warps come to it, in the loop as before it.
static bool exchanges(const simt_instr_info *i) { return i->op == SIMT_SHFL_BFLY; }

static bool may_leave(hoisting *h, simt_instr instr, bool *dear);

static bool arm_may_leave(hoisting *h, simt_region r, bool *dear) {
    for (uint32_t k = 0; k < region(h, r)->instrs.len; k++) {
        const simt_instr_info *i = at(h, region(h, r)->instrs.data[k]);
        if (i->op != SIMT_YIELD && !may_leave(h, region(h, r)->instrs.data[k], dear)) return false;
        for (uint32_t n = 0; n < i->nargs; n++)
            if (h->loop.data[i->args[n]] == h->loops) return false;
        leaves(h, i);
    }
    return true;
}

static bool may_leave(hoisting *h, simt_instr instr, bool *dear) {
    const simt_instr_info *i = at(h, instr);
    bool load = i->op == SIMT_LD && !i->mem.pinned &&
                (i->mem.invariant || (h->shared_stays && is_shared(h, i))),
         some = load || divides(h, i) || exchanges(i);
    if (!load && !exchanges(i) && i->op != SIMT_IF && simt_op_table(i->op)->flags != SIMT_PURE)
        return false;
    for (uint32_t n = 0; n < i->nargs; n++)
        if (h->loop.data[i->args[n]] == h->loops) return false;
    for (uint32_t n = 0; n < i->nregions; n++) {
        if (arm_may_leave(h, i->regions[n], &some)) continue;
        for (uint32_t m = 0; m <= n; m++) mark(h, i->regions[m], h->loops);
        return false;
    }
    *dear |= some;
    return true;
}

// What is computed in each round, alike: of a mask what it guards too.
static bool find(hoisting *h, simt_region body, instr_list *out) {
    bool dear = false;
    for (uint32_t k = 0; k < region(h, body)->instrs.len; k++) {
        simt_instr instr = region(h, body)->instrs.data[k];
        const simt_instr_info *i = at(h, instr);
        if (may_leave(h, instr, &dear)) {
            leaves(h, i);
            h->gone.data[instr] = h->loops;
            VEC_PUSH(h->a, out, instr);
        } else if (i->op == SIMT_IF && i->aux == SIMT_IF_MASK) {
            dear |= find(h, i->regions[0], out);
        }
    }
    return dear;
}

static bool is_dear(const hoisting *h, const simt_instr_info *i) {
    bool some = i->op == SIMT_LD || divides(h, i) || exchanges(i);
    for (uint32_t n = 0; n < i->nregions; n++)
        for (uint32_t k = 0; k < region(h, i->regions[n])->instrs.len; k++)
            some |= is_dear(h, at(h, region(h, i->regions[n])->instrs.data[k]));
    return some;
}

static void need(hoisting *h, const simt_instr_info *i) {
    for (uint32_t n = 0; n < i->nargs; n++) h->needed.data[i->args[n]] = h->loops;
    for (uint32_t n = 0; n < i->nregions; n++)
        for (uint32_t k = 0; k < region(h, i->regions[n])->instrs.len; k++)
            need(h, at(h, region(h, i->regions[n])->instrs.data[k]));
}

// Of what might leave, loads and divisions do, and what they are made of.
static void choose(hoisting *h, instr_list *out) {
    uint32_t first = out->len;
    for (uint32_t k = out->len; k-- > 0;) {
        const simt_instr_info *i = at(h, out->data[k]);
        bool leave = is_dear(h, i);
        for (uint32_t n = 0; n < i->nresults; n++)
            leave |= h->needed.data[i->results[n]] == h->loops;
        if (leave) need(h, i);
        if (leave) out->data[--first] = out->data[k];
        else h->gone.data[out->data[k]] = 0;
    }
    out->len -= first;
    for (uint32_t k = 0; k < out->len; k++) out->data[k] = out->data[first + k];
}

static void take(hoisting *h, simt_region body) {
    simt_region_info *r = region(h, body);
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->instrs.len; k++) {
        const simt_instr_info *i = at(h, r->instrs.data[k]);
        if (h->gone.data[r->instrs.data[k]] == h->loops) continue;
        if (i->op == SIMT_IF && i->aux == SIMT_IF_MASK) take(h, i->regions[0]);
        r->instrs.data[n++] = r->instrs.data[k];
    }
    r->instrs.len = n;
}

// ---- The first round ----------------------------------------------------------------------------
typedef enum { ROUNDS_SOME, ROUNDS_ASKED, ROUNDS_UNKNOWN } rounds;

// WHILE: a test that only passes on what it got tells its first outcome before.
static rounds first_round(const hoisting *h, const simt_instr_info *i, simt_value *condition) {
    simt_constant lo, hi;
    if (i->op == SIMT_FOR) {
        bool known = simt_constant_of(h->f, i->args[0], &lo) &&
                     simt_constant_of(h->f, i->args[1], &hi);
        return known && lo.i < hi.i ? ROUNDS_SOME : known ? ROUNDS_UNKNOWN : ROUNDS_ASKED;
    }
    const simt_region_info *test = region(h, i->regions[0]);
    const simt_instr_info *yield = at(h, test->instrs.data[0]);
    if (test->instrs.len != 1) return ROUNDS_UNKNOWN;
    for (uint32_t k = 0; k < i->nresults; k++) {
        if (yield->args[k + 1] != test->params.data[k]) return ROUNDS_UNKNOWN;
        if (yield->args[0] == test->params.data[k]) *condition = i->args[k];
    }
    return *condition ? ROUNDS_ASKED : ROUNDS_UNKNOWN;
}

static simt_value asked(hoisting *h, simt_instr loop, instr_list *to) {
    simt_type pred = SIMT_T(PRED);
    simt_instr i = simt_instr_new(h->f, SIMT_CMP, at(h, loop)->args, 2, &pred, 1, at(h, loop)->at);
    at(h, i)->aux = SIMT_LT;
    VEC_PUSH(h->a, to, i);
    return simt_result(h->f, i, 0);
}

static void own_results(hoisting *h, simt_instr i, simt_value *results) {
    at(h, i)->results = results;
    for (uint32_t k = 0; k < at(h, i)->nresults; k++) h->f->values.data[results[k]].def = i;
}

static void yield(hoisting *h, simt_region r, const simt_value *values, uint32_t n, span from) {
    simt_region_add(h->f, r, simt_instr_new(h->f, SIMT_YIELD, values, n, NULL, 0, from));
}

// The loop and what left it under the condition, which gives what the loop gave to those that read
// it.
static void guard(hoisting *h, simt_instr loop, simt_value condition, const instr_list *before,
                  instr_list *to) {
    uint32_t n = at(h, loop)->nresults, first = at(h, loop)->op == SIMT_FOR ? 3 : 0;
    simt_type *types = ARENA_ARRAY(h->a, simt_type, n + 1);
    span from = at(h, loop)->at;
    for (uint32_t k = 0; k < n; k++) types[k] = simt_typeof(h->f, at(h, loop)->results[k]);
    simt_instr i = simt_instr_new(h->f, SIMT_IF, &condition, 1, types, n, from);
    simt_value *results = at(h, loop)->results;
    own_results(h, loop, at(h, i)->results);
    own_results(h, i, results);
    simt_region *arms = simt_instr_regions(h->f, i, n ? 2 : 1);
    for (uint32_t k = 0; k < before->len; k++) simt_region_add(h->f, arms[0], before->data[k]);
    simt_region_add(h->f, arms[0], loop);
    yield(h, arms[0], at(h, loop)->results, n, from);
    if (n) yield(h, arms[1], at(h, loop)->args + first, n, from);
    VEC_PUSH(h->a, to, i);
}

// ---- Before copies ------------------------------------------------------------------------------
// Copies into shared memory that stand before the loop wait for the indices of their rows: what the
// loop's rows have themselves is asked for before those, so that neither waits for the other.
//     if lo < hi { i = ld index }  copy x[i]  if lo < hi { a = ld row; for (…) { … } }
//  →  if lo < hi { i = ld index }  if lo < hi { a = ld row; copy x[i]; for (…) { … } }
typedef struct {
    hoisting *h;
    bool *made;    // per value: by a load of the list, or for one
    bool copies;   // what was met last does
} early;

// That it is made of something loaded, or read under a condition.
static bool is_loaded(const hoisting *h, simt_value v, uint32_t depth) {
    simt_instr def = h->f->values.data[v].def;
    const simt_instr_info *i = def ? at(h, def) : NULL;
    bool loaded = i && (i->op == SIMT_LD || i->op == SIMT_IF);
    for (uint32_t n = 0; i && !loaded && depth > 0 && n < i->nargs; n++)
        loaded = is_loaded(h, i->args[n], depth - 1);
    return loaded;
}

// Copies, what meets before them, and what neither reads nor writes anything that they or others
// may change.
static bool may_pass(early *e, const simt_instr_info *i) {
    enum { DEPTH = 6 };   // of an address
    e->copies |= i->op == SIMT_COPY && is_loaded(e->h, i->args[1], DEPTH);
    bool copies = i->op == SIMT_COPY || i->op == SIMT_COPY_END || i->op == SIMT_BARRIER,
         plain = i->op == SIMT_IF || i->op == SIMT_YIELD ||
                 simt_op_table(i->op)->flags == SIMT_PURE || (i->op == SIMT_LD && i->mem.invariant);
    for (uint32_t n = 0; n < i->nregions && plain; n++)
        for (uint32_t k = 0; k < region(e->h, i->regions[n])->instrs.len; k++)
            plain = plain && may_pass(e, at(e->h, region(e->h, i->regions[n])->instrs.data[k]));
    return copies || plain;
}

static bool reads(const simt_value *args, uint32_t nargs, const simt_instr_info *of) {
    for (uint32_t n = 0; n < nargs; n++)
        for (uint32_t k = 0; k < of->nresults; k++)
            if (args[n] == of->results[k]) return true;
    return false;
}

static bool some_reads(const early *e, const instr_list *loads, simt_instr loop,
                       const simt_instr_info *of) {
    bool any = reads(at(e->h, loop)->args, 2, of);   // the condition
    for (uint32_t k = 0; k < loads->len; k++)
        any |= reads(at(e->h, loads->data[k])->args, at(e->h, loads->data[k])->nargs, of);
    return any;
}

static bool goes_along(const simt_instr_info *i) {
    return i->op == SIMT_IF || simt_op_table(i->op)->flags & SIMT_WRITES;
}

// Where in the list they may stand: before the first copies that they may; the list's length:
// before none.
static uint32_t place_before_copies(early *e, const instr_list *loads, simt_instr loop,
                                    const instr_list *to) {
    uint32_t place = to->len;
    for (uint32_t k = to->len; k > 0; k--) {
        simt_instr_info *i = at(e->h, to->data[k - 1]);
        e->copies = false;
        if (!may_pass(e, i) || some_reads(e, loads, loop, i) || (goes_along(i) && i->nresults))
            break;
        if (e->copies) place = k - 1;
    }
    return place;
}

// Loads of several numbers that stay, and what they are made of; what is made of them is not waited
// for there.
static void find_loads(early *e, const instr_list *before, instr_list *loads, instr_list *rest) {
    uint32_t first = before->len;
    simt_instr *taken = ARENA_ARRAY(e->h->a, simt_instr, before->len + 1);
    for (uint32_t k = before->len; k-- > 0;) {
        const simt_instr_info *i = at(e->h, before->data[k]);
        bool load = i->op == SIMT_LD && i->mem.invariant &&
                    simt_typeof(e->h->f, i->results[0]).lanes > 1,
             needed = simt_op_table(i->op)->flags == SIMT_PURE && i->nresults &&
                      e->made[i->results[0]];
        if (!load && !needed) continue;
        for (uint32_t n = 0; n < i->nargs; n++) e->made[i->args[n]] = true;
        taken[--first] = before->data[k];
    }
    for (uint32_t k = first; k < before->len; k++) VEC_PUSH(e->h->a, loads, taken[k]);
    for (uint32_t k = 0, t = first; k < before->len; k++) {
        if (t < before->len && taken[t] == before->data[k]) t++;
        else VEC_PUSH(e->h->a, rest, before->data[k]);
    }
}

static void replace(hoisting *h, simt_instr_info *i, const simt_value *by) {
    simt_value *args = ARENA_ARRAY(h->a, simt_value, i->nargs + 1);
    for (uint32_t n = 0; n < i->nargs; n++) args[n] = by[i->args[n]] ? by[i->args[n]] : i->args[n];
    i->args = args;
    for (uint32_t n = 0; n < i->nregions; n++)
        for (uint32_t k = 0; k < region(h, i->regions[n])->instrs.len; k++)
            replace(h, at(h, region(h, i->regions[n])->instrs.data[k]), by);
}

static bool is_alike(const hoisting *h, const simt_instr_info *x, const simt_instr_info *y) {
    bool alike = x->op == y->op && x->aux == y->aux && x->imm.i == y->imm.i &&
                 x->nargs == y->nargs && x->mem.scale == y->mem.scale &&
                 x->mem.align == y->mem.align &&
                 simt_type_equal(simt_typeof(h->f, x->results[0]),
                                 simt_typeof(h->f, y->results[0]));
    for (uint32_t n = 0; n < x->nargs && alike; n++) alike = x->args[n] == y->args[n];
    return alike;
}

// LLVM does not take one pinned load for several.
static void make_one(hoisting *h, instr_list *loads, const instr_list *rest, simt_instr loop) {
    simt_value *by = ARENA_ARRAY(h->a, simt_value, h->f->values.len);
    uint32_t n = 0;
    for (uint32_t k = 0, same; k < loads->len; k++) {
        simt_instr_info *i = at(h, loads->data[k]);
        replace(h, i, by);
        for (same = 0; same < n && !is_alike(h, at(h, loads->data[same]), i); same++) {
        }
        if (same < n) by[i->results[0]] = at(h, loads->data[same])->results[0];
        else loads->data[n++] = loads->data[k];
    }
    loads->len = n;
    for (uint32_t k = 0; k < rest->len; k++) replace(h, at(h, rest->data[k]), by);
    replace(h, at(h, loop), by);
}

// The copies go with the loop, behind the loads.
static void go_before_copies(hoisting *h, simt_instr loop, instr_list *before, instr_list *to) {
    early e = {.h = h, .made = ARENA_ARRAY(h->a, bool, h->f->values.len)};
    instr_list all = {0}, rest = {0};
    find_loads(&e, before, &all, &rest);
    uint32_t place = all.len && at(h, loop)->op == SIMT_FOR
                         ? place_before_copies(&e, &all, loop, to)
                         : to->len,
             kept = place;
    if (place == to->len) return;
    make_one(h, &all, &rest, loop);
    for (uint32_t k = 0; k < all.len; k++)
        if (at(h, all.data[k])->op == SIMT_LD) at(h, all.data[k])->mem.pinned = true;
    // which no assembler has them pass
    VEC_PUSH(h->a, &all, simt_instr_new(h->f, SIMT_WARP_SYNC, NULL, 0, NULL, 0, at(h, loop)->at));
    for (uint32_t k = place; k < to->len; k++) {
        if (goes_along(at(h, to->data[k]))) VEC_PUSH(h->a, &all, to->data[k]);
        else to->data[kept++] = to->data[k];
    }
    to->len = kept;
    for (uint32_t k = 0; k < rest.len; k++) VEC_PUSH(h->a, &all, rest.data[k]);
    *before = all;
}

// ---- Loops --------------------------------------------------------------------------------------
static void hoist(hoisting *h, simt_instr loop, instr_list *to) {
    simt_region body = at(h, loop)->regions[at(h, loop)->nregions - 1];
    simt_value condition = 0;
    instr_list before = {0};
    rounds some = first_round(h, at(h, loop), &condition);
    while (h->loop.len < h->f->values.len) VEC_PUSH(h->a, &h->loop, 0);
    while (h->needed.len < h->f->values.len) VEC_PUSH(h->a, &h->needed, 0);
    while (h->gone.len < h->f->instrs.len) VEC_PUSH(h->a, &h->gone, 0);
    h->loops++;
    h->shared_stays = leaves_shared(h, body);
    for (uint32_t n = 0; n < at(h, loop)->nregions; n++) mark(h, at(h, loop)->regions[n], h->loops);
    if (some == ROUNDS_UNKNOWN || !find(h, body, &before)) {
        VEC_PUSH(h->a, to, loop);
        return;
    }
    choose(h, &before);
    take(h, body);
    if (some == ROUNDS_ASKED) go_before_copies(h, loop, &before, to);
    if (some == ROUNDS_ASKED) {
        if (!condition) condition = asked(h, loop, to);
        guard(h, loop, condition, &before, to);
        return;
    }
    for (uint32_t k = 0; k < before.len; k++) VEC_PUSH(h->a, to, before.data[k]);
    VEC_PUSH(h->a, to, loop);
}

static bool is_loop(const simt_instr_info *i) { return i->op == SIMT_FOR || i->op == SIMT_WHILE; }

static void walk(hoisting *h, simt_region r) {
    instr_list to = {0};
    bool loops = false;
    for (uint32_t k = 0; k < region(h, r)->instrs.len; k++) {
        simt_instr i = region(h, r)->instrs.data[k];
        for (uint32_t n = 0; n < at(h, i)->nregions; n++) walk(h, at(h, i)->regions[n]);
        loops |= is_loop(at(h, i));
    }
    if (!loops) return;
    for (uint32_t k = 0; k < region(h, r)->instrs.len; k++) {
        simt_instr i = region(h, r)->instrs.data[k];
        if (is_loop(at(h, i))) hoist(h, i, &to);
        else VEC_PUSH(h->a, &to, i);
    }
    region(h, r)->instrs.len = 0;
    for (uint32_t k = 0; k < to.len; k++) simt_region_add(h->f, r, to.data[k]);
}

#define ROOM(vec, n)                                                                               \
    (vec)->data = arena_alloc(h.a, sizeof *(vec)->data * (n)), (vec)->len = (vec)->cap = (n)

void simt_hoist(simt_func *f) {
    hoisting h = {.f = f, .a = f->module->arena};
    ROOM(&h.loop, f->values.len);
    ROOM(&h.needed, f->values.len);
    ROOM(&h.gone, f->instrs.len);
    walk(&h, 1);
}
#undef ROOM
