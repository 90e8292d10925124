// What a kernel loads that the launch before may have written, asked for as soon as it has waited
// for that: all at once, in front of what would have it come one after the other, such as barriers.
// A kernel that adds up the parts of rows goes through them once for their maxima, then for their
// denominators, then for their sums; each time it would wait for memory.
//     grid.wait  m = if c { ld maxima }  barrier  l = if c { ld sums … }  barrier  …
//  →  grid.wait  x, y = if c { ld maxima  ld sums }  m = if c { … x … }  barrier  l = if c { … y … }
// Loads of loops stay. Nothing is moved that the kernel itself may have written before.
#include "simt_internal.h"

enum { BODY = 1 };
// that a thread holds meanwhile; of a multiprocessor; a part of a thread's registers
enum { MOST_WORDS = 48, REGISTERS = 65536, SHARE = 4 };

typedef struct {
    simt_value from, by;
} renaming;
typedef VEC(simt_value) value_list;

typedef struct {
    simt_func *f;
    arena *a;
    const uint8_t *access;   // per parameter
    bool *inside, *early;    // per value: made behind the wait; of nothing that has to stay there
    bool *item;              // per instruction there was: it is asked for early
    uint32_t instrs;         // there were
    uint32_t words, most;    // of items, and of all that there may be
    bool over;               // there would be more
    bool stopped;            // something may be written from here on
    simt_value *by;          // per value: its copy in front
    VEC(renaming) made;      // copies, in order: those of an arm are gone behind it
} waiting;

static simt_instr_info *at(const waiting *w, simt_instr i) { return &w->f->instrs.data[i]; }
static simt_region_info *region(const waiting *w, simt_region r) { return &w->f->regions.data[r]; }

// ---- What is asked for --------------------------------------------------------------------------
static bool args_are_early(const waiting *w, const simt_instr_info *i) {
    for (uint32_t n = 0; n < i->nargs; n++)
        if (w->inside[i->args[n]] && !w->early[i->args[n]]) return false;
    return true;
}

static bool is_global(const waiting *w, simt_value pointer) {
    return simt_typeof(w->f, pointer).element == SIMT_PTR_GLOBAL;
}

static bool writes_memory(const waiting *w, const simt_instr_info *i) {
    bool writes = !i->nregions && simt_op_table(i->op)->flags & SIMT_WRITES && i->nargs &&
                  simt_is_pointer(simt_typeof(w->f, i->args[0]).element) &&
                  is_global(w, i->args[0]);
    for (uint32_t n = 0; n < i->nregions && !writes; n++)
        for (uint32_t k = 0; k < region(w, i->regions[n])->instrs.len && !writes; k++)
            writes = writes_memory(w, at(w, region(w, i->regions[n])->instrs.data[k]));
    return writes;
}

// Through a parameter that the kernel only reads through.
static bool is_read_only(const waiting *w, simt_value pointer) {
    while (w->f->values.data[pointer].def && at(w, w->f->values.data[pointer].def)->op == SIMT_ADDR)
        pointer = at(w, w->f->values.data[pointer].def)->args[0];
    const simt_value_info *v = &w->f->values.data[pointer];
    return !v->def && !v->region && w->access[v->index] == SIMT_PARAM_READ;
}

static bool is_item(waiting *w, const simt_instr_info *i) {
    if (i->op != SIMT_LD || i->mem.invariant || !is_global(w, i->args[0]) ||
        !is_read_only(w, i->args[0]))
        return false;
    simt_type t = simt_typeof(w->f, i->results[0]);
    uint32_t words = (simt_element_bits(t.element) * t.lanes + 31) / 32;
    w->over |= w->words + words > w->most;
    w->words += words;
    return true;
}

static void leave(waiting *w, simt_region r) {
    for (uint32_t k = 0; k < region(w, r)->instrs.len; k++) {
        const simt_instr_info *i = at(w, region(w, r)->instrs.data[k]);
        w->item[region(w, r)->instrs.data[k]] = false;
        for (uint32_t n = 0; n < i->nregions; n++) leave(w, i->regions[n]);
    }
}

static void find(waiting *w, simt_region r, uint32_t from);

// All of an arm, or nothing: who waits for one of its loads waits for all.
static void find_in_arm(waiting *w, const simt_instr_info *branch) {
    const uint32_t words = w->words;
    find(w, branch->regions[0], 0);
    if (w->over) leave(w, branch->regions[0]), w->words = words;
    w->over = false;
    for (uint32_t n = 1; n < branch->nregions; n++)
        for (uint32_t k = 0; k < region(w, branch->regions[n])->instrs.len; k++)
            w->stopped |= writes_memory(w, at(w, region(w, branch->regions[n])->instrs.data[k]));
}

