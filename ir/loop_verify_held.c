// What lanes hold for the rounds of a loop: entries that neighbours in a warp share out, each the
// same whichever of them loads it.
#include "loop_verify.h"

static const char *name_of(const loop_verifier *v, const loop_node *n) {
    return v->op->vars.data[n->var].name;
}

static bool written_out(const loop_digit *d) {
    return (d->place == LOOP_REGISTER_PLACE || d->place == LOOP_UNROLL_PLACE ||
            d->place == LOOP_VECTOR_PLACE) &&
           d->extent > 1;
}

static bool takes_threads(const loop_digit *d) {
    return d->place == LOOP_LANE_PLACE || d->place == LOOP_GROUP_PLACE;
}

static bool apart(const loop_verifier *v, const loop_node *n, const loop_digit *d) {
    uint32_t stride = d->place == LOOP_GROUP_PLACE ? d->unit * v->launch->lanes : d->unit;
    return takes_threads(d) && d->extent > 1 && stride % n->holding.lanes;
}

// ---- Digits -------------------------------------------------------------------------------------
// Steps stay in the entries of one register, or go from register to register.
static const char *check_steps(loop_verifier *v, const loop_node *n) {
    uint64_t weight = 1;
    bool begun = false, ended = false;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        const loop_digit *d = &n->digits[i];
        bool steps = d->place == LOOP_SERIAL_PLACE, threads = takes_threads(d);
        ended |= begun && threads;
        if (d->place == LOOP_VECTOR_PLACE || (ended && !threads))
            return WRONG(v, "entries of '%s' that lanes hold for a thread are not evenly apart",
                         name_of(v, n));
        if (threads) continue;
        begun = true;
        if (steps && weight % n->holding.lanes && weight * d->extent > n->holding.lanes)
            return WRONG(
                v,
                "%u steps of %u through '%s' begin in one register of %u lanes and end in another",
                (unsigned)d->extent, (unsigned)weight, name_of(v, n), (unsigned)n->holding.lanes);
        weight *= d->extent;
    }
    return weight > 1 ? NULL
                      : WRONG(v, "a round of '%s' is one position, which no lanes share out",
                              name_of(v, n));
}

// Of shared memory each entry has its place, whatever the steps are.
static const char *check_points(loop_verifier *v, const loop_node *n) {
    uint64_t points = 1;
    uint32_t i = 0;
    while (i < n->ndigits && takes_threads(&n->digits[i])) i++;
    for (; i < n->ndigits && !takes_threads(&n->digits[i]); i++) {
        if (n->digits[i].place == LOOP_VECTOR_PLACE)
            return WRONG(v, "entries of '%s' in shared memory are read one by one, in no vector",
                         name_of(v, n));
        points *= n->digits[i].extent;
    }
    while (i < n->ndigits && takes_threads(&n->digits[i])) i++;
    if (i < n->ndigits)
        return WRONG(v, "entries of '%s' that lanes hold for a thread are not evenly apart",
                     name_of(v, n));
    if (n->holding.shared > LOOP_MAX_BUFFERS)
        return WRONG(v, "entries of 1 to %d rounds are in shared memory, not of %u",
                     (int)LOOP_MAX_BUFFERS, (unsigned)n->holding.shared);
    return points > 1 && points <= LOOP_MAX_POINTS
               ? NULL
               : WRONG(v, "a round of '%s' has %llu positions, and lanes share out 2 or more",
                       name_of(v, n), (unsigned long long)points);
}

// So many entries, which lie side by side, are copied at once.
static const char *check_aligned(loop_verifier *v, const loop_node *n) {
    uint32_t by = n->holding.aligned;
    uint64_t points = 1;
    if (by <= 1) return NULL;
    for (uint32_t i = 0; i < n->ndigits && !takes_threads(&n->digits[i]); i++)
        points *= n->digits[i].extent;
    bool power = by <= 8 && !(by & (by - 1));
    return power && points % by == 0 && loop_multiple_of(v->op, n->lo) % by == 0
               ? NULL
               : WRONG(v, "entries of '%s' are copied %u at once, and may begin elsewhere",
                       name_of(v, n), (unsigned)by);
}

