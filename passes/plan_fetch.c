// Rows of inputs that a block copies into shared memory, round by round of a loop, some rounds ahead of the
// one it is at.
//     keep x shared … pipeline e 3  →  for e … [lane 8 unit 4, register 2, serial 8, whole] fetch 3 x[e]
//     pitch 96
#include "planner.h"

#include <string.h>

static schedule_cell *cell_of(const planner *p, const tensor_stage *st, tensor_var *v) {
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++) {
        *v = i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
        schedule_cell *c = schedule_find(p->s, st->name, SCHEDULE_PIPELINE, p->op->vars.data[*v].name);
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

static bool refuse(planner *p, diag_code code, const schedule_cell *c, const char *help, const char *words) {
    diagnostic *d = plan_refuse(p, code, c->at, "%s", words);
    if (d) diag_help(d, "%s", help);
    return false;
}
#define REFUSE(p, code, c, help, ...) refuse((p), (code), (c), (help), arena_printf((p)->arena, __VA_ARGS__))

// ---- The loop --------------------------------------------------------------------------------------------
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

// The loop whose points are those of v, NULL: there is none; value: what v is there, by the loop's index, as
// stages that share a loop have it, and what stands in an order.
static loop_node *loop_behind(planner *p, const loop_kernel *k, tensor_var v, tensor_expr *value) {
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
static bool check_loop(planner *p, const tensor_stage *st, const schedule_cell *c, const loop_node *n) {
    const char *name = c->subject;
    uint32_t serial = serial_digits(n);
    schedule_cell *other = schedule_find(p->s, st->name, SCHEDULE_UNROLL, name);
    if (!other) other = schedule_find(p->s, st->name, SCHEDULE_TILE, name);
    if (!other) other = schedule_find(p->s, st->name, SCHEDULE_VECTOR, name);
    if (other && !(other->verb == SCHEDULE_VECTOR && n->digits[0].place != LOOP_VECTOR_PLACE)) {
        diagnostic *d = plan_refuse(p, E0540, other->at,
                                    "rounds of '%s' that rows are copied for have no '%s'", name,
                                    schedule_verb_text(other->verb));
        if (d) diag_note(d, c->at, "by this statement");
        if (d) diag_help(d, "take more points at once: `registers %s …`", name);
        return false;
    }
    bool rounds = n->rest == LOOP_SERIAL_PLACE ? !serial : serial == 1;
    if (rounds && !n->within && !n->pad && !n->dealt && !n->nheld) return true;
    return REFUSE(p, E0540, c, "leave it out, or give a block more points than it takes at once",
                  "'pipeline %s' has nothing to do here: no steps along '%s' come one after the other, alike",
                  name, name);
}

// Threads of a block fetch rows for all of them: groups or copies of it that walk ranges of their own do not.
static bool mentions_any(const planner *p, tensor_expr e, const bool *vars) {
    bool any = false;
    for (tensor_var v = 0; e && v < p->op->vars.len && !any; v++) any = vars[v] && plan_mentions(p, e, v);
    return any;
}

static bool deals_out(const loop_node *n) {
    bool apart = n->unroll > 1;
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
            apart[m->var] = deals_out(m) || mentions_any(p, m->lo, apart) || mentions_any(p, m->hi, apart);
        if (m->kind == LOOP_LET) apart[m->var] = mentions_any(p, m->value, apart);
        if (find_apart(p, &m->body, n, apart)) return true;
        if (m->kind == LOOP_FOR) apart[m->var] = false;
    }
    return false;
}

static bool check_alike(planner *p, const schedule_cell *c, const loop_kernel *k, const loop_node *n) {
    bool *apart = ARENA_ARRAY(p->arena, bool, p->op->vars.len + 1);
    find_apart(p, &k->body, n, apart);
    if (!mentions_any(p, n->lo, apart) && !mentions_any(p, n->hi, apart)) return true;
    return REFUSE(
        p, E0530, c, "give a block one: leave out groups and registers along what it belongs to",
        "'pipeline %s' has no pass in this version where a block has several ranges of '%s' at once",
        c->subject, c->subject);
}

// ---- Rows ------------------------------------------------------------------------------------------------
typedef struct {
    planner *p;
    const tensor_stage *st;
    tensor_val v;
    tensor_var at;     // whose rounds they are copied for
    tensor_expr row;   // 0: none met
    bool other;        // read elsewhere, too
} reading;

static bool meet(void *user, const tensor_node *load) {
    reading *r = user;
    if ((tensor_val)load->imm.i != r->v) return true;
    bool mine = load->nargs == 2 && plan_mentions(r->p, load->args[0], r->at);
    r->other |= !mine || (r->row && r->row != load->args[0]);
    if (mine) r->row = load->args[0];
    return true;
}

static bool check_row(planner *p, const reading *r, const schedule_cell *keep) {
    const tensor_val_info *i = &p->op->vals.data[r->v];
    if (r->other)
        return REFUSE(p, E0550, keep, arena_printf(p->arena, "leave '%s' in memory", i->name),
                      "'%s' reads '%s' at other rows than those of '%s'", r->st->name, i->name,
                      plan_index_text(p, r->at));
    const tensor_node *at = tensor_node_at(p->op, r->row);
    bool none = at->op == TENSOR_LOAD_OP && p->op->vals.data[at->imm.i].facts & FACT_PARTIAL;
    if (none || (at->op != TENSOR_VAR_OP && at->op != TENSOR_LOAD_OP))
        return REFUSE(
            p, E0530, keep, arena_printf(p->arena, "leave '%s' in memory", i->name),
            "rows of '%s' at an index that is computed, or may be none, have no pass in this version",
            i->name);
    return true;
}

static bool check_shape(planner *p, const loop_fetch *f, const schedule_cell *keep) {
    const tensor_val_info *i = &p->op->vals.data[f->val];
    const tensor_space_info *s = i->rank == 2 ? &p->op->spaces.data[i->axes[1]] : NULL;
    if (!s || i->role != VAL_TENSOR || !ir_dtype_is_float(i->type))
        return REFUSE(p, E0530, keep, arena_printf(p->arena, "leave '%s' in memory", i->name),
                      "copies of '%s', which is no matrix of floats, have no pass in this version", i->name);
    if (s->kind != SPACE_CONST || !s->size)
        return REFUSE(
            p, E0544, keep,
            arena_printf(p->arena, "give the size, -D %s=64, or leave '%s' in memory", s->name, i->name),
            "the extent of '%s' is not known, so nothing bounds rows of '%s' in shared memory", s->name,
            i->name);
    if (s->size * ir_dtype_bytes(i->type) % 4)
        return REFUSE(p, E0530, keep, arena_printf(p->arena, "leave '%s' in memory", i->name),
                      "rows of '%s' have %lld bytes, and copies are of 4, 8 or 16", i->name,
                      (long long)(s->size * ir_dtype_bytes(i->type)));
    return true;
}

// ---- Pitch -----------------------------------------------------------------------------------------------
enum { ACCESS = 16 };   // bytes that a lane reads at once

// Lanes that take turns at the banks should ask for all of them, 128 bytes. Of rows of a matrix four lanes
// read neighbouring vectors of one row each: the next row begins as far behind a multiple of twice that. Of
// its depth a lane reads one in each of four rows: a vector behind a multiple of four.
static uint32_t pitch_of(planner *p, const tensor_stage *st, const loop_fetch *f, tensor_var at) {
    const tensor_val_info *i = &p->op->vals.data[f->val];
    int64_t bytes = ir_dtype_bytes(i->type), row = p->op->spaces.data[i->axes[1]].size * bytes,
            first = ACCESS, each = 4 * ACCESS;
    plan_matrix m;
    matrix_role role = plan_matrix_role(p, st, at, &m);
    if (row % ACCESS) return (uint32_t)(row / bytes);   // no vectors
    if (role == MATRIX_ROWS || role == MATRIX_COLUMNS) {
        index_cut c = plan_cut(p, m.stage, m.depth, true);
        int64_t vector = (c.matrix_run ? c.matrix_run : c.vector ? c.vector : 1) * bytes;
        first = vector >= ACCESS ? 4 * ACCESS : vector >= 4 ? 4 * vector : ACCESS;
        each = 2 * first;
    }
    int64_t apart = row / each * each + first;
    return (uint32_t)((apart < row ? apart + each : apart) / bytes);
}

// ---- All of them -----------------------------------------------------------------------------------------
static bool check_room(planner *p, const schedule_cell *c, const loop_kernel *k, const loop_node *n,
                       const loop_fetch *fetched, uint32_t count) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += (uint64_t)fetched[i].pitch * ir_dtype_bytes(p->op->vals.data[fetched[i].val].type);
    uint64_t all = bytes * loop_fetch_rows(n) * n->buffers;
    int64_t room = plan_matrix_room(p, k);
    if ((int64_t)all <= room) return true;
    return REFUSE(p, E0545, c, "take fewer buffers, or fewer points at once",
                  "%u buffers of %u rows take %llu bytes of shared memory, and a block has %lld for them",
                  (unsigned)n->buffers, (unsigned)loop_fetch_rows(n), (unsigned long long)all,
                  (long long)room);
}

