// Contractions on tensor cores: a sum over one index of products of two factors, one with an index
// of its own for rows, the other with one for columns. The factors are rounded to what the
// operation multiplies, or marked as what it takes apart, the sum gets the roundings it has, and
// the three indices are dealt out to the 32 lanes of a warp as the operation holds its pieces.
//     mma k f16   →  y[n, q] = sum.mma {k} (mul(x[n, k], w[k, q]))
//                    for n … [lane 8 unit 4, register 2, …] { for q … [register 2, lane 4, …] {
//                      reduce y by m16n8k16.f16 (n, q, k) { for k … [register 2, lane 4, register 2, …] { …
#include "kernels/kernels.h"
#include "base/base.h"

#include <string.h>

static schedule_cell *cell_of(const planner *p, const tensor_stage *st, tensor_var *depth) {
    for (uint32_t b = 0; b < st->nbound; b++) {
        schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_MMA,
                                         p->op->vars.data[st->bound[b]].id);
        if (c) return *depth = st->bound[b], c;
    }
    return NULL;
}

bool plan_asks_matrix(const planner *p, const tensor_stage *st) {
    tensor_var depth;
    return st->reducer != TENSOR_NO_REDUCER && cell_of(p, st, &depth) != NULL;
}

static bool refuse(planner *p, const schedule_cell *c, const char *help, const char *words) {
    diagnostic *d = plan_refuse(p, E0572, c->at, "%s", words);
    if (d) diag_help(d, "%s", help);
    return false;
}
#define REFUSE(p, c, help, ...) refuse((p), (c), (help), arena_printf((p)->arena, __VA_ARGS__))

// ---- The operation ------------------------------------------------------------------------------
static const char *shapes(planner *p) {
    const char *text = "";
    for (uint32_t k = 0; k < SIMT_MMA_COUNT; k++) {
        const simt_mma_info *m = simt_mma_table((simt_mma)k);
        text = arena_printf(p->arena, "%s%s'%s %s'", text, k ? ", " : "", m->operand, m->shape);
    }
    return text;
}

static const char *shape_of(const schedule_cell *c) {
    const schedule_value *shape = schedule_value_of(c, "shape");
    return shape ? shape->text : NULL;
}

static bool kind_of(const schedule_cell *c, simt_mma *kind) {
    const char *operand = schedule_value_of(c, NULL)->text, *shape = shape_of(c);
    for (*kind = 0; *kind < SIMT_MMA_COUNT; (*kind)++) {
        const simt_mma_info *m = simt_mma_table(*kind);
        if (!strcmp(m->operand, operand) && (!shape || !strcmp(m->shape, shape))) return true;
    }
    return false;
}

static bool find_kind(planner *p, const schedule_cell *c, simt_mma *kind) {
    const char *operand = schedule_value_of(c, NULL)->text, *shape = shape_of(c);
    if (kind_of(c, kind)) return true;
    diagnostic *d = plan_refuse(p, E0573, c->at, "no matrix operation here is '%s%s%s'", operand,
                                shape ? " " : "", shape ? shape : "");
    if (d) diag_help(d, "there are %s", shapes(p));
    return false;
}

// ---- Roles --------------------------------------------------------------------------------------
// The map by whose tiles a block owns points of the variable: no index of what loads it.
tensor_val plan_tiled_by(const planner *p, const tensor_stage *st, tensor_var v) {
    const schedule_value *by = plan_tiled(
        schedule_find(p->s, st->id, SCHEDULE_BLOCK, plan_var_id(p, v)));
    return by ? plan_val_meant(p, by) : TENSOR_NO_VAL;
}

// Which of two factors mention a left index: a bit each.
static uint32_t factors_with(const planner *p, const tensor_stage *st, tensor_var v) {
    const tensor_node *body = tensor_node_at(p->op, st->body[0]);
    const tensor_val given = plan_tiled_by(p, st, v);
    return (uint32_t)plan_depends(p, body->args[0], v, given) |
           (uint32_t)plan_depends(p, body->args[1], v, given) << 1;
}

