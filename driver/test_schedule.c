// A schedule at random: mostly cells that go together (parts that divide wholes, powers of two, few
// enough threads), some statements of any kind.
#include "test.h"

#include <string.h>

// ---- Statements ---------------------------------------------------------------------------------
static bool same_subject(const test_statement *x, const char *verb, const test_word *words,
                         uint32_t n, const char *stage) {
    const char *first = n && words[0].text ? words[0].text : "",
               *other = x->words.len && x->words.data[0].text ? x->words.data[0].text : "";
    const char *about = x->stages.len ? x->stages.data[0] : "";
    return !strcmp(x->verb, verb) && !strcmp(first, other) && !strcmp(about, stage ? stage : "");
}

void test_put(test_maker *m, test_schedule *s, const char *verb, const test_word *words, uint32_t n,
              const char *stage) {
    if (!test_verb_usable(m, verb) && strcmp(verb, "let")) return;
    for (uint32_t i = 0; i < s->statements.len; i++)
        if (same_subject(&s->statements.data[i], verb, words, n, stage)) return;
    test_statement x = {.verb = verb};
    for (uint32_t i = 0; i < n; i++) VEC_PUSH(m->arena, &x.words, words[i]);
    if (stage) VEC_PUSH(m->arena, &x.stages, stage);
    VEC_PUSH(m->arena, &s->statements, x);
}

static void put_number(test_maker *m, test_schedule *s, const char *verb, const char *index,
                       int64_t n, const char *stage) {
    test_put(m, s, verb, (test_word[]){test_text(index), test_number(n)}, 2, stage);
}

static void put_text(test_maker *m, test_schedule *s, const char *verb, const char *index,
                     const char *word, const char *stage) {
    test_put(m, s, verb, (test_word[]){test_text(index), test_text(word)}, 2, stage);
}

void test_take_verb(test_schedule *s, const char *verb, const char *index) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->statements.len; i++) {
        const test_statement *x = &s->statements.data[i];
        bool taken = !strcmp(x->verb, verb) && x->words.len && x->words.data[0].text &&
                     !strcmp(x->words.data[0].text, index);
        if (!taken) s->statements.data[n++] = *x;
    }
    s->statements.len = n;
}

// ---- An index dealt out -------------------------------------------------------------------------
typedef struct {
    test_maker *m;
    test_schedule *s;
    const test_stage *only;   // what is said is about this stage; NULL: about all
    const test_index *index;
    bool outer, reduced, dense, vector;
    bool runs;           // other blocks go on with it: along a key
    bool grouped;        // its points are dealt out to groups
    int64_t part, pad;   // points taken at once; what the index is padded to
} dealing;

static const char *about(const dealing *d) { return d->only ? d->only->name : NULL; }

static int64_t threads_of(dealing *d, const char *verb, int64_t n) {
    uint32_t *left = !strcmp(verb, "lanes")    ? &d->m->lanes
                     : !strcmp(verb, "groups") ? &d->m->groups
                                               : NULL;
    if (left && n > *left) n = *left;
    if (!left && n > 4 && strcmp(verb, "vector")) n = 4;
    if (left && n > 1) *left /= (uint32_t)n;
    return n;
}

static void deal_verb(dealing *d, const char *verb, uint32_t chance) {
    static const int64_t sizes[] = {2, 2, 4, 8, 16, 32}, widths[] = {2, 4, 8};
    test_rng *r = d->m->rng;
    if (!test_chance(r, chance) || !test_verb_usable(d->m, verb)) return;
    int64_t n = TEST_PICK(r, sizes), extent = d->m->sizes[d->index->space];
    bool vector = !strcmp(verb, "vector");
    if (vector) n = TEST_PICK(r, widths);
    if (vector && d->pad % n && extent > 0 && extent % n) return;
    n = threads_of(d, verb, n);
    if (n < 2) return;
    bool lanes = !strcmp(verb, "lanes"), threads = lanes || !strcmp(verb, "groups");
    const char *option = lanes && d->runs             ? "uniform"
                         : !strcmp(verb, "registers") ? "strided"
                                                      : NULL;
    test_word words[] = {test_text(d->index->name), test_number(n), test_text(option)};
    test_put(d->m, d->s, verb, words, option && test_chance(r, d->runs && !lanes ? 5 : 40) ? 3 : 2,
             about(d));
    d->part *= n;
    d->grouped |= threads && !lanes;
    if (d->reduced && !d->runs && threads && test_chance(r, 40))
        put_text(d->m, d->s, "combine", d->index->name, lanes ? "shuffle" : "shared", about(d));
    if (lanes && !d->outer && !d->runs && test_chance(r, 30)) {
        d->part *= 1 + (int64_t)test_draw(r, 4);
        put_number(d->m, d->s, "tile", d->index->name, d->part, about(d));
    }
}

