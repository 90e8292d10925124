// Places of a map's values, and of its entries, in windows of rows.
#include "kernels/kernels.h"
#include "base/base.h"

tensor_val plan_window_places(planner *p, tensor_val map, tensor_val other, int64_t extent,
                              tensor_val *of_entries) {
    const tensor_val_info i = p->op->vals.data[map];
    tensor_val args[] = {map, other};
    const char *name = arena_printf(p->arena, "%s.places%lld", i.name, (long long)extent);
    tensor_space places = plan_space(p, name, loop_places(p->op, i.into, extent));
    plan_narrow_product(p, &places, 1);
    tensor_val made = plan_prepare_by(p, PREPARED_WINDOW_PLACES, args, 2, extent, places, i.into);
    args[1] = made;
    *of_entries = plan_prepare_by(p, PREPARED_COMPOSE, args, 2, 0, places, i.axes[0]);
    return made;
}
