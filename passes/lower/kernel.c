// One kernel of a loop plan: the block's place in the loops that are dealt out to blocks, the
// thread's lane and group, and the launch.
//     for v in 0 .. size(V) [group 4, block] { for f in 0 .. size(F) [lane 32, block] { … } }
//  →  blocks = ceil(V / 4) * ceil(F / 32); v's block = ctaid / ceil(F / 32), f's = ctaid % ceil(F / 32)

#include "lower/lower.h"
#include <string.h>

// ---- Blocks -------------------------------------------------------------------------------------
static void find_block_loops(kernel *k, const loop_body *body) {
    uint32_t before = k->grid.loops.len, holders = 0;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        uint32_t had = k->grid.loops.len;
        if (n->kind == LOOP_FOR && n->rest == LOOP_BLOCK_PLACE)
            VEC_PUSH(k->l->arena, &k->grid.loops, n);
        find_block_loops(k, &n->body);
        holders += k->grid.loops.len > had;
    }
    if (holders > 1 && k->grid.loops.len > before)
        ICE("'%s': two loops side by side are dealt out to blocks", k->plan->name);
}

static size_expr block_count(lowering *l, const loop_node *n) {
    size_expr s = {0};
    int64_t lo = 0;
    size_append(l->arena, &s, l->p, l->op, n->hi);
    if (!lw_constant(l->op, n->lo, &lo) || lo) {
        size_append(l->arena, &s, l->p, l->op, n->lo);
        VEC_PUSH(l->arena, &s, ((size_token){SZ_SUB, 0, 0}));
    }
    if (lw_step(n) > 1) {
        VEC_PUSH(l->arena, &s, ((size_token){SZ_CONST, lw_step(n), 0}));
        VEC_PUSH(l->arena, &s, ((size_token){SZ_CEILDIV, 0, 0}));
    }
    return s;
}

static size_expr grid_size(kernel *k) {
    size_expr s = {0};
    if (!k->grid.loops.len) VEC_PUSH(k->l->arena, &s, ((size_token){SZ_CONST, 1, 0}));
    for (uint32_t i = 0; i < k->grid.loops.len; i++) {
        size_expr one = block_count(k->l, k->grid.loops.data[i]);
        for (uint32_t t = 0; t < one.len; t++) VEC_PUSH(k->l->arena, &s, one.data[t]);
        if (i) VEC_PUSH(k->l->arena, &s, ((size_token){SZ_MUL, 0, 0}));
    }
    return s;
}

// 32 bits hold every count: the runtime refuses a grid of 2^31 blocks or more.
static simt_value count_of_blocks(kernel *k, simt_builder *b, const loop_node *n) {
    simt_type i64 = SIMT_T(I64), i32 = SIMT_T(I32);
    simt_value lo = simt_build_cvt(b, i64, lw_expr(k, b, n->lo)),
               hi = simt_build_cvt(b, i64, lw_expr(k, b, n->hi));
    simt_value points = simt_build_binary(b, SIMT_SUB, hi, lo);
    uint32_t step = lw_step(n);
    simt_value up = simt_build_binary(b, SIMT_ADD, points, simt_build_int(b, i64, step - 1));
    return simt_build_cvt(b, i32,
                          simt_build_binary(b, SIMT_UDIV, up, simt_build_int(b, i64, step)));
}

static void deal_blocks(kernel *k, simt_builder *b, simt_value rest) {
    k->grid.at = ARENA_ARRAY(k->l->arena, simt_value, k->grid.loops.len + 1);
    if (!k->grid.loops.len) return;
    for (uint32_t i = k->grid.loops.len; i-- > 1;) {
        simt_value count = count_of_blocks(k, b, k->grid.loops.data[i]);
        simt_value outer = simt_build_binary(b, SIMT_UDIV, rest, count);
        k->grid.at[i] = simt_build_binary(b, SIMT_SUB, rest,
                                          simt_build_binary(b, SIMT_MUL, outer, count));
        rest = outer;
    }
    k->grid.at[0] = rest;
}

static simt_value count_of_shares(kernel *k, simt_builder *b) {
    simt_value n = simt_build_int(b, SIMT_T(I32), 1);
    for (uint32_t i = 0; i < k->grid.loops.len; i++)
        n = simt_build_binary(b, SIMT_MUL, n, count_of_blocks(k, b, k->grid.loops.data[i]));
    return n;
}