static bool is_sum(const test_stage *s) { return s->sum; }

// Partial results of neighbouring blocks: atomics are for plain sums, where empty rows get what
// nothing adds up to.
static void deal_runs(dealing *d) {
    test_rng *r = d->m->rng;
    bool plain = true;
    for (uint32_t i = 0; i < d->m->op->stages.len; i++) {
        const test_stage *st = &d->m->op->stages.data[i];
        for (uint32_t k = st->nleft; k < st->nindices; k++)
            if (!strcmp(st->indices[k].name, d->index->name)) plain &= st->sum && !st->has_else;
    }
    if (test_chance(r, 40))
        put_text(d->m, d->s, "combine", d->index->name,
                 plain && test_chance(r, 60) ? "atomic" : "staged", about(d));
    if (test_chance(r, 15)) test_statement_draw(d->m, d->s, "accumulate", is_sum);
    if (!test_chance(r, 30)) return;
    d->part = d->part * (1 + (int64_t)test_draw(r, 3)) < 2
                  ? 2
                  : d->part * (1 + (int64_t)test_draw(r, 3));
    put_number(d->m, d->s, "tile", d->index->name, d->part, about(d));
}

// Groups own tiles, so none are left for what is reduced.
static void deal_tiles(dealing *d, test_words *words) {
    static const int64_t sizes[] = {1, 2, 3, 4, 8, 8};
    if (d->m->host || d->grouped || !test_chance(d->m->rng, 50)) return;
    VEC_PUSH(d->m->arena, words, test_text("tiles"));
    VEC_PUSH(d->m->arena, words, test_number(threads_of(d, "groups", TEST_PICK(d->m->rng, sizes))));
    if (test_chance(d->m->rng, 80)) d->m->groups = 1;
}

// Inputs at the points that are walked, a tile of which lanes hold that share the row, or which is
// in shared memory: lanes along a column.
static const char *inputs_at(dealing *d) {
    const tensor_op *op = d->m->op->op;
    textbuf list = textbuf_new(d->m->arena);
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        bool at = false;
        for (uint32_t a = 0; a < i->rank; a++) at |= i->axes[a] == d->index->space;
        if (at && (i->role == VAL_MAP || i->role == VAL_TENSOR) &&
            test_chance(d->m->rng, i->rank == 1 ? 60 : 8))
            textbuf_printf(&list, "%s%s", list.len ? ", " : "", i->name);
    }
    return list.len ? list.data : NULL;
}

static const char *column(const dealing *d) {
    for (uint32_t i = 0; i < d->m->op->stages.len; i++) {
        const test_stage *st = &d->m->op->stages.data[i];
        for (uint32_t k = st->nleft; k < st->nindices && st->nleft > 1; k++)
            if (!strcmp(st->indices[k].name, d->index->name))
                return st->indices[st->nleft - 1].name;
    }
    return NULL;
}

