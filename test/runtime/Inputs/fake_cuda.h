// A CUDA driver without a GPU: built as libcuda.so.1 and linked to the test, so that dlopen finds
// it loaded. Device memory is host memory, kernels are functions of the test, streams finish at
// once. Counts what lives; any call can fail once. Modules are the text "fake", with the kernels
// registered, or PTX, whose kernels a player of the test runs. Where the environment has FAKE_CUDA
// any code is good, kernels do nothing, and the call it names fails. A stream that is captured
// records launches, with what their parameters hold. What CUDA's rules forbid meanwhile fails,
// spoils the capture, and is counted: what synchronises or allocates, and work for the default
// stream. Besides, what is no launch.
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*fake_kernel)(void **params, unsigned grid, unsigned block, unsigned shared);
void fake_register(const char *name, fake_kernel k, int nparams, int declared_shared);
typedef void (*fake_player)(const char *kernel, void **params, unsigned grid, unsigned block,
                            unsigned shared);
void fake_play(fake_player p);   // NULL: PTX is refused
void fake_forget_kernels(void);
void fake_forget(void);   // kernels, the player, counts, memory; nothing is current

// NULL: of all; GetErrorName, GetErrorString and CtxPop don't count
int64_t fake_calls(const char *name);
void fake_fail_at(int64_t call);   // the call of that number fails, counted from now; -1: none
// Until NULL is said each call fails once, in a copy of the process, which calls `begin` first and
// does not come back from fake_end_copy; the process waits for its end. Gives how many copies ended
// by status 0, -1: one did not.
int64_t fake_fail_each(void (*begin)(void *user), void *user);
void fake_end_copy(int status);       // nothing where the process is no copy
bool fake_failed(const char *name);   // whether one of that name has, ever
// between its begin and its end errors have no names and texts
void fake_speechless(int on);
int64_t fake_illegal(void);   // calls that the capture of a stream did not allow
// The allocation that holds an address, which no later one gets; written: by copies and fills.
// False: there is none.
bool fake_memory(const void *address, void **start, size_t *bytes, bool *written);
void fake_driver(int version);   // 13000 unless said
void fake_limit(size_t bytes);   // the largest allocation there is memory for
int64_t fake_bytes_out(void);    // copied to the host
// memory, modules, streams, events, graphs, retained primary contexts
int64_t fake_live(void);
int fake_retained(int device);   // how often its primary context is

typedef struct fake_context *fake_context;
fake_context fake_make_current(int device);   // the caller's own context; -1: none
fake_context fake_current(void);
int fake_depth(void);   // of the stack of contexts

#endif