// ---- Kernels that share a launch ----------------------------------------------------------------
// Kernels that share a launch become one, with the bodies of all. Its blocks take turns.
static const loop_kernel *whole_launch(lowering *l, uint32_t step) {
    const loop_kernel *first = lw_launch_at(l, step);
    if (!lw_shares_launch(l, step + 1)) return first;
    loop_kernel *all = ARENA_NEW(l->arena, loop_kernel);
    *all = *first;
    all->body = (loop_body){0};
    for (uint32_t i = step; i == step || lw_shares_launch(l, i); i++) {
        const loop_kernel *k = lw_launch_at(l, i);
        for (uint32_t n = 0; n < k->body.len; n++) VEC_PUSH(l->arena, &all->body, k->body.data[n]);
    }
    return all;
}

// Which blocks run a kernel, and the number of each among them.
typedef struct {
    simt_value is, at;   // is: 0: all blocks do
} turn;

// Kernels one after the other. from: the first block of the kernel at hand; n: how many it has;
// NULL: all that are left.
static turn in_a_row(simt_builder *b, simt_value block, const simt_value *from,
                     const simt_value *n) {
    simt_value at = from ? simt_build_binary(b, SIMT_SUB, block, *from) : block,
               is = from ? simt_build_cmp(b, SIMT_GE, block, *from) : 0,
               less = n ? simt_build_cmp(b, SIMT_LT, at, *n) : 0;
    return (turn){is && less ? simt_build_binary(b, SIMT_AND, is, less) : is ? is : less, at};
}

// Kernels in turns while each has a block left, then one after the other. least: the smallest
// number of blocks; from: the first block of the kernel that is left over.
static turn interleaved(simt_builder *b, simt_value block, uint32_t which, uint32_t kernels,
                        simt_value least, simt_value from, simt_value n) {
    simt_value turns = simt_build_with(b, SIMT_MUL, least, kernels),
               in = simt_build_cmp(b, SIMT_LT, block, turns),
               its = simt_build_cmp(b, SIMT_EQ, simt_build_with(b, SIMT_UREM, block, kernels),
                                    simt_build_int(b, SIMT_T(I32), which)),
               left = simt_build_binary(b, SIMT_SUB, simt_build_binary(b, SIMT_SUB, block, turns),
                                        from),
               rest = simt_build_binary(b, SIMT_SUB, n, least),
               there = simt_build_binary(
                   b, SIMT_AND, simt_build_cmp(b, SIMT_GE, left, simt_build_int(b, SIMT_T(I32), 0)),
                   simt_build_cmp(b, SIMT_LT, left, rest));
    return (turn){simt_build_select(b, in, its, there),
                  simt_build_select(b, in, simt_build_with(b, SIMT_UDIV, block, kernels),
                                    simt_build_binary(b, SIMT_ADD, left, least))};
}

// A block runs one of the bodies, so all use the same shared memory. Each body has its own cache
// hints.
static void blocks_of(kernel *k, simt_builder *b, const loop_kernel *plan, turn t, uint32_t shared,
                      uint32_t *most) {
    simt_builder then;
    const loop_kernel *whole = k->plan;
    loop_kernel *own = ARENA_NEW(k->l->arena, loop_kernel);
    *own = *whole;
    own->hints = plan->hints;
    k->plan = own;
    k->f->shared_bytes = shared;
    k->shared.scratch_bytes = 0;
    k->shared.fetched.len = 0;
    memset(k->shared.at, 0, (k->l->op->vals.len + 1) * sizeof *k->shared.at);
    simt_build_if(b, t.is, NULL, 0, &then, NULL);
    region_mark m = lw_enter(&k->known);
    deal_blocks(k, &then, t.at);
    lw_body(k, &then, &plan->body);
    lw_leave(&k->known, m);
    simt_build_yield(&then, NULL, 0);
    k->plan = whole;
    if (k->f->shared_bytes > *most) *most = k->f->shared_bytes;
}

// How many blocks each kernel has, and their sum for the launch.
static simt_value *counts_of(kernel *k, simt_builder *b, uint32_t step, uint32_t kernels,
                             size_expr *all) {
    simt_value *n = ARENA_ARRAY(k->l->arena, simt_value, kernels);
    for (uint32_t i = 0; i < kernels; i++) {
        k->grid.loops.len = 0;
        find_block_loops(k, &lw_launch_at(k->l, step + i)->body);
        size_expr own = grid_size(k);
        for (uint32_t t = 0; t < own.len; t++) VEC_PUSH(k->l->arena, all, own.data[t]);
        if (i) VEC_PUSH(k->l->arena, all, ((size_token){SZ_ADD, 0, 0}));
        n[i] = count_of_shares(k, b);
    }
    return n;
}

