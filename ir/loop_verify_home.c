// What a plan declares: whose its variables are, what the runtime prepares, where values live.
#include "loop_verify.h"

#include <string.h>

bool loop_stage_inline(const loop_plan *p, uint32_t stage) {
    const loop_value *w = &p->values.data[p->op->stages.data[stage].targets[0].val];
    return w->home == LOOP_INLINE && w->stage == stage;
}

// ---- Variables ----------------------------------------------------------------------------------

static const char *check_owners(loop_verifier *v) {
    uint32_t *owner = ARENA_ARRAY(v->scratch, uint32_t, v->op->vars.len);
    for (uint32_t i = 0; i < v->op->stages.len; i++) {
        const tensor_stage *s = &v->op->stages.data[i];
        tensor_var step = s->loop == TENSOR_NO_LOOP ? UINT32_MAX : v->op->loops.data[s->loop].step;
        for (uint32_t k = 0; k < s->nleft + s->nbound; k++) {
            tensor_var x = k < s->nleft ? s->left[k] : s->bound[k - s->nleft];
            if (x != step && owner[x])
                return WRONG(v, "variable '%s' is of stage '%s' and of stage '%s'",
                             v->op->vars.data[x].name, v->op->stages.data[owner[x] - 1].name,
                             s->name);
            owner[x] = i + 1;
        }
    }
    return NULL;
}

// ---- Prepared values ----------------------------------------------------------------------------

static const char *check_arguments(loop_verifier *v, const loop_prepared *r, const bool *made) {
    bool two = r->builder == PREPARED_COMPOSE || r->builder == PREPARED_WINDOW_PLACES ||
               r->builder == PREPARED_WINDOW_SLOTS || prepared_slotted(r->builder) ||
               prepared_row_ends(r->builder);
    uint32_t least = two ? 2 : 1, most = r->builder == PREPARED_CLASSES ? UINT32_MAX
                                         : prepared_parts(r->builder)   ? 2
                                                                        : least;
    if (r->nargs < least || r->nargs > most)
        return WRONG(v, "'%s' takes %s%u", prepared_builder_text(r->builder),
                     least < most ? "at least " : "", (unsigned)least);
    for (uint32_t i = 0; i < r->nargs; i++) {
        if (r->args[i] >= v->op->vals.len) return WRONG(v, "an argument does not exist");
        const tensor_val_info *m = &v->op->vals.data[r->args[i]];
        bool shaped = (m->rank == 1) == (r->builder != PREPARED_COLUMN);
        if (m->type != DT_INDEX || !shaped || (m->role != VAL_MAP && !made[r->args[i]]))
            return WRONG(v, "'%s' is neither a map nor prepared before", m->name);
    }
    return NULL;
}

static bool counts_one_more(const tensor_op *op, tensor_space ends, tensor_space of) {
    const tensor_space_info *e = &op->spaces.data[ends], *s = &op->spaces.data[of];
    if (e->kind == SPACE_CONST) return s->kind == SPACE_CONST && e->size == s->size + 1;
    if (e->kind != SPACE_EXPR) return false;
    const tensor_node *n = tensor_node_at(op, e->expr);
    if (n->op == TENSOR_CONST_OP) return s->kind == SPACE_CONST && n->imm.i == s->size + 1;
    if (n->op != TENSOR_ADD_OP) return false;
    const tensor_node *x = tensor_node_at(op, n->args[0]), *y = tensor_node_at(op, n->args[1]);
    return x->op == TENSOR_SIZE_OP && x->imm.i == of && y->op == TENSOR_CONST_OP && y->imm.i == 1;
}

static bool holds_tiles(const loop_verifier *v, tensor_space space, const tensor_val_info *m,
                        int64_t extent) {
    const tensor_space_info *s = &v->op->spaces.data[space];
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    tensor_expr most = extent > 0 ? loop_most_tiles(copy, m->axes[0], m->into, extent) : 0;
    const tensor_node *n = tensor_node_at(copy, most);
    if (s->kind == SPACE_CONST) return n->op == TENSOR_CONST_OP && n->imm.i == s->size;
    return s->kind == SPACE_EXPR && most && s->expr == most;
}

