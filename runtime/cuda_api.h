// The driver, by the calls that cuda_api.def names, and types as it has them.
#ifndef GNNRT_CUDA_API_H
#define GNNRT_CUDA_API_H

#include "gnnrt.h"

typedef struct CUctx_st *rt_cuda_context;
typedef struct CUmod_st *rt_cuda_module;
typedef struct CUfunc_st *rt_cuda_function;
typedef struct CUevent_st *rt_cuda_event;
typedef struct CUgraph_st *rt_cuda_graph;
typedef struct CUgraphExec_st *rt_cuda_replay;
enum { RT_PROGRAMMATIC_STREAM_SERIALIZATION = 6 };   // of CUlaunchAttributeID
typedef struct {                                     // as the driver has it: CUlaunchAttribute
    _Alignas(8) int id;
    _Alignas(8) int value[16];
} rt_cuda_attribute;
typedef struct {   // CUlaunchConfig
    unsigned grid[3], block[3], shared;
    gnn_stream stream;
    rt_cuda_attribute *attributes;
    unsigned nattributes;
} rt_cuda_launch;
typedef struct {
#define CU(name, symbol, params) int(*name) params;
#include "cuda_api.def"
#undef CU
} rt_cuda_api;

#endif
