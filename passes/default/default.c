// The schedule an op gets when nobody gave it one: cells from the shapes of its stages
// (default/stage.c) and a few facts: which stages share a kernel, and whether rows are long, few or
// many. Extents not known when compiling are met by a version a class of extents.
#include "default/across.h"
#include "default/default.h"
#include "default/contraction.h"
#include "default/row_classes.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"
#include "loop/loop.h"

enum {
    // of a row that a warp has: with more an assembler would spill to leave room for others
    ROOMY = 8,
    SMALL_ROW = 64,   // bytes of one that four lanes read
    LIGHT_WALK = 2,   // reductions of a walk that is worth a version for few rows
    ROW_GROUPS = 4    // that share each of a few rows
};

int64_t default_groups(const planner *p) { return p->machine->block_threads / p->machine->lanes; }

// That share a long row: twice as many, where a block may have so many threads.
int64_t default_heavy_groups(const planner *p) {
    int64_t most = p->machine->max_threads / p->machine->lanes, twice = 2 * default_groups(p);
    return twice < most ? twice : most;
}

// Rows of warps leave room for others. Entries of 32 to 64 bytes that stream are loaded before the
// first is used only where the assembler is told how many registers it may take for them.
static void fill_row_room(making *m, const stage_group *g) {
    bool warps = m->rows == ROWS_FEWER,
         stream = m->rows == ROWS_SKEWED && m->hand.streams && !m->hand.narrow;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &m->p->op->stages.data[g->data[i]];
        int64_t bytes = default_row_bytes(m, st);
        bool told = warps || (stream && bytes && bytes <= SMALL_ROW);
        if (told && default_held(m, st) <= ROOMY)
            default_room(m, st, warps ? DEFAULT_ROOM : DEFAULT_STREAM_ROOM);
    }
}

void default_kernel(making *m, const stage_group *g) {
    if (default_retreats(m, g)) return;
    default_extremes(m, g);
    if (m->rows >= ROWS_TILED && !default_contracts(m, g) &&
        default_tile(m, g, m->rows - ROWS_TILED)) {
        default_nones(m);
        return;
    }
    if (default_is_outer(m->rows) && default_outer(m, g)) return;
    tensor_val map = m->p->machine->gpu ? default_rows_map(m->p, g) : TENSOR_NO_VAL;
    bool known = map == TENSOR_NO_VAL;
    for (uint32_t i = 0; i < m->walked.len; i++) known |= m->walked.data[i] == map;
    if (!known) VEC_PUSH(m->p->arena, &m->walked, map);
    bool brief = m->rows == ROWS_BRIEF,
         skewed = (m->rows == ROWS_SKEWED || m->rows == ROWS_FEW || brief) && map != TENSOR_NO_VAL;
    bool thin = m->rows == ROWS_THIN, fewer = m->rows == ROWS_FEWER, cut = skewed || thin || fewer;
    if (skewed && !default_cuts(m->p, g)) {
        m->unfit |= brief;
        default_long_rows(m, g, map);
        return;
    }
    m->hand.sums = default_cuts(m->p, g);
    m->count.kernels++;
    m->count.walks += m->hand.sums && map != TENSOR_NO_VAL &&
                      plan_run_end(m->p, g, 0) <= LIGHT_WALK;
    m->hand.streams = cut && default_streams(m, g);
    m->hand.narrow = m->hand.streams && default_narrow(m, g);
    m->hand.sorted = skewed && !(m->hand.narrow && m->rows == ROWS_FEW);
    m->unfit |= (thin && (!m->hand.sums || m->hand.streams)) ||
                (fewer && (!m->hand.sums || !m->hand.streams || m->hand.narrow)) ||
                (brief && (!m->hand.sums || !m->hand.narrow));
    if (m->unfit) return;
    if (m->rows == ROWS_ALL_AT_ONCE) m->owner = ROW_OF_BLOCK, m->owners = ROW_GROUPS;
    if (fewer || m->rows == ROWS_GROUP_AT_ONCE) m->owner = ROW_OF_WARP;
    default_stages(m, g);
    m->unfit |= m->limit.entries && !default_short(m, g);
    m->unfit |= m->rows == ROWS_GROUP_AT_ONCE && !default_at_once(m, g, map);
    fill_row_room(m, g);
    m->owner = ROW_OF_LANES;
    m->owners = 0;
    m->hand.sorted = false;
    if (cut) default_cut(m, g, map);
    m->hand.sums = m->hand.streams = m->hand.narrow = false;
}

