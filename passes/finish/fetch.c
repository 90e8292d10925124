// Rows of inputs that a block copies into shared memory, round by round of a loop, some rounds
// ahead of the one it is at; along what a matrix operation sums, tiles of its factors, as CUTLASS's
// main loop has them.
//     keep x shared … pipeline e 3     →  for e … [lane 8 unit 4, register 2, serial 8, whole] fetch 3 x[e]
//     pitch 96 keep x, w shared … pipeline k 3  →  for k … [register 8, lane 4, serial]
//                                           fetch 3 x[e, k] beside e pitch 32, w[k, q] beside q pitch 72
#include "finish/finish.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"
#include "axes/axes.h"

#include <string.h>

static schedule_cell *cell_of(const planner *p, const tensor_stage *st, tensor_var *v) {
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++) {
        *v = i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
        schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_PIPELINE, p->op->vars.data[*v].id);
        if (c) return c;
    }
    return NULL;
}

bool plan_fetches(const planner *p, const stage_group *g) {
    tensor_var v;
    for (uint32_t i = 0; i < g->len; i++)
        if (cell_of(p, &p->op->stages.data[g->data[i]], &v)) return true;
    return false;
}

static bool refuse(planner *p, diag_code code, const schedule_cell *c, const char *help,
                   const char *words) {
    diagnostic *d = plan_refuse(p, code, c->at, "%s", words);
    if (d) diag_help(d, "%s", help);
    return false;
}
#define REFUSE(p, code, c, help, ...)                                                              \
    refuse((p), (code), (c), (help), arena_printf((p)->arena, __VA_ARGS__))

// ---- The loop -----------------------------------------------------------------------------------
static uint32_t serial_digits(const loop_node *n) {
    uint32_t serial = 0;
    for (uint32_t i = 0; i < n->ndigits; i++) serial += n->digits[i].place == LOOP_SERIAL_PLACE;
    return serial;
}

static const loop_node *let_of(const loop_body *body, tensor_var v) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i],
                        *found = n->kind == LOOP_LET && n->var == v ? n : let_of(&n->body, v);
        if (found) return found;
    }
    return NULL;
}

// The loop whose points are those of v, NULL: there is none; value: what v is there, by the loop's
// index, as stages that share a loop have it, and what stands in an order.
loop_node *plan_loop_behind(planner *p, const loop_kernel *k, tensor_var v, tensor_expr *value) {
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len);
    loop_node *n;
    *value = tensor_var_expr(p->op, v, NO_SPAN);
    while (!(n = loop_over_var(&k->body, v))) {
        const loop_node *let = let_of(&k->body, v);
        if (!let) return NULL;
        vars[v] = let->value;
        *value = *plan_substitute(p, value, 1, vars);
        vars[v] = 0;
        const tensor_node *e = tensor_node_at(p->op, let->value);
        while (e->op == TENSOR_LOAD_OP && e->nargs == 1) e = tensor_node_at(p->op, e->args[0]);
        if (e->op != TENSOR_VAR_OP) return NULL;
        v = (tensor_var)e->imm.i;
    }
    return n;
}

// Rounds one after the other: those of the rest, or of the one serial digit.
static bool check_loop(planner *p, const tensor_stage *st, tensor_var v, const schedule_cell *c,
                       const loop_node *n) {
    const char *name = c->subject;
    const tensor_id index = plan_var_id(p, v);
    uint32_t serial = serial_digits(n);
    schedule_cell *other = schedule_find(p->s, st->id, SCHEDULE_UNROLL, index);
    if (!other) other = schedule_find(p->s, st->id, SCHEDULE_VECTOR, index);
    if (other && !(other->verb == SCHEDULE_VECTOR && n->digits[0].place != LOOP_VECTOR_PLACE)) {
        diagnostic *d = plan_refuse(p, E0540, other->at,
                                    "rounds of '%s' that rows are copied for have no '%s'", name,
                                    schedule_verb_text(other->verb));
        if (d) diag_note(d, c->at, "by this statement");
        if (d) diag_help(d, "take more points at once: `registers %s …`", name);
        return false;
    }
    bool rounds = n->rest == LOOP_SERIAL_PLACE ? !serial : serial == 1;
    if (rounds && !n->rounds.within && !n->rounds.pad && !n->distributed.steps && !n->holding.n)
        return true;
    return REFUSE(
        p, E0540, c, "leave it out, or give a block more points than it takes at once",
        "'pipeline %s' has nothing to do here: no steps along '%s' come one after the other, alike",
        name, name);
}

