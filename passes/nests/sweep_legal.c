// Whether stages can be fused at an index that rows are walked by: what each reads of others is at
// hand when the walk comes to it, and what schedules say of their loops agrees.
#include "nests/sweep.h"
#include "axes/axes.h"
#include "finish/finish.h"

static bool is_var(const sweep *s, tensor_expr e, tensor_var v) {
    const tensor_node *n = tensor_node_at(s->p->op, e);
    return n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == v;
}

static bool is_among(const stage_group *g, uint32_t stage) {
    for (uint32_t i = 0; i < g->len; i++)
        if (g->data[i] == stage) return true;
    return false;
}

// ---- Legality -----------------------------------------------------------------------------------
typedef struct {
    sweep *s;
    const tensor_stage *writer, *reader;
    tensor_var point;   // the reader's, of the writer's outermost index; UINT32_MAX: none
    bool shares;        // it reads memory that the writer overwrites
} check;

static bool own_point(void *user, const tensor_node *load) {
    check *c = user;
    const tensor_op *op = c->s->p->op;
    tensor_val read = (tensor_val)load->imm.i;
    for (uint32_t t = 0; t < c->writer->ntargets; t++) {
        const tensor_target *to = &c->writer->targets[t];
        c->shares = to->val != read && (op->vals.data[to->val].inplace == read ||
                                        op->vals.data[read].inplace == to->val);
        if (c->shares) return false;
        for (uint32_t a = 0; to->val == read && a < to->rank; a++) {
            uint32_t i = 0;
            while (i < c->writer->nleft && !is_var(c->s, to->index[a], c->writer->left[i])) i++;
            tensor_var want = !i                     ? c->point
                              : i < c->reader->nleft ? c->reader->left[i]
                                                     : UINT32_MAX;
            if (i == c->writer->nleft ? to->index[a] != load->args[a]
                                      : !is_var(c->s, load->args[a], want))
                return false;
        }
    }
    return true;
}

static void not_final(sweep *s, const tensor_stage *writer, const tensor_stage *reader) {
    diagnostic *d = plan_sweep_cannot(s, writer);
    if (!d) return;
    diag_note(d, writer->at, "it reduces over '%s', so it is final only after that loop", s->index);
    diag_note(d, reader->at, "'%s' needs it inside", reader->name);
    tensor_reduce_kind kind = writer->reducer == TENSOR_NO_REDUCER
                                  ? REDUCE_USER
                                  : s->p->op->reducers.data[writer->reducer].kind;
    const char *online = kind == REDUCE_MAX || kind == REDUCE_SUM
                             ? arena_printf(s->p->arena, ", or have it online: `online %s`",
                                            writer->name)
                             : "";
    diag_help(d, "fuse at its own index: `at %s`%s", plan_index_text(s->p, writer->left[0]),
              online);
}

static void not_at_hand(sweep *s, const check *c) {
    diagnostic *d = plan_refuse(s->p, E0550, s->f->at,
                                c->shares
                                    ? "'%s' reads memory that '%s' overwrites in the same loop"
                                    : "'%s' reads '%s' elsewhere than at the point at hand",
                                c->reader->name, c->writer->name);
    if (!d) return;
    diag_note(d, c->reader->at, "in the loop over '%s', what belongs to one point of it is known",
              s->index);
    diag_help(d, "fuse without '%s', or at '%s', where all of a row is known", c->writer->name,
              plan_sweep_row_name(s));
}

// Computed from what the walk sums up.
static bool is_after(const sweep *s, uint32_t stage) {
    for (uint32_t i = s->end; i < s->rows.len; i++)
        if (s->rows.data[i] == stage) return true;
    return false;
}

static bool check_pair(sweep *s, uint32_t writer, uint32_t reader) {
    const tensor_stage *w = plan_stage(s->p, writer), *r = plan_stage(s->p, reader);
    bool from_edge = plan_sweep_of_edges(s, w), to_edge = plan_sweep_of_edges(s, r),
         to_walk = plan_sweep_walks(s, r);
    bool running = to_walk && plan_is_online(s->p, writer), after = is_after(s, writer);
    if ((plan_sweep_walks(s, w) || after) && !running && (to_edge || to_walk) &&
        plan_reads_stage(s->p, reader, writer)) {
        not_final(s, w, r);
        return false;
    }
    check c = {.s = s, .writer = w, .reader = r, .point = r->left[0]};
    if (from_edge && to_walk) c.point = r->bound[0];
    else if (from_edge != to_edge) c.point = UINT32_MAX;
    bool fine = plan_loads(s->p, r, own_point, &c);
    c.shares = fine ? !plan_owner_alone(s->p, w, r) : c.shares;
    if (fine && !c.shares) return true;
    not_at_hand(s, &c);
    return false;
}

