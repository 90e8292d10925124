// Where values live because a schedule says so: stages in registers, shared memory or memory;
// inputs copied into shared memory by a stage of their own and read through it. What belongs to the
// rows of a block has a bound: of what a map takes to a row, a precondition or condition says it,
// else the version guards what fits.
//     keep s shared   →  shared s : f32[512 from offsets.dst[first row of the block], 8]
#include "nests/nests.h"
#include "base/base.h"
#include "tensor/tensor.h"
#include "axes/axes.h"
#include "finish/finish.h"

#include <string.h>

enum {
    SHARED_PARTS = 4,     // of a block's share, so that several blocks fit a multiprocessor
    FEWEST_A_ROW = 128,   // less room than that, and a value nobody asked for goes to memory
    MOST_POINTS = 65536
};

// ---- What the schedule says ---------------------------------------------------------------------
bool plan_kept_apart(planner *p, const tensor_stage *st) {
    const schedule_cell *c = plan_kept_cell(p, st, st->targets[0].val);
    return c && plan_kept_place(c) != KEPT_REGISTERS && schedule_means(c->about, st->id);
}

static schedule_cell *input_cell(const planner *p, const stage_group *g, tensor_val v) {
    tensor_role role = p->op->vals.data[v].role;
    if (role != VAL_MAP && role != VAL_TENSOR) return NULL;
    for (uint32_t i = 0; i < g->len; i++) {
        schedule_cell *c = schedule_find(p->s, p->op->stages.data[g->data[i]].id, SCHEDULE_KEEP,
                                         p->op->vals.data[v].id);
        if (c && plan_read_by(p, g->data[i], v)) return c;
    }
    return NULL;
}

static bool stays(const planner *p, const stage_group *g, tensor_val v) {
    bool any = false;
    for (uint32_t i = 0; i < g->len; i++) any |= plan_stays(p, plan_stage(p, g->data[i]), v);
    return any;
}

bool plan_keeps_shared(planner *p, const stage_group *g, bool walk) {
    bool shared = false;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        for (uint32_t t = 0; t < st->ntargets; t++)
            shared |= plan_kept(p, st, st->targets[t].val) == KEPT_SHARED;
    }
    for (tensor_val v = 0; v < p->op->nparams; v++) {
        schedule_cell *c = input_cell(p, g, v);
        if (!c) continue;
        // axes/held.c takes what lies in registers or has tiles, finish/fetch.c what is fetched,
        // axes/tile_chains.c what stays
        if (plan_kept_place(c) == KEPT_REGISTERS || plan_fetches(p, g) || stays(p, g, v) ||
            plan_kept_in_tiles(p, g, v, walk))
            continue;
        shared |= plan_take_kept(p, c) == KEPT_SHARED;
    }
    return shared;
}

// ---- Registers ----------------------------------------------------------------------------------
static const tensor_stage *reader_outside(const planner *p, const stage_group *g, tensor_val v) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        bool here = plan_inlined(p, i);
        for (uint32_t k = 0; k < g->len; k++) here |= g->data[k] == i;
        if (!here && plan_read_by(p, i, v)) return &p->op->stages.data[i];
    }
    return NULL;
}

static void not_there(planner *p, const tensor_stage *st, tensor_val v, const stage_group *g,
                      const char *place) {
    const tensor_stage *reader = reader_outside(p, g, v);
    diagnostic *d = plan_refuse(p, E0551, plan_kept_cell(p, st, v)->at, "'%s' cannot be kept in %s",
                                p->op->vals.data[v].name, place);
    if (!d) return;
    if (reader)
        diag_note(d, reader->at, "'%s' reads it where the thread or block that computed it is not",
                  reader->name);
    else diag_note(d, st->at, "it is a result, or nothing of its kernel reads it");
    if (reader)
        diag_help(d, "fuse '%s' with '%s', with the same loops for registers, or keep it global",
                  reader->name, st->name);
    else diag_help(d, "leave the statement out");
}

void plan_check_kept(planner *p, const stage_group *g) {
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        for (uint32_t t = 0; t < st->ntargets; t++) {
            tensor_val v = st->targets[t].val;
            bool stage = p->op->vals.data[v].role == VAL_STAGE && st->loop == TENSOR_NO_LOOP;
            if (plan_kept(p, st, v) == KEPT_REGISTERS && (!stage || plan_read_outside(p, g, v)))
                not_there(p, st, v, g, "registers");
        }
    }
}