static bool deal_held(dealing *d) {
    static const int64_t tiles[] = {2, 4, 8, 12, 16, 32, 32, 64}, few[] = {2, 4, 8},
                         steps[] = {2, 4, 8}, lanes[] = {2, 4, 8, 16, 32, 64},
                         buffers[] = {1, 2, 2, 3, 4};
    test_rng *r = d->m->rng;
    const char *inputs = NULL, *across = column(d);
    if (!d->reduced || d->outer || d->m->host || !test_chance(r, 30) || !(inputs = inputs_at(d)))
        return false;
    int64_t tile = d->runs ? TEST_PICK(r, few) : TEST_PICK(r, tiles),
            shared = !d->runs && test_chance(r, 20) ? threads_of(d, "lanes", TEST_PICK(r, few)) : 1;
    if (shared > 1) put_number(d->m, d->s, "lanes", d->index->name, shared, about(d));
    tile *= shared;
    put_number(d->m, d->s, "tile", d->index->name, tile, about(d));
    d->part *= tile;
    if (test_chance(r, 50))
        put_number(d->m, d->s, "unroll", d->index->name, TEST_PICK(r, steps), about(d));
    bool memory = test_chance(r, 50);
    put_text(d->m, d->s, "keep", inputs, memory ? "shared" : "registers", about(d));
    if (memory && test_chance(r, 40))
        put_number(d->m, d->s, "pipeline", d->index->name, TEST_PICK(r, buffers), about(d));
    if (across && test_chance(r, 95))
        put_number(d->m, d->s, "lanes", across, threads_of(d, "lanes", TEST_PICK(r, lanes)),
                   about(d));
    return true;
}

// Blocks own points, or tiles of a map in the order of which the points are visited.
static void deal_blocks(dealing *d) {
    test_rng *r = d->m->rng;
    const tensor_op *op = d->m->op->op;
    static const int64_t times[] = {1, 1, 2, 3};
    int64_t n = d->part * TEST_PICK(r, times);
    const char *by = NULL;
    for (tensor_val v = 0; v < op->nparams && !d->runs && test_chance(r, 25); v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->role == VAL_MAP && i->rank == 1 && i->axes[0] == d->index->space) by = i->name;
    }
    if (!by) {
        put_number(d->m, d->s, "block", d->index->name, n, about(d));
        return;
    }
    if (test_chance(r, 90))
        test_put(d->m, d->s, "order",
                 (test_word[]){test_text(d->index->name), test_text("by"), test_text(by)}, 3,
                 about(d));
    test_words words = {0};
    const test_word fixed[] = {test_text(d->index->name), test_number(n), test_text("by"),
                               test_text(by)};
    for (uint32_t i = 0; i < 4; i++) VEC_PUSH(d->m->arena, &words, fixed[i]);
    if (test_chance(r, 40)) {
        VEC_PUSH(d->m->arena, &words, test_text("serial"));
        VEC_PUSH(d->m->arena, &words, test_number(1 + (int64_t)test_draw(r, 3)));
    }
    deal_tiles(d, &words);
    if (test_chance(r, 40)) VEC_PUSH(d->m->arena, &words, test_text("largest"));
    if (test_chance(r, 40)) {
        VEC_PUSH(d->m->arena, &words, test_text("granularity"));
        VEC_PUSH(d->m->arena, &words, test_number(d->part));
    }
    test_put(d->m, d->s, "block", words.data, words.len, about(d));
}

// Sizes of rows whose loops are unrolled completely.
static void specialize(dealing *d) {
    static const int64_t sizes[] = {1, 4, 8, 16, 40}, more[] = {1, 2, 3, 7};
    test_rng *r = d->m->rng;
    int64_t size = TEST_PICK(r, sizes);
    textbuf list = textbuf_new(d->m->arena);
    textbuf_printf(&list, "%lld", (long long)size);
    for (uint64_t n = test_draw(r, 3); n > 0; n--)
        textbuf_printf(&list, ", %lld", (long long)(size *= 1 + TEST_PICK(r, more)));
    put_text(d->m, d->s, "specialize", d->index->name, list.data, about(d));
}

static void write_out(dealing *d) {
    test_rng *r = d->m->rng;
    bool distributed = !d->reduced && test_chance(r, 30);
    int64_t steps = distributed ? 2 << test_draw(r, 3) : 2 + (int64_t)test_draw(r, 3);
    test_words words = {0};
    VEC_PUSH(d->m->arena, &words, test_text(d->index->name));
    VEC_PUSH(d->m->arena, &words, test_number(steps));
    bool masked = test_chance(r, 50);
    if (masked) VEC_PUSH(d->m->arena, &words, test_text("masked"));
    if (distributed) VEC_PUSH(d->m->arena, &words, test_text("distributed"));
    test_put(d->m, d->s, "unroll", words.data, words.len, about(d));
    if (masked && (d->reduced ? test_chance(r, 40) : test_chance(r, 5))) specialize(d);
}

