// Memory of one run: tensors laid out as asked for, between guards, with poison where no element
// is.
#include "run_memory.h"

#include <string.h>

enum { GUARD = 256, ALIGNMENT = 256 };

gnn_dtype run_dtype(ir_dtype t, uint32_t index_bits) {
    if (t == DT_INDEX) return index_bits == 64 ? GNN_I64 : GNN_I32;
    for (gnn_dtype g = 0; g < GNN_DTYPE_COUNT; g++)
        if (!strcmp(gnn_dtype_text(g), ir_dtype_text(t))) return g;
    ICE("the runtime has no type '%s'", ir_dtype_text(t));
}

// ---- Layout -------------------------------------------------------------------------------------

static void pack_strides(run_buffer *x, int64_t last, int64_t padding) {
    int64_t stride = last;
    for (uint32_t k = x->rank; k-- > 0;) {
        x->strides[k] = stride;
        stride = stride * (x->shape[k] > 0 ? x->shape[k] : 1) + padding;
    }
}

tensor_val run_overwritten(const run_op *o, tensor_val result) {
    const tensor_val_info *info = &o->op->op->vals.data[result];
    return o->r->asked.inplace && info->role == VAL_RESULT ? info->inplace : TENSOR_NO_VAL;
}

bool run_is_overwritten(const run_op *o, tensor_val parameter) {
    for (tensor_val v = 0; v < o->op->op->nparams; v++)
        if (run_overwritten(o, v) == parameter) return true;
    return false;
}

static bool is_tensor(const run_op *o, tensor_val v) {
    return o->op->op->vals.data[v].role == VAL_TENSOR || o->op->op->vals.data[v].role == VAL_RESULT;
}

// Of a tensor or result. Uneven: seed after seed each of them in turn is the one that is unlike the
// others, which meet all a version may ask for. A result in a parameter's memory lies as that does.
run_layout run_layout_of(const run_op *o, tensor_val v) {
    if (o->r->asked.layout != LAYOUT_UNEVEN) return o->r->asked.layout;
    if (o->r->asked.inplace && o->op->op->vals.data[v].inplace != TENSOR_NO_VAL)
        v = o->op->op->vals.data[v].inplace;
    uint32_t n = 0, number = 0;
    for (tensor_val k = 0; k < o->op->op->nparams; k++) {
        number = k == v ? n : number;
        n += is_tensor(o, k);
    }
    uint64_t seed = o->r->options.seed;
    if (seed % n != number) return LAYOUT_PACKED;
    return seed / n % 2 ? LAYOUT_STRIDED : LAYOUT_MISALIGNED;
}

static void choose_strides(const run_op *o, tensor_val val, run_buffer *x) {
    enum { PADDING = 3 };
    const run_session *r = o->r;
    const tensor_val_info *v = &o->op->op->vals.data[val];
    bool strided = v->facts & FACT_STRIDED, packed = v->facts & FACT_PACKED;
    if (run_layout_of(o, val) == LAYOUT_STRIDED && !packed)
        pack_strides(x, strided ? 2 : 1, PADDING);
    else pack_strides(x, 1, 0);
    bool any = !packed && (x->rank > 1 || (strided && x->rank));
    if (run_is_far(r->asked.layout) && any) run_choose_far(r->asked.layout, x);
    bool constant = v->role == VAL_TENSOR && !packed && x->rank && !run_is_overwritten(o, val);
    if (r->asked.layout != LAYOUT_BROADCAST || !constant) return;
    if (strided) x->strides[x->rank - 1] = 0;
    else if (x->rank > 1) x->strides[0] = 0;
}

