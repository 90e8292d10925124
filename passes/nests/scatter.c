// Sums of edges that blocks add to rows as they come, fused with what is computed at each edge: the
// kernel deals edges out as those stages do, by tiles of their type and on tensor cores if they say
// so, and nothing of an edge is stored (gather, GEMM, scatter).
//     fuse m, y at e;  block e 64 by type;  mma k tf32;  combine e atomic
//  →  for v … { clear y }
//     for e.tile … [block] { for e … { for q … { reduce m by … { … }  store m
//       let y.e = e  let v = dst[e]  reduce y { contribute y }  combine y } } }
#include "nests/nests.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"
#include "axes/axes.h"
#include "finish/finish.h"

#include <string.h>

typedef struct {
    planner *p;
    const schedule_cell *cell;
    stage_group points, sums;   // of edges; of rows
} scattering;

static const tensor_stage *stage(const scattering *s, uint32_t i) {
    return &s->p->op->stages.data[i];
}

// ---- Which ones ---------------------------------------------------------------------------------
static schedule_cell *way_of(const planner *p, const schedule_cell *fuse, const tensor_stage *st) {
    if (st->reducer == TENSOR_NO_REDUCER || st->nbound != 1 ||
        !plan_is_among(p, plan_fused_at(fuse), st->bound[0]))
        return NULL;
    schedule_cell *c = plan_combine_cell(p, st, st->bound[0]);
    return c && c->values[0].word == SCHEDULE_WAY_ATOMIC ? c : NULL;
}

static bool has_points(const planner *p, const schedule_cell *fuse, const tensor_stage *st) {
    bool any = false;
    for (uint32_t i = 0; i < st->nleft; i++)
        any |= plan_is_among(p, plan_fused_at(fuse), st->left[i]);
    return any;
}

bool plan_scatters(const planner *p, const stage_group *g, const schedule_cell *fuse) {
    bool points = false, sums = false;
    for (uint32_t i = 0; fuse && i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        points |= has_points(p, fuse, st);
        sums |= way_of(p, fuse, st) != NULL;
    }
    return points && sums;
}

// ---- Legality -----------------------------------------------------------------------------------
static bool refuse(scattering *s, const tensor_stage *st, const char *note, const char *help) {
    planner *p = s->p;
    diagnostic *d = plan_refuse(p, E0550, s->cell->at, "'%s' cannot be fused at '%s'", st->name,
                                schedule_value_of(s->cell, "at")->text);
    if (d) diag_note(d, st->at, "%s", note);
    if (d) diag_help(d, "%s", help);
    return false;
}
#define REFUSE(s, st, help, ...) refuse((s), (st), arena_printf((s)->p->arena, __VA_ARGS__), help)

static bool check_reads(scattering *s, const stage_group *g) {
    for (uint32_t i = 0; i < g->len; i++)
        for (uint32_t k = 0; k < s->sums.len; k++)
            if (plan_reads_stage(s->p, g->data[i], s->sums.data[k]))
                return REFUSE(s, stage(s, g->data[i]), "fuse without it",
                              "it reads '%s', which is final after all edges",
                              stage(s, s->sums.data[k])->name);
    return true;
}

static bool check_points(scattering *s) {
    stage_group before = {0};
    for (uint32_t i = 0; i < s->points.len; i++) {
        const tensor_stage *st = stage(s, s->points.data[i]);
        if (before.len && !plan_may_join(s->p, &before, s->points.data[i]))
            return REFUSE(s, st, "fuse without it, or let it be computed where it is read",
                          "its loops are not those of '%s'", stage(s, before.data[0])->name);
        VEC_PUSH(s->p->arena, &before, s->points.data[i]);
    }
    return true;
}

static bool check_atomic(scattering *s, const tensor_stage *st) {
    planner *p = s->p;
    const schedule_cell *way = way_of(p, s->cell, st);
    diagnostic *d = plan_refuse_atomic(p, st, way);
    if (d)
        diag_help(d, "without 'fuse' what edges have is stored, and summed by rows: the same bits "
                     "every time");
    if (!p->failed && plan_every(p, st))
        plan_refuse(p, E0530, way->at,
                    "'scale' has no pass in this version in a sum whose terms go to memory");
    return !p->failed;
}

// ---- Which point of the kernel's loops one of a sum is ------------------------------------------
typedef struct {
    const scattering *s;
    uint32_t *level;   // per variable of the sum: of the loop it goes with, from 1; 0: of none
    bool fits;
} matching;

