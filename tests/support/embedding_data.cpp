#include "support/embedding_data.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace quintet::test {
namespace {

// NumPy's format, version 1: a header in ASCII, its length before it, then float32 values row by row.
point_set<float> from_npy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[8] = {};
  std::uint16_t length = 0;
  file.read(magic, sizeof(magic)).read(reinterpret_cast<char*>(&length), sizeof(length));
  std::string header(length, ' ');
  file.read(header.data(), length);
  long long rows = 0, cols = 0;
  const std::size_t shape = header.find("'shape': (");
  if (!file || header.find("'descr': '<f4', 'fortran_order': False") == header.npos || shape == header.npos ||
      std::sscanf(header.c_str() + shape, "'shape': (%lld, %lld)", &rows, &cols) != 2)
    throw std::runtime_error(path.string() + ": no matrix of float32");
  point_set<float> points(rows, cols);
  if (!file.read(reinterpret_cast<char*>(points.data.data()), std::streamsize(points.data.size() * sizeof(float))))
    throw std::runtime_error(path.string() + ": cannot be read");
  return points;
}

point_set<float> parsed(const std::string& name) {
  const std::filesystem::path path = embedding_file(name);
  if (path.extension() == ".npy") return from_npy(path);
  std::ifstream file(path);
  std::vector<float> data;
  std::int64_t rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    std::replace(line.begin(), line.end(), ',', ' ');
    const char* at = line.c_str();
    for (char* end = nullptr;; at = end) {
      const float x = std::strtof(at, &end);
      if (end == at) break;
      data.push_back(x);
    }
  }
  if (rows == 0) throw std::runtime_error(path.string() + ": cannot be read");
  point_set<float> points(rows, std::int64_t(data.size()) / rows);
  points.data = std::move(data);
  return points;
}

hdbscan::cluster_options parse_cluster_options(const std::string& params) {
  const auto json = nlohmann::json::parse(params);
  hdbscan::cluster_options options;
  options.min_cluster_size = json.at("min_cluster_size");
  options.min_samples = json.at("min_samples");
  options.alpha = json.value("alpha", 1.0);
  options.max_cluster_size = json.value("max_cluster_size", std::int64_t{0});
  options.allow_single_cluster = json.value("allow_single_cluster", false);
  options.epsilon = json.value("cluster_selection_epsilon", 0.0);
  options.method =
      json.value("cluster_selection_method", "eom") == "leaf" ? hdbscan::selection::leaf : hdbscan::selection::eom;
  return options;
}

std::vector<double> parse_numbers(const std::string& field) {
  std::istringstream in(field);
  return {std::istream_iterator<double>(in), std::istream_iterator<double>()};
}

}  // namespace

const std::vector<std::string>& embedding_names() {
  // Those that are there: QUINTET_DATA_DIR may have a part of them.
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"iris", "digits", "epiverse384", "synth512", "synth768", "synth1536"};
    std::erase_if(all, [](const std::string& name) { return !has_embedding(name); });
    return all;
  }();
  return names;
}

bool has_embedding(const std::string& name) { return std::filesystem::exists(embedding_file(name)); }

std::filesystem::path embedding_file(const std::string& name) {
  const std::filesystem::path text = embedding_folder() / (name + ".csv");
  return std::filesystem::exists(text) ? text : embedding_folder() / (name + ".npy");
}

const point_set<float>& read_floats(const std::string& name) {
  static std::map<std::string, point_set<float>> known;
  const auto found = known.find(name);
  return found != known.end() ? found->second : known.emplace(name, parsed(name)).first->second;
}

std::vector<clustering_case> clustering_cases() {
  const csv_table table(embedding_folder() / "cases.csv");
  std::vector<clustering_case> cases;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    clustering_case c;
    c.dataset = table.at(i, "dataset");
    if (!has_embedding(c.dataset)) continue;
    c.stem = c.dataset + "_cfg" + table.at(i, "cfg");
    c.n = std::stoll(table.at(i, "n"));
    c.clusters_canonical = std::stoll(table.at(i, "k_canonical"));
    c.noise_canonical = std::stoll(table.at(i, "noise_canonical"));
    c.options = parse_cluster_options(table.at(i, "params"));
    c.spanning_tree_weight = std::stod(table.at(i, "mst_total_weight"));
    c.persistence_peer = parse_numbers(table.at(i, "persistence_prims"));
    c.persistence_canonical = parse_numbers(table.at(i, "persistence_canonical"));
    cases.push_back(c);
  }
  return cases;
}

bool is_small(const clustering_case& c) { return c.dataset == "iris" || c.stem == "synth512_cfg0"; }

hdbscan::single_linkage_tree read_linkage(const clustering_case& c) {
  const csv_table table(embedding_folder() / (c.stem + "_linkage_prims.csv"));
  const auto left = table.integers("left"), right = table.integers("right"), size = table.integers("size");
  const auto height = table.doubles("height");
  hdbscan::single_linkage_tree tree{c.n, {}, {}, {}};
  for (std::size_t t = 0; t < table.rows(); ++t) tree.rows.push_back({left[t], right[t], height[t], size[t]});
  return tree;
}

std::vector<hdbscan::edge> read_edges(const clustering_case& c) {
  const csv_table table(embedding_folder() / (c.stem + "_mst.csv"));
  const auto u = table.integers("u"), v = table.integers("v");
  const auto weight = table.doubles("weight");
  std::vector<hdbscan::edge> edges;
  for (std::size_t t = 0; t < table.rows(); ++t) edges.push_back({u[t], v[t], weight[t]});
  return edges;
}

csv_table read_results(const clustering_case& c) { return csv_table(embedding_folder() / (c.stem + "_result.csv")); }

}  // namespace quintet::test
