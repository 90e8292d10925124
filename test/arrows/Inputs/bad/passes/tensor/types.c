#include "axes/axes.h"
#include "plan_text.h"
