// One call from Python into the library: the GIL is released, Ctrl-C and a progress callback are looked at meanwhile.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#if __has_include("quintet/core/poll.hpp")
#include "quintet/core/poll.hpp"
#endif
#include "quintet/core/progress.hpp"
#include "quintet/device/device.hpp"

namespace quintet::python {

namespace nb = nanobind;

#if !__has_include("quintet/core/poll.hpp")
struct poll_scope {
  explicit poll_scope(void (*)()) {}
};
#endif

/// The callback that calls `callable` with stage and fraction; empty for None. False from it cancels; its exceptions
/// come out of the call unchanged. `callable` has to outlive it.
progress_callback progress_of(nb::handle callable);

/// Runs Python's signal handlers and throws what they raise, KeyboardInterrupt mostly. Without the GIL.
void poll_signals();

/// f() without the GIL, and with signals looked at every 50 ms. While it runs, everything that Python knows is out of
/// reach: arrays are taken apart into views before, results are made into objects afterwards.
template <class Function>
decltype(auto) run(Function&& f) {
  const nb::gil_scoped_release released;
  const poll_scope scope(poll_signals);
  return std::forward<Function>(f)();
}

/// f(progress_callback), the same for functions that report how far they are. The callback is empty for None.
template <class Function>
decltype(auto) run(nb::handle progress, Function&& f) {
  const progress_callback callback = progress_of(progress);
  const nb::gil_scoped_release released;
  const poll_scope scope(poll_signals);
  return std::forward<Function>(f)(callback);
}

}  // namespace quintet::python
