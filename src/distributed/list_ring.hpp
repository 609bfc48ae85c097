// Points pass by: communication around pairwise::ring_lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "distributed/ring_lists.hpp"
#include "distributed/shared_rows.hpp"
#include "pairwise/filtered_lists.hpp"
#include "quintet/core/process_group.hpp"

namespace quintet::distributed {

/// What a rank holds: packed points in blocks, the last of which may be partly filled.
struct ring_part {
  std::int64_t points = 0, blocks = 0;
};

/// Blocks of another rank that a rank meets in a step.
struct ring_visit {
  int step = 0, source = 0;
  pairwise::block_range visiting;  ///< of the source's blocks
  pairwise::block_range own;       ///< that they meet
  std::int64_t first_place = 0;    ///< after the own blocks and earlier visits, see pairwise::edge_bounds
};

/// Who meets whom. Half ring: in step t rank r meets the blocks of rank r + t, up to half way round, so that every pair
/// of ranks meets once; opposite ranks share their pairs. Full ring: every rank meets all others.
class ring_plan {
 public:
  ring_plan(std::vector<ring_part> parts, pairwise::list_sharing sharing)
      : parts_(std::move(parts)), is_half_(sharing == pairwise::list_sharing::symmetric) {}

  int size() const { return int(parts_.size()); }
  int steps() const { return is_half_ ? size() / 2 : size() - 1; }
  const ring_part& part(int rank) const { return parts_[rank]; }

  /// What rank `rank` meets, in the order of places.
  std::vector<ring_visit> visits(int rank) const {
    std::vector<ring_visit> visits;
    std::int64_t place = parts_[rank].blocks;
    for (int step = 1; step <= steps(); ++step) {
      const int source = (rank + step) % size();
      ring_visit visit{step, source, {0, parts_[source].blocks}, {0, parts_[rank].blocks}, place};
      if (is_half_ && 2 * step == size()) {
        // The lower one takes the first half of its own blocks, the upper one what remains.
        const std::int64_t half = parts_[std::min(rank, source)].blocks / 2;
        if (rank < source)
          visit.own.count = half;
        else
          visit.visiting = {half, parts_[source].blocks - half};
      }
      place += visit.visiting.count;
      visits.push_back(visit);
    }
    return visits;
  }

 private:
  std::vector<ring_part> parts_;
  bool is_half_;
};

/// Points in a range of blocks of a part.
inline std::int64_t points_in(const ring_part& part, pairwise::block_range blocks, std::int64_t side) {
  return std::clamp<std::int64_t>(part.points - blocks.first * side, 0, blocks.count * side);
}

/// Visitors come in pieces of at most so many bytes.
constexpr std::int64_t visitors_bytes = std::int64_t(32) << 20;

/// Blocks of such a piece.
template <class Real>
std::int64_t piece_blocks(std::int64_t side, std::int64_t dim) {
  return std::max<std::int64_t>(1, visitors_bytes / (side * dim * std::int64_t(sizeof(Real))));
}

/// `wanted` where a filter pays on every rank, as ring_lists take it; otherwise no filter. Collective.
template <class Storage>
pairwise::ring_request filter_for(process_group& ranks, const shared_points<Storage>& points, const ring_plan& plan,
                                  const pairwise::panels<accumulator_t<Storage>>& own,
                                  const pairwise::ring_request& initial) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int rank = 0; rank < plan.size(); ++rank) least = std::min(least, plan.part(rank).points);
  bool pays = false;
  if constexpr (sizeof(accumulator_t<Storage>) == sizeof(float))
    pays = pairwise::sharing_of(points.own().device()) == pairwise::list_sharing::symmetric &&
           pairwise::filter_pays(points.own(), least, initial.length);
  // Processors of ranks may differ.
  if (ranks.minimum(std::int64_t(pays)) == 0) return {};
  pairwise::ring_request request = initial;
  for (const ring_visit& visit : plan.visits(ranks.rank()))
    request.visitors = std::max(
        request.visitors,
        std::min(plan.part(visit.source).points, piece_blocks<float>(own.block_side, own.dim) * own.block_side));
  return request;
}

