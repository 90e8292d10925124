// Building tensor IR: the tables of an op, shared expressions, and the builtin reducers.
#include "tensor_internal.h"

#include <math.h>
#include <string.h>

// The op a user sees, and behind it the hash table that keeps its expressions shared.
typedef struct {
    tensor_op op;
    uint32_t *slots;   // open addressing; 0: empty
    uint32_t nslots;   // a power of two
    bool lent;         // slots and nodes are those of the op it was copied from
} shared_op;

tensor_op *tensor_op_new(arena *a, const char *name) {
    shared_op *s = ARENA_NEW(a, shared_op);
    s->op.arena = a;
    s->op.name = name;
    s->op.source = "";
    s->op.ids = tensor_ids_new(a);
    s->nslots = 64;
    s->slots = ARENA_ARRAY(a, uint32_t, s->nslots);
    VEC_PUSH(a, &s->op.exprs, (tensor_node){0});
    return &s->op;
}

tensor_space tensor_add_space(tensor_op *op, tensor_space_info info) {
    VEC_PUSH(op->arena, &op->spaces, info);
    return op->spaces.len - 1;
}

tensor_val tensor_add_val(tensor_op *op, tensor_val_info info) {
    info.id = tensor_id_of_path(op->ids, info.name);
    VEC_PUSH(op->arena, &op->vals, info);
    return op->vals.len - 1;
}

tensor_var tensor_add_var_as(tensor_op *op, tensor_id index, const char *name, tensor_space space) {
    VEC_PUSH(op->arena, &op->vars, ((tensor_var_info){name, space, index}));
    return op->vars.len - 1;
}

tensor_var tensor_add_var(tensor_op *op, const char *name, tensor_space space) {
    return tensor_add_var_as(op, tensor_id_of_index(op->ids, name), name, space);
}

tensor_var tensor_add_var_of(tensor_op *op, tensor_var of, const char *name) {
    return tensor_add_var_as(op, op->vars.data[of].id, name, op->vars.data[of].space);
}

uint32_t tensor_add_stage(tensor_op *op, tensor_stage st) {
    st.id = tensor_id_of_path(op->ids, st.name);
    VEC_PUSH(op->arena, &op->stages, st);
    return op->stages.len - 1;
}

void tensor_put_stage(tensor_op *op, uint32_t at, tensor_stage st) {
    const uint32_t last = tensor_add_stage(op, st);
    tensor_stage *all = op->stages.data;
    st = all[last];
    memmove(&all[at + 1], &all[at], (last - at) * sizeof *all);
    all[at] = st;
}

static bool is_taken(const tensor_op *op, const char *name) {
    for (tensor_val v = 0; v < op->vals.len; v++)
        if (!strcmp(op->vals.data[v].name, name)) return true;
    for (uint32_t i = 0; i < op->stages.len; i++)
        if (!strcmp(op->stages.data[i].name, name)) return true;
    return false;
}

const char *tensor_free_name(const tensor_op *op, const char *name) {
    const char *free = name;
    for (uint32_t n = 2; is_taken(op, free); n++)
        free = arena_printf(op->arena, "%s_%u", name, (unsigned)n);
    return free;
}

const char *tensor_mark_text(tensor_mark m) {
    static const char *const texts[] = {
#define TENSOR_MARK(id, text, means) [TENSOR_##id] = text,
#include "tensor_mark.def"
#undef TENSOR_MARK
    };
    return texts[m];
}

// ---- Sharing ------------------------------------------------------------------------------------

static uint64_t mix(uint64_t h, uint64_t x) {
    return (h ^ x) * UINT64_C(0x9e3779b97f4a7c15) ^ (h >> 29);
}

static uint64_t node_hash(const tensor_node *n) {
    uint64_t h = mix(n->op, ((uint64_t)n->type.type << 32) ^ n->type.space);
    h = mix(mix(h, (uint64_t)n->imm.i), (uint64_t)n->imm2);
    for (uint32_t i = 0; i < n->nargs; i++) h = mix(h, n->args[i]);
    return h ^ (h >> 32);
}