const plan_class *plan_class_at(const machine *m, uint32_t i) {
    static const plan_class gpu[] = {{"default wide", 128, 8, 64, 0},
                                     {"default narrow", 32, 8, 0, 64},
                                     {"default", 8, 1, 0, 0}},
                            host[] = {{"default wide", 64, 1, 8, 0},
                                      {"default single", 1, 1, 0, 1},
                                      {"default", 8, 1, 0, 0}};
    if (m->gpu) return i < sizeof gpu / sizeof *gpu ? &gpu[i] : NULL;
    return i < sizeof host / sizeof *host ? &host[i] : NULL;
}

static bool is_contraction(const making *m, uint32_t stage) {
    stage_group alone = {0};
    VEC_PUSH(m->p->arena, &alone, stage);
    return default_contracts(m, &alone);
}

// As plan_joins, which finds contractions by cells that are not there yet.
static bool contraction_joins(const making *m, const stage_group *g, uint32_t stage) {
    bool is = is_contraction(m, stage), joins = true;
    for (uint32_t i = 0; i < g->len; i++)
        joins &= plan_matrix_joins(is_contraction(m, g->data[i]), &m->p->op->stages.data[stage],
                                   is);
    return joins;
}

static void fill_kernels(making *m) {
    stage_group g = {0};
    for (uint32_t i = 0; i < m->p->op->stages.len; i++) {
        const tensor_id id = plan_stage(m->p, i)->id;
        bool apart = m->fused && m->fused[i];
        if (plan_inlined(m->p, i) && !apart) continue;
        if (apart && schedule_find(m->s, id, SCHEDULE_INLINE, id))
            continue;   // it goes into a walk
        if (apart || !plan_joins(m->p, &g, i) || !contraction_joins(m, &g, i)) {
            if (g.len) default_kernel(m, &g);
            g = (stage_group){0};
        }
        if (!apart) VEC_PUSH(m->p->arena, &g, i);
    }
    if (g.len) default_kernel(m, &g);
}

// Launches take their turn for about a microsecond each: the next kernel is there when one ends,
// and rows of several classes run side by side.
static void fill_overlaps(making *m) {
    const planner *p = m->p;
    if (!gpu_has(p->machine->arch, GPU_DEPENDENT_LAUNCH)) return;
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (!plan_inlined(p, i))
            schedule_fill(p->arena, m->s, default_cell(SCHEDULE_OVERLAP, plan_stage(p, i)));
}

// ---- Exponentials -------------------------------------------------------------------------------
typedef struct {
    const planner *p;
    const plan_having *has;   // per expression
    uint8_t *seen;            // likewise, a bit each where it is a factor, and where not
} weighing;

static bool all_have(const weighing *w, const tensor_node *n) {
    bool all = true;
    for (uint32_t i = 0; i < n->nargs && all; i++) all = w->has[n->args[i]] == PLAN_HAS;
    return all;
}

// Of differences, as the weights of a softmax are, and factors of all that is summed or stored:
// 2^-18 of one is far below what 16 bits hold. What has none and is added may leave as little as
// that.
static bool are_weights(const weighing *w, tensor_expr e, bool factor) {
    const tensor_node *n = tensor_node_at(w->p->op, e);
    if (w->has[e] != PLAN_HAS || w->seen[e] & 1 << factor) return true;
    w->seen[e] |= (uint8_t)(1 << factor);
    bool weight = factor && n->op == TENSOR_EXP_OP &&
                  tensor_node_at(w->p->op, n->args[0])->op == TENSOR_SUB_OP,
         are = n->op != TENSOR_EXP_OP || weight,
         terms = (n->op == TENSOR_ADD_OP || n->op == TENSOR_SUB_OP) && all_have(w, n);
    factor &= terms || n->op == TENSOR_MUL_OP || n->op == TENSOR_DIV_OP ||
              n->op == TENSOR_SELECT_OP || n->op == TENSOR_CVT_OP;
    for (uint32_t i = 0; i < n->nargs && are; i++) are = are_weights(w, n->args[i], factor);
    return are;
}

