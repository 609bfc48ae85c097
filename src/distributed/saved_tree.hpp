// What checkpoints hold of a spanning tree: lists of the own points of every rank, and the state of the rounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distributed/checkpoint.hpp"
#include "distributed/shared_search.hpp"
#include "hdbscan/boruvka.hpp"

namespace quintet::distributed {

/// What a checkpoint has to agree with: everything that lists and rounds follow from.
template <class Storage>
std::string identity_of(process_group& ranks, const shared_points<Storage>& points,
                        const std::vector<std::int32_t>& order, const std::string& options, std::int64_t side) {
  std::uint64_t local = 0;
  ranks.run_collectively([&] {
    const matrix_view<const Storage>& rows = points.rows();
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      const std::int64_t row = points.first_row() + i;
      local += hash_bytes(rows.data() + i * rows.stride(), std::size_t(rows.cols()) * sizeof(Storage),
                          hash_bytes(&row, sizeof row));
    }
  });
  std::uint64_t all = 0;
  for (const std::int64_t value : ranks.allgather_counts(std::int64_t(local))) all += std::uint64_t(value);
  return text("hdbscan 2: ", points.spread().rows(), " x ", points.dim(), " of ", sizeof(Storage), " bytes, ", options,
              ", blocks of ", side, ", rows ", all, ", order ",
              hash_bytes(order.data(), order.size() * sizeof(order[0])));
}

template <class Real>
packed_arrays packed(const typename pairwise::ring_lists<Real>::contents& all) {
  packed_arrays arrays;
  arrays.add(all.value);
  arrays.add(all.index);
  arrays.add(all.min_excluded);
  arrays.add(all.minima);
  arrays.add(all.visiting_minima);
  return arrays;
}

/// The lists of the own points from a checkpoint. By as many ranks it has the bounds of tiles too.
template <class Real>
typename pairwise::ring_lists<Real>::contents saved_lists(process_group& ranks, const checkpoint& saved,
                                                          const sizes_of_lists& sizes,
                                                          const block_distribution& distribution) {
  const checkpoint_state state = *saved.previous();
  const std::int64_t k = sizes.k, side = distribution.side(), points = distribution.points();
  const std::int64_t entries = distribution.parts()[ranks.rank()].points * k;
  if (state.ranks == ranks.size()) {
    const std::string path = saved.lists_path(state, ranks.rank());
    array_reader arrays(read_checked(path), path);
    typename pairwise::ring_lists<Real>::contents all;
    all.value = arrays.take<Real>(entries);
    all.index = arrays.take<std::int32_t>(entries);
    all.min_excluded = arrays.take<Real>(sizes.has_beyond ? entries / k : 0);
    all.minima = arrays.take<Real>(sizes.minima);
    all.visiting_minima = arrays.take<Real>(sizes.visiting_minima);
    return all;
  }
  for (std::int64_t rank = ranks.rank(); rank < state.ranks; rank += ranks.size())
    read_checked(saved.lists_path(state, rank));
  // Where every block was.
  const block_distribution before(points, side, int(state.ranks));
  const std::vector<ring_part> parts = before.parts();
  std::vector<std::int64_t> place(before.blocks());
  for (int rank = 0; rank < int(state.ranks); ++rank)
    for (std::size_t at = 0; at < before.blocks_of(rank).size(); ++at)
      place[before.blocks_of(rank)[at]] = std::int64_t(at);
  typename pairwise::ring_lists<Real>::contents all;
  all.value.resize(entries);
  all.index.resize(entries);
  all.min_excluded.resize(sizes.has_beyond ? entries / k : 0);
  std::int64_t next = 0;
  for (const std::int64_t block : distribution.blocks_of(ranks.rank())) {
    const int rank = before.owner(block * side);
    const std::string path = saved.lists_path(state, rank);
    const std::int64_t count = std::min(side, points - block * side) * k, first = place[block] * side * k;
    read_part(path, first * std::int64_t(sizeof(Real)), all.value.data() + next, count * std::int64_t(sizeof(Real)));
    read_part(path, parts[rank].points * k * std::int64_t(sizeof(Real)) + first * std::int64_t(sizeof(std::int32_t)),
              all.index.data() + next, count * std::int64_t(sizeof(std::int32_t)));
    const std::int64_t entry_bytes = sizeof(Real) + sizeof(std::int32_t), rows = count / k;
    if (sizes.has_beyond)
      read_part(path, parts[rank].points * k * entry_bytes + place[block] * side * std::int64_t(sizeof(Real)),
                all.min_excluded.data() + next / k, rows * std::int64_t(sizeof(Real)));
    next += count;
  }
  return all;
}

template <class Real>
packed_arrays packed(const quintet::hdbscan::round_state<Real>& state) {
  packed_arrays arrays;
  arrays.add(&state.joined, 1);
  arrays.add(state.component);
  arrays.add(state.tree_edge);
  arrays.add(state.tree_weight);
  return arrays;
}

template <class Real>
quintet::hdbscan::round_state<Real> saved_rounds(const std::string& path, std::int64_t points) {
  array_reader arrays(read_checked(path), path);
  quintet::hdbscan::round_state<Real> state;
  state.joined = arrays.take<std::int64_t>(1)[0];
  state.component = arrays.take<std::int32_t>(points);
  state.tree_edge = arrays.take<quintet::hdbscan::edge_key>(points);
  state.tree_weight = arrays.take<Real>(points);
  return state;
}

/// Checkpoints of a spanning tree: lists and bounds after steps of the lists, and the state of the rounds.
template <class Real>
class saved_tree final : public quintet::hdbscan::tree_checkpoints<Real> {
 public:
  saved_tree(process_group& ranks, distributed_search<Real>& search, checkpoint& saved)
      : ranks_(ranks), search_(search), saved_(saved), previous_(saved.previous()) {}

  int restore_lists() override {
    if (!previous_) return 0;
    ranks_.run_collectively(
        [&] { search_.restore_lists(saved_lists<Real>(ranks_, saved_, search_.sizes(), search_.distribution())); });
    return previous_->stage == "lists" ? int(previous_->step) + 1 : search_.steps() + 1;
  }
  void after_list_step(int step) override {
    if (step < search_.steps() && saved_.is_due()) saved_.save_lists("lists", step, [&] { return packed_lists(); });
  }
  void after_lists() override {
    if (saved_.is_on()) saved_.save_lists("rounds", 0, [&] { return packed_lists(); });
  }
  std::int64_t restore_rounds(quintet::hdbscan::boruvka<Real>& rounds) override {
    if (!previous_ || previous_->stage != "rounds" || previous_->step == 0) return 0;
    ranks_.run_collectively(
        [&] { rounds.restore(saved_rounds<Real>(saved_.rounds_path(*previous_), rounds.points())); });
    return previous_->step;
  }
  void after_round(const quintet::hdbscan::boruvka<Real>& rounds, std::int64_t number) override {
    if (saved_.is_due()) saved_.save_rounds(number, [&] { return packed(rounds.state()); });
  }
  void remove() override { saved_.remove(); }

 private:
  packed_arrays packed_lists() const { return packed<Real>(search_.copy_lists()); }

  process_group& ranks_;
  distributed_search<Real>& search_;
  checkpoint& saved_;
  std::optional<checkpoint_state> previous_;
};

}  // namespace quintet::distributed
