// The list of an op's relations, what is changed by one, and the comparison of results before and
// after.
#include "eval_number.h"
#include "metamorphic_internal.h"

#include <string.h>

const char *meta_kind_text(meta_kind k) {
    static const char *const texts[META_KINDS] = {"nodes", "edges", "features", "scaled", "split"};
    return texts[k];
}

// ---- Which there are ----------------------------------------------------------------------------

// Nodes are what a map leads to; edges what one leads from; features neither.
static bool appears(const tensor_op *op, tensor_space s, meta_kind *kind) {
    bool found = false;
    *kind = META_FEATURES;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        bool map = i->role == VAL_MAP;
        if (map && i->into == s) return *kind = META_NODES, true;
        for (uint32_t k = 0; k < i->rank; k++) {
            found |= i->axes[k] == s;
            if (map && i->axes[k] == s) *kind = META_EDGES;
        }
    }
    return found;
}

static bool is_codomain(const tensor_op *op, tensor_space s) {
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role == VAL_MAP && op->vals.data[v].into == s) return true;
    return false;
}

void meta_find(arena *a, const tensor_op *op, meta_relations *out) {
    for (tensor_space s = 0; s < op->spaces.len; s++) {
        meta_relation r = {.name = op->spaces.data[s].name, .space = s, .input = TENSOR_NO_VAL};
        if (!appears(op, s, &r.kind) || meta_leader(a, op, s) != s) continue;
        meta_permuted(a, op, &r);
        VEC_PUSH(a, out, r);
    }
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if ((i->role != VAL_TENSOR && i->role != VAL_SCALAR) || !ir_dtype_is_float(i->type))
            continue;
        meta_relation r = {
            .kind = META_SCALED, .name = i->name, .space = TENSOR_NO_SPACE, .input = v};
        meta_scaled(a, op, &r);
        VEC_PUSH(a, out, r);
    }
    for (tensor_space s = 0; s < op->spaces.len; s++) {
        meta_relation r = {.kind = META_SPLIT,
                           .name = op->spaces.data[s].name,
                           .space = s,
                           .input = TENSOR_NO_VAL};
        if (!is_codomain(op, s)) continue;
        meta_split(a, op, &r);
        VEC_PUSH(a, out, r);
    }
}

// ---- Inputs -------------------------------------------------------------------------------------

uint32_t meta_bytes(ir_dtype t) { return t == DT_INDEX ? 8 : ir_dtype_bytes(t); }

int64_t meta_points(const tensor_array *x) {
    int64_t n = 1;
    for (uint32_t k = 0; k < x->rank; k++) n *= x->shape[k];
    return n;
}

// The flat position before of a position after.
static int64_t position_before(const meta_change *c, const tensor_val_info *info, int64_t at) {
    int64_t index[8], before = 0;
    for (uint32_t k = info->rank; k-- > 0;) {
        int64_t n = c->sizes[info->axes[k]];
        index[k] = at % n;
        at /= n;
    }
    for (uint32_t k = 0; k < info->rank; k++) {
        tensor_space s = info->axes[k];
        bool grew = c->relation->kind == META_SPLIT && s == c->relation->space;
        before = before * (c->sizes[s] - grew) + (c->from[s] ? c->from[s][index[k]] : index[k]);
    }
    return before;
}

void meta_move(arena *a, const tensor_op *op, meta_change *c, tensor_val v, const tensor_array *x) {
    const tensor_val_info *info = &op->vals.data[v];
    tensor_array *y = &c->inputs[v];
    uint32_t bytes = meta_bytes(info->type);
    for (uint32_t k = 0; k < info->rank; k++) y->shape[k] = c->sizes[info->axes[k]];
    if (!x->data || info->role == VAL_RESULT) return;
    uint8_t *data = arena_alloc(a, (size_t)meta_points(y) * bytes + 8);
    for (int64_t i = 0; i < meta_points(y); i++)
        memcpy(data + i * bytes, (const uint8_t *)x->data + position_before(c, info, i) * bytes,
               bytes);
    y->data = data;
}

bool meta_apply(arena *a, const tensor_op *op, const meta_relation *r, const tensor_eval_input *in,
                uint64_t seed, meta_change *out, const char **why) {
    *out = (meta_change){.relation = r, .in = *in, .row = -1};
    out->sizes = ARENA_ARRAY(a, int64_t, op->spaces.len + 1);
    out->inputs = ARENA_ARRAY(a, tensor_array, op->nparams + 1);
    out->from = ARENA_ARRAY(a, const int64_t *, op->spaces.len + 1);
    memcpy(out->inputs, in->inputs, op->nparams * sizeof *out->inputs);
    if (!tensor_eval_sizes(a, op, in, out->sizes, why)) return false;
    bool good = r->kind == META_SCALED  ? meta_scale(a, out, seed, why)
                : r->kind == META_SPLIT ? meta_cut(a, op, out, in, seed, why)
                                        : meta_permute(a, op, out, in, seed, why);
    out->in.sizes = out->sizes;
    out->in.inputs = out->inputs;
    return good;
}

