// What passes found out of a stage, or decided: bits of its marks, by the words of its text.
#ifndef GNNC_TENSOR_MARK_H
#define GNNC_TENSOR_MARK_H

typedef enum {
#define TENSOR_MARK(id, text, means) TENSOR_##id,
#include "tensor_mark.def"
#undef TENSOR_MARK
    TENSOR_MARK_COUNT
} tensor_mark;
const char *tensor_mark_text(tensor_mark m);

#endif