// ---- Homes --------------------------------------------------------------------------------------
typedef struct {
    const tensor_stage *stage;
    const tensor_target *target;
    tensor_val of;
    bool edges, must;
    int64_t bytes;   // of what belongs to one row or edge
} kept_value;
typedef struct {
    fusion *f;
    VEC(kept_value) values;
    int64_t a_row, an_edge;   // bytes
} keeping;

static uint32_t own_axis(const fusion *f, const kept_value *x) {
    for (uint32_t a = 0; a < x->target->rank; a++) {
        const tensor_node *n = tensor_node_at(f->p->op, x->target->index[a]);
        if (n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == x->stage->left[0]) return a;
    }
    return UINT32_MAX;
}

// As it lies in shared memory: an input's tile as the input does.
static ir_dtype held_type(const fusion *f, const kept_value *x) {
    return f->p->op->vals.data[x->of == TENSOR_NO_VAL ? x->target->val : x->of].type;
}

static const plan_owned *owned_axis(const fusion *f, const kept_value *x, uint32_t a) {
    const tensor_node *n = tensor_node_at(f->p->op, x->target->index[a]);
    return n->op == TENSOR_VAR_OP ? plan_owned_index(&f->owned, (tensor_var)n->imm.i) : NULL;
}

// 0: an axis is not of constant extent.
static int64_t bytes_of(const fusion *f, const kept_value *x, const char **open) {
    const tensor_val_info *v = &f->p->op->vals.data[x->target->val];
    ir_dtype type = held_type(f, x);
    int64_t bytes = type == DT_INDEX ? f->p->facts->index_bits / 8 : ir_dtype_bytes(type);
    uint32_t own = own_axis(f, x);
    for (uint32_t a = 0; a < v->rank; a++) {
        const tensor_space_info *s = &f->p->op->spaces.data[v->axes[a]];
        const plan_owned *o = owned_axis(f, x, a);
        if (o) bytes *= o->points;
        if (a == own || o) continue;
        *open = s->name;
        if (s->kind != SPACE_CONST || own == UINT32_MAX || s->size > MOST_POINTS) return 0;
        bytes *= plan_padded_extent(f->p, x->stage, x->target->index[a], s->size);
        if (bytes > f->p->machine->shared_bytes) return 0;
    }
    return bytes;
}

static void refuse_shared(fusion *f, const kept_value *x, const char *open) {
    const tensor_val v = x->of == TENSOR_NO_VAL ? x->target->val : x->of;
    const schedule_cell *c = x->of == TENSOR_NO_VAL ? plan_kept_cell(f->p, x->stage, v)
                                                    : input_cell(f->p, &f->stages, v);
    const char *name = f->p->op->vals.data[v].name;
    diagnostic *d = NULL;
    if (open) {
        d = plan_refuse(f->p, E0544, c->at,
                        "the extent of '%s' is not known, so nothing bounds '%s' in shared memory",
                        open, name);
        if (d) diag_help(d, "give the size, -D %s=8, or keep it global", open);
    } else if (f->apart) {
        d = plan_refuse(
            f->p, E0544, c->at,
            "'%s' is not contiguous: rows are visited in another order, or by classes, so a block's lie anywhere",
            name);
        if (d)
            diag_help(
                d,
                "keep '%s' global, or order rows without classes and give a block one: `block … 1`",
                name);
    } else {
        d = plan_refuse(
            f->p, E0544, c->at,
            "'%s' is not contiguous or not bounded: what belongs to a block's rows is one range where the map is a sorted parameter",
            name);
        if (d) diag_help(d, "declare the map sorted, or keep '%s' global", name);
    }
}

// Edges of a block lie next to each other where their map is sorted; how many a row has is known of
// parameters.
static bool bounded(const fusion *f) { return f->map.sorted && f->map.map < f->p->op->nparams; }

