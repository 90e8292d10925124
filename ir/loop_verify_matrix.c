// Reductions by matrix operations: the loops deal their pieces out as the operation wants them, and
// all lanes of a warp go through it together. Its stages are sums of products, or have rows alone.
#include "loop_verify.h"

// ---- Digits -------------------------------------------------------------------------------------
typedef struct {
    loop_digit digits[3];
    uint32_t n;
} layout;

// simt_mma_at of C: row lane / 4 + 8 (i / 2); of as many pieces as a lane has adjacent rows, which
// alternate.
static layout rows_of(const loop_node *n) {
    layout l = {.n = 0};
    if (loop_matrix_adjacent(n)) l.digits[l.n++] = n->digits[0];
    l.digits[l.n++] = (loop_digit){LOOP_LANE_PLACE, 8, 4};
    l.digits[l.n++] = (loop_digit){LOOP_REGISTER_PLACE, 2, 1};
    return l;
}

// Column 2 (lane % 4) + i % 2; of as many pieces as a vector has elements, or a lane adjacent
// columns, whose columns alternate, and stand in an order in which those of neighbouring lanes are
// neighbours: n (lane % 4) + 4 n (i % 2).
static layout columns_of(const loop_node *n) {
    loop_digit lanes = {LOOP_LANE_PLACE, 4, 1}, pair = {LOOP_REGISTER_PLACE, 2, 1};
    if (loop_matrix_alternate(n)) return (layout){{n->digits[0], lanes, pair}, 3};
    return (layout){{pair, lanes}, 2};
}

// Column of A, row of B: w (lane % 4) + i % w + 4 w (…).
static layout depth_of(simt_mma kind) {
    const simt_mma_info *m = simt_mma_table(kind);
    uint32_t w = simt_mma_word(kind);
    layout l = {.n = 0};
    if (w > 1) l.digits[l.n++] = (loop_digit){LOOP_REGISTER_PLACE, w, 1};
    l.digits[l.n++] = (loop_digit){LOOP_LANE_PLACE, 4, 1};
    if (m->k > 4 * w) l.digits[l.n++] = (loop_digit){LOOP_REGISTER_PLACE, m->k / (4 * w), 1};
    return l;
}

// What is contracted may stand in another order: what a lane has is adjacent, for one operation or
// several.
static layout run_of(const loop_node *n) {
    return (layout){{n->digits[0], {LOOP_LANE_PLACE, 4, 1}}, 2};
}

static bool begins_with(const loop_node *loop, const layout *l) {
    for (uint32_t i = 0; i < l->n; i++) {
        const loop_digit *d = &loop->digits[i], *want = &l->digits[i];
        if (i >= loop->ndigits || d->place != want->place || d->extent != want->extent ||
            d->unit != want->unit)
            return false;
    }
    for (uint32_t i = l->n; i < loop->ndigits; i++)
        if (loop->digits[i].place == LOOP_LANE_PLACE || loop->digits[i].place == LOOP_VECTOR_PLACE)
            return false;
    return true;
}

static const char *check_layout(loop_verifier *v, const loop_node *loop, layout l,
                                const char *what) {
    if (begins_with(loop, &l)) return NULL;
    const char *text = "";
    for (uint32_t i = 0; i < l.n; i++) {
        const loop_digit *d = &l.digits[i];
        const char *unit = d->unit > 1 ? arena_printf(v->arena, " unit %u", (unsigned)d->unit) : "";
        text = arena_printf(v->arena, "%s%s%s %u%s", text, i ? ", " : "", loop_place_text(d->place),
                            (unsigned)d->extent, unit);
    }
    return WRONG(
        v, "'%s' is %s of a matrix operation, so its digits are %s, and then no lanes nor vectors",
        v->op->vars.data[loop->var].name, what, text);
}

bool loop_shares_lanes(const loop_verifier *v, const loop_node *n, const loop_node *m) {
    for (uint32_t k = 0; k < v->path.len; k++) {
        const loop_node *r = v->path.data[k];
        if (r->kind == LOOP_REDUCE && r->reduce.matrix && r->reduce.matrix->depth == n->var &&
            r->reduce.matrix->columns == m->var)
            return true;
    }
    return false;
}

