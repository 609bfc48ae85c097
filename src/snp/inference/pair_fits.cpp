#include "snp/inference/pair_fits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

constexpr double least_length = 1e-6;
// A pair that differs as often as one without a common ancestor has no distance; this share of it is far.
constexpr double least_sameness = 0.02;

// How often two copies, of one species or of two, differ: the sums of weight, weight * share, weight * share^2.
struct difference_sums {
  double weight = 0, mean = 0, square = 0;

  void add(double w, double share) {
    weight += w;
    mean += w * share;
    square += w * share * share;
  }
  double average() const { return mean / weight; }
  double variance_of_average() const {
    return std::max(square / weight - average() * average(), 1e-12) / std::max(weight, 1.0);
  }
};

// Shares of red copies; dominant markers show bands, whose root is taken as for two copies drawn at random.
double red_share(const Data& data, std::int64_t p, std::int64_t s) {
  if (!data.dominant()) return double(data.red(p, s)) / double(data.copies(p, s));
  return 1 - std::sqrt(1 - double(data.red(p, s)) / double(data.copies(p, s) / 2));
}

difference_sums between(const Data& data, std::int64_t a, std::int64_t b, std::span<const double> weights) {
  difference_sums sums;
  for (std::int64_t p = 0; p < data.patterns(); ++p) {
    if (data.copies(p, a) == 0 || data.copies(p, b) == 0 || weights[at(p)] == 0) continue;
    const double x = red_share(data, p, a), y = red_share(data, p, b);
    sums.add(weights[at(p)], x + y - 2 * x * y);
  }
  return sums;
}

difference_sums within_species(const Data& data, std::span<const double> weights) {
  difference_sums sums;
  for (std::int64_t s = 0; s < std::int64_t(data.species().size()) && !data.dominant(); ++s)
    for (std::int64_t p = 0; p < data.patterns(); ++p) {
      const double n = double(data.copies(p, s)), r = double(data.red(p, s));
      if (n >= 2 && weights[at(p)] > 0) sums.add(weights[at(p)], 2 * r * (n - r) / (n * (n - 1)));
    }
  return sums;
}

// Joins pairs until two clusters are left.
class neighbour_joiner {
 public:
  neighbour_joiner(const pair_distances& distances, double theta)
      : size_(distances.species.size()), distance_(2 * size_, std::vector<double>(2 * size_, 0)), theta_(theta) {
    tree_.names = distances.species;
    tree_.root_theta = theta;
    for (std::size_t a = 0; a < size_; ++a) {
      open_.push_back(a);
      for (std::size_t b = 0; b < size_; ++b) distance_[a][b] = distances.distance[distances.place(a, b)];
    }
  }

  Network tree() {
    while (open_.size() > 2) join_nearest();
    const std::size_t root = add_node();
    const double half = distance_[open_[0]][open_[1]] / 2;
    add_edge(root, open_[0], half);
    add_edge(root, open_[1], half);
    return Network(std::move(tree_));
  }

 private:
  std::size_t add_node() {
    tree_.names.emplace_back();
    return tree_.names.size() - 1;
  }
  void add_edge(std::size_t parent, std::size_t child, double length) {
    tree_.edges.push_back({std::int64_t(parent), std::int64_t(child), std::max(length, least_length), theta_, 1});
  }

  void join_nearest() {
    const double rest_count = double(open_.size()) - 2;
    std::vector<double> sum(2 * size_, 0);
    for (const std::size_t a : open_)
      for (const std::size_t b : open_) sum[a] += distance_[a][b];
    std::pair<std::size_t, std::size_t> nearest{open_[0], open_[1]};
    double least = infinity;
    for (std::size_t i = 0; i < open_.size(); ++i)
      for (std::size_t j = i + 1; j < open_.size(); ++j) {
        const std::size_t a = open_[i], b = open_[j];
        const double value = rest_count * distance_[a][b] - sum[a] - sum[b];
        if (!(value < least)) continue;
        least = value;
        nearest = {a, b};
      }
    const auto [a, b] = nearest;
    const double joined_distance = distance_[a][b], excess = (sum[a] - sum[b]) / rest_count;
    const std::size_t node = add_node();
    add_edge(node, a, (joined_distance + excess) / 2);
    add_edge(node, b, (joined_distance - excess) / 2);
    std::erase_if(open_, [&](std::size_t x) { return x == a || x == b; });
    for (const std::size_t x : open_)
      distance_[node][x] = distance_[x][node] = (distance_[a][x] + distance_[b][x] - joined_distance) / 2;
    open_.push_back(node);
  }

