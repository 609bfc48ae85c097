#include "snp/network/network_graph.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "snp/network/newick_text.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

void drop(std::array<std::int32_t, 2>& list, std::int32_t& count, std::int32_t x) {
  if (list[0] == x) list[0] = list[1];
  list[at(--count)] = -1;
}

// Ranks are colours: how many nodes come before those of the class.
class refinement {
 public:
  refinement(const network_graph& graph, const numbering_order& order) : graph_(graph), order_(order) {}

  canonical_form run(std::vector<std::int32_t> colours) {
    search(std::move(colours));
    return std::move(best_);
  }

 private:
  using signature = std::array<std::int32_t, 6>;  // colour, children's, parents', node

  // Until the number of classes stays; returns the colour of the first class with several nodes, or -1.
  std::int32_t refine(std::vector<std::int32_t>& colours);
  void search(std::vector<std::int32_t> colours);
  void keep_if_better(std::vector<std::int32_t>&& number);

  const network_graph& graph_;
  const numbering_order& order_;
  std::vector<signature> sorted_;
  canonical_form best_;
};

std::int32_t refinement::refine(std::vector<std::int32_t>& colours) {
  std::size_t classes = 0;
  for (;;) {
    sorted_.clear();
    for (std::int32_t x = 0; x < graph_.size(); ++x) {
      const graph_node& node = graph_.node(x);
      signature s{colours[at(x)], -1, -1, -1, -1, x};
      for (std::int32_t i = 0; i < node.children; ++i) s[at(1 + i)] = colours[at(node.child[at(i)])];
      for (std::int32_t i = 0; i < node.parents; ++i) s[at(3 + i)] = colours[at(node.parent[at(i)])];
      if (s[1] > s[2]) std::swap(s[1], s[2]);
      if (s[3] > s[4]) std::swap(s[3], s[4]);
      sorted_.push_back(s);
    }
    std::sort(sorted_.begin(), sorted_.end());
    std::size_t count = 0;
    std::int32_t shared = -1, first = 0;
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      const bool is_new = i == 0 || !std::equal(sorted_[i].begin(), sorted_[i].end() - 1, sorted_[i - 1].begin());
      if (is_new) {
        first = static_cast<std::int32_t>(i);
        ++count;
      } else if (shared < 0) {
        shared = first;
      }
      colours[at(sorted_[i].back())] = first;
    }
    if (count == classes || shared < 0) return shared;
    classes = count;
  }
}

void refinement::search(std::vector<std::int32_t> colours) {
  const std::int32_t shared = refine(colours);
  if (shared < 0) return keep_if_better(std::move(colours));
  for (std::int32_t x = 0; x < graph_.size(); ++x) {
    if (colours[at(x)] != shared) continue;
    std::vector<std::int32_t> told_apart = colours;
    for (std::int32_t other = 0; other < graph_.size(); ++other)
      if (other != x && colours[at(other)] == shared) ++told_apart[at(other)];
    search(std::move(told_apart));
  }
}

void refinement::keep_if_better(std::vector<std::int32_t>&& number) {
  canonical_form form;
  for (std::int32_t x = 0; x < graph_.size(); ++x)
    for (std::int32_t i = 0; i < graph_.node(x).parents; ++i)
      form.branches.emplace_back(number[at(x)], number[at(graph_.node(x).parent[at(i)])]);
  std::sort(form.branches.begin(), form.branches.end());
  const bool is_first = best_.number.empty();
  if (!is_first && best_.branches < form.branches) return;
  if (!is_first && best_.branches == form.branches && !(order_ && order_(number, best_.number))) return;
  form.number = std::move(number);
  best_ = std::move(form);
}

// Recursion goes as deep as the network is high.
class topology_writer {
 public:
  topology_writer(const network_graph& graph, std::span<const std::string> names, std::span<const std::int32_t> number)
      : graph_(graph), names_(names), number_(number), label_(graph.nodes.size(), 0) {}
  std::string write() {
    append(graph_.root);
    return out_ + ";";
  }

 private:
  void append(std::int32_t x) {
    const graph_node& node = graph_.node(x);
    const bool is_known = label_[at(x)] > 0;
    if (node.children > 0 && !is_known) {
      if (node.parents == 2) label_[at(x)] = ++labels_;
      std::array<std::int32_t, 2> children = node.child;
      if (node.children == 2 && number_[at(children[0])] > number_[at(children[1])])
        std::swap(children[0], children[1]);
      for (std::int32_t i = 0; i < node.children; ++i) {
        out_ += i == 0 ? '(' : ',';
        append(children[at(i)]);
      }
      out_ += ')';
    }
    if (node.children == 0) append_newick_name(out_, names_[at(x)], false);
    if (node.parents == 2) out_ += "#H" + std::to_string(label_[at(x)]);
  }

  const network_graph& graph_;
  std::span<const std::string> names_;
  std::span<const std::int32_t> number_;
  std::vector<std::int32_t> label_;
  std::int32_t labels_ = 0;
  std::string out_;
};

// Low-link search for bridges; a component without bridges is biconnected, as no node has more than three neighbours.
class components {
 public:
  explicit components(const network_graph& graph)
      : graph_(graph), entered_(graph.nodes.size(), 0), low_(graph.nodes.size(), 0) {
    visit(graph.root, -1);
  }
  std::int64_t max_reticulations() const { return max_; }

