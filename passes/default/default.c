// The schedule an op gets when nobody gave it one: cells from the shapes of its stages
// (stages/) and a few facts: which stages share a kernel, and whether rows are long, few or many
// (ask/row_kinds.def). Extents not known when compiling are met by a version a class of extents.
#include "default/default.h"
#include "default/ask/ask.h"
#include "default/cells/cells.h"
#include "default/matrix/contraction.h"
#include "default/stages/stages.h"
#include "default/rows/rows.h"
#include "default/walks/walks.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"
#include "loop/loop.h"

// ---- Kernels ------------------------------------------------------------------------------------
static bool is_contraction(const making *m, uint32_t stage) {
    const stage_group alone = default_alone(&stage);
    return default_contracts(m, &alone);
}

// As plan_joins, which finds contractions by cells that are not there yet.
static bool contraction_joins(const making *m, const stage_group *g, uint32_t stage) {
    bool is = is_contraction(m, stage), joins = true;
    for (uint32_t i = 0; i < g->len; i++)
        joins &= plan_matrix_joins(m->p, g, i, is_contraction(m, g->data[i]), stage, is);
    return joins;
}

// Two sums of rows by different maps, as those over both ends of edges. Rows of narrow features, or
// of any, are cut into so long parts that a block for each long row is as good, but for few
// entries.
static bool by_others(making *m, uint32_t one, uint32_t other) {
    const stage_group a = default_alone(&one), b = default_alone(&other);
    const tensor_val x = default_rows_map(m->p, &a), y = default_rows_map(m->p, &b);
    const bool wide = m->class->multiple > 1 && !m->class->to;
    return (wide || m->rows == ROWS_FEW) && plan_rows_has(m->rows, ROWS_ARE_BUCKETED) &&
           x != TENSOR_NO_VAL && y != TENSOR_NO_VAL && x != y &&
           plan_stage(m->p, one)->loop == TENSOR_NO_LOOP;
}

static bool walks_rows(const making *m, uint32_t stage) {
    const stage_group alone = default_alone(&stage);
    return default_rows_map(m->p, &alone) != TENSOR_NO_VAL;
}

// Some stage takes both, as a sum over both ends of edges does.
static bool are_combined(const planner *p, uint32_t one, uint32_t other) {
    bool any = false;
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        any |= !plan_inlined(p, i) && i != one && i != other && plan_reads_stage(p, i, one) &&
               plan_reads_stage(p, i, other);
    return any;
}

// Another walk than that of the kernel, or another reduction than several that share one: it takes
// nothing from them, and no stage takes both. Sums over several indices share no walk: together
// their rows would not be cut.
static bool reduces_apart(const making *m, const stage_group *g, uint32_t stage) {
    const planner *p = m->p;
    const tensor_stage *st = plan_stage(p, stage);
    bool other = false, combined = false, several = false;
    if (!walks_rows(m, g->data[0])) return false;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *in = plan_stage(p, g->data[i]);
        if (plan_reads_stage(p, stage, g->data[i])) return false;
        bool reduces = in->reducer != TENSOR_NO_REDUCER;
        other |= reduces && !plan_same_keys(p, in, st);
        several |= reduces && (in->nbound > 1 || st->nbound > 1);
        combined |= are_combined(p, g->data[i], stage);
    }
    if (several && walks_rows(m, stage)) return true;
    return other && !combined && (walks_rows(m, stage) || plan_run_end(p, g, 0) > 1);
}

// A row of any length is cut where nothing else is reduced in its kernel.
static bool is_cut_apart(making *m, const stage_group *g, const tensor_stage *st) {
    const tensor_stage *first = &m->p->op->stages.data[g->data[0]];
    if (!default_of_prepared(m, st) && !default_of_prepared(m, first)) return false;
    return first->reducer == TENSOR_NO_REDUCER || !plan_same_keys(m->p, first, st);
}