// Threads of a block fetch rows for all of them: groups or copies of it that walk ranges of their
// own do not.
static bool mentions_any(const planner *p, tensor_expr e, const bool *vars) {
    bool any = false;
    for (tensor_var v = 0; e && v < p->op->vars.len && !any; v++)
        any = vars[v] && plan_mentions(p, e, v);
    return any;
}

static bool deals_out(const loop_node *n) {
    bool apart = n->rounds.unroll > 1;
    for (uint32_t d = 0; d < n->ndigits; d++)
        apart |= n->digits[d].place != LOOP_SERIAL_PLACE && n->digits[d].extent > 1;
    return apart;
}

// apart: per variable, of those bound before n; false: it stands elsewhere.
static bool find_apart(const planner *p, const loop_body *body, const loop_node *n, bool *apart) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *m = body->data[i];
        if (m == n) return true;
        if (m->kind == LOOP_FOR)
            apart[m->var] = deals_out(m) || mentions_any(p, m->lo, apart) ||
                            mentions_any(p, m->hi, apart);
        if (m->kind == LOOP_LET) apart[m->var] = mentions_any(p, m->value, apart);
        if (find_apart(p, &m->body, n, apart)) return true;
        if (m->kind == LOOP_FOR) apart[m->var] = false;
    }
    return false;
}

bool plan_fetch_same(planner *p, const loop_kernel *k, const loop_node *n, tensor_expr e) {
    bool *apart = ARENA_ARRAY(p->arena, bool, p->op->vars.len + 1);
    find_apart(p, &k->body, n, apart);
    return !mentions_any(p, e, apart);
}

bool plan_fetch_alike(planner *p, const schedule_cell *c, const loop_kernel *k,
                      const loop_node *n) {
    if (plan_fetch_same(p, k, n, n->lo) && plan_fetch_same(p, k, n, n->hi)) return true;
    return REFUSE(
        p, E0530, c, "give a block one: leave out groups and registers along what it belongs to",
        "'pipeline %s' has no pass in this version where a block has several ranges of '%s' at once",
        c->subject, c->subject);
}

// ---- What is read -------------------------------------------------------------------------------
typedef struct {
    planner *p;
    const tensor_stage *st;
    tensor_val v;
    tensor_var at;             // whose rounds it is copied for
    const tensor_node *load;   // NULL: none met
    bool other;                // read elsewhere, too
} reading;

static bool same_index(const tensor_node *x, const tensor_node *y) {
    bool same = x->nargs == y->nargs;
    for (uint32_t i = 0; same && i < x->nargs; i++) same = x->args[i] == y->args[i];
    return same;
}

static bool mentions_at(const reading *r, const tensor_node *load) {
    bool any = false;
    for (uint32_t i = 0; i < load->nargs; i++) any |= plan_mentions(r->p, load->args[i], r->at);
    return any;
}

static bool meet(void *user, const tensor_node *load) {
    reading *r = user;
    if ((tensor_val)load->imm.i != r->v) return true;
    bool mine = mentions_at(r, load);
    r->other |= !mine || (r->load && !same_index(r->load, load));
    if (mine) r->load = load;
    return true;
}

static bool is_read_at(const planner *p, tensor_expr e) {
    const tensor_node *at = tensor_node_at(p->op, e);
    bool none = at->op == TENSOR_LOAD_OP && p->op->vals.data[at->imm.i].facts & FACT_PARTIAL;
    return !none && (at->op == TENSOR_VAR_OP || at->op == TENSOR_LOAD_OP);
}

