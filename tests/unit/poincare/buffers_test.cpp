// Batched functions on device buffers, and on 16-bit storage: the bits of host arguments and of widened points.
#include <gtest/gtest.h>

#include "quintet/io/matrix.hpp"
#include "quintet/poincare/poincare.hpp"
#include "support/ball_points.hpp"
#include "support/device_of_arguments.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

constexpr std::int64_t n = 70, width = 5;

template <class Storage>
std::vector<Storage> stored_points(double max, std::uint64_t seed) {
  std::vector<Storage> stored;
  for (const double x : ball_points<double>(n, width, 0, max, 1, seed).data)
    stored.emplace_back(accumulator_t<Storage>(x));
  return stored;
}

/// The results of every batched function that takes points x and y, one after another. `in` makes an argument of host
/// values, `out` collects `count` values that a call writes through the argument it is given.
template <class Storage, class Rows, class Values, class Out, class OutValues>
void call_everything(Rows in, Values scalars, Out out, OutValues out_values, const Device& device) {
  using namespace poincare;
  using Real = accumulator_t<Storage>;
  const std::vector<Real> half_way{Real(0.25)};
  std::vector<Real> weights(n, Real(0.5));
  const std::vector<std::int64_t> offsets{0, 3, 3, n};
  const auto x = in(0), y = in(1), v = in(2);
  const auto r = scalars(half_way), w = scalars(weights);
  out(n, n, [&](auto to) { distances(x, y, to, {}, device); });
  out_values(n, [&](auto to) { pair_distances(x, y, to, {}, device); });
  out_values(n, [&](auto to) { origin_distances(x, to, {}, device); });
  out(n, width, [&](auto to) { mobius_add(x, y, to, {}, device); });
  out(n, width, [&](auto to) { mobius_scalar_mul(r, x, to, {}, device); });
  out(n, width, [&](auto to) { exp_map(x, v, to, {}, device); });
  out(n, width, [&](auto to) { log_map(x, y, to, {}, device); });
  out(n, width, [&](auto to) { exp_map_origin(v, to, {}, device); });
  out(n, width, [&](auto to) { log_map_origin(x, to, {}, device); });
  out(n, width, [&](auto to) { geodesic(x, y, r, to, {}, device); });
  out(n, width, [&](auto to) { parallel_transport(x, y, v, to, {}, device); });
  out(n, width, [&](auto to) { project(x, 0.5, to, {}, device); });
  out_values(n, [&](auto to) { conformal_factor(x, to, {}, device); });
  out(n, width + 1, [&](auto to) { to_hyperboloid(x, to, {}, device); });
  out(n, width, [&](auto to) { riemannian_gradient(x, v, to, {}, device); });
  out(n, width, [&](auto to) { rsgd_step(x, v, 0.1, 1e-3, to, {}, device); });
  out(n, width, [&](auto to) { out(n, width, [&](auto other) { distance_gradients(x, y, to, other, {}, device); }); });
  out(3, width, [&](auto to) { gyromidpoint(x, offsets, w, to, {}, device); });
  out(3, width, [&](auto to) { frechet_mean(x, offsets, w, to, {}, device); });
}

/// Host arguments.
template <class Storage>
std::vector<accumulator_t<Storage>> from_host(const std::vector<std::vector<Storage>>& sets, const Device& device) {
  using Real = accumulator_t<Storage>;
  std::vector<Real> results;
  const auto keep = [&](const std::vector<Real>& values) {
    results.insert(results.end(), values.begin(), values.end());
  };
  call_everything<Storage>([&](int set) { return matrix_view<const Storage>(sets[set].data(), n, width); },
                           [](const std::vector<Real>& values) { return vector_view<const Real>(values); },
                           [&](std::int64_t rows, std::int64_t cols, auto call) {
                             std::vector<Real> to(rows * cols);
                             call(matrix_view<Real>(to.data(), rows, cols));
                             keep(to);
                           },
                           [&](std::int64_t count, auto call) {
                             std::vector<Real> to(count);
                             call(vector_view<Real>(to));
                             keep(to);
                           },
                           device);
  return results;
}

