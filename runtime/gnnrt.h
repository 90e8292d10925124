// libgnnrt: the launching of what gnnc compiled, on a CUDA device or on the cores of this machine.
// It needs the C library and nothing else; files and generators of graphs are libgnnrt_io's
// (gnnrt_io.h).
//
// Enters: maps (index arrays), tensors, manifests with their code. Leaves: results in the caller's
// memory. The caller owns every array handed over; what the library makes, it frees by the call
// named beside it. The CUDA driver is opened at run time. Every call returns a gnn_status: 0 is
// good, negatives are the table below; the context keeps the text of the last call that failed. A
// context and what was made from it belong to one thread at a time.
//
//     gnn_context *c;  gnn_program *p;  gnn_plan *plan;
//     gnn_context_new(&(gnn_context_options){.device = GNN_HOST}, &c);
//     gnn_program_load(c, manifest, manifest_length, &code, &p);
//     gnn_plan_new(p, &(gnn_plan_options){.maps = maps, .nmaps = 2, .args = args, .nargs = 5}, &plan);
//     gnn_launch(plan, args, 5, workspace, workspace_bytes, NULL);   // as often as wanted
#ifndef GNNRT_H
#define GNNRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GNN_VERSION_MAJOR 0   // of gnnc and its libraries
#define GNN_VERSION_MINOR 1
#define GNN_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

// ---- Status -------------------------------------------------------------------------------------
// X(name, number, text). Numbers never change.
#define GNN_STATUSES(X)                                                                            \
    X(OK, 0, "good")                                                                               \
    X(NO_MEMORY, -1, "out of memory")                                                              \
    X(BAD_ARGUMENT, -2, "an argument of the call is not valid")                                    \
    X(BAD_MANIFEST, -3, "the manifest is not valid")                                               \
    X(BAD_CODE, -4, "the code does not fit the manifest or the device")                            \
    X(NO_DRIVER, -5, "the CUDA driver cannot be opened")                                           \
    X(NO_DEVICE, -6, "there is no such device")                                                    \
    X(CUDA, -7, "the CUDA driver reported an error")                                               \
    X(MISSING, -8, "something the program needs was not given")                                    \
    X(SIZE_MISMATCH, -9, "sizes do not agree")                                                     \
    X(TOO_LARGE, -10, "a size is too large")                                                       \
    X(PRECONDITION, -11, "a precondition does not hold")                                           \
    X(BAD_INDEX, -12, "an index is outside its space")                                             \
    X(NOT_SORTED, -13, "a map is not sorted as declared")                                          \
    X(NOT_UNIQUE, -14, "a map is not unique as declared")                                          \
    X(BAD_OFFSETS, -15, "offsets are not valid")                                                   \
    X(BAD_TENSOR, -16, "a tensor does not fit its parameter")                                      \
    X(MISALIGNED, -17, "memory is not aligned as declared")                                        \
    X(OVERLAP, -18, "memory that must be distinct overlaps")                                       \
    X(BAD_WORKSPACE, -19, "the workspace is too small or misaligned")                              \
    X(IO, -20, "a file cannot be read or written")                                                 \
    X(BAD_FILE, -21, "a file is not in the form expected")                                         \
    X(BAD_GENERATOR, -22, "a generator's description is not valid")                                \
    X(NO_THREADS, -23, "threads cannot be started")                                                \
    X(NO_VERSION, -24, "the version asked for cannot run there")                                   \
    X(NO_CAPTURE, -25, "launches cannot be captured there")
typedef enum {
#define X(name, number, text) GNN_##name = number,
    GNN_STATUSES(X)
#undef X
} gnn_status;
const char *gnn_status_text(gnn_status s);   // never NULL

// ---- Context ------------------------------------------------------------------------------------
typedef struct gnn_context gnn_context;
// CUDA's own CUstream; NULL: its default stream; NULL on the host
typedef struct CUstream_st *gnn_stream;