static bool node_equal(const tensor_node *x, const tensor_node *y) {
    return x->op == y->op && x->nargs == y->nargs && tensor_type_equal(x->type, y->type) &&
           x->imm.i == y->imm.i && x->imm2 == y->imm2 &&
           (x->nargs == 0 || memcmp(x->args, y->args, sizeof *x->args * x->nargs) == 0);
}

// A copy may have the slots of its op, in which later nodes of that one stand, too.
static uint32_t *slot_of(const shared_op *s, const tensor_node *n) {
    uint32_t i = (uint32_t)node_hash(n) & (s->nslots - 1);
    while (s->slots[i] &&
           (s->slots[i] >= s->op.exprs.len || !node_equal(&s->op.exprs.data[s->slots[i]], n)))
        i = (i + 1) & (s->nslots - 1);
    return &s->slots[i];
}

static void fill_slots(shared_op *s) {
    s->slots = ARENA_ARRAY(s->op.arena, uint32_t, s->nslots);
    for (uint32_t e = 1; e < s->op.exprs.len; e++) *slot_of(s, &s->op.exprs.data[e]) = e;
}

static void grow(shared_op *s) {
    s->nslots *= 2;
    fill_slots(s);
}

// Room for more nodes in memory of its own: others may go on reading those it had.
static void move_nodes(shared_op *s) {
    const uint32_t n = s->op.exprs.len;
    s->op.exprs.cap = n + n / 2 + 8;
    tensor_node *data = ARENA_ARRAY(s->op.arena, tensor_node, s->op.exprs.cap);
    memcpy(data, s->op.exprs.data, sizeof *data * n);
    s->op.exprs.data = data;
}

// What stands in the slots of an op behind the copy's nodes came later than those: none of them was
// put where it is because of it.
static void own_slots(shared_op *s) {
    uint32_t *slots = ARENA_ARRAY(s->op.arena, uint32_t, s->nslots);
    for (uint32_t i = 0; i < s->nslots; i++)
        slots[i] = s->slots[i] < s->op.exprs.len ? s->slots[i] : 0;
    s->slots = slots;
}

void tensor_own_nodes(tensor_op *op) {
    shared_op *s = (shared_op *)op;
    if (!s->lent) return;
    move_nodes(s);
    own_slots(s);
    s->lent = false;
}

void tensor_take_nodes(tensor_op *op, tensor_node *nodes, uint32_t n) {
    shared_op *s = (shared_op *)op;
    op->exprs.data = nodes;
    op->exprs.len = op->exprs.cap = n;
    s->lent = false;
    op->loads = NULL;
    fill_slots(s);
}

void tensor_node_tell(arena *a, const tensor_node *all, tensor_node *n) {
    n->counted = n->op == TENSOR_PREIMAGE_OP || n->op == TENSOR_AT_LEAST_OP ||
                 n->op == TENSOR_CUT_PARTS_OP;
    n->vars = n->loads = NULL;
    for (uint32_t i = 0; i < n->nargs; i++) {
        const tensor_node *x = &all[n->args[i]];
        n->counted = n->counted || x->counted;
        n->vars = tensor_set_join(a, n->vars, x->vars);
        n->loads = tensor_set_join(a, n->loads, x->loads);
    }
    if (n->op == TENSOR_VAR_OP) n->vars = tensor_set_with(a, NULL, (tensor_var)n->imm.i);
    if (n->op == TENSOR_LOAD_OP) n->loads = tensor_set_with(a, n->loads, (tensor_val)n->imm.i);
}

static tensor_expr share(tensor_op *op, tensor_node n) {
    shared_op *s = (shared_op *)op;
    if (op->exprs.len * 2 >= s->nslots) grow(s);
    uint32_t *slot = slot_of(s, &n);
    if (*slot) return *slot;
    if (s->lent) tensor_own_nodes(op), slot = slot_of(s, &n);
    tensor_expr *args = ARENA_ARRAY(op->arena, tensor_expr, n.nargs);
    if (n.nargs) memcpy(args, n.args, sizeof *args * n.nargs);
    n.args = args;
    tensor_node_tell(op->arena, op->exprs.data, &n);
    *slot = op->exprs.len;
    if (op->exprs.len == op->exprs.cap) move_nodes(s);
    op->exprs.data[op->exprs.len++] = n;
    return op->exprs.len - 1;
}

