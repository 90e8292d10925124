// Rows of inputs that a block copies into shared memory round by round: as many as a round has
// positions, the same for all threads, which go round together; or tiles, of those and of what the
// block has of a loop around; or rows that the block has of such a loop, for all rounds.
#include "loop_verify.h"

static const char *name_of(const loop_verifier *v, const loop_node *n) {
    return v->op->vars.data[n->var].name;
}

// ---- Rounds -------------------------------------------------------------------------------------
// Those of the rest, or of one serial digit around all the others.
static const char *check_rounds(loop_verifier *v, const loop_node *n) {
    uint32_t serial = 0;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        const loop_digit *d = &n->digits[i];
        if (d->place == LOOP_VECTOR_PLACE || d->place == LOOP_UNROLL_PLACE)
            return WRONG(v, "rows are fetched for rounds of '%s', which has a digit of '%s'",
                         name_of(v, n), loop_place_text(d->place));
        if (d->place == LOOP_SERIAL_PLACE && (serial++ || i + 1 < n->ndigits))
            return WRONG(v,
                         "rows are fetched for rounds of '%s', which are not its outermost steps",
                         name_of(v, n));
    }
    bool rest = n->rest == LOOP_SERIAL_PLACE,
         block = n->rest == LOOP_BLOCK_PLACE || n->rest == LOOP_WHOLE_PLACE;
    if (n->rounds.unroll > 1 || n->distributed.steps || n->rounds.pad || n->holding.n ||
        n->rounds.step > 1 || !(rest ? !serial : block && serial))
        return WRONG(v, "rows are fetched for rounds of '%s', which are not one after the other",
                     name_of(v, n));
    if (!n->fetch.buffers || n->fetch.buffers > LOOP_MAX_BUFFERS)
        return WRONG(v, "rows of 1 to %d rounds are fetched, not of %u", (int)LOOP_MAX_BUFFERS,
                     (unsigned)n->fetch.buffers);
    return v->launch->threads > 1 ? NULL : WRONG(v, "a block of one thread fetches nothing");
}

// The same for all threads, and copies, around.
static const char *check_alike(loop_verifier *v, const loop_node *n, tensor_expr e,
                               const char *what, tensor_var but) {
    for (uint32_t k = 0; e && k + 1 < v->path.len; k++) {
        const loop_node *m = v->path.data[k];
        if (m->kind == LOOP_FOR && m->var == but) continue;
        bool apart = m->rounds.unroll > 1;
        for (uint32_t i = 0; m->kind == LOOP_FOR && i < m->ndigits; i++)
            apart |= m->digits[i].place != LOOP_SERIAL_PLACE && m->digits[i].extent > 1;
        if (m->kind == LOOP_FOR && apart && loop_depends(v, e, m->var))
            return WRONG(v,
                         "%s of '%s' differ in '%s', and a block fetches rows for all its threads",
                         what, name_of(v, n), name_of(v, m));
    }
    return NULL;
}

static const char *check_around(loop_verifier *v) {
    for (uint32_t k = 0; k + 1 < v->path.len; k++) {
        const loop_node *m = v->path.data[k];
        if (m->kind == LOOP_WITHIN || m->kind == LOOP_CARRY)
            return WRONG(v, "rows are fetched in a '%s'", loop_node_table(m->kind)->text);
    }
    return NULL;
}

// ---- Rows ---------------------------------------------------------------------------------------
static bool overwritten(const loop_verifier *v, tensor_val val) {
    for (tensor_val w = 0; w < v->op->vals.len; w++)
        if (w != val && v->op->vals.data[w].inplace == val) return true;
    return false;
}

static const char *check_input(loop_verifier *v, const loop_fetch *f) {
    if (f->val >= v->op->vals.len) return WRONG(v, "what is fetched does not exist");
    const tensor_val_info *val = &v->op->vals.data[f->val];
    bool rows = f->beside == LOOP_NO_BESIDE || f->own;
    bool stays = val->role == VAL_TENSOR ? !overwritten(v, f->val)
                                         : loop_stored_before(v->arena, v->plan, v->launch, f->val);
    if (!stays || !ir_dtype_is_float(val->type))
        return WRONG(v,
                     "rows of '%s' are fetched, which is no tensor of floats that stays as it is",
                     val->name);
    bool known = f->nindex &&
                 (rows ? f->nindex < val->rank : f->nindex == val->rank && val->rank > 1);
    int64_t columns = 1;
    for (uint32_t i = rows ? f->nindex : val->rank - 1; known && i < val->rank; i++) {
        const tensor_space_info *axis = &v->op->spaces.data[val->axes[i]];
        known = axis->kind == SPACE_CONST &&
                !__builtin_mul_overflow(columns, axis->size, &columns) &&
                columns <= LOOP_MAX_POINTS;
    }
    if (!known)
        return WRONG(v, "rows of '%s' are fetched, and are no axes of sizes that are known",
                     val->name);
    for (uint32_t i = 0; i < f->nindex; i++) {
        TRY(loop_check_expr(v, f->index[i], UINT32_MAX));
        if (!tensor_type_equal(tensor_typeof(v->op, f->index[i]),
                               (tensor_type){DT_INDEX, val->axes[i]}))
            return WRONG(v, "a row of '%s' is at something that is no index of it", val->name);
    }
    return NULL;
}

