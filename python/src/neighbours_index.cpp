// An index of neighbours that is kept.
#include "quintet/neighbours/index.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <span>
#include <utility>
#include <variant>

#include "arrays.hpp"
#include "call.hpp"
#include "metrics.hpp"
#include "quintet/io/neighbours_index.hpp"

namespace quintet::python {

namespace {

using neighbours::any_index;

/// The index of one of the storage types. A search holds a copy, which shares the points, so that append() from another
/// thread does not reach it.
class Index {
 public:
  Index(const array& points, const std::string& metric, double parameter, int how, const std::string& device)
      : index_(with_storage(points.type(), [&](auto tag) -> any_index {
          using T = typename decltype(tag)::type;
          const auto view = points.matrix<const T>();
          const neighbours::index_options options{metric_of(metric, parameter), neighbours::search(how)};
          return run([&] { return neighbours::index<T>(view, options, Device::parse(device)); });
        })) {}

  explicit Index(any_index index) : index_(std::move(index)) {}

  static Index from_bytes(const nb::bytes& bytes, const std::string& device) {
    const std::span content(static_cast<const std::byte*>(bytes.data()), bytes.size());
    return Index(run([&] { return neighbours::any_index_from_bytes(content, Device::parse(device)); }));
  }
  static Index read(const std::string& path, const std::string& device) {
    return Index(run([&] { return io::read_any_index(path, Device::parse(device)); }));
  }
  nb::bytes to_bytes() const {
    const auto content = std::visit([](const auto index) { return run([&] { return index.to_bytes(); }); }, index_);
    return nb::bytes(content.data(), content.size());
  }
  void write(const std::string& path) const {
    std::visit([&](const auto index) { run([&] { io::write_index(path, index); }); }, index_);
  }

  nb::tuple nearest(const array& queries, std::int64_t k) const {
    return std::visit(
        [&]<class T>(const neighbours::index<T> index) {
          const auto rows = queries.matrix<const T>();
          auto found = run([&] { return queries.present() ? index.nearest(rows, k) : index.nearest_others(k); });
          return nb::make_tuple(to_numpy(std::move(found.distance), {found.queries, found.k}),
                                to_numpy(std::move(found.index), {found.queries, found.k}),
                                to_numpy(std::move(found.invalid_queries)), to_numpy(std::move(found.invalid_points)),
                                found.pairs_evaluated);
        },
        index_);
  }

  nb::tuple within_radius(const array& queries, double radius) const {
    return std::visit(
        [&]<class T>(const neighbours::index<T> index) {
          const auto rows = queries.matrix<const T>();
          auto found = run([&] {
            return queries.present() ? index.within_radius(rows, radius) : index.others_within_radius(radius);
          });
          return nb::make_tuple(to_numpy(std::move(found.distance)), to_numpy(std::move(found.index)),
                                to_numpy(std::move(found.row_pointers)), found.queries, found.points,
                                to_numpy(std::move(found.invalid_queries)), to_numpy(std::move(found.invalid_points)),
                                found.pairs_evaluated);
        },
        index_);
  }

  void append(const array& points) {
    index_ = std::visit(
        [&]<class T>(neighbours::index<T> index) -> any_index {
          const auto rows = points.matrix<const T>();
          run([&] { index.append(rows); });
          return index;
        },
        index_);
  }

  std::int64_t size() const {
    return std::visit([](const auto& index) { return index.size(); }, index_);
  }
  std::int64_t dim() const {
    return std::visit([](const auto& index) { return index.dim(); }, index_);
  }
  std::int64_t bytes() const {
    return std::visit([](const auto& index) { return index.bytes(); }, index_);
  }
  int used(std::int64_t queries) const {
    return std::visit([&](const auto& index) { return int(index.used(queries)); }, index_);
  }
  /// Metric, and the type of its points.
  nb::tuple settings() const {
    return std::visit(
        []<class T>(const neighbours::index<T>& index) {
          const point_metric distance = index.distance();
          return nb::make_tuple(
              distance.kind == metric::product ? to_string(distance) : std::string(to_string(distance.kind)),
              std::string(name_of(scalar_type_of<T>())));
        },
        index_);
  }
  nb::object invalid_points() const {
    return to_numpy(std::visit([](const auto& index) { return index.invalid_points(); }, index_));
  }

 private:
  any_index index_;
};

}  // namespace

void bind_neighbours_index(nb::module_& m) {
  using nb::arg;
  nb::class_<Index>(m, "NeighboursIndex")
      .def(nb::init<const array&, const std::string&, double, int, const std::string&>(), arg("points"), arg("metric"),
           arg("parameter"), arg("search"), arg("device"))
      .def_static("from_bytes", &Index::from_bytes, arg("content"), arg("device"))
      .def_static("read", &Index::read, arg("path"), arg("device"))
      .def("to_bytes", &Index::to_bytes)
      .def("write", &Index::write, arg("path"))
      .def("settings", &Index::settings)
      .def("nearest", &Index::nearest, arg("queries").none(), arg("k"))
      .def("within_radius", &Index::within_radius, arg("queries").none(), arg("radius"))
      .def("append", &Index::append, arg("points"))
      .def("size", &Index::size)
      .def("dim", &Index::dim)
      .def("bytes", &Index::bytes)
      .def("used", &Index::used, arg("queries"))
      .def("invalid_points", &Index::invalid_points);
}

}  // namespace quintet::python
