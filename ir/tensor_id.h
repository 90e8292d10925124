// Identities: which stage, value or index one is, whatever it is called in the source and however
// often a pass copies it. Copies of an op share one table of them that only grows, so that an
// identity means the same in all.
//
// A stage and a value have the identity of their path: y.sum lies inside y. An index has one of its
// own; what a pass makes of an index, such as a variable for another kernel, has the identity of
// that index.
#ifndef GNNC_TENSOR_ID_H
#define GNNC_TENSOR_ID_H

#include "support/support.h"

typedef uint32_t tensor_id;
#define TENSOR_ALL 0   // the op itself: every path lies inside it

typedef struct tensor_ids tensor_ids;
tensor_ids *tensor_ids_new(arena *a);
// NULL: TENSOR_ALL; made at first use
tensor_id tensor_id_of_path(tensor_ids *ids, const char *path);
tensor_id tensor_id_inside(tensor_ids *ids, tensor_id outer, const char *name);   // likewise
tensor_id tensor_id_of_index(tensor_ids *ids, const char *name);                  // a new one
tensor_id tensor_id_outer(const tensor_ids *ids, tensor_id id);   // what it lies inside
// its last part, as the source spells it
const char *tensor_id_name(const tensor_ids *ids, tensor_id id);
const char *tensor_id_text(arena *a, const tensor_ids *ids, tensor_id id);   // its path
bool tensor_id_covers(const tensor_ids *ids, tensor_id outer,
                      tensor_id inner);                      // it is that one, or lies inside it
bool tensor_id_known(const tensor_ids *ids, tensor_id id);   // that there is such a one
bool tensor_id_is_path(const tensor_ids *ids, tensor_id id, const char *path);   // that of this one
uint32_t tensor_id_depth(const tensor_ids *ids, tensor_id id);                   // TENSOR_ALL: 0

#endif
