// What an op hands to its gradients: stages that schedules of theirs save, and reductions no larger
// than a result unless one recomputes them. One buffer serves them all, so it is one decision for
// all schedules.
//     schedule gat.grad kept { save a f16;  recompute a.max; }
#include "sema_gradient.h"
#include "sema_schedule_resolve.h"

#include <string.h>

// ---- What schedules say -------------------------------------------------------------------------
typedef struct {
    const char *stage;
    ir_dtype type;   // DT_COUNT: the stage's own
    schedule_verb verb;
    span at;
} said;
typedef VEC(said) said_list;

static ir_dtype type_said(const schedule_checker *c, const written_cell *w) {
    schedule_form f = schedule_form_read(w->what);
    ir_dtype t = DT_COUNT;
    for (uint32_t i = 0; i < w->words->len; i++) {
        const fitted_word *x = &w->words->data[i];
        if (!x->word || f.parts[x->part].kind != SCHEDULE_TYPE) continue;
        const char *name = schedule_name_of(x->word->subjects);
        const schedule_place p = {.s = c->s, .op = c->op};
        const ast_generic *g = name ? schedule_generic_find(c->op, name) : NULL;
        const char *bound = g ? schedule_generic_value(&p, g) : name;
        if (!bound || !sema_dtype(bound, &t)) t = DT_COUNT;
    }
    return t;
}

static bool is_of_home(schedule_verb v) {   // says where a stage lives, or that it does not
    return v == SCHEDULE_KEEP || v == SCHEDULE_INLINE || v == SCHEDULE_ONLINE;
}

// The cells of all schedules of that op that are about what is kept of a stage.
static void read_schedules(sema *s, const char *path, said_list *out) {
    sema quiet = *s;
    quiet.ds = diag_set_new(s->arena, diag_sources(s->ds));
    for (uint32_t i = 0; i < s->schedules.len; i++) {
        if (!s->schedules.data[i]->path || !schedule_path_is(s->schedules.data[i]->path, path))
            continue;
        schedule_checker *c = ARENA_NEW(s->arena, schedule_checker);
        if (!schedule_collect(c, &quiet, s->schedules.data[i])) continue;
        for (uint32_t k = 0; k < c->cells.len; k++) {
            const written_cell *w = &c->cells.data[k];
            schedule_verb v = (schedule_verb)(w->what - schedule_statement_at(0));
            bool about = v == SCHEDULE_SAVE || v == SCHEDULE_RECOMPUTE || is_of_home(v);
            if (w->empty || !about || !w->subject || w->from != c->item) continue;
            said x = {w->subject, v == SCHEDULE_SAVE ? type_said(c, w) : DT_COUNT, v, w->at};
            VEC_PUSH(s->arena, out, x);
        }
    }
}

static const said *find_said(const said_list *all, const char *stage, schedule_verb v) {
    for (uint32_t i = 0; i < all->len; i++)
        if (all->data[i].verb == v && !strcmp(all->data[i].stage, stage)) return &all->data[i];
    return NULL;
}

static bool home_said(const said_list *all, const char *stage) {
    for (uint32_t i = 0; i < all->len; i++)
        if (is_of_home(all->data[i].verb) && !strcmp(all->data[i].stage, stage)) return true;
    return false;
}

// ---- Stages -------------------------------------------------------------------------------------
// One value that can lie in memory, computed once.
static bool can_be_kept(const tensor_op *f, const tensor_stage *st) {
    const tensor_val_info *v = &f->vals.data[st->targets[0].val];
    return st->ntargets == 1 && st->loop == TENSOR_NO_LOOP && v->role == VAL_STAGE &&
           v->type != DT_INDEX;
}

static const tensor_stage *find_stage(const tensor_op *op, const char *name) {
    for (uint32_t i = 0; i < op->stages.len; i++)
        if (!strcmp(op->stages.data[i].name, name)) return &op->stages.data[i];
    return NULL;
}

