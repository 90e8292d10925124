// Text and verification of loop IR (LOOP.md).
#ifndef GNNC_LOOP_TEXT_H
#define GNNC_LOOP_TEXT_H

#include "loop_plan.h"

// A text (LOOP.md): versions of an op, each a plan and what it takes for granted, and the op as it
// is defined; or a plan alone.
typedef struct {
    const char *name;            // NULL: a plan alone, whose guards its loops tell
    VEC(program_guard) guards;   // of the definition's spaces and parameters
} loop_version;
typedef struct loop_text {
    tensor_op *definition;   // NULL: of a plan alone
    VEC(loop_plan *) plans;
    VEC(loop_version) versions;   // of each plan
} loop_text;

void loop_print(textbuf *out, const loop_plan *p);   // the op in tensor IR, then the plan
// likewise each plan, with its version, and the definition
void loop_print_text(textbuf *out, const loop_text *t);
// false: ds tells why. What loop_print and loop_print_text write reads back to the same text.
bool loop_parse(arena *a, diag_set *ds, const source_file *text, loop_text *out);
const char *loop_verify(arena *a, const loop_plan *p);   // NULL, or what is wrong, in words

#endif
