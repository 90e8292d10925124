// A choice drawn: a tree of conditions on the op's maps and sizes, whose leaves are the case's
// schedule and the default.
#include "test.h"

#include <string.h>

enum { DEEPEST = 3 };

static const char *number_of(test_maker *m) {
    static const char *const of_maps[] = {"max(%s)", "min(%s)", "avg(%s)", "std(%s)",
                                          "quantile(%s, 0.9)"};
    const tensor_op *op = m->op->op;
    VEC(const char *) all = {0};
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role == VAL_MAP && op->vals.data[v].rank == 1)
            for (uint32_t k = 0; k < sizeof of_maps / sizeof *of_maps; k++) {
                const char *open = of_maps[k], *hole = strchr(open, '%');
                VEC_PUSH(m->arena, &all,
                         arena_printf(m->arena, "%.*s%s%s", (int)(hole - open), open,
                                      op->vals.data[v].name, hole + 2));
            }
    for (tensor_space s = 0; s < op->spaces.len; s++)
        if (op->spaces.data[s].kind == SPACE_FREE)
            VEC_PUSH(m->arena, &all, op->spaces.data[s].name);
    VEC_PUSH(m->arena, &all, m->host ? "l2_bytes" : "sms");
    return all.data[test_draw(m->rng, all.len)];
}

static const char *condition(test_maker *m) {
    static const char *const compared[] = {"<", "<=", ">", ">=", "==", "!="};
    static const int bounds[] = {0, 1, 2, 3, 4, 8, 20};
    const char *text = arena_printf(m->arena, "%s %s %d", number_of(m), TEST_PICK(m->rng, compared),
                                    TEST_PICK(m->rng, bounds));
    if (test_chance(m->rng, 20)) text = arena_printf(m->arena, "!(%s)", text);
    if (!test_chance(m->rng, 25)) return text;
    return arena_printf(m->arena, "(%s %s %s > 2 * %s)", text,
                        test_chance(m->rng, 50) ? "&&" : "||", number_of(m), number_of(m));
}

static const char *tree(test_maker *m, uint32_t depth) {
    if (depth == DEEPEST || (depth && test_chance(m->rng, 40)))
        return test_chance(m->rng, 60) ? TEST_SCHEDULE : "default";
    const char *holds = condition(m), *yes = tree(m, depth + 1), *no = tree(m, depth + 1);
    return arena_printf(m->arena, strchr(yes, '?') ? "%s ? (%s) : %s" : "%s ? %s : %s", holds, yes,
                        no);
}

const char *test_choice_draw(test_maker *m) {
    const char *when = test_chance(m->rng, 20) ? arena_printf(m->arena, " when (%s)", condition(m))
                                               : "";
    return arena_printf(m->arena, "%s = %s", when, tree(m, 0));
}
