#include "backend/cpu/parallel.h"

#include <utility>

#include "base/flush_denormals.h"
#include "base/heap.h"

namespace muster::cpu {
namespace {

// Members of this thread's team, which was told to flush; 0: it was not.
thread_local int told = 0;

// GNU's runtime keeps a team's threads for the next region of the thread that began it, and lets those go that are too
// many.
void TellTeam(int threads) {
  const uint32_t mode = DenormalMode();
#pragma omp parallel num_threads(threads)
  SetDenormalMode(mode);
}

void TellTeamOfTheEnd() { TellTeam(std::exchange(told, 0)); }

}  // namespace

void FlushInTeam(int threads) {
  if (threads <= 1 || !FlushDenormals::IsOnThisThread()) return;
  if (told == 0) {
    FlushDenormals::AtEnd(TellTeamOfTheEnd);
    TellTeam(threads);
  }
  told = threads;
}

void KeepHeapWholeInTeam(int threads) {
  thread_local int members = 0;  // of the team that was told
  if (threads == members) return;
  members = threads;
#pragma omp parallel num_threads(threads)
  KeepHeapWhole();
}

}  // namespace muster::cpu
