// Sums over preimages on tensor cores: rows in windows of as many as a matrix operation has, whose
// entries share slots, one for each distinct value of another map (TC-GNN, DTC-SpMM, FlashSparse).
// Of the products that are summed one factor is of the entry, and stands in the cell of its row and
// slot, the other one is of what that map says, and is the same for all rows of the window. Cells
// without an entry are 0.
//     window v 16 by src 16;  mma e f16
//  →  for v.window in 0 .. size(V.by16) [block] {
//       for v in 16 * v.window .. … [lane 8 unit 4, register 2, whole] { for f … {
//       reduce y by m16n8k16.f16 (v, f, e.slot) {
//         for e.block in window_begins[v.window] .. window_begins[v.window + 1] [serial] {
//           for e.slot in 16 * e.block .. 16 * (e.block + 1) [register 4, lane 4, whole] {
//             let e = window_entries[…], the cell of v and e.slot, or 0 where that is none
//             given src[e] = window_columns[e.slot]
//             if window_entries[…] >= 0 { contribute y } } }
//         again { for e in offsets.dst[v] .. offsets.dst[v + 1] { contribute y } } }
#include "kernels/kernels.h"
#include "base/base.h"

#include <string.h>

static bool refuse(planner *p, diag_code code, span at, const char *help, const char *words) {
    diagnostic *d = plan_refuse(p, code, at, "%s", words);
    if (d) diag_help(d, "%s", help);
    return false;
}
#define REFUSE(p, code, at, help, ...)                                                             \
    refuse((p), (code), (at), (help), arena_printf((p)->arena, __VA_ARGS__))

// ---- What is asked ------------------------------------------------------------------------------
schedule_cell *plan_window_cell(const planner *p, const tensor_stage *st, tensor_var *row) {
    for (uint32_t i = 0; i < st->nleft; i++) {
        schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_WINDOW,
                                         p->op->vars.data[st->left[i]].id);
        if (c) return *row = st->left[i], c;
    }
    return NULL;
}

tensor_val plan_window_source(const planner *p, const schedule_cell *window) {
    return plan_map_meant(p, schedule_value_of(window, "by"));
}

// An array that the caller hands over; entries without a row are in no window, and those without a
// column would be.
static bool is_array(const planner *p, tensor_val v, bool columns) {
    const tensor_val_info *i = &p->op->vals.data[v];
    return i->role == VAL_MAP && i->rank == 1 &&
           !(i->facts & (FACT_PREFIX | (columns ? FACT_PARTIAL : 0)));
}

// The map that says which row an entry belongs to.
tensor_val plan_window_rows_map(const planner *p, const tensor_stage *st, tensor_var row) {
    if (st->nkeys != 1 || st->nbound != 1 || st->nfilters) return TENSOR_NO_VAL;
    const tensor_node *lhs = tensor_node_at(p->op, st->keys[0].lhs),
                      *rhs = tensor_node_at(p->op, st->keys[0].rhs);
    if (lhs->op != TENSOR_LOAD_OP || lhs->nargs != 1 || rhs->op != TENSOR_VAR_OP)
        return TENSOR_NO_VAL;
    const tensor_node *at = tensor_node_at(p->op, lhs->args[0]);
    bool plain = at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == st->bound[0] &&
                 (tensor_var)rhs->imm.i == row;
    return plain ? (tensor_val)lhs->imm.i : TENSOR_NO_VAL;
}

static bool check_maps(planner *p, const tensor_stage *st, const plan_matrix *m,
                       const schedule_cell *c) {
    const char *index = plan_index_text(p, m->rows), *by = schedule_value_of(c, "by")->text;
    tensor_val rows = plan_window_rows_map(p, st, m->rows), source = plan_window_source(p, c);
    if (rows == TENSOR_NO_VAL)
        return REFUSE(
            p, E0572, c->at, "leave 'window' and 'mma' out: any sum can go entry by entry",
            "'%s' does not sum the entries that one map takes to '%s', and windows are of those",
            st->name, index);
    if (source == TENSOR_NO_VAL ||
        p->op->vals.data[source].axes[0] != p->op->vals.data[rows].axes[0])
        return REFUSE(p, E0572, c->at, "name the map that says what the other factor is read at",
                      "'%s' is no map of the entries that '%s' sums", by, st->name);
    for (uint32_t i = 0; i < 2; i++) {
        tensor_val v = i ? source : rows;
        if (!is_array(p, v, i))
            return REFUSE(
                p, E0566, c->at,
                "hand it over as a map that has a value at each entry, or leave 'window' and 'mma' out",
                "'%s' %s, and windows are made of its values", p->op->vals.data[v].name,
                p->op->vals.data[v].facts & FACT_PARTIAL ? "may be none"
                                                         : "has no array when the plan is made");
    }
    return true;
}

