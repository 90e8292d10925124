// A program to the JSON text of its manifest, in the order and by the names of runtime/MANIFEST.md.
#include "codegen.h"

#include <inttypes.h>
#include <string.h>

// ---- JSON ---------------------------------------------------------------------------------------
static void string(textbuf *out, const char *s) { textbuf_json_string(out, s, strlen(s)); }

static void key(textbuf *out, const char *name) {   // after another member
    textbuf_puts(out, ", ");
    string(out, name);
    textbuf_puts(out, ": ");
}

static void member(textbuf *out, const char *name, const char *value) {
    key(out, name);
    string(out, value);
}

static void first(textbuf *out, const char *name, const char *value) {
    textbuf_puts(out, "{");
    string(out, name);
    textbuf_puts(out, ": ");
    string(out, value);
}

static void size_member(textbuf *out, const char *name, const program *p, const size_expr *e) {
    textbuf text = textbuf_new(out->arena);
    size_print(&text, p, e);
    member(out, name, text.data ? text.data : "");
}

// Names of spaces hold no blanks, because they stand in sizes.
static const char *space_name(textbuf *out, const program *p, uint32_t space) {
    const char *s = p->spaces.data[space].name;
    char *name = arena_strdup(out->arena, s), *to = name;
    for (; *s; s++)
        if (*s != ' ') *to++ = *s;
    *to = 0;
    return name;
}

// An array of the manifest or of one of its rows, a row a line.
#define ROWS(out, p, indent, name, vector, row)                                                    \
    do {                                                                                           \
        textbuf_printf(out, ",\n%*s\"%s\": [", indent, "", name);                                  \
        for (uint32_t k = 0; k < (vector).len; k++) {                                              \
            textbuf_printf(out, "%s\n%*s", k ? "," : "", (indent) + 2, "");                        \
            row(out, p, &(vector).data[k]);                                                        \
        }                                                                                          \
        textbuf_puts(out, "]");                                                                    \
    } while (0)

// ---- Rows ---------------------------------------------------------------------------------------
static void space_row(textbuf *out, const program *p, const program_space *s) {
    static const char *const kinds[] = {[SPACE_FREE] = "free",
                                        [SPACE_CONST] = "const",
                                        [SPACE_EXPR] = "expr",
                                        [SPACE_COUNT_OF] = "count"};
    first(out, "name", space_name(out, p, (uint32_t)(s - p->spaces.data)));
    member(out, "kind", kinds[s->kind]);
    if (s->kind == SPACE_CONST || s->kind == SPACE_EXPR) size_member(out, "size", p, &s->size);
    if (s->kind == SPACE_COUNT_OF) {
        key(out, "prepared");
        textbuf_printf(out, "%u", s->prepared);
    }
    textbuf_puts(out, "}");
}

static void facts_member(textbuf *out, const program *p, const program_param *x) {
    static const struct {
        uint32_t fact;
        const char *text;
    } facts[] = {{FACT_SORTED, "sorted"}, {FACT_UNIQUE, "unique"},   {FACT_PARTIAL, "partial"},
                 {FACT_PREFIX, "prefix"}, {FACT_STRIDED, "strided"}, {FACT_PACKED, "packed"},
                 {FACT_SAVED, "saved"},   {FACT_GIVEN, "given"}};
    if (!x->facts) return;
    key(out, "facts");
    const char *between = "[";
    for (uint32_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        if (!(x->facts & facts[k].fact)) continue;
        const char *text = facts[k].text;
        if (facts[k].fact == FACT_SORTED && x->sorted_by >= 0)
            text = arena_printf(out->arena, "sorted(%s)", p->params.data[x->sorted_by].name);
        textbuf_puts(out, between);
        string(out, text);
        between = ", ";
    }
    textbuf_puts(out, "]");
}

static void axes_member(textbuf *out, const program *p, const program_param *x) {
    key(out, "axes");
    textbuf_puts(out, "[");
    for (uint32_t k = 0; k < x->rank; k++) {
        if (k) textbuf_puts(out, ", ");
        string(out, space_name(out, p, x->axes[k]));
    }
    textbuf_puts(out, "]");
}

