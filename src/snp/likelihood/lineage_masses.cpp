#include "snp/likelihood/lineage_masses.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "quintet/core/error.hpp"
#include "quintet/core/poll.hpp"
#include "snp/likelihood/schedule.hpp"

namespace quintet::snp {

namespace {

// What a D may be too small by, relative to itself: rounding of masses.
constexpr double rounding_margin = 1 + 1e-6;

// Numbers of a group's masses: half a gigabyte.
constexpr double max_cells = 1 << 26;

// From more lineages on a branch that is alone in its group goes up without a matrix.
constexpr std::int32_t max_matrix_lineages = 96;

// So many coalescent times theta / 2 leave one lineage but for 1e-300.
constexpr double max_time = 800;

// The masses of a group: [n1][n2]..., n_i <= max[i].
struct group_masses {
  std::vector<std::int64_t> axes;  // branches, -1: the population above the root
  std::vector<std::int32_t> max;
  std::vector<double> mass;

  std::int64_t extent(std::size_t first, std::size_t last) const {
    std::int64_t product = 1;
    for (std::size_t k = first; k < last; ++k) product *= max[k] + 1;
    return product;
  }
  std::size_t axis_of(std::int64_t branch) const {
    return std::size_t(std::find(axes.begin(), axes.end(), branch) - axes.begin());
  }
};

// Terms of a Poisson distribution with mean x until the rest is below 1e-300.
int poisson_terms(double x) {
  if (x == 0) return 0;
  int k = int(x) + 1;
  while (k * std::log(k / x) - k + x < 700) ++k;
  return k;
}

// exp(Q t) of the death process with rates n (n - 1) t, [from][to], to <= from.
class death_matrix {
 public:
  death_matrix(std::int32_t max, double time) : size_(std::size_t(max) + 1), element_(size_ * size_, 0.0) {
    time = std::min(time, max_time);
    const double rate = double(max) * (max - 1.0) * time;
    const int halvings = rate > 1 ? std::ilogb(rate) + 1 : 0;
    start(std::ldexp(time, -halvings));
    for (int i = 0; i < halvings; ++i) square();
  }
  double operator()(std::int32_t from, std::int32_t to) const {
    return element_[std::size_t(from) * size_ + std::size_t(to)];
  }

 private:
  // Uniformisation: a sum of non-negative terms, each with one event more.
  void start(double time) {
    const double shift = double(size_ - 1) * (double(size_) - 2) * time, decay = std::exp(-shift);
    std::vector<double> term(element_.size(), 0.0);
    for (std::size_t k = 0; k < size_; ++k) term[k * size_ + k] = 1;
    const int terms = int(size_) + poisson_terms(std::min(shift, 1.0));
    for (int i = 0; i <= terms; ++i) {
      for (std::size_t e = 0; e < term.size(); ++e) element_[e] += decay * term[e];
      for (std::size_t from = 0; from < size_; ++from)
        for (std::size_t to = 0; to <= from; ++to) {
          double& value = term[from * size_ + to];
          const double rate = double(to) * (double(to) - 1) * time;
          value *= shift - rate;
          if (to < from) value += term[from * size_ + to + 1] * ((double(to) + 1) * double(to) * time);
          value /= i + 1;
        }
    }
  }

  void square() {
    std::vector<double> product(element_.size(), 0.0);
    for (std::size_t from = 0; from < size_; ++from)
      for (std::size_t middle = 0; middle <= from; ++middle) {
        const double factor = element_[from * size_ + middle];
        if (factor == 0) continue;
        for (std::size_t to = 0; to <= middle; ++to)
          product[from * size_ + to] += factor * element_[middle * size_ + to];
      }
    element_ = std::move(product);
  }

