// What a version takes for granted and the launcher checks: vectors fall on their alignment, arrays
// that are walked step by step are packed, offsets fit 31 bits, there is a point to walk.
#include "base/base.h"

#include <string.h>

static void add(planner *p, program_guard g) {
    for (uint32_t i = 0; i < p->facts->guards.len; i++) {
        const program_guard *o = &p->facts->guards.data[i];
        if (g.kind != GUARD_HOLDS && o->kind == g.kind && o->param == g.param &&
            o->axis == g.axis && (!g.value || o->value % g.value == 0))
            return;
        if (g.kind == GUARD_HOLDS && o->kind == GUARD_HOLDS && !strcmp(o->text, g.text)) return;
    }
    VEC_PUSH(p->arena, &p->facts->guards, g);
}

void plan_holds(planner *p, size_expr e, const char *text) {
    add(p, (program_guard){.kind = GUARD_HOLDS, .holds = e, .text = text});
}

// ---- Vectors ------------------------------------------------------------------------------------
typedef struct {
    planner *p;
    tensor_var v;
    uint32_t width;
    bool padded;   // accesses look for themselves where a row begins
} vectors;

static bool is_var(const planner *p, tensor_expr e, tensor_var v) {
    const tensor_node *n = tensor_node_at(p->op, e);
    return n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == v;
}

// An access is one vector where the variable is its last index and no other one mentions it.
static void access(vectors *c, tensor_val val, const tensor_expr *index, uint32_t rank) {
    tensor_val_info *i = &c->p->op->vals.data[val];
    if (val >= c->p->op->nparams || !rank || !is_var(c->p, index[rank - 1], c->v)) return;
    for (uint32_t a = 0; a + 1 < rank; a++)
        if (plan_mentions(c->p, index[a], c->v)) return;
    if (c->p->facts->any_strides) return;   // by elements, where they do not lie side by side
    if (i->facts & FACT_STRIDED)
        add(c->p, (program_guard){.kind = GUARD_PITCH, .param = val, .axis = rank - 1, .value = 1});
    i->facts &= ~(uint32_t)FACT_STRIDED;   // in this plan's copy of the op
    if (!c->p->machine->aligned) return;
    uint32_t bytes = i->type == DT_INDEX ? c->p->facts->index_bits / 8 : ir_dtype_bytes(i->type);
    add(c->p, (program_guard){.kind = GUARD_ALIGNED, .param = val, .value = bytes * c->width});
    for (uint32_t a = 0;
         a + 1 < rank && !c->padded && !(i->facts & FACT_PACKED) && i->role != VAL_MAP; a++)
        add(c->p,
            (program_guard){.kind = GUARD_STRIDE, .param = val, .axis = a, .value = c->width});
}

static bool load_access(void *user, const tensor_node *load) {
    access(user, (tensor_val)load->imm.i, load->args, load->nargs);
    return true;
}

bool plan_vector_guards(planner *p, const tensor_stage *st, tensor_var v, uint32_t width,
                        bool padded) {
    const tensor_space s = p->op->vars.data[v].space;
    const tensor_space_info *space = &p->op->spaces.data[s];
    if (space->kind == SPACE_CONST && space->size % width && !padded) return false;
    if (space->kind != SPACE_CONST && !padded) {
        size_expr e = {0};
        const size_token t[] = {{SZ_SPACE, s, 0},
                                {SZ_CONST, width, 0},
                                {SZ_MOD, 0, 0},
                                {SZ_CONST, 0, 0},
                                {SZ_EQ, 0, 0}};
        for (uint32_t i = 0; i < sizeof t / sizeof *t; i++) VEC_PUSH(p->arena, &e, t[i]);
        plan_holds(p, e, arena_printf(p->arena, "%s %% %u == 0", space->name, width));
    }
    vectors c = {p, v, width, padded};
    plan_loads(p, st, load_access, &c);
    for (uint32_t t = 0; t < st->ntargets; t++)
        access(&c, st->targets[t].val, st->targets[t].index, st->targets[t].rank);
    return true;
}

