// A schedule as passes read it: a table of cells (stage, subject, verb), names resolved against the
// op's tensor IR, lets replaced, inherited cells merged. What a statement may say stands in
// schedule.def.
//
// Enters: built by frontend/ from a .gnn file, or by passes/ as the default. Leaves: read by the
// rooms of passes/, each of which marks the cells it consumes; a cell nobody consumed is an error.
// Memory: the arena it was made in.
//
//     const schedule_cell *c = schedule_find(s, stage->id, SCHEDULE_LANES, op->vars.data[f].id);
//     int64_t lanes = c ? schedule_number(c, NULL) : 1;
#ifndef GNNC_SCHEDULE_IR_H
#define GNNC_SCHEDULE_IR_H

#include "tensor.h"

typedef enum {
#define STATEMENT(id, verb, form, excludes, needs, by, summary) SCHEDULE_##id,
#include "schedule.def"
    SCHEDULE_VERB_COUNT
} schedule_verb;
const char *schedule_verb_text(schedule_verb v);
typedef enum {   // of a kind that has a fixed set
    SCHEDULE_NO_WORD,
#define WORD(kind, id, text, needs) SCHEDULE_##kind##_##id,
#include "schedule.def"
    SCHEDULE_WORD_COUNT
} schedule_word;
const char *schedule_word_text(schedule_word w);
typedef struct {   // a row of schedule.def
    const char *verb, *form, *excludes, *needs, *by, *summary;
} schedule_statement;
const schedule_statement *schedule_statement_at(uint32_t i);   // by verb; NULL past the last

// What a statement says besides its subject, part by part of its form: `[by MAP [serial COUNT]
// [largest]]` gives {"by", text "type"}, {"serial", number 4}, {"largest"}; the part without a
// keyword of its own has keyword NULL (`lanes f 32`: {NULL, 32}; `lanes f fit`: {NULL, text
// "fit"}), a second one the name of its kind (`mma k f16 m16n8k16`: {NULL, "f16"}, {"shape",
// "m16n8k16"}; `window v 8 by src 16`: {NULL, 8}, {"by", "src"}, {"count", 16}). Where subjects
// are a list of stages each has a cell, and they stand together in {"stages", names}.
typedef struct {   // whom a name of a statement means: an index has one identity in each stage that
                   // has it
    uint32_t n;
    const tensor_id *data;
} schedule_ids;

typedef struct schedule_value {
    const char *keyword;
    int64_t number;   // COUNT
    // a word or name: type, place, way, hint, shape, map, "fit"; KEY, FACTOR as written; or NULL
    const char *text;
    schedule_word word;   // of those, a type, a place, a way or a hint
    uint32_t nnames;
    const char *const *names;   // lists: stages, values, indices, schedules
    const schedule_ids *ids;    // of each of those, or of `text`, where it names an index, a map or
                                // a stage; else NULL
    uint32_t nnumbers;
    const int64_t *numbers;   // limits
    // those of `names`, for what is in a class: their `when` is not asked
    const struct schedule *const *schedules;
    // as written, where the tuner has a choice: "8 | 16", "2 * N"; the rest is its first; or NULL
    const char *open;
    tensor_expr key;   // KEY, FACTOR: over `var`, or scalars and sizes alone
    tensor_var var;    // of that expression: an index; else UINT32_MAX
} schedule_value;

typedef struct {
    schedule_verb verb;
    const char *stage;     // path, as it is written; NULL: every stage
    const char *subject;   // index, value or stage, as it is written; NULL: the statement has none
    tensor_id of;          // the stage: it and what lies inside is covered
    schedule_ids about;    // the subject; none: the statement has none
    uint32_t nvalues;
    const schedule_value *values;
    span at;           // the verb
    bool empty;        // `none`
    bool optional;     // `tune`: the tuner may leave it out
    bool consumed;     // by a pass
    uint32_t before;   // of schedule_places: the cell before it in its row
    bool made;         // by the default, for what the schedule leaves open
} schedule_cell;

typedef struct {   // let NAME = TEXT; of what is open
    const char *name, *text;
} schedule_let_text;

typedef enum { SCHEDULE_HOLDS, SCHEDULE_ALIGNED } schedule_condition_kind;
typedef struct {   // of `when`: what compiling leaves open
    schedule_condition_kind kind;
    const char *text;   // as a person writes it
    size_expr holds;    // HOLDS; spaces and params are those of the tensor op
    tensor_val val;     // ALIGNED
    int64_t bytes;
    span at;
} schedule_condition;

