// Programs and their size expressions as text.
#include "program.h"

#include <inttypes.h>
#include <string.h>

// ---- Sizes --------------------------------------------------------------------------------------
static const char *token_text(size_token_kind k) {
    switch (k) {
#define X(name, text)                                                                              \
    case SZ_##name: return text;
        SIZE_TOKENS(X)
#undef X
    case SZ_COUNT: break;
    }
    ICE("a size token that does not exist");
}

static const char *device_text(device_fact n) {
    switch (n) {
#define X(name, text)                                                                              \
    case DEVICE_##name: return text;
        DEVICE_NUMBERS(X)
#undef X
    case DEVICE_NUMBER_COUNT: break;
    }
    ICE("a device number that does not exist");
}

// Blanks separate tokens, so names travel without them.
static void put_name(textbuf *out, const char *name) {
    for (; *name; name++)
        if (*name != ' ') textbuf_putn(out, name, 1);
}

static void put_param(textbuf *out, const program *p, int64_t index) {
    if (index < 0 || index >= p->params.len) ICE("a size names parameter %lld", (long long)index);
    put_name(out, p->params.data[index].name);
}

static void put_space(textbuf *out, const program *p, int64_t index) {
    if (index < 0 || index >= p->spaces.len) ICE("a size names space %lld", (long long)index);
    put_name(out, p->spaces.data[index].name);
}

static void put_token(textbuf *out, const program *p, const size_token *t) {
    switch (t->kind) {
    case SZ_CONST: textbuf_printf(out, "%lld", (long long)t->value); return;
    case SZ_SPACE: put_space(out, p, t->value); return;
    case SZ_ADD:
    case SZ_SUB:
    case SZ_MUL:
    case SZ_DIV:
    case SZ_MOD:
    case SZ_CEILDIV:
    case SZ_MIN:
    case SZ_MAX:
    case SZ_EQ:
    case SZ_NE:
    case SZ_LT:
    case SZ_LE:
    case SZ_GT:
    case SZ_GE:
    case SZ_AND:
    case SZ_OR:
    case SZ_NOT:
    case SZ_COND: textbuf_puts(out, token_text(t->kind)); return;
    case SZ_MAX_PREIMAGE:
    case SZ_MIN_PREIMAGE:
    case SZ_AVG_PREIMAGE:
    case SZ_SORTED:
    case SZ_SYMMETRIC:
        textbuf_printf(out, "%s(", token_text(t->kind));
        put_param(out, p, t->value);
        if (t->kind == SZ_SYMMETRIC) {
            textbuf_puts(out, ",");
            put_param(out, p, t->value2);
        }
        textbuf_puts(out, ")");
        return;
    case SZ_STD_PREIMAGE:
    case SZ_QUANTILE_PREIMAGE:
    case SZ_AT_LEAST:
    case SZ_CUT_PARTS:
    case SZ_FILL:
        textbuf_printf(out, "%s(", token_text(t->kind));
        put_param(out, p, t->value);
        if (t->kind != SZ_STD_PREIMAGE) textbuf_printf(out, ",%" PRId64, t->value2);
        textbuf_puts(out, ")");
        return;
    case SZ_DENSITY:
        textbuf_printf(out, "%s(", token_text(t->kind));
        put_param(out, p, t->value);
        textbuf_puts(out, ",");
        put_param(out, p, t->value2 & UINT32_MAX);
        textbuf_printf(out, ",%" PRId64 ")", t->value2 >> 32);
        return;
    case SZ_DEVICE: textbuf_printf(out, "device(%s)", device_text((device_fact)t->value)); return;
    case SZ_COUNT: break;
    }
    ICE("a size token that does not exist");
}

void size_print(textbuf *out, const program *p, const size_expr *e) {
    for (uint32_t k = 0; k < e->len; k++) {
        if (k) textbuf_puts(out, " ");
        put_token(out, p, &e->data[k]);
    }
}

// ---- Plans --------------------------------------------------------------------------------------
static void put_axes(textbuf *out, const program *p, const program_param *x) {
    textbuf_puts(out, "[");
    for (uint32_t k = 0; k < x->rank; k++) {
        if (k) textbuf_puts(out, ", ");
        put_space(out, p, x->axes[k]);
    }
    textbuf_puts(out, "]");
}