/// Arguments in buffers, which say where the work is done.
template <class Storage>
std::vector<accumulator_t<Storage>> from_buffers(const std::vector<std::vector<Storage>>& sets, const Device& device) {
  using Real = accumulator_t<Storage>;
  std::vector<Buffer<Storage>> there;
  for (const auto& set : sets) there.emplace_back(set, device);
  std::vector<Buffer<Real>> scalars;
  scalars.reserve(2);  // arguments refer to them
  std::vector<Real> results;
  const auto keep = [&](const Buffer<Real>& to) {
    const std::vector<Real> values = to.to_vector();
    results.insert(results.end(), values.begin(), values.end());
  };
  call_everything<Storage>([&](int set) { return matrix_view<const Storage>(there[set], width); },
                           [&](const std::vector<Real>& values) {
                             return vector_view<const Real>(std::as_const(scalars.emplace_back(values, device)));
                           },
                           [&](std::int64_t rows, std::int64_t cols, auto call) {
                             Buffer<Real> to(rows * cols, device);
                             call(matrix_view<Real>(to, cols));
                             keep(to);
                           },
                           [&](std::int64_t count, auto call) {
                             Buffer<Real> to(count, device);
                             call(vector_view<Real>(to));
                             keep(to);
                           },
                           device_of_arguments(device));
  return results;
}

template <class Storage>
std::vector<std::vector<Storage>> sets() {
  return {stored_points<Storage>(0.95, 1), stored_points<Storage>(0.9, 2), stored_points<Storage>(0.7, 3)};
}

template <class Storage>
class poincare_buffers : public ::testing::Test {};
using storages = ::testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(poincare_buffers, storages);

TYPED_TEST(poincare_buffers, have_the_bits_of_host_arguments) {
  on_every_device([](const Device& device) {
    expect_same_bits(from_buffers(sets<TypeParam>(), device), from_host(sets<TypeParam>(), device));
  });
}

TYPED_TEST(poincare_buffers, nearest_stays_on_the_device) {
  const auto all = sets<TypeParam>();
  const auto host =
      poincare::nearest<TypeParam>({all[0].data(), n, width}, {all[1].data(), n, width}, 4, {}, Device::host());
  on_every_device([&](const Device& device) {
    const Buffer<TypeParam> queries(all[0], device), points(all[1], device);
    Buffer<std::int64_t> index(n * 4, device);
    Buffer<accumulator_t<TypeParam>> distance(n * 4, device);
    poincare::nearest({queries, width}, {points, width}, {index, 4}, {distance, 4});
    EXPECT_EQ(index.to_vector(), host.index);
    expect_same_bits(distance.to_vector(), host.distance);
  });
}

TYPED_TEST(poincare_buffers, nearest_writes_rows_that_lie_apart) {
  using Real = accumulator_t<TypeParam>;
  const auto all = sets<TypeParam>();
  const matrix_view<const TypeParam> queries(all[0].data(), n, width), points(all[1].data(), n, width);
  const auto host = poincare::nearest(queries, points, 4, {}, Device::host());
  on_every_device([&](const Device& device) {
    std::vector<std::int64_t> index(n * 6, -7);
    std::vector<Real> distance(n * 5, Real(-7));
    const auto report = poincare::nearest(queries, points, matrix_view<std::int64_t>(index.data(), n, 4, 6),
                                          matrix_view<Real>(distance.data(), n, 4, 5), {}, device);
    EXPECT_TRUE(report.all_inside());
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t e = 0; e < 6; ++e) wrong += index[i * 6 + e] != (e < 4 ? host.index[i * 4 + e] : -7);
      for (std::int64_t e = 0; e < 5; ++e)
        wrong += distance[i * 5 + e] != (e < 4 ? host.distance[i * 4 + e] : Real(-7));
    }
    EXPECT_EQ(wrong, 0);
  });
}

