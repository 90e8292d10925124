// Inside the default schedule: default/default.c orders its parts, default/stage.c deals out the stages
// of a kernel, default/matrix.c contractions on tensor cores, default/rows.c gives
// long rows blocks of their own and guards what is supposed, default/fused.c makes one kernel of scores
// and their sums, default/tiled.c gives groups of lanes tiles of long rows,
// default/group.c those of four warps, default/outer.c sums of outer products,
// default/across.c reductions of many points to few results,
// default/steps.c says how many steps are written out, default/types.c what is held in 16 bits,
// default/cells.c what a stage does not inherit.
#ifndef GNNC_PLAN_DEFAULT_H
#define GNNC_PLAN_DEFAULT_H

#include "base/planner.h"
#include "default/cells.h"

// Measured on an H200 over skewed, dense and batched graphs (bench/RECORD.md).
enum {
    DEFAULT_HEAVY = 256,      // entries from which on a row is long
    DEFAULT_HEAVIEST = 2048,  // and longer than most that are
    DEFAULT_PART = 256,       // of a row that is cut
    DEFAULT_NARROW_PART = 64, // of one whose entries stream and are narrow: nothing else waits as long
    DEFAULT_NARROW_ROUND = 16,   // bytes of such an entry from which on more lanes share a row, instead of more steps
    DEFAULT_STANDS = 32,      // of a row that is short: such rows stay side by side
    DEFAULT_SHORTEST = 4,     // entries of a row that has no rounds
    DEFAULT_SHORT = 32,       // of a row that a thread goes through alone, or two together where it is walked three times
    DEFAULT_BLOCKS = 4096,    // of a few warps, that a machine has in two rounds
    DEFAULT_THIN = 8,         // entries of a row on average that warps would idle over
    DEFAULT_BRIEF = 48,       // that lanes of several narrow rows would wait for
    DEFAULT_THIN_PART = 16,   // of a row that is cut, then
    DEFAULT_FEW = 1 << 22,    // entries that a machine's threads have at once, a few dozen each
    DEFAULT_FEWER = 1 << 20,  // or of which a warp has those of a row side by side
    DEFAULT_WALKED_THIN = 16,         // entries a row on average: of more, groups of half as many lanes are too few
    DEFAULT_WALKED_SHORT = 1 << 19,   // entries of rows that are walked whole, since none is long
    DEFAULT_WALKED_FEWER = 1 << 18,   // or where some are, of which a group goes through few
    DEFAULT_WALKED_FEW = 1 << 19,     // of which parts of few suffice
    DEFAULT_FEWER_EACH = 32,          // entries of a row that a group walks alone, then
    DEFAULT_FEW_EACH = 64,            // of up to DEFAULT_FEW entries in all
    DEFAULT_THIN_EACH = 128,          // where most rows have few
    DEFAULT_MANY_EACH = 256,          // or of more in all
    DEFAULT_EVEN_SHARE = 1 << 13,   // entries for each of the longest row, of which whole rows are as quick as parts of them
    DEFAULT_EVEN_SPARE = 1 << 18,   // or are where no row has more than a few dozen
    DEFAULT_PARTS = 8192,     // of a row, that a block of 512 threads adds up in the end
    DEFAULT_FEW_PART = 128,   // of a row that is cut, then, where a warp has one; 32 or more where it has several
    DEFAULT_SHARED_PART = 64, // where lanes that gather share a row
    DEFAULT_AT_ONCE_HEAVY = 33,   // entries from which on a row has a block, where all begin at once
    DEFAULT_AT_ONCE_FEW = 512,    // blocks that a machine has at once
    DEFAULT_AT_ONCE = 16,     // entries for each lane that shares a row, of one that a group goes through in a few rounds
    DEFAULT_POINTS = 1 << 15, // that each find a thread of their own
    DEFAULT_MANY_POINTS = 1 << 22,   // from which on threads take turns
    DEFAULT_EACH = 8,                // of them a value of each map has on average, then
    DEFAULT_TURNS = 4,               // of a block, then
    DEFAULT_SOME_POINTS = 1 << 18,   // that blocks of operations of four warps share in halves
    DEFAULT_WIDEST = 256,            // rows and columns of a matrix that blocks hold
    DEFAULT_OUTER = 16,              // outer products of a sum on average, of those that tensor cores add up: what an operation has
    DEFAULT_OUTER_FEW = 1 << 17,     // in all, of which parts are small
    DEFAULT_OUTER_MANY = 1 << 21,    // or large
    DEFAULT_ROOM = 1536,      // threads that points of 16 bits, and the rows of warps, leave room for: 40 registers each
    DEFAULT_STREAM_ROOM = 1024,  // that rows of small entries do
    DEFAULT_LONGEST = 1536,   // instructions of a step: what it computes for all numbers that a thread holds of a row fits its registers
    DEFAULT_LONG = 740,       // of several steps side by side; of numbers of 16 bits, two of which a register has, twice as many
    DEFAULT_HELD = 32            // points of several axes a thread holds
};

