// Building loop IR, and what its printer, parser and verifier share.
#include "loop_internal.h"
#include "tensor_print.h"

#include <string.h>

const char *loop_place_text(loop_place p) {
    static const char *const text[] = {
#define X(name, text) text,
        LOOP_PLACES(X)
#undef X
    };
    return text[p];
}

const loop_node_form *loop_node_table(loop_node_kind k) {
    static const loop_node_form table[] = {
#define ANY UINT32_MAX
#define IN(id) (1u << LOOP_##id)
#define LOOP_KIND(id, text, body, around, why) [LOOP_##id] = {text, body, around, why},
#include "loop_node.def"
#undef ANY
#undef IN
    };
    return &table[k];
}

// ---- Building -----------------------------------------------------------------------------------

loop_plan *loop_plan_new(arena *a, const tensor_op *op) {
    loop_plan *p = ARENA_NEW(a, loop_plan);
    p->arena = a;
    p->op = tensor_op_copy(a, op);
    loop_own_variables(p->op);
    for (tensor_val v = 0; v < op->vals.len; v++)
        VEC_PUSH(a, &p->values, ((loop_value){.home = LOOP_MEMORY, .of = TENSOR_NO_VAL}));
    return p;
}

tensor_val loop_add_val(loop_plan *p, tensor_val_info info, loop_value where) {
    VEC_PUSH(p->arena, &p->values, where);
    return tensor_add_val(p->op, info);
}

loop_node *loop_node_new(loop_plan *p, loop_node_kind kind, span at) {
    loop_node *n = ARENA_NEW(p->arena, loop_node);
    n->kind = kind;
    n->at = at;
    n->rest = LOOP_SERIAL_PLACE;
    return n;
}

bool loop_contributes(const loop_body *body, uint32_t stage) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if ((n->kind == LOOP_CONTRIBUTE && n->stages[0] == stage) ||
            loop_contributes(&n->body, stage))
            return true;
    }
    return false;
}

loop_node *loop_over_var(const loop_body *body, tensor_var v) {
    for (uint32_t i = 0; i < body->len; i++) {
        loop_node *n = body->data[i],
                  *found = n->kind == LOOP_FOR && n->var == v ? n : loop_over_var(&n->body, v);
        if (found) return found;
    }
    return NULL;
}

// A value has at most one tile that is not full, and there are none without values.
tensor_expr loop_most_tiles(tensor_op *op, tensor_space domain, tensor_space into, int64_t extent) {
    tensor_expr values = tensor_size(op, into, NO_SPAN), points = tensor_size(op, domain, NO_SPAN);
    tensor_expr full = tensor_binary(op, TENSOR_QUOT_OP, points, tensor_int(op, extent), NO_SPAN);
    tensor_expr any = tensor_binary(op, TENSOR_MIN_OP, values, tensor_int(op, 1), NO_SPAN);
    return tensor_binary(op, TENSOR_MUL_OP, any,
                         tensor_binary(op, TENSOR_ADD_OP, full, values, NO_SPAN), NO_SPAN);
}

static tensor_expr statistic(tensor_op *op, tensor_opcode of, tensor_val map, int64_t number) {
    return tensor_node_new(
        op,
        (tensor_node){.op = (uint16_t)of, .type = TENSOR_TYPE(I64), .imm.i = map, .imm2 = number});
}

tensor_expr loop_cut_rows(tensor_op *op, tensor_val map, int64_t extent) {
    return statistic(op, TENSOR_AT_LEAST_OP, map, extent + 1);
}

tensor_expr loop_cut_parts(tensor_op *op, tensor_val map, int64_t extent) {
    return statistic(op, TENSOR_CUT_PARTS_OP, map, extent);
}

const loop_prepared *loop_prepared_by(const loop_plan *p, tensor_val val, prepared_builder b) {
    for (uint32_t i = 0; i < p->prepared.len; i++)
        if (p->prepared.data[i].val == val && p->prepared.data[i].builder == b)
            return &p->prepared.data[i];
    return NULL;
}

bool loop_by_degree(const loop_plan *p, tensor_val order, tensor_val map, int64_t least) {
    const loop_prepared *by = loop_prepared_by(p, order, PREPARED_ORDER_DESC),
                        *all = by ? loop_prepared_by(p, by->args[0], PREPARED_DEGREES) : NULL,
                        *from = by ? loop_prepared_by(p, by->args[0], PREPARED_DEGREES_FROM) : NULL;
    return (all && all->args[0] == map) || (from && from->args[0] == map && from->extent <= least);
}

