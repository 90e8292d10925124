// Reductions by matrix operations: the loops deal their pieces out as the operation wants them, the
// body is a product of what stands in rows and what stands in columns, and all lanes of a warp go
// through it together.
#include "loop_verify.h"

// ---- Digits -------------------------------------------------------------------------------------
typedef struct {
    loop_digit digits[3];
    uint32_t n;
} layout;

static bool has_run(const loop_node *n) {
    return n->ndigits > 1 && n->digits[0].place == LOOP_REGISTER_PLACE &&
           n->digits[1].place == LOOP_LANE_PLACE;
}

// simt_mma_at of C: row lane / 4 + 8 (i / 2); of as many pieces as a lane has adjacent rows, which
// alternate.
static layout rows_of(const loop_node *n) {
    layout l = {.n = 0};
    if (has_run(n)) l.digits[l.n++] = n->digits[0];
    l.digits[l.n++] = (loop_digit){LOOP_LANE_PLACE, 8, 4};
    l.digits[l.n++] = (loop_digit){LOOP_REGISTER_PLACE, 2, 1};
    return l;
}

static bool is_vector(const loop_node *n) {
    return n->ndigits && n->digits[0].place == LOOP_VECTOR_PLACE;
}

bool loop_matrix_alternate(const loop_node *columns) {
    return is_vector(columns) || (has_run(columns) && columns->digits[0].extent > 2);
}

// Column 2 (lane % 4) + i % 2; of as many pieces as a vector has elements, or a lane adjacent
// columns, whose columns alternate, and stand in an order in which those of neighbouring lanes are
// neighbours: n (lane % 4) + 4 n (i % 2).
static layout columns_of(const loop_node *n) {
    loop_digit lanes = {LOOP_LANE_PLACE, 4, 1}, pair = {LOOP_REGISTER_PLACE, 2, 1};
    if (loop_matrix_alternate(n)) return (layout){{n->digits[0], lanes, pair}, 3};
    return (layout){{pair, lanes}, 2};
}

uint32_t loop_matrix_held(simt_mma kind) { return simt_mma_table(kind)->k / 4u; }

uint32_t loop_matrix_run(const loop_node *depth, simt_mma kind) {
    const loop_digit *d = depth->digits;
    uint32_t held = loop_matrix_held(kind);
    if (!has_run(depth) || d[0].extent % held) return 0;
    // else it is as the operation has it
    return d[0].extent > simt_mma_word(kind) ? d[0].extent : 0;
}

