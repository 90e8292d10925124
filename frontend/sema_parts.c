// Values that several equations fill, as a recurrence and its start do. Nobody declares their type:
// it holds every part, as `a ? b : c` has a type that holds both, and a whole number that is
// written out takes that of the others:
//     a[0, i] = 0;  a[t + 1, i] = a[t, i] + x[i] for t in S;      a is a float as x is
// What reads the value needs its type before all parts are known, so the equations are lowered
// until no part asks for a wider one.
#include "sema_lower.h"
#include <string.h>

static bool is_float(ir_dtype t) { return t == DT_F32 || t == DT_F64; }
static bool is_wider(ir_dtype t, ir_dtype than) {
    return is_float(t) && (than == DT_I64 || (than == DT_F32 && t == DT_F64));
}

static part_type *find(const part_types *parts, const char *name) {
    for (uint32_t i = 0; i < parts->len; i++)
        if (!strcmp(parts->data[i].name, name)) return &parts->data[i];
    return NULL;
}

tensor_type part_type_of(const lowering *L, const char *value, tensor_type first) {
    const part_type *p = find(L->parts, value);
    if (p && is_wider(p->type, first.type)) first.type = p->type;
    return first;
}

static void ask_for(lowering *L, const char *name, ir_dtype type) {
    part_type *p = find(L->parts, name);
    L->asked |= !p || is_wider(type, p->type);
    if (p && is_wider(type, p->type)) p->type = type;
    if (!p) VEC_PUSH(L->arena, L->parts, ((part_type){name, type}));
}

// All that fills it so far is written out.
static bool is_literal(const lowering *L, tensor_val val) {
    bool some = false;
    for (uint32_t i = 0; i < L->op->stages.len; i++) {
        const tensor_stage *st = &L->op->stages.data[i];
        for (uint32_t t = 0; t < st->ntargets; t++) {
            if (st->targets[t].val != val) continue;
            some = true;
            if (st->reducer != TENSOR_NO_REDUCER ||
                tensor_node_at(L->op, st->body[t])->op != TENSOR_CONST_OP)
                return false;
        }
    }
    return some;
}

void part_note(lowering *L, tensor_val val, tensor_type t) {
    const tensor_val_info *made = &L->op->vals.data[val];
    if (made->role != VAL_STAGE || !is_wider(t.type, made->type)) return;
    if (made->type == DT_F32 || is_literal(L, val)) ask_for(L, made->name, t.type);
}

static lowering quietly(sema *quiet, part_types *parts) {
    return (lowering){.s = quiet,
                      .arena = quiet->arena,
                      .ds = quiet->ds,
                      .real = DT_F32,
                      .loop = TENSOR_NO_LOOP,
                      .parts = parts};
}

// Until nothing asks for more; whether all is well then. A type that is asked for is wider each
// time.
static bool settle(sema *s, part_types *parts, lowering *L, void (*lower)(lowering *L, void *user),
                   void *user) {
    sema *quiet = ARENA_NEW(s->arena, sema);
    *quiet = *s;
    do {
        quiet->ds = diag_set_new(s->arena, diag_sources(s->ds));
        *L = quietly(quiet, parts);
        lower(L, user);
    } while (L->asked);
    return !diag_raised(quiet->ds);
}

// Where an equation cannot be typed, perhaps whole numbers that are written out are floats.
void parts_find(sema *s, part_types *out, void (*lower)(lowering *L, void *user), void *user) {
    lowering L;
    if (settle(s, out, &L, lower, user)) return;
    part_types floats = {0};
    for (uint32_t i = 0; i < out->len; i++) VEC_PUSH(s->arena, &floats, out->data[i]);
    for (tensor_val v = L.op->nparams; v < L.op->vals.len; v++) {
        const tensor_val_info *i = &L.op->vals.data[v];
        if (i->role == VAL_STAGE && i->type == DT_I64 && is_literal(&L, v))
            VEC_PUSH(s->arena, &floats, ((part_type){i->name, DT_F32}));
    }
    if (floats.len > out->len && settle(s, &floats, &L, lower, user)) *out = floats;
}