static const char *check_layout(loop_verifier *v, const loop_node *n) {
    uint32_t by = n->holding.lanes;
    bool wide = n->holding.shared && by > 32;   // warps of a block, each of which has all of it
    if (wide && (by & (by - 1) || v->launch->threads % by))
        return WRONG(v, "%u threads share entries in shared memory, of a block of %u", (unsigned)by,
                     (unsigned)v->launch->threads);
    if (!wide && (by < 2 || by > 32 || by & (by - 1)))
        return WRONG(v, "2, 4, 8, 16 or 32 lanes hold entries, not %u", (unsigned)by);
    if (v->launch->threads % 32)
        return WRONG(v, "lanes of a block of %u threads hold entries, and are no whole warps",
                     (unsigned)v->launch->threads);
    if (n->rest != LOOP_SERIAL_PLACE || n->rounds.unroll > 1 || n->rounds.pad)
        return WRONG(v, "lanes hold entries of '%s', whose rest is not serial alone",
                     name_of(v, n));
    TRY(check_aligned(v, n));
    return n->holding.shared ? check_points(v, n) : check_steps(v, n);
}

// ---- Entries ------------------------------------------------------------------------------------
static const char *check_alike(loop_verifier *v, const loop_node *n, tensor_expr e, bool copies) {
    for (uint32_t k = 0; k + 1 < v->path.len; k++) {
        const loop_node *m = v->path.data[k];
        for (uint32_t i = 0; m->kind == LOOP_FOR && i < m->ndigits; i++) {
            const loop_digit *d = &m->digits[i];
            if (!apart(v, n, d) && !(copies && written_out(d))) continue;
            if (loop_depends(v, e, m->var))
                return WRONG(v, "the %u lanes that hold entries of '%s' differ in '%s'",
                             (unsigned)n->holding.lanes, name_of(v, n), name_of(v, m));
        }
        if (copies && m->kind == LOOP_FOR && m->rounds.unroll > 1 && loop_depends(v, e, m->var))
            return WRONG(v, "entries of '%s' differ in the copies of '%s'", name_of(v, n),
                         name_of(v, m));
    }
    return NULL;
}

static bool overwritten(const loop_verifier *v, tensor_val val) {
    for (tensor_val w = 0; w < v->op->vals.len; w++)
        if (w != val && v->op->vals.data[w].inplace == val) return true;
    return false;
}

static bool may_be_none(const loop_verifier *v, tensor_expr e) {
    const tensor_node *n = tensor_node_at(v->op, e);
    return n->op == TENSOR_LOAD_OP && v->op->vals.data[n->imm.i].facts & FACT_PARTIAL;
}

// Entries are loaded whatever the body tests, so an index is a variable, or an entry held before:
// it is never none.
static const char *check_index_of(loop_verifier *v, const loop_node *n, uint32_t entry,
                                  tensor_expr e, bool *at) {
    const tensor_node *x = tensor_node_at(v->op, e);
    bool var = x->op == TENSOR_VAR_OP, own = var && (tensor_var)x->imm.i == n->var;
    for (uint32_t i = 0; i < entry; i++) own |= n->holding.loads[i] == e;
    *at |= own;
    if (own && may_be_none(v, e))
        return WRONG(v, "an entry that lanes hold is read at what may be none");
    if (!own && !var)
        return WRONG(
            v, "an entry that lanes hold is read at something else than a variable or another one");
    return own ? NULL : check_alike(v, n, e, true);
}

static const char *check_entry(loop_verifier *v, const loop_node *n, uint32_t entry) {
    tensor_expr e = n->holding.loads[entry];
    bool at = false;
    TRY(loop_check_expr(v, e, UINT32_MAX));
    const tensor_node *x = tensor_node_at(v->op, e);
    if (x->op != TENSOR_LOAD_OP) return WRONG(v, "lanes hold what is loaded");
    const tensor_val_info *val = &v->op->vals.data[x->imm.i];
    bool input = val->role == VAL_MAP || val->role == VAL_TENSOR || val->role == VAL_PREPARED ||
                 val->role == VAL_CLASSES;
    if (!input || overwritten(v, (tensor_val)x->imm.i))
        return WRONG(v, "lanes hold entries of '%s', which is no input that stays as it is",
                     val->name);
    for (uint32_t i = 0; i < x->nargs; i++) TRY(check_index_of(v, n, entry, x->args[i], &at));
    return at ? NULL : WRONG(v, "'%s' is the same in all rounds of '%s'", val->name, name_of(v, n));
}

const char *loop_check_held(loop_verifier *v, const loop_node *n) {
    TRY(check_layout(v, n));
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (apart(v, n, &n->digits[i]))
            return WRONG(v, "the %u lanes that hold entries of '%s' have other points of it",
                         (unsigned)n->holding.lanes, name_of(v, n));
    TRY(check_alike(v, n, n->lo, false));
    TRY(check_alike(v, n, n->hi, false));
    for (uint32_t i = 0; i < n->holding.n; i++) TRY(check_entry(v, n, i));
    return NULL;
}
