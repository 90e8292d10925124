// Text and verification of SIMT IR (SIMT.md).
#ifndef GNNC_SIMT_TEXT_H
#define GNNC_SIMT_TEXT_H

#include "simt_func.h"

void simt_print(textbuf *out, const simt_module *m);
// Reads the text form; faults go to ds with their position and give NULL. What simt_print writes,
// simt_parse reads back to the same text.
simt_module *simt_parse(arena *a, diag_set *ds, const source_file *text);
// Types, dominance, terminators, attributes, and uniformity: warp operations stand only where the
// whole warp arrives, barriers only where the whole block does. Returns NULL, or what is wrong, in
// words.
const char *simt_verify(arena *a, const simt_module *m);
// of functions from `first` on, where those before them verify
const char *simt_verify_added(arena *a, const simt_module *m, uint32_t first);
bool simt_too_deep(const simt_module *m);   // regions nest deeper than the verifier lets them

#endif