uint32_t loop_matrix_products(const loop_node *depth, simt_mma kind) {
    uint32_t points = 1;
    for (uint32_t i = 0; i < depth->ndigits; i++)
        if (depth->digits[i].place == LOOP_VECTOR_PLACE ||
            depth->digits[i].place == LOOP_REGISTER_PLACE)
            points *= depth->digits[i].extent;
    return points / loop_matrix_held(kind) * (simt_mma_splits(kind) ? 3 : 1);
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
// The loop around that binds it.
static const loop_node *around(const loop_verifier *v, tensor_var x) {
    for (uint32_t k = 0; k < v->path.len; k++)
        if (v->path.data[k]->kind == LOOP_FOR && v->path.data[k]->var == x) return v->path.data[k];
    return NULL;
}

// Lanes stand at points of their own of these two.
static bool differs(loop_verifier *v, const loop_matrix *m, tensor_expr e) {
    return e && (loop_depends(v, e, m->columns) ||
                 (m->rows != LOOP_NO_ROWS && loop_depends(v, e, m->rows)));
}

static const char *check_together(loop_verifier *v, const loop_matrix *m, const loop_node *n) {
    bool apart = n->kind == LOOP_FOR ? differs(v, m, n->lo) || differs(v, m, n->hi)
                                     : n->kind == LOOP_IF && differs(v, m, n->value);
    tensor_var laned = m->rows == LOOP_NO_ROWS ? m->depth : m->columns;
    if (n->kind == LOOP_FOR && is_vector(n) && n->var != laned)
        return WRONG(v, "a matrix operation stands in the vector of '%s'",
                     v->op->vars.data[n->var].name);
    return apart
               ? WRONG(v, "lanes of a matrix operation would go apart: %s on its rows or columns",
                       n->kind == LOOP_FOR ? "the bounds of a loop depend" : "a condition depends")
               : NULL;
}

const loop_node *loop_again(const loop_node *n) {
    const loop_node *last = n->kind == LOOP_REDUCE && n->reduce.matrix && n->body.len
                                ? n->body.data[n->body.len - 1]
                                : NULL;
    return last && last->kind == LOOP_AGAIN ? last : NULL;
}

bool loop_multiplies(const tensor_op *op, const loop_node *reduce, uint32_t stage) {
    return reduce->reduce.matrix && op->reducers.data[op->stages.data[stage].reducer].roundings > 0;
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
            return WRONG(v, "'%s' is reduced again, and not walked one after the other",
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
            return WRONG(
                v, "'%s' is reduced by matrix operations too, and not walked one after the other",
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

// ---- Of four warps ------------------------------------------------------------------------------
// All pieces there are, so that nothing is masked.
static const char *check_whole(loop_verifier *v, const loop_node *n, const char *what) {
    const tensor_node *lo = tensor_node_at(v->op, n->lo);
    tensor_space space = v->op->vars.data[n->var].space;
    int64_t size = v->op->spaces.data[space].kind == SPACE_CONST ? v->op->spaces.data[space].size
                                                                 : 0,
            step = loop_digits_product(n);
    bool all = lo->op == TENSOR_CONST_OP && lo->imm.i == 0 &&
               (n->rest == LOOP_BLOCK_PLACE ? size % step == 0 : size == step);
    for (uint32_t i = 0; i < n->ndigits; i++) all &= n->digits[i].place != LOOP_SERIAL_PLACE;
    return all && size && !n->rounds.pad
               ? NULL
               : WRONG(
                     v,
                     "'%s' is %s of a matrix operation of several warps, whose digits are all of it",
                     v->op->vars.data[n->var].name, what);
}

static const char *check_group(loop_verifier *v, const loop_matrix *m, const loop_node *depth) {
    uint32_t warps = simt_mma_table(m->kind)->warps;
    const loop_node *rows = around(v, m->rows), *columns = around(v, m->columns);
    if (v->launch->threads % (32 * warps))
        return WRONG(v, "a block of %u threads has no whole groups of %u warps",
                     (unsigned)v->launch->threads, (unsigned)warps);
    TRY(check_whole(v, columns, "the columns"));
    TRY(check_whole(v, depth, "the depth"));
    bool inside = false;
    for (uint32_t k = 0; k < v->path.len; k++) {
        const loop_node *n = v->path.data[k];
        bool plain = n == rows || n == columns || n->kind != LOOP_FOR;
        for (uint32_t d = 0; n->kind == LOOP_FOR && d < n->ndigits; d++) {
            loop_place place = n->digits[d].place;
            if (n != rows && place == LOOP_GROUP_PLACE)
                return WRONG(
                    v,
                    "'%s' is dealt out to groups, and matrix operations of several warps share their columns",
                    v->op->vars.data[n->var].name);
            plain |= n->digits[d].extent <= 1;
        }
        if (inside && n != columns && n->kind == LOOP_FOR)
            return WRONG(
                v,
                "'%s' stands between the rows of a matrix operation of several warps and its products",
                v->op->vars.data[n->var].name);
        inside |= n == rows;
        if (!plain && n->ndigits)
            return WRONG(v, "'%s' has digits around a matrix operation of several warps",
                         v->op->vars.data[n->var].name);
    }
    return NULL;
}

// ---- Of four warps, of rows in panels -----------------------------------------------------------
// Rounds fetch rows of the second factor, columns of it or points of its depth: loops of the
// block's threads alike.
static bool fetches_panels(const loop_node *n) {
    bool panels = false;
    for (uint32_t i = 0; i < n->fetch.n; i++) panels |= n->fetch.rows[i].panels;
    return panels;
}

static bool is_natural(const loop_node *n, simt_mma kind) {
    return !loop_matrix_alternate(n) && !is_vector(n) && !loop_matrix_run(n, kind) &&
           n->rest != LOOP_BLOCK_PLACE;
}

// fetched: the loop that does; other: along the rows.
static const char *check_rounds_of(loop_verifier *v, const loop_matrix *m, const loop_node *fetched,
                                   const loop_node *other, const loop_node *columns) {
    enum { MOST_COLUMNS = 256, WARP = 32 };
    const loop_node *rows = around(v, m->rows);
    if (!is_natural(fetched, m->kind) || !is_natural(other, m->kind) ||
        loop_digits_product(columns) > MOST_COLUMNS)
        return WRONG(
            v,
            "rows in panels are multiplied as they lie there, up to %d columns, and '%s' and '%s' have other digits",
            MOST_COLUMNS, v->op->vars.data[fetched->var].name, v->op->vars.data[other->var].name);
    if (v->launch->threads % (WARP * simt_mma_table(m->kind)->warps))
        return WRONG(v, "a block of %u threads has no whole groups of %u warps",
                     (unsigned)v->launch->threads, (unsigned)simt_mma_table(m->kind)->warps);
    for (uint32_t k = 0; k < v->path.len; k++)
        for (uint32_t d = 0; v->path.data[k] != rows && v->path.data[k]->kind == LOOP_FOR &&
                             d < v->path.data[k]->ndigits;
             d++)
            if (v->path.data[k]->digits[d].place == LOOP_GROUP_PLACE)
                return WRONG(
                    v,
                    "'%s' is dealt out to groups, and matrix operations of several warps share their columns",
                    v->op->vars.data[v->path.data[k]->var].name);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t d = 0; d < (i ? other : fetched)->ndigits; d++)
            if ((i ? other : fetched)->digits[d].place == LOOP_GROUP_PLACE)
                return WRONG(
                    v,
                    "'%s' is dealt out to groups, and matrix operations of several warps share what it has",
                    v->op->vars.data[(i ? other : fetched)->var].name);
    return check_whole(v, other, other == columns ? "the columns" : "the depth");
}

// Steps are those of the depth alone.
static const char *check_no_others(loop_verifier *v, const loop_body *body,
                                   const loop_node *depth) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_WITHOUT || n->kind == LOOP_AGAIN) continue;
        bool apart = n->kind == LOOP_FOR && n != depth &&
                     (n->rounds.unroll > 1 || n->rest == LOOP_UNROLL_PLACE);
        for (uint32_t d = 0; n->kind == LOOP_FOR && n != depth && d < n->ndigits; d++)
            apart |= n->digits[d].place != LOOP_SERIAL_PLACE;
        if (apart)
            return WRONG(
                v, "'%s' is written out beside the depth of a matrix operation of several warps",
                v->op->vars.data[n->var].name);
        TRY(check_no_others(v, &n->body, depth));
    }
    return NULL;
}