static bool holds_parts(const loop_verifier *v, tensor_space space, const loop_prepared *r) {
    const tensor_space_info *s = &v->op->spaces.data[space];
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    return s->kind == SPACE_EXPR && r->extent > 0 &&
           s->expr == loop_parts(copy, r->args[0], r->extent);
}

static bool counts_cut_rows(const loop_verifier *v, tensor_space space, const loop_prepared *r) {
    const tensor_space_info *s = &v->op->spaces.data[space];
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    tensor_expr more = tensor_binary(copy, TENSOR_ADD_OP,
                                     loop_cut_rows(copy, r->args[0], r->extent),
                                     tensor_int(copy, 1), NO_SPAN);
    return s->kind == SPACE_EXPR && s->expr == more;
}

static bool has_rows_order(const loop_verifier *v, const loop_prepared *r) {
    if (r->nargs < 2) return true;
    for (uint32_t i = 0; i < v->plan->prepared.len; i++) {
        const loop_prepared *o = &v->plan->prepared.data[i];
        if (o->val != r->args[1]) continue;
        return (o->builder == PREPARED_ORDER || o->builder == PREPARED_ORDER_DESC) &&
               v->op->vals.data[o->val].axes[0] == v->op->vals.data[r->args[0]].into;
    }
    return false;
}

static bool is_space(const loop_verifier *v, tensor_space space, tensor_expr in_copy,
                     const tensor_op *copy) {
    const tensor_space_info *s = &v->op->spaces.data[space];
    const tensor_node *n = tensor_node_at(copy, in_copy);
    if (s->kind == SPACE_CONST) return n->op == TENSOR_CONST_OP && n->imm.i == s->size;
    return s->kind == SPACE_EXPR && s->expr == in_copy;
}

// One more than windows of what its first argument leads to.
static bool counts_windows(const loop_verifier *v, tensor_space ends, const loop_prepared *r) {
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    tensor_expr windows = loop_windows(copy, v->op->vals.data[r->args[0]].into, r->extent);
    for (tensor_space s = 0; s < v->op->spaces.len; s++)
        if (is_space(v, s, windows, copy) && counts_one_more(v->op, ends, s)) return true;
    return false;
}

typedef enum { SLOTS, BLOCKS, CELLS, ROWS } slotted;   // rows: of blocks

static bool holds_slots(const loop_verifier *v, tensor_space space, const loop_prepared *r,
                        slotted what) {
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    int64_t slots = prepared_slots(r->extent, r->slots);
    tensor_expr e = loop_most_slots(copy, r->args[0], r->extent, slots),
                n = tensor_int(copy, r->extent), block = tensor_int(copy, slots);
    if (what == BLOCKS || what == ROWS) e = tensor_binary(copy, TENSOR_QUOT_OP, e, block, NO_SPAN);
    if (what == CELLS || what == ROWS) e = tensor_binary(copy, TENSOR_MUL_OP, e, n, NO_SPAN);
    return is_space(v, space, e, copy);
}

// Its second argument is made of the same map: of m, or for columns of s; and of as many rows.
static bool of_slots(const loop_verifier *v, const loop_prepared *r) {
    for (uint32_t i = 0; i < v->plan->prepared.len; i++) {
        const loop_prepared *o = &v->plan->prepared.data[i];
        if (o->val != r->args[1]) continue;
        bool columns = r->builder == PREPARED_WINDOW_COLUMNS;
        return o->builder == PREPARED_WINDOW_SLOTS && o->args[columns] == r->args[0] &&
               (columns || (o->extent == r->extent && o->slots == r->slots));
    }
    return false;
}

static bool holds_places(const loop_verifier *v, tensor_space space, tensor_space rows,
                         int64_t extent) {
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    return is_space(v, space, loop_places(copy, rows, extent), copy);
}