static bool among_axes(const tensor_val_info *v, const tensor_val_info *result) {
    for (uint32_t i = 0; i < v->rank; i++) {
        uint32_t k = 0;
        while (k < result->rank && result->axes[k] != v->axes[i]) k++;
        if (k == result->rank) return false;
    }
    return true;
}

static bool no_larger_than_a_result(const tensor_op *f, const tensor_val_info *v) {
    for (tensor_val r = 0; r < f->nparams; r++)
        if (f->vals.data[r].role == VAL_RESULT && among_axes(v, &f->vals.data[r])) return true;
    return false;
}

static bool loads(const tensor_op *op, tensor_expr e, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(op, e);
    if (seen[e]) return false;
    seen[e] = 1;
    bool any = n->op == TENSOR_LOAD_OP;
    for (uint32_t i = 0; i < n->nargs && !any; i++) any = loads(op, n->args[i], seen);
    return any;
}

// Counting again costs no more than reading what was counted.
static bool costs(const tensor_op *f, const tensor_stage *st) {
    uint8_t *seen = ARENA_ARRAY(f->arena, uint8_t, f->exprs.len);
    return st->reducer != TENSOR_NO_REDUCER && loads(f, st->body[0], seen);
}

typedef VEC(tensor_op *) gradient_ops;

static bool is_extremum(const tensor_op *f, const tensor_stage *st) {
    if (st->reducer == TENSOR_NO_REDUCER) return false;
    tensor_reduce_kind k = f->reducers.data[st->reducer].kind;
    return k == REDUCE_MAX || k == REDUCE_MIN;
}

static const tensor_stage *writer_of(const tensor_op *op, tensor_val v) {
    for (uint32_t i = 0; i < op->stages.len; i++)
        if (op->stages.data[i].targets[0].val == v) return &op->stages.data[i];
    return NULL;
}

static bool reads_sum(const tensor_op *f, tensor_expr e, uint8_t *seen);

// Whether a value is, or is made of, sums of floats, whose last bits depend on the plan.
static bool is_of_sums(const tensor_op *f, tensor_val v, uint8_t *seen) {
    const tensor_stage *w = writer_of(f, v);
    if (!w || !ir_dtype_is_float(f->vals.data[v].type)) return false;
    bool sums = w->reducer != TENSOR_NO_REDUCER && !is_extremum(f, w);
    for (uint32_t i = 0; i < w->ntargets && !sums; i++) sums = reads_sum(f, w->body[i], seen);
    return sums;
}

static bool reads_sum(const tensor_op *f, tensor_expr e, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(f, e);
    if (seen[e]) return false;
    seen[e] = 1;
    bool any = n->op == TENSOR_LOAD_OP && is_of_sums(f, (tensor_val)n->imm.i, seen);
    for (uint32_t i = 0; i < n->nargs && !any; i++) any = reads_sum(f, n->args[i], seen);
    return any;
}

static bool is_load_of(const tensor_op *g, tensor_expr e, const char *name) {
    const tensor_node *n = tensor_node_at(g, e);
    return n->op == TENSOR_LOAD_OP && !strcmp(g->vals.data[n->imm.i].name, name);
}

// Whether a gradient asks which value is this one.
static bool asks_for(const tensor_op *g, const char *name) {
    for (tensor_expr e = 1; e < g->exprs.len; e++) {
        const tensor_node *n = tensor_node_at(g, e);
        if (n->op == TENSOR_EQ_OP &&
            (is_load_of(g, n->args[0], name) || is_load_of(g, n->args[1], name)))
            return true;
    }
    return false;
}

// A gradient knows a maximum by its value. It finds the same one where it computes with the same
// bits what that was the largest of; of sums it does not, and so finds the maximum again, too.
static bool is_lost(const tensor_op *f, const tensor_stage *st, const gradient_ops *made) {
    if (!is_extremum(f, st) ||
        !reads_sum(f, st->body[0], ARENA_ARRAY(f->arena, uint8_t, f->exprs.len)))
        return false;
    for (uint32_t i = 0; i < made->len; i++)
        if (asks_for(made->data[i], st->name)) return true;
    return false;
}