bool plan_fetch_shape(planner *p, tensor_val v, const schedule_cell *keep) {
    const tensor_val_info *i = &p->op->vals.data[v];
    const tensor_space_info *s = i->rank >= 2 ? &p->op->spaces.data[i->axes[i->rank - 1]] : NULL;
    bool stored = i->role == VAL_TENSOR || i->role == VAL_STAGE;
    if (!s || !stored || !ir_dtype_is_float(i->type))
        return REFUSE(p, E0530, keep, arena_printf(p->arena, "leave '%s' in memory", i->name),
                      "copies of '%s', which is no matrix of floats, have no pass in this version",
                      i->name);
    if (s->kind != SPACE_CONST || !s->size)
        return REFUSE(
            p, E0544, keep,
            arena_printf(p->arena, "give the size, -D %s=64, or leave '%s' in memory", s->name,
                         i->name),
            "the extent of '%s' is not known, so nothing bounds rows of '%s' in shared memory",
            s->name, i->name);
    return true;
}

static bool check_reading(planner *p, const reading *r, const schedule_cell *keep) {
    const tensor_val_info *i = &p->op->vals.data[r->v];
    if (r->other)
        return REFUSE(p, E0550, keep, arena_printf(p->arena, "leave '%s' in memory", i->name),
                      "'%s' reads '%s' at other rows than those of '%s'", r->st->name, i->name,
                      plan_index_text(p, r->at));
    bool there = true;
    for (uint32_t a = 0; a < r->load->nargs; a++) there = there && is_read_at(p, r->load->args[a]);
    if (there) return true;
    return REFUSE(
        p, E0530, keep, arena_printf(p->arena, "leave '%s' in memory", i->name),
        "rows of '%s' at an index that is computed, or may be none, have no pass in this version",
        i->name);
}

// ---- Rows and tiles -----------------------------------------------------------------------------
// Of a load's two axes that move: whose points the rows and the columns are.
typedef struct {
    uint32_t row_axis;
    tensor_var row, column;
} moving;

// false: the axes move otherwise.
static bool find_moving(const planner *p, const plan_matrix *m, const tensor_node *load,
                        moving *w) {
    const tensor_var vars[] = {m->rows, m->columns, m->depth};
    uint32_t found = 0, last = load->nargs - 1;
    for (uint32_t i = 0; i <= last; i++)
        for (uint32_t k = 0; k < 3; k++) {
            if (!plan_depends(p, load->args[i], vars[k], plan_tiled_by(p, m->stage, m->rows)))
                continue;
            bool itself = tensor_node_at(p->op, load->args[i])->op == TENSOR_VAR_OP;
            if (++found > 2 || (i == last && !itself)) return false;
            if (i == last) w->column = vars[k];
            else w->row = vars[k], w->row_axis = i;
        }
    return found == 2;
}

// ---- Pitch --------------------------------------------------------------------------------------
enum { ACCESS = 16 };   // bytes that a lane reads at once

// Lanes that take turns at the banks should ask for all of them, 128 bytes. Of rows of a matrix
// four lanes read neighbouring vectors of one row each: the next row begins as far behind a
// multiple of twice that. Of its depth a lane reads one in each of four rows: a vector behind a
// multiple of four.
static int64_t access_bytes(planner *p, const plan_matrix *m, int64_t bytes) {
    index_cut c = plan_cut(p, m->stage, m->depth, true);
    return (c.matrix_run ? c.matrix_run : c.vector ? c.vector : 1) * bytes;
}

// row: bytes of one.
static uint32_t pitch_of(planner *p, const plan_matrix *m, int64_t row, int64_t bytes,
                         bool along_depth) {
    int64_t first = ACCESS, each = 4 * ACCESS;
    if (row % ACCESS) return (uint32_t)(row / bytes);   // no vectors
    if (along_depth) {
        int64_t vector = access_bytes(p, m, bytes);
        first = vector >= ACCESS ? 4 * ACCESS : vector >= 4 ? 4 * vector : ACCESS;
        each = 2 * first;
    }
    int64_t apart = row / each * each + first;
    return (uint32_t)((apart < row ? apart + each : apart) / bytes);
}

// Four lanes that read a vector each of rows that are several apart, as many as a lane has of the
// depth, would ask for the same banks: from as many rows to the next there are two vectors more,
// where rows are whole lines.
static void skew(planner *p, const plan_matrix *m, int64_t bytes, loop_fetch *f) {
    index_cut c = plan_cut(p, m->stage, m->depth, true);
    if (c.matrix_run <= 1 || f->pitch * bytes % ACCESS) return;
    f->every = (uint32_t)c.matrix_run;
    f->skew = (uint32_t)(2 * ACCESS / bytes);
}