static void param_row(textbuf *out, const program *p, const program_param *x) {
    static const char *const roles[] = {[PARAM_MAP] = "map",
                                        [PARAM_TENSOR] = "tensor",
                                        [PARAM_SCALAR] = "scalar",
                                        [PARAM_RESULT] = "result"};
    first(out, "name", x->name);
    member(out, "role", roles[x->role]);
    member(out, "type", ir_dtype_text(x->type));
    facts_member(out, p, x);
    if (x->align) {
        key(out, "align");
        textbuf_printf(out, "%u", x->align);
    }
    if (x->role != PARAM_SCALAR) axes_member(out, p, x);
    if (x->type == DT_INDEX) member(out, "into", space_name(out, p, x->into));
    if (x->role == PARAM_RESULT && x->inplace >= 0)
        member(out, "inplace", p->params.data[x->inplace].name);
    if (x->adjoint_of) member(out, "adjoint_of", x->adjoint_of);
    textbuf_puts(out, "}");
}

static void require_row(textbuf *out, const program *p, const program_require *r) {
    first(out, "text", r->text);
    size_member(out, "holds", p, &r->holds);
    textbuf_puts(out, "}");
}

static void prepared_row(textbuf *out, const program *p, const program_prepared *x) {
    first(out, "name", x->name);
    member(out, "builder", prepared_builder_text(x->builder));
    key(out, "args");
    for (uint32_t k = 0; k < x->nargs; k++) {
        textbuf_puts(out, k ? ", " : "[");
        program_map_ref m = x->args[k];
        string(out, m.prepared ? p->prepared.data[m.index].name : p->params.data[m.index].name);
    }
    textbuf_puts(out, x->nargs ? "]" : "[]");
    if (prepared_tiles(x->builder)) {
        key(out, "extent");
        textbuf_printf(out, "%" PRId64, x->extent);
    }
    if (x->slots) {
        key(out, "slots");
        textbuf_printf(out, "%" PRId64, x->slots);
    }
    member(out, "domain", space_name(out, p, x->domain));
    member(out, "into", space_name(out, p, x->into));
    textbuf_puts(out, "}");
}

static void temp_row(textbuf *out, const program *p, const program_temp *t) {
    first(out, "name", t->name);
    member(out, "type", ir_dtype_text(t->type));
    size_member(out, "length", p, &t->length);
    textbuf_puts(out, "}");
}

static void kernel_row(textbuf *out, const simt_func *f) {
    first(out, "name", f->name);
    textbuf_printf(out, ", \"block\": %u, \"shared\": %u, \"params\": [", f->block,
                   f->shared_bytes);
    for (uint32_t k = 0; k < f->params.len; k++) {
        simt_element e = simt_typeof(f, f->params.data[k].value).element;
        if (k) textbuf_puts(out, ", ");
        string(out, e >= SIMT_PTR_GLOBAL ? "ptr" : simt_element_text(e));
    }
    textbuf_puts(out, "]}");
}

static void kernels(textbuf *out, const program *p) {
    bool any = false;
    textbuf_puts(out, ",\n  \"kernels\": [");
    for (uint32_t k = 0; k < p->module->funcs.len; k++) {
        const simt_func *f = p->module->funcs.data[k];
        if (!f->kernel) continue;
        textbuf_puts(out, any ? ",\n    " : "\n    ");
        kernel_row(out, f);
        any = true;
    }
    textbuf_puts(out, "]");
}

// ---- Steps --------------------------------------------------------------------------------------
static void arg_item(textbuf *out, const program *p, const program_arg *a) {
    switch (a->kind) {
    case ARG_DATA: first(out, "data", p->params.data[a->index].name); break;
    case ARG_STRIDE:
        first(out, "stride", p->params.data[a->index].name);
        key(out, "axis");
        textbuf_printf(out, "%u", a->axis);
        break;
    case ARG_VALUE: first(out, "value", p->params.data[a->index].name); break;
    case ARG_SIZE: first(out, "size", space_name(out, p, a->index)); break;
    case ARG_MAGIC: first(out, "magic", space_name(out, p, a->index)); break;
    case ARG_SHIFT: first(out, "shift", space_name(out, p, a->index)); break;
    case ARG_PREPARED: first(out, "prepared", p->prepared.data[a->index].name); break;
    case ARG_TEMP: first(out, "temp", p->temps.data[a->index].name); break;
    case ARG_NUMBER: {
        textbuf text = textbuf_new(out->arena);
        size_print(&text, p, &p->numbers.data[a->index]);
        first(out, "number", text.data);
        break;
    }
    case ARG_STEP: textbuf_puts(out, "{\"step\": true"); break;
    case ARG_KIND_COUNT: ICE("a kernel argument that does not exist");
    }
    textbuf_puts(out, "}");
}