static const char *check_panels(loop_verifier *v, const loop_fetch *f, const loop_tile *t) {
    enum { TURN = 8, ACCESS = 16, MOST_ROWS = 2040 };
    const tensor_val_info *val = &v->op->vals.data[f->val];
    const bool parts = loop_fetch_parts(v->op, f);
    bool whole =
        (f->beside == LOOP_NO_BESIDE || f->own) && f->nindex + 1 == val->rank &&
        t->columns * ir_dtype_bytes(val->type) % (parts ? 2 * SIMT_PANEL_ROW : SIMT_PANEL_ROW) == 0;
    if (parts && t->columns > LOOP_MOST_PARTS)
        return WRONG(v, "rows of up to %d numbers are taken apart, and '%s' has %u in each",
                     (int)LOOP_MOST_PARTS, val->name, (unsigned)t->columns);
    if (!whole || t->rows % TURN || t->rows > MOST_ROWS || t->bytes != ACCESS || f->pitch ||
        f->every || f->swizzle.n || (uint64_t)t->rows * t->columns > LOOP_MAX_POINTS)
        return WRONG(
            v,
            "panels have rows of one axis, multiples of %d bytes, in turns of %d: '%s' has %u elements in each of %u",
            SIMT_PANEL_ROW, TURN, val->name, (unsigned)t->columns, (unsigned)t->rows);
    return NULL;
}

static const char *check_room(loop_verifier *v, const loop_fetch *f, const loop_tile *t) {
    const char *name = v->op->vals.data[f->val].name;
    if (f->panels) return check_panels(v, f, t);
    if (f->pitch < t->columns || f->pitch > LOOP_MAX_POINTS || f->skew > LOOP_MAX_POINTS ||
        (uint64_t)t->rows * f->pitch > LOOP_MAX_POINTS || !f->skew != !f->every)
        return WRONG(v, "a row of '%s' has %u elements, and room for %u", name,
                     (unsigned)t->columns, (unsigned)f->pitch);
    uint32_t row = f->pitch * (uint32_t)ir_dtype_bytes(v->op->vals.data[f->val].type);
    if (f->swizzle.n && (f->every || !loop_swizzle_keeps(&f->swizzle, row)))
        return WRONG(v, "pieces of a row of '%s', %u bytes, change places with those of others",
                     name, (unsigned)row);
    return t->bytes
               ? NULL
               : WRONG(v,
                       "rows of '%s' are not made of 2, 4, 8 or 16 bytes, which are copied at once",
                       name);
}

// at: of an axis; var: whose points it has, which is the same for all threads but for that.
static const char *check_index(loop_verifier *v, const loop_node *n, const loop_fetch *f,
                               tensor_expr e, tensor_var var) {
    const char *name = v->op->vals.data[f->val].name;
    if (!loop_depends(v, e, var))
        return WRONG(v, "a row of '%s' is the same in all rounds of '%s'", name,
                     v->op->vars.data[var].name);
    const tensor_node *at = tensor_node_at(v->op, e);
    bool none = at->op == TENSOR_LOAD_OP && v->op->vals.data[at->imm.i].facts & FACT_PARTIAL;
    if (none || (at->op != TENSOR_VAR_OP && at->op != TENSOR_LOAD_OP))
        return WRONG(v, "a row of '%s' is fetched at what may be none, or at no index that is read",
                     name);
    return check_alike(v, n, e, "rows", var);
}

static const char *check_row(loop_verifier *v, const loop_node *n, const loop_fetch *f) {
    loop_tile t = loop_fetch_tile(v->op, n, f, NULL);
    TRY(check_room(v, f, &t));
    for (uint32_t i = 1; i < f->nindex; i++)
        TRY(check_alike(v, n, f->index[i], "rows", LOOP_NO_BESIDE));
    return check_index(v, n, f, f->index[0], n->var);
}

// ---- Tiles --------------------------------------------------------------------------------------
static const loop_node *loop_around(const loop_verifier *v, tensor_var var) {
    for (uint32_t k = 0; k + 1 < v->path.len; k++)
        if (v->path.data[k]->kind == LOOP_FOR && v->path.data[k]->var == var)
            return v->path.data[k];
    return NULL;
}