// Of the rows that an operation has, and a warp takes together: two registers of a lane are rows of
// one piece.
static const schedule_cell *registers_of(const planner *p, const plan_matrix *m, tensor_var row) {
    return schedule_find(p->s, m->stage->id, SCHEDULE_REGISTERS, p->op->vars.data[row].id);
}

static int64_t pieces_of(const planner *p, const plan_matrix *m, tensor_var row) {
    const schedule_cell *held = registers_of(p, m, row);
    int64_t pieces = held ? schedule_number(held, NULL) / 2 : 1;
    return pieces ? pieces : 1;
}

static bool check_pieces(planner *p, const plan_matrix *m, const schedule_cell *c, int64_t rows) {
    int64_t of_warp = pieces_of(p, m, m->rows) * simt_mma_table(m->kind)->m;
    if (rows % of_warp == 0) return true;
    const schedule_cell *held = registers_of(p, m, m->rows);
    const char *name = plan_index_text(p, m->rows);
    diagnostic *d = plan_refuse(p, E0542, held->at,
                                "a warp has %lld rows by 'registers %s', and a window has %lld",
                                (long long)of_warp, name, (long long)rows);
    int64_t pieces = 1;
    while (2 * pieces <= pieces_of(p, m, m->rows) &&
           rows % (2 * pieces * simt_mma_table(m->kind)->m) == 0)
        pieces *= 2;
    if (d) diag_note(d, c->at, "by this statement");
    if (d)
        diag_help(d,
                  "a window has the rows of one warp, of two, four or eight: `registers %s %lld`",
                  name, (long long)(2 * pieces));
    return false;
}

static bool check_counts(planner *p, const plan_matrix *m, const schedule_cell *c) {
    const simt_mma_info *info = simt_mma_table(m->kind);
    int64_t rows = schedule_number(c, NULL), slots = schedule_number(c, "count");
    const char *by = schedule_value_of(c, "by")->text, *name = plan_index_text(p, m->rows);
    const char *help = arena_printf(p->arena, "say `window %s %u by %s %u`", name, info->m, by,
                                    info->k);
    int64_t warps = rows / info->m, block = prepared_slots(rows, 0);
    if (rows % info->m || (warps != 1 && warps != 2 && warps != 4 && warps != 8))
        return REFUSE(
            p, E0542, c->at, help,
            "a window of %lld rows of '%s' is none of the %u rows of %s, nor twice, four or eight times as many",
            (long long)rows, name, info->m, info->text);
    if (slots % info->k || (slots > block && slots % block))
        return REFUSE(p, E0542, c->at,
                      arena_printf(p->arena, "say `window %s %lld by %s %u`", name, (long long)rows,
                                   by, info->k),
                      "%lld values of '%s' at a time are no multiple of the %u that %s contracts%s",
                      (long long)slots, by, info->k, info->text,
                      slots > block ? ", or of the 16 of a block" : "");
    return check_pieces(p, m, c, rows);
}

static bool check_others(planner *p, const tensor_stage *st, const plan_matrix *m,
                         const schedule_cell *c) {
    static const schedule_verb verbs[] = {SCHEDULE_BLOCK, SCHEDULE_SPLIT, SCHEDULE_REGISTERS,
                                          SCHEDULE_TILE, SCHEDULE_UNROLL};
    for (uint32_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const schedule_cell *other = schedule_find(p->s, st->id, verbs[i],
                                                   plan_var_id(p, m->depth));
        if (!other) continue;
        diagnostic *d = plan_refuse(p, E0530, other->at,
                                    "'%s %s' has no pass in this version where rows have windows",
                                    schedule_verb_text(verbs[i]), plan_index_text(p, m->depth));
        if (d) diag_note(d, c->at, "by this statement");
        if (d)
            diag_help(d, "leave it out; more columns at a time are said by the window: `by %s %u`",
                      schedule_value_of(c, "by")->text, 2 * simt_mma_table(m->kind)->k);
        return false;
    }
    return true;
}

// A window is a piece of rows, or several of a warp or of warps.
void plan_window_alone(planner *p, const index_cut *c, const plan_matrix *m) {
    const schedule_cell *tile = c->cell[SCHEDULE_TILE], *unroll = c->cell[SCHEDULE_UNROLL],
                        *other = tile ? tile : unroll;
    if (!other || p->failed) return;
    diagnostic *d = plan_refuse(p, E0572, other->at, "'%s %s' distributes rows that a window has",
                                schedule_verb_text(other->verb), plan_index_text(p, c->var));
    if (d) diag_note(d, m->window->at, "by this statement");
    if (d)
        diag_help(d, "leave it out; several windows of a block are for groups: `groups %s 4`",
                  plan_index_text(p, c->var));
}

