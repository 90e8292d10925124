// Loop IR: how an op is computed. A plan is kernels in order; a kernel is loops over positions,
// dealt out to blocks, groups, lanes, registers and vectors, around the stages of the op. Scalar
// expressions are those of tensor IR.
//
// Enters: built by passes/ from tensor IR and a schedule, or read from text. Leaves: lowered to
// simt IR by passes/lower/. Memory: the arena of the plan. Text form: LOOP.md.
//
//     kernel spmm threads 128 lanes 32 {
//       for v in 0 .. size(V) [group 4, block] {              // a block owns four rows, a group of lanes one
//         for f in 0 .. size(F) [vector 4, lane 32, serial] { // 128 features at a time
//           reduce y.sum {
//             for p in offsets.dst[v] .. offsets.dst[v + 1] [serial] {
//               let e = p
//               contribute y.sum                              // lift and combine the stage's body here
//             }
//           }
//           store y                                           // finish, round, store
//         }
//       }
//     }
#ifndef GNNC_LOOP_H
#define GNNC_LOOP_H

#include "loop_node.h"          // nodes, and how a loop is dealt out
#include "loop_plan.h"          // kernels, and where values live
#include "loop_prepared.h"      // sizes of parts, tiles and windows
#include "loop_fetch.h"         // what lies in shared memory in a round of a loop
#include "loop_matrix.h"        // reductions by matrix operations
#include "loop_stay.h"          // pieces of matrices that stay
#include "loop_online.h"        // maxima found on the run
#include "loop_distributed.h"   // steps distributed to lanes
#include "loop_pad.h"           // extents rounded up
#include "loop_beside.h"        // neighbours taken as one access
#include "loop_overlap.h"       // kernels that run at the same time
#include "loop_atomic.h"        // states combined in memory
#include "loop_text.h"          // text, verification

#endif