static void deal(dealing *d) {
    test_rng *r = d->m->rng;
    static const int64_t pads[] = {2, 4, 8, 8, 16, 3, 6};
    d->part = d->pad = 1;
    if (d->dense && test_chance(r, d->m->pads) && test_verb_usable(d->m, "pad")) {
        d->pad = TEST_PICK(r, pads);
        put_number(d->m, d->s, "pad", d->index->name, d->pad, about(d));
    }
    d->runs = d->reduced && !d->outer && test_chance(r, 40);
    bool held = deal_held(d), groups_alone = held || (d->runs && test_chance(r, 50));
    if (!groups_alone) {
        deal_verb(d, "vector", d->vector ? 90 : 0);
        deal_verb(d, "registers", 25);
        deal_verb(d, "lanes", 50);
    }
    deal_verb(d, "groups", d->runs ? 50 : held ? 15 : 25);
    if (d->runs) deal_runs(d);
    if (d->runs || (d->outer && test_chance(r, 60))) deal_blocks(d);
    if (!d->outer && !held && test_chance(r, 30)) write_out(d);
}

// ---- Cells that go together ---------------------------------------------------------------------
typedef struct {
    test_index index;
    bool outer, reduced;
} seen_index;
typedef VEC(seen_index) seen_indices;

static void see(arena *a, seen_indices *all, const test_stage *st) {
    for (uint32_t k = 0; k < st->nindices; k++) {
        uint32_t at = 0;
        while (at < all->len && strcmp(all->data[at].index.name, st->indices[k].name)) at++;
        if (at == all->len) VEC_PUSH(a, all, ((seen_index){.index = st->indices[k]}));
        all->data[at].outer |= !k && st->nleft;
        all->data[at].reduced |= k >= st->nleft;
    }
}

// Left indices turned round, which deal out to blocks together; or a reduced one outside left ones.
static void nest(test_maker *m, test_schedule *s, const test_stage *st) {
    test_rng *r = m->rng;
    uint32_t first = test_chance(r, 60) ? 0 : 1, n = (first ? st->nindices : st->nleft) - first;
    if (st->nindices < 2 || (first ? st->nindices - 1 : st->nleft) < 2) return;
    uint32_t turn = 1 + (uint32_t)test_draw(r, n - 1), most = 2 + (uint32_t)test_draw(r, n - 1);
    textbuf list = textbuf_new(m->arena);
    for (uint32_t i = 0; i < most && i < n; i++)
        textbuf_printf(&list, "%s%s", i ? ", " : "", st->indices[first + (i + turn) % n].name);
    test_put(m, s, "loops", (test_word[]){test_text(list.data)}, 1, NULL);
    for (uint32_t i = 0; i < st->nleft && test_chance(r, 80); i++)
        put_number(m, s, "block", st->indices[i].name, 64, NULL);
}

// Of entries of a map: rows in windows, by another map of the entries.
static void put_window(test_maker *m, test_schedule *s, const test_stage *st) {
    const char *maps[2] = {NULL, NULL};   // into rows, and another
    const tensor_op *op = m->op->op;
    const test_index *row = &st->indices[0], *entry = &st->indices[st->nleft];
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        bool from = i->role == VAL_MAP && i->rank == 1 && i->axes[0] == entry->space,
             rows = from && i->into == row->space;
        if (from) maps[rows && !maps[0] ? 0 : 1] = i->name;
    }
    if (!maps[0] || !maps[1]) return;
    static const char *const taken[] = {"block", "registers", "unroll",
                                        "split", "order",     "combine"};
    for (uint32_t v = 0; v < sizeof taken / sizeof *taken; v++) {
        test_take_verb(s, taken[v], row->name);
        test_take_verb(s, taken[v], entry->name);
    }
    const int64_t warps = (int64_t)1 << test_draw(m->rng, 3);   // that share a window
    test_word words[] = {test_text(row->name), test_number(16 * warps), test_text("by"),
                         test_text(maps[1]), test_number(test_chance(m->rng, 70) ? 16 : 8)};
    test_put(m, s, "window", words, 5, NULL);
    if (warps > 1) {
        test_take_verb(s, "groups", row->name);
        put_number(m, s, "groups", row->name, warps, NULL);
    }
    if (test_chance(m->rng, 50))
        put_number(m, s, "vector", st->indices[st->nleft - 1].name, test_chance(m->rng, 50) ? 8 : 2,
                   NULL);
}