static bool check_reads(sweep *s) {
    const stage_group *g = &s->f->stages;
    for (uint32_t w = 0; w < g->len; w++)
        for (uint32_t r = 0; r < g->len; r++)
            if (w != r && !check_pair(s, g->data[w], g->data[r])) return false;
    return true;
}

// What shares the walk has the same keys; what it reduces besides, it reduces alone.
static bool check_walks(sweep *s) {
    const tensor_stage *first = sweep_row(s, s->first);
    for (uint32_t i = s->first + 1; i < s->end; i++) {
        const tensor_stage *st = sweep_row(s, i);
        if (plan_same_keys(s->p, first, st) && st->nbound == 1 && first->nbound == 1) continue;
        diagnostic *d = plan_sweep_cannot(s, st);
        if (d) diag_note(d, first->at, "'%s' does not loop over the same points", first->name);
        if (d) diag_help(d, "leave '%s' out", st->name);
        return false;
    }
    return true;
}

static bool refuse_join(sweep *s, const tensor_stage *st, bool stray) {
    diagnostic *d = plan_sweep_cannot(s, st);
    bool cut = !stray && plan_part_points(s->p, st);
    if (d)
        diag_note(d, st->at,
                  cut ? "parts of its rows, which 'split' cuts, read nothing that "
                        "is computed once a row"
                  : s->apart && stray
                      ? "its loops are not those of one of the sums"
                      : "its loops do not begin with those of the stages before it");
    if (d) diag_help(d, "leave '%s' out", st->name);
    return false;
}

// What a stage takes of another is that of its own loops.
static bool check_joins(sweep *s) {
    stage_group sorted = {0};
    for (uint32_t i = 0; i < s->rows.len; i++) plan_sweep_add(s, &sorted, s->rows.data[i]);
    for (uint32_t i = 0; i < sorted.len; i++) {
        const tensor_stage *st = plan_stage(s->p, sorted.data[i]);
        stage_group around = {0};
        bool joins = !s->apart || (!plan_carries(s->p, st) && !plan_atomic(s->p, st));
        for (uint32_t k = 0; k < i; k++) {
            uint32_t other = sorted.data[k];
            if (plan_sweep_around(s, plan_sweep_own(s, plan_stage(s->p, other)),
                                  plan_sweep_own(s, st)))
                VEC_PUSH(s->p->arena, &around, other);
            else
                joins = joins && !plan_reads_stage(s->p, sorted.data[i], other) &&
                        !plan_reads_stage(s->p, other, sorted.data[i]);
        }
        if (!joins || (around.len && !plan_may_join(s->p, &around, sorted.data[i])))
            return refuse_join(s, st, false);
    }
    return true;
}

// Levels that all sums stand in.
static uint32_t shared_levels(const sweep *s) {
    uint32_t n = 0;
    for (bool all = true; all && n < s->depth; n += all)
        for (uint32_t i = s->first; i < s->end && all; i++)
            all = plan_sweep_around(s, n, plan_sweep_own(s, sweep_row(s, i)));
    return n;
}

static bool check_loops(sweep *s) {
    const tensor_stage *stray = plan_sweep_loops(s);
    if (stray) return refuse_join(s, stray, true);
    if (s->apart && !plan_sweep_may_be_apart(s)) return false;
    if (!check_joins(s)) return false;
    s->shared = shared_levels(s);
    for (uint32_t i = 0; i < s->edges.len; i++) {
        const tensor_stage *st = sweep_edge(s, i);
        uint32_t n;
        plan_sweep_at(s, st, &n);
        if (n < s->shared) s->shared = n;
        for (uint32_t k = 0; n < st->nleft && k < s->f->stages.len; k++) {
            if (!plan_reads_stage(s->p, s->f->stages.data[k], s->edges.data[i])) continue;
            diagnostic *d = plan_sweep_cannot(s, st);
            if (d)
                diag_note(d, plan_stage(s->p, s->f->stages.data[k])->at,
                          "'%s' reads it, and has no loop of its own over '%s'",
                          plan_stage(s->p, s->f->stages.data[k])->name,
                          plan_index_text(s->p, st->left[n]));
            if (d)
                diag_help(d, "fuse at '%s', where all of a row is known", plan_sweep_row_name(s));
            return false;
        }
    }
    s->base = s->shared < s->depth ? s->shared : s->depth - 1;
    return true;
}

