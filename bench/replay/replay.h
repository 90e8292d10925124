// gnnc-replay: executes what `gnnc run --pack` and `gnnc test --pack` wrote, and compares it with
// what the results may be. Needs libgnnrt, which is linked in, and a GPU's driver; no compiler.
//
//     gnnc-replay a.pack b.pack
//
// Exit status: 0 all right, 1 something was wrong, 2 a pack or the GPU cannot be used.
#ifndef REPLAY_H
#define REPLAY_H

#include "gnnrt.h"

#include <jansson.h>

// ---- A pack (pack.c) ----------------------------------------------------------------------------
typedef struct {
    const char *path;
    uint8_t *bytes;
    size_t size, at;   // at: the next member
    uint32_t records;
} pack;
typedef struct {   // a program, and the graphs it runs on
    json_t *about;
    uint8_t *memory;   // zero-terminated text of `about`, then data
    const uint8_t *data;
    size_t bytes;
} record;
// Reads a file and inflates all of it once: what is damaged is told, and false.
bool pack_open(const char *path, pack *p);
void pack_close(pack *p);
bool pack_next(pack *p, record *r);   // false: there are no more, or, told, no memory
void pack_skip(pack *p, uint32_t records);
void record_free(record *r);
// The data that [at, bytes] names; NULL: it names none.
const void *record_chunk(const record *r, const json_t *where, size_t *bytes);
char *record_text(const record *r, const char *key);   // a copy, zero-terminated; the caller's

// ---- Intervals of a result (interval.c) ---------------------------------------------------------
typedef struct {
    int64_t compared, open, wrong, first_wrong;   // open: anything may stand there
} comparison;
// Elements of n packed ones, with n lower ends and n spans behind each other.
comparison intervals_compare(gnn_dtype t, const void *elements, const void *intervals, int64_t n);
void interval_print(char *to, size_t size, gnn_dtype t, const void *elements, const void *intervals,
                    int64_t n, int64_t at);

// ---- Memory of a tensor (region.c) --------------------------------------------------------------
// Between guards; what does not belong to its elements holds a poison.
typedef struct {
    gnn_context *context;
    gnn_tensor tensor;   // its data lies within
    void *memory;        // of the device; NULL: the region is not used
    uint8_t *image, *wanted;
    size_t bytes, first;
    int64_t count;
} region;
gnn_status region_new(gnn_context *c, const gnn_tensor *like, size_t align, size_t off, region *x);
void region_free(region *x);
void region_put(const region *x, uint8_t *image, const void *elements);      // packed ones
void region_get(const region *x, void *elements);                            // from the image
gnn_status region_upload(region *x, uint8_t poison, const void *elements);   // NULL: poison alone
gnn_status region_download(region *x);
// the image is that alone
bool region_intact(const region *x, uint8_t poison, const void *elements);

// ---- A record (program.c, launch.c) -------------------------------------------------------------
typedef struct {
    uint32_t programs, runs, unfit, wrong, next;   // next: the record at hand
    int64_t compared, open;
} tally;
typedef struct {
    const record *record;
    gnn_context *context;
    gnn_program *program;
    tally *tally;
    const char *op, *graph, *version;   // at hand
    bool told;                          // the command
    bool lost;                          // the context can be used no more
} replay;
void replay_record(replay *r);
void replay_wrong(replay *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool replay_failed(replay *r, gnn_status s);   // tells a failure
typedef struct {
    gnn_plan *plan;
    uint32_t n;
    gnn_arg *args;
    gnn_tensor *tensors;
    region *regions;          // per parameter
    const void **inputs;      // per parameter: packed elements
    const void **intervals;   // per parameter that is a result
    int64_t *over;            // per parameter: a result lies where that one does; -1
    region workspace;
} launch_data;
void replay_launches(replay *r, launch_data *l);   // two, over different poisons

// ---- The machine (machine_cuda.c; machine_sim.c in tests) ---------------------------------------
extern const char machine_form[];   // of code: "cubin"
gnn_status machine_open(gnn_context **c);
void machine_close(gnn_context *c);
bool machine_take(const char *code, size_t bytes);   // of the next program
void machine_begin(void);                            // a launch
uint32_t machine_end(void);                          // faults it found, which it tells
#endif
