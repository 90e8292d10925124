// Rows that the slots of a window read, copied into shared memory round by round: the warps of a
// block that share a window share them too, and the next ones are on their way meanwhile. A round
// is a block of slots.
//     y: { window v 64 by src 16;  groups v 4;  mma e f16;  pipeline e 3;  keep x shared; }  s.sum: keep k shared
//  →  for e.slot in … [register 2, lane 4, register 2, serial]
//       fetch 3 k[window_columns[e.slot], h] pitch 160 skew 8 every 2, x[window_columns[e.slot], h] pitch 160 …
#include "finish/finish.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

typedef struct {
    planner *p;
    const tensor_stage *st;   // that reads at hand
    const loop_kernel *kernel;
    loop_node *slots;
    tensor_val source, to;   // maps: to rows of the slots; to those of the window
    tensor_expr column;      // what the source says at the slot
    VEC(loop_fetch) fetched;
} slot_rows;

static bool refuse(planner *p, diag_code code, const schedule_cell *c, const char *help,
                   const char *words) {
    diagnostic *d = plan_refuse(p, code, c->at, "%s", words);
    if (d) diag_help(d, "%s", help);
    return false;
}
#define REFUSE(p, code, c, help, ...)                                                              \
    refuse((p), (code), (c), (help), arena_printf((p)->arena, __VA_ARGS__))

// ---- The slots ----------------------------------------------------------------------------------
// What is given of the map in the walk: at its slots.
static const loop_node *given_of(const planner *p, const loop_body *body, tensor_val map) {
    const loop_node *found = NULL;
    for (uint32_t i = 0; i < body->len && !found; i++) {
        const loop_node *n = body->data[i];
        bool its = n->kind == LOOP_GIVEN && (tensor_val)tensor_node_at(p->op, n->key)->imm.i == map;
        found = its ? n : given_of(p, &n->body, map);
    }
    return found;
}

static void stages_in(const loop_body *body, bool *in) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        for (uint32_t s = 0; s < n->nstages; s++) in[n->stages[s]] = true;
        stages_in(&n->body, in);
    }
}

// ---- What is read -------------------------------------------------------------------------------
typedef struct {
    const planner *p;
    tensor_val v, source, rows;
    const tensor_node *load;   // at what the map says; NULL: none met
    // something of it is read elsewhere than at a row; from the one met first
    bool any, differs;
} reading;

static bool meet(void *user, const tensor_node *load) {
    reading *r = user;
    if ((tensor_val)load->imm.i != r->v) return true;
    const tensor_node *row = tensor_node_at(r->p->op, load->args[0]);
    bool of_rows = row->op == TENSOR_LOAD_OP && (tensor_val)row->imm.i == r->rows;
    r->any |= !of_rows;
    if (row->op != TENSOR_LOAD_OP || (tensor_val)row->imm.i != r->source) return true;
    for (uint32_t i = 0; r->load && i < load->nargs; i++)
        r->differs |= load->args[i] != r->load->args[i];
    r->load = load;
    return true;
}

static bool is_entry(const slot_rows *x, tensor_expr e) {
    const tensor_node *n = tensor_node_at(x->p->op, e);
    const tensor_stage *st = x->st;
    return n->op == TENSOR_VAR_OP &&
           (tensor_var)n->imm.i == (plan_adds(x->p, st) && st->nkeys ? st->bound[0] : st->left[0]);
}

// At what the map says of the entry, which is `row_at`, and then at what is the same for the whole
// walk.
static bool find_index(const slot_rows *x, const tensor_node *load, tensor_val map,
                       tensor_expr row_at, tensor_expr *index) {
    const tensor_node *row = tensor_node_at(x->p->op, load->args[0]);
    bool there = row->op == TENSOR_LOAD_OP && (tensor_val)row->imm.i == map &&
                 is_entry(x, row->args[0]) &&
                 tensor_node_at(x->p->op, load->args[load->nargs - 1])->op == TENSOR_VAR_OP;
    index[0] = row_at;
    for (uint32_t i = 1; there && i + 1 < load->nargs; i++) {
        const tensor_node *at = tensor_node_at(x->p->op, load->args[i]);
        const loop_node *loop = NULL;
        index[i] = load->args[i];
        if (at->op == TENSOR_VAR_OP)
            loop = plan_loop_behind(x->p, x->kernel, (tensor_var)at->imm.i, &index[i]);
        bool constant = at->op == TENSOR_INDEX_OP &&
                        tensor_node_at(x->p->op, at->args[0])->op == TENSOR_CONST_OP;
        there = at->op == TENSOR_VAR_OP ? loop && !loop_over_var(&x->slots->body, loop->var)
                                        : constant;
    }
    return there;
}

