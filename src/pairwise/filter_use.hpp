// Whether lists are found by a filter, see filtered_lists.hpp.
#pragma once

namespace quintet::pairwise {

/// Whether filters are used.
enum class filter_mode {
  automatic,  ///< where they were measured to pay
  never,
  always  ///< wherever they can be
};

/// How this thread's calls use them.
filter_mode filter_mode_in_use();

/// For tests: while it lives, this thread's calls use filters so. Guards nest.
class filter_guard {
 public:
  explicit filter_guard(filter_mode use);
  filter_guard(const filter_guard&) = delete;
  filter_guard& operator=(const filter_guard&) = delete;
  ~filter_guard();

 private:
  filter_mode previous_;
};

}  // namespace quintet::pairwise