// The last left index that the first factor alone has, and the second. A factor that has none is
// the same for all rows, and the other's index is that of columns.
static bool find_roles(const planner *p, const tensor_stage *st, plan_matrix *m) {
    tensor_var row;
    if (plan_window_cell(p, st, &row)) return plan_window_roles(p, st, m);
    bool rows = false, columns = false;
    if (tensor_node_at(p->op, st->body[0])->op != TENSOR_MUL_OP) return false;
    for (uint32_t i = 0; i < st->nleft; i++) {
        uint32_t with = factors_with(p, st, st->left[i]);
        if (with == 1) m->rows = st->left[i], rows = true;
        if (with == 2) m->columns = st->left[i], columns = true;
    }
    if (rows && !columns) m->columns = m->rows;
    if (!rows || !columns) m->rows = LOOP_NO_ROWS;
    return rows || columns;
}

// Columns are the later index, along which memory runs, and the second factor's.
static bool is_swapped(const planner *p, const tensor_stage *st) {
    uint32_t with = 0;
    plan_matrix m;
    for (uint32_t i = 0; i < st->nleft; i++) {
        uint32_t of = factors_with(p, st, st->left[i]);
        if (of == 1 || of == 2) with = of;
    }
    return find_roles(p, st, &m) && with == 1;
}

static bool is_sum(const planner *p, const tensor_reducer *r) {
    tensor_reduce_kind by;
    return r->nstate == 1 && r->nargs == 1 && r->state_types[0].type == DT_F32 &&
           r->arg_types[0].type == DT_F32 && tensor_combined_by(p->op, r, 0, &by) &&
           by == REDUCE_SUM && tensor_reducer_neutral(p->op, r);
}

bool plan_adds(const planner *p, const tensor_stage *st) {
    const tensor_reducer *r = st->reducer == TENSOR_NO_REDUCER ? NULL
                                                               : &p->op->reducers.data[st->reducer];
    return r && (r->kind == REDUCE_SUM || r->roundings);   // nothing else has roundings of its own
}

bool plan_matrix_sums(const planner *p, const tensor_stage *st) {
    return st->reducer != TENSOR_NO_REDUCER && is_sum(p, &p->op->reducers.data[st->reducer]) &&
           !st->nelse;
}

// All rows and columns of an operation sum the same points.
static bool check_keys(planner *p, const tensor_stage *st, const schedule_cell *c,
                       const plan_matrix *m) {
    for (uint32_t i = 0; i < st->nkeys; i++) {
        tensor_var of[] = {m->columns, m->rows};
        for (uint32_t k = 0; k < (m->rows == LOOP_NO_ROWS ? 1 : 2); k++)
            if (plan_mentions(p, st->keys[i].lhs, of[k]) ||
                plan_mentions(p, st->keys[i].rhs, of[k]))
                return REFUSE(
                    p, c, "leave 'mma' out: lanes and vectors are for such a sum",
                    "'%s' sums other points for each '%s', and a matrix operation sums the same for all its %s",
                    st->name, plan_index_text(p, of[k]), k ? "rows" : "columns");
    }
    return true;
}

static bool has_windows(const planner *p) {
    for (uint32_t i = 0; i < p->s->cells.len; i++)
        if (p->s->cells.data[i].verb == SCHEDULE_WINDOW && !p->s->cells.data[i].empty) return true;
    return false;
}

static bool check_form(planner *p, const tensor_stage *st, const schedule_cell *c, tensor_var depth,
                       bool windows) {
    const char *out = "leave 'mma' out: lanes and vectors are for such a sum",
               *name = plan_index_text(p, depth);
    schedule_cell *compute = schedule_find(p->s, st->id, SCHEDULE_COMPUTE, TENSOR_ALL);
    plan_matrix m;
    if (compute)
        return REFUSE(
            p, compute, "leave one of them out",
            "'mma' says what the factors of '%s' are multiplied in, and so does 'compute'",
            st->name);
    if (!plan_matrix_sums(p, st))
        return REFUSE(
            p, c, out,
            "tensor cores add products of f32 or narrower numbers up, and '%s' is no such sum",
            st->name);
    if (windows) return true;   // by the windows
    const tensor_node *term = tensor_node_at(p->op, st->body[0]);
    if (term->op != TENSOR_MUL_OP)
        return REFUSE(p, c, term->op == TENSOR_DIV_OP ? "divide the sum, not its terms" : out,
                      "tensor cores sum products of two factors, and what '%s' sums is no product",
                      st->name);
    if (st->nbound > 1 || st->nkeys > 1 || st->nfilters)
        return REFUSE(
            p, c,
            st->nkeys == 1
                ? "leave 'mma' out, or let rows share what a map says in windows: `window v 16 by src 16`"
                : out,
            "all points of '%s' are contracted, and '%s' sums those that a condition or another index leaves",
            name, st->name);
    if (find_roles(p, st, &m)) return check_keys(p, st, c, &m);
    // of an entry of theirs, which is seen where they are walked
    if (has_windows(p) && st->nleft) return true;
    return REFUSE(
        p, c, out,
        "no factor of '%s' has an index of '%s' that the other has not, for rows or for columns",
        st->name, st->name);
}