// ---- Results ------------------------------------------------------------------------------------

// A stored float is the nearest one: where it takes part in arithmetic it may be off by half a unit
// in its last place, which scaling changes near zero alone.
static eval_value number_at(const meta_change *c, const tensor_val_info *info, bool adds,
                            const tensor_evaluated *x, int64_t i) {
    if (!x->is_float) return eval_int(x->integer[i], x->certain[i]);
    const eval_precision *p = eval_precision_of(info->type);
    double near_zero = c->relation->kind >= META_SCALED ? p->tiny : 0,
           off = adds ? p->u * fabs(x->value[i]) : 0;
    return eval_float(x->value[i],
                      isfinite(x->value[i]) ? x->bound[i] + near_zero + off : x->bound[i]);
}

// What an element must be after, of what it was before.
static eval_value followed(const meta_change *c, int32_t how, eval_value x) {
    if (c->relation->kind != META_SCALED || how == 0) return x;
    int exponent = c->exponent * how / 2;
    return eval_float(ldexp(x.v, exponent), ldexp(x.bound, exponent));
}

// A sum over the two rows of one that was split.
static eval_value both_rows(const tensor_val_info *info, eval_value x, eval_value y) {
    if (ir_dtype_is_float(info->type)) return eval_float(x.v + y.v, x.bound + y.bound);
    return eval_store(info->type,
                      eval_int((int64_t)((uint64_t)x.i + (uint64_t)y.i), x.certain && y.certain));
}

typedef enum { RIGHT, WRONG, UNSURE } judgement;

// A sum may leave the range of its type where the pieces of it, or its scaled terms, do not.
static judgement floats_agree(const meta_change *c, bool exact, eval_value x, eval_value y,
                              tensor_comparison *t) {
    if (isinf(x.bound) || isinf(y.bound)) return UNSURE;
    if (x.v == y.v || (isnan(x.v) && isnan(y.v))) return RIGHT;
    if (!isfinite(x.v) || !isfinite(y.v))
        return c->relation->kind == META_SCALED || c->relation->kind == META_SPLIT ? UNSURE : WRONG;
    double error = fabs(x.v - y.v),
           bound = exact ? 0 : (x.bound + y.bound) * (1 + 0x1p-40) + 0x1p-52 * fabs(x.v);
    t->max_abs_error = fmax(t->max_abs_error, error);
    t->worst_ratio = fmax(t->worst_ratio, error / bound);
    return error <= bound ? RIGHT : WRONG;
}

static judgement integers_agree(eval_value x, eval_value y, const int64_t *from) {
    if (!x.certain || !y.certain) return UNSURE;
    return x.i == (y.i >= 0 && from ? from[y.i] : y.i) ? RIGHT : WRONG;
}

// How far a position after is along its axis of the space that was split; the stride of that axis.
static int64_t coordinate(const meta_change *c, const tensor_val_info *info, uint32_t axis,
                          int64_t at, int64_t *stride) {
    *stride = 1;
    for (uint32_t k = axis + 1; k < info->rank; k++) *stride *= c->sizes[info->axes[k]];
    return at / *stride % c->sizes[info->axes[axis]];
}

tensor_comparison meta_compare(const tensor_op *op, const meta_change *c, tensor_val result,
                               const tensor_evaluated *before, const tensor_evaluated *after) {
    tensor_comparison t = {.first_wrong = -1};
    const tensor_val_info *info = &op->vals.data[result];
    int32_t how = c->relation->result[result];
    bool exact = c->relation->kind < META_SCALED && how == META_EXACT && !c->unordered,
         adds = c->relation->kind == META_SPLIT && how >= 0;
    const int64_t *from = info->type == DT_INDEX ? c->from[info->into] : NULL;
    for (int64_t i = 0; i < after->points && how != META_NOTHING; i++) {
        int64_t stride = 0, row = adds ? coordinate(c, info, (uint32_t)how, i, &stride) : -2;
        if (row == c->row + 1) continue;
        bool two = row == c->row;
        eval_value x = followed(c, how,
                                number_at(c, info, two, before, position_before(c, info, i))),
                   y = number_at(c, info, two, after, i);
        if (two) y = both_rows(info, y, number_at(c, info, two, after, i + stride));
        judgement j = after->is_float ? floats_agree(c, exact, x, y, &t)
                                      : integers_agree(x, y, from);
        t.compared += j != UNSURE;
        t.uncertain += j == UNSURE;
        if (j != WRONG) continue;
        if (!t.wrong++) t.first_wrong = i;
    }
    return t;
}
