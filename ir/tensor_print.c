// Tensor IR as text (TENSOR.md). Names are made unique and fit for the text; subexpressions used
// more than once in an equation are bound by `let`, and very deep ones too, so that neither sharing
// nor nesting makes the text grow or unreadable.
#include "tensor_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PRINTED_DEPTH = 48 };   // well below what the parser takes

#define OUT(p, ...) textbuf_printf((p)->out, __VA_ARGS__)

// ---- Names --------------------------------------------------------------------------------------

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

const char *tensor_print_fit(arena *a, const char *name) {
    char *s = arena_strdup(a, name && *name ? name : "_");
    for (char *c = s; *c; c++)
        if (!is_word(*c) && !(*c == '.' && c > s && c[-1] != '.' && c[1])) *c = '_';
    return *s >= '0' && *s <= '9' ? arena_printf(a, "_%s", s) : s;
}

static const char **name_slot(const name_set *set, const char *name) {
    uint32_t h = 2166136261u;
    for (const char *c = name; *c; c++) h = (h ^ (unsigned char)*c) * 16777619u;
    for (h ^= h >> 15;; h++) {
        const char **slot = &set->slots[h & (set->cap - 1)];
        if (!*slot || !strcmp(*slot, name)) return slot;
    }
}

static void name_add(name_set *set, const char *name) {
    if (set->count * 2 >= set->cap) {
        name_set grown = {set->arena, NULL, 0, set->cap ? set->cap * 2 : 16};
        grown.slots = ARENA_ARRAY(set->arena, const char *, grown.cap);
        for (uint32_t i = 0; i < set->cap; i++)
            if (set->slots[i]) *name_slot(&grown, set->slots[i]) = set->slots[i];
        set->slots = grown.slots;
        set->cap = grown.cap;
    }
    *name_slot(set, name) = name;
    set->count++;
}

// The name, fit for the text and unlike those of the set, to which it is added.
const char *tensor_print_unique(name_set *set, const char *name) {
    const char *fit = tensor_print_fit(set->arena, name), *unique = fit;
    for (uint32_t k = 2; set->cap && *name_slot(set, unique); k++)
        unique = arena_printf(set->arena, "%s.%u", fit, (unsigned)k);
    name_add(set, unique);
    return unique;
}

// Words that stand where variables do.
name_set tensor_print_constants(arena *a) {
    name_set set = {.arena = a};
    name_add(&set, "true");
    name_add(&set, "false");
    for (ir_dtype t = 0; ir_dtype_is_float(t); t++) {
        name_add(&set, arena_printf(a, "inf.%s", ir_dtype_text(t)));
        name_add(&set, arena_printf(a, "nan.%s", ir_dtype_text(t)));
    }
    return set;
}

static void name_reducers(printer *p) {
    name_set set = {.arena = p->scratch};
    for (int k = 0; k < REDUCE_USER; k++) name_add(&set, tensor_reduce_name((tensor_reduce_kind)k));
    p->reducers = ARENA_ARRAY(p->scratch, const char *, p->op->reducers.len);
    for (uint32_t i = 0; i < p->op->reducers.len; i++) {
        const tensor_reducer *r = &p->op->reducers.data[i];
        p->reducers[i] = r->kind != REDUCE_USER ? tensor_reduce_name(r->kind)
                                                : tensor_print_unique(&set, r->name);
    }
}

static void name_all(printer *p) {
    const tensor_op *op = p->op;
    name_set spaces = {.arena = p->scratch}, vals = {.arena = p->scratch};
    p->spaces = ARENA_ARRAY(p->scratch, const char *, op->spaces.len);
    for (uint32_t i = 0; i < op->spaces.len; i++)
        p->spaces[i] = tensor_print_unique(&spaces, op->spaces.data[i].name);
    p->vals = ARENA_ARRAY(p->scratch, const char *, op->vals.len);
    for (uint32_t i = 0; i < op->vals.len; i++)
        p->vals[i] = tensor_print_unique(&vals, op->vals.data[i].name);
    p->vars = ARENA_ARRAY(p->scratch, const char *, op->vars.len);
    for (uint32_t i = 0; i < op->vars.len; i++)
        p->vars[i] = tensor_print_fit(p->scratch, op->vars.data[i].name);
    name_reducers(p);
}