static bool windowed_shape(const loop_verifier *v, const loop_prepared *r) {
    const tensor_val_info *val = &v->op->vals.data[r->val], *m = &v->op->vals.data[r->args[0]];
    tensor_space domain = m->axes[0], axis = val->axes[0];
    if (prepared_tiles(r->builder) && r->extent < 1) return false;
    if (r->slots < 0 || r->slots > PREPARED_MOST_SLOTS ||
        (r->slots && !prepared_blocks(r->builder)))
        return false;
    if (prepared_slotted(r->builder) && !of_slots(v, r)) return false;
    switch ((int)r->builder) {
    case PREPARED_WINDOW_PLACES:
        return axis == m->into && holds_places(v, val->into, m->into, r->extent) &&
               v->op->vals.data[r->args[1]].axes[0] == domain;
    case PREPARED_WINDOW_STARTS:
        return val->into == domain && holds_places(v, m->into, domain, r->extent) &&
               counts_windows(v, axis, r);
    case PREPARED_WINDOW_SLOTS:
        return axis == domain && holds_slots(v, val->into, r, SLOTS) &&
               v->op->vals.data[r->args[1]].axes[0] == domain;
    case PREPARED_WINDOW_BEGINS:
        return holds_slots(v, val->into, r, BLOCKS) && counts_windows(v, axis, r);
    case PREPARED_WINDOW_COLUMNS:
        return axis == v->op->vals.data[r->args[1]].into && val->into == m->into;
    case PREPARED_WINDOW_ENTRIES: return val->into == domain && holds_slots(v, axis, r, CELLS);
    case PREPARED_WINDOW_MASKS: {
        const tensor_space_info *masks = &v->op->spaces.data[val->into];
        return holds_slots(v, axis, r, ROWS) && masks->kind == SPACE_CONST &&
               masks->size == loop_masks(prepared_slots(r->extent, r->slots));
    }
    }
    return false;
}

// Of the indices behind the first one; 0: their extents are not known.
static int64_t entries_of_first(const tensor_op *op, const tensor_val_info *m) {
    int64_t n = 1;
    for (uint32_t i = 1; i < m->rank; i++) {
        const tensor_space_info *s = &op->spaces.data[m->axes[i]];
        if (s->kind != SPACE_CONST || __builtin_mul_overflow(n, s->size, &n)) return 0;
    }
    return n;
}

// All entries of a map.
static bool holds_entries(const loop_verifier *v, tensor_space axis, const tensor_val_info *m) {
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    tensor_expr size = tensor_size(copy, m->axes[0], NO_SPAN);
    for (uint32_t i = 1; i < m->rank; i++) {
        const tensor_space_info s = copy->spaces.data[m->axes[i]];
        const tensor_expr own = s.kind == SPACE_CONST ? tensor_int(copy, s.size)
                                                      : tensor_size(copy, m->axes[i], NO_SPAN);
        size = tensor_binary(copy, TENSOR_MUL_OP, size, own, NO_SPAN);
    }
    return is_space(v, axis, size, copy);
}

static const char *check_shape(loop_verifier *v, const loop_prepared *r) {
    const tensor_val_info *val = &v->op->vals.data[r->val], *m = &v->op->vals.data[r->args[0]];
    tensor_space domain = m->axes[0], axis = val->axes[0];
    bool good = false;
    switch (r->builder) {
    case PREPARED_OFFSETS:
        good = val->into == domain && counts_one_more(v->op, axis, m->into);
        break;
    case PREPARED_ORDER:
    case PREPARED_ORDER_DESC: good = axis == domain && val->into == domain; break;
    case PREPARED_COMPOSE:
        good = axis == domain && m->into == v->op->vals.data[r->args[1]].axes[0] &&
               val->into == v->op->vals.data[r->args[1]].into;
        break;
    case PREPARED_COLUMN:
        good = val->into == m->into && r->slots >= 0 && r->slots < r->extent &&
               (r->extent == 1 ? holds_entries(v, axis, m)
                               : axis == domain && r->extent == entries_of_first(v->op, m));
        break;
    case PREPARED_DEGREES: good = axis == m->into; break;
    case PREPARED_DEGREES_FROM: good = axis == m->into && r->extent > 0; break;
    case PREPARED_CLASSES: good = val->role == VAL_CLASSES && axis == domain; break;
    case PREPARED_ROW_BEGINS:
    case PREPARED_ROW_ENDS:
        good = axis == m->into && val->into == domain && has_rows_order(v, r);
        break;
    case PREPARED_TILES: return WRONG(v, "a plan has no space that tiles count");
    case PREPARED_TILE_BEGINS:
        good = counts_one_more(v->op, axis, m->into) && holds_tiles(v, val->into, m, r->extent);
        break;
    case PREPARED_TILE_VALUES:
        good = val->into == m->into && holds_tiles(v, axis, m, r->extent);
        break;
    case PREPARED_PART_ROWS:
        good = val->into == m->into && holds_parts(v, axis, r) && has_rows_order(v, r);
        break;
    case PREPARED_PART_BEGINS:
    case PREPARED_PART_ENDS:
        good = val->into == domain && holds_parts(v, axis, r) && has_rows_order(v, r);
        break;
    case PREPARED_PART_HEADS:
        good = holds_parts(v, val->into, r) && counts_cut_rows(v, axis, r) && has_rows_order(v, r);
        break;
    case PREPARED_WINDOW_PLACES:
    case PREPARED_WINDOW_STARTS:
    case PREPARED_WINDOW_SLOTS:
    case PREPARED_WINDOW_BEGINS:
    case PREPARED_WINDOW_COLUMNS:
    case PREPARED_WINDOW_MASKS:
    case PREPARED_WINDOW_ENTRIES: good = windowed_shape(v, r); break;
    case PREPARED_BUILDER_COUNT: break;
    }
    return good ? NULL
                : WRONG(v, "it does not have the shape of %s of '%s'",
                        prepared_builder_text(r->builder), m->name);
}