typedef struct {   // of a map's values, by what another one says, of which so many cells in a thousand are in use
    tensor_val map, source;
    int64_t density;
    int64_t entries;   // of a row, on average, at least; 0: any number
    int least;         // entries of all rows, at least
} default_dense_windows;
enum { DEFAULT_WINDOW = 16 };   // rows of the windows whose density is asked for

typedef enum { ROW_OF_LANES, ROW_OF_WARP, ROW_OF_BLOCK } row_owner;   // some lanes of a group; a group; a block's groups

struct making {
    planner *p;
    schedule *s;
    const plan_class *class;
    plan_rows rows;
    row_owner owner;              // of the rows at hand
    int64_t owners;               // groups of a block that owns a row; lanes that share one, 0: as its shape says
    VEC(tensor_space) supposed;   // spaces the class was asked about
    VEC(tensor_val) walked;       // maps whose preimages are rows
    bool cut;                     // some rows are cut
    int64_t part;                 // entries of their parts, where rows are walked; 0: as each kernel has them
    int most;                     // entries of a version for few of them
    int64_t longest;              // entries of a row of a version of rows that are not long; 0: DEFAULT_HEAVY
    bool along;                   // at hand: all stages of a kernel have lanes along the features, as its walks of rows have
    int64_t entries;              // that a row has at most, of versions for short ones; 0: of others
    bool unfit;                   // the version is not worth it
    tensor_space points;          // of a version for few points, or for many; TENSOR_NO_SPACE: there are none yet
    uint32_t kernels, walks;      // so far; of one or two sums of rows alone
    bool sorted;                  // at hand: rows in the order of their lengths
    bool sums;                    // at hand: one walk of rows
    bool streams, narrow;         // at hand: what entries read lies where they do; rows are narrow, too
    bool dots;                    // at hand: what reduces a dense axis has lanes along that, not along features
    uint32_t widest;              // at hand: bytes of an element along the last index of a kernel's stages
    int64_t length;               // at hand: instructions for one number along that index
    int64_t groups;               // of a block, a row each; 0: groups own none
    bool *fused;                  // per stage: of the fused kernel
    VEC(default_dense_windows) windows;   // that walks go through
    bool longer;                          // of long rows they are others
    stage_ids kept;             // scores that walks store
    bool spares;                  // some of them so that another walk need not find them
    VEC(tensor_val) outer;        // maps whose preimages have sums of outer products
    tensor_val tiled;             // the map whose values tiles are of; TENSOR_NO_VAL: there are no tiles
};

const char *default_rows_text(plan_rows rows);   // " few points", behind the name of a class or schedule
index_cut default_cut_of(making *m, const tensor_stage *st, tensor_var v, bool bound);   // as the schedule that is made has it
int64_t default_heavy_groups(const planner *p);       // of a block that has one long row
int64_t default_groups(const planner *p);             // of a block: rows it owns
int64_t default_extent(const planner *p, tensor_var v);   // 0: not known
bool default_one_by_one(const planner *p,
                        const tensor_stage *st);   // no reduction, or of terms in their order
