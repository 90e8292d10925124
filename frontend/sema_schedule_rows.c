// Stages and indices that an op has once a statement makes them: `rfactor` reduces what rows give,
// datt.rows, of the row v of V; `terms` has what a sum takes at each point, a.sum.terms. Whether a
// schedule has the statement is not asked, as statements come in any order: one about a stage that
// nothing makes has nothing to do.
#include "sema_schedule_names.h"

#include <strings.h>
#include <string.h>

static bool of_all_points(const tensor_stage *st) {
    return st->reducer != TENSOR_NO_REDUCER && !st->nkeys && st->loop == TENSOR_NO_LOOP;
}

const char *schedule_made_of(const schedule_checker *c, const char *path) {
    const tensor_op *op = c->op->op;
    for (uint32_t i = 0; path && op && i < op->stages.len; i++) {
        const char *name = op->stages.data[i].name;
        size_t n = strlen(name);
        if (strncmp(path, name, n)) continue;
        bool rows = of_all_points(&op->stages.data[i]) && !strcmp(path + n, ".rows"),
             terms = op->stages.data[i].reducer != TENSOR_NO_REDUCER && !strcmp(path + n, ".terms");
        if (rows || terms) return name;
    }
    return NULL;
}

tensor_id schedule_row_id(const tensor_op *op, const tensor_stage *st, const char *name) {
    tensor_id rows = tensor_id_of_path(op->ids, arena_printf(op->arena, "%s.rows", st->name));
    return tensor_id_inside(op->ids, rows, name);
}

tensor_space schedule_rows_called(const tensor_op *op, const tensor_stage *st, const char *name) {
    for (tensor_val v = 0; of_all_points(st) && v < op->nparams; v++) {
        const tensor_val_info *map = &op->vals.data[v];
        if (map->role != VAL_MAP || map->rank != 1 ||
            strcasecmp(op->spaces.data[map->into].name, name))
            continue;
        for (uint32_t i = 0; i < st->nbound; i++)
            if (op->vars.data[st->bound[i]].space == map->axes[0]) return map->into;
    }
    return TENSOR_NO_SPACE;
}
