// What a stage needs of a walk's sums, through whatever stands between, and whether it needs them
// at the row that is walked alone.
//     m[v] = max{e : dst[e] == v} s[e];  z[v] = sum{e : dst[e] == v} exp(s[e] - m[v])
//       →  z needs m, of its own row
#include "default/walks/walks.h"
#include "default/walks/reach.h"
#include "base/base.h"
#include "tensor/tensor.h"

typedef struct {
    const walks *w;
    const walk *of;
    uint32_t reader;   // a sum, or a score on the way to it
    bool own, any;     // own: what it reads of the walk belongs to the row at hand
    bool *seen;
} reach;

uint32_t default_writer_of(const walks *w, tensor_val v) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (plan_stage(w->p, i)->targets[0].val == v) return i;
    return UINT32_MAX;
}

bool default_in_walk(const walk *of, uint32_t stage) {
    for (uint32_t i = 0; i < of->sums.len; i++)
        if (of->sums.data[i] == stage) return true;
    return false;
}

// The index is the row that is walked, or what the map says of an edge.
static bool leads_to_row(const walks *w, const walk *of, const tensor_stage *reader,
                         tensor_expr index) {
    const tensor_node *n = tensor_node_at(w->p->op, index);
    bool row = reader->nleft &&
               w->p->op->vars.data[reader->left[0]].space == w->p->op->vals.data[of->map].into;
    if (n->op == TENSOR_VAR_OP) return row && (tensor_var)n->imm.i == reader->left[0];
    bool mapped = n->op == TENSOR_LOAD_OP && n->nargs == 1;
    const tensor_node *at = mapped ? tensor_node_at(w->p->op, n->args[0]) : NULL;
    return at && (tensor_val)n->imm.i == of->map && at->op == TENSOR_VAR_OP;
}

static void follow(reach *r, uint32_t stage);

// What the row at hand makes of the walk's sums.
static bool is_late(const reach *r, const tensor_node *load, uint32_t writer) {
    const tensor_stage *st = plan_stage(r->w->p, writer);
    return st->reducer == TENSOR_NO_REDUCER &&
           default_first_space(r->w, st) == r->w->p->op->vals.data[r->of->map].into &&
           load->nargs && leads_to_row(r->w, r->of, plan_stage(r->w->p, r->reader), load->args[0]);
}

static bool see(void *user, const tensor_node *load) {
    reach *r = user;
    uint32_t writer = default_writer_of(r->w, (tensor_val)load->imm.i);
    if (writer == UINT32_MAX) return true;
    if (default_in_walk(r->of, writer)) {
        r->any = true;
        r->own = r->own && load->nargs &&
                 leads_to_row(r->w, r->of, plan_stage(r->w->p, r->reader), load->args[0]);
        return true;
    }
    bool score = r->w->scores[writer] || plan_inlined(r->w->p, writer) || is_late(r, load, writer);
    reach below = {r->w, r->of, writer, true, false, r->seen};
    if (!r->seen[writer]) r->seen[writer] = true, follow(score ? r : &below, writer);
    if (!score && below.any) r->any = true, r->own = false;   // another kernel stands between
    return true;
}

static void follow(reach *r, uint32_t stage) {
    uint32_t outer = r->reader;
    r->reader = stage;
    plan_loads(r->w->p, plan_stage(r->w->p, stage), see, r);
    r->reader = outer;
}

static reach reach_of(const walks *w, const walk *of, uint32_t stage) {
    return (reach){w,    of,    stage,
                   true, false, ARENA_ARRAY(w->p->arena, bool, w->p->op->stages.len + 1)};
}

walk_need default_need(const walks *w, const walk *of, uint32_t stage) {
    reach r = reach_of(w, of, stage);
    follow(&r, stage);
    return (walk_need){.any = r.any, .own = r.own};
}

// ---- What rows are known to be ------------------------------------------------------------------
static bool see_row(void *user, const tensor_node *load) {
    row_read *r = user;
    if ((tensor_val)load->imm.i != r->val || !load->nargs) return true;
    if (leads_to_row(r->w, r->of, r->reader, load->args[0])) r->own = true;
    else r->other = true;
    return true;
}

void default_read_rows(row_read *r, uint32_t reader) {
    tensor_stage st = plan_inlined_stage(r->w->p, reader);
    r->reader = &st;
    plan_loads(r->w->p, &st, see_row, r);
}

// What a walk's kernel finds of its rows: read by a stage of that kernel at the row, or by one that
// has to come later.
bool default_reads_early(const walks *w, uint32_t stage, const walk *of, bool elsewhere) {
    row_read r = {.w = w, .of = of};
    for (uint32_t i = 0; i < of->early.len && !default_again_at_edges(w); i++) {
        r.val = plan_stage(w->p, of->early.data[i])->targets[0].val;
        default_read_rows(&r, stage);
    }
    return r.other || (r.own && !elsewhere);
}

// ---- Order --------------------------------------------------------------------------------------
// Sums of the walk need some of the other's, whatever stands between.
bool default_comes_after(const walks *w, const walk *of, const walk *other) {
    reach r = reach_of(w, other, 0);
    for (uint32_t i = 0; i < of->sums.len && !r.any; i++) {
        follow(&r, of->sums.data[i]);
        r.any |= of != other && default_reads_early(w, of->sums.data[i], other, false);
    }
    return r.any;
}
