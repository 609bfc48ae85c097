// Independent calls side by side on host threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <vector>

#include "device/launch.hpp"

namespace quintet::device {

namespace detail {

template <class Function>
struct call_kernel {
  using shape = host_only_shape;
  struct scratch {};
  enum { long_tiles = 1 };
  const Function* function;
  std::exception_ptr* errors;

  template <class Team>
  void operator()(const Team&, std::int64_t i, scratch&) const {
    const quintet::detail::poll_state* const polls = quintet::detail::current_poll();
    const std::int64_t throws = polls != nullptr ? polls->throws() : 0;
    try {
      (*function)(i);
    } catch (...) {
      if (polls != nullptr && polls->throws() != throws) throw;  // the end of all of them
      errors[i] = std::current_exception();
    }
  }
};

}  // namespace detail

/// f(0) ... f(count - 1), one a thread; launches inside them then use one thread. All are run; the error of the
/// smallest index is thrown afterwards. What a poll of the calling thread throws ends all of them.
template <class Function>
void for_each_side_by_side(std::int64_t count, const Function& f) {
  std::vector<std::exception_ptr> errors(count);
  launch(detail::call_kernel<Function>{&f, errors.data()}, count, Device::host());
  const auto first = std::find_if(errors.begin(), errors.end(), [](const auto& error) { return bool(error); });
  if (first != errors.end()) std::rethrow_exception(*first);
}

}  // namespace quintet::device
