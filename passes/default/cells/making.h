// A default schedule in the making: what its version is for, what is known of the kernel at hand,
// and what the version supposes by now.
#ifndef GNNC_DEFAULT_MAKING_H
#define GNNC_DEFAULT_MAKING_H

#include "default/ask/limits.h"
#include "base/making.h"

// Scores of edges that are stored.
typedef struct {
    stage_ids kept;     // scores that walks store
    stage_ids before;   // that kernels of their own store, before walks
    bool spares;        // some of them so that another walk need not find them
} default_stored;

// of a map's values, by what another one says, of which so many cells in a thousand are in use
typedef struct {
    tensor_val map, source;
    int64_t density;
    int64_t entries;   // of a row, on average, at least; 0: any number
    int least;         // entries of all rows, at least
} default_dense_windows;

// some lanes of a group; a group; a block's groups
typedef enum { ROW_OF_LANES, ROW_OF_WARP, ROW_OF_BLOCK } row_owner;

typedef struct {   // of the kernel at hand
    bool along;    // all its stages have lanes along the features, as its walks of rows have
    bool sorted;   // rows in the order of their lengths
    bool sums;     // one walk of rows
    bool streams, narrow;   // what entries read lies where they do; rows are narrow, too
    bool dots;              // what reduces a dense axis has lanes along that, not along features
    uint32_t widest;        // bytes of an element along the last index of its stages
    int64_t length;         // instructions for one number along that index
} default_kernel_facts;

typedef struct {       // how long rows are, and where they are cut
    bool cut;          // some are
    int64_t part;      // entries of their parts, where rows are walked; 0: as each kernel has them
    int64_t most;      // entries of all rows, of a version for few of them; 0: any number
    int64_t longest;   // entries of a row of a version of rows that are not long; 0: DEFAULT_HEAVY
    int64_t entries;   // that a row has at most, of versions for short ones; 0: of others
} default_limits;

typedef struct making {
    planner *p;
    schedule *s;
    const plan_class *class;
    plan_rows rows;
    row_owner owner;   // of the rows at hand
    // groups of a block that owns a row; lanes that share one, 0: as its shape says
    int64_t owners;
    VEC(tensor_space) supposed;   // spaces the class was asked about
    VEC(tensor_val) walked;       // maps whose preimages are rows
    default_limits limit;
    default_kernel_facts hand;
    struct {
        uint32_t kernels, walks;
    } count;      // so far; of one or two sums of rows alone
    bool unfit;   // the version is not worth it
    // of a version for few points, or for many; TENSOR_NO_SPACE: there are none yet
    tensor_space points;
    int64_t groups;   // of a block, a row each; 0: groups own none
    bool *fused;      // per stage: of the fused kernel
    bool wide;        // rows that walks gather
    struct {
        VEC(default_dense_windows) windows;   // that walks go through
        bool longer;                          // of long rows they are others
    } dense;
    default_stored stored;
    VEC(tensor_val) outer;   // maps whose preimages have sums of outer products
    tensor_val tiled;        // the map whose values tiles are of; TENSOR_NO_VAL: there are no tiles
} making;

#endif