// ---- Loops --------------------------------------------------------------------------------------

// Lanes stand at points of their own of these two.
static bool differs(loop_verifier *v, const loop_matrix *m, tensor_expr e) {
    return e && (loop_depends(v, e, m->columns) ||
                 (m->rows != LOOP_NO_ROWS && loop_depends(v, e, m->rows)));
}

static const char *check_together(loop_verifier *v, const loop_matrix *m, const loop_node *n) {
    bool apart = n->kind == LOOP_FOR ? differs(v, m, n->lo) || differs(v, m, n->hi)
                                     : n->kind == LOOP_IF && differs(v, m, n->value);
    tensor_var laned = m->rows == LOOP_NO_ROWS ? m->depth : m->columns;
    if (n->kind == LOOP_FOR && loop_matrix_vector(n) && n->var != laned)
        return WRONG(v, "a matrix operation stands in the vector of '%s'",
                     v->op->vars.data[n->var].name);
    return apart
               ? WRONG(v, "lanes of a matrix operation would go apart: %s on its rows or columns",
                       n->kind == LOOP_FOR ? "the bounds of a loop depend" : "a condition depends")
               : NULL;
}

typedef struct {
    const loop_node *reduce, *depth, *again;
    uint32_t contributions;   // to products
} inside;

// Where a cell is empty its product is 0 times a number of another row, which need not be finite.
static const char *check_cells(loop_verifier *v, const loop_matrix *m, const loop_node *n,
                               bool deep, const inside *in) {
    if (!deep || m->rows == LOOP_NO_ROWS || loop_depends(v, n->value, m->columns))
        return WRONG(
            v,
            "a condition in a reduction by matrix operations leaves out products of rows, in the loop over '%s'",
            v->op->vars.data[m->depth].name);
    return in->again
               ? NULL
               : WRONG(
                     v,
                     "products of '%s' are left out, and nothing reduces 'again' what is not finite",
                     v->op->vars.data[m->rows].name);
}

// What is not finite is reduced by each thread for itself, and so is what stands without the
// columns.
static const char *look_again(loop_verifier *v, const loop_body *body, bool without) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        bool loop = n->kind == LOOP_FOR,
             inside = without && (n->kind == LOOP_REDUCE || n->kind == LOOP_STORE),
             plain = loop || inside || n->kind == LOOP_LET || n->kind == LOOP_GIVEN ||
                     n->kind == LOOP_IF || n->kind == LOOP_WITHOUT;
        if (!plain && (n->kind != LOOP_CONTRIBUTE || n->state.n))
            return WRONG(v, "a '%s' stands in what is reduced again",
                         loop_node_table(n->kind)->text);
        if (loop && (n->ndigits || n->rest != LOOP_SERIAL_PLACE || n->rounds.unroll > 1 ||
                     n->holding.n || n->fetch.n))
            return WRONG(v, "'%s' is reduced again, and its loop is not serial",
                         v->op->vars.data[n->var].name);
        TRY(look_again(v, &n->body, without || n->kind == LOOP_WITHOUT));
    }
    return NULL;
}

static const char *look_at(loop_verifier *v, const loop_matrix *m, const loop_node *n, bool deep,
                           const inside *in) {
    const char *depth = v->op->vars.data[m->depth].name;
    bool loop = n->kind == LOOP_FOR, plain = loop || n->kind == LOOP_LET || n->kind == LOOP_GIVEN;
    if (n == in->again || n->kind == LOOP_WITHOUT) return NULL;
    if (n->kind == LOOP_IF) return check_cells(v, m, n, deep, in);
    if (n->kind == LOOP_CONTRIBUTE && (!deep || n->state.n))
        return WRONG(
            v, "a matrix operation contributes the product of its stage, in the loop over '%s'",
            depth);
    if (n->kind != LOOP_CONTRIBUTE && !plain)
        return WRONG(v, "a '%s' stands in a reduction by matrix operations",
                     loop_node_table(n->kind)->text);
    for (uint32_t d = 0; loop && n->var != m->depth && d < n->ndigits; d++)
        if (n->digits[d].place != LOOP_SERIAL_PLACE && n->digits[d].place != LOOP_UNROLL_PLACE)
            return WRONG(v, "'%s' is reduced by matrix operations too, and its loop is not serial",
                         v->op->vars.data[n->var].name);
    return loop ? check_together(v, m, n) : NULL;
}