static void find(waiting *w, simt_region r, uint32_t from) {
    for (uint32_t k = from; k < region(w, r)->instrs.len && !w->stopped; k++) {
        simt_instr instr = region(w, r)->instrs.data[k];
        const simt_instr_info *i = at(w, instr);
        bool pure = simt_op_table(i->op)->flags == SIMT_PURE && !i->nregions,
             early = args_are_early(w, i);
        for (uint32_t n = 0; n < i->nresults; n++) {
            w->inside[i->results[n]] = true;
            w->early[i->results[n]] = early && (pure || (i->op == SIMT_LD && i->mem.invariant));
        }
        if (early && is_item(w, i)) w->item[instr] = true;
        if (w->over && r == BODY) w->over = w->item[instr] = false;
        if (writes_memory(w, i) && i->op != SIMT_IF) w->stopped = true;
        else if (i->op == SIMT_IF && early) find_in_arm(w, i);
        else if (i->op == SIMT_IF) w->stopped = writes_memory(w, i);
    }
}

// ---- Copies -------------------------------------------------------------------------------------
static void rename_to(waiting *w, simt_value from, simt_value by) {
    w->by[from] = by;
    VEC_PUSH(w->a, &w->made, ((renaming){from, by}));
}

static void forget(waiting *w, uint32_t mark) {
    while (w->made.len > mark) w->by[w->made.data[--w->made.len].from] = 0;
}

static simt_value wanted(waiting *w, simt_value v, simt_region out);

static void copy_instr(waiting *w, simt_instr instr, simt_region out) {
    const simt_instr_info from = *at(w, instr);
    simt_value *args = ARENA_ARRAY(w->a, simt_value, from.nargs + 1);
    simt_type *types = ARENA_ARRAY(w->a, simt_type, from.nresults + 1);
    for (uint32_t n = 0; n < from.nargs; n++) args[n] = wanted(w, from.args[n], out);
    for (uint32_t n = 0; n < from.nresults; n++) types[n] = simt_typeof(w->f, from.results[n]);
    simt_instr copy = simt_instr_new(w->f, (simt_op)from.op, args, from.nargs, types, from.nresults,
                                     from.at);
    at(w, copy)->aux = from.aux, at(w, copy)->imm = from.imm, at(w, copy)->mem = from.mem;
    simt_region_add(w->f, out, copy);
    for (uint32_t n = 0; n < from.nresults; n++)
        rename_to(w, from.results[n], simt_result(w->f, copy, n));
}

// The value in front; made there where it is made behind.
static simt_value wanted(waiting *w, simt_value v, simt_region out) {
    if (w->by[v]) return w->by[v];
    if (!w->inside[v]) return v;
    copy_instr(w, w->f->values.data[v].def, out);
    return w->by[v];
}

// ---- In front -----------------------------------------------------------------------------------
static bool has_items(const waiting *w, simt_region r) {
    for (uint32_t k = 0; k < region(w, r)->instrs.len; k++) {
        const simt_instr_info *i = at(w, region(w, r)->instrs.data[k]);
        if (w->item[region(w, r)->instrs.data[k]] ||
            (i->op == SIMT_IF && has_items(w, i->regions[0])))
            return true;
    }
    return false;
}

static simt_value zero(waiting *w, simt_type t) {
    simt_builder b = {.func = w->f, .region = 1};
    return simt_is_float(t.element) ? simt_build_float(&b, t, 0) : simt_build_int(&b, t, 0);
}

static void ask_in(waiting *w, simt_region r, uint32_t from, simt_region out, value_list *asked);

static void yield(waiting *w, simt_region r, const value_list *values, span from) {
    simt_region_add(w->f, r,
                    simt_instr_new(w->f, SIMT_YIELD, values->data, values->len, NULL, 0, from));
}

// What the arm's items give where it is gone through, else zeros, which nobody reads.
static void ask_where(waiting *w, const simt_instr_info branch, simt_region out,
                      value_list *asked) {
    simt_value condition = wanted(w, branch.args[0], out);
    simt_region *arms = ARENA_ARRAY(w->a, simt_region, 2);
    arms[0] = simt_region_new(w->f), arms[1] = simt_region_new(w->f);
    value_list values = {0}, zeros = {0};
    uint32_t mark = w->made.len, first = asked->len;
    ask_in(w, branch.regions[0], 0, arms[0], asked);
    simt_type *types = ARENA_ARRAY(w->a, simt_type, asked->len + 1);
    for (uint32_t k = first; k < asked->len; k++) {
        types[k - first] = simt_typeof(w->f, asked->data[k]);
        VEC_PUSH(w->a, &values, w->by[asked->data[k]]);
        VEC_PUSH(w->a, &zeros, zero(w, types[k - first]));
    }
    forget(w, mark);
    yield(w, arms[0], &values, branch.at);
    yield(w, arms[1], &zeros, branch.at);
    simt_instr i = simt_instr_new(w->f, SIMT_IF, &condition, 1, types, values.len, branch.at);
    at(w, i)->regions = arms, at(w, i)->nregions = 2;
    simt_region_add(w->f, out, i);
    for (uint32_t k = 0; k < values.len; k++)
        rename_to(w, asked->data[first + k], simt_result(w->f, i, k));
}

