// Kernels on the calling thread alone, for threads that work side by side.
#pragma once

namespace quintet::device {

/// While one lives, threads() is 1 on the thread that made it, whatever set_threads() says.
class one_thread {
 public:
  one_thread();
  ~one_thread();
  one_thread(const one_thread&) = delete;
  one_thread& operator=(const one_thread&) = delete;
};

}  // namespace quintet::device