// ---- Types --------------------------------------------------------------------------------------
// A maximum found on the run in the walk of the stage.
static const schedule_cell *online_with(const planner *p, const tensor_stage *st) {
    const schedule_cell *walk = plan_fuse_cell(p, (uint32_t)(st - p->op->stages.data));
    for (uint32_t i = 0; walk && i < p->op->stages.len; i++) {
        const schedule_cell *other = plan_fuse_cell(p, i),
                            *online = schedule_find(p->s, p->op->stages.data[i].id, SCHEDULE_ONLINE,
                                                    p->op->stages.data[i].id);
        if (online && other && plan_same_statement(other, walk)) return online;
    }
    return NULL;
}

// Of what windows sum: cells are multiplied by it exactly.
static bool check_scale(planner *p, const schedule_cell *c, const tensor_stage *st, simt_mma kind,
                        bool windows) {
    static const int64_t MOST = 1 << 20;
    if (!schedule_value_of(c, "scale")) return true;
    int64_t scale = schedule_number(c, "scale");
    const char *out = "leave 'scale' out";
    if (!windows)
        return REFUSE(p, c, out, "'scale' is of what windows sum, and '%s' has none", st->name);
    if (ir_dtype_table(loop_matrix_type(kind))->min_exponent ==
        ir_dtype_table(DT_F32)->min_exponent)
        return REFUSE(p, c, out, "'scale' is for numbers of f16, and '%s' reaches as far as f32",
                      simt_mma_table(kind)->operand);
    if (online_with(p, st))
        return REFUSE(
            p, c, out,
            "'scale' has no pass where 'online' finds a maximum in the loop of '%s', to which the products are relative",
            st->name);
    if (scale > 0 && scale <= MOST && !(scale & (scale - 1))) return true;
    return REFUSE(p, c, "take 16, 256 or another one",
                  "'scale' is a power of two up to %lld, not %lld", (long long)MOST,
                  (long long)scale);
}

static tensor_expr as_operand(planner *p, tensor_expr e, simt_mma kind) {
    span at = tensor_node_at(p->op, e)->at;
    if (loop_matrix_holds(p->plan, e, kind)) return e;
    if (simt_mma_splits(kind)) return tensor_tf32(p->op, TENSOR_PARTS_OP, e, at);
    ir_dtype t = loop_matrix_type(kind);
    return ir_dtype_is_narrow(t) ? tensor_round(p->op, t, e, at)
                                 : tensor_tf32(p->op, TENSOR_TF32_OP, e, at);
}

static uint32_t rounded_sum(planner *p, uint32_t of, simt_mma kind) {
    tensor_reducer r = p->op->reducers.data[of];
    r.name = arena_printf(p->arena, "%s.mma%s", r.name, simt_mma_splits(kind) ? "3" : "");
    r.kind = REDUCE_USER;
    r.roundings = simt_mma_table(kind)->roundings;
    for (uint32_t i = 0; i < p->op->reducers.len; i++)
        if (p->op->reducers.data[i].roundings == r.roundings &&
            !strcmp(p->op->reducers.data[i].name, r.name))
            return i;
    VEC_PUSH(p->arena, &p->op->reducers, r);
    return p->op->reducers.len - 1;
}