static size_expr build_launch(kernel *k, simt_builder *b, uint32_t step) {
    size_expr all = {0};
    uint32_t kernels = 1, shared = k->f->shared_bytes, most = shared;
    while (lw_shares_launch(k->l, step + kernels)) kernels++;
    bool turns = lw_launch_at(k->l, step + 1)->start == LOOP_START_INTERLEAVE;
    simt_value *n = counts_of(k, b, step, kernels, &all), block = simt_build_sreg(b, SREG_CTAID),
               least = n[0], from = 0;
    for (uint32_t i = 1; turns && i < kernels; i++)
        least = simt_build_binary(b, SIMT_MIN, least, n[i]);
    if (turns) from = simt_build_int(b, SIMT_T(I32), 0);
    for (uint32_t i = 0; i < kernels; i++) {
        const loop_kernel *plan = lw_launch_at(k->l, step + i);
        turn t = turns ? interleaved(b, block, i, kernels, least, from, n[i])
                       : in_a_row(b, block, i ? &from : NULL, i + 1 < kernels ? &n[i] : NULL);
        k->grid.loops.len = 0;
        find_block_loops(k, &plan->body);
        blocks_of(k, b, plan, t, shared, &most);
        simt_value past = turns ? simt_build_binary(b, SIMT_SUB, n[i], least) : n[i];
        from = from ? simt_build_binary(b, SIMT_ADD, from, past) : past;
    }
    k->f->shared_bytes = most;
    return all;
}

// ---- Shares of the grid -------------------------------------------------------------------------
// Blocks of a persistent kernel take one share after the other. A guard says that the number of
// shares and the grid fit 31 bits together.
static void walk_shares(kernel *k, simt_builder *b) {
    simt_instr loop;
    simt_builder in = simt_build_for(b, simt_build_sreg(b, SREG_CTAID), count_of_shares(k, b),
                                     simt_build_sreg(b, SREG_NCTAID), NULL, 0, &loop);
    k->f->instrs.data[loop].aux = SIMT_LOOP_ROLLED;
    region_mark m = lw_enter(&k->known);
    lw_meet_again(k, &in, &k->plan->body);
    deal_blocks(k, &in, simt_for_index(k->f, loop));
    lw_body(k, &in, &k->plan->body);
    lw_leave(&k->known, m);
    simt_build_yield(&in, NULL, 0);
}

static size_expr persistent_grid(kernel *k, size_expr shares) {
    arena *a = k->l->arena;
    program_guard g = {.kind = GUARD_HOLDS,
                       .text = arena_printf(a, "blocks of %s < 1073741824", k->plan->name)};
    for (uint32_t i = 0; i < shares.len; i++) VEC_PUSH(a, &g.holds, shares.data[i]);
    VEC_PUSH(a, &g.holds, ((size_token){SZ_CONST, INT64_C(1) << 30, 0}));
    VEC_PUSH(a, &g.holds, ((size_token){SZ_LT, 0, 0}));
    VEC_PUSH(a, &k->l->v->guards, g);
    const size_token most[] = {
        {SZ_DEVICE, DEVICE_SMS, 0},         {SZ_CONST, 1, 0}, {SZ_MAX, 0, 0},
        {SZ_CONST, k->plan->persistent, 0}, {SZ_MUL, 0, 0},   {SZ_MIN, 0, 0}};
    for (uint32_t i = 0; i < sizeof most / sizeof *most; i++) VEC_PUSH(a, &shares, most[i]);
    return shares;
}

// ---- Threads ------------------------------------------------------------------------------------
static bool power_of_two(uint32_t x) { return x && !(x & (x - 1)); }

static void deal_threads(kernel *k, simt_builder *b) {
    if (!lw_threads(k)) return;
    simt_type i32 = SIMT_T(I32);
    uint32_t lanes = k->plan->lanes, shift = 0;
    k->thread.number = simt_build_sreg(b, SREG_TID);
    if (lanes == 1) k->thread.group = k->thread.number;
    else if (lanes >= k->plan->threads) k->thread.lane = k->thread.number;
    else if (power_of_two(lanes)) {
        while (1u << shift < lanes) shift++;
        k->thread.lane = simt_build_binary(b, SIMT_AND, k->thread.number,
                                           simt_build_int(b, i32, lanes - 1));
        k->thread.group = simt_build_binary(b, SIMT_LSHR, k->thread.number,
                                            simt_build_int(b, i32, shift));
    } else {
        k->thread.lane = simt_build_binary(b, SIMT_UREM, k->thread.number,
                                           simt_build_int(b, i32, lanes));
        k->thread.group = simt_build_binary(b, SIMT_UDIV, k->thread.number,
                                            simt_build_int(b, i32, lanes));
    }
}

