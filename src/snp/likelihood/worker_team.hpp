// Threads that wait for work, each with the same share of it every time: what a share allocates stays with its thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "device/one_thread.hpp"
#include "device/watch.hpp"

namespace quintet::snp {

class worker_team {
 public:
  /// `threads` >= 1, the calling one included.
  explicit worker_team(std::int64_t threads) : count_(threads) {
    for (std::int64_t t = 1; t < threads; ++t) threads_.emplace_back([this, t] { wait_for_work(t); });
  }
  ~worker_team() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  worker_team(const worker_team&) = delete;
  worker_team& operator=(const worker_team&) = delete;

  /// work(0) ... work(items - 1): thread t of T does t, t + T, .... Kernels run on the thread itself. When some throw,
  /// that of the least item is thrown again, after all have ended; what a poll of the calling thread throws comes
  /// first.
  void run(std::int64_t items, const std::function<void(std::int64_t)>& work) {
    errors_.assign(std::size_t(items), nullptr);
    device::detail::work_watch watch(quintet::detail::current_poll());
    {
      const std::lock_guard lock(mutex_);
      items_ = items;
      work_ = &work;
      watch_ = &watch;
      busy_ = std::int64_t(threads_.size());
      ++round_;
    }
    wake_.notify_all();
    try {
      do_share(0);
    } catch (...) {
      watch.keep_error(true);
    }
    watch.wait(int(threads_.size()));
    std::unique_lock lock(mutex_);
    await(done_, lock, [this] { return busy_ == 0; });
    watch.rethrow();
    for (const std::exception_ptr& error : errors_)
      if (error) std::rethrow_exception(error);
  }

 private:
  void do_share(std::int64_t thread) {
    const device::one_thread serial;
    const device::detail::watched_thread self(*watch_, thread == 0);
    const quintet::detail::poll_state* const polls = quintet::detail::current_poll();
    for (std::int64_t item = thread; item < items_; item += count_) {
      const std::int64_t throws = polls != nullptr ? polls->throws() : 0;
      try {
        (*work_)(item);
      } catch (...) {
        if (polls != nullptr && polls->throws() != throws) throw;  // the end of all of them
        errors_[std::size_t(item)] = std::current_exception();
      }
    }
  }

  void do_share_of_helper(std::int64_t thread) {
    try {
      do_share(thread);
    } catch (const quintet::detail::poll_stopped&) {  // the calling thread knows why
    }
  }

  // condition_variable::wait() is a symbol of GCC 12 and later: nothing else would keep a library that was built here
  // from older systems.
  template <class Ready>
  static void await(std::condition_variable& changes, std::unique_lock<std::mutex>& lock, Ready ready) {
    while (!changes.wait_for(lock, std::chrono::hours(1), ready)) {
    }
  }

  void wait_for_work(std::int64_t thread) {
    for (std::int64_t generation = 0;;) {
      {
        std::unique_lock lock(mutex_);
        await(wake_, lock, [&] { return is_over_ || round_ != generation; });
        if (is_over_) return;
        generation = round_;
      }
      do_share_of_helper(thread);
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::int64_t count_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::int64_t)>* work_ = nullptr;
  device::detail::work_watch* watch_ = nullptr;
  std::int64_t items_ = 0, busy_ = 0, round_ = 0;
  bool is_over_ = false;
  std::vector<std::exception_ptr> errors_;
};

}  // namespace quintet::snp