// What stands in the reduction: loops, lets and one contribution, at the depth.
static const char *look_inside(loop_verifier *v, const loop_matrix *m, const loop_body *body,
                               bool deep, inside *in) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        bool depth = n->kind == LOOP_FOR && n->var == m->depth;
        if (depth) in->depth = n;
        in->contributions += n->kind == LOOP_CONTRIBUTE &&
                             loop_multiplies(v->op, in->reduce, n->stages[0]);
        TRY(look_at(v, m, n, deep, in));
        if (n->kind == LOOP_WITHOUT) continue;   // its reductions are looked at by themselves
        TRY(n == in->again ? look_again(v, &n->body, false)
                           : look_inside(v, m, &n->body, deep || depth, in));
    }
    return NULL;
}

// ---- The reduction ------------------------------------------------------------------------------

// The operation has all lanes: none is left for other points, and all go through it.
static const char *check_lanes(loop_verifier *v, const loop_node *rows, const loop_node *columns) {
    for (uint32_t k = 0; k < v->path.len; k++) {
        const loop_node *n = v->path.data[k];
        if (n->kind == LOOP_FOR && n->rounds.unroll > 1 && n->rounds.masked)
            return WRONG(v, "a matrix operation stands in masked steps of '%s'",
                         v->op->vars.data[n->var].name);
        for (uint32_t d = 0; n->kind == LOOP_FOR && n != rows && n != columns && d < n->ndigits;
             d++)
            if (n->digits[d].place == LOOP_LANE_PLACE && n->digits[d].extent > 1)
                return WRONG(
                    v, "'%s' is dealt out to lanes around a matrix operation, which has them all",
                    v->op->vars.data[n->var].name);
    }
    return NULL;
}

static bool is_sum(const loop_verifier *v, const tensor_stage *s, uint32_t roundings) {
    const tensor_reducer *r = &v->op->reducers.data[s->reducer];
    tensor_reduce_kind by = REDUCE_USER;
    return r->nstate == 1 && tensor_combined_by(v->op, r, 0, &by) && by == REDUCE_SUM &&
           tensor_reducer_neutral(v->op, r) && r->state_types[0].type == DT_F32 &&
           r->roundings >= roundings && !s->nelse;
}

static bool has_columns(loop_verifier *v, const loop_matrix *m, const tensor_stage *s) {
    for (uint32_t i = 0; i < s->nleft; i++)
        if (s->left[i] == m->columns ||
            (v->vars.value[s->left[i]] && loop_depends(v, v->vars.value[s->left[i]], m->columns)))
            return true;
    return false;
}

// Products have rows and columns; what is reduced beside them has rows alone.
static const char *check_stages(loop_verifier *v, const loop_node *n, uint32_t *products) {
    const loop_matrix *m = n->reduce.matrix;
    uint32_t roundings = simt_mma_table(m->kind)->roundings;
    for (uint32_t i = 0; i < n->nstages; i++) {
        const tensor_stage *s = &v->op->stages.data[n->stages[i]];
        bool product = loop_multiplies(v->op, n, n->stages[i]);
        bool columns = m->rows == LOOP_NO_ROWS || has_columns(v, m, s);
        if ((product || columns) && !is_sum(v, s, roundings))
            return WRONG(
                v,
                "a matrix operation adds in f32 with roundings of its own: '%s' is no sum of %u roundings",
                s->name, (unsigned)roundings);
        *products += product;
    }
    return *products ? NULL
                     : WRONG(v, "a matrix operation sums none of the stages of its reduction");
}