 private:
  void visit(std::int32_t x, std::int32_t from) {
    entered_[at(x)] = low_[at(x)] = ++time_;
    open_.push_back(x);
    const graph_node& node = graph_.node(x);
    bool has_gone_back = false;  // over the branch by which x was reached; a parallel one counts
    const auto look = [&](std::int32_t y) {
      if (y == from && !has_gone_back) {
        has_gone_back = true;
      } else if (entered_[at(y)] > 0) {
        low_[at(x)] = std::min(low_[at(x)], entered_[at(y)]);
      } else {
        visit(y, x);
        low_[at(x)] = std::min(low_[at(x)], low_[at(y)]);
      }
    };
    for (std::int32_t i = 0; i < node.parents; ++i) look(node.parent[at(i)]);
    for (std::int32_t i = 0; i < node.children; ++i) look(node.child[at(i)]);
    if (low_[at(x)] != entered_[at(x)]) return;
    std::int64_t reticulations = 0;
    for (std::int32_t y = -1; y != x;) {
      y = open_.back();
      open_.pop_back();
      reticulations += graph_.node(y).parents == 2;
    }
    max_ = std::max(max_, reticulations);
  }

  const network_graph& graph_;
  std::vector<std::int32_t> entered_, low_, open_;
  std::int32_t time_ = 0;
  std::int64_t max_ = 0;
};

}  // namespace

void network_graph::connect(std::int32_t parent_node, std::int32_t child_node) {
  graph_node &above = node(parent_node), &below = node(child_node);
  above.child[at(above.children++)] = child_node;
  below.parent[at(below.parents++)] = parent_node;
}

void network_graph::disconnect(std::int32_t parent_node, std::int32_t child_node) {
  drop(node(parent_node).child, node(parent_node).children, child_node);
  drop(node(child_node).parent, node(child_node).parents, parent_node);
}

void network_graph::suppress(std::int32_t x) {
  const std::int32_t above = node(x).parent[0], below = node(x).child[0];
  disconnect(x, below);
  if (x == root) {
    root = below;
    return;
  }
  disconnect(above, x);
  connect(above, below);
}

network_graph graph_of(const Network& network) {
  network_graph graph;
  graph.nodes.resize(static_cast<std::size_t>(network.nodes()));
  graph.names.resize(graph.nodes.size());
  graph.root = static_cast<std::int32_t>(network.root());
  for (std::int64_t b = 0; b < network.branches(); ++b)
    graph.connect(static_cast<std::int32_t>(network.branch(b).parent),
                  static_cast<std::int32_t>(network.branch(b).child));
  for (const std::int64_t leaf : network.leaves()) graph.names[static_cast<std::size_t>(leaf)] = network.name(leaf);
  return graph;
}

std::vector<std::int32_t> ranks_of_leaves(std::span<const std::string> names) {
  std::vector<std::int32_t> leaves, ranks(names.size(), -1);
  for (std::size_t x = 0; x < names.size(); ++x)
    if (!names[x].empty()) leaves.push_back(static_cast<std::int32_t>(x));
  std::sort(leaves.begin(), leaves.end(), [&](std::int32_t a, std::int32_t b) { return names[at(a)] < names[at(b)]; });
  for (std::size_t i = 0; i < leaves.size(); ++i) ranks[at(leaves[i])] = static_cast<std::int32_t>(i);
  return ranks;
}

canonical_form canonise(const network_graph& graph, std::span<const std::int32_t> rank_of_leaf,
                        const numbering_order& order) {
  const auto leaves = static_cast<std::int32_t>(
      std::count_if(rank_of_leaf.begin(), rank_of_leaf.end(), [](std::int32_t rank) { return rank >= 0; }));
  std::vector<std::int32_t> colours(graph.nodes.size());
  for (std::int32_t x = 0; x < graph.size(); ++x)
    colours[at(x)] = rank_of_leaf[at(x)] >= 0 ? rank_of_leaf[at(x)] : leaves + graph.node(x).parents;
  return refinement(graph, order).run(std::move(colours));
}

std::string newick_of(const network_graph& graph, std::span<const std::string> names,
                      std::span<const std::int32_t> number) {
  return topology_writer(graph, names, number).write();
}

std::string key_of(const network_graph& graph) {
  // Only what can be reached from the root, numbered anew.
  network_graph part;
  std::vector<std::int32_t> place(graph.nodes.size(), -1), order{graph.root};
  place[at(graph.root)] = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::int32_t k = 0; k < graph.node(order[i]).children; ++k) {
      const std::int32_t child = graph.node(order[i]).child[at(k)];
      if (place[at(child)] >= 0) continue;
      place[at(child)] = static_cast<std::int32_t>(order.size());
      order.push_back(child);
    }
  part.nodes.resize(order.size());
  for (const std::int32_t x : order) {
    part.names.push_back(graph.name(x));
    for (std::int32_t k = 0; k < graph.node(x).children; ++k)
      part.connect(place[at(x)], place[at(graph.node(x).child[at(k)])]);
  }
  return newick_of(part, part.names, canonise(part, ranks_of_leaves(part.names)).number);
}

std::int64_t level_of(const network_graph& graph) { return components(graph).max_reticulations(); }

}  // namespace quintet::snp
