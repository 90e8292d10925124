// Entries of a tile in shared memory: `keep src, w shared` with a tile of the index that a
// reduction walks. Rows may be of any length, and lie in any order: a tile is of one round.
//     tile e 64;  keep src shared;  →  for e … [serial 64, serial] hold (src[e]) lanes 32 shared 1
// Without a tile, `keep … shared` is of all that a block's rows have (nests/keep.c).
#include "axes/axes.h"
#include "base/base.h"

// ---- Which --------------------------------------------------------------------------------------
typedef struct {
    planner *p;
    const tensor_stage *stage;
    tensor_val v;
    bool inside;       // the stage's own points are those of a walk
    bool tiled, any;   // some load of the value is an entry of a tile; there is one
} reading;

static bool is_var(const planner *p, tensor_expr e, tensor_var v) {
    const tensor_node *n = tensor_node_at(p->op, e);
    return n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == v;
}

static bool along_tile(const reading *r, const tensor_node *load, tensor_var v, bool bound) {
    bool at = false;
    for (uint32_t i = 0; i < load->nargs; i++) at |= plan_mentions(r->p, load->args[i], v);
    if (!at) return false;
    index_cut c = plan_cut(r->p, r->stage, v, bound);
    return c.tile > 1 && !c.matrix;
}

// What lies in the order of the block's rows is no entry of one of them.
static bool meet(void *user, const tensor_node *load) {
    reading *r = user;
    const tensor_stage *st = r->stage;
    if ((tensor_val)load->imm.i != r->v || !load->nargs) return true;
    r->any = true;
    if (r->inside && st->nleft) r->tiled |= along_tile(r, load, st->left[0], false);
    if (st->nleft && is_var(r->p, load->args[0], st->left[0])) return true;
    for (uint32_t b = 0; b < st->nbound; b++) r->tiled |= along_tile(r, load, st->bound[b], true);
    return true;
}

static const schedule_cell *kept_shared(planner *p, const tensor_stage *st, tensor_val v) {
    const schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_KEEP, p->op->vals.data[v].id);
    return c && plan_kept_place(c) == KEPT_SHARED ? c : NULL;
}

static reading reading_of(planner *p, const tensor_stage *st, tensor_val v, bool inside) {
    reading r = {.p = p, .stage = st, .v = v, .inside = inside};
    plan_loads(p, st, meet, &r);
    return r;
}

bool plan_reads_tile(planner *p, const tensor_stage *st, tensor_val v, bool inside) {
    return kept_shared(p, st, v) && reading_of(p, st, v, inside).tiled;
}

bool plan_kept_in_tiles(planner *p, const stage_group *g, tensor_val v, bool inside) {
    bool tiled = false;
    for (uint32_t i = 0; i < g->len && !tiled; i++)
        tiled = plan_reads_tile(p, &p->op->stages.data[g->data[i]], v, inside);
    return tiled;
}

// Of a kernel's stages, some have a tile of the value, and this one, of which the same is said, has
// none.
static void refuse_other(planner *p, const tensor_stage *st, tensor_val v, const schedule_cell *c,
                         const tensor_stage *tiled) {
    const char *name = p->op->vals.data[v].name;
    diagnostic *d = plan_refuse(
        p, E0541, c->at, "'%s' is kept in shared memory by tiles for '%s', and '%s' has no tile",
        name, tiled->name, st->name);
    if (!d) return;
    diag_note(d, st->at, "it reads '%s' in a loop of its own", name);
    diag_help(
        d, "say it of stages with a tile alone, `%s: keep %s shared`, or give '%s' a `tile`, too",
        tiled->name, name, st->name);
}

bool plan_check_kept_tiles(planner *p, const stage_group *g, tensor_val v, bool inside) {
    const tensor_stage *tiled = NULL;
    for (uint32_t i = 0; i < g->len && !tiled; i++)
        if (plan_reads_tile(p, &p->op->stages.data[g->data[i]], v, inside))
            tiled = &p->op->stages.data[g->data[i]];
    for (uint32_t i = 0; tiled && i < g->len && !p->failed; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        const schedule_cell *c = kept_shared(p, st, v);
        if (!c || st == tiled) continue;
        reading r = reading_of(p, st, v, inside);
        if (r.any && !r.tiled) refuse_other(p, st, v, c, tiled);
    }
    return !p->failed;
}

// ---- Rounds ahead -------------------------------------------------------------------------------
static int64_t element_bytes(const planner *p, ir_dtype type) {
    return type == DT_INDEX ? p->facts->index_bits / 8 : ir_dtype_bytes(type);
}

static uint32_t bytes_of(const planner *p, tensor_val v) {
    return (uint32_t)element_bytes(p, p->op->vals.data[v].type);
}

// Entries of it at neighbouring positions lie side by side.
static bool in_a_row(const planner *p, const loop_node *n, tensor_expr entry) {
    const tensor_node *load = tensor_node_at(p->op, entry);
    return load->nargs == 1 && is_var(p, load->args[0], n->var);
}

