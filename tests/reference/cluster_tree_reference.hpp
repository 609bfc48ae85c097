// The tree stage of HDBSCAN as the definitions read, on sets of points: slow, recursive, for small trees only.
//
// Nothing here knows a dendrogram. A set of points falls apart by taking edges away: all of the largest weight at once
// (canonical ties) or the one that comes last in the total order (binary ties).
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "quintet/hdbscan/edge.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan::reference {

using point_set = std::set<std::int64_t>;

struct result {
  std::vector<condensed_row> rows;
  std::vector<std::int64_t> labels, selected;
  std::vector<double> probabilities, outlier_scores, persistence;
  std::vector<point_set> exemplars;
};

class tree_stage {
 public:
  // `edges`: a spanning tree of n >= 2 points, u < v.
  tree_stage(std::vector<edge> edges, std::int64_t n, const tree_options& options)
      : edges_(std::move(edges)), n_(n), options_(options) {}

  result run() {
    condense();
    select();
    label();
    for (std::int64_t p = 0; p < n_; ++p) out_.outlier_scores.push_back(outlier_score(row_of(p)));
    return out_;
  }

 private:
  std::vector<edge> edges_within(const point_set& points) const {
    std::vector<edge> inside;
    for (const edge& e : edges_)
      if (points.count(e.u) && points.count(e.v)) inside.push_back(e);
    std::sort(inside.begin(), inside.end());
    return inside;
  }

  static point_set component(std::int64_t start, const std::vector<edge>& edges) {
    point_set found{start};
    for (std::size_t before = 0; before != found.size();) {
      before = found.size();
      for (const edge& e : edges) {
        if (found.count(e.u)) found.insert(e.v);
        if (found.count(e.v)) found.insert(e.u);
      }
    }
    return found;
  }

  // The parts into which `points` fall just below their height, in sibling order.
  std::vector<point_set> parts(const point_set& points, double& height) const {
    std::vector<edge> inside = edges_within(points);
    const edge last = inside.back();
    height = last.weight;
    if (options_.tie_mode == ties::binary && height > 0) {
      inside.pop_back();
      return {component(last.u, inside), component(last.v, inside)};
    }
    std::erase_if(inside, [&](const edge& e) { return e.weight == height; });
    std::vector<point_set> found;
    for (const std::int64_t p : points) {  // increasing, so parts come by smallest point
      const auto has_p = [&](const point_set& part) { return part.count(p) > 0; };
      if (std::none_of(found.begin(), found.end(), has_p)) found.push_back(component(p, inside));
    }
    return found;
  }

