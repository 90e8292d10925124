// Inside the default schedule: default/default.c orders its parts, default/stage.c deals out the
// stages of a kernel, default/matrix.c contractions on tensor cores, default/rows.c gives
// long rows blocks of their own and guards what is supposed, default/fused.c makes one kernel of
// scores and their sums, default/tiled.c gives groups of lanes tiles of long rows,
// default/group.c those of four warps, default/outer.c sums of outer products,
// default/across.c reductions of many points to few results,
// default/steps.c says how many steps are written out, default/types.c what is held in 16 bits,
// default/cells.c what a stage does not inherit.
#ifndef GNNC_PLAN_DEFAULT_H
#define GNNC_PLAN_DEFAULT_H

#include "base/making.h"
#include "default/cells.h"
#include "default/limits.h"

// of a map's values, by what another one says, of which so many cells in a thousand are in use
typedef struct {
    tensor_val map, source;
    int64_t density;
    int64_t entries;   // of a row, on average, at least; 0: any number
    int least;         // entries of all rows, at least
} default_dense_windows;
enum { DEFAULT_WINDOW = 16 };   // rows of the windows whose density is asked for

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
    int most;          // entries of a version for few of them
    int64_t longest;   // entries of a row of a version of rows that are not long; 0: DEFAULT_HEAVY
    int64_t entries;   // that a row has at most, of versions for short ones; 0: of others
} default_limits;

struct making {
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
    struct {
        VEC(default_dense_windows) windows;   // that walks go through
        bool longer;                          // of long rows they are others
    } dense;
    struct {
        stage_ids kept;   // scores that walks store
        bool spares;      // some of them so that another walk need not find them
    } stored;
    VEC(tensor_val) outer;   // maps whose preimages have sums of outer products
    tensor_val tiled;        // the map whose values tiles are of; TENSOR_NO_VAL: there are no tiles
};

// " few points", behind the name of a class or schedule
const char *default_rows_text(plan_rows rows);
// as the schedule that is made has it
index_cut default_cut_of(making *m, const tensor_stage *st, tensor_var v, bool bound);
int64_t default_heavy_groups(const planner *p);           // of a block that has one long row
int64_t default_groups(const planner *p);                 // of a block: rows it owns
int64_t default_extent(const planner *p, tensor_var v);   // 0: not known
// no reduction, or of terms in their order
bool default_one_by_one(const planner *p, const tensor_stage *st);
bool default_reduces_dense(const planner *p, const tensor_stage *st);
// Lanes and vectors run along the innermost left-hand axis.
bool default_has_features(const planner *p, const tensor_stage *st, const tensor_var *left,
                          uint32_t n, bool deepest);
// or others have them
bool default_lanes_along(const making *m, const tensor_stage *st, const tensor_var *left,
                         uint32_t n, bool deepest);
// of dot products that share a kernel (default/dots.c)
void default_agree_on_heads(making *m, const stage_group *g, uint32_t depth);
// On a GPU: the lanes that are left for rows; spare: some should be.
int64_t default_stage(making *m, const tensor_stage *st, bool deepest, bool spare);
void default_stages(making *m, const stage_group *g);
void default_points(making *m, const stage_group *g);   // a thread each, over all indices as one
void default_suppose_long(making *m);                   // some row of what is walked is long
void default_suppose(making *m, tensor_space s);   // the version is for the extents of its class
// The type of 16 bits that an expression's values have; DT_COUNT: they have none.
ir_dtype default_narrow_type(const tensor_op *op, tensor_expr e);
// instructions of the stages that deep, for each number along their last index
int64_t default_length(const planner *p, const stage_group *g, uint32_t depth);
// all cells of a kernel of these stages, as `rows` says
void default_kernel(making *m, const stage_group *g);
bool default_contracts(const making *m, const stage_group *g);   // default_matrix would take it
// A kernel of a contraction on tensor cores, as `mma` says or of numbers of 16 bits; false: it is
// none, and nothing is filled.
bool default_matrix(making *m, const stage_group *g);

// One axis, dealt out (default/stage.c).
typedef struct {
    int64_t vector, lanes, registers;
} axis_share;
int64_t default_power_above(int64_t n);
bool default_few(const planner *p, tensor_var v, tensor_var of);   // fewer than the points of `of`
// so that a thread has registers for what is computed at once
void default_shorten(const making *m, axis_share *s, int64_t lanes);
axis_share default_share_axis(making *m, const tensor_stage *st, tensor_var v, int64_t lanes);
void default_fill_share(making *m, const tensor_stage *st, tensor_var v, axis_share s);
// of all points
bool default_sums_columns(const planner *p, const tensor_stage *st, const tensor_var *left,
                          uint32_t n);