// Fields an operation does not use are zero and constants have one form, so that equal nodes are
// equal bytes.
static void canonicalise(tensor_node *n) {
    bool uses2 = n->op == TENSOR_PREIMAGE_OP || n->op == TENSOR_AT_LEAST_OP ||
                 n->op == TENSOR_CUT_PARTS_OP || n->op == TENSOR_SYMMETRIC_OP;
    bool uses = uses2 || n->op == TENSOR_LOAD_OP || n->op == TENSOR_ROUND_OP ||
                (tensor_op_table((tensor_opcode)n->op)->kind == TENSOR_LEAF &&
                 n->op != TENSOR_NONE_OP);
    if (!uses) n->imm.i = 0;
    if (!uses2) n->imm2 = 0;
    if (n->op != TENSOR_CONST_OP) return;
    if (n->type.type == DT_BOOL) n->imm.i = n->imm.i != 0;
    if (!tensor_type_is_float(n->type)) return;
    n->imm.f = ir_dtype_round(n->type.type, n->imm.f);
    if (isnan(n->imm.f)) n->imm.f = (double)NAN;
}

tensor_expr tensor_node_new(tensor_op *op, tensor_node n) {
    for (uint32_t i = 0; i < n.nargs; i++)
        if (n.args[i] == 0 || n.args[i] >= op->exprs.len)
            ICE("argument %u of a tensor node does not exist", (unsigned)i);
    const char *fault = tensor_node_fault(op->arena, op, &n);
    if (fault) ICE("tensor op '%s': %s", op->name, fault);
    canonicalise(&n);
    tensor_expr folded = tensor_fold(op, &n);
    return folded ? folded : share(op, n);
}

// What the tables point to is shared: it never changes. Nor do nodes, so that the table of them is
// shared as long as none is added.
tensor_op *tensor_op_copy(arena *a, const tensor_op *op) {
    shared_op *s = ARENA_NEW(a, shared_op);
    s->op = *op;
    s->op.arena = a;
    s->op.loads = NULL;
#define COPY(field)                                                                                \
    do {                                                                                           \
        s->op.field.cap = op->field.len + op->field.len / 2 + 8;                                   \
        s->op.field.data = arena_alloc(a, sizeof *op->field.data * s->op.field.cap);               \
        if (op->field.len)                                                                         \
            memcpy(s->op.field.data, op->field.data, sizeof *op->field.data * op->field.len);      \
    } while (0)
    COPY(spaces);
    COPY(vals);
    COPY(vars);
    COPY(reducers);
    COPY(stages);
    COPY(loops);
    COPY(required);
#undef COPY
    const shared_op *from = (const shared_op *)op;
    s->slots = from->slots;
    s->nslots = from->nslots;
    s->lent = true;
    return &s->op;
}

static uint64_t mix_bytes(uint64_t h, const void *bytes, size_t n) {
    uint64_t word = 0;
    for (size_t i = 0; i + sizeof word <= n; i += sizeof word)
        h = mix(h, (memcpy(&word, (const char *)bytes + i, sizeof word), word));
    return mix(h, n);
}

// What tables point to never changes, so that they tell.
uint64_t tensor_op_mark(const tensor_op *op) {
    uint64_t h = op->exprs.len;
#define MIX(field) h = mix_bytes(h, op->field.data, sizeof *op->field.data * op->field.len)
    MIX(spaces);
    MIX(vals);
    MIX(vars);
    MIX(reducers);
    MIX(stages);
    MIX(loops);
    MIX(required);
#undef MIX
    return h;
}

// ---- Expressions --------------------------------------------------------------------------------

tensor_expr tensor_int(tensor_op *op, int64_t x) {
    return tensor_node_new(
        op, (tensor_node){.op = TENSOR_CONST_OP, .type = TENSOR_TYPE(I64), .imm.i = x});
}

tensor_expr tensor_bool(tensor_op *op, bool x) {
    return tensor_node_new(
        op, (tensor_node){.op = TENSOR_CONST_OP, .type = TENSOR_TYPE(BOOL), .imm.i = x});
}

tensor_expr tensor_float(tensor_op *op, ir_dtype type, double x) {
    tensor_type t = {type, TENSOR_NO_SPACE};
    if (!tensor_type_is_float(t)) ICE("a float constant of type %s", ir_dtype_text(type));
    return tensor_node_new(op, (tensor_node){.op = TENSOR_CONST_OP, .type = t, .imm.f = x});
}