static const char *check_prepared(loop_verifier *v) {
    bool *made = ARENA_ARRAY(v->scratch, bool, v->op->vals.len);
    for (uint32_t i = 0; i < v->plan->prepared.len; i++) {
        const loop_prepared *r = &v->plan->prepared.data[i];
        if (r->val >= v->op->vals.len) return WRONG(v, "what is prepared does not exist");
        const tensor_val_info *val = &v->op->vals.data[r->val];
        v->what = arena_printf(v->arena, "value '%s'", val->name);
        if (val->role != VAL_PREPARED && val->role != VAL_CLASSES)
            return WRONG(v, "it is not prepared by the runtime");
        if (made[r->val]) return WRONG(v, "it is prepared twice");
        TRY(check_arguments(v, r, made));
        TRY(check_shape(v, r));
        made[r->val] = true;
    }
    for (tensor_val i = 0; i < v->op->vals.len; i++) {
        v->what = arena_printf(v->arena, "value '%s'", v->op->vals.data[i].name);
        tensor_role role = v->op->vals.data[i].role;
        if ((role == VAL_PREPARED || role == VAL_CLASSES) && !made[i])
            return WRONG(v, "nothing says how it is prepared");
    }
    return NULL;
}

// ---- Homes --------------------------------------------------------------------------------------

static const char *check_shared(loop_verifier *v, const tensor_val_info *val, const loop_value *w) {
    uint64_t elements = 1;
    tensor_type t = tensor_type_of_storage(val->type, val->into);
    bool fits = w->type < DT_COUNT &&
                (t.type == DT_INDEX
                     ? w->type == DT_INDEX
                     : w->type != DT_INDEX &&
                           tensor_type_of_storage(w->type, TENSOR_NO_SPACE).type == t.type);
    if (!fits)
        return WRONG(v, "shared memory of another type cannot hold %s", ir_dtype_text(t.type));
    for (uint32_t i = 0; i < val->rank; i++) {
        const tensor_space_info *axis = &v->op->spaces.data[val->axes[i]];
        if (w->extent[i] == 0)
            return WRONG(v, "the extent of axis %u in shared memory is not known", (unsigned)i);
        if (axis->kind == SPACE_CONST && !w->origin[i] && w->extent[i] < axis->size)
            return WRONG(v, "axis %u has %lld points, and %u in shared memory", (unsigned)i,
                         (long long)axis->size, (unsigned)w->extent[i]);
        if (w->origin[i] && !tensor_type_equal(tensor_typeof(v->op, w->origin[i]),
                                               (tensor_type){DT_INDEX, val->axes[i]}))
            return WRONG(v, "axis %u begins at something that is no index of %s", (unsigned)i,
                         axis->name);
        elements *= w->extent[i];
        if (elements > LOOP_MAX_POINTS) return WRONG(v, "it is too large for shared memory");
    }
    if (w->of == TENSOR_NO_VAL) return NULL;
    const tensor_val_info *of = w->of < v->op->vals.len ? &v->op->vals.data[w->of] : NULL;
    if (of && of->rank == val->rank &&
        tensor_type_equal(tensor_type_of_storage(of->type, of->into), t) &&
        !memcmp(of->axes, val->axes, sizeof *val->axes * val->rank))
        return NULL;
    return WRONG(v, "it is a tile of something of another shape or type");
}

