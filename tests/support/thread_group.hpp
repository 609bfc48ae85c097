// Threads that stand for the processes of a group, so that what several processes do is tested without MPI.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "quintet/core/process_group.hpp"

namespace quintet::test {

/// Runs f(group) in `size` threads, each with its own group; what the lowest rank throws is thrown in the end.
inline void run_as_group(int size, const std::function<void(std::shared_ptr<process_group>)>& f) {
  struct shared_state {
    explicit shared_state(int n) : meeting(n), bytes(std::size_t(n)), errors(std::size_t(n)) {}
    std::barrier<> meeting;
    std::vector<std::vector<char>> bytes;
    std::vector<std::exception_ptr> errors;
    std::mutex mutex;  // of the parts
    std::map<int, std::shared_ptr<shared_state>> parts;
  };

  class member : public single_process {
   public:
    member(std::shared_ptr<shared_state> shared, int rank) : shared_(std::move(shared)), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return int(shared_->bytes.size()); }
    void agree(const failure& mine) override {
      shared_->errors[std::size_t(rank_)] = mine.error();
      shared_->meeting.arrive_and_wait();
      const auto errors = shared_->errors;
      shared_->meeting.arrive_and_wait();
      for (const auto& error : errors)
        if (error) std::rethrow_exception(error);
    }
    std::vector<std::int64_t> allgather_counts(std::int64_t mine) override {
      std::vector<std::int64_t> all(shared_->bytes.size());
      gather_bytes(&mine, all.data(), std::vector<std::int64_t>(all.size(), sizeof mine), -1);
      return all;
    }
    void gather_bytes(const void* mine, void* all, const std::vector<std::int64_t>& bytes, int root) override {
      const auto* own = static_cast<const char*>(mine);
      shared_->bytes[std::size_t(rank_)].assign(own, own + bytes[std::size_t(rank_)]);
      shared_->meeting.arrive_and_wait();
      auto* to = static_cast<char*>(all);
      if (root < 0 || root == rank_)
        for (const auto& part : shared_->bytes) to = std::copy(part.begin(), part.end(), to);
      shared_->meeting.arrive_and_wait();
    }
    std::shared_ptr<process_group> split(int part) override {
      const std::vector<std::int64_t> chosen = allgather_counts(part);
      const auto same = [&](auto end) { return int(std::count(chosen.begin(), end, part)); };
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