tensor_expr tensor_var_expr(tensor_op *op, tensor_var v, span at) {
    if (v >= op->vars.len) ICE("tensor op '%s' has no variable %u", op->name, (unsigned)v);
    tensor_type t = {DT_INDEX, op->vars.data[v].space};
    return tensor_node_new(op, (tensor_node){.op = TENSOR_VAR_OP, .type = t, .imm.i = v, .at = at});
}

tensor_expr tensor_size(tensor_op *op, tensor_space s, span at) {
    return tensor_node_new(
        op, (tensor_node){.op = TENSOR_SIZE_OP, .type = TENSOR_TYPE(I64), .imm.i = s, .at = at});
}

tensor_expr tensor_load(tensor_op *op, tensor_val v, const tensor_expr *index, uint32_t n,
                        span at) {
    if (v >= op->vals.len) ICE("tensor op '%s' has no value %u", op->name, (unsigned)v);
    const tensor_val_info *info = &op->vals.data[v];
    tensor_type t = tensor_type_of_storage(info->type, info->into);
    return tensor_node_new(op, (tensor_node){.op = TENSOR_LOAD_OP,
                                             .nargs = (uint16_t)n,
                                             .type = t,
                                             .args = index,
                                             .imm.i = v,
                                             .at = at});
}

tensor_expr tensor_index(tensor_op *op, tensor_space s, tensor_expr x, span at) {
    return tensor_node_new(
        op, (tensor_node){
                .op = TENSOR_INDEX_OP, .nargs = 1, .type = {DT_INDEX, s}, .args = &x, .at = at});
}

static tensor_expr derived(tensor_op *op, tensor_opcode o, const tensor_expr *args, uint16_t nargs,
                           span at) {
    tensor_node n = {.op = (uint16_t)o, .nargs = nargs, .args = args, .at = at};
    n.type = tensor_result_type(op, &n);
    return tensor_node_new(op, n);
}

tensor_expr tensor_unary(tensor_op *op, tensor_opcode o, tensor_expr x, span at) {
    return derived(op, o, &x, 1, at);
}

tensor_expr tensor_binary(tensor_op *op, tensor_opcode o, tensor_expr x, tensor_expr y, span at) {
    return derived(op, o, (tensor_expr[]){x, y}, 2, at);
}

tensor_expr tensor_select(tensor_op *op, tensor_expr c, tensor_expr x, tensor_expr y, span at) {
    return derived(op, TENSOR_SELECT_OP, (tensor_expr[]){c, x, y}, 3, at);
}

tensor_expr tensor_cvt(tensor_op *op, tensor_type to, tensor_expr x, span at) {
    tensor_type from = tensor_typeof(op, x);
    if (tensor_type_equal(from, to)) return x;
    if (from.type == DT_INDEX && tensor_type_is_float(to))
        x = tensor_cvt(op, TENSOR_TYPE(I64), x, at);
    return tensor_node_new(
        op, (tensor_node){.op = TENSOR_CVT_OP, .nargs = 1, .type = to, .args = &x, .at = at});
}

tensor_expr tensor_tf32(tensor_op *op, tensor_opcode o, tensor_expr x, span at) {
    return tensor_node_new(
        op, (tensor_node){
                .op = (uint16_t)o, .nargs = 1, .type = TENSOR_TYPE(F32), .args = &x, .at = at});
}

tensor_expr tensor_round(tensor_op *op, ir_dtype through, tensor_expr x, span at) {
    tensor_type t = tensor_typeof(op, x);
    if (through == t.type) return x;
    return tensor_node_new(
        op,
        (tensor_node){
            .op = TENSOR_ROUND_OP, .nargs = 1, .type = t, .args = &x, .imm.i = through, .at = at});
}

// ---- Builtin reducers ---------------------------------------------------------------------------

const char *tensor_reduce_name(tensor_reduce_kind kind) {
    switch (kind) {
    case REDUCE_SUM: return "sum";
    case REDUCE_PROD: return "prod";
    case REDUCE_MAX: return "max";
    case REDUCE_MIN: return "min";
    case REDUCE_ANY: return "any";
    case REDUCE_ALL: return "all";
    case REDUCE_USER: return NULL;
    }
    ICE("no reducer kind %d", (int)kind);
}