void plan_matrix_types(planner *p, uint32_t stage) {
    tensor_stage *st = &p->op->stages.data[stage];
    plan_matrix m = {0};
    schedule_cell *c = cell_of(p, st, &m.depth);
    if (!c) return;
    c->consumed = true;
    tensor_var row;
    bool windows = plan_window_cell(p, st, &row) != NULL;
    if (!find_kind(p, c, &m.kind) || !check_form(p, st, c, m.depth, windows) ||
        !check_scale(p, c, st, m.kind, windows))
        return;
    const tensor_node product = *tensor_node_at(p->op, st->body[0]);
    bool swapped = !windows && is_swapped(p, st);
    tensor_expr first, second;
    if (windows) {
        if (!plan_window_factors(p, st, &m, &first, &second)) return;
        st = &p->op->stages.data[stage];
    } else {
        first = product.args[swapped];
        second = product.args[!swapped];
    }
    tensor_expr x = as_operand(p, first, m.kind), y = as_operand(p, second, m.kind);
    tensor_expr *body = ARENA_NEW(p->arena, tensor_expr);
    *body = tensor_binary(p->op, TENSOR_MUL_OP, x, y, product.at);
    uint32_t reducer = rounded_sum(p, st->reducer, m.kind);
    st = &p->op->stages.data[stage];
    st->body = body;
    st->reducer = reducer;
}

// As plan_matrix_types left it; nothing else makes such a reducer.
static bool is_typed(const planner *p, const tensor_stage *st) {
    return st->reducer != TENSOR_NO_REDUCER && p->op->reducers.data[st->reducer].roundings;
}

void plan_matrix_check(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        plan_matrix m;   // of a text, such a reducer may have no cell: it is a sum like others
        if (plan_matrix_of(p, st, &m) ? m.cells && !has_windows(p) : m.cell != NULL)
            REFUSE(
                p, m.cell, "leave 'mma' out, or store the factor: `keep` what it reads `global`",
                "a factor of '%s' is 1 everywhere, and gone once it is computed where it is read",
                st->name);
    }
}

// ---- The sum itself -----------------------------------------------------------------------------
bool plan_matrix_of(const planner *p, const tensor_stage *st, plan_matrix *m) {
    *m = (plan_matrix){0};
    schedule_cell *c = is_typed(p, st) ? cell_of(p, st, &m->depth) : NULL;
    if (!c) return false;
    m->cell = c;
    m->stage = st;
    if (!kind_of(c, &m->kind) || tensor_node_at(p->op, st->body[0])->op != TENSOR_MUL_OP)
        return false;
    m->cells = !find_roles(p, st, m);
    if (m->cells) m->rows = m->columns = PLAN_OF_CELLS;
    return !m->cells || st->nleft;
}

// ---- Digits -------------------------------------------------------------------------------------
static int64_t low_points(const index_cut *c) {   // of the depth, in a register of 32 bits
    return c->matrix == MATRIX_DEPTH ? simt_mma_word(c->matrix_kind) : 1;
}

// The points that a thread holds of a piece.
static int64_t piece(const index_cut *c) {
    return c->matrix == MATRIX_DEPTH ? loop_matrix_held(c->matrix_kind) : 2;
}

// Of pieces that alternate, or of operations that follow one another.
static bool may_have_vector(const index_cut *c, const plan_matrix *m) {
    bool alike = m->rows == LOOP_NO_ROWS;
    return c->matrix == MATRIX_COLUMNS ? !alike : !m->window;
}

static void check_vector(planner *p, const index_cut *c, const plan_matrix *m) {
    if (c->matrix != MATRIX_DEPTH || c->vector <= 1 || c->vector % piece(c) == 0 || p->failed)
        return;
    diagnostic *d = plan_refuse(
        p, E0542, c->cell[SCHEDULE_VECTOR]->at,
        "'vector %s %lld' is no multiple of the %lld points that a thread holds of a matrix operation's piece",
        plan_index_text(p, c->var), (long long)c->vector, (long long)piece(c));
    if (d) diag_note(d, m->cell->at, "by this statement");
    if (d) diag_help(d, "take a multiple, or leave it out");
}

