// Loop IR as text (LOOP.md): the op, then the plan.
#include "loop_internal.h"
#include "tensor_print.h"

#include <string.h>

typedef struct {
    printer text;
    const loop_plan *plan;
    loop_names names;
    bool *bound;        // per variable: by a node
    loop_exprs exprs;   // of the node at hand
} plan_printer;

#define OUT(p, ...) textbuf_printf((p)->text.out, __VA_ARGS__)
static void put_expr(plan_printer *p, tensor_expr e) { tensor_print_expr(&p->text, e, false); }

static const char *indent_of(plan_printer *p, uint32_t depth) {
    return arena_printf(p->text.scratch, "%*s", (int)depth * 2, "");
}

// ---- Fields -------------------------------------------------------------------------------------
// A value behind its word, by its form.
typedef void print_form(plan_printer *p, const void *of, const loop_field *f);

static void print_fields(plan_printer *p, uint32_t of, const void *has);

static void print_count(plan_printer *p, const void *of, const loop_field *f) {
    OUT(p, " %u", (unsigned)loop_field_count(f, of));
}
static void print_pad(plan_printer *p, const void *of, const loop_field *f) {
    print_count(p, of, f);
}

static void print_flag(plan_printer *p, const void *of, const loop_field *f) {
    (void)p, (void)of, (void)f;
}

static void print_variable(plan_printer *p, const void *of, const loop_field *f) {
    OUT(p, " %s", p->names.vars[loop_field_count(f, of)]);
}

static void print_expr(plan_printer *p, const void *of, const loop_field *f) {
    OUT(p, " ");
    put_expr(p, loop_field_count(f, of));
}

static void print_limit(plan_printer *p, const void *of, const loop_field *f) {
    const loop_node *n = of;
    if (!n->rounds.pad) print_expr(p, of, f);
    else OUT(p, " size(%s)", p->text.spaces[p->plan->op->vars.data[n->var].space]);
}

// NULL: the numbers themselves.
static void put_list(plan_printer *p, const void *of, const loop_field *f,
                     const char *const *names) {
    const uint32_t *all = loop_field_list(f, of);
    for (uint32_t i = 0; i < loop_field_count(f, of); i++)
        if (names) OUT(p, "%s %s", i ? "," : "", names[all[i]]);
        else OUT(p, "%s %u", i ? "," : "", (unsigned)all[i]);
}
static void print_stages(plan_printer *p, const void *of, const loop_field *f) {
    put_list(p, of, f, p->names.stages);
}
static void print_values(plan_printer *p, const void *of, const loop_field *f) {
    put_list(p, of, f, p->text.vals);
}
static void print_sizes(plan_printer *p, const void *of, const loop_field *f) {
    put_list(p, of, f, NULL);
}

static void put_slots(plan_printer *p, const tensor_expr *e, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        OUT(p, i ? ", " : " (");
        put_expr(p, e[i]);
    }
    if (n) OUT(p, ")");
}
static void print_slots(plan_printer *p, const void *of, const loop_field *f) {
    put_slots(p, loop_field_list(f, of), loop_field_count(f, of));
}

// ---- Those of one field -------------------------------------------------------------------------

static void print_digits(plan_printer *p, const void *of, const loop_field *f) {
    const loop_node *n = of;
    (void)f;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        OUT(p, "%s %u", loop_place_text(n->digits[i].place), (unsigned)n->digits[i].extent);
        if (n->digits[i].unit > 1) OUT(p, " unit %u", (unsigned)n->digits[i].unit);
        OUT(p, ", ");
    }
    OUT(p, "%s", loop_place_text(n->rest));
}
static void print_end(plan_printer *p, const void *of, const loop_field *f) {
    (void)of, (void)f;
    OUT(p, "]");
}

static void print_distributed(plan_printer *p, const void *of, const loop_field *f) {
    const loop_distribution *d = &((const loop_node *)of)->distributed;
    (void)f;
    OUT(p, " lane %u", (unsigned)d->to.extent);
    if (d->to.unit > 1) OUT(p, " unit %u", (unsigned)d->to.unit);
    OUT(p, " of %s", p->names.vars[d->of]);
}

static void print_fetched(plan_printer *p, const void *of, const loop_field *field) {
    const loop_copies *c = &((const loop_node *)of)->fetch;
    (void)field;
    OUT(p, " %u", (unsigned)c->buffers);
    for (uint32_t i = 0; i < c->n; i++) {
        const loop_fetch *f = &c->rows[i];
        OUT(p, "%s %s[", i ? "," : "", p->text.vals[f->val]);
        for (uint32_t k = 0; k < f->nindex; k++) {
            if (k) OUT(p, ", ");
            put_expr(p, f->index[k]);
        }
        OUT(p, "]");
        if (f->beside != LOOP_NO_BESIDE)
            OUT(p, " %s %s", f->own ? "own" : "beside", p->names.vars[f->beside]);
        print_fields(p, LOOP_OF_FETCH, f);
    }
}

