// The layout of a loop: digits that threads can take, each thread number used once along a path.
#include "loop_verify.h"

static const char *name_of(const loop_verifier *v, const loop_node *n) {
    return v->op->vars.data[n->var].name;
}

static bool has_digit(const loop_node *n, loop_place place) {
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place == place) return true;
    return false;
}

static bool is_multiple(const loop_verifier *v, tensor_expr e, uint32_t extent,
                        tensor_space guarded) {
    const tensor_node *n = tensor_node_at(v->op, e);
    int64_t x = 0;
    if (loop_constant(v->op, e, &x)) return x % extent == 0;
    switch ((int)n->op) {
    case TENSOR_SIZE_OP: return n->imm.i == guarded;
    case TENSOR_MUL_OP:
        return is_multiple(v, n->args[0], extent, guarded) ||
               is_multiple(v, n->args[1], extent, guarded);
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP:
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP:
        return is_multiple(v, n->args[0], extent, guarded) &&
               is_multiple(v, n->args[1], extent, guarded);
    }
    return false;
}

// Vectors are not cut: positions begin at a multiple of the extent and go on to the size of their
// space, which the version guards, or to a multiple.
static const char *check_whole_vectors(loop_verifier *v, const loop_node *n, uint32_t extent) {
    tensor_space space = v->op->vars.data[n->var].space;
    return is_multiple(v, n->lo, extent, TENSOR_NO_SPACE) && is_multiple(v, n->hi, extent, space)
               ? NULL
               : WRONG(v, "'%s' may begin or end inside a vector of %u", name_of(v, n),
                       (unsigned)extent);
}

static const char *check_vector(loop_verifier *v, const loop_node *n, uint32_t i) {
    uint32_t e = n->digits[i].extent;
    if (i) return WRONG(v, "the vector digit of '%s' is not its innermost one", name_of(v, n));
    if (e > 16 || (e & (e - 1)))
        return WRONG(v, "a vector of '%s' has 1, 2, 4, 8 or 16 elements, not %u", name_of(v, n),
                     (unsigned)e);
    TRY(check_whole_vectors(v, n, e));
    for (uint32_t k = 0; k + 1 < v->path.len; k++)
        if (v->path.data[k]->kind == LOOP_FOR && !loop_stands_beside(n, v->path.data[k]) &&
            has_digit(v->path.data[k], LOOP_VECTOR_PLACE))
            return WRONG(v, "'%s' is a vector inside a vector of '%s'", name_of(v, n),
                         name_of(v, v->path.data[k]));
    return NULL;
}

// Two digits of one number are read apart where one lies above the other: its unit is a multiple of
// all the other counts.
bool loop_digits_apart(const loop_digit *x, const loop_digit *y) {
    if (x->extent == 1 || y->extent == 1) return true;
    if (x->unit > y->unit) return loop_digits_apart(y, x);
    return y->unit % ((uint64_t)x->unit * x->extent) == 0;
}

static const char *check_apart(loop_verifier *v, const loop_node *n, uint32_t i) {
    const loop_digit *d = &n->digits[i];
    for (uint32_t k = 0; k < v->path.len; k++) {
        const loop_node *m = v->path.data[k];
        if (m->kind == LOOP_FOR && m != n &&
            (loop_shares_lanes(v, n, m) || loop_stands_beside(n, m)))
            continue;
        for (uint32_t j = 0; m->kind == LOOP_FOR && j < (m == n ? i : m->ndigits); j++)
            if (m->digits[j].place == d->place && !loop_digits_apart(&m->digits[j], d))
                return WRONG(v, "'%s' and '%s' are dealt out to the same %ss", name_of(v, m),
                             name_of(v, n), loop_place_text(d->place));
    }
    return NULL;
}

static const char *check_threads(loop_verifier *v, const loop_node *n, uint32_t i) {
    const loop_digit *d = &n->digits[i];
    bool lane = d->place == LOOP_LANE_PLACE;
    uint32_t have = lane ? v->launch->lanes : v->launch->threads / v->launch->lanes;
    uint64_t need = (uint64_t)d->extent * d->unit;
    if (d->unit == 0) return WRONG(v, "the unit of a digit of '%s' is 0", name_of(v, n));
    if (lane ? have % need != 0 : need > have)
        return WRONG(v, "'%s' takes %u %ss by units of %u, and there are %u", name_of(v, n),
                     (unsigned)d->extent, loop_place_text(d->place), (unsigned)d->unit,
                     (unsigned)have);
    for (uint32_t k = 0; k < v->path.len && lane; k++)
        if (v->path.data[k]->kind == LOOP_REDUCE &&
            ((d->extent & (d->extent - 1)) || (d->unit & (d->unit - 1))))
            return WRONG(v, "'%s' is reduced over %u lanes, which is no power of two",
                         name_of(v, n), (unsigned)d->extent);
    return check_apart(v, n, i);
}

