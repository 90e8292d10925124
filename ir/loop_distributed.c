// Steps that are written out and distributed: what lanes reduce for so many points, each of them
// goes on with for one.
//     for e [unroll 4, …] distributed { reduce s { for f [lane 8] … }  store s }
// After the reduction lane i of the 8 stands at step i % 4, so it has one state, not four, and one
// thing to store.
#include "loop_internal.h"

uint32_t loop_steps_written_out(const loop_node *n) {
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place == LOOP_UNROLL_PLACE) return n->digits[i].extent;
    return n->rest == LOOP_SERIAL_PLACE && n->rounds.unroll > 1 ? n->rounds.unroll : 1;
}

static bool written_out_twice(const loop_node *n) {
    uint32_t digits = n->rest == LOOP_UNROLL_PLACE ||
                      (n->rest == LOOP_SERIAL_PLACE && n->rounds.unroll > 1);
    for (uint32_t i = 0; i < n->ndigits; i++) digits += n->digits[i].place == LOOP_UNROLL_PLACE;
    return digits > 1;
}

// ---- Lanes --------------------------------------------------------------------------------------
typedef struct {
    uint32_t loops;   // that take threads
    loop_digit lanes;
    bool fits;   // they are one digit, of lanes
} reducers;

static void find_threads(const loop_body *body, reducers *r) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        for (uint32_t d = 0; n->kind == LOOP_FOR && d < n->ndigits; d++) {
            const loop_digit *g = &n->digits[d];
            if (g->extent == 1 || (g->place != LOOP_LANE_PLACE && g->place != LOOP_GROUP_PLACE))
                continue;
            r->fits = g->place == LOOP_LANE_PLACE && !r->loops++;
            r->lanes = *g;
        }
        find_threads(&n->body, r);
    }
}

// The one digit of threads that walks what is reduced, where it is of lanes and a power of two;
// false: it is none of these.
static bool loop_reducing_lanes(const loop_node *reduce, loop_digit *out) {
    reducers r = {0};
    if (reduce->reduce.matrix) return false;   // its lanes are the operation's
    find_threads(&reduce->body, &r);
    *out = r.lanes;
    return r.fits && !(r.lanes.extent & (r.lanes.extent - 1)) &&
           !(r.lanes.unit & (r.lanes.unit - 1)) && r.lanes.unit * r.lanes.extent <= 32;
}

bool loop_reduces(const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++)
        if (body->data[i]->kind == LOOP_REDUCE) return true;
    return false;
}

// ---- What follows -------------------------------------------------------------------------------
typedef struct {
    const tensor_op *op;
    const loop_node *n;   // that is distributed
    uint32_t lanes, unit;
    bool *changing;   // per variable: it may be of the steps
} dealing;

static bool mentions(const dealing *d, tensor_expr e) {
    const tensor_set *vars = tensor_node_at(d->op, e)->vars;
    bool any = false;
    for (uint32_t i = 0; vars && i < vars->n && !any; i++) any = d->changing[vars->at[i]];
    return any;
}

// What is reduced for each point that is reduced has states of its own, which nobody distributes.
static bool reduces_inside(const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++)
        if (body->data[i]->kind == LOOP_REDUCE || reduces_inside(&body->data[i]->body)) return true;
    return false;
}

static loop_distributed_fault check_reduced(dealing *d, const loop_body *body, uint32_t i) {
    uint32_t first = i;
    for (; i < body->len && body->data[i]->kind == LOOP_REDUCE; i++) {
        loop_digit lanes;
        if (reduces_inside(&body->data[i]->body)) return LOOP_DISTRIBUTED_OTHERS;
        if (!loop_reducing_lanes(body->data[i], &lanes)) return LOOP_DISTRIBUTED_LANES;
        if (i > first && (lanes.unit != d->unit || lanes.extent != d->lanes))
            return LOOP_DISTRIBUTED_LANES;
        d->lanes = lanes.extent;
        d->unit = lanes.unit;
    }
    if (i == body->len) return LOOP_DISTRIBUTED_OTHERS;
    for (; i < body->len; i++)
        if (body->data[i]->kind != LOOP_STORE) return LOOP_DISTRIBUTED_OTHERS;
    return d->lanes < loop_steps_written_out(d->n) ? LOOP_DISTRIBUTED_FEW : LOOP_DISTRIBUTED_WELL;
}

static loop_distributed_fault check_in(dealing *d, const loop_body *body) {
    uint32_t i = 0;
    for (; i < body->len && (body->data[i]->kind == LOOP_LET || body->data[i]->kind == LOOP_GIVEN);
         i++)
        if (body->data[i]->kind == LOOP_LET) d->changing[body->data[i]->var] = true;
    if (i == body->len) return LOOP_DISTRIBUTED_OTHERS;
    if (body->data[i]->kind == LOOP_REDUCE) return check_reduced(d, body, i);
    for (; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind != LOOP_FOR || n->distributed.steps || mentions(d, n->lo) || mentions(d, n->hi))
            return LOOP_DISTRIBUTED_OTHERS;
        loop_distributed_fault f = check_in(d, &n->body);
        if (f != LOOP_DISTRIBUTED_WELL) return f;
    }
    return LOOP_DISTRIBUTED_WELL;
}

