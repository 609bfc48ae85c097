#include "quintet/svd/kabsch.hpp"

#include <limits>

#include "device/find_first.hpp"
#include "device/for_each.hpp"
#include "device/staged.hpp"
#include "instantiate.hpp"
#include "quintet/core/error.hpp"
#include "quintet/svd/applications.hpp"
#include "quintet/svd/gradient.hpp"
#include "svd/checks.hpp"
#include "svd/lane_math.hpp"
#include "svd/sums.hpp"

namespace quintet::svd {

namespace {

/// Points whose terms one index of a first pass adds up.
constexpr std::int64_t points_per_block = 256;

/// Both sets and their weights, in the memory of the device.
template <class T>
struct weighted_sets {
  batch_view<const T> points, target;
  matrix_view<const T> weights;  ///< no data: equal ones

  /// Points of weight 0 may hold anything.
  T weight(std::int64_t b, std::int64_t i) const { return weights.data() == nullptr ? T(1) : weights(b, i); }
  std::int64_t blocks() const { return (points.rows() + points_per_block - 1) / points_per_block; }

  /// term(0) + ... over the points of a block.
  template <class Term>
  T sum_over(std::int64_t block, Term term) const {
    const std::int64_t first = block * points_per_block;
    const std::int64_t count = points.rows() - first < points_per_block ? points.rows() - first : points_per_block;
    return sum_of_terms<T>(count, [&](std::int64_t i) QUINTET_SVD_INLINE_LAMBDA { return term(first + i); });
  }
};

/// out[b][e] = sum over blocks of parts[b][block][e], divided by total[b] unless that is null.
template <class T>
struct join_blocks {
  const T* parts;
  std::int64_t blocks, size;
  const T* total;
  T* out;

