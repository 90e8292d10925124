// Schedules as tables: the most specific cell, cells emptied and replaced, text, and what nobody
// consumed.
#include "schedule.h"

#include <string.h>

static int failures;
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) printf("%s:%d: %s\n", __FILE__, __LINE__, #x), failures++;                       \
    } while (0)

// Paths and indices as an op with a table of identities has them; "e" and "e'" are one index, "f"
// another.
static tensor_id path(const schedule *s, const char *text) {
    return tensor_id_of_path(s->ids, text);
}

static schedule new_schedule(arena *a, const char *name) {
    return (schedule){.name = name, .ids = tensor_ids_new(a)};
}

static void fill(arena *a, schedule *s, const char *stage, schedule_verb verb, const char *subject,
                 tensor_id about, int64_t number) {
    schedule_value *v = ARENA_NEW(a, schedule_value);
    *v = (schedule_value){.number = number, .var = UINT32_MAX};
    schedule_fill(a, s,
                  (schedule_cell){.verb = verb,
                                  .stage = stage,
                                  .subject = subject,
                                  .of = path(s, stage),
                                  .about = schedule_one(a, about),
                                  .nvalues = number > 0,
                                  .values = v,
                                  .empty = number == 0});
}

static int64_t found(const schedule *s, const char *stage, schedule_verb verb, tensor_id about) {
    const schedule_cell *c = schedule_find(s, path(s, stage), verb, about);
    return c ? schedule_number(c, NULL) : 0;
}

static void test_find(arena *a) {
    schedule s = new_schedule(a, "rows");
    const tensor_id e = tensor_id_of_index(s.ids, "e"), other = tensor_id_of_index(s.ids, "e");
    fill(a, &s, "a", SCHEDULE_TILE, "e", e, 16);
    fill(a, &s, NULL, SCHEDULE_TILE, "e", e, 32);
    fill(a, &s, "a.sum", SCHEDULE_TILE, "e", e, 0);
    fill(a, &s, NULL, SCHEDULE_PERSISTENT, NULL, TENSOR_ALL, 2);
    fill(a, &s, NULL, SCHEDULE_KEEP, "b", path(&s, "b"), 3);
    fill(a, &s, NULL, SCHEDULE_KEEP, "b.max", path(&s, "b.max"), 4);
    CHECK(found(&s, "y", SCHEDULE_TILE, e) == 32 && found(&s, NULL, SCHEDULE_TILE, e) == 32);
    CHECK(found(&s, "a", SCHEDULE_TILE, e) == 16 && found(&s, "a.max", SCHEDULE_TILE, e) == 16);
    CHECK(found(&s, "ab", SCHEDULE_TILE, e) == 32 && found(&s, "a", SCHEDULE_TILE, other) == 0);
    CHECK(!found(&s, "a.sum", SCHEDULE_TILE, e) && !found(&s, "a", SCHEDULE_LANES, e));
    CHECK(found(&s, NULL, SCHEDULE_PERSISTENT, TENSOR_ALL) == 2 &&
          !found(&s, NULL, SCHEDULE_PERSISTENT, e));
    CHECK(found(&s, NULL, SCHEDULE_KEEP, path(&s, "b.sum")) == 3 &&
          found(&s, NULL, SCHEDULE_KEEP, path(&s, "b.max.cut")) == 4);
    uint32_t cells = s.cells.len;
    fill(a, &s, "a", SCHEDULE_TILE, "e", e, 8);
    CHECK(s.cells.len == cells && found(&s, "a", SCHEDULE_TILE, e) == 8);
    CHECK(schedule_number(schedule_find(&s, path(&s, "a"), SCHEDULE_TILE, e), "serial") == 0);
    CHECK(!strcmp(schedule_verb_text(SCHEDULE_MMA), "mma") &&
          schedule_statement_at(SCHEDULE_VERB_COUNT) == NULL);
}

// One name of a statement may mean an index of each stage.
static void test_several(arena *a) {
    schedule s = new_schedule(a, "rows");
    const tensor_id indices[] = {tensor_id_of_index(s.ids, "f"), tensor_id_of_index(s.ids, "f")};
    schedule_fill(a, &s, (schedule_cell){.verb = SCHEDULE_COLLAPSE, .about = {0}});
    schedule_fill(a, &s,
                  (schedule_cell){.verb = SCHEDULE_LANES, .subject = "f", .about = {2, indices}});
    CHECK(schedule_find(&s, path(&s, "y"), SCHEDULE_LANES, indices[0]) &&
          schedule_find(&s, path(&s, "z"), SCHEDULE_LANES, indices[1]));
    CHECK(!schedule_find(&s, path(&s, "y"), SCHEDULE_LANES, TENSOR_ALL) &&
          !schedule_find(&s, path(&s, "y"), SCHEDULE_COLLAPSE, indices[0]));
}

