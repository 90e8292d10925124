// Loop IR of an op as text (LOOP.md): each plan with its version, then the op as it is defined.
#include "loop_internal.h"
#include "tensor_print.h"

#include <string.h>

#define OUT(p, ...) textbuf_printf((p)->out, __VA_ARGS__)

const char **loop_stage_names(arena *a, const tensor_op *op) {
    const char **names = ARENA_ARRAY(a, const char *, op->stages.len + 1);
    name_set set = {.arena = a};
    for (uint32_t i = 0; i < op->stages.len; i++)
        names[i] = tensor_print_unique(&set, op->stages.data[i].name);
    return names;
}

program loop_names_in_sizes(arena *a, const tensor_op *op, const char *const *spaces,
                            const char *const *vals) {
    program p = {0};
    for (tensor_space s = 0; s < op->spaces.len; s++)
        VEC_PUSH(a, &p.spaces, (program_space){.name = spaces[s]});
    for (tensor_val v = 0; v < op->nparams; v++)
        VEC_PUSH(a, &p.params, (program_param){.name = vals[v]});
    return p;
}

static void put_string(textbuf *out, const char *text) {
    textbuf_puts(out, "\"");
    for (; *text; text++)
        if (*text == '"' || *text == '\\') textbuf_printf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            textbuf_printf(out, "\\x%02x", (unsigned)(unsigned char)*text);
        else textbuf_putn(out, text, 1);
    textbuf_puts(out, "\"");
}

static void print_guard(printer *p, const program *names, const program_guard *g) {
    const char *param = g->kind == GUARD_HOLDS ? "" : p->vals[g->param];
    OUT(p, "  where ");
    switch (g->kind) {
    case GUARD_HOLDS:
        put_string(p->out, g->text);
        OUT(p, "%s : \"", g->pays ? " pays" : "");
        size_print(p->out, names, &g->holds);
        OUT(p, "\"");
        break;
    case GUARD_ALIGNED: OUT(p, "aligned %s %lld", param, (long long)g->value); break;
    case GUARD_STRIDE:
        OUT(p, "stride %s %u multiple %lld", param, (unsigned)g->axis, (long long)g->value);
        break;
    case GUARD_PITCH:
        OUT(p, "stride %s %u is %lld", param, (unsigned)g->axis, (long long)g->value);
        break;
    case GUARD_REACH: OUT(p, "reach %s below %lld", param, (long long)g->value); break;
    }
    OUT(p, "\n");
}

// Of a list of names of stages.
static void print_stages(printer *p, const char *word, const tensor_op *op,
                         const char *const *names, uint32_t n) {
    const char **unique = loop_stage_names(p->scratch, op);
    bool any = false;
    for (uint32_t i = 0; i < op->stages.len; i++) {
        bool is = false;
        for (uint32_t k = 0; k < n; k++) is |= !strcmp(op->stages.data[i].name, names[k]);
        if (!is) continue;
        OUT(p, "%s%s", any ? ", " : word, unique[i]);
        any = true;
    }
    if (any) OUT(p, "\n");
}

static void print_every(printer *p, const loop_plan *plan) {
    const char **names = loop_stage_names(p->scratch, plan->typed);
    for (uint32_t i = 0; plan->every && i < plan->typed->stages.len; i++)
        if (plan->every[i]) OUT(p, "  every %s %u\n", names[i], (unsigned)plan->every[i]);
}

static void print_version(printer *p, const program *names, const loop_version *v,
                          const loop_plan *plan, const tensor_op *definition) {
    const tensor_op *evaluated = plan->typed ? plan->typed : definition;
    OUT(p, "version ");
    put_string(p->out, v->name);
    OUT(p, " {\n");
    for (uint32_t i = 0; i < v->guards.len; i++) print_guard(p, names, &v->guards.data[i]);
    if (plan->together) OUT(p, "  together\n");
    if (plan->any_strides) OUT(p, "  strides any\n");
    if (plan->near) OUT(p, "  near\n");
    if (plan->narrow) OUT(p, "  narrow\n");
    if (plan->typed) {
        OUT(p, "  typed ");
        tensor_print(p->out, plan->typed);
        print_every(p, plan);
    }
    print_stages(p, "  apart ", evaluated, plan->apart.data, plan->apart.len);
    print_stages(p, "  relative ", evaluated, plan->relative.data, plan->relative.len);
    OUT(p, "}\n");
}

void loop_print_text(textbuf *out, const loop_text *t) {
    const tensor_op *op = t->definition ? t->definition : t->plans.data[0]->op;
    arena *scratch = arena_new();
    printer p = tensor_printer(out, op, scratch);
    const program names = loop_names_in_sizes(scratch, op, p.spaces, p.vals);
    for (uint32_t i = 0; i < t->plans.len; i++) {
        if (t->plans.len > 1) OUT(&p, "// version %s\n", t->versions.data[i].name);
        loop_print(out, t->plans.data[i]);
        if (t->versions.data[i].name)
            print_version(&p, &names, &t->versions.data[i], t->plans.data[i], op);
        if (t->definition) OUT(&p, "\n");
    }
    if (t->definition) {
        OUT(&p, "definition ");
        tensor_print_op(&p);
    }
    arena_free(scratch);
}