  std::size_t size_;
  std::vector<std::vector<double>> distance_;
  std::vector<std::size_t> open_;
  network_description tree_;
  double theta_;
};

// The normal equations of the lengths: pairs in rows, branches in columns.
struct normal_equations {
  std::size_t branches;
  std::vector<double> matrix, right;
  double square = 0;  // of the distances

  void add(const std::vector<std::pair<std::size_t, double>>& row, double distance, double weight) {
    for (const auto& [b, x] : row) {
      right[b] += weight * x * distance;
      for (const auto& [c, y] : row) matrix[b * branches + c] += weight * x * y;
    }
    square += weight * distance * distance;
  }
  double residual(const std::vector<double>& lengths) const {
    double sum = square;
    for (std::size_t b = 0; b < branches; ++b) {
      double product = 0;
      for (std::size_t c = 0; c < branches; ++c) product += matrix[b * branches + c] * lengths[c];
      sum += lengths[b] * (product - 2 * right[b]);
    }
    return sum;
  }
};

// How likely each branch is on the way between two leaves: of the tree that a choice of parent branches displays.
void add_displayed_tree(const Network& network, std::int64_t choice, std::vector<std::vector<double>>& shares) {
  std::vector<std::vector<char>> below(at(network.nodes()), std::vector<char>(network.species().size(), 0));
  std::vector<char> is_used(at(network.branches()), 1);
  double weight = 1;
  const auto nodes = network.reticulations();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto up = network.parent_branches(nodes[i]);
    const std::size_t choice_here = std::size_t(choice >> i) & 1;
    weight *= network.branch(up[choice_here]).gamma;
    is_used[at(up[1 - choice_here])] = 0;
  }
  const auto leaves = network.leaves();
  for (std::size_t i = 0; i < leaves.size(); ++i) below[at(leaves[i])][i] = 1;
  for (const std::int64_t node : network.children_first())
    for (const std::int64_t b : network.child_branches(node))
      for (std::size_t i = 0; i < leaves.size() && is_used[at(b)] != 0; ++i)
        if (below[at(network.branch(b).child)][i] != 0) below[at(node)][i] = 1;
  for (std::int64_t b = 0; b < network.branches(); ++b) {
    const std::vector<char>& set = below[at(network.branch(b).child)];
    for (std::size_t x = 0, pair = 0; x < leaves.size() && is_used[at(b)] != 0; ++x)
      for (std::size_t y = x + 1; y < leaves.size(); ++y, ++pair)
        if (set[x] != set[y]) shares[pair][at(b)] += weight;
  }
}

normal_equations equations_of(const Network& network, const pair_distances& distances) {
  const std::size_t n = network.species().size(), branches = at(network.branches());
  std::vector<std::vector<double>> shares(n * (n - 1) / 2, std::vector<double>(branches, 0));
  for (std::int64_t choice = 0; choice < std::int64_t(1) << network.reticulations().size(); ++choice)
    add_displayed_tree(network, choice, shares);
  normal_equations equations{branches, std::vector<double>(branches * branches, 0), std::vector<double>(branches, 0)};
  std::vector<std::pair<std::size_t, double>> row;
  for (std::size_t x = 0, pair = 0; x < n; ++x)
    for (std::size_t y = x + 1; y < n; ++y, ++pair) {
      row.clear();
      for (std::size_t b = 0; b < branches; ++b)
        if (shares[pair][b] > 0) row.emplace_back(b, shares[pair][b]);
      equations.add(row, distances.distance[distances.place(x, y)], distances.weight[distances.place(x, y)]);
    }
  return equations;
}

