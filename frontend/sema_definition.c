// What equations have defined so far: no element twice, none read before, and whether a value is
// complete.
#include "sema_equation.h"

static bool overlap(const definition *a, const definition *b) {
    for (uint32_t k = 0; k < a->rank; k++) {
        int64_t x = a->literals[k], y = b->literals[k];
        if (x >= 0 && y >= 0 && x != y) return false;
        if ((x >= 0 && y <= -2 && x < -2 - y) || (y >= 0 && x <= -2 && y < -2 - x)) return false;
    }
    return true;
}

bool definition_distinct(lowering *L, const definition *def, const char *name) {
    for (uint32_t i = 0; i < L->definitions.len; i++) {
        const definition *old = &L->definitions.data[i];
        if (old->val != def->val || !overlap(old, def)) continue;
        diagnostic *d = diag(L->ds, E0401, def->at, "'%s' is defined twice", name);
        diag_note(d, old->at, "first here");
        diag_help(
            d,
            "an element is defined once; several equations may fill different numbers of an axis, as in y[v, 0] and y[v, 1]");
        return false;
    }
    return true;
}

// Does the recurrence that defines val reach the end of its axis: is that as long as the steps and
// the start together?
static bool step_fills(const lowering *L, tensor_val val, int64_t offset) {
    for (uint32_t i = 0; i < L->op->stages.len; i++) {
        const tensor_stage *st = &L->op->stages.data[i];
        for (uint32_t t = 0; st->loop != TENSOR_NO_LOOP && t < st->ntargets; t++)
            for (uint32_t k = 0; st->targets[t].val == val && k < st->targets[t].rank; k++) {
                const tensor_node *n = tensor_node_at(L->op, st->targets[t].index[k]);
                if (n->op != TENSOR_INDEX_OP ||
                    tensor_node_at(L->op, n->args[0])->op != TENSOR_ADD_OP)
                    continue;
                return tensor_space_size_is(L->op, L->op->vals.data[val].axes[k],
                                            L->op->loops.data[st->loop].space, offset);
            }
    }
    return true;
}

// What equations fill of a value: all of them but a step, which fills the rest of its axis.
typedef struct {
    int64_t parts, offset;   // offset: of the step; -1: there is none
    uint32_t axis;           // of the step
    bool numbered[8];        // per axis: some equation fills a number of it
    bool alone;              // no step but one, which fills whole axes
} filled;

static filled filled_of(const lowering *L, tensor_val val, uint32_t rank) {
    filled f = {.offset = -1, .alone = true};
    for (uint32_t i = 0; i < L->definitions.len; i++) {
        const definition *d = &L->definitions.data[i];
        bool step = false, number = false;
        for (uint32_t k = 0; k < rank && d->val == val; k++) {
            number |= d->literals[k] >= 0;
            if (d->literals[k] >= 0) f.numbered[k] = true;
            if (d->literals[k] > -2) continue;
            step = true;
            f.alone &= f.offset < 0;
            f.offset = -2 - d->literals[k];
            f.axis = k;
        }
        f.alone &= !step || !number;
        f.parts += d->val == val && !step;
    }
    return f;
}

// Numbers of axes, of those that are numbered, all together.
static bool all_parts(const lowering *L, const filled *f, uint32_t rank, const tensor_space *axes,
                      int64_t *want) {
    *want = f->offset < 0 ? 1 : f->offset;
    for (uint32_t k = 0; k < rank; k++) {
        const tensor_space_info *s = &L->op->spaces.data[axes[k]];
        if (!f->numbered[k] || (f->offset >= 0 && k == f->axis)) continue;
        if (__builtin_mul_overflow(*want, s->kind == SPACE_CONST ? s->size : INT32_MAX, want))
            return false;
    }
    return true;
}

// Before the step, where there is one.
static bool is_filled(const lowering *L, const filled *f, uint32_t rank, const tensor_space *axes) {
    int64_t want;
    return f->alone && all_parts(L, f, rank, axes, &want) && f->parts == want;
}

