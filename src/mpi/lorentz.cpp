#include "quintet/mpi/lorentz.hpp"

#include "mpi/dealt_distances.hpp"
#include "poincare/lorentz_status.hpp"

namespace quintet::mpi::lorentz {

namespace {

using quintet::lorentz::distance_options;

struct sheet_model {
  using options_type = distance_options;
  distance_options options;

  std::string words() const {
    return text("curvature ", options.curvature, ", form ", int(options.form), ", tolerance ",
                options.tolerance.value_or(0), ", strict ", options.strict);
  }
  /// What a call for no rows finds wrong with the options.
  void check(std::int64_t cols) const {
    const std::int64_t least = options.form == quintet::lorentz::coordinates::space ? 1 : 2;
    if (cols > 0) require_argument(cols >= least, "columns", cols, text(">= ", least));
    look(matrix_view<const double>(), Device::host());
  }
  template <class Storage>
  std::vector<point_status> look(matrix_view<const Storage> rows, const Device& device) const {
    distance_options plain = options;
    plain.strict = false;
    std::vector<accumulator_t<Storage>> unused(rows.rows());
    return quintet::lorentz::origin_distances(rows, unused, plain, device);
  }
  template <class Storage>
  void require_usable(matrix_view<const Storage>, const std::vector<point_status>& status, const char* name,
                      std::int64_t first) const {
    quintet::lorentz::require_usable(status, name, first);
  }
  point_report measure(any_matrix x, any_matrix y, any_output_matrix out, const Device& device) const {
    return quintet::lorentz::distances(x, y, out, options, device);
  }
  point_report measure(any_matrix x, any_matrix y, any_output_vector out, const Device& device) const {
    return quintet::lorentz::pair_distances(x, y, out, options, device);
  }
};

}  // namespace

point_report distances(communicator& ranks, any_matrix queries, any_matrix points, any_output_matrix out,
                       const distance_options& options, const Device& device) {
  return dealt_distances<sheet_model>(ranks, queries, points, out, options, device);
}

point_report pair_distances(communicator& ranks, any_matrix x, any_matrix y, any_output_vector out,
                            const distance_options& options, const Device& device) {
  return dealt_pair_distances<sheet_model>(ranks, x, y, out, options, device);
}

}  // namespace quintet::mpi::lorentz