// Tensor cores have one sum in a kernel.
static bool multiplied_apart(const making *m, const stage_group *g, uint32_t stage) {
    return default_sums_outer_products(m, stage, true) ||
           default_sums_outer_products(m, g->data[0], true) ||
           (is_contraction(m, stage) && is_contraction(m, g->data[0]));
}

// A walk that begins when another of the same rows has ended: each is cut in a kernel of its own.
static bool walks_again(const making *m, const stage_group *g, uint32_t stage) {
    if (!plan_rows_has(m->rows, ROWS_ARE_BUCKETED) || !walks_rows(m, stage)) return false;
    for (uint32_t i = 0; i < g->len; i++)
        if (walks_rows(m, g->data[i]) && plan_reads_stage(m->p, stage, g->data[i])) return true;
    return false;
}

static bool cut_apart(making *m, const stage_group *g, uint32_t stage) {
    const tensor_stage *st = &m->p->op->stages.data[stage];
    if (!g->len || !m->p->machine->gpu || st->reducer == TENSOR_NO_REDUCER ||
        (!multiplied_apart(m, g, stage) && !is_cut_apart(m, g, st) &&
         !by_others(m, g->data[0], stage) && !reduces_apart(m, g, stage) &&
         !walks_again(m, g, stage)))
        return false;
    schedule_fill(m->p->arena, m->s, default_cell(SCHEDULE_SEPARATE, st));
    return true;
}

static void fill_kernels(making *m) {
    stage_group g = {0};
    for (uint32_t i = 0; i < m->p->op->stages.len; i++) {
        const tensor_id id = plan_stage(m->p, i)->id;
        bool apart = m->fused && m->fused[i];
        if (plan_inlined(m->p, i) && !apart) continue;
        if (apart && schedule_find(m->s, id, SCHEDULE_INLINE, id))
            continue;   // it goes into a walk
        if (apart || !plan_joins(m->p, &g, i) || !contraction_joins(m, &g, i) ||
            cut_apart(m, &g, i)) {
            if (g.len) default_kernel(m, &g);
            g = (stage_group){0};
        }
        if (!apart) VEC_PUSH(m->p->arena, &g, i);
    }
    if (g.len) default_kernel(m, &g);
}

// ---- Statements of all stages -------------------------------------------------------------------
// Launches take their turn for about a microsecond each: the next kernel is there when one ends,
// and rows of several classes run side by side.
static void fill_overlaps(making *m) {
    const planner *p = m->p;
    if (!gpu_has(p->machine->arch, GPU_DEPENDENT_LAUNCH)) return;
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (!plan_inlined(p, i))
            schedule_fill(p->arena, m->s, default_cell(SCHEDULE_OVERLAP, plan_stage(p, i)));
}

static void fill_approximate(making *m) {
    planner *p = m->p;
    const bool approximates = default_approximates(m->p);
    for (uint32_t i = 0; i < p->op->stages.len && approximates; i++)
        if (!plan_inlined(p, i) && plan_stage_has_exponential(p, i))
            schedule_fill(p->arena, m->s, default_cell(SCHEDULE_APPROXIMATE, plan_stage(p, i)));
}

// ---- The schedule -------------------------------------------------------------------------------
static schedule *new_schedule(arena *a, const tensor_op *op, const char *name) {
    schedule *s = ARENA_NEW(a, schedule);
    *s = (schedule){.name = name, .automatic = true, .canonical = true, .ids = op->ids};
    return s;
}

// Named, so that they are not computed where they are read.
static void name_stored(arena *a, schedule *s, const stage_ids *kept) {
    for (uint32_t i = 0; i < kept->len; i++)
        VEC_PUSH(a, &s->cells, ((schedule_cell){.verb = SCHEDULE_OVERLAP, .of = kept->data[i]}));
}

