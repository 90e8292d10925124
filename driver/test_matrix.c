// What else a schedule drawn at random says of a sum that tensor cores contract: tiles of one value
// of a map, matrices that stay in registers for those, long sums that blocks cut, and sums of rows
// that take what each edge has.
#include "test.h"

#include <string.h>

static void put(test_maker *m, test_schedule *s, const char *verb, const char *index, int64_t n) {
    test_take_verb(s, verb, index);
    test_put(m, s, verb, (test_word[]){test_text(index), test_number(n)}, 2, NULL);
}

// ---- Tiles --------------------------------------------------------------------------------------
static const tensor_val_info *map_of(const test_maker *m, tensor_space from) {
    const tensor_op *op = m->op->op;
    const tensor_val_info *found = NULL;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        bool map = i->role == VAL_MAP && i->rank == 1 && i->axes[0] == from;
        if (map && (!found || test_chance(m->rng, 50))) found = i;
    }
    return found;
}

// What has a matrix for each value.
static void stay(test_maker *m, test_schedule *s, const test_stage *st, tensor_space values) {
    const tensor_op *op = m->op->op;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->role != VAL_TENSOR || i->rank < 3 || i->axes[0] != values) continue;
        test_put(m, s, "keep", (test_word[]){test_text(i->name), test_text("registers")}, 2, NULL);
        put(m, s, "registers", st->indices[st->nleft - 1].name, test_chance(m->rng, 80) ? 8 : 4);
        put(m, s, "registers", st->indices[st->nleft].name, test_chance(m->rng, 80) ? 16 : 8);
        return;
    }
}

static void tile(test_maker *m, test_schedule *s, const test_stage *st) {
    static const int64_t points[] = {16, 32, 32, 64}, times[] = {1, 2, 3, 4};
    const test_index *row = &st->indices[0];
    const tensor_val_info *map = map_of(m, row->space);
    test_words words = {0};
    if (!map) return;
    const test_word fixed[] = {test_text(row->name), test_number(TEST_PICK(m->rng, points)),
                               test_text("by"), test_text(map->name)};
    for (uint32_t i = 0; i < 4; i++) VEC_PUSH(m->arena, &words, fixed[i]);
    VEC_PUSH(m->arena, &words, test_text("serial"));
    VEC_PUSH(m->arena, &words, test_number(TEST_PICK(m->rng, times)));
    if (test_chance(m->rng, 20)) {
        test_take_verb(s, "groups", row->name);
        VEC_PUSH(m->arena, &words, test_text("tiles"));
        VEC_PUSH(m->arena, &words, test_number(2));
    }
    if (test_chance(m->rng, 30)) VEC_PUSH(m->arena, &words, test_text("largest"));
    test_take_verb(s, "block", row->name);
    test_put(m, s, "block", words.data, words.len, NULL);
    if (test_chance(m->rng, 80))
        test_put(m, s, "order",
                 (test_word[]){test_text(row->name), test_text("by"), test_text(map->name)}, 3,
                 NULL);
    if (test_chance(m->rng, 60)) stay(m, s, st, map->into);
}

// ---- Sums that others add to --------------------------------------------------------------------
static void combine(test_maker *m, test_schedule *s, const char *index, uint32_t atomic) {
    const char *way = test_chance(m->rng, atomic) ? "atomic" : "staged";
    test_put(m, s, "combine", (test_word[]){test_text(index), test_text(way)}, 2, NULL);
}

static void cut(test_maker *m, test_schedule *s, const test_stage *st) {
    static const int64_t points[] = {16, 32, 32, 64};
    const char *depth = st->indices[st->nleft].name;
    test_take_verb(s, "block", depth);
    put(m, s, "split", depth, TEST_PICK(m->rng, points));
    combine(m, s, depth, 80);
}

// The equation that a stage belongs to: "m" of "m.sum".
static const char *equation(const test_maker *m, const char *stage) {
    const char *dot = strchr(stage, '.');
    return dot ? arena_strndup(m->arena, stage, (size_t)(dot - stage)) : stage;
}

static void scatter(test_maker *m, test_schedule *s, const test_stage *st) {
    const char *row = st->indices[0].name;
    for (const test_stage *y = st + 1; y < m->op->stages.data + m->op->stages.len; y++)
        for (uint32_t k = y->nleft; k < y->nindices; k++) {
            if (strcmp(y->indices[k].name, row) || !y->sum) continue;
            const char *both = arena_printf(m->arena, "%s, %s", equation(m, st->name),
                                            equation(m, y->name));
            test_put(m, s, "fuse", (test_word[]){test_text(both), test_text("at"), test_text(row)},
                     3, NULL);
            combine(m, s, row, 95);
            return;
        }
}

void test_multiply(test_maker *m, test_schedule *s, const test_stage *st) {
    const bool sparse = m->op->sparse[st->indices[st->nleft].space];
    if (sparse && test_chance(m->rng, 30)) cut(m, s, st);
    if (sparse) return;
    if (test_chance(m->rng, 50)) tile(m, s, st);
    if (test_verb_usable(m, "fuse") && test_chance(m->rng, 50)) scatter(m, s, st);
}
