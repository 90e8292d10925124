// Sums by matrix operations in blocks that own equal ranges of positions, sorted by their rows: a block goes
// through the rows of its range, one after the other, as matrix operations add up the products of one. A row
// that lies inside the range is stored at once; one that is cut leaves its sum there, and a second kernel
// adds those up, at the first of the beginnings of ranges that it lies across. So blocks have equally much to
// do, however uneven the rows are, and nothing depends on time.
//     w[r, k, q] = sum {e : type[e] == r} x[e, k] * g[e, q]    block e 2048
//  →  for e.part in 0 .. size(E.spans2048) [block] { for r in … [serial] { for k … { for q … {
//       reduce w by … { for e in max(e.part * 2048, offsets[r]) .. … { contribute w } }
//       if inside { store w }
//       if not { store_state w (…[max(e.part * 2, offsets[r] / 2048 * 2 + 1), k, q]) } }
//     for r.cut in 1 .. size(E.spans2048) [block] { let r = type[r.cut * 2048]  for k … { for q … {
//       if first { reduce w { for e.part … { contribute w (…) } }  store w } }
#include "planner.h"

static bool refuse(planner *p, span at, const char *help, const char *words) {
    diagnostic *d = plan_refuse(p, E0530, at, "%s", words);
    if (d) diag_help(d, "%s", help);
    return false;
}
#define REFUSE(p, at, help, ...) refuse((p), (at), (help), arena_printf((p)->arena, __VA_ARGS__))

bool plan_spans(planner *p, const tensor_stage *st) {
    plan_matrix m;
    return plan_carries(p, st) && plan_matrix_of(p, st, &m);
}

// ---- What is asked ---------------------------------------------------------------------------------------
// A block has its rows one after the other, so nothing else deals them out.
static bool check_row(planner *p, const tensor_stage *st, const schedule_cell *block, tensor_var row) {
    index_cut c = plan_cut(p, st, row, false);
    const char *name = plan_index_text(p, row);
    for (uint32_t k = 0; k < SCHEDULE_VERB_COUNT; k++) {
        if (!c.cell[k]) continue;
        diagnostic *d = plan_refuse(
            p, E0541, c.cell[k]->at,
            "'%s %s' deals out rows, and a block has those of its positions, one after the other",
            schedule_verb_text((schedule_verb)k), name);
        if (d) diag_note(d, block->at, "by this statement");
        if (d)
            diag_help(d, "leave it out, or cut rows: `block %s 1;  split %s %lld`", name, block->subject,
                      (long long)schedule_number(block, NULL));
        return false;
    }
    return !p->failed;
}

static bool check_points(planner *p, const tensor_stage *st, tensor_var v) {
    index_cut c = plan_cut(p, st, v, true);
    loop_node whole = {0};
    c.unroll = 0;
    plan_digits(p, &c, &whole);   // whether its parts make up a block
    return !p->failed;
}

static bool check_alone(planner *p, const stage_group *g, uint32_t first, const schedule_cell *block,
                        const plan_map *m, const row_class *rows) {
    const tensor_stage *st = &p->op->stages.data[first];
    const char *instead = arena_printf(p->arena, "cut rows: `split %s %lld`", block->subject,
                                       (long long)schedule_number(block, NULL));
    if (!plan_in_order(p, st, block, rows)) return false;
    if (plan_atomic(p, st))
        return REFUSE(
            p, block->at,
            arena_printf(p->arena, "'combine %s staged' gives the same bits every time", block->subject),
            "sums of '%s' by matrix operations in blocks of positions have no pass in this version that combines them by 'atomic'",
            st->name);
    if (!m->sorted)
        return REFUSE(
            p, block->at, instead,
            "'block' along '%s' with 'mma' has no pass in this version but for rows of a sorted map, and '%s' is none",
            block->subject, p->op->vals.data[m->map].name);
    if (!plan_cuts_rows(p, g, first, m, rows))
        return REFUSE(
            p, block->at, instead,
            "'block' along '%s' with 'mma' has no pass in this version where a kernel has other sums",
            block->subject);
    return true;
}

// ---- The kernel that goes through ranges -----------------------------------------------------------------
static tensor_space parts_of(planner *p, const loop_span *s, int64_t n) {
    const tensor_space points = p->op->vals.data[s->map].axes[0];
    const char *name = arena_printf(p->arena, "%s.spans%lld", p->op->spaces.data[points].name, (long long)n);
    return plan_space(p, name, loop_span_parts(p->op, s));
}

static tensor_var position(planner *p, const char *what, const char *index, tensor_space s) {
    return tensor_add_var(p->op, arena_printf(p->arena, "%s.%s'%u", index, what, p->op->vars.len), s);
}

bool plan_span(planner *p, const stage_group *g, uint32_t first, plan_part *part, tensor_var row,
               const plan_map *m, row_class *rows) {
    const tensor_stage *st = &p->op->stages.data[first];
    const char *index = p->op->vars.data[part->var].name;
    const schedule_cell *block = schedule_find(p->s, st->name, SCHEDULE_BLOCK, index);
    if (!check_alone(p, g, first, block, m, rows) || !check_row(p, st, block, row) ||
        !check_points(p, st, part->var))
        return false;
    loop_span *s = &part->span;
    *s = (loop_span){
        .map = m->map, .offsets = plan_offsets(p, m), .points = schedule_number(block, NULL), .row = row};
    const tensor_space parts = parts_of(p, s, s->points);
    s->part = part->part = position(p, "part", index, parts);
    s->head = part->head = position(p, "cut", p->op->vars.data[row].name, parts);
    part->kind = PART_SPAN;
    part->map = *m;
    part->lo = loop_span_lo(p->op, s);
    part->hi = loop_span_hi(p->op, s);
    part->first = loop_span_taken(p->op, s);
    part->end = loop_span_taken_end(p->op, s);
    rows->place = ROWS_OF_SPAN;
    rows->lo = loop_span_first(p->op, s);
    rows->hi = loop_span_end(p->op, s);
    return true;
}

void plan_span_slot(planner *p, const plan_part *part, tensor_space *axis, tensor_expr *index) {
    const char *parts = p->op->spaces.data[p->op->vars.data[part->part].space].name;
    *axis = plan_space(p, arena_printf(p->arena, "%s.slots", parts), loop_span_slots(p->op, &part->span));
    *index = tensor_index(p->op, *axis, loop_span_slot(p->op, &part->span), NO_SPAN);
    plan_narrow_product(p, axis, 1);
}

// ---- The kernel that takes rows up -----------------------------------------------------------------------
row_class plan_span_rows(planner *p, const plan_part *part, const row_class *rows) {
    row_class taken = *rows;
    tensor_var *head = ARENA_NEW(p->arena, tensor_var);
    *head = part->head;
    taken.at = head;
    taken.lo = tensor_int(p->op, 1);
    taken.hi = tensor_size(p->op, p->op->vars.data[part->head].space, NO_SPAN);
    taken.point = loop_span_cut_row(p->op, &part->span);
    return taken;
}