// Products are found again all of them.
static const char *check_found_again(loop_verifier *v, const loop_node *n, const loop_node *again) {
    for (uint32_t i = 0; i < again->body.len; i++)
        if (again->body.data[i]->kind != LOOP_FOR)
            return WRONG(v, "a '%s' stands in 'again', which has loops",
                         loop_node_table(again->body.data[i]->kind)->text);
    for (uint32_t i = 0; i < n->nstages; i++)
        if (loop_multiplies(v->op, n, n->stages[i]) &&
            !loop_contributes(&again->body, n->stages[i]))
            return WRONG(v, "'%s' is not reduced 'again'", v->op->stages.data[n->stages[i]].name);
    return loop_check_maxima_again(v, n, again);
}

static const char *check_accumulators(loop_verifier *v, const loop_matrix *m,
                                      const loop_node *depth) {
    if (m->accumulators == 1) return NULL;
    if (!m->accumulators || m->accumulators > LOOP_MOST_ACCUMULATORS ||
        simt_mma_table(m->kind)->warps > 1)
        return WRONG(v, "matrix operations of a warp have one accumulator of a sum, or up to %u",
                     (unsigned)LOOP_MOST_ACCUMULATORS);
    const uint32_t products = loop_matrix_products(depth, m->kind);
    if (m->accumulators <= products) return NULL;
    return WRONG(v, "a step along '%s' has %u products of a sum, for %u accumulators",
                 v->op->vars.data[depth->var].name, (unsigned)products, (unsigned)m->accumulators);
}

const char *loop_check_matrix(loop_verifier *v, const loop_node *n) {
    const loop_matrix *m = n->reduce.matrix;
    uint32_t products = 0;
    if ((uint32_t)m->kind >= SIMT_MMA_COUNT) return WRONG(v, "there is no such matrix operation");
    TRY(check_stages(v, n, &products));
    const bool alike = m->rows == LOOP_NO_ROWS;
    const loop_node *rows = alike ? NULL : loop_verify_around(v, m->rows),
                    *columns = loop_verify_around(v, m->columns);
    if (!columns || (!rows && !alike))
        return WRONG(v, "no loop around is over the rows and columns of a matrix operation");
    if (v->launch->lanes != 32)
        return WRONG(v, "a matrix operation is of 32 lanes, not %u", (unsigned)v->launch->lanes);
    TRY(check_lanes(v, rows, columns));
    if (rows) TRY(check_layout(v, rows, rows_of(rows), "the rows"));
    TRY(check_layout(v, columns, columns_of(columns), "the columns"));
    for (uint32_t k = 0; k < v->path.len; k++) TRY(check_together(v, m, v->path.data[k]));
    inside in = {.reduce = n, .again = loop_again(n)};
    TRY(look_inside(v, m, &n->body, false, &in));
    if (!in.depth || in.contributions != products)
        return WRONG(
            v,
            "a matrix operation has one loop over its depth, with one contribution to each product");
    TRY(check_accumulators(v, m, in.depth));
    if (in.again) TRY(check_found_again(v, n, in.again));
    if (simt_mma_table(m->kind)->warps > 1) {
        bool panels = loop_fetches_panels(columns) || loop_fetches_panels(in.depth);
        if (!panels && (alike || in.again || n->nstages > 1))
            return WRONG(
                v, "matrix operations of several warps have rows of their own, and no empty cells");
        TRY(panels ? loop_check_panels(v, n, in.depth) : loop_check_group(v, m, in.depth));
    }
    if (alike && loop_matrix_vector(in.depth)) {
        if (in.depth->digits[0].extent % loop_matrix_held(m->kind))
            return WRONG(
                v, "a lane has %u points of the depth of a matrix operation, and vectors of %u",
                (unsigned)loop_matrix_held(m->kind), (unsigned)in.depth->digits[0].extent);
        return check_layout(v, in.depth, run_of(in.depth), "the depth");
    }
    bool run = loop_matrix_run(in.depth, m->kind);
    return check_layout(v, in.depth, run ? run_of(in.depth) : depth_of(m->kind), "the depth");
}