// Devices: CUDA device 0, or this machine's cores where there is no driver or no device; this
// machine's cores; a CUDA device by its ordinal.
enum { GNN_AUTO = 0, GNN_HOST = -1 };
#define GNN_GPU(ordinal) ((ordinal) + 1)

typedef struct {   // of host memory; both or neither
    // NULL: none left; align is a power of two
    void *(*alloc)(void *user, size_t bytes, size_t align);
    void (*release)(void *user, void *memory);
    void *user;
} gnn_allocator;

// Calls body(data, i) once for each i < n, in any order, on any threads, and returns when all have
// returned.
typedef void (*gnn_parallel_for)(void *user, uint32_t n, void (*body)(void *data, uint32_t i),
                                 void *data);

typedef struct gnn_simulator gnn_simulator;   // below

typedef struct {
    int device;                // GNN_AUTO, GNN_HOST or GNN_GPU(ordinal)
    uint32_t threads;          // of the host; 0: one a core
    gnn_allocator allocator;   // zero: the C library's
    // NULL: the context's own threads, started by the first plan or large graph
    gnn_parallel_for parallel_for;
    void *parallel_user;
    const gnn_simulator *simulator;   // with GNN_HOST: launches are its; NULL: none
} gnn_context_options;

// A CUDA context works in the caller's current CUDA context where it is of that device, else in the
// device's primary one; the caller's current context stays as it was. On failure *out, where it is
// not NULL, only tells its error and is freed as any other. o may be NULL: zero.
gnn_status gnn_context_new(const gnn_context_options *o, gnn_context **out);
// After all that was made from it. A forked child has none of the threads and nothing of CUDA.
// There all may be freed, which leaves the driver alone, so that the parent's goes on. A context of
// the host may be used; its launches run on one thread until a plan is made. Calls of a context of
// CUDA fail (GNN_CUDA), launches by the driver's own refusal.
void gnn_context_free(gnn_context *c);
// What was wrong with the last call that failed, since the context was made or cleared; "" if none
// did. Calls that succeed leave it.
const char *gnn_context_error(const gnn_context *c);
gnn_status gnn_context_status(const gnn_context *c);   // that call's status
void gnn_context_clear_error(gnn_context *c);
int gnn_context_device(const gnn_context *c);   // GNN_HOST or GNN_GPU(ordinal)

typedef struct {
    char name[128];
    // GNN_HOST or GNN_GPU(ordinal); how many CUDA devices the driver shows
    int device, devices;
    int driver_version;     // 13000: CUDA 13.0; 0 on the host
    int sm;                 // 90: compute capability 9.0; 0 on the host
    int sms;                // multiprocessors; on the host, threads
    int64_t memory;         // bytes; 0 on the host
    int64_t shared_bytes;   // most a block may ask for; 0 on the host
    int64_t l2_bytes;       // 0 on the host
    int mhz;                // the most that its clock reaches; 0 on the host
} gnn_device_info;
gnn_status gnn_device_query(gnn_context *c, gnn_device_info *out);

// A GPU that something on the host plays, for tools that check kernels. Its memory is the host's,
// programs are those for GPUs and need no code; a launch is a call that gets the whole grid, and
// what each pointer among its arguments may reach.
typedef struct {
    // of a parameter, prepared structure or temporary; NULL: the slot is no pointer
    const char *name;
    void *data;
    size_t bytes;
    bool written;   // before the program's first kernel
    bool result;
    bool scratch;   // a temporary: of the workspace, where others may lie when it is not needed
} gnn_extent;
struct gnn_simulator {
    gnn_device_info device;   // what gnn_device_query gives
    // early: a GPU may start it while the launch before runs.
    void (*launch)(void *user, const char *kernel, const uint64_t *slots, const gnn_extent *extents,
                   uint32_t blocks, bool early);
    void *user;
};