  void condense() {
    struct living {
      point_set points;
      std::int64_t cluster;
    };
    point_set all;
    for (std::int64_t p = 0; p < n_; ++p) all.insert(p);
    std::vector<living> queue{{all, n_}};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const living now = queue[i];
      double height = 0;
      const std::vector<point_set> children = parts(now.points, height);
      const auto is_big = [&](const point_set& part) { return std::ssize(part) >= options_.min_cluster_size; };
      const auto big = std::count_if(children.begin(), children.end(), is_big);
      for (const point_set& part : children) {
        if (!is_big(part)) {
          for (const std::int64_t p : part) out_.rows.push_back({now.cluster, p, 1 / height, 1});
        } else if (big == 1) {
          queue.push_back({part, now.cluster});
        } else {
          out_.rows.push_back({now.cluster, n_ + clusters_, 1 / height, std::ssize(part)});
          queue.push_back({part, n_ + clusters_++});
        }
      }
    }
    std::sort(out_.rows.begin(), out_.rows.end(), [](const auto& a, const auto& b) {
      return std::tie(a.parent, a.lambda, a.child) < std::tie(b.parent, b.lambda, b.child);
    });
  }

  const condensed_row& row_of(std::int64_t child) const {
    return *std::find_if(out_.rows.begin(), out_.rows.end(), [&](const auto& row) { return row.child == child; });
  }
  std::int64_t parent(std::int64_t c) const { return row_of(c).parent; }
  double birth(std::int64_t c) const { return c == n_ ? 0 : row_of(c).lambda; }
  double diameter(std::int64_t c) const { return 1 / birth(c); }
  // By more than the tolerance of ties. Heights of the tests differ by far more, or not at all.
  bool is_more(double a, double b) const {
    const double part = options_.tie_mode == ties::binary ? 0 : options_.tie_tolerance.value_or(68 * 0x1p-52);
    return std::isinf(a) ? !std::isinf(b) : a - b > part * a;
  }
  std::int64_t size(std::int64_t c) const { return c == n_ ? n_ : row_of(c).size; }
  std::vector<std::int64_t> children(std::int64_t c) const {
    std::vector<std::int64_t> found;
    for (const auto& row : out_.rows)
      if (row.parent == c && row.child >= n_) found.push_back(row.child);
    return found;
  }
  double death(std::int64_t c) const {
    double largest = 0;
    for (const auto& row : out_.rows)
      if (row.parent == c) largest = std::max(largest, row.lambda);
    return largest;
  }
  double deepest(std::int64_t c) const {
    double largest = death(c);
    for (const std::int64_t child : children(c)) largest = std::max(largest, deepest(child));
    return largest;
  }
  double finite(std::int64_t c, bool with_descendants) const {
    double largest = 0;
    for (const auto& row : out_.rows)
      if (row.parent == c && std::isfinite(row.lambda)) largest = std::max(largest, row.lambda);
    if (with_descendants)
      for (const std::int64_t child : children(c)) largest = std::max(largest, finite(child, true));
    return largest;
  }
  double stability(std::int64_t c) const {
    double sum = 0;
    for (const auto& row : out_.rows)
      if (row.parent == c && row.lambda != birth(c)) sum += (row.lambda - birth(c)) * static_cast<double>(row.size);
    return sum;
  }

  // Best antichain at or below c; its value is returned.
  double best(std::int64_t c, std::set<std::int64_t>& taken) const {
    std::set<std::int64_t> below;
    double sum = 0;
    for (const std::int64_t child : children(c)) sum += best(child, below);
    const bool too_large = options_.max_cluster_size > 0 && size(c) > options_.max_cluster_size;
    const bool may_be_taken = c != n_ || options_.allow_single_cluster;
    if (!may_be_taken || sum > stability(c) || too_large || is_more(diameter(c), options_.epsilon_max)) {
      taken.insert(below.begin(), below.end());
      return sum;
    }
    taken.insert(c);
    return stability(c);
  }

  std::int64_t climb(std::int64_t c) const {
    for (std::int64_t a = c;;) {
      const std::int64_t p = parent(a);
      if (p == n_) return options_.allow_single_cluster ? n_ : a;
      if (is_more(diameter(p), options_.epsilon)) return p;
      a = p;
    }
  }

  bool is_below(std::int64_t c, std::int64_t ancestor) const {
    while (c != n_) {
      c = parent(c);
      if (c == ancestor) return true;
    }
    return false;
  }

  void select() {
    std::set<std::int64_t> taken;
    if (options_.method == selection::eom) {
      best(n_, taken);
    } else {
      for (std::int64_t c = n_ + 1; c < n_ + clusters_; ++c)
        if (children(c).empty()) taken.insert(c);
    }
    if (options_.epsilon > 0 && !taken.count(n_)) {
      std::set<std::int64_t> widened;
      for (const std::int64_t c : taken) widened.insert(is_more(options_.epsilon, diameter(c)) ? climb(c) : c);
      taken = widened;
      std::erase_if(taken, [&](std::int64_t c) {
        return std::any_of(widened.begin(), widened.end(), [&](std::int64_t other) { return is_below(c, other); });
      });
    }
    out_.selected.assign(taken.begin(), taken.end());
  }

  void label() {
    std::vector<std::int64_t> count(out_.selected.size(), 0);
    out_.exemplars.resize(out_.selected.size());
    for (std::int64_t p = 0; p < n_; ++p) {
      const std::int64_t k = label_of(row_of(p));
      out_.labels.push_back(k);
      out_.probabilities.push_back(k < 0 ? 0 : probability(row_of(p).lambda, out_.selected[k]));
      if (k < 0) continue;
      ++count[k];
      const std::int64_t last = row_of(p).parent;
      if (children(last).empty() && row_of(p).lambda == death(last)) out_.exemplars[k].insert(p);
    }
    const double largest = deepest(n_);
    for (std::size_t k = 0; k < count.size(); ++k) {
      const bool is_defined = count[k] > 0 && largest > 0 && !std::isinf(largest);
      out_.persistence.push_back(is_defined ? stability(out_.selected[k]) / (count[k] * largest) : 1);
    }
  }

  std::int64_t label_of(const condensed_row& row) const {
    for (std::int64_t c = row.parent;; c = parent(c)) {
      const auto found = std::find(out_.selected.begin(), out_.selected.end(), c);
      if (found != out_.selected.end()) {
        const bool is_outside =
            options_.epsilon > 0 ? is_more(1 / row.lambda, options_.epsilon) : row.lambda < death(n_);
        return c == n_ && is_outside ? -1 : found - out_.selected.begin();
      }
      if (c == n_) return -1;
    }
  }

  double probability(double lambda, std::int64_t c) const {
    const double largest = finite(c, false) > 0 ? finite(c, false) : death(c);
    if (largest == 0 || std::isinf(lambda)) return 1;
    return std::min(lambda, largest) / largest;
  }

  double outlier_score(const condensed_row& row) const {
    const double below = finite(row.parent, true), largest = below > 0 ? below : deepest(row.parent);
    if (largest == 0 || std::isinf(row.lambda)) return 0;
    return std::isinf(largest) ? 1 : (largest - row.lambda) / largest;
  }

  std::vector<edge> edges_;
  std::int64_t n_;
  tree_options options_;
  std::int64_t clusters_ = 1;
  result out_;
};

}  // namespace quintet::hdbscan::reference
