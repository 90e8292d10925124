// What every room asks: refusals, what stages read, words of the schedule, prepared arrays, parts,
// guards.
#ifndef GNNC_PLAN_BASE_H
#define GNNC_PLAN_BASE_H

#include "base/making.h"

typedef bool plan_visit(void *user, const tensor_node *load);

// ---- refuse.c -----------------------------------------------------------------------------------
void plan_blame(planner *p, const tensor_stage *one, const tensor_stage *other);   // the later one
bool plan_may_separate(const planner *p, const tensor_stage *st);   // `separate` holds for it
planner plan_new(arena *a, diag_set *ds, const tensor_op *op, schedule *s, const machine *m,
                 version_facts *facts);
diagnostic *plan_refuse(planner *p, diag_code code, span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
uint32_t plan_id_place(const stage_ids *g, tensor_id stage);   // the last, where it is none of them

// ---- reads.c ------------------------------------------------------------------------------------
bool plan_dense(const planner *p, tensor_var v);   // no map leads from or into its space
// terms that the factor is applied to at once; 0: there is none
uint32_t plan_every(const planner *p, const tensor_stage *st);
bool plan_mentions(const planner *p, tensor_expr e, tensor_var v);
bool plan_load_mentions(const planner *p, const tensor_node *load, tensor_var v);   // at an index
// The expression mentions v, but for what it reads by that map (TENSOR_NO_VAL: none), whose value
// is given.
bool plan_depends(const planner *p, tensor_expr e, tensor_var v, tensor_val given);
bool plan_inlined(const planner *p, uint32_t stage);
// Calls visit for every load in what a stage evaluates; stops and gives false where visit does.
bool plan_loads(const planner *p, const tensor_stage *st, plan_visit *visit, void *user);
bool plan_is_online(const planner *p, uint32_t stage);   // a maximum
bool plan_read_outside(const planner *p, const stage_group *g, tensor_val v);
// nobody outside the kernel reads it
bool plan_stays_inside(const planner *p, const stage_group *g, const tensor_stage *st,
                       tensor_val v);
bool plan_read_by(const planner *p, uint32_t stage, tensor_val v);
bool plan_reads_val(const planner *p, const tensor_stage *st, tensor_val v);
// Loads of the stage that end on an index and mention the other: memory runs along it.
int64_t plan_ends_on(const planner *p, const tensor_stage *st, tensor_var last, tensor_var other);
bool plan_has_id(const stage_ids *ids, tensor_id stage);

// ---- words.c ------------------------------------------------------------------------------------
// whether it stands for one of them
bool plan_is_among(const planner *p, schedule_ids indices, tensor_var v);
// indices of the stages; none: at no index, or NULL was given
schedule_ids plan_fused_at(const schedule_cell *fuse);
tensor_val
// likewise, or no map that a caller hands over
plan_map_meant(const planner *p, const schedule_value *map);
// TENSOR_NO_VAL: the op has it no more
tensor_val plan_val_meant(const planner *p, const schedule_value *map);
// what a key reads at its index; TENSOR_NO_VAL: it is more than that
tensor_val plan_key_read(const planner *p, const schedule_value *key);
// as the source calls it, for messages
const char *plan_index_text(const planner *p, tensor_var v);
bool plan_is_step(const planner *p, const tensor_stage *st, tensor_var v);
// that says what is fused: that of a class does not
schedule *plan_whole_schedule(const planner *p);
const schedule_value *
plan_tiled(const schedule_cell *block);   // the map by which it deals out tiles; NULL: it does not
// The statement with that verb that deals out an index of the stage, what it reduces first; the
// next one after `after`.
schedule_cell *plan_statement(const planner *p, const tensor_stage *st, schedule_verb verb,
                              schedule_cell *after);
// the schedule's where there is none
span plan_statement_at(const planner *p, const tensor_stage *st, schedule_verb verb);

// of what no statement says there is one
static inline int64_t plan_or_one(int64_t n) { return n ? n : 1; }
// Expressions of the plan's own.
static inline tensor_expr plan_at(planner *p, tensor_var v) {
    return tensor_var_expr(p->op, v, NO_SPAN);
}
static inline tensor_expr plan_plus(planner *p, tensor_expr x, tensor_expr y) {
    return tensor_binary(p->op, TENSOR_ADD_OP, x, y, NO_SPAN);
}
static inline tensor_expr plan_times(planner *p, tensor_expr x, int64_t n) {
    return tensor_binary(p->op, TENSOR_MUL_OP, x, tensor_int(p->op, n), NO_SPAN);
}
static inline const tensor_stage *plan_stage(const planner *p, uint32_t i) {
    return &p->op->stages.data[i];
}
static inline tensor_id plan_var_id(const planner *p, tensor_var v) {
    return p->op->vars.data[v].id;
}
static inline const char *plan_var_name(const planner *p, tensor_var v) {
    return p->op->vars.data[v].name;
}
// The i-th index of a stage: left ones first, then those that it reduces.
static inline tensor_var plan_var_at(const tensor_stage *st, uint32_t i) {
    return i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
}

// ---- states.c -----------------------------------------------------------------------------------
void plan_store(planner *p, loop_body *to, const uint32_t *stage);
int64_t plan_part_points(const planner *p, const tensor_stage *st);   // 0: it is not cut
const plan_part *plan_part_of(const planner *p, uint32_t stage);
void plan_leave_state(planner *p, loop_body *to, uint32_t stage);
// they walk runs
void plan_check_combine(planner *p, const tensor_stage *st, const index_cut *c, bool runs);
// refuses parts of what is not walked so
void plan_check_part(planner *p, const tensor_stage *st, tensor_var v, bool walked);
// A range of n points, up to the end: its variable and bounds.
void plan_add_part(planner *p, plan_part *part, tensor_space points, int64_t n, tensor_expr end);
loop_node *plan_states(planner *p, loop_node_kind kind, const plan_part *part);
// is it cut along what a key takes to its rows?
bool plan_carries(planner *p, const tensor_stage *st);
// parts of it are combined in memory as they come
bool plan_atomic(const planner *p, const tensor_stage *st);
// The statements that cut what a stage reduces, the index that is cut, and the number of a part.
schedule_cell *plan_split_cell(const planner *p, const tensor_stage *st, tensor_var v);
schedule_cell *plan_part_cell(const planner *p, const tensor_stage *st, tensor_var v);
schedule_cell *plan_combine_cell(const planner *p, const tensor_stage *st, tensor_var v);
tensor_var plan_part_variable(const planner *p, const tensor_stage *st);
tensor_var plan_part_position(planner *p, const plan_part *part, tensor_space parts);
// the key by which v is sorted
bool plan_run_key(planner *p, const tensor_stage *st, tensor_var v, plan_part *part);
const schedule_cell *plan_block_of(const planner *p, const tensor_stage *st, tensor_var v);

// ---- ends.c -------------------------------------------------------------------------------------
typedef struct {   // of edges: as often as (u, v) stands, (v, u) does
    tensor_val one, other;
} plan_ends;
bool plan_ends_at(const tensor_op *op, uint32_t i, plan_ends *out);   // false: past the last
// Stages that reduce over the edges of one end do so over those of the other, whose map is sorted:
// all of them, or none. stays: of each stage, whether it must not; inlined: by value, the stage
// that is computed where it is read; NULL: none.
void plan_swap_ends(tensor_op *op, const plan_ends *ends, const bool *stays,
                    const tensor_stage *const *inlined);

// ---- kept.c -------------------------------------------------------------------------------------
kept_place plan_kept(planner *p, const tensor_stage *st, tensor_val v);
// by preconditions and conditions; 0: none says it
int64_t plan_largest_row(const planner *p, tensor_val map);
// `keep` of a value of the stage.
schedule_cell *plan_kept_cell(const planner *p, const tensor_stage *st, tensor_val v);
kept_place plan_kept_place(const schedule_cell *c);
// and its options, of which those without a pass are refused
kept_place plan_take_kept(planner *p, schedule_cell *c);
// that pieces of its rows change places, if the statement asks for it: why they do not
bool plan_refuse_swizzle(planner *p, const schedule_cell *keep, const char *why);

// ---- prepare.c ----------------------------------------------------------------------------------
bool plan_map_of(planner *p, tensor_val v, plan_map *out);   // known when the plan is made
// Of an index that goes through all entries of map m, that along m's axis `at`.
tensor_expr plan_flat_digit(tensor_op *op, tensor_var flat, const tensor_val_info *m, uint32_t at);
bool plan_map_of_key(planner *p, tensor_expr key, tensor_var var, plan_map *out);
tensor_val plan_prepare(planner *p, prepared_builder b, const tensor_val *args, uint32_t n,
                        tensor_space into, tensor_space axis);
tensor_val plan_window_starts(planner *p, tensor_val places, int64_t extent, tensor_space windows);
tensor_val plan_offsets(planner *p, const plan_map *m);
tensor_expr plan_wide(planner *p, tensor_expr index);   // as i64
// offsets[key + plus]
tensor_expr plan_offset_at(planner *p, tensor_val offsets, tensor_expr key, int64_t plus);
// of that size; made at first use
tensor_space plan_space(planner *p, const char *name, tensor_expr size);
tensor_val plan_prepare_by(planner *p, prepared_builder b, const tensor_val *args, uint32_t n,
                           int64_t extent,
                           // extent: what the builder takes besides; 0: nothing
                           tensor_space into, tensor_space axis);
tensor_val plan_prepare_blocks(planner *p, prepared_builder b, const tensor_val *args, uint32_t n,
                               int64_t extent, int64_t slots,
                               // slots: of a block; 0: by default
                               tensor_space into, tensor_space axis);
tensor_space plan_ends_of(planner *p, tensor_space s);   // of one more point

// ---- guard.c ------------------------------------------------------------------------------------
// rows of a matrix that are copied so many bytes at once
void plan_copy_guards(planner *p, tensor_val val, uint32_t bytes);
// that its axes from one on lie one behind the other
void plan_row_guards(planner *p, tensor_val val, uint32_t from);
// to a multiple of it; false: it cannot be
bool plan_vector_guards(planner *p, const tensor_stage *st, tensor_var v, uint32_t width,
                        bool padded);
void plan_packed_guards(planner *p);       // when the loops are there
void plan_beside_guards(planner *p);       // likewise
void plan_specialize_guards(planner *p);   // likewise
void plan_narrow_guards(planner *p);
void plan_holds(planner *p, size_expr e, const char *text);
// positions of a product fit too
void plan_narrow_product(planner *p, const tensor_space *axes, uint32_t n);

#endif