// value: what `at` is in the loop.
static void fetch(planner *p, const tensor_stage *st, schedule_cell *c, tensor_var at, tensor_expr value,
                  const loop_kernel *k, loop_node *n) {
    VEC(loop_fetch) fetched = {0};
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len);
    vars[at] = value;
    int64_t buffers = schedule_number(c, NULL);
    c->consumed = true;
    if (!check_loop(p, st, c, n) || !check_alike(p, c, k, n)) return;
    if (buffers > LOOP_MAX_BUFFERS) {
        REFUSE(p, E0543, c, "two to four hide what memory takes", "at most %d buffers are possible, not %lld",
               (int)LOOP_MAX_BUFFERS, (long long)buffers);
        return;
    }
    for (tensor_val v = 0; v < p->op->nparams; v++) {
        schedule_cell *keep = schedule_find(p->s, st->name, SCHEDULE_KEEP, p->op->vals.data[v].name);
        reading r = {.p = p, .st = st, .v = v, .at = at};
        plan_loads(p, st, meet, &r);
        if (!keep || strcmp(schedule_value_of(keep, NULL)->text, "shared") || (!r.row && !r.other)) continue;
        keep->consumed = true;
        loop_fetch f = {.val = v, .row = r.row};
        if (!check_shape(p, &f, keep) || !check_row(p, &r, keep)) return;
        f.pitch = pitch_of(p, st, &f, at);
        f.row = *plan_substitute(p, &r.row, 1, vars);
        VEC_PUSH(p->arena, &fetched, f);
    }
    if (!fetched.len) {
        REFUSE(
            p, E0540, c, arena_printf(p->arena, "say which: `keep … shared;`, or leave it out"),
            "'pipeline %s' has nothing to do here: of nothing that '%s' reads at '%s' it is said that it lives in shared memory",
            c->subject, st->name, c->subject);
        return;
    }
    n->buffers = (uint32_t)buffers;
    if (!check_room(p, c, k, n, fetched.data, fetched.len)) return;
    for (uint32_t i = 0; i < fetched.len; i++)
        plan_copy_guards(p, fetched.data[i].val, loop_fetch_bytes(p->op, &fetched.data[i]));
    n->fetched = fetched.data;
    n->nfetched = fetched.len;
}

void plan_fetch(planner *p, const stage_group *g, loop_kernel *k) {
    for (uint32_t i = 0; i < g->len && !p->failed; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        tensor_var at;
        plan_matrix m;
        schedule_cell *c = cell_of(p, st, &at);
        if (!c) continue;
        if (!plan_matrix_of(p, st, &m) || m.window || m.rows == LOOP_NO_ROWS) {
            REFUSE(
                p, E0530, c, "leave it out, or contract on tensor cores: `mma`",
                "'pipeline' has no pass in this version but for sums by matrix operations, of rows and columns, and '%s' is none",
                st->name);
            return;
        }
        tensor_expr value;
        loop_node *n = loop_behind(p, k, at, &value);
        if (n && !n->nfetched) fetch(p, st, c, at, value, k, n);
    }
}
