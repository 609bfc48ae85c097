#include "quintet/snp/network/network_state.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "snp/network/network_graph.hpp"
#include "snp/network/numbers.hpp"
#include "snp/network/state_graph.hpp"

namespace quintet::snp {

namespace {

// The second format has a clock.
constexpr double format_version = 1, dated_version = 2;
constexpr std::size_t state_numbers = 12, node_numbers = 11;
// Ways down to the leaves that are written with few digits.
constexpr double height_tolerance = 1e-6;
// What is left of 1 - g and g after one rounding.
constexpr double gamma_sum_tolerance = 1e-15;

bool is_open_unit(double x) { return x > 0 && x < 1; }
bool is_positive(double x) { return x > 0 && std::isfinite(x); }

std::string describe(const network_state& state, std::int32_t x) {
  return state.is_leaf(x) ? text("leaf \"", (*state.species)[at(x)], "\"") : text("node ", x);
}

// Kinds and links; "" when they fit together.
std::string broken_link(const network_state& state) {
  const auto size = static_cast<std::int32_t>(state.nodes.size());
  if (!state.species || state.leaves() < 2) return "a state has at least two species";
  const std::int32_t n = state.leaves(), r = state.reticulations;
  if (r < 0 || size != 2 * n - 1 + 2 * r)
    return text(n, " species and ", r, " reticulations make ", 2 * n - 1 + 2 * r, " nodes, not ", size);
  if (state.root < n || state.root >= size) return text("root must be an inner node (root=", state.root, ")");
  std::int32_t reticulations = 0;
  for (std::int32_t x = 0; x < size; ++x) {
    const state_node& node = state.node(x);
    const bool is_leaf = x < n && node.parents == 1 && node.children == 0;
    const bool is_tree = x >= n && node.parents == 1 && node.children == 2;
    const bool is_reticulation = x >= n && node.parents == 2 && node.children == 1;
    if (!is_leaf && !is_tree && !is_reticulation)
      return text(describe(state, x), " has ", node.parents, " parents and ", node.children, " children");
    reticulations += is_reticulation;
    for (std::int32_t i = 0; i < node.parents; ++i) {
      const std::int32_t above = node.parent[at(i)], b = network_state::branch_of(x, i);
      if (x == state.root && above != state_node::none) return text("the root, node ", x, ", has a parent");
      if (x == state.root) continue;
      if (above < n || above >= size) return text(describe(state, x), " has a parent that is no inner node: ", above);
      const state_node& parent = state.node(above);
      if (std::count(parent.child.begin(), parent.child.begin() + parent.children, b) != 1)
        return text(describe(state, x), " is no child of its parent, node ", above);
    }
    for (std::int32_t i = 0; i < node.children; ++i) {
      const std::int32_t b = node.child[at(i)];
      if (b < 0 || b >= 2 * size || (b & 1) >= state.node(b >> 1).parents || state.top(b) != x)
        return text(describe(state, x), " is no parent of its child branch ", b);
    }
  }
  if (state.node(state.root).parents != 1) return text("the root, node ", state.root, ", is a reticulation");
  if (reticulations != r) return text("there are ", reticulations, " reticulations, not ", r);
  return "";
}

std::string broken_number(const network_state& state) {
  if (!is_open_unit(state.pi1)) return text("pi1 must be in (0, 1) (pi1=", state.pi1, ")");
  for (std::int32_t x = 0; x < static_cast<std::int32_t>(state.nodes.size()); ++x) {
    const state_node& node = state.node(x);
    if (x < state.leaves() && node.height != 0) return text(describe(state, x), " has height ", node.height, ", not 0");
    for (std::int32_t i = 0; i < node.parents; ++i) {
      const std::int32_t b = network_state::branch_of(x, i);
      if (!(state.top_height(b) > node.height) || !std::isfinite(state.top_height(b)))
        return text(describe(state, x), " has height ", node.height, ", its parent ", state.top_height(b));
      if (!is_positive(state.theta(b)))
        return text("theta above ", describe(state, x), " must be finite and > 0 (theta=", state.theta(b), ")");
    }
    if (node.parents == 2 && (!is_open_unit(node.gamma[0]) || !is_open_unit(node.gamma[1]) ||
                              std::fabs(node.gamma[0] + node.gamma[1] - 1) > gamma_sum_tolerance))
      return text("gammas of ", describe(state, x), " must be in (0, 1) with sum 1 (", node.gamma[0], ", ",
                  node.gamma[1], ")");
  }
  return "";
}

// Of two numberings that list the same branches, the one whose numbers come first: heights, then of every branch gamma
// and theta, larger ones first.
bool has_larger_parameters(const network_state& state, std::span<const std::int32_t> a,
                           std::span<const std::int32_t> b) {
  const std::size_t size = state.nodes.size();
  std::vector<std::int32_t> node_a(size), node_b(size);
  for (std::size_t x = 0; x < size; ++x) {
    node_a[at(a[x])] = static_cast<std::int32_t>(x);
    node_b[at(b[x])] = static_cast<std::int32_t>(x);
  }
  for (std::size_t i = 0; i < size; ++i)
    if (const double ha = state.node(node_a[i]).height, hb = state.node(node_b[i]).height; ha != hb) return ha > hb;
  for (std::size_t i = 0; i < size; ++i) {
    const state_node &left = state.node(node_a[i]), &right = state.node(node_b[i]);
    // Parent branches in the order of their tops, of parallel ones that with the larger gamma first.
    const auto first = [&](const state_node& node, std::span<const std::int32_t> number) {
      if (node.parents < 2) return std::size_t{0};
      if (node.parent[0] != node.parent[1])
        return std::size_t{number[at(node.parent[0])] < number[at(node.parent[1])] ? 0u : 1u};
      return std::size_t{node.gamma[0] >= node.gamma[1] ? 0u : 1u};
    };
    const std::size_t fa = first(left, a), fb = first(right, b);
    for (std::size_t k = 0; k < static_cast<std::size_t>(left.parents); ++k) {
      if (left.gamma[fa ^ k] != right.gamma[fb ^ k]) return left.gamma[fa ^ k] > right.gamma[fb ^ k];
      if (left.theta[fa ^ k] > right.theta[fb ^ k]) return true;
      if (left.theta[fa ^ k] < right.theta[fb ^ k]) return false;
    }
  }
  return false;
}

}  // namespace

network_graph graph_of(const network_state& state) {
  network_graph graph;
  graph.nodes.resize(state.nodes.size());
  graph.root = state.root;
  for (std::int32_t x = 0; x < graph.size(); ++x) {
    const state_node& node = state.node(x);
    graph_node& copy = graph.node(x);
    copy.parents = x == state.root ? 0 : node.parents;
    copy.children = node.children;
    copy.parent = node.parent;
    for (std::int32_t i = 0; i < node.children; ++i) copy.child[at(i)] = network_state::bottom(node.child[at(i)]);
  }
  return graph;
}

std::vector<double> numbers_of(const network_state& state) {
  const bool is_dated = !std::isnan(state.clock);
  std::vector<double> numbers{is_dated ? dated_version : format_version,
                              double(state.leaves()),
                              double(state.nodes.size()),
                              double(state.root),
                              double(state.reticulations),
                              state.thetas == theta_mode::each ? 1.0 : 0.0,
                              state.origin,
                              state.common_theta,
                              state.pi1,
                              state.netdiv,
                              state.turnover,
                              state.theta_mean};
  if (is_dated) numbers.push_back(state.clock);
  for (const state_node& node : state.nodes) {
    numbers.insert(numbers.end(), {node.height, node.theta[0], node.theta[1], node.gamma[0], node.gamma[1],
                                   double(node.parent[0]), double(node.parent[1]), double(node.child[0]),
                                   double(node.child[1]), double(node.parents), double(node.children)});
  }
  return numbers;
}

network_state state_from_numbers(std::shared_ptr<const std::vector<std::string>> species,
                                 std::span<const double> numbers) {
  const auto fail = [](const std::string& why) { throw InvalidArgument(text("numbers are no state: ", why)); };
  const bool is_dated = !numbers.empty() && numbers[0] == dated_version;
  const std::size_t head = state_numbers + (is_dated ? 1 : 0);
  if (numbers.size() < head || (numbers[0] != format_version && !is_dated)) fail("another format");
  const auto integer = [&](double x) {
    if (!(x >= -1 && x < 1e9) || x != std::floor(x)) fail(text("a count or index is ", x));
    return static_cast<std::int32_t>(x);
  };
  network_state state;
  state.species = std::move(species);
  if (!state.species || integer(numbers[1]) != state.leaves()) fail("another number of species");
  const std::int32_t size = integer(numbers[2]);
  if (size < 0 || numbers.size() != head + node_numbers * at(size)) fail("another number of nodes");
  state.nodes.resize(at(size));
  state.root = integer(numbers[3]);
  state.reticulations = integer(numbers[4]);
  state.thetas = numbers[5] != 0 ? theta_mode::each : theta_mode::common;
  state.origin = numbers[6];
  state.common_theta = numbers[7];
  state.pi1 = numbers[8];
  state.netdiv = numbers[9];
  state.turnover = numbers[10];
  state.theta_mean = numbers[11];
  if (is_dated) state.clock = numbers[12];
  for (std::int32_t x = 0; x < size; ++x) {
    const double* from = numbers.data() + head + node_numbers * at(x);
    state_node& node = state.node(x);
    node.height = from[0];
    node.theta = {from[1], from[2]};
    node.gamma = {from[3], from[4]};
    node.parent = {integer(from[5]), integer(from[6])};
    node.child = {integer(from[7]), integer(from[8])};
    node.parents = integer(from[9]);
    node.children = integer(from[10]);
  }
  if (const std::string broken = broken_rule(state); !broken.empty()) fail(broken);
  return state;
}

std::string broken_rule(const network_state& state) {
  const std::string link = broken_link(state);
  return link.empty() ? broken_number(state) : link;
}

bool is_in_range(const network_state& state) {
  if (!is_open_unit(state.pi1) || !std::isfinite(state.origin)) return false;
  if (state.thetas == theta_mode::common && !is_positive(state.common_theta)) return false;
  for (std::int32_t x = 0; x < static_cast<std::int32_t>(state.nodes.size()); ++x) {
    const state_node& node = state.node(x);
    for (std::int32_t i = 0; i < node.parents; ++i) {
      const std::int32_t above = node.parent[at(i)];
      if (!((above == state_node::none ? state.origin : state.node(above).height) > node.height)) return false;
      if (state.thetas == theta_mode::each && !is_positive(node.theta[at(i)])) return false;
      if (node.parents == 2 && !is_open_unit(node.gamma[at(i)])) return false;
    }
  }
  return true;
}

bool is_allowed(const network_state& state, const network_limits& limits) {
  if (state.reticulations > limits.max_reticulations) return false;
  if (!limits.bubbles)
    for (std::int32_t x = state.leaves(); x < static_cast<std::int32_t>(state.nodes.size()); ++x)
      if (state.is_bubble(x)) return false;
  return limits.max_level < 0 || state.reticulations <= limits.max_level ||
         level_of(graph_of(state)) <= limits.max_level;
}

namespace {

// Heights of all nodes of a network, 0 at the leaves; ways of different length are an error unless they may stretch.
std::vector<double> heights_of(const Network& network, bool may_stretch) {
  std::vector<double> height(static_cast<std::size_t>(network.nodes()), 0.0), way;
  double max = 0;
  std::string first_difference;
  double worst = 0;
  for (const std::int64_t x : network.children_first()) {
    way.clear();
    for (const std::int64_t b : network.child_branches(x))
      way.push_back(height[static_cast<std::size_t>(network.branch(b).child)] + network.branch(b).length);
    if (way.empty()) continue;
    const double h = way.size() == 1 || way[0] == way[1] ? way[0]
                     : may_stretch                       ? std::max(way[0], way[1])
                                                         : way[0] + (way[1] - way[0]) / 2;
    height[static_cast<std::size_t>(x)] = h;
    max = std::max(max, h);
    if (way.size() == 2 && std::fabs(way[0] - way[1]) > worst) {
      worst = std::fabs(way[0] - way[1]);
      first_difference = text("above the ", network.describe_branch(network.child_branches(x)[0]), " and the ",
                              network.describe_branch(network.child_branches(x)[1]), ": ", way[0], " and ", way[1]);
    }
  }
  if (!may_stretch && worst > height_tolerance * max)
    throw InvalidArgument(text("all ways from a node down to the leaves must be equally long in a start network (",
                               first_difference, ")"));
  return height;
}

std::unordered_map<std::string_view, std::int32_t> places_of(const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, std::int32_t> place;
  for (std::size_t i = 0; i < names.size(); ++i) place.emplace(names[i], static_cast<std::int32_t>(i));
  return place;
}

}  // namespace

network_state state_of(const Network& network, std::shared_ptr<const std::vector<std::string>> species,
                       const state_options& options) {
  if (!species || species->size() < 2) throw InvalidArgument("species must be at least two names");
  const auto place = places_of(*species);
  if (place.size() != species->size()) throw InvalidArgument("species must be different names");
  for (const std::string& name : network.species())
    if (!place.contains(name))
      throw InvalidArgument(text("the leaf \"", name, "\" of the network is none of the species"));
  for (const std::string& name : *species)
    if (std::find(network.species().begin(), network.species().end(), name) == network.species().end())
      throw InvalidArgument(text("the species \"", name, "\" is no leaf of the network"));

  const std::vector<double> height = heights_of(network, options.may_stretch);
  network_state state;
  state.species = std::move(species);
  state.thetas = options.thetas;
  state.pi1 = options.pi1;
  state.reticulations = static_cast<std::int32_t>(network.reticulations().size());
  state.nodes.resize(height.size());
  std::vector<std::int32_t> number(height.size());
  std::int32_t next = state.leaves();
  for (const std::int64_t x : network.children_first())
    number[static_cast<std::size_t>(x)] = network.kind(x) == node_kind::leaf ? place.at(network.name(x)) : next++;
  for (const std::int64_t x : network.children_first()) {
    state_node& node = state.node(number[static_cast<std::size_t>(x)]);
    node.height = height[static_cast<std::size_t>(x)];
    const auto up = network.parent_branches(x);
    node.parents = std::max<std::int32_t>(1, static_cast<std::int32_t>(up.size()));
    for (std::size_t i = 0; i < up.size(); ++i) {
      const snp::branch& b = network.branch(up[i]);
      node.parent[i] = number[static_cast<std::size_t>(b.parent)];
      node.theta[i] = b.theta;
      node.gamma[i] = b.gamma;
      state_node& above = state.node(node.parent[i]);
      above.child[at(above.children++)] =
          network_state::branch_of(number[static_cast<std::size_t>(x)], static_cast<std::int32_t>(i));
    }
  }
  state.root = number[static_cast<std::size_t>(network.root())];
  state.node(state.root).theta[0] = network.root_theta();
  const double root_height = state.node(state.root).height;
  state.origin = std::isnan(options.origin) ? 1.5 * root_height : options.origin;
  if (options.thetas == theta_mode::common) {
    state.common_theta = network.root_theta();
    for (std::int64_t b = 0; b < network.branches(); ++b)
      if (network.branch(b).theta != network.root_theta())
        throw InvalidArgument(text("a common theta needs the same on all branches (", network.describe_branch(b), ": ",
                                   network.branch(b).theta, ", root: ", network.root_theta(), ")"));
  }
  if (const std::string broken = broken_rule(state); !broken.empty())
    throw InvalidArgument(text("the network is no start: ", broken));
  return state;
}

canonical_numbering number_canonically(const network_state& state) {
  const network_graph graph = graph_of(state);
  const std::vector<std::string>& species = *state.species;
  std::vector<std::int32_t> ranks = ranks_of_leaves(species);
  ranks.resize(state.nodes.size(), -1);
  const canonical_form form =
      canonise(graph, ranks, [&](std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
        return has_larger_parameters(state, a, b);
      });
  canonical_numbering numbering;
  numbering.node = form.number;
  numbering.branch.assign(2 * state.nodes.size(), -1);
  // Branches in the order of the list; each node takes its own.
  struct end {
    std::int32_t child, parent, branch;
    double gamma, theta;
  };
  std::vector<end> ends;
  for (std::int32_t x = 0; x < graph.size(); ++x)
    for (std::int32_t i = 0; i < graph.node(x).parents; ++i) {
      const std::int32_t b = network_state::branch_of(x, i);
      ends.push_back(
          {form.number[at(x)], form.number[at(graph.node(x).parent[at(i)])], b, state.gamma(b), state.theta(b)});
    }
  std::sort(ends.begin(), ends.end(), [](const end& a, const end& b) {
    if (a.child != b.child) return a.child < b.child;
    if (a.parent != b.parent) return a.parent < b.parent;
    if (a.gamma != b.gamma) return a.gamma > b.gamma;
    return a.theta > b.theta;
  });
  for (std::size_t i = 0; i < ends.size(); ++i) numbering.branch[at(ends[i].branch)] = static_cast<std::int32_t>(i);
  numbering.key = newick_of(graph, species, form.number);
  return numbering;
}

Network to_network(const network_state& state, const canonical_numbering& numbering) {
  network_description description;
  description.names.resize(state.nodes.size());
  for (std::int32_t x = 0; x < state.leaves(); ++x)
    description.names[at(numbering.node[at(x)])] = (*state.species)[at(x)];
  description.edges.resize(at(state.branches() - 1));
  for (std::int32_t b = 0; b < static_cast<std::int32_t>(numbering.branch.size()); ++b) {
    if (numbering.branch[at(b)] < 0) continue;
    const std::int32_t below = network_state::bottom(b);
    network_edge& edge = description.edges[at(numbering.branch[at(b)])];
    edge = {numbering.node[at(state.top(b))], numbering.node[at(below)], state.length(b), state.theta(b),
            state.is_reticulation(below) ? state.gamma(b) : unset};
  }
  description.root_theta = state.theta(state.root_branch());
  return Network(std::move(description));
}

Network to_network(const network_state& state) { return to_network(state, number_canonically(state)); }

}  // namespace quintet::snp