static const char *check_digit(loop_verifier *v, const loop_node *n, uint32_t i) {
    const loop_digit *d = &n->digits[i];
    if (d->extent == 0) return WRONG(v, "a digit of '%s' has extent 0", name_of(v, n));
    switch (d->place) {
    case LOOP_VECTOR_PLACE: TRY(check_vector(v, n, i)); break;
    case LOOP_LANE_PLACE:
    case LOOP_GROUP_PLACE: return check_threads(v, n, i);
    case LOOP_REGISTER_PLACE:
    case LOOP_SERIAL_PLACE:
    case LOOP_UNROLL_PLACE: break;
    case LOOP_BLOCK_PLACE:
    case LOOP_WHOLE_PLACE:
    case LOOP_PLACE_COUNT:
        return WRONG(v, "only the rest of '%s' can be '%s'", name_of(v, n),
                     d->place < LOOP_PLACE_COUNT ? loop_place_text(d->place) : "?");
    }
    return d->unit <= 1
               ? NULL
               : WRONG(v, "a digit of '%s' that no threads take has no unit", name_of(v, n));
}

const char *loop_check_digits(loop_verifier *v, const loop_node *n) {
    uint64_t product = 1;
    if (n->ndigits > LOOP_MAX_DIGITS)
        return WRONG(v, "'%s' has more than %d digits", name_of(v, n), LOOP_MAX_DIGITS);
    for (uint32_t i = 0; i < n->ndigits; i++) {
        TRY(check_digit(v, n, i));
        product *= n->digits[i].extent;
        if (product > LOOP_MAX_POINTS)
            return WRONG(v, "the digits of '%s' count more than %d", name_of(v, n),
                         LOOP_MAX_POINTS);
    }
    return NULL;
}

// ---- The rest -----------------------------------------------------------------------------------

static bool goes_round(const loop_node *n) {
    return n->rest == LOOP_SERIAL_PLACE || n->rest == LOOP_UNROLL_PLACE;
}

// The blocks of a kernel are counted before it runs, and each goes once through what is around.
static const char *check_blocks(loop_verifier *v, const loop_node *n) {
    for (uint32_t k = 0; k + 1 < v->path.len; k++) {
        const loop_node *m = v->path.data[k];
        if (m->kind != LOOP_FOR || goes_round(m))
            return WRONG(v, "'%s' is dealt out to blocks inside a '%s' that a block goes through",
                         name_of(v, n), loop_node_table(m->kind)->text);
    }
    for (uint32_t b = 0; b < v->blocks.len; b++) {
        bool around = false;
        for (uint32_t k = 0; k < v->path.len; k++)
            around = around || v->path.data[k] == v->blocks.data[b];
        if (!around)
            return WRONG(
                v, "'%s' and '%s' are both dealt out to blocks, and neither is around the other",
                name_of(v, v->blocks.data[b]), name_of(v, n));
    }
    if (!loop_of_sizes(v, n->lo) || !loop_of_sizes(v, n->hi))
        return WRONG(v, "'%s' is dealt out to blocks, but its bounds are not made of sizes",
                     name_of(v, n));
    VEC_PUSH(v->scratch, &v->blocks, n);
    return NULL;
}

const char *loop_check_unroll(loop_verifier *v, const loop_node *n) {
    return n->rest == LOOP_SERIAL_PLACE
               ? NULL
               : WRONG(v, "'%s' unrolls a rest that is not serial", name_of(v, n));
}

const char *loop_check_masked(loop_verifier *v, const loop_node *n) {
    return n->rounds.unroll > 1
               ? NULL
               : WRONG(v, "'%s' masks the steps that are written out, and writes out none",
                       name_of(v, n));
}

const char *loop_check_uniform(loop_verifier *v, const loop_node *n) {
    uint32_t d = 0;
    while (d < n->ndigits && n->digits[d].place != LOOP_LANE_PLACE) d++;
    // the path ends with the loop
    return d < n->ndigits && v->path.len > 1 && v->path.data[v->path.len - 2]->kind == LOOP_CARRY
               ? NULL
               : WRONG(v, "lanes of '%s' have one key, and no carry takes its positions by lanes",
                       name_of(v, n));
}

const char *loop_check_step(loop_verifier *v, const loop_node *n) {
    return n->rest == LOOP_BLOCK_PLACE && !n->ndigits && n->rounds.step <= LOOP_MAX_POINTS
               ? NULL
               : WRONG(v, "'%s' has a step, and is not dealt out to blocks alone", name_of(v, n));
}