// Bytes from the first element to the end of the last; false: too many.
static bool extent(const run_buffer *x, size_t element, size_t *out) {
    int64_t last = 0, step;
    bool empty = false;
    for (uint32_t k = 0; k < x->rank; k++) {
        empty |= x->shape[k] == 0;
        if (x->shape[k] && (__builtin_mul_overflow(x->shape[k] - 1, x->strides[k], &step) ||
                            __builtin_add_overflow(last, step, &last)))
            return false;
    }
    *out = empty ? 0 : ((size_t)last + 1) * element;
    return last < (int64_t)1 << 40;
}

// Of the first element, from a multiple of ALIGNMENT: arrays of the host lie where malloc,
// std::vector and NumPy put them, which is at no multiple of a vector.
static size_t offset_of(const run_op *o, tensor_val v, size_t element) {
    enum { MALLOC = 16 };
    const run_layout l = run_layout_of(o, v);
    const size_t align = o->op->op->vals.data[v].align;
    if (l == LAYOUT_MISALIGNED) return align > element ? align : element;
    bool host = o->r->target.kind == CG_HOST && !o->r->simulator && !o->r->pack && !run_is_far(l) &&
                l != LAYOUT_ALIGNED;
    return !host ? 0 : align > MALLOC ? align : MALLOC;
}

bool run_buffer_new(run_op *o, tensor_val v, run_buffer *x) {
    const tensor_val_info *info = &o->op->op->vals.data[v];
    *x = (run_buffer){.used = true,
                      .dtype = run_dtype(info->type, o->op->program->index_bits),
                      .rank = info->rank};
    for (uint32_t k = 0; k < info->rank; k++) x->shape[k] = o->b->sizes[info->axes[k]];
    choose_strides(o, v, x);
    size_t element = gnn_dtype_bytes(x->dtype),
           align = info->align > ALIGNMENT ? info->align : ALIGNMENT, bytes;
    if (!extent(x, element, &bytes)) {
        diag(o->r->d->ds, E0819, info->at, "%s: '%s' would be too large", o->op->name, info->name);
        return false;
    }
    size_t off = offset_of(o, v, element);
    x->off = off;
    x->bytes = GUARD + align + off + bytes + GUARD;
    if (x->apart ? !run_map_far(o, x, element)
                 : run_failed(o, gnn_alloc(o->r->context, x->bytes, &x->memory)))
        return false;
    x->image = arena_alloc(o->arena, x->bytes);
    x->first = ((uintptr_t)x->memory + GUARD + align - 1) / align * align - (uintptr_t)x->memory +
               off;
    return true;
}

gnn_tensor run_buffer_tensor(const run_buffer *x, bool has_strides) {
    gnn_tensor t = {.data = (uint8_t *)x->memory + x->first,
                    .dtype = x->dtype,
                    .rank = x->rank,
                    .has_strides = has_strides};
    memcpy(t.shape, x->shape, sizeof t.shape);
    memcpy(t.strides, x->strides, sizeof t.strides);
    if (x->apart) t.strides[0] = x->apart;
    return t;
}

// ---- Elements -----------------------------------------------------------------------------------

// Over the outer axes: `run` elements lie together.
typedef struct {
    const run_buffer *x;
    uint32_t rank;
    int64_t run, left, at[8], offset;   // runs to go; position; its place in elements
} walk;

static walk walk_start(const run_buffer *x) {
    walk w = {.x = x, .rank = x->rank, .run = 1, .left = 1};
    while (w.rank && x->strides[w.rank - 1] == w.run) w.run *= x->shape[--w.rank];
    for (uint32_t k = 0; k < w.rank; k++) w.left *= x->shape[k];
    if (!w.run) w.left = 0;
    return w;
}

static void walk_on(walk *w) {
    w->left--;
    for (uint32_t k = w->rank; k-- > 0;) {
        w->offset += w->x->strides[k];
        if (++w->at[k] < w->x->shape[k]) return;
        w->offset -= w->x->shape[k] * w->x->strides[k];
        w->at[k] = 0;
    }
}

void run_buffer_poison(run_buffer *x, uint8_t byte) { memset(x->image, byte, x->bytes); }