static void ask_in(waiting *w, simt_region r, uint32_t from, simt_region out, value_list *asked) {
    for (uint32_t k = from; k < region(w, r)->instrs.len; k++) {
        simt_instr instr = region(w, r)->instrs.data[k];
        if (w->item[instr]) {
            copy_instr(w, instr, out);
            VEC_PUSH(w->a, asked, at(w, instr)->results[0]);
        } else if (at(w, instr)->op == SIMT_IF && has_items(w, at(w, instr)->regions[0])) {
            ask_where(w, *at(w, instr), out, asked);
        }
    }
}

// ---- Behind -------------------------------------------------------------------------------------
static void without_items(waiting *w, simt_region r) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < region(w, r)->instrs.len; k++) {
        simt_instr instr = region(w, r)->instrs.data[k];
        const simt_instr_info *i = at(w, instr);
        for (uint32_t x = 0; x < i->nargs; x++)
            if (w->by[i->args[x]]) i->args[x] = w->by[i->args[x]];
        for (uint32_t x = 0; x < i->nregions; x++) without_items(w, i->regions[x]);
        if (instr >= w->instrs || !w->item[instr]) region(w, r)->instrs.data[n++] = instr;
    }
    region(w, r)->instrs.len = n;
}

static void put_at(waiting *w, simt_region r, uint32_t place, simt_region what) {
    simt_region all = simt_region_new(w->f);
    for (uint32_t k = 0; k < place; k++) simt_region_add(w->f, all, region(w, r)->instrs.data[k]);
    for (uint32_t k = 0; k < region(w, what)->instrs.len; k++)
        simt_region_add(w->f, all, region(w, what)->instrs.data[k]);
    for (uint32_t k = place; k < region(w, r)->instrs.len; k++)
        simt_region_add(w->f, all, region(w, r)->instrs.data[k]);
    region(w, r)->instrs = region(w, all)->instrs;
}

// Behind the wait, wherever constants have moved it to; 0: there is none.
static uint32_t place_in(const simt_func *f, simt_region r) {
    const simt_region_info *body = &f->regions.data[r];
    for (uint32_t k = 0; k < body->instrs.len; k++)
        if (f->instrs.data[body->instrs.data[k]].op == SIMT_GRID_WAIT) return k + 1;
    return 0;
}

// They go to the body's start, and all that stands behind them moves: before anybody walks it.
static void make_zeros(waiting *w, uint32_t instrs) {
    for (simt_instr i = 1; i < instrs; i++)
        if (w->item[i]) zero(w, simt_typeof(w->f, at(w, i)->results[0]));
}

static void ask_behind(simt_func *f, simt_region r) {
    arena *a = f->module->arena;
    const uint32_t instrs = f->instrs.len;
    const uint32_t threads = f->occupancy > f->block ? f->occupancy : f->block,
                   room = REGISTERS / (threads ? threads : 1) / SHARE;
    waiting w = {.f = f,
                 .a = a,
                 .access = simt_accesses_of(a, f),
                 .instrs = instrs,
                 .most = room < MOST_WORDS ? room : MOST_WORDS};
    w.inside = ARENA_ARRAY(a, bool, f->values.len), w.early = ARENA_ARRAY(a, bool, f->values.len);
    w.item = ARENA_ARRAY(a, bool, f->instrs.len), w.by = ARENA_ARRAY(a, simt_value, f->values.len);
    find(&w, r, place_in(f, r));
    if (!has_items(&w, r)) return;
    make_zeros(&w, instrs);
    value_list asked = {0};
    simt_region out = simt_region_new(f);
    ask_in(&w, r, place_in(f, r), out, &asked);
    // of what is copied only what was asked for is read from there
    for (uint32_t k = 0; k < w.made.len; k++) {
        bool is = false;
        for (uint32_t n = 0; n < asked.len && !is; n++) is = asked.data[n] == w.made.data[k].from;
        if (!is) w.by[w.made.data[k].from] = 0;
    }
    without_items(&w, r);
    put_at(&w, r, place_in(f, r), out);
}

void simt_ask_early(simt_func *f) {
    if (place_in(f, BODY)) ask_behind(f, BODY);
}