// ---- All of them --------------------------------------------------------------------------------
static int64_t buffers_bytes(const planner *p, const loop_kernel *k, const loop_node *n,
                             const loop_fetch *f) {
    const loop_node *beside = f->beside == LOOP_NO_BESIDE ? NULL
                                                          : loop_over_var(&k->body, f->beside);
    return loop_fetch_room(p->op, n, f, beside);
}

// Of the loops of a kernel that fetch, each of which has buffers of its own.
static int64_t fetched_bytes(const planner *p, const loop_kernel *k, const loop_body *body) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        for (uint32_t f = 0; f < n->fetch.n; f++)
            bytes += buffers_bytes(p, k, n, &n->fetch.rows[f]);
        bytes += fetched_bytes(p, k, &n->body);
    }
    return bytes;
}

static bool check_room(planner *p, const schedule_cell *c, const loop_kernel *k, const loop_node *n,
                       const loop_fetch *fetched, uint32_t count) {
    int64_t bytes = 0, room = plan_matrix_room(p, k) - fetched_bytes(p, k, &k->body);
    for (uint32_t i = 0; i < count; i++) bytes += buffers_bytes(p, k, n, &fetched[i]);
    if (bytes <= room) return true;
    return REFUSE(
        p, E0545, c, "take fewer buffers, or fewer points at once",
        "%u buffers of %u rows take %lld bytes of shared memory, and a block has %lld for them",
        (unsigned)n->fetch.buffers, (unsigned)loop_fetch_rows(n), (long long)bytes,
        (long long)room);
}

void plan_fetch_into(planner *p, const tensor_stage *st, const schedule_cell *c,
                     const loop_kernel *k, loop_node *n, const loop_fetch *fetched,
                     uint32_t count) {
    int64_t buffers = schedule_number(c, NULL);
    if (buffers > LOOP_MAX_BUFFERS) {
        REFUSE(p, E0543, c, "two to four hide what memory takes",
               "at most %d buffers are possible, not %lld", (int)LOOP_MAX_BUFFERS,
               (long long)buffers);
        return;
    }
    if (!count) {
        REFUSE(
            p, E0540, c, "say which: `keep … shared;`, or leave it out",
            "'pipeline %s' has nothing to do here: of nothing that '%s' reads at '%s' it is said that it lives in shared memory",
            c->subject, st->name, c->subject);
        return;
    }
    n->fetch.buffers = (uint32_t)buffers;
    if (!check_room(p, c, k, n, fetched, count)) return;
    n->fetch.rows = fetched;
    n->fetch.n = count;
}

typedef struct {
    planner *p;
    const tensor_stage *st;
    schedule_cell *cell;
    plan_matrix m;
    const loop_kernel *kernel;
    tensor_var at;       // of the stage
    loop_node *node;     // its loop
    tensor_expr *vars;   // what variables of the stage are in the kernel's loops
} fetching;

static void guard_copies(const fetching *x, const loop_fetch *f, const loop_node *beside) {
    plan_copy_guards(x->p, f->val, loop_fetch_tile(x->p->op, x->node, f, beside).bytes);
}

static bool swizzle(const fetching *x, const schedule_cell *keep, const moving *w,
                    const loop_node *beside, loop_fetch *f) {
    planner *p = x->p;
    tensor_expr value;
    const loop_tile tile = loop_fetch_tile(p->op, x->node, f, beside);
    const plan_tile_loops t = {.rows = plan_loop_behind(p, x->kernel, w->row, &value),
                               .columns = plan_loop_behind(p, x->kernel, w->column, &value),
                               .of_rows = w->row,
                               .of_columns = w->column,
                               .tile = beside != NULL,
                               .round = w->column == x->at};
    return plan_swizzle(p, keep, x->kernel, &x->m, &t, &tile, f);
}