static void put_run(uint8_t *to, const tensor_array *from, int64_t i, int64_t n, size_t element) {
    if (bind_bytes(from->type) == element) {
        memcpy(to, (const uint8_t *)from->data + (size_t)i * element, (size_t)n * element);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        memcpy(to + 4 * k, &(int32_t){(int32_t)((const int64_t *)from->data)[i + k]}, 4);
}

void run_buffer_put(run_buffer *x, const tensor_array *values) {
    size_t element = gnn_dtype_bytes(x->dtype);
    int64_t i = 0;
    for (walk w = walk_start(x); w.left > 0; walk_on(&w), i += w.run)
        put_run(x->image + x->first + (size_t)w.offset * element, values, i, w.run, element);
}

static void get_run(const uint8_t *from, const tensor_array *to, int64_t i, int64_t n,
                    size_t element) {
    int32_t narrow;
    if (bind_bytes(to->type) == element) {
        memcpy((uint8_t *)to->data + (size_t)i * element, from, (size_t)n * element);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        memcpy(&narrow, from + 4 * k, 4);
        ((int64_t *)to->data)[i + k] = narrow;
    }
}

const void *run_buffer_elements(run_op *o, const run_buffer *x, const tensor_array *values,
                                size_t *bytes) {
    run_buffer packed = *x;
    pack_strides(&packed, 1, 0);
    packed.first = 0;
    const walk all = walk_start(&packed);
    *bytes = (size_t)(all.left * all.run) * gnn_dtype_bytes(x->dtype);
    packed.image = arena_alloc(o->arena, *bytes + 1);
    run_buffer_put(&packed, values);
    return packed.image;
}

void run_buffer_get(const run_buffer *x, tensor_array *values) {
    size_t element = gnn_dtype_bytes(x->dtype);
    int64_t i = 0;
    for (walk w = walk_start(x); w.left > 0; walk_on(&w), i += w.run)
        get_run(x->image + x->first + (size_t)w.offset * element, values, i, w.run, element);
}

static bool all_poison(const uint8_t *x, size_t n, uint8_t byte) {
    return !n || (*x == byte && !memcmp(x, x + 1, n - 1));
}

// Elements that lie together need no image to be compared with.
static bool packed_intact(const run_buffer *x, size_t bytes, const tensor_array *elements,
                          uint8_t byte) {
    const uint8_t *first = x->image + x->first;
    return all_poison(x->image, x->first, byte) && !memcmp(first, elements->data, bytes) &&
           all_poison(first + bytes, x->bytes - x->first - bytes, byte);
}

bool run_buffer_intact(const run_buffer *x, const tensor_array *elements, uint8_t byte) {
    size_t element = gnn_dtype_bytes(x->dtype);
    const walk all = walk_start(x);
    if (!all.rank && all.left && bind_bytes(elements->type) == element)
        return packed_intact(x, (size_t)all.run * element, elements, byte);
    arena *scratch = arena_new();
    run_buffer wanted = *x;
    wanted.image = arena_alloc(scratch, x->bytes);
    run_buffer_poison(&wanted, byte);
    run_buffer_put(&wanted, elements);
    bool same = !memcmp(wanted.image, x->image, x->bytes);
    arena_free(scratch);
    return same;
}

// ---- Transfers ----------------------------------------------------------------------------------

bool run_buffer_upload(run_op *o, run_buffer *x) {
    if (x->apart) return run_copy_far(o, x, true);
    return !run_failed(o, gnn_copy_in(o->r->context, x->memory, x->image, x->bytes, NULL));
}

bool run_buffer_download(run_op *o, run_buffer *x) {
    if (x->apart) return run_copy_far(o, x, false);
    return !run_failed(o, gnn_copy_out(o->r->context, x->image, x->memory, x->bytes, NULL)) &&
           !run_failed(o, gnn_sync(o->r->context, NULL));
}