static bool stage_has_weights(planner *p, uint32_t stage) {
    bool weights = true;
    for (uint32_t i = 0; i < p->op->stages.data[stage].nbody && weights; i++) {
        tensor_expr e = plan_inline_loads(p, p->op->stages.data[stage].body[i]);
        const weighing w = {p, plan_exponentials(p, e),
                            ARENA_ARRAY(p->arena, uint8_t, p->op->exprs.len + 1)};
        weights = are_weights(&w, e, true);
    }
    return weights;
}

static bool has_narrow_results(const planner *p) {
    bool narrow = true;
    for (tensor_val v = 0; v < p->op->nparams; v++) {
        const tensor_val_info *i = &p->op->vals.data[v];
        bool kept = i->facts & FACT_SAVED;
        if (i->role == VAL_RESULT && !kept) narrow &= ir_dtype_is_narrow(i->type);
    }
    return narrow;
}

bool default_approximates(const making *m) {
    bool weights = m->p->machine->gpu && has_narrow_results(m->p);
    for (uint32_t i = 0; i < m->p->op->stages.len && weights; i++)
        weights = plan_inlined(m->p, i) || stage_has_weights(m->p, i);
    return weights;
}

static void fill_approximate(making *m) {
    planner *p = m->p;
    const bool approximates = default_approximates(m);
    for (uint32_t i = 0; i < p->op->stages.len && approximates; i++)
        if (!plan_inlined(p, i) && plan_stage_has_exponential(p, i))
            schedule_fill(p->arena, m->s, default_cell(SCHEDULE_APPROXIMATE, plan_stage(p, i)));
}

const char *default_rows_text(plan_rows rows) {
    // clang-format off
    static const char *const suffix[] = {
        "",         " skewed", " few",   " walked", " walked few", " walked some", " walked thin", " walked fewer", " walked windows", " walked long windows", " walked even", " walked short", " walked at once",
        " walked kept", " walked few kept", " walked thin kept", " walked fewer kept", " walked short kept", " walked even kept", " fused", " all at once", " fused all at once", " shortest",
        " short",   " thin",   " fewer", " brief", " group at once", " few points",        " some points",
        " many points", " outer few", " outer many", " outer", " tiled by"};
    // clang-format on
    return suffix[rows < ROWS_TILED ? rows : ROWS_TILED];
}

// As rows are dealt out, whatever is kept.
static plan_rows without_kept(plan_rows rows) {
    return rows == ROWS_WALKED_KEPT         ? ROWS_WALKED
           : rows == ROWS_WALKED_FEW_KEPT   ? ROWS_WALKED_FEW
           : rows == ROWS_WALKED_THIN_KEPT  ? ROWS_WALKED_THIN
           : rows == ROWS_WALKED_FEWER_KEPT ? ROWS_WALKED_FEWER
           : rows == ROWS_WALKED_SHORT_KEPT ? ROWS_WALKED_SHORT
           : rows == ROWS_WALKED_EVEN_KEPT  ? ROWS_WALKED_EVEN
                                            : rows;
}

static bool is_walked(plan_rows rows) { return rows >= ROWS_WALKED && rows <= ROWS_WALKED_AT_ONCE; }

static bool is_walked_few(plan_rows rows) {
    return rows >= ROWS_WALKED_FEW && rows <= ROWS_WALKED_FEWER;
}

// How other kernels of such a version deal out their rows.
static plan_rows rest_of_walked(plan_rows rows) {
    return rows == ROWS_WALKED ? ROWS_SKEWED : is_walked_few(rows) ? ROWS_FEW : ROWS_EVEN;
}

// What the version supposes of rows, once they are dealt out.
static void guard_rows(making *m, plan_rows rows, bool spares) {
    default_guards(m);
    if (rows == ROWS_WALKED_AT_ONCE) default_guard_blocks(m);
    if (rows == ROWS_WALKED_EVEN) default_guard_even(m);
    if (rows == ROWS_WALKED_SHORT) default_guard_short(m);
    if (is_walked_few(rows)) default_guard_parts(m, m->limit.part);
    if (rows == ROWS_WALKED_FEW || rows == ROWS_WALKED_SOME)
        default_guard_uneven(m,
                             m->limit.part);   // so they are where they have few entries on average
    if (rows == ROWS_WALKED_THIN) default_guard_thin(m);
    if (default_is_windows(rows)) default_guard_windows(m);
    if (spares) default_guard_kept(m);
    if (m->tiled != TENSOR_NO_VAL) default_guard_tiled(m);
}

