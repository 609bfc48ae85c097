#include "quintet/poincare/training.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "device/for_each.hpp"
#include "device/small_call.hpp"
#include "poincare/lorentz_points.hpp"
#include "poincare/row_operations.hpp"
#include "poincare/training_kernel.hpp"

namespace quintet::poincare {

namespace {

/// The places of every point in the links, in ascending order: sorted by counting (Knuth 1998, 5.2).
struct places {
  std::vector<std::int64_t> begin, numbers;

  places(const std::vector<std::int64_t>& links, std::int64_t points) : begin(points + 1), numbers(links.size()) {
    for (const std::int64_t point : links) ++begin[point + 1];
    for (std::int64_t p = 0; p < points; ++p) begin[p + 1] += begin[p];
    std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t e = 0; e < links.size(); ++e) numbers[next[links[e]]++] = std::int64_t(e);
  }
};

/// 1 - c |x|^2 of every point, NaN where it is not inside.
template <class Storage>
struct point_gap {
  stored_rows<Storage> points;
  double c;
  double* gap;
  point_status* status;
  void operator()(std::int64_t i) const {
    const auto x = [row = points.row(i)](std::int64_t k) { return double(accumulator_t<Storage>(row[k])); };
    const gap_and_status of_x = examine_point(points.dim, c, x);
    gap[i] = of_x.usable() ? of_x.gap : std::numeric_limits<double>::quiet_NaN();
    status[i] = of_x.status;
  }
};

void check_links(const std::vector<std::int64_t>& links, std::int64_t width, std::int64_t points) {
  for (std::size_t e = 0; e < links.size(); ++e)
    if (links[e] < 0 || links[e] >= points)
      require_argument(false, text("links[", std::int64_t(e) / width, "][", std::int64_t(e) % width, "]"), links[e],
                       text("in [0, points.rows=", points, ")"));
}

/// Points of the ball, looked at.
template <class Storage>
class looked_in_ball {
 public:
  looked_in_ball(matrix_view<const Storage> points, const ball_options& options, const Device& device)
      : b(options.curvature), gap_(points.rows(), device) {
    check_rows(points, "points");
    Buffer<point_status> of_rows(points.rows(), device);
    device::for_each(points.rows(), point_gap<Storage>{stored(points), b.c, gap_.data(), of_rows.data()}, device);
    statuses = of_rows.to_vector();
    if (options.strict) require_inside(points, statuses, "points", b);
  }
  double c() const { return b.c; }
  int skip() const { return 0; }
  links_in_ball model() const { return {gap_.data()}; }

  row_status statuses;

 private:
  ball b;
  Buffer<double> gap_;
};

/// Points of the Lorentz model, looked at.
template <class Storage>
class looked_on_sheet {
 public:
  looked_on_sheet(matrix_view<const Storage> points, const lorentz::distance_options& options, const Device& device)
      : c_(lorentz::checked_c(options.curvature)), looked_(points, "points", options, device) {
    statuses = looked_.statuses;
  }
  double c() const { return c_; }
  int skip() const { return looked_.rows().skip; }
  links_on_sheet model() const { return {looked_.radii()}; }

  row_status statuses;

 private:
  double c_;
  lorentz::looked_points<Storage> looked_;
};

template <class Looked, class Storage, class Options>
row_status sampled_loss(matrix_view<const Storage> points, matrix_view<const std::int64_t> links,
                        vector_view<accumulator_t<Storage>> losses, matrix_view<accumulator_t<Storage>> gradient,
                        const Options& options, const Device& requested_device) {
  const Device device = device::run_device(
      requested_device, {{"points", points}, {"links", links}, {"losses", losses}, {"gradient", gradient}});
  const std::int64_t n = points.rows(), rows = links.rows(), width = links.cols();
  if (rows > 0) require_argument(width >= 2, "links.cols", width, ">= 2: a point, one linked with it, others");
  require_argument(losses.size() == rows, "losses.size", losses.size(), text("links.rows=", rows));
  require_shape(gradient, "gradient", n, points.cols());
  const std::vector<std::int64_t> on_host = device::host_copy(links);
  check_links(on_host, width, n);

  constexpr std::int64_t pack = device::host_lanes<double>();
  const std::int64_t pairs = (width - 1 + pack - 1) / pack * pack;
  const device::small_call serial_if_small(double(rows) * double(pairs) * (30 + 3 * double(points.cols())), 1, device);
  const device::staged_in x(points, device);
  Looked looked(x.view(), options, device);
  const std::int64_t dim = points.cols() - looked.skip();
  const places of_points(on_host, n);
  const device::staged_in places_begin(of_points.begin, device), places_numbers(of_points.numbers, device),
      numbers(on_host, device);
  device::staged_out to_losses(losses, device);
  device::staged_out to_gradient(gradient, device);
  Buffer<double> distance(rows * pairs, device), weight(rows * pairs, device), apart(rows * pairs, device),
      pull(rows * dim, device), sum(n * dim, device);
  const training_arguments<Storage> a{.points = stored(x.view()),
                                      .skip = looked.skip(),
                                      .c = looked.c(),
                                      .root_c = std::sqrt(looked.c()),
                                      .links = numbers.view().data(),
                                      .rows = rows,
                                      .width = width,
                                      .link_stride = width,
                                      .pairs = pairs,
                                      .distance = distance.data(),
                                      .weight = weight.data(),
                                      .apart = apart.data(),
                                      .pull = pull.data(),
                                      .loss = to_losses.view().data(),
                                      .begin = places_begin.view().data(),
                                      .numbers = places_numbers.view().data(),
                                      .sum = sum.data(),
                                      .gradient = to_gradient.view().data(),
                                      .gradient_stride = to_gradient.view().stride()};
  const auto model = looked.model();
  device::with_shape<host_operation_shape, device_operation_shape>(device, [&](auto shape) {
    using links_of = link_kernel<Storage, decltype(looked.model()), decltype(shape)>;
    using gather = gather_kernel<Storage, decltype(looked.model()), decltype(shape)>;
    device::launch(links_of{a, model}, (rows + links_of::rows_per_tile - 1) / links_of::rows_per_tile, device);
    device::launch(gather{a, model}, (n + gather::points_per_tile - 1) / gather::points_per_tile, device);
  });
  device::finish(to_losses, to_gradient);
  return std::move(looked.statuses);
}

/// sampled_loss() of points of any type, looked at by Looked<Storage>.
template <template <class> class Looked, class Options>
row_status loss_of(const any_matrix& points, matrix_view<const std::int64_t> links, const any_output_vector& losses,
                   const any_output_matrix& gradient, const Options& options, const Device& device) {
  return with_storage(points.type, [&]<class T>() {
    using Real = accumulator_t<T>;
    return sampled_loss<Looked<T>>(points.as<T>("points"), links, losses.as<Real>("losses"),
                                   gradient.as<Real>("gradient"), options, device);
  });
}

}  // namespace

row_status negative_sampling(any_matrix points, matrix_view<const std::int64_t> links, any_output_vector losses,
                             any_output_matrix gradient, const ball_options& options, const Device& device) {
  return loss_of<looked_in_ball>(points, links, losses, gradient, options, device);
}

}  // namespace quintet::poincare

namespace quintet::lorentz {

poincare::row_status negative_sampling(any_matrix points, matrix_view<const std::int64_t> links,
                                       any_output_vector losses, any_output_matrix gradient,
                                       const distance_options& options, const Device& device) {
  return poincare::loss_of<poincare::looked_on_sheet>(points, links, losses, gradient, options, device);
}

}  // namespace quintet::lorentz
