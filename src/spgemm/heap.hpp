// Heaps over numbered entries that lie anywhere: sorting takes no memory and no stack, and the largest of many entries
// are found in one pass.
//
// `later(i, j)` says whether entry i comes behind entry j in the order, a strict total one; `swap(i, j)` exchanges
// them. Heapsort: Williams 1964, built bottom-up by Floyd 1964 (Algorithm 245).
#pragma once

#include <cstdint>

namespace quintet::spgemm {

/// Entry `at` of a heap of `count` sinks to where it belongs; the last entry of the order is the root, number 0.
template <class Later, class Swap>
void sink_entry(std::int64_t at, std::int64_t count, const Later& later, const Swap& swap) {
  for (std::int64_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
    if (child + 1 < count && later(child + 1, child)) ++child;
    if (!later(child, at)) return;
    swap(at, child);
  }
}

/// Entries in any order become a heap.
template <class Later, class Swap>
void build_heap(std::int64_t count, const Later& later, const Swap& swap) {
  for (std::int64_t root = count / 2; root-- > 0;) sink_entry(root, count, later, swap);
}

/// A heap becomes a row in order.
template <class Later, class Swap>
void sort_heap(std::int64_t count, const Later& later, const Swap& swap) {
  for (std::int64_t last = count - 1; last > 0; --last) {
    swap(0, last);
    sink_entry(0, last, later, swap);
  }
}

}  // namespace quintet::spgemm
