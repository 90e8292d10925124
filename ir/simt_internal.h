// What the files of SIMT IR share among themselves.
#ifndef GNNC_SIMT_INTERNAL_H
#define GNNC_SIMT_INTERNAL_H

#include "simt.h"

enum { SIMT_MAX_DEPTH = 200 };   // of nested regions, in text and in what the verifier accepts

// ---- simt_module.c ------------------------------------------------------------------------------
simt_value simt_region_param(simt_func *f, simt_region r, simt_type t);
// An instruction that stands in no region yet. Arguments are copied, results made.
simt_instr simt_instr_new(simt_func *f, simt_op op, const simt_value *args, uint32_t nargs,
                          const simt_type *results, uint32_t nresults, span at);
void simt_region_add(simt_func *f, simt_region r, simt_instr i);
simt_region *simt_instr_regions(simt_func *f, simt_instr i, uint32_t n);   // makes n regions for it
simt_func *simt_func_add(simt_module *m, const char *name, bool kernel);

// ---- simt_types.c -------------------------------------------------------------------------------
bool simt_is_int(simt_element e);   // i8 … i64
bool simt_is_pointer(simt_element e);
bool simt_type_valid(simt_type t);
const char *simt_type_text(arena *a, simt_type t);
// The result type that the rule of an operation of one result gives for these arguments; {0, 0}
// where it is given.
simt_type simt_rule_type(const simt_func *f, simt_op op, const simt_value *args);
// What is wrong with the types of arguments and results, or NULL. Attributes are not looked at. All
// handles are valid.
const char *simt_types_fault(const simt_func *f, simt_instr i);

// ---- simt_float.c -------------------------------------------------------------------------------
// to nearest even in that format, as a double
double simt_float_round(simt_element e, double x);
double simt_float_from_bits(simt_element e, uint64_t bits);
// cut to the width, sign extended; pred: 0 or 1
int64_t simt_int_wrap(simt_element e, int64_t x);

// ---- simt_fold.c --------------------------------------------------------------------------------
typedef struct {
    simt_type type;
    int64_t i;   // integers and pred
    double f;    // floats
} simt_constant;
bool simt_constant_of(const simt_func *f, simt_value v, simt_constant *out);
// Each gives the value an operation has on constants; false where it is left to run time: results
// that are NaN (whose payload the targets choose), division by zero, and formats whose rounding is
// not at hand.
bool simt_fold_unary(simt_op op, simt_constant x, simt_constant *out);
bool simt_fold_binary(simt_op op, simt_constant x, simt_constant y, simt_constant *out);
bool simt_fold_fma(simt_constant x, simt_constant y, simt_constant z, simt_constant *out);
bool simt_fold_cmp(simt_predicate p, simt_constant x, simt_constant y, simt_constant *out);
// CVT, UCVT, BITCAST
bool simt_fold_cvt(simt_op op, simt_type t, simt_constant x, simt_constant *out);
// An argument or constant that an integer operation equals whatever the other argument is: x + 0, x
// * 1, x & 0 …
simt_value simt_fold_identity(const simt_func *f, simt_op op, simt_value x, simt_value y);

// ---- simt_text.c --------------------------------------------------------------------------------
// How an operation is written: OP [aux] [type] arguments [literal] [attributes]. simt_print and
// simt_parse follow it.
typedef enum { TYPE_NOT_WRITTEN, TYPE_OF_RESULT, TYPE_OF_ARG0, TYPE_OF_ARG1 } simt_written_type;
typedef enum { AUX_NONE, AUX_SREG, AUX_PREDICATE, AUX_ATOMIC, AUX_SCOPE, AUX_MMA } simt_written_aux;
typedef enum {
    IMM_NONE,
    IMM_CONST,
    IMM_OFFSET,
    IMM_LANE,
    IMM_WIDTH,
    IMM_BYTES,
    IMM_ADDR,
    IMM_CALLEE
} simt_written_imm;
typedef enum { FORM_PLAIN, FORM_FOR, FORM_WHILE, FORM_IF, FORM_LIST, FORM_MMA } simt_written_form;
typedef struct {
    uint8_t form, type, aux, imm;
    bool mem;   // align, cache, invariant
} simt_syntax;
simt_syntax simt_syntax_of(simt_op op);
typedef struct {
    const char *const *text;
    uint32_t count;
} simt_words;
simt_words simt_aux_words(simt_written_aux aux);
simt_words simt_cache_words(void);
bool simt_name_valid(const char *s);   // a letter or _, then letters, digits, _ . $

// ---- simt_parse.c -------------------------------------------------------------------------------
// Reads the one function that starts at byte `at` of the text into m; faults go to ds and give
// NULL.
simt_func *simt_parse_function(simt_module *m, diag_set *ds, const source_file *text, uint32_t at);

#endif
