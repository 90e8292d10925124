// Kernels of the host for likely sizes. Loops may pad an index whose size the compiler does not
// know. A block looks at the size once, and runs a body for which the size, or a divisor of it, is
// known. All bodies compute the same, in the same order.
//     for f in 0 .. size(F) pad 64 [vector 16, register 4, serial] { … }
//  →  if F == 64 { … } else if F == 32 { … } else if F % 64 == 0 { … } else if F == 16 { … } else { … }

#include "lower/loops/loops.h"

enum {
    MOST_SPACES = 4,   // in one kernel: with more, each body would rarely run
    ENOUGH = 200,      // instructions of all bodies: a longer kernel has one body
    ANY_MULTIPLE = 0
};

// Sizes as parts of the padding. With several spaces, halves are too rare to be worth their code.
static const uint32_t parts[] = {1, 2, ANY_MULTIPLE, 4};

enum { CASES = sizeof parts / sizeof *parts };

typedef struct {
    tensor_space space;
    int64_t pad, size;   // size: that of the case at hand, or ANY_MULTIPLE of pad
} likely;

typedef struct {
    likely of[MOST_SPACES];
    uint32_t n;
    const loop_body *body;
    uint32_t before;   // instructions that the kernel had
} likely_sizes;

static void note_space(likely_sizes *x, tensor_space s, uint32_t pad) {
    for (uint32_t i = 0; i < x->n && i < MOST_SPACES; i++) {
        if (x->of[i].space != s) continue;
        if (pad > x->of[i].pad) x->of[i].pad = pad;
        return;
    }
    if (x->n < MOST_SPACES) x->of[x->n] = (likely){.space = s, .pad = pad};
    x->n++;
}

static void find_padded(const kernel *k, const loop_body *body, likely_sizes *x) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        bool pads = n->kind == LOOP_FOR && lw_pads_rounds(k, n) && loop_has_padding(k->l->op, n);
        if (pads) note_space(x, k->l->op->vars.data[n->var].space, n->rounds.pad);
        find_padded(k, &n->body, x);
    }
}

static simt_value take_case(kernel *k, simt_builder *b, likely_sizes *x, uint32_t part) {
    simt_value all = 0;
    for (uint32_t s = 0; s < x->n; s++) {
        likely *l = &x->of[s];
        l->size = part ? l->pad / part : ANY_MULTIPLE;
        simt_value size = lw_size(k, b, l->space),
                   rest = part ? size : simt_build_with(b, SIMT_UREM, size, l->pad);
        all = lw_both(b, all,
                      simt_build_cmp(b, SIMT_EQ, rest, simt_build_int(b, SIMT_T(I64), l->size)));
    }
    return all;
}

// The body, for the sizes of the case at hand.
static void body_of_case(kernel *k, simt_builder *b, const likely_sizes *x) {
    const tensor_op *op = k->l->op;
    tensor_op *supposed = ARENA_NEW(k->l->arena, tensor_op);
    bool *even = ARENA_ARRAY(k->l->arena, bool, op->spaces.len + 1);
    *supposed = *op;
    supposed->spaces.data = ARENA_ARRAY(k->l->arena, tensor_space_info, op->spaces.len);
    for (tensor_space s = 0; s < op->spaces.len; s++) supposed->spaces.data[s] = op->spaces.data[s];
    for (uint32_t i = 0; i < x->n; i++) {
        tensor_space_info *s = &supposed->spaces.data[x->of[i].space];
        if (x->of[i].size) s->kind = SPACE_CONST, s->size = x->of[i].size;
        else even[x->of[i].space] = true;
    }
    k->l->op = supposed;
    k->sizes.even = even;
    lw_body(k, b, x->body);
    k->l->op = op;
    k->sizes.even = NULL;
}

static bool is_worth(const kernel *k, const likely_sizes *x, uint32_t i) {
    if (!x->n || x->n > MOST_SPACES || (parts[i] > 1 && x->n > 1)) return false;
    return k->f->instrs.len - x->before <= ENOUGH;
}

static void body_by_cases(kernel *k, simt_builder *b, likely_sizes *x, uint32_t i) {
    while (i < CASES && !is_worth(k, x, i)) i++;
    if (i == CASES) {
        lw_body(k, b, x->body);
        return;
    }
    simt_builder then, other;
    simt_build_if(b, take_case(k, b, x, parts[i]), NULL, 0, &then, &other);
    region_mark m = lw_enter(&k->known);
    body_of_case(k, &then, x);
    lw_leave(&k->known, m);
    simt_build_yield(&then, NULL, 0);
    body_by_cases(k, &other, x, i + 1);
    lw_leave(&k->known, m);
    simt_build_yield(&other, NULL, 0);
}

void lw_body_by_sizes(kernel *k, simt_builder *b, const loop_body *body) {
    likely_sizes x = {.body = body, .before = k->f->instrs.len};
    find_padded(k, body, &x);
    body_by_cases(k, b, &x, 0);
}
