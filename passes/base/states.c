// Parts of reductions: which part of a stage is made, where its state is left, and the store of a
// result.
#include "base/base.h"

#include <string.h>

schedule_cell *plan_split_cell(const planner *p, const tensor_stage *st, tensor_var v) {
    return schedule_find(p->s, st->id, SCHEDULE_SPLIT, p->op->vars.data[v].id);
}

schedule_cell *plan_part_cell(const planner *p, const tensor_stage *st, tensor_var v) {
    schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_BLOCK, p->op->vars.data[v].id);
    return c ? c : plan_split_cell(p, st, v);
}

int64_t plan_part_points(const planner *p, const tensor_stage *st) {
    for (uint32_t b = 0; b < st->nbound && st->reducer != TENSOR_NO_REDUCER; b++) {
        const schedule_cell *c = plan_part_cell(p, st, st->bound[b]);
        if (c) return schedule_number(c, NULL);
    }
    return 0;
}

tensor_var plan_part_variable(const planner *p, const tensor_stage *st) {
    uint32_t b = 0;
    while (!plan_part_cell(p, st, st->bound[b])) b++;
    return st->bound[b];
}

const plan_part *plan_part_of(const planner *p, uint32_t stage) {
    for (uint32_t i = 0; i < p->cut.parts.len; i++)
        if (p->cut.parts.data[i].stage == stage) return &p->cut.parts.data[i];
    return NULL;
}

schedule_cell *plan_combine_cell(const planner *p, const tensor_stage *st, tensor_var v) {
    return schedule_find(p->s, st->id, SCHEDULE_COMBINE, p->op->vars.data[v].id);
}

bool plan_atomic(const planner *p, const tensor_stage *st) {
    if (!plan_part_points(p, st)) return false;
    const schedule_cell *c = plan_combine_cell(p, st, plan_part_variable(p, st));
    return c && c->values[0].word == SCHEDULE_WAY_ATOMIC;
}

// A fused kernel owns its rows as a whole.
void plan_check_part(planner *p, const tensor_stage *st, tensor_var v, bool walked) {
    const schedule_cell *c = plan_part_cell(p, st, v);
    if (!c || walked) return;
    bool split = c->verb == SCHEDULE_SPLIT;
    diagnostic *d = plan_refuse(
        p, E0530, c->at,
        "'%s' along '%s' has no pass in this version: '%s' reduces it %s, or in a fused kernel",
        schedule_verb_text(c->verb), plan_index_text(p, v), st->name,
        split ? "without rows" : "by a key that is no index of its rows");
    if (d)
        diag_help(d, split ? "'block' takes pieces of all its points"
                           : "distribute it over groups and lanes of one block");
}

// Between lanes by shuffles, groups through shared memory, blocks by states in memory: the plan
// does so in any case.
void plan_check_combine(planner *p, const tensor_stage *st, const index_cut *c, bool runs) {
    const char *name = plan_index_text(p, c->var);
    schedule_cell *cell = plan_combine_cell(p, st, c->var);
    if (!cell) return;
    cell->consumed = true;
    const schedule_word word = cell->values[0].word;
    const char *way = cell->values[0].text;
    if (runs && word != SCHEDULE_WAY_STAGED && word != SCHEDULE_WAY_ATOMIC) {
        diagnostic *d = plan_refuse(
            p, E0540, cell->at,
            "'%s' is how %s of one row meet, and those of '%s' have rows of their own", way,
            word == SCHEDULE_WAY_SHUFFLE ? "lanes" : "groups", name);
        if (d) diag_help(d, "rows that are cut meet 'staged'");
        return;
    }
    const struct {
        schedule_word word;
        const char *between, *by;
        bool there;
    } ways[] = {
        {SCHEDULE_WAY_SHUFFLE, "lanes", "lanes", c->lanes > 1},
        {SCHEDULE_WAY_SHARED, "groups", "groups", c->groups > 1},
        {SCHEDULE_WAY_STAGED, "blocks", "block", c->block > 0 || plan_split_cell(p, st, c->var)},
        {SCHEDULE_WAY_ATOMIC, "blocks", "block", c->block > 0 || plan_split_cell(p, st, c->var)}};
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (word != ways[i].word || ways[i].there) continue;
        diagnostic *d = plan_refuse(p, E0540, cell->at,
                                    "'%s' is how %s meet, and '%s' is not distributed over any",
                                    way, ways[i].between, name);
        if (d) diag_help(d, "distribute it with '%s', or leave 'combine' out", ways[i].by);
    }
}