// What else deals out points that the operation holds.
static void refuse_others(planner *p, const index_cut *c, const plan_matrix *m) {
    static const schedule_verb others[] = {SCHEDULE_LANES, SCHEDULE_VECTOR, SCHEDULE_PAD,
                                           SCHEDULE_COLLAPSE};
    const char *name = plan_index_text(p, c->var);
    for (uint32_t i = 0; i < sizeof others / sizeof *others && !p->failed; i++) {
        if (others[i] == SCHEDULE_VECTOR && may_have_vector(c, m)) continue;
        const schedule_cell *other = schedule_find(p->s, c->stage->id, others[i],
                                                   p->op->vars.data[c->var].id);
        if (!other) continue;
        diagnostic *d = plan_refuse(
            p, E0572, other->at,
            "'%s %s' distributes points that a matrix operation holds in its own way",
            schedule_verb_text(others[i]), name);
        if (d) diag_note(d, m->cell->at, "by this statement");
        if (d)
            diag_help(
                d,
                "leave it out; what a thread holds beyond a piece is for registers: `registers %s %lld`",
                name, (long long)(2 * piece(c)));
    }
}

static void check_registers(planner *p, const index_cut *c, const plan_matrix *m) {
    const char *name = plan_index_text(p, c->var);
    if (c->registers % piece(c) == 0 || (c->matrix_run && c->matrix == MATRIX_DEPTH) || p->failed)
        return;
    diagnostic *d = plan_refuse(
        p, E0542, c->cell[SCHEDULE_REGISTERS]->at,
        "'registers %s %lld' is no multiple of the %lld points that a thread holds of a matrix operation's piece",
        name, (long long)c->registers, (long long)piece(c));
    if (d) diag_note(d, m->cell->at, "by this statement");
    if (d)
        diag_help(d, "take a multiple: `registers %s %lld`", name,
                  (long long)((c->registers / piece(c) + 1) * piece(c)));
}

void plan_matrix_cut(planner *p, index_cut *c) {
    plan_matrix m;
    c->matrix = plan_matrix_role(p, c->stage, c->var, &m);
    if (c->matrix == MATRIX_NONE) return;
    c->matrix_kind = m.kind;
    tensor_var of = c->matrix == MATRIX_ROWS      ? m.rows
                    : c->matrix == MATRIX_COLUMNS ? m.columns
                                                  : m.depth;
    tensor_var rounds[] = {of, m.depth};   // the points that a block has at once follow each other
    for (uint32_t i = 0; i < 2; i++)
        c->fetches |= schedule_find(p->s, m.stage->id, SCHEDULE_PIPELINE,
                                    p->op->vars.data[rounds[i]].id) != NULL;
    refuse_others(p, c, &m);
    check_vector(p, c, &m);
    if (!may_have_vector(c, &m)) c->vector = 0;
    // What columns are read from may lie along the depth: they are no vector then.
    if (c->vector > 1 &&
        (c->matrix != MATRIX_COLUMNS || plan_ends_on(p, m.stage, m.depth, m.columns)))
        c->matrix_run = c->vector;
    // the kernel's is that of the columns
    if (c->matrix_run && m.rows != LOOP_NO_ROWS) c->vector = 0;
    c->pad = 0;
    c->lanes = c->matrix == MATRIX_ROWS ? 8 : 4;
    if (!c->registers) c->registers = c->matrix_run && c->matrix == MATRIX_DEPTH ? 1 : piece(c);
    // a twin without vectors, whose registers are more than a piece
    if (p->s->automatic && !c->matrix_run)
        c->registers = (c->registers + piece(c) - 1) / piece(c) * piece(c);
    check_registers(p, c, &m);
    if (m.window && c->matrix == MATRIX_ROWS) plan_window_alone(p, c, &m);
}

bool plan_matrix_apart(planner *p, const index_cut *c, const index_cut *o) {
    plan_matrix m;
    const index_cut *held = c->matrix ? c : o, *other = c->matrix ? o : c;
    plan_matrix_role(p, held->stage, held->var, &m);
    const char *name = plan_index_text(p, c->var), *apart = other->stage->name;
    return REFUSE(
        p, m.cell,
        arena_printf(p->arena, "give '%s' a kernel of its own: `fuse %s at %s`", apart, apart,
                     name),
        "'%s' shares the loop over '%s' with '%s', whose points a matrix operation holds in its own way",
        apart, name, held->stage->name);
}

// Operations are of all lanes, at steps that all of them are there for.
static bool check_steps(planner *p, const tensor_stage *st, const plan_matrix *m) {
    for (uint32_t i = 0; i < st->nleft; i++) {
        const schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_UNROLL,
                                               p->op->vars.data[st->left[i]].id);
        if (!c || !schedule_value_of(c, "masked")) continue;
        diagnostic *d = plan_refuse(p, E0572, c->at,
                                    "a matrix operation of '%s' has no masked steps of '%s'",
                                    st->name, plan_index_text(p, st->left[i]));
        if (d) diag_note(d, m->cell->at, "by this statement");
        if (d) diag_help(d, "leave `masked` out");
        return false;
    }
    return true;
}