static tensor_expr component(tensor_op *op, tensor_opcode o, tensor_type t) {
    return tensor_node_new(op, (tensor_node){.op = (uint16_t)o, .type = t});
}

static tensor_expr number(tensor_op *op, tensor_type t, int64_t x) {
    return tensor_type_is_float(t) ? tensor_float(op, t.type, (double)x) : tensor_int(op, x);
}

// The value below (sign -1) or above (sign 1) every other of a type; none for indices, where it
// stands for "nothing yet".
static tensor_expr extreme(tensor_op *op, tensor_type t, int sign) {
    if (t.type == DT_INDEX)
        return tensor_node_new(op, (tensor_node){.op = TENSOR_NONE_OP, .type = t});
    if (t.type == DT_I64) return tensor_int(op, sign < 0 ? INT64_MIN : INT64_MAX);
    return tensor_float(op, t.type, sign * (double)INFINITY);
}

static tensor_expr builtin_identity(tensor_op *op, tensor_reduce_kind kind, tensor_type t) {
    switch (kind) {
    case REDUCE_SUM: return number(op, t, 0);
    case REDUCE_PROD: return number(op, t, 1);
    case REDUCE_MAX: return extreme(op, t, -1);
    case REDUCE_MIN: return extreme(op, t, 1);
    case REDUCE_ANY: return tensor_bool(op, false);
    case REDUCE_ALL: return tensor_bool(op, true);
    case REDUCE_USER: break;
    }
    ICE("a user's reducer is not builtin");
}

// min over indices must not take none, which is -1, for the smallest.
static tensor_expr index_min(tensor_op *op, tensor_expr l, tensor_expr r, tensor_type t) {
    tensor_expr none = extreme(op, t, 1), least = tensor_binary(op, TENSOR_MIN_OP, l, r, NO_SPAN);
    tensor_expr without_r = tensor_select(op, tensor_binary(op, TENSOR_EQ_OP, r, none, NO_SPAN), l,
                                          least, NO_SPAN);
    return tensor_select(op, tensor_binary(op, TENSOR_EQ_OP, l, none, NO_SPAN), r, without_r,
                         NO_SPAN);
}

static tensor_expr builtin_combine(tensor_op *op, tensor_reduce_kind kind, tensor_type t) {
    static const tensor_opcode ops[] = {TENSOR_ADD_OP, TENSOR_MUL_OP, TENSOR_MAX_OP,
                                        TENSOR_MIN_OP, TENSOR_OR_OP,  TENSOR_AND_OP};
    tensor_expr l = component(op, TENSOR_LEFT_OP, t), r = component(op, TENSOR_RIGHT_OP, t);
    if (kind == REDUCE_MIN && t.type == DT_INDEX) return index_min(op, l, r, t);
    return tensor_binary(op, ops[kind], l, r, NO_SPAN);
}

static tensor_expr *one(tensor_op *op, tensor_expr e) {
    tensor_expr *p = ARENA_NEW(op->arena, tensor_expr);
    *p = e;
    return p;
}

uint32_t tensor_builtin_reducer(tensor_op *op, tensor_reduce_kind kind, tensor_type t) {
    for (uint32_t i = 0; i < op->reducers.len; i++) {
        const tensor_reducer *r = &op->reducers.data[i];
        if (r->kind == kind && tensor_type_equal(r->arg_types[0], t)) return i;
    }
    tensor_type *type = ARENA_NEW(op->arena, tensor_type);
    *type = t;
    tensor_reducer r = {.name = tensor_reduce_name(kind),
                        .kind = kind,
                        .commutative = true,
                        .nargs = 1,
                        .nstate = 1,
                        .nresults = 1,
                        .arg_types = type,
                        .state_types = type,
                        .result_types = type};
    r.identity = one(op, builtin_identity(op, kind, t));
    r.lift = one(op, component(op, TENSOR_ARG_OP, t));
    r.combine = one(op, builtin_combine(op, kind, t));
    r.finish = one(op, component(op, TENSOR_LEFT_OP, t));
    VEC_PUSH(op->arena, &op->reducers, r);
    return op->reducers.len - 1;
}