static void add_shared(keeping *k, kept_value x) {
    const char *open = NULL;
    x.bytes = bytes_of(k->f, &x, &open);
    bool range = !k->f->apart && (!x.edges || bounded(k->f));
    if (range && x.bytes) {
        VEC_PUSH(k->f->p->arena, &k->values, x);
        *(x.edges ? &k->an_edge : &k->a_row) += x.bytes;
    } else if (x.must) refuse_shared(k->f, &x, range ? open : NULL);
}

static void choose(keeping *k, const plan_phase *ph, const tensor_stage *st,
                   const tensor_target *t) {
    fusion *f = k->f;
    planner *p = f->p;
    loop_value *w = &p->plan->values.data[t->val];
    bool edges = plan_follower(f, (uint32_t)(st - p->op->stages.data));
    kept_value x = {.stage = st, .target = t, .of = w->of, .edges = edges, .must = true};
    if (w->of != TENSOR_NO_VAL) {
        add_shared(k, x);
        return;
    }
    kept_place said = plan_kept(p, st, t->val);
    bool stage = p->op->vals.data[t->val].role == VAL_STAGE,
         crosses = plan_read_outside(p, &ph->group, t->val),
         local = stage && !plan_read_outside(p, &f->stages, t->val);
    if (said == KEPT_REGISTERS && (!stage || crosses))
        not_there(p, st, t->val, &ph->group, "registers");
    if (said == KEPT_SHARED && !crosses && !plan_kept_apart(p, st)) said = KEPT_ANYWHERE;
    if (said == KEPT_SHARED && (!local || !crosses))
        not_there(p, st, t->val, &f->stages, "shared memory");
    x.must = said == KEPT_SHARED;
    if (local && crosses && said != KEPT_GLOBAL && p->machine->gpu) add_shared(k, x);
}

static int64_t capacity_of(const keeping *k, bool *guarded) {
    const fusion *f = k->f;
    int64_t most = f->mapped && bounded(f) ? plan_largest_row(f->p, f->map.map) : 0,
            all = f->p->machine->shared_bytes, rows = k->a_row * f->points;
    *guarded = false;
    if (!k->an_edge) return 0;
    if (most && most <= MOST_POINTS && most * f->points * k->an_edge + rows <= all)
        return most * f->points;
    *guarded = true;
    int64_t fits = (all / SHARED_PARTS - rows) / k->an_edge;
    return fits > MOST_POINTS ? MOST_POINTS : fits < 0 ? 0 : fits / 32 * 32;
}

static bool must_keep_points(const keeping *k) {
    bool must = false;
    for (uint32_t i = 0; i < k->values.len; i++)
        must |= k->values.data[i].must && k->values.data[i].edges;
    return must;
}

// A statement keeps points of rows that may, as is declared, be longer than a block has memory for.
static bool refuse_bound(const keeping *k) {
    const fusion *f = k->f;
    int64_t most = f->mapped ? plan_largest_row(f->p, f->map.map) : 0, rows = k->a_row * f->points,
            all = f->p->machine->shared_bytes, fits = (all - rows) / (k->an_edge * f->points);
    if (most <= fits || !must_keep_points(k)) return false;
    const char *map = f->p->op->vals.data[f->map.map].name;
    diagnostic *d = plan_refuse(f->p, E0545, f->at,
                                "a block of %lld rows, of up to %lld points each, keeps %lld bytes "
                                "for each point in shared memory, and has %lld",
                                (long long)f->points, (long long)most, (long long)k->an_edge,
                                (long long)all);
    if (d)
        diag_help(d,
                  "give a block fewer rows, or let the schedule be for shorter ones: "
                  "`when (max(%s) <= %lld)`",
                  map, (long long)fits);
    return true;
}

static void guard_capacity(fusion *f, int64_t capacity) {
    size_expr e = {0};
    const size_token t[] = {{SZ_MAX_PREIMAGE, f->map.map, 0},
                            {SZ_CONST, f->points, 0},
                            {SZ_MUL, 0, 0},
                            {SZ_CONST, capacity, 0},
                            {SZ_LE, 0, 0}};
    for (uint32_t i = 0; i < sizeof t / sizeof *t; i++) VEC_PUSH(f->p->arena, &e, t[i]);
    plan_holds(f->p, e,
               arena_printf(f->p->arena, "max(%s) * %lld <= %lld",
                            f->p->op->vals.data[f->map.map].name, (long long)f->points,
                            (long long)capacity));
}