// ---- Memory, streams, time: of the context's device ---------------------------------------------
// Memory is aligned to 256 bytes. Zero bytes are legal and give NULL.
gnn_status gnn_alloc(gnn_context *c, size_t bytes, void **out);
void gnn_free(gnn_context *c, void *memory);
gnn_status gnn_copy_in(gnn_context *c, void *device, const void *host, size_t bytes, gnn_stream s);
// Sync before reading.
gnn_status gnn_copy_out(gnn_context *c, void *host, const void *device, size_t bytes, gnn_stream s);
gnn_status gnn_fill(gnn_context *c, void *device, uint8_t byte, size_t bytes, gnn_stream s);
gnn_status gnn_sync(gnn_context *c, gnn_stream s);
gnn_status gnn_stream_new(gnn_context *c, gnn_stream *out);   // NULL on the host
void gnn_stream_free(gnn_context *c, gnn_stream s);

typedef struct gnn_timer gnn_timer;   // CUDA events; the monotonic clock on the host
gnn_status gnn_timer_new(gnn_context *c, gnn_timer **out);
gnn_status gnn_timer_start(gnn_timer *t, gnn_stream s);
gnn_status gnn_timer_stop(gnn_timer *t, gnn_stream s);
gnn_status gnn_timer_read(gnn_timer *t, double *milliseconds);   // waits for the stop
void gnn_timer_free(gnn_timer *t);

// ---- What is handed over ------------------------------------------------------------------------
// clang-format off
#define GNN_DTYPES(X) /* X(name, text, bytes) */                                                            \
    X(F64, "f64", 8) X(F32, "f32", 4) X(BF16, "bf16", 2) X(F16, "f16", 2) X(I32, "i32", 4) X(I64, "i64", 8) \
    X(BOOL, "bool", 1)
// clang-format on
typedef enum {
#define X(name, text, bytes) GNN_##name,
    GNN_DTYPES(X)
#undef X
        GNN_DTYPE_COUNT
} gnn_dtype;
const char *gnn_dtype_text(gnn_dtype t);
size_t gnn_dtype_bytes(gnn_dtype t);

enum { GNN_MAX_RANK = 8 };

// An index array between two spaces, as indices or, where it is declared sorted, as offsets alone:
// codomain + 1 of them, the entries of class v lie from offsets[v] to offsets[v + 1]. None is -1,
// where declared partial.
typedef struct {
    // domain of them, row-major where the domain has several axes; NULL: offsets tell
    const void *index;
    const void *offsets;   // NULL: none; beside an index they are only checked against it
    uint32_t width;        // 32 or 64, of both arrays
    bool on_device;        // both arrays lie on the context's device; always false on the host
    // number of entries; 0: that of its axes, or none where there is no array
    int64_t domain;
    int64_t codomain;   // size of the space they lie in; -1: unknown, given otherwise
} gnn_map;

typedef struct {
    void *data;   // on the context's device; NULL only where empty
    // results that hold indices: I32 or I64, as the program's index width
    gnn_dtype dtype;
    uint32_t rank;
    bool has_strides;   // false: packed, row-major
    int64_t shape[GNN_MAX_RANK];
    // In elements, not negative; the last is 1 unless the parameter is declared strided.
    int64_t strides[GNN_MAX_RANK];
} gnn_tensor;

// a scalar by value: f16 and bf16 as f32, bool and index as i64, others in their own member
typedef union {
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
} gnn_scalar;

typedef struct {   // one a parameter, in the program's order; those of maps are left zero
    const gnn_tensor *tensor;   // tensors and results
    gnn_scalar scalar;          // scalars
} gnn_arg;

// ---- Programs -----------------------------------------------------------------------------------
typedef struct gnn_program gnn_program;

// Runs one block; args are eight-byte slots, a narrower value in the low bytes.
typedef void (*gnn_host_fn)(const uint64_t *args, uint32_t block, uint32_t blocks);
typedef struct {
    const char *name;
    gnn_host_fn fn;
} gnn_host_kernel;
typedef struct {
    const void *image;   // CUDA: cubin, fatbin, or PTX ending in a zero byte
    size_t size;
    const gnn_host_kernel *kernels;   // host; copied
    size_t nkernels;
} gnn_code;

