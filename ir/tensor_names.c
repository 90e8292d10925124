// See tensor_names.h.
//     s[e, h] = …    y[v] = sum {i : dst[i] == v} s[i, h]    →  y[v] = sum {e : dst[e] == v} s[e, h]
#include "tensor_names.h"

#include <string.h>

typedef struct {
    tensor_id was, is;
} renamed_index;

typedef struct {
    tensor_op *op;
    VEC(renamed_index) indices;   // stages that share one share it afterwards
    bool *walked;                 // per space: keys find its points
    const char **called;          // per space: what its first index in a stage is called
    bool (*keeps)(const char *name, void *user);
    void *user;
} naming;

static size_t base_of(const char *name) { return strcspn(name, "'"); }

static bool same_base(const char *a, const char *b) {
    size_t n = base_of(a);
    return n == base_of(b) && !memcmp(a, b, n);
}

static tensor_var var_at(const tensor_stage *st, uint32_t i) {
    return i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
}

static const char *name_at(const naming *n, const tensor_stage *st, uint32_t i) {
    return n->op->vars.data[var_at(st, i)].name;
}

// The name of the stage's first index over a space; NULL: it has none.
static const char *first_over(const naming *n, const tensor_stage *st, tensor_space s) {
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++)
        if (n->op->vars.data[var_at(st, i)].space == s) return name_at(n, st, i);
    return NULL;
}

static bool has_name(const naming *n, const tensor_stage *st, const char *name) {
    bool has = false;
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++) has |= same_base(name_at(n, st, i), name);
    return has;
}

static bool has_var(const tensor_stage *st, tensor_var v) {
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++)
        if (var_at(st, i) == v) return true;
    return false;
}

// Stages share an index where one was taken out of another.
static bool is_taken_beside(const naming *n, tensor_var v, const char *name) {
    for (uint32_t i = 0; i < n->op->stages.len; i++)
        if (has_var(&n->op->stages.data[i], v) && has_name(n, &n->op->stages.data[i], name))
            return true;
    return false;
}

static bool is_called(const naming *n, tensor_var v, tensor_space s, const char *name) {
    return n->op->vars.data[v].space == s && same_base(n->op->vars.data[v].name, name);
}

static void note_walked(naming *n, const tensor_stage *st) {
    for (uint32_t b = 0; b < st->nbound; b++)
        for (uint32_t k = 0; k < st->nkeys; k++)
            if (tensor_mentions(n->op, st->keys[k].lhs, st->bound[b]))
                n->walked[n->op->vars.data[st->bound[b]].space] = true;
}

static const char *renamed(const naming *n, const char *name, const char *to) {
    return arena_printf(n->op->arena, "%.*s%s", (int)base_of(to), to, name + base_of(name));
}

static tensor_id index_after(naming *n, tensor_id was, const char *to) {
    for (uint32_t i = 0; i < n->indices.len; i++)
        if (n->indices.data[i].was == was) return n->indices.data[i].is;
    renamed_index one = {
        was, tensor_id_of_index(n->op->ids, arena_strndup(n->op->arena, to, base_of(to)))};
    VEC_PUSH(n->op->arena, &n->indices, one);
    return one.is;
}

// All variables of the stage that stand for one index.
static void rename_index(naming *n, const tensor_stage *st, tensor_id index, const char *to) {
    const tensor_id made = index_after(n, index, to);
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++) {
        tensor_var_info *v = &n->op->vars.data[var_at(st, i)];
        if (v->id == index) *v = (tensor_var_info){renamed(n, v->name, to), v->space, made};
    }
}

static void name_space(naming *n, tensor_stage *st, tensor_space s) {
    const char *first = first_over(n, st, s);
    if (!first || !n->walked[s]) return;
    if (!n->called[s]) n->called[s] = first;
    const char *to = n->called[s];
    if (same_base(first, to) ||
        n->keeps(arena_strndup(n->op->arena, first, base_of(first)), n->user))
        return;
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++)
        if (is_called(n, var_at(st, i), s, first) && is_taken_beside(n, var_at(st, i), to)) return;
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++)
        if (is_called(n, var_at(st, i), s, first))
            rename_index(n, st, n->op->vars.data[var_at(st, i)].id, to);
}

void tensor_name_indices(tensor_op *op, bool (*keeps)(const char *name, void *user), void *user) {
    naming n = {.op = op, .keeps = keeps, .user = user};
    n.walked = ARENA_ARRAY(op->arena, bool, op->spaces.len + 1);
    n.called = ARENA_ARRAY(op->arena, const char *, op->spaces.len + 1);
    for (uint32_t i = 0; i < op->stages.len; i++) note_walked(&n, &op->stages.data[i]);
    for (uint32_t i = 0; i < op->stages.len; i++)
        for (tensor_space s = 0; s < op->spaces.len; s++) name_space(&n, &op->stages.data[i], s);
}
