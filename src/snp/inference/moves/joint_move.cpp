#include "snp/inference/moves/joint_move.hpp"

#include <algorithm>
#include <cmath>

#include "quintet/core/error.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

proposal joint_move::propose(network_state& state, random_stream& random) const {
  const log_coordinates coordinates(state, parts_);
  const known_topology* const known = find(coordinates.topology());
  if (known == nullptr || !known->covariance.has_factor()) return {};
  const std::size_t size = coordinates.size();
  std::vector<double> normals(size);
  for (std::size_t i = 0; i < size; i += 2) {
    const auto pair = random.normals<double>();
    normals[i] = pair.first;
    if (i + 1 < size) normals[i + 1] = pair.second;
  }
  std::vector<double> point = coordinates.point_of(state);
  const double volume = coordinates.log_volume(point);
  known->covariance.add_step(normals, width() * 2.38 / std::sqrt(double(size)), point);
  coordinates.move_to(point, state);
  const bool is_reversible = is_in_range(state) && log_coordinates(state, parts_).has_order_of(coordinates);
  return {.applies = true, .log_hastings = is_reversible ? coordinates.log_volume(point) - volume : -infinity};
}

void joint_move::learn(const network_state& state) {
  ++states_;
  const log_coordinates coordinates(state, parts_);
  auto place = std::find_if(known_.begin(), known_.end(),
                            [&](const known_topology& known) { return known.topology == coordinates.topology(); });
  if (place == known_.end()) {
    if (known_.size() == most_topologies)
      known_.erase(std::min_element(known_.begin(), known_.end(), [](const known_topology& a, const known_topology& b) {
        return a.last_met < b.last_met;
      }));
    known_.push_back({coordinates.topology(), states_, learnt_covariance(coordinates.size())});
    place = known_.end() - 1;
  }
  place->last_met = states_;
  place->covariance.add(coordinates.point_of(state));
}

const joint_move::known_topology* joint_move::find(const std::vector<double>& topology) const {
  const auto place = std::find_if(known_.begin(), known_.end(),
                                  [&](const known_topology& known) { return known.topology == topology; });
  return place == known_.end() ? nullptr : &*place;
}

std::vector<double> joint_move::learnt() const {
  std::vector<double> numbers{double(states_)};
  for (const known_topology& known : known_) {
    numbers.insert(numbers.end(), {double(known.topology.size()), double(known.last_met)});
    numbers.insert(numbers.end(), known.topology.begin(), known.topology.end());
    known.covariance.write(numbers);
  }
  return numbers;
}

void joint_move::set_learnt(std::span<const double> numbers) {
  const auto check = [](bool is_right) {
    if (!is_right) throw InvalidArgument("the snapshot is of another sampler (topologies learnt)");
  };
  check(!numbers.empty());
  std::vector<known_topology> read;
  const auto states = std::int64_t(numbers[0]);
  for (numbers = numbers.subspan(1); !numbers.empty();) {
    check(read.size() < most_topologies && numbers.size() >= 2 && numbers[0] >= 0 &&
          numbers[0] <= double(numbers.size() - 2));
    const auto branches = std::size_t(numbers[0]), last = std::size_t(numbers[1]);
    const std::span<const double> topology = numbers.subspan(2, branches);
    numbers = numbers.subspan(2 + branches);
    read.push_back({{topology.begin(), topology.end()}, std::int64_t(last), learnt_covariance::read(numbers)});
  }
  states_ = states;
  known_ = std::move(read);
}

}  // namespace quintet::snp