static void step_row(textbuf *out, const program *p, const program_step *s) {
    if (s->kind == STEP_END) {
        textbuf_puts(out, "{\"end\": true}");
        return;
    }
    if (s->kind == STEP_LOOP) {
        textbuf text = textbuf_new(out->arena);
        size_print(&text, p, &s->count);
        first(out, "loop", text.data ? text.data : "");
        textbuf_puts(out, "}");
        return;
    }
    first(out, "launch", s->kernel);
    size_member(out, "blocks", p, &s->count);
    if (s->early) textbuf_puts(out, ", \"early\": true");
    if (s->early && s->waits_first) textbuf_puts(out, ", \"waits_first\": true");
    if (s->early && s->waits_to_write) textbuf_puts(out, ", \"waits_to_write\": true");
    key(out, "args");
    textbuf_puts(out, "[");
    for (uint32_t k = 0; k < s->nargs; k++) {
        if (k) textbuf_puts(out, ", ");
        arg_item(out, p, &s->args[k]);
    }
    textbuf_puts(out, "]}");
}

// ---- Versions -----------------------------------------------------------------------------------
static void guard_item(textbuf *out, const program *p, const program_guard *g) {
    static const struct {
        const char *kind, *value;
    } keys[] = {[GUARD_ALIGNED] = {"aligned", "bytes"},
                [GUARD_STRIDE] = {"stride", "multiple"},
                [GUARD_PITCH] = {"pitch", "elements"},
                [GUARD_REACH] = {"reach", "below"}};
    if (g->kind == GUARD_HOLDS) {
        first(out, "text", g->text);
        size_member(out, g->pays ? "pays" : "holds", p, &g->holds);
    } else {
        first(out, keys[g->kind].kind, p->params.data[g->param].name);
        if (g->kind == GUARD_STRIDE || g->kind == GUARD_PITCH) {
            key(out, "axis");
            textbuf_printf(out, "%u", g->axis);
        }
        key(out, keys[g->kind].value);
        textbuf_printf(out, "%" PRId64, g->value);
    }
    textbuf_puts(out, "}");
}

static void version_row(textbuf *out, const program *p, const program_version *v) {
    first(out, "name", v->name);
    if (p->choice.text) textbuf_printf(out, ", \"of\": %u", v->of);
    key(out, "guards");
    textbuf_puts(out, "[");
    for (uint32_t k = 0; k < v->guards.len; k++) {
        if (k) textbuf_puts(out, ", ");
        guard_item(out, p, &v->guards.data[k]);
    }
    textbuf_puts(out, "]");
    ROWS(out, p, 5, "steps", v->steps, step_row);
    textbuf_puts(out, "}");
}

static void choice(textbuf *out, const program *p) {
    const program_choice *c = &p->choice;
    if (!c->text) return;
    textbuf_puts(out, ",\n  \"choice\": ");
    first(out, "text", c->text);
    size_member(out, "of", p, &c->of);
    key(out, "schedules");
    for (uint32_t k = 0; k < c->nschedules; k++) {
        textbuf_puts(out, k ? ", " : "[");
        string(out, c->schedules[k]);
    }
    textbuf_puts(out, "]}");
}

void cg_manifest(textbuf *out, const program *p, const cg_target *t) {
    textbuf_puts(out, "{\n  \"gnnc_manifest\": 1");
    member(out, "name", p->name);
    member(out, "source", p->source);
    member(out, "target", t->kind == CG_CUDA ? t->arch->name : "host");
    if (p->rules.len) key(out, "rules");
    for (uint32_t k = 0; k < p->rules.len; k++) {
        textbuf_puts(out, k ? ", " : "[");
        string(out, p->rules.data[k]);
    }
    if (p->rules.len) textbuf_puts(out, "]");
    const char *deterministic = p->deterministic ? "true" : "false";
    textbuf_printf(out, ", \"index_bits\": %u, \"deterministic\": %s", p->index_bits,
                   deterministic);
    if (p->saved) textbuf_puts(out, ", \"saved\": true");
    if (p->gradient_of) member(out, "gradient_of", p->gradient_of);
    ROWS(out, p, 2, "spaces", p->spaces, space_row);
    ROWS(out, p, 2, "params", p->params, param_row);
    ROWS(out, p, 2, "requires", p->required, require_row);
    ROWS(out, p, 2, "prepared", p->prepared, prepared_row);
    ROWS(out, p, 2, "temps", p->temps, temp_row);
    kernels(out, p);
    choice(out, p);
    ROWS(out, p, 2, "versions", p->versions, version_row);
    textbuf_puts(out, "\n}\n");
}
