// Facts as text, a line for each loop and each access to memory of a kernel, at the node where it
// is made:
//
//     kernel spmm
//       for p in offsets.dst[v] .. offsets.dst[v + 1]: position in [0, E - 1], extent at most 64
//       x[src[e], f] @ y.sum: axis 0 in [0, U - 1]; axis 1 in [0, F - 1], along f.vector affine 1, base
//       multiple 4
#include "facts/internal.h"

#include <string.h>

typedef struct {
    facts *f;
    textbuf *out;
    const loop_node *at;
    const loop_kernel *kernel;
    uint32_t *seen, stamp, seen_len;   // per expression: the last node it was met at
} facts_printer;

#define OUT(p, ...) textbuf_printf((p)->out, __VA_ARGS__)

// ---- Expressions --------------------------------------------------------------------------------

static void print_expr(textbuf *out, const tensor_op *op, tensor_expr e, uint32_t *budget);

static void print_args(textbuf *out, const tensor_op *op, const tensor_node *n, uint32_t *budget) {
    for (uint32_t i = 0; i < n->nargs; i++) {
        if (i) textbuf_puts(out, ", ");
        print_expr(out, op, n->args[i], budget);
    }
}

static void print_infix(textbuf *out, const tensor_op *op, const tensor_node *n, uint32_t *budget) {
    print_expr(out, op, n->args[0], budget);
    textbuf_puts(out, n->op == TENSOR_ADD_OP ? " + " : " - ");
    print_expr(out, op, n->args[1], budget);
}

static void print_constant(textbuf *out, const tensor_node *n) {
    if (ir_dtype_is_float(n->type.type)) textbuf_double(out, n->imm.f);
    else textbuf_printf(out, "%lld", (long long)n->imm.i);
}

// For people: no conversions, and … past the budget, as shared expressions may be long when written
// out.
static void print_expr(textbuf *out, const tensor_op *op, tensor_expr e, uint32_t *budget) {
    const tensor_node *n = tensor_node_at(op, e);
    if (*budget == 0) {
        textbuf_puts(out, "…");
        return;
    }
    --*budget;
    switch (n->op) {
    case TENSOR_CONST_OP: print_constant(out, n); return;
    case TENSOR_VAR_OP: textbuf_puts(out, op->vars.data[n->imm.i].name); return;
    case TENSOR_SIZE_OP: textbuf_puts(out, op->spaces.data[n->imm.i].name); return;
    case TENSOR_INDEX_OP:
    case TENSOR_CVT_OP: print_expr(out, op, n->args[0], budget); return;
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP: print_infix(out, op, n, budget); return;
    default: break;
    }
    bool load = n->op == TENSOR_LOAD_OP;
    textbuf_puts(out,
                 load ? op->vals.data[n->imm.i].name : tensor_op_table((tensor_opcode)n->op)->text);
    textbuf_puts(out, load ? "[" : "(");
    print_args(out, op, n, budget);
    textbuf_puts(out, load ? "]" : ")");
}

void facts_print_expr(textbuf *out, const tensor_op *op, tensor_expr e) {
    uint32_t budget = 64;
    print_expr(out, op, e, &budget);
}

// ---- Facts --------------------------------------------------------------------------------------

static void print_bound(const facts_printer *p, const facts_bound *b, int64_t constant,
                        bool is_constant) {
    if (!b->known && !is_constant) {
        OUT(p, "?");
        return;
    }
    if (!b->known || !b->n) {
        OUT(p, "%lld", (long long)constant);
        return;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        int64_t factor = b->terms[i].factor;
        if (i || factor < 0) OUT(p, i ? factor < 0 ? " - " : " + " : "-");
        if (factor != 1 && factor != -1)
            OUT(p, "%lld ", (long long)(factor < 0 ? -factor : factor));
        OUT(p, "%s", p->f->op->spaces.data[b->terms[i].space].name);
    }
    if (b->constant)
        OUT(p, " %c %lld", b->constant < 0 ? '-' : '+',
            (long long)(b->constant < 0 ? -b->constant : b->constant));
}