// Where cells stand, as far as anybody asked: in rows by their verb and what they are of.
enum { SCHEDULE_ROWS = 128 };
typedef struct {
    const schedule_cell *of;   // the cells that it tells of, and how many
    uint32_t n;
    uint32_t last[SCHEDULE_ROWS];   // numbers from 1 on, 0 is none
    bool says[SCHEDULE_VERB_COUNT];
} schedule_places;

typedef struct schedule {
    const char *name;   // "rows"; "default"
    // of the op, as a .gnn file names it: "spmm"; NULL: as tensor IR does
    const char *path;
    const char *target;   // what it was resolved for: "host", "sm_90"; NULL: GPUs
    span at;
    // The op, with what keys and factors need: variables, expressions, and the values of `stages`,
    // which they read and the op does not compute (degree(dst, v) is a sum over dst's domain).
    const tensor_op *op;
    tensor_ids *ids;   // of the op and all its copies
    VEC(tensor_stage) stages;
    VEC(schedule_cell) cells;
    VEC(schedule_let_text) lets;   // that `open` texts name
    VEC(schedule_condition) when;
    // What it deals out is the op in canonical form (`canonicalize`, or the default made it): no
    // two indices of a stage have one name, and reductions that share a walk stand side by side.
    bool canonical;
    const tensor_op *form;   // that op, of a schedule that was read; NULL: it says no such thing
    bool canonicalized;      // which is another than the op as it was written
    // made by a pass: may be changed to fit, never reported as the user's
    bool automatic;
    uint32_t number;   // of schedule_choice
    schedule_places places;
} schedule;

typedef VEC(schedule *) schedule_list;

// Which of an op's schedules is tried first: a tree, told once sizes and maps are.
typedef struct schedule_tree {
    const char *text;   // of the condition; of a leaf, the schedule's name, or "default"
    enum { TREE_OPEN, TREE_HOLDS, TREE_FAILS, TREE_LEAF } kind;   // what compiling knows of it
    size_expr holds;                                              // OPEN
    const struct schedule_tree *yes, *no;                         // but of a leaf
    int64_t number;   // LEAF: of a schedule; below 0: none, all are tried in their order
    span at;
} schedule_tree;
typedef struct {
    const schedule_tree *tree;      // NULL: there is no choice
    const char *text;               // on one line
    size_expr of;                   // the number it gives
    uint32_t nschedules;            // 0: versions have no numbers
    const char *const *schedules;   // their names by number; the last is the default
    bool wants_default;             // a leaf that may be reached is
} schedule_choice;

// The cell that holds for a stage: the most specific of those for that verb and subject that cover
// it; NULL: none, or emptied. about: an index, value or stage, TENSOR_ALL where the verb takes
// none. A subject that is a stage or value covers what lies inside. Finding does not consume.
schedule_cell *schedule_find(const schedule *s, tensor_id stage, schedule_verb verb,
                             tensor_id about);
bool schedule_says(const schedule *s, schedule_verb verb);   // whether it has a cell of that verb
bool schedule_covers(const schedule *s, const schedule_cell *c,
                     tensor_id stage);                       // whether it is about that stage
bool schedule_lists(const schedule_cell *c, tensor_id id);   // a list of it does
bool schedule_means(schedule_ids ids, tensor_id id);         // whether it is among them
schedule_ids schedule_one(arena *a, tensor_id id);           // it alone; TENSOR_ALL: none
// NULL: not given
const schedule_value *schedule_value_of(const schedule_cell *c, const char *keyword);
// 0: not given
int64_t schedule_number(const schedule_cell *c, const char *keyword);
// of one stage, about one subject
bool schedule_same_place(const schedule_cell *a, const schedule_cell *b);
// For passes that make one; takes the place of a cell of that stage, verb and subject.
void schedule_fill(arena *a, schedule *s, schedule_cell cell);
// Whether a value that a key reads is the number of points a map takes to each point: which map.
bool schedule_counts(const schedule *s, tensor_val v, tensor_val *map);
// a stage of an op does
bool schedule_stage_counts(const tensor_op *op, const tensor_stage *st, tensor_val *map);
// "y: lanes f", as messages name it
const char *schedule_cell_text(arena *a, const schedule_cell *c);
// Reports cells that no pass consumed; why says the reason where it knows one. Automatic schedules
// are not reported.
typedef const char *schedule_reason(void *user, const schedule_cell *c);
void schedule_unconsumed(diag_set *ds, arena *a, const schedule *s, schedule_reason *why,
                         void *user);
// As statements a .gnn file could hold: what --emit=schedule prints.
void schedule_print(textbuf *out, const tensor_op *op, const schedule *s);

#endif