// its left indices as those
void default_along(making *m, const tensor_stage *from, const tensor_stage *st);

// The op with sums over all points that walks of rows take along, as the schedule says then
// (default/rfactor.c).
tensor_op *default_rfactor(planner *p, schedule *s);
// Scores of edges that walks store, of the op as it came (default/kept.c). spares: where not NULL,
// those too that spare another walk all that it reduces at an edge; whether there are any.
stage_ids default_kept(planner *p, bool *spares);
// The map by which a stage sums rows of all its points; TENSOR_NO_VAL: none.
tensor_val default_walked_by(const planner *p, uint32_t stage);
// Whether what is read has each index of the stage but the first.
bool default_reads_all_left(const planner *p, const tensor_stage *st, const tensor_node *load);
// The map whose preimages the kernel's rows walk, TENSOR_NO_VAL: none the runtime counts.
tensor_val default_row_map(const planner *p, const stage_group *g);
// likewise, whatever else is reduced at each of them
tensor_val default_rows_map(const planner *p, const stage_group *g);
bool default_streams(making *m, const stage_group *g);   // its entries read where they lie alone
// exponentials are weights of results of 16 bits: the machine's own do
bool default_approximates(const making *m);
bool default_narrow(making *m, const stage_group *g);   // rows of less than a sector
// of an element along its last index
int64_t default_entry_bytes(const making *m, const tensor_stage *st);
// of an element of what is read along it
int64_t default_bytes_along(const making *m, const tensor_stage *st, tensor_var v);
// that a point of the first index has at most; 0: not known
int64_t default_row_bytes(const making *m, const tensor_stage *st);
void default_guards(making *m);
// short rows, or few, and what entries take from them in one kernel; false: there is nothing such
bool default_follow_rows(making *m);
// rows of any length and what entries take from them in one kernel a class, where there are such
void default_follow(making *m);
bool default_fuse(making *m);   // false: there is nothing to fuse
bool default_walk(making *m);   // false: no sums of rows need each other, or extents are not known
void default_order_by_degree(making *m, const tensor_stage *st, tensor_var row, tensor_val map);
// What it reduces, by so many lanes; all: by no fewer.
void default_dot_share(making *m, const tensor_stage *st, int64_t lanes, bool all);
// Of a stage whose points reduce a dense axis: its cells but those of the points.
// What the default is where it was refused (default/retreat.c): stages that begin kernels; a kernel
// that is made otherwise, false: it is none such.
void default_apart(arena *a, const plan_retreat *r, schedule *s);
bool default_retreats(making *m, const stage_group *g);
// one such stage, and what is computed from it
bool default_is_dot(const planner *p, const stage_group *g);
typedef struct {
    int64_t lanes, heads;   // that reduce; that have heads of their own
} dot_share;
// Steps that are written out: rounds of a walk of rows, which several reductions of one walk share;
// points.
// rounds of its loop that are written out
int64_t default_unroll(making *m, const tensor_stage *st, int64_t most, int64_t longest);
void default_rounds(making *m, const tensor_stage *st, int64_t lanes);
// Rows of at most so many entries have no rounds.
void default_whole(making *m, const tensor_stage *st, tensor_var v, const int64_t *sizes,
                   uint32_t n);
void default_level_rounds(making *m, const stage_group *g);
// what a walk by warps, or loads by maps, leave room for
void default_room(making *m, const tensor_stage *st, int64_t threads);
// What 16-bit points of a tile, so many steps of them written out, leave room for.
void default_tile_room(making *m, const tensor_stage *dot, const tensor_var *left, uint32_t n,
                       int64_t steps);
void default_note_points(making *m, tensor_var point);   // those the version is for
// Leaves m->unfit behind where a version for few points, or for many, has other kernels, or none.
void default_steps(making *m, const stage_group *g, const tensor_stage *st, const tensor_var *left,
                   uint32_t n);
dot_share default_dot(making *m, const tensor_stage *st, const tensor_var *left, uint32_t n);
// A kernel of long rows of such points, by the first of the maps they may be of, the second …;
// false: it is no such kernel.
bool default_tile(making *m, const stage_group *g, uint32_t number);
void default_guard_tiled(making *m);
void default_extremes(making *m, const stage_group *g);   // of a kernel, of 16 bits: in their type

#endif
