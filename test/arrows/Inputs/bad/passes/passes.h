#include "codegen/codegen.h"
#include <llvm-c/Core.h>
