#pragma once

// Every operation builder. Each takes the scope first and returns the output (or outputs) of the node it adds.
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"
#include "muster/ops/random.h"
#include "muster/ops/state.h"
#include "muster/ops/training.h"