void plan_matrix_lanes(planner *p, const tensor_stage *st, uint32_t lanes) {
    plan_matrix m;
    if (p->failed || !plan_matrix_of(p, st, &m) || !check_steps(p, st, &m)) return;
    for (uint32_t i = 0; i < st->nleft; i++) {
        const char *name = plan_index_text(p, st->left[i]);
        const schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_LANES,
                                               p->op->vars.data[st->left[i]].id);
        bool own = st->left[i] == m.columns || st->left[i] == m.rows;
        if (!c || own || schedule_number(c, NULL) <= 1) continue;
        diagnostic *d = plan_refuse(
            p, E0572, c->at, "'lanes %s' distributes lanes that a matrix operation of '%s' needs",
            name, st->name);
        if (d) diag_note(d, m.cell->at, "by this statement");
        if (d)
            diag_help(d, "take groups: `groups %s %lld`", name,
                      (long long)schedule_number(c, NULL));
        return;
    }
    if (lanes == p->machine->lanes) return;
    REFUSE(p, m.cell, "leave lanes along other indices out, and take groups",
           "a matrix operation of '%s' takes the %u lanes of a warp, and its kernel has %u",
           st->name, p->machine->lanes, lanes);
}

bool plan_matrix_alike(const planner *p, const tensor_stage *st) {
    plan_matrix m;
    return plan_matrix_of(p, st, &m) && m.rows == LOOP_NO_ROWS;
}

void plan_matrix_digits(const index_cut *c, plan_digit *add, loop_node *n) {
    add(n, LOOP_VECTOR_PLACE, c->vector);
    if (c->matrix_run && c->vector <= 1) add(n, LOOP_REGISTER_PLACE, c->matrix_run);
    if (c->matrix_run && c->matrix == MATRIX_DEPTH) {
        add(n, LOOP_LANE_PLACE, 4);
        add(n, LOOP_REGISTER_PLACE, c->registers);
        return;
    }
    if (c->matrix == MATRIX_ROWS) {
        add(n, LOOP_LANE_PLACE, 8);
        add(n, LOOP_REGISTER_PLACE, 2);
    } else if (c->vector > 1 || c->matrix_run) {
        add(n, LOOP_LANE_PLACE, 4);
        add(n, LOOP_REGISTER_PLACE, 2);
    } else {
        add(n, LOOP_REGISTER_PLACE, c->matrix == MATRIX_DEPTH ? low_points(c) : 2);
        add(n, LOOP_LANE_PLACE, 4);
        if (c->matrix == MATRIX_DEPTH) add(n, LOOP_REGISTER_PLACE, piece(c) / low_points(c));
    }
    add(n, LOOP_REGISTER_PLACE, c->registers / piece(c));
}

// ---- The reduction ------------------------------------------------------------------------------
static loop_node *loop_of(planner *p, const tensor_stage *st, tensor_var v,
                          const loop_list *levels) {
    tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, vars), i = 0;
    while (i < n && vars[i] != v) i++;
    return i < n && i < levels->len ? levels->data[i] : NULL;
}

// A vector of an index that is none of the operation's would have an operation for each element.
static bool refuse_vectors(planner *p, const tensor_stage *st, const plan_matrix *m) {
    for (uint32_t i = 0; i < st->nleft && !p->failed; i++) {
        const char *name = plan_var_name(p, st->left[i]);
        const schedule_cell *vector = schedule_find(p->s, st->id, SCHEDULE_VECTOR,
                                                    plan_var_id(p, st->left[i]));
        if (!vector || st->left[i] == m->rows || st->left[i] == m->columns) continue;
        diagnostic *d = plan_refuse(
            p, E0572, vector->at,
            "'vector %s' has several products of '%s', and a matrix operation is of one", name,
            st->name);
        if (d) diag_note(d, m->cell->at, "by this statement");
        if (d) diag_help(d, "leave it out, or take registers: `registers %s 2`", name);
    }
    return !p->failed;
}

