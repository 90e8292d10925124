// The header applications include: a struct of each op's arguments, its calls, and what they ask of
// a caller. The runtime reads the struct by the manifest (its arguments.c): sizes of free spaces,
// then parameters.
#include "codegen.h"

#include <ctype.h>
#include <string.h>

// ---- Names and comments -------------------------------------------------------------------------
// Words of C and C++, and what gnnrt.h's includes define, that a member cannot be called.
static const char reserved[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t"
    " char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr"
    " constinit continue decltype default delete do double dynamic_cast else enum explicit export"
    " extern false float for friend goto if inline int linux long mutable namespace new noexcept not"
    " not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires"
    " restrict return short signed sizeof static static_assert static_cast struct switch template this"
    " thread_local throw true try typedef typeid typename typeof union unix unsigned using virtual"
    " typeof_unqual void volatile wchar_t while xor xor_eq NULL I offsetof ";

typedef struct {
    textbuf *out;
    const program *p;
    VEC(const char *) members;
} header;

// Macros of gnnrt.h and of <stdint.h>: GNN_ABI, INT32_MAX.
static bool is_macro(const char *name) {
    static const char *const begins[] = {"INT",         "UINT",   "SIZE_", "PTRDIFF_",
                                         "SIG_ATOMIC_", "WCHAR_", "WINT_"},
                             *const ends[] = {"_MAX", "_MIN", "_WIDTH"};
    size_t length = strlen(name);
    bool ours = !strncmp(name, "GNN", 3) && name[length - 1] != '_', begun = false, ended = false;
    for (size_t k = 0; k < sizeof begins / sizeof *begins; k++)
        begun |= !strncmp(name, begins[k], strlen(begins[k]));
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        ended |= length > strlen(ends[k]) && !strcmp(name + length - strlen(ends[k]), ends[k]);
    return ours || (begun && ended);
}

static bool is_taken(const header *h, const char *name) {
    if (is_macro(name) || strstr(reserved, arena_printf(h->out->arena, " %s ", name))) return true;
    for (uint32_t k = 0; k < h->members.len; k++)
        if (!strcmp(name, h->members.data[k])) return true;
    return false;
}

// C's own are all names that begin with two underscores, or one and a capital.
static bool is_of_c(const char *name) {
    return *name == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

// The member's name: without the underscores in front that make it one of C's, with some behind it
// until it is free.
static const char *member_name(header *h, const char *name) {
    if (is_of_c(name)) name += strspn(name, "_");
    if (!*name || isdigit((unsigned char)*name)) name = arena_printf(h->out->arena, "x%s", name);
    while (is_taken(h, name)) name = arena_printf(h->out->arena, "%s_", name);
    VEC_PUSH(h->out->arena, &h->members, name);
    return name;
}

// Within a // comment: no end of line, and no backslash that would continue it.
static void comment_text(textbuf *out, const char *s) {
    for (; *s; s++) {
        char c = *s == '\\' ? '/' : (unsigned char)*s < ' ' ? ' ' : *s;
        textbuf_putn(out, &c, 1);
    }
}

// ---- What a member is ---------------------------------------------------------------------------
static void put_axes(header *h, const program_param *x) {
    textbuf_puts(h->out, "[");
    for (uint32_t k = 0; k < x->rank; k++)
        textbuf_printf(h->out, "%s%s", k ? ", " : "", h->p->spaces.data[x->axes[k]].name);
    textbuf_puts(h->out, "]");
}

static void put_map(header *h, const program_param *x) {
    const program_space *s = h->p->spaces.data;
    for (uint32_t k = 0; k < x->rank; k++)
        textbuf_printf(h->out, "%s%s", k ? ", " : "", s[x->axes[k]].name);
    textbuf_printf(h->out, " -> %s", s[x->into].name);
    if (x->facts & FACT_SORTED && x->sorted_by >= 0)
        textbuf_printf(h->out, ", sorted within %s", h->p->params.data[x->sorted_by].name);
    else if (x->facts & FACT_SORTED) textbuf_puts(h->out, ", sorted: offsets alone tell it");
    if (x->facts & FACT_UNIQUE) textbuf_puts(h->out, ", unique");
    if (x->facts & FACT_PARTIAL) textbuf_puts(h->out, ", none (-1) is allowed");
}

static void put_tensor(header *h, const program_param *x) {
    if (x->role == PARAM_RESULT) textbuf_puts(h->out, "result, ");
    bool index = x->type == DT_INDEX;
    textbuf_puts(h->out,
                 index ? "indices (i32, i64: of the code's width) " : ir_dtype_text(x->type));
    put_axes(h, x);
    if (index) textbuf_printf(h->out, " in %s", h->p->spaces.data[x->into].name);
    if (x->facts & FACT_PARTIAL) textbuf_puts(h->out, " or none (-1)");
    if (x->facts & FACT_STRIDED) textbuf_puts(h->out, ", any strides");
    else if (x->facts & FACT_PACKED) textbuf_puts(h->out, ", packed");
    else if (x->rank > 1) textbuf_puts(h->out, ", last stride 1");
    if (x->align) textbuf_printf(h->out, ", aligned to %u bytes", x->align);
    if (x->role == PARAM_RESULT && x->inplace >= 0)
        textbuf_printf(h->out, "; may be the memory of %s", h->p->params.data[x->inplace].name);
}

static const char *scalar_type(ir_dtype t) {
    if (t == DT_I32) return "int32_t";
    ir_dtype loaded = (ir_dtype)ir_dtype_table(t)->loaded;
    return loaded == DT_F64    ? "double"
           : loaded == DT_F32  ? "float"
           : loaded == DT_BOOL ? "bool"
                               : "int64_t";
}

static void put_scalar(header *h, const program_param *x) {
    textbuf_puts(h->out, ir_dtype_text(x->type));
    if (x->type == DT_INDEX) textbuf_printf(h->out, " in %s", h->p->spaces.data[x->into].name);
}

static void put_param(header *h, const program_param *x) {
    if (x->role == PARAM_MAP && x->facts & FACT_PREFIX) {
        textbuf_printf(h->out, "    // %s: ", x->name);
        put_map(h, x);
        textbuf_puts(h->out, ", the identity: it has no array\n");
        return;
    }
    const char *type = x->role == PARAM_MAP      ? "gnn_map"
                       : x->role == PARAM_SCALAR ? scalar_type(x->type)
                                                 : "gnn_tensor";
    const char *name = member_name(h, x->name);
    textbuf_printf(h->out, "    %s %s;   // ", type, name);
    if (strcmp(name, x->name)) textbuf_printf(h->out, "%s: ", x->name);
    if (x->role == PARAM_MAP) put_map(h, x);
    else if (x->role == PARAM_SCALAR) put_scalar(h, x);
    else put_tensor(h, x);
    textbuf_puts(h->out, "\n");
}

static void put_space(header *h, const program_space *s) {
    if (s->kind != SPACE_FREE) return;
    const char *name = member_name(h, s->name);
    textbuf_printf(h->out, "    int64_t %s;\n", name);
}

// Behind `saved`, what is read where that is: parameters of the form that reads it, which may be
// the op itself.
static void put_given(header *h, const cg_artefact *op) {
    const program *p = op->twin ? op->twin->builds.data[0].program : h->p;
    for (uint32_t k = 0; k < p->params.len; k++) {
        const program_param *x = &p->params.data[k];
        if (!(x->facts & FACT_GIVEN)) continue;
        textbuf_printf(h->out,
                       "    gnn_tensor %s;   // of a plan made with GNN_SAVED: what the op gave; ",
                       member_name(h, x->name));
        put_tensor(h, x);
        textbuf_puts(h->out, "\n");
    }
}

static void put_struct(header *h, const cg_artefact *op) {
    textbuf_printf(h->out, "struct %s_args {\n", h->p->name);
    for (uint32_t k = 0; k < h->p->spaces.len; k++) put_space(h, &h->p->spaces.data[k]);
    // the others are a part of `saved`, or stand behind it
    for (uint32_t k = 0; k < h->p->params.len; k++)
        if (!(h->p->params.data[k].facts & (FACT_SAVED | FACT_GIVEN)))
            put_param(h, &h->p->params.data[k]);
    if (h->p->saved)
        textbuf_printf(
            h->out,
            "    void *%s;   // of a plan made with GNN_SAVED: what the op hands to its gradient\n",
            member_name(h, "saved"));
    put_given(h, op);
    if (!h->members.len) textbuf_puts(h->out, "    char none;   // C has no empty struct\n");
    textbuf_puts(h->out, "};\n");
}

// ---- What an op is ------------------------------------------------------------------------------
static bool compiled_before(const cg_artefact *op, uint32_t k) {
    for (uint32_t i = 0; i < k; i++) {
        const cg_target *a = &op->builds.data[i].target, *b = &op->builds.data[k].target;
        if (a->kind == b->kind && a->arch == b->arch &&
            op->builds.data[i].is_ptx == op->builds.data[k].is_ptx)
            return true;
    }
    return false;
}

static void put_code(textbuf *out, const cg_artefact *op) {
    uint32_t widths = 0;
    const char *between = "";
    textbuf_puts(out, "// Code: ");
    for (uint32_t k = 0; k < op->builds.len; k++) {
        const cg_build *b = &op->builds.data[k];
        widths |= b->program->index_bits;
        if (compiled_before(op, k)) continue;
        const char *target = b->target.kind == CG_HOST ? "host (x86-64-v3)" : b->target.arch->name;
        textbuf_printf(out, "%s%s%s", between, target, b->is_ptx ? " as PTX (for later GPUs)" : "");
        between = ", ";
    }
    textbuf_printf(out, "; indices of %s bits.\n",
                   widths == 96   ? "32 and 64"
                   : widths == 32 ? "32"
                                  : "64");
}

static void put_facts(header *h, const cg_artefact *op) {
    const program *p = h->p;
    bool deterministic = true;
    for (uint32_t k = 0; k < op->builds.len; k++)
        deterministic &= op->builds.data[k].program->deterministic;
    textbuf_puts(h->out,
                 deterministic
                     ? "// The same plan and input give the same bits at every launch.\n"
                     : "// Sums of floats may differ in their last bits from launch to launch.\n");
    textbuf_printf(h->out, "#define GNN_DETERMINISTIC_%s %d\n", h->p->name, deterministic);
    for (uint32_t k = 0; k < p->required.len; k++) {
        textbuf_puts(h->out, "// Precondition, checked by the plan: ");
        comment_text(h->out, p->required.data[k].text);
        textbuf_puts(h->out, "\n");
    }
    for (uint32_t k = 0; k < p->spaces.len; k++) {
        if (p->spaces.data[k].kind != SPACE_CONST) continue;
        textbuf size = textbuf_new(h->out->arena);
        size_print(&size, p, &p->spaces.data[k].size);
        if (strcmp(size.data, p->spaces.data[k].name))
            textbuf_printf(h->out, "// %s is %s.\n", p->spaces.data[k].name, size.data);
    }
}

// @ stands for the op's name.
static const char calls[] =
    "extern const gnn_artefact @_artefact;\n"
    "// Loads the code for the context's device. Freed by gnn_op_free, after its plans.\n"
    "gnn_status @_load(gnn_context *c, gnn_op **out);\n"
    "// Once a graph: checks maps, sizes and preconditions, and prepares what kernels read. Tensors need no\n"
    "// data yet; options may be NULL. Freed by gnn_plan_free.\n"
    "gnn_status @_plan(gnn_op *op, const struct @_args *args, const gnn_op_options *options, gnn_plan **out);\n"
    "// Whether args fit the plan. Launches check too, unless the plan is trusted.\n"
    "gnn_status @_check(gnn_plan *plan, const struct @_args *args);\n"
    "// The bytes of workspace that a launch with args uses; gnn_plan_workspace: enough for any args that fit the\n"
    "// plan. The workspace is aligned to 256 bytes, and may be NULL where none are used.\n"
    "gnn_status @_workspace(gnn_plan *plan, const struct @_args *args, size_t *bytes);\n"
    "// On a GPU asynchronous on the stream: allocates nothing, waits for nothing, may be captured\n"
    "// (gnn_capture_begin). On the host done when it returns.\n"
    "gnn_status @_launch(gnn_plan *plan, const struct @_args *args, void *workspace, size_t workspace_bytes,\n"
    "    gnn_stream stream);\n\n";

static void put_calls(textbuf *out, const char *op) {
    for (const char *c = calls; *c; c++) {
        size_t plain = strcspn(c, "@");
        textbuf_putn(out, c, plain);
        c += plain;
        if (!*c) return;
        textbuf_puts(out, op);
    }
}

static void put_comment(textbuf *out, const char *lines) {
    for (size_t n; lines && *lines; lines += n + (lines[n] == '\n')) {
        n = strcspn(lines, "\n");
        comment_text(out, arena_strndup(out->arena, lines, n));
        textbuf_puts(out, "\n");
    }
}

static void put_op(textbuf *out, const cg_artefact *op) {
    header h = {.out = out, .p = op->builds.data[0].program};
    textbuf_printf(out, "// ---- %s ----\n// Op of ", h.p->name);
    comment_text(out, h.p->source);
    textbuf_puts(out, ".\n");
    put_comment(out, op->comment);
    put_code(out, op);
    put_facts(&h, op);
    put_struct(&h, op);
    put_calls(out, h.p->name);
}

static const char *guard_of(arena *a, const char *name) {
    char *guard = arena_printf(a, "GNNC_%s_H", name);
    for (char *c = guard; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    return guard;
}

void cg_header(textbuf *out, const char *name, const char *source, const cg_artefact *ops,
               uint32_t nops) {
    const char *guard = guard_of(out->arena, name);
    textbuf_puts(out, "// Made by gnnc from ");
    comment_text(out, source);
    textbuf_puts(
        out,
        ". Link the object beside it and libgnnrt.\n"
        "// Sizes count elements, strides too. A size that may be 0 is given as gnn_count(n). Calls return 0 or a\n"
        "// negative gnn_status; gnn_context_error has the text.\n");
    textbuf_printf(out, "#ifndef %s\n#define %s\n\n#include <gnnrt.h>\n\n#if GNN_ABI != %d\n",
                   guard, guard, CG_ABI);
    textbuf_puts(
        out, "#error \"this header and gnnrt.h come from different versions of gnnc\"\n#endif\n\n"
             "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (uint32_t k = 0; k < nops; k++) put_op(out, &ops[k]);
    textbuf_puts(out, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
