// What the conditions say under which an expression stands: that an index is not none, and that a
// computed one lies on its axis.
#include "sema_expr.h"
#include "tensor_guard.h"

void lowering_enter(lowering *L) { L->eq.context = ++L->eq.contexts; }

static void know(lowering *L, guard g) {
    g.guarded = tensor_needs_guard(L->op, g.whole);
    VEC_PUSH(L->arena, &L->eq.guards, g);
}

static void know_some(lowering *L, tensor_expr e, tensor_expr whole) {
    know(L, (guard){.some = e, .whole = whole});
}

static void know_equal(lowering *L, tensor_expr a, tensor_expr b, tensor_expr whole) {
    if (tensor_typeof(L->op, a).type != DT_INDEX) return;
    const bool x = tensor_maybe_none(L->op, a), y = tensor_maybe_none(L->op, b);
    if (x != y) know_some(L, x ? a : b, whole);
}

static bool is_none(const lowering *L, tensor_expr e) {
    return tensor_node_at(L->op, e)->op == TENSOR_NONE_OP;
}

static void know_differs(lowering *L, tensor_expr a, tensor_expr b, tensor_expr whole) {
    if (is_none(L, b)) know_some(L, a, whole);
    if (is_none(L, a)) know_some(L, b, whole);
}

// A comparison of whole numbers may prove a computed index.
static void know_order(lowering *L, tensor_expr c, bool holds, tensor_expr whole) {
    const tensor_node *n = tensor_node_at(L->op, c);
    for (int i = 0; i < 2; i++) {
        const ir_dtype t = tensor_typeof(L->op, n->args[i]).type;
        if (t != DT_I64 && t != DT_INDEX) return;
    }
    know(L, (guard){.fact = {c, holds}, .whole = whole});
}

static void learn_condition(lowering *L, tensor_expr c, bool holds, tensor_expr whole) {
    const tensor_node n = *tensor_node_at(L->op, c);
    switch ((tensor_opcode)n.op) {
    case TENSOR_NOT_OP: learn_condition(L, n.args[0], !holds, whole); return;
    case TENSOR_AND_OP:
    case TENSOR_OR_OP:
        for (int i = 0; i < 2 && holds == (n.op == TENSOR_AND_OP); i++)
            learn_condition(L, n.args[i], holds, whole);
        return;
    case TENSOR_EQ_OP:
    case TENSOR_NE_OP:
        (holds == (n.op == TENSOR_EQ_OP) ? know_equal : know_differs)(L, n.args[0], n.args[1],
                                                                      whole);
        know_order(L, c, holds, whole);
        return;
    case TENSOR_LT_OP:
    case TENSOR_LE_OP:
    case TENSOR_GT_OP:
    case TENSOR_GE_OP: know_order(L, c, holds, whole); return;
    default: return;
    }
}

guards_mark guards_push(lowering *L, tensor_expr c, bool holds) {
    guards_mark m = {L->eq.guards.len, L->eq.context};
    tensor_expr whole = holds ? c : tensor_unary(L->op, TENSOR_NOT_OP, c, NO_SPAN);
    learn_condition(L, c, holds, whole);
    if (L->eq.guards.len != m.guards) lowering_enter(L);
    return m;
}

void guards_pop(lowering *L, guards_mark m) {
    L->eq.guards.len = m.guards;
    L->eq.context = m.context;
}

// Frames note 64 guards that stand around them.
static bool guard_reaches(const lowering *L, uint32_t i) {
    return i < 64 || !L->eq.frame || i >= L->eq.frame->guards;
}

static void guard_note(lowering *L, uint32_t i) {
    if (L->eq.frame && i >= L->eq.frame->guards) L->eq.frame->own = true;
    for (frame *f = L->eq.frame; f; f = f->outer)
        if (i < f->guards && i < 64) f->needed |= UINT64_C(1) << i;
}

// A guard that stands outside a reduction becomes one of its filters, as the reduction is a stage
// of its own; with it all those before it, where it may be read under these alone.
static void guard_use(lowering *L, uint32_t i) {
    for (uint32_t before = 0; L->eq.guards.data[i].guarded && before < i; before++)
        guard_note(L, before);
    guard_note(L, i);
}

// Is e known not to be none here?
bool guards_say_some(lowering *L, tensor_expr e) {
    if (!tensor_maybe_none(L->op, e)) return true;
    for (uint32_t i = L->eq.guards.len; i-- > 0;)
        if (L->eq.guards.data[i].some == e && guard_reaches(L, i)) return guard_use(L, i), true;
    return false;
}

void guards_explain(lowering *L, diagnostic *d) {
    for (uint32_t i = L->eq.guards.len; i-- > 0;) {
        const tensor_known fact = L->eq.guards.data[i].fact;
        if (!fact.condition || !tensor_never_holds(L->op, fact)) continue;
        diag_help(d, "a condition around it never holds, as an index runs over fewer points than "
                     "is meant: say over which, as in 'i in D + C' or 'for i in D + C'");
        return;
    }
}

// Is e proven to lie in s, by sizes and by the guards that hold here?
bool guards_say_in(lowering *L, tensor_expr e, tensor_space s) {
    if (tensor_in_space(L->op, e, s, NULL, 0, NULL)) return true;
    tensor_known facts[64];
    uint32_t of[64], n = 0;
    for (uint32_t i = L->eq.guards.len; i-- > 0 && n < 64;) {
        const guard g = L->eq.guards.data[i];
        if (g.fact.condition && guard_reaches(L, i)) facts[n] = g.fact, of[n++] = i;
    }
    uint64_t used;
    if (!n || !tensor_in_space(L->op, e, s, facts, n, &used)) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!(used >> i & 1)) continue;
        if (tensor_never_holds(L->op, facts[i])) return false;   // it would prove anything
        guard_use(L, of[i]);
    }
    return true;
}
