// The GPU of this machine.
#include "replay.h"

const char machine_form[] = "cubin";

gnn_status machine_open(gnn_context **c) {
    return gnn_context_new(&(gnn_context_options){.device = GNN_GPU(0)}, c);
}
void machine_close(gnn_context *c) { gnn_context_free(c); }
bool machine_take(const char *code, size_t bytes) { return code && bytes; }
void machine_begin(void) {}
uint32_t machine_end(void) { return 0; }
