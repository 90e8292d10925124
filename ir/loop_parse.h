// The reader of loop IR text: what its files share. Tokens and expressions are those of tensor IR;
// its scope holds every variable a plan may name, and the verifier says where one is bound.
#ifndef GNNC_LOOP_PARSE_H
#define GNNC_LOOP_PARSE_H

#include "loop_internal.h"
#include "tensor_parse.h"

typedef struct {
    parser text;
    loop_plan *plan;
    loop_names names;   // stages: interned
    uint32_t depth;     // of bodies
} plan_parser;

// A version as it stands in the text; what names things of the definition is understood when that
// has been read.
typedef struct {
    program_guard guard;
    token param, sizes;   // HOLDS: its sizes
} read_guard;
typedef struct {
    token name;   // END: a plan without a version
    VEC(read_guard) guards;
    VEC(token) apart, relative, every;
    VEC(uint32_t) times;   // of each of every
} read_version;
void loop_parse_version(plan_parser *p, read_version *out);   // behind `version`
void loop_parse_resolve(plan_parser *p, const tensor_op *definition, loop_plan *plan,
                        const read_version *v, loop_version *out);

void loop_parse_number(plan_parser *p, uint32_t *out);   // positive
void loop_parse_pad(plan_parser *p, uint32_t *out);
uint32_t loop_parse_stage(plan_parser *p);
tensor_var loop_parse_var(plan_parser *p);
tensor_val loop_parse_val(plan_parser *p);
void loop_parse_fields(plan_parser *p, uint32_t of, void *has);   // of loop_field.def
void loop_parse_body(plan_parser *p, loop_body *out);             // { node … }

#endif