// The variables of one stage get names unlike one another and unlike the step of its loop.
static void tensor_print_name_variables(printer *p, const tensor_stage *s) {
    name_set set = tensor_print_constants(p->scratch);
    tensor_var step = s->loop == TENSOR_NO_LOOP ? UINT32_MAX : p->op->loops.data[s->loop].step;
    if (step != UINT32_MAX) name_add(&set, p->vars[step]);
    for (uint32_t i = 0; i < s->nleft + s->nbound; i++) {
        tensor_var v = i < s->nleft ? s->left[i] : s->bound[i - s->nleft];
        if (v != step) p->vars[v] = tensor_print_unique(&set, p->op->vars.data[v].name);
    }
}

// ---- Sharing ------------------------------------------------------------------------------------

static bool is_leaf(const printer *p, tensor_expr e) {
    return tensor_op_table((tensor_opcode)tensor_node_at(p->op, e)->op)->kind == TENSOR_LEAF;
}

// Short enough to be written out again: a leaf, or one load or conversion of leaves.
static bool is_trivial(const printer *p, tensor_expr e) {
    const tensor_node *n = tensor_node_at(p->op, e);
    bool short_op = n->op == TENSOR_LOAD_OP || n->op == TENSOR_CVT_OP || n->op == TENSOR_INDEX_OP ||
                    n->op == TENSOR_NEG_OP;
    for (uint32_t i = 0; i < n->nargs && short_op; i++) short_op = is_leaf(p, n->args[i]);
    return short_op || is_leaf(p, e);
}

typedef struct {
    tensor_expr e;
    uint32_t next;   // argument
} visit;

// Adds root and what it reaches to p->order, arguments before users, in the order of the text.
void tensor_print_collect(printer *p, tensor_expr root) {
    if (!root || p->uses[root]++) return;
    VEC(visit) stack = {0};
    VEC_PUSH(p->scratch, &stack, ((visit){root, 0}));
    while (stack.len) {
        visit *top = &stack.data[stack.len - 1];
        const tensor_node *n = tensor_node_at(p->op, top->e);
        if (top->next == n->nargs) {
            VEC_PUSH(p->scratch, &p->order, top->e);
            stack.len--;
            continue;
        }
        tensor_expr arg = n->args[top->next++];
        if (!p->uses[arg]++) VEC_PUSH(p->scratch, &stack, ((visit){arg, 0}));
    }
}

static void number_lets(printer *p) {
    p->nlets = 0;
    for (uint32_t i = 0; i < p->order.len; i++) {
        tensor_expr e = p->order.data[i];
        const tensor_node *n = tensor_node_at(p->op, e);
        uint32_t depth = 0;
        for (uint32_t k = 0; k < n->nargs; k++)
            if (!p->let[n->args[k]] && p->depth[n->args[k]] > depth) depth = p->depth[n->args[k]];
        p->depth[e] = depth + 1;
        if ((p->uses[e] > 1 && !is_trivial(p, e)) || depth + 1 >= MAX_PRINTED_DEPTH)
            p->let[e] = ++p->nlets;
    }
}

void tensor_print_forget(printer *p) {
    for (uint32_t i = 0; i < p->order.len; i++) {
        tensor_expr e = p->order.data[i];
        p->uses[e] = p->depth[e] = p->let[e] = 0;
    }
    p->order.len = 0;
    p->nlets = 0;
}

// ---- Expressions --------------------------------------------------------------------------------

static void print_type(printer *p, tensor_type t) {
    if (t.type == DT_INDEX) OUT(p, "index(%s)", p->spaces[t.space]);
    else OUT(p, "%s", ir_dtype_text(t.type));
}

static void print_float(printer *p, ir_dtype type, double x) {
    if (!isfinite(x)) {
        OUT(p, "%s.%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf", ir_dtype_text(type));
        return;
    }
    char s[40];
    for (int digits = 1; digits <= 9 && type != DT_F64; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, x);
        if (strtof(s, NULL) == (float)x) break;
    }
    if (type != DT_F64) OUT(p, "%s", s);
    else textbuf_double(p->out, x);
    OUT(p, "%s", ir_dtype_text(type));
}