static void print_range(const facts_printer *p, const facts_range *r) {
    OUT(p, "in [");
    print_bound(p, &r->lo, r->min, r->min != INT64_MIN);
    OUT(p, ", ");
    print_bound(p, &r->hi, r->max, r->max != INT64_MAX);
    OUT(p, "]");
    if (r->hi.n && r->max != INT64_MAX) OUT(p, " at most %lld", (long long)r->max);
}

static void print_motion(const facts_printer *p, const loop_node *loop, uint32_t digit,
                         tensor_expr e) {
    facts_motion m = facts_along(p->f, p->at, e, loop->var, digit);
    bool position = digit == FACTS_POSITION, rest = digit == loop->ndigits;
    if (m.uniform || (!m.affine && !m.sorted && !m.distinct)) return;
    OUT(p, ", along %s", p->f->op->vars.data[loop->var].name);
    if (!position) OUT(p, ".%s", loop_place_text(rest ? loop->rest : loop->digits[digit].place));
    if (m.affine) OUT(p, " affine %lld", (long long)m.step);
    else OUT(p, "%s%s", m.sorted ? " sorted" : "", m.distinct ? " distinct" : "");
    if (!m.affine || position || rest) return;
    int64_t base = facts_base_multiple(p->f, p->at, e, loop->var, digit);
    if (base > 1) OUT(p, " base multiple %lld", (long long)base);
}

static void print_motions(const facts_printer *p, tensor_expr e) {
    for (const scope *s = scope_of(p->f, p->at); s->node; s = s->outer) {
        const loop_node *n = s->node;
        if (n->kind != LOOP_FOR) continue;
        print_motion(p, n, FACTS_POSITION, e);
        for (uint32_t i = 0; n->ndigits && i < n->ndigits + (n->rest != LOOP_WHOLE_PLACE); i++)
            print_motion(p, n, i, e);
    }
}

static void print_value(const facts_printer *p, tensor_expr e) {
    facts_range r = facts_interval(p->f, p->at, e);
    int64_t multiple = facts_multiple(p->f, p->at, e);
    print_range(p, &r);
    if (multiple > 1) OUT(p, " multiple %lld", (long long)multiple);
    print_motions(p, e);
}

static void print_axes(const facts_printer *p, const tensor_expr *index, uint32_t n) {
    const char *stage = p->at->nstages ? p->f->op->stages.data[p->at->stages[0]].name : NULL;
    if (stage) OUT(p, " @ %s", stage);
    OUT(p, ":");
    for (uint32_t i = 0; i < n; i++) {
        OUT(p, "%s axis %u ", i ? ";" : "", (unsigned)i);
        print_value(p, index[i]);
    }
    OUT(p, "\n");
}

// ---- Nodes --------------------------------------------------------------------------------------

static bool first_here(facts_printer *p, tensor_expr e) {
    if (e >= p->seen_len) {   // answering makes no expressions, so all were there at the start
        ICE("an expression came while facts were printed");
    }
    bool first = p->seen[e] != p->stamp;
    p->seen[e] = p->stamp;
    return first;
}

static void print_loads(facts_printer *p, tensor_expr e) {
    if (!e || !first_here(p, e)) return;
    tensor_node n = *tensor_node_at(p->f->op, e);
    for (uint32_t i = 0; i < n.nargs; i++) print_loads(p, n.args[i]);
    if (n.op != TENSOR_LOAD_OP || n.nargs == 0) return;
    OUT(p, "  ");
    facts_print_expr(p->out, p->f->op, e);
    print_axes(p, n.args, n.nargs);
}

static void print_all(facts_printer *p, const tensor_expr *exprs, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) print_loads(p, exprs[i]);
}

static void print_target(facts_printer *p, const tensor_target *t) {
    OUT(p, "  store %s[", p->f->op->vals.data[t->val].name);
    for (uint32_t i = 0; i < t->rank; i++) {
        if (i) OUT(p, ", ");
        facts_print_expr(p->out, p->f->op, t->index[i]);
    }
    OUT(p, "]");
    print_axes(p, t->index, t->rank);
}

static void print_store(facts_printer *p, const tensor_stage *s) {
    if (s->reducer == TENSOR_NO_REDUCER) print_all(p, s->body, s->nbody);
    print_all(p, s->orelse, s->nelse);
    for (uint32_t i = 0; i < s->ntargets; i++) print_target(p, &s->targets[i]);
}