// ---- The decision -------------------------------------------------------------------------------
static bool is_of(sema *s, const ast_item *g, const char *path) {
    return g->path && gradient_find(s, gradient_path(s, g)) == g && schedule_path_is(g->path, path);
}

// What the gradient would compute again.
static tensor_op *derive_quietly(sema *s, const ast_item *g, const tensor_op *f) {
    sema quiet = *s;
    quiet.ds = diag_set_new(s->arena, diag_sources(s->ds));
    return gradient_derive(&quiet, g, f, NULL);
}

// The caller has them, whatever computed them.
static void add_results(sema *s, const tensor_op *f, const said_list *all, saved_stages *out) {
    for (uint32_t others = 0; others < 2; others++) {
        for (tensor_val v = 0; v < f->nparams; v++) {
            const tensor_val_info *i = &f->vals.data[v];
            bool may = i->role == VAL_RESULT && ir_dtype_is_float(i->type) &&
                       !find_said(all, i->name, SCHEDULE_RECOMPUTE);
            if (may && (find_said(all, i->name, SCHEDULE_SAVE) == NULL) == (others == 1))
                VEC_PUSH(s->arena, &out->results, v);
        }
        if (!others) out->nasked = out->results.len;
    }
}

static bool is_given(const tensor_op *g, const tensor_op *f, tensor_val result) {
    for (tensor_val v = 0; v < g->nparams; v++)
        if (g->vals.data[v].facts & FACT_GIVEN &&
            !strcmp(g->vals.data[v].name, f->vals.data[result].name))
            return true;
    return false;
}

// A walk over the result's rows would sum as much again as it sums anyway, was it not for the
// result: of narrower sums the result's own bytes cost more.
static bool pays(const tensor_op *g, const tensor_op *f, tensor_val result) {
    const tensor_stage *y = writer_of(f, result);
    const tensor_node *map = y && y->nkeys ? tensor_node_at(f, y->keys[0].lhs) : NULL;
    for (uint32_t i = 0; map && map->op == TENSOR_LOAD_OP && i < g->stages.len; i++) {
        const tensor_stage *st = &g->stages.data[i];
        const tensor_node *by = st->nkeys ? tensor_node_at(g, st->keys[0].lhs) : NULL;
        bool same = by && by->op == TENSOR_LOAD_OP &&
                    !strcmp(g->vals.data[by->imm.i].name, f->vals.data[map->imm.i].name);
        if (same && st->reducer != TENSOR_NO_REDUCER && st->nleft >= y->nleft) return true;
    }
    return false;
}

static tensor_op *saved_derive(sema *s, const ast_item *grad, const tensor_op *f,
                               const saved_stages *kept) {
    tensor_op *g = gradient_derive(s, grad, f, kept);
    saved_stages less = *kept;
    less.results.len = 0;
    for (uint32_t i = 0; g && i < kept->results.len; i++) {
        tensor_val v = kept->results.data[i];
        if (i < kept->nasked || (is_given(g, f, v) && pays(g, f, v)))
            less.results.data[less.results.len++] = v;
    }
    return g && less.results.len < kept->results.len ? gradient_derive(s, grad, f, &less) : g;
}

// The last two, where nobody asked for either by itself, are kept as one number.
static void join_softmax(sema *s, const tensor_op *f, const said_list *all, saved_stages *out) {
    gradient_saved *last = out->stages.len > 1 ? &out->stages.data[out->stages.len - 1] : NULL,
                   *max = last ? last - 1 : NULL;
    if (!last || max->sum != TENSOR_NO_VAL ||
        find_said(all, f->vals.data[max->val].name, SCHEDULE_SAVE))
        return;
    if (max->type != last->type || !tensor_is_softmax(s->arena, f, max->val, last->val)) return;
    max->sum = last->val;
    out->stages.len--;
}