tensor_expr loop_class_parts(tensor_op *op, tensor_val map, int64_t extent, tensor_expr rows) {
    tensor_expr whole = tensor_binary(op, TENSOR_SUB_OP, rows, loop_cut_rows(op, map, extent),
                                      NO_SPAN);
    return tensor_binary(op, TENSOR_ADD_OP, loop_cut_parts(op, map, extent), whole, NO_SPAN);
}

tensor_expr loop_parts(tensor_op *op, tensor_val map, int64_t extent) {
    return loop_class_parts(op, map, extent, tensor_size(op, op->vals.data[map].into, NO_SPAN));
}

tensor_expr loop_windows(tensor_op *op, tensor_space rows, int64_t extent) {
    tensor_expr up = tensor_binary(op, TENSOR_ADD_OP, tensor_size(op, rows, NO_SPAN),
                                   tensor_int(op, extent - 1), NO_SPAN);
    return tensor_binary(op, TENSOR_QUOT_OP, up, tensor_int(op, extent), NO_SPAN);
}

tensor_expr loop_places(tensor_op *op, tensor_space rows, int64_t extent) {
    tensor_expr full = loop_windows(op, rows, extent),
                more = tensor_binary(op, TENSOR_QUOT_OP, full, tensor_int(op, 4), NO_SPAN);
    return tensor_binary(op, TENSOR_MUL_OP, tensor_binary(op, TENSOR_ADD_OP, full, more, NO_SPAN),
                         tensor_int(op, extent), NO_SPAN);
}

int64_t loop_masks(int64_t slots) {
    return (int64_t)1 << (slots < PREPARED_MOST_SLOTS ? slots : PREPARED_MOST_SLOTS - 1);
}

// There are no more slots with an entry than entries.
tensor_expr loop_most_slots(tensor_op *op, tensor_val map, int64_t extent, int64_t block) {
    tensor_expr entries = tensor_size(op, op->vals.data[map].axes[0], NO_SPAN),
                others = tensor_binary(op, TENSOR_MUL_OP,
                                       loop_windows(op, op->vals.data[map].into, extent),
                                       tensor_int(op, block - 1), NO_SPAN);
    return tensor_binary(op, TENSOR_ADD_OP, entries, others, NO_SPAN);
}

uint32_t loop_digits_product(const loop_node *n) {
    uint32_t product = 1;
    for (uint32_t i = 0; i < n->ndigits; i++) product *= n->digits[i].extent;
    return product;
}

uint32_t loop_fetch_rows(const loop_node *n) {
    uint32_t rows = 1;
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place != LOOP_SERIAL_PLACE) rows *= n->digits[i].extent;
    return rows;
}

// What a position is a multiple of: of parts of so many points, such as mul(part, 128); 0: of
// anything.
int64_t loop_multiple_of(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e),
                      *by = n->op == TENSOR_MUL_OP ? tensor_node_at(op, n->args[1]) : n;
    return by->op == TENSOR_CONST_OP ? by->imm.i : 1;
}

// A copy is of what lies side by side in memory and in shared memory. lo: where columns begin; 0:
// at 0.
static uint32_t copied_at_once(const tensor_op *op, const loop_fetch *f, uint32_t columns,
                               tensor_expr lo) {
    const tensor_val_info *v = &op->vals.data[f->val];
    const tensor_space_info *s = &op->spaces.data[v->axes[v->rank - 1]];
    int64_t bytes = ir_dtype_bytes(v->type),
            all = s->kind == SPACE_CONST ? s->size | columns | f->pitch | f->skew : 0;
    if (lo) all |= loop_multiple_of(op, lo);
    for (uint32_t at_once = 16; at_once >= 2; at_once /= 2)
        if (all && all * bytes % at_once == 0) return at_once;
    return 0;
}

