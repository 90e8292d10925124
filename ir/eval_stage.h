// One stage while it is evaluated: what eval_stage.c and eval_threads.c share.
#ifndef GNNC_EVAL_STAGE_H
#define GNNC_EVAL_STAGE_H

#include "eval_tally.h"

typedef struct {
    int64_t key, point;
} keyed_point;

typedef struct {
    tensor_var var;
    uint32_t level;
    int64_t size;
    uint32_t key;          // by which its points are found, or NO_KEY
    keyed_point *points;   // sorted by key, then point
    const int64_t *map;    // or what they are found by, a map in order: it has the key of each
    int64_t npoints;
    uint32_t joined;   // variables from here on that the key finds at once: a point is one of all
} bound_variable;
enum { NO_KEY = UINT32_MAX };

typedef struct {
    uint32_t *lhs, *rhs;   // of keys
    uint32_t *filters, *body, *orelse;
} stage_nodes;

typedef struct {
    int64_t members, sure, perhaps;   // in exact arithmetic, certainly, perhaps or perhaps not
    bool unsure_domain;               // a key's right side is uncertain
} stage_terms;

typedef struct stage_run {
    evaluator *ev;
    const tensor_stage *s;
    const tensor_reducer *reducer;
    eval_program *p;
    uint32_t nleft;
    bound_variable *left, *bound;
    stage_nodes nodes;
    bool *found_by;   // keys that need no check, as they led to the point
    eval_slot **targets;
    eval_value *args, *values;
    bool tallied;   // a builtin reducer over floats
    const eval_precision *precision;
    eval_tally tally;
    eval_states *states;
    uint32_t name;   // of eval_value.beyond, where the reduction is
    stage_terms terms;
    // where elements of a sample are kept, whose number is known; -1: behind the last
    int64_t kept_at;
} stage_run;

// Points are taken in runs, a few at least: neighbours mostly read the same rows of other stages,
// which are computed for one of them as for all. As many are taken as if each were drawn alone.
typedef struct {
    uint64_t points, one_in, length, runs;
} eval_sample;
// one_in 1: all points, each a run
eval_sample eval_sample_of(const stage_run *r, uint64_t one_in);
int64_t eval_sample_size(const eval_sample *x);   // points taken
void eval_sample_run(stage_run *r, const eval_sample *x, uint64_t run);

void eval_run_prepare(stage_run *r);   // its programs
// by all cores; false: it is not worth it, or cannot be
bool eval_in_threads(stage_run *r, uint64_t one_in);

#endif
