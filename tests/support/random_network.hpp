// Random networks: lineages merge and split backwards in time until one is left, so all ways to a node are equally
// long.
#pragma once

#include <string>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/snp/network/network.hpp"

namespace quintet::test {

/// A binary network with so many leaves (>= 2), named "s0", "s1", ..., and so many reticulations, "#H1", "#H2", ...;
/// inner nodes have no names. Thetas are in (0.01, 1], gammas in (0, 1), steps between events in (0, 0.2].
inline snp::network_description random_network(random_stream& random, std::int64_t leaves, std::int64_t reticulations) {
  snp::network_description made;
  struct lineage {
    std::int64_t node;
    double start, gamma;
  };
  std::vector<lineage> open;
  const auto theta = [&] { return 0.01 + 0.99 * random.uniform_positive<double>(); };
  const auto new_node = [&](std::string name) {
    made.names.push_back(std::move(name));
    return static_cast<std::int64_t>(made.names.size()) - 1;
  };
  for (std::int64_t i = 0; i < leaves; ++i) open.push_back({new_node("s" + std::to_string(i)), 0, snp::unset});
  const auto take = [&] {
    const std::size_t i = random.below(static_cast<std::uint32_t>(open.size()));
    const lineage taken = open[i];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    return taken;
  };
  double now = 0;
  const auto connect = [&](const lineage& l, std::int64_t parent) {
    made.edges.push_back({parent, l.node, now - l.start, theta(), l.gamma});
  };
  for (std::int64_t left = reticulations; open.size() > 1;) {
    now += 0.2 * random.uniform_positive<double>();
    if (left > 0 && (open.size() == 2 || random.below(3) == 0)) {
      const lineage below = take();
      const std::int64_t node = new_node("#H" + std::to_string(reticulations - --left));
      connect(below, node);
      const double gamma = 0.02 + 0.96 * random.uniform<double>();
      open.push_back({node, now, gamma});
      open.push_back({node, now, 1 - gamma});
    } else {
      const lineage a = take(), b = take();
      const std::int64_t node = new_node("");
      connect(a, node);
      connect(b, node);
      open.push_back({node, now, snp::unset});
    }
  }
  made.root_theta = theta();
  return made;
}

}  // namespace quintet::test
