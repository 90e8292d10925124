// Whether a map is what it declares, and how it is told that it is not.
#ifndef GNNRT_VALIDATE_H
#define GNNRT_VALIDATE_H

#include "prepare.h"

typedef struct {
    const char *name, *into;
    uint32_t facts, rank;
    int64_t axes[GNN_MAX_RANK];   // sizes, for positions in messages
    rt_map_view map;
} rt_checked;
gnn_status rt_check_map(gnn_context *c, const rt_checked *m);
gnn_status rt_check_sorted_by(gnn_context *c, const rt_checked *m, const char *by_name,
                              const rt_map_view *by);
gnn_status rt_check_offsets(gnn_context *c, const rt_checked *m, const rt_ints *offsets);   // alone
// Beside the index.
gnn_status rt_check_agreement(gnn_context *c, const rt_checked *m, const rt_ints *offsets);
// What each of them tells: entry e is v.
gnn_status rt_tell_outside(gnn_context *c, const rt_checked *m, int64_t e, int64_t v);
gnn_status rt_tell_unsorted(gnn_context *c, const rt_checked *m, int64_t e, int64_t v,
                            int64_t before, const char *by);
gnn_status rt_tell_repeated(gnn_context *c, const rt_checked *m, int64_t e, int64_t v,
                            int64_t earlier);
gnn_status rt_tell_falling(gnn_context *c, const rt_checked *m, int64_t v, int64_t at,
                           int64_t before);
gnn_status rt_tell_last(gnn_context *c, const rt_checked *m, int64_t v, int64_t at);
gnn_status rt_tell_disagreement(gnn_context *c, const rt_checked *m, int64_t v, int64_t said,
                                int64_t counted);
gnn_status rt_tell_unfit(gnn_context *c, const char *name, int64_t e, int64_t v);   // in 32 bits

#endif