static void test_print(arena *a) {
    schedule s = new_schedule(a, "default");
    s.target = "host";
    const char *const stages[] = {"s", "y"};
    const schedule_value fused[] = {{.keyword = "stages", .nnames = 2, .names = stages},
                                    {.keyword = "at", .text = "v"}},
                         kept[] = {{.text = "registers"}};
    schedule_fill(a, &s,
                  (schedule_cell){.verb = SCHEDULE_FUSE,
                                  .subject = "s",
                                  .about = schedule_one(a, path(&s, "s")),
                                  .nvalues = 2,
                                  .values = fused});
    fill(a, &s, "y", SCHEDULE_LANES, "f", tensor_id_of_index(s.ids, "f"), 32);
    schedule_fill(a, &s,
                  (schedule_cell){.verb = SCHEDULE_KEEP,
                                  .subject = "x",
                                  .about = schedule_one(a, path(&s, "x")),
                                  .nvalues = 1,
                                  .values = kept});
    schedule_fill(a, &s,
                  (schedule_cell){.verb = SCHEDULE_FUSE,
                                  .subject = "y",
                                  .about = schedule_one(a, path(&s, "y")),
                                  .nvalues = 2,
                                  .values = fused});
    fill(a, &s, NULL, SCHEDULE_PERSISTENT, NULL, TENSOR_ALL, 0);
    textbuf b = textbuf_new(a);
    schedule_print(&b, tensor_op_new(a, "spmm"), &s);
    CHECK(!strcmp(b.data,
                  "schedule spmm default for host {\n    fuse s, y at v;\n    keep x registers;\n"
                  "    persistent none;\n    y: {\n        lanes f 32;\n    }\n}\n"));
}

static const char *reason(void *user, const schedule_cell *c) {
    return c->verb == SCHEDULE_LANES ? (const char *)user : NULL;
}

static void test_unconsumed(arena *a) {
    source_map *m = source_map_new(a);
    source_map_add(m, "rows.gnn", "lanes tile", 10);
    diag_set *ds = diag_set_new(a, m);
    schedule s = new_schedule(a, "rows");
    const tensor_id e = tensor_id_of_index(s.ids, "e");
    s.automatic = true;
    fill(a, &s, "y", SCHEDULE_LANES, "f", tensor_id_of_index(s.ids, "f"), 32);
    fill(a, &s, NULL, SCHEDULE_TILE, "e", e, 8);
    fill(a, &s, NULL, SCHEDULE_UNROLL, "e", e, 4);
    fill(a, &s, "a", SCHEDULE_TILE, "e", e, 0);
    s.cells.data[0].at = (span){1, 6};
    s.cells.data[2].consumed = true;
    schedule_unconsumed(ds, a, &s, reason, "no stage has it");
    CHECK(diag_errors(ds) == 0);
    s.automatic = false;
    schedule_unconsumed(ds, a, &s, reason, "no stage has it");
    CHECK(diag_errors(ds) == 2);
    FILE *f = tmpfile();
    char text[1024] = "";
    diag_print(ds, f);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    CHECK(strstr(text, "error[E0540]: 'y: lanes f' has nothing to do here: no stage has it"));
    CHECK(strstr(text, "error[E0540]: 'tile e' has nothing to do here\n"));
}

// Either copy grows without the other, and expressions stay shared.
static void test_copy(arena *a) {
    tensor_op *op = tensor_op_new(a, "f");
    tensor_space v = tensor_add_space(op,
                                      (tensor_space_info){.name = "V", .classes = TENSOR_NO_VAL});
    tensor_expr i = tensor_var_expr(op, tensor_add_var(op, "i", v), NO_SPAN),
                size = tensor_size(op, v, NO_SPAN);
    for (int64_t k = 0; k < 100; k++) tensor_int(op, k);
    tensor_op *copy = tensor_op_copy(a, op);
    uint32_t exprs = op->exprs.len;
    CHECK(tensor_size(copy, v, NO_SPAN) == size && tensor_int(copy, 42) == tensor_int(op, 42));
    tensor_expr own = tensor_cvt(copy, TENSOR_TYPE(I64), i, NO_SPAN);
    tensor_add_var(copy, "j", v);
    CHECK(own == exprs && op->exprs.len == exprs && op->vars.len == 1 && copy->vars.len == 2);
    CHECK(tensor_int(op, 1000) == exprs && tensor_node_at(copy, own)->op == TENSOR_CVT_OP);
}

int main(void) {
    arena *a = arena_new();
    test_find(a);
    test_several(a);
    test_print(a);
    test_unconsumed(a);
    test_copy(a);
    arena_free(a);
    return failures != 0;
}
