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
static void print_expr(plan_printer *p, tensor_expr e) { tensor_print_expr(&p->text, e, false); }

static const char *indent_of(plan_printer *p, uint32_t depth) {
    return arena_printf(p->text.scratch, "%*s", (int)depth * 2, "");
}

// ---- Nodes --------------------------------------------------------------------------------------

static void print_digits(plan_printer *p, const loop_node *n) {
    OUT(p, " [");
    for (uint32_t i = 0; i < n->ndigits; i++) {
        OUT(p, "%s %u", loop_place_text(n->digits[i].place), (unsigned)n->digits[i].extent);
        if (n->digits[i].unit > 1) OUT(p, " unit %u", (unsigned)n->digits[i].unit);
        OUT(p, ", ");
    }
    OUT(p, "%s", loop_place_text(n->rest));
    if (n->rounds.unroll > 1)
        OUT(p, " unroll %u%s", (unsigned)n->rounds.unroll, n->rounds.masked ? " masked" : "");
    if (n->rounds.within) OUT(p, " within");
    if (n->rounds.step > 1) OUT(p, " step %u", (unsigned)n->rounds.step);
    OUT(p, n->deal.steps ? "] dealt" : "]");
    if (n->deal.to.extent) OUT(p, " to lane %u", (unsigned)n->deal.to.extent);
    if (n->deal.to.unit > 1) OUT(p, " unit %u", (unsigned)n->deal.to.unit);
    if (n->deal.to.extent) OUT(p, " of %s", p->names.vars[n->deal.of]);
}

static void print_slots(plan_printer *p, const tensor_expr *e, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        OUT(p, i ? ", " : " (");
        print_expr(p, e[i]);
    }
    if (n) OUT(p, ")");
}

static void print_fetched(plan_printer *p, const loop_node *n) {
    for (uint32_t i = 0; i < n->fetch.n; i++) {
        const loop_fetch *f = &n->fetch.rows[i];
        if (i) OUT(p, ", ");
        else OUT(p, " fetch %u ", (unsigned)n->fetch.buffers);
        OUT(p, "%s[", p->text.vals[f->val]);
        for (uint32_t k = 0; k < f->nindex; k++) {
            if (k) OUT(p, ", ");
            print_expr(p, f->index[k]);
        }
        OUT(p, "]");
        if (f->beside != LOOP_NO_BESIDE)
            OUT(p, " %s %s", f->own ? "own" : "beside", p->names.vars[f->beside]);
        if (f->panels) OUT(p, " panels");
        else OUT(p, " pitch %u", (unsigned)f->pitch);
        if (f->every) OUT(p, " skew %u every %u", (unsigned)f->skew, (unsigned)f->every);
    }
}

static void print_reread(plan_printer *p, const loop_node *n) {
    for (uint32_t i = 0; i < n->fetch.nreread; i++)
        OUT(p, "%s %s", i ? "," : " reread", p->text.vals[n->fetch.reread[i]]);
}

static void print_maxima(plan_printer *p, const loop_node *n) {
    for (uint32_t i = 0; i < n->reduce.nmaxima; i++) {
        OUT(p, "%s %s", i ? "," : " online", p->names.stages[n->reduce.maxima[i].stage]);
        if (n->reduce.maxima[i].behind) OUT(p, " behind");
        print_slots(p, &n->reduce.maxima[i].slot, n->reduce.maxima[i].slot != 0);
    }
}

static void print_states(plan_printer *p, const loop_node *n) {
    print_slots(p, n->state.loads, n->state.n);
    print_maxima(p, n);
    if (!n->state.valid) return;
    OUT(p, " where ");
    print_expr(p, n->state.valid);
}

static void print_matrix(plan_printer *p, const loop_matrix *m) {
    if (!m) return;
    const bool rows = m->rows != LOOP_NO_ROWS;
    OUT(p, " by %s (%s%s%s, %s)", simt_mma_table(m->kind)->text, rows ? p->names.vars[m->rows] : "",
        rows ? ", " : "", p->names.vars[m->columns], p->names.vars[m->depth]);
    if (m->accumulators > 1) OUT(p, " accumulators %u", (unsigned)m->accumulators);
}