static void match_axis(matching *m, const tensor_stage *st, tensor_expr own, tensor_expr at) {
    const planner *p = m->s->p;
    const tensor_node *x = tensor_node_at(p->op, own), *y = tensor_node_at(p->op, at);
    if (x->op != TENSOR_VAR_OP) return;
    const uint32_t level = plan_place(p, st, (tensor_var)x->imm.i) + 1;
    bool same = y->op == TENSOR_VAR_OP && level &&
                (!m->level[y->imm.i] || m->level[y->imm.i] == level);
    if (same) m->level[y->imm.i] = level;
    m->fits &= same;
}

static bool match(void *user, const tensor_node *load) {
    matching *m = user;
    for (uint32_t i = 0; i < m->s->points.len; i++) {
        const tensor_stage *st = stage(m->s, m->s->points.data[i]);
        for (uint32_t t = 0; t < st->ntargets; t++)
            for (uint32_t a = 0; st->targets[t].val == (tensor_val)load->imm.i && a < load->nargs;
                 a++)
                match_axis(m, st, st->targets[t].index[a], load->args[a]);
    }
    return true;
}

// The key that says which row an edge is of: the left index it leads to.
static bool find_key(const planner *p, const tensor_stage *st, uint32_t *key, tensor_var *row) {
    for (*key = 0; *key < st->nkeys; (*key)++) {
        const tensor_node *rhs = tensor_node_at(p->op, st->keys[*key].rhs);
        *row = (tensor_var)rhs->imm.i;
        for (uint32_t i = 0; rhs->op == TENSOR_VAR_OP && i < st->nleft; i++)
            if (st->left[i] == *row && plan_mentions(p, st->keys[*key].lhs, st->bound[0]))
                return true;
    }
    return false;
}

static bool check_sum(scattering *s, uint32_t sum, uint32_t *level) {
    planner *p = s->p;
    const tensor_stage *st = stage(s, sum), *deepest = plan_deepest(p, &s->points);
    tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, deepest->nleft + 1), row;
    uint32_t depth = plan_left(p, deepest, vars), key, found = 0;
    matching m = {s, level, true};
    if (!find_key(p, st, &key, &row))
        return REFUSE(s, st, "leave 'fuse' out", "no key of it says which row an edge is of");
    plan_loads(p, st, match, &m);
    if (!m.fits)
        return REFUSE(s, st, "fuse without it",
                      "it reads what is fused at other points than those of its own edge");
    for (uint32_t l = 0; l < depth; l++)
        if (plan_is_among(p, plan_fused_at(s->cell), vars[l])) level[st->bound[0]] = l + 1;
    for (uint32_t i = 0; i < st->nleft; i++) {
        if (st->left[i] == row || level[st->left[i]]) continue;
        return REFUSE(s, st, "leave 'fuse' out", "no fused stage has its index '%s'",
                      plan_index_text(p, st->left[i]));
    }
    for (uint32_t v = 0; v < p->op->vars.len; v++) found += level[v] > 0;
    if (found == depth && !level[row]) return true;
    return REFUSE(s, st, "fuse without it, or without the stage of more indices",
                  "it has not all indices of '%s'", deepest->name);
}

static bool check(scattering *s) {
    if (!check_points(s)) return false;
    for (uint32_t i = 0; i < s->sums.len; i++)
        if (!check_atomic(s, stage(s, s->sums.data[i]))) return false;
    return true;
}

// ---- Rows before any edge -----------------------------------------------------------------------
static void clear(planner *p, const row_class *rows, uint32_t number, void *user) {
    const stage_group *one = user;
    plan_nest n = plan_nest_start(p, plan_stage(p, one->data[0]), number);
    n.kernel->name = arena_printf(p->arena, "%s_clear", n.kernel->name);
    plan_nest_group(&n, one, rows, &n.kernel->body);
    plan_nest_end(&n);
}

static void clear_rows(scattering *s, const uint32_t *sum) {
    planner *p = s->p;
    stage_group one = {0};
    VEC_PUSH(p->arena, &one, *sum);
    p->cut.parts.len = 0;
    VEC_PUSH(p->arena, &p->cut.parts,
             ((plan_part){.stage = *sum, .var = stage(s, *sum)->bound[0], .atomic = true}));
    p->cut.clearing = true;
    plan_each_class(p, stage(s, *sum), clear, &one);
    p->cut.clearing = false;
    p->cut.parts.len = 0;
}

