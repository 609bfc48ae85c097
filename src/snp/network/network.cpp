#include "quintet/snp/network/network.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

using breach = NetworkError::rule;

// Further than rounding can move the sum of two probabilities that were written as g and 1 - g.
constexpr double exact_sum = 4.5e-16;
// Probabilities written with few digits.
constexpr double gamma_tolerance = 1e-6;

bool is_length(double value) { return std::isfinite(value) && value >= 0; }
bool is_theta(double value) { return std::isfinite(value) && value > 0; }
bool is_gamma(double value) { return value >= 0 && value <= 1; }

[[noreturn]] void fail(breach broken, const std::string& message) { throw NetworkError(broken, message); }

}  // namespace

Network::Network(network_description description)
    : names_(std::move(description.names)), root_theta_(description.root_theta) {
  if (names_.empty() || description.edges.empty())
    fail(breach::empty, text("a network has at least a root with two children (", nodes(), " nodes, ",
                             description.edges.size(), " edges)"));
  check_names();
  attach(description.edges);
  find_root();
  order_nodes();
  classify();
  check_parameters(description.edges);
  check_gammas();
}

std::size_t Network::checked_node(std::int64_t node) const {
  if (node < 0 || node >= nodes()) require_argument(false, "node", node, text("in [0, ", nodes() - 1, "]"));
  return at(node);
}

std::size_t Network::checked_branch(std::int64_t b) const {
  if (b < 0 || b >= branches()) require_argument(false, "branch", b, text("in [0, ", branches() - 1, "]"));
  return at(b);
}

std::string Network::describe_node(std::int64_t node) const {
  const auto name_of = [&](std::int64_t n) -> const std::string& { return names_[at(n)]; };
  if (!name_of(node).empty()) return text("node ", node, " \"", name_of(node), "\"");
  // Without a name, the first descendant with one says where it is. On a cycle there may be none.
  std::int64_t below = node;
  for (std::int64_t step = 0; step < nodes() && name_of(below).empty() && children_[at(below)].count > 0; ++step)
    below = branches_[at(children_[at(below)].item[0])].child;
  return name_of(below).empty() ? text("node ", node) : text("node ", node, " above \"", name_of(below), "\"");
}

std::string Network::describe_branch(std::int64_t b) const {
  const snp::branch& edge = branches_[checked_branch(b)];
  return text("branch from ", describe_node(edge.child), " to ", describe_node(edge.parent));
}

void Network::check_names() const {
  std::unordered_map<std::string_view, std::int64_t> visited;
  for (std::int64_t node = 0; node < nodes(); ++node) {
    const std::string& name = names_[at(node)];
    if (name.empty()) continue;
    const auto [other, is_new] = visited.emplace(name, node);
    if (!is_new)
      fail(breach::name, text("the name \"", name, "\" belongs to two nodes, ", other->second, " and ", node));
  }
}

void Network::attach(const std::vector<network_edge>& edges) {
  parents_.resize(names_.size());
  children_.resize(names_.size());
  branches_.reserve(edges.size());
  for (const network_edge& edge : edges) {
    const std::int64_t b = branches();
    for (const std::int64_t end : {edge.parent, edge.child})
      if (end < 0 || end >= nodes())
        fail(breach::node_index, text("edge ", b, " has an end at node ", end, "; nodes are 0 ... ", nodes() - 1));
    branches_.push_back({edge.child, edge.parent, edge.length, edge.theta, edge.gamma});
    pair& up = parents_[at(edge.child)];
    pair& down = children_[at(edge.parent)];
    if (up.count == 2)
      fail(breach::binary, text(describe_node(edge.child), " has more than two parents; a network must be binary"));
    if (down.count == 2)
      fail(breach::binary, text(describe_node(edge.parent), " has more than two children; a network must be binary"));
    up.item[at(up.count++)] = b;
    down.item[at(down.count++)] = b;
  }
}

void Network::find_root() {
  for (std::int64_t node = 0; node < nodes(); ++node) {
    if (parents_[at(node)].count > 0) continue;
    if (children_[at(node)].count == 0)
      fail(breach::disconnected, text(describe_node(node), " is connected with nothing"));
    if (root_ >= 0)
      fail(breach::root, text("there are two roots, ", describe_node(root_), " and ", describe_node(node),
                              "; the parts of a network must meet in one"));
    root_ = node;
  }
  if (root_ < 0) fail(breach::root, "every node has a parent, so there is no root: the network has a cycle");
}

void Network::order_nodes() {
  std::vector<std::int64_t> open(names_.size());
  for (std::int64_t node = 0; node < nodes(); ++node) {
    open[at(node)] = children_[at(node)].count;
    if (open[at(node)] == 0) order_.push_back(node);
  }
  for (std::size_t written = 0; written < order_.size(); ++written)
    for (const std::int64_t b : parents_[at(order_[written])].span()) {
      const std::int64_t parent = branches_[at(b)].parent;
      if (--open[at(parent)] == 0) order_.push_back(parent);
    }
  if (order_.size() == names_.size()) return;  // the root, of which all are descendants, came last
  const auto stuck = std::find_if(open.begin(), open.end(), [](std::int64_t left) { return left > 0; });
  // Walk down along what is stuck: sooner or later a node comes twice, and that one lies on the cycle.
  std::int64_t node = stuck - open.begin();
  for (std::int64_t step = 0; step < nodes(); ++step)
    for (const std::int64_t b : children_[at(node)].span())
      if (open[at(branches_[at(b)].child)] > 0) {
        node = branches_[at(b)].child;
        break;
      }
  fail(breach::cycle, text(describe_node(node), " is its own ancestor: the network has a cycle"));
}

