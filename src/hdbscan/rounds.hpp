// The loop of Boruvka's rounds, the same for one process and for several that share lists and tiles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hdbscan/boruvka.hpp"
#include "quintet/core/process_group.hpp"
#include "quintet/core/progress.hpp"

namespace quintet::hdbscan {

/// What the processes of a group give each other in a round. A single process exchanges nothing.
template <class Real>
class round_exchange {
 public:
  using tiles = std::span<const pairwise::tile_index>;

  explicit round_exchange(process_group& group) : group_(group) {}
  round_exchange(const round_exchange&) = delete;
  virtual ~round_exchange() = default;
  process_group& group() { return group_; }

  /// The best edges of components become the least of all processes. Throws what went wrong in any of them. Collective.
  virtual void share_best(boruvka<Real>&, const failure& local_failure) { group_.agree(local_failure); }
  /// How many of `listed`, from the first on, can be scanned at once.
  virtual std::size_t batch_size(tiles listed) { return listed.size(); }
  /// The panels of other processes that the batch needs; null where all panels are its own. Collective.
  virtual const visiting_panels<Real>* fetch(tiles, failure&) { return nullptr; }

 private:
  process_group& group_;
};

/// What a run writes down after its steps, and goes on from. This one writes nothing.
template <class Real>
class tree_checkpoints {
 public:
  virtual ~tree_checkpoints() = default;
  ///@{
  /// Returns the first step of the lists that is left, which is past the last one where all are restored. Collective,
  /// as everything here.
  virtual int restore_lists() { return 0; }
  virtual void after_list_step(int) {}
  virtual void after_lists() {}
  ///@}
  ///@{
  /// Returns the number of rounds that are restored.
  virtual std::int64_t restore_rounds(boruvka<Real>&) { return 0; }
  virtual void after_round(const boruvka<Real>&, std::int64_t) {}
  ///@}
  /// After the end.
  virtual void remove() {}
};

/// One round but for its last step: every component has its best edge. Collective.
template <class Real>
void relax_edges(boruvka<Real>& rounds, round_exchange<Real>& exchange);

/// Rounds until all points are joined; returns their number. Collective.
template <class Real>
std::int64_t run_rounds(boruvka<Real>& rounds, round_exchange<Real>& exchange, progress& report,
                        tree_checkpoints<Real>& saved);

/// The same for a single process.
template <class Real>
std::int64_t run_rounds(boruvka<Real>& rounds, progress& report) {
  single_process process;
  round_exchange<Real> exchange(process);
  tree_checkpoints<Real> saved;
  return run_rounds(rounds, exchange, report, saved);
}

}  // namespace quintet::hdbscan
