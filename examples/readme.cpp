#include <iostream>

#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/io/matrix_file.hpp"

int main(int, char** arguments) {
  const auto points = quintet::io::read_matrix<double>(arguments[1]);  // .csv, .npy or .h5: one point per row
  const auto found = quintet::hdbscan::cluster(points, {.min_cluster_size = 10});
  for (std::size_t i = 0; i < found.labels.size(); ++i)  // label -1 is noise
    std::cout << found.labels[i] << " " << found.probabilities[i] << "\n";
}
