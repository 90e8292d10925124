// One op, from its signature and equations to tensor IR that verifies.
#include "sema_equation.h"
#include "autodiff/gradient.h"

typedef struct {
    const ast_item *item;
    const ast_names *bound;   // binds generics from the left; the rest take -D or their defaults
    bool defaults;
    const char *source;
} wanted_op;

// Signature and equations; what is wrong is told.
static void lower_equations(lowering *L, void *user) {
    const wanted_op *w = user;
    const ast_item *op = sema_op_body(L->s, w->item);
    L->defaults = w->defaults;
    L->op = tensor_op_new(L->arena, w->item->name.text);
    L->op->source = w->source;
    L->op->at = w->item->name.at;
    scope names = {0};
    if (!signature_declare(L, &names, op, w->bound, w->item->name.text)) return;
    L->op->name = signature_name(L, op, &names, w->item->name.text);
    equations q = {.scope = &names, .op = op};
    for (tensor_val v = 0; v < L->op->nparams; v++) {
        const tensor_val_info *i = &L->op->vals.data[v];
        if (i->role == VAL_RESULT)
            VEC_PUSH(L->arena, &q.results,
                     ((declared){i->name, i->name, v, true, i->rank, i->axes, i->at}));
    }
    expand(L, op);
    equations_lower(L, &q);
}

static bool may_fill_parts(const ast_item *op) {
    for (const ast_equation *eq = op->equations; eq; eq = eq->next) {
        if (eq->call || (eq->value && eq->value->kind == AST_NUMBER))
            return true;   // which a call may want as a float
        for (const ast_expr *t = eq->targets; t; t = t->next)
            for (const ast_expr *a = t->args; a; a = a->next)
                if (a->kind != AST_NAME) return true;
    }
    return false;
}

tensor_op *sema_lower(sema *s, const ast_item *item, const ast_names *bound, bool defaults,
                      const char *source) {
    wanted_op w = {item, bound, defaults, source};
    part_types parts = {0};
    lowering L = {.s = s,
                  .arena = s->arena,
                  .ds = s->ds,
                  .real = DT_F32,
                  .loop = TENSOR_NO_LOOP,
                  .parts = &parts};
    uint32_t errors = diag_raised(s->ds);
    if (may_fill_parts(sema_op_body(s, item))) parts_find(s, &parts, lower_equations, &w);
    lower_equations(&L, &w);
    if (diag_raised(s->ds) != errors) return NULL;
    equations_finish(&L);
    if (diag_raised(s->ds) != errors) return NULL;
    L.op = tensor_without_unread(s->arena, L.op);
    tensor_order_stages(L.op);
    tensor_narrow(L.op);
    const char *fault = tensor_verify(s->arena, L.op);
    if (fault) ICE("%s: the frontend made tensor IR that does not verify: %s", L.op->name, fault);
    return L.op;
}