// A block has one tile: what does not move in it is the same for all groups and copies.
static bool check_same(const fetching *x, const schedule_cell *keep, const reading *r,
                       const moving *w) {
    planner *p = x->p;
    bool *apart = ARENA_ARRAY(p->arena, bool, p->op->vars.len + 1), same = true;
    find_apart(p, &x->kernel->body, x->node, apart);
    for (tensor_var v = 0; v < p->op->vars.len; v++)
        for (uint32_t i = 0; apart[v] && i < r->load->nargs; i++)
            same = same &&
                   (v == w->row || v == w->column ||
                    !plan_depends(p, r->load->args[i], v, plan_tiled_by(p, x->m.stage, x->m.rows)));
    const char *name = p->op->vals.data[r->v].name;
    if (same) return true;
    return REFUSE(
        p, E0530, keep, arena_printf(p->arena, "leave '%s' in memory", name),
        "a block has points of several matrices of '%s' at once, and no pass in this version copies those",
        name);
}

// Whole rows: where the sum is inside the rounds, or the block has all columns at once.
static bool has_whole_rows(const fetching *x, const reading *r, const moving *w) {
    const tensor_val_info *i = &x->p->op->vals.data[r->v];
    tensor_expr value;
    if (x->at != x->m.depth) return true;
    const loop_node *columns = plan_loop_behind(x->p, x->kernel, w->column, &value);
    return i->rank == 2 && w->row == x->at &&
           (!columns || loop_fetch_rows(columns) >= x->p->op->spaces.data[i->axes[1]].size);
}

static bool fetch_rows(const fetching *x, const schedule_cell *keep, const reading *r,
                       const moving *w, loop_fetch *f) {
    planner *p = x->p;
    const tensor_val_info *i = &p->op->vals.data[f->val];
    int64_t bytes = ir_dtype_bytes(i->type);
    matrix_role role = plan_matrix_role(p, x->st, x->at, &(plan_matrix){0});
    f->pitch = pitch_of(p, &x->m, p->op->spaces.data[i->axes[1]].size * bytes, bytes,
                        role != MATRIX_DEPTH);
    f->index = plan_substitute(p, r->load->args, 1, x->vars);
    f->nindex = 1;
    if (x->at == x->m.depth) skew(p, &x->m, bytes, f);
    if (!swizzle(x, keep, w, NULL, f)) return false;
    guard_copies(x, f, NULL);
    return true;
}

// What a block has at once of the loop beside follows each other.
static bool check_beside(const fetching *x, tensor_var v, const loop_node *n) {
    planner *p = x->p;
    bool apart = n->rest == LOOP_UNROLL_PLACE || n->rounds.unroll > 1 || n->distributed.steps ||
                 n->rounds.pad || n->holding.n || n->rounds.step > 1;
    for (uint32_t d = 0; d < n->ndigits; d++)
        apart |= n->digits[d].place == LOOP_UNROLL_PLACE ||
                 (n->digits[d].place == LOOP_SERIAL_PLACE && d + 1 < n->ndigits);
    const char *name = plan_index_text(p, v);
    if (!apart) return true;
    return REFUSE(
        p, E0540, x->cell, arena_printf(p->arena, "leave `unroll %s` and `pad %s` out", name, name),
        "tiles along '%s' are of neighbouring points of '%s', of which a block has some here and there",
        x->cell->subject, name);
}

static bool fetch_tile(const fetching *x, const schedule_cell *keep, const reading *r,
                       const moving *w, loop_fetch *f) {
    planner *p = x->p;
    int64_t bytes = ir_dtype_bytes(p->op->vals.data[f->val].type);
    bool along = w->column == x->at;
    tensor_var other = along ? w->row : w->column;
    tensor_expr value;
    const loop_node *beside = plan_loop_behind(p, x->kernel, other, &value);
    if (!beside)
        return REFUSE(p, E0530, x->cell, "leave out what makes one index of several",
                      "tiles along '%s' have no pass in this version where no loop is over '%s'",
                      x->cell->subject, plan_index_text(p, other));
    if (!check_beside(x, other, beside) || !check_same(x, keep, r, w)) return false;
    x->vars[other] = value;
    f->beside = beside->var;
    f->nindex = r->load->nargs;
    f->index = plan_substitute(p, r->load->args, f->nindex, x->vars);
    uint32_t columns = loop_fetch_rows(along ? x->node : beside);
    f->pitch = pitch_of(p, &x->m, columns * bytes, bytes, w->column == x->m.depth);
    if (w->row == x->m.depth) skew(p, &x->m, bytes, f);
    if (!swizzle(x, keep, w, beside, f)) return false;
    guard_copies(x, f, beside);
    return true;
}