// ---- Factors ------------------------------------------------------------------------------------
typedef VEC(tensor_expr) factor_list;

static void flatten(planner *p, tensor_expr e, factor_list *out) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (n->op != TENSOR_MUL_OP) {
        VEC_PUSH(p->arena, out, e);
        return;
    }
    tensor_expr x = n->args[0], y = n->args[1];
    flatten(p, x, out);
    flatten(p, y, out);
}

// Whether it is of the entry or its row, but for what the map says of the entry.
static bool of_cell(const planner *p, tensor_expr e, const plan_matrix *m, tensor_val source) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (n->op == TENSOR_VAR_OP)
        return (tensor_var)n->imm.i == m->depth || (tensor_var)n->imm.i == m->rows;
    if (n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == source &&
        tensor_node_at(p->op, n->args[0])->op == TENSOR_VAR_OP)
        return false;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (of_cell(p, n->args[i], m, source)) return true;
    return false;
}

static tensor_expr product(planner *p, tensor_expr x, tensor_expr y, span at) {
    return x ? tensor_binary(p->op, TENSOR_MUL_OP, x, y, at) : y;
}

// 1 of every entry: by itself it would be folded away, and with it the factor that stands in cells.
static tensor_expr one_of(planner *p, tensor_var entry) {
    tensor_op *op = p->op;
    tensor_expr e = tensor_cvt(op, TENSOR_TYPE(I64), tensor_var_expr(op, entry, NO_SPAN), NO_SPAN);
    tensor_expr any = tensor_binary(op, TENSOR_GE_OP, e, tensor_int(op, 0), NO_SPAN);
    return tensor_select(op, any, tensor_float(op, DT_F32, 1), tensor_float(op, DT_F32, 0),
                         NO_SPAN);
}

// Factors that have the index stand with what the map says, the others in cells.
static bool split(planner *p, const plan_matrix *m, const factor_list *all, tensor_val source,
                  tensor_var columns, tensor_expr *cell, tensor_expr *other) {
    *cell = *other = 0;
    for (uint32_t i = 0; i < all->len; i++) {
        tensor_expr e = all->data[i];
        span at = tensor_node_at(p->op, e)->at;
        if (!plan_mentions(p, e, columns)) *cell = product(p, *cell, e, at);
        else if (of_cell(p, e, m, source)) return false;
        else *other = product(p, *other, e, at);
    }
    if (!*other) return false;
    if (!*cell) *cell = one_of(p, m->depth);
    return true;
}

bool plan_window_check(planner *p, const plan_matrix *m) {
    schedule_cell *c = schedule_find(p->s, m->stage->id, SCHEDULE_WINDOW,
                                     p->op->vars.data[m->rows].id);
    c->consumed = true;
    return check_maps(p, m->stage, m, c) && check_counts(p, m, c) &&
           check_others(p, m->stage, m, c);
}

bool plan_window_factors(planner *p, const tensor_stage *st, plan_matrix *m, tensor_expr *cell,
                         tensor_expr *other) {
    factor_list all = {0};
    tensor_var row;
    schedule_cell *c = plan_window_cell(p, st, &row);
    c->consumed = true;
    m->rows = row;
    m->stage = st;
    if (!check_maps(p, st, m, c) || !check_counts(p, m, c) || !check_others(p, st, m, c))
        return false;
    const char *by = schedule_value_of(c, "by")->text;
    flatten(p, st->body[0], &all);
    for (uint32_t i = st->nleft; i-- > 0;) {
        m->columns = st->left[i];
        if (m->columns != row &&
            split(p, m, &all, plan_window_source(p, c), m->columns, cell, other))
            return true;
    }
    return REFUSE(p, E0572, c->at, "leave 'window' and 'mma' out: any sum can go entry by entry",
                  "no index of '%s' stands in factors of '%s' alone, and windows share those",
                  st->name, by);
}

bool plan_window_roles(const planner *p, const tensor_stage *st, plan_matrix *m) {
    tensor_var row;
    m->window = plan_window_cell(p, st, &row);
    const tensor_node *body = tensor_node_at(p->op, st->body[0]);
    if (!m->window || body->op != TENSOR_MUL_OP) return false;
    m->rows = row;
    for (uint32_t i = st->nleft; i-- > 0;) {
        m->columns = st->left[i];
        if (m->columns != row && plan_mentions(p, body->args[1], m->columns) &&
            !plan_mentions(p, body->args[0], m->columns))
            return true;
    }
    return false;
}