static const char *check_panels(loop_verifier *v, const loop_node *reduce, const loop_node *depth) {
    const loop_matrix *m = reduce->reduce.matrix;
    const loop_node *columns = around(v, m->columns);
    bool turned = fetches_panels(depth);
    if (m->rows == LOOP_NO_ROWS)
        return WRONG(v, "matrix operations of several warps have rows of their own");
    TRY(check_no_others(v, &reduce->body, depth));
    return check_rounds_of(v, m, turned ? depth : columns, turned ? columns : depth, columns);
}

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
    const loop_node *rows = alike ? NULL : around(v, m->rows), *columns = around(v, m->columns);
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
        bool panels = fetches_panels(columns) || fetches_panels(in.depth);
        if (!panels && (alike || in.again || n->nstages > 1))
            return WRONG(
                v, "matrix operations of several warps have rows of their own, and no empty cells");
        TRY(panels ? check_panels(v, n, in.depth) : check_group(v, m, in.depth));
    }
    if (alike && is_vector(in.depth)) {
        if (in.depth->digits[0].extent % loop_matrix_held(m->kind))
            return WRONG(
                v, "a lane has %u points of the depth of a matrix operation, and vectors of %u",
                (unsigned)loop_matrix_held(m->kind), (unsigned)in.depth->digits[0].extent);
        return check_layout(v, in.depth, run_of(in.depth), "the depth");
    }
    bool run = loop_matrix_run(in.depth, m->kind);
    return check_layout(v, in.depth, run ? run_of(in.depth) : depth_of(m->kind), "the depth");
}

