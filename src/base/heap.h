#pragma once

namespace muster {

// Keeps this thread's part of the heap from falling to pieces under aligned allocations of changing sizes. Before its
// version 2.39 (bug 30723) glibc cuts an aligned block out of a larger one and frees what is left over on both sides;
// such scraps go into the thread's cache, where they do not merge with their neighbours, so that the next block finds
// no room between them: buffers of 1 MiB that come and go made a heap of 20 MiB. This fills the cache for the sizes of
// scraps, after which they merge, as long as the thread keeps no small blocks that it takes afterwards. Costs some 20
// KiB of the heap and microseconds; harmless with other heaps.
void KeepHeapWhole();

// Gives the heap's free memory back to the system.
void ReleaseFreeHeap();

}  // namespace muster
