#include "quintet/io/hdbscan_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

constexpr const char* parameters_name = "model/parameters";
constexpr std::int64_t version = 1;
// Integers are stored as doubles.
constexpr double largest_integer = 9007199254740992.0;

/// What a model has besides arrays.
struct facts {
  std::int64_t file_version = version;
  scalar_type type = scalar_type::float32;
  hdbscan::cluster_options options;
  double tie_tolerance = 0;
  std::int64_t neighbours = 0;
  bool clamped = false;
};

/// The factors of metric product, as many as their number says.
template <class Space, class Function>
void each_number_of_space(Space& space, Function&& f) {
  std::vector<product::factor> factors(space.factors().begin(), space.factors().end());
  auto count = std::int64_t(factors.size());
  f(count, "factors", std::int64_t(1), product_space::max_factors);
  factors.resize(std::size_t(count));
  for (product::factor& factor : factors) {
    f(factor.kind, "geometry", product::geometry::euclidean, product::geometry::lorentz);
    f(factor.dim, "dim");
    f(factor.curvature, "curvature");
    f(factor.weight, "weight");
  }
  if constexpr (!std::is_const_v<Space>) space = std::span<const product::factor>(factors);
}

/// Calls f(number, name) and, for enumerators, f(number, name, first, last), in the order of the file.
template <class Facts, class Function>
void each_number(Facts& m, Function&& f) {
  auto& o = m.options;
  f(m.file_version, "version");
  f(m.type, "type", scalar_type::float32, scalar_type::bfloat16);
  f(o.min_cluster_size, "min_cluster_size");
  f(o.tie_mode, "ties", hdbscan::ties::canonical, hdbscan::ties::binary);
  f(m.tie_tolerance, "tie_tolerance");
  f(o.method, "selection", hdbscan::selection::eom, hdbscan::selection::leaf);
  f(o.epsilon, "epsilon");
  f(o.epsilon_max, "epsilon_max");
  f(o.max_cluster_size, "max_cluster_size");
  f(o.allow_single_cluster, "allow_single_cluster");
  f(o.min_samples, "min_samples");
  f(o.count_self, "count_self");
  f(o.alpha, "alpha");
  f(o.distance.kind, "metric", metric::euclidean, metric::integer_cosine);
  f(o.distance.curvature, "curvature");
  f(o.distance.p, "p");
  f(o.distance.sphere_radius, "sphere_radius");
  f(o.distance.unit, "unit", angle_unit::degrees, angle_unit::radians);
  f(o.distance.bits, "bits");
  if (o.distance.kind == metric::product) each_number_of_space(o.distance.space, f);
  f(m.neighbours, "neighbours");
  f(m.clamped, "clamped");
}

/// Collects the numbers and their names.
struct number_list {
  std::vector<double> values;
  std::string names;

  template <class Number, class... Range>
  void operator()(const Number& number, const char* name, Range...) {
    values.push_back(static_cast<double>(number));
    names.append(names.empty() ? "" : ",").append(name);
  }
};

/// Gives the numbers back.
class number_reader {
 public:
  number_reader(const std::string& path, const std::vector<double>& values) : path_(path), values_(values) {}

  void operator()(double& number, const char*) { number = next(); }
  void operator()(std::int64_t& number, const char* name) { number = integer(name, 0, largest_integer); }
  void operator()(std::int64_t& number, const char* name, std::int64_t first, std::int64_t last) {
    number = integer(name, double(first), double(last));
  }
  void operator()(bool& number, const char* name) { number = integer(name, 0, 1) != 0; }
  template <class Enum>
  void operator()(Enum& number, const char* name, Enum first, Enum last) {
    number = static_cast<Enum>(integer(name, static_cast<double>(first), static_cast<double>(last)));
  }

 private:
  double next() {
    if (place_ == values_.size())
      throw FileError(path_, text(parameters_name, " has ", values_.size(), " numbers only"));
    return values_[place_++];
  }
  std::int64_t integer(const char* name, double first, double last) {
    const double value = next();
    if (!(value >= first && value <= last) || value != std::floor(value))
      throw FileError(path_, text(parameters_name, ": ", name, " is ", value, ", not a whole number in [", first, ", ",
                                  last, "]; is the file of a later version?"));
    return static_cast<std::int64_t>(value);
  }

  const std::string& path_;
  const std::vector<double>& values_;
  std::size_t place_ = 0;
};

facts read_facts(const std::string& path) {
  const auto names = hdf5_datasets(path);
  if (std::find(names.begin(), names.end(), parameters_name) == names.end())
    throw FileError(path, "holds no model: quintet-hdbscan --input POINTS --model FILE writes one");
  const auto values = read_hdf5<double>(path, parameters_name).data;
  if (values.empty() || values[0] != double(version))
    throw FileError(
        path, text("holds a model of version ", values.empty() ? 0 : values[0], "; this program reads ", version));
  facts numbers;
  number_reader read(path, values);
  each_number(numbers, read);
  numbers.options.tie_tolerance = numbers.tie_tolerance;
  return numbers;
}

/// Numbers of rows, which a file has for some of them.
std::vector<std::int64_t> rows_in(const std::string& path, const std::string& name, std::int64_t points) {
  auto rows = read_hdf5<std::int64_t>(path, name).data;
  for (const std::int64_t row : rows)
    if (row < 0 || row >= points) throw FileError(path, text(name, " names row ", row, " of ", points));
  return rows;
}

