#pragma once

#include "base/interrupt.h"
#include "muster/error.h"

namespace muster::data {

// Polled while data is read and training is prepared, so that Ctrl-C ends loading too: throws Error{Cancelled} once an
// interrupt came. Whoever loads tells it from other errors by its code.
inline void ThrowIfInterrupted() {
  if (Interrupted()) throw Error(Code::kCancelled, "interrupted");
}

}  // namespace muster::data