static bool check_cells(sweep *s) {
    for (uint32_t i = 0; i < s->f->stages.len; i++) {
        const tensor_stage *st = plan_stage(s->p, s->f->stages.data[i]);
        if (!plan_sweep_of_edges(s, st) && !plan_sweep_walks(s, st)) continue;
        bool edge = plan_sweep_of_edges(s, st);
        index_cut c = plan_cut(s->p, st, edge ? st->left[0] : st->bound[0], !edge);
        if (s->p->failed) return false;
        if (!c.block) continue;
        diagnostic *d = plan_refuse(
            s->p, E0541, c.cell[SCHEDULE_BLOCK]->at,
            "a block of this kernel owns the points of '%s' that belong to its rows", s->index);
        if (d)
            diag_help(d, "leave 'block %s' out: the kernel's rows are distributed over blocks",
                      s->index);
        return false;
    }
    for (tensor_val v = 0; v < s->p->op->nparams; v++)
        if (!plan_check_kept_tiles(s->p, &s->f->stages, v, true)) return false;
    if (!plan_keeps_shared(s->p, &s->f->stages, true)) return !s->p->failed;
    diagnostic *d = plan_refuse(
        s->p, E0530, s->f->at,
        "keeping values in shared memory in a loop over rows by '%s' has no pass in this version",
        s->index);
    if (d) diag_help(d, "leave 'keep' out: what an edge's stage computes is in registers");
    return false;
}

bool plan_sweep_legal(sweep *s) {
    return check_walks(s) && check_reads(s) && check_loops(s) && check_cells(s);
}

// ---- Sums with indices of their own -------------------------------------------------------------
static bool refuse_apart(sweep *s, const tensor_stage *st, const char *what, span at) {
    const tensor_stage *deepest = sweep_row(s, s->end - 1), *other = deepest;
    for (uint32_t i = s->first; i < s->end; i++)
        if (!plan_sweep_around(s, plan_sweep_own(s, sweep_row(s, i)), plan_sweep_own(s, deepest)))
            other = sweep_row(s, i);
    diagnostic *d = plan_refuse(
        s->p, E0530, at,
        "'%s' of '%s' has no pass in this version in a loop over '%s' whose sums have indices of "
        "their own",
        what, st->name, s->index);
    if (!d) return false;
    diag_note(d, other->at, "'%s' stands in other loops than '%s'", other->name, deepest->name);
    diag_help(d, "leave '%s' out, or fuse sums of the same indices alone", what);
    return false;
}

// Each kernel that takes up cut rows has what is read in it.
static bool taken_up_alone(const sweep *s) {
    for (uint32_t l = 0; l < s->loops.len; l++) {
        const stage_group g = plan_sweep_ending(s, l);
        for (uint32_t i = 0; i < g.len; i++)
            for (uint32_t k = 0; k < s->rows.len; k++)
                if (plan_reads_stage(s->p, g.data[i], s->rows.data[k]) &&
                    !is_among(&g, s->rows.data[k]))
                    return false;
    }
    return true;
}

// By the schedule of the rows at hand.
bool plan_sweep_may_be_apart(sweep *s) {
    planner *p = s->p;
    for (uint32_t i = s->first; i < s->end; i++) {
        const tensor_stage *st = sweep_row(s, i);
        plan_matrix m;
        index_cut c = plan_cut(p, st, st->bound[0], true);
        if (p->failed) return false;
        const schedule_cell *split = plan_part_points(p, st) ? plan_part_cell(p, st, st->bound[0])
                                                             : NULL;
        if (split && !taken_up_alone(s)) return refuse_apart(s, st, "split", split->at);
        if (plan_windowed(p, s->rows.data[i], &m))
            return refuse_apart(s, st, "window", m.window->at);
        if (c.distributed) return refuse_apart(s, st, "distributed", c.cell[SCHEDULE_UNROLL]->at);
    }
    return true;
}
