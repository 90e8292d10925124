#include "default/walks/walks.h"