  std::size_t size_;
  std::vector<double> element_;
};

// Many lineages of one branch: the largest numbers become negligible on the way up. Takes the time off that it has
// spent when few are left. Returns what it dropped.
double coalesce_many(std::vector<double>& mass, double& time, double negligible) {
  constexpr double events = 512;
  double dropped = 0;
  time = std::min(time, max_time);
  while (time > 0 && mass.size() > std::size_t(max_matrix_lineages) + 1) {
    poll();
    const double n = double(mass.size()) - 1, step = std::min(time, events / (n * (n - 1))), shift = n * (n - 1) * step;
    const double decay = std::exp(-shift);
    std::vector<double> term = mass;
    mass.assign(term.size(), 0.0);
    const int terms = poisson_terms(shift);
    for (int i = 0; i <= terms; ++i)
      for (std::size_t k = 0; k < term.size(); ++k) {
        mass[k] += decay * term[k];
        const double rate = double(k) * (double(k) - 1) * step;
        const double more = k + 1 < term.size() ? (double(k) + 1) * double(k) * step * term[k + 1] : 0;
        term[k] = ((shift - rate) * term[k] + more) / (i + 1);
      }
    while (mass.size() > 2 && mass.back() <= negligible) {
      dropped += mass.back();
      negligible -= mass.back();
      mass.pop_back();
    }
    time = step < time ? time - step : 0;
  }
  return dropped;
}

// The masses with some axes first, as axes_with_first() of the plan orders them.
group_masses with_first(const group_masses& g, std::initializer_list<std::int64_t> first) {
  group_masses moved;
  moved.axes.assign(first);
  for (const std::int64_t branch : g.axes)
    if (std::find(first.begin(), first.end(), branch) == first.end()) moved.axes.push_back(branch);
  if (moved.axes == g.axes) return g;
  std::vector<std::int64_t> stride;
  for (const std::int64_t branch : moved.axes) {
    const std::size_t axis = g.axis_of(branch);
    moved.max.push_back(g.max[axis]);
    stride.push_back(g.extent(axis + 1, g.max.size()));
  }
  moved.mass.reserve(g.mass.size());
  std::vector<std::int32_t> n(moved.max.size(), 0);
  for (std::size_t i = 0; i < g.mass.size(); ++i) {
    moved.mass.push_back(g.mass[std::size_t(std::inner_product(n.begin(), n.end(), stride.begin(), std::int64_t{0}))]);
    for (std::size_t k = n.size(); k-- > 0;) {
      if (++n[k] <= moved.max[k]) break;
      n[k] = 0;
    }
  }
  return moved;
}

// C(n, a) g^a (1 - g)^(n - a).
double binomial_share(std::int32_t n, std::int32_t a, double g) {
  if ((g == 0 && a > 0) || (g == 1 && a < n)) return 0;
  const auto power = [](double x, std::int32_t k) { return k == 0 ? 0.0 : k * std::log(x); };
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(a + 1.0) - std::lgamma(n - a + 1.0) + power(g, a) +
                  power(1 - g, n - a));
}

// The rules in the order of a schedule; `cut` takes cells away from what each gives and returns their mass.
class mass_rules {
 public:
  using cutter = std::function<double(group_masses&)>;
  mass_rules(const Network& network, const leaf_copies& copies, double negligible, cutter cut)
      : network_(network), copies_(copies), negligible_(negligible), cut_(std::move(cut)) {}

  double run(std::span<const std::int64_t> schedule) {
    for (const std::int64_t node : schedule) {
      poll();
      const auto children = network_.child_branches(node), parents = network_.parent_branches(node);
      group_masses g = children.empty()       ? leaf(node)
                       : children.size() == 1 ? split(take(children[0]), children[0], parents)
                                              : meet(children[0], children[1], parents.empty() ? -1 : parents[0]);
      if (!children.empty()) dropped_ += cut_(g);
      for (std::size_t axis = 0; axis < parents.size(); ++axis) {
        branch(g, axis);
        dropped_ += cut_(g);
      }
      groups_.push_back(std::move(g));
    }
    return dropped_ * rounding_margin;
  }

 private:
  // Takes a group out of those that are open.
  group_masses take(std::int64_t branch) {
    const auto place = std::find_if(groups_.begin(), groups_.end(), [&](const group_masses& g) {
      return std::find(g.axes.begin(), g.axes.end(), branch) != g.axes.end();
    });
    group_masses g = std::move(*place);
    groups_.erase(place);
    return g;
  }

  bool is_open_in(const group_masses& g, std::int64_t branch) const { return g.axis_of(branch) < g.axes.size(); }

  group_masses empty_group(std::vector<std::int64_t> axes, std::vector<std::int32_t> max) const {
    double cells = 1;
    for (const std::int32_t m : max) cells *= m + 1.0;
    if (cells > max_cells)
      throw InvalidArgument(text("the network needs a group of ", axes.size(), " open branches with ", cells,
                                 " combinations of lineage numbers, more than ", max_cells, ", because of ",
                                 reticulations_below(network_, axes)));
    return {std::move(axes), std::move(max), std::vector<double>(std::size_t(cells), 0.0)};
  }

  group_masses leaf(std::int64_t node) const {
    const auto leaves = network_.leaves();
    const auto& copies = copies_[std::size_t(std::find(leaves.begin(), leaves.end(), node) - leaves.begin())];
    group_masses g = empty_group({network_.parent_branches(node)[0]}, {copies.back()});
    for (const std::int32_t n : copies) g.mass[std::size_t(n)] = 1;
    return g;
  }