/// A number for each point, or none at all.
std::vector<double> per_point(const std::string& path, const std::string& name, std::int64_t points,
                              bool may_be_empty) {
  auto values = read_hdf5<double>(path, name).data;
  if (std::int64_t(values.size()) != points && !(may_be_empty && values.empty()))
    throw FileError(path, text(name, " has ", values.size(), " values for ", points, " points"));
  return values;
}

std::vector<hdbscan::edge> edges_in(const std::string& path, std::int64_t points) {
  const char* const name = "model/spanning_tree";
  const auto table = read_hdf5<double>(path, name);
  if (table.shape.size() != 2 || (table.shape[1] != 3 && table.shape[0] > 0))
    throw FileError(path, text(name, " must have three columns u, v, weight"));
  const auto point = [&](double number, std::int64_t row) {
    if (!(number >= 0 && number < double(points)) || number != std::floor(number))
      throw FileError(path, text(name, " names point ", number, " of ", points, " in row ", row, " (counting from 0)"));
    return static_cast<std::int64_t>(number);
  };
  std::vector<hdbscan::edge> edges(table.shape[0]);
  for (std::int64_t i = 0; i < table.shape[0]; ++i)
    edges[i] = {point(table.data[3 * i], i), point(table.data[3 * i + 1], i), table.data[3 * i + 2]};
  return edges;
}

template <class Storage>
matrix<Storage> points_in(const std::string& path) {
  using Real = accumulator_t<Storage>;
  auto read = read_hdf5<Real>(path, "model/points");
  if (read.shape.size() != 2) throw FileError(path, "model/points must have two dimensions");
  if constexpr (std::is_same_v<Storage, Real>)
    return {read.shape[0], read.shape[1], std::move(read.data)};
  else
    return {read.shape[0], read.shape[1], {read.data.begin(), read.data.end()}};
}

template <class Storage>
void write_points(hdf5_writer& out, const matrix_view<const Storage>& points) {
  using Real = accumulator_t<Storage>;
  if constexpr (std::is_same_v<Storage, Real>) {
    out.write("model/points", points);
  } else {
    matrix<Real> wide{points.rows(), points.cols(), std::vector<Real>(points.rows() * points.cols())};
    for (std::int64_t i = 0; i < points.rows(); ++i)
      std::copy_n(points.row(i), points.cols(), wide.data.begin() + i * points.cols());
    out.write("model/points", std::as_const(wide).view());
  }
}

}  // namespace

any_matrix hdbscan_model::points() const {
  return std::visit([](const auto& matrix) -> any_matrix { return matrix.view(); }, rows);
}

void write_model(hdf5_writer& out, const hdbscan::cluster_result& clustering, any_matrix points) {
  const auto count = std::int64_t(clustering.labels.size());
  require_argument(points.rows == count, "points.rows", points.rows, text("the points of the clustering: ", count));
  facts of{version,
           points.type,
           clustering.options,
           clustering.options.tie_tolerance.value_or(0),
           clustering.neighbours,
           clustering.clamped};
  number_list numbers;
  each_number(of, numbers);
  with_storage(points.type, [&]<class T>() { write_points(out, points.as<T>("points")); });
  out.write(parameters_name, numbers.values);
  out.attribute(parameters_name, "columns", numbers.names);
  out.write("model/core_distances", clustering.core_distances);
  std::vector<double> edges;
  edges.reserve(3 * clustering.spanning_tree.size());
  for (const hdbscan::edge& e : clustering.spanning_tree)
    edges.insert(edges.end(), {double(e.u), double(e.v), e.weight});
  out.write("model/spanning_tree",
            matrix_view<const double>(edges.data(), std::int64_t(clustering.spanning_tree.size()), 3));
  out.attribute("model/spanning_tree", "columns", "u,v,weight");
  out.write("model/weights", clustering.weights);
  out.write("model/invalid_rows", clustering.invalid_rows);
  out.write("model/excluded_rows", clustering.excluded_rows);
}

void write_model(const std::string& path, const hdbscan::cluster_result& clustering, any_matrix points) {
  hdf5_writer out(path);
  write_model(out, clustering, points);
  out.commit();
}

hdbscan_model read_model(const std::string& path) {
  const facts numbers = read_facts(path);
  hdbscan_model model;
  with_storage(numbers.type, [&]<class T>() { model.rows = points_in<T>(path); });
  const std::int64_t count = model.points().rows;
  hdbscan::cluster_result tree;
  tree.options = numbers.options;
  tree.labels.assign(count, -1);  // refit() asks for their number
  tree.core_distances = per_point(path, "model/core_distances", count, false);
  tree.spanning_tree = edges_in(path, count);
  tree.weights = per_point(path, "model/weights", count, true);
  tree.invalid_rows = rows_in(path, "model/invalid_rows", count);
  tree.excluded_rows = rows_in(path, "model/excluded_rows", count);
  tree.neighbours = numbers.neighbours;
  tree.clamped = numbers.clamped;
  try {
    model.clustering = hdbscan::refit(tree, numbers.options);
  } catch (const InvalidArgument& wrong) {
    throw FileError(path, wrong.what());
  }
  model.clustering.options = numbers.options;
  return model;
}

}  // namespace quintet::io
