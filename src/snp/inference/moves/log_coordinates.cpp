#include "snp/inference/moves/log_coordinates.hpp"

#include <algorithm>
#include <cmath>

#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/topology_edits.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

// Numbers of nodes are below this, see network_limits and the readers of networks.
constexpr double most_nodes = 1 << 20;

}  // namespace

log_coordinates::log_coordinates(const network_state& state, const coordinate_parts& parts)
    : parts_(parts), order_(number_canonically(state)), branches_(all_branches(state)) {
  const auto number = [&](std::int32_t b) { return order_.branch[at(b)]; };
  // As unsigned numbers, because the root branch has -1.
  std::sort(branches_.begin(), branches_.end(), [&](std::int32_t a, std::int32_t b) {
    return static_cast<std::uint32_t>(number(a)) < static_cast<std::uint32_t>(number(b));
  });
  for (const std::int32_t b : branches_) {
    if (b == state.root_branch()) continue;
    const std::int32_t x = network_state::bottom(b);
    topology_.push_back(order_.node[at(x)] * most_nodes + order_.node[at(state.top(b))]);
    if (state.is_reticulation(x) && number(b) < number(network_state::sibling_parent_branch(b))) gammas_.push_back(b);
  }
  for (std::int32_t x = state.leaves(); x < static_cast<std::int32_t>(state.nodes.size()); ++x) inner_.push_back(x);
  rising_ = inner_;
  std::sort(inner_.begin(), inner_.end(),
            [&](std::int32_t a, std::int32_t b) { return order_.node[at(a)] < order_.node[at(b)]; });
  std::sort(rising_.begin(), rising_.end(),
            [&](std::int32_t a, std::int32_t b) { return state.node(a).height < state.node(b).height; });
  if (!parts.gammas) gammas_.clear();
  logarithms_ =
      (parts.heights ? inner_.size() : 0) + (parts.origin ? 1 : 0) + (parts.thetas ? at(state.theta_count()) : 0);
  logits_ = gammas_.size() + (parts.pi1 ? 1 : 0);
}

std::vector<double> log_coordinates::point_of(const network_state& state) const {
  std::vector<double> point;
  point.reserve(size());
  if (parts_.heights)
    for (const std::int32_t x : inner_) point.push_back(std::log(state.node(x).height - range_of(state, x).low));
  if (parts_.origin) point.push_back(std::log(state.length(state.root_branch())));
  if (parts_.thetas && state.thetas == theta_mode::common) point.push_back(std::log(state.common_theta));
  if (parts_.thetas && state.thetas == theta_mode::each)
    for (const std::int32_t b : branches_) point.push_back(std::log(state.theta(b)));
  for (const std::int32_t b : gammas_) point.push_back(logit(state.gamma(b)));
  if (parts_.pi1) point.push_back(logit(state.pi1));
  return point;
}

void log_coordinates::move_to(std::span<const double> point, network_state& state) const {
  auto next = point.begin();
  if (parts_.heights) {
    std::vector<double> above(state.nodes.size());
    for (const std::int32_t x : inner_) above[at(x)] = std::exp(*next++);
    for (const std::int32_t x : rising_) state.node(x).height = range_of(state, x).low + above[at(x)];
  }
  if (parts_.origin) state.origin = state.node(state.root).height + std::exp(*next++);
  if (parts_.thetas && state.thetas == theta_mode::common) state.common_theta = std::exp(*next++);
  if (parts_.thetas && state.thetas == theta_mode::each)
    for (const std::int32_t b : branches_) state.node(network_state::bottom(b)).theta[at(b & 1)] = std::exp(*next++);
  for (const std::int32_t b : gammas_) {
    auto& gamma = state.node(network_state::bottom(b)).gamma;
    gamma[at(b & 1)] = inverse_logit(*next++);
    gamma[at(1 - (b & 1))] = 1 - gamma[at(b & 1)];
  }
  if (parts_.pi1) state.pi1 = inverse_logit(*next++);
}

double log_coordinates::log_volume(std::span<const double> point) const {
  double sum = 0;
  for (std::size_t i = 0; i < logarithms_; ++i) sum += point[i];
  // log g (1 - g) of g = 1 / (1 + exp(-y)).
  for (std::size_t i = logarithms_; i < size(); ++i)
    sum -= std::fabs(point[i]) + 2 * std::log1p(std::exp(-std::fabs(point[i])));
  return sum;
}

}  // namespace quintet::snp