static bool fetch_input(const fetching *x, const schedule_cell *keep, const reading *r,
                        loop_fetch *f) {
    planner *p = x->p;
    const tensor_val_info *i = &p->op->vals.data[r->v];
    moving w = {0};
    *f = (loop_fetch){.val = r->v, .beside = LOOP_NO_BESIDE};
    if (!plan_fetch_shape(p, r->v, keep) || !check_reading(p, r, keep)) return false;
    bool moves = find_moving(p, &x->m, r->load, &w) && (w.row == x->at || w.column == x->at);
    if (!moves || (x->at != x->m.depth && (w.column == x->at || i->rank != 2)))
        return REFUSE(
            p, E0530, keep, arena_printf(p->arena, "leave '%s' in memory", i->name),
            "what '%s' reads of '%s' is no matrix along '%s', and nothing else is copied in this version",
            x->st->name, i->name, plan_index_text(p, x->at));
    return (has_whole_rows(x, r, &w) ? fetch_rows : fetch_tile)(x, keep, r, &w, f);
}

static void fetch(const fetching *x) {
    planner *p = x->p;
    const schedule_cell *c = x->cell;
    VEC(loop_fetch) fetched = {0};
    x->cell->consumed = true;
    if (!check_loop(p, x->st, x->at, c, x->node) || !plan_fetch_alike(p, c, x->kernel, x->node))
        return;
    for (tensor_val v = 0; v < p->op->vals.len; v++) {
        schedule_cell *keep = schedule_find(p->s, x->st->id, SCHEDULE_KEEP, p->op->vals.data[v].id);
        reading r = {.p = p, .st = x->st, .v = v, .at = x->at};
        loop_fetch f;
        plan_loads(p, x->st, meet, &r);
        if (!keep || plan_kept_place(keep) != KEPT_SHARED || (!r.load && !r.other) ||
            plan_stays(p, x->st, v))
            continue;
        if (v >= p->op->nparams && !loop_stored_before(p->arena, p->plan, x->kernel, v)) continue;
        keep->consumed = true;
        if (!fetch_input(x, keep, &r, &f)) return;
        VEC_PUSH(p->arena, &fetched, f);
    }
    plan_fetch_into(p, x->st, c, x->kernel, x->node, fetched.data, fetched.len);
}

void plan_fetch(planner *p, const stage_group *g, loop_kernel *k) {
    for (uint32_t i = 0; i < g->len && !p->failed; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        tensor_var at;
        plan_matrix m;
        schedule_cell *c = cell_of(p, st, &at);
        // what follows the sum it is about
        if (!c || (c->consumed && st->reducer == TENSOR_NO_REDUCER)) continue;
        if ((plan_matrix_of(p, st, &m) && m.window) ||
            (plan_windowed(p, g->data[i], &m) && m.stage == st)) {
            plan_fetch_slots(p, &m, c, k);
            continue;
        }
        bool product = plan_matrix_of(p, st, &m);
        if (!product && c->consumed) continue;   // entries of a tile: see axes/held_shared.c
        if (!product || m.rows == LOOP_NO_ROWS) {
            REFUSE(
                p, E0530, c,
                "leave it out, contract on tensor cores, `mma`, or keep tiles of inputs in shared "
                "memory: `tile e 64;  keep … shared`",
                "'pipeline' has no pass in this version but for tiles in shared memory and sums by "
                "matrix operations, of rows and columns, and '%s' has neither",
                st->name);
            return;
        }
        fetching x = {.p = p, .st = st, .cell = c, .m = m, .kernel = k, .at = at};
        x.vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len);
        x.node = plan_loop_behind(p, k, at, &x.vars[at]);
        if (x.node && !x.node->fetch.n) fetch(&x);
    }
}
