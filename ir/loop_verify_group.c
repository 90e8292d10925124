// Reductions by matrix operations of several warps: all their pieces are there, and their rows are
// those of one group of threads.
#include "loop_verify.h"

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

const char *loop_check_group(loop_verifier *v, const loop_matrix *m, const loop_node *depth) {
    uint32_t warps = simt_mma_table(m->kind)->warps;
    const loop_node *rows = loop_verify_around(v, m->rows),
                    *columns = loop_verify_around(v, m->columns);
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

// ---- Of rows in panels ------------------------------------------------------------------------
// Rounds fetch rows of the second factor, columns of it or points of its depth: loops of the
// block's threads alike.
static bool is_natural(const loop_node *n, simt_mma kind) {
    return !loop_matrix_alternate(n) && !loop_matrix_vector(n) && !loop_matrix_run(n, kind) &&
           n->rest != LOOP_BLOCK_PLACE;
}

// fetched: the loop that does; other: along the rows.
static const char *check_rounds_of(loop_verifier *v, const loop_matrix *m, const loop_node *fetched,
                                   const loop_node *other, const loop_node *columns) {
    enum { MOST_COLUMNS = 256, WARP = 32 };
    const loop_node *rows = loop_verify_around(v, m->rows);
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

const char *loop_check_panels(loop_verifier *v, const loop_node *reduce, const loop_node *depth) {
    const loop_matrix *m = reduce->reduce.matrix;
    const loop_node *columns = loop_verify_around(v, m->columns);
    bool turned = loop_fetches_panels(depth);
    if (m->rows == LOOP_NO_ROWS)
        return WRONG(v, "matrix operations of several warps have rows of their own");
    TRY(check_no_others(v, &reduce->body, depth));
    return check_rounds_of(v, m, turned ? depth : columns, turned ? columns : depth, columns);
}