// Of eight lanes that take turns at the banks four read vectors of one row where it is a column of
// a product, and one in each of four rows, two apart, where it is of its depth: both ask for all
// 128 bytes of them. Rows of several heads are read as matrices, 16 bytes of each of eight rows.
static void set_pitch(const slot_rows *x, loop_fetch *f) {
    enum { ACCESS = 16, LINE = 128 };
    const tensor_val_info *i = &x->p->op->vals.data[f->val];
    int64_t bytes = ir_dtype_bytes(i->type), row = bytes;
    for (uint32_t a = f->nindex; a < i->rank; a++) row *= x->p->op->spaces.data[i->axes[a]].size;
    f->pitch = (uint32_t)(row / bytes);
    if (row % ACCESS) return;   // no vectors
    int64_t apart = row / LINE * LINE + (f->nindex + 1 < i->rank ? ACCESS : LINE / 2);
    f->pitch = (uint32_t)((apart < row ? apart + LINE : apart) / bytes);
    if (f->nindex + 1 < i->rank) return;
    f->every = 2;
    f->skew = (uint32_t)(ACCESS / bytes);
}

// Operations of four warps read the second factor as it lies in panels.
static bool is_of_group(const slot_rows *x, tensor_val v) {
    plan_matrix m;
    if (!plan_matrix_of(x->p, x->st, &m) || simt_mma_table(m.kind)->warps == 1) return false;
    const tensor_node *load = loop_matrix_factor(x->p->op,
                                                 tensor_node_at(x->p->op, x->st->body[0])->args[1]);
    return load->op == TENSOR_LOAD_OP && (tensor_val)load->imm.i == v;
}

static bool set_panels(slot_rows *x, const schedule_cell *keep, const plan_matrix *m,
                       loop_fetch *f) {
    planner *p = x->p;
    const tensor_val_info *i = &p->op->vals.data[f->val];
    const simt_mma_info *info = simt_mma_table(m->kind);
    int64_t bytes = ir_dtype_bytes(i->type),
            row = p->op->spaces.data[i->axes[i->rank - 1]].size * bytes;
    f->panels = true;
    if (f->nindex + 1 < i->rank)
        return REFUSE(
            p, E0572, keep, "give pieces of rows blocks of their own: `block h 1`",
            "'%s' multiplies whole rows of '%s', and a block has several pieces of each at once",
            info->shape, i->name);
    const bool parts = simt_mma_splits(m->kind);
    const ir_dtype type = loop_matrix_type(m->kind);
    if (i->type != type)
        return REFUSE(p, E0572, keep,
                      parts ? "multiply by `tf32x3`, or in that type"
                            : "multiply in that type, or leave the shape out",
                      "'%s' multiplies rows of %s as they lie there, and those of '%s' are of %s",
                      info->shape, ir_dtype_text(type), i->name, ir_dtype_text(i->type));
    const int least = (int)SIMT_PANEL_ROW * (parts ? 2 : 1);
    const char *help = parts ? "multiply by `tf32x3`: operations of one warp take any rows"
                             : "leave the shape out: operations of one warp take any rows";
    if (row % least)
        return REFUSE(
            p, E0572, keep, help,
            "'%s' multiplies rows of multiples of %d bytes, and those of '%s' are %lld bytes",
            info->shape, least, i->name, (long long)row);
    if (!parts || row <= LOOP_MOST_PARTS * bytes) return true;
    return REFUSE(p, E0572, keep, help,
                  "rows of up to %d numbers are taken apart, and those of '%s' have %lld",
                  (int)LOOP_MOST_PARTS, i->name, (long long)(row / bytes));
}

static bool same_rows(const loop_fetch *a, const loop_fetch *b) {
    bool same = a->val == b->val && a->nindex == b->nindex;
    for (uint32_t i = 0; same && i < a->nindex; i++) same = a->index[i] == b->index[i];
    return same;
}