void plan_copy_guards(planner *p, tensor_val val, uint32_t bytes) {
    tensor_val_info *i = &p->op->vals.data[val];
    uint32_t element = ir_dtype_bytes(i->type);
    if (i->role == VAL_STAGE) return;   // of the workspace: aligned, without gaps
    if (i->facts & FACT_STRIDED)
        add(p, (program_guard){.kind = GUARD_PITCH, .param = val, .axis = i->rank - 1, .value = 1});
    i->facts &= ~(uint32_t)FACT_STRIDED;
    add(p, (program_guard){.kind = GUARD_ALIGNED, .param = val, .value = bytes});
    for (uint32_t a = 0; !(i->facts & FACT_PACKED) && bytes > element && a + 1 < i->rank; a++)
        add(p, (program_guard){
                   .kind = GUARD_STRIDE, .param = val, .axis = a, .value = bytes / element});
}

// Axes from one on lie one behind the other.
void plan_row_guards(planner *p, tensor_val val, uint32_t from) {
    const tensor_val_info *i = &p->op->vals.data[val];
    int64_t size = 1;
    for (uint32_t a = i->rank; a-- > from + 1;) {
        size *= p->op->spaces.data[i->axes[a]].size;
        if (i->role != VAL_STAGE && !(i->facts & FACT_PACKED))
            add(p, (program_guard){
                       .kind = GUARD_PITCH, .param = val, .axis = a - 1, .value = (uint32_t)size});
    }
}

// ---- Packed arrays ------------------------------------------------------------------------------
// Where steps along an axis are written out and what one covers is known, addresses differ by
// constants, which cost nothing, if the array is packed.
typedef struct {
    planner *p;
    const bool *steps;   // per variable: some are written out
} packing;

static void find_steps(const planner *p, const loop_body *body, bool *steps) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        const tensor_node *is = n->kind == LOOP_LET ? tensor_node_at(p->op, n->value) : NULL;
        if (n->kind == LOOP_FOR && n->rounds.unroll > 1) steps[n->var] = true;
        if (is && is->op == TENSOR_VAR_OP && steps[is->imm.i]) steps[n->var] = true;
        find_steps(p, &n->body, steps);
    }
}

// By guards, where its rows have a known size; false: they have not.
static bool suppose_packed(planner *p, tensor_val val) {
    tensor_val_info *i = &p->op->vals.data[val];
    if (i->facts & FACT_PACKED) return true;
    for (uint32_t a = 1; a < i->rank; a++) {
        const tensor_space_info *s = &p->op->spaces.data[i->axes[a]];
        if (s->kind != SPACE_CONST || !s->size) return false;
    }
    int64_t pitch = 1;
    for (uint32_t a = i->rank; a-- > 0; pitch *= p->op->spaces.data[i->axes[a]].size) {
        // it lies at 0, whatever its stride
        bool one = a && p->op->spaces.data[i->axes[a]].size == 1;
        if (!one && (a + 1 < i->rank || i->facts & FACT_STRIDED))
            add(p, (program_guard){.kind = GUARD_PITCH, .param = val, .axis = a, .value = pitch});
        if (!a) break;
    }
    // in this plan's copy of the op
    i->facts = (i->facts & ~(uint32_t)FACT_STRIDED) | FACT_PACKED;
    return true;
}

static void pack(packing *c, tensor_val val, const tensor_expr *index, uint32_t rank) {
    const tensor_val_info *i = &c->p->op->vals.data[val];
    if (val >= c->p->op->nparams || i->role == VAL_MAP || rank < 2) return;
    const tensor_node *first = tensor_node_at(c->p->op, index[0]);
    if (first->op == TENSOR_VAR_OP && c->steps[first->imm.i]) suppose_packed(c->p, val);
}

static bool pack_load(void *user, const tensor_node *load) {
    pack(user, (tensor_val)load->imm.i, load->args, load->nargs);
    return true;
}

void plan_packed_guards(planner *p) {
    if (!p->machine->gpu || p->facts->any_strides) return;
    bool *steps = ARENA_ARRAY(p->arena, bool, p->op->vars.len + 1);
    packing c = {p, steps};
    for (uint32_t i = 0; i < p->plan->steps.len; i++)
        if (p->plan->steps.data[i].kernel)
            find_steps(p, &p->plan->steps.data[i].kernel->body, steps);
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        plan_loads(p, st, pack_load, &c);
        for (uint32_t t = 0; t < st->ntargets; t++)
            pack(&c, st->targets[t].val, st->targets[t].index, st->targets[t].rank);
    }
}