static void print_swizzle(plan_printer *p, const void *of, const loop_field *field) {
    const loop_swizzle *s = &((const loop_fetch *)of)->swizzle;
    (void)field;
    for (uint32_t i = 0; i < s->n; i++) OUT(p, "%s%u", i ? ", " : " (", (unsigned)s->rows[i]);
    OUT(p, ")");
}

static void print_matrix(plan_printer *p, const void *of, const loop_field *f) {
    const loop_matrix *m = ((const loop_node *)of)->reduce.matrix;
    const bool rows = m->rows != LOOP_NO_ROWS;
    (void)f;
    OUT(p, " %s (%s%s%s, %s)", simt_mma_table(m->kind)->text, rows ? p->names.vars[m->rows] : "",
        rows ? ", " : "", p->names.vars[m->columns], p->names.vars[m->depth]);
    print_fields(p, LOOP_OF_MATRIX, m);
}

static void print_maxima(plan_printer *p, const void *of, const loop_field *f) {
    const loop_reducing *r = &((const loop_node *)of)->reduce;
    (void)f;
    for (uint32_t i = 0; i < r->nmaxima; i++) {
        OUT(p, "%s %s", i ? "," : "", p->names.stages[r->maxima[i].stage]);
        print_fields(p, LOOP_OF_MAXIMUM, &r->maxima[i]);
        put_slots(p, &r->maxima[i].slot, r->maxima[i].slot != 0);
    }
}

static void print_carried(plan_printer *p, const void *of, const loop_field *f) {
    const loop_state *s = &((const loop_node *)of)->state;
    (void)f;
    OUT(p, s->n ? " first" : " combine");
    put_slots(p, s->loads, s->n);
    if (s->n) OUT(p, " last");
    put_slots(p, s->last, s->n);
}

static void print_start(plan_printer *p, const void *of, const loop_field *f) {
    static const char *const starts[] = {"", "early wait first", "early wait last", "fused",
                                         "interleave"};
    (void)f;
    OUT(p, " %s", starts[((const loop_kernel *)of)->start]);
}

static void print_hints(plan_printer *p, const void *of, const loop_field *f) {
    const loop_kernel *k = of;
    (void)f;
    for (uint32_t i = 0; i < k->hints.len; i++)
        OUT(p, "%s %s %s", i ? "," : "", p->text.vals[k->hints.data[i].val],
            simt_cache_text(k->hints.data[i].cache));
}

static void print_fields(plan_printer *p, uint32_t of, const void *has) {
    static print_form *const forms[] = {
#define X(form, as) [LOOP_FORM_##form] = print_##as,
        LOOP_FORMS(X)
#undef X
    };
    bool there = false;   // what WITH and BEHIND ask for
    for (const loop_field *f = NULL; (f = loop_field_next(of, f));) {
        if (f->when == LOOP_ALWAYS || f->when == LOOP_MAYBE) there = loop_field_said(f, has);
        if (!there || (f->when == LOOP_BEHIND && !loop_field_said(f, has))) continue;
        if (*f->word) OUT(p, " %s", f->word);
        forms[f->form](p, has, f);
    }
}

// ---- Nodes --------------------------------------------------------------------------------------

static void print_node(plan_printer *p, const loop_node *n, uint32_t depth) {
    const char *indent = indent_of(p, depth);
    loop_exprs_of(p->text.scratch, n, &p->exprs);
    for (uint32_t i = 0; i < p->exprs.len; i++) tensor_print_collect(&p->text, p->exprs.data[i]);
    tensor_print_lets(&p->text, indent);
    OUT(p, "%s%s", indent, loop_node_table(n->kind)->text);
    print_fields(p, n->kind, n);
    tensor_print_forget(&p->text);
    if (!loop_node_table(n->kind)->body) {
        OUT(p, "\n");
        return;
    }
    OUT(p, " {\n");
    for (uint32_t i = 0; i < n->body.len; i++) print_node(p, n->body.data[i], depth + 1);
    OUT(p, "%s}\n", indent);
}

static void print_kernel(plan_printer *p, const loop_kernel *k, uint32_t depth) {
    const char *indent = indent_of(p, depth);
    OUT(p, "%skernel %s", indent, tensor_print_fit(p->text.scratch, k->name));
    print_fields(p, LOOP_OF_KERNEL, k);
    OUT(p, " {\n");
    for (uint32_t i = 0; i < k->body.len; i++) print_node(p, k->body.data[i], depth + 1);
    OUT(p, "%s}\n", indent);
}

static void print_steps(plan_printer *p) {
    uint32_t depth = 1;
    for (uint32_t i = 0; i < p->plan->steps.len; i++) {
        const loop_step *s = &p->plan->steps.data[i];
        switch (s->kind) {
        case LOOP_LAUNCH: print_kernel(p, s->kernel, depth); break;
        case LOOP_ROUNDS:
            OUT(p, "%srounds %s {\n", indent_of(p, depth++),
                p->names.vars[p->plan->op->loops.data[s->loop].step]);
            break;
        case LOOP_ROUNDS_END: OUT(p, "%s}\n", indent_of(p, --depth)); break;
        }
    }
}