schedule *plan_default(arena *a, diag_set *ds, const tensor_op *op, const machine *mach,
                       version_facts *facts, const plan_class *class, plan_rows rows,
                       plan_supposed *supposed) {
    schedule *s = ARENA_NEW(a, schedule), *none = ARENA_NEW(a, schedule);
    *s = (schedule){.name = arena_printf(a, "%s%s", class->name, default_rows_text(rows)),
                    .automatic = true,
                    .names_apart = true,
                    .ids = op->ids};
    *none = (schedule){.name = class->name, .automatic = true, .names_apart = true, .ids = op->ids};
    stage_ids kept = {0};
    bool keeps = rows != without_kept(rows), spares = false;
    rows = without_kept(rows);
    if (is_walked(rows)) {
        planner given = plan_new(a, ds, op, none, mach, facts);
        op = default_rfactor(&given, s);
        kept = default_kept(&given, keeps ? &spares : NULL);
        if (keeps && !spares) return NULL;
        // named, so that they are not computed where they are read
        for (uint32_t i = 0; i < kept.len; i++)
            VEC_PUSH(a, &none->cells,
                     ((schedule_cell){.verb = SCHEDULE_OVERLAP, .of = kept.data[i]}));
    }
    s->op = tensor_op_copy(a, op);
    planner p = plan_new(a, ds, op, none, mach, facts);
    plan_drop_else(&p);
    p.alone = true;
    plan_counts(&p);
    plan_rewrite(&p);
    p.s = s;
    default_apart(a, facts->retreat, s);
    making m = {.p = &p,
                .s = s,
                .class = class,
                .rows = rows,
                .groups = default_groups(&p),
                .stored.kept = kept,
                .stored.spares = spares,
                .tiled = TENSOR_NO_VAL,
                .points = TENSOR_NO_SPACE,
                .limit.most = rows == ROWS_WALKED_FEWER           ? DEFAULT_WALKED_FEWER
                              : rows == ROWS_WALKED_FEW && !keeps ? DEFAULT_WALKED_FEW
                              : rows == ROWS_FEWER                ? DEFAULT_FEWER
                                                                  : DEFAULT_FEW};
    default_order(&m);
    if (rows == ROWS_SHORTEST) m.limit.entries = DEFAULT_SHORTEST;
    if (rows == ROWS_SHORT) m.limit.entries = DEFAULT_SHORT;
    if (rows == ROWS_FUSED && !default_fuse(&m)) return NULL;
    if (is_walked(rows) && !default_walk(&m)) return NULL;
    if (is_walked(rows)) m.rows = rest_of_walked(rows);
    const bool follows = (rows == ROWS_SKEWED || rows == ROWS_FEW) && mach->gpu &&
                         !(facts->retreat && facts->retreat->unfused);
    if (follows) default_follow(&m);
    bool fused = rows == ROWS_FUSED_AT_ONCE;
    if ((m.limit.entries || fused) && default_follow_rows(&m)) m.count.kernels++, m.count.walks++;
    else if (fused) return NULL;
    fill_kernels(&m);
    bool points = rows >= ROWS_FEW_POINTS && rows <= ROWS_MANY_POINTS;
    if (rows >= ROWS_ALL_AT_ONCE && rows < ROWS_FEW_POINTS &&
        (m.count.kernels != 1 || m.count.walks != 1 || m.unfit))
        return NULL;
    if (default_is_outer(rows) && (!m.outer.len || m.walked.len)) return NULL;
    if (points && (m.points == TENSOR_NO_SPACE || m.walked.len || m.unfit)) return NULL;
    if (rows >= ROWS_TILED && (m.tiled == TENSOR_NO_VAL || m.walked.len))
        return NULL;   // long rows are cut, where they are walked
    if (m.tiled != TENSOR_NO_VAL)
        s->name = arena_printf(a, "%s %s", s->name, op->vals.data[m.tiled].name);
    default_nones(&m);
    fill_approximate(&m);
    fill_overlaps(&m);
    guard_rows(&m, rows, spares);
    *supposed = (plan_supposed){
        .extents = m.supposed.len != 0, .rows = m.walked.len != 0, .cut = m.limit.cut};
    return s;
}
