// Gradients that a file asks for: ops made of other ops, by name.
//     grad spmm wrt (w, x);           → spmm.grad
//     grad spmm;                      → likewise, by all its float tensors
//     grad spmm.grad wrt (x) as hvp;  → hvp
#include "sema_gradient.h"
#include "sema_schedule.h"

#include <string.h>

// ---- Checks -------------------------------------------------------------------------------------
static const ast_param *find_param(const ast_item *op, const char *name) {
    for (const ast_param *p = op->params; p; p = p->next)
        if (p->name.text == name) return p;
    return NULL;
}

static void check_names(sema *s, const ast_item *g, const ast_item *body) {
    for (const ast_names *n = g->names; n; n = n->next) {
        const ast_param *p = find_param(body, n->name.text);
        ir_dtype t;
        bool is_float = p && p->type->kind == AST_TENSOR &&
                        (!sema_dtype(p->type->element.text, &t) || ir_dtype_is_float(t));
        if (is_float) continue;
        diagnostic *d = diag(s->ds, E0610, n->name.at,
                             p ? "'%s' is no float tensor: it has no gradient"
                               : "'%s' is no parameter of that op",
                             n->name.text);
        diag_note(d, (p ? p->name : body->name).at, "'%s' is declared here",
                  (p ? p->name : body->name).text);
    }
}

// Names that are one in C are one. Of files, the main one's gradient takes the place of an imported
// one.
static void check_name(sema *s, const ast_item *g) {
    const char *name = gradient_name_in_c(s, gradient_path(s, g));
    const source_file *file = source_map_file(diag_sources(s->ds), g->at.lo);
    span first = NO_SPAN;
    for (uint32_t i = 0; i < s->ops.len; i++)
        if (!strcmp(s->ops.data[i]->name.text, name)) first = s->ops.data[i]->name.at;
    for (uint32_t i = 0; i < s->grads.len && s->grads.data[i] != g; i++)
        if (s->grads.data[i]->path &&
            !strcmp(gradient_name_in_c(s, gradient_path(s, s->grads.data[i])), name))
            first = s->grads.data[i]->at;
    if (first.lo == NO_SPAN.lo || source_map_file(diag_sources(s->ds), first.lo) != file) return;
    diagnostic *d = diag(s->ds, E0202, g->at, "'%s', in C '%s', is declared twice",
                         gradient_path(s, g), name);
    diag_note(d, first, "first here");
    diag_help(d, "give it another name: `grad %s wrt (…) as NAME;`",
              schedule_path_text(s, g->path));
}

// What a gradient of a gradient is asked for is known when the first one is there.
void gradient_check(sema *s, const ast_item *g) {
    const ast_item *op = g->path ? gradient_source(s, g->path, 0) : NULL,
                   *body = op ? sema_op_body(s, op) : NULL;
    const char *path = g->path ? schedule_path_text(s, g->path) : "";
    bool first = op && op->name.text == path;
    if (!body || body->kind != AST_OP || !(first || gradient_find(s, path)))
        diag(s->ds, E0204, g->at, "there is no op '%s' to differentiate", path);
    else if (first) check_names(s, g, body);
    if (body) check_name(s, g);
}

// ---- Deriving -----------------------------------------------------------------------------------
static bool is_float_tensor(const tensor_op *op, tensor_val v) {
    return op->vals.data[v].role == VAL_TENSOR && ir_dtype_is_float(op->vals.data[v].type);
}

// All of an op that can have one.
static const ast_names *float_tensors(sema *s, const ast_item *g, const tensor_op *op) {
    ast_names *first = NULL, **end = &first;
    for (tensor_val v = 0; v < op->nparams; v++) {
        if (!is_float_tensor(op, v)) continue;
        *end = ARENA_NEW(s->arena, ast_names);
        (*end)->name = (ast_name){.text = op->vals.data[v].name, .at = g->at};
        end = &(*end)->next;
    }
    return first;
}

const ast_names *gradient_names(sema *s, const ast_item *g, const tensor_op *op) {
    return g->names ? g->names : float_tensors(s, g, op);
}

static bool wanted(sema *s, const ast_item *g, const tensor_op *op, tensor_val *wrt, uint32_t *n) {
    const ast_names *names = gradient_names(s, g, op);
    if (!names) diag(s->ds, E0610, g->at, "'%s' has no parameter that is a float tensor", op->name);
    for (const ast_names *x = names; x; x = x->next) {
        tensor_val v = 0;
        while (v < op->nparams && strcmp(op->vals.data[v].name, x->name.text)) v++;
        bool good = v < op->nparams && is_float_tensor(op, v);
        if (good) wrt[(*n)++] = v;
        else
            diag(s->ds, E0610, x->name.at, "'%s' is no float tensor among the parameters of '%s'",
                 x->name.text, op->name);
        if (!good) return false;
    }
    return names != NULL;
}

// Types stand behind the name, as those of the op do.
static const char *name_of(sema *s, const ast_item *g, const tensor_op *op) {
    const ast_item *before = gradient_find(s, schedule_path_text(s, g->path));
    const char *of = before ? gradient_name_in_c(s, gradient_path(s, before))
                            : gradient_source(s, g->path, 0)->name.text;
    return arena_printf(s->arena, "%s%s", gradient_name_in_c(s, gradient_path(s, g)),
                        op->name + strlen(of));
}

tensor_op *gradient_lower_source(sema *s, const ast_item *g,
                                 tensor_op *(*forward)(sema *, const ast_item *, const char *),
                                 const char *source) {
    const ast_item *before = gradient_find(s, schedule_path_text(s, g->path));
    return before ? gradient_lower(s, before, forward, source)
                  : forward(s, gradient_source(s, g->path, 0), source);
}

tensor_op *gradient_verified(sema *s, tensor_op *made) {
    const char *fault = made ? tensor_verify(s->arena, made) : NULL;
    if (fault) ICE("%s: the gradient does not verify: %s", made->name, fault);
    return made;
}

tensor_op *gradient_derive(sema *s, const ast_item *g, const tensor_op *f,
                           const saved_stages *kept) {
    tensor_val *wrt = ARENA_ARRAY(s->arena, tensor_val, f->nparams + 1);
    uint32_t n = 0;
    if (!wanted(s, g, f, wrt, &n)) return NULL;
    gradient_request r = {.name = name_of(s, g, f), .wrt = wrt, .nwrt = n, .at = g->at};
    if (kept) {
        r.saved = kept->stages.data, r.nsaved = kept->stages.len;
        r.given = kept->results.data, r.ngiven = kept->results.len;
    }
    return gradient_verified(s, tensor_gradient(s->arena, s->ds, f, &r));
}

tensor_op *gradient_lower(sema *s, const ast_item *g,
                          tensor_op *(*forward)(sema *, const ast_item *, const char *),
                          const char *source) {
    tensor_op *f = gradient_lower_source(s, g, forward, source);
    return f ? gradient_derive(s, g, f, NULL) : NULL;
}