// ---- What is multiplied -------------------------------------------------------------------------
// What a load is given as, by a node before the one at hand; 0: nothing.
static tensor_expr given_as(const loop_verifier *v, tensor_expr e) {
    for (uint32_t k = 0; k < v->path.len; k++) {
        const loop_body *body = &v->path.data[k]->body;
        for (uint32_t i = 0; i < body->len; i++) {
            const loop_node *n = body->data[i];
            if (k + 1 < v->path.len && n == v->path.data[k + 1]) break;
            if (n->kind == LOOP_GIVEN && n->key == e) return n->value;
        }
    }
    return 0;
}

static bool mentions(loop_verifier *v, tensor_expr e, tensor_var x) {
    tensor_expr given = given_as(v, e);
    if (given) return mentions(v, given, x);
    const tensor_node *n = tensor_node_at(v->op, e);
    if (n->op == TENSOR_VAR_OP) {
        tensor_var y = (tensor_var)n->imm.i;
        return y == x || (v->vars.value[y] && mentions(v, v->vars.value[y], x));
    }
    for (uint32_t i = 0; i < n->nargs; i++)
        if (mentions(v, n->args[i], x)) return true;
    return false;
}

ir_dtype loop_matrix_type(simt_mma kind) {
    return ir_dtype_of_element((simt_element)simt_mma_table(kind)->element);
}

bool loop_matrix_holds(const loop_plan *p, tensor_expr e, simt_mma kind) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (simt_mma_splits(kind)) return n->op == TENSOR_PARTS_OP;
    // none: tf32
    ir_dtype type = loop_matrix_type(kind), want = ir_dtype_is_narrow(type) ? type : DT_COUNT;
    if (n->op == TENSOR_CVT_OP && tensor_type_is_float(tensor_typeof(p->op, n->args[0])))
        return n->type.type == want || loop_matrix_holds(p, n->args[0], kind);
    if (n->op == TENSOR_CONST_OP && tensor_type_is_float(n->type))
        return want == DT_COUNT ? ir_tf32_round(n->imm.f) == n->imm.f
                                : ir_dtype_round(want, n->imm.f) == n->imm.f;
    if (n->op == TENSOR_ROUND_OP) return (ir_dtype)n->imm.i == want;
    if (n->op == TENSOR_TF32_OP) return want == DT_COUNT;
    if (n->op != TENSOR_LOAD_OP) return false;
    tensor_val val = (tensor_val)n->imm.i;
    ir_dtype stored = p->op->vals.data[val].type;
    bool narrow = ir_dtype_is_narrow(stored);   // tf32 has all its bits
    return p->values.data[val].home == LOOP_MEMORY &&
           (stored == want || (want == DT_COUNT && narrow));
}

// What lets say.
static tensor_expr resolved(const loop_verifier *v, tensor_expr e) {
    const tensor_node *n = tensor_node_at(v->op, e);
    tensor_expr next = n->op == TENSOR_VAR_OP ? v->vars.value[n->imm.i] : 0;
    return next ? resolved(v, next) : e;
}

static bool is_same_expr(const loop_verifier *v, tensor_expr a, tensor_expr b) {
    a = resolved(v, a);
    b = resolved(v, b);
    const tensor_node *x = tensor_node_at(v->op, a), *y = tensor_node_at(v->op, b);
    bool same = a == b || (x->op == y->op && x->imm.i == y->imm.i && x->nargs == y->nargs &&
                           (x->op == TENSOR_VAR_OP || x->op == TENSOR_LOAD_OP ||
                            x->op == TENSOR_INDEX_OP || x->op == TENSOR_CONST_OP));
    for (uint32_t i = 0; a != b && same && i < x->nargs; i++)
        same = is_same_expr(v, x->args[i], y->args[i]);
    return same;
}

// As lower/copies/fetch.c has it: so, or as b is given.
static bool is_same(const loop_verifier *v, tensor_expr a, tensor_expr b) {
    bool same = is_same_expr(v, a, b);
    for (uint32_t k = 0; !same && k < v->path.len; k++) {
        const loop_body *body = &v->path.data[k]->body;
        for (uint32_t i = 0; !same && i < body->len; i++) {
            const loop_node *n = body->data[i];
            if (k + 1 < v->path.len && n == v->path.data[k + 1]) break;
            same = n->kind == LOOP_GIVEN && is_same_expr(v, n->key, b) &&
                   is_same_expr(v, a, n->value);
        }
    }
    return same;
}