static tensor_space parts_of(planner *p, tensor_space points, int64_t n) {
    tensor_expr up = tensor_binary(p->op, TENSOR_ADD_OP, tensor_size(p->op, points, NO_SPAN),
                                   tensor_int(p->op, n - 1), NO_SPAN);
    return plan_space(
        p, arena_printf(p->arena, "%s.by%lld", p->op->spaces.data[points].name, (long long)n),
        tensor_binary(p->op, TENSOR_QUOT_OP, up, tensor_int(p->op, n), NO_SPAN));
}

tensor_var plan_part_position(planner *p, const plan_part *part, tensor_space parts) {
    return tensor_add_var(
        p->op,
        arena_printf(p->arena, "%s.part'%u", p->op->vars.data[part->var].name, p->op->vars.len),
        parts);
}

void plan_add_part(planner *p, plan_part *part, tensor_space points, int64_t n, tensor_expr end) {
    tensor_space parts = parts_of(p, points, n);
    part->part = plan_part_position(p, part, parts);
    tensor_expr at = plan_wide(p, tensor_var_expr(p->op, part->part, NO_SPAN));
    part->lo = tensor_binary(p->op, TENSOR_MUL_OP, at, tensor_int(p->op, n), NO_SPAN);
    part->hi = tensor_binary(
        p->op, TENSOR_MIN_OP,
        tensor_binary(p->op, TENSOR_ADD_OP, part->lo, tensor_int(p->op, n), NO_SPAN), end, NO_SPAN);
    part->first = tensor_int(p->op, 0);
    part->end = tensor_size(p->op, parts, NO_SPAN);
}

loop_node *plan_states(planner *p, loop_node_kind kind, const plan_part *part) {
    loop_node *n = loop_node_new(p->plan, kind, p->op->stages.data[part->stage].at);
    uint32_t *stage = ARENA_NEW(p->arena, uint32_t);
    *stage = part->stage;
    n->nstages = 1;
    n->stages = stage;
    n->state.n = part->nstates;
    n->state.loads = part->states;
    return n;
}

// A carry has stored what it knows.
void plan_leave_state(planner *p, loop_body *to, uint32_t stage) {
    const plan_part *part = plan_part_of(p, stage);
    loop_node_kind kind = part->atomic ? LOOP_COMBINE : LOOP_STORE_STATE;
    if (part->kind != PART_RUNS) loop_append(p->plan, to, plan_states(p, kind, part));
}

static bool is_left(const planner *p, const tensor_stage *st, tensor_expr e, tensor_var *out) {
    const tensor_node *n = tensor_node_at(p->op, e);
    for (uint32_t i = 0; n->op == TENSOR_VAR_OP && i < st->nleft; i++)
        if ((tensor_var)n->imm.i == st->left[i] && !plan_is_step(p, st, st->left[i]))
            return *out = st->left[i], true;
    return false;
}

// The key that takes the points to rows; a sorted one where there are several.
bool plan_run_key(planner *p, const tensor_stage *st, tensor_var v, plan_part *part) {
    bool found = false;
    for (uint32_t k = 0; k < st->nkeys && !(found && part->map.sorted); k++) {
        plan_map m;
        tensor_var row;
        if (tensor_node_at(p->op, st->keys[k].lhs)->op == TENSOR_VAR_OP) continue;
        if (!is_left(p, st, st->keys[k].rhs, &row) || !plan_map_of_key(p, st->keys[k].lhs, v, &m))
            continue;
        if (found && !m.sorted) continue;
        part->run.key = k;
        part->map = m;
        part->run.row = row;
        found = true;
    }
    return found;
}

const schedule_cell *plan_block_of(const planner *p, const tensor_stage *st, tensor_var v) {
    return schedule_find(p->s, st->id, SCHEDULE_BLOCK, p->op->vars.data[v].id);
}

bool plan_carries(planner *p, const tensor_stage *st) {
    plan_part part;
    for (uint32_t b = 0; b < st->nbound && st->reducer != TENSOR_NO_REDUCER; b++)
        if (plan_block_of(p, st, st->bound[b]) && plan_run_key(p, st, st->bound[b], &part))
            return true;
    return false;
}

void plan_store(planner *p, loop_body *to, const uint32_t *stage) {
    loop_node *n = loop_node_new(p->plan, LOOP_STORE, p->op->stages.data[*stage].at);
    n->nstages = 1;
    n->stages = stage;
    loop_append(p->plan, to, n);
}