// Solves for the free lengths by Cholesky's method; what the pairs do not tell apart is shared out by a small ridge.
std::vector<double> solve_free(const normal_equations& equations, const std::vector<char>& is_free) {
  std::vector<std::size_t> places;
  double largest = 0;
  for (std::size_t b = 0; b < equations.branches; ++b) {
    if (is_free[b] != 0) places.push_back(b);
    largest = std::max(largest, equations.matrix[b * equations.branches + b]);
  }
  const std::size_t n = places.size();
  std::vector<double> factor(n * n, 0), x(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = equations.matrix[places[i] * equations.branches + places[j]] + (i == j ? 1e-9 * largest : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i * n + k] * factor[j * n + k];
      factor[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-12 * largest)) : sum / factor[j * n + j];
    }
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = equations.right[places[i]];
    for (std::size_t k = 0; k < i; ++k) x[i] -= factor[i * n + k] * x[k];
    x[i] /= factor[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= factor[k * n + i] * x[k];
    x[i] /= factor[i * n + i];
  }
  std::vector<double> lengths(equations.branches, 0);
  for (std::size_t i = 0; i < n; ++i) lengths[places[i]] = x[i];
  return lengths;
}

}  // namespace

pair_distances measure_distances(const Data& data, const model& m, double theta, std::span<const double> weights) {
  const std::size_t n = data.species().size();
  pair_distances result{{data.species().begin(), data.species().end()},
                        std::vector<double>(n * n, 0),
                        std::vector<double>(n * n, 0),
                        theta};
  const double rate = m.u + m.v, red = m.v / rate, limit = 2 * red * (1 - red);
  const difference_sums own = within_species(data, weights);
  const bool is_measured = own.weight > 0 && own.mean > 0;
  double scale = limit;  // how often two copies without a common ancestor differ
  if (is_measured && m.polymorphic_only) scale = own.average() * (1 + theta * rate) / (theta * rate);
  if (is_measured && !m.polymorphic_only && own.average() < 0.9 * limit)
    result.theta = (1 / (1 - own.average() / limit) - 1) / rate;
  const double same = 1 / (1 + result.theta * rate);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b) {
      const difference_sums pair = between(data, std::int64_t(a), std::int64_t(b), weights);
      if (pair.weight == 0) continue;
      const double sameness = std::max((1 - pair.average() / scale) / same, least_sameness);
      const double slope = rate * scale * same * sameness;  // of the average by the distance
      const std::size_t place = result.place(a, b), mirror = result.place(b, a);
      result.distance[place] = result.distance[mirror] = std::max(-std::log(sameness) / rate, least_length);
      result.weight[place] = result.weight[mirror] = slope * slope / pair.variance_of_average();
    }
  const double farthest = *std::max_element(result.distance.begin(), result.distance.end());
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b)
      if (a != b && result.weight[result.place(a, b)] == 0) result.distance[result.place(a, b)] = farthest;
  return result;
}

Network join_neighbours(const pair_distances& distances, double theta) {
  return neighbour_joiner(distances, theta).tree();
}

pair_fit fit_lengths(const Network& network, const pair_distances& distances) {
  const normal_equations equations = equations_of(network, distances);
  std::vector<char> is_free(equations.branches, 1);
  std::vector<double> lengths = solve_free(equations, is_free);
  for (int round = 0; round < 5; ++round) {
    bool is_changed = false;
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      if (is_free[b] == 0 || lengths[b] >= 0) continue;
      is_free[b] = 0;
      is_changed = true;
    }
    if (!is_changed) break;
    lengths = solve_free(equations, is_free);
  }
  for (double& length : lengths) length = std::max(length, least_length);
  return {equations.residual(lengths), std::move(lengths)};
}

}  // namespace quintet::snp