bool default_reduces_dense(const planner *p, const tensor_stage *st);
// Lanes and vectors run along the innermost left-hand axis.
bool default_has_features(const planner *p, const tensor_stage *st, const tensor_var *left, uint32_t n, bool deepest);
bool default_lanes_along(const making *m, const tensor_stage *st, const tensor_var *left, uint32_t n, bool deepest);   // or others have them
void default_agree_on_heads(making *m, const stage_group *g, uint32_t depth);   // of dot products that share a kernel (default/dots.c)
// On a GPU: the lanes that are left for rows; spare: some should be.
int64_t default_stage(making *m, const tensor_stage *st, bool deepest, bool spare);
void default_stages(making *m, const stage_group *g);
void default_points(making *m, const stage_group *g);   // a thread each, over all indices as one
void default_suppose_long(making *m);   // some row of what is walked is long
void default_suppose(making *m, tensor_space s);   // the version is for the extents of its class
// The type of 16 bits that an expression's values have; DT_COUNT: they have none.
ir_dtype default_narrow_type(const tensor_op *op, tensor_expr e);
int64_t default_length(const planner *p, const stage_group *g, uint32_t depth);   // instructions of the stages that deep, for each number along their last index
void default_kernel(making *m, const stage_group *g);   // all cells of a kernel of these stages, as `rows` says
bool default_contracts(const making *m, const stage_group *g);   // default_matrix would take it
// A kernel of a contraction on tensor cores, as `mma` says or of numbers of 16 bits; false: it is none, and nothing is filled.
bool default_matrix(making *m, const stage_group *g);

// Contractions (default/matrix.c).
typedef struct {
    const tensor_stage *sum;
    tensor_var rows, columns, depth;
    tensor_expr first, second;   // the factor of rows, of columns
    tensor_val by;               // the map by whose value the second is chosen; TENSOR_NO_VAL: none
    const char *operand;         // "f16"
    const char *shape;           // "m64k16"; NULL: the first of those of the operand
    uint32_t bytes;              // of an element that is multiplied
    uint32_t held;               // likewise, of what a lane holds of it
    const schedule_cell *said;   // the schedule's own `mma`; NULL: it has none
} contraction;
typedef struct {                        // of rows, columns and depth: 1: nothing
    int64_t block, groups, registers;   // rows
    int64_t column_block, column_groups, column_vector, column_registers;
    int64_t depth_groups, depth_vector, depth_registers;
} matrix_shape;
bool default_operand(const planner *p, contraction *c);   // false: it is not for tensor cores
void default_matrix_cells(making *m, const stage_group *g, const contraction *c, const matrix_shape *s);
void default_multiply(making *m, const contraction *c);   // `mma`, where more is to be said of it than is
void default_share(making *m, const contraction *c,
                   tensor_val input);                // it comes to shared memory
int64_t default_power_in(int64_t n, int64_t most);   // the largest power of two that divides n
// The input whose rows, at an index or what a map says of it, are a factor; `along` is its last index. NULL: it is no such.
const tensor_val_info *default_rows(const planner *p, const tensor_stage *sum, tensor_expr factor, tensor_var along);
// The schedule itself says what of x (NULL: nothing) comes ahead, or of which rounds.
bool default_says_ahead(const planner *p, const contraction *c, const tensor_val_info *x);
const simt_mma_info *default_group_operation(const planner *p, const char *operand);   // of four warps; NULL: there is none
// By operations of four warps; false: there are none, or they are no faster.
bool default_group(making *m, const stage_group *g, contraction *c, int64_t depth, int64_t columns);
static inline bool default_is_outer(plan_rows r) { return r >= ROWS_OUTER_FEW && r <= ROWS_OUTER; }
// A sum of outer products over what a map takes to a row, on tensor cores; false: it is none, and nothing is filled.
bool default_outer(making *m, const stage_group *g);
bool default_outer_all(making *m, const stage_group *g);   // over all points, where there is no map
// A sum of matrices over the points of a graph, such as the gradient of a layer's weights.
bool default_sums_matrices(const planner *p, const tensor_stage *st, const tensor_var *left, uint32_t n);

