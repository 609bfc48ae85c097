#include "quintet/mpi/hdbscan.hpp"

#include "hdbscan/finish.hpp"

namespace quintet::mpi::hdbscan {

namespace {

std::string options_text(const quintet::hdbscan::cluster_options& o) {
  return text("min_cluster_size=", o.min_cluster_size, " ties=", int(o.tie_mode),
              " tie_tolerance=", o.tie_tolerance ? text(*o.tie_tolerance) : "default", " selection=", int(o.method),
              " epsilon=", o.epsilon, " epsilon_max=", o.epsilon_max, " max_cluster_size=", o.max_cluster_size,
              " allow_single_cluster=", o.allow_single_cluster);
}

}  // namespace

cluster_result cluster(communicator& ranks, any_matrix rows, std::int64_t first_row,
                       const quintet::hdbscan::cluster_options& options, const Device& device,
                       const progress_callback& report, const checkpoint_options& checkpoint) {
  quintet::hdbscan::spanning_tree_options of_tree;
  ranks.run_collectively([&] { of_tree = quintet::hdbscan::spanning_tree_part(options); });
  ranks.require_same("options", options_text(options));
  auto tree = spanning_tree(ranks, rows, first_row, of_tree, device, report, checkpoint);
  ranks.phase("tree stage");
  const std::vector<std::int64_t> counts = ranks.allgather_counts(rows.rows);
  std::int64_t n = 0;
  for (const std::int64_t count : counts) n += count;
  cluster_result result;
  ranks.run_collectively([&] {
    if (ranks.is_root()) {
      result.whole = quintet::hdbscan::finish_clustering(std::move(tree), n, options);
      return;
    }
    result.whole.options = options;
    result.whole.options.tie_tolerance = options.tie_tolerance.value_or(tree.tie_tolerance);
    result.whole.invalid_rows = std::move(tree.invalid_rows);
    result.whole.counters = tree.counters;
    result.whole.neighbours = tree.neighbours;
    result.whole.clamped = tree.clamped;
    result.whole.ran_on = tree.ran_on;
  });
  ranks.phase("labels");
  result.labels = ranks.scatter(std::span<const std::int64_t>(result.whole.labels), counts);
  result.probabilities = ranks.scatter(std::span<const double>(result.whole.probabilities), counts);
  result.outlier_scores = ranks.scatter(std::span<const double>(result.whole.outlier_scores), counts);
  return result;
}

}  // namespace quintet::mpi::hdbscan
