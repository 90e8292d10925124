// Words of options.def that are rows of another table.
#ifndef GNNC_GRAPH_WORDS_H
#define GNNC_GRAPH_WORDS_H

#include "gnnrt_io.h"

#define OR_WORD(name, text, reader) "|" text
#define GRAPH_FORMAT_WORDS "auto" GNN_GRAPH_FILES(OR_WORD)

#endif