// The form of the manifest is in MANIFEST.md. It is checked whole; code is trusted. Either may be
// compressed, as objects hold them.
gnn_status gnn_program_load(gnn_context *c, const char *manifest, size_t length,
                            const gnn_code *code, gnn_program **out);
void gnn_program_free(gnn_program *p);   // after its plans

typedef enum { GNN_PARAM_MAP, GNN_PARAM_TENSOR, GNN_PARAM_SCALAR, GNN_PARAM_RESULT } gnn_role;
typedef struct {
    const char *name;
    gnn_role role;
    gnn_dtype dtype;   // index: I32 or I64, as the program's index width; see is_index
    bool is_index, sorted, unique, partial, prefix, strided, packed;
    // of what an op leaves for its gradient: an array that the one writes and the other reads; a
    // result of the op that the gradient reads
    bool saved, given;
    bool unread;   // a tensor of a shape alone: no kernel reads its values
    uint32_t rank;
    const uint32_t *axes;   // spaces
    int32_t into;           // is_index: the space its values lie in, or -1
    int32_t sorted_by;      // sorted within the preimages of this map; -1: as a whole
    int32_t inplace;        // results: the parameter whose memory it may be, or -1
    size_t align;           // bytes
    // of a gradient: it is the adjoint of this parameter or result of the op; NULL: of none
    const char *adjoint_of;
} gnn_param_info;
typedef struct {
    const char *name;
    bool is_free;   // its size is given, or follows from maps and tensors
    // of one that is not: its size in postfix (MANIFEST.md), such as "64" or "S 1 +"; NULL: maps
    // tell it
    const char *size;
} gnn_space_info;
const char *gnn_program_name(const gnn_program *p);
const char *gnn_program_target(const gnn_program *p);
const char *
gnn_program_gradient_of(const gnn_program *p);   // an op's name; NULL: it is no gradient
uint32_t gnn_program_index_bits(const gnn_program *p);
bool gnn_program_deterministic(const gnn_program *p);
uint32_t gnn_program_params(const gnn_program *p);   // how many
gnn_status gnn_program_param(const gnn_program *p, uint32_t i, gnn_param_info *out);
int gnn_program_param_find(const gnn_program *p, const char *name);   // -1: none
uint32_t gnn_program_spaces(const gnn_program *p);
gnn_status gnn_program_space(const gnn_program *p, uint32_t i, gnn_space_info *out);
// Versions do the same by other kernels, where their guards hold: a launch takes the first that may
// run.
uint32_t gnn_program_versions(const gnn_program *p);
// its name; NULL: there is none
const char *gnn_program_version(const gnn_program *p, uint32_t i);

// ---- Plans: a program on one graph --------------------------------------------------------------
typedef struct gnn_plan gnn_plan;
typedef struct gnn_cache gnn_cache;

// Prepared structures several plans may share: those of equal maps (same arrays, width and sizes;
// the arrays must not have changed) by equal recipes. They live until the cache and the last plan
// with them are freed.
gnn_status gnn_cache_new(gnn_context *c, gnn_cache **out);
void gnn_cache_free(gnn_cache *k);

typedef struct {
    const char *name;   // of a free space
    int64_t value;
} gnn_size;
typedef struct {
    const char *name;   // of a map parameter
    gnn_map map;        // the arrays stay unchanged while the plan lives
} gnn_named_map;

enum {                 // flags
    GNN_TRUSTED = 1,   // maps and arguments are not checked; wrong ones are undefined behaviour
    // of linked ops: launches leave in args->saved what the gradient's launches take from there
    GNN_SAVED = 2
};

typedef struct {
    // Of free spaces; those that follow from maps or tensors may be left out, and must agree.
    const gnn_size *sizes;
    size_t nsizes;
    const gnn_named_map *maps;   // all but those declared prefix
    size_t nmaps;
    // optional: tensors whose shapes tell sizes; their data is not looked at
    const gnn_arg *args;
    size_t nargs;
    uint32_t flags;
    gnn_stream stream;   // maps are prepared there, or uploaded; the call waits for it
    gnn_cache *cache;    // NULL: shares nothing
    // this one alone, also where it does not pay; where it cannot run: NO_VERSION. NULL: the first
    // that may run
    const char *version;
} gnn_plan_options;