// Rows are the second factor of a product: its columns, where those are cells, or its depth.
static bool swizzle(const slot_rows *x, const schedule_cell *keep, const tensor_node *load,
                    loop_fetch *f) {
    planner *p = x->p;
    plan_matrix m;
    tensor_expr value;
    if (!plan_matrix_of(p, x->st, &m))
        return plan_refuse_swizzle(p, keep, "no matrix operation reads its rows");
    const tensor_var last = (tensor_var)tensor_node_at(p->op, load->args[load->nargs - 1])->imm.i;
    const loop_tile tile = loop_fetch_tile(p->op, x->slots, f, NULL);
    const plan_tile_loops t = {.rows = x->slots,
                               .columns = plan_loop_behind(p, x->kernel, last, &value),
                               .of_rows = m.cells ? m.columns : m.depth,
                               .of_columns = last};
    return plan_swizzle(p, keep, x->kernel, &m, &t, &tile, f);
}

// They have one layout for all sums that read them.
static bool check_layout(const slot_rows *x, const schedule_cell *keep, const loop_fetch *before) {
    if (!schedule_value_of(keep, "swizzle") && !before->swizzle.n) return true;
    return REFUSE(
        x->p, E0530, keep, "leave `swizzle` out",
        "several sums of the loop read rows of '%s', and no pass in this version swizzles those",
        x->p->op->vals.data[before->val].name);
}

static bool fetch(slot_rows *x, tensor_val v, const schedule_cell *keep, const reading *r) {
    planner *p = x->p;
    tensor_expr *index = ARENA_ARRAY(p->arena, tensor_expr, p->op->vals.data[v].rank);
    const char *name = p->op->vals.data[v].name,
               *help = arena_printf(p->arena, "leave '%s' in memory", name);
    if (!plan_fetch_shape(p, v, keep)) return false;
    if (!r->load || r->differs || !find_index(x, r->load, x->source, x->column, index))
        return REFUSE(
            p, E0530, keep, help,
            "what '%s' reads of '%s' is no row of what '%s' says of an entry, the same in the whole loop, and nothing else is copied in this version",
            x->st->name, name, p->op->vals.data[x->source].name);
    loop_fetch f = {
        .val = v, .index = index, .nindex = r->load->nargs - 1, .beside = LOOP_NO_BESIDE};
    for (uint32_t i = f.nindex; i-- > 1;)   // all that the block has at once
        if (!plan_fetch_same(p, x->kernel, x->slots, index[i])) f.nindex = i;
    for (uint32_t i = f.nindex; i + 1 < r->load->nargs; i++) {
        const tensor_space_info *axis = &p->op->spaces.data[p->op->vals.data[v].axes[i]];
        if (axis->kind == SPACE_CONST) continue;
        return REFUSE(
            p, E0544, keep,
            arena_printf(p->arena, "give the size, -D %s=8, or %s", axis->name, help),
            "a block has several rows of '%s' for each column of the window at once, and how many '%s' has is not known",
            name, axis->name);
    }
    plan_row_guards(p, v, f.nindex);
    plan_matrix m;
    if (!is_of_group(x, v)) set_pitch(x, &f);
    else if (plan_matrix_of(p, x->st, &m) && !set_panels(x, keep, &m, &f)) return false;
    if (schedule_value_of(keep, "swizzle") && !swizzle(x, keep, r->load, &f)) return false;
    for (uint32_t i = 0; i < x->fetched.len; i++) {
        if (same_rows(&x->fetched.data[i], &f)) {
            if (!check_layout(x, keep, &x->fetched.data[i])) return false;
            if (f.panels) x->fetched.data[i] = f;
            return true;
        }
        if (x->fetched.data[i].val == v)
            return REFUSE(
                p, E0530, keep, help,
                "'%s' is read at several rows for a column of the window, of which one alone is copied in this version",
                name);
    }
    plan_copy_guards(p, v, loop_fetch_tile(p->op, x->slots, &f, NULL).bytes);
    VEC_PUSH(p->arena, &x->fetched, f);
    return true;
}

static bool fetch_of(slot_rows *x) {
    planner *p = x->p;
    for (tensor_val v = 0; v < p->op->nparams; v++) {
        schedule_cell *keep = schedule_find(p->s, x->st->id, SCHEDULE_KEEP, p->op->vals.data[v].id);
        reading r = {.p = p, .v = v, .source = x->source, .rows = x->to};
        if (!keep || plan_kept_place(keep) != KEPT_SHARED) continue;
        plan_loads(p, x->st, meet, &r);
        if (!r.any) continue;
        keep->consumed = true;
        if (!fetch(x, v, keep, &r)) return false;
    }
    return true;
}

// ---- What is less than an access ----------------------------------------------------------------
// Numbers that a slot has beside its rows, such as the sum of a softmax: a lane would wait for the
// index and then for the number, in the round that needs them. They come along where they are whole
// words.
enum { WORD = 4, FEW = 64 };   // bytes

