#include "quintet/hdbscan/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "hdbscan/checks.hpp"
#include "hdbscan/joining.hpp"
#include "hdbscan/membership_source.hpp"
#include "hdbscan/predicted_rows.hpp"
#include "pairwise/kept_points.hpp"
#include "pairwise/reduced_limit.hpp"
#include "quintet/hdbscan/membership.hpp"

namespace quintet::hdbscan {

namespace detail {
struct prediction_state {
  virtual ~prediction_state() = default;
  virtual prediction predict(any_matrix new_points) const = 0;
  virtual std::vector<double> membership_vectors(any_matrix new_points) const = 0;
};
}  // namespace detail

namespace {

/// The point that a row joins, and what decides between points: the first in the order (m, distance, number).
template <class Real>
struct join_candidate {
  Real m, reduced;
  std::int32_t number;

  bool operator<(const join_candidate& other) const {
    if (m != other.m) return m < other.m;
    return reduced != other.reduced ? reduced < other.reduced : number < other.number;
  }
};

/// A sink of walks that keeps the first candidate.
template <class Real>
class join_sink {
 public:
  const std::int32_t* number = nullptr;

  join_sink(const pairwise::reduced_metric<Real>& metric, const std::vector<Real>& core, Real alpha, Real core_of_row,
            const join_candidate<Real>& start)
      : metric_(metric), core_(core), alpha_(alpha), core_of_row_(core_of_row), best_(start) {
    limit_ = limit_of(best_.m);
  }
  Real limit() const { return limit_; }
  void take(const Real* values, int count, std::int64_t first_point) {
    for (int e = 0; e < count; ++e) {
      if (!(values[e] <= limit_)) continue;
      const std::int32_t j = number[first_point + e];
      const join_candidate<Real> candidate{
          pairwise::mutual_reachability(core_of_row_, core_[j], metric_.distance(values[e]) / alpha_), values[e], j};
      if (!(candidate < best_)) continue;
      if (candidate.m < best_.m) limit_ = limit_of(candidate.m);
      best_ = candidate;
    }
  }
  const join_candidate<Real>& best() const { return best_; }

 private:
  /// The largest reduced distance of points whose distance / alpha is at most m.
  Real limit_of(Real m) const {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    Real radius = m * alpha_;
    if (!(radius < infinity)) return std::numeric_limits<Real>::max();
    while (radius > 0 && radius / alpha_ > m) radius = std::nextafter(radius, Real(0));
    for (Real next = std::nextafter(radius, infinity); next < infinity && next / alpha_ <= m;
         next = std::nextafter(next, infinity))
      radius = next;
    return pairwise::reduced_limit(metric_, radius);
  }

  pairwise::reduced_metric<Real> metric_;
  const std::vector<Real>& core_;
  Real alpha_, core_of_row_;
  join_candidate<Real> best_;
  Real limit_;
};

/// A sink of walks through all exemplars that keeps the smallest value of every cluster.
template <class Real>
class nearest_exemplars {
 public:
  nearest_exemplars(const std::vector<std::int32_t>& cluster, std::vector<Real>& minima)
      : cluster_(cluster), minima_(minima) {}
  Real limit() const { return std::numeric_limits<Real>::infinity(); }
  void take(const Real* values, int count, std::int64_t first_point) {
    const std::int32_t* const cluster = cluster_.data() + first_point;
    if (cluster[0] != cluster[count - 1]) {
      for (int e = 0; e < count; ++e) lower(cluster[e], values[e]);
      return;
    }
    // Behind `count` are values of no point up to the end of a pack: NaN, which is never the least.
    constexpr int lanes = device::host_lanes<Real>();
    typedef device::pack<Real, lanes> value;
    value least = device::broadcast_pack<value>(limit());
    for (int e = 0; e < count; e += lanes) {
      const value some = device::load_pack<value>(values + e);
      least = some < least ? some : least;
    }
    lower(cluster[0], device::least_lane<Real>(least));
  }

 private:
  void lower(std::int32_t k, Real value) { minima_[k] = value < minima_[k] ? value : minima_[k]; }

  const std::vector<std::int32_t>& cluster_;
  std::vector<Real>& minima_;
};

template <class Storage>
class typed_predictor final : public detail::prediction_state {
  using Real = accumulator_t<Storage>;

 public:
  typed_predictor(const cluster_result& model, matrix_view<const Storage> points, const Device& device)
      : model_(model),
        all_points_(points),
        device_(device),
        tree_(model),
        exemplars_(model),
        core_(model.core_distances.begin(), model.core_distances.end()) {
    const pairwise::scanned_points<Storage> scanned(points, model.options.distance, Device::host());
    if (!exemplars_.rows.empty()) packed_exemplars_.emplace(scanned, exemplars_.rows, pairwise::tree_layout());
    points_ = pairwise::keep(points, {model.options.distance}, Device::host());
    valid_ = scanned.valid_count();
    neighbours_ = std::min(model.neighbours, valid_);
    for (std::int64_t i = 0; i < scanned.count(); ++i)
      require_element(!scanned.valid(i) || is_excluded(i) || core_[i] >= 0, "model.core_distances", i, core_[i],
                      ">= 0");
  }

