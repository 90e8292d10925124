// The rules of maxima that are found on the run (LOOP.md).
#include "loop_verify.h"

static const tensor_stage *stage_at(const loop_verifier *v, uint32_t stage) {
    return &v->op->stages.data[stage];
}

static tensor_val value_of(const loop_verifier *v, const loop_maximum *m) {
    return stage_at(v, m->stage)->targets[0].val;
}

static bool reads(const loop_verifier *v, uint32_t stage, tensor_val val) {
    const tensor_stage *s = stage_at(v, stage);
    for (uint32_t i = 0; i < s->nbody; i++)
        if (loop_load_of(v->op, s->body[i], val)) return true;
    return false;
}

static bool is_one(const loop_node *n, uint32_t stage) {
    for (uint32_t i = 0; i < n->reduce.nmaxima; i++)
        if (n->reduce.maxima[i].stage == stage) return true;
    return false;
}

static const char *check_sum(loop_verifier *v, const loop_node *n, uint32_t stage) {
    const tensor_stage *s = stage_at(v, stage);
    v->stages.relative[stage] = false;
    for (uint32_t i = 0; i < n->reduce.nmaxima; i++) {
        const tensor_stage *m = stage_at(v, n->reduce.maxima[i].stage);
        if (!reads(v, stage, m->targets[0].val)) continue;
        v->stages.relative[stage] = true;
        if (is_one(n, stage))
            return WRONG(v, "'%s' is found on the run, and reads '%s', which is too", s->name,
                         m->name);
        tensor_reduce_kind by = REDUCE_USER;
        if (!tensor_combined_by(v->op, &v->op->reducers.data[s->reducer], 0, &by) ||
            by != REDUCE_SUM || s->nelse)
            return WRONG(v, "'%s' reads '%s' before it is final, and is no sum", s->name, m->name);
        if (!loop_rescales(v->scratch, v->op, s->body[0], m->targets[0].val))
            return WRONG(
                v, "'%s' reads '%s' before it is final, and not as m == -inf ? 0 : exp(x - m)",
                s->name, m->name);
    }
    return NULL;
}

const char *loop_check_maxima(loop_verifier *v, const loop_node *n) {
    for (uint32_t i = 0; i < n->reduce.nmaxima; i++) {
        uint32_t stage = n->reduce.maxima[i].stage;
        bool here = false;
        for (uint32_t k = 0; k < n->nstages; k++) here |= n->stages[k] == stage;
        if (!here) return WRONG(v, "a maximum found on the run is none of the stages");
        if (!loop_is_maximum(v->op, stage_at(v, stage)))
            return WRONG(v, "stage '%s' is no maximum of floats", stage_at(v, stage)->name);
    }
    for (uint32_t k = 0; k < n->nstages; k++) TRY(check_sum(v, n, n->stages[k]));
    return NULL;
}

// ---- Where one is read --------------------------------------------------------------------------
// The reduction around in which it is found; NULL: there is none.
static const loop_node *found_by(const loop_verifier *v, tensor_val val) {
    for (uint32_t k = v->path.len; k-- > 0;)
        if (v->path.data[k]->kind == LOOP_REDUCE && loop_running(v->path.data[k], v->op, val))
            return v->path.data[k];
    return NULL;
}

bool loop_reads_running(loop_verifier *v, const tensor_node *load, const char **wrong) {
    const loop_node *n = found_by(v, (tensor_val)load->imm.i);
    if (!n) return false;
    const tensor_target *t =
        &stage_at(v, loop_running(n, v->op, (tensor_val)load->imm.i)->stage)->targets[0];
    bool here = false;
    for (uint32_t k = 0; k < n->nstages; k++) here |= n->stages[k] == v->reader;
    for (uint32_t i = 0; i < load->nargs; i++)
        here = here && loop_behind_lets(v, load->args[i]) == loop_behind_lets(v, t->index[i]);
    if (!here)
        *wrong = WRONG(v, "'%s' is read before it is final", v->op->vals.data[load->imm.i].name);
    return true;
}