void Network::classify() {
  kinds_.resize(names_.size());
  for (std::int64_t node = 0; node < nodes(); ++node) {
    const std::int64_t up = parents_[at(node)].count, down = children_[at(node)].count;
    node_kind& kind = kinds_[at(node)];
    if (up == 1 && down == 0)
      kind = node_kind::leaf;
    else if (up == 1 && down == 2)
      kind = node_kind::tree;
    else if (up == 2 && down == 1)
      kind = node_kind::reticulation;
    else if (up == 0 && down == 2)
      kind = node_kind::root;
    else
      fail(breach::binary,
           text(describe_node(node), " has ", up, " parents and ", down,
                " children; a leaf has 1 and 0, a tree node 1 and 2, a reticulation 2 and 1, the root 0 and 2"));
    if (kind == node_kind::reticulation) reticulations_.push_back(node);
    if (kind != node_kind::leaf) continue;
    if (names_[at(node)].empty()) fail(breach::name, text("the leaf ", describe_node(node), " has no name"));
    leaves_.push_back(node);
    species_.push_back(names_[at(node)]);
  }
}

void Network::check_parameters(const std::vector<network_edge>& edges) {
  for (std::int64_t b = 0; b < branches(); ++b) {
    const network_edge& edge = edges[at(b)];
    if (std::isnan(edge.length)) fail(breach::length, text("the ", describe_branch(b), " has no length"));
    if (!is_length(edge.length))
      fail(breach::length, text("length must be finite and >= 0 (", describe_branch(b), ": length=", edge.length, ")"));
    if (std::isnan(edge.theta)) fail(breach::theta, text("the ", describe_branch(b), " has no theta"));
    if (!is_theta(edge.theta))
      fail(breach::theta, text("theta must be finite and > 0 (", describe_branch(b), ": theta=", edge.theta, ")"));
  }
  if (std::isnan(root_theta_)) fail(breach::theta, "the root has no theta");
  if (!is_theta(root_theta_))
    fail(breach::theta, text("theta of the root must be finite and > 0 (root_theta=", root_theta_, ")"));
}

void Network::check_gammas() {
  for (std::int64_t b = 0; b < branches(); ++b) {
    double& gamma = branches_[at(b)].gamma;
    if (!std::isnan(gamma) && !is_gamma(gamma))
      fail(breach::gamma, text("gamma must be in [0, 1] (", describe_branch(b), ": gamma=", gamma, ")"));
    if (kinds_[at(branches_[at(b)].child)] == node_kind::reticulation) continue;
    if (!std::isnan(gamma) && gamma != 1)
      fail(breach::gamma, text("only the two branches above a reticulation have a gamma other than 1 (",
                               describe_branch(b), ": gamma=", gamma, ")"));
    gamma = 1;
  }
  for (const std::int64_t node : reticulations_) {
    double& first = branches_[at(parents_[at(node)].item[0])].gamma;
    double& second = branches_[at(parents_[at(node)].item[1])].gamma;
    if (std::isnan(first) && std::isnan(second))
      fail(breach::gamma, text("the reticulation ", describe_node(node), " has no gamma on either parent branch"));
    if (std::isnan(first)) first = 1 - second;
    if (std::isnan(second)) second = 1 - first;
    const double off = std::fabs(first + second - 1);
    if (off > gamma_tolerance)
      fail(breach::gamma, text("the gammas of the reticulation ", describe_node(node), " must sum to 1 (", first, " + ",
                               second, " = ", first + second, ")"));
    if (off > exact_sum) second = 1 - first;
  }
}

std::int64_t Network::find(std::string_view name) const {
  const auto it = std::find(names_.begin(), names_.end(), name);
  return it == names_.end() || name.empty() ? -1 : it - names_.begin();
}

void Network::set_length(std::int64_t b, double length) {
  const std::size_t place = checked_branch(b);
  if (!is_length(length))
    fail(breach::length, text("length must be finite and >= 0 (", describe_branch(b), ": length=", length, ")"));
  branches_[place].length = length;
}

void Network::set_theta(std::int64_t b, double theta) {
  const std::size_t place = checked_branch(b);
  if (!is_theta(theta))
    fail(breach::theta, text("theta must be finite and > 0 (", describe_branch(b), ": theta=", theta, ")"));
  branches_[place].theta = theta;
}

void Network::set_root_theta(double theta) {
  if (!is_theta(theta)) fail(breach::theta, text("theta of the root must be finite and > 0 (root_theta=", theta, ")"));
  root_theta_ = theta;
}

void Network::set_gamma(std::int64_t b, double gamma) {
  const std::size_t place = checked_branch(b);
  const std::int64_t node = branches_[place].child;
  if (kinds_[at(node)] != node_kind::reticulation)
    fail(breach::gamma, text("only the two branches above a reticulation have a gamma (", describe_branch(b), ")"));
  if (!is_gamma(gamma))
    fail(breach::gamma, text("gamma must be in [0, 1] (", describe_branch(b), ": gamma=", gamma, ")"));
  const auto& both = parents_[at(node)].item;
  branches_[place].gamma = gamma;
  branches_[at(both[0] == b ? both[1] : both[0])].gamma = 1 - gamma;
}

}  // namespace quintet::snp