loop_tile loop_fetch_tile(const tensor_op *op, const loop_node *n, const loop_fetch *f,
                          const loop_node *beside) {
    const tensor_val_info *v = &op->vals.data[f->val];
    loop_tile t = {.rows = loop_fetch_rows(f->own ? beside : n)};
    if (beside && !f->own) {
        t.along = tensor_mentions(op, f->index[v->rank - 1], n->var);
        t.columns = t.along ? t.rows : loop_fetch_rows(beside);
        if (t.along) t.rows = loop_fetch_rows(beside);
        while (t.row_axis + 1 < v->rank &&
               !tensor_mentions(op, f->index[t.row_axis], t.along ? f->beside : n->var))
            t.row_axis++;
    } else {
        t.columns = 1;
        for (uint32_t i = f->nindex; i < v->rank; i++)
            t.columns *= (uint32_t)op->spaces.data[v->axes[i]].size;
    }
    t.bytes = copied_at_once(op, f, t.columns, beside && !f->own ? (t.along ? n : beside)->lo : 0);
    t.elements = t.rows * (f->panels ? t.columns : f->pitch) +
                 (f->every ? (t.rows + f->every - 1) / f->every * f->skew : 0);
    return t;
}

bool loop_fetch_parts(const tensor_op *op, const loop_fetch *f) {
    return f->panels && op->vals.data[f->val].type == DT_F32;
}

uint32_t loop_fetch_room(const tensor_op *op, const loop_node *n, const loop_fetch *f,
                         const loop_node *beside) {
    loop_tile t = loop_fetch_tile(op, n, f, beside);
    uint32_t bytes = loop_fetch_buffers(n, f) * t.elements *
                     (uint32_t)ir_dtype_bytes(op->vals.data[f->val].type);
    if (!loop_fetch_parts(op, f)) return bytes;
    bytes += loop_fetch_buffers(n, f) * t.rows * (uint32_t)sizeof(float);
    // others are panels, too
    return (bytes + SIMT_PANEL_ALIGN - 1) / SIMT_PANEL_ALIGN * SIMT_PANEL_ALIGN;
}

// ---- Names --------------------------------------------------------------------------------------

typedef struct {
    arena *arena;
    const tensor_op *op;
    const char *const *own;
    uint32_t *owner;   // per variable: the first stage that has it; UINT32_MAX: none
} naming;

static void own(naming *n, tensor_var v, uint32_t stage) {
    if (v < n->op->vars.len && n->owner[v] == UINT32_MAX) n->owner[v] = stage;
}

static void find_owners(naming *n) {
    n->owner = ARENA_ARRAY(n->arena, uint32_t, n->op->vars.len);
    memset(n->owner, 0xff, sizeof *n->owner * n->op->vars.len);
    for (uint32_t i = 0; i < n->op->stages.len; i++) {
        const tensor_stage *s = &n->op->stages.data[i];
        if (s->loop < n->op->loops.len) own(n, n->op->loops.data[s->loop].step, i);
        for (uint32_t k = 0; k < s->nleft; k++) own(n, s->left[k], i);
        for (uint32_t k = 0; k < s->nbound; k++) own(n, s->bound[k], i);
    }
}

static bool alone(const naming *n, tensor_var v, const char *const *vals) {
    for (tensor_var w = 0; w < n->op->vars.len; w++)
        if (w != v && n->owner[w] != UINT32_MAX && !strcmp(n->own[w], n->own[v])) return false;
    for (tensor_val i = 0; i < n->op->vals.len; i++)
        if (!strcmp(vals[i], n->own[v])) return false;
    return true;
}

loop_names loop_names_of(arena *a, const tensor_op *op, const char *const *vals,
                         const char *const *own_names, const bool *positions) {
    naming n = {.arena = a, .op = op, .own = own_names};
    loop_names names = {ARENA_ARRAY(a, const char *, op->stages.len),
                        ARENA_ARRAY(a, const char *, op->vars.len)};
    name_set stages = {.arena = a}, vars = tensor_print_constants(a);
    find_owners(&n);
    for (uint32_t i = 0; i < op->stages.len; i++)
        names.stages[i] = tensor_print_unique(&stages, op->stages.data[i].name);
    for (tensor_val i = 0; i < op->vals.len; i++) tensor_print_unique(&vars, vals[i]);
    for (tensor_var v = 0; v < op->vars.len; v++) {
        if (n.owner[v] == UINT32_MAX) continue;
        const char *name = n.own[v];
        if (!alone(&n, v, vals)) name = arena_printf(a, "%s.%s", names.stages[n.owner[v]], name);
        names.vars[v] = tensor_print_unique(&vars, name);
    }
    for (tensor_var v = 0; v < op->vars.len; v++)
        if (n.owner[v] == UINT32_MAX && positions[v])
            names.vars[v] = tensor_print_unique(&vars, op->vars.data[v].name);
    return names;
}
