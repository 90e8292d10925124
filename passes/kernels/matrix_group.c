// Contractions by operations of four warps, which have the second factor in shared memory
// (lower/matrix/group.c, lower/matrix/panels.c): what they ask of the loops around them, and of the
// block.
#include "kernels/kernels.h"
#include "base/base.h"

static bool refuse(planner *p, const schedule_cell *c, const char *help, const char *words) {
    diagnostic *d = plan_refuse(p, E0572, c->at, "%s", words);
    if (d) diag_help(d, "%s", help);
    return false;
}
#define REFUSE(p, c, help, ...) refuse((p), (c), (help), arena_printf((p)->arena, __VA_ARGS__))

// Of four warps: they share all columns of the block, the depth is whole, and nothing is left over.
static bool check_whole(planner *p, const plan_matrix *m, tensor_var v, const loop_node *n) {
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[v].space];
    const char *name = plan_index_text(p, v), *shape = simt_mma_table(m->kind)->shape;
    int64_t step = loop_digits_product(n);
    if (s->kind != SPACE_CONST)
        return REFUSE(
            p, m->cell,
            arena_printf(p->arena, "give the size, -D %s=64, or take another shape", s->name),
            "'%s' multiplies matrices as a whole, and the extent of '%s' is not known", shape,
            name);
    for (uint32_t d = 0; d < n->ndigits; d++)
        if (n->digits[d].place == LOOP_SERIAL_PLACE)
            return REFUSE(p, m->cell, "leave the steps out, or take another shape",
                          "'%s' multiplies matrices as a whole, and a block takes '%s' in steps",
                          shape, name);
    if (n->rest != LOOP_BLOCK_PLACE ? s->size == step : s->size % step == 0) return true;
    return REFUSE(
        p, m->cell, "take as many registers, or another shape",
        "'%s' multiplies matrices as a whole, and a thread's share of the %lld points of '%s' makes %lld",
        shape, (long long)s->size, name, (long long)step);
}

static int64_t group_bytes(simt_mma kind, const loop_node *columns, const loop_node *depth) {
    return loop_digits_product(columns) * loop_digits_product(depth) *
           simt_element_bits(simt_mma_table(kind)->element) / 8;
}

// Rows in panels are multiplied as they lie there.
bool plan_group_along(planner *p, const plan_matrix *m, tensor_var v, const loop_node *n) {
    const char *name = plan_index_text(p, v);
    for (uint32_t d = 0; d < n->ndigits; d++)
        if (n->digits[d].place == LOOP_GROUP_PLACE)
            return REFUSE(
                p, m->cell, arena_printf(p->arena, "leave `groups %s` out", name),
                "the four warps of '%s' share all columns, and groups along '%s' would divide them",
                simt_mma_table(m->kind)->shape, name);
    if (n->rest == LOOP_BLOCK_PLACE)
        return REFUSE(p, m->cell, arena_printf(p->arena, "leave `block %s` out", name),
                      "'%s' multiplies whole rows, and blocks have pieces of '%s'",
                      simt_mma_table(m->kind)->shape, name);
    bool apart = n->digits[0].place == LOOP_VECTOR_PLACE ||
                 (n->digits[0].place == LOOP_REGISTER_PLACE && n->digits[0].extent > 2);
    if (!apart) return check_whole(p, m, v, n);
    const schedule_cell *vector = schedule_find(p->s, m->stage->id, SCHEDULE_VECTOR,
                                                p->op->vars.data[v].id);
    return REFUSE(
        p, vector ? vector : m->cell,
        arena_printf(p->arena, "leave `vector %s` out: what a thread has is for `registers %s`",
                     name, name),
        "'%s' multiplies rows as they lie in shared memory, and vectors of '%s' have them in another order",
        simt_mma_table(m->kind)->shape, name);
}

// Of windows: the rows that slots read come to shared memory in rounds, where all four warps read
// them.
static bool check_window_group(planner *p, const plan_matrix *m, const loop_node *columns) {
    enum { MOST_COLUMNS = 256 };
    const simt_mma_info *info = simt_mma_table(m->kind);
    const char *depth = plan_index_text(p, m->depth), *name = plan_index_text(p, m->columns);
    if (m->rows == LOOP_NO_ROWS ||
        !schedule_find(p->s, m->stage->id, SCHEDULE_PIPELINE, p->op->vars.data[m->depth].id))
        return REFUSE(
            p, m->cell,
            arena_printf(
                p->arena,
                "say `pipeline %s 2`, and keep what a window's columns read: `keep x shared`",
                depth),
            "'%s' reads the second factor in shared memory, and rounds of '%s' bring nothing there",
            info->shape, depth);
    if (simt_mma_word(m->kind) != 2)
        return REFUSE(p, m->cell, "take another shape, or numbers of 16 bits",
                      "'%s' of rows that a window's columns read is for numbers of 16 bits",
                      info->shape);
    if (schedule_number(m->window, NULL) % (info->m * info->warps))
        return REFUSE(p, m->cell,
                      arena_printf(p->arena, "take windows of 64 rows: `window %s 64 …`",
                                   plan_index_text(p, m->rows)),
                      "'%s' is an operation of %u rows, and a window has %lld", info->shape,
                      info->m * info->warps, (long long)schedule_number(m->window, NULL));
    if (p->windows.of && p->windows.of->warps % info->warps)
        return REFUSE(
            p, m->cell,
            arena_printf(p->arena, "`groups %s %u`", plan_index_text(p, m->rows), info->warps),
            "'%s' is an operation of %u warps, and a window has the rows of %lld", info->shape,
            info->warps, (long long)p->windows.of->warps);
    if (!plan_group_along(p, m, m->columns, columns)) return false;
    if (loop_digits_product(columns) <= MOST_COLUMNS) return true;
    return REFUSE(p, m->cell, "take another shape",
                  "'%s' has up to %d columns, and '%s' has %lld points", info->shape, MOST_COLUMNS,
                  name, (long long)loop_digits_product(columns));
}