loop_distributed_fault loop_check_distributed(arena *a, const tensor_op *op, const loop_node *n,
                                              uint32_t *lanes) {
    uint32_t steps = loop_steps_written_out(n);
    dealing d = {.op = op, .n = n, .changing = ARENA_ARRAY(a, bool, op->vars.len + 1)};
    if (steps < 2 || steps & (steps - 1)) return LOOP_DISTRIBUTED_STEPS;
    if (written_out_twice(n)) return LOOP_DISTRIBUTED_TWICE;
    d.changing[n->var] = true;
    loop_distributed_fault f = check_in(&d, &n->body);
    *lanes = d.lanes;
    return f;
}

// ---- Walks --------------------------------------------------------------------------------------
// What an edge's stage computes without the loop: it reduces by that loop's lanes alone, and is
// stored.
static loop_distributed_fault check_edge(const loop_node *n, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *m = body->data[i];
        loop_digit lanes;
        switch (m->kind) {
        case LOOP_LET:
        case LOOP_GIVEN:
        case LOOP_STORE: break;
        case LOOP_REDUCE:
            if (reduces_inside(&m->body)) return LOOP_DISTRIBUTED_OTHERS;
            if (!loop_reducing_lanes(m, &lanes) || lanes.extent != n->distributed.to.extent ||
                lanes.unit != n->distributed.to.unit)
                return LOOP_DISTRIBUTED_LANES;
            break;
        default: return LOOP_DISTRIBUTED_OTHERS;
        }
    }
    return LOOP_DISTRIBUTED_WELL;
}

static bool has_lanes(const loop_node *n, loop_digit lanes) {
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place == LOOP_LANE_PLACE && n->digits[i].extent == lanes.extent &&
            n->digits[i].unit == lanes.unit)
            return true;
    return false;
}

typedef struct {
    arena *a;
    const tensor_op *op;
    const tensor_stage *reader;
} distributed_reads;

static bool reads_stored(const distributed_reads *r, const loop_body *body) {
    bool any = false;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        for (uint32_t s = 0; s < n->nstages && n->kind == LOOP_STORE; s++)
            any |= loop_load_of(r->op, r->reader->body[0],
                                r->op->stages.data[n->stages[s]].targets[0].val) != 0;
        any |= reads_stored(r, &n->body);
    }
    return any;
}

// What a lane has found of its own step alone, all lanes would read while they reduce something
// else of that step.
static bool reads_distributed(arena *a, const tensor_op *op, const loop_node *walk,
                              const loop_body *edge) {
    bool any = false;
    for (uint32_t i = 0; i < edge->len; i++) {
        const loop_node *n = edge->data[i];
        for (uint32_t s = 0; s < n->nstages && n->kind == LOOP_REDUCE; s++) {
            const distributed_reads r = {a, op, &op->stages.data[n->stages[s]]};
            any |= reads_stored(&r, &walk->body);
        }
    }
    return any;
}

loop_distributed_fault loop_check_distributed_walk(arena *a, const tensor_op *op,
                                                   const loop_node *n, const loop_node *apart) {
    uint32_t steps = loop_steps_written_out(n);
    if (steps < 2 || steps & (steps - 1)) return LOOP_DISTRIBUTED_STEPS;
    if (written_out_twice(n)) return LOOP_DISTRIBUTED_TWICE;
    if (n->rest == LOOP_SERIAL_PLACE && n->rounds.unroll > 1 && !n->rounds.masked)
        return LOOP_DISTRIBUTED_BARE;
    const loop_digit *to = &n->distributed.to;
    bool powers = !(to->extent & (to->extent - 1)) && to->unit && !(to->unit & (to->unit - 1));
    if (!powers || to->unit * to->extent > 32 || !has_lanes(apart, *to))
        return LOOP_DISTRIBUTED_LANES;
    for (uint32_t i = 0; i < n->body.len; i++) {
        const loop_node *m = n->body.data[i];
        if (m->kind == LOOP_LET || m->kind == LOOP_GIVEN || m->kind == LOOP_CONTRIBUTE ||
            m->kind == LOOP_STORE)
            continue;
        if (m->kind != LOOP_WITHOUT || m->var != apart->var) return LOOP_DISTRIBUTED_OTHERS;
        loop_distributed_fault f = check_edge(n, &m->body);
        if (f != LOOP_DISTRIBUTED_WELL) return f;
        if (reads_distributed(a, op, n, &m->body)) return LOOP_DISTRIBUTED_READ;
    }
    return n->distributed.to.extent < steps ? LOOP_DISTRIBUTED_FEW : LOOP_DISTRIBUTED_WELL;
}