static saved_stages saved_of(sema *s, const char *path, const tensor_op *f) {
    saved_stages out = {0};
    said_list all = {0};
    gradient_ops made = {0};
    read_schedules(s, path, &all);
    for (uint32_t i = 0; i < s->grads.len; i++) {
        if (!is_of(s, s->grads.data[i], path)) continue;
        read_schedules(s, gradient_path(s, s->grads.data[i]), &all);
        tensor_op *g = derive_quietly(s, s->grads.data[i], f);
        if (g) VEC_PUSH(s->arena, &made, g);
    }
    for (uint32_t i = 0; i < f->stages.len; i++) {
        const tensor_stage *st = &f->stages.data[i];
        const tensor_val_info *v = &f->vals.data[st->targets[0].val];
        const said *save = find_said(&all, st->name, SCHEDULE_SAVE);
        bool needed = false, kept = save || (costs(f, st) && no_larger_than_a_result(f, v) &&
                                             !is_lost(f, st, &made) && !home_said(&all, st->name));
        for (uint32_t k = 0; k < made.len; k++)
            needed |= find_stage(made.data[k], st->name) != NULL;
        if (!needed || !kept || !can_be_kept(f, st) ||
            find_said(&all, st->name, SCHEDULE_RECOMPUTE))
            continue;
        gradient_saved x = {st->targets[0].val,
                            save && save->type != DT_COUNT ? save->type : v->type, TENSOR_NO_VAL};
        VEC_PUSH(s->arena, &out.stages, x);
        if (!save) join_softmax(s, f, &all, &out);
    }
    add_results(s, f, &all, &out);
    return out;
}

static const gradient_saved *find_saved(const saved_stages *all, tensor_val v) {
    for (uint32_t i = 0; i < all->stages.len; i++)
        if (all->stages.data[i].val == v || all->stages.data[i].sum == v)
            return &all->stages.data[i];
    return NULL;
}

// Of a softmax the pair is one row, where its maximum stands.
static void list_value(sema *s, const tensor_op *f, tensor_val v, const gradient_saved *x,
                       frontend_kept_list *out) {
    const tensor_val_info *i = &f->vals.data[v];
    if (x && x->sum == v) return;
    if (x && x->sum != TENSOR_NO_VAL) {
        tensor_val_info *lse = ARENA_NEW(s->arena, tensor_val_info);
        *lse = *i;
        lse->name = gradient_saved_name(s->arena, f, x);
        i = lse;
    }
    VEC_PUSH(s->arena, out,
             ((frontend_kept){i, x ? x->type : i->type, x ? KEPT_SAVED : KEPT_AGAIN}));
}

static void list_given(sema *s, const ast_item *grad, const tensor_op *f, const saved_stages *saved,
                       frontend_kept_list *out) {
    const tensor_op *g = saved->stages.len ? saved_derive(s, grad, f, saved) : NULL;
    for (tensor_val v = 0; g && v < g->nparams; v++) {
        const tensor_val_info *i = &g->vals.data[v];
        if (i->facts & FACT_GIVEN)
            VEC_PUSH(s->arena, out, ((frontend_kept){i, i->type, KEPT_GIVEN}));
    }
}

bool saved_list(sema *s, const ast_item *grad, const tensor_op *f, frontend_kept_list *out) {
    const char *path = schedule_path_text(s, grad->path);
    saved_stages saved = gradient_find(s, path) ? (saved_stages){0} : saved_of(s, path, f);
    const tensor_op *g = gradient_derive(s, grad, f, NULL);
    for (uint32_t i = 0; g && i < f->stages.len; i++) {
        const tensor_stage *st = &f->stages.data[i];
        if (!find_stage(g, st->name)) continue;
        for (uint32_t t = 0; t < st->ntargets; t++)
            list_value(s, f, st->targets[t].val, find_saved(&saved, st->targets[t].val), out);
    }
    if (g) list_given(s, grad, f, &saved, out);
    return g;
}