  void branch(group_masses& g, std::size_t axis) {
    const snp::branch& at = network_.branch(g.axes[axis]);
    double time = at.length / at.theta;
    if (g.axes.size() == 1) {
      dropped_ += coalesce_many(g.mass, time, negligible_);
      g.max[0] = std::int32_t(g.mass.size()) - 1;
    }
    if (time <= 0) return limit(g);
    const death_matrix death(g.max[axis], time);
    const std::int64_t size = g.max[axis] + 1, inner = g.extent(axis + 1, g.axes.size());
    std::vector<double> above(g.mass.size(), 0.0);
    for (std::int64_t outer = 0; outer < g.extent(0, axis); ++outer)
      for (std::int64_t from = 0; from < size; ++from)
        for (std::int64_t to = std::min<std::int64_t>(from, 1); to <= from; ++to) {
          const double chance = death(std::int32_t(from), std::int32_t(to));
          const double* x = &g.mass[std::size_t((outer * size + from) * inner)];
          double* y = &above[std::size_t((outer * size + to) * inner)];
          for (std::int64_t i = 0; i < inner; ++i) y[i] += chance * x[i];
        }
    g.mass = std::move(above);
    limit(g);
  }

  // No chance exceeds 1; sums over several numbers of copies may.
  static void limit(group_masses& g) {
    for (double& mass : g.mass) mass = std::min(mass, 1.0);
  }

  group_masses split(const group_masses& below, std::int64_t child, std::span<const std::int64_t> parents) const {
    const group_masses in = with_first(below, {child});
    std::vector<std::int64_t> axes(parents.begin(), parents.end());
    axes.insert(axes.end(), in.axes.begin() + 1, in.axes.end());
    std::vector<std::int32_t> max{in.max[0], in.max[0]};
    max.insert(max.end(), in.max.begin() + 1, in.max.end());
    group_masses g = empty_group(std::move(axes), std::move(max));
    const std::int64_t rest = in.extent(1, in.max.size()), size = in.max[0] + 1;
    const double gamma = network_.branch(parents[0]).gamma;
    for (std::int32_t n = 0; n < size; ++n)
      for (std::int32_t a = 0; a <= n; ++a) {
        const double share = binomial_share(n, a, gamma);
        for (std::int64_t i = 0; i < rest; ++i)
          g.mass[std::size_t((a * size + n - a) * rest + i)] = share * in.mass[std::size_t(n * rest + i)];
      }
    return g;
  }

  group_masses meet(std::int64_t a, std::int64_t b, std::int64_t above) {
    const group_masses g = take(a);
    return is_open_in(g, b) ? merge(with_first(g, {a, b}), above)
                            : join(with_first(g, {a}), with_first(take(b), {b}), above);
  }

  group_masses merge(const group_masses& in, std::int64_t above) const {
    std::vector<std::int64_t> axes{above};
    axes.insert(axes.end(), in.axes.begin() + 2, in.axes.end());
    std::vector<std::int32_t> max{in.max[0] + in.max[1]};
    max.insert(max.end(), in.max.begin() + 2, in.max.end());
    group_masses g = empty_group(std::move(axes), std::move(max));
    const std::int64_t rest = in.extent(2, in.max.size());
    std::size_t from = 0;
    for (std::int32_t n1 = 0; n1 <= in.max[0]; ++n1)
      for (std::int32_t n2 = 0; n2 <= in.max[1]; ++n2)
        for (std::int64_t i = 0; i < rest; ++i) g.mass[std::size_t((n1 + n2) * rest + i)] += in.mass[from++];
    limit(g);
    return g;
  }

  group_masses join(const group_masses& left, const group_masses& right, std::int64_t above) const {
    std::vector<std::int64_t> axes{above};
    std::vector<std::int32_t> max{left.max[0] + right.max[0]};
    for (const group_masses* side : {&left, &right}) {
      axes.insert(axes.end(), side->axes.begin() + 1, side->axes.end());
      max.insert(max.end(), side->max.begin() + 1, side->max.end());
    }
    group_masses g = empty_group(std::move(axes), std::move(max));
    const std::int64_t l_rest = left.extent(1, left.max.size()), r_rest = right.extent(1, right.max.size());
    for (std::int64_t l = 0; l < std::int64_t(left.mass.size()); ++l) {
      const double factor = left.mass[std::size_t(l)];
      if (factor == 0) continue;
      for (std::int64_t r = 0; r < std::int64_t(right.mass.size()); ++r)
        g.mass[std::size_t(((l / l_rest + r / r_rest) * l_rest + l % l_rest) * r_rest + r % r_rest)] +=
            factor * right.mass[std::size_t(r)];
    }
    limit(g);
    return g;
  }