// Checks maps and preconditions, and builds what the versions want prepared that launches may take.
// Maps that lie on the device are checked and prepared there, by kernels on the stream given, which
// the driver compiles once a context.
gnn_status gnn_plan_new(gnn_program *p, const gnn_plan_options *o, gnn_plan **out);
void gnn_plan_free(gnn_plan *plan);
// Bytes enough for any launch of the plan, whatever its arguments: for the version it keeps that
// needs most.
size_t gnn_plan_workspace(const gnn_plan *plan);
// refused where nothing counted it
gnn_status gnn_plan_size(const gnn_plan *plan, const char *space, int64_t *out);
// A size, condition or number as manifests write it, such as `avg(dst) 4 <`, with a plan's sizes
// and what its maps and device tell. BAD_ARGUMENT: it is not well formed.
gnn_status gnn_plan_evaluate(gnn_plan *plan, const char *expression, int64_t *out);
// Packed, data NULL: to allocate by.
gnn_status gnn_plan_shape(const gnn_plan *plan, uint32_t param, gnn_tensor *out);
size_t gnn_plan_prepared_bytes(const gnn_plan *plan);   // held by the plan, shared or not

// Whether args fit; launches check too, unless the plan was made trusted.
gnn_status gnn_check(gnn_plan *plan, const gnn_arg *args, size_t nargs);
// The name of the version a launch with these arguments takes.
gnn_status gnn_plan_version(gnn_plan *plan, const gnn_arg *args, size_t nargs, const char **out);
// The bytes of workspace that version uses: gnn_plan_workspace's or fewer. Of arguments only
// addresses and strides choose it, so it stays as long as these do. 0 where args do not fit (as
// gnn_check) or no version may run (NO_VERSION).
gnn_status gnn_plan_workspace_for(gnn_plan *plan, const gnn_arg *args, size_t nargs, size_t *bytes);
// Asynchronous on CUDA: allocates nothing, waits for nothing, reads nothing from the device and
// works on no stream but the one given, so it may be captured into a CUDA graph: by
// gnn_capture_begin below, or by the caller. On the host it returns when done. The workspace is
// memory of the context's device, aligned to 256 bytes, which no argument shares; NULL where none
// is used. BAD_WORKSPACE, with the version's name and bytes: it is smaller than the version taken
// uses. What lies behind those bytes is not touched.
gnn_status gnn_launch(gnn_plan *plan, const gnn_arg *args, size_t nargs, void *workspace,
                      size_t workspace_bytes, gnn_stream s);
// As gnn_launch, and tells of each kernel by its name: before it is submitted, and behind that.
// There a timer may be started and stopped on the stream. No kernel starts before the one ahead has
// ended.
typedef struct {
    void (*tell)(void *user, const char *kernel, bool submitted);
    void *user;
} gnn_watch;
gnn_status gnn_launch_watched(gnn_plan *plan, const gnn_arg *args, size_t nargs, void *workspace,
                              size_t workspace_bytes, gnn_stream s, const gnn_watch *watch);

// ---- Replays: launches captured once, submitted together ----------------------------------------
// A small launch takes the caller's thread longer than the GPU. From begin to end the launches of a
// stream are not run but recorded in a CUDA graph, each with the version, pointers and scalars of
// its call; a replay submits them all at once and works on what the memory holds then.
//
//     gnn_capture_begin(c, stream);
//     for (int i = 0; i < LAYERS; i++) gnn_launch(plans[i], args[i], nargs, workspace, workspace_bytes, stream);
//     gnn_capture_end(c, stream, &replay);
//     gnn_replay_launch(replay, stream);   // as often as wanted
//
// On the host, and by drivers before CUDA 11.4, nothing is captured: NO_CAPTURE.
typedef struct gnn_replay gnn_replay;

