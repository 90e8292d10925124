#include "tensor_internal.h"
#include "codegen/codegen.h"
#include <llvm-c/Core.h>