// By a stage that is not computed where it is read itself.
static bool is_read(const loop_verifier *v, tensor_val val) {
    for (uint32_t i = 0; i < v->op->stages.len; i++) {
        const tensor_stage *s = &v->op->stages.data[i];
        bool stored = v->plan->values.data[s->targets[0].val].home != LOOP_INLINE;
        for (uint32_t k = 0; k < s->nbody && stored; k++)
            if (loop_load_of(v->op, s->body[k], val)) return true;
    }
    return false;
}

static const char *check_inline(loop_verifier *v, tensor_val val, const loop_value *w) {
    const tensor_stage *s = w->stage < v->op->stages.len ? &v->op->stages.data[w->stage] : NULL;
    if (!s || s->ntargets != 1 || s->targets[0].val != val ||
        (s->reducer != TENSOR_NO_REDUCER && is_read(v, val)))
        return WRONG(
            v, "it is computed where it is read, so one stage without a reduction writes it alone");
    for (uint32_t i = 0; i < v->op->stages.len; i++)
        for (uint32_t k = 0; i != w->stage && k < v->op->stages.data[i].ntargets; k++)
            if (v->op->stages.data[i].targets[k].val == val)
                return WRONG(v, "it is computed where it is read, but stage '%s' writes it too",
                             v->op->stages.data[i].name);
    for (uint32_t i = 0; i < s->targets[0].rank; i++)
        if (tensor_target_at(v->op, s->targets[0].index[i]).kind != TENSOR_AT_VAR)
            return WRONG(v, "it is computed where it is read, but not for each of its points");
    return NULL;
}

static const char *check_home(loop_verifier *v, tensor_val i) {
    const tensor_val_info *val = &v->op->vals.data[i];
    const loop_value *w = &v->plan->values.data[i];
    v->what = arena_printf(v->arena, "value '%s'", val->name);
    if (w->home != LOOP_MEMORY && val->role != VAL_STAGE)
        return WRONG(v, "only what stages compute on the way can live outside memory");
    switch (w->home) {
    case LOOP_MEMORY:
    case LOOP_REGISTERS: return NULL;
    case LOOP_SHARED: return check_shared(v, val, w);
    case LOOP_INLINE: return check_inline(v, i, w);
    }
    return WRONG(v, "it lives nowhere");
}

// What is read there has been stored, by each of its stores.
static const char *check_pads(loop_verifier *v) {
    const uint32_t *stored = loop_stored_pads(v->scratch, v->plan);
    for (tensor_val i = 0; i < v->op->vals.len; i++)
        for (uint32_t a = 0; a < v->op->vals.data[i].rank; a++) {
            uint32_t pad = v->plan->values.data[i].pad[a];
            v->what = arena_printf(v->arena, "value '%s'", v->op->vals.data[i].name);
            if (!pad) continue;
            if (!loop_may_pad(v->plan, i, a, pad))
                return WRONG(v, "axis %u has no room for padding", (unsigned)a);
            if (stored[8 * i + a] != pad)
                return WRONG(v, "axis %u is padded to %u, and a store of it is not", (unsigned)a,
                             (unsigned)pad);
        }
    return NULL;
}

const char *loop_check_declarations(loop_verifier *v) {
    if (v->plan->values.len != v->op->vals.len) return WRONG(v, "not every value has a home");
    TRY(check_owners(v));
    TRY(check_prepared(v));
    for (tensor_val i = 0; i < v->op->vals.len; i++) TRY(check_home(v, i));
    TRY(check_pads(v));
    v->what = arena_printf(v->arena, "plan '%s'", v->op->name);
    return NULL;
}
