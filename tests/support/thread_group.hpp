// Threads that stand for the processes of a group, so that what several processes do is tested without MPI.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "quintet/core/process_group.hpp"

namespace quintet::test {

/// Runs f(group) in `size` threads, each with its own group; what the lowest rank throws is thrown in the end.
inline void run_as_group(int size, const std::function<void(std::shared_ptr<process_group>)>& f) {
  struct shared_state {
    explicit shared_state(int n) : meeting(n), numbers(std::size_t(n)), errors(std::size_t(n)) {}
    std::barrier<> meeting;
    std::vector<std::vector<double>> numbers;
    std::vector<std::exception_ptr> errors;
    std::mutex mutex;  // of the parts
    std::map<int, std::shared_ptr<shared_state>> parts;
  };

  class member : public process_group {
   public:
    member(std::shared_ptr<shared_state> shared, int rank) : shared_(std::move(shared)), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return int(shared_->numbers.size()); }
    void together(const std::function<void()>& work) override {
      std::exception_ptr own;
      try {
        work();
      } catch (...) {
        own = std::current_exception();
      }
      shared_->errors[std::size_t(rank_)] = own;
      shared_->meeting.arrive_and_wait();
      const auto errors = shared_->errors;
      shared_->meeting.arrive_and_wait();
      for (const auto& one : errors)
        if (one) std::rethrow_exception(one);
    }
    std::vector<double> allgather(std::span<const double> own) override {
      shared_->numbers[std::size_t(rank_)].assign(own.begin(), own.end());
      shared_->meeting.arrive_and_wait();
      std::vector<double> all;
      for (const auto& one : shared_->numbers) all.insert(all.end(), one.begin(), one.end());
      shared_->meeting.arrive_and_wait();
      return all;
    }
    std::vector<double> gather(std::span<const double> own) override {
      auto all = allgather(own);
      if (rank_ != 0) all.clear();
      return all;
    }
    std::shared_ptr<process_group> split(int part) override {
      const std::vector<double> chosen = allgather(std::vector<double>{double(part)});
      const auto same = [&](auto end) { return int(std::count(chosen.begin(), end, double(part))); };
      const int number = same(chosen.begin() + rank_);
      if (number == 0) {
        const std::lock_guard lock(shared_->mutex);
        shared_->parts[part] = std::make_shared<shared_state>(same(chosen.end()));
      }
      shared_->meeting.arrive_and_wait();
      const std::shared_ptr<shared_state> mine = shared_->parts.at(part);
      shared_->meeting.arrive_and_wait();
      return std::make_shared<member>(mine, number);
    }

   private:
    std::shared_ptr<shared_state> shared_;
    int rank_;
  };

  const auto shared = std::make_shared<shared_state>(size);
  std::vector<std::exception_ptr> thrown(std::size_t(size), nullptr);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        f(std::make_shared<member>(shared, rank));
      } catch (...) {
        thrown[std::size_t(rank)] = std::current_exception();
      }
    });
  for (std::thread& one : threads) one.join();
  for (const auto& one : thrown)
    if (one) std::rethrow_exception(one);
}

}  // namespace quintet::test