// ---- Faults -------------------------------------------------------------------------------------
static diagnostic *refuse(sema *s, const said *x, const char *why, const char *help) {
    diagnostic *d = diag(s->ds, E0546, x->at, "'%s' cannot be %s: %s", x->stage,
                         x->verb == SCHEDULE_SAVE ? "saved" : "recomputed", why);
    return diag_help(d, "%s", help);
}

// The gradient as it is where all results are given.
static tensor_op *with_results(sema *s, const ast_item *grad, const tensor_op *f) {
    saved_stages all = {0};
    said_list none = {0};
    add_results(s, f, &none, &all);
    return gradient_derive(s, grad, f, &all);
}

static bool names_given(const tensor_op *f, const tensor_op *all, const said *x) {
    for (tensor_val v = 0; all && v < f->nparams; v++)
        if (!strcmp(f->vals.data[v].name, x->stage) && is_given(all, f, v)) return true;
    return false;
}

static void check_one(sema *s, const ast_item *grad, const said *x, const tensor_op *f,
                      const tensor_op *g, const said_list *all) {
    if (f && names_given(f, with_results(s, grad, f), x)) {
        if (x->type != DT_COUNT)
            refuse(s, x, "it is a result, which is handed over as it is stored",
                   "leave the type out");
        return;
    }
    const tensor_stage *st = f ? find_stage(f, x->stage) : NULL;
    const said *saved = x->verb == SCHEDULE_RECOMPUTE ? find_said(all, x->stage, SCHEDULE_SAVE)
                                                      : NULL;
    if (!f) refuse(s, x, "a gradient of a gradient computes all it needs", "leave it out");
    else if (!st || !find_stage(g, x->stage))
        refuse(s, x, "no stage of the op that this gradient reads has that name",
               "--emit=tensor prints the gradient's stages: those of the op have its names");
    else if (!can_be_kept(f, st))
        refuse(s, x, "it is a result, an index, or computed together with others", "leave it out");
    else if (x->type != DT_COUNT && !ir_dtype_is_float(f->vals.data[st->targets[0].val].type))
        refuse(s, x, "its values are no floats", "leave the type out");
    else if (saved)
        diag_note(refuse(s, x,
                         "another statement saves it, and what is kept is kept for all schedules",
                         "leave one of them out"),
                  saved->at, "saved here");
}

void saved_check(sema *s, const ast_item *grad, const tensor_op *f, const tensor_op *g) {
    said_list all = {0};
    bool nested = gradient_find(s, schedule_path_text(s, grad->path)) != NULL;
    read_schedules(s, gradient_path(s, grad), &all);
    for (uint32_t i = 0; i < all.len; i++)
        if (!is_of_home(all.data[i].verb))
            check_one(s, grad, &all.data[i], nested ? NULL : f, g, &all);
}

// ---- Twins --------------------------------------------------------------------------------------
static const char *twin_name(sema *s, const char *name, const char *base, const char *word) {
    size_t n = strlen(base);   // the types stand behind it
    return arena_printf(s->arena, "%.*s_%s%s", (int)n, name, word, name + n);
}

tensor_op *saved_lower_forward(sema *s, const ast_item *item, tensor_op *f) {
    saved_stages saved = f ? saved_of(s, item->name.text, f) : (saved_stages){0};
    if (!saved.stages.len) return NULL;
    return gradient_verified(s, tensor_saving(s->arena, f,
                                              twin_name(s, f->name, item->name.text, "saving"),
                                              saved.stages.data, saved.stages.len));
}

tensor_op *saved_lower_gradient(sema *s, const ast_item *g, tensor_op *f) {
    const char *path = schedule_path_text(s, g->path);
    saved_stages saved = f && !gradient_find(s, path) ? saved_of(s, path, f) : (saved_stages){0};
    tensor_op *made = saved.stages.len ? saved_derive(s, g, f, &saved) : NULL;
    if (made)
        made->name = twin_name(s, made->name, gradient_name_in_c(s, gradient_path(s, g)), "saved");
    return made;
}