  void operator()(std::int64_t index) const {
    const std::int64_t b = index / size, e = index % size;
    const T sum = sum_of_terms<T>(
        blocks, [&](std::int64_t block) QUINTET_SVD_INLINE_LAMBDA { return parts[(b * blocks + block) * size + e]; });
    out[index] = total == nullptr ? sum : sum / total[b];
  }
};

/// The sum of the weights, for each block. A weight that is negative or NaN makes it NaN.
template <class T>
struct sum_weights {
  weighted_sets<T> sets;
  T* parts;
  void operator()(std::int64_t index) const {
    const std::int64_t b = index / sets.blocks();
    parts[index] = sets.sum_over(index % sets.blocks(), [&](std::int64_t i) QUINTET_SVD_INLINE_LAMBDA {
      const T w = sets.weight(b, i);
      return w >= 0 ? w : std::numeric_limits<T>::quiet_NaN();
    });
  }
};

/// Sums of w p and w q for each block: [2 D].
template <class T>
struct sum_points {
  weighted_sets<T> sets;
  T* parts;
  void operator()(std::int64_t index) const {
    const std::int64_t dim = sets.points.cols(), e = index % (2 * dim), at = index / (2 * dim);
    const std::int64_t b = at / sets.blocks();
    const batch_view<const T>& of = e < dim ? sets.points : sets.target;
    parts[index] = sets.sum_over(at % sets.blocks(), [&](std::int64_t i) QUINTET_SVD_INLINE_LAMBDA {
      const T w = sets.weight(b, i), term = w * of(b, i, e < dim ? e : e - dim);
      return w == 0 ? T(0) : term;  // read all the same: a branch costs more
    });
  }
};

/// Sums of w (p - p0) (q - q0)^T for each block: [D, D].
template <class T>
struct sum_products {
  weighted_sets<T> sets;
  const T* means;  ///< [B, 2 D]
  T* parts;
  void operator()(std::int64_t index) const {
    const std::int64_t dim = sets.points.cols(), e = index % (dim * dim), at = index / (dim * dim);
    const std::int64_t b = at / sets.blocks(), i = e / dim, j = e % dim;
    const T p0 = means[b * 2 * dim + i], q0 = means[b * 2 * dim + dim + j];
    parts[index] = sets.sum_over(at % sets.blocks(), [&](std::int64_t point) QUINTET_SVD_INLINE_LAMBDA {
      const T w = sets.weight(b, point);
      const T term = w * (sets.points(b, point, i) - p0) * (sets.target(b, point, j) - q0);
      return w == 0 ? T(0) : term;
    });
  }
};

/// Sums of w |p - p0|^2 for each block.
template <class T>
struct sum_spreads {
  weighted_sets<T> sets;
  const T* means;
  T* parts;
  void operator()(std::int64_t index) const {
    const std::int64_t dim = sets.points.cols(), b = index / sets.blocks();
    const T* p0 = means + b * 2 * dim;
    parts[index] = sets.sum_over(index % sets.blocks(), [&](std::int64_t i) QUINTET_SVD_INLINE_LAMBDA {
      const T weight = sets.weight(b, i);
      T square = 0;
#pragma GCC unroll 1
      for (std::int64_t k = 0; k < dim; ++k) {
        const T x = sets.points(b, i, k) - p0[k];
        square = device::fma(x, x, square);
      }
      return weight == 0 ? T(0) : weight * square;
    });
  }
};

/// c of every set by the singular values of H and the spread of its points. A spread that rounding of the mean makes is
/// set to zero.
template <class T>
struct set_scale {
  matrix_view<const T> s;
  const T* means;
  T *spread, *out;
  void operator()(std::int64_t b) const {
    constexpr T noise = 32 * std::numeric_limits<T>::epsilon();
    T sum = 0, distance = 0;
    for (std::int64_t k = 0; k < s.cols(); ++k) {
      const T p0 = noise * means[b * 2 * s.cols() + k];
      sum += s(b, k);
      distance = device::fma(p0, p0, distance);
    }
    if (spread[b] <= distance) spread[b] = 0;
    out[b] = spread[b] == 0 ? T(1) : sum / spread[b];
  }
};

/// c of set b; no data: 1.
template <class T>
T scale_of(const T* scale, std::int64_t b) {
  return scale == nullptr ? T(1) : scale[b];
}

/// What of a motion follows from W = U V^T, the orthogonal factor of H: R = W^T, t = q0 - c R p0.
template <class T>
struct write_motion {
  batch_view<const T> w;
  const T *means, *scale;
  batch_view<T> rotation;
  matrix_view<T> translation;
  void operator()(std::int64_t index) const {
    const std::int64_t dim = w.rows(), b = index / dim, i = index % dim;
    const T *p0 = means + b * 2 * dim, *q0 = p0 + dim;
    T turned = 0;
    for (std::int64_t j = 0; j < dim; ++j) {
      rotation(b, i, j) = w(b, j, i);
      turned = device::fma(w(b, j, i), p0[j], turned);
    }
    translation(b, i) = q0[i] - scale_of(scale, b) * turned;
  }
};

/// Coordinate k of c R (p - p0) - (q - q0) for a point, where R = W^T.
template <class T>
T residual(const weighted_sets<T>& sets, const batch_view<const T>& w, const T* means, T scale, std::int64_t b,
           std::int64_t i, std::int64_t k) {
  const std::int64_t dim = w.rows();
  const T *p0 = means + b * 2 * dim, *q0 = p0 + dim;
  T sum = q0[k] - sets.target(b, i, k);
#pragma GCC unroll 1  // few terms; a device has not the registers
  for (std::int64_t j = 0; j < dim; ++j) sum = device::fma(scale * w(b, j, k), sets.points(b, i, j) - p0[j], sum);
  return sum;
}

/// Sums of w |c R (p - p0) - (q - q0)|^2 for each block.
template <class T>
struct sum_residuals {
  weighted_sets<T> sets;
  batch_view<const T> w;
  const T *means, *scale;
  T* parts;
  void operator()(std::int64_t index) const {
    const std::int64_t b = index / sets.blocks();
    parts[index] = sets.sum_over(index % sets.blocks(), [&](std::int64_t i) QUINTET_SVD_INLINE_LAMBDA {
      const T weight = sets.weight(b, i);
      T square = 0;
#pragma GCC unroll 1
      for (std::int64_t k = 0; k < w.rows(); ++k) {
        const T x = residual(sets, w, means, scale_of(scale, b), b, i, k);
        square = device::fma(x, x, square);
      }
      return weight == 0 ? T(0) : weight * square;
    });
  }
};

template <class T>
struct copy_scale {
  const T* from;
  vector_view<T> to;
  void operator()(std::int64_t b) const { to[b] = from[b]; }
};

template <class T>
struct take_root {
  const T* from;
  vector_view<T> to;
  void operator()(std::int64_t b) const { to[b] = root(from[b]); }
};

/// gW of W = R^T: R has gR, and t = q0 - c R p0 adds -c gt p0^T. Absent derivatives have no data.
template <class T>
struct rotation_gradient {
  batch_view<const T> rotation;
  matrix_view<const T> translation;
  const T *means, *scale;
  batch_view<T> out;
  void operator()(std::int64_t index) const {
    const std::int64_t dim = out.rows(), j = index % dim, i = index / dim % dim, b = index / dim / dim;
    T value = rotation.data() == nullptr ? T(0) : rotation(b, i, j);
    if (translation.data() != nullptr)
      value = device::fma(-scale_of(scale, b) * translation(b, i), means[b * 2 * dim + j], value);
    out(b, j, i) = value;
  }
};

/// What c = tr(W^T H) / spread adds: its derivative gc by itself and by t = q0 - c R p0, spread over H, where W
/// maximises, and over the spread.
template <class T>
struct scale_gradient {
  vector_view<const T> by_scale;
  matrix_view<const T> translation;
  batch_view<const T> w;
  const T *means, *scale, *spread;
  batch_view<T> gh;
  T* by_spread;
  void operator()(std::int64_t b) const {
    const std::int64_t dim = w.rows();
    T gc = by_scale.data() == nullptr ? T(0) : by_scale[b];
    if (translation.data() != nullptr)
      for (std::int64_t i = 0; i < dim; ++i)
        for (std::int64_t j = 0; j < dim; ++j)
          gc = device::fma(-translation(b, i) * w(b, j, i), means[b * 2 * dim + j], gc);
    const T share = spread[b] == 0 ? T(0) : gc / spread[b];
    for (std::int64_t i = 0; i < dim; ++i)
      for (std::int64_t j = 0; j < dim; ++j) gh(b, i, j) = device::fma(share, w(b, i, j), gh(b, i, j));
    by_spread[b] = -share * scale[b];
  }
};

/// Derivatives after coordinate k of a point of either set; g = g_rmsd / rmsd, v that by the spread:
///   w (gH (q - q0) - c R^T gt + g c R^T (c R (p - p0) - (q - q0)) + 2 v (p - p0)),
///   w (gH^T (p - p0) + gt - g (c R (p - p0) - (q - q0))).
template <class T>
struct write_gradients {
  weighted_sets<T> sets;
  batch_view<const T> w, gh;
  const T *means, *total, *square;  ///< square: of rmsd
  const T *scale, *by_spread;       ///< both null without a scale
  matrix_view<const T> translation;
  vector_view<const T> rmsd;
  batch_view<T> points, target;