// What is contributed to it in this place comes first.
static bool contributed(const loop_verifier *v, const loop_node *n, uint32_t stage) {
    const loop_body *body = &v->path.data[v->path.len - 1]->body;
    for (uint32_t i = 0; i < body->len && body->data[i] != n; i++)
        if (body->data[i]->kind == LOOP_CONTRIBUTE && body->data[i]->stages[0] == stage)
            return true;
    return false;
}

const char *loop_check_follows(loop_verifier *v, const loop_node *n, const loop_node *reduce) {
    for (uint32_t i = 0; i < reduce->reduce.nmaxima; i++)
        if (reads(v, n->stages[0], value_of(v, &reduce->reduce.maxima[i])) &&
            !contributed(v, n, reduce->reduce.maxima[i].stage))
            return WRONG(v, "'%s' reads '%s' where nothing has been contributed to that",
                         stage_at(v, n->stages[0])->name,
                         stage_at(v, reduce->reduce.maxima[i].stage)->name);
    return NULL;
}

// ---- Where one is found again -------------------------------------------------------------------
// A maximum on the run comes before all that reads it, which comes then.
static const char *check_maximum_again(loop_verifier *v, const loop_node *n, const loop_node *again,
                                       uint32_t maximum) {
    const tensor_stage *of = stage_at(v, maximum);
    bool taken = false, found = loop_contributes(&again->body, maximum);
    if (!found && simt_mma_splits(n->reduce.matrix->kind))
        return WRONG(v, "'%s', of numbers that are taken apart, is not reduced 'again'", of->name);
    for (uint32_t i = 0; i < again->body.len && found; i++) {
        const loop_node *loop = again->body.data[i];
        const bool here = loop_contributes(&loop->body, maximum);
        if (here && taken)
            return WRONG(v, "'%s' is reduced 'again' behind what reads it", of->name);
        for (uint32_t k = 0; k < n->nstages; k++) {
            const uint32_t stage = n->stages[k];
            if (stage == maximum || !reads(v, stage, of->targets[0].val)) continue;
            if (!loop_contributes(&again->body, stage))
                return WRONG(v, "'%s' is reduced 'again', and not '%s', which reads it", of->name,
                             stage_at(v, stage)->name);
            const bool reader = loop_contributes(&loop->body, stage);
            if (reader && here)
                return WRONG(v, "'%s' is reduced 'again' beside what reads it, and not before",
                             of->name);
            taken |= reader;
        }
    }
    return NULL;
}

const char *loop_check_maxima_again(loop_verifier *v, const loop_node *n, const loop_node *again) {
    for (uint32_t m = 0; m < n->reduce.nmaxima; m++)
        TRY(check_maximum_again(v, n, again, n->reduce.maxima[m].stage));
    return NULL;
}

// ---- States that were stored --------------------------------------------------------------------
const char *loop_check_relative(loop_verifier *v, const loop_node *n) {
    const tensor_stage *s = stage_at(v, n->stages[0]);
    bool kept = v->vals.kept_relative[tensor_node_at(v->op, n->state.loads[0])->imm.i];
    if (kept != (n->reduce.nmaxima > 0))
        return WRONG(v,
                     kept ? "a state of '%s' holds differences from a maximum, which is not said"
                          : "a state of '%s' holds no differences from a maximum",
                     s->name);
    for (uint32_t i = 0; i < n->reduce.nmaxima; i++) {
        const loop_maximum *m = &n->reduce.maxima[i];
        const tensor_stage *of = stage_at(v, m->stage);
        if (!loop_is_maximum(v->op, of))
            return WRONG(v, "stage '%s' is no maximum of floats", of->name);
        tensor_expr load = loop_load_of(v->op, s->body[0], of->targets[0].val);
        if (!load) return WRONG(v, "'%s' does not read '%s'", s->name, of->name);
        TRY(loop_check_slot(v, m->slot, v->op->reducers.data[of->reducer].state_types[0]));
        TRY(loop_check_expr(v, m->slot, UINT32_MAX));
        TRY(loop_check_expr(v, load, n->stages[0]));
    }
    return NULL;
}
