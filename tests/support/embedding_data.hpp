// The reference data of embeddings and clusterings: points, and one case a line of cases.csv.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "quintet/hdbscan/hdbscan.hpp"
#include "support/csv_table.hpp"
#include "support/data_folder.hpp"
#include "support/points.hpp"

namespace quintet::test {

inline std::filesystem::path embedding_folder() { return data_folder("embeddings"); }

const std::vector<std::string>& embedding_names();
/// Whether the points of this name are there.
bool has_embedding(const std::string& name);
/// The file of its points: .csv, or the smaller .npy.
std::filesystem::path embedding_file(const std::string& name);

/// The points of NAME.csv or NAME.npy, read once.
const point_set<float>& read_floats(const std::string& name);

/// The same: float32 values, exactly, whatever Real is.
template <class Real>
point_set<Real> read_points(const std::string& name) {
  const point_set<float>& read = read_floats(name);
  point_set<Real> points(read.n, read.dim);
  points.data.assign(read.data.begin(), read.data.end());
  return points;
}

/// A data set with the options it was clustered with, and what is known about the result.
struct clustering_case {
  std::string dataset, stem;  ///< "iris", "iris_cfg0"
  std::int64_t n = 0, clusters_canonical = 0, noise_canonical = 0;
  hdbscan::cluster_options options;
  double spanning_tree_weight = 0;
  std::vector<double> persistence_peer, persistence_canonical;
};

/// Every line of cases.csv.
std::vector<clustering_case> clustering_cases();

/// Whether the emulated device, which is slow, can afford a case.
bool is_small(const clustering_case& c);

/// The peer's single linkage tree of a case.
hdbscan::single_linkage_tree read_linkage(const clustering_case& c);

/// A minimum spanning tree of a case, in the order (weight, u, v).
std::vector<hdbscan::edge> read_edges(const clustering_case& c);

/// The table of results of a case: columns label_X, prob_X, outlier_X for several programs X.
csv_table read_results(const clustering_case& c);

}  // namespace quintet::test
