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
constexpr double least_variance = 1e-12;  // of how often a pair differs at a site

// How often two copies, of one species or of two, differ: the sums of weight and weight * share.
struct difference_sums {
  double weight = 0, mean = 0;

  void add(double w, double share) {
    weight += w;
    mean += w * share;
  }
  double average() const { return mean / weight; }
};

// Shares of red copies; dominant markers show bands, whose root is taken as for two copies drawn at random.
double red_share(const Data& data, std::int64_t p, std::int64_t s) {
  if (!data.dominant()) return double(data.red(p, s)) / double(data.copies(p, s));
  return 1 - std::sqrt(1 - double(data.red(p, s)) / double(data.copies(p, s) / 2));
}

// How often a copy of the one species differs from one of the other; NaN where one of them has none.
double difference_at(const Data& data, std::int64_t p, std::int64_t a, std::int64_t b) {
  if (data.copies(p, a) == 0 || data.copies(p, b) == 0) return nan;
  const double x = red_share(data, p, a), y = red_share(data, p, b);
  return x + y - 2 * x * y;
}

difference_sums between(const Data& data, std::int64_t a, std::int64_t b, std::span<const double> weights) {
  difference_sums sums;
  for (std::int64_t p = 0; p < data.patterns(); ++p) {
    const double share = weights[at(p)] > 0 ? difference_at(data, p, a, b) : nan;
    if (!std::isnan(share)) sums.add(weights[at(p)], share);
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

// A symmetric positive matrix as the product of a lower triangle with its transpose (Cholesky); pivots >= `least`.
class cholesky_factor {
 public:
  cholesky_factor(std::vector<double> lower_rows, std::size_t n, double least) : rows_(std::move(lower_rows)), n_(n) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = rows_[i * n + j];
        for (std::size_t k = 0; k < j; ++k) sum -= rows_[i * n + k] * rows_[j * n + k];
        rows_[i * n + j] = i == j ? std::sqrt(std::max(sum, least)) : sum / rows_[j * n + j];
      }
  }
  void solve(std::span<double> x) const {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= rows_[i * n_ + k] * x[k];
      x[i] /= rows_[i * n_ + i];
    }
    for (std::size_t i = n_; i-- > 0;) {
      x[i] /= rows_[i * n_ + i];
      for (std::size_t k = 0; k < i; ++k) x[k] -= rows_[i * n_ + k] * x[i];
    }
  }

 private:
  std::vector<double> rows_;
  std::size_t n_;
};

// Pairs a < b in order.
std::vector<std::pair<std::size_t, std::size_t>> list_pairs(std::size_t species) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t a = 0; a < species; ++a)
    for (std::size_t b = a + 1; b < species; ++b) pairs.emplace_back(a, b);
  return pairs;
}

// What a pair's distance rests on.
struct measured_pair {
  std::size_t a, b;
  double average, weight;  // of the sites where both have copies
  double slope;            // of the average by the distance
};

// Covariances of distances, in the lower triangle: sites vary independently.
std::vector<double> covariance_of(const Data& data, std::span<const double> weights,
                                  const std::vector<measured_pair>& measured, worker_team& workers) {
  constexpr std::int64_t block = 256;
  const std::size_t n = measured.size();
  std::vector<double> covariance(n * n, 0), deviations(at(block) * n);
  for (std::int64_t first = 0; first < data.patterns(); first += block) {
    const std::int64_t count = std::min(block, data.patterns() - first);
    workers.run(count, [&](std::int64_t p) {
      const double root = std::sqrt(weights[at(first + p)]);
      for (std::size_t i = 0; i < n; ++i) {
        const measured_pair& pair = measured[i];
        const double share = difference_at(data, first + p, std::int64_t(pair.a), std::int64_t(pair.b));
        deviations[at(p) * n + i] =
            std::isnan(share) ? 0 : root * (share - pair.average) / (pair.slope * std::max(pair.weight, 1.0));
      }
    });
    workers.run(std::int64_t(n), [&](std::int64_t i) {
      for (std::size_t p = 0; p < at(count); ++p) {
        const double* const row = &deviations[p * n];
        for (std::size_t j = 0; j <= at(i); ++j) covariance[at(i) * n + j] += row[at(i)] * row[j];
      }
    });
  }
  return covariance;
}

// Of all pairs of n species, from those that are measured.
std::vector<double> precision_of(const Data& data, std::span<const double> weights,
                                 const std::vector<measured_pair>& measured, worker_team& workers) {
  const std::size_t n = measured.size(), all = data.species().size() * (data.species().size() - 1) / 2;
  std::vector<double> covariance = covariance_of(data, weights, measured, workers);
  double sites = 0, largest = 0;
  for (const double weight : weights) sites += weight;
  const double share = sites * sites / (sites * sites + double(n * n));
  for (std::size_t i = 0; i < n; ++i) {
    const measured_pair& pair = measured[i];
    for (std::size_t j = 0; j < i; ++j) covariance[i * n + j] *= share;
    double& variance = covariance[i * n + i];
    variance = std::max(variance, least_variance / (pair.slope * pair.slope * std::max(pair.weight, 1.0)));
    largest = std::max(largest, variance);
  }
  const cholesky_factor factor(std::move(covariance), n, 1e-12 * largest);
  std::vector<double> precision(all * all, 0);
  const auto place = [&](const measured_pair& p) {
    return p.a * (2 * data.species().size() - p.a - 1) / 2 + p.b - p.a - 1;
  };
  workers.run(std::int64_t(n), [&](std::int64_t i) {
    std::vector<double> unit(n, 0);
    unit[at(i)] = 1;
    factor.solve(unit);
    for (std::size_t j = 0; j < n; ++j) precision[place(measured[at(i)]) * all + place(measured[j])] = unit[j];
  });
  return precision;
}

