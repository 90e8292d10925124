// The sizes of the structs that examples/torch/mean.py spells out.
#include "mean.h"

#include <stdio.h>

int main(void) {
    printf("%zu %zu %zu %zu\n", sizeof(gnn_context_options), sizeof(gnn_map), sizeof(gnn_tensor),
           sizeof(struct neighbour_mean_f32_args));
    return 0;
}