// What nobody asked for goes to memory where it would not leave a row much room.
static void drop_optional(keeping *k, bool edges) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->values.len; i++) {
        const kept_value x = k->values.data[i];
        if (x.must || x.edges != edges) k->values.data[n++] = x;
        else *(edges ? &k->an_edge : &k->a_row) -= x.bytes;
    }
    k->values.len = n;
}

static void give_home(const keeping *k, const kept_value *x, int64_t capacity) {
    fusion *f = k->f;
    tensor_op *op = f->p->op;
    loop_value w = {.home = LOOP_SHARED, .type = held_type(f, x), .of = x->of};
    uint32_t own = own_axis(f, x), rank = op->vals.data[x->target->val].rank;
    for (uint32_t a = 0; a < rank; a++) {
        int64_t size = op->spaces.data[op->vals.data[x->target->val].axes[a]].size;
        w.extent[a] = (uint32_t)plan_padded_extent(f->p, x->stage, x->target->index[a], size);
        const plan_owned *o = owned_axis(f, x, a);
        if (o)
            w.extent[a] = (uint32_t)o->points,
            w.origin[a] = tensor_index(op, o->space, o->lo, NO_SPAN);
        if (a != own) continue;
        w.extent[a] = (uint32_t)(x->edges ? capacity : f->points);
        w.origin[a] = x->edges ? plan_offset_at(f->p, plan_offsets(f->p, &f->map), f->lo, 0)
                               : tensor_index(op, f->rows, f->lo, NO_SPAN);
    }
    f->p->plan->values.data[x->target->val] = w;
}

void plan_keep_values(fusion *f) {
    keeping k = {.f = f};
    bool guarded;
    for (uint32_t i = 0; i < f->phases.len; i++)
        for (uint32_t s = 0; s < f->phases.data[i].group.len; s++) {
            const tensor_stage *st = &f->p->op->stages.data[f->phases.data[i].group.data[s]];
            for (uint32_t t = 0; t < st->ntargets; t++)
                choose(&k, &f->phases.data[i], st, &st->targets[t]);
        }
    if (k.a_row * f->points > f->p->machine->shared_bytes / SHARED_PARTS) drop_optional(&k, false);
    int64_t capacity = capacity_of(&k, &guarded);
    if (k.an_edge && guarded && capacity < FEWEST_A_ROW * f->points) {
        drop_optional(&k, true);
        capacity = capacity_of(&k, &guarded);
    }
    int64_t bytes = k.a_row * f->points + k.an_edge * capacity;
    if (bytes > f->p->machine->shared_bytes || (k.an_edge && !capacity)) {
        const char *points = f->mapped
                                 ? arena_printf(f->p->arena, " and %lld for each point of '%s'",
                                                (long long)k.an_edge,
                                                f->p->op->spaces.data[f->map.domain].name)
                                 : "";
        diagnostic *d = plan_refuse(
            f->p, E0545, f->at,
            "a block of %lld rows keeps %lld bytes a row%s in shared memory, and has %u, as every GPU from sm_80 on",
            (long long)f->points, (long long)k.a_row, points, f->p->machine->shared_bytes);
        if (d) diag_help(d, "keep less, or give a block fewer rows");
        return;
    }
    if (k.an_edge && guarded && refuse_bound(&k)) return;
    if (k.an_edge && guarded) guard_capacity(f, capacity);
    for (uint32_t i = 0; i < k.values.len; i++) give_home(&k, &k.values.data[i], capacity);
}