const char *loop_check_rest(loop_verifier *v, const loop_node *n) {
    int64_t lo = 0, hi = 0;
    bool constant = loop_constant(v->op, n->lo, &lo) && loop_constant(v->op, n->hi, &hi);
    switch (n->rest) {
    case LOOP_SERIAL_PLACE: return NULL;
    case LOOP_UNROLL_PLACE:
        return constant
                   ? NULL
                   : WRONG(v, "'%s' is unrolled, but its extent is not constant", name_of(v, n));
    case LOOP_BLOCK_PLACE: return check_blocks(v, n);
    case LOOP_WHOLE_PLACE:
        if (!constant || hi - lo <= (int64_t)loop_digits_product(n)) return NULL;
        return WRONG(v, "the digits of '%s' cover %u of %lld positions", name_of(v, n),
                     (unsigned)loop_digits_product(n), (long long)(hi - lo));
    case LOOP_VECTOR_PLACE:
    case LOOP_REGISTER_PLACE:
    case LOOP_LANE_PLACE:
    case LOOP_GROUP_PLACE:
    case LOOP_PLACE_COUNT: break;
    }
    return WRONG(v,
                 "the rest of '%s' is of unknown extent, so it is serial, unroll, block or whole",
                 name_of(v, n));
}

// The size of a loop is rounded up: to a multiple, from 0 on.
const char *loop_check_pad(loop_verifier *v, const loop_node *n) {
    int64_t lo = -1;
    bool good = n->rounds.pad > 1 && n->rounds.pad <= LOOP_MAX_PAD &&
                loop_constant(v->op, n->lo, &lo) && !lo && n->rounds.step <= 1 &&
                is_multiple(v, n->hi, n->rounds.pad, TENSOR_NO_SPACE);
    return good ? NULL
                : WRONG(v, "'%s' is padded, and does not go from 0 to a multiple", name_of(v, n));
}

// ---- Steps that are distributed -----------------------------------------------------------------

const char *loop_check_steps(loop_verifier *v, const loop_node *n) {
    const char *name = name_of(v, n);
    uint32_t lanes = 0;
    if (v->launch->threads % 32)
        return WRONG(
            v, "steps of '%s' are distributed to lanes of a block of %u threads, no whole warps",
            name, (unsigned)v->launch->threads);
    const loop_node *apart = n->distributed.to.extent && n->distributed.of < v->op->vars.len
                                 ? v->vars.loop[n->distributed.of]
                                 : NULL;
    if (n->distributed.to.extent && !apart)
        return WRONG(v, "steps of '%s' are distributed to lanes of no loop around", name);
    lanes = n->distributed.to.extent;
    switch (apart ? loop_check_distributed_walk(v->scratch, v->op, n, apart)
                  : loop_check_distributed(v->scratch, v->op, n, &lanes)) {
    case LOOP_DISTRIBUTED_WELL: return NULL;
    case LOOP_DISTRIBUTED_STEPS:
        return WRONG(
            v, "%u steps of '%s' are distributed: it takes 2, 4, 8, 16 or 32 that are written out",
            (unsigned)loop_steps_written_out(n), name);
    case LOOP_DISTRIBUTED_TWICE:
        return WRONG(v, "steps of '%s' are distributed, and others are written out", name);
    case LOOP_DISTRIBUTED_BARE:
        return WRONG(v, "steps of '%s', a segment loop, are distributed and not masked", name);
    case LOOP_DISTRIBUTED_LANES:
        return WRONG(
            v, "steps of '%s' are distributed, and no one digit of lanes of a warp reduces them",
            name);
    case LOOP_DISTRIBUTED_FEW:
        return WRONG(v, "%u steps of '%s' are distributed to %u lanes",
                     (unsigned)loop_steps_written_out(n), name, (unsigned)lanes);
    case LOOP_DISTRIBUTED_READ:
        return WRONG(
            v,
            "steps of '%s' are distributed, and what is reduced for one reads what was found of it",
            name);
    case LOOP_DISTRIBUTED_OTHERS: break;
    }
    return WRONG(v, "steps of '%s' are distributed, and hold more than reductions and then stores",
                 name);
}

// ---- Left out -----------------------------------------------------------------------------------

// All that a loop visits at once may leave its threads to others for a while; what it visits one
// after the other would come there again and again.
const char *loop_check_left_out(loop_verifier *v, const loop_node *n, uint32_t *at) {
    const char *name = v->op->vars.data[n->var].name;
    const loop_node *loop = v->vars.loop[n->var];
    for (*at = 0; *at < v->path.len && v->path.data[*at] != loop;) ++*at;
    if (!v->vars.bound[n->var] || *at == v->path.len)
        return WRONG(v, "no loop around binds '%s', so nothing stands without it", name);
    bool at_once = loop->rest == LOOP_WHOLE_PLACE;
    for (uint32_t i = 0; i < loop->ndigits; i++)
        at_once &= loop->digits[i].place != LOOP_SERIAL_PLACE;
    if (!at_once)
        return WRONG(
            v, "'%s' is visited in rounds, so what stands without it would be done in each", name);
    for (uint32_t k = 0; k < v->path.len; k++) {
        const loop_node *m = v->path.data[k];
        if (m->kind == LOOP_FOR &&
            (loop_depends(v, m->lo, n->var) || loop_depends(v, m->hi, n->var)))
            return WRONG(v, "the bounds of '%s' need '%s', which it stands without", name_of(v, m),
                         name);
    }
    return NULL;
}
