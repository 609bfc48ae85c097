#include "quintet/hdbscan/tree_stages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/polled.hpp"
#include "hdbscan/weights.hpp"
#include "quintet/core/error.hpp"

namespace quintet::hdbscan {
namespace {

// The dendrogram as the walk asks for it. All points below a node lie side by side in one array, so that shedding a
// whole branch is a copy.
class dendrogram {
 public:
  explicit dendrogram(const single_linkage_tree& tree)
      : tree_(tree), points_(tree.points), first_(2 * tree.points - 1), smallest_(tree.rows.size()) {
    for (std::size_t t = 0; t < tree.rows.size(); ++t) {
      quintet::detail::poll_sometimes(std::int64_t(t));
      smallest_[t] = std::min(smallest_point(tree.rows[t].left), smallest_point(tree.rows[t].right));
    }
    for (std::int64_t node = root(); !is_point(node); --node) {
      quintet::detail::poll_sometimes(node);
      const auto [left, right] = children(node);
      first_[left] = first_[node];
      first_[right] = first_[node] + size(left);
    }
    for (std::int64_t p = 0; p < tree.points; ++p) points_[first_[p]] = p;
    if (!tree.weights.empty()) mass_ = masses_of(tree);
  }

  std::int64_t root() const { return 2 * tree_.points - 2; }
  bool is_point(std::int64_t node) const { return node < tree_.points; }
  double height(std::int64_t node) const { return is_point(node) ? tree_.heights[node] : row(node).height; }
  double mass(std::int64_t node) const { return mass_.empty() ? double(size(node)) : mass_[node]; }
  bool has_children(std::int64_t node) const { return !is_point(node) || (!mass_.empty() && mass_[node] > 1); }
  std::int64_t size(std::int64_t node) const { return is_point(node) ? 1 : row(node).size; }
  std::pair<std::int64_t, std::int64_t> children(std::int64_t node) const { return {row(node).left, row(node).right}; }
  std::int64_t smallest_point(std::int64_t node) const {
    return is_point(node) ? node : smallest_[node - tree_.points];
  }
  std::span<const std::int64_t> points_below(std::int64_t node) const {
    return std::span(points_).subspan(first_[node], size(node));
  }

 private:
  const linkage_row& row(std::int64_t node) const { return tree_.rows[node - tree_.points]; }

  const single_linkage_tree& tree_;
  std::vector<std::int64_t> points_;    // all points, those of one branch contiguous
  std::vector<std::int64_t> first_;     // per node: where its points begin
  std::vector<std::int64_t> smallest_;  // per merge: smallest point below
  std::vector<double> mass_;            // per node; empty without weights
};

class condenser {
 public:
  condenser(const single_linkage_tree& tree, const tree_options& options)
      : nodes_(tree),
        options_(options),
        tolerance_(options.tie_tolerance.value_or(default_tie_tolerance())),
        next_cluster_(tree.points + 1) {
    result_.points = tree.points;
    result_.weights = tree.weights;
    rows_.reserve(tree.points);
    alive_.push_back({nodes_.root(), tree.points});
  }

  condensed_tree run() {
    for (std::size_t i = 0; i < alive_.size(); ++i) {
      quintet::detail::poll_sometimes(std::int64_t(i));
      if (nodes_.has_children(alive_[i].node)) split(alive_[i]);
    }
    poll();
    result_.clusters = next_cluster_ - result_.points;
    group_by_parent();
    sort_equal_lambdas();
    return std::move(result_);
  }

 private:
  // A cluster on its way down: it has all points below the node.
  struct branch {
    std::int64_t node, cluster;
  };

  void split(branch from) {
    const double lambda = 1 / std::abs(nodes_.height(from.node));  // -0.0 is a height, too
    big_.clear();
    leaving_.clear();
    // No density is above infinity: such a branch can only end, as a point does.
    if (std::isinf(lambda) || nodes_.is_point(from.node)) {
      shed(from.node);
    } else {
      sort_out_children(from.node);
    }
    for (const std::int64_t p : leaving_) rows_.push_back({from.cluster, p, lambda, 1});
    if (big_.size() == 1) {
      alive_.push_back({big_.front(), from.cluster});
      return;
    }
    for (const std::int64_t node : big_) {
      rows_.push_back({from.cluster, next_cluster_, lambda, nodes_.size(node)});
      alive_.push_back({node, next_cluster_++});
    }
  }

  // Fills big_ with the children of `node` that can be clusters, and leaving_ with the points of the others.
  void sort_out_children(std::int64_t node) {
    const bool canonical = options_.tie_mode == ties::canonical;
    const double tied_height = nodes_.height(node) * (1 - tolerance_);
    open(node);
    while (!stack_.empty()) {
      const std::int64_t child = stack_.back();
      stack_.pop_back();
      if (canonical && nodes_.has_children(child) && nodes_.height(child) >= tied_height) {
        nodes_.is_point(child) ? shed(child) : open(child);
      } else if (nodes_.mass(child) >= double(options_.min_cluster_size)) {
        big_.push_back(child);
      } else {
        shed(child);
      }
    }
    const auto by_point = [&](auto a, auto b) { return nodes_.smallest_point(a) < nodes_.smallest_point(b); };
    if (canonical) std::sort(big_.begin(), big_.end(), by_point);
  }

  void open(std::int64_t node) {
    const auto [left, right] = nodes_.children(node);
    stack_.push_back(right);
    stack_.push_back(left);
  }

  void shed(std::int64_t node) {
    const auto points = nodes_.points_below(node);
    leaving_.insert(leaving_.end(), points.begin(), points.end());
  }

  // A counting sort: within a cluster lambda increases already.
  void group_by_parent() {
    std::vector<std::int64_t> next(result_.clusters + 1, 0);
    for (const condensed_row& row : rows_) ++next[row.parent - result_.points + 1];
    for (std::size_t c = 1; c < next.size(); ++c) next[c] += next[c - 1];
    result_.rows.resize(rows_.size());
    for (const condensed_row& row : rows_) result_.rows[next[row.parent - result_.points]++] = row;
  }

  void sort_equal_lambdas() {
    const auto end = result_.rows.end();
    for (auto first = result_.rows.begin(), last = first; first != end; first = last) {
      const auto is_other = [&](const auto& row) { return row.parent != first->parent || row.lambda != first->lambda; };
      last = std::find_if(first, end, is_other);
      std::sort(first, last, [](const auto& a, const auto& b) { return a.child < b.child; });
    }
  }

  dendrogram nodes_;
  const tree_options& options_;
  double tolerance_;
  std::int64_t next_cluster_;
  std::vector<branch> alive_;                        // a queue: breadth first, as ids are given
  std::vector<std::int64_t> big_, leaving_, stack_;  // of the current split
  std::vector<condensed_row> rows_;
  condensed_tree result_;
};

}  // namespace

double default_tie_tolerance(scalar_type type, std::int64_t dim) {
  require_argument(dim >= 0, "dim", dim, ">= 0");
  const double eps = accumulator_of(type) == scalar_type::float64 ? double(std::numeric_limits<double>::epsilon())
                                                                  : double(std::numeric_limits<float>::epsilon());
  return std::min((double(dim) / 2 + 68) * eps, 0x1p-10);
}

condensed_tree condense(const single_linkage_tree& tree, const tree_options& options) {
  check_options(options);
  check_linkage(tree);
  check_ties(tree.weights, options.tie_mode);
  return condenser(tree, options).run();
}

}  // namespace quintet::hdbscan
