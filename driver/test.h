// gnnc test: an op under schedules, graphs, sizes, types and layouts drawn at random, each case
// against the op's definition. A case is a command of `gnnc run --check`, with a file that holds
// the schedule, on the host at both levels of the code generator, a fifth of the cases on changed
// inputs, too (--metamorphic), and runs in a process of its own: what crashes or hangs is a
// finding, and what is found can be repeated by hand.
#ifndef GNNC_TEST_H
#define GNNC_TEST_H

#include "child.h"
#include "unit.h"

// ---- Chance -------------------------------------------------------------------------------------
typedef struct {
    uint64_t seed, at;
} test_rng;
uint64_t test_draw(test_rng *r, uint64_t n);   // in [0, n)
bool test_chance(test_rng *r, uint32_t per_cent);
#define TEST_PICK(r, list) ((list)[test_draw((r), sizeof(list) / sizeof *(list))])

// ---- What is tested (test_op.c) -----------------------------------------------------------------
enum { TEST_MOST_INDICES = 16 };
typedef struct {
    const char *name;
    tensor_space space;
} test_index;
typedef struct {
    const char *name;
    uint32_t nleft, nindices;   // the left ones come first, then those reduced over
    test_index indices[TEST_MOST_INDICES];
    bool sum, has_else;   // a plain sum; `else` is given
} test_stage;
typedef struct {
    const char *name;   // as the file writes it
    const tensor_op *op;
    const char *types[4];   // generics that are float types
    uint32_t ntypes;
    VEC(test_stage) stages;
    VEC(const char *) schedules;   // of the file
    bool *sparse;                  // per space: a map leads from or into it
    bool gradient;
    const char *twin;   // of a gradient: the one that is given what is saved, which may be nothing
} test_op;
typedef VEC(test_op) test_ops;
test_op test_op_new(arena *a, const unit_op *o);

// ---- A schedule (test_schedule.c, test_words.c) -------------------------------------------------
typedef struct test_word {
    const char *text;   // NULL: a number, or an option
    int64_t number;
    uint32_t noption;   // of an option: its words
    struct test_word *option;
} test_word;
typedef VEC(test_word) test_words;
typedef struct {
    const char *verb;
    VEC(const char *) stages;   // "a, b: verb …"; none: all
    test_words words;
} test_statement;
typedef struct {
    const char *name, *like;   // like NULL: none
    VEC(test_statement) statements;
} test_schedule;
typedef VEC(test_schedule) test_schedules;
#define TEST_SCHEDULE "main"   // the last of them

typedef struct {
    arena *arena;
    test_rng *rng;
    const test_op *op;
    const int64_t *sizes;   // per space: what -D gives; -1: something else tells
    bool host;              // what the schedule is for
    const gpu_arch *arch;   // NULL: the host
    test_schedules *out;
    uint32_t lanes, groups;   // threads that are left
    uint32_t classes;         // schedules of classes so far
    uint32_t pads;            // per cent of dense indices that are padded
} test_maker;
void test_schedule_draw(test_maker *m);
bool test_verb_usable(const test_maker *m, const char *verb);
void test_put(test_maker *m, test_schedule *s, const char *verb, const test_word *words, uint32_t n,
              const char *stage);
void test_take_verb(test_schedule *s, const char *verb, const char *index);   // says it no more
// Stages that are fused (test_fuse.c); the op has sums of one walk with indices of their own.
void test_fuse(test_maker *m, test_schedule *s);
bool test_walks_apart(const test_maker *m);
// What else there may be of a sum that tensor cores contract (test_matrix.c).
void test_multiply(test_maker *m, test_schedule *s, const test_stage *st);
// A statement with what its form in schedule.def asks for; of a stage among those given, or of any
// (NULL). False: the op has nothing of a kind that the form wants.
bool test_statement_draw(test_maker *m, test_schedule *s, const char *verb,
                         bool (*among)(const test_stage *));
const char *test_class_draw(test_maker *m);   // the schedule of a class of rows
// of a kind that has a fixed set of words: one of them
bool test_word_of(const char *text, const char *kind);
const char *test_word_draw(test_maker *m, const char *kind);   // NULL: the kind has no fixed set
void test_schedules_print(textbuf *out, const test_schedules *s, const char *op,
                          const char *machine);
static inline test_word test_text(const char *text) { return (test_word){.text = text}; }
static inline test_word test_number(int64_t n) { return (test_word){.number = n}; }

