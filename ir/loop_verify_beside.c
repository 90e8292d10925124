// Loops that stand beside those around them: both take the same threads, or each has a vector. A
// thread has a point of each, so nothing inside is of both, and what is stored of one is stored
// without the other, whose positions may be past its end in that thread.
//     for f [lane 32, whole] { for i [lane 4, whole beside] {
//         … without i { store y }  without f { store c } } }
#include "loop_verify.h"

// ---- Pairs of loops -----------------------------------------------------------------------------
static bool at_once(const loop_node *n) {
    bool all = n->kind == LOOP_FOR && n->rest == LOOP_WHOLE_PLACE;
    for (uint32_t i = 0; all && i < n->ndigits; i++) all = n->digits[i].place != LOOP_SERIAL_PLACE;
    return all;
}

bool loop_stands_beside(const loop_node *n, const loop_node *m) {
    return n->rounds.beside && n != m && at_once(m);
}

static bool takes_threads(const loop_digit *d) {
    return d->place == LOOP_LANE_PLACE || d->place == LOOP_GROUP_PLACE;
}

static bool same_threads(const loop_node *n, const loop_node *m) {
    for (uint32_t i = 0; i < n->ndigits; i++)
        for (uint32_t k = 0; k < m->ndigits; k++)
            if (takes_threads(&n->digits[i]) && n->digits[i].place == m->digits[k].place &&
                !loop_digits_apart(&n->digits[i], &m->digits[k]))
                return true;
    return false;
}

static bool has_vector(const loop_node *n) {
    return n->ndigits && n->digits[0].place == LOOP_VECTOR_PLACE;
}

// The loops around the node at hand, each with those beside which it stands, one pair at a time.
typedef struct {
    uint32_t inner, outer;
    const loop_node *n, *m;
} pairs;

static bool next(const loop_verifier *v, pairs *p) {
    for (; p->inner < v->path.len; p->inner++, p->outer = 0) {
        p->n = v->path.data[p->inner];
        if (p->n->kind != LOOP_FOR || !p->n->rounds.beside) continue;
        while (p->outer < p->inner) {
            p->m = v->path.data[p->outer++];
            if (loop_stands_beside(p->n, p->m) &&
                (same_threads(p->n, p->m) || (has_vector(p->n) && has_vector(p->m))))
                return true;
        }
    }
    return false;
}

static bool is_of(loop_verifier *v, tensor_var x, const loop_node *n) {
    const loop_node *loop = v->vars.loop[x];
    const tensor_expr by[] = {v->vars.value[x], loop ? loop->lo : 0, loop ? loop->hi : 0};
    bool of = x == n->var;
    for (uint32_t i = 0; i < 3 && !of; i++) of = by[i] && loop_depends(v, by[i], n->var);
    return of;
}

static bool some_are_of(loop_verifier *v, const tensor_var *vars, uint32_t count,
                        const loop_node *n) {
    bool of = false;
    for (uint32_t i = 0; i < count && !of; i++) of = is_of(v, vars[i], n);
    return of;
}

static const char *both(loop_verifier *v, const pairs *p, const char *what) {
    return WRONG(v, "%s is of '%s' and of '%s', which stands beside it", what,
                 v->op->vars.data[p->m->var].name, v->op->vars.data[p->n->var].name);
}

// ---- Rules --------------------------------------------------------------------------------------
const char *loop_check_beside(loop_verifier *v, const loop_node *n) {
    return at_once(n) ? NULL
                      : WRONG(v, "'%s' stands beside other loops, and is visited in rounds",
                              v->op->vars.data[n->var].name);
}

static const char *check_stage(loop_verifier *v, const pairs *p, const tensor_stage *s,
                               bool stored) {
    bool inner = some_are_of(v, s->left, s->nleft, p->n),
         outer = some_are_of(v, s->left, s->nleft, p->m);
    if (inner && outer) return both(v, p, arena_printf(v->scratch, "stage '%s'", s->name));
    if (!stored || !(inner || outer) || !same_threads(p->n, p->m)) return NULL;
    return WRONG(v, "stage '%s' is stored where threads of '%s' are those of '%s' beside it",
                 s->name, v->op->vars.data[p->m->var].name, v->op->vars.data[p->n->var].name);
}

const char *loop_check_pairs(loop_verifier *v, const loop_node *n) {
    bool stored = n->kind == LOOP_STORE || n->kind == LOOP_STORE_STATE || n->kind == LOOP_CLEAR ||
                  n->kind == LOOP_COMBINE;
    loop_exprs exprs = {0};
    pairs p = {0};
    if (!next(v, &p)) return NULL;
    if (n->kind == LOOP_CARRY || n->kind == LOOP_PHASE || n->reduce.matrix || n->fetch.n ||
        n->distributed.steps)
        return WRONG(v, "a '%s' of threads together stands inside '%s', beside '%s'",
                     loop_node_table(n->kind)->text, v->op->vars.data[p.n->var].name,
                     v->op->vars.data[p.m->var].name);
    loop_exprs_of(v->scratch, n, &exprs);
    for (p = (pairs){0}; next(v, &p);) {
        for (uint32_t i = 0; i < exprs.len; i++)
            if (loop_depends(v, exprs.data[i], p.n->var) &&
                loop_depends(v, exprs.data[i], p.m->var))
                return both(v, &p, "an expression");
        for (uint32_t i = 0; i < n->nstages; i++)
            TRY(check_stage(v, &p, &v->op->stages.data[n->stages[i]], stored));
    }
    return NULL;
}