  void operator()(std::int64_t index) const {
    const std::int64_t dim = w.rows(), count = points.rows();
    const std::int64_t k = index % dim, i = index / dim % count, b = index / dim / count;
    const T own = sets.weight(b, i);
    if (own == 0) {
      points(b, i, k) = target(b, i, k) = 0;
      return;
    }
    const T *p0 = means + b * 2 * dim, *q0 = p0 + dim, c = scale_of(scale, b);
    const T left = root(square[b]), g = rmsd.data() == nullptr || left == 0 ? T(0) : rmsd[b] / left;
    const bool has_translation = translation.data() != nullptr;
    T by_p = scale == nullptr ? T(0) : 2 * by_spread[b] * (sets.points(b, i, k) - p0[k]);
    T by_q = has_translation ? translation(b, k) : T(0);
#pragma GCC unroll 1
    for (std::int64_t j = 0; j < dim; ++j) {
      by_p = device::fma(gh(b, k, j), sets.target(b, i, j) - q0[j], by_p);
      by_q = device::fma(gh(b, j, k), sets.points(b, i, j) - p0[j], by_q);
      if (has_translation) by_p = device::fma(-c * w(b, k, j), translation(b, j), by_p);
      if (g != 0) by_p = device::fma(g * c * w(b, k, j), residual(sets, w, means, c, b, i, j), by_p);
    }
    if (g != 0) by_q = device::fma(-g, residual(sets, w, means, c, b, i, k), by_q);
    const T weight = own / total[b];
    points(b, i, k) = weight * by_p;
    target(b, i, k) = weight * by_q;
  }
};

template <class T>
struct bad_weight {
  matrix_view<const T> weights;
  bool operator()(std::int64_t i) const { return !(weights(i / weights.cols(), i % weights.cols()) >= 0); }
};
template <class T>
struct no_weight {
  const T* total;
  bool operator()(std::int64_t b) const { return !(total[b] > 0); }
};

template <class T>
void check(const batch_view<const T>& points, const batch_view<const T>& target, const matrix_view<const T>& weights,
           const kabsch_options& options) {
  const std::int64_t dim = points.cols();
  require_argument(points.rows() >= 1, "points.rows", points.rows(), ">= 1");
  require_shape(target, points.batch(), points.rows(), dim, "target");
  if (weights.data() != nullptr && (weights.rows() != points.batch() || weights.cols() != points.rows()))
    throw InvalidArgument(text("weights must be empty or [", points.batch(), " x ", points.rows(), "] (weights=[",
                               weights.rows(), " x ", weights.cols(), "])"));
  if (options.reflections)
    require_argument(dim >= 1, "points.cols", dim, ">= 1");
  else
    require_argument(dim >= 2 && dim <= 4, "points.cols", dim, "2, 3 or 4, or any number with reflections");
}

/// What a motion is made of, in the memory of the device.
template <class T>
class fit {
 public:
  fit(const weighted_sets<T>& sets, const kabsch_options& options, const Device& device)
      : sets_(sets),
        batch_(sets.points.batch()),
        dim_(sets.points.cols()),
        total(batch_, device),
        means(batch_ * 2 * dim_, device),
        square(batch_, device),
        spread(options.scale ? batch_ : 0, device),
        scale(options.scale ? batch_ : 0, device),
        u_(batch_ * dim_ * dim_, device),
        v_(batch_ * dim_ * dim_, device),
        w_(batch_ * dim_ * dim_, device),
        s_(batch_ * dim_, device) {
    check_weights(device);
    add_up(sum_points<T>{sets_, nullptr}, 2 * dim_, total.data(), means, device);
    Buffer<T> h(batch_ * dim_ * dim_, device);
    add_up(sum_products<T>{sets_, means.data(), nullptr}, dim_ * dim_, total.data(), h, device);
    Buffer<std::int32_t> status(batch_, device), sweeps(batch_, device);
    svd::decompose(matrices<const T>(h),
                   svd::outputs{matrices<T>(u_), matrices<T>(v_), any_output_matrix(s_, dim_), status, sweeps},
                   {.proper_rotations = !options.reflections}, device);
    svd::polar(factors(), matrices<T>(w_), matrices<T>(h), device);
    if (options.scale) {
      add_up(sum_spreads<T>{sets_, means.data(), nullptr}, 1, total.data(), spread, device);
      device::for_each(batch_, set_scale<T>{factors().s, means.data(), spread.data(), scale.data()}, device);
    }
    add_up(sum_residuals<T>{sets_, w(), means.data(), scale_data(), nullptr}, 1, total.data(), square, device);
  }