// Points of the other loop that a block has at once follow each other.
static const char *check_beside(loop_verifier *v, const loop_node *n, const loop_node *m) {
    if (!m || m == n)
        return WRONG(v, "a tile is fetched beside a loop that is not around '%s'", name_of(v, n));
    bool apart = m->rest == LOOP_UNROLL_PLACE || m->rounds.unroll > 1 || m->distributed.steps ||
                 m->rounds.pad || m->holding.n || m->rounds.step > 1;
    for (uint32_t i = 0; i < m->ndigits; i++)
        apart |= m->digits[i].place == LOOP_UNROLL_PLACE ||
                 (m->digits[i].place == LOOP_SERIAL_PLACE && i + 1 < m->ndigits);
    return apart
               ? WRONG(v,
                       "a tile is fetched beside '%s', of which a block has points here and there",
                       name_of(v, m))
               : NULL;
}

static const char *check_tile(loop_verifier *v, const loop_node *n, const loop_fetch *f) {
    const tensor_val_info *val = &v->op->vals.data[f->val];
    const loop_node *m = loop_around(v, f->beside);
    TRY(check_beside(v, n, m));
    loop_tile t = loop_fetch_tile(v->op, n, f, m);
    const tensor_node *last = tensor_node_at(v->op, f->index[val->rank - 1]);
    if (t.row_axis + 1 >= val->rank || last->op != TENSOR_VAR_OP ||
        (tensor_var)last->imm.i != (t.along ? n->var : m->var))
        return WRONG(v, "a tile of '%s' has its rows and columns along no points of '%s' and '%s'",
                     val->name, name_of(v, n), name_of(v, m));
    TRY(check_room(v, f, &t));
    for (uint32_t i = 0; i < val->rank; i++) {
        tensor_expr at = v->vars.given[f->index[i]] ? v->vars.given[f->index[i]] : f->index[i];
        bool moves = i == t.row_axis || i + 1 == val->rank;
        tensor_var of = (i == t.row_axis) == t.along ? m->var : n->var;
        if (moves) TRY(check_index(v, n, f, f->index[i], of));
        else TRY(check_alike(v, n, at, "tiles", LOOP_NO_BESIDE));
        for (uint32_t k = 0; k < 2; k++) {
            tensor_var other = k ? m->var : n->var;
            if ((!moves || other != of) && loop_depends(v, at, other))
                return WRONG(v, "a tile of '%s' has several indices that '%s' moves", val->name,
                             v->op->vars.data[other].name);
        }
    }
    return NULL;
}

// ---- Rows of the block's own --------------------------------------------------------------------
static const char *check_own(loop_verifier *v, const loop_node *n, const loop_fetch *f) {
    enum { THREADS = 128 };
    const loop_node *m = loop_around(v, f->beside);
    const char *name = v->op->vals.data[f->val].name;
    TRY(check_beside(v, n, m));
    loop_tile t = loop_fetch_tile(v->op, n, f, m);
    if (!f->panels || t.rows % SIMT_GROUP_ROWS ||
        t.rows / SIMT_GROUP_ROWS != v->launch->threads / THREADS)
        return WRONG(
            v,
            "rows of a block's own are in panels, %d for each %d threads, which multiply them, and of '%s' there are %u for %u",
            (int)SIMT_GROUP_ROWS, (int)THREADS, name, (unsigned)t.rows,
            (unsigned)v->launch->threads);
    TRY(check_room(v, f, &t));
    for (uint32_t i = 0; i < f->nindex; i++) {
        if (loop_depends(v, f->index[i], n->var))
            return WRONG(v, "a row of '%s' differs in rounds of '%s', and is there for all", name,
                         name_of(v, n));
        if (i) TRY(check_alike(v, n, f->index[i], "rows", LOOP_NO_BESIDE));
    }
    const tensor_node *at = tensor_node_at(v->op, f->index[0]);
    return at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == m->var
               ? NULL
               : WRONG(v, "a row of '%s' is at no point of '%s'", name, name_of(v, m));
}

const char *loop_check_fetched(loop_verifier *v, const loop_node *n) {
    TRY(check_rounds(v, n));
    TRY(check_around(v));
    TRY(check_alike(v, n, n->lo, "the bounds", LOOP_NO_BESIDE));
    TRY(check_alike(v, n, n->hi, "the bounds", LOOP_NO_BESIDE));
    for (uint32_t i = 0; i < n->fetch.n; i++) {
        TRY(check_input(v, &n->fetch.rows[i]));
        const loop_fetch *f = &n->fetch.rows[i];
        TRY((f->own ? check_own : f->beside == LOOP_NO_BESIDE ? check_row : check_tile)(v, n, f));
        if (!f->own && i && f[-1].own)
            return WRONG(v, "rows of a block's own come behind those of rounds");
        for (uint32_t k = 0; k < i; k++)
            if (n->fetch.rows[k].val == f->val && n->fetch.rows[k].own == f->own)
                return WRONG(v, "rows of '%s' are fetched twice",
                             v->op->vals.data[n->fetch.rows[i].val].name);
    }
    return NULL;
}