// ---- The whole ----------------------------------------------------------------------------------
static const char *unique_name(lowering *l, const char *wanted) {
    const char *name = wanted;
    for (uint32_t i = 2; simt_func_find(l->p->module, name); i++)
        name = arena_printf(l->arena, "%s_%u", wanted, i);
    return name;
}

static kernel kernel_start(lowering *l, const loop_kernel *plan) {
    arena *a = l->arena;
    kernel k = {.l = l,
                .plan = plan,
                .f = simt_kernel_new(l->p->module, unique_name(l, plan->name), plan->threads)};
    k.f->at = plan->at;
    k.ix = l->o->narrow ? SIMT_T(I32) : SIMT_T(I64);
    k.digits.vector = LOWER_NO_AXIS;
    k.access.written = ARENA_ARRAY(a, bool, l->op->vals.len + 1);
    k.access.held = ARENA_ARRAY(a, bool, l->op->vals.len + 1);
    k.shared.at = ARENA_ARRAY(a, uint32_t, l->op->vals.len + 1);
    k.scope.var = l->var ? l->var : ARENA_ARRAY(a, binding, l->op->vars.len + 1);
    k.known.memo = l->memo ? l->memo : ARENA_ARRAY(a, memo_cell, l->op->exprs.len + 1);
    k.known.spare = l->spare;
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++) k.digits.at[i] = -1;
    return k;
}

// Versions often differ in some kernels alone, and stages may be computed by the same code: what
// the module has already is not made again.
static const char *made_before(const kernel *k) {
    simt_module *m = k->l->p->module;
    const simt_func *made = k->f;
    const bool alone = m->funcs.data[m->funcs.len - 1] == k->f;   // no other came with it
    for (uint32_t i = 0; alone && i + 1 < m->funcs.len && made == k->f; i++)
        if (simt_func_alike(m->funcs.data[i], k->f)) made = m->funcs.data[i];
    if (made != k->f) m->funcs.len--;
    simt_func_settle(k->f, made == k->f);
    return made->name;
}

// ---- The kernel ---------------------------------------------------------------------------------
// The block's share, or all shares in turn.
static size_expr walk_blocks(kernel *k, simt_builder *b, uint32_t step) {
    if (lw_shares_launch(k->l, step + 1)) return build_launch(k, b, step);
    find_block_loops(k, &k->plan->body);
    if (k->plan->persistent) {
        walk_shares(k, b);
        return persistent_grid(k, grid_size(k));
    }
    deal_blocks(k, b, simt_build_sreg(b, SREG_CTAID));
    lw_body_by_sizes(k, b, &k->plan->body);
    return grid_size(k);
}

void lw_kernel(lowering *l, uint32_t step) {
    if (lw_shares_launch(l, step)) return;   // it was lowered with the launch before
    const loop_kernel *plan = whole_launch(l, step);
    kernel k = kernel_start(l, plan);
    if (l->o->machine->gpu) k.f->occupancy = plan->occupancy, k.f->fits = plan->soft;
    lw_find_written(&k, &plan->body);
    lw_find_unsettled(&k, step);
    lw_find_left(&k, step);
    lw_find_read(&k, &plan->body);
    lw_number_axes(&k);
    simt_builder b = simt_builder_at_end(k.f);
    b.at = plan->at;
    lw_begin_early(&k, &b, step);
    deal_threads(&k, &b);
    size_expr grid = walk_blocks(&k, &b, step);
    lw_end_early(&k, &b);
    simt_build_return(&b, NULL, 0);
    l->memo = memset(k.known.memo, 0, sizeof *l->memo * (l->op->exprs.len + 1));
    l->spare = k.known.spare;
    l->var = memset(k.scope.var, 0, sizeof *l->var * (l->op->vars.len + 1));
    simt_hoist(k.f);
    lw_wait_late(&k);
    simt_ask_early(k.f);
    program_step s = {.kind = STEP_LAUNCH,
                      .kernel = made_before(&k),
                      .count = grid,
                      .early = plan->start && l->o->machine->gpu,
                      .waits_first = plan->start == LOOP_START_WAIT_FIRST && l->o->machine->gpu,
                      .waits_to_write = k.access.waits_to_write,
                      .nargs = k.args.list.len,
                      .args = k.args.list.data};
    VEC_PUSH(l->arena, &l->v->steps, s);
}