static void print_head(plan_printer *p, const loop_node *n) {
    const loop_node_form *form = loop_node_table(n->kind);
    OUT(p, "%s", form->text);
    if (form->var) OUT(p, " %s", p->names.vars[n->var]);
    for (uint32_t i = 0; i < n->nstages; i++)
        OUT(p, "%s %s", i ? "," : "", p->names.stages[n->stages[i]]);
    switch (n->kind) {
    case LOOP_FOR:
        OUT(p, " in ");
        print_expr(p, n->lo);
        OUT(p, " .. ");
        if (n->rounds.pad)
            OUT(p, "size(%s) pad %u", p->text.spaces[p->plan->op->vars.data[n->var].space],
                (unsigned)n->rounds.pad);
        else print_expr(p, n->hi);
        print_digits(p, n);
        print_fetched(p, n);
        print_reread(p, n);
        if (!n->holding.n) break;
        OUT(p, " hold");
        print_slots(p, n->holding.loads, n->holding.n);
        OUT(p, " lanes %u", (unsigned)n->holding.lanes);
        break;
    case LOOP_WITHIN:
        for (uint32_t i = 0; i < n->ranges.n; i++)
            OUT(p, "%s %u", i ? "," : "", (unsigned)n->ranges.most[i]);
        OUT(p, n->ranges.alone ? " alone of " : " of ");
        print_expr(p, n->lo);
        OUT(p, " .. ");
        print_expr(p, n->hi);
        break;
    case LOOP_LET:
        OUT(p, " = ");
        print_expr(p, n->value);
        break;
    case LOOP_GIVEN:
        OUT(p, " ");
        print_expr(p, n->key);
        OUT(p, " = ");
        print_expr(p, n->value);
        break;
    case LOOP_IF:
        OUT(p, " ");
        print_expr(p, n->value);
        break;
    case LOOP_CARRY:
        OUT(p, " by ");
        print_expr(p, n->key);
        OUT(p, n->state.n ? " first" : " combine");
        print_slots(p, n->state.loads, n->state.n);
        if (n->state.n) OUT(p, " last");
        print_slots(p, n->state.last, n->state.n);
        break;
    case LOOP_REDUCE:
        print_matrix(p, n->reduce.matrix);
        print_maxima(p, n);
        break;
    case LOOP_PHASE:
    case LOOP_WITHOUT:
    case LOOP_LEVEL:
    case LOOP_AGAIN:
    case LOOP_STORE:
    case LOOP_CLEAR:
    case LOOP_COMBINE: break;
    case LOOP_CONTRIBUTE:
    case LOOP_STORE_STATE: print_states(p, n); break;
    case LOOP_NODE_COUNT: break;
    }
}

static void print_node(plan_printer *p, const loop_node *n, uint32_t depth) {
    const char *indent = indent_of(p, depth);
    loop_exprs_of(p->text.scratch, n, &p->exprs);
    for (uint32_t i = 0; i < p->exprs.len; i++) tensor_print_collect(&p->text, p->exprs.data[i]);
    tensor_print_lets(&p->text, indent);
    OUT(p, "%s", indent);
    print_head(p, n);
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
    static const char *const starts[] = {"", "early wait first", "early wait last", "together",
                                         "alternate"};
    const char *indent = indent_of(p, depth);
    OUT(p, "%skernel %s threads %u lanes %u", indent, tensor_print_fit(p->text.scratch, k->name),
        (unsigned)k->threads, (unsigned)k->lanes);
    if (k->occupancy) OUT(p, " occupancy %u%s", (unsigned)k->occupancy, k->fits ? " fit" : "");
    if (k->persistent) OUT(p, " persistent %u", (unsigned)k->persistent);
    if (k->approximate) OUT(p, " approximate");
    if (k->start) OUT(p, " %s", starts[k->start]);
    for (uint32_t i = 0; i < k->hints.len; i++)
        OUT(p, "%s %s %s", i ? "," : " cache", p->text.vals[k->hints.data[i].val],
            simt_cache_text(k->hints.data[i].cache));
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
        if (loop_node_table(n->kind)->var) p->bound[n->var] = true;
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
        print_expr(p, w->origin[i]);
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
