// Processes that work on one problem together, without a word of how they are connected: quintet::mpi implements it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace quintet {

/// What the functions that may be shared by several processes need of them. All members but rank() and size() are
/// collective: every process of the group calls them in the same order.
class process_group {
 public:
  virtual ~process_group() = default;
  ///@{
  /// Number of this process, 0 ... size() - 1.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  ///@}
  /// Runs `work` in every process. Where it throws in any, all throw what the lowest of these threw. `work` must not
  /// call members of the group.
  virtual void together(const std::function<void()>& work) = 0;
  /// The numbers of all processes, one after another by rank, in every process.
  virtual std::vector<double> allgather(std::span<const double> own) = 0;
  /// The same in process 0 alone; nothing elsewhere.
  virtual std::vector<double> gather(std::span<const double> own) = 0;
  /// The processes that give the same `part` >= 0, in their order here, as a group of its own.
  virtual std::shared_ptr<process_group> split(int part) = 0;
};

/// A part of a range.
struct share_of_range {
  ///@{
  /// First element, and number of them.
  std::int64_t first, count;
  ///@}
};
/// Part `rank` of 0 ... n - 1 cut into `size` parts whose sizes differ by one at most, the larger ones first. O(1).
constexpr share_of_range share_of(std::int64_t n, int rank, int size) {
  const std::int64_t least = n / size, more = n % size;
  return {rank * least + (rank < more ? rank : more), least + (rank < more ? 1 : 0)};
}

}  // namespace quintet