// Inputs of a contraction that come ahead of their use, along what is summed or along rows. Pieces
// of one input's rows may change places.
static void fetch(test_maker *m, test_schedule *s, const test_stage *st) {
    const tensor_op *op = m->op->op;
    textbuf list = textbuf_new(m->arena);
    const char *last = NULL;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->role == VAL_TENSOR && i->rank > 1 && ir_dtype_is_float(i->type) &&
            test_chance(m->rng, 70)) {
            if (last) textbuf_printf(&list, "%s%s", list.len ? ", " : "", last);
            last = i->name;
        }
    }
    if (!last) return;
    bool swizzle = test_chance(m->rng, 35);
    if (!swizzle) textbuf_printf(&list, "%s%s", list.len ? ", " : "", last);
    uint32_t along = test_chance(m->rng, 65) ? st->nleft : (uint32_t)test_draw(m->rng, st->nleft);
    if (list.len) put_text(m, s, "keep", list.data, "shared", NULL);
    test_word words[] = {test_text(last), test_text("shared"), test_text("swizzle")};
    if (swizzle) test_put(m, s, "keep", words, 3, NULL);
    put_number(m, s, "pipeline", st->indices[along].name, 1 + (int64_t)test_draw(m->rng, 4), NULL);
}

// A sum that tensor cores may contract: its indices have no other lanes, and pieces of a warp's.
static void multiply(test_maker *m, test_schedule *s) {
    static const char *const taken[] = {"lanes", "vector", "pad",      "registers",  "groups",
                                        "tile",  "block",  "collapse", "accumulate", "compute"};
    static const int64_t pieces[] = {1, 1, 1, 2, 3}, groups[] = {1, 1, 2};
    test_rng *r = m->rng;
    const test_stage *st = &m->op->stages.data[test_draw(r, m->op->stages.len)];
    if (!st->sum || st->nleft < 2 || st->nindices != st->nleft + 1) return;
    for (uint32_t i = 0; i < st->nindices; i++)
        for (uint32_t v = 0; v < sizeof taken / sizeof *taken; v++)
            test_take_verb(s, taken[v], st->indices[i].name);
    const simt_mma_info *op = simt_mma_table((simt_mma)test_draw(r, SIMT_MMA_COUNT));
    test_word words[] = {test_text(st->indices[st->nleft].name), test_text(op->operand),
                         test_text(op->shape), test_text("accumulators"),
                         test_number(1 + (int64_t)test_draw(r, 3))};
    test_put(m, s, "mma", words,
             test_chance(r, 20)   ? 5
             : test_chance(r, 30) ? 3
                                  : 2,
             test_chance(r, 20) ? st->name : NULL);
    for (uint32_t i = 0; i < st->nindices; i++) {
        bool left = i < st->nleft;
        int64_t times = TEST_PICK(r, pieces), by = left ? TEST_PICK(r, groups) : 1;
        const char *name = st->indices[i].name;
        if (times > 1) put_number(m, s, "registers", name, times * (left ? 2 : 4), NULL);
        if (by > 1) put_number(m, s, "groups", name, by, NULL);
        if (i + 1 < st->nleft || test_chance(r, left ? 70 : 15))
            put_number(m, s, "block", name, 16 * times * by, NULL);
    }
    bool sparse = m->op->sparse[st->indices[st->nleft].space];
    if (test_verb_usable(m, "pipeline") && test_chance(r, sparse ? 20 : 45)) fetch(m, s, st);
    else if (sparse && test_chance(r, 60)) put_window(m, s, st);
    else test_multiply(m, s, st);
}

