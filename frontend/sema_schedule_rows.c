// Stages and indices that an op has once a statement makes them: `rfactor` reduces what rows give,
// datt.rows, of the row v of V, and `hoist` finds there what points have in common; `terms` has
// what a sum takes at each point, a.sum.terms; `addends` what it adds, h.sum.addend_1.
// Whether a schedule has the statement is not asked, as statements come in any order: one about a
// stage that nothing makes has nothing to do.
#include "sema_schedule_names.h"

#include <strings.h>
#include <string.h>

// Words of what statements make of a stage; whether of reductions alone.
static const struct {
    const char *word;
    bool reduced;
} made[] = {{".rows", false}, {".terms", true}, {".addend_", true}};

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

static bool is_of_rows(const char *path) {
    const size_t n = path ? strlen(path) : 0, word = strlen(made[0].word);
    return n > word && !strcmp(path + n - word, made[0].word);
}

tensor_id schedule_row_id(const tensor_op *op, const tensor_stage *st, const char *path,
                          const char *name) {
    const char *of = is_of_rows(path) ? path
                                      : arena_printf(op->arena, "%s%s", st->name, made[0].word);
    return tensor_id_inside(op->ids, tensor_id_of_path(op->ids, of), name);
}

// Of a sum of all points those that `rfactor` makes; of a path to rows those of `hoist`, too, whose
// points stand on the left.
tensor_space schedule_rows_called(const tensor_op *op, const tensor_stage *st, const char *path,
                                  const char *name) {
    const bool sums = st->reducer != TENSOR_NO_REDUCER && !st->nkeys;
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
