// Names of indices, of which an op's meaning takes none: one that walks a space is called alike in
// all stages, so that a plan which fuses what goes by one name does so however it was written.
#ifndef GNNC_TENSOR_NAMES_H
#define GNNC_TENSOR_NAMES_H

#include "tensor.h"

// keeps: whether indices of that name keep it, since somebody refers to it.
void tensor_name_indices(tensor_op *op, bool (*keeps)(const char *name, void *user), void *user);

#endif
