// Statements about rows by their degree, as the key of a schedule: buckets and orders.
//     y: bucket v by degree(dst, v) at 256 use light, heavy;  order v by degree(dst, v) desc
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/rows/rows.h"

// degree(map, v), as a schedule of a file has it: the value of a stage beside the op's.
static schedule_value degree_key(making *m, tensor_val map, tensor_var v) {
    planner *p = m->p;
    tensor_op *op = (tensor_op *)(uintptr_t)m->s->op;
    const tensor_val_info i = p->op->vals.data[map];
    tensor_space *axes = ARENA_NEW(p->arena, tensor_space);
    *axes = i.into;
    tensor_var row = tensor_add_var(op, "v", i.into), e = tensor_add_var(op, "e", i.axes[0]);
    tensor_val degree = tensor_add_val(
        op, (tensor_val_info){.name = arena_printf(p->arena, "degree.%s", i.name),
                              .role = VAL_STAGE,
                              .type = DT_I64,
                              .into = TENSOR_NO_SPACE,
                              .sorted_by = TENSOR_NO_VAL,
                              .inplace = TENSOR_NO_VAL,
                              .rank = 1,
                              .axes = axes});
    tensor_expr at = tensor_var_expr(op, row, NO_SPAN), from = tensor_var_expr(op, e, NO_SPAN);
    tensor_expr *index = ARENA_NEW(p->arena, tensor_expr), *one = ARENA_NEW(p->arena, tensor_expr);
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    tensor_key *key = ARENA_NEW(p->arena, tensor_key);
    tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, 2);
    *index = at;
    *one = tensor_int(op, 1);
    *to = (tensor_target){degree, 1, index};
    *key = (tensor_key){tensor_load(op, map, &from, 1, NO_SPAN), at};
    vars[0] = row;
    vars[1] = e;
    tensor_stage st = {.name = op->vals.data[degree].name,
                       .ntargets = 1,
                       .targets = to,
                       .nleft = 1,
                       .left = vars,
                       .reducer = tensor_builtin_reducer(op, REDUCE_SUM, TENSOR_TYPE(I64)),
                       .nbody = 1,
                       .body = one,
                       .nbound = 1,
                       .bound = vars + 1,
                       .nkeys = 1,
                       .keys = key,
                       .loop = TENSOR_NO_LOOP};
    VEC_PUSH(p->arena, &m->s->stages, st);
    return (schedule_value){
        .keyword = "by",
        .text = arena_printf(p->arena, "degree(%s, %s)", i.name, p->op->vars.data[v].name),
        .key = tensor_load(op, degree, &at, 1, NO_SPAN),
        .var = row};
}

void default_fill_bucket(making *m, const tensor_stage *st, tensor_var row, tensor_val map,
                         const default_bucket_class *all, uint32_t n, const default_standing *how) {
    arena *a = m->p->arena;
    const schedule **use = ARENA_ARRAY(a, const schedule *, n);
    const char **names = ARENA_ARRAY(a, const char *, n);
    int64_t *limits = ARENA_ARRAY(a, int64_t, n);
    for (uint32_t i = 0; i < n; i++)
        use[i] = all[i].use, names[i] = use[i]->name, limits[i] = all[i].limit;
    const schedule_value
        at = {.keyword = "at", .nnumbers = n - 1, .numbers = limits, .var = UINT32_MAX},
        uses = {.keyword = "use", .nnames = n, .names = names, .schedules = use, .var = UINT32_MAX};
    const int64_t above = how->most < limits[0] ? how->most : limits[0] - 1;
    default_say(m, default_index_cell(m->p, SCHEDULE_BUCKET, st, row), degree_key(m, map, row), at,
                uses, default_if(how->most, default_option("above", above)),
                default_if(how->fused, default_option("fused", 0)));
}

// Entries of rows that stand in their own order; 0: all are ordered by degree. What entries read
// where they lie is read once by rows that stand side by side, and twice at each end of one that
// does not. (Of few entries a cache has it.) Neighbours often gather the same rows, too, of which
// wide ones take more than what unequal lengths cost.
static int64_t stands_of(const making *m, const tensor_stage *st) {
    const int64_t bytes = default_row_bytes(m->p, st);
    const bool wide = !bytes || bytes >= DEFAULT_STANDS_WIDE;
    return wide || (m->hand.streams && m->rows != ROWS_FEW) ? DEFAULT_STANDS : 0;
}

void default_order_by_degree(making *m, const tensor_stage *st, tensor_var row, tensor_val map) {
    const int64_t stands = stands_of(m, st);
    default_say(m, default_index_cell(m->p, SCHEDULE_ORDER, st, row), degree_key(m, map, row),
                default_option("desc", 0), default_if(stands, default_option("above", stands)));
}
