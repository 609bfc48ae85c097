#include "call.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace quintet::python {

namespace {

std::atomic<std::int64_t> running_calls{0};
std::atomic<bool> interpreter_ends{false};
std::thread::id main_thread;  ///< read after interpreter_ends only

/// Thrown out of the library where the interpreter ends meanwhile; comes no further than ~released_call().
struct call_ended {};

bool must_end() { return interpreter_ends.load() && std::this_thread::get_id() != main_thread; }

/// Between two polls of the library is one tile: 0.3 s at most, but for calls that are not in the library.
constexpr auto longest_wait = std::chrono::seconds(2);

void end_calls() {
  main_thread = std::this_thread::get_id();
  interpreter_ends = true;
  const nb::gil_scoped_release released;
  const auto begin = std::chrono::steady_clock::now();
  while (running_calls.load() > 0 && std::chrono::steady_clock::now() - begin < longest_wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void end_calls_at_exit() { nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end_calls)); }

int callback_lock::require_interpreter() {
  if (must_end()) throw call_ended();
  return 0;
}

released_call::released_call() {
  ++running_calls;
  state_ = PyEval_SaveThread();
}

released_call::~released_call() {
  if (must_end()) {
    --running_calls;
    for (;;) pause();
  }
  PyEval_RestoreThread(state_);
  --running_calls;
}

progress_callback progress_of(nb::handle callable) {
  if (!callable.is_valid() || callable.is_none()) return {};
  return [callable](std::string_view stage, double fraction) {
    const callback_lock lock;
    const nb::object answer = callable(nb::str(stage.data(), stage.size()), fraction);
    return answer.ptr() != Py_False;
  };
}

void poll_signals() {
  const callback_lock lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace quintet::python
