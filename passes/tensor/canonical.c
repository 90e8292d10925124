// The canonical form of an op, from which the default starts, and schedules that say
// `canonicalize`. Sums inside sums are one. Costly factors are stages of their own. Keys that no
// map leads to become those of maps. The key that leaves the fewest points comes first.
#include "passes.h"
#include "tensor/tensor.h"
#include "base/base.h"
#include "tensor_factor.h"
#include "tensor_nested.h"

const tensor_op *pass_canonical(arena *a, diag_set *ds, const tensor_op *op) {
    version_facts facts = {0};
    const machine any_machine = {0};   // indices are alike on all
    schedule none = {.name = "", .op = op, .ids = op->ids, .canonical = true};
    planner p = plan_new(a, ds, op, &none, &any_machine, &facts);
    bool any = none.canonicalized;   // no two indices of a stage have one name
    any |= plan_pairs(&p);
    any |= tensor_merge_sums(p.op);
    any |= tensor_split_factors(p.op);
    any |= plan_chosen(&p);
    any |= plan_solved(&p);
    any |= plan_entries(&p);
    any |= plan_selective(&p);
    return any ? p.op : op;
}
