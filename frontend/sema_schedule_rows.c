// Stages and indices that an op has once a statement makes them: `rfactor` reduces what rows give,
// datt.rows, of the row v of V, and `hoist` finds there what points have in common; `terms` has
// what a sum takes at each point, a.sum.terms; `addends` what it adds, h.sum.addend_1;
// `flatten` the product of two matrices that it is, h.sum.flat; `scalarize` each number of a
// point, a.at_0, and what is stored of it, a.out_0.
// Whether a schedule has the statement is not asked, as statements come in any order: one about a
// stage that nothing makes has nothing to do.
#include "sema_schedule_names.h"

#include <strings.h>
#include <string.h>

// Words of what statements make of a stage; whether of reductions alone.
static const struct {
    const char *word;
    bool reduced;
} made[] = {{".rows", false}, {".terms", true}, {".addend_", true},
            {".flat", true},  {".at_", false},  {".out_", false}};

// Such words, one behind the other, and numbers behind them.
static bool is_made(const char *rest, bool reduces) {
    bool any = false;
    for (uint32_t i = 0; i < sizeof made / sizeof *made; i++) {
        const size_t n = strlen(made[i].word);
        if (strncmp(rest, made[i].word, n) || (made[i].reduced && !reduces)) continue;
        const size_t digits = made[i].word[n - 1] == '_' ? strspn(rest + n, "0123456789") : 0;
        const char *next = rest + n + digits;
        any |= (digits || made[i].word[n - 1] != '_') && (!*next || is_made(next, reduces));
    }
    return any;
}

const char *schedule_made_of(const schedule_checker *c, const char *path) {
    const tensor_op *op = c->op->op;
    for (uint32_t i = 0; path && op && i < op->stages.len; i++) {
        const char *name = op->stages.data[i].name;
        size_t n = strlen(name);
        if (!strncmp(path, name, n) &&
            is_made(path + n, op->stages.data[i].reducer != TENSOR_NO_REDUCER))
            return name;
    }
    return NULL;
}

static bool ends_in(const char *path, const char *word) {
    const size_t n = path ? strlen(path) : 0, of = strlen(word);
    return n > of && !strcmp(path + n - of, word);
}

static bool is_of_rows(const char *path) { return ends_in(path, ".rows"); }

static const char *source_name(const tensor_op *op, tensor_var v) {
    return tensor_id_name(op->ids, op->vars.data[v].id);
}

// The names of two or more of the indices, one after the other, from the first of them on.
static bool is_joined(const tensor_op *op, const tensor_var *of, uint32_t n, const char *name,
                      uint32_t used) {
    for (uint32_t i = 0; i < n; i++) {
        const char *own = source_name(op, of[i]);
        const size_t len = strlen(own);
        if (strncmp(name, own, len) != 0) continue;
        if (!name[len] && used) return true;
        if (name[len] == '_' && is_joined(op, of + i + 1, n - i - 1, name + len + 1, used + 1))
            return true;
    }
    return false;
}

// An index of a flat product stands for several, as `b_q` does: its space is that of the first.
static tensor_space flat_called(const tensor_op *op, const tensor_stage *st, const char *name) {
    const bool bound = is_joined(op, st->bound, st->nbound, name, 0);
    const tensor_var *of = bound ? st->bound : st->left;
    if (!bound && !is_joined(op, st->left, st->nleft, name, 0)) return TENSOR_NO_SPACE;
    while (strncmp(name, source_name(op, *of), strlen(source_name(op, *of))) != 0) of++;
    return op->vars.data[*of].space;
}

tensor_id schedule_made_id(const tensor_op *op, const tensor_stage *st, const char *path,
                           const char *name) {
    const char *of = is_of_rows(path) || ends_in(path, ".flat")
                         ? path
                         : arena_printf(op->arena, "%s.rows", st->name);
    return tensor_id_inside(op->ids, tensor_id_of_path(op->ids, of), name);
}

// Of a sum of all points those that `rfactor` makes; of a path to rows those of `hoist`, too, whose
// points stand on the left.
tensor_space schedule_made_index(const tensor_op *op, const tensor_stage *st, const char *path,
                                 const char *name) {
    const bool sums = st->reducer != TENSOR_NO_REDUCER && !st->nkeys;
    if (ends_in(path, ".flat")) return flat_called(op, st, name);
    if (st->loop != TENSOR_NO_LOOP || (!sums && !is_of_rows(path))) return TENSOR_NO_SPACE;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *map = &op->vals.data[v];
        if (map->role != VAL_MAP || map->rank != 1 ||
            strcasecmp(op->spaces.data[map->into].name, name))
            continue;
        for (uint32_t i = 0; i < st->nbound + (is_of_rows(path) ? st->nleft : 0); i++) {
            const tensor_var x = i < st->nbound ? st->bound[i] : st->left[i - st->nbound];
            if (op->vars.data[x].space == map->axes[0]) return map->into;
        }
    }
    return TENSOR_NO_SPACE;
}
