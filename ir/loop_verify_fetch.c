// Rows of inputs that a block copies into shared memory round by round: as many as a round has positions, the
// same for all threads, which go round together.
#include "loop_verify.h"

static const char *name_of(const loop_verifier *v, const loop_node *n) {
    return v->op->vars.data[n->var].name;
}

// ---- Rounds ----------------------------------------------------------------------------------------------
// Those of the rest, or of one serial digit around all the others.
static const char *check_rounds(loop_verifier *v, const loop_node *n) {
    uint32_t serial = 0;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        const loop_digit *d = &n->digits[i];
        if (d->place == LOOP_VECTOR_PLACE || d->place == LOOP_UNROLL_PLACE)
            return WRONG(v, "rows are fetched for rounds of '%s', which has a digit of '%s'", name_of(v, n),
                         loop_place_text(d->place));
        if (d->place == LOOP_SERIAL_PLACE && (serial++ || i + 1 < n->ndigits))
            return WRONG(v, "rows are fetched for rounds of '%s', which are not its outermost steps",
                         name_of(v, n));
    }
    bool rest = n->rest == LOOP_SERIAL_PLACE,
         block = n->rest == LOOP_BLOCK_PLACE || n->rest == LOOP_WHOLE_PLACE;
    if (n->unroll > 1 || n->dealt || n->pad || n->nheld || n->step > 1 || !(rest ? !serial : block && serial))
        return WRONG(v, "rows are fetched for rounds of '%s', which are not one after the other",
                     name_of(v, n));
    if (!n->buffers || n->buffers > LOOP_MAX_BUFFERS)
        return WRONG(v, "rows of 1 to %d rounds are fetched, not of %u", (int)LOOP_MAX_BUFFERS,
                     (unsigned)n->buffers);
    return v->launch->threads > 1 ? NULL : WRONG(v, "a block of one thread fetches nothing");
}

// The same for all threads, and copies, around.
static const char *check_alike(loop_verifier *v, const loop_node *n, tensor_expr e, const char *what) {
    for (uint32_t k = 0; e && k + 1 < v->path.len; k++) {
        const loop_node *m = v->path.data[k];
        bool apart = m->unroll > 1;
        for (uint32_t i = 0; m->kind == LOOP_FOR && i < m->ndigits; i++)
            apart |= m->digits[i].place != LOOP_SERIAL_PLACE && m->digits[i].extent > 1;
        if (m->kind == LOOP_FOR && apart && loop_depends(v, e, m->var))
            return WRONG(v, "%s of '%s' differ in '%s', and a block fetches rows for all its threads", what,
                         name_of(v, n), name_of(v, m));
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

// ---- Rows ------------------------------------------------------------------------------------------------
static bool overwritten(const loop_verifier *v, tensor_val val) {
    for (tensor_val w = 0; w < v->op->vals.len; w++)
        if (w != val && v->op->vals.data[w].inplace == val) return true;
    return false;
}

static const char *check_input(loop_verifier *v, const loop_fetch *f) {
    if (f->val >= v->op->vals.len) return WRONG(v, "what is fetched does not exist");
    const tensor_val_info *val = &v->op->vals.data[f->val];
    const tensor_space_info *last = val->rank == 2 ? &v->op->spaces.data[val->axes[1]] : NULL;
    if (val->role != VAL_TENSOR || overwritten(v, f->val) || !ir_dtype_is_float(val->type))
        return WRONG(v, "rows of '%s' are fetched, which is no tensor of floats that stays as it is",
                     val->name);
    if (!last || last->kind != SPACE_CONST)
        return WRONG(v, "rows of '%s' are fetched, and are not one axis of a size that is known", val->name);
    if (f->pitch < last->size || f->pitch > LOOP_MAX_POINTS)
        return WRONG(v, "a row of '%s' has %lld elements, and room for %u", val->name, (long long)last->size,
                     (unsigned)f->pitch);
    return loop_fetch_bytes(v->op, f)
               ? NULL
               : WRONG(v, "rows of '%s' are not made of 4, 8 or 16 bytes, which are copied at once",
                       val->name);
}

static const char *check_row(loop_verifier *v, const loop_node *n, const loop_fetch *f) {
    const tensor_val_info *val = &v->op->vals.data[f->val];
    TRY(loop_check_expr(v, f->row, UINT32_MAX));
    if (!tensor_type_equal(tensor_typeof(v->op, f->row), (tensor_type){DT_INDEX, val->axes[0]}))
        return WRONG(v, "a row of '%s' is at something that is no index of it", val->name);
    if (!loop_depends(v, f->row, n->var))
        return WRONG(v, "a row of '%s' is the same in all rounds of '%s'", val->name, name_of(v, n));
    const tensor_node *at = tensor_node_at(v->op, f->row);
    bool none = at->op == TENSOR_LOAD_OP && v->op->vals.data[at->imm.i].facts & FACT_PARTIAL;
    if (none || (at->op != TENSOR_VAR_OP && at->op != TENSOR_LOAD_OP))
        return WRONG(v, "a row of '%s' is fetched at what may be none, or at no index that is read",
                     val->name);
    return check_alike(v, n, f->row, "rows");
}

const char *loop_check_fetched(loop_verifier *v, const loop_node *n) {
    TRY(check_rounds(v, n));
    TRY(check_around(v));
    TRY(check_alike(v, n, n->lo, "the bounds"));
    TRY(check_alike(v, n, n->hi, "the bounds"));
    for (uint32_t i = 0; i < n->nfetched; i++) {
        TRY(check_input(v, &n->fetched[i]));
        TRY(check_row(v, n, &n->fetched[i]));
        for (uint32_t k = 0; k < i; k++)
            if (n->fetched[k].val == n->fetched[i].val)
                return WRONG(v, "rows of '%s' are fetched twice", v->op->vals.data[n->fetched[i].val].name);
    }
    return NULL;
}
