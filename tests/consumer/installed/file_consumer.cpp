// Writes points to every kind of file, reads them back.
#include <quintet/io/csv.hpp>
#include <quintet/io/hdf5.hpp>
#include <quintet/io/matrix_file.hpp>
#include <quintet/io/npy.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<double> points{0.5, 1, 2, -3, 1e-300, 6};
  const quintet::matrix_view<const double> view(points.data(), 3, 2);
  quintet::io::write_csv<double>("points.csv", view);
  quintet::io::write_npy<double>("points.npy", view);
  quintet::io::hdf5_writer file("points.h5");
  file.write("points", view);
  file.commit();
  int failures = 0;
  for (const char* name : {"points.csv", "points.npy", "points.h5"}) {
    const auto read = quintet::io::read_matrix<double>(name);
    const bool right = read.rows == 3 && read.cols == 2 && read.data == points;
    std::printf("%s: %s\n", name, right ? "right" : "WRONG");
    failures += !right;
  }
  return failures;
}
