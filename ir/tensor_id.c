// See tensor_id.h. A tree of names, and a hash table of those that are asked for by name.
#include "tensor_id.h"

#include <string.h>

typedef struct {
    tensor_id outer;
    uint32_t depth;
    const char *name;
} identity;

struct tensor_ids {
    arena *arena;
    VEC(identity) all;   // [0]: the op itself
    uint32_t *slots;     // open addressing, of paths; 0: empty
    uint32_t nslots, paths;
};

tensor_ids *tensor_ids_new(arena *a) {
    tensor_ids *ids = ARENA_NEW(a, tensor_ids);
    *ids = (tensor_ids){.arena = a, .nslots = 64};
    ids->slots = ARENA_ARRAY(a, uint32_t, ids->nslots);
    VEC_PUSH(a, &ids->all, ((identity){.name = ""}));
    return ids;
}

static uint64_t hash(tensor_id outer, const char *name, size_t n) {
    uint64_t h = UINT64_C(14695981039346656037) ^ outer;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
    return h ^ (h >> 32);
}

static uint32_t *slot_of(const tensor_ids *ids, tensor_id outer, const char *name, size_t n) {
    uint32_t i = (uint32_t)hash(outer, name, n) & (ids->nslots - 1);
    for (; ids->slots[i]; i = (i + 1) & (ids->nslots - 1)) {
        const identity *x = &ids->all.data[ids->slots[i]];
        if (x->outer == outer && !strncmp(x->name, name, n) && !x->name[n]) break;
    }
    return &ids->slots[i];
}

static void grow(tensor_ids *ids) {
    const uint32_t *old = ids->slots, n = ids->nslots;
    ids->nslots = 2 * n;
    ids->slots = ARENA_ARRAY(ids->arena, uint32_t, ids->nslots);
    for (uint32_t i = 0; i < n; i++) {
        const identity *x = &ids->all.data[old[i]];
        if (old[i]) *slot_of(ids, x->outer, x->name, strlen(x->name)) = old[i];
    }
}

static tensor_id add(tensor_ids *ids, tensor_id outer, const char *name, size_t n) {
    identity x = {outer, ids->all.data[outer].depth + 1, arena_strndup(ids->arena, name, n)};
    VEC_PUSH(ids->arena, &ids->all, x);
    return ids->all.len - 1;
}

static tensor_id inside(tensor_ids *ids, tensor_id outer, const char *name, size_t n) {
    uint32_t *slot = slot_of(ids, outer, name, n);
    if (*slot) return *slot;
    const tensor_id made = *slot = add(ids, outer, name, n);
    if (++ids->paths * 2 > ids->nslots) grow(ids);
    return made;
}

tensor_id tensor_id_inside(tensor_ids *ids, tensor_id outer, const char *name) {
    return inside(ids, outer, name, strlen(name));
}

tensor_id tensor_id_of_path(tensor_ids *ids, const char *path) {
    tensor_id id = TENSOR_ALL;
    for (size_t n; path && *path; path += n + (path[n] == '.')) {
        n = strcspn(path, ".");
        id = inside(ids, id, path, n);
    }
    return id;
}

tensor_id tensor_id_of_index(tensor_ids *ids, const char *name) {
    return add(ids, TENSOR_ALL, name, strlen(name));
}

bool tensor_id_known(const tensor_ids *ids, tensor_id id) { return id < ids->all.len; }

tensor_id tensor_id_outer(const tensor_ids *ids, tensor_id id) { return ids->all.data[id].outer; }

const char *tensor_id_name(const tensor_ids *ids, tensor_id id) { return ids->all.data[id].name; }

uint32_t tensor_id_depth(const tensor_ids *ids, tensor_id id) { return ids->all.data[id].depth; }

// Paths are as deep as somebody wrote them: no recursion.
const char *tensor_id_text(arena *a, const tensor_ids *ids, tensor_id id) {
    size_t n = 0;
    for (tensor_id i = id; i; i = ids->all.data[i].outer) n += strlen(ids->all.data[i].name) + 1;
    char *text = arena_alloc(a, n + 1), *at = text + (n ? n - 1 : 0);
    *at = 0;
    for (tensor_id i = id; i; i = ids->all.data[i].outer) {
        size_t own = strlen(ids->all.data[i].name);
        memcpy(at -= own, ids->all.data[i].name, own);
        if (at > text) *--at = '.';
    }
    return text;
}

bool tensor_id_is_path(const tensor_ids *ids, tensor_id id, const char *path) {
    size_t n = strlen(path);
    for (; id; id = ids->all.data[id].outer) {
        const identity *x = &ids->all.data[id];
        size_t own = strlen(x->name);
        if (own > n || memcmp(path + n - own, x->name, own) != 0) return false;
        n -= own;
        if (x->outer && (!n || path[--n] != '.')) return false;
    }
    return !n;
}

bool tensor_id_covers(const tensor_ids *ids, tensor_id outer, tensor_id inner) {
    while (ids->all.data[inner].depth > ids->all.data[outer].depth)
        inner = ids->all.data[inner].outer;
    return inner == outer;
}