static void print_list(printer *p, const tensor_expr *args, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (i) OUT(p, ", ");
        tensor_print_expr(p, args[i], false);
    }
}

static void print_leaf(printer *p, const tensor_node *n) {
    switch (n->op) {
    case TENSOR_CONST_OP:
        if (tensor_type_is_float(n->type)) print_float(p, n->type.type, n->imm.f);
        else if (n->type.type == DT_BOOL) OUT(p, "%s", n->imm.i ? "true" : "false");
        else OUT(p, "%lld", (long long)n->imm.i);
        break;
    case TENSOR_NONE_OP: OUT(p, "none(%s)", p->spaces[n->type.space]); break;
    case TENSOR_VAR_OP: OUT(p, "%s", p->vars[n->imm.i]); break;
    case TENSOR_SIZE_OP: OUT(p, "size(%s)", p->spaces[n->imm.i]); break;
    default:
        OUT(p, "%s.%lld", tensor_op_table((tensor_opcode)n->op)->text, (long long)n->imm.i);
        break;   // of reducers
    }
}

static void print_node(printer *p, const tensor_node *n) {
    static const char *const statistics[] = {"max", "min", "avg"};
    switch (n->op) {
    case TENSOR_LOAD_OP:
        OUT(p, "%s[", p->vals[n->imm.i]);
        print_list(p, n->args, n->nargs);
        OUT(p, "]");
        return;
    case TENSOR_PREIMAGE_OP:
        OUT(p, "preimage(%s, %s)", statistics[n->imm2], p->vals[n->imm.i]);
        return;
    case TENSOR_AT_LEAST_OP:
    case TENSOR_CUT_PARTS_OP:
        OUT(p, "%s(%s, %lld)", tensor_op_table((tensor_opcode)n->op)->text, p->vals[n->imm.i],
            (long long)n->imm2);
        return;
    case TENSOR_SYMMETRIC_OP:
        OUT(p, "symmetric(%s, %s)", p->vals[n->imm.i], p->vals[n->imm2]);
        return;
    default: break;
    }
    OUT(p, "%s(", tensor_op_table((tensor_opcode)n->op)->text);
    if (n->op == TENSOR_INDEX_OP) OUT(p, "%s, ", p->spaces[n->type.space]);
    if (n->op == TENSOR_CVT_OP) OUT(p, "%s, ", ir_dtype_text(n->type.type));
    if (n->op == TENSOR_ROUND_OP) OUT(p, "%s, ", ir_dtype_text((ir_dtype)n->imm.i));
    print_list(p, n->args, n->nargs);
    OUT(p, ")");
}

void tensor_print_expr(printer *p, tensor_expr e, bool defining) {
    if (p->let[e] && !defining) {
        OUT(p, "%%%u", (unsigned)p->let[e]);
        return;
    }
    const tensor_node *n = tensor_node_at(p->op, e);
    if (tensor_op_table((tensor_opcode)n->op)->kind == TENSOR_LEAF) print_leaf(p, n);
    else print_node(p, n);
}

static void print_let_lines(printer *p, const char *indent) {
    for (uint32_t i = 0; i < p->order.len; i++) {
        tensor_expr e = p->order.data[i];
        if (!p->let[e]) continue;
        OUT(p, "%slet %%%u = ", indent, (unsigned)p->let[e]);
        tensor_print_expr(p, e, true);
        OUT(p, "\n");
    }
}

// What follows the lets stands on a line of its own, or after a space where there are none.
static void print_lets(printer *p, const char *indent) {
    number_lets(p);
    if (!p->nlets) return;
    OUT(p, "\n");
    print_let_lines(p, indent);
    OUT(p, "%s", indent);
}

void tensor_print_lets(printer *p, const char *indent) {
    number_lets(p);
    print_let_lines(p, indent);
}

static void print_value(printer *p, tensor_expr e) {
    tensor_print_collect(p, e);
    print_lets(p, "    ");
    if (!p->nlets) OUT(p, " ");
    tensor_print_expr(p, e, false);
    OUT(p, "\n");
    tensor_print_forget(p);
}

// ---- Declarations -------------------------------------------------------------------------------