// ---- Side by side -------------------------------------------------------------------------------
// Heads that a thread holds, each of which one vector has: those of a packed array are one access.
typedef struct {
    planner *p;
    VEC(const loop_node *) loops, lets;
    VEC(tensor_var) columns;   // of matrix operations
    VEC(tensor_val) panels;    // whose rows come to shared memory in panels
} beside;

static void find_loops(beside *c, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        if (body->data[i]->kind == LOOP_FOR) VEC_PUSH(c->p->arena, &c->loops, body->data[i]);
        if (body->data[i]->kind == LOOP_LET) VEC_PUSH(c->p->arena, &c->lets, body->data[i]);
        if (body->data[i]->kind == LOOP_REDUCE && body->data[i]->reduce.matrix)
            VEC_PUSH(c->p->arena, &c->columns, body->data[i]->reduce.matrix->columns);
        for (uint32_t f = 0; f < body->data[i]->fetch.n; f++)
            if (body->data[i]->fetch.rows[f].panels)
                VEC_PUSH(c->p->arena, &c->panels, body->data[i]->fetch.rows[f].val);
        find_loops(c, &body->data[i]->body);
    }
}

// The most bytes that any loops over an index, and the one before it, take at once; 0: of each its
// own.
static uint32_t bytes_together(const beside *c, tensor_val val, tensor_var before,
                               tensor_var last) {
    const tensor_op *op = c->p->op;
    const tensor_val_info *v = &op->vals.data[val];
    uint32_t most = 0, bytes = ir_dtype_bytes(v->type);
    for (uint32_t i = 0; i < c->loops.len; i++) {
        const loop_node *n = c->loops.data[i];
        uint32_t held = n->var == last ? loop_in_a_row(op, val, n) * bytes : 0;
        for (uint32_t k = 0; k < c->loops.len && n->var == last && before != UINT32_MAX; k++)
            if (c->loops.data[k]->var == before && !held)
                held = loop_side_by_side(op, val, c->loops.data[k], n) * bytes *
                       (uint32_t)n->digits[0].extent;
        if (n->var == last && loop_in_eights(op, val, n)) held = LOOP_EIGHT * bytes;
        if (held > most) most = held;
    }
    return most;
}

static tensor_var var_of(const planner *p, tensor_expr e) {
    const tensor_node *n = tensor_node_at(p->op, e);
    return n->op == TENSOR_VAR_OP ? (tensor_var)n->imm.i : UINT32_MAX;
}

// Of a stage whose points are those of another's loops, the variable of the loop.
static tensor_var looped_var(const beside *c, tensor_expr e) {
    tensor_var v = var_of(c->p, e);
    for (uint32_t i = c->lets.len; i-- > 0 && v != UINT32_MAX;)
        if (c->lets.data[i]->var == v) v = var_of(c->p, c->lets.data[i]->value);
    return v;
}

// before: the index before the last one; UINT32_MAX: it is none, or of a result, whose vectors are
// stored one by one.
static void lie_beside(beside *c, tensor_val val, const tensor_expr *index, tensor_var before) {
    planner *p = c->p;
    tensor_val_info *i = &p->op->vals.data[val];
    if (val >= p->op->nparams || i->rank < 2 || i->role == VAL_MAP ||
        var_of(p, index[i->rank - 1]) == UINT32_MAX)
        return;
    const uint32_t facts = i->facts;
    i->facts = (facts & ~(uint32_t)FACT_STRIDED) | FACT_PACKED;   // supposing that it is
    uint32_t bytes = bytes_together(c, val, before, looped_var(c, index[i->rank - 1]));
    i->facts = facts;
    if (!bytes || !suppose_packed(p, val)) return;
    add(p, (program_guard){.kind = GUARD_ALIGNED, .param = val, .value = bytes});
    p->facts->together = true;
}

// Whether what is read at columns of a matrix operation lies in panels, and is not read from
// memory.
static bool is_in_panels(const beside *c, const tensor_node *load) {
    tensor_var last = load->nargs ? looped_var(c, load->args[load->nargs - 1]) : UINT32_MAX;
    bool columns = false, panels = false;
    for (uint32_t i = 0; i < c->columns.len; i++) columns |= c->columns.data[i] == last;
    for (uint32_t i = 0; i < c->panels.len; i++)
        panels |= c->panels.data[i] == (tensor_val)load->imm.i;
    return columns && panels;
}