bool plan_group_check(planner *p, const tensor_stage *st, const plan_matrix *m,
                      const loop_list *levels, const loop_node *rows, const loop_node *columns,
                      const loop_node *depth) {
    const simt_mma_info *info = simt_mma_table(m->kind);
    if (m->window) return check_window_group(p, m, columns);
    if (simt_mma_splits(m->kind))
        return REFUSE(
            p, m->cell, "multiply by `tf32x3`",
            "'%s' takes rows apart that rounds of windows bring to shared memory, and '%s' has no windows",
            info->operand, st->name);
    if (m->rows == LOOP_NO_ROWS || st->nleft != 2)
        return REFUSE(p, m->cell, "take another shape",
                      "'%s' is for sums of rows and columns alone", info->shape);
    uint32_t groups = 1;
    for (uint32_t i = 0; i < levels->len; i++)
        for (uint32_t d = 0; d < levels->data[i]->ndigits; d++) {
            bool apart = levels->data[i]->digits[d].place == LOOP_GROUP_PLACE;
            if (apart && levels->data[i] != rows)
                return REFUSE(
                    p, m->cell,
                    arena_printf(p->arena, "distribute them along '%s'",
                                 plan_index_text(p, m->rows)),
                    "the four warps of '%s' share all columns, and groups along '%s' would divide them",
                    info->shape, plan_index_text(p, m->columns));
            if (apart) groups *= levels->data[i]->digits[d].extent;
        }
    if (groups % info->warps)
        return REFUSE(
            p, m->cell,
            arena_printf(p->arena, "`groups %s %u`", plan_index_text(p, m->rows), info->warps),
            "'%s' is an operation of %u warps, and there are %u groups along '%s'", info->shape,
            info->warps, groups, plan_index_text(p, m->rows));
    if (!check_whole(p, m, m->columns, columns) || !check_whole(p, m, m->depth, depth))
        return false;
    int64_t bytes = group_bytes(m->kind, columns, depth);
    if (bytes <= p->machine->group_shared_bytes) return true;
    return REFUSE(
        p, m->cell,
        arena_printf(p->arena, "give a block fewer columns: `block %s …`",
                     plan_index_text(p, m->columns)),
        "'%s' has the second factor of a block in shared memory, where %lld bytes of it are more than %d",
        info->shape, (long long)bytes, (int)p->machine->group_shared_bytes);
}

// all: of the kernel; body: of the part at hand.
static int64_t groups_bytes(const loop_body *all, const loop_body *body) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        const loop_matrix *m = n->kind == LOOP_REDUCE ? n->reduce.matrix : NULL;
        if (m && simt_mma_table(m->kind)->warps > 1)
            bytes += group_bytes(m->kind, loop_over_var(all, m->columns),
                                 loop_over_var(&n->body, m->depth));
        bytes += groups_bytes(all, &n->body);
    }
    return bytes;
}

void plan_matrix_fit(planner *p, const stage_group *g, const loop_kernel *k) {
    int64_t bytes = p->windows.of
                        ? 0
                        : groups_bytes(&k->body, &k->body);   // of windows they are what is fetched
    plan_matrix m;
    for (uint32_t i = 0; i < g->len && !p->failed && bytes > p->machine->group_shared_bytes; i++)
        if (plan_matrix_of(p, &p->op->stages.data[g->data[i]], &m))
            REFUSE(
                p, m.cell, "give a block fewer columns: `block q …`",
                "the second factors of all sums of a kernel lie in shared memory, %lld bytes, more than %d",
                (long long)bytes, (int)p->machine->group_shared_bytes);
}

int64_t plan_matrix_room(const planner *p, const loop_kernel *k) {
    return (int64_t)p->machine->group_shared_bytes -
           (p->windows.of ? 0 : groups_bytes(&k->body, &k->body));
}
