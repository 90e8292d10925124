// Before there are schedules, as one of the file finds the stages and indices that it names: keys
// that no map leads to become those of maps, the key that leaves the fewest points comes first, and
// costly factors are stages of their own.
#include "passes.h"
#include "tensor/tensor.h"
#include "base/base.h"
#include "tensor_factor.h"
#include "tensor_nested.h"

const tensor_op *pass_walkable(arena *a, diag_set *ds, const tensor_op *op) {
    version_facts facts = {0};
    const machine any_machine = {0};   // indices are alike on all
    const schedule none = {.name = "", .op = op, .ids = op->ids};
    planner p = plan_new(a, ds, op, (schedule *)(uintptr_t)&none, &any_machine, &facts);
    bool any = plan_pairs(&p);
    any |= tensor_merge_sums(p.op);
    any |= tensor_split_factors(p.op);
    any |= plan_chosen(&p);
    any |= plan_solved(&p);
    any |= plan_entries(&p);
    any |= plan_selective(&p);
    return any ? p.op : op;
}