// Types and kinds of arguments as they come; the same compiled functions.
TEST(poincare_arguments, are_taken_as_they_come) {
  const auto all = sets<float>();
  const io::matrix<float> x{n, width, all[0]}, y{n, width, all[1]};
  io::matrix<float> matrix{n, n, std::vector<float>(n * n)}, rows{n, width, std::vector<float>(n * width)};
  std::vector<float> values(n), expected(n), weights(n, 0.5f);
  poincare::pair_distances({all[0].data(), n, width}, {all[1].data(), n, width}, expected);
  EXPECT_TRUE(poincare::pair_distances(x, y, values).all_inside());
  expect_same_bits(values, expected);
  const matrix_view<const float> x_view = x.view(), y_view = y.view();
  poincare::pair_distances(x_view, y_view, values);
  expect_same_bits(values, expected);
  poincare::distances(x, y_view, matrix, {.curvature = -1});
  EXPECT_EQ(matrix.data[n + 1], expected[1]);
  poincare::mobius_scalar_mul(std::vector<float>{0.5f}, x, rows);
  poincare::geodesic(x, y, std::vector<float>{0.5f}, rows);
  io::matrix<float> means{2, width, std::vector<float>(2 * width)};
  const std::vector<std::int64_t> offsets{0, 9, n};
  EXPECT_EQ(poincare::gyromidpoint(x, offsets, weights, means).converged, (std::vector<std::uint8_t>{1, 1}));
  EXPECT_EQ(poincare::nearest(x, y, 3).k, 3);
}

template <class Storage>
void expect_results_of_widened_points() {
  std::vector<std::vector<float>> wide;
  for (const auto& set : sets<Storage>()) wide.emplace_back(set.begin(), set.end());
  expect_same_bits(from_host(sets<Storage>(), Device::host()), from_host(wide, Device::host()));
}
TEST(poincare_operations16, half) { expect_results_of_widened_points<half>(); }
TEST(poincare_operations16, bfloat16) { expect_results_of_widened_points<bfloat16>(); }

TEST(poincare_buffers_errors, are_named) {
  const Buffer<float> here(std::vector<float>(10, 0.1f), Device::host()),
      there(std::vector<float>(10, 0.1f), Device::emulated());
  Buffer<float> out(10, Device::host());
  expect_invalid([&] { poincare::mobius_add({here, 5}, {there, 5}, {out, 5}, {}, Device::host()); },
                 "device must be where the arguments are (device=host, y is in the memory of device emulated)");
  expect_invalid([&] { poincare::mobius_add({here, 3}, {here, 5}, {out, 5}); },
                 "cols must be > 0, a divisor of the buffer's size 10 (cols=3)");
  expect_invalid([&] { poincare::mobius_add({here, 5}, {here, 5}, {out, 2}); }, "out must be 2 x 5");
  const Buffer<float> outside(std::vector<float>(10, 2.f), Device::emulated());
  Buffer<float> device_out(10, Device::emulated());
  expect_invalid([&] { poincare::log_map({there, 5}, {outside, 5}, {device_out, 5}, {.strict = true}); },
                 "y[0] must be inside the ball");
}

// Every argument is looked at, also an empty one beside others that are not.
TEST(poincare_rows_errors, an_argument_without_rows_is_named) {
  const std::vector<double> values(6, 0.1);
  std::vector<double> results(6);
  const matrix_view<const double> rows(values.data(), 2, 3), none(nullptr, 0, 3);
  const matrix_view<double> out(results.data(), 2, 3);
  expect_invalid([&] { poincare::exp_map(none, rows, out); }, "v must be 0 x 3");
  expect_invalid([&] { poincare::exp_map(rows, none, out); }, "v must be 2 x 3");
  expect_invalid([&] { poincare::mobius_add(rows, {}, out); }, "y must be 2 x 3");
  expect_invalid([&] { poincare::parallel_transport(rows, rows, {}, out); }, "v must be 2 x 3");
  expect_invalid([&] { poincare::riemannian_gradient(none, rows, out); }, "gradient must be 0 x 3");
  expect_invalid([&] { poincare::distance_gradients(rows, rows, {}, out); }, "gradient_x must be 2 x 3");
}

}  // namespace
}  // namespace quintet::test