static bool is_few(const planner *p, tensor_val v) {
    const tensor_val_info *i = &p->op->vals.data[v];
    int64_t bytes = ir_dtype_bytes(i->type);
    if ((i->role != VAL_TENSOR && i->role != VAL_STAGE) || i->rank < 2 ||
        !ir_dtype_is_float(i->type))
        return false;
    for (uint32_t a = 1; a < i->rank; a++) {
        const tensor_space_info *s = &p->op->spaces.data[i->axes[a]];
        if (s->kind != SPACE_CONST || !s->size || s->size > FEW) return false;
        bytes *= s->size;
    }
    return bytes % WORD == 0 && bytes <= FEW;
}

static bool is_fetched(const slot_rows *x, tensor_val v) {
    bool any = false;
    for (uint32_t i = 0; i < x->fetched.len; i++) any |= x->fetched.data[i].val == v;
    return any;
}

static void fetch_few_of(slot_rows *x) {
    planner *p = x->p;
    for (tensor_val v = 0; v < p->op->vals.len; v++) {
        reading r = {.p = p, .v = v, .source = x->source, .rows = x->to};
        if (!is_few(p, v) || is_fetched(x, v) ||
            (v >= p->op->nparams && !loop_stored_before(p->arena, p->plan, x->kernel, v)))
            continue;
        plan_loads(p, x->st, meet, &r);
        tensor_expr *index = ARENA_ARRAY(p->arena, tensor_expr, p->op->vals.data[v].rank);
        if (!r.load || r.differs || !find_index(x, r.load, x->source, x->column, index)) continue;
        loop_fetch f = {.val = v, .index = index, .nindex = 1, .beside = LOOP_NO_BESIDE};
        plan_row_guards(p, v, f.nindex);
        set_pitch(x, &f);
        plan_copy_guards(p, v, loop_fetch_tile(p->op, x->slots, &f, NULL).bytes);
        VEC_PUSH(p->arena, &x->fetched, f);
    }
}

// ---- What each round reads again ----------------------------------------------------------------
// What the walk's rows have is held from round to round; where threads have no room for it the L1
// has.
typedef struct {
    const planner *p;
    const tensor_stage *st;   // that reads
    tensor_val v, rows;
    bool any;
} row_reading;

static bool meet_row(void *user, const tensor_node *load) {
    row_reading *r = user;
    const tensor_node *at = (tensor_val)load->imm.i == r->v && load->nargs
                                ? tensor_node_at(r->p->op, load->args[0])
                                : NULL;
    bool sum = at && r->st->nkeys,
         own = sum && at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == r->st->left[0];
    r->any |= own || (at && at->op == TENSOR_LOAD_OP && (tensor_val)at->imm.i == r->rows);
    return true;
}

static bool is_of_rows(const slot_rows *x, const bool *in, tensor_val v) {
    row_reading r = {.p = x->p, .v = v, .rows = x->to};
    for (uint32_t i = 0; i < x->p->op->stages.len; i++) {
        r.st = &x->p->op->stages.data[i];
        if (in[i]) plan_loads(x->p, r.st, meet_row, &r);
    }
    return r.any;
}

// Said of one sum of the walk, or of several: where v is kept.
static schedule_cell *said_of_sums(const slot_rows *x, const bool *in, tensor_val v,
                                   kept_place where) {
    schedule_cell *said = NULL;
    for (uint32_t i = 0; i < x->p->op->stages.len; i++) {
        const tensor_stage *st = &x->p->op->stages.data[i];
        schedule_cell *c = in[i] && st->nkeys ? schedule_find(x->p->s, st->id, SCHEDULE_KEEP,
                                                              x->p->op->vals.data[v].id)
                                              : NULL;
        if (c && plan_kept_place(c) == where) said = c;
    }
    return said;
}

static void consume_of_sums(const slot_rows *x, const bool *in, tensor_val v, kept_place where) {
    for (uint32_t i = 0; i < x->p->op->stages.len; i++) {
        const tensor_stage *st = &x->p->op->stages.data[i];
        schedule_cell *c = in[i] && st->nkeys ? schedule_find(x->p->s, st->id, SCHEDULE_KEEP,
                                                              x->p->op->vals.data[v].id)
                                              : NULL;
        if (!c || plan_kept_place(c) != where) continue;
        c->consumed = true;
        plan_refuse_swizzle(x->p, c, "a window's own rows lie in panels, or in memory");
    }
}