// The load is of a row that the loop fetches in panels, at a point of another loop.
static bool is_in_panels(const loop_verifier *v, const loop_node *fetched, tensor_var along,
                         const tensor_node *load) {
    for (uint32_t i = 0; load->op == TENSOR_LOAD_OP && i < fetched->fetch.n; i++) {
        const loop_fetch *f = &fetched->fetch.rows[i];
        bool same = f->panels && f->val == (tensor_val)load->imm.i;
        for (uint32_t k = 0; same && k < f->nindex; k++)
            same = is_same(v, f->index[k], load->args[k]);
        const tensor_node *last =
            same ? tensor_node_at(v->op, resolved(v, load->args[load->nargs - 1])) : NULL;
        if (last && last->op == TENSOR_VAR_OP && (tensor_var)last->imm.i == along) return true;
    }
    return false;
}

static bool is_as_multiplied(const loop_verifier *v, simt_mma kind, const tensor_node *load) {
    return simt_mma_word(kind) == 2 && load->op == TENSOR_LOAD_OP &&
           v->op->vals.data[load->imm.i].type == loop_matrix_type(kind);
}

static bool has_own(const loop_node *fetched, const tensor_node *load) {
    bool own = false;
    for (uint32_t i = 0; load->op == TENSOR_LOAD_OP && i < fetched->fetch.n; i++)
        own |= fetched->fetch.rows[i].own && fetched->fetch.rows[i].val == (tensor_val)load->imm.i;
    return own;
}

static const char *check_fetched_factor(loop_verifier *v, const loop_node *reduce,
                                        const tensor_stage *s) {
    const loop_matrix *m = reduce->reduce.matrix;
    const loop_node *columns = around(v, m->columns), *depth = around(v, m->depth);
    if (simt_mma_table(m->kind)->warps == 1 || !columns || !depth ||
        (!fetches_panels(columns) && !fetches_panels(depth)))
        return NULL;
    const bool turned = fetches_panels(depth);
    const tensor_node *body = tensor_node_at(v->op, s->body[0]),
                      *first = loop_matrix_factor(v->op, body->args[0]),
                      *load = loop_matrix_factor(v->op, body->args[1]);
    if (!is_as_multiplied(v, m->kind, load) ||
        (has_own(turned ? depth : columns, first) && !is_as_multiplied(v, m->kind, first)))
        return WRONG(
            v,
            "rows in panels are multiplied as they lie there, in numbers of 16 bits or two of them, and '%s' has others",
            s->name);
    if (!turned && simt_mma_splits(m->kind) && loop_fetch_rows(columns) > LOOP_MOST_APART)
        return WRONG(v,
                     "'%s' multiplies up to %d columns of numbers taken apart at once, and has %u",
                     s->name, (int)LOOP_MOST_APART, (unsigned)loop_fetch_rows(columns));
    if (is_in_panels(v, turned ? depth : columns, turned ? m->columns : m->depth, load))
        return NULL;
    return WRONG(v, "the second factor of '%s' is no row that its rounds fetch in panels", s->name);
}

const char *loop_check_product(loop_verifier *v, const loop_node *reduce, const tensor_stage *s) {
    const loop_matrix *m = reduce->reduce.matrix;
    const tensor_node *body = tensor_node_at(v->op, s->body[0]);
    if (body->op != TENSOR_MUL_OP)
        return WRONG(v, "a matrix operation sums products, and the body of '%s' is none", s->name);
    if (mentions(v, body->args[0], m->columns) ||
        (m->rows != LOOP_NO_ROWS && mentions(v, body->args[1], m->rows)))
        return WRONG(
            v,
            "the first factor of '%s' stands in rows, the second in columns: neither may mention the other's index",
            s->name);
    for (uint32_t i = 0; i < 2; i++)
        if (!loop_matrix_holds(v->plan, body->args[i], m->kind))
            return WRONG(v,
                         simt_mma_splits(m->kind)
                             ? "a factor of '%s' is not taken apart for %s: say parts(…)"
                             : "a factor of '%s' has more digits than %s: round it",
                         s->name, simt_mma_table(m->kind)->operand);
    return check_fetched_factor(v, reduce, s);
}