// The stream is one of gnn_stream_new or the caller's own: the default one cannot be captured.
// Until the end nothing but launches is called of the context, on no default stream.
gnn_status gnn_capture_begin(gnn_context *c, gnn_stream s);
// A capture that was begun is ended, whatever its launches said; where one failed, with out NULL,
// which drops the rest.
gnn_status gnn_capture_end(gnn_context *c, gnn_stream s, gnn_replay **out);
// Asynchronous, on any stream. The plans, workspaces and arrays of the launches live as long as the
// replay.
gnn_status gnn_replay_launch(gnn_replay *r, gnn_stream s);
void gnn_replay_free(gnn_replay *r);   // after its last launch is done

// ---- Linked ops: what gnnc --emit=obj,header gives ----------------------------------------------
// An object holds an artefact for each op: its manifests and code. The header beside it declares a
// struct of the op's arguments and the calls OP_load, OP_plan, OP_check, OP_workspace and
// OP_launch, which are the calls below with the artefact put in. Such a struct holds the sizes of
// the free spaces, then maps, tensors, scalars and results in the order of the op:
// - Sizes are int64_t; GNN_TOLD: maps and tensors tell it; GNN_EMPTY: it is 0. 0 is as GNN_TOLD where they do, and as
//   GNN_EMPTY where no array of the space is given; with an array it was forgotten, which is refused (MISSING). What may be 0
//   is said with gnn_count.
// - A gnn_map may leave domain and codomain 0 where the sizes are given. A size past 2^31 - 1 takes
//   the code of 64-bit indices; so does a map of 64 bits where a result of the op holds indices, which are of
//   the code's width. Anything else takes that of 32-bit ones, which is faster; a plan converts maps of the
//   other width, and keeps them so. Prefix maps have no array and no member.
// - A gnn_tensor of rank 0 gives data, and where has_strides is set strides; the op and the sizes tell type
//   and shape.
// - Scalars are double, float (f32, f16, bf16), int32_t, int64_t (i64, index) and bool.
// - An op with a gradient, and the gradient, end in `void *saved`: memory on the context's device, aligned to 256 bytes, of
//   gnn_plan_saved bytes, that a launch of the op fills and one of its gradient reads, both by plans made with GNN_SAVED. Without
//   it the gradient computes again what it needs, and `saved` is NULL. Behind `saved` a gradient has the op's results that it
//   reads then, as the op gave them; without it they may be left zero.
// - GNN_DETERMINISTIC(op), also in #if: 1 where each launch of one plan with one input gives the
//   same bits, whatever else runs; 0 where floats may be combined in another order at each launch
//   (--no-deterministic). Another plan, version or target may give other bits.
#define GNN_DETERMINISTIC(op) GNN_DETERMINISTIC_##op
#define GNN_ABI 5   // of the types here and above: an object of another number is refused

// in place of a size: maps and tensors tell it; there are none
enum { GNN_TOLD = -1, GNN_EMPTY = -2 };
// for a member whose size may be 0: .E = gnn_count(edges)
static inline int64_t gnn_count(int64_t n) { return n ? n : (int64_t)GNN_EMPTY; }

// The manifest and the image may be compressed (MANIFEST.md), as gnnc has them in objects.
typedef struct {   // one compilation of an op
    const char *manifest;
    size_t manifest_size;
    const char *target;    // the manifest's: "sm_90a", "host"
    uint32_t index_bits;   // the manifest's
    uint32_t is_ptx;       // the image is PTX, which later GPUs take as well
    gnn_code code;
} gnn_build;
typedef struct gnn_artefact {
    uint32_t abi, nbuilds;
    const char *name;   // of the op
    const gnn_build *builds;
    const struct gnn_artefact *twin;   // for plans made with GNN_SAVED; NULL: nothing is saved
} gnn_artefact;

typedef struct gnn_op gnn_op;   // an artefact's code, loaded