// How many positions a copy may take, where rounds begin at multiples of them.
static uint32_t copied_at_once(const planner *p, const loop_node *n) {
    uint32_t points = 1, most = 8;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        loop_place place = n->digits[i].place;
        if (place == LOOP_LANE_PLACE || place == LOOP_GROUP_PLACE) break;
        points *= n->digits[i].extent;
    }
    while (points % most || loop_multiple_of(p->op, n->lo) % most) most /= 2;
    return most;
}

static void copy_wide(planner *p, loop_node *n) {
    enum { WIDEST = 16 };
    uint32_t most = copied_at_once(p, n), taken = 1;
    for (uint32_t i = 0; i < n->holding.n && most > 1 && !p->facts->any_strides; i++) {
        tensor_val v = (tensor_val)tensor_node_at(p->op, n->holding.loads[i])->imm.i;
        uint32_t by = WIDEST / bytes_of(p, v) < most ? WIDEST / bytes_of(p, v) : most;
        if (!in_a_row(p, n, n->holding.loads[i]) || by < 2) continue;
        if (v < p->op->nparams) plan_copy_guards(p, v, by * bytes_of(p, v));
        if (by > taken) taken = by;
    }
    n->holding.aligned = taken;
    p->facts->together |= taken > 1;   // other arrays have a version of their own
}

// No operation copies so few bytes while the thread goes on.
static void tell_narrow(planner *p, const loop_node *n, const schedule_cell *c) {
    for (uint32_t i = 0; i < n->holding.n && c->at.hi && !p->alone; i++) {
        const tensor_val_info *v =
            &p->op->vals.data[tensor_node_at(p->op, n->holding.loads[i])->imm.i];
        uint32_t at_once = in_a_row(p, n, n->holding.loads[i]) && n->holding.aligned
                               ? n->holding.aligned
                               : 1;
        if (v->type == DT_INDEX || ir_dtype_bytes(v->type) * at_once >= 4) continue;
        diagnostic *d = diag(
            p->ds, P0503, c->at,
            "'%s', of %u bytes, is copied through registers: the thread waits for it", v->name,
            (unsigned)ir_dtype_bytes(v->type));
        if (d) diag_help(d, "leave '%s' out of what is kept", v->name);
    }
}

void plan_hold_ahead(planner *p, const index_cut *cut, loop_node *n) {
    schedule_cell *c = schedule_find(p->s, cut->stage->id, SCHEDULE_PIPELINE,
                                     p->op->vars.data[cut->var].id);
    if (!c || !n->holding.shared) return;
    int64_t buffers = schedule_number(c, NULL);
    c->consumed = true;
    if (buffers > LOOP_MAX_BUFFERS) {
        diagnostic *d = plan_refuse(p, E0543, c->at, "at most %d buffers are possible, not %lld",
                                    (int)LOOP_MAX_BUFFERS, (long long)buffers);
        if (d) diag_help(d, "two to four hide what memory takes");
        return;
    }
    n->holding.shared = (uint32_t)buffers;
    if (buffers > 1) copy_wide(p, n);
    if (buffers > 1 && !p->facts->any_strides) tell_narrow(p, n, c);
}

// ---- Room ---------------------------------------------------------------------------------------
static int64_t points_of(const loop_node *n) {   // of a thread in a round
    int64_t points = 1;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        loop_place place = n->digits[i].place;
        if (place != LOOP_LANE_PLACE && place != LOOP_GROUP_PLACE) points *= n->digits[i].extent;
    }
    return points;
}

// Of an entry of each position, in all buffers.
static int64_t entry_bytes(const planner *p, const loop_node *n) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < n->holding.n; i++) {
        const tensor_node *load = tensor_node_at(p->op, n->holding.loads[i]);
        bytes += element_bytes(p, p->op->vals.data[load->imm.i].type);
    }
    return bytes * n->holding.shared;
}

static int64_t held_bytes(const planner *p, const loop_kernel *k, const loop_body *body) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->holding.shared)
            bytes += k->threads / n->holding.lanes * points_of(n) * entry_bytes(p, n);
        bytes += held_bytes(p, k, &n->body);
    }
    return bytes;
}

static int64_t tile_bytes(const planner *p) {   // of values that live in shared memory
    int64_t bytes = 0;
    for (tensor_val v = 0; v < p->op->vals.len; v++) {
        const loop_value *w = &p->plan->values.data[v];
        int64_t own = w->home == LOOP_SHARED ? element_bytes(p, w->type) : 0;
        for (uint32_t a = 0; a < p->op->vals.data[v].rank; a++) own *= w->extent[a];
        bytes += own;
    }
    return bytes;
}

bool plan_check_held_room(planner *p, const loop_kernel *k, const loop_node *n,
                          const schedule_cell *c, const char *name) {
    int64_t bytes = held_bytes(p, k, &k->body), all = p->machine->shared_bytes - tile_bytes(p),
            rows = k->threads / n->holding.lanes, points = points_of(n);
    if (bytes <= all) return true;
    diagnostic *d = plan_refuse(
        p, E0545, c->at,
        "a block keeps %lld points of '%s' for each of %lld rows, %lld bytes of shared memory in "
        "all, and has %lld for them",
        (long long)points, name, (long long)rows, (long long)bytes, (long long)all);
    if (d) diag_help(d, "take fewer at once: `tile %s %lld`", name, (long long)(points / 2));
    return false;
}