// ---- Declarations -------------------------------------------------------------------------------

static void mark_bound(plan_printer *p, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (loop_kind_has(n->kind, LOOP_FORM_variable)) p->bound[n->var] = true;
        mark_bound(p, &n->body);
    }
}

static bool is_position(const loop_plan *plan, tensor_var v) {
    for (uint32_t i = 0; i < plan->op->stages.len; i++) {
        const tensor_stage *s = &plan->op->stages.data[i];
        for (uint32_t k = 0; k < s->nleft + s->nbound; k++)
            if (v == (k < s->nleft ? s->left[k] : s->bound[k - s->nleft])) return false;
    }
    for (uint32_t i = 0; i < plan->op->loops.len; i++)
        if (v == plan->op->loops.data[i].step) return false;
    return true;
}

static void name_all(plan_printer *p) {
    const tensor_op *op = p->plan->op;
    p->bound = ARENA_ARRAY(p->text.scratch, bool, op->vars.len);
    for (uint32_t i = 0; i < p->plan->steps.len; i++)
        if (p->plan->steps.data[i].kind == LOOP_LAUNCH)
            mark_bound(p, &p->plan->steps.data[i].kernel->body);
    p->names = loop_names_of(p->text.scratch, op, p->text.vals, p->text.vars, p->bound);
    p->text.vars = p->names.vars;
}

static void print_positions(plan_printer *p) {
    const tensor_op *op = p->plan->op;
    for (tensor_var v = 0; v < op->vars.len; v++)
        if (p->bound[v] && is_position(p->plan, v))
            OUT(p, "  position %s : %s\n", p->names.vars[v],
                p->text.spaces[op->vars.data[v].space]);
}

static void print_prepared(plan_printer *p, const loop_prepared *r) {
    OUT(p, "  prepare %s = %s(", p->text.vals[r->val], prepared_builder_text(r->builder));
    for (uint32_t i = 0; i < r->nargs; i++) OUT(p, "%s%s", i ? ", " : "", p->text.vals[r->args[i]]);
    if (prepared_tiles(r->builder)) OUT(p, ", %lld", (long long)r->extent);
    if (r->slots) OUT(p, ", %lld", (long long)r->slots);
    OUT(p, ")\n");
}

static void print_shared(plan_printer *p, tensor_val v) {
    const loop_value *w = &p->plan->values.data[v];
    uint32_t rank = p->plan->op->vals.data[v].rank;
    for (uint32_t i = 0; i < rank; i++) tensor_print_collect(&p->text, w->origin[i]);
    tensor_print_lets(&p->text, "  ");
    OUT(p, "  shared %s : %s[", p->text.vals[v], ir_dtype_text(w->type));
    for (uint32_t i = 0; i < rank; i++) {
        OUT(p, "%s%u", i ? ", " : "", (unsigned)w->extent[i]);
        if (!w->origin[i]) continue;
        OUT(p, " from ");
        put_expr(p, w->origin[i]);
    }
    OUT(p, "]");
    if (w->of != TENSOR_NO_VAL) OUT(p, " of %s", p->text.vals[w->of]);
    OUT(p, "\n");
    tensor_print_forget(&p->text);
}

static void print_pads(plan_printer *p, tensor_val v) {
    const loop_value *w = &p->plan->values.data[v];
    uint32_t rank = p->plan->op->vals.data[v].rank;
    bool any = false;
    for (uint32_t i = 0; i < rank; i++) any |= w->pad[i] > 0;
    if (!any) return;
    OUT(p, "  padded %s[", p->text.vals[v]);
    for (uint32_t i = 0; i < rank; i++)
        OUT(p, "%s%u", i ? ", " : "", w->pad[i] ? (unsigned)w->pad[i] : 1u);
    OUT(p, "]\n");
}

static void print_home(plan_printer *p, tensor_val v) {
    const loop_value *w = &p->plan->values.data[v];
    switch (w->home) {
    case LOOP_MEMORY: break;
    case LOOP_SHARED: print_shared(p, v); break;
    case LOOP_REGISTERS: OUT(p, "  registers %s\n", p->text.vals[v]); break;
    case LOOP_INLINE:
        OUT(p, "  inline %s by %s\n", p->text.vals[v], p->names.stages[w->stage]);
        break;
    }
    print_pads(p, v);
}

void loop_print(textbuf *out, const loop_plan *plan) {
    arena *scratch = arena_new();
    plan_printer p = {.text = tensor_printer(out, plan->op, scratch), .plan = plan};
    tensor_print_op(&p.text);
    name_all(&p);
    OUT(&p, "plan %s {\n", tensor_print_fit(scratch, plan->op->name));
    print_positions(&p);
    for (uint32_t i = 0; i < plan->prepared.len; i++) print_prepared(&p, &plan->prepared.data[i]);
    for (tensor_val v = 0; v < plan->op->vals.len; v++) print_home(&p, v);
    print_steps(&p);
    OUT(&p, "}\n");
    arena_free(scratch);
}
