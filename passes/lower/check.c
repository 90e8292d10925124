// What loop IR allows and lowering does not do yet. It is told before lowering tries.

#include "lower/lower.h"
#include <string.h>

enum { IN_WARP = 1, IN_BLOCK = 2 };   // differs between threads of a warp; of a block

typedef struct {
    arena *arena;
    const loop_plan *plan;
    const loop_kernel *kernel;
    uint8_t *differs;   // per variable
    uint8_t *given;     // per expression: 1 + how what it is given as differs; 0: it is not
    span *at;
} checking;

// The variable's name in the source: lowering makes e' of e.
static const char *name_of(const checking *c, tensor_var v) {
    const char *name = c->plan->op->vars.data[v].name;
    return arena_strndup(c->arena, name, strcspn(name, "'"));
}

static uint8_t expr_differs(const checking *c, tensor_expr e, uint8_t *seen) {
    if (seen[e]) return 0;
    seen[e] = 1;
    if (c->given[e]) return c->given[e] - 1;
    const tensor_node *x = tensor_node_at(c->plan->op, e);
    uint8_t d = x->op == TENSOR_VAR_OP ? c->differs[x->imm.i] : 0;
    for (uint32_t i = 0; i < x->nargs; i++) d |= expr_differs(c, x->args[i], seen);
    return d;
}

static uint8_t differs(const checking *c, tensor_expr e) {
    return e ? expr_differs(c, e, arena_alloc(c->arena, c->plan->op->exprs.len + 1)) : 0;
}

static bool takes_threads(const loop_digit *d) {
    return (d->place == LOOP_LANE_PLACE || d->place == LOOP_GROUP_PLACE) && d->extent > 1;
}

static uint32_t stride(const checking *c, const loop_digit *d) {
    return d->place == LOOP_GROUP_PLACE ? d->unit * c->kernel->lanes : d->unit;
}

static bool power_of_two(uint32_t x) { return x && !(x & (x - 1)); }

// Does something inside combine what threads hold, or exchange it? beyond_warp: through shared
// memory?
static bool combines(const checking *c, const loop_body *body, bool inside, bool beyond_warp) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if ((n->holding.n && (!beyond_warp || n->holding.lanes > 32)) || n->fetch.n) return true;
        for (uint32_t d = 0; inside && n->kind == LOOP_FOR && d < n->ndigits; d++) {
            const loop_digit *g = &n->digits[d];
            bool in_warp = power_of_two(stride(c, g)) && power_of_two(g->extent) &&
                           stride(c, g) * g->extent <= 32;
            if (takes_threads(g) && !(beyond_warp && in_warp)) return true;
        }
        bool sums = n->kind == LOOP_REDUCE || n->kind == LOOP_CARRY;
        if (combines(c, &n->body, inside || sums, beyond_warp)) return true;
    }
    return false;
}

static const char *check_for(const checking *c, const loop_node *n) {
    bool meet = n->fetch.n || combines(c, &n->body, false, true);
    if (!((differs(c, n->lo) | differs(c, n->hi)) & IN_BLOCK) || !meet) return NULL;
    return arena_printf(c->arena,
                        "the bounds of '%s' differ between threads that meet at a barrier inside",
                        name_of(c, n->var));
}

static const char *check_if(const checking *c, const loop_node *n) {
    uint8_t d = differs(c, n->value);
    if (!(d & IN_WARP && combines(c, &n->body, false, false)) &&
        !(d & IN_BLOCK && combines(c, &n->body, false, true)))
        return NULL;
    return "threads that combine what they hold stand under a condition that differs between them";
}

static bool plain_digits(const loop_node *n, uint32_t from) {
    for (uint32_t d = from; n->kind == LOOP_FOR && d < n->ndigits; d++)
        if (n->digits[d].place != LOOP_SERIAL_PLACE && n->digits[d].place != LOOP_UNROLL_PLACE)
            return false;
    for (uint32_t i = 0; i < n->body.len; i++)
        if (!plain_digits(n->body.data[i], 0)) return false;
    return true;
}

// Positions that lanes of one warp scan come first, and before them those of a lane.
static uint32_t scanned_digits(const checking *c, const loop_node *walk) {
    uint32_t d = walk->ndigits && walk->digits[0].place == LOOP_REGISTER_PLACE;
    if (d >= walk->ndigits || walk->digits[d].place != LOOP_LANE_PLACE) return 0;
    uint32_t unit = stride(c, &walk->digits[d]), lanes = walk->digits[d].extent;
    return power_of_two(unit) && power_of_two(lanes) && unit * lanes <= 32 ? d + 1 : 0;
}

static const char *check_carry(const checking *c, const loop_node *n) {
    const loop_node *walk = n->body.len ? n->body.data[n->body.len - 1] : NULL;
    bool good = walk && walk->kind == LOOP_FOR && walk->rest == LOOP_SERIAL_PLACE &&
                plain_digits(walk, scanned_digits(c, walk));
    for (uint32_t i = 0; good && i + 1 < n->body.len; i++) good = n->body.data[i]->kind == LOOP_LET;
    if (good && n->state.level && scanned_digits(c, walk))
        return "lanes that scan a carry's positions have no levels";
    return good ? NULL
                : "a carry has one serial loop, and distributes nothing but its positions, to "
                  "lanes of a warp";
}

static const char *check_body(checking *c, const loop_body *body);

static const char *check_node(checking *c, const loop_node *n) {
    const char *words = NULL;
    *c->at = n->at;
    uint8_t threads = 0;
    for (uint32_t d = 0; d < n->ndigits; d++)
        if (takes_threads(&n->digits[d]))
            threads |= stride(c, &n->digits[d]) < 32 ? IN_WARP | IN_BLOCK : IN_BLOCK;
    if (n->kind == LOOP_FOR) c->differs[n->var] = threads | differs(c, n->lo) | differs(c, n->hi);
    if (n->kind == LOOP_LET) c->differs[n->var] = differs(c, n->value);
    if (n->kind == LOOP_GIVEN) c->given[n->key] = (uint8_t)(1 + differs(c, n->value));
    if (n->kind == LOOP_FOR) words = check_for(c, n);
    if (n->kind == LOOP_IF) words = check_if(c, n);
    if (n->kind == LOOP_CARRY) words = check_carry(c, n);
    return words ? words : check_body(c, &n->body);
}

static const char *check_body(checking *c, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const char *words = check_node(c, body->data[i]);
        if (words) return words;
    }
    return NULL;
}

const char *lower_refusal(arena *a, const loop_plan *plan, span *at, const loop_kernel **in) {
    for (uint32_t i = 0; i < plan->steps.len; i++) {
        if (plan->steps.data[i].kind != LOOP_LAUNCH) continue;
        const loop_kernel *kernel = plan->steps.data[i].kernel;
        checking c = {a,
                      plan,
                      kernel,
                      ARENA_ARRAY(a, uint8_t, plan->op->vars.len + 1),
                      ARENA_ARRAY(a, uint8_t, plan->op->exprs.len + 1),
                      at};
        const char *words = lw_count_axes(&kernel->body) > LOWER_MAX_AXES
                                ? arena_printf(a, "its loops have more than %d digits",
                                               (int)LOWER_MAX_AXES)
                                : check_body(&c, &kernel->body);
        *in = kernel;
        if (words) return arena_printf(a, "kernel '%s': %s", kernel->name, words);
    }
    return NULL;
}