static void print_string(printer *p, const char *s) {
    OUT(p, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') OUT(p, "\\%c", c);
        else if (c < 0x20 || c == 0x7f) OUT(p, "\\x%02x", (unsigned)c);
        else textbuf_putn(p->out, s, 1);
    }
    OUT(p, "\"");
}

static void print_space(printer *p, tensor_space s) {
    const tensor_space_info *info = &p->op->spaces.data[s];
    OUT(p, "  space %s", p->spaces[s]);
    switch (info->kind) {
    case SPACE_FREE: OUT(p, "\n"); break;
    case SPACE_CONST: OUT(p, " = %lld\n", (long long)info->size); break;
    case SPACE_COUNT_OF: OUT(p, " = classes(%s)\n", p->vals[info->classes]); break;
    case SPACE_EXPR:
        OUT(p, " =");
        print_value(p, info->expr);
        break;
    }
}

static void print_shape(printer *p, const tensor_val_info *v) {
    bool bare = v->type == DT_INDEX && v->rank == 1,
         scalar = v->role == VAL_SCALAR && v->type != DT_INDEX;
    OUT(p, " : ");
    if (v->type != DT_INDEX) OUT(p, "%s", ir_dtype_text(v->type));
    if (!bare && !scalar) OUT(p, "[");
    for (uint32_t i = 0; i < v->rank; i++) OUT(p, "%s%s", i ? ", " : "", p->spaces[v->axes[i]]);
    if (!bare && !scalar) OUT(p, "]");
    if (v->type == DT_INDEX) OUT(p, " -> %s", p->spaces[v->into]);
}