// Plans of several kernels, or likely so.
static bool several(const test_maker *m, const test_schedule *s) {
    bool any = m->op->stages.len > 1;
    for (uint32_t i = 0; i < s->statements.len; i++) {
        const char *verb = s->statements.data[i].verb;
        any |= !strcmp(verb, "split") || !strcmp(verb, "bucket") || !strcmp(verb, "combine");
    }
    return any;
}

// By the machine's own instruction, half of them in 16 bits.
static void narrow_exponentials(test_maker *m, test_schedule *s) {
    static const char *const types[] = {"f16", "f16", "bf16"};
    const tensor_op *op = m->op->op;
    bool any = false;
    for (tensor_expr e = 1; e < op->exprs.len && !any; e++)
        any = tensor_node_at(op, e)->op == TENSOR_EXP_OP;
    if (!any || !test_verb_usable(m, "approximate") || !test_chance(m->rng, 25)) return;
    test_put(m, s, "approximate", NULL, 0, NULL);
    const test_word type[] = {test_text(TEST_PICK(m->rng, types))};
    if (test_chance(m->rng, 50)) test_put(m, s, "compute", type, 1, NULL);
}

static void tidy(test_maker *m, test_schedule *s) {
    test_rng *r = m->rng;
    m->lanes = 32;
    m->groups = 8;
    const test_stage *only = test_chance(r, 10)
                                 ? &m->op->stages.data[test_draw(r, m->op->stages.len)]
                                 : NULL;
    seen_indices all = {0};
    for (uint32_t i = 0; i < m->op->stages.len; i++)
        if (!only || only == &m->op->stages.data[i]) see(m->arena, &all, &m->op->stages.data[i]);
    bool vectors = test_chance(r, 50);
    uint64_t most = 1 + test_draw(r, 3);
    for (uint64_t n = 0; n < most && all.len; n++) {
        uint32_t k = (uint32_t)test_draw(r, all.len);
        const seen_index x = all.data[k];
        all.data[k] = all.data[--all.len];
        bool dense = !m->op->sparse[x.index.space];
        deal(&(dealing){.m = m,
                        .s = s,
                        .only = only,
                        .index = &x.index,
                        .outer = x.outer,
                        .reduced = x.reduced,
                        .dense = dense,
                        .vector = dense && vectors});
        vectors &= !dense;
    }
    if (m->op->stages.len > 1 && test_verb_usable(m, "fuse") &&
        test_chance(r, test_walks_apart(m) ? 40 : 15))
        test_fuse(m, s);
    if (test_verb_usable(m, "loops") && test_chance(r, 8))
        nest(m, s, &m->op->stages.data[test_draw(r, m->op->stages.len)]);
    if (test_verb_usable(m, "mma") && test_chance(r, 16)) multiply(m, s);
    narrow_exponentials(m, s);
    for (uint32_t i = 0; i < 2; i++) {
        const char *verb = i ? "compute" : "accumulate";
        if (test_verb_usable(m, verb) && test_chance(r, 8)) test_statement_draw(m, s, verb, is_sum);
    }
}

// ---- Lets and choices ---------------------------------------------------------------------------
static int64_t other_number(test_rng *r) { return 1 + (int64_t)test_draw(r, 8); }

// The number of a statement becomes a name, or a choice of which the first is taken.
static void open_number(test_maker *m, test_schedule *s) {
    if (!s->statements.len) return;
    uint32_t at = (uint32_t)test_draw(m->rng, s->statements.len);
    test_words *w = &s->statements.data[at].words;
    if (w->len != 2 || w->data[1].text || w->data[1].option) return;
    arena *a = m->arena;
    const char *number = arena_printf(a, "%lld", (long long)w->data[1].number);
    const char *choice = arena_printf(a, "%s | %lld", number, (long long)other_number(m->rng));
    if (test_chance(m->rng, 50)) {
        w->data[1] = test_text(choice);
        return;
    }
    const char *name = arena_printf(a, "N%u", s->statements.len);
    w->data[1] = test_text(test_chance(m->rng, 70) ? name : arena_printf(a, "%s * 1", name));
    test_word words[] = {test_text(name), test_text("="),
                         test_text(test_chance(m->rng, 50) ? number : choice)};
    test_put(m, s, "let", words, 3, NULL);
}