// One axis, dealt out (default/stage.c).
typedef struct {
    int64_t vector, lanes, registers;
} axis_share;
int64_t default_power_above(int64_t n);
bool default_few(const planner *p, tensor_var v, tensor_var of);   // fewer than the points of `of`
void default_shorten(const making *m, axis_share *s, int64_t lanes);   // so that a thread has registers for what is computed at once
axis_share default_share_axis(making *m, const tensor_stage *st, tensor_var v, int64_t lanes);
void default_fill_share(making *m, const tensor_stage *st, tensor_var v, axis_share s);
bool default_sums_columns(const planner *p, const tensor_stage *st, const tensor_var *left, uint32_t n);   // of all points
void default_along(making *m, const tensor_stage *from, const tensor_stage *st);   // its left indices as those

// Many points, few results (default/across.c).
void default_order(making *m);   // of each reduction, points before dense axes
void default_parts(making *m, const tensor_stage *st, const tensor_var *left, uint32_t n);
int64_t default_matrix_rows(making *m, const tensor_stage *st, const tensor_var *left, uint32_t n, int64_t lanes);
uint32_t default_columns_of(const planner *p, const stage_group *g);   // the first sum of columns or matrices; UINT32_MAX: there is none
bool default_across(making *m, const stage_group *g);   // false: it is no such kernel, or one that a stage alone says enough of

// The op with sums over all points that walks of rows take along, as the schedule says then
// (default/rfactor.c).
tensor_op *default_rfactor(planner *p, schedule *s);
// Scores of edges that walks store, of the op as it came (default/kept.c). spares: where not NULL, those too
// that spare another walk all that it reduces at an edge; whether there are any.
stage_ids default_kept(planner *p, bool *spares);
// The map by which a stage sums rows of all its points; TENSOR_NO_VAL: none.
tensor_val default_walked_by(const planner *p, uint32_t stage);
// Whether what is read has each index of the stage but the first.
bool default_reads_all_left(const planner *p, const tensor_stage *st, const tensor_node *load);
// The map whose preimages the kernel's rows walk, TENSOR_NO_VAL: none the runtime counts.
tensor_val default_row_map(const planner *p, const stage_group *g);
tensor_val default_rows_map(const planner *p, const stage_group *g);   // likewise, whatever else is reduced at each of them
typedef struct {
    const char *name;
    row_owner owner;
    int64_t owners, limit;   // groups of a row's block, or lanes of a row (0: as elsewhere); rows from there on are of the next class, the last has none
} default_class;
typedef struct {
    const default_class *of;
    uint32_t n;
    bool stands;   // rows of the first class are left as they stand
} default_classes;
typedef struct {
    const schedule *use;
    int64_t limit;   // as above
} default_bucket_class;
void default_fill_bucket(making *m, const tensor_stage *st, tensor_var row, tensor_val map,
                         const default_bucket_class *all, uint32_t n, const char *option);   // "to", "together"; NULL: neither
// Rows by length, each class with a schedule of its own, to whose cells `more` adds.
void default_bucket(making *m, const stage_group *g, tensor_val map, const default_classes *all,
                    void (*more)(void *user, uint32_t number), void *user);