  factors_view<T> factors() const {
    return {matrices<const T>(u_), matrices<const T>(v_), {s_.data(), batch_, dim_, s_.device()}};
  }
  /// The orthogonal factor of H, R^T.
  batch_view<const T> w() const { return matrices<const T>(w_); }
  /// c of every set, or null.
  const T* scale_data() const { return scale.size() == 0 ? nullptr : scale.data(); }

 private:
  weighted_sets<T> sets_;
  std::int64_t batch_, dim_;

 public:
  Buffer<T> total, means, square, spread, scale;

 private:
  Buffer<T> u_, v_, w_, s_;

  template <class Element, class Memory>
  batch_view<Element> matrices(Memory& buffer) const {
    return {buffer.data(), batch_, dim_, dim_, buffer.device()};
  }

  /// Sums of `size` numbers for each set, block by block, divided by `divisor` unless that is null.
  template <class Sum>
  void add_up(Sum sum, std::int64_t size, const T* divisor, Buffer<T>& out, const Device& device) const {
    const std::int64_t blocks = sets_.blocks();
    Buffer<T> parts(batch_ * blocks * size, device);
    sum.parts = parts.data();
    device::for_each(batch_ * blocks * size, sum, device);
    device::for_each(batch_ * size, join_blocks<T>{parts.data(), blocks, size, divisor, out.data()}, device);
  }