// ---- The whole ----------------------------------------------------------------------------------
static const char *any_verb(test_maker *m) {
    VEC(const char *) verbs = {0};
    const schedule_statement *row;
    for (uint32_t i = 0; (row = schedule_statement_at(i)); i++)
        if (test_verb_usable(m, row->verb)) VEC_PUSH(m->arena, &verbs, row->verb);
    return verbs.data[test_draw(m->rng, verbs.len)];
}

static void fill(test_maker *m, test_schedule *s) {
    static const uint32_t more[] = {0, 0, 0, 0, 1, 2};
    test_rng *r = m->rng;
    if (test_chance(r, 85)) tidy(m, s);
    if (test_verb_usable(m, "overlap") && several(m, s) && test_chance(r, 25))
        test_put(m, s, "overlap", NULL, 0, NULL);
    if (test_verb_usable(m, "interleave") && several(m, s) && test_chance(r, 8))
        test_put(m, s, "interleave", NULL, 0, NULL);
    static const char *const rooms[] = {"512", "1024", "1536", "2048"};
    const test_word room[] = {test_text(TEST_PICK(r, rooms)), test_text("soft")};
    if (test_verb_usable(m, "occupancy") && test_chance(r, 15))
        test_put(m, s, "occupancy", room, test_chance(r, 50) ? 2 : 1, NULL);
    uint32_t n = s->statements.len ? TEST_PICK(r, more) : 1 + (uint32_t)test_draw(r, 3);
    for (uint32_t i = 0; i < n; i++) test_statement_draw(m, s, any_verb(m), NULL);
    if (test_chance(r, 10)) open_number(m, s);
    for (uint32_t i = 0; i < s->statements.len; i++) {   // classes say what a block owns
        const test_statement *x = &s->statements.data[i];
        if (!strcmp(x->verb, "bucket")) test_take_verb(s, "block", x->words.data[0].text);
    }
}

const char *test_class_draw(test_maker *m) {
    test_schedule s = {.name = arena_printf(m->arena, "class%u", m->classes++)};
    tidy(m, &s);
    VEC_PUSH(m->arena, m->out, s);
    return s.name;
}

void test_schedule_draw(test_maker *m) {
    test_schedule s = {.name = TEST_SCHEDULE};
    m->pads = test_chance(m->rng, 20) ? 95 : 15;
    if (test_chance(m->rng, 15)) {
        test_schedule base = {.name = "base"};
        fill(m, &base);
        VEC_PUSH(m->arena, m->out, base);
        s.like = base.name;
    }
    fill(m, &s);
    VEC_PUSH(m->arena, m->out, s);
}

// ---- Text ---------------------------------------------------------------------------------------
static void print_words(textbuf *out, const test_word *w, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (w[i].option) print_words(out, w[i].option, w[i].noption);
        else if (w[i].text) textbuf_printf(out, " %s", w[i].text);
        else textbuf_printf(out, " %lld", (long long)w[i].number);
    }
}

void test_schedules_print(textbuf *out, const test_schedules *all, const char *op,
                          const char *machine) {
    for (uint32_t i = 0; i < all->len; i++) {
        const test_schedule *s = &all->data[i];
        textbuf_printf(out, "schedule %s %s%s%s for %s {\n", op, s->name, s->like ? " like " : "",
                       s->like ? s->like : "", machine);
        for (uint32_t k = 0; k < s->statements.len; k++) {
            const test_statement *x = &s->statements.data[k];
            textbuf_puts(out, "    ");
            for (uint32_t t = 0; t < x->stages.len; t++)
                textbuf_printf(out, "%s%s", t ? ", " : "", x->stages.data[t]);
            textbuf_printf(out, "%s%s", x->stages.len ? ": " : "", x->verb);
            print_words(out, x->words.data, x->words.len);
            textbuf_puts(out, ";\n");
        }
        textbuf_puts(out, "}\n");
    }
}
