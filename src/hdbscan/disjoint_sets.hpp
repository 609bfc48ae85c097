// Disjoint sets with union by size and path halving.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace quintet::hdbscan {

class disjoint_sets {
 public:
  explicit disjoint_sets(std::int64_t count) : up_(count), size_(count, 1) {
    std::iota(up_.begin(), up_.end(), std::int64_t(0));
  }

  std::int64_t root(std::int64_t element) {
    while (up_[element] != element) element = up_[element] = up_[up_[element]];
    return element;
  }

  /// Joins the sets of a and b; false if they are one already.
  bool join(std::int64_t a, std::int64_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return false;
    if (size_[a] < size_[b]) std::swap(a, b);
    up_[b] = a;
    size_[a] += size_[b];
    return true;
  }

 private:
  std::vector<std::int64_t> up_, size_;
};

}  // namespace quintet::hdbscan
