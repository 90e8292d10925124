// Maps whose preimages the runtime can prepare when the plan is made: parameters, compositions of
// them, and classes of tuples of them. A map computed by the op itself is scanned instead.
#include "naive/naive.h"
#include <string.h>

static const char *ref_name(const naive *n, program_map_ref r) {
    return r.prepared ? n->p->prepared.data[r.index].name : n->p->params.data[r.index].name;
}

uint32_t prepare(naive *n, prepared_builder b, const program_map_ref *args, uint32_t nargs,
                 tensor_space domain, tensor_space into) {
    textbuf name = textbuf_new(n->arena);
    textbuf_printf(&name, "%s(", prepared_builder_text(b));
    for (uint32_t i = 0; i < nargs; i++)
        textbuf_printf(&name, "%s%s", i ? "," : "", ref_name(n, args[i]));
    textbuf_puts(&name, ")");
    for (uint32_t i = 0; i < n->p->prepared.len; i++)
        if (!strcmp(n->p->prepared.data[i].name, name.data)) return i;
    program_map_ref *copy = ARENA_ARRAY(n->arena, program_map_ref, nargs);
    memcpy(copy, args, nargs * sizeof *args);
    program_prepared made = {.name = name.data,
                             .builder = b,
                             .nargs = nargs,
                             .args = copy,
                             .domain = domain,
                             .into = into};
    VEC_PUSH(n->arena, &n->p->prepared, made);
    return n->p->prepared.len - 1;
}

// The stage that computes value v as a whole, without a reduction.
static const tensor_stage *plain_stage(const naive *n, tensor_val v) {
    const tensor_stage *found = NULL;
    for (uint32_t i = 0; i < n->op->stages.len; i++) {
        const tensor_stage *st = &n->op->stages.data[i];
        for (uint32_t t = 0; t < st->ntargets; t++)
            if (st->targets[t].val == v) {
                if (found || st->reducer != TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP)
                    return NULL;
                found = st;
            }
    }
    return found;
}

static bool map_of_value(naive *n, tensor_val v, walkable *out) {
    const tensor_val_info *i = &n->op->vals.data[v];
    if (i->rank != 1 || i->type != DT_INDEX) return false;
    *out = (walkable){.domain = i->axes[0], .into = i->into};
    if (i->role == VAL_MAP) {
        out->ref = (program_map_ref){false, v};
        out->sorted = (i->facts & FACT_SORTED) && i->sorted_by == TENSOR_NO_VAL &&
                      !(i->facts & FACT_PARTIAL);
        return true;
    }
    if (i->role == VAL_CLASSES) {
        out->ref = (program_map_ref){true, n->prepared_of[v]};
        return n->prepared_of[v] != UINT32_MAX;
    }
    const tensor_stage *st = plain_stage(n, v);
    return st && st->nleft == 1 && map_of_key(n, st->body[0], st->left[0], out);
}

bool map_of_key(naive *n, tensor_expr e, tensor_var var, walkable *out) {
    const tensor_node *x = tensor_node_at(n->op, e);
    if (x->op != TENSOR_LOAD_OP || x->nargs != 1) return false;
    const tensor_node *arg = tensor_node_at(n->op, x->args[0]);
    walkable outer, inner;
    if (!map_of_value(n, (tensor_val)x->imm.i, &outer)) return false;
    if (arg->op == TENSOR_VAR_OP && (tensor_var)arg->imm.i == var) return *out = outer, true;
    if (!map_of_key(n, x->args[0], var, &inner)) return false;
    program_map_ref args[] = {inner.ref, outer.ref};
    uint32_t p = prepare(n, PREPARED_COMPOSE, args, 2, inner.domain, outer.into);
    *out = (walkable){{true, p}, false, inner.domain, outer.into};
    return true;
}

static void prepare_class(naive *n, tensor_val v) {
    const tensor_val_info *i = &n->op->vals.data[v];
    program_map_ref *args = ARENA_ARRAY(n->arena, program_map_ref, i->nkeys);
    for (uint32_t k = 0; k < i->nkeys; k++) {
        walkable w;
        if (!map_of_value(n, i->keys[k], &w)) {
            diagnostic *d = diag(
                n->ds, E0424, i->at,
                "'%s' is computed by the op: tuples of it cannot be numbered when the plan is made",
                n->op->vals.data[i->keys[k]].name);
            diag_help(
                d, "give it as a map parameter, or reduce under a condition that names each map");
            return;
        }
        args[k] = w.ref;
    }
    n->prepared_of[v] = prepare(n, PREPARED_CLASSES, args, i->nkeys, i->axes[0], i->into);
    n->p->spaces.data[i->into].prepared = n->prepared_of[v];
}

void prepare_classes(naive *n) {
    for (tensor_val v = 0; v < n->op->vals.len; v++)
        if (n->op->vals.data[v].role == VAL_CLASSES) prepare_class(n, v);
}

// Of a text's plan, whose equations may read it.
uint32_t prepare_value(naive *n, tensor_val v) {
    const tensor_val_info *i = &n->op->vals.data[v];
    if (n->prepared_of[v] != UINT32_MAX) return n->prepared_of[v];
    const tensor_val_info *of = &n->op->vals.data[i->keys[0]];
    program_map_ref *args = ARENA_ARRAY(n->arena, program_map_ref, i->nkeys);
    for (uint32_t k = 0; k < i->nkeys; k++)
        args[k] = n->op->vals.data[i->keys[k]].role == VAL_MAP
                      ? (program_map_ref){false, i->keys[k]}
                      : (program_map_ref){true, prepare_value(n, i->keys[k])};
    tensor_space into = i->builder == PREPARED_COMPOSE ? i->into : of->into;
    return n->prepared_of[v] = prepare(n, i->builder, args, i->nkeys, of->axes[0], into);
}
