// What gnnc explain --choice tells of an op on a graph (run_choice.c).
#ifndef GNNC_CHOICE_H
#define GNNC_CHOICE_H

#include "run.h"

struct json_t;

// What does not hold of the version, as a plan of it alone says; NULL: nothing (run_version.c).
const char *run_why_not(run_op *o, const char *version);

typedef struct told_tree {
    const schedule_tree *of;
    bool holds, reached;   // the condition; the path that is taken leads here
    const char *values;    // "avg(dst) = 4"
    const struct told_tree *yes, *no;
} told_tree;
typedef struct {
    const program_version *of;
    const char *fails;   // the first guard that does not hold, with what it reads; NULL: all hold
    bool fits, taken;    // fits: a launch that names it may take it
    double ns;           // by the model; below 0: not told
} told_version;
typedef struct {
    const char *taken;
    const told_tree *tree;   // NULL: nothing chooses
    struct json_t *json;     // of the tree
    VEC(told_version) versions;
} told_choice;

#endif