void default_long_rows(making *m, const stage_group *g, tensor_val map);   // two classes
// A kernel of sums of rows alone, and of what is computed from them, may cut long ones.
bool default_cuts(const planner *p, const stage_group *g);
void default_cut(making *m, const stage_group *g, tensor_val map);   // when its stages are dealt out
int64_t default_held(making *m, const tensor_stage *st);   // elements of an entry that a thread has at a time
bool default_short(making *m, const stage_group *g);   // rows of a few entries; those of the fewest go without rounds; false: it is no such kernel
bool default_at_once(making *m, const stage_group *g, tensor_val map);   // rows that a group goes through in a few rounds; false: too few of its lanes share one
void default_suppose_longest(making *m, tensor_val map, int64_t entries);   // a condition of the schedule
bool default_streams(making *m, const stage_group *g);   // its entries read where they lie alone
bool default_approximates(const making *m);   // exponentials are weights of results of 16 bits: the machine's own do
bool default_narrow(making *m, const stage_group *g);    // rows of less than a sector
int64_t default_entry_bytes(const making *m, const tensor_stage *st);   // of an element along its last index
int64_t default_bytes_along(const making *m, const tensor_stage *st, tensor_var v);   // of an element of what is read along it
int64_t default_row_bytes(const making *m, const tensor_stage *st);   // that a point of the first index has at most; 0: not known
void default_guards(making *m);
bool default_follow_rows(making *m);   // short rows, or few, and what entries take from them in one kernel; false: there is nothing such
void default_follow(making *m);   // rows of any length and what entries take from them in one kernel a class, where there are such
bool default_fuse(making *m);   // false: there is nothing to fuse
bool default_walk(making *m);   // false: no sums of rows need each other, or extents are not known
void default_order_by_degree(making *m, const tensor_stage *st, tensor_var row, tensor_val map);
bool default_is_windows(plan_rows rows);   // of rows of any length, or of long ones
void default_guard_windows(making *m);   // behind other guards: they are dense
void default_guard_blocks(making *m);   // each row that is walked has a block
void default_guard_short(making *m);    // or few entries are
void default_guard_even(making *m);     // or no row that is walked is most of what there is to do
void default_guard_parts(making *m, int64_t part);   // or none has very many parts of so many entries
void default_guard_thin(making *m);                  // rows have few entries on average
void default_guard_uneven(making *m, int64_t part);  // or not all of them have a little more than that
void default_guard_kept(making *m);                  // it takes little room
// What it reduces, by so many lanes; all: by no fewer.
void default_dot_share(making *m, const tensor_stage *st, int64_t lanes, bool all);
// Of a stage whose points reduce a dense axis: its cells but those of the points.
// What the default is where it was refused (default/retreat.c): stages that begin kernels; a kernel that is
// made otherwise, false: it is none such.
void default_apart(arena *a, const plan_retreat *r, schedule *s);
bool default_retreats(making *m, const stage_group *g);
bool default_is_dot(const planner *p, const stage_group *g);   // one such stage, and what is computed from it
typedef struct {
    int64_t lanes, heads;   // that reduce; that have heads of their own
} dot_share;
// Steps that are written out: rounds of a walk of rows, which several reductions of one walk share; points.
int64_t default_unroll(making *m, const tensor_stage *st, int64_t most, int64_t longest);   // rounds of its loop that are written out
void default_rounds(making *m, const tensor_stage *st, int64_t lanes);
// Rows of at most so many entries have no rounds.
void default_whole(making *m, const tensor_stage *st, tensor_var v, const int64_t *sizes, uint32_t n);
void default_level_rounds(making *m, const stage_group *g);
void default_room(making *m, const tensor_stage *st, int64_t threads);   // what a walk by warps, or loads by maps, leave room for
// What 16-bit points of a tile, so many steps of them written out, leave room for.
void default_tile_room(making *m, const tensor_stage *dot, const tensor_var *left, uint32_t n, int64_t steps);
void default_note_points(making *m, tensor_var point);   // those the version is for
// Leaves m->unfit behind where a version for few points, or for many, has other kernels, or none.
void default_steps(making *m, const stage_group *g, const tensor_stage *st, const tensor_var *left, uint32_t n);
dot_share default_dot(making *m, const tensor_stage *st, const tensor_var *left, uint32_t n);
// A kernel of long rows of such points, by the first of the maps they may be of, the second …; false: it is no such kernel.
bool default_tile(making *m, const stage_group *g, uint32_t number);
void default_guard_tiled(making *m);
void default_extremes(making *m, const stage_group *g);   // of a kernel, of 16 bits: in their type

#endif