// ---- Rows ---------------------------------------------------------------------------------------
static tensor_expr start_of(planner *p, tensor_val starts, tensor_var window, int64_t plus) {
    return plan_wide(p, plan_offset_at(p, starts, plan_at(p, window), plus));
}

// A warp's own window is cut alike for all; one that several share ends where a graph of a batch
// does.
static bool end_early(const planner *p, const plan_window *w, const plan_matrix *m,
                      tensor_val *rows, tensor_val *source) {
    *rows = plan_window_rows_map(p, m->stage, m->rows);
    *source = plan_window_source(p, m->window);
    return w->rows > simt_mma_table(m->kind)->m && *rows != TENSOR_NO_VAL &&
           *source != TENSOR_NO_VAL && is_array(p, *rows, false) && is_array(p, *source, true) &&
           p->op->vals.data[*source].axes[0] == p->op->vals.data[*rows].axes[0];
}

// Rows that are copied come a block a round, so blocks are as long as rounds.
static int64_t slots_of(const planner *p, const plan_matrix *m) {
    bool fetched = schedule_find(p->s, m->stage->id, SCHEDULE_PIPELINE,
                                 p->op->vars.data[m->depth].id) != NULL;
    return fetched && schedule_number(m->window, "count") == PREPARED_MOST_SLOTS
               ? PREPARED_MOST_SLOTS
               : 0;
}

void plan_window_rows(planner *p, tensor_var row, const plan_matrix *m, row_class *out) {
    plan_window *w = ARENA_NEW(p->arena, plan_window);
    tensor_space rows = p->op->vars.data[row].space, places = rows;
    *w = (plan_window){.cell = m->window,
                       .rows = schedule_number(m->window, NULL),
                       .slots = slots_of(p, m),
                       .places = TENSOR_NO_VAL};
    w->warps = w->rows / simt_mma_table(m->kind)->m / pieces_of(p, m, row);
    if (!w->warps) w->warps = 1;   // too few rows are refused where they are walked
    tensor_val map, source, of_rows = TENSOR_NO_VAL;
    bool early = end_early(p, w, m, &map, &source);
    if (early)
        of_rows = plan_window_places(p, map, source, w->rows, &w->places),
        places = p->op->vals.data[of_rows].into;
    tensor_space windows = plan_space(
        p, arena_printf(p->arena, "%s.by%lld", p->op->spaces.data[places].name, (long long)w->rows),
        loop_windows(p->op, places, w->rows));
    w->number = tensor_add_var(
        p->op, arena_printf(p->arena, "%s.window", p->op->vars.data[row].name), windows);
    tensor_val starts = early ? plan_window_starts(p, of_rows, w->rows, windows) : TENSOR_NO_VAL;
    out->lo = early ? start_of(p, starts, w->number, 0)
                    : plan_times(p, plan_wide(p, plan_at(p, w->number)), w->rows);
    out->hi = early ? start_of(p, starts, w->number, 1)
                    : tensor_binary(p->op, TENSOR_MIN_OP, tensor_size(p->op, rows, NO_SPAN),
                                    plan_plus(p, out->lo, tensor_int(p->op, w->rows)), NO_SPAN);
    w->first = out->lo;
    out->place = ROWS_OF_WINDOW;
    out->window = w;
}

// A block owns as many windows as it has groups, or groups of as many as share one.
loop_node *plan_open_windows(planner *p, const plan_window *w, const index_cut *c, loop_body *to) {
    int64_t groups = plan_or_one(c->groups);
    if (groups % w->warps)
        REFUSE(p, E0542, w->cell->at,
               arena_printf(p->arena, "say `groups %s %lld`", plan_index_text(p, c->var),
                            (long long)w->warps),
               "a window of %lld rows takes %lld groups along '%s', and a block has %lld",
               (long long)w->rows, (long long)w->warps, plan_index_text(p, c->var),
               (long long)groups);
    loop_node *n = loop_node_new(p->plan, LOOP_FOR, w->cell->at);
    n->var = w->number;
    n->lo = tensor_int(p->op, 0);
    n->hi = tensor_size(p->op, p->op->vars.data[w->number].space, NO_SPAN);
    n->rest = LOOP_BLOCK_PLACE;
    if (groups > w->warps)
        n->digits[n->ndigits++] = (loop_digit){LOOP_GROUP_PLACE, (uint32_t)(groups / w->warps), 1};
    loop_append(p->plan, to, n);
    p->windows.of = w;
    return n;
}
