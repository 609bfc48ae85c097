// C functions of indexes of neighbours.
#include <algorithm>
#include <type_traits>
#include <variant>

#include "c/neighbours_support.hpp"

using namespace quintet;
using namespace quintet::c;

struct quintet_index_lists {
  std::variant<neighbours::radius_result<float>, neighbours::radius_result<double>> any;
};

namespace {

static_assert(QUINTET_SEARCH_AUTOMATIC == int(neighbours::search::automatic) &&
              QUINTET_SEARCH_TREE == int(neighbours::search::tree) &&
              QUINTET_SEARCH_ALL_PAIRS == int(neighbours::search::all_pairs));

constexpr quintet_index_options default_index_options = [] {
  const point_metric distance;
  quintet_index_options options{};
  options.size = sizeof(options);
  options.curvature = distance.curvature;
  options.sphere_radius = distance.sphere_radius;
  options.unit = static_cast<quintet_angle_unit>(distance.unit);
  options.p = distance.p;
  return options;
}();

/// Calls action(index, rows) with rows of the index's type.
template <class Any, class Action>
decltype(auto) with_rows(Any& any, const void* rows, quintet_type type, std::int64_t count, std::int64_t dim,
                         std::int64_t stride, const char* name, const Action& action) {
  return std::visit(
      [&](auto& index) -> decltype(auto) {
        using Storage = typename std::remove_reference_t<decltype(index)>::storage_type;
        require_argument(type == type_of<Storage>, "type", type, text("the index's type ", type_of<Storage>));
        return action(index, input_matrix<Storage>(rows, count, dim, stride, name));
      },
      any);
}

/// The lists in the caller's arrays.
template <class Real>
void copy_lists(const neighbours::nearest_result<Real>& lists, std::int64_t* numbers, void* distances) {
  copy_to(lists.index, array(numbers, std::int64_t(lists.index.size()), "numbers").data());
  copy_to(lists.distance, output_array<Real>(distances, std::int64_t(lists.distance.size()), "distances").data());
}

}  // namespace

extern "C" {

quintet_status quintet_index_options_default(quintet_index_options* options, size_t size) noexcept {
  return guarded([&] { write_struct(default_index_options, options, size, "options"); });
}

quintet_status quintet_index_create(const void* points, quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                    const quintet_index_options* options, const char* device,
                                    quintet_index** index) noexcept {
  return make_handle(index, [&] {
    const quintet_index_options known = known_options(options, default_index_options);
    const neighbours::index_options settings{metric_of(known),
                                             enumerated<neighbours::search>(known.search, 3, "search")};
    return with_storage(storage_type_of(type), [&]<class T>() {
      return quintet_index{
          neighbours::index<T>(input_matrix<T>(points, n, dim, stride, "points"), settings, chosen_device(device))};
    });
  });
}

void quintet_index_free(quintet_index* index) noexcept { delete index; }

quintet_status quintet_index_nearest(const quintet_index* index, const void* queries, quintet_type type, int64_t q,
                                     int64_t dim, int64_t stride, int64_t k, int64_t* numbers,
                                     void* distances) noexcept {
  return guarded([&] {
    with_rows(required(index, "index").any, queries, type, q, dim, stride, "queries",
              [&]<class T>(const neighbours::index<T>& of, const matrix_view<const T>& rows) {
                using Real = accumulator_t<T>;
                if (q != 1 || dim != of.dim()) return copy_lists(of.nearest(rows, k), numbers, distances);
                const std::int64_t length = std::max<std::int64_t>(k, 0);
                of.nearest_into(rows.data(), k, array(numbers, length, "numbers").data(),
                                output_array<Real>(distances, length, "distances").data());
              });
  });
}

quintet_status quintet_index_nearest_others(const quintet_index* index, int64_t k, int64_t* numbers,
                                            void* distances) noexcept {
  return guarded([&] {
    std::visit([&](const auto& of) { copy_lists(of.nearest_others(k), numbers, distances); },
               required(index, "index").any);
  });
}

quintet_status quintet_index_within_radius(const quintet_index* index, const void* queries, quintet_type type,
                                           int64_t q, int64_t dim, int64_t stride, double radius,
                                           quintet_index_lists** lists) noexcept {
  return make_handle(lists, [&] {
    return with_rows(
        required(index, "index").any, queries, type, q, dim, stride, "queries",
        [&](const auto& of, const auto& rows) { return quintet_index_lists{of.within_radius(rows, radius)}; });
  });
}

quintet_status quintet_index_others_within_radius(const quintet_index* index, double radius,
                                                  quintet_index_lists** lists) noexcept {
  return make_handle(lists, [&] {
    return std::visit([&](const auto& of) { return quintet_index_lists{of.others_within_radius(radius)}; },
                      required(index, "index").any);
  });
}

quintet_status quintet_index_lists_rows(const quintet_index_lists* lists, const int64_t** row_pointers,
                                        int64_t* queries) noexcept {
  return guarded([&] {
    std::visit([&](const auto& of) { give(of.row_pointers.data(), of.queries, row_pointers, queries); },
               required(lists, "lists").any);
  });
}

quintet_status quintet_index_lists_entries(const quintet_index_lists* lists, const int64_t** numbers,
                                           const void** distances, int64_t* entries) noexcept {
  return guarded([&] {
    std::visit(
        [&](const auto& of) {
          give(of.index.data(), std::int64_t(of.index.size()), numbers, entries);
          set<const void*>(distances, of.distance.data());
        },
        required(lists, "lists").any);
  });
}

void quintet_index_lists_free(quintet_index_lists* lists) noexcept { delete lists; }

quintet_status quintet_index_append(quintet_index* index, const void* points, quintet_type type, int64_t more,
                                    int64_t dim, int64_t stride) noexcept {
  return guarded([&] {
    with_rows(required(index, "index").any, points, type, more, dim, stride, "points",
              [](auto& of, const auto& rows) { of.append(rows); });
  });
}

quintet_status quintet_index_facts(const quintet_index* index, int64_t* n, int64_t* dim, quintet_type* type,
                                   int64_t* bytes) noexcept {
  return guarded([&] {
    std::visit(
        [&]<class T>(const neighbours::index<T>& of) {
          set(n, of.size());
          set(dim, of.dim());
          set(type, type_of<T>);
          set(bytes, of.bytes());
        },
        required(index, "index").any);
  });
}

}  // extern "C"