// What lanes hold in shared memory: a tile of each row that the block has at once.
static void print_held(facts_printer *p, const loop_node *n) {
    uint32_t points = 1;
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place != LOOP_LANE_PLACE && n->digits[i].place != LOOP_GROUP_PLACE)
            points *= n->digits[i].extent;
    for (uint32_t i = 0; i < n->holding.n; i++) {
        OUT(p, "  ");
        facts_print_expr(p->out, p->f->op, n->holding.loads[i]);
        OUT(p, " in shared memory: %u points of %s for each of %u rows", (unsigned)points,
            p->f->op->vars.data[n->var].name, (unsigned)(p->kernel->threads / n->holding.lanes));
        if (n->holding.shared > 1) OUT(p, ", of %u rounds", (unsigned)n->holding.shared);
        OUT(p, "\n");
    }
}

static void print_loop(facts_printer *p, const loop_node *n) {
    print_loads(p, n->lo);
    print_loads(p, n->hi);
    OUT(p, "  for %s in ", p->f->op->vars.data[n->var].name);
    facts_print_expr(p->out, p->f->op, n->lo);
    OUT(p, " .. ");
    facts_print_expr(p->out, p->f->op, n->hi);
    facts_range lo = facts_interval(p->f, p->at, n->lo), hi = facts_interval(p->f, p->at, n->hi);
    facts_range r = {lo.lo, hi.hi, lo.min, hi.max};
    OUT(p, ": ends ");
    print_range(p, &r);
    int64_t cover = facts_cover(p->f, n);
    if (cover != INT64_MAX) OUT(p, ", extent at most %lld", (long long)cover);
    OUT(p, "%s\n", facts_exact(p->f, n) ? ", exact" : "");
    if (n->holding.shared) print_held(p, n);
}

static void print_body(facts_printer *p, const loop_body *body);

static void print_node(facts_printer *p, const loop_node *n) {
    p->at = n;
    p->stamp++;
    const tensor_stage *s = n->nstages ? &p->f->op->stages.data[n->stages[0]] : NULL;
    switch (n->kind) {
    case LOOP_FOR: print_loop(p, n); break;
    case LOOP_LET:
    case LOOP_GIVEN:
    case LOOP_IF: print_loads(p, n->value); break;
    case LOOP_CONTRIBUTE:
        if (n->state.n) print_all(p, n->state.loads, n->state.n);
        else print_all(p, s->filters, s->nfilters), print_all(p, s->body, s->nbody);
        for (uint32_t i = 0; i < n->reduce.nmaxima; i++) print_loads(p, n->reduce.maxima[i].slot);
        print_loads(p, n->state.valid);
        break;
    case LOOP_STORE:
    case LOOP_CLEAR:
    case LOOP_COMBINE: print_store(p, s); break;
    case LOOP_STORE_STATE: print_all(p, n->state.loads, n->state.n); break;
    case LOOP_CARRY:
        print_all(p, n->state.loads, n->state.n), print_all(p, n->state.last, n->state.n);
        break;   // the key stands inside its body
    case LOOP_PHASE:
    case LOOP_WITHIN:
    case LOOP_WITHOUT:
    case LOOP_REDUCE:
    case LOOP_LEVEL:
    case LOOP_AGAIN:
    case LOOP_NODE_COUNT: break;
    }
    print_body(p, &n->body);
}

static void print_body(facts_printer *p, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) print_node(p, body->data[i]);
}

void facts_print(textbuf *out, facts *f) {
    facts_printer p = {.f = f, .out = out, .seen_len = f->op->exprs.len};
    p.seen = ARENA_ARRAY(f->arena, uint32_t, p.seen_len);
    for (uint32_t i = 0; i < f->plan->steps.len; i++) {
        if (f->plan->steps.data[i].kind != LOOP_LAUNCH) continue;
        p.kernel = f->plan->steps.data[i].kernel;
        OUT(&p, "kernel %s\n", p.kernel->name);
        print_body(&p, &f->plan->steps.data[i].kernel->body);
    }
}
