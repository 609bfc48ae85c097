#include <memory>

#include "device/staged.hpp"
#include "distributed/leaf_search.hpp"
#include "distributed/saved_tree.hpp"
#include "distributed/tile_search.hpp"
#include "hdbscan/checks.hpp"
#include "mpi/fault.hpp"
#include "quintet/mpi/hdbscan.hpp"

namespace quintet::mpi {

using quintet::hdbscan::spanning_tree_options, quintet::hdbscan::spanning_tree_result;
namespace clustering = quintet::hdbscan;

namespace {

std::string options_text(const spanning_tree_options& o) {
  return text("min_samples=", o.min_samples, " count_self=", o.count_self, " metric=", to_string(o.distance),
              " alpha=", o.alpha);
}

/// How this rank looks for edges: the same on all of them.
template <class Storage>
std::unique_ptr<distributed::shared_search<Storage>> search_of(communicator& ranks,
                                                               const distributed::shared_points<Storage>& points,
                                                               const clustering::list_lengths& lengths,
                                                               const Device& device) {
  if (auto leaves = distributed::leaf_search<Storage>::where_it_pays(ranks, points, lengths.length)) return leaves;
  return std::make_unique<distributed::tile_search<Storage>>(ranks, points, lengths, device,
                                                             tiles_of_strip(clustering::bound_limits().strip_tiles));
}

template <class Storage>
spanning_tree_result tree_of_rows(communicator& ranks, matrix_view<const Storage> rows, std::int64_t first_row,
                                  const spanning_tree_options& options, const Device& requested_device,
                                  const progress_callback& callback, const checkpoint_options& checkpoint) {
  using Real = accumulator_t<Storage>;
  ranks.phase("start");
  Device device;
  ranks.run_collectively([&] {
    device = device::run_device(requested_device, {{"rows", rows}});
    clustering::check_alpha<Real>(options.alpha);
  });
  distributed::require_same_work(ranks, text(options_text(options), " bytes=", sizeof(Storage)), device);
  progress report(callback);
  double neighbours_seconds = 0;
  stage_region neighbours_region("neighbours", &neighbours_seconds);
  ranks.phase("order");
  const distributed::shared_points<Storage> points(ranks, rows, first_row, options.distance, device);
  const std::int64_t valid = points.valid_count();
  spanning_tree_result result;
  ranks.run_collectively([&] {
    result = clustering::begin_result(options, scalar_type_of<Storage>(), points.spread().rows(), rows.cols(),
                                      points.invalid_rows(), device);
    if (!ranks.is_root() && (valid < 2 || options.alpha == 1)) std::vector<double>().swap(result.core_distances);
  });
  if (valid < 2) return result;

  ranks.run_collectively([&] { report("neighbours", 0); });
  const auto search = search_of(ranks, points, clustering::lengths_of(result, valid), device);
  std::string identity;
  if (!checkpoint.folder.empty())
    identity =
        distributed::identity_of(ranks, points, search->order(), options_text(options), search->distribution().side());
  distributed::checkpoint files(ranks, {checkpoint.folder, checkpoint.minutes, checkpoint.resume}, identity);
  distributed::saved_tree<Real> saved(ranks, *search, files);
  clustering::run_stages<Real>(ranks, *search, saved, options, report, neighbours_region, result);
  result.neighbours_seconds = neighbours_seconds;
  return result;
}

}  // namespace

namespace hdbscan {

spanning_tree_result spanning_tree(communicator& ranks, any_matrix rows, std::int64_t first_row,
                                   const spanning_tree_options& options, const Device& device,
                                   const progress_callback& report, const checkpoint_options& checkpoint) {
  return with_storage(rows.type, [&]<class T>() {
    matrix_view<const T> own;
    ranks.run_collectively([&] { own = rows.as<T>("rows"); });
    return tree_of_rows(ranks, own, first_row, options, device, report, checkpoint);
  });
}

}  // namespace hdbscan
}  // namespace quintet::mpi