// What has kernels that several stages share by a statement; false: there is nothing such.
static bool fuse(making *m, plan_rows rows) {
    const rows_info *of = plan_rows_info(rows);
    const plan_retreat *r = m->p->facts->retreat;
    if (rows == ROWS_FUSED && !default_follow_rows(m)) return false;
    if (of->family == ROWS_FAMILY_WALK && !default_walk(m)) return false;
    m->rows = of->rest;
    if (of->traits & ROWS_ARE_FOLLOWED && m->p->machine->gpu && !(r && r->unfused))
        default_follow(m);
    const bool fused = rows == ROWS_FUSED_AT_ONCE;
    if (!m->limit.entries && !fused) return true;
    const bool follows = default_follow_rows(m);
    if (follows) m->count.kernels++, m->count.walks++;
    return follows || !fused;
}

// The op has what such versions are for, and nothing else that they would have to suppose.
static bool is_for(const making *m, rows_family family) {
    const bool walks = m->walked.len;
    switch (family) {
    case ROWS_FAMILY_PLAIN:
    case ROWS_FAMILY_WALK:
    case ROWS_FAMILY_FUSED: return true;
    case ROWS_FAMILY_ALONE: return m->count.kernels == 1 && m->count.walks == 1 && !m->unfit;
    case ROWS_FAMILY_POINTS: return m->points != TENSOR_NO_SPACE && !walks && !m->unfit;
    case ROWS_FAMILY_OUTER: return m->outer.len && (!walks || m->rows == ROWS_OUTER);
    case ROWS_FAMILY_TILES: return m->tiled != TENSOR_NO_VAL && !walks;   // rows walked are cut
    }
    return false;
}

schedule *plan_default(arena *a, diag_set *ds, const tensor_op *op, const machine *mach,
                       version_facts *facts, const plan_class *class, plan_rows rows,
                       plan_supposed *supposed) {
    const rows_info *of = plan_rows_info(rows);
    schedule *s = new_schedule(a, op, arena_printf(a, "%s%s", class->name, of->text)),
             *none = new_schedule(a, op, class->name);
    default_stored stored = {0};
    bool keeps = rows != of->like;
    planner given = plan_new(a, ds, op, none, mach, facts);
    default_hoist(&given, s);
    op = default_scalarize(&given, s);
    if (of->family == ROWS_FAMILY_WALK) {
        given = plan_new(a, ds, op, none, mach, facts);
        op = default_rfactor(&given, s);
        stored = default_kept(&given, keeps);
        if (keeps && !stored.spares) return NULL;
        name_stored(a, none, &stored.kept);
        name_stored(a, none, &stored.before);
    }
    s->op = tensor_op_copy(a, op);
    planner p = plan_new(a, ds, op, none, mach, facts);
    plan_drop_else(&p);
    plan_symmetric(&p);
    p.alone = true;
    plan_counts(&p);
    plan_rewrite(&p);
    plan_symmetric(&p);
    if (of->family != ROWS_FAMILY_WALK) plan_siblings(&p);   // a walk has them already
    p.s = s;
    default_separate(a, facts->retreat, s);
    making m = {.p = &p,
                .s = s,
                .class = class,
                .rows = of->like,
                .groups = default_groups(&p),
                .stored = stored,
                .tiled = TENSOR_NO_VAL,
                .points = TENSOR_NO_SPACE,
                .limit = {.most = of->most, .entries = of->longest}};
    default_order(&m);
    if (!fuse(&m, of->like)) return NULL;
    default_expand(&m);
    fill_kernels(&m);
    if (!is_for(&m, of->family)) return NULL;
    if (m.tiled != TENSOR_NO_VAL)
        s->name = arena_printf(a, "%s %s", s->name, op->vals.data[m.tiled].name);
    default_nones(&m);
    fill_approximate(&m);
    fill_overlaps(&m);
    default_guard_version(&m, of->like, stored.spares);
    *supposed = (plan_supposed){
        .extents = m.supposed.len != 0, .rows = m.walked.len != 0, .cut = m.limit.cut};
    return s;
}