// ---- Inputs -------------------------------------------------------------------------------------
// A stage that copies what the block needs of an input, in each round where it is used in one.
static tensor_stage copy_of(planner *p, tensor_val v, uint32_t loop) {
    const tensor_val_info i = p->op->vals.data[v];
    tensor_val_info info = {.name = arena_printf(p->arena, "%s.tile", i.name),
                            .role = VAL_STAGE,
                            .type = tensor_type_of_storage(i.type, i.into).type,
                            .into = i.into,
                            .sorted_by = TENSOR_NO_VAL,
                            .inplace = TENSOR_NO_VAL,
                            .rank = i.rank,
                            .axes = i.axes};
    tensor_target *t = ARENA_NEW(p->arena, tensor_target);
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, i.rank);
    tensor_expr *index = ARENA_ARRAY(p->arena, tensor_expr, i.rank),
                *body = ARENA_NEW(p->arena, tensor_expr);
    for (uint32_t a = 0; a < i.rank; a++) {
        left[a] = tensor_add_var(p->op, arena_printf(p->arena, "%s.%u", info.name, a), i.axes[a]);
        index[a] = tensor_var_expr(p->op, left[a], NO_SPAN);
    }
    *body = tensor_load(p->op, v, index, i.rank, NO_SPAN);
    *t = (tensor_target){loop_add_val(p->plan, info, (loop_value){.home = LOOP_MEMORY, .of = v}),
                         i.rank, index};
    return (tensor_stage){.name = info.name,
                          .ntargets = 1,
                          .targets = t,
                          .nleft = i.rank,
                          .left = left,
                          .reducer = TENSOR_NO_REDUCER,
                          .nbody = 1,
                          .body = body,
                          .loop = loop,
                          .at = p->op->at};
}

typedef struct {
    fusion *f;
    const tensor_stage *reader;
    tensor_val v;
    bool edges;
} reading;

static bool within(void *user, const tensor_node *load) {
    const reading *r = user;
    return (tensor_val)load->imm.i != r->v ||
           plan_fusion_owns(r->f, r->reader, r->edges, load->args[0]);
}

// Once a tile is filled it serves every read of its input, so all must lie within the block's part.
static bool reads_within(fusion *f, tensor_val v, bool edges, const schedule_cell *c) {
    for (uint32_t i = 0; i < f->stages.len; i++) {
        reading r = {f, &f->p->op->stages.data[f->stages.data[i]], v, edges};
        if (plan_loads(f->p, r.reader, within, &r)) continue;
        diagnostic *d = plan_refuse(f->p, E0550, c->at,
                                    "'%s' reads '%s' beyond what a block keeps of it",
                                    r.reader->name, f->p->op->vals.data[v].name);
        if (!d) return false;
        diag_note(d, r.reader->at,
                  "a tile holds the rows of a block, or the points that loops visit from there");
        diag_help(d, "leave '%s' in memory", f->p->op->vals.data[v].name);
        return false;
    }
    return true;
}

static void add_input(fusion *f, tensor_val v, const schedule_cell *c) {
    planner *p = f->p;
    const tensor_val_info i = p->op->vals.data[v];
    bool rows = i.rank && i.axes[0] == f->rows,
         edges = i.rank && !rows && plan_fusion_map(f, i.axes[0]);
    if (f->apart && (rows || edges)) {
        diagnostic *d = plan_refuse(
            p, E0544, c->at, "'%s' has no tile: the rows of a block lie anywhere in their order",
            i.name);
        if (d)
            diag_help(
                d,
                "leave it in memory, or order rows without classes and give a block one: `block … 1`");
        return;
    }
    if (!rows && !edges) {
        diagnostic *d = plan_refuse(
            p, E0544, c->at,
            "'%s' is not of the rows of a block nor of what belongs to them, so nothing bounds its tile",
            i.name);
        if (d) diag_help(d, "keep maps and tensors of the loop's points, such as weights");
        return;
    }
    if (!reads_within(f, v, edges, c)) return;
    uint32_t at = f->stages.data[0];
    plan_insert_stage(p, &f->stages, at, copy_of(p, v, p->op->stages.data[at].loop));
    VEC_PUSH(p->arena, &f->stages, at);
    for (uint32_t k = f->stages.len - 1; k > 0; k--) f->stages.data[k] = f->stages.data[k - 1];
    f->stages.data[0] = at;
}

void plan_keep_inputs(fusion *f) {
    for (tensor_val v = f->p->op->nparams; v-- > 0;) {   // each comes first
        schedule_cell *c = input_cell(f->p, &f->stages, v);
        if (!c || plan_kept_place(c) == KEPT_REGISTERS) continue;
        if (plan_kept_in_tiles(f->p, &f->stages, v, false)) {
            if (!plan_check_kept_tiles(f->p, &f->stages, v, false)) return;
        } else if (plan_take_kept(f->p, c) == KEPT_SHARED) add_input(f, v, c);
    }
}