static void print_space(textbuf *out, const program *p, const program_space *s) {
    textbuf_puts(out, "space ");
    put_name(out, s->name);
    switch (s->kind) {
    case SPACE_FREE: break;
    case SPACE_CONST:
    case SPACE_EXPR:
        textbuf_puts(out, " = ");
        size_print(out, p, &s->size);
        break;
    case SPACE_COUNT_OF:
        textbuf_printf(out, " = count of %s", p->prepared.data[s->prepared].name);
        break;
    }
    textbuf_puts(out, "\n");
}

static void print_facts(textbuf *out, const program *p, const program_param *x) {
    static const struct {
        uint32_t fact;
        const char *text;
    } facts[] = {{FACT_UNIQUE, "unique"},   {FACT_PARTIAL, "partial"}, {FACT_PREFIX, "prefix"},
                 {FACT_STRIDED, "strided"}, {FACT_PACKED, "packed"},   {FACT_SAVED, "saved"},
                 {FACT_GIVEN, "given"}};
    if (x->facts & FACT_SORTED) textbuf_puts(out, " sorted");
    if (x->facts & FACT_SORTED && x->sorted_by >= 0) {
        textbuf_puts(out, "(");
        put_param(out, p, x->sorted_by);
        textbuf_puts(out, ")");
    }
    for (uint32_t k = 0; k < sizeof facts / sizeof *facts; k++)
        if (x->facts & facts[k].fact) textbuf_printf(out, " %s", facts[k].text);
    if (x->align) textbuf_printf(out, " align %u", x->align);
}

static void print_param(textbuf *out, const program *p, const program_param *x) {
    static const char *const roles[] = {[PARAM_MAP] = "map",
                                        [PARAM_TENSOR] = "tensor",
                                        [PARAM_SCALAR] = "scalar",
                                        [PARAM_RESULT] = "result"};
    textbuf_printf(out, "%s %s", roles[x->role], x->name);
    if (x->role != PARAM_SCALAR) put_axes(out, p, x);
    textbuf_printf(out, " : %s", ir_dtype_text(x->type));
    if (x->type == DT_INDEX) {
        textbuf_puts(out, " into ");
        put_space(out, p, x->into);
    }
    print_facts(out, p, x);
    if (x->role == PARAM_RESULT && x->inplace >= 0)
        textbuf_printf(out, " inplace %s", p->params.data[x->inplace].name);
    textbuf_puts(out, "\n");
}

static void print_prepared(textbuf *out, const program *p, const program_prepared *x) {
    textbuf_printf(out, "prepare %s : ", x->name);
    put_space(out, p, x->domain);
    textbuf_puts(out, x->builder == PREPARED_OFFSETS ? " offsets of " : " -> ");
    put_space(out, p, x->into);
    textbuf_puts(out, "\n");
}

static void print_arg(textbuf *out, const program *p, const program_arg *a) {
    switch (a->kind) {
    case ARG_DATA:
    case ARG_VALUE: textbuf_puts(out, p->params.data[a->index].name); return;
    case ARG_STRIDE:
        textbuf_printf(out, "stride(%s, %u)", p->params.data[a->index].name, a->axis);
        return;
    case ARG_SIZE:
        textbuf_puts(out, "#");
        put_space(out, p, a->index);
        return;
    case ARG_MAGIC:
    case ARG_SHIFT:
        textbuf_printf(out, "%s(%s)", a->kind == ARG_MAGIC ? "magic" : "shift",
                       p->spaces.data[a->index].name);
        return;
    case ARG_PREPARED: textbuf_puts(out, p->prepared.data[a->index].name); return;
    case ARG_TEMP: textbuf_puts(out, p->temps.data[a->index].name); return;
    case ARG_NUMBER:
        textbuf_puts(out, "number(");
        size_print(out, p, &p->numbers.data[a->index]);
        textbuf_puts(out, ")");
        return;
    case ARG_STEP: textbuf_puts(out, "step"); return;
    case ARG_KIND_COUNT: break;
    }
    ICE("a kernel argument that does not exist");
}

