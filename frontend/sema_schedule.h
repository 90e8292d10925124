// Inside the checker of schedules: the statement table as data, what is known of the op at hand,
// and the cells a schedule fills. sema_schedule.c walks items and statements; _path.c tells them by
// path and name; _table.c reads schedule.def; _form.c fits words to forms; _word.c judges a word by
// its kind; _name.c knows the op's names; _key.c checks expressions; _cell.c compares cells;
// _when.c checks conditions, _tree.c choices. sema_schedule_resolve.h is what comes after.
#ifndef GNNC_SEMA_SCHEDULE_H
#define GNNC_SEMA_SCHEDULE_H

#include "schedule.h"
#include "sema_scope.h"

typedef enum {
#define KIND(id, shape, what) SCHEDULE_##id,
#include "schedule.def"
    SCHEDULE_KIND_COUNT
} schedule_kind;
typedef enum { SCHEDULE_ONE, SCHEDULE_LIST, SCHEDULE_CHOICE, SCHEDULE_META } schedule_shape;
typedef struct {
    const char *name;
    schedule_shape shape;
    const char *what;
} schedule_kind_info;
typedef struct {   // of a fixed set
    schedule_kind kind;
    schedule_word word;
    const char *text, *needs;
} schedule_word_info;

// A form, read: its parts in order. Part i belongs to option `option` (0: none), which stands
// inside option `inside`.
enum { SCHEDULE_MAX_PARTS = 16 };
typedef struct {
    const char *keyword;   // NULL: kind
    schedule_kind kind;
    uint32_t option, inside;
} schedule_part;
typedef struct {
    schedule_part parts[SCHEDULE_MAX_PARTS];
    uint32_t n;
    bool subject;   // the first part names what the statement is about
} schedule_form;

// ---- The table (sema_schedule_table.c) ----------------------------------------------------------
const schedule_kind_info *schedule_kind_at(schedule_kind k);
const schedule_word_info *schedule_word_at(uint32_t i);   // NULL past the last
const schedule_word_info *schedule_word_find(schedule_kind k, const char *text);
const schedule_statement *schedule_statement_find(const char *verb);
// What a statement, or an option of a verb, that was called so is called now; NULL: none was.
const char *schedule_renamed(const char *of, const char *old);
schedule_form schedule_form_read(const schedule_statement *st);
bool schedule_excludes(const schedule_statement *a, const schedule_statement *b);   // either way

// The words of a statement, part by part of its form.
typedef struct {
    uint32_t part;          // of the form
    const ast_word *word;   // NULL: a keyword
} fitted_word;
typedef VEC(fitted_word) fitted_words;

// ---- A schedule being checked -------------------------------------------------------------------
typedef struct schedule_let {
    ast_name name;
    const ast_subject *value;   // NULL: faulty, reported
    bool used, open;            // open: its value is being looked at
    const ast_item *from;
} schedule_let;

typedef struct schedule_prefix {
    const char *path;   // interned; NULL: every stage
    span at;
    bool unknown;   // reported: what it holds is still checked, but fills nothing
} schedule_prefix;
typedef VEC(schedule_prefix) schedule_prefixes;

typedef struct written_cell {
    const char *stage;     // NULL: every stage
    const char *subject;   // interned; NULL: the statement has none
    const schedule_statement *what;
    const ast_statement *statement;
    const fitted_words *words;
    span at;                // the subject, or the verb
    const ast_item *from;   // the schedule that fills it
    bool empty;             // none
} written_cell;

typedef struct schedule_need {
    const char *needs, *text;
    span at;
} schedule_need;

typedef struct schedule_op {       // what a schedule is for
    const char *path;              // interned: "spmm", "spmm.grad"
    const ast_item *item, *body;   // the op, or the one differentiated; body: what an alias names
    bool gradient;
    const tensor_op *op;             // lowered; NULL: it cannot be
    struct schedule_op *canonical;   // the same with its op in canonical form; NULL: not made yet
} schedule_op;

typedef struct schedule_checker {
    sema *s;   // with diagnostics of its own while `from` is not the schedule itself
    diag_set *ds;
    const ast_item *item,
        *from;   // the schedule, and the one among those it starts from whose statements are walked
    schedule_op *op;
    VEC(schedule_let) lets;
    VEC(written_cell) cells;
    uint32_t statements;
    bool full;        // a limit was reported
    bool canonical;   // it, or one it starts from, says `canonicalize`
    // of the statement at hand
    const schedule_statement *what;
    const ast_statement *statement;
    fitted_words *words;
    const schedule_prefixes *prefixes;
    bool any;               // an index of one of the prefixes will do
    const char *index;      // its subject, where it is an index
    bool filled, emptied;   // what it did to cells
    uint32_t limits;        // of its classes
    VEC(schedule_need) needs;
} schedule_checker;

// ---- Paths and names (sema_schedule_path.c) -----------------------------------------------------
const char *schedule_path_text(sema *s, const ast_path *p);   // interned
bool schedule_path_is(const ast_path *p, const char *text);
// Whether a schedule or a choice is of an op, or of the one that it is a form of.
bool schedule_is_of(const ast_item *item, const frontend_op *op);
const ast_item *schedule_named(const sema *s, const char *op_path, const char *name);
// The text where a subject is a path of one part, else NULL.
const char *schedule_name_of(const ast_subject *x);
span schedule_subject_span(const ast_subject *x);   // with its list and choices

// ---- Items (sema_schedule.c) --------------------------------------------------------------------
// Its cells, with those of the schedules it starts from, all checked. false: there is no such op.
schedule_op *schedule_canonical(sema *s, schedule_op *o);
bool schedule_collect(schedule_checker *c, sema *s, const ast_item *item);

// ---- Statements (sema_schedule_form.c, _word.c) -------------------------------------------------
// Fits a statement's words to the form of c->what and records its cells.
void schedule_fit(schedule_checker *c, const ast_word *words, span verb);
// Whether a word is of that kind; says so where not.
bool schedule_word_check(schedule_checker *c, schedule_kind k, const ast_word *w);
bool schedule_is_float_generic(const schedule_checker *c, const char *name);   // a type it may say

// ---- Expressions (sema_schedule_key.c) ----------------------------------------------------------
// with each let at its first choice
bool schedule_extent(schedule_checker *c, const ast_subject *x, int64_t *out);
// of_index: it depends on the subject
bool schedule_key(schedule_checker *c, const ast_expr *e, bool of_index);

// ---- Cells (sema_schedule_cell.c) ---------------------------------------------------------------
void schedule_cell_add(schedule_checker *c, const char *subject, span at, bool empty);
void schedule_cells_compare(schedule_checker *c);   // excluded pairs, and what inherited cells need

// ---- Conditions (sema_schedule_when.c) ----------------------------------------------------------
void schedule_when_check(schedule_checker *c);
void schedule_condition_check(schedule_checker *c, const ast_expr *e);   // one of them
bool schedule_asks_alignment(const ast_expr *e);
const ast_generic *schedule_generic_find(const schedule_op *op, const char *name);
bool schedule_is_function(const sema *s, const char *name);   // or a reducer

// ---- Targets (sema_schedule_target.c) -----------------------------------------------------------
void schedule_targets_check(schedule_checker *c);
// What the statement at hand needs is noted, and told once it is known to fill a cell.
void schedule_need_add(schedule_checker *c, const char *needs, span at, const char *text);
void schedule_needs_check(schedule_checker *c);
bool schedule_for(const ast_item *schedule, const char *target);   // whether it is for that target

#endif