// The normal equations of the lengths.
struct normal_equations {
  std::size_t branches;
  std::vector<double> matrix, right;
  double square = 0;  // of the distances

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
  const std::size_t n = network.species().size(), pairs = distances.pairs(), branches = at(network.branches());
  std::vector<std::vector<double>> shares(pairs, std::vector<double>(branches, 0));
  for (std::int64_t choice = 0; choice < std::int64_t(1) << network.reticulations().size(); ++choice)
    add_displayed_tree(network, choice, shares);
  normal_equations equations{branches, std::vector<double>(branches * branches, 0), std::vector<double>(branches, 0)};
  std::vector<double> distance;
  for (const auto& [x, y] : list_pairs(n)) distance.push_back(distances.distance[distances.place(x, y)]);
  // The precision times the shares of every branch, and times the distances.
  std::vector<double> weighted(branches * pairs, 0), weighted_distance(pairs, 0);
  const auto add = [&](double* to, double factor, std::size_t pair) {
    const double* const row = &distances.precision[pair * pairs];
    for (std::size_t i = 0; i < pairs; ++i) to[i] += factor * row[i];
  };
  std::vector<std::vector<std::pair<std::size_t, double>>> branches_of(pairs);
  for (std::size_t b = 0; b < branches; ++b)
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      if (shares[pair][b] == 0) continue;
      branches_of[pair].emplace_back(b, shares[pair][b]);
      add(&weighted[b * pairs], shares[pair][b], pair);
    }
  for (std::size_t pair = 0; pair < pairs; ++pair) add(weighted_distance.data(), distance[pair], pair);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    equations.square += distance[pair] * weighted_distance[pair];
    for (const auto& [b, share] : branches_of[pair]) equations.right[b] += share * weighted_distance[pair];
  }
  for (std::size_t c = 0; c < branches; ++c)
    for (std::size_t pair = 0; pair < pairs; ++pair)
      for (const auto& [b, share] : branches_of[pair])
        equations.matrix[b * branches + c] += share * weighted[c * pairs + pair];
  return equations;
}

// Solves for the free lengths; what the pairs do not tell apart is shared out by a small ridge.
std::vector<double> solve_free(const normal_equations& equations, const std::vector<char>& is_free) {
  std::vector<std::size_t> places;
  double largest = 0;
  for (std::size_t b = 0; b < equations.branches; ++b) {
    if (is_free[b] != 0) places.push_back(b);
    largest = std::max(largest, equations.matrix[b * equations.branches + b]);
  }
  const std::size_t n = places.size();
  std::vector<double> matrix(n * n, 0), x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = equations.right[places[i]];
    for (std::size_t j = 0; j <= i; ++j)
      matrix[i * n + j] = equations.matrix[places[i] * equations.branches + places[j]] + (i == j ? 1e-9 * largest : 0);
  }
  cholesky_factor(std::move(matrix), n, 1e-12 * largest).solve(x);
  std::vector<double> lengths(equations.branches, 0);
  for (std::size_t i = 0; i < n; ++i) lengths[places[i]] = x[i];
  return lengths;
}

}  // namespace

pair_distances measure_distances(const Data& data, const model& m, double theta, std::span<const double> weights,
                                 worker_team& workers) {
  const std::size_t n = data.species().size();
  pair_distances result{{data.species().begin(), data.species().end()}, std::vector<double>(n * n, 0), {}, theta};
  const double rate = m.u + m.v, red = m.v / rate, limit = 2 * red * (1 - red);
  const difference_sums own = within_species(data, weights);
  const bool is_measured = own.weight > 0 && own.mean > 0;
  double scale = limit;  // how often two copies without a common ancestor differ
  if (is_measured && m.polymorphic_only) scale = own.average() * (1 + theta * rate) / (theta * rate);
  if (is_measured && !m.polymorphic_only && own.average() < 0.9 * limit)
    result.theta = (1 / (1 - own.average() / limit) - 1) / rate;
  const double same = 1 / (1 + result.theta * rate);
  std::vector<measured_pair> measured;
  double farthest = 0;
  for (const auto& [a, b] : list_pairs(n)) {
    const difference_sums pair = between(data, std::int64_t(a), std::int64_t(b), weights);
    if (pair.weight == 0) continue;
    const double sameness = std::max((1 - pair.average() / scale) / same, least_sameness);
    const double distance = std::max(-std::log(sameness) / rate, least_length);
    result.distance[result.place(a, b)] = result.distance[result.place(b, a)] = distance;
    measured.push_back({a, b, pair.average(), pair.weight, rate * scale * same * sameness});
    farthest = std::max(farthest, distance);
  }
  for (const auto& [a, b] : list_pairs(n))
    if (result.distance[result.place(a, b)] == 0)
      result.distance[result.place(a, b)] = result.distance[result.place(b, a)] = farthest;
  result.precision = precision_of(data, weights, measured, workers);
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