static void print_launch(textbuf *out, const program *p, const program_step *s) {
    textbuf_printf(out, "launch %s(", s->kernel);
    for (uint32_t k = 0; k < s->nargs; k++) {
        if (k) textbuf_puts(out, ", ");
        print_arg(out, p, &s->args[k]);
    }
    textbuf_puts(out, ") blocks ");
    size_print(out, p, &s->count);
    const simt_func *f = p->module ? simt_func_find(p->module, s->kernel) : NULL;
    if (f) textbuf_printf(out, " threads %u", f->block);
    if (s->early)
        textbuf_puts(out, s->waits_first      ? " early wait first"
                          : s->waits_to_write ? " early wait to write"
                                              : " early wait last");
    textbuf_puts(out, "\n");
}

static void print_steps(textbuf *out, const program *p, const program_version *v) {
    int depth = 0;
    for (uint32_t k = 0; k < v->steps.len; k++) {
        const program_step *s = &v->steps.data[k];
        if (s->kind == STEP_END) depth--;
        textbuf_printf(out, "%*s", depth > 0 ? 2 * depth : 0, "");
        switch (s->kind) {
        case STEP_LAUNCH: print_launch(out, p, s); break;
        case STEP_LOOP:
            textbuf_puts(out, "loop ");
            size_print(out, p, &s->count);
            textbuf_puts(out, "\n");
            depth++;
            break;
        case STEP_END: textbuf_puts(out, "end\n"); break;
        }
    }
}

static void print_guard(textbuf *out, const program *p, const program_guard *g) {
    const char *param = g->kind == GUARD_HOLDS ? "" : p->params.data[g->param].name;
    switch (g->kind) {
    case GUARD_HOLDS:
        textbuf_printf(out, "  where %s%s : ", g->text, g->pays ? " pays" : "");
        size_print(out, p, &g->holds);
        break;
    case GUARD_ALIGNED:
        textbuf_printf(out, "  where aligned(%s, %" PRId64 ")", param, g->value);
        break;
    case GUARD_STRIDE:
        textbuf_printf(out, "  where stride(%s, %u) %% %" PRId64 " == 0", param, g->axis, g->value);
        break;
    case GUARD_PITCH:
        textbuf_printf(out, "  where stride(%s, %u) == %lld", param, g->axis, (long long)g->value);
        break;
    case GUARD_REACH: textbuf_printf(out, "  where reach(%s) < %" PRId64, param, g->value); break;
    }
    textbuf_puts(out, "\n");
}

static void print_choice(textbuf *out, const program *p) {
    if (!p->choice.text) return;
    textbuf_printf(out, "choose %s : ", p->choice.text);
    size_print(out, p, &p->choice.of);
    for (uint32_t i = 0; i < p->choice.nschedules; i++)
        textbuf_printf(out, "%s%s", i ? ", " : " among ", p->choice.schedules[i]);
    textbuf_puts(out, "\n");
}

static void print_version(textbuf *out, const program *p, const program_version *v) {
    textbuf_printf(out, "version %s", v->name);
    if (p->choice.text) textbuf_printf(out, " of %s", p->choice.schedules[v->of]);
    textbuf_puts(out, "\n");
    for (uint32_t k = 0; k < v->guards.len; k++) print_guard(out, p, &v->guards.data[k]);
    print_steps(out, p, v);
}

void program_print(textbuf *out, const program *p) {
    textbuf_printf(out, "plan %s index i%u%s\n", p->name, p->index_bits,
                   p->deterministic ? " deterministic" : "");
    for (uint32_t k = 0; k < p->spaces.len; k++) print_space(out, p, &p->spaces.data[k]);
    for (uint32_t k = 0; k < p->params.len; k++) print_param(out, p, &p->params.data[k]);
    for (uint32_t k = 0; k < p->required.len; k++) {
        textbuf_printf(out, "require %s : ", p->required.data[k].text);
        size_print(out, p, &p->required.data[k].holds);
        textbuf_puts(out, "\n");
    }
    for (uint32_t k = 0; k < p->prepared.len; k++) print_prepared(out, p, &p->prepared.data[k]);
    for (uint32_t k = 0; k < p->temps.len; k++) {
        const program_temp *t = &p->temps.data[k];
        textbuf_printf(out, "temp %s : %s length ", t->name, ir_dtype_text(t->type));
        size_print(out, p, &t->length);
        textbuf_puts(out, "\n");
    }
    print_choice(out, p);
    for (uint32_t k = 0; k < p->versions.len; k++) print_version(out, p, &p->versions.data[k]);
}