template <class Real>
class list_ring {
 public:
  /// Numbers of the points of a rank, as they are packed.
  using numbers_of = std::function<std::vector<std::int32_t>(int rank)>;

  /// `dim`: coordinates in the panels; `has_factors`: whether points have them, on every rank.
  list_ring(process_group& ranks, pairwise::ring_lists<Real>& lists, const ring_plan& plan, std::int64_t side,
            std::int64_t dim, bool has_factors, numbers_of numbers)
      : ranks_(ranks),
        lists_(lists),
        plan_(plan),
        side_(side),
        dim_(dim),
        has_factors_(has_factors),
        numbers_(std::move(numbers)),
        visits_(plan.visits(ranks.rank())) {
    for (const ring_visit& visit : visits_) {
      const int other = (ranks.rank() - visit.step + ranks.size()) % ranks.size();
      guests_.push_back(plan.visits(other)[visit.step - 1]);
    }
  }

  /// Own pairs first, then step by step. `after_step(t)` is called on all ranks alike when step t (0: own pairs) is
  /// over.
  void run(const std::function<void(int step)>& after_step, int first_step = 0) {
    const bool with_lists = lists_.sharing() == pairwise::list_sharing::symmetric;
    const int first = std::max(first_step, 1);
    ranks_.run_collectively([&] { prepare(with_lists); });
    failure local_failure;
    // The first visitors come while own points meet; their limits are known then.
    transfer sending, next_sending, receiving, next_receiving;
    send_coordinates(first, sending);
    receive_coordinates(first, 0, receiving);
    local_failure.attempt([&] {
      if (first_step == 0) {
        ranks_.begin_step();
        lists_.meet_own([&] { poke({&sending, &receiving}); });
      }
      find_limits();
    });
    agree(local_failure, first, sending, receiving, false);
    if (first_step == 0) tell(after_step, 0, first, sending, receiving, false);
    send_limits(first, sending);
    receive_limits(first, 0, receiving);
    for (int step = std::max(first_step, 1); step <= plan_.steps(); ++step) {
      const ring_visit& visit = visits_[step - 1];
      next_sending = send_points(step + 1);
      transfer returns_home = with_lists ? receive_returns(step) : transfer();
      transfer returned;
      const std::vector<pairwise::block_range> pieces = pieces_of(visit.visiting);
      local_failure.attempt([&] { ranks_.begin_step(); });
      for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        ranks_.finish(receiving);
        pairwise::remote_points<Real> visitors;
        local_failure.attempt([&] { visitors = arrived(visit, pieces[piece]); });
        // The staging memory is free again.
        next_receiving = piece + 1 < pieces.size() ? receive(step, piece + 1) : receive(step + 1, 0);
        local_failure.attempt([&] {
          meet(visitors, visit, pieces[piece].count, {&sending, &next_sending, &next_receiving, &returns_home});
        });
        if (with_lists) {
          ranks_.finish(returned);
          local_failure.attempt([&] {
            visitors.value.copy_to_host(back_value_.data(), visitors.value.size());
            visitors.index.copy_to_host(back_index_.data(), visitors.index.size());
            std::copy(visitors.min_excluded.begin(), visitors.min_excluded.end(), back_min_excluded_.begin());
          });
          const std::size_t entries =
              std::size_t(points_in(plan_.part(visit.source), pieces[piece], side_) * lists_.k());
          ranks_.start_send(std::span<const Real>(back_value_.data(), entries), visit.source, list_tag, returned);
          ranks_.start_send(std::span<const std::int32_t>(back_index_.data(), entries), visit.source, list_tag,
                            returned);
          if (lists_.has_filter())
            ranks_.start_send(std::span<const Real>(back_min_excluded_.data(), entries / std::size_t(lists_.k())),
                              visit.source, list_tag, returned);
        }
        if (visitors.data.size() > 0 && shares_memory()) spare_ = std::move(visitors.data);
        receiving = std::move(next_receiving);
      }
      if (pieces.empty()) receiving = receive(step + 1, 0);
      ranks_.finish(returned);
      ranks_.finish(returns_home);
      ranks_.finish(sending);
      if (with_lists) local_failure.attempt([&] { lists_.take(home_value_, home_index_, home_beyond_); });
      sending = std::move(next_sending);
      agree(local_failure, step + 1, sending, receiving);
      tell(after_step, step, step + 1, sending, receiving);
    }
    lists_.end_ring();
  }

 private:
  static constexpr int point_tag = 1, list_tag = 2, limit_tag = 4;
  using pokes = std::initializer_list<transfer*>;

  void poke(pokes transfers) {
    for (transfer* started : transfers) ranks_.poke(*started);
  }

  /// Before an error is thrown, what was sent already for the next step comes to its end: all ranks are here.
  void agree(const failure& local_failure, int next_step, transfer& sending, transfer& receiving,
             bool has_limits = true) {
    try {
      ranks_.agree(local_failure);
    } catch (const agreed_error&) {
      end_transfers(next_step, sending, receiving, has_limits);
      throw;
    }
  }
  /// The same where all ranks are told that a step is over, and may throw.
  void tell(const std::function<void(int step)>& after_step, int step, int next_step, transfer& sending,
            transfer& receiving, bool has_limits = true) {
    try {
      after_step(step);
    } catch (const agreed_error&) {
      end_transfers(next_step, sending, receiving, has_limits);
      throw;
    }
  }
  void end_transfers(int next_step, transfer& sending, transfer& receiving, bool has_limits) {
    ranks_.finish(receiving);
    const std::size_t pieces = next_step > plan_.steps() ? 0 : pieces_of(visits_[next_step - 1].visiting).size();
    for (std::size_t piece = 1; piece < pieces; ++piece) {
      transfer rest;
      receive_coordinates(next_step, piece, rest);
      if (has_limits) receive_limits(next_step, piece, rest);
      ranks_.finish(rest);
    }
    ranks_.finish(sending);
  }

  std::vector<pairwise::block_range> pieces_of(pairwise::block_range blocks) const {
    const std::int64_t most = piece_blocks<Real>(side_, dim_);
    std::vector<pairwise::block_range> pieces;
    for (std::int64_t first = 0; first < blocks.count; first += most)
      pieces.push_back({blocks.first + first, std::min(most, blocks.count - first)});
    return pieces;
  }

  /// Memory for all steps.
  void prepare(bool with_lists) {
    const pairwise::panels<Real>& own = lists_.own();
    if (!own.device().shares_host_memory()) {
      own_data_ = own.data.to_vector();
      own_factor_ = own.factor.to_vector();
    }
    std::int64_t blocks = 0, points = 0, pieces = 0;
    for (const ring_visit& visit : visits_)
      for (const pairwise::block_range& piece : pieces_of(visit.visiting)) {
        ++pieces;
        blocks = std::max(blocks, piece.count);
        points = std::max(points, points_in(plan_.part(visit.source), piece, side_));
      }
    data_ = Buffer<Real>(blocks * side_ * dim_);
    if (shares_memory() && pieces > 1) spare_ = Buffer<Real>(data_.size());
    factor_.resize(has_factors_ ? blocks * side_ : 0);
    limit_.resize(points);
    exact_limit_.resize(lists_.has_filter() ? points : 0);
    if (!with_lists) return;
    back_value_.resize(points * lists_.k());
    back_index_.resize(points * lists_.k());
    home_value_.resize(own.count * lists_.k());
    home_index_.resize(own.count * lists_.k());
    back_min_excluded_.resize(lists_.has_filter() ? points : 0);
    home_beyond_.resize(lists_.has_filter() ? own.count : 0);
  }

  /// What visitors tell of their lists.
  void find_limits() {
    kth_ = pairwise::kth_value(lists_.lists(), lists_.k());
    if (lists_.has_filter()) exact_kth_ = pairwise::kth_value(lists_.lists(), lists_.request().exact);
  }

  /// Own blocks go to the rank that they visit in a step.
  transfer send_points(int step) {
    transfer started;
    send_coordinates(step, started);
    send_limits(step, started);
    return started;
  }
  /// A piece of the visitors of a step, into the staging memory.
  transfer receive(int step, std::size_t number) {
    transfer started;
    receive_coordinates(step, number, started);
    receive_limits(step, number, started);
    return started;
  }

  int host_of(int step) const { return (ranks_.rank() - step + ranks_.size()) % ranks_.size(); }

  void send_coordinates(int step, transfer& started) {
    if (step > plan_.steps()) return;
    const pairwise::panels<Real>& own = lists_.own();
    const Real* data = own_data_.empty() ? own.data.data() : own_data_.data();
    const Real* factor = own_factor_.empty() ? own.factor.data() : own_factor_.data();
    for (const pairwise::block_range& piece : pieces_of(guests_[step - 1].visiting)) {
      const std::int64_t first = piece.first * side_, padded = piece.count * side_;
      ranks_.start_send(std::span<const Real>(data + first * dim_, std::size_t(padded * dim_)), host_of(step),
                        point_tag, started);
      if (has_factors_)
        ranks_.start_send(std::span<const Real>(factor + first, std::size_t(padded)), host_of(step), point_tag,
                          started);
    }
  }
  void send_limits(int step, transfer& started) {
    if (step > plan_.steps() || !with_limits()) return;
    for (const pairwise::block_range& piece : pieces_of(guests_[step - 1].visiting)) {
      const std::int64_t first = piece.first * side_;
      const auto points = std::size_t(points_in(plan_.part(ranks_.rank()), piece, side_));
      ranks_.start_send(std::span<const Real>(kth_.data() + first, points), host_of(step), limit_tag, started);
      if (lists_.has_filter())
        ranks_.start_send(std::span<const Real>(exact_kth_.data() + first, points), host_of(step), limit_tag, started);
    }
  }

  void receive_coordinates(int step, std::size_t number, transfer& started) {
    if (step > plan_.steps()) return;
    const ring_visit& visit = visits_[step - 1];
    const std::vector<pairwise::block_range> pieces = pieces_of(visit.visiting);
    if (number >= pieces.size()) return;
    const std::int64_t padded = pieces[number].count * side_;
    ranks_.start_receive(std::span<Real>(data_.data(), std::size_t(padded * dim_)), visit.source, point_tag, started);
    if (has_factors_)
      ranks_.start_receive(std::span<Real>(factor_.data(), std::size_t(padded)), visit.source, point_tag, started);
  }
  void receive_limits(int step, std::size_t number, transfer& started) {
    if (step > plan_.steps() || !with_limits()) return;
    const ring_visit& visit = visits_[step - 1];
    const std::vector<pairwise::block_range> pieces = pieces_of(visit.visiting);
    if (number >= pieces.size()) return;
    const auto points = std::size_t(points_in(plan_.part(visit.source), pieces[number], side_));
    ranks_.start_receive(std::span<Real>(limit_.data(), points), visit.source, limit_tag, started);
    if (lists_.has_filter())
      ranks_.start_receive(std::span<Real>(exact_limit_.data(), points), visit.source, limit_tag, started);
  }

  bool shares_memory() const { return lists_.own().device().shares_host_memory(); }
  bool with_limits() const { return lists_.sharing() == pairwise::list_sharing::symmetric; }

  pairwise::remote_points<Real> arrived(const ring_visit& visit, pairwise::block_range piece) {
    const std::int64_t points = points_in(plan_.part(visit.source), piece, side_);
    auto visitors =
        lists_.room_for(points, piece.count, visit.first_place + piece.first - visit.visiting.first, has_factors_);
    if (has_factors_) visitors.factor.copy_from_host(factor_.data(), visitors.factor.size());
    const std::vector<std::int32_t> number = numbers_(visit.source);
    visitors.number.copy_from_host(number.data() + piece.first * side_, points);
    lists_.begin_lists(visitors, {limit_.begin(), limit_.begin() + (with_limits() ? points : 0)});
    if (lists_.has_filter()) {
      visitors.exact_kth.assign(exact_limit_.begin(), exact_limit_.begin() + points);
      visitors.min_excluded.assign(points, std::numeric_limits<Real>::infinity());
    }
    // Last: where something fails before, there is still memory for what comes.
    if (shares_memory()) {
      visitors.data = std::move(data_);
      data_ = std::move(spare_);
    } else {
      visitors.data = Buffer<Real>(piece.count * side_ * dim_, lists_.own().device());
      visitors.data.copy_from_host(data_.data(), visitors.data.size());
    }
    return visitors;
  }

  /// In launches of about 10 ms a thread, with looks at the transfers between them.
  void meet(pairwise::remote_points<Real>& visitors, const ring_visit& visit, std::int64_t blocks, pokes transfers) {
    if (visit.own.count == 0) return;
    const bool is_host = lists_.own().device().kind() == device_kind::host;
    const std::int64_t tiles = is_host ? 65536 * std::int64_t(ranks_.threads()) / dim_ : blocks * visit.own.count;
    const std::int64_t group_size = std::clamp<std::int64_t>(tiles / visit.own.count, 1, blocks);
    lists_.begin_list_update(visitors, visit.own);
    for (std::int64_t first = 0; first < blocks; first += group_size) {
      lists_.meet(visitors, visit.own, {first, std::min(group_size, blocks - first)});
      poke(transfers);
    }
    lists_.end_meeting(visitors, visit.own);
  }

  /// The lists of own points that were visitors, into home_value_ and home_index_.
  transfer receive_returns(int step) {
    transfer started;
    const ring_visit& guest = guests_[step - 1];
    const int from = (ranks_.rank() - step + ranks_.size()) % ranks_.size();
    std::fill(home_index_.begin(), home_index_.end(), -1);
    std::fill(home_beyond_.begin(), home_beyond_.end(), std::numeric_limits<Real>::infinity());
    for (const pairwise::block_range& piece : pieces_of(guest.visiting)) {
      const std::int64_t first = piece.first * side_ * lists_.k();
      const auto entries = std::size_t(points_in(plan_.part(ranks_.rank()), piece, side_) * lists_.k());
      ranks_.start_receive(std::span<Real>(home_value_.data() + first, entries), from, list_tag, started);
      ranks_.start_receive(std::span<std::int32_t>(home_index_.data() + first, entries), from, list_tag, started);
      if (lists_.has_filter())
        ranks_.start_receive(
            std::span<Real>(home_beyond_.data() + piece.first * side_, entries / std::size_t(lists_.k())), from,
            list_tag, started);
    }
    return started;
  }

  process_group& ranks_;
  pairwise::ring_lists<Real>& lists_;
  const ring_plan& plan_;
  std::int64_t side_, dim_;
  bool has_factors_;
  numbers_of numbers_;
  std::vector<ring_visit> visits_;  ///< by step
  std::vector<ring_visit> guests_;  ///< as what the own blocks visit another rank, by step
  std::vector<Real> kth_, own_data_, own_factor_;
  std::vector<Real> exact_kth_, exact_limit_, back_min_excluded_, home_beyond_;  ///< with a filter
  Buffer<Real> data_, spare_;  ///< of visitors to come: where they are received, and where the next ones will be
  std::vector<Real> factor_, limit_, back_value_, home_value_;
  std::vector<std::int32_t> back_index_, home_index_;
};

}  // namespace quintet::distributed
