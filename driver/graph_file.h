// Graph files, read as --graph-format, --graph-base, --graph-compact and --graph-memory say.
#ifndef GNNC_GRAPH_FILE_H
#define GNNC_GRAPH_FILE_H

#include "driver.h"

#include "runtime/gnnrt_io.h"

// notes become warnings
gnn_status graph_file_read(driver *d, gnn_context *c, const char *path, gnn_graph *out);
// c NULL: there is none
diagnostic *graph_file_fault(driver *d, const gnn_context *c, gnn_status s);
void graph_file_unasked(driver *d);   // a graph is generated, so that those options have no effect
typedef VEC(const char *) graph_words;
// those that were given, as they are given again
void graph_file_options(const driver *d, graph_words *out);

#endif