bool value_complete(const lowering *L, tensor_val val, uint32_t rank, const tensor_space *axes) {
    const filled f = filled_of(L, val, rank);
    return is_filled(L, &f, rank, axes) && (f.offset < 0 || step_fills(L, val, f.offset));
}

// Reads of a value that is only partly defined must name parts that are. start: those of a
// recurrence are all there, so that the step alone matters; NULL: they are not.
static bool part_defined(const lowering *L, const tensor_node *load, tensor_val val,
                         int64_t below_step, const filled *start) {
    for (uint32_t i = 0; i < L->definitions.len; i++) {
        const definition *d = &L->definitions.data[i];
        bool covers = d->val == val;
        for (uint32_t k = 0; covers && k < d->rank; k++) {
            const tensor_node *n = tensor_node_at(L->op, load->args[k]);
            if (d->literals[k] == -1 || (start && k != start->axis)) continue;
            if (n->op == TENSOR_INDEX_OP) n = tensor_node_at(L->op, n->args[0]);
            bool constant = n->op == TENSOR_CONST_OP && n->imm.i == d->literals[k];
            if (below_step >=
                // in its own recurrence: z[t + c], c below the target's offset; or a number before
                // it
                0) {
                const tensor_node *v = n->op == TENSOR_ADD_OP ? tensor_node_at(L->op, n->args[0])
                                                              : n;
                int64_t c = n->op == TENSOR_ADD_OP ? tensor_node_at(L->op, n->args[1])->imm.i : 0;
                if (v->op == TENSOR_CVT_OP) v = tensor_node_at(L->op, v->args[0]);
                bool step = v->op == TENSOR_VAR_OP && L->loop != TENSOR_NO_LOOP &&
                            (tensor_var)v->imm.i == L->op->loops.data[L->loop].step;
                constant |= step && c >= 0 && c < below_step;
            }
            covers = constant;
        }
        if (covers) return true;
    }
    return false;
}

// Of a value that the step is about to define: all that stands before it is there.
static bool is_started(const lowering *L, tensor_val v, const definition *step, int64_t offset,
                       filled *f) {
    const tensor_val_info *i = &L->op->vals.data[v];
    *f = filled_of(L, v, i->rank);
    f->alone &= f->offset < 0;
    f->offset = offset;
    for (uint32_t k = 0; k < step->rank; k++)
        if (step->literals[k] <= -2) f->axis = k;
    return is_filled(L, f, i->rank, i->axes);
}

void definition_check_reads(lowering *L, uint32_t first_expr, tensor_val own,
                            const definition *step, int64_t offset) {
    for (tensor_expr e = first_expr; e < L->op->exprs.len; e++) {
        const tensor_node *n = tensor_node_at(L->op, e);
        if (n->op != TENSOR_LOAD_OP || n->imm.i < 0) continue;
        tensor_val v = (tensor_val)n->imm.i;
        const tensor_val_info *i = &L->op->vals.data[v];
        if (i->role == VAL_MAP || i->role == VAL_TENSOR || i->role == VAL_SCALAR ||
            i->role == VAL_CLASSES)
            continue;
        bool partly = false;
        for (uint32_t k = 0; k < L->definitions.len; k++) partly |= L->definitions.data[k].val == v;
        if (i->role == VAL_RESULT && !partly) {
            diag(L->ds, E0402, n->at, "'%s' is read before it is defined", i->name);
            continue;
        }
        if (!partly || (v != own && value_complete(L, v, i->rank, i->axes))) continue;
        filled f;
        const bool started = v == own && is_started(L, v, step, offset, &f);
        const int64_t below_step = v == own ? offset : -1;
        if (!part_defined(L, n, v, below_step, started ? &f : NULL)) {
            diagnostic *d = diag(L->ds, E0402, n->at,
                                 "this reads a part of '%s' that is not defined yet", i->name);
            if (v == own && !started && part_defined(L, n, v, below_step, &f))
                diag_help(
                    d, "all that comes before the first step is defined before it: by one start "
                       "for all numbers of an axis, as in u[0, c] = … for c in 2, or one for each");
            else if (v == own)
                diag_help(
                    d,
                    "a recurrence reads its own value at earlier steps only: [t, …] to define [t + 1, …]");
        }
    }
}
