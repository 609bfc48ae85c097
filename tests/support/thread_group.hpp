// Threads that stand for the processes of a group, so that what several processes do is tested without MPI.
#pragma once

#include <barrier>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
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
  } shared(size);

  class member : public process_group {
   public:
    member(shared_state& shared, int rank) : shared_(shared), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return int(shared_.numbers.size()); }
    void together(const std::function<void()>& work) override {
      std::exception_ptr own;
      try {
        work();
      } catch (...) {
        own = std::current_exception();
      }
      shared_.errors[std::size_t(rank_)] = own;
      shared_.meeting.arrive_and_wait();
      const auto errors = shared_.errors;
      shared_.meeting.arrive_and_wait();
      for (const auto& one : errors)
        if (one) std::rethrow_exception(one);
    }
    std::vector<double> allgather(std::span<const double> own) override {
      shared_.numbers[std::size_t(rank_)].assign(own.begin(), own.end());
      shared_.meeting.arrive_and_wait();
      std::vector<double> all;
      for (const auto& one : shared_.numbers) all.insert(all.end(), one.begin(), one.end());
      shared_.meeting.arrive_and_wait();
      return all;
    }
    std::vector<double> gather(std::span<const double> own) override {
      auto all = allgather(own);
      if (rank_ != 0) all.clear();
      return all;
    }

   private:
    shared_state& shared_;
    int rank_;
  };

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