// Takes the code for the context's device: made for it, else for an earlier minor version of its
// major one, else PTX, which the driver compiles; of each index width the artefact holds.
gnn_status gnn_op_load(const gnn_artefact *a, gnn_context *c, gnn_op **out);
void gnn_op_free(gnn_op *op);   // after its plans

typedef struct {
    uint32_t flags;        // GNN_TRUSTED, GNN_SAVED
    uint32_t index_bits;   // 32, 64: take that code; 0: by the sizes and the maps
    const char *version;   // as gnn_plan_options, like what follows
    gnn_stream stream;
    gnn_cache *cache;
} gnn_op_options;

// Tensors may have no data yet. o may be NULL. The plan is freed by gnn_plan_free, before the op.
gnn_status gnn_op_plan(const gnn_artefact *a, gnn_op *op, const void *args, const gnn_op_options *o,
                       gnn_plan **out);
size_t gnn_plan_saved(const gnn_plan *plan);   // bytes of `saved`; 0: it may be NULL
// As gnn_check, gnn_plan_workspace_for and gnn_launch. Maps and sizes must be those of the plan;
// maps may be left zero.
gnn_status gnn_op_check(const gnn_artefact *a, gnn_plan *plan, const void *args);
gnn_status gnn_op_workspace(const gnn_artefact *a, gnn_plan *plan, const void *args, size_t *bytes);
gnn_status gnn_op_launch(const gnn_artefact *a, gnn_plan *plan, const void *args, void *workspace,
                         size_t workspace_bytes, gnn_stream s);

// ---- Libraries: what gnnc --emit=library gives, opened while a program runs ---------------------
// For callers that have no header of an op: other languages, and programs that compile as they go.
// A library holds artefacts in one file (LIBRARY.md). Their arguments go by name and number.
//
//     gnn_library *l;  gnn_op *op;  gnn_plan *plan;
//     gnn_library_open(c, "layers.gnnlib", &l);
//     gnn_op_load(gnn_library_find(l, "gat_f32"), c, &op);
//     gnn_op_plan_named(op, &options, 0, &plan);
//     gnn_launch(plan, args, n, workspace, workspace_bytes, stream);
typedef struct gnn_library gnn_library;

uint32_t gnn_abi(void);   // GNN_ABI of the library that is loaded
// The file is read once, and may go. Its places and a checksum are checked; its code is trusted, as
// that of any library is. BAD_FILE: it is none, or damaged.
gnn_status gnn_library_open(gnn_context *c, const char *path, gnn_library **out);
// the same of bytes, which are copied
gnn_status gnn_library_read(gnn_context *c, const void *bytes, size_t size, gnn_library **out);
void gnn_library_close(gnn_library *l);   // after the ops loaded from it, before the context
uint32_t gnn_library_ops(const gnn_library *l);                         // how many
const gnn_artefact *gnn_library_op(const gnn_library *l, uint32_t i);   // NULL: there is none
const char *gnn_library_path(const gnn_library *l,
                             uint32_t i);   // its name in the source: "gat.grad"
const gnn_artefact *gnn_library_find(const gnn_library *l, const char *name);   // likewise
// The program of an op, to ask for its parameters, which are those of every launch: of 32-bit
// indices, of 64-bit ones, or of 0 whichever there is. flags: GNN_SAVED: the one that leaves or
// takes what is saved, as parameters of its own. NULL: there is none.
gnn_program *gnn_op_program(gnn_op *op, uint32_t index_bits, uint32_t flags);
// As gnn_plan_new, of the program that sizes and maps ask for (index_bits 0: see above), or that of
// one width. GNN_SAVED among o->flags is of gnn_op_program.
gnn_status gnn_op_plan_named(gnn_op *op, const gnn_plan_options *o, uint32_t index_bits,
                             gnn_plan **out);
gnn_program *gnn_plan_program(gnn_plan *plan);   // that it is of

#ifdef __cplusplus
}
#endif
#endif