// ---- Schedules that are there (test_taken.c) ----------------------------------------------------
// Reads schedules; NULL: there are none.
const ast_item *test_schedules_read(driver *d, const char *path, const char *text);
// One of them becomes m's last schedule, those of its classes before it. own: they are of this op;
// else their names are mapped to the op's. few: some statements alone, added to the last schedule.
// false: nothing was taken.
bool test_schedule_take(test_maker *m, const ast_item *all, bool own, bool few);
void test_schedule_change(test_maker *m);      // one thing of one statement
const char *test_choice_draw(test_maker *m);   // between it and the default (test_choice.c)

// ---- A case (test_case.c) -----------------------------------------------------------------------
typedef enum { TEST_SIM, TEST_HOST, TEST_CUDA } test_target;
typedef struct {
    const char *group, *what;   // "graph", "no nodes"
} test_drawn;
typedef struct {
    const test_op *op;
    test_target target;
    const char *name;            // of the op, or of its twin
    const char *machine;         // what its schedules are for: "host", "sm_90"
    test_schedules schedules;    // none: those of the file, or the default's
    const char *choice;          // " = max(dst) > 3 ? main : default"; NULL: the last of them
    VEC(const char *) options;   // "--graph=er:9:20", "-DF=8": a word each
    VEC(test_drawn) drawn;
} test_case;
typedef struct {
    driver *d;
    const test_op *ops;
    uint32_t nops;
    VEC(const ast_item *) taken;   // schedules of --take, a file each
} test_stock;
test_case test_case_draw(arena *a, const test_stock *stock, const test_op *op, test_target target,
                         test_rng *rng);
// The k-th way to make it smaller; false: there are no more.
bool test_case_smaller(arena *a, const test_case *c, uint32_t k, test_case *out);

// ---- What varies (test_draws.def, test_draws.c) -------------------------------------------------
typedef struct {
    const char *option, *values, *beside, *on;
    uint32_t of;
} test_axis;
typedef struct {
    const char *what, *text;
} test_graph;
extern const test_axis test_axes[];   // up to one without an option
extern const test_graph test_graphs[];
typedef enum {
#define SOURCE(id, of, what) TEST_##id,
#include "test_draws.def"
    TEST_SOURCE_COUNT
} test_source;
typedef enum {
#define OTHER(id, what) TEST_##id,
#include "test_draws.def"
    TEST_OTHER_COUNT
} test_other;
uint32_t test_axis_values(const test_axis *x);
const char *test_axis_text(arena *a, const test_axis *x, uint32_t k);   // "--layout=far"
void test_drew(arena *a, test_case *c, const char *group, const char *what);
void test_drew_source(arena *a, test_case *c, test_source s);
void test_drew_other(arena *a, test_case *c, test_other o);

// ---- Running one (test_child.c) -----------------------------------------------------------------
// Lacking: the machine lacks what it takes to run the case, which tells nothing of it.
typedef enum { TEST_RIGHT, TEST_UNFIT, TEST_REFUSED, TEST_FAULT, TEST_LACKING } test_verdict;
typedef struct {
    test_verdict verdict;
    const char *kind;   // faults of one kind are taken to have one cause: "wrong result", "E0824"
    const char *text;   // what the run printed; lacking: why
    uint32_t right;     // rows that were compared and right, or packed
    uint32_t follows, skipped;   // changes of inputs that results followed; that do not apply
    uint32_t overflows;          // rows in which something did
    bool large;                  // too large to pack: left out
} test_outcome;
typedef struct test_child test_child;
// The file of a case is written beside nothing else, under a name of its own in the folder; so is
// what --pack makes of it. NULL: errno tells why it cannot be.
test_child *test_start(arena *a, const driver *d, const test_case *c, const char *folder);
test_child *test_any_ended(test_child **children, uint32_t n);   // waits
// Frees it. What it packed goes to `pack`; NULL: is left out.
test_outcome test_end(arena *a, test_child *child, FILE *pack);
void test_cancel(test_child *child);   // one that may still run
// The schedules that apply to an op, and the default, as `gnnc --emit=schedule` prints them with
// these options; NULL: it prints none.
const char *test_default_text(arena *a, driver *d, const char *op, const test_case *c, bool same);

// ---- Counts of what was drawn (test_draws.c) ----------------------------------------------------
typedef struct {
    const char *group, *what;
    uint32_t cases, right, refused;
} test_count;
typedef VEC(test_count) test_counts;
test_counts test_counts_new(arena *a);
void test_counts_add(arena *a, test_counts *all, const test_case *c, test_verdict v);
void test_counts_print(const test_counts *all);
const char *test_file_text(arena *a, const driver *d, const test_case *c);   // of the .gnn
const char *test_command_text(arena *a, const driver *d, const test_case *c, const char *file);

#endif
