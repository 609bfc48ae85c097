// Host threads for the calls of one thread, instead of the number of set_threads().
#pragma once

#include "quintet/core/compiler.hpp"

namespace quintet {

/// While it exists, threads() is `count` on the thread that made it; 0: as outside all scopes. The innermost counts.
/// Made and destroyed by the same thread, like a local variable.
class thread_scope {
 public:
  /// Throws InvalidArgument for count < 0.
  explicit thread_scope(int count);
  ~thread_scope();
  thread_scope(const thread_scope&) = delete;
  thread_scope& operator=(const thread_scope&) = delete;

 private:
  int before_;
};

}  // namespace quintet