  const Network& network_;
  const leaf_copies& copies_;
  double negligible_;
  cutter cut_;
  std::vector<group_masses> groups_;
  double dropped_ = 0;
};

// Cells of least mass whose sum is at most tau are dropped. Returns the mass.
double drop_least(group_masses& g, double tau) {
  std::vector<std::size_t> cells;
  for (std::size_t i = 0; i < g.mass.size(); ++i)
    if (g.mass[i] > 0 && g.mass[i] <= tau) cells.push_back(i);
  std::sort(cells.begin(), cells.end(),
            [&](std::size_t a, std::size_t b) { return g.mass[a] != g.mass[b] ? g.mass[a] < g.mass[b] : a < b; });
  double dropped = 0;
  for (const std::size_t i : cells) {
    if (dropped + g.mass[i] > tau) break;
    dropped += g.mass[i];
    g.mass[i] = 0;
  }
  return dropped;
}

// Every axis ends at its largest number that has mass.
void shrink(group_masses& g) {
  std::vector<std::int32_t> max(g.max.size(), 0), n(g.max.size(), 0);
  const auto count_up = [](std::vector<std::int32_t>& at, const std::vector<std::int32_t>& last) {
    for (std::size_t k = at.size(); k-- > 0;) {
      if (++at[k] <= last[k]) return;
      at[k] = 0;
    }
  };
  for (const double mass : g.mass) {
    for (std::size_t k = 0; mass > 0 && k < n.size(); ++k) max[k] = std::max(max[k], n[k]);
    count_up(n, g.max);
  }
  std::vector<double> fewer;
  std::fill(n.begin(), n.end(), 0);
  for (const double mass : g.mass) {
    bool is_inside = true;
    for (std::size_t k = 0; k < n.size(); ++k) is_inside = is_inside && n[k] <= max[k];
    if (is_inside) fewer.push_back(mass);
    count_up(n, g.max);
  }
  g.max = std::move(max);
  g.mass = std::move(fewer);
}

kept_cells cells_of(const group_masses& g) {
  kept_cells cells{g.max, std::vector<bool>(g.mass.size())};
  for (std::size_t i = 0; i < g.mass.size(); ++i) cells.is_kept[i] = g.mass[i] > 0;
  return cells;
}

double states_of(const kept_cells& cells) {
  double states = 0;
  for (const auto& [counts, unused] : cells.blocks()) states += double(block_entries(counts));
  return states;
}

// Keeps what was kept, drops the rest. Returns its mass.
double keep(group_masses& g, const kept_cells& cells) {
  group_masses inside{g.axes, cells.max, std::vector<double>(cells.is_kept.size(), 0.0)};
  std::vector<std::int32_t> n(g.max.size(), 0);
  double dropped = 0;
  for (const double mass : g.mass) {
    std::int64_t place = 0;
    bool has = true;
    for (std::size_t k = 0; k < n.size(); ++k) {
      has = has && n[k] <= cells.max[k];
      place = place * (cells.max[k] + 1) + n[k];
    }
    if (has && cells.is_kept[std::size_t(place)])
      inside.mass[std::size_t(place)] = mass;
    else
      dropped += mass;
    for (std::size_t k = n.size(); k-- > 0;) {
      if (++n[k] <= g.max[k]) break;
      n[k] = 0;
    }
  }
  g = std::move(inside);
  return dropped;
}

// A share of tau for the numbers that become negligible within a branch.
double negligible_of(double tau) { return tau * 1e-3; }

}  // namespace

lineage_cut cut_lineages(const Network& network, std::span<const std::int64_t> schedule, const leaf_copies& copies,
                         double tau) {
  lineage_cut cut;
  cut.tau = tau;
  for (const auto& of_leaf : copies) cut.max_lineages = std::max(cut.max_lineages, of_leaf.back());
  const auto choose = [&](group_masses& g) {
    const double dropped = drop_least(g, tau);
    shrink(g);
    cut.steps.push_back(cells_of(g));
    cut.max_lineages = std::max(cut.max_lineages, *std::max_element(g.max.begin(), g.max.end()));
    cut.states = std::max(cut.states, states_of(cut.steps.back()));
    return dropped;
  };
  cut.mass = mass_rules(network, copies, negligible_of(tau), choose).run(schedule);
  return cut;
}

double dropped_mass(const Network& network, std::span<const std::int64_t> schedule, const leaf_copies& copies,
                    const lineage_cut& cut) {
  std::size_t next = 0;
  const auto restrict = [&](group_masses& g) { return keep(g, cut.steps[next++]); };
  return mass_rules(network, copies, negligible_of(cut.tau), restrict).run(schedule);
}

}  // namespace quintet::snp