static void print_facts(printer *p, const tensor_val_info *v) {
    static const struct {
        uint32_t fact;
        const char *text;
    } facts[] = {{FACT_UNIQUE, "unique"},   {FACT_PARTIAL, "partial"}, {FACT_PREFIX, "prefix"},
                 {FACT_STRIDED, "strided"}, {FACT_PACKED, "packed"},   {FACT_SAVED, "saved"},
                 {FACT_GIVEN, "given"}};
    if (v->facts & FACT_SORTED) OUT(p, " sorted");
    if (v->facts & FACT_SORTED && v->sorted_by != TENSOR_NO_VAL)
        OUT(p, "(%s)", p->vals[v->sorted_by]);
    for (uint32_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (v->facts & facts[i].fact) OUT(p, " %s", facts[i].text);
    if (v->align) OUT(p, " aligned(%u)", (unsigned)v->align);
    if (v->inplace != TENSOR_NO_VAL && v->role == VAL_RESULT)
        OUT(p, " inplace(%s)", p->vals[v->inplace]);
    if (v->adjoint_of) OUT(p, " adjoint(%s)", v->adjoint_of);
}

static void print_val(printer *p, tensor_val v) {
    static const char *const roles[] = {"map",   "tensor",  "scalar",  "result",
                                        "stage", "classes", "prepared"};
    const tensor_val_info *info = &p->op->vals.data[v];
    OUT(p, "  %s %s", roles[info->role], p->vals[v]);
    print_shape(p, info);
    if (info->role == VAL_CLASSES) {
        OUT(p, " = (");
        for (uint32_t i = 0; i < info->nkeys; i++)
            OUT(p, "%s%s", i ? ", " : "", p->vals[info->keys[i]]);
        OUT(p, ")");
    }
    print_facts(p, info);
    OUT(p, "\n");
}

static void print_types(printer *p, const tensor_type *types, uint32_t n) {
    OUT(p, "(");
    for (uint32_t i = 0; i < n; i++) {
        if (i) OUT(p, ", ");
        print_type(p, types[i]);
    }
    OUT(p, ")");
}

static void print_section(printer *p, const char *name, const tensor_expr *exprs, uint32_t n) {
    OUT(p, "    %s", name);
    for (uint32_t i = 0; i < n; i++) tensor_print_collect(p, exprs[i]);
    print_lets(p, "      ");
    OUT(p, p->nlets ? "(" : " (");
    print_list(p, exprs, n);
    OUT(p, ")\n");
    tensor_print_forget(p);
}

static void print_reducer(printer *p, uint32_t i) {
    const tensor_reducer *r = &p->op->reducers.data[i];
    if (r->kind != REDUCE_USER) return;
    OUT(p, "  reducer %s", p->reducers[i]);
    print_types(p, r->arg_types, r->nargs);
    OUT(p, " -> ");
    print_types(p, r->result_types, r->nresults);
    if (r->commutative) OUT(p, " commutative");
    if (r->roundings) OUT(p, " roundings %u", (unsigned)r->roundings);
    OUT(p, " {\n    state ");
    print_types(p, r->state_types, r->nstate);
    OUT(p, "\n");
    print_section(p, "identity", r->identity, r->nstate);
    print_section(p, "lift", r->lift, r->nstate);
    print_section(p, "combine", r->combine, r->nstate);
    print_section(p, "finish", r->finish, r->nresults);
    OUT(p, "  }\n");
}

// ---- Equations ----------------------------------------------------------------------------------

static void print_at(printer *p, const tensor_stage *s, tensor_expr index, bool *declared) {
    tensor_at at = tensor_target_at(p->op, index);
    switch (at.kind) {
    case TENSOR_AT_CONST: OUT(p, "%lld", (long long)at.offset); return;
    case TENSOR_AT_STEP: OUT(p, "%s + %lld", p->vars[at.var], (long long)at.offset); return;
    case TENSOR_AT_OTHER: tensor_print_expr(p, index, true); return;
    case TENSOR_AT_VAR: break;
    }
    OUT(p, "%s", p->vars[at.var]);
    bool step = s->loop != TENSOR_NO_LOOP && p->op->loops.data[s->loop].step == at.var;
    if (!step && !declared[at.var]) OUT(p, ":%s", p->spaces[p->op->vars.data[at.var].space]);
    declared[at.var] = true;
}

static void print_targets(printer *p, const tensor_stage *s, bool *declared) {
    for (uint32_t i = 0; i < s->ntargets; i++) {
        const tensor_target *t = &s->targets[i];
        OUT(p, "%s%s[", i ? ", " : "", p->vals[t->val]);
        for (uint32_t k = 0; k < t->rank; k++) {
            if (k) OUT(p, ", ");
            print_at(p, s, t->index[k], declared);
        }
        OUT(p, "]");
    }
    OUT(p, " =");
    for (uint32_t i = 0; i < s->nleft; i++) declared[s->left[i]] = false;
}

static void print_guards(printer *p, const tensor_stage *s) {
    bool first = true;
    if (s->nkeys + s->nfilters == 0) return;
    OUT(p, p->nlets ? ": " : " : ");
    for (uint32_t i = 0; i < s->nkeys; i++, first = false) {
        OUT(p, "%s", first ? "" : ", ");
        tensor_print_expr(p, s->keys[i].lhs, false);
        OUT(p, " == ");
        tensor_print_expr(p, s->keys[i].rhs, false);
    }
    for (uint32_t i = 0; i < s->nfilters; i++, first = false) {
        OUT(p, "%s", first ? "" : ", ");
        tensor_print_expr(p, s->filters[i], false);
    }
}

static void print_reduction(printer *p, const tensor_stage *s, const char *indent) {
    static const char *const ties[] = {"", " ties split", " ties all"};
    OUT(p, " %s {", p->reducers[s->reducer]);
    for (uint32_t i = 0; i < s->nbound; i++)
        OUT(p, "%s%s:%s", i ? ", " : "", p->vars[s->bound[i]],
            p->spaces[p->op->vars.data[s->bound[i]].space]);
    print_lets(p, indent);
    print_guards(p, s);
    OUT(p, "} (");
    print_list(p, s->body, s->nbody);
    OUT(p, ")");
    if (s->nelse) {
        OUT(p, " else (");
        print_list(p, s->orelse, s->nelse);
        OUT(p, ")");
    }
    OUT(p, "%s\n", ties[s->ties]);
}

static void print_marks(printer *p, const tensor_stage *s) {
    const char *before = "[";
    for (tensor_mark m = 0; m < TENSOR_MARK_COUNT; m++) {
        if (!tensor_marked(s, m)) continue;
        OUT(p, "%s%s", before, tensor_mark_text(m));
        before = ", ";
    }
    OUT(p, "%s", s->marks ? "] " : "");
}

static void print_stage(printer *p, const tensor_stage *s, bool *declared) {
    const char *indent = s->loop == TENSOR_NO_LOOP ? "    " : "      ";
    const char *name = tensor_print_fit(p->scratch, s->name);
    OUT(p, "%s", indent + 2);
    print_marks(p, s);
    if (!s->ntargets || strcmp(name, p->vals[s->targets[0].val]) != 0) OUT(p, "%s: ", name);
    tensor_print_name_variables(p, s);
    print_targets(p, s, declared);
    for (uint32_t i = 0; i < s->nkeys; i++) {
        tensor_print_collect(p, s->keys[i].lhs);
        tensor_print_collect(p, s->keys[i].rhs);
    }
    for (uint32_t i = 0; i < s->nfilters; i++) tensor_print_collect(p, s->filters[i]);
    for (uint32_t i = 0; i < s->nbody; i++) tensor_print_collect(p, s->body[i]);
    for (uint32_t i = 0; i < s->nelse; i++) tensor_print_collect(p, s->orelse[i]);
    if (s->reducer != TENSOR_NO_REDUCER) {
        print_reduction(p, s, indent);
    } else {
        print_lets(p, indent);
        OUT(p, "%s%s", p->nlets ? "" : " ", s->nbody == 1 ? "" : "(");
        print_list(p, s->body, s->nbody);
        OUT(p, "%s\n", s->nbody == 1 ? "" : ")");
    }
    tensor_print_forget(p);
}

static void print_stages(printer *p) {
    const tensor_op *op = p->op;
    bool *declared = ARENA_ARRAY(p->scratch, bool, op->vars.len);
    uint32_t open = TENSOR_NO_LOOP;
    for (uint32_t i = 0; i <= op->stages.len; i++) {
        uint32_t loop = i < op->stages.len ? op->stages.data[i].loop : TENSOR_NO_LOOP;
        if (loop != open && open != TENSOR_NO_LOOP) OUT(p, "  }\n");
        if (loop != open && loop != TENSOR_NO_LOOP) {
            const tensor_loop *l = &op->loops.data[loop];
            name_set set = tensor_print_constants(p->scratch);
            p->vars[l->step] = tensor_print_unique(&set, op->vars.data[l->step].name);
            OUT(p, "  loop %s:%s {\n", p->vars[l->step], p->spaces[l->space]);
        }
        open = loop;
        if (i < op->stages.len) print_stage(p, &op->stages.data[i], declared);
    }
}

printer tensor_printer(textbuf *out, const tensor_op *op, arena *scratch) {
    printer p = {.out = out, .op = op, .scratch = scratch};
    p.uses = ARENA_ARRAY(scratch, uint32_t, op->exprs.len);
    p.depth = ARENA_ARRAY(scratch, uint32_t, op->exprs.len);
    p.let = ARENA_ARRAY(scratch, uint32_t, op->exprs.len);
    name_all(&p);
    return p;
}

void tensor_print_op(printer *p) {
    const tensor_op *op = p->op;
    OUT(p, "op %s", tensor_print_fit(p->scratch, op->name));
    if (op->source && *op->source) {
        OUT(p, " from ");
        print_string(p, op->source);
    }
    OUT(p, " {\n");
    for (uint32_t i = 0; i < op->spaces.len; i++)
        if (!tensor_node_at(op, op->spaces.data[i].expr)->counted) print_space(p, i);
    for (uint32_t i = 0; i < op->nparams; i++) print_val(p, i);
    for (uint32_t i = 0; i < op->spaces.len; i++)
        // maps decide it: it stands behind them
        if (tensor_node_at(op, op->spaces.data[i].expr)->counted) print_space(p, i);
    for (uint32_t i = op->nparams; i < op->vals.len; i++) print_val(p, i);
    for (uint32_t i = 0; i < op->reducers.len; i++) print_reducer(p, i);
    for (uint32_t i = 0; i < op->required.len; i++) {
        OUT(p, "  require ");
        print_string(p, op->required.data[i].text ? op->required.data[i].text : "");
        OUT(p, " =");
        print_value(p, op->required.data[i].holds);
    }
    print_stages(p);
    OUT(p, "}\n");
}

void tensor_print(textbuf *out, const tensor_op *op) {
    arena *scratch = arena_new();
    printer p = tensor_printer(out, op, scratch);
    tensor_print_op(&p);
    arena_free(scratch);
}