// The variable whose points lanes have: the depth, or where it stands in an order, its position
// there.
static tensor_var walked_by(const loop_node *reduce, tensor_var depth) {
    const loop_node *n = reduce->body.len ? reduce->body.data[0] : NULL;
    bool order = n && n->kind == LOOP_FOR && n->body.len && n->body.data[0]->kind == LOOP_LET &&
                 n->body.data[0]->var == depth;
    return order ? n->var : depth;
}

// What follows one another in a step of the depth is added up in turn.
void plan_accumulators(planner *p, const plan_matrix *m, const loop_node *reduce,
                       loop_matrix *made) {
    if (p->failed || !schedule_value_of(m->cell, "accumulators")) return;
    const loop_node *depth = loop_over_var(&reduce->body, made->depth);
    const int64_t n = schedule_number(m->cell, "accumulators"),
                  products = depth ? loop_matrix_products(depth, m->kind) : 1;
    if (simt_mma_table(m->kind)->warps > 1)
        REFUSE(p, m->cell, "leave 'accumulators' out",
               "operations of four warps follow one another in one accumulator");
    else if (n < 1 || n > LOOP_MOST_ACCUMULATORS)
        REFUSE(p, m->cell, "take 1, 2, 3 or 4",
               "there are up to %d accumulators of a sum, not %lld", LOOP_MOST_ACCUMULATORS,
               (long long)n);
    else if (n > products)
        REFUSE(p, m->cell, "take fewer, or more `registers` along what is reduced",
               "a step along '%s' has %lld products of a sum, for %lld accumulators",
               p->op->vars.data[m->depth].name, (long long)products, (long long)n);
    else made->accumulators = (uint32_t)n;
}

void plan_matrix_reduce(planner *p, const tensor_stage *st, const loop_list *levels,
                        loop_node *reduce) {
    plan_matrix m;
    if (p->failed || !plan_matrix_of(p, st, &m) || !refuse_vectors(p, st, &m)) return;
    if (m.cells) {
        REFUSE(
            p, m.cell, "leave 'mma' out, or fuse it in windows: `window v 16 by src 16`",
            "no factor of '%s' has an index of '%s' that the other has not, for rows or for columns",
            st->name, st->name);
        return;
    }
    const bool alike = m.rows == LOOP_NO_ROWS;
    const loop_node *rows = alike ? NULL : loop_of(p, st, m.rows, levels),
                    *columns = loop_of(p, st, m.columns, levels);
    if (!columns || (!alike && (!rows || rows == columns))) {
        REFUSE(p, m.cell, "leave out what nests them otherwise",
               "the loops over rows and columns do not stand around the sum '%s'", st->name);
        return;
    }
    const loop_node *depth = loop_over_var(&reduce->body, m.depth);
    if (simt_mma_table(m.kind)->warps > 1 &&
        ((!depth && !m.window) || !plan_group_check(p, st, &m, levels, rows, columns, depth))) {
        if (!p->failed) REFUSE(p, m.cell, "take another shape", "the depth is no loop of its own");
        return;
    }
    loop_matrix *made = ARENA_NEW(p->arena, loop_matrix);
    *made = (loop_matrix){m.kind, alike ? LOOP_NO_ROWS : rows->var, columns->var,
                          m.window ? plan_window_slot(reduce) : walked_by(reduce, m.depth), 1};
    reduce->reduce.matrix = made;
    plan_accumulators(p, &m, reduce, made);
}

static void set_unit(loop_node *n, uint32_t unit) {
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place == LOOP_LANE_PLACE) n->digits[i].unit = unit;
}

// Whichever loop is the outer one.
void plan_matrix_units(planner *p, const tensor_stage *st, const loop_list *levels) {
    plan_matrix m;
    if (p->failed || !plan_matrix_of(p, st, &m) || m.cells) return;
    if (m.rows != LOOP_NO_ROWS) set_unit(loop_of(p, st, m.rows, levels), 4);
    set_unit(loop_of(p, st, m.columns, levels), 1);
}

void plan_matrix_alone(planner *p, const tensor_stage *st, const char *why) {
    plan_matrix m;
    if (!p->failed && plan_matrix_of(p, st, &m))
        REFUSE(p, m.cell, "leave 'mma' out, or that",
               "'mma' of '%s' has no pass in this version %s", st->name, why);
}