  prediction predict(any_matrix any_rows) const override {
    const auto new_points = checked(any_rows);
    if (is_small(new_points)) {
      const pairwise::looked_at_rows<Storage> rows(points_, new_points);
      if (rows.keep_bits()) return predict_small(rows, new_points.rows());
    }
    return approximate_predict(model_, all_points_, any_rows, device_);
  }

  std::vector<double> membership_vectors(any_matrix any_rows) const override {
    const auto new_points = checked(any_rows);
    if (is_small(new_points)) {
      const pairwise::looked_at_rows<Storage> rows(points_, new_points);
      if (rows.keep_bits()) return membership_of_few(rows, new_points);
    }
    return hdbscan::membership_vectors(model_, all_points_, any_rows, device_);
  }

 private:
  bool is_excluded(std::int64_t i) const { return !model_.weights.empty() && model_.weights[i] == 0; }
  matrix_view<const Storage> checked(any_matrix rows) const {
    const auto new_points = rows.as<Storage>("new_points");
    check_points(new_points);
    if (points_.count > 0 && new_points.rows() > 0)
      require_argument(new_points.cols() == points_.dim, "new_points.cols", new_points.cols(),
                       text("points.cols=", points_.dim));
    return new_points;
  }
  /// Points with weights are searched as approximate_predict() does, in lists that reach a mass.
  bool is_small(const matrix_view<const Storage>& rows) const {
    return model_.weights.empty() && rows.rows() < pairwise::looked_at_rows<Storage>::most &&
           rows.device().shares_host_memory();
  }

  /// Of a valid row; there are valid points.
  join_candidate<Real> join(const pairwise::looked_at_rows<Storage>& rows, std::int64_t i) const {
    std::int64_t pairs = 0;
    const std::int64_t length = std::max<std::int64_t>(neighbours_, 1);
    const auto list = rows.nearest(i, length, pairs);
    const auto distance = [&](std::int64_t e) { return points_.measure.distance(list.value[e]); };
    const Real core = neighbours_ > 0 ? distance(neighbours_ - 1) : Real(0);
    join_candidate<Real> best{std::numeric_limits<Real>::infinity(), list.value[0], list.index[0]};
    for (std::int64_t e = 0; e < length; ++e) {
      const Real m = pairwise::mutual_reachability(core, core_[list.index[e]], distance(e) / alpha());
      if (m < best.m) best = {m, list.value[e], list.index[e]};
    }
    // A point outside the list is no nearer than its last entry, and later in the order where m is the same.
    if (length == valid_ || !(best.m > std::max(core, distance(length - 1) / alpha()))) return best;
    join_sink<Real> sink(points_.measure, core_, alpha(), core, best);
    rows.walk_parts(i, sink);
    return sink.best();
  }
  Real alpha() const { return Real(model_.options.alpha); }

  prediction predict_small(const pairwise::looked_at_rows<Storage>& rows, std::int64_t count) const {
    prediction result = nothing_known(count);
    for (std::int64_t i = 0; i < count && valid_ > 0; ++i) {
      if (!rows.valid(i)) continue;
      const auto best = join(rows, i);
      enter(result, i, tree_, best.number, 1 / double(best.m));
    }
    return result;
  }

  std::vector<double> membership_of_few(const pairwise::looked_at_rows<Storage>& rows,
                                        const matrix_view<const Storage>& new_points) const {
    const std::int64_t clusters = model_.clusters();
    std::vector<double> vectors(new_points.rows() * clusters, 0);
    if (clusters == 0 || new_points.rows() == 0) return vectors;
    std::vector<Real> minima;
    for (std::int64_t i = 0; i < new_points.rows() && valid_ > 0; ++i) {
      if (!rows.valid(i)) continue;
      const auto best = join(rows, i);
      minima.assign(clusters, std::numeric_limits<Real>::infinity());
      nearest_exemplars<Real> sink(exemplars_.cluster, minima);
      if (packed_exemplars_) rows.walk_all(packed_exemplars_->tree.view(), i, sink);
      finish_row(tree_, origin::unseen, tree_.attachment(best.number, 1 / double(best.m)), minima.data(),
                 points_.measure, std::span<double>(&vectors[i * clusters], std::size_t(clusters)));
    }
    return vectors;
  }

  const cluster_result& model_;
  any_matrix all_points_;
  Device device_;
  fitted_tree tree_;
  exemplar_rows exemplars_;
  std::vector<Real> core_;
  pairwise::kept_points<Real> points_;
  std::optional<pairwise::tree_points<Real>> packed_exemplars_;
  std::int64_t valid_ = 0, neighbours_ = 0;
};

}  // namespace

predictor::predictor(const cluster_result& model, any_matrix points, const Device& device)
    : state_(with_storage(points.type, [&]<class T>() -> std::shared_ptr<const detail::prediction_state> {
        const auto view = points.as<T>("points");
        check_model(model, view, {});
        return std::make_shared<const typed_predictor<T>>(model, view, device);
      })) {}

prediction predictor::predict(any_matrix new_points) const { return state_->predict(new_points); }

std::vector<double> predictor::membership_vectors(any_matrix new_points) const {
  return state_->membership_vectors(new_points);
}

}  // namespace quintet::hdbscan