  void check_weights(const Device& device) {
    add_up(sum_weights<T>{sets_, nullptr}, 1, nullptr, total, device);
    if (sets_.weights.data() == nullptr) return;
    const std::int64_t count = sets_.points.rows();
    const std::int64_t bad = device::find_first(batch_ * count, bad_weight<T>{sets_.weights}, device);
    if (bad >= 0)
      throw InvalidArgument(text("weights must be >= 0 and not NaN (weights[", bad / count, ", ", bad % count, "])"));
    const std::int64_t empty = device::find_first(batch_, no_weight<T>{total.data()}, device);
    if (empty >= 0) throw InvalidArgument(text("weights of a set must have a positive sum (set ", empty, ")"));
  }
};

template <class T>
struct typed_motions {
  batch_view<T> rotation;
  matrix_view<T> translation;
  vector_view<T> rmsd, scale;
};

template <class T>
Device typed_kabsch(batch_view<const T> points, batch_view<const T> target, matrix_view<const T> weights,
                    const typed_motions<T>& out, const kabsch_options& options, const Device& requested_device) {
  check(points, target, weights, options);
  const std::int64_t batch = points.batch(), dim = points.cols();
  require_shape(out.rotation, batch, dim, dim, "rotation");
  require_argument(out.translation.rows() == batch, "translation.rows", out.translation.rows(),
                   text("the batch, ", batch));
  require_argument(out.translation.cols() == dim, "translation.cols", out.translation.cols(), text("D = ", dim));
  require_argument(out.rmsd.size() == batch, "rmsd.size", out.rmsd.size(), text("the batch, ", batch));
  if (options.scale)
    require_argument(out.scale.size() == batch, "scale.size", out.scale.size(), text("the batch, ", batch));
  const Device device = device::run_device(requested_device, {{"points", points},
                                                              {"target", target},
                                                              {"weights", weights},
                                                              {"rotation", out.rotation},
                                                              {"translation", out.translation},
                                                              {"rmsd", out.rmsd},
                                                              {"scale", out.scale}});
  if (batch == 0) return device;
  const device::staged_in p(points, device), q(target, device);
  const device::staged_in shares(weights, device);
  device::staged_out rotation(out.rotation, device);
  device::staged_out translation(out.translation, device);
  device::staged_out rmsd(out.rmsd, device), scale(options.scale ? out.scale : vector_view<T>(), device);
  const fit<T> fitted({p.view(), q.view(), shares.view()}, options, device);
  device::for_each(
      batch * dim,
      write_motion<T>{fitted.w(), fitted.means.data(), fitted.scale_data(), rotation.view(), translation.view()},
      device);
  if (options.scale) device::for_each(batch, copy_scale<T>{fitted.scale.data(), scale.view()}, device);
  device::for_each(batch, take_root<T>{fitted.square.data(), rmsd.view()}, device);
  device::finish(rotation, translation, rmsd, scale);
  return device;
}

}  // namespace

Device kabsch(any_batch points, any_batch target, any_matrix weights, const motion_outputs& out,
              const kabsch_options& options, const Device& device) {
  return with_real(points.type, "points", [&]<class T>() {
    return typed_kabsch<T>(points.as<T>("points"), target.as<T>("target"), weights.as<T>("weights"),
                           {out.rotation.as<T>("rotation"), out.translation.as<T>("translation"),
                            out.rmsd.as<T>("rmsd"), out.scale.as<T>("scale")},
                           options, device);
  });
}

template <class T>
rigid_motions<T> kabsch(batch_view<const T> points, batch_view<const T> target, matrix_view<const T> weights,
                        const kabsch_options& options, const Device& device) {
  check(points, target, weights, options);
  rigid_motions<T> result;
  const std::int64_t batch = result.batch = points.batch(), dim = result.dimension = points.cols();
  result.rotation.resize(batch * dim * dim);
  result.translation.resize(batch * dim);
  result.rmsd.resize(batch);
  if (options.scale) result.scale.resize(batch);
  const typed_motions<T> out{
      {result.rotation.data(), batch, dim, dim}, {result.translation.data(), batch, dim}, result.rmsd, result.scale};
  result.ran_on = typed_kabsch<T>(points, target, weights, out, options, device);
  return result;
}

template <class T>
motion_gradients<T> kabsch_gradient(batch_view<const T> points, batch_view<const T> target,
                                    matrix_view<const T> weights, batch_view<const T> g_rotation,
                                    matrix_view<const T> g_translation, vector_view<const T> g_rmsd,
                                    const kabsch_options& options, const Device& requested_device,
                                    vector_view<const T> g_scale) {
  check(points, target, weights, options);
  const std::int64_t batch = points.batch(), count = points.rows(), dim = points.cols();
  if (g_rotation.data() != nullptr) require_shape(g_rotation, batch, dim, dim, "g_rotation");
  if (g_translation.data() != nullptr && (g_translation.rows() != batch || g_translation.cols() != dim))
    throw InvalidArgument(text("g_translation must be empty or [", batch, " x ", dim, "] (g_translation=[",
                               g_translation.rows(), " x ", g_translation.cols(), "])"));
  if (g_rmsd.data() != nullptr)
    require_argument(g_rmsd.size() == batch, "g_rmsd.size", g_rmsd.size(), text("the batch, ", batch));
  if (g_scale.data() != nullptr) {
    require_argument(options.scale, "options.scale", options.scale, "true where g_scale has elements");
    require_argument(g_scale.size() == batch, "g_scale.size", g_scale.size(), text("the batch, ", batch));
  }
  const Device device = device::run_device(requested_device, {{"points", points},
                                                              {"target", target},
                                                              {"weights", weights},
                                                              {"g_rotation", g_rotation},
                                                              {"g_translation", g_translation},
                                                              {"g_rmsd", g_rmsd},
                                                              {"g_scale", g_scale}});
  motion_gradients<T> result{std::vector<T>(batch * count * dim), std::vector<T>(batch * count * dim)};
  if (batch == 0) return result;
  const device::staged_in p(points, device), q(target, device), gr(g_rotation, device);
  const device::staged_in shares(weights, device), gt(g_translation, device);
  const device::staged_in left(g_rmsd, device), by_scale(g_scale, device);
  device::staged_out by_p(batch_view<T>(result.points.data(), batch, count, dim), device);
  device::staged_out by_q(batch_view<T>(result.target.data(), batch, count, dim), device);
  const weighted_sets<T> sets{p.view(), q.view(), shares.view()};
  const fit<T> fitted(sets, options, device);
  Buffer<T> gw(batch * dim * dim, device), gh(batch * dim * dim, device);
  const batch_view<T> gw_view(gw.data(), batch, dim, dim, device), gh_view(gh.data(), batch, dim, dim, device);
  device::for_each(batch * dim * dim,
                   rotation_gradient<T>{gr.view(), gt.view(), fitted.means.data(), fitted.scale_data(), gw_view},
                   device);
  polar_gradient(fitted.factors(), gw_view, any_batch(), gh_view, {}, device);
  Buffer<T> by_spread(options.scale ? batch : 0, device);
  if (options.scale)
    device::for_each(batch,
                     scale_gradient<T>{by_scale.view(), gt.view(), fitted.w(), fitted.means.data(), fitted.scale.data(),
                                       fitted.spread.data(), gh_view, by_spread.data()},
                     device);
  device::for_each(
      batch * count * dim,
      write_gradients<T>{sets, fitted.w(), gh_view, fitted.means.data(), fitted.total.data(), fitted.square.data(),
                         fitted.scale_data(), by_spread.data(), gt.view(), left.view(), by_p.view(), by_q.view()},
      device);
  device::finish(by_p, by_q);
  return result;
}

#define QUINTET_INSTANTIATE(T)                                                                                     \
  template rigid_motions<T> kabsch<T>(batch_view<const T>, batch_view<const T>, matrix_view<const T>,              \
                                      const kabsch_options&, const Device&);                                       \
  template motion_gradients<T> kabsch_gradient<T>(batch_view<const T>, batch_view<const T>, matrix_view<const T>,  \
                                                  batch_view<const T>, matrix_view<const T>, vector_view<const T>, \
                                                  const kabsch_options&, const Device&, vector_view<const T>);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::svd
