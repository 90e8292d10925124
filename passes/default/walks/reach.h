// What a stage needs of a walk's sums, through whatever stands between (reach.c).
#ifndef GNNC_DEFAULT_REACH_H
#define GNNC_DEFAULT_REACH_H

#include "default/walks/walks.h"

typedef struct {
    bool any;   // it needs some sum of the walk
    bool own;   // all that it needs belongs to the row at hand
} walk_need;
walk_need default_need(const walks *w, const walk *of, uint32_t stage);
// Sums of the walk need some of the other's, whatever stands between.
bool default_comes_after(const walks *w, const walk *of, const walk *other);

uint32_t default_writer_of(const walks *w, tensor_val v);   // UINT32_MAX: no stage
bool default_in_walk(const walk *of, uint32_t stage);       // it is a sum of the walk

typedef struct {
    const walks *w;
    const walk *of;
    const tensor_stage *reader;
    tensor_val val;
    bool own, other;   // it is read at the row that is walked; elsewhere
} row_read;
void default_read_rows(row_read *r, uint32_t reader);
// What a walk's kernel finds of its rows: read by a stage of that kernel at the row, or by one that
// has to come later.
bool default_reads_early(const walks *w, uint32_t stage, const walk *of, bool elsewhere);

#endif