// ---- Edges --------------------------------------------------------------------------------------
static void add(planner *p, loop_node_kind kind, const uint32_t *sum, loop_body *at) {
    loop_node *n = loop_node_new(p->plan, kind, plan_stage(p, *sum)->at);
    n->nstages = 1;
    n->stages = sum;
    loop_append(p->plan, at, n);
}

// Its keys and filters, at the kernel's edge.
static tensor_stage at_edge(scattering *s, const tensor_stage *st, const tensor_expr *of) {
    planner *p = s->p;
    tensor_stage out = *st;
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st->nkeys + 1);
    for (uint32_t i = 0; i < st->nkeys; i++) {
        keys[i] = st->keys[i];
        keys[i].lhs = *plan_substitute(p, &st->keys[i].lhs, 1, of);
        keys[i].rhs = *plan_substitute(p, &st->keys[i].rhs, 1, of);
    }
    out.keys = keys;
    if (st->nfilters) out.filters = plan_substitute(p, st->filters, st->nfilters, of);
    return out;
}

static void scatter(scattering *s, const uint32_t *sum, loop_body *at) {
    planner *p = s->p;
    const tensor_stage *st = stage(s, *sum), *deepest = plan_deepest(p, &s->points);
    tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, deepest->nleft + 1), row;
    uint32_t *level = ARENA_ARRAY(p->arena, uint32_t, p->op->vars.len + 1), key,
             known = p->op->vars.len;
    if (!check_sum(s, *sum, level)) return;
    find_key(p, st, &key, &row);
    plan_left(p, deepest, vars);
    tensor_expr *of = ARENA_ARRAY(p->arena, tensor_expr, known + 1);
    for (tensor_var v = 0; v < known; v++)
        if (level[v]) of[v] = tensor_var_expr(p->op, vars[level[v] - 1], NO_SPAN);
    for (tensor_var v = 0; v < known; v++)
        if (level[v] && v != st->bound[0]) plan_let(p, at, v, of[v], st->at);
    const tensor_stage there = at_edge(s, st, of);
    const tensor_var edge = vars[level[st->bound[0]] - 1];
    at = plan_point(p, &there, key, row, edge, at);
    loop_node *reduce = loop_node_new(p->plan, LOOP_REDUCE, st->at);
    reduce->nstages = 1;
    reduce->stages = sum;
    loop_append(p->plan, at, reduce);
    plan_let(p, &reduce->body, there.bound[0], of[there.bound[0]], there.at);
    add(p, LOOP_CONTRIBUTE, sum, &reduce->body);
    add(p, LOOP_COMBINE, sum, at);
}

static void edges(planner *p, const row_class *rows, uint32_t number, void *user) {
    scattering *s = user;
    plan_nest n = plan_nest_start(p, plan_deepest(p, &s->points), number);
    loop_body *at = plan_nest_group(&n, &s->points, rows, &n.kernel->body);
    for (uint32_t i = 0; i < s->sums.len && !p->failed; i++) scatter(s, &s->sums.data[i], at);
    if (p->failed) return;
    plan_nest_end(&n);
    plan_matrix_fit(p, &s->points, n.kernel);
    plan_fetch(p, &s->points, n.kernel);
    plan_check_chains(p, &s->points, n.kernel);
}

static void part(scattering *s, const stage_group *g) {
    s->points.len = s->sums.len = 0;
    for (uint32_t i = 0; i < g->len; i++) {
        schedule_cell *way = way_of(s->p, s->cell, stage(s, g->data[i]));
        if (way) way->consumed = true;
        VEC_PUSH(s->p->arena, way ? &s->sums : &s->points, g->data[i]);
    }
}

void plan_scatter(planner *p, stage_group *g, const schedule_cell *fuse) {
    scattering s = {.p = p, .cell = fuse};
    part(&s, g);
    if (!check_reads(&s, g)) return;
    plan_private(p, g);
    plan_check_kept(p, g);
    part(&s, g);
    if (p->failed || !check(&s)) return;
    for (uint32_t i = 0; i < s.points.len; i++) plan_choose_home(p, g, stage(&s, s.points.data[i]));
    for (uint32_t i = 0; i < s.sums.len && !p->failed; i++) clear_rows(&s, &s.sums.data[i]);
    if (!p->failed) plan_each_class(p, plan_deepest(p, &s.points), edges, &s);
}
