// What is known of maps and of the arrays prepared for them: offsets ascend and tile the order of
// their map, an order is a permutation, and a key read in its order ascends.
#include "facts/internal.h"

const loop_prepared *prepared_of(const facts *f, tensor_val v) {
    for (uint32_t i = 0; i < f->plan->prepared.len; i++)
        if (f->plan->prepared.data[i].val == v) return &f->plan->prepared.data[i];
    return NULL;
}

bool val_is_load(const facts *f, atom_id a, tensor_val *v) {
    const atom *x = f->atoms.data[a];
    *v = (tensor_val)x->imm;
    return x->op == TENSOR_LOAD_OP && x->nargs == 1;
}

bool val_total(const facts *f, tensor_val v) {
    const tensor_val_info *info = &f->op->vals.data[v];
    const loop_prepared *p = prepared_of(f, v);
    bool total = info->role == VAL_MAP && !(info->facts & FACT_PARTIAL);
    if (info->role == VAL_CLASSES) {
        total = true;
        for (uint32_t i = 0; i < info->nkeys; i++) total &= val_total(f, info->keys[i]);
    }
    if (!p) return total;
    for (uint32_t i = 0;
         (prepared_entries(p->builder) || p->builder == PREPARED_CLASSES) && i < p->nargs; i++)
        if (!val_total(f, p->args[i])) return false;
    return true;   // offsets, orders, degrees and tiles hold no none
}

bool val_sorted(const facts *f, tensor_val v) {
    const tensor_val_info *info = &f->op->vals.data[v];
    const loop_prepared *p = prepared_of(f, v);
    if (p)
        return p->builder == PREPARED_OFFSETS || p->builder == PREPARED_TILES ||
               p->builder == PREPARED_TILE_BEGINS || p->builder == PREPARED_TILE_VALUES;
    return info->role == VAL_MAP && info->rank == 1 && info->facts & FACT_SORTED &&
           info->sorted_by == TENSOR_NO_VAL && val_total(f, v);
}

bool val_distinct(const facts *f, tensor_val v) {
    const tensor_val_info *info = &f->op->vals.data[v];
    const loop_prepared *p = prepared_of(f, v);
    if (p) return p->builder == PREPARED_ORDER || p->builder == PREPARED_ORDER_DESC;
    return info->role == VAL_MAP && info->rank == 1 && info->facts & FACT_UNIQUE && val_total(f, v);
}

bool walk_of(const facts *f, const scope *loop, walk *w) {
    atom_id lo, hi;
    tensor_val l, h;
    if (!form_bare(&loop->lo, &lo) || !form_bare(&loop->hi, &hi)) return false;
    if (!val_is_load(f, lo, &l) || !val_is_load(f, hi, &h) || l != h) return false;
    w->array = prepared_of(f, l);
    w->first = f->atoms.data[lo]->args[0];
    w->end = f->atoms.data[hi]->args[0];
    return w->array &&
           (w->array->builder == PREPARED_OFFSETS || w->array->builder == PREPARED_TILES);
}

// Whether the atom is map m at some position: m[position], or a composition's maps one after the
// other.
static bool match_map(const facts *f, tensor_val m, atom_id a, form *position) {
    const loop_prepared *p = prepared_of(f, m);
    tensor_val v;
    if (!val_is_load(f, a, &v)) return false;
    *position = f->atoms.data[a]->args[0];
    if (v == m) return true;
    if (!p || p->builder != PREPARED_COMPOSE) return false;
    *position = form_atom(a);
    for (uint32_t i = p->nargs; i-- > 0;)
        if (!form_bare(position, &a) || !match_map(f, p->args[i], a, position)) return false;
    return true;
}

static bool map_sorted(const facts *f, tensor_val m) {
    const loop_prepared *p = prepared_of(f, m);
    if (!p || p->builder != PREPARED_COMPOSE) return val_sorted(f, m);
    for (uint32_t i = 0; i < p->nargs; i++)
        if (!map_sorted(f, p->args[i])) return false;
    return true;
}

// The point a position in the order of map m stands for: order(m)[p], or p itself where m is sorted
// already.
static bool point_of_order(const facts *f, tensor_val m, const form *point, form *position) {
    atom_id a;
    tensor_val v;
    *position = *point;
    if (map_sorted(f, m)) return true;
    if (!form_bare(point, &a) || !val_is_load(f, a, &v)) return false;
    const loop_prepared *p = prepared_of(f, v);
    *position = f->atoms.data[a]->args[0];
    return p && p->builder == PREPARED_ORDER && p->args[0] == m;
}

// The loop whose position alone the form is.
static const scope *loop_of_position(const facts *f, const form *x) {
    atom_id a;
    return form_bare(x, &a) && f->atoms.data[a]->op == TENSOR_VAR_OP ? f->atoms.data[a]->binder
                                                                     : NULL;
}

// The loop at the end of a chain of loads n[m[order[p]]], where it walks.
static const scope *innermost_walk(const facts *f, atom_id a, walk *w) {
    tensor_val v;
    while (val_is_load(f, a, &v))
        if (!form_bare(&f->atoms.data[a]->args[0], &a)) return NULL;
    const form x = form_atom(a);
    const scope *loop = loop_of_position(f, &x);
    return loop && walk_of(f, loop, w) ? loop : NULL;
}

bool key_of_walk(const facts *f, atom_id a, const scope **loop, walk *w) {
    form point, position;
    *loop = innermost_walk(f, a, w);
    if (!*loop) return false;
    tensor_val m = w->array->args[0];
    return match_map(f, m, a, &point) && point_of_order(f, m, &point, &position) &&
           loop_of_position(f, &position) == *loop;
}

bool key_in_order(const facts *f, atom_id a, form *position) {
    for (uint32_t i = 0; i < f->plan->prepared.len; i++) {
        const loop_prepared *p = &f->plan->prepared.data[i];
        if (p->builder != PREPARED_ORDER) continue;
        tensor_val m = p->args[0];
        form point;
        if (val_total(f, m) && match_map(f, m, a, &point) && point_of_order(f, m, &point, position))
            return true;
    }
    return false;
}

// The loop that walks one row of m (or a tile, which lies in a row) and at whose position alone the
// atom's chain ends.
static const scope *row_of(const facts *f, atom_id a, tensor_val m) {
    walk w;
    int64_t gap;
    const scope *loop = innermost_walk(f, a, &w);
    return loop && form_gap(&w.first, &w.end, &gap) && gap == 1 && w.array->args[0] == m ? loop
                                                                                         : NULL;
}

bool sorted_within(const facts *f, atom_id a, const scope **loop) {
    tensor_val v;
    form position;
    if (!val_is_load(f, a, &v)) return false;
    const tensor_val_info *info = &f->op->vals.data[v];
    if (info->role != VAL_MAP || !(info->facts & FACT_SORTED) || info->sorted_by == TENSOR_NO_VAL ||
        !val_total(f, v))
        return false;
    *loop = row_of(f, a, info->sorted_by);
    return *loop && point_of_order(f, info->sorted_by, &f->atoms.data[a]->args[0], &position) &&
           loop_of_position(f, &position) == *loop;
}

bool order_within(const facts *f, atom_id a, const scope **loop) {
    tensor_val v;
    const loop_prepared *p = val_is_load(f, a, &v) ? prepared_of(f, v) : NULL;
    if (!p || p->builder != PREPARED_ORDER) return false;
    *loop = row_of(f, a, p->args[0]);
    return *loop && loop_of_position(f, &f->atoms.data[a]->args[0]) == *loop;
}
