// Cells of the default schedule: made for a stage and its indices, filled, asked for again. And
// what the version supposes on the way.
#ifndef GNNC_DEFAULT_CELLS_H
#define GNNC_DEFAULT_CELLS_H

#include "default/cells/making.h"

// ---- cells.c: cells -----------------------------------------------------------------------------
schedule_cell default_cell(schedule_verb verb, const tensor_stage *st);
schedule_cell default_index_cell(const planner *p, schedule_verb verb, const tensor_stage *st,
                                 tensor_var v);
// what it says, of another index
schedule_cell default_move_cell(const planner *p, schedule_cell c, const tensor_stage *st,
                                tensor_var v);
// whose subject is the stage
schedule_cell default_stage_cell(const planner *p, schedule_verb verb, const tensor_stage *st);

// ---- cells.c: words of a statement --------------------------------------------------------------
schedule_value default_stage_list(const planner *p, const stage_group *g);
schedule_value default_index_list(const planner *p, const tensor_var *vars, uint32_t n);
schedule_value default_by(const planner *p, tensor_val map);

static inline tensor_val default_val(const planner *p, const tensor_val_info *of) {
    return (tensor_val)(of - p->op->vals.data);
}

schedule_value default_word(schedule_word w);   // without a keyword
schedule_value default_number(int64_t n);
schedule_value default_text(const char *keyword, const char *text);   // keyword: NULL: none
schedule_value default_option(const char *keyword, int64_t n);        // n: 0: none
schedule_value default_if(bool said, schedule_value v);               // or it is left out

// ---- cells.c: filling ---------------------------------------------------------------------------
// Of a number: 1 is said of `block` and `pipeline` alone. option: a keyword, or NULL.
void default_fill(making *m, const tensor_stage *st, schedule_verb verb, tensor_var v, int64_t n,
                  const char *option);
// The cell, with the values behind it, in the default at hand.
#define default_say(m, cell, ...)                                                                  \
    default_say_all(m, cell, (schedule_value[]){__VA_ARGS__},                                      \
                    COUNT_OF(((schedule_value[]){__VA_ARGS__})))
void default_say_all(making *m, schedule_cell c, const schedule_value *values, uint32_t n);
// about the stage as a whole
void default_say_stage(making *m, schedule_verb verb, uint32_t stage, const char *option);
// of each of the stages: at the first of those, which each has as one of them
void default_say_fuse(making *m, const stage_group *g, const tensor_var *at, uint32_t n);
void default_keep(making *m, const tensor_stage *st, tensor_val v, schedule_word place);
// what a walk by warps, or loads by maps, leave room for
void default_room(making *m, const tensor_stage *st, int64_t threads);

// ---- nones.c ------------------------------------------------------------------------------------
void default_nones(making *m);   // what a stage inside another one does not take from it

// ---- said.c -------------------------------------------------------------------------------------
// as the schedule that is made has it
index_cut default_cut_of(making *m, const tensor_stage *st, tensor_var v, bool bound);
// elements of an entry that a thread has at a time
int64_t default_held(making *m, const tensor_stage *st);
// The stage has features, or others of its kernel have lanes along theirs.
bool default_lanes_along(const making *m, const tensor_stage *st, bool deepest);
// its left indices as those
void default_along(making *m, const tensor_stage *from, const tensor_stage *st);

// ---- suppose.c ----------------------------------------------------------------------------------
void default_suppose(making *m, tensor_space s);   // the version is for the extents of its class
// Of an axis: its extent, or where it is not known that for which it is cut; heads are of any.
int64_t default_typical(making *m, tensor_var v);
// The stage would be dealt out otherwise if the extents of these were known.
void default_wish(making *m, const tensor_stage *st, bool walk, const tensor_var *vars, uint32_t n);
void default_note_points(making *m, tensor_var point);   // those the version is for
// a condition of the schedule
void default_suppose_longest(making *m, tensor_val map, int64_t entries);

// ---- suppose.c: conditions ----------------------------------------------------------------------
typedef struct {
    size_token of;        // a constant, the points of a space, a statistic of a map
    size_token_kind by;   // with n, where that is not 0: SZ_MUL, SZ_MOD
    int64_t n, plus;
} default_quantity;
default_quantity default_fixed(int64_t n);
default_quantity default_size(tensor_space s);
default_quantity default_statistic(size_token_kind k, tensor_val map);
default_quantity default_times(default_quantity x, int64_t n);
// What holds of them, and its text: "2 * std(dst) <= avg(dst)"; shares are compared with
// thousandths.
program_guard default_where(const making *m, default_quantity x, size_token_kind compare,
                            default_quantity y);
program_guard default_either(const making *m, program_guard x, program_guard y);
// pays: where it does not hold, another version is faster, and this one right all the same
void default_guard(making *m, bool pays, program_guard g);
program_guard default_longest(const making *m, tensor_val map, int64_t entries);

#define COUNT_OF(t) ((uint32_t)(sizeof(t) / sizeof *(t)))

#endif