static void reread(slot_rows *x, const bool *in) {
    planner *p = x->p;
    VEC(tensor_val) all = {0};
    for (tensor_val v = 0; v < p->op->nparams; v++) {
        schedule_cell *c = said_of_sums(x, in, v, KEPT_GLOBAL);
        if (!c) continue;
        consume_of_sums(x, in, v, KEPT_GLOBAL);
        if (p->op->vals.data[v].role == VAL_TENSOR && is_of_rows(x, in, v))
            VEC_PUSH(p->arena, &all, v);
        else
            REFUSE(
                p, E0530, c, "leave it out",
                "nothing is read of '%s' at the rows of the loop, which alone are read again by each round",
                p->op->vals.data[v].name);
    }
    x->slots->fetch.nreread = all.len;
    x->slots->fetch.reread = all.data;
}

// ---- Rows of the window's own -------------------------------------------------------------------
// The first factor of scores, which a lane would have in registers in every round: operations of
// four warps read it in panels, too.
static const tensor_node *own_load(slot_rows *x, tensor_val v, plan_matrix *m) {
    planner *p = x->p;
    if (!plan_matrix_of(p, x->st, m) || simt_mma_table(m->kind)->warps == 1) return NULL;
    const tensor_node *load = loop_matrix_factor(p->op,
                                                 tensor_node_at(p->op, x->st->body[0])->args[0]);
    if (load->op != TENSOR_LOAD_OP || (tensor_val)load->imm.i != v) return NULL;
    const tensor_node *row = tensor_node_at(p->op, load->args[0]);
    return row->op == TENSOR_LOAD_OP && (tensor_val)row->imm.i == x->to ? load : NULL;
}

static bool fetch_own(slot_rows *x, tensor_val v, const schedule_cell *keep,
                      const tensor_node *load, const plan_matrix *m, tensor_var rows) {
    planner *p = x->p;
    const char *name = p->op->vals.data[v].name,
               *help = arena_printf(p->arena, "leave '%s' in memory", name);
    tensor_expr *index = ARENA_ARRAY(p->arena, tensor_expr, load->nargs), row;
    const loop_node *loop = plan_loop_behind(p, x->kernel, rows, &row);
    if (!plan_fetch_shape(p, v, keep)) return false;
    if (!loop || loop_fetch_rows(loop) != p->windows.of->warps * simt_mma_table(m->kind)->m)
        return REFUSE(
            p, E0530, keep, help,
            "'%s' multiplies %d rows, and four warps have others at once, of which none are copied in this version",
            simt_mma_table(m->kind)->shape, (int)SIMT_GROUP_ROWS);
    if (!find_index(x, load, x->to, row, index))
        return REFUSE(
            p, E0530, keep, help,
            "what '%s' reads of '%s' is no row of the window, the same in the whole loop, and nothing else is copied in this version",
            x->st->name, name);
    loop_fetch f = {
        .val = v, .index = index, .nindex = load->nargs - 1, .beside = loop->var, .own = true};
    for (uint32_t i = f.nindex; i-- > 1;)
        if (!plan_fetch_same(p, x->kernel, x->slots, index[i])) f.nindex = i;
    if (!set_panels(x, keep, m, &f)) return false;
    plan_row_guards(p, v, f.nindex);
    plan_copy_guards(p, v, loop_fetch_tile(p->op, x->slots, &f, loop).bytes);
    for (uint32_t i = 0; i < x->fetched.len; i++) {
        if (!x->fetched.data[i].own || x->fetched.data[i].val != v) continue;
        if (same_rows(&x->fetched.data[i], &f)) return true;
        return REFUSE(
            p, E0530, keep, help,
            "scores read '%s' at several rows of each of the window's, of which one alone is copied in this version",
            name);
    }
    VEC_PUSH(p->arena, &x->fetched, f);
    return true;
}

// Said of the walk's sums: of the scores, which are those of other walks too, it is said of rows of
// slots.
static bool fetch_own_rows(slot_rows *x, const bool *in, tensor_var rows) {
    planner *p = x->p;
    for (tensor_val v = 0; v < p->op->nparams; v++) {
        schedule_cell *keep = said_of_sums(x, in, v, KEPT_SHARED);
        for (uint32_t i = 0; keep && i < p->op->stages.len; i++) {
            plan_matrix m;
            x->st = &p->op->stages.data[i];
            const tensor_node *load = in[i] ? own_load(x, v, &m) : NULL;
            if (!load) continue;
            consume_of_sums(x, in, v, KEPT_SHARED);
            if (said_of_sums(x, in, v, KEPT_GLOBAL))
                return REFUSE(p, E0541, keep, "say the same of all sums of the loop, or of one",
                              "another sum of the loop has '%s' read again by each round",
                              p->op->vals.data[v].name);
            if (!fetch_own(x, v, keep, load, &m, rows)) return false;
        }
    }
    return true;
}