static bool load_beside(void *user, const tensor_node *load) {
    const beside *c = user;
    if (is_in_panels(c, load)) return true;
    lie_beside(user, (tensor_val)load->imm.i, load->args,
               load->nargs > 1 ? var_of(c->p, load->args[load->nargs - 2]) : UINT32_MAX);
    return true;
}

void plan_beside_guards(planner *p) {
    if (!p->machine->gpu || p->facts->any_strides) return;
    beside c = {.p = p};
    p->plan->together = true;
    for (uint32_t i = 0; i < p->plan->steps.len; i++)
        if (p->plan->steps.data[i].kernel) find_loops(&c, &p->plan->steps.data[i].kernel->body);
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        plan_loads(p, st, load_beside, &c);
        for (uint32_t t = 0; t < st->ntargets; t++)
            lie_beside(&c, st->targets[t].val, st->targets[t].index, UINT32_MAX);
    }
}

// ---- 31 bits ------------------------------------------------------------------------------------
static void below(planner *p, const tensor_space *axes, uint32_t rank, const loop_value *w) {
    size_expr e = {0};
    textbuf text = textbuf_new(p->arena);
    const program of = {.spaces = {.len = p->nspaces}};   // the plan's own spaces are written out
    for (uint32_t a = 0; a < rank; a++) {
        if (w && w->pad[a]) size_append(p->arena, &e, &of, p->op, w->pitch[a]);
        else size_append_space(p->arena, &e, &of, p->op, axes[a]);
        if (a) VEC_PUSH(p->arena, &e, ((size_token){SZ_MUL, 0, 0}));
        textbuf_printf(&text, "%s%s", a ? " * " : "", p->op->spaces.data[axes[a]].name);
        if (w && w->pad[a]) textbuf_printf(&text, " up to %u", (unsigned)w->pad[a]);
    }
    VEC_PUSH(p->arena, &e, ((size_token){SZ_CONST, PASS_NARROW_OFFSETS, 0}));
    VEC_PUSH(p->arena, &e, ((size_token){SZ_LT, 0, 0}));
    textbuf_printf(&text, " < %lld", (long long)PASS_NARROW_OFFSETS);
    plan_holds(p, e, text.data);
}

void plan_narrow_product(planner *p, const tensor_space *axes, uint32_t n) {
    if (p->facts->narrow) below(p, axes, n, NULL);
}

void plan_narrow_guards(planner *p) {
    if (!p->facts->narrow) return;
    for (tensor_val v = 0; v < p->op->vals.len; v++) {
        const tensor_val_info i = p->op->vals.data[v];
        bool given = v < p->op->nparams && i.role != VAL_SCALAR && i.rank &&
                     !(i.facts & FACT_PREFIX);
        if (given)
            add(p, (program_guard){.kind = GUARD_REACH, .param = v, .value = PASS_NARROW_OFFSETS});
        if (i.role == VAL_STAGE && p->plan->values.data[v].home == LOOP_MEMORY && i.rank > 1)
            below(p, i.axes, i.rank, &p->plan->values.data[v]);
    }
    for (tensor_space s = 0; s < p->nspaces; s++)
        if (p->op->spaces.data[s].kind != SPACE_CONST) below(p, &s, 1, NULL);
}

// ---- Rows without rounds ------------------------------------------------------------------------
// Where all loops are straight lines, lanes whose rows are empty read the first point under their
// masks.
static void suppose_some(planner *p, tensor_var v) {
    const tensor_space points = p->op->vars.data[v].space;
    const size_token tokens[] = {{SZ_SPACE, points, 0}, {SZ_CONST, 1, 0}, {SZ_GE, 0, 0}};
    size_expr some = {0};
    for (uint32_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        VEC_PUSH(p->arena, &some, tokens[i]);
    plan_holds(p, some, arena_printf(p->arena, "%s >= 1", p->op->spaces.data[points].name));
}

static void guard_specialized(planner *p, const loop_body *body, bool alone) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_FOR && n->rounds.within && alone) suppose_some(p, n->var);
        guard_specialized(p, &n->body, alone || (n->kind == LOOP_WITHIN && n->ranges.alone));
    }
}

void plan_specialize_guards(planner *p) {
    for (uint32_t i = 0; i < p->plan->steps.len; i++)
        if (p->plan->steps.data[i].kernel)
            guard_specialized(p, &p->plan->steps.data[i].kernel->body, false);
}