static bool has_second_factor(const slot_rows *x, const tensor_stage *st) {
    planner *p = x->p;
    plan_matrix m;
    if (!plan_matrix_of(p, st, &m) || simt_mma_table(m.kind)->warps == 1) return true;
    const tensor_node *load = loop_matrix_factor(p->op,
                                                 tensor_node_at(p->op, st->body[0])->args[1]);
    bool there = false;
    for (uint32_t i = 0; load->op == TENSOR_LOAD_OP && i < x->fetched.len; i++)
        there |= x->fetched.data[i].panels && !x->fetched.data[i].own &&
                 x->fetched.data[i].val == (tensor_val)load->imm.i;
    if (there) return true;
    const char *one = simt_mma_splits(m.kind) ? "multiply by `tf32x3`" : "leave the shape out";
    if (load->op != TENSOR_LOAD_OP)
        return REFUSE(
            p, E0572, m.cell,
            arena_printf(p->arena, "%s: operations of one warp take what is computed", one),
            "'%s' multiplies rows as they lie in memory, and the second factor of '%s' is computed",
            simt_mma_table(m.kind)->shape, st->name);
    const char *name = p->op->vals.data[load->imm.i].name;
    diagnostic *d = plan_refuse(
        p, E0572, m.cell->at,
        "'%s' reads the second factor of '%s' in shared memory, and rounds bring nothing there",
        simt_mma_table(m.kind)->shape, st->name);
    if (d) diag_help(d, "keep it there: `keep %s shared`; or %s", name, one);
    return false;
}

// ---- All ----------------------------------------------------------------------------------------
void plan_fetch_slots(planner *p, const plan_matrix *m, schedule_cell *c, const loop_kernel *k) {
    tensor_val source = plan_window_source(p, m->window);
    const loop_node *given = given_of(p, &k->body, source);
    if (p->failed || !given) return;   // windows were refused
    tensor_var slot =
        (tensor_var)tensor_node_at(p->op, tensor_node_at(p->op, given->value)->args[0])->imm.i;
    slot_rows x = {.p = p,
                   .kernel = k,
                   .slots = loop_over_var(&k->body, slot),
                   .source = source,
                   .to = plan_window_rows_map(p, m->stage, m->rows),
                   .column = given->value};
    c->consumed = true;
    if (x.slots->fetch.n && schedule_number(c, NULL) != x.slots->fetch.buffers)
        REFUSE(p, E0541, c, "say the same of all sums of the loop",
               "rows of this loop come %u rounds at a time by another 'pipeline'",
               (unsigned)x.slots->fetch.buffers);
    if (x.slots->fetch.n) return;
    int64_t count = schedule_number(m->window, "count"),
            block = prepared_slots(schedule_number(m->window, NULL), 0);
    if (count != block && count != PREPARED_MOST_SLOTS) {
        REFUSE(p, E0530, c,
               arena_printf(p->arena, "take %lld or %d at a time", (long long)block,
                            PREPARED_MOST_SLOTS),
               "rows of %s of columns at a time have no pass in this version",
               count > block ? "several blocks" : "a piece of a block");
        return;
    }
    if (!plan_fetch_alike(p, c, k, x.slots)) return;
    bool *in = ARENA_ARRAY(p->arena, bool, p->op->stages.len + 1);
    stages_in(&x.slots->body, in);
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        x.st = &p->op->stages.data[i];
        if (in[i] && !fetch_of(&x)) return;
    }
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (in[i] && !has_second_factor(&x, &p->op->stages.data[i])) return;
    reread(&x, in);
    bool rows = x.fetched.len > 0;
    for (uint32_t i = 0; i < p->op->stages.len && rows; i++) {
        x.st = &p->op->stages.data[i];
        if (in[i]) fetch_few_of(&x);
    }
    if (rows && !fetch_own_rows(&x, in, m->rows)) return;
    plan_fetch_into(p, m->stage, c, k, x.slots, x.fetched.data, x.fetched.len);
}
